"""Lists of users, roles, policies and rules, whose records hold ids of each other (D 1, D 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from mgmtctl.domain.errors import ConflictError, InvalidError
from mgmtctl.domain.fields import NAMES, Fields
from mgmtctl.domain.links import Names, Recorded, asked
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import access
from mgmtctl.operations.results import Items

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.operations.context import Context

T = TypeVar("T", bound=Recorded)


def named(parameter: str, selection: Scope | Sequence[str] | None) -> Sequence[str]:
    """The ids that the caller named; InvalidError for none at all: an omitted target never means everything."""
    if selection is None or isinstance(selection, Scope):
        raise InvalidError(f"`{parameter}` is required", why="nothing named never means everything")
    return selection


def reserved(kind: str, name: str, code: int = 4008) -> ConflictError:
    """The refusal to change what came with the service (D 1)."""
    return ConflictError(
        f"{kind} `{name}` is reserved",
        why="ids 1 to 99 belong to the service",
        fix=f"make a {kind} of your own",
        code=code,
    )


@dataclass(frozen=True, slots=True)
class LinkedItems(Items[T]):
    """Items with the names, as far as the caller may read them, of what their ids of other things stand for."""

    names: Names = field(default_factory=dict)


def listed(
    ctx: Context, found: Sequence[T], query: ListQuery | None, fields: Fields, linked: Mapping[str, str]
) -> LinkedItems[T]:
    """What the query wants of a list; `linked`: the kind of the ids that a field holds. Asked for by id or by name."""
    names = {name: readable_names(ctx, kind) for name, kind in linked.items()}
    items, total = asked(found, query, {**fields, **dict.fromkeys(linked, NAMES)}, names)
    return LinkedItems(items, total=total, names=names)


def readable_names(ctx: Context, kind: str) -> dict[str, str]:
    """The name by id of each role, user, policy or rule that the caller may read (D 2)."""
    scope = access.scope(ctx, "security:read", kind)
    if scope.is_nothing:
        return {}
    stores = {"user:id": "users", "role:id": "roles", "policy:id": "policies", "rule:id": "rules"}
    names: dict[int, str] = getattr(ctx.store, stores[kind]).names()
    return {str(number): name for number, name in names.items() if scope.covers(str(number))}
