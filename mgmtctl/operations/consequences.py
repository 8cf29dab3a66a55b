"""What a change of access would mean for everybody: who gains and who loses what, and whose sessions end.

Rules: two looks at the service, one before and one after the change inside its transaction, are compared; agents are
counted by SQL. Who and what the caller may not read stays out, counts included (D 2): users, roles and rules by
security:read on each; agents, groups and the rest by what lets one know of them. What a policy says is known to whoever
may read it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.delegation import NOBODY, covers_right
from mgmtctl.domain.grants import BLACK
from mgmtctl.domain.impact import (
    GAINS,
    LOSES,
    Effect,
    Impact,
    Moves,
    Shift,
    Subject,
    crossing,
    grouped,
    shifts,
)
from mgmtctl.domain.resources import RESOURCELESS, Resource
from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved
from mgmtctl.operations.access import READ_ACTIONS, current_actor
from mgmtctl.operations.resuming import living
from mgmtctl.operations.standing import Access, Roles, RuleLink

if TYPE_CHECKING:
    from mgmtctl.domain.grants import Permissions
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.operations.context import Context
    from mgmtctl.store.sessions import Session
    from mgmtctl.store.store import Store

# Different scopes that are counted; each may take a tenth of a second in a large fleet. Of more, no number is told.
_MOST_COUNTED = 50
KINDS = {"role": "role:id", "user": "user:id", "rule": "rule:id"}
_MOST_NAMED = 100  # agents by id in one effect; of more only their number is told
Names = dict[str, dict[int, str]]
# A subject, and the roles that it has before and after; None: it is not there.
Pair = tuple[str, int, str | None, int | None, Roles | None, Roles | None]


@dataclass(frozen=True, slots=True)
class Look:
    """The service at one moment: who holds what, what is called what, and which sessions live, by digest."""

    access: Access
    names: Names
    sessions: dict[str, Session]


def look(ctx: Context, access: Access) -> Look:
    """What the comparison needs of the present moment, of which `access` was read already."""
    sessions = {session.digest: session for session in living(ctx)}
    return Look(access, _names(ctx.store), sessions)


def impact(ctx: Context, before: Look, after: Look) -> Impact:
    """What became different between two looks, as far as the caller may know it."""
    names = {kind: {**after.names[kind], **known} for kind, known in before.names.items()}
    view = _View(ctx, names, _written(ctx, before, after))
    compared = _Compared(before.access, after.access, view)
    effects = [
        (
            Subject(kind, str(number), names[kind][number], part, None if by is None else names["user"][by]),
            said,
        )
        for kind, number, part, by, old, new in _pairs(before.access, after.access)
        if view.reads(kind, number) and (by is None or view.reads("user", by))
        for said in (compared.effects(old, new),)
    ]
    ended = [session for digest, session in before.sessions.items() if digest not in after.sessions]
    known = sum(view.knows(session) for session in ended)
    return Impact(grouped(effects), known, view.reads_everything(), view.readable_names(), view.counted)


def moves_impact(ctx: Context, moves: Moves) -> Impact:
    """What it means for everybody that agents change their groups, of the agents that the caller may read."""
    with ctx.store.snapshot():
        access, view = Access.read(ctx.store), _View(ctx, _names(ctx.store), frozenset())
    readable = current_actor(ctx).permissions.scope("agent:read", "agent:id")
    known = {
        (before, after): frozenset(one for one in ids if readable.covers(one, before))
        for (before, after), ids in moves.items()
    }
    crossed = cache(lambda scope: crossing(scope, known))
    told: dict[object, tuple[Effect, ...]] = {}
    effects = []
    for kind, number, _, _, roles, _ in _pairs(access, access):
        if roles and view.reads(kind, number):
            content = access.content(roles)
            if content not in told:
                told[content] = tuple(_crossings(access.of(roles), crossed))
            effects.append((Subject(kind, str(number), view.names[kind][number]), told[content]))
    return Impact(grouped(effects), 0, view.reads_everything(), view.readable_names())


def _crossings(
    permissions: Permissions, crossed: Callable[[Scope], tuple[frozenset[str], frozenset[str]]]
) -> Iterator[Effect]:
    """What somebody gains and loses on agents that cross the bounds of what his actions reach."""
    alike: dict[tuple[str, frozenset[str]], list[str]] = {}
    for name, action in ACTIONS.items():
        if "agent:id" in action.kinds:
            for change, ids in zip((GAINS, LOSES), crossed(permissions.scope(name, "agent:id")), strict=True):
                alike.setdefault((change, ids), []).append(name)
    for (change, ids), actions in alike.items():
        if ids:
            named = sorted(ids, key=int) if len(ids) <= _MOST_NAMED else ()
            resources = tuple(Resource("agent:id", one) for one in named)
            yield Effect(change, tuple(actions), "agent:id", resources, count=len(ids))


def _written(ctx: Context, before: Look, after: Look) -> frozenset[str]:
    """The resources that policies name which the caller may read, or which he has just written."""
    readable = current_actor(ctx).permissions.scope("security:read", "policy:id")
    if readable.is_everything:
        return frozenset()  # he has read all there are, and need not be asked
    made = after.names["policy"].keys() - before.names["policy"].keys()
    return frozenset(
        resource
        for access in (before.access, after.access)
        for row in {row[2:] for rows in access.policies.values() for row in rows}
        if row[0] in made or readable.covers(str(row[0]))
        for block in access.blocks(row[2]).values()
        for resource in block["resources"]
    )


def _names(store: Store) -> Names:
    return {
        "role": store.roles.names(),
        "user": store.users.names(),
        "rule": store.rules.names(),
        "policy": store.policies.names(),
    }


def _pairs(before: Access, after: Access) -> Iterator[Pair]:
    """Every subject with its roles then and now: roles, users by basic login, rules, and contexts that users bring."""
    # A mode changes what every role means: then it is said of those who have them.
    roles = {**before.policies, **after.policies} if before.mode == after.mode else {}
    for role_id in sorted(roles):
        role = frozenset({role_id})
        yield (
            "role",
            role_id,
            None,
            None,
            role if role_id in before.policies else None,
            (role if role_id in after.policies else None),
        )
    for user_id in sorted({**before.users, **after.users}):
        old, new = before.users.get(user_id), after.users.get(user_id)
        yield "user", user_id, None, None, old.roles if old else None, new.roles if new else None
    yield from _rule_pairs(before, after)
    for user_id in sorted({**before.users, **after.users}):
        yield from _brought(before, after, user_id)


def _rule_pairs(before: Access, after: Access) -> Iterator[Pair]:
    nothing = RuleLink("", frozenset())
    for rule_id in sorted({**before.rules, **after.rules}):
        old, new = before.rules.get(rule_id, nothing), after.rules.get(rule_id, nothing)
        if old.document == new.document or not (old.roles and new.roles):
            yield "rule", rule_id, None, None, old.roles or None, new.roles or None
        else:
            yield "rule", rule_id, "before", None, old.roles, None
            yield "rule", rule_id, "after", None, None, new.roles


def _brought(before: Access, after: Access, user_id: int) -> Iterator[Pair]:
    """The contexts that a user may bring now and could not, or the other way round."""
    old, new = before.users.get(user_id), after.users.get(user_id)
    could, can = bool(old and old.allow_run_as), bool(new and new.allow_run_as)
    if could == can:
        return
    for rule_id, rule in (after if can else before).rules.items():
        if user_id == WEB_INTERFACE_ID or not is_reserved(rule_id):
            yield "rule", rule_id, None, user_id, None if can else rule.roles, rule.roles if can else None


class _Compared:
    """The effects of each change of roles, worked out once for all that have the same policies."""

    def __init__(self, before: Access, after: Access, view: _View) -> None:
        self._before, self._after, self._view = before, after, view
        self._known: dict[object, tuple[Effect, ...]] = {}

    def effects(self, old: Roles | None, new: Roles | None) -> tuple[Effect, ...]:
        """What a subject gains and loses that had the roles `old` and has `new`."""
        was, now = _content(self._before, old), _content(self._after, new)
        if was == now:
            return ()
        if (was, now) not in self._known:
            held = NOBODY if old is None else self._before.of(old)
            holds = NOBODY if new is None else self._after.of(new)
            self._known[was, now] = self._view.effects(shifts(held, holds, self._actions(was, now)))
        return self._known[was, now]

    def _actions(self, was: _Content, now: _Content) -> Collection[str] | None:
        """The actions that can have shifted: those of the policies that differ; None: any."""
        if was[0] != now[0] and BLACK in (was[0], now[0]):
            return None
        texts = {text for _, text in was[1] ^ now[1]}
        blocks = (block for text in texts for block in self._after.blocks(text).values())
        return {action for block in blocks for action in block["actions"]}


# The mode that holds for somebody (none without roles), and the ids and blocks of his policies.
_Content = tuple[str, frozenset[tuple[int, str]]]


def _content(access: Access, roles: Roles | None) -> _Content:
    return (access.mode, access.content(roles)) if roles else ("", frozenset())


@dataclass(slots=True)
class _View:
    """What the caller may know of things: names, counts and expressions."""

    ctx: Context
    names: Names
    written: frozenset[str]
    counted: bool = True  # no number was left out because there were too many to count
    _counts: dict[tuple[str, Scope, Scope], int | None] = field(default_factory=dict)
    _values: dict[str, Sequence[str]] = field(default_factory=dict)

    def reads(self, kind: str, number: int) -> bool:
        """Whether the caller may read this user, role, rule or policy."""
        permissions = current_actor(self.ctx).permissions
        return permissions.scope("security:read", f"{kind}:id").covers(str(number))

    def reads_everything(self) -> bool:
        """Whether nothing of an impact is kept from the caller."""
        permissions = current_actor(self.ctx).permissions
        return all(permissions.scope(action, kind).is_everything for kind, action in READ_ACTIONS.items())

    def knows(self, session: Session) -> bool:
        """Whether the caller may know of a session: it would be in his list of sessions."""
        own = current_actor(self.ctx).owns(session.user_id, session.context_id)
        return own or self.reads("user", session.user_id)

    def readable_names(self) -> dict[str, str]:
        """What the caller may read, by its resource."""
        return {
            f"{kind}:id:{number}": name
            for kind, known in self.names.items()
            for number, name in known.items()
            if self.reads(kind, number)
        }

    def effects(self, found: Sequence[Shift]) -> tuple[Effect, ...]:
        """The shifts as the caller may know them; one that would say nothing is left out."""
        said = (self._effect(shift) for shift in found)
        return tuple(effect for effect in said if effect.resources or effect.count)

    def _effect(self, shift: Shift) -> Effect:
        resources, excepted = (
            tuple(resource for resource in listed if self._sees(resource, shift.actions))
            for listed in (shift.resources, shift.excepted)
        )
        count = self._count(shift)
        return Effect(shift.change, shift.actions, shift.kind, resources, excepted, count)

    def _sees(self, resource: Resource, actions: Sequence[str]) -> bool:
        """Whether the caller may know this expression: he has read it, it names nothing, or what he may
        read or does hold."""
        permissions = current_actor(self.ctx).permissions
        if resource.value == "*" or str(resource) in self.written:
            return True
        if permissions.scope("security:read", "policy:id").is_everything:
            return True
        if resource.kind == "agent:group":
            if covers_right(permissions, "group:read", Resource("group:id", resource.value)):
                return True
            return covers_right(permissions, "agent:read", resource)
        read = READ_ACTIONS.get(resource.kind)
        return any(covers_right(permissions, action, resource) for action in ([read] if read else actions))

    def _count(self, shift: Shift) -> int | None:
        key = (shift.kind, shift.wide, shift.narrow)
        if key not in self._counts:
            if len(self._counts) == _MOST_COUNTED:
                self.counted = False
                return None
            self._counts[key] = self._counted(*key)
        return self._counts[key]

    def _counted(self, kind: str, wide: Scope, narrow: Scope) -> int | None:
        """On how many things that the caller may read the scopes differ; None where there are none to count."""
        read = READ_ACTIONS.get(kind)
        if kind == RESOURCELESS.kind or read is None:
            return None
        readable = current_actor(self.ctx).permissions.scope(read, kind)
        if readable.is_nothing:
            return None
        if kind == "agent:id":
            return self.ctx.store.agents.count_beyond(wide, narrow, readable)
        values = self._values_of(kind)
        return sum(wide.covers(v) and not narrow.covers(v) and readable.covers(v) for v in values)

    def _values_of(self, kind: str) -> Sequence[str]:
        if kind not in self._values:
            known: Any = self.names.get(kind.partition(":")[0])
            self._values[kind] = self.ctx.folders.group_names() if known is None else [str(n) for n in known]
        return self._values[kind]
