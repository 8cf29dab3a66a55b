"""What a fix means beside what it is for: what else it gives and takes, for how many agents, and what could stand in.

Rules: expressions are compared, not today's members (`delegation.gained`); numbers are of agents that the caller may
read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.delegation import GRANT_NOTHING, Right, apart_from, gained
from mgmtctl.domain.fixes import Alternative
from mgmtctl.domain.grants import ALLOW, BLACK
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import Scope, base_kind, compile_scope

if TYPE_CHECKING:
    from mgmtctl.domain.fixes import Step, View
    from mgmtctl.domain.grants import Decision, Grant, Permissions

_MOST_COMPARED = 400  # pairs of an allow and a deny; each takes microseconds
NEW = -1  # the id of what is yet to be made
_ADMINISTRATION = "security"  # roles that administer access are never proposed for something else


def actions_of(grants: Iterable[Grant]) -> set[str]:
    """The actions that policies speak of."""
    return {action for grant in grants for block in grant.blocks.values() for action in block["actions"]}


def gained_rights(before: Permissions, after: Permissions, touched: Collection[str]) -> list[Right]:
    """What is held after and was not before, of the touched actions; of all when a first role brings the mode."""
    brings_mode = before.has_roles != after.has_roles and BLACK in (before.mode, after.mode)
    return [
        (name, resource)
        for name, action in ACTIONS.items()
        if (brings_mode or name in touched) and name not in GRANT_NOTHING
        for kind in dict.fromkeys(map(base_kind, action.kinds))
        for resource in _gained(kind, before.scope(name, kind), after.scope(name, kind))
    ]


def _gained(kind: str, before: Scope, after: Scope) -> list[Resource]:
    """As `delegation.gained`; where there is too much to compare, what is denied no more stands for it."""
    past = apart_from(before, after)
    denies = len(past.denied_values) + len(past.denied_groups) + past.denied_grouped
    if denies * (len(after.values) + len(after.groups)) <= _MOST_COMPARED:
        return gained(kind, before, after)
    groups = [*past.denied_groups, *("*",) * past.denied_grouped]
    return sorted(
        [Resource(kind, value) for value in past.denied_values]
        + [Resource("agent:group", group) for group in groups]
    )


def more_agents(
    decision: Decision, before: Permissions, after: Permissions, gives: Iterable[Right], view: View
) -> int | None:
    """On how many other agents the action that was asked for passes then; None: not told, or on none ever."""
    action, asked = decision.action, decision.resources[0]
    held = [resource for name, resource in gives if name == action and base_kind(resource.kind) == "agent:id"]
    if not held:
        return None
    wide, narrow = (one.scope(action, "agent:id") for one in (after, before))
    block = {
        "actions": [action],
        "resources": [str(resource) for resource in (asked, *held)],
        "effect": ALLOW,
    }
    found = view.beyond(wide, narrow, compile_scope([block], action, "agent:id", black=False))
    if found is None or asked.kind != "agent:id" or asked.value == "*":
        return found
    groups = [name.value for name in decision.resources[1:]]
    return found - (wide.covers(asked.value, groups) and not narrow.covers(asked.value, groups))


def alternatives(decision: Decision, steps: Iterable[Step], view: View) -> Iterator[Alternative]:
    """The groups of the agent in place of the agent, when something is granted by group already."""
    by_group = any(miss.entry.resource.kind == "agent:group" for miss in decision.near_misses)
    step = next((one for one in steps if one.facts.get("effect") == ALLOW), None)
    if not by_group or step is None or decision.resources[0].kind != "agent:id":
        return
    for name in decision.resources[1:]:
        command = step._replace(words=(*step.words[:-1], str(name))).command
        yield Alternative(name, view.members(name.value), command)


def weight_of(permissions: Permissions, action: str) -> tuple[int, int] | None:
    """How much a role gives: entries with `*`, and entries; None for one that gives the administration of access."""
    entries = [entry for entry in permissions.entries if entry.effect == ALLOW]
    administers = any(entry.action.startswith(f"{_ADMINISTRATION}:") for entry in entries)
    if administers and not action.startswith(f"{_ADMINISTRATION}:"):
        return None
    return sum(entry.resource.value == "*" for entry in entries), len(entries)
