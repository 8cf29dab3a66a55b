"""A grid of what somebody may do: actions down, groups or resources across (S 2.3, D 2).

Rules: a cell says what `grants.decide` says, for one thing by its names, for a group of agents by counting its members,
for `*` by whether all, some or none of a kind are in the scope. Actions that nobody can ask of a column have no cell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.delegation import GRANT_NOTHING
from mgmtctl.domain.grants import ALLOW, BLACK, EVERY_AGENT, Entry, Permissions
from mgmtctl.domain.resources import KINDS, RESOURCELESS, Resource
from mgmtctl.domain.scopes import Scope, base_kind

ALLOWED = "allowed"  # an entry allows it
BY_MODE = "by mode"  # the mode allows what no policy denies
PARTLY = "partly"  # some of it; of a group: some or all of its agents, because of what else they are
DENIED = "denied"  # an entry denies it
NO = "no"  # nothing allows it
ANY_GROUP = Resource("agent:group", "*")

# Of each group of agents: how many of a scope are in it.
Members = Callable[[Scope], Mapping[str, int]]


class Cell(NamedTuple):
    """The answer for one action in one column; of a group of agents: for how many of how many."""

    answer: str
    agents: int | None = None
    of: int | None = None

    def record(self) -> dict[str, object]:
        """Plain form; the numbers only where agents were counted."""
        counted = {} if self.of is None else {"agents": self.agents, "of": self.of}
        return {"answer": self.answer, **counted}

    @property
    def text(self) -> str:
        """In words, with how many when it is partly so."""
        return f"{self.answer} {self.agents}/{self.of}" if self.answer == PARTLY and self.of else self.answer


@dataclass(frozen=True, slots=True)
class Row:
    """One action and its cells by column."""

    action: str
    cells: Mapping[str, Cell]

    @property
    def says_something(self) -> bool:
        """Whether it is allowed, or denied, anywhere."""
        return any(cell.answer != NO for cell in self.cells.values())

    def record(self) -> dict[str, object]:
        """Plain form."""
        return {"action": self.action, "cells": {name: cell.record() for name, cell in self.cells.items()}}


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the entries of one action name, by effect."""

    allows: frozenset[Resource]
    denies: frozenset[Resource]
    black: bool

    def of(self, names: Collection[Resource]) -> str:
        """The answer for one thing; `names`: every expression that covers it."""
        if not self.denies.isdisjoint(names):
            return DENIED
        if not self.allows.isdisjoint(names):
            return ALLOWED
        return BY_MODE if self.black else NO

    def of_members(self, names: Collection[Resource], agents: int, of: int) -> Cell:
        """The answer for a group of which so many members may be reached; `names`: what covers all of it."""
        whole = self.of(names)
        if agents and (agents < of or whole not in (ALLOWED, BY_MODE)):
            return Cell(PARTLY, agents, of)
        taken = of and not agents and whole in (ALLOWED, BY_MODE)
        return Cell(DENIED if taken else whole, agents, of)


def group_grid(
    permissions: Permissions, groups: Iterable[str], members: Members, readable: Scope
) -> list[Row]:
    """Every action that is asked on agents or groups, by group; agents are counted among the `readable` ones."""
    columns, spoken, totals = list(groups), _spoken(permissions), members(readable)
    found = []
    for name in _actions("agent:id"):
        counts = members(permissions.scope(name, "agent:id"))
        found.append(
            Row(name, {group: _group_cell(spoken[name], group, counts, totals) for group in columns})
        )
    for name in _actions("group:id"):
        found.append(
            Row(
                name,
                {group: Cell(spoken[name].of(_covering(Resource("group:id", group)))) for group in columns},
            )
        )
    return sorted(found, key=lambda row: list(ACTIONS).index(row.action))


def _group_cell(spoken: Spoken, group: str, counts: Mapping[str, int], totals: Mapping[str, int]) -> Cell:
    names = _covering(Resource("agent:group", group))
    return spoken.of_members(names, counts.get(group, 0), totals.get(group, 0))


