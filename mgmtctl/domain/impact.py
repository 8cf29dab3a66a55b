"""Impact: who gains and who loses which actions on what, when a change of access is made.

Rules: what is gained is what is permitted after and was not before, judged on resource expressions (D 1), so an empty
group that may fill tomorrow counts; how many things that is now is counted by who knows them. A change of neither
direction is no impact. Values only: nothing here knows where permissions come from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.delegation import GRANT_NOTHING, gained
from mgmtctl.domain.grants import Permissions
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import Scope, base_kind

# The ids of agents by the groups that they had and have now.
Moves = Mapping[tuple[tuple[str, ...], tuple[str, ...]], frozenset[str]]
GAINS = "gains"
LOSES = "loses"


class Shift(NamedTuple):
    """Actions that reach more, or less, of one base kind: `wide` is what they reach with it, `narrow` without.

    `resources`: the expressions of what is gained or lost.
    """

    change: str
    actions: tuple[str, ...]
    kind: str
    wide: Scope
    narrow: Scope
    resources: tuple[Resource, ...]

    @property
    def excepted(self) -> list[Resource]:
        """What is none of it although `resources` seem to say so: denied all the same, or reached without it too."""
        wide, narrow = self.wide, self.narrow
        if not any(_is_wide(resource) for resource in self.resources):
            return []
        found = _expressions(self.kind, wide.denied_values, wide.denied_groups, wide.denied_grouped)
        denies = narrow.denied_values or narrow.denied_groups or narrow.denied_grouped
        if wide.everything and not narrow.everything and not denies:
            found += _expressions(self.kind, narrow.values, narrow.groups, narrow.grouped)
        return found


class Subject(NamedTuple):
    """Whose permissions they are: a user by basic login, a role, or a rule: the contexts that satisfy it.

    `part`: of a rule that asks something else than before, the contexts of `before` or `after`. `by`: the name of the
    user who may bring contexts now, or no more.
    """

    kind: str
    id: str
    name: str
    part: str | None = None
    by: str | None = None

    def record(self) -> dict[str, str]:
        """Plain form; what does not apply is left out."""
        found = {"kind": self.kind, "id": self.id, "name": self.name, "contexts": self.part, "user": self.by}
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Effect:
    """What somebody gains or loses, as the caller may know it; `count`: on how many things now, None: not known."""

    change: str
    actions: tuple[str, ...]
    kind: str
    resources: tuple[Resource, ...]
    excepted: tuple[Resource, ...] = ()
    count: int | None = None

    def record(self) -> dict[str, Any]:
        """Plain form."""
        return {
            "change": self.change,
            "actions": list(self.actions),
            "resources": [str(resource) for resource in self.resources],
            "except": [str(resource) for resource in self.excepted],
            "kind": self.kind,
            "count": self.count,
        }


@dataclass(frozen=True, slots=True)
class Consequence:
    """Subjects that all gain and lose the same."""

    subjects: tuple[Subject, ...]
    effects: tuple[Effect, ...]

    def record(self) -> dict[str, Any]:
        """Plain form."""
        return {
            "subjects": [subject.record() for subject in self.subjects],
            "effects": [effect.record() for effect in self.effects],
        }


@dataclass(frozen=True, slots=True)
class Impact:
    """What a change of access would mean, as far as the caller may know it; `complete`: that is all of it.

    `counted`: no number is missing because there were too many different ones to count. `names` gives ids a readable
    form; it is no part of the record.
    """

    consequences: tuple[Consequence, ...]
    sessions: int
    complete: bool
    names: Mapping[str, str]
    counted: bool = True

    def record(self) -> dict[str, Any]:
        """Plain form."""
        return {
            "changes": [consequence.record() for consequence in self.consequences],
            "sessions_ended": self.sessions,
            "complete": self.complete,
            "counted": self.counted,
        }


def shifts(before: Permissions, after: Permissions, actions: Collection[str] | None = None) -> list[Shift]:
    """What is gained and lost from `before` to `after`, actions that shift alike together; None: of all actions."""
    alike: dict[tuple[str, Scope, Scope], list[str]] = {}
    for action, kind in _rights(ACTIONS if actions is None else actions):
        alike.setdefault((kind, before.scope(action, kind), after.scope(action, kind)), []).append(action)
    found = [
        Shift(change, tuple(names), kind, wide, narrow, tuple(resources))
        for (kind, old, new), names in alike.items()
        for change, wide, narrow in ((GAINS, new, old), (LOSES, old, new))
        for resources in (gained(kind, narrow, wide),)
        if resources
    ]
    return sorted(found, key=lambda shift: shift.change)


def crossing(scope: Scope, moves: Moves) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of agents that come into a scope by a change of their groups, and of those that leave it."""
    named = scope.values | scope.denied_values
    came, left = set[str](), set[str]()
    for (before, after), ids in moves.items():
        # Agents that the scope does not name are all alike.
        for alike in (ids - named, *(frozenset((one,)) for one in ids & named)):
            asked = next(iter(alike), "")
            was, now = scope.covers(asked, before), scope.covers(asked, after)
            if was != now:
                (came if now else left).update(alike)
    return frozenset(came), frozenset(left)


def grouped(effects: Iterable[tuple[Subject, tuple[Effect, ...]]]) -> tuple[Consequence, ...]:
    """Subjects that gain and lose the same together, in the order in which they first occur."""
    found: dict[tuple[Effect, ...], list[Subject]] = {}
    for subject, said in effects:
        if said:
            found.setdefault(said, []).append(subject)
    return tuple(Consequence(tuple(subjects), said) for said, subjects in found.items())


def _rights(actions: Collection[str]) -> Iterable[tuple[str, str]]:
    for name, action in ACTIONS.items():
        if name in actions and name not in GRANT_NOTHING:
            for kind in dict.fromkeys(base_kind(kind) for kind in action.kinds):
                yield name, kind


def _expressions(
    kind: str, values: Collection[str], groups: Collection[str], grouped: bool
) -> list[Resource]:
    named = ("*",) if grouped else sorted(groups)
    return [Resource(kind, value) for value in sorted(values)] + [Resource("agent:group", g) for g in named]


def _is_wide(resource: Resource) -> bool:
    return resource.value == "*" or resource.kind == "agent:group"
