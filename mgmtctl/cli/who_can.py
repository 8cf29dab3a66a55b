"""`mgmtctl who-can`: ask who may do an action on a resource, and by what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import NOT_FOUND, USAGE
from mgmtctl.cli.options import ActionName
from mgmtctl.cli.text import clean

if TYPE_CHECKING:
    from mgmtctl.operations.reach import Able

ROOT = Noun("", "")

Resource = typer.Argument(
    metavar="RESOURCE", help="As `agent:id:web-1`, `agent:group:web` or `*:*:*`.", show_default=False
)


@ROOT.list(
    "who-can",
    examples=[
        "mgmtctl who-can agent:restart agent:id:web-1",
        "mgmtctl who-can security:update user:id:admin -o json",
        "mgmtctl who-can agent:delete agent:group:web --where kind=user -o id",
    ],
    columns=("user", "via", "role", "policy", "block", "on"),
    exits={USAGE: "usage; unknown action or kind of resource", NOT_FOUND: "unknown agent"},
)
def who_can(
    session: CliSession, action: Annotated[str, ActionName], resource: Annotated[str, Resource]
) -> None:
    """List who may do an action on a resource, and by which role, policy, block and resource of it.

    A line is a user with his own roles, or a rule: whoever logs in with a context that makes the rule true; `mgmtctl
    users list --where allow_run_as=true` shows who may bring contexts. On a terminal those who may by the same stand
    together; JSON has the whole chain as `because`. Only users and rules that you may read are listed.
    """
    from mgmtctl.cli import held
    from mgmtctl.operations import reach

    found = reach.who_can(session.context, action, resource, query=session.query)
    if held.is_page(session):
        session.output.page(_page(found.affected))
    else:
        session.show(held.in_short(session, found))
    for note in found.notes:
        session.say(f"note: {note}")


def _page(found: Sequence[Able]) -> Iterator[str]:
    """Who may by the same chain, and the chain."""
    alike: dict[tuple[str, ...], list[Able]] = {}
    for one in found:
        alike.setdefault(_chain(one), []).append(one)
    for number, (chain, subjects) in enumerate(alike.items()):
        yield from ("",) * bool(number)
        users = [one.user for one in subjects if one.kind == "user"]
        if users:
            yield clean(f"users     {', '.join(users)}")
        rules: dict[str, list[str]] = {}
        for one in subjects:
            if one.kind == "rule":
                rules.setdefault(one.user, []).append(one.name)
        yield from (clean(f"contexts  {who} by rule {', '.join(names)}") for who, names in rules.items())
        yield from (clean(f"  {line}") for line in chain)


def _chain(one: Able) -> tuple[str, ...]:
    """How it is allowed, a line for each block of each role."""
    if one.chain.by_mode:
        return ("by the mode: no policy denies it",)
    blocks: dict[str, list[str]] = {}
    for entry in one.chain.entries:
        where = f"by role {entry.role}, policy {entry.policy}, block {entry.block}"
        blocks.setdefault(where, []).append(str(entry.resource))
    lines = tuple(f"{where}: {', '.join(dict.fromkeys(on))}" for where, on in blocks.items())
    return lines or ("by what you may not read",)
