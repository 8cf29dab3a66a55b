"""Sync: bring what the groups give into the agents' folders, and say where each agent stands (S 2.9, 3.2; D 8).

Rules: an invalid group is never pushed, its agents keep the last good files and are reported; one agent's failure stops
no other; a lock keeps two runs apart. `plan_sync` and a dry run show what `run_sync` would do, by the same code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mgmtctl.domain import sync as standing
from mgmtctl.domain.errors import ConflictError, InvalidError, MgmtctlError, NotFoundError
from mgmtctl.domain.queries import ID, NAMES, TEXT, Fields, ListQuery, apply_query
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import access
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items, grouped
from mgmtctl.operations.sync_run import Sync, Unwatched, Watch, Work, place
from mgmtctl.operations.sync_targets import Blocked, Targets

if TYPE_CHECKING:
    from mgmtctl.domain.merging import Conflict
    from mgmtctl.domain.sync import Change, Stage
    from mgmtctl.operations.sync_targets import Target
    from mgmtctl.store.sync_state import Member

STAGE_FIELDS: Fields = {
    "id": ID,
    "name": TEXT,
    "group": NAMES,
    "group_config_status": TEXT,
    "stage": TEXT,
    "why": TEXT,
    "next": TEXT,
}
_CONFLICTS_SHOWN = 3
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
    """Write into the agents' folders what their groups give; agents that have it already are not touched."""
    if ctx.dry_run:
        return _planned(ctx, agents_list, group, verify, max_affected)
    with ctx.folders.lock("sync", "mgmtctl sync run", if_locked=if_locked, timeout=lock_timeout) as held:
        if not held:
            return SyncItems((), skipped=True)
        with ctx.store.sync_state.unhurried(), _opened(ctx, keep=True, verify=verify) as run:
            members = _members(ctx, agents_list, group)
            work = run.sort_out(members)
            _guard_number(work, max_affected)
            run.push_all(work, watch or Unwatched())
            names = _groups_of(members)
            if group is None and isinstance(agents_list, Scope) and agents_list.is_everything:
                names = sorted({*names, *ctx.folders.group_names()})
                ctx.folders.tidy()
            notes = list(filter(None, map(run.targets.refresh_group, names)))
            if run.targets.unsaved or work.changed:
                with ctx.atomic():
                    run.targets.flush()
                    ctx.store.sync_state.forget_unused()
            report = _report(ctx, run.targets, work)
            return replace(report, warnings=(*report.warnings, *notes))


@operation(needs("agent:read", each("agent:id", "agents_list")), http="GET /sync/plan")
def plan_sync(
    ctx: Context, agents_list: Selection = None, group: str | None = None, verify: bool = False
) -> SyncItems:
    """Show what a run would change, agent by agent and file by file."""
    return _planned(ctx, agents_list, group, verify, None)


@operation(needs("agent:read", each("agent:id", "agents_list")), http="GET /sync/status")
def sync_status(
    ctx: Context, agents_list: Selection = None, group: str | None = None, query: ListQuery | None = None
) -> Items[AgentStage]:
    """Say where each agent stands: synced, stale, blocked, and what to do next."""
    with _opened(ctx, keep=False) as run:
        found = [_stage(run, member) for member in _members(ctx, agents_list, group)]
    found.sort(key=lambda entry: int(entry.id))
    asked, total = apply_query(found, query or ListQuery(), STAGE_FIELDS, ctx.now())
    return Items(asked, total=total)


@operation(needs("agent:read", one("agent:id", "agent_id")), http="GET /agents/{agent_id}/sync")
def explain_sync(ctx: Context, agent_id: str) -> Explanation:
    """Say where one agent stands, why, what it has and shall have, and the next step."""
    with _opened(ctx, keep=False) as run:
        (member,) = ctx.store.sync_state.members([agent_id])
        where = _stage(run, member)
        target, _ = run.targets.files(member.groups)
        blocked = isinstance(target, Blocked)
        reachable = where.stage.name != standing.NO_FOLDER
        return Explanation(
            where,
            None if isinstance(target, Blocked) else target,
            member.pushed_digest or None,
            member.pushed or None,
            run.changes(member, target) if reachable and not isinstance(target, Blocked) else (),
            _findings(ctx, run.targets, member) if blocked else (),
            run.targets.conflicts.get(member.groups, ()),
        )


