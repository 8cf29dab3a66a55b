"""The permission check itself: needs of an operation against the permissions of the actor.

Rules (D 2): a name that the caller may not read is `not found`, an id he may not read is `denied`, each whether it
exists or not; explicit ids partly denied become failures, all denied is a refusal; no ids given means the scope of what
is permitted. Explanations are shown to those who may read security objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import DeniedError, InvalidError, MgmtctlError, NotFoundError, UnauthenticatedError
from mgmtctl.domain.grants import AgentAccess
from mgmtctl.domain.resources import RESOURCELESS, Resource, agent_names
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import explanations
from mgmtctl.operations.results import Failure, grouped

if TYPE_CHECKING:
    from mgmtctl.domain.grants import Permissions
    from mgmtctl.operations.context import Actor, Context

# The action that lets somebody know of a resource of this kind.
READ_ACTIONS = {
    "agent:id": "agent:read",
    "group:id": "group:read",
    "user:id": "security:read",
    "role:id": "security:read",
    "policy:id": "security:read",
    "rule:id": "security:read",
}
NOT_FOUND_CODES = {
    "agent:id": 1701,
    "group:id": 1710,
    "user:id": 5001,
    "role:id": 4002,
    "policy:id": 4007,
    "rule:id": 4022,
}
_MOST_IDS_ASKED_ONE_BY_ONE = 64


@dataclass(frozen=True, slots=True)
class Target:
    """The kind of resource an operation touches, and the parameter that names it (None: resourceless)."""

    kind: str
    parameter: str | None
    every: bool


@dataclass(frozen=True, slots=True)
class Need:
    """One right that an operation needs."""

    action: str
    target: Target


def admit(
    ctx: Context, needs: Sequence[Need], open_to: str | None, arguments: dict[str, Any]
) -> tuple[Failure, ...]:
    """Check every need and put canonical ids or a Scope into `arguments`; give back what was refused item by item.

    Raises UnauthenticatedError, DeniedError or NotFoundError when the call as a whole is refused.
    """
    if open_to == "anyone":
        return ()
    if open_to == "owner":
        return _admit_owner(ctx)
    actor = current_actor(ctx)
    refused: list[tuple[str, MgmtctlError]] = []
    denials: list[DeniedError] = []
    for need in needs:
        try:
            _admit_need(ctx, actor, need, arguments, refused)
        except DeniedError as error:
            denials.append(error)
        except MgmtctlError:
            # The first refusal is the answer; one of another kind is not told beside a right that is missing.
            if not denials:
                raise
    if denials:
        raise _together(denials)
    return grouped(refused)


def _admit_need(
    ctx: Context, actor: Actor, need: Need, arguments: dict[str, Any], refused: list[tuple[str, MgmtctlError]]
) -> None:
    parameter = need.target.parameter
    if parameter is None:
        _demand_resourceless(ctx, actor, need.action)
    elif need.target.every:
        arguments[parameter] = _admit_each(ctx, actor, need, arguments[parameter], refused)
    else:
        arguments[parameter] = _admit_one(ctx, actor, need, arguments[parameter])


def current_actor(ctx: Context) -> Actor:
    """Who is acting; raises UnauthenticatedError before a login."""
    if ctx.actor is None:
        raise UnauthenticatedError("not logged in", fix="mgmtctl login")
    return ctx.actor


def scope(ctx: Context, action: str, kind: str) -> Scope:
    """What the actor may do `action` on, among the resources of a kind, as data for a query."""
    return current_actor(ctx).permissions.scope(action, kind)


def demand(ctx: Context, action: str, kind: str, reference: str) -> str:
    """Demand one right inside an operation, where the declaration cannot say it; returns the canonical id."""
    if kind == RESOURCELESS.kind:
        _demand_resourceless(ctx, current_actor(ctx), action)
        return reference
    return _demand_one(ctx, current_actor(ctx), action, kind, reference)


def is_oneself(ctx: Context, user: str) -> bool:
    """Whether this id or name is the caller's own; never in a session by a context, which is not about his roles."""
    actor = current_actor(ctx)
    return not actor.run_as and resolve(ctx, "user:id", user)[0] == str(actor.user_id)


def demand_user(ctx: Context, user: str) -> str:
    """The id of a user that the caller may ask about: himself, or whom he may read."""
    if is_oneself(ctx, user):
        return str(current_actor(ctx).user_id)
    return demand(ctx, "security:read", "user:id", user)


def names_of(ctx: Context, kind: str, identifier: str) -> tuple[Resource, ...]:
    """All names of one concrete resource: an agent is also each of its groups (D 2)."""
    if kind == "agent:id":
        return agent_names(identifier, ctx.store.agents.groups_of(int(identifier)))
    return (Resource(kind, identifier),)


def resolve(ctx: Context, kind: str, reference: str) -> tuple[str | None, bool]:
    """The canonical id of what the caller wrote, and whether he wrote a name; (None, True) for a name nobody has.

    Digits only are always an id, also of something that does not exist; `name:042` addresses an object named so.
    """
    if kind not in NOT_FOUND_CODES or kind == "group:id":
        return reference, True
    if reference.isascii() and reference.isdigit():
        return _canonical(kind, reference), False
    found = _store_of(ctx, kind).find(reference.removeprefix("name:"))
    return (None if found is None else _canonical(kind, str(found))), True


