"""Sync: bring what the groups give into the agents' folders, and say where each agent stands (S 2.9, 3.2; D 8).

Rules: an invalid group is never pushed, its agents keep the last good files and are reported; one agent's failure stops
no other; a lock keeps two runs apart. Status, plan, explain and a run ask one comparison (`Sync.sort_out`), which looks
at every file that was written, so that they cannot disagree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mgmtctl.domain import sync as standing
from mgmtctl.domain.errors import ConflictError, InvalidError, MgmtctlError, NotFoundError, UnavailableError
from mgmtctl.domain.fields import OneOf
from mgmtctl.domain.queries import ID, NAMES, TEXT, Fields, ListQuery, apply_query
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import access
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items, grouped
from mgmtctl.operations.sync_run import Sync, Unwatched, Watch, Work, place
from mgmtctl.operations.sync_targets import Blocked, Targets, conflicts_among

if TYPE_CHECKING:
    from mgmtctl.domain.sync import Change, Stage
    from mgmtctl.folders.pushing import Examined
    from mgmtctl.operations.sync_targets import Target
    from mgmtctl.store.sync_state import Member

STAGE_FIELDS: Fields = {
    "id": ID,
    "name": TEXT,
    "group": NAMES,
    "group_config_status": OneOf("synced", "not synced"),
    "stage": OneOf(*standing.STAGES),
    "why": TEXT,
    "next": TEXT,
}
INTERNAL_OPTIONS = "local_internal_options.conf"


class AffectedError(ConflictError):
    """A run would write to more agents than the caller allows: `count`, `most`."""

    def __init__(self, count: int, most: int) -> None:
        super().__init__(
            f"{count} agents would be written to, at most {most} are allowed",
            fix="look with --dry-run, then raise --max-affected or confirm with --yes",
        )
        self.count = count
        self.most = most

    def facts(self) -> dict[str, object]:
        return {"count": self.count, "most": self.most}


@dataclass(frozen=True, slots=True)
class AgentChanges:
    """What was, or would be, changed in one agent's folder; `digest` is of its new merged file."""

    id: str
    name: str
    groups: tuple[str, ...]
    digest: str
    changes: tuple[Change, ...]

    def record(self) -> dict[str, Any]:
        """{"id", "name", "group", "digest", "changes": [{"change", "file", "edited_there"}], "summary"}."""
        return {
            "id": self.id,
            "name": self.name,
            "group": list(self.groups),
            "digest": self.digest,
            "changes": [change.record() for change in self.changes],
            "summary": self.summary(),
        }

    def summary(self) -> str:
        """Counts in words: `2 created, 1 updated`."""
        words = {"create": "created", "update": "updated", "overwrite": "overwritten", "remove": "removed"}
        kinds = [change.kind for change in self.changes]
        return (
            ", ".join(f"{kinds.count(kind)} {word}" for kind, word in words.items() if kind in kinds)
            or "none"
        )


@dataclass(frozen=True, slots=True)
class SyncItems(Items[AgentChanges]):
    """A run: agents written to, failures, and how many needed nothing, were not reached, or were left to another run.

    `warnings` are lines about what the groups give: conflicts, files left out, a missing ar.conf.
    """

    unchanged: int = 0
    not_reached: int = 0
    skipped: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def error(self) -> int:
        """0 nothing failed, 1 nothing worked and something failed, 2 both."""
        if not self.failed:
            return 0
        return 2 if self.affected or self.unchanged else 1


class StoppedError(UnavailableError):
    """A run that its caller stopped: what is done is done, and `report` tells it."""

    def __init__(self, report: SyncItems) -> None:
        super().__init__(f"stopped, {report.not_reached} agents were not reached", "interrupted")
        self.report = report


