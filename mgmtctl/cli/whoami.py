"""`mgmtctl whoami`: who is logged in, with which roles and rights."""

from __future__ import annotations

from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import NO
from mgmtctl.domain.errors import UnauthenticatedError

ROOT = Noun("", "")


@ROOT.read(
    "whoami",
    examples=["mgmtctl whoami", "mgmtctl whoami --permissions -o json", "mgmtctl whoami --check"],
    exits={NO: "with --check: there is no session that lives"},
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
    if not check:
        session.show(operations.my_permissions(ctx) if permissions else operations.who_am_i(ctx))
