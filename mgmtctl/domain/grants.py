"""Decisions: whether an action is permitted on a resource, and why (S 2.3, D 2).

Rules: any deny wins; else any allow; else the mode; a session without any role is denied everything in both
modes. The order of roles, policies and entries never matters. `*:*:*` covers resourceless actions and nothing
else. Asking what can never be asked is a QuestionError, never an answer. Permissions belong to one session and
one moment: build them anew when roles, policies, the mode or memberships have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from mgmtctl.domain.actions import ACTIONS, mismatch, require_kind
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import EMPTY, NOTHING, Scope, base_kind, compile_scope

if TYPE_CHECKING:
    from mgmtctl.domain.fixes import Fix

WHITE = "white"
BLACK = "black"
ALLOW = "allow"
DENY = "deny"
EVERY_AGENT = Resource("agent:id", "*")


class Entry(NamedTuple):
    """One action on one resource with its effect, and whence it comes; `via` says how the role was got."""

    role_id: int
    role: str
    via: str
    policy_id: int
    policy: str
    block: str
    effect: str
    action: str
    resource: Resource

    def record(self) -> dict[str, object]:
        """Plain form; ids are strings."""
        return {
            "role": {"id": str(self.role_id), "name": self.role, "via": self.via},
            "policy": {"id": str(self.policy_id), "name": self.policy, "block": self.block},
            "effect": self.effect,
            "action": self.action,
            "resource": str(self.resource),
        }

    def lines(self) -> list[str]:
        """What it says, and whence it comes."""
        via = f" ({self.via})" if self.via else ""
        return [
            f"{self.effect} {self.action} on {self.resource}",
            f"role {self.role}{via}, policy {self.policy}, block {self.block}",
        ]


class NearMiss(NamedTuple):
    """An entry of the asked action that would have changed the decision, and why it does not count."""

    entry: Entry
    why: str

    def record(self) -> dict[str, object]:
        return {**self.entry.record(), "why": self.why}


class Decision(NamedTuple):
    """The answer and its reasons: `because` decided, `overridden` lost to it; `default`: no entry spoke.

    `fix`: what would allow it, where somebody worked that out (`domain.fixes`).
    """

    allowed: bool
    action: str
    resources: tuple[Resource, ...]
    mode: str
    because: tuple[Entry, ...] = ()
    overridden: tuple[Entry, ...] = ()
    near_misses: tuple[NearMiss, ...] = ()
    default: bool = False
    has_roles: bool = True
    fix: Fix | None = None

    def record(self) -> dict[str, object]:
        """Plain form: the resource as asked first, all its names beside it."""
        return {
            "allowed": self.allowed,
            "action": self.action,
            "resource": str(self.resources[0]),
            "names": [str(name) for name in self.resources],
            "mode": self.mode,
            "default": self.default,
            "has_roles": self.has_roles,
            "because": [entry.record() for entry in self.because],
            "overridden": [entry.record() for entry in self.overridden],
            "near_misses": [miss.record() for miss in self.near_misses],
            "fix": self.fix.record() if self.fix else None,
        }

    def lines(self) -> list[str]:
        """The answer and its reasons, readable: the verdict, then each entry with why it did or did not count."""
        verdict = "allowed" if self.allowed else "denied"
        lines = [f"{verdict} (mode {self.mode}): {self.action} on {self.resources[0]}", f"  {self._reason()}"]
        lines += _listed("because", [entry.lines() for entry in self.because])
        lines += _listed("overridden", [entry.lines() for entry in self.overridden])
        # A deny of one agent has its effect, though none on a question about the group.
        label = "elsewhere" if self.allowed else "no effect"
        return [*lines, *_listed(label, [[*miss.entry.lines(), miss.why] for miss in self.near_misses])]

    def _reason(self) -> str:
        if not self.has_roles:
            return "the session has no role: everything is denied in both modes"
        if self.default:
            return f"no entry covers it, and mode {self.mode} {_MODES[self.mode]}"
        if not self.allowed:
            return "an entry denies it, and any deny wins"
        return "an entry allows it, and none denies it"


def _listed(label: str, items: Sequence[Sequence[str]]) -> Iterator[str]:
    """Each item under the label, its first line beside it; what is beyond a page is counted."""
    for first, *more in items[:_MOST_LISTED]:
        yield f"  {label:<11} {first}"
        yield from (f"{' ' * _INDENT}{line}" for line in more)
    if len(items) > _MOST_LISTED:
        yield f"{' ' * _INDENT}and {len(items) - _MOST_LISTED} more"


_INDENT = len("  no effect   ")
_MOST_LISTED = 8
_MODES = {WHITE: "denies what no policy allows", BLACK: "allows what no policy denies"}


class Grant(NamedTuple):
    """A policy that a session has by one role: its stored plain `blocks` by name, not yet unfolded into entries."""

    role_id: int
    role: str
    via: str
    policy_id: int
    policy: str
    blocks: Mapping[str, Mapping[str, Any]]

    def entries(self, action: str | None = None) -> Iterator[Entry]:
        """Each action, or only the one asked for, on each resource of each block."""
        for name, block in self.blocks.items():
            actions = block["actions"] if action is None else (action,) * (action in block["actions"])
            if not actions:
                continue
            resources = [Resource.stored(text) for text in block["resources"]]
            for said in actions:
                for resource in resources:
                    yield Entry(*self[:5], name, block["effect"], said, resource)


def _grant(entry: Entry) -> Grant:
    block = {"actions": (entry.action,), "resources": (str(entry.resource),), "effect": entry.effect}
    return Grant(*entry[:5], {entry.block: block})


def covers(held: Resource, asked: Resource) -> bool:
    """Whether an entry on `held` covers `asked`: same kind, value equal or `*`; all agents cover any group."""
    if held.kind == asked.kind:
        return held.value in ("*", asked.value)
    return held == EVERY_AGENT and asked.kind == "agent:group"


def decide(
    entries: Iterable[Entry], mode: str, action: str, names: tuple[Resource, ...], has_roles: bool = True
) -> Decision:
    """Whether `action` is permitted on the one thing that goes by all of `names`, with reasons (D 2).

    An agent goes by its id and its groups (`resources.agent_names`). A question about `*` is about the whole: a
    deny of any part of it counts. QuestionError when `action` is unknown or never asked on the first name.
    """
    if not names:
        raise QuestionError(f"`{action}` is asked on nothing", fix="name a resource")
    require_kind(action, names[0].kind)
    if not has_roles:
        return Decision(False, action, names, mode, default=True, has_roles=False)
    spoken = sorted(entry for entry in entries if entry.action == action)
    denying = tuple(entry for entry in spoken if entry.effect != ALLOW and _takes(entry.resource, names))
    allowing = tuple(entry for entry in spoken if entry.effect == ALLOW and _gives(entry.resource, names))
    if denying:
        return Decision(False, action, names, mode, denying, allowing)
    allowed = bool(allowing) or mode == BLACK
    misses = tuple(_near_misses(spoken, allowed, names))
    return Decision(allowed, action, names, mode, allowing, (), misses, default=not allowing)


def _gives(held: Resource, names: tuple[Resource, ...]) -> bool:
    return any(covers(held, name) for name in names)


def _takes(held: Resource, names: tuple[Resource, ...]) -> bool:
    return any(
        covers(held, name) or (name.value == "*" and base_kind(held.kind) == base_kind(name.kind))
        for name in names
    )


def _near_misses(entries: Iterable[Entry], allowed: bool, names: tuple[Resource, ...]) -> Iterator[NearMiss]:
    """Entries that would have turned the decision had they covered the resource."""
    for entry in entries:
        if (entry.effect == ALLOW) != allowed:
            yield NearMiss(entry, _why_not(entry, names))


def _why_not(entry: Entry, names: tuple[Resource, ...]) -> str:
    asked, held = names[0], entry.resource
    needs = " or ".join(ACTIONS[entry.action].kinds)
    if mismatch(ACTIONS[entry.action], held):
        if held.kind == "*:*":
            return f"`*:*:*` never covers {entry.action}; it needs {needs}"
        return f"{entry.action} is never asked on {held.kind}; it needs {needs}"
    verb = "grants" if entry.effect == ALLOW else "denies"
    if asked.kind == "agent:id" and asked.value != "*" and held.kind == "agent:group":
        groups = ", ".join(name.value for name in names if name.kind == "agent:group")
        return f"{asked.value} is in {groups or 'no group'}; this {verb} {_spoken(held)}"
    only = "" if held.value == "*" else " only"
    return f"this {verb} {_spoken(held)}{only}, asked is {_spoken(asked)}"


def _spoken(resource: Resource) -> str:
    """A resource in a sentence."""
    noun, _, attribute = resource.kind.partition(":")
    if resource.kind == "agent:group":
        return "agents of any group" if resource.value == "*" else f"group {resource.value}"
    if resource.value == "*":
        return f"every {noun}"
    return resource.value if attribute == "id" else f"{noun} {attribute} {resource.value}"


class Permissions:
    """What one session may do: its entries and mode, compiled per action and kind when first asked (D 2)."""

    def __init__(self, mode: str, entries: Iterable[Entry], has_roles: bool = True) -> None:
        self.mode = mode
        self.has_roles = has_roles
        self._grants = [_grant(entry) for entry in entries]
        self._scopes: dict[tuple[str, str], Scope] = {}
        self._entries: dict[str, list[Entry]] = {}

    @classmethod
    def granted(cls, mode: str, grants: Iterable[Grant], has_roles: bool = True) -> Permissions:
        """The same from whole policies: entries are unfolded only when a reason is asked for."""
        permissions = cls(mode, (), has_roles)
        permissions._grants = list(grants)
        return permissions

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry, in the order given."""
        return tuple(entry for grant in self._grants for entry in grant.entries())

    @property
    def grants(self) -> Sequence[Grant]:
        """The policies that all entries come from, with the roles that they are had by."""
        return self._grants

    def entries_of(self, action: str) -> Sequence[Entry]:
        """The entries of one action, sorted."""
        known = self._entries.get(action)
        if known is None:
            found = sorted(entry for grant in self._grants for entry in grant.entries(action))
            known = self._entries[action] = found
        return known

    def scope(self, action: str, kind: str) -> Scope:
        """What `action` may reach of `kind`; `agent:group` folds into `agent:id`. QuestionError as in `decide`."""
        known = self._scopes.get((action, kind))
        if known is None:
            known = self._scopes[action, kind] = self._compile(action, kind)
        return known

    def allows(self, action: str, *names: Resource) -> bool:
        """Whether `action` is permitted on the one thing that goes by all of `names`; agrees with `decide`."""
        if not _is_concrete(names):
            return self.decide(action, *names).allowed
        groups = [name.value for name in names[1:]]
        return self.scope(action, names[0].kind).covers(names[0].value, groups)

    def decide(self, action: str, *names: Resource) -> Decision:
        """The same answer with its reasons."""
        return decide(self.entries_of(action), self.mode, action, names, self.has_roles)

    def _compile(self, action: str, kind: str) -> Scope:
        require_kind(action, kind)
        if not self.has_roles:
            return NOTHING
        return compile_scope(self._blocks.get(action, ()), action, kind, self.mode == BLACK)

    @cached_property
    def _blocks(self) -> dict[str, list[Mapping[str, Any]]]:
        found: dict[str, list[Mapping[str, Any]]] = {}
        for grant in self._grants:
            for block in grant.blocks.values():
                for action in block["actions"]:
                    found.setdefault(action, []).append(block)
        return found


