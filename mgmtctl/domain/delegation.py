"""Delegation: nobody gives what he does not hold (D 1).

Rules: holding is judged on resource expressions, not on today's members: any agent may be in any groups tomorrow. So
`agent:id:*` covers every agent:id and agent:group, `agent:group:*` every agent:group, a group only itself, and a deny
of the caller takes away all that it may touch, unless those who gain are denied that too. Permissions bring their
mode, so a change of the mode, or a first role in black mode, is a gain like any other.

How: a right is missing when some possible agent (an id, a set of groups) is in what is gained, and neither in what
the caller holds nor in what was held before. All three are unions minus unions, so one id and one choice of sets
that its groups must meet or avoid decide it exactly; no agent is ever looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mgmtctl.domain.actions import ACTIONS, require_kind
from mgmtctl.domain.grants import WHITE, Permissions
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import EMPTY, NOTHING, Scope, base_kind

NOBODY = Permissions(WHITE, (), has_roles=False)
GRANT_NOTHING = frozenset(
    {"cluster:update_api_config", "manager:update_api_config"}
)  # D 2: no endpoint asks them
ANY_OTHER = ""  # the id of an agent that no expression names
ANY_GROUP = frozenset({"*"})

Right = tuple[str, Resource]
Limits = tuple[frozenset[str], tuple[frozenset[str], ...]]  # groups to avoid; sets of groups each to be met


def holdings(permissions: Permissions) -> dict[tuple[str, str], Scope]:
    """Everything that is held: the scope of each action and base kind that is not nothing."""
    scopes = {(name, kind): permissions.scope(name, kind) for name, kind in _catalogue()}
    return {right: scope for right, scope in scopes.items() if not scope.is_nothing}


def covers_right(permissions: Permissions, action: str, resource: Resource) -> bool:
    """Whether `action` is held on all that `resource` may ever name (D 1). QuestionError as in `grants.decide`."""
    require_kind(action, resource.kind)
    held = permissions.scope(action, resource.kind)
    return not _escapes((resource,), NOTHING, held, NOTHING)


def missing_rights(caller: Permissions, before: Permissions, after: Permissions) -> list[Right]:
    """What somebody would gain, going from `before` to `after`, that the caller lacks; in catalogue order (D 1).

    Each is (action, resource): the allow that gives too much, or the deny that must not be taken away.
    """
    return [
        (action, resource)
        for action, kind in _catalogue()
        for resource in _missing(
            kind, caller.scope(action, kind), before.scope(action, kind), after.scope(action, kind)
        )
    ]


def gained(kind: str, before: Scope, after: Scope) -> list[Resource]:
    """What of a base kind is in `after` and was not in `before`, as expressions; empty when nothing can be."""
    return _missing(kind, NOTHING, before, after)


def apart_from(before: Scope, after: Scope) -> Scope:
    """`before` without the denies that `after` has too: for all that is in `after` it says the same, with less."""
    if before.is_nothing or after.is_nothing:
        return before
    groups = EMPTY if after.denied_grouped else before.denied_groups - after.denied_groups
    return Scope(
        everything=before.everything,
        values=before.values,
        groups=before.groups,
        grouped=before.grouped,
        denied_values=before.denied_values - after.denied_values,
        denied_groups=groups,
        denied_grouped=before.denied_grouped and not after.denied_grouped,
    )


def _catalogue() -> Iterator[tuple[str, str]]:
    for name, action in ACTIONS.items():
        if name not in GRANT_NOTHING:
            for kind in dict.fromkeys(base_kind(kind) for kind in action.kinds):
                yield name, kind


def _missing(kind: str, caller: Scope, before: Scope, after: Scope) -> list[Resource]:
    if caller.is_everything or after == before:
        return []
    before = apart_from(before, after)
    lacking = (
        part[-1]
        for given in _allows(kind, after)
        for part in _parts_gained(given, kind, before)
        if _escapes(part, after, caller, before)
    )
    return sorted(set(lacking))


def _parts_gained(given: Resource, kind: str, before: Scope) -> Iterable[tuple[Resource, ...]]:
    """What an allow newly gives: all of it, or, where it was given before, what the denies of then kept back.

    A part is an intersection of expressions, the narrowest last.
    """
    if not _allowed(given, before):
        return [(given,)]
    return [_narrowest_last(given, kept) for kept in _denies(kind, before)]


def _narrowest_last(given: Resource, kept: Resource) -> tuple[Resource, ...]:
    whole = given.value == "*" and (given.kind == kept.kind or given.kind == "agent:id")
    return (given, kept) if whole or kept.kind == "agent:id" else (kept, given)


def _allowed(given: Resource, scope: Scope) -> bool:
    """Whether the allows of a scope, its denies aside, cover an expression."""
    if scope.everything:
        return True
    if given.kind == "agent:group":
        return scope.grouped or given.value in scope.groups
    return given.value in scope.values


def _allows(kind: str, scope: Scope) -> list[Resource]:
    if scope.everything:
        return [Resource(kind, "*")]
    groups = ANY_GROUP if scope.grouped else scope.groups
    return _expressions(kind, scope.values, groups)


def _denies(kind: str, scope: Scope) -> list[Resource]:
    groups = ANY_GROUP if scope.denied_grouped else scope.denied_groups
    return _expressions(kind, scope.denied_values, groups)


def _expressions(kind: str, values: frozenset[str], groups: frozenset[str]) -> list[Resource]:
    return [Resource(kind, value) for value in values] + [Resource("agent:group", group) for group in groups]


def _escapes(part: tuple[Resource, ...], after: Scope, caller: Scope, before: Scope) -> bool:
    """Whether some possible agent is in `part`, not denied after, and neither the caller's nor held before."""
    return any(
        _possible(avoid | out[0] | past[0], (*meet, *out[1], *past[1]))
        for agent_id in _ids(part, (after, caller, before))
        for avoid, meet in _inside(part, after, agent_id)
        for out in _outside(caller, agent_id)
        for past in _outside(before, agent_id)
    )


