"""Keepalives and restarts: what agents report, and using what they were given (S 3.2; D 8, D 9).

Rules: a report says something about its own agent only, and when it came is told by our clock. A checksum that is not
that of what the agent's groups give makes it `not synced` in the transaction that records it; one that is, and a
restart, make it `synced` there when a look into the folder finds the files. An agent uses what was pushed when it
restarts; nothing that is left out means all agents.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mgmtctl.domain import keepalives
from mgmtctl.domain import sync as standing
from mgmtctl.domain.agents import OS_FIELDS, padded_id, timestamp
from mgmtctl.domain.errors import MgmtctlError
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import access, holds, restarts
from mgmtctl.operations.context import Context
from mgmtctl.operations.incoming import NS, Incoming, incoming
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Failure, Items, grouped
from mgmtctl.operations.sync_run import Sync, place
from mgmtctl.operations.sync_targets import Blocked
from mgmtctl.operations.sync_work import How, SyncItems, carry_out, chosen_ids, opened, rehearsed, writing

if TYPE_CHECKING:
    from mgmtctl.domain.agents import State
    from mgmtctl.domain.keepalives import Report
    from mgmtctl.folders.agents import AgentFolders
    from mgmtctl.store.sync_state import Member

# How many reports are read before they are recorded in one transaction.
BATCH = 500


@dataclass(frozen=True, slots=True)
class Recorded:
    """A report that was recorded: the agent's state now, and whether it holds what its groups give.

    `matches`: whether the checksum it reported is that of what its groups give (None: it reported none, or these groups
    cannot be sent). `uses` are the revisions that it reported, as far as they may be told; None: of nothing known.
    `pushed`: it was, or would be, written to because of that.
    """

    id: str
    name: str
    event: str
    time: int
    state: State
    status: str
    reported: str | None
    matches: bool | None
    uses: Mapping[str, int] | None
    remarks: tuple[str, ...] = ()
    pushed: bool = False

    def record(self) -> dict[str, Any]:
        """The record of the report.

        {"id", "name", "event", "time", "status", "group_config_status", "mergedSum", "matches", "uses", "pushed",
        "warnings"}.
        """
        return {
            "id": self.id,
            "name": self.name,
            "event": self.event,
            "time": timestamp(self.time),
            "status": self.state.status,
            "group_config_status": self.status,
            "mergedSum": self.reported,
            "matches": self.matches,
            "uses": None if self.uses is None else dict(self.uses),
            "pushed": self.pushed,
            "warnings": list(self.remarks),
        }


@dataclass(frozen=True, slots=True)
class KeepaliveItems(Items[Recorded]):
    """Reports that were recorded; `unchanged` agents left no new one. `pushed`: the run that followed, if one did."""

    unchanged: int = 0
    pushed: SyncItems | None = None

    @property
    def error(self) -> int:
        """0 nothing failed, 1 nothing worked and something failed, 2 both."""
        if not self.failed:
            return 0
        return 2 if self.affected or self.unchanged else 1


@dataclass(frozen=True, slots=True)
class Restarted:
    """What a restart meant to one agent: `applied` when it uses something else now, `note` what, or why not."""

    id: str
    name: str
    groups: tuple[str, ...]
    applied: bool
    uses: Mapping[str, int]
    note: str

    def record(self) -> dict[str, Any]:
        """{"id", "name", "group", "applied", "uses", "note"}."""
        return {
            "id": self.id,
            "name": self.name,
            "group": list(self.groups),
            "applied": self.applied,
            "uses": dict(self.uses),
            "note": self.note,
        }


@operation(needs("agent:reconnect", one("agent:id", "agent_id")), http="PUT /agents/{agent_id}/keepalive")
def record_keepalive(ctx: Context, agent_id: str, content: bytes, push: bool = False) -> KeepaliveItems:
    """Record one agent's report (JSON); with `push` it gets what its groups give when it reports something else."""
    report = keepalives.parse_report(content)
    now = ctx.now()
    with opened(ctx, keep=False) as run:
        desk = _Desk(ctx, run)
        recorded, failed = desk.record([(agent_id, Incoming(report, int(now * NS)))])
    for error in failed.values():
        raise error
    return _with_push(ctx, KeepaliveItems(recorded), push)


@operation(needs("agent:reconnect", each("agent:id", "agents_list")), http="PUT /agents/keepalive")
def collect_keepalives(
    ctx: Context, agents_list: Selection = None, group: str | None = None, push: bool = False
) -> KeepaliveItems:
    """Record the reports that agents left in their folders since the last time; one that is bad stops no other."""
    ids = chosen_ids(ctx, "agent:reconnect", agents_list, group)
    recorded: list[Recorded] = []
    failed: dict[str, MgmtctlError] = {}
    count = 0
    with opened(ctx, keep=False) as run:
        desk = _Desk(ctx, run)
        rows = ctx.store.reports.reported(ids, group)
        while batch := list(itertools.islice(rows, BATCH)):
            count += len(batch)
            found, bad = desk.record(_incoming(run.folders, batch, ctx.now(), failed))
            recorded += found
            failed |= bad
    items = KeepaliveItems(recorded, grouped(failed.items()), unchanged=count - len(recorded) - len(failed))
    return _with_push(ctx, items, push)


