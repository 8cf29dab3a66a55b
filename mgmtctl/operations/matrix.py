"""The grid of what a role or a user may do, by groups of agents or by the resources that policies name (D 2, D 9).

Rules: it needs security:read on the role or user, about oneself nothing; agents are counted by the store, among those
that the caller may read; a column is a group that he may read, or a resource that his own or a readable policy names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.matrix import Row, group_grid, kind_grid, mentioned
from mgmtctl.operations import access
from mgmtctl.operations.access_entries import permissions_of
from mgmtctl.operations.context import Context
from mgmtctl.operations.explanations import shown_to
from mgmtctl.operations.registry import operation

if TYPE_CHECKING:
    from mgmtctl.domain.grants import Permissions
    from mgmtctl.domain.scopes import Scope

GROUP, RESOURCE = "group", "resource"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The grid: `columns` are names of groups or resource expressions; `left_out`: actions that are nowhere allowed;
    `complete`: the caller may read all that could be in it."""

    subject: str
    mode: str
    by: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    left_out: int
    notes: tuple[str, ...] = ()
    complete: bool = True

    def record(self) -> dict[str, Any]:
        """Plain form: every row with its cells by column."""
        return {
            "subject": self.subject,
            "mode": self.mode,
            "by": self.by,
            "columns": list(self.columns),
            "rows": [row.record() for row in self.rows],
            "notes": list(self.notes),
            "complete": self.complete,
        }


@operation(http="GET /security/matrix", open_to="session")
def access_matrix(
    ctx: Context,
    role: str | None = None,
    user: str | None = None,
    by: str = RESOURCE,
    groups: Sequence[str] = (),
    every: bool = False,
) -> Matrix:
    """Show what a role or a user may do as a grid: by groups (all that the caller may read, or those named), or by the
    resources that policies name. Actions that are nowhere allowed or denied are left out unless `every`.
    """
    if (role is None) == (user is None):
        raise QuestionError("a matrix is about one role or one user", fix="give one of them")
    if by not in (GROUP, RESOURCE):
        raise QuestionError(f"no axis `{by}`", fix=f"one of {GROUP}, {RESOURCE}")
    with ctx.store.snapshot():
        subject, permissions = _subject(ctx, role, user)
        own = user is not None and access.is_oneself(ctx, user)
        columns, rows = (
            _by_group(ctx, permissions, groups) if by == GROUP else _by_resource(ctx, permissions, own=own)
        )
    shown = tuple(row for row in rows if every or row.says_something)
    left_out, notes = len(rows) - len(shown), tuple(_notes(ctx, permissions, by, own=own))
    return Matrix(subject, permissions.mode, by, columns, shown, left_out, notes, _complete(ctx, by))


def _complete(ctx: Context, by: str) -> bool:
    """Whether the caller may read whatever could make a column or count in a cell; never what that is."""
    kinds = ("agent:id", "group:id") if by == GROUP else ("agent:id", "role:id", "policy:id")
    return all(access.scope(ctx, access.READ_ACTIONS[kind], kind).is_everything for kind in kinds)


def _subject(ctx: Context, role: str | None, user: str | None) -> tuple[str, Permissions]:
    if role is not None:
        role_id = int(access.demand(ctx, "security:read", "role:id", role))
        return f"role {ctx.store.roles.get(role_id).name}", permissions_of(ctx.store, [role_id])
    found = ctx.store.users.get(int(access.demand_user(ctx, str(user))))
    return f"user {found.name}", permissions_of(ctx.store, found.roles)


def _by_group(
    ctx: Context, permissions: Permissions, named: Sequence[str]
) -> tuple[tuple[str, ...], list[Row]]:
    if named:
        columns = list(dict.fromkeys(_group(ctx, name) for name in named))
    else:
        scope = access.scope(ctx, "group:read", "group:id")
        columns = [name for name in ctx.folders.group_names() if scope.covers(name)]
    readable = access.scope(ctx, "agent:read", "agent:id")
    return tuple(columns), group_grid(permissions, columns, _members(ctx), readable)


def _group(ctx: Context, name: str) -> str:
    """A group that the caller may read; NotFoundError."""
    access.demand(ctx, "group:read", "group:id", name)
    if not ctx.folders.group_exists(name):
        raise access.not_found("group:id", name)
    return name


def _by_resource(ctx: Context, permissions: Permissions, *, own: bool) -> tuple[tuple[str, ...], list[Row]]:
    actor = access.current_actor(ctx)
    shown = shown_to(actor)
    named = mentioned(entry for entry in permissions.entries if own or shown(entry))

    @cache
    def groups_of(agent_id: str) -> tuple[str, ...]:
        return tuple(ctx.store.agents.groups_of(int(agent_id)))

    readable = access.scope(ctx, "agent:read", "agent:id")
    columns = [
        resource
        for resource in named
        if resource.kind != "agent:id"
        or resource.value == "*"
        or readable.covers(resource.value, groups_of(resource.value))
    ]
    rows = kind_grid(permissions, columns, groups_of, _members(ctx), readable)
    return tuple(map(str, columns)), rows


def _members(ctx: Context) -> Any:
    """How many agents of a scope are in each group, counted once for each scope and among those that may be read."""
    readable = access.scope(ctx, "agent:read", "agent:id")

    @cache
    def members(scope: Scope) -> Mapping[str, int]:
        if scope.is_nothing or readable.is_nothing:
            return {}
        return ctx.store.agents.counts(scope, readable)

    return members


def _notes(ctx: Context, permissions: Permissions, by: str, *, own: bool) -> list[str]:
    notes = [] if permissions.has_roles else ["no role: everything is denied in both modes"]
    kinds = ("role:id", "policy:id")
    if (
        by == RESOURCE
        and not own
        and not all(access.scope(ctx, "security:read", kind).is_everything for kind in kinds)
    ):
        notes.append("left out are columns that only roles and policies name that you may not read")
    if not access.scope(ctx, "agent:read", "agent:id").is_everything:
        notes.append("only agents that you may read are counted")
    return notes