def exists(ctx: Context, kind: str, identifier: str) -> bool:
    """Whether the store has an object of this kind with this id."""
    return bool(_store_of(ctx, kind).exists(int(identifier)))


def not_found(kind: str, reference: str) -> NotFoundError:
    """The one text for what does not exist or may not be known."""
    return NotFoundError(kind.partition(":")[0], reference, code=NOT_FOUND_CODES.get(kind, 0))


def _canonical(kind: str, digits: str) -> str:
    if len(digits) > 18:
        raise not_found(kind, digits)
    return str(int(digits)).zfill(3) if kind == "agent:id" else str(int(digits))


def _store_of(ctx: Context, kind: str) -> Any:
    noun = kind.partition(":")[0]
    return getattr(ctx.store, "policies" if noun == "policy" else f"{noun}s")


def _admit_owner(ctx: Context) -> tuple[Failure, ...]:
    if not ctx.door.owner:
        raise DeniedError(
            "owner",
            "data folder",
            problem="only the system user that owns the data folder may do this",
            code=0,
        )
    return ()


def _demand_resourceless(ctx: Context, actor: Actor, action: str) -> None:
    if not actor.permissions.allows(action, RESOURCELESS):
        raise refusal(ctx, actor, action, RESOURCELESS)


def _admit_one(ctx: Context, actor: Actor, need: Need, given: Any) -> Any:
    if given is None:
        raise InvalidError(f"`{need.target.parameter}` is required")
    if isinstance(given, str):
        return _demand_one(ctx, actor, need.action, need.target.kind, given)
    return [_demand_one(ctx, actor, need.action, need.target.kind, reference) for reference in given]


def _demand_one(
    ctx: Context, actor: Actor, action: str, kind: str, reference: str, *, explained: bool = True
) -> str:
    identifier, by_name = resolve(ctx, kind, reference)
    if identifier is None:
        raise not_found(kind, reference)
    names = names_of(ctx, kind, identifier)
    if not actor.permissions.allows(action, *names):
        if by_name and not _may_know(actor.permissions, kind, names):
            raise not_found(kind, reference)
        asked = f"{kind}:{reference}"
        if not explained:
            raise DeniedError(action, asked)
        raise refusal(ctx, actor, action, *names, asked=asked)
    if kind in NOT_FOUND_CODES and kind != "group:id" and not exists(ctx, kind, identifier):
        raise not_found(kind, reference)
    return identifier


def _may_know(permissions: Permissions, kind: str, names: tuple[Resource, ...]) -> bool:
    read = READ_ACTIONS.get(kind)
    return read is not None and permissions.allows(read, *names)


def _admit_each(
    ctx: Context, actor: Actor, need: Need, given: Any, refused: list[tuple[str, MgmtctlError]]
) -> Any:
    """The Scope when nothing was named, else the permitted part; refusals are collected, or raised if all are."""
    if given is None:
        return actor.permissions.scope(need.action, need.target.kind)
    by_set = None
    if need.target.kind == "agent:id" and len(given) > _MOST_IDS_ASKED_ONE_BY_ONE:
        by_set = AgentAccess(actor.permissions, lambda scope: frozenset(ctx.store.agents.ids(scope)))
    allowed: list[str] = []
    denials: list[DeniedError] = []
    for reference in dict.fromkeys(given):
        if by_set is not None and by_set.allows(need.action, reference):
            allowed.append(reference)
            continue
        try:
            kind, explained = need.target.kind, not denials
            allowed.append(_demand_one(ctx, actor, need.action, kind, reference, explained=explained))
        except DeniedError as error:
            denials.append(error)
            refused.append((reference, error))
        except MgmtctlError as error:
            refused.append((reference, error))
    if denials and not allowed and len(denials) == len(refused):
        raise denials[0]
    return list(dict.fromkeys(allowed))


def refusal(
    ctx: Context, actor: Actor, action: str, *names: Resource, asked: str | None = None
) -> DeniedError:
    """The refusal of one action, with as much of its reasons as the actor may know, and whom to ask what."""
    written = asked or str(names[0])
    decision = actor.permissions.decide(action, *names)
    found = explanations.answer(
        ctx.store,
        actor,
        decision,
        None,
        f"you ({actor.user})",
        explanations.questions(actor, action, written),
    )
    return DeniedError(
        action,
        written,
        why="\n".join(found.reasons()),
        fix="\n".join(found.advice()),
        explanation={"decision": found.record()},
    )


def _together(denials: Sequence[DeniedError]) -> DeniedError:
    """All rights that are missing, as one refusal: the first in full, the others by what would allow them."""
    first, *others = denials
    if not others:
        return first
    rights = [f"{one.action} on {one.resource}" for one in denials]
    whys = [f"{right}: {one.why}" for right, one in zip(rights, denials, strict=True) if one.why]
    return DeniedError(
        first.action,
        first.resource,
        problem=f"permission denied: {', '.join(rights)}",
        why="\n".join(whys),
        fix="\n".join(dict.fromkeys(one.fix for one in denials if one.fix)),
        explanation={
            **first.explanation,
            "also_denied": [
                {"action": one.action, "resource": one.resource, **one.explanation} for one in others
            ],
        },
    )