@dataclass(frozen=True, slots=True)
class AgentStage:
    """Where one agent stands."""

    id: str
    name: str
    groups: tuple[str, ...]
    status: str
    stage: Stage

    def record(self) -> dict[str, Any]:
        """{"id", "name", "group", "group_config_status", "stage", "why", "next"}."""
        return {
            "id": self.id,
            "name": self.name,
            "group": list(self.groups),
            "group_config_status": self.status,
            "stage": self.stage.name,
            "why": self.stage.why,
            "next": self.stage.next_step,
        }


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where one agent stands, with the facts: what it shall have, what it has, what a push would change."""

    where: AgentStage
    target: Target | None
    pushed_digest: str | None
    pushed: int | None
    changes: tuple[Change, ...]
    findings: tuple[Any, ...]
    conflicts: tuple[Any, ...]

    def record(self) -> dict[str, Any]:
        """The record of AgentStage, and "target", "has", "pushed", "changes", "findings", "conflicts"."""
        return {
            **self.where.record(),
            "target": self.target.digest if self.target else None,
            "has": self.pushed_digest,
            "pushed": _timestamp(self.pushed) if self.pushed else None,
            "changes": [change.record() for change in self.changes],
            "findings": [finding.record() for finding in self.findings],
            "conflicts": [conflict._asdict() for conflict in self.conflicts],
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

    Raises AffectedError before anything is written, StoppedError after `watch` ended the run.
    """
    if ctx.dry_run:
        return _planned(ctx, "agent:reconnect", agents_list, group, verify, max_affected)
    with ctx.folders.lock("sync", "mgmtctl sync run", if_locked=if_locked, timeout=lock_timeout) as held:
        if not held:
            return SyncItems((), skipped=True)
        with ctx.store.sync_state.unhurried(), _opened(ctx, keep=True, verify=verify) as run:
            work = _sorted_out(ctx, run, "agent:reconnect", agents_list, group)
            _guard_number(work, max_affected)
            run.push_all(work, watch or Unwatched())
            names = sorted(work.groups)
            if group is None and isinstance(agents_list, Scope) and agents_list.is_everything:
                names = sorted({*names, *ctx.folders.group_names()})
                ctx.folders.tidy()
            notes = list(filter(None, map(run.targets.refresh_group, names)))
            if run.targets.unsaved or work.changed:
                with ctx.atomic():
                    run.targets.flush()
                    ctx.store.sync_state.forget_unused()
            report = _report(ctx, run.targets, work)
            report = replace(report, warnings=(*report.warnings, *notes))
    if watch is not None and watch.stopped:
        raise StoppedError(report)
    return report


@operation(needs("agent:read", each("agent:id", "agents_list")), http="GET /sync/plan")
def plan_sync(
    ctx: Context, agents_list: Selection = None, group: str | None = None, verify: bool = False
) -> SyncItems:
    """Show what a run would change, agent by agent and file by file."""
    return _planned(ctx, "agent:read", agents_list, group, verify, None)


@operation(needs("agent:read", each("agent:id", "agents_list")), http="GET /sync/status")
def sync_status(
    ctx: Context, agents_list: Selection = None, group: str | None = None, query: ListQuery | None = None
) -> Items[AgentStage]:
    """Say where each agent stands: synced, stale, blocked, and what to do next."""
    with _opened(ctx, keep=False) as run:
        work = _sorted_out(ctx, run, "agent:read", agents_list, group)
        ids = _ids(ctx, "agent:read", agents_list, group)
        pending = work.pending_ids()
        members = ctx.store.sync_state.members(ids, group)
        found = [_stage(run, member, member.id in pending, work.examined) for member in members]
    found.sort(key=lambda entry: int(entry.id))
    asked, total = apply_query(found, query or ListQuery(), STAGE_FIELDS, ctx.now())
    return Items(asked, total=total)


@operation(needs("agent:read", one("agent:id", "agent_id")), http="GET /agents/{agent_id}/sync")
def explain_sync(ctx: Context, agent_id: str) -> Explanation:
    """Say where one agent stands, why, what it has and shall have, and the next step."""
    with _opened(ctx, keep=False) as run:
        (member,) = ctx.store.sync_state.members([agent_id])
        target, _ = run.targets.files(member.groups)
        work = run.sort_out(ctx.store.sync_state.seen([agent_id]))
        where = _stage(run, member, bool(work.todo), work.examined)
        pushable = bool(work.todo) and where.stage.name != standing.NO_FOLDER
        return Explanation(
            where,
            None if isinstance(target, Blocked) else target,
            member.pushed_digest or None,
            member.pushed or None,
            run.changes(member, target) if pushable and not isinstance(target, Blocked) else (),
            _findings(ctx, run.targets, member) if isinstance(target, Blocked) else (),
            tuple(conflicts_among(run.targets.conflicts.get(member.groups, ()), _readable(ctx))),
        )


def _planned(
    ctx: Context, action: str, agents_list: Selection, group: str | None, verify: bool, most: int | None
) -> SyncItems:
    with _opened(ctx, keep=False, verify=verify) as run:
        work = _sorted_out(ctx, run, action, agents_list, group)
        _guard_number(work, most)
        run.examine_all(work)
        return _report(ctx, run.targets, work)


@contextmanager
def _opened(ctx: Context, *, keep: bool, verify: bool = False) -> Iterator[Sync]:
    roots = ctx.store.settings.get("agents.folder_roots")
    # A look, a plan, a dry run leave every byte of the store as it is.
    quiet = replace(ctx, dry_run=True) if not keep else ctx
    with ctx.folders.agent_folders(roots) as folders:
        targets = Targets(ctx.store, ctx.folders, ctx.now, keep)
        yield Sync(quiet, targets, folders, verify)


