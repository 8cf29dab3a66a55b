"""`mgmtctl whoami`: who is logged in, with which roles and rights."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mgmtctl.cli import single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import DENIED, NO, NOT_FOUND
from mgmtctl.domain.errors import UnauthenticatedError

ROOT = Noun("", "")

_COLUMNS = ("action", "effect", "resource")


@ROOT.read(
    "whoami",
    examples=["mgmtctl whoami", "mgmtctl whoami --permissions -o json", "mgmtctl whoami --check"],
    exits={NO: "with --check: there is no session that lives", NOT_FOUND: None, DENIED: None},
)
def whoami(
    session: CliSession,
    permissions: Annotated[
        bool, typer.Option("--permissions", help="Show every right of the session.", show_default=False)
    ] = False,
    check: Annotated[
        bool,
        typer.Option("--check", help="Say nothing on stdout; exit 1 without a session.", show_default=False),
    ] = False,
) -> None:
    """Show who is logged in, by which roles, until when."""
    from mgmtctl.operations import login as operations

    try:
        ctx = session.context
    except UnauthenticatedError as error:
        if not check:
            raise
        session.say(error.problem)
        session.exit(NO)
    if check:
        return
    if permissions:
        _show_rights(session, operations.my_permissions(ctx))
    else:
        me = operations.who_am_i(ctx).record()
        session.show(_row(me) if single.in_rows(session) else me)


def _row(record: dict[str, Any]) -> dict[str, Any]:
    """The record as rows show it, with the roles by name."""
    return {**record, "roles": [role["name"] for role in record["roles"]]}


def _show_rights(session: CliSession, found: dict[str, Any]) -> None:
    """The rights in the shape of the service, or a row for each; the mode is no right and stands beside them."""
    if not single.in_rows(session) or not set(session.output.select) <= set(_COLUMNS):
        return session.show(found)
    session.say(f"mode {found['rbac_mode']}")
    return session.show(
        [
            dict(zip(_COLUMNS, (action, effect, resource), strict=True))
            for action, effects in found.items()
            if action != "rbac_mode"
            for resource, effect in effects.items()
        ]
    )