@operation(needs("agent:restart", one("agent:id", "agent_id")), http="PUT /agents/{agent_id}/restart")
def restart_agent(ctx: Context, agent_id: str) -> Restarted:
    """Restart one agent: it uses from now on what was pushed to it."""
    return _restart(ctx, [agent_id])[0]


@operation(needs("agent:restart", each("agent:id", "agents_list")), http="PUT /agents/restart")
def restart_agents(ctx: Context, agents_list: Selection = None) -> Items[Restarted]:
    """Restart agents: those that are named, or all that the caller may restart."""
    return Items(_restart(ctx, chosen_ids(ctx, "agent:restart", agents_list, None)))


@operation(
    needs("agent:restart", each("agent:id", "agents_list")), http="PUT /agents/group/{group_id}/restart"
)
def restart_group(ctx: Context, group_id: str, agents_list: Selection = None) -> Items[Restarted]:
    """Restart the agents of a group that the caller may restart."""
    found = _restart(ctx, chosen_ids(ctx, "agent:restart", agents_list, group_id), group_id)
    if not found:
        _require_group(ctx, group_id, agents_list)
    return Items(found)


class _Desk:
    """Where reports are recorded: what is the same for all of them is looked up once."""

    def __init__(self, ctx: Context, run: Sync) -> None:
        self._ctx = ctx
        self._run = run
        self._readable = access.scope(ctx, "group:read", "group:id")
        self._digests: dict[str, str | None] = {}
        self._revisions: dict[str, dict[str, int]] = {}
        self._changed: set[str] = set()

    def record(
        self, reports: Iterable[tuple[str, Incoming]]
    ) -> tuple[list[Recorded], dict[str, MgmtctlError]]:
        """Record reports by agent id in one transaction; those that cannot be are given back with the reason."""
        given = dict(reports)
        recorded: list[Recorded] = []
        failed: dict[str, MgmtctlError] = {}
        if not given:
            return recorded, failed
        # What the groups give is built before the store is locked.
        for member in self._ctx.store.sync_state.members(given):
            self._run.targets.of(member.groups)
        with self._ctx.atomic():
            self._ctx.store.reports.mend_times(self._ctx.now())
            for member in self._ctx.store.sync_state.members(given):
                try:
                    recorded.append(self._record(member, given[member.agent_id]))
                except MgmtctlError as error:
                    failed[member.agent_id] = error
            # Another release or system may make a block of agent.conf wrong.
            if self._changed:
                self._ctx.store.accepted.distrust(self._changed)
                self._changed = set()
        return sorted(recorded, key=lambda entry: int(entry.id)), failed

    def _record(self, member: Member, came: Incoming) -> Recorded:
        report, store, now = came.report, self._ctx.store, self._ctx.now()
        keepalives.check_own(report, member.agent_id, member.name)
        known = store.reports.known(member.id)
        moment = min(came.time, int(now * NS))
        at = moment // NS
        state = keepalives.TRANSITIONS[report.event](known.state, at)
        store.reports.record(member.id, report, state, came.time)
        if _is_another_system(report, known.version, known.system):
            self._changed.update(member.groups.split(","))
        matches = self._matches(report, member.groups)
        # A report from before the last push says nothing about it.
        status = self._apply(member, report, matches) if moment >= member.pushed_ns else member.status
        return Recorded(
            member.agent_id,
            member.name,
            report.event,
            at,
            state.at(now),
            status,
            report.merged_sum,
            matches,
            self._uses(report),
            tuple(keepalives.remarks(report, now)),
        )

    def _apply(self, member: Member, report: Report, matches: bool | None) -> str:
        """What the report means for the files; the agent's `group_config_status` then."""
        state = self._ctx.store.sync_state
        running = keepalives.running_after(report, member.pushed_digest, self._digest)
        if running is not None:
            state.set_running([(member.id, running)])
        if matches is False:
            state.set_not_synced([member.id])
            state.doubt([member.id])
            return "not synced"
        uses = member.running if running is None else running
        if member.status != "synced" and uses in ("", member.pushed_digest) and self._run.in_place(member):
            state.set_synced([(member.id, member.groups)])
            return "synced"
        return member.status

    def _matches(self, report: Report, groups: str) -> bool | None:
        target = self._run.targets.of(groups)
        if report.merged_sum is None or isinstance(target, Blocked):
            return None
        if report.merged_sum in (target.digest, target.md5):
            self._digests[report.merged_sum] = target.digest
        return not keepalives.differs(report.merged_sum, target.digest, target.md5)

    def _digest(self, checksum: str) -> str | None:
        if checksum not in self._digests:
            self._digests[checksum] = self._ctx.store.sync_state.known_digest(checksum)
        return self._digests[checksum]

    def _uses(self, report: Report) -> dict[str, int] | None:
        digest = self._digest(report.merged_sum) if report.merged_sum else None
        if digest is None:
            return None
        if digest not in self._revisions:
            self._revisions[digest] = _revisions(self._ctx, digest, self._readable)
        return self._revisions[digest]