def _sorted_out(ctx: Context, run: Sync, action: str, agents_list: Selection, group: str | None) -> Work:
    """The permitted agents that are meant, compared with what they shall hold."""
    work = run.sort_out(ctx.store.sync_state.seen(_ids(ctx, action, agents_list, group), group))
    if group is not None and not work.groups and isinstance(agents_list, Scope):
        _require_group(ctx, action, agents_list, group)
    return work


def _ids(ctx: Context, action: str, agents_list: Selection, group: str | None) -> Sequence[str] | None:
    """The permitted agents, None for all; DeniedError when there can be none, which is no empty list (D 2)."""
    if not isinstance(agents_list, Scope):
        return agents_list
    if agents_list.is_nothing:
        raise _refusal(ctx, action, group)
    return None if agents_list.is_everything else ctx.store.agents.ids(agents_list)


def _require_group(ctx: Context, action: str, scope: Scope, group: str) -> None:
    """A group without agents that the caller may touch is only named to those who may read it."""
    if not (ctx.folders.group_exists(group) and access.scope(ctx, "group:read", "group:id").covers(group)):
        raise NotFoundError("group", group, code=1710)
    if not scope.covers("", (group,)):
        raise _refusal(ctx, action, group)


def _refusal(ctx: Context, action: str, group: str | None) -> MgmtctlError:
    asked = Resource("agent:id", "*") if group is None else Resource("agent:group", group)
    return access.refusal(ctx, access.current_actor(ctx), action, asked)


def _guard_number(work: Work, most: int | None) -> None:
    if most is not None and work.pending > most:
        raise AffectedError(work.pending, most)


def _report(ctx: Context, targets: Targets, work: Work) -> SyncItems:
    changed = sorted(work.changed, key=lambda entry: entry[0].id)
    failed = sorted(work.failed, key=lambda entry: int(entry[0]))
    return SyncItems(
        [
            AgentChanges(
                member.agent_id, member.name, tuple(member.groups.split(",")), target.digest, changes
            )
            for member, target, changes in changed
        ],
        grouped([(agent, _shown(ctx, error)) for agent, error in failed]),
        unchanged=work.unchanged,
        not_reached=work.not_reached,
        warnings=(*targets.warnings(_readable(ctx)), *_moved_on(work)),
    )


def _readable(ctx: Context) -> Scope:
    return access.scope(ctx, "group:read", "group:id")


def _moved_on(work: Work) -> list[str]:
    return [f"groups `{groups}` changed during the run; run it again" for groups in sorted(work.moved_on)]


def _stage(run: Sync, member: Member, pending: bool, examined: Mapping[int, Examined]) -> AgentStage:
    """Where an agent stands that was sorted out; `pending` when it has to be written to."""
    target = run.targets.of(member.groups)
    blocked = isinstance(target, Blocked)
    options = run.folders.read_report(place(member), INTERNAL_OPTIONS) or b""
    facts = standing.Standing(
        agent=member.agent_id,
        target=None if isinstance(target, Blocked) else target.digest,
        pushed=member.pushed_digest or None,
        diverged=_difference(examined.get(member.id)) if pending else None,
        blocked_by=tuple(error.problem for error in target.errors) if isinstance(target, Blocked) else (),
        repair=target.errors[0].fix if isinstance(target, Blocked) else None,
        folder_problem=run.folders.problem(place(member)) if pending or blocked else None,
        ignores_shared=standing.ignores_shared(options),
    )
    return AgentStage(
        member.agent_id, member.name, tuple(member.groups.split(",")), member.status, standing.stage(facts)
    )


def _difference(examined: Examined | None) -> str:
    """How a folder differs from what was last written there, in words."""
    if examined is None:
        return "its files cannot be read"
    if examined.absent:
        return "its folder is missing"
    return standing.differences(examined.changes) or "a push was cut short there"


def _findings(ctx: Context, targets: Targets, member: Member) -> tuple[Any, ...]:
    """What blocks the agent's groups, as far as the caller may read them."""
    readable = access.scope(ctx, "group:read", "group:id")
    errors = [targets.problem(name) for name in member.groups.split(",") if readable.covers(name)]
    return tuple(finding for error in errors for finding in getattr(error, "findings", ()))


def _shown(ctx: Context, error: MgmtctlError) -> MgmtctlError:
    """A failure without findings from groups whose files the caller may not read."""
    if not isinstance(error, InvalidError) or not error.findings:
        return error
    readable = access.scope(ctx, "group:read", "group:id")
    seen = [finding for finding in error.findings if readable.covers(finding.path.partition("/")[0])]
    return InvalidError(error.problem, why=error.why, fix=error.fix, code=error.code, findings=seen)


def _timestamp(seconds: int) -> str:
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
