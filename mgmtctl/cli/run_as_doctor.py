"""How the chain of a context login is shown: a page on a terminal, a row for each link elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgmtctl.cli.exit_codes import NO
from mgmtctl.domain.errors import NotFoundError

if TYPE_CHECKING:
    from mgmtctl.cli.commands import CliSession
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.domain.doctor import Link

_WIDTH = 78


def show(session: CliSession, user: str, context: AuthContext | None, named: str = "") -> None:
    """Show the chain of this user up to the first broken link, which makes the exit code 1.

    `named`: the words that name the context's file in a command line.
    """
    links = [_with_file(link, named) for link in _links(session, user, context)]
    last = links[-1]
    if session.output.format == "table" and not session.output.asked and not session.output.select:
        session.print("\n".join(line for link in links for line in _page(link)))
    else:
        session.show(links)
    if last.ok:
        session.say(f"{user}: the chain is whole")
    else:
        session.say(f"{user}: stops at `{last.link}`")
        session.code = NO


def _links(session: CliSession, user: str, context: AuthContext | None) -> list[Link]:
    from mgmtctl.domain.doctor import no_user
    from mgmtctl.operations import doctor

    try:
        return doctor.check_run_as(session.context, user, context)
    except NotFoundError as error:
        return no_user(user, error.problem, error.fix)


def _with_file(link: Link, named: str) -> Link:
    from dataclasses import replace

    from mgmtctl.domain.doctor import CONTEXT_FILE

    asked = f"--context-file {CONTEXT_FILE}"
    return replace(link, fix=link.fix.replace(asked, named)) if link.fix and named else link


def _page(link: Link) -> list[str]:
    from mgmtctl.cli.text import folded

    word = "ok" if link.ok else "BROKEN"
    lines = folded(f"{word:7} {link.link:9} {link.why}", _WIDTH, hang=18).split("\n")
    return [*lines, f"{'':8}{'fix':9} {link.fix}"] if link.fix else lines