def _is_concrete(names: tuple[Resource, ...]) -> bool:
    """One thing: an id, and beside an agent's id only groups by name."""
    if not names or names[0].value == "*" or names[0].kind == "agent:group":
        return False
    return all(name.kind == "agent:group" and name.value != "*" for name in names[1:])


class AgentAccess:
    """Checks of agents by set membership: one set of ids per action, built on demand.

    `ids_in` gives the ids of the agents that a scope holds now, in a collection that is fast to search; it must agree
    with `Scope.covers`.
    """

    def __init__(self, permissions: Permissions, ids_in: Callable[[Scope], Collection[str]]) -> None:
        self._permissions = permissions
        self._ids_in = ids_in
        self._ids: dict[str, Collection[str]] = {}

    def allows(self, action: str, agent_id: str) -> bool:
        """Whether `action` is permitted on the existing agent `agent_id` (three digits or more)."""
        ids = self._ids.get(action)
        return agent_id in (self.ids(action) if ids is None else ids)

    def ids(self, action: str) -> Collection[str]:
        """The ids of all agents on which `action` is permitted."""
        if action not in self._ids:
            scope = self._permissions.scope(action, "agent:id")
            self._ids[action] = EMPTY if scope.is_nothing else self._ids_in(scope)
        return self._ids[action]
