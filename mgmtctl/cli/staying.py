"""Commands that stay, and the session they run in (D 1).

Rules: with MGMTCTL_USER and its password file they log in again before the session expires; with any other session they
say at the start when it will end, and end with it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import UnauthenticatedError

if TYPE_CHECKING:
    from mgmtctl.cli.commands import CliSession
    from mgmtctl.operations.context import Context

EARLY = 5  # a session is renewed so many seconds before it expires


def can_renew(ctx: Context) -> bool:
    """Whether this session is a login from the environment, which can be made again."""
    by_context = ctx.actor is not None and ctx.actor.context_id is not None
    return bool(os.environ.get("MGMTCTL_USER")) and not os.environ.get("MGMTCTL_TOKEN") and not by_context


def seconds_left(ctx: Context) -> float | None:
    """In how many seconds the command ends with its session; None when that can be renewed."""
    return None if ctx.actor is None or can_renew(ctx) else ctx.actor.expires - ctx.now()


def still_in(session: CliSession, ctx: Context) -> Context:
    """The same context, one of a new login when the session is about to expire, or UnauthenticatedError."""
    if ctx.actor is None or ctx.actor.expires - ctx.now() > (EARLY if can_renew(ctx) else 0):
        return ctx
    if not can_renew(ctx):
        raise UnauthenticatedError("the session has expired", fix="mgmtctl login")
    return session.log_in_for_now(ctx)
