"""`mgmtctl log`: read the request log."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import NOT_FOUND, UNAUTHENTICATED
from mgmtctl.domain.errors import QuestionError, UnauthenticatedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mgmtctl.domain.request_lines import LogEntry
    from mgmtctl.operations.context import Context

noun = Noun("log", "The request log.")

PAUSE = 0.3  # seconds between two looks at the log
EARLY = 5  # a session is renewed so many seconds before it expires


@noun.list(
    examples=[
        "mgmtctl log list --limit 20",
        "mgmtctl log list --where 'user=admin;status_code>399'",
        "mgmtctl log list --search d8466023fdec3f1310679989d8827eee -o json",
    ],
    columns=("timestamp", "user", "status_code", "uri"),
)
def list_(session: CliSession) -> None:
    """List the logged requests, the newest first."""
    from mgmtctl.operations import request_log

    session.show(request_log.list_requests(session.context, session.query))


@noun.read(
    "tail",
    examples=["mgmtctl log tail", "mgmtctl log tail -f", "mgmtctl log tail -f -o ndjson"],
    exits={UNAUTHENTICATED: "not logged in, or the session has expired while following", NOT_FOUND: None},
)
def tail(
    session: CliSession,
    follow: Annotated[
        bool,
        typer.Option("-f", "--follow", help="Go on with what is written from now on.", show_default=False),
    ] = False,
    lines: Annotated[int, typer.Option("--lines", metavar="N", min=0, help="How many to begin with.")] = 10,
) -> None:
    """Show the last requests as lines, the newest last; with -o ndjson as objects.

    With MGMTCTL_USER and MGMTCTL_PASSWORD_FILE following logs in again before the session expires; with any other
    session it ends with it.
    """
    from mgmtctl.operations import request_log

    _check_format(session, follow)
    ctx = session.context
    follower = request_log.follow_requests(ctx, last=lines)
    _print(session, follower.recent)
    if follow and ctx.actor is not None and not _can_renew(ctx):
        session.say(f"following until the session ends, in {ctx.actor.expires - ctx.now():.0f} s")
    while follow:
        _print(session, follower.poll())
        ctx = _still_in(session, ctx)
        time.sleep(PAUSE)


def _check_format(session: CliSession, follow: bool) -> None:
    """QuestionError for a form that lines have not, or that would need an end."""
    asked = session.output.asked
    if asked not in (None, "ndjson", "json"):
        raise QuestionError(f"lines cannot be shown as `{asked}`", fix="-o ndjson, or `mgmtctl log list`")
    if asked == "json" and follow:
        raise QuestionError("one JSON array has an end, following has none", fix="-o ndjson")


def _print(session: CliSession, entries: Iterable[LogEntry]) -> None:
    import sys

    if session.output.asked:
        session.output.many([entry.record() for entry in entries])
    else:
        for entry in entries:
            session.print(entry.line())
    sys.stdout.flush()


def _can_renew(ctx: Context) -> bool:
    by_context = ctx.actor is not None and ctx.actor.context_id is not None
    return bool(os.environ.get("MGMTCTL_USER")) and not os.environ.get("MGMTCTL_TOKEN") and not by_context


def _still_in(session: CliSession, ctx: Context) -> Context:
    """The same context, one of a new login when the session is about to expire, or UnauthenticatedError."""
    if ctx.actor is None or ctx.actor.expires - ctx.now() > (EARLY if _can_renew(ctx) else 0):
        return ctx
    if not _can_renew(ctx):
        raise UnauthenticatedError("the session has expired", fix="mgmtctl login")
    from mgmtctl.operations import login, request_log

    given = login.log_in(ctx, os.environ["MGMTCTL_USER"], session.password_of_environment())
    renewed = login.resume(ctx, given.token, verify_signature=False)
    request_log.follow_requests(renewed)
    return renewed
