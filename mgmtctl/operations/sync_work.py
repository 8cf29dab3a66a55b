"""What the operations of sync share: opening the folders, choosing the agents, carrying a run out, reporting it.

Rules (D 8): whoever pushes holds the sync lock; a look, a plan and a dry run leave every byte of the store as it is;
what an open rollout holds back is no work (see holds). Nothing here is an operation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import ConflictError, MgmtctlError, NotFoundError, UnavailableError
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import Scope
from mgmtctl.domain.sync import REMOVE
from mgmtctl.operations import access, holds, recording
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import Selection
from mgmtctl.operations.results import Items, grouped
from mgmtctl.operations.sync_run import Sync, Unwatched, Watch, Work, latest
from mgmtctl.operations.sync_targets import Blocked, Targets

if TYPE_CHECKING:
    from mgmtctl.domain.sync import Change
    from mgmtctl.operations.sync_targets import Target
    from mgmtctl.store.sync_state import Member


_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class How:
    """How a run goes about it: reading every byte, how many agents it may write to, what it does while another runs."""

    verify: bool = False
    max_affected: int | None = None
    if_locked: str = "fail"
    lock_timeout: float = 0.0
    watch: Watch | None = None


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
    """What was, or would be, changed in one agent's folder; `digest` is of its new merged file.

    `changes` are there when every group of the agent may be read, `kinds` (of changes) always.
    """

    id: str
    name: str
    groups: tuple[str, ...]
    digest: str
    changes: tuple[Change, ...]
    kinds: tuple[str, ...] = ()

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
        kinds = self.kinds
        return (
            ", ".join(f"{kinds.count(kind)} {word}" for kind, word in words.items() if kind in kinds)
            or "none"
        )


@dataclass(frozen=True, slots=True)
class Total:
    """What agents of the same groups would get: `revisions` of the groups as far as they are known, how many agents,
    at most how many files and how many bytes each (None: from groups that may not be read)."""

    groups: tuple[str, ...]
    revisions: Mapping[str, int]
    agents: int
    files: int
    size: int | None


@dataclass(frozen=True, slots=True)
class SyncItems(Items[AgentChanges]):
    """A run: agents written to, failures, and how many needed nothing, were not reached, or were left to another run.

    `held`: how many open rollouts keep back, `held_by` their numbers. `warnings` are lines about what the groups give:
    conflicts, files left out, a missing ar.conf. `totals`: of a plan, by combination of groups, the largest first.
    """

    unchanged: int = 0
    not_reached: int = 0
    held: int = 0
    held_by: tuple[str, ...] = ()
    skipped: bool = False
    warnings: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()

    @property
    def error(self) -> int:
        """0 nothing failed, 1 nothing worked and something failed, 2 both."""
        if not self.failed:
            return 0
        return 2 if self.affected or self.unchanged or self.held else 1


class StoppedError(UnavailableError):
    """A run that its caller stopped: what is done is done, and `report` tells it."""

    def __init__(self, report: SyncItems) -> None:
        super().__init__(f"stopped, {report.not_reached} agents were not reached", "interrupted")
        self.report = report


@contextmanager
def opened(
    ctx: Context, *, keep: bool, verify: bool = False, targets: type[Targets] = Targets
) -> Iterator[Sync]:
    """The agent folders, open for one piece of work; with `keep` what is built is written down."""
    roots = ctx.store.settings.get("agents.folder_roots")
    quiet = replace(ctx, dry_run=True) if not keep else ctx
    with ctx.folders.agent_folders(roots) as folders:
        yield Sync(quiet, targets(ctx.store, ctx.folders, ctx.now, keep), folders, verify)


@contextmanager
def writing(ctx: Context, command: str, how: How, targets: type[Targets] = Targets) -> Iterator[Sync | None]:
    """The same under the sync lock, to write; None when another sync runs and `how` says to leave it to that."""
    with ctx.folders.lock("sync", command, if_locked=how.if_locked, timeout=how.lock_timeout) as ours:
        if not ours:
            yield None
            return
        with (
            ctx.store.sync_state.unhurried(),
            opened(ctx, keep=True, verify=how.verify, targets=targets) as run,
        ):
            yield run


def run_through(ctx: Context, agents_list: Selection, group: str | None, how: How) -> SyncItems:
    """Push to the agents that are meant what their groups give, but for those that are held back."""
    with writing(ctx, "mgmtctl sync run", how) as run:
        if run is None:
            return SyncItems((), skipped=True)
        work = sorted_out(ctx, run, "agent:reconnect", agents_list, group)
        every = group is None and isinstance(agents_list, Scope) and agents_list.is_everything
        return carry_out(ctx, run, work, how, every=every)


def carry_out(ctx: Context, run: Sync, work: Work, how: How, *, every: bool = False) -> SyncItems:
    """Push the work and report it; `every`: it is about all agents, so all groups are refreshed and leftovers go.

    AffectedError before anything is written; StoppedError after the watch ended the run.
    """
    guard_number(work, how.max_affected)
    run.push_all(work, how.watch or Unwatched())
    names = sorted(work.groups)
    if every:
        names = sorted({*names, *ctx.folders.group_names()})
        ctx.folders.tidy()
    notes = list(filter(None, map(run.targets.refresh_group, names)))
    if run.targets.unsaved or work.changed:
        with ctx.atomic():
            run.targets.flush()
            ctx.store.sync_state.forget_unused()
    recording.sweep(ctx)
    if every:
        recording.tidy(ctx)
    notes += holds.settle(run, work)
    found = report(ctx, run.targets, work)
    found = replace(found, warnings=(*found.warnings, *notes))
    if how.watch is not None and how.watch.stopped:
        raise StoppedError(found)
    return found


def planned(ctx: Context, action: str, agents_list: Selection, group: str | None, how: How) -> SyncItems:
    """What a run would do."""
    with opened(ctx, keep=False, verify=how.verify) as run:
        work = sorted_out(ctx, run, action, agents_list, group)
        return rehearsed(ctx, run, work, how)


def rehearsed(ctx: Context, run: Sync, work: Work, how: How) -> SyncItems:
    """What `carry_out` would do."""
    guard_number(work, how.max_affected)
    run.examine_all(work)
    return replace(report(ctx, run.targets, work), totals=_totals(ctx, run, work))


def _totals(ctx: Context, run: Sync, work: Work) -> tuple[Total, ...]:
    by_groups: dict[str, list[tuple[Target, tuple[Change, ...]]]] = {}
    for member, target, changes in work.changed:
        by_groups.setdefault(member.groups, []).append((target, changes))
    seen = readable(ctx)
    present = _present(ctx, {group for groups in by_groups for group in groups.split(",")})
    found = [_total(run, groups.split(","), some, present, seen) for groups, some in by_groups.items()]
    return tuple(sorted(found, key=lambda total: (-total.agents, total.groups)))


def _total(
    run: Sync,
    groups: Sequence[str],
    some: Sequence[tuple[Target, tuple[Change, ...]]],
    present: Mapping[str, int],
    seen: Scope,
) -> Total:
    digest = some[0][0].digest
    manifest = run.targets.manifest(digest) or {}
    known = run.ctx.store.sync_state.revisions(digest)
    numbers = {group: present.get(group, known.get(group)) for group in groups}
    sizes = {
        changes: sum(manifest.get(change.name, ("", 0))[1] for change in changes if change.kind != REMOVE)
        for changes in {changes for _, changes in some}
    }
    return Total(
        tuple(groups),
        {group: number for group, number in numbers.items() if number is not None and seen.covers(group)},
        len(some),
        max(map(len, sizes)),
        max(sizes.values()) if all(map(seen.covers, groups)) else None,
    )


def _present(ctx: Context, groups: Iterable[str]) -> dict[str, int]:
    """The last revision of each group whose folder holds what it held then."""
    heads = {group: latest(ctx, group) for group in groups}
    return {group: head.number for group, head in heads.items() if head is not None and not head.changed}


def sorted_out(ctx: Context, run: Sync, action: str, agents_list: Selection, group: str | None) -> Work:
    """The permitted agents that are meant, compared with what they shall hold, less those that are held back."""
    work = run.sort_out(ctx.store.sync_state.seen(chosen_ids(ctx, action, agents_list, group), group))
    if group is not None and not work.groups and isinstance(agents_list, Scope):
        _require_group(ctx, action, agents_list, group)
    holds.hold_back(run, work)
    return work


def chosen_ids(ctx: Context, action: str, agents_list: Selection, group: str | None) -> Sequence[str] | None:
    """The permitted agents, None for all; DeniedError when there can be none, which is no empty list (D 2)."""
    if not isinstance(agents_list, Scope):
        return agents_list
    if agents_list.is_nothing:
        raise refusal(ctx, action, group)
    return None if agents_list.is_everything else ctx.store.agents.ids(agents_list)


def _require_group(ctx: Context, action: str, scope: Scope, group: str) -> None:
    """A group without agents that the caller may touch is only named to those who may read it."""
    if not (ctx.folders.group_exists(group) and access.scope(ctx, "group:read", "group:id").covers(group)):
        raise NotFoundError("group", group, code=1710)
    if not scope.covers("", (group,)):
        raise refusal(ctx, action, group)


def refusal(ctx: Context, action: str, group: str | None = None) -> MgmtctlError:
    """The refusal of somebody who may do the action on no agent, or on none of the group."""
    asked = Resource("agent:id", "*") if group is None else Resource("agent:group", group)
    return access.refusal(ctx, access.current_actor(ctx), action, asked)


def guard_number(work: Work, most: int | None) -> None:
    """AffectedError when more agents would be written to than `most`."""
    if most is not None and work.pending > most:
        raise AffectedError(work.pending, most)


def report(ctx: Context, targets: Targets, work: Work) -> SyncItems:
    """A run as its result."""
    changed = sorted(work.changed, key=lambda entry: entry[0].id)
    failed = sorted(work.failed, key=lambda entry: int(entry[0]))
    seen = readable(ctx)
    names = {groups: tuple(groups.split(",")) for groups in {member.groups for member, _, _ in changed}}
    may_read = {groups: all(map(seen.covers, some)) for groups, some in names.items()}
    return SyncItems(
        [_told(*entry, names[entry[0].groups], may_read[entry[0].groups]) for entry in changed],
        grouped([(agent, _shown(error, seen)) for agent, error in failed]),
        unchanged=work.unchanged,
        not_reached=work.not_reached,
        held=len(work.held),
        held_by=_held_by(ctx, work),
        warnings=(*_of_groups(ctx, targets), *_moved_on(work), *_elsewhere(work)),
    )


def _held_by(ctx: Context, work: Work) -> tuple[str, ...]:
    whys = set(work.held.values())
    return (
        tuple(str(found.id) for found in ctx.store.rollouts.open() if holds.why(found) in whys)
        if whys
        else ()
    )


def _told(
    member: Member, target: Target, changes: tuple[Change, ...], groups: tuple[str, ...], may_read: bool
) -> AgentChanges:
    """What was changed, without the names of files when the caller may not read every group of the agent."""
    kinds = tuple(change.kind for change in changes)
    return AgentChanges(
        member.agent_id, member.name, groups, target.digest, changes if may_read else (), kinds
    )


def readable(ctx: Context) -> Scope:
    """The groups that the caller may read."""
    return access.scope(ctx, "group:read", "group:id")


def _of_groups(ctx: Context, targets: Targets) -> Iterator[str]:
    return targets.warnings(readable(ctx), access.scope(ctx, "agent:read", "agent:id"))


def _moved_on(work: Work) -> list[str]:
    return [f"groups `{groups}` changed during the run; run it again" for groups in sorted(work.moved_on)]


def _elsewhere(work: Work) -> list[str]:
    """The line for agents that have their files and report others: no run helps them."""
    ids = sorted(work.elsewhere, key=int)
    if not ids:
        return []
    some = (
        f"{len(ids)} agents have their files and report"
        if len(ids) > 1
        else "1 agent has its files and reports"
    )
    restart = f"mgmtctl agents restart {' '.join(ids)}"
    helps = restart if len(ids) <= _MOST_NAMED else "mgmtctl sync status --where 'next~restart'"
    return [f"{some} others, which no run changes: {helps}"]


def _shown(error: MgmtctlError | Blocked, seen: Scope) -> MgmtctlError:
    """A failure without what is wrong in groups that the caller may not read."""
    return error.seen_by(seen) if isinstance(error, Blocked) else error