def _is_another_system(report: Report, version: str | None, system: Sequence[str | None]) -> bool:
    """Whether the release or the operating system is another than was known."""
    if report.version is not None and report.version != version:
        return True
    return bool(report.os) and tuple(map(report.os.get, OS_FIELDS)) != tuple(system)


def _incoming(
    folders: AgentFolders,
    rows: Iterable[tuple[int, str | None, int]],
    now: float,
    failed: dict[str, MgmtctlError],
) -> Iterator[tuple[str, Incoming]]:
    """The new reports in these agents' folders; what cannot be read goes to `failed`."""
    from mgmtctl.folders.agents import Place

    for number, folder, recorded in rows:
        identifier = padded_id(number)
        try:
            found = incoming(folders, Place(identifier, folder), recorded, now)
        except MgmtctlError as error:
            failed[identifier] = error
            continue
        if found is not None:
            yield identifier, found


def _with_push(ctx: Context, items: KeepaliveItems, push: bool) -> KeepaliveItems:
    """Push to those that reported something else than their groups give; every byte there is read."""
    late = [entry.id for entry in items.affected if entry.matches is False] if push else []
    if not late:
        return items
    report = _rehearsed(ctx, late) if ctx.dry_run else _pushed(ctx, late)
    written = {entry.id for entry in report.affected}
    failures: tuple[Failure, ...] = (*items.failed, *report.failed)
    affected = [replace(entry, pushed=True) if entry.id in written else entry for entry in items.affected]
    if not ctx.dry_run:
        affected = _statuses(ctx, affected, late)
    return replace(items, affected=affected, failed=failures, pushed=report)


def _statuses(ctx: Context, entries: Sequence[Recorded], ids: Sequence[str]) -> list[Recorded]:
    """These with the `group_config_status` that the agents `ids` have after the push."""
    now = {member.agent_id: member.status for member in ctx.store.sync_state.members(ids)}
    return [replace(entry, status=now.get(entry.id, entry.status)) for entry in entries]


def _pushed(ctx: Context, ids: Sequence[str]) -> SyncItems:
    """Write to these agents; where another sync runs, it is left to that."""
    how = How(verify=True, if_locked="skip")
    with writing(ctx, "mgmtctl agents keepalive", how) as run:
        if run is None:
            return SyncItems((), skipped=True)
        work = run.sort_out(ctx.store.sync_state.seen(ids))
        holds.hold_back(run, work)
        return carry_out(ctx, run, work, how)


def _rehearsed(ctx: Context, ids: Sequence[str]) -> SyncItems:
    with opened(ctx, keep=False, verify=True) as run:
        work = run.sort_out(ctx.store.sync_state.seen(ids))
        holds.hold_back(run, work)
        return rehearsed(ctx, run, work, How())


def _restart(ctx: Context, ids: Sequence[str] | None, group: str | None = None) -> list[Restarted]:
    readable = access.scope(ctx, "group:read", "group:id")
    known: dict[str, dict[str, int]] = {}
    done = []
    state = ctx.store.sync_state
    with opened(ctx, keep=False) as run:
        # What the groups give is built before the store is locked.
        for groups in {member.groups for member in state.members(ids, group) if member.status != "synced"}:
            run.targets.of(groups)
        with ctx.atomic():
            members = sorted(state.members(ids, group), key=lambda member: member.id)
            for member in members:
                digest = member.pushed_digest
                if digest not in known:
                    known[digest] = _revisions(ctx, digest, readable) if digest else {}
                done.append(_restarted(run.folders, member, known[digest]))
            applied = [member for member, entry in zip(members, done, strict=True) if entry.applied]
            state.set_running((member.id, member.pushed_digest) for member in applied)
            late = [member for member in applied if member.status != "synced" and run.in_place(member)]
            state.set_synced((member.id, member.groups) for member in late)
    return done


def _restarted(folders: AgentFolders, member: Member, uses: Mapping[str, int]) -> Restarted:
    """What a restart means to one agent."""
    what = standing.revisions(uses) or f"merged file {member.pushed_digest[:12]}"
    applied = False
    if not member.pushed_digest:
        note = "nothing was ever written to its folder"
    elif restarts.ignores_shared(folders, place(member)):
        note = "it uses no shared files: its internal options say agent.remote_conf=0"
    elif member.running == member.pushed_digest:
        note = f"nothing was pending, it uses {what}"
    else:
        applied, note = True, f"uses {what} now"
    return Restarted(member.agent_id, member.name, tuple(member.groups.split(",")), applied, uses, note)


def _revisions(ctx: Context, digest: str, readable: Scope) -> dict[str, int]:
    found = ctx.store.sync_state.revisions(digest)
    return {group: number for group, number in found.items() if readable.covers(group)}


def _require_group(ctx: Context, group: str, agents_list: Selection) -> None:
    """A group without agents that may be restarted is only named to those who may read it."""
    may_read = access.scope(ctx, "group:read", "group:id").covers(group)
    if not (may_read and ctx.folders.group_exists(group)):
        raise access.not_found("group:id", group)