def kind_grid(
    permissions: Permissions,
    columns: Iterable[Resource],
    groups_of: Callable[[str], Iterable[str]],
    members: Members,
    readable: Scope,
) -> list[Row]:
    """Every action by the columns that it may be asked on; `groups_of` gives the groups of an agent id."""
    spoken, shown = _spoken(permissions), list(columns)
    totals = members(readable) if any(column.kind == "agent:group" for column in shown) else {}
    found = []
    for name in spoken:
        cells = {}
        for column in shown:
            if base_kind(column.kind) not in map(base_kind, ACTIONS[name].kinds):
                continue
            cells[str(column)] = _cell(permissions, spoken[name], name, column, groups_of, members, totals)
        if cells:
            found.append(Row(name, cells))
    return found


def _cell(
    permissions: Permissions,
    spoken: Spoken,
    action: str,
    column: Resource,
    groups_of: Callable[[str], Iterable[str]],
    members: Members,
    totals: Mapping[str, int],
) -> Cell:
    if column == ANY_GROUP or column.value == "*":
        return Cell(_whole(permissions.scope(action, column.kind), spoken, column))
    if column.kind == "agent:group":
        return _group_cell(spoken, column.value, members(permissions.scope(action, "agent:id")), totals)
    groups = groups_of(column.value) if column.kind == "agent:id" else ()
    return Cell(spoken.of(_covering(column, *(Resource("agent:group", group) for group in groups))))


def _whole(scope: Scope, spoken: Spoken, column: Resource) -> str:
    """Of all things of a kind, or all agents that are in a group: whether all, some or none."""
    answer = spoken.of(_covering(column))
    if answer == DENIED:
        return DENIED
    if scope.is_nothing:
        kind = base_kind(column.kind)
        given = answer != NO or any(base_kind(resource.kind) == kind for resource in spoken.allows)
        return DENIED if given else NO
    narrowed = scope.denied_values or scope.denied_groups or scope.denied_grouped
    return answer if answer != NO and not narrowed else PARTLY


def _covering(*names: Resource) -> set[Resource]:
    """Every expression that covers a thing that goes by these names."""
    found = {covering for name in names for covering in (name, Resource(name.kind, "*"))}
    return found | ({EVERY_AGENT} if any(name.kind == "agent:group" for name in names) else set())


def _spoken(permissions: Permissions) -> dict[str, Spoken]:
    """What is said of each action that grants anything, in the order of the catalogue."""
    named: dict[tuple[str, bool], set[Resource]] = {}
    for entry in permissions.entries if permissions.has_roles else ():
        named.setdefault((entry.action, entry.effect == ALLOW), set()).add(entry.resource)
    black = permissions.mode == BLACK and permissions.has_roles
    return {
        name: Spoken(frozenset(named.get((name, True), ())), frozenset(named.get((name, False), ())), black)
        for name in ACTIONS
        if name not in GRANT_NOTHING
    }


def _actions(kind: str) -> list[str]:
    return [name for name, action in ACTIONS.items() if kind in action.kinds]


def mentioned(entries: Iterable[Entry]) -> list[Resource]:
    """The columns that entries make: every resource they name with its whole kind before it, what is new last."""
    named = {entry.resource for entry in entries if entry.resource.kind in ACTIONS[entry.action].kinds}
    wholes = {Resource(base_kind(resource.kind), "*") for resource in named}
    return sorted(named | wholes, key=_place)


def _place(resource: Resource) -> tuple[int, bool, str, int, str]:
    kind = base_kind(resource.kind)
    number = int(resource.value) if resource.value.isdigit() else 0
    place = len(KINDS) if resource == RESOURCELESS else list(KINDS).index(kind)
    return place, resource != Resource(kind, "*"), resource.kind, number, resource.value