def _planned(
    ctx: Context, agents_list: Selection, group: str | None, verify: bool, max_affected: int | None
) -> SyncItems:
    with _opened(ctx, keep=False, verify=verify) as run:
        work = run.sort_out(_members(ctx, agents_list, group))
        _guard_number(work, max_affected)
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


def _members(ctx: Context, agents_list: Selection, group: str | None) -> list[Member]:
    """The permitted agents that are meant, those with the same groups together."""
    scope = agents_list if isinstance(agents_list, Scope) else None
    ids: Sequence[str] | None
    if isinstance(agents_list, Scope):
        ids = None if agents_list.is_everything else ctx.store.agents.ids(agents_list)
    else:
        ids = agents_list
    if group is None:
        return ctx.store.sync_state.members(ids)
    found = ctx.store.sync_state.members(ids, group)
    if not found and scope is not None:
        _require_group(ctx, group)
    return found


def _require_group(ctx: Context, group: str) -> None:
    """A group without agents that the caller may touch is only named to those who may read it."""
    if not (ctx.folders.group_exists(group) and access.scope(ctx, "group:read", "group:id").covers(group)):
        raise NotFoundError("group", group, code=1710)


def _guard_number(work: Work, most: int | None) -> None:
    if most is not None and work.pending > most:
        raise AffectedError(work.pending, most)


def _report(ctx: Context, targets: Targets, work: Work) -> SyncItems:
    changed = sorted(work.changed, key=lambda entry: entry[0].id)
    return SyncItems(
        [
            AgentChanges(
                member.agent_id, member.name, tuple(member.groups.split(",")), target.digest, changes
            )
            for member, target, changes in changed
        ],
        grouped([(agent, _shown(ctx, error)) for agent, error in work.failed]),
        unchanged=work.unchanged,
        not_reached=work.not_reached,
        warnings=tuple(_warnings(ctx, targets, work)),
    )


def _warnings(ctx: Context, targets: Targets, work: Work) -> Iterator[str]:
    """What the administrator should know about the groups, one line each, none twice."""
    if ctx.folders.ar_conf() is None:
        yield "ar.conf is missing in the shared folder; merged files are built without it"
    yield from _conflict_lines(conflict for found in targets.conflicts.values() for conflict in found)
    lines = [
        f"`{left.group}/{left.name}` is not sent: {left.reason}"
        for left_out in targets.left_out.values()
        for left in left_out
        if not left.name.rpartition("/")[2].startswith((".", "merged.mg"))
    ]
    lines += [f"groups `{groups}` changed during the run; run it again" for groups in sorted(work.moved_on)]
    yield from dict.fromkeys(lines)


def _conflict_lines(conflicts: Iterable[Conflict]) -> Iterator[str]:
    """One line for each file name that several groups of an agent hold."""
    by_name: dict[str, dict[str, None]] = {}
    for conflict in conflicts:
        words = f"`{conflict.winner}` wins over `{'`, `'.join(conflict.losers)}`"
        by_name.setdefault(conflict.name, {})[words] = None
    for name, found in sorted(by_name.items()):
        more = len(found) - _CONFLICTS_SHOWN
        shown = "; ".join(list(found)[:_CONFLICTS_SHOWN])
        yield f"`{name}` in several groups: {shown}" + (f"; and {more} more" if more > 0 else "")


def _groups_of(members: Sequence[Member]) -> list[str]:
    return sorted({name for member in members for name in member.groups.split(",")})


def _stage(run: Sync, member: Member) -> AgentStage:
    target = run.targets.of(member.groups)
    untouched = run.looks_untouched(member)
    if not untouched and member.pushed_digest:
        untouched = _same_bytes(run, member)
    options = run.folders.read_report(place(member), INTERNAL_OPTIONS) or b""
    facts = standing.Standing(
        agent=member.agent_id,
        target=None if isinstance(target, Blocked) else target.digest,
        pushed=member.pushed_digest or None,
        in_place=untouched,
        blocked_by=tuple(error.problem for error in target.errors) if isinstance(target, Blocked) else (),
        repair=target.errors[0].fix if isinstance(target, Blocked) else None,
        folder_problem=None if untouched else run.folders.problem(place(member)),
        ignores_shared=standing.ignores_shared(options),
    )
    return AgentStage(
        member.agent_id, member.name, tuple(member.groups.split(",")), member.status, standing.stage(facts)
    )


def _same_bytes(run: Sync, member: Member) -> bool:
    """Whether a merged.mg that does not look as it was left still holds the same bytes."""
    return run.folders.holds(place(member), run.targets.manifest(member.pushed_digest) or {})


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
