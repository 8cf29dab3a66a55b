"""The reasons of a decision as far as an actor may know them.

Rules (D 2): an entry is shown to those who may read its role and its policy; the groups of an agent, and everything
that tells them, only to those who may read the agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mgmtctl.domain.grants import Decision, Entry, decide
from mgmtctl.operations.access_entries import grants_of

if TYPE_CHECKING:
    from mgmtctl.operations.context import Actor
    from mgmtctl.store.store import Store


def visible_to(actor: Actor, decision: Decision) -> Decision:
    """The same decision without the entries, near misses and names of the resource that the actor may not know of."""
    known = _knows(actor, decision)
    return decision._replace(
        resources=decision.resources if known else decision.resources[:1],
        because=tuple(entry for entry in decision.because if _may_read(actor, entry)),
        overridden=tuple(entry for entry in decision.overridden if _may_read(actor, entry)),
        near_misses=tuple(miss for miss in decision.near_misses if known and _may_read(actor, miss.entry)),
    )


def holders(store: Store, actor: Actor, decision: Decision) -> list[str]:
    """The names of the roles, among those that the actor may read, that alone would allow what was decided."""
    if not _knows(actor, decision) or _reads_nothing(actor):
        return []
    by_role: dict[int, list[Entry]] = {}
    for grant in grants_of(store, None):
        by_role.setdefault(grant.role_id, []).extend(
            entry for entry in grant.entries() if _may_read(actor, entry)
        )
    return [
        entries[0].role
        for _, entries in sorted(by_role.items())
        if entries and decide(entries, "white", decision.action, decision.resources).allowed
    ]


def explanation(store: Store, actor: Actor, decision: Decision) -> dict[str, Any]:
    """The facts beside a refusal; empty for those who may not read roles and policies."""
    if _reads_nothing(actor):
        return {}
    shown = visible_to(actor, decision)
    near = [f"{miss.entry.line()}: {miss.why}" for miss in shown.near_misses]
    return {
        "reasons": [f"mode {decision.mode}", *(entry.line() for entry in shown.because), *near],
        "entries": [entry.record() for entry in shown.because],
        "near_misses": [miss.record() for miss in shown.near_misses],
        "roles_that_hold": holders(store, actor, decision),
    }


def _knows(actor: Actor, decision: Decision) -> bool:
    if decision.resources[0].kind != "agent:id":
        return True
    return actor.permissions.allows("agent:read", *decision.resources)


def _reads_nothing(actor: Actor) -> bool:
    kinds = ("role:id", "policy:id")
    return any(actor.permissions.scope("security:read", kind).is_nothing for kind in kinds)


def _may_read(actor: Actor, entry: Entry) -> bool:
    permissions = actor.permissions
    return permissions.scope("security:read", "role:id").covers(str(entry.role_id)) and permissions.scope(
        "security:read", "policy:id"
    ).covers(str(entry.policy_id))
