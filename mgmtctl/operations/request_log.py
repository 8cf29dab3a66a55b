"""Reading the request log (S 5.4, D 4): a list, newest first, and following what is written from now on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, operation
from mgmtctl.operations.results import Items

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.domain.request_lines import LogEntry
    from mgmtctl.logs import Follower


@operation(needs("manager:read"), http="GET /manager/requests")
def list_requests(ctx: Context, query: ListQuery | None = None) -> Items[LogEntry]:
    """List logged requests, the newest first."""
    from mgmtctl.domain.queries import ListQuery, apply_query
    from mgmtctl.domain.request_lines import FIELDS

    newest_first = reversed(list(ctx.log.read()))
    found, total = apply_query(newest_first, query or ListQuery(), FIELDS, ctx.now())
    return Items(found, total=total)


@operation(needs("manager:read"), http="GET /manager/requests/new")
def follow_requests(ctx: Context, last: int = 0) -> Follower:
    """Follow the log: its `last` entries, oldest first, and then what is written from now on."""
    return ctx.log.follower(last)
