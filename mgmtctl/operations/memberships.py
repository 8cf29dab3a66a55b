"""Changing which groups agents are in: rights, writing, and what it does to their files. No operation is here.

Rules (D 5): the right on the agent is asked by the operation; here follows the right on every group that is entered,
left or moved, inside the transaction that changes them; falling back to `default` needs none. A file name that two
groups of an agent share is reported when it is assigned. A dry run tells who gains and who loses on the agents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import MgmtctlError
from mgmtctl.domain.memberships import FALLBACK, Groups, touched
from mgmtctl.domain.queries import ListQuery
from mgmtctl.domain.resources import Resource
from mgmtctl.operations import access, consequences
from mgmtctl.operations.context import Context

if TYPE_CHECKING:
    from mgmtctl.domain.agents import Agent
    from mgmtctl.domain.impact import Moves
    from mgmtctl.domain.merging import Conflict

ASSIGN = "group:modify_assignments"


@dataclass(frozen=True, slots=True)
class Assignment:
    """An agent after a change of its groups, whether anything changed, and files that its groups disagree on."""

    agent: Agent
    changed: bool
    conflicts: tuple[Conflict, ...] = ()

    def record(self) -> dict[str, Any]:
        """The agent's record with `changed` and `conflicts` [{"name", "winner", "losers"}]."""
        conflicts = [
            {"name": conflict.name, "winner": conflict.winner, "losers": list(conflict.losers)}
            for conflict in self.conflicts
        ]
        return {**self.agent.record(), "changed": self.changed, "conflicts": conflicts}


def enter(ctx: Context, groups: Iterable[str]) -> None:
    """Demand that agents may be put into these groups, and that they exist; DeniedError, NotFoundError 1710."""
    for group in groups:
        access.demand(ctx, ASSIGN, "group:id", group)
        if not ctx.folders.group_exists(group):
            raise access.not_found("group:id", group)


def regroup(
    ctx: Context, ids: Sequence[str], change: Callable[[Groups], Groups], *, told: bool = True
) -> tuple[list[Assignment], list[tuple[str, MgmtctlError]]]:
    """Give each agent the groups that `change` makes of those it has (none: `default`), all in one transaction.

    Returns what became of each by id, and (id, error) of those for which `change` raised, in the order of ids; `told`:
    a dry run tells what it means for everybody.
    DeniedError when a right on some group is missing, and then nothing changes.
    """
    changed: set[str] = set()
    failed: dict[str, MgmtctlError] = {}
    moves: dict[tuple[Groups, Groups], frozenset[str]] = {}
    now = ctx.now()
    with ctx.atomic():
        for before, members in _by_groups(ctx, ids).items():
            try:
                after = change(before)
            except MgmtctlError as error:
                failed.update(dict.fromkeys(members, error))
                continue
            if after != before:
                _demand(ctx, before, after)
                ctx.store.agents.set_groups(members, after or FALLBACK)
                # What they get from these must be fit for them too.
                ctx.store.accepted.distrust(set(after or FALLBACK) - set(before))
                changed.update(members)
                moves[before, after or FALLBACK] = frozenset(members)
        done = [identifier for identifier in ids if identifier not in failed]
        agents, _ = ctx.store.agents.list(done, ListQuery(), now)
    if told:
        preview(ctx, moves)
    found = Conflicts(ctx)
    return [
        Assignment(agent, agent.id in changed, found.among(agent.groups) if agent.id in changed else ())
        for agent in agents
    ], [(identifier, failed[identifier]) for identifier in sorted(failed, key=int)]


def preview(ctx: Context, moves: Moves) -> None:
    """In a dry run, put into `ctx.impacts` who gains and who loses what on agents that change their groups."""
    if ctx.dry_run:
        ctx.impacts.append(lambda: consequences.moves_impact(ctx, moves))


class Conflicts:
    """The file names that groups disagree on, as far as the caller may read the groups; each group is read once."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._readable = access.scope(ctx, "group:read", "group:id")
        self._files: dict[str, dict[str, bytes]] = {}
        self._found: dict[Groups, tuple[Conflict, ...]] = {}

    def among(self, groups: Groups) -> tuple[Conflict, ...]:
        """Conflicts of agents with these groups, in order: the last group wins."""
        if len(groups) < 2:
            return ()
        if groups not in self._found:
            from mgmtctl.domain.merging import combine

            readable = [group for group in groups if self._readable.covers(group)]
            self._found[groups] = combine([(group, self._names(group)) for group in readable]).conflicts
        return self._found[groups]

    def _names(self, group: str) -> dict[str, bytes]:
        if group not in self._files:
            files = self._ctx.folders.list_files(group) if self._ctx.folders.group_exists(group) else ()
            self._files[group] = {file.name: b"" for file in files if file.problem is None}
        return self._files[group]


def _by_groups(ctx: Context, ids: Sequence[str]) -> dict[Groups, list[str]]:
    """The agents by the groups they have: few combinations, however many agents."""
    found: dict[Groups, list[str]] = {}
    for identifier, groups in ctx.store.agents.groups_of_each(ids).items():
        found.setdefault(groups, []).append(identifier)
    return found


def _demand(ctx: Context, before: Groups, after: Groups) -> None:
    """The right on every group that is touched; a group that is left need not exist any more."""
    actor = access.current_actor(ctx)
    for group in touched(before, after):
        if group in after:
            enter(ctx, (group,))
        elif not actor.permissions.allows(ASSIGN, Resource("group:id", group)):
            # No `not found` here: that the agent is in this group is no secret to who may change its groups.
            raise access.refusal(ctx, actor, ASSIGN, Resource("group:id", group))
