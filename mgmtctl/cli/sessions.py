"""`mgmtctl sessions`: the sessions that live, and ending them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli import single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import CONFLICT, PARTLY, REFUSED
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.times import rfc3339

if TYPE_CHECKING:
    from mgmtctl.operations.links import LinkedItems
    from mgmtctl.operations.results import Items
    from mgmtctl.operations.sessions import LiveSession

noun = Noun("sessions", "Sessions that live, and ending them.")

_SHORT = 8  # digits of an id on a terminal; as many are enough to name it


@noun.list(
    examples=[
        "mgmtctl sessions list",
        "mgmtctl sessions list --where 'user=ann' -o json",
        "mgmtctl sessions list --where 'context_id!=null' --sort -issued",
    ],
    columns=("id", "user", "context_id", "context_name", "roles", "issued", "expires", "current"),
)
def list_(session: CliSession) -> None:
    """List the sessions that live: your own, and those of the users you may read.

    A session is named by its id, never by its token. On a terminal ids are cut to 8 digits, which is enough to name
    one, and a time of today (UTC) has no date; `-o json` has both in full. A session that came by an authorization
    context sees those of this context only.
    """
    from mgmtctl.operations import sessions

    session.show(_readable(session, sessions.list_sessions(session.context, session.query)))


@noun.write(
    "revoke",
    examples=[
        "mgmtctl sessions revoke --user ann --user bob",
        "mgmtctl sessions revoke --context-id 4b0559c6",
        "mgmtctl sessions revoke --all --dry-run",
    ],
    asks=True,
    exits={PARTLY: "some failed (they are listed)", REFUSED: None, CONFLICT: None},
)
def revoke(
    session: CliSession,
    user: Annotated[
        list[str] | None,
        typer.Option(
            "--user", metavar="USER", help="Every session of this user; repeatable.", show_default=False
        ),
    ] = None,
    context_id: Annotated[
        list[str] | None,
        typer.Option(
            "--context-id",
            metavar="ID",
            help="Every session that came by this context; repeatable.",
            show_default=False,
        ),
    ] = None,
    session_id: Annotated[
        list[str] | None,
        typer.Option("--session", metavar="ID", help="This session; repeatable.", show_default=False),
    ] = None,
    everybody: Annotated[
        bool, typer.Option("--all", help="Every session of everybody; asks first.", show_default=False)
    ] = False,
) -> None:
    """End sessions: those of the named users, of the named contexts and the named ones, or all.

    Of an id the first 8 digits are enough. Your own sessions need no right; those of others need security:revoke, and
    security:read on their users. Whoever is logged out can log in again: to keep somebody out, change the password or
    delete the user.
    """
    from mgmtctl.operations import sessions

    users, contexts, ids = user or [], context_id or [], session_id or []
    if everybody is bool(users or contexts or ids):
        raise QuestionError(
            "expected `--user`, `--context-id` or `--session`, or `--all` by itself",
            fix="mgmtctl sessions list",
        )
    ctx = session.context
    if everybody:
        session.confirm("end every session of everybody, your own included")
        ended = sessions.revoke_all_sessions(ctx)
    else:
        ended = sessions.revoke_sessions(ctx, users, contexts, ids)
    _tell(session, ended, everybody)


def _tell(session: CliSession, ended: Items[LiveSession], everybody: bool) -> None:
    affected = single.settled(ended).affected
    count = f"{len(affected) or 'no'} session{'' if len(affected) == 1 else 's'}"
    users = list(dict.fromkeys(one.user for one in affected))
    if everybody:
        words = f"every session; you could see {count}"
    else:
        words = f"{count} of {single.several('user', 'users', users)}" if users else count
    words += "; yours is among them" if any(one.current for one in affected) else ""
    session.done(f"ended {words}", ended, would=f"would end {words}")


def _readable(session: CliSession, items: LinkedItems[LiveSession]) -> Items[Any]:
    """The items with names for roles in rows; on a terminal with short ids, and a word for the present session."""
    found = single.readable(session, items)
    output = session.output
    if output.format != "table" or output.asked or output.select:
        return found
    today = rfc3339(session.context.now()).partition("T")[0]
    return replace(found, affected=[_short(row, today) for row in found.affected])


def _short(row: dict[str, Any], today: str) -> dict[str, Any]:
    """One row for a terminal: id and name of a context in one column, of today's times no date."""
    context = f"{row['context_id'][:_SHORT]} {row['context_name'] or ''}" if row["context_id"] else None
    return {
        **row,
        "id": row["id"][:_SHORT],
        "context_id": None,
        "context_name": context,
        "issued": _clock(row["issued"], today),
        "expires": _clock(row["expires"], today),
        "current": "this one" if row["current"] else "",
    }


def _clock(time: str, today: str) -> str:
    """A time without its date where that is today's."""
    return time.removeprefix(f"{today}T")
