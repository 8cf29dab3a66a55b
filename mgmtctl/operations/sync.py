"""Sync: bring what the groups give into the agents' folders, and say where each agent stands (S 2.9, 3.2; D 8).

Rules: an invalid group is never pushed, its agents keep the last good files and are reported; one agent's failure stops
no other; a lock keeps two runs apart. Status, plan, explain and a run ask one comparison (`Sync.sort_out`), which looks
at every file that was written, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain import sync as standing
from mgmtctl.domain.agents import timestamp
from mgmtctl.domain.fields import OneOf
from mgmtctl.domain.queries import ID, NAMES, TEXT, Fields, ListQuery, apply_query
from mgmtctl.operations import holds, restarts
from mgmtctl.operations.agent_stages import AgentStage, Stages, stages
from mgmtctl.operations.conf_checks import accepted_lines
from mgmtctl.operations.context import Context
from mgmtctl.operations.incoming import Waiting, waiting
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items
from mgmtctl.operations.sync_run import Watch, place
from mgmtctl.operations.sync_targets import Blocked, Targets
from mgmtctl.operations.sync_work import (
    AffectedError,
    AgentChanges,
    How,
    StoppedError,
    SyncItems,
    chosen_ids,
    opened,
    planned,
    readable,
    run_through,
    sorted_out,
)

if TYPE_CHECKING:
    from mgmtctl.domain.local_files import LocalProblem
    from mgmtctl.domain.revisions import Revision
    from mgmtctl.domain.sync import Change
    from mgmtctl.operations.sync_targets import Target
    from mgmtctl.store.sync_state import Member

__all__ = (
    "AffectedError",
    "AgentChanges",
    "AgentStage",
    "Explanation",
    "StoppedError",
    "SyncItems",
    "explain_sync",
    "plan_sync",
    "run_sync",
    "sync_status",
)

STAGE_FIELDS: Fields = {
    "id": ID,
    "name": TEXT,
    "group": NAMES,
    "group_config_status": OneOf("synced", "not synced"),
    "stage": OneOf(*standing.STAGES),
    "why": TEXT,
    "next": TEXT,
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where one agent stands, with the whole chain: what its groups give, what was written, what it uses and reported.

    `gives` are the revisions of the groups now, `on_disk` the last ones of groups that were changed on disk since.
    `reports` are the revisions that its last report stands for (None: of nothing known), `waiting` a report that lies
    in its folder and was not recorded yet, `newer` the last revision of each group that the agent has not, `changes`
    what a push would change and `change_count` how many of them there are for who may not read their names.
    """

    where: AgentStage
    target: Target | None
    gives: Mapping[str, int]
    on_disk: Mapping[str, int]
    pushed_digest: str | None
    pushed: int | None
    auto_restart: bool
    remote_conf: bool
    local_problems: tuple[LocalProblem, ...]
    reports: Mapping[str, int] | None
    waiting: Waiting | None
    newer: tuple[Revision, ...]
    changes: tuple[Change, ...]
    change_count: int
    findings: tuple[Any, ...]
    conflicts: tuple[Any, ...]
    warnings: tuple[str, ...]
    now: int

    def record(self) -> dict[str, Any]:
        """The record of AgentStage, and the rest of the chain; null where nothing is known or nothing is to be told."""
        return {
            **self.where.record(),
            "target": self.target.digest if self.target else None,
            "gives": dict(self.gives),
            "changed_on_disk": dict(self.on_disk),
            "digest": self.pushed_digest,
            "pushed": timestamp(self.pushed) if self.pushed else None,
            "auto_restart": self.auto_restart,
            "remote_conf": self.remote_conf,
            "local_problems": [problem.record() for problem in self.local_problems],
            "reports": None if self.reports is None else dict(self.reports),
            "waiting": self.waiting.record() if self.waiting else None,
            "newer": [
                {
                    "group": revision.group,
                    "revision": revision.number,
                    "how": revision.how,
                    "author": revision.author.user if revision.author else None,
                    "time": timestamp(revision.time),
                    "files": [changed.file for changed in revision.changes],
                }
                for revision in self.newer
            ],
            "changes": [change.record() for change in self.changes],
            "change_count": self.change_count,
            "findings": [finding.record() for finding in self.findings],
            "conflicts": [conflict._asdict() for conflict in self.conflicts],
            "warnings": list(self.warnings),
        }


