"""The catalogue: which actions and resource kinds there are, and which endpoints ask for them (S 2.4, 2.5; D 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgmtctl.domain.actions import ACTIONS, Action, action
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.resources import KINDS, Kind, closest
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import operation
from mgmtctl.operations.results import Items

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery


@operation(http="GET /security/actions", open_to="session")
def list_actions(ctx: Context, endpoint: str | None = None, query: ListQuery | None = None) -> Items[Action]:
    """List the actions: all, or those that one endpoint (`GET /agents`) asks for."""
    found = list(ACTIONS.values()) if endpoint is None else _asked_by(endpoint)
    if query is None:
        return Items(found)
    from mgmtctl.domain.queries import NAMES, TEXT, apply_query

    fields = {"name": TEXT, "description": TEXT, "endpoints": NAMES, "resources": NAMES, "deprecated": TEXT}
    items, total = apply_query(found, query, fields)
    return Items(items, total=total)


def _asked_by(endpoint: str) -> list[Action]:
    from mgmtctl.domain.endpoints import endpoints

    rows = {f"{row.method} {row.path}": row for row in endpoints()}
    if endpoint not in rows:
        near = closest(endpoint, rows)
        raise QuestionError(
            f"endpoint `{endpoint}` does not exist",
            fix=f"did you mean `{near}`?" if near else None,
            code=4020,
        )
    return [action(name) for name in rows[endpoint].actions]


@operation(http="GET /security/actions/{name}", open_to="session")
def show_action(ctx: Context, name: str) -> Action:
    """Show one action with its endpoints; QuestionError for a name that no action has."""
    return action(name)


@operation(http="GET /security/resources", open_to="session")
def list_resources(ctx: Context, resource: str | None = None) -> list[Kind]:
    """List the resource kinds: all, or the named one."""
    if resource is None:
        return list(KINDS.values())
    if resource not in KINDS:
        near = closest(resource, KINDS)
        fix = f"did you mean `{near}`?" if near else f"kinds are {', '.join(KINDS)}"
        raise QuestionError(f"resource kind `{resource}` does not exist", fix=fix, code=4019)
    return [KINDS[resource]]
