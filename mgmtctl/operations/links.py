"""Lists of users, roles, policies and rules, whose records hold ids of each other (D 1, D 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

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
V = TypeVar("V")
# The fields of users, roles, policies and rules that hold ids of each other, and their kinds.
KINDS = {"users": "user:id", "roles": "role:id", "policies": "policy:id", "rules": "rule:id"}


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
    ctx: Context, found: Sequence[T], query: ListQuery | None, fields: Fields, *linked: str
) -> LinkedItems[T]:
    """What the query wants of a list; `linked`: its fields of `KINDS`. Asked for by id or by name."""
    names = {name: readable_names(ctx, KINDS[name]) for name in linked}
    known = [_with_known(value, names) for value in found]
    items, total = asked(known, query, {**fields, **dict.fromkeys(linked, NAMES)}, names)
    return LinkedItems(items, total=total, names=names)


def visible(ctx: Context, value: V) -> V:
    """The user, role, policy or rule without the ids of what the caller may not read (D 2)."""
    linked = {name: kind for name, kind in KINDS.items() if hasattr(value, name)}
    return _with_known(value, {name: readable_names(ctx, kind) for name, kind in linked.items()})


def _with_known(value: V, names: Names) -> V:
    """The value with those of its links that have a name here."""
    known = {
        name: tuple(number for number in getattr(value, name) if str(number) in of)
        for name, of in names.items()
    }
    return cast(V, replace(cast(Any, value), **known))


def readable_names(ctx: Context, kind: str) -> dict[str, str]:
    """The name by id of each role, user, policy or rule that the caller may read (D 2)."""
    scope = access.scope(ctx, "security:read", kind)
    if scope.is_nothing:
        return {}
    table = next(name for name, linked in KINDS.items() if linked == kind)
    names: dict[int, str] = getattr(ctx.store, table).names()
    return {str(number): name for number, name in names.items() if scope.covers(str(number))}
