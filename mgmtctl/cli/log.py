"""`mgmtctl log`: read the request log."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli import staying
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import NOT_FOUND, UNAUTHENTICATED
from mgmtctl.cli.options import ContextFile, Wrap
from mgmtctl.domain.errors import QuestionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mgmtctl.domain.request_lines import LogEntry
    from mgmtctl.operations.request_log import KnownContext

noun = Noun("log", "The request log.")

PAUSE = 0.3  # seconds between two looks at the log


ContextId = typer.Option(
    "--context",
    metavar="ID",
    help="The id of an authorization context, or its first 8 digits or more.",
    show_default=False,
)


@noun.list(
    examples=[
        "mgmtctl log list --limit 20",
        "mgmtctl log list --where 'user=admin;status_code>399'",
        "mgmtctl log list --context 4b0559c6 -o json",
    ],
    columns=("timestamp", "user", "status_code", "uri", "dry_run"),
)
def list_(session: CliSession, context: Annotated[str | None, ContextId] = None) -> None:
    """List the logged requests, the newest first; with --context those made with this authorization context.

    A dry run is marked: what it tells of was not done.
    """
    from mgmtctl.operations import request_log

    session.show(request_log.list_requests(session.context, session.query, context))


@noun.read(
    "show",
    examples=[
        "mgmtctl log show --context 4b0559c6",
        "mgmtctl log show --context-file context.json -o json",
    ],
    exits={NOT_FOUND: "neither the log nor the register of contexts knows the id"},
)
def show(
    session: CliSession,
    context: Annotated[str | None, ContextId] = None,
    context_file: Annotated[str | None, ContextFile] = None,
    wrap: Annotated[str | None, Wrap] = None,
    lines: Annotated[
        int, typer.Option("--lines", metavar="N", min=0, help="How many of the last requests.")
    ] = 10,
) -> None:
    """Show what the id of an authorization context in the log stands for.

    Its recorded name and key names (values are never kept), who logged in with it, which rules were true, which roles
    they gave, with the names they had then and as far as you may read them, and the last requests made with it.
    """
    from mgmtctl.cli.single import Sheet
    from mgmtctl.operations import request_log

    if (context is None) is (context_file is None) or (wrap is not None and context_file is None):
        raise QuestionError("expected `--context ID`, or `--context-file PATH` with or without `--wrap`")
    if context_file is not None:
        from mgmtctl.cli.documents import read_context

        context = read_context(session, context_file, wrap).id
    known = request_log.show_context(session.context, str(context), lines)
    session.show(known if session.output.asked else Sheet(known.record(), _page(known)))


def _page(known: KnownContext) -> str:
    """What is known of a context, for somebody to read."""
    from mgmtctl.cli.single import sheet

    keys = [
        f"{key}: {', '.join(inner)}" if isinstance(inner, dict) else key
        for key, inner in known.keys.items()
        if key != "name"
    ]
    about = [
        ("context", known.context_id),
        ("name", str(known.keys.get("name") or "not recorded")),
        ("keys", keys or "not recorded"),
    ]
    parts = [sheet(about), *(_login_lines(login) for login in known.logins)]
    if known.requests:
        lines = [
            f"  {e.record()['timestamp']}  {e.status_code}  {e.user}  {e.uri}{'  (dry run)' if e.dry_run else ''}"
            for e in known.requests
        ]
        parts.append("\n".join(["the last requests", *lines]))
    return "\n\n".join(parts)


def _login_lines(login: dict[str, Any]) -> str:
    """What logins of one user gave with a context."""
    from mgmtctl.cli.single import sheet

    count = "once" if login["logins"] == 1 else f"{login['logins']} times"
    span = login["first"] if login["first"] == login["last"] else f"{login['first']} to {login['last']}"
    given = [
        (kind, [f"{one['id']} {one['name']}" for one in login[kind]] or "none that you may read")
        for kind in ("rules", "roles")
    ]
    return f"logged in as {login['user']} {count}, {span}\n{sheet(given, '  ')}"


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
    left = staying.seconds_left(ctx) if follow else None
    if left is not None:
        session.say(f"following until the session ends, in {left:.0f} s")
    while follow:
        _print(session, follower.poll())
        before, ctx = ctx, staying.still_in(session, ctx)
        if ctx is not before:
            request_log.follow_requests(ctx)
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
