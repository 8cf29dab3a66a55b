"""The smallest change that would allow what is denied, as command lines (D 2).

Rules: smallest is what gives the subject the fewest rights: one more entry, on the very resource that was asked about,
in a policy of his own rather than a link, a link rather than a new role. A deny is taken out by itself. What came with
the service (ids 1 to 99) never changes, so links to it do. A fix is tried out on the subject's policies before it is
told, and says what else it gives or takes. It rests only on what the caller may read.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mgmtctl.domain.resources import Resource
from mgmtctl.domain.users import MAX_NAME, is_reserved, name_key

if TYPE_CHECKING:
    from mgmtctl.domain.delegation import Right
    from mgmtctl.domain.grants import Entry, Grant, Permissions
    from mgmtctl.domain.scopes import Scope

Named = tuple[int, str]
_MOST_RIGHTS_LISTED = 5


class Step(NamedTuple):
    """One command of a fix, as shell words behind `mgmtctl`, and what it is about."""

    kind: str
    words: tuple[str, ...]
    facts: Mapping[str, str]

    @property
    def command(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(("mgmtctl", *self.words))

    def record(self) -> dict[str, str]:
        """Plain form."""
        return {"kind": self.kind, **self.facts, "command": self.command}


class Alternative(NamedTuple):
    """The same fix for more agents: the command that takes the place of the one with the entry; `agents` it reaches."""

    resource: Resource
    agents: int | None
    command: str

    def record(self) -> dict[str, object]:
        """Plain form."""
        return {"resource": str(self.resource), "agents": self.agents, "command": self.command}


@dataclass(frozen=True, slots=True)
class Fix:
    """What would allow it: `steps` in order, none where only somebody else can say or do it.

    `gives` and `takes`: what else the subject gains and loses; `agents`: how many more agents the action would pass on;
    `shared`: other roles that have the changed policy; `ask`: the commands that say more to those who may read more.
    """

    summary: str
    steps: tuple[Step, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    gives: tuple[Right, ...] = ()
    takes: tuple[Right, ...] = ()
    agents: int | None = None
    shared: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """Plain form."""
        return {
            "summary": f"{self.summary}: {'; '.join(self.ask)}" if self.ask else self.summary,
            "steps": [step.record() for step in self.steps],
            "alternatives": [other.record() for other in self.alternatives],
            "gives": [_right_record(right) for right in self.gives],
            "takes": [_right_record(right) for right in self.takes],
            "more_agents": self.agents,
            "other_roles": list(self.shared),
        }

    def lines(self) -> list[str]:
        """The summary, then the commands, then what else they do."""
        lines = [self.summary, *(step.command for step in self.steps)]
        if self.ask:
            lines = [f"{self.summary}:", *self.ask]
        for other in self.alternatives:
            agents = "" if other.agents is None else f"  ({_agents(other.agents)})"
            lines.append(f"or with --on {other.resource}{agents}")
        if self.gives:
            more = "" if self.agents is None else f"  ({_agents(self.agents, 'more ')})"
            lines.append(f"this also allows {_listed(self.gives)}{more}")
        if self.takes:
            lines.append(f"this also takes away {_listed(self.takes)}")
        if self.shared:
            lines.append(f"this counts for role {', '.join(self.shared)} too")
        return lines


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose permissions a decision is about.

    `user` as (id, name) when the roles are those of a user or of a context that he brings; `rules`: those that are true
    for the context (None: it is no context login), each with the roles that it leads to; `led_to`: what the roles
    permit once the user may use contexts.
    """

    permissions: Permissions
    roles: tuple[Named, ...] = ()
    user: Named | None = None
    rules: tuple[tuple[Named, frozenset[int]], ...] | None = None
    may_use_contexts: bool = True
    led_to: Permissions | None = None


@dataclass(frozen=True, slots=True)
class View:
    """What the caller may read, asked when a fix needs it.

    `shows`: entries, and policies of roles; `beyond`: how many agents are in a scope and not in another one, all of
    them in a third.
    """

    shows: Callable[[Entry | Grant], bool]
    reads: Callable[[str, int], bool]
    names: Callable[[str], Iterable[str]]
    own_roles: Callable[[], Iterable[tuple[Named, Permissions]]]
    roles_of: Callable[[int], Iterable[Named]]
    members: Callable[[str], int | None]
    beyond: Callable[[Scope, Scope, Scope], int | None]


class NoFixError(Exception):
    """Nothing can be changed so that it would be allowed; the text says what to do instead."""


def as_word(item: Named) -> str:
    """How a command line names this object: its name, or its id where the name would read as an option."""
    return str(item[0]) if item[1].startswith("-") else item[1]


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """`wanted`, cut and numbered so that it can name something new."""
    keys = {name_key(name) for name in taken}
    base = wanted.lstrip("-")[:MAX_NAME] or "new"
    found, number = base, 1
    while name_key(found) in keys:
        number += 1
        end = f"_{number}"
        found = f"{base[: MAX_NAME - len(end)]}{end}"
    return found


@dataclass(slots=True)
class Draft:
    """The steps so far, and what else became of them."""

    steps: list[Step] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def add(self, kind: str, words: Sequence[str], said: str = "", **facts: str) -> None:
        """One step more, and what it does in words."""
        self.steps.append(Step(kind, tuple(words), facts))
        if said:
            self.said.append(said)

    def summary(self) -> str:
        """What all steps do."""
        return ", then ".join(self.said)


def own(items: Iterable[Named]) -> list[Named]:
    """Those that did not come with the service."""
    return [item for item in items if not is_reserved(item[0])]


def _right_record(right: Right) -> dict[str, str]:
    return {"action": right[0], "resource": str(right[1])}


def _listed(rights: Sequence[Right]) -> str:
    shown = ", ".join(f"{action} on {resource}" for action, resource in rights[:_MOST_RIGHTS_LISTED])
    more = len(rights) - _MOST_RIGHTS_LISTED
    return f"{shown} and {more} more rights" if more > 0 else shown


def _agents(number: int, more: str = "") -> str:
    if number == 0 and more:
        return "no other agent now"
    return f"{number} {more}agent{'' if number == 1 else 's'}"
