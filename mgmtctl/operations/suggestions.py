"""What somebody who wrote a name that nobody has may have meant, out of the names that he may read (D 2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import NotFoundError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.domain.resources import closest

if TYPE_CHECKING:
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.operations.context import Context

_PLURALS = {
    "agent": "agents",
    "group": "groups",
    "user": "users",
    "role": "roles",
    "policy": "policies",
    "rule": "rules",
}
_MOST_COMPARED = 500


def suggest(ctx: Context, error: BaseException) -> None:
    """Complete a NotFoundError that has no next step yet: `why` counts what may be read, `fix` names the nearest."""
    if not isinstance(error, NotFoundError) or error.fix or error.kind not in _PLURALS or ctx.actor is None:
        return
    plural = _PLURALS[error.kind]
    action = "security:read" if error.kind not in ("agent", "group") else f"{error.kind}:read"
    names = _names(ctx, error, ctx.actor.permissions.scope(action, f"{error.kind}:id"))
    near = None if error.name.isdigit() else closest(error.name, names)
    error.fix = f"did you mean `{near}`?  mgmtctl {plural} list" if near else f"mgmtctl {plural} list"


def _names(ctx: Context, error: NotFoundError, scope: Scope) -> list[str]:
    """Names to compare with; of agents only those that share the first letters, because they are many."""
    if scope.is_nothing:
        return []
    if error.kind == "group":
        return [name for name in ctx.folders.group_names() if scope.covers(name)]
    if error.kind == "agent":
        first = re.sub(r"[^A-Za-z0-9._-]", "", error.name.removeprefix("name:"))[:3]
        query = ListQuery(where=f'name~"{first}"', limit=_MOST_COMPARED)
        return [agent.name for agent in ctx.store.agents.list(scope, query, ctx.now())[0]]
    store = getattr(ctx.store, _PLURALS[error.kind])
    return [name for number, name in store.names().items() if scope.covers(str(number))]
