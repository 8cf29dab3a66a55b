"""Reading the request log (S 5.4, D 4): a list, newest first, following it, and what a context id in it stands for.

Rules: who may read the log may read what the register of contexts adds to it; rules and roles are shown as far as the
caller may read them, with the names they had at the login.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.request_log import RUN_AS_PATH
from mgmtctl.domain.times import rfc3339
from mgmtctl.operations.access import scope
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, operation
from mgmtctl.operations.results import Items

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.domain.request_lines import LogEntry
    from mgmtctl.logs import Follower
    from mgmtctl.store.contexts import ContextLogin


@dataclass(frozen=True, slots=True)
class KnownContext:
    """What is known of a context id: `keys` its name and key names, `logins` what they gave, `requests` the last ones
    made with it, oldest first."""

    context_id: str
    keys: dict[str, Any]
    logins: Sequence[dict[str, Any]]
    requests: Sequence[LogEntry]

    def record(self) -> dict[str, Any]:
        """Plain form; `name` is null when nobody recorded it."""
        return {
            "context_id": self.context_id,
            "name": self.keys.get("name"),
            "keys": self.keys,
            "logins": list(self.logins),
            "requests": [entry.record() for entry in self.requests],
        }


@operation(needs("manager:read"), http="GET /manager/requests")
def list_requests(
    ctx: Context, query: ListQuery | None = None, context_id: str | None = None
) -> Items[LogEntry]:
    """List logged requests, the newest first; with `context_id` (or how it begins) those made with this context."""
    from mgmtctl.domain.queries import ListQuery, apply_query
    from mgmtctl.domain.request_lines import FIELDS
    from mgmtctl.domain.sessions import digits

    begin = "" if context_id is None else digits("context", context_id)
    newest_first = [e for e in ctx.log.read() if (e.hash_auth_context or "").startswith(begin)][::-1]
    found, total = apply_query(newest_first, query or ListQuery(), FIELDS, ctx.now())
    return Items(found, total=total)


@operation(needs("manager:read"), http="GET /manager/requests/contexts/{context_id}")
def show_context(ctx: Context, context_id: str, last: int = 10) -> KnownContext:
    """Show what a context id (or how it begins) stands for: name, key names, what its logins gave, the last requests.

    NotFoundError when neither the register of contexts nor the log knows it; QuestionError when several begin so.
    """
    from mgmtctl.domain.sessions import digits, the_one

    entries = [entry for entry in ctx.log.read() if entry.hash_auth_context]
    known = {entry.hash_auth_context or "" for entry in entries}
    known.update(ctx.store.contexts.ids(digits("context", context_id)))
    found = the_one("context", context_id, known)
    requests = [entry for entry in entries if entry.hash_auth_context == found]
    logins = ctx.store.contexts.of(found)
    keys = logins[-1].keys if logins else _keys_in(requests)
    shown = requests[-last:] if last else []
    return KnownContext(found, keys, _readable(ctx, logins), shown)


@operation(needs("manager:read"), http="GET /manager/requests/new")
def follow_requests(ctx: Context, last: int = 0) -> Follower:
    """Follow the log: its `last` entries, oldest first, and then what is written from now on."""
    return ctx.log.follower(last)


def _keys_in(requests: Iterable[LogEntry]) -> dict[str, Any]:
    """The summary of a context in the line of its latest login; the register has forgotten it, or it was refused."""
    found: dict[str, Any] = {}
    for entry in requests:
        if entry.uri == f"POST {RUN_AS_PATH}":
            found = entry.body or found
    return found


def _readable(ctx: Context, logins: Iterable[ContextLogin]) -> list[dict[str, Any]]:
    """What logins gave, with the rules and roles that the caller may read."""
    scopes = {kind: scope(ctx, "security:read", f"{kind}:id") for kind in ("rule", "role")}

    def named(kind: str, things: Iterable[tuple[int, str]]) -> list[dict[str, str]]:
        return [{"id": str(i), "name": name} for i, name in things if scopes[kind].covers(str(i))]

    return [
        {
            "user": login.user,
            "user_id": str(login.user_id),
            "first": rfc3339(login.first),
            "last": rfc3339(login.last),
            "logins": login.logins,
            "rules": named("rule", login.rules),
            "roles": named("role", login.roles),
        }
        for login in logins
    ]
