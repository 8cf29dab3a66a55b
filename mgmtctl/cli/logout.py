"""`mgmtctl logout`: end the session."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import CONFLICT, DENIED, NOT_FOUND, REFUSED
from mgmtctl.domain.errors import UnauthenticatedError

ROOT = Noun("", "")


@ROOT.write(
    "logout",
    examples=["mgmtctl logout", "mgmtctl logout --all"],
    exits={NOT_FOUND: None, DENIED: None, REFUSED: None, CONFLICT: None},
)
def logout(
    session: CliSession,
    everywhere: Annotated[
        bool, typer.Option("--all", help="End every session of the user.", show_default=False)
    ] = False,
) -> None:
    """End this session; the stored one is forgotten."""
    from mgmtctl.operations import login as operations
    from mgmtctl.tokens import digest

    stored = session.stored_token()
    try:
        ctx = session.context
    except UnauthenticatedError:
        if stored is None or "MGMTCTL_TOKEN" in os.environ or os.environ.get("MGMTCTL_USER"):
            raise
        _forget(session)
        session.done("the session had ended already")
        return
    if everywhere:
        operations.log_out_everywhere(ctx)
    else:
        operations.log_out(ctx)
    if stored is not None and ctx.actor is not None and digest(stored) == ctx.actor.session:
        _forget(session)
    if everywhere:
        session.done("every session of the user has ended", would="would end every session of the user")
    else:
        session.done("logged out", would="would log out")


def _forget(session: CliSession) -> None:
    if not session.dry_run:
        session.drop_token()