def _ids(part: tuple[Resource, ...], scopes: Iterable[Scope]) -> Iterable[str]:
    """The ids to try: the one that is named, or all that any scope names and one that none does."""
    for resource in part:
        if resource.kind != "agent:group" and resource.value != "*":
            return (resource.value,)
    return {ANY_OTHER}.union(*(scope.values | scope.denied_values for scope in scopes))


def _inside(part: tuple[Resource, ...], after: Scope, agent_id: str) -> Iterator[Limits]:
    """The limits on the groups of an agent with this id that is in `part` and not denied after."""
    if agent_id in after.denied_values:
        return
    if any(resource.kind != "agent:group" and resource.value not in ("*", agent_id) for resource in part):
        return
    meet = tuple(frozenset({resource.value}) for resource in part if resource.kind == "agent:group")
    yield _denied_groups(after), meet


def _outside(scope: Scope, agent_id: str) -> Iterator[Limits]:
    """Each way in which an agent with this id can be outside of a scope."""
    if agent_id in scope.denied_values:
        yield EMPTY, ()
        return
    if not (scope.everything or agent_id in scope.values):
        yield (ANY_GROUP if scope.grouped else scope.groups), ()
    denied = _denied_groups(scope)
    if denied:
        yield EMPTY, (denied,)


def _denied_groups(scope: Scope) -> frozenset[str]:
    return ANY_GROUP if scope.denied_grouped else scope.denied_groups


def _possible(avoid: frozenset[str], meet: tuple[frozenset[str], ...]) -> bool:
    """Whether a set of groups avoids all of `avoid` and meets each of `meet`; `*` is any group."""
    if "*" in avoid:
        return not meet
    return all("*" in wanted or wanted - avoid for wanted in meet)