@operation(needs("agent:reconnect", each("agent:id", "agents_list")), http="PUT /sync")
def run_sync(
    ctx: Context,
    agents_list: Selection = None,
    group: str | None = None,
    verify: bool = False,
    max_affected: int | None = None,
    if_locked: str = "fail",
    lock_timeout: float = 0.0,
    watch: Watch | None = None,
) -> SyncItems:
    """Write into the agents' folders what their groups give; agents that have it already are not touched.

    Agents that an open rollout holds back are counted and left alone. Raises AffectedError before anything is written,
    StoppedError after `watch` ended the run.
    """
    how = How(verify, max_affected, if_locked, lock_timeout, watch)
    if ctx.dry_run:
        return planned(ctx, "agent:reconnect", agents_list, group, how)
    return run_through(ctx, agents_list, group, how)


@operation(needs("agent:read", each("agent:id", "agents_list")), http="GET /sync/plan")
def plan_sync(
    ctx: Context, agents_list: Selection = None, group: str | None = None, verify: bool = False
) -> SyncItems:
    """Show what a run would change, agent by agent and file by file."""
    return planned(ctx, "agent:read", agents_list, group, How(verify))


@operation(needs("agent:read", each("agent:id", "agents_list")), http="GET /sync/status")
def sync_status(
    ctx: Context, agents_list: Selection = None, group: str | None = None, query: ListQuery | None = None
) -> Items[AgentStage]:
    """Say where each agent stands: synced, stale, blocked, and what to do next."""
    with opened(ctx, keep=False) as run:
        work = sorted_out(ctx, run, "agent:read", agents_list, group)
        ids = chosen_ids(ctx, "agent:read", agents_list, group)
        found = stages(ctx, run, work, ctx.store.sync_state.members(ids, group))
    asked, total = apply_query(found, query or ListQuery(), STAGE_FIELDS, ctx.now())
    return Items(asked, total=total)


@operation(needs("agent:read", one("agent:id", "agent_id")), http="GET /agents/{agent_id}/sync")
def explain_sync(ctx: Context, agent_id: str) -> Explanation:
    """Say where one agent stands, why, what it has and shall have, and the next step."""
    from mgmtctl.domain.merging import conflicts_among

    with opened(ctx, keep=False) as run:
        (member,) = ctx.store.sync_state.members([agent_id])
        target, _ = run.targets.files(member.groups)
        work = run.sort_out(ctx.store.sync_state.seen([agent_id]))
        holds.hold_back(run, work)
        found = Stages(ctx, run, work)
        where = found.of(member)
        pushable = bool(work.todo or work.held) and where.stage.name != standing.NO_FOLDER
        changes = run.changes(member, target) if pushable and not isinstance(target, Blocked) else ()
        return Explanation(
            where,
            None if isinstance(target, Blocked) else target,
            *(({}, {}) if isinstance(target, Blocked) else found.gives(member.groups, target)),
            member.pushed_digest or None,
            member.pushed or None,
            restarts.applied(run.folders, place(member)),
            not restarts.ignores_shared(run.folders, place(member)),
            restarts.problems(run.folders, place(member)),
            _reports(ctx, found, member),
            waiting(
                run.folders,
                place(member),
                member.name,
                ctx.store.reports.known(member.id).reported,
                ctx.now(),
            ),
            _newer(ctx, member, where.has),
            changes if found.may_read(member) else (),
            len(changes),
            _findings(ctx, run.targets, member) if isinstance(target, Blocked) else (),
            tuple(conflicts_among(run.targets.conflicts.get(member.groups, ()), readable(ctx))),
            tuple(accepted_lines(ctx.store, ctx.folders, member.groups.split(","), readable(ctx))),
            int(ctx.now()),
        )


def _reports(ctx: Context, found: Stages, member: Member) -> Mapping[str, int] | None:
    """The revisions of the merged file that the agent reported last."""
    digest = ctx.store.sync_state.known_digest(member.reported) if member.reported else None
    return None if digest is None else found.revisions(digest)


def _newer(ctx: Context, member: Member, has: Mapping[str, int]) -> tuple[Revision, ...]:
    """The last revision of each group of the agent that its files were not made of, as far as it may be read."""
    seen, found = readable(ctx), []
    for group in filter(seen.covers, member.groups.split(",")):
        head = ctx.store.revisions.head(group)
        if head is not None and has and has.get(group) != head.number:
            found.append(ctx.store.revisions.get(group, head.number))
    return tuple(found)


def _findings(ctx: Context, targets: Targets, member: Member) -> tuple[Any, ...]:
    """What blocks the agent's groups, as far as the caller may read them."""
    seen = readable(ctx)
    errors = [targets.problem(name) for name in member.groups.split(",") if seen.covers(name)]
    return tuple(finding for error in errors for finding in getattr(error, "findings", ()))
