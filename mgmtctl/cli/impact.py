"""`mgmtctl policies impact`: who would gain and who would lose what by another document of a policy."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli import single
from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.exit_codes import CONFLICT, NOT_FOUND, REFUSED
from mgmtctl.cli.output import width_of
from mgmtctl.cli.policies import noun
from mgmtctl.domain.errors import NotFoundError

if TYPE_CHECKING:
    from mgmtctl.cli.documents import Document
    from mgmtctl.domain.impact import Impact

COLUMNS = ("who", "name", "change", "actions", "resources", "except", "count")


@noun.read(
    "impact",
    examples=[
        "mgmtctl policies impact -f web-team.yaml web-team",
        "mgmtctl policies impact -f new-web.yaml --role web-team -o json",
    ],
    columns=COLUMNS,
    exits={
        REFUSED: "the document is refused",
        CONFLICT: "the policy is reserved",
        NOT_FOUND: "unknown policy or role, or a policy that you may not read",
    },
)
def impact(
    session: CliSession,
    file: Annotated[
        str,
        typer.Option(
            "-f", "--file", metavar="FILE", help="The document, JSON or YAML; `-`: stdin.", show_default=False
        ),
    ],
    policy: Annotated[
        str | None,
        typer.Argument(
            metavar="POLICY", help="The policy; none: that of the document's `name`.", show_default=False
        ),
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(
            "--role", metavar="ROLE", help="As if the policy were linked to this role.", show_default=False
        ),
    ] = None,
) -> None:
    """Show who would gain and who would lose what if a policy had this document. Nothing is changed.

    A policy that is not there yet is linked to nothing; `--role` asks what it would mean there. Reading the policy is
    enough for the question, whether you could make the change or not: that `policies set -n` says.
    """
    from mgmtctl.cli.documents import read_document, text_field

    document = read_document(session, file, yaml=True)
    named = policy or text_field(document, "name")
    found = _present(session, document, named, role, given=policy is not None) if named else None
    if found is None and role is not None:
        found = _new(session, document, named or "new", role)
    _show(session, found or _unlinked(session, document, named))


def _present(
    session: CliSession, document: Document, policy: str, role: str | None, *, given: bool
) -> Impact | None:
    from mgmtctl.operations import impact as operations

    try:
        return document.given_to(lambda value: operations.policy_impact(session.context, policy, value, role))
    except NotFoundError as error:
        if given or error.kind != "policy":
            raise
        return None


def _new(session: CliSession, document: Document, name: str, role: str) -> Impact:
    from mgmtctl.operations import impact as operations

    return document.given_to(lambda value: operations.new_policy_impact(session.context, role, name, value))


def _unlinked(session: CliSession, document: Document, name: str | None) -> Impact:
    """What a new policy means that no role has; NotFoundError for who might not know of one that is there."""
    from mgmtctl.domain.impact import Impact
    from mgmtctl.domain.policies import parse_policy

    document.given_to(lambda value: parse_policy(value, name or "new"))
    what, ask = "the document names no policy", "`--role ROLE` asks what it would mean there"
    if name and not _reads_every_policy(session):
        raise NotFoundError("policy", name, why="there is none of this name that you may read", fix=ask)
    if name:
        what = f"there is no policy `{name}`"
    session.say(f"{what}: a new one is linked to no role; {ask}")
    return Impact((), 0, True, {})


def _reads_every_policy(session: CliSession) -> bool:
    actor = session.context.actor
    return actor is not None and actor.permissions.scope("security:read", "policy:id").is_everything


def _show(session: CliSession, found: Impact) -> None:
    from mgmtctl.cli import impact_text

    if not single.in_rows(session):
        session.show(found)
    elif session.output.format == "table" and session.output.asked is None and not session.output.select:
        session.output.page(impact_text.lines(found, width_of(sys.stdout)))
    else:
        session.output = replace(session.output, columns=session.output.columns or COLUMNS)
        session.show(list(impact_text.rows(found)))
        session.say("\n".join(filter(None, (impact_text.partial(found), impact_text.sessions(found)))))
