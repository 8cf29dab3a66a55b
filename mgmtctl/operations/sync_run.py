"""The work of a sync: which agents need one, and pushing to them in batches. Nothing here is an operation.

Rules (D 8): an agent whose state equals the target and whose merged.mg looks as it was left is not touched. Pushes are
announced in the store, made, and recorded; a kill in between is found by the next run, which finishes it. One agent's
failure never stops the others. `synced` is only committed for files that are in place and sources that did not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Protocol

from mgmtctl.domain.errors import MgmtctlError
from mgmtctl.domain.sync import Change
from mgmtctl.folders.agents import Place
from mgmtctl.folders.paths import TICK_NS
from mgmtctl.operations.sync_targets import Blocked, Target, Targets
from mgmtctl.store.sync_state import FRESH, Member, Written

if TYPE_CHECKING:
    from mgmtctl.folders.agents import AgentFolders
    from mgmtctl.folders.paths import Print
    from mgmtctl.folders.pushing import Manifest
    from mgmtctl.operations.context import Context

# How many pushes a kill may leave unrecorded: the next run looks into so many folders.
BATCH = 500


class Watch(Protocol):
    """How the caller follows a run, and stops it: once `stopped` is true the agent in hand is the last."""

    stopped: bool

    def begin(self, total: int) -> None:
        """So many agents will be pushed to."""

    def step(self) -> None:
        """One more agent is done, well or not."""


class Unwatched:
    """Nobody follows, nobody stops."""

    stopped = False

    def begin(self, total: int) -> None:
        """Nothing to tell."""

    def step(self) -> None:
        """Nothing to tell."""


@dataclass(slots=True)
class Work:
    """What a run found and did; ids of agents as in the store."""

    todo: dict[str, list[Member]] = field(default_factory=dict)
    changed: list[tuple[Member, Target, tuple[Change, ...]]] = field(default_factory=list)
    failed: list[tuple[str, MgmtctlError]] = field(default_factory=list)
    unchanged: int = 0
    not_reached: int = 0
    moved_on: set[str] = field(default_factory=set)

    @property
    def pending(self) -> int:
        """How many agents have to be written to."""
        return sum(map(len, self.todo.values()))


@dataclass(frozen=True, slots=True)
class Sync:
    """One run: the service, what agents shall hold, and the open agent folders."""

    ctx: Context
    targets: Targets
    folders: AgentFolders
    verify: bool = False

    def sort_out(self, members: Sequence[Member]) -> Work:
        """Tell agents that need nothing from those to push to and those whose groups are blocked."""
        work = Work()
        in_place: list[Member] = []
        settled: list[Written] = []
        for groups, same in groupby(members, key=lambda member: member.groups):
            target = self.targets.of(groups)
            if isinstance(target, Blocked):
                work.failed += [(member.agent_id, target.error) for member in same]
                continue
            for member in same:
                look = self._in_place(member, target)
                if look is None:
                    work.todo.setdefault(groups, []).append(member)
                    continue
                in_place.append(member)
                if member.size < 0:
                    settled.append(_written(member, target, look))
        work.unchanged = len(in_place)
        self._note_found(in_place, settled, [int(identifier) for identifier, _ in work.failed])
        return work

    def push_all(self, work: Work, watch: Watch) -> None:
        """Push to every agent of `work.todo`: all are announced, then pushed, and recorded batch by batch."""
        watch.begin(work.pending)
        if not work.todo:
            return
        with self.ctx.atomic():
            self.targets.flush()
            self.ctx.store.sync_state.begin(member.id for same in work.todo.values() for member in same)
        written: list[Written] = []
        for groups, members in work.todo.items():
            target, files = self._ready(groups, watch)
            for member in members:
                if watch.stopped:
                    work.not_reached += 1
                    continue
                if isinstance(target, Blocked):
                    work.failed.append((member.agent_id, target.error))
                else:
                    written += self._push(member, target, files, work)
                watch.step()
                if len(written) >= BATCH:
                    self._record(written, work)
                    written = []
        self._record(written, work)

    def _ready(self, groups: str, watch: Watch) -> tuple[Target | Blocked, dict[str, bytes]]:
        """What to push to these groups; what it is made of is in the store before the first file is written."""
        if watch.stopped:
            return self.targets.of(groups), {}
        target, files = self.targets.files(groups)
        if isinstance(target, Target) and target.digest not in self.targets.saved:
            with self.ctx.atomic():
                self.targets.flush()
        return target, files

    def examine_all(self, work: Work) -> None:
        """What `push_all` would do, without doing it."""
        for groups, members in work.todo.items():
            target, _ = self.targets.files(groups)
            for member in members:
                if isinstance(target, Blocked):
                    work.failed.append((member.agent_id, target.error))
                    continue
                try:
                    changes = self.changes(member, target)
                except MgmtctlError as error:
                    work.failed.append((member.agent_id, error))
                else:
                    work.changed.append((member, target, changes))

    def changes(self, member: Member, target: Target) -> tuple[Change, ...]:
        """What a push to one agent would change."""
        known = self.targets.manifest
        examined = self.folders.examine(
            place(member), self._manifest(target.digest), known(member.pushed_digest) or {}, known
        )
        return examined.changes

    def looks_untouched(self, member: Member) -> bool:
        """Whether the agent's merged.mg looks as mgmtctl left it."""
        look = self.folders.look(place(member))
        return look is not None and _same(member, look)

    def _in_place(self, member: Member, target: Target) -> Print | None:
        """How the merged.mg of an agent that needs nothing looks; None when it needs a push."""
        if member.pushed_digest != target.digest:
            return None
        look = self.folders.look(place(member))
        if look is None:
            return None
        if not self.verify and _same(member, look):
            return look
        # Not to be trusted by its look alone: the bytes decide, and leftovers of a push that was cut short.
        known = self.targets.manifest
        manifest = self._manifest(target.digest)
        try:
            examined = self.folders.examine(place(member), manifest, manifest, known)
        except MgmtctlError:
            return None
        return None if examined.changes or examined.unfinished else look

    def _manifest(self, digest: str) -> Manifest:
        return self.targets.manifest(digest) or {}

    def _note_found(
        self, in_place: Sequence[Member], settled: Sequence[Written], blocked: Sequence[int]
    ) -> None:
        late = [(member.id, member.groups) for member in in_place if member.status != "synced"]
        if self.ctx.dry_run or not (late or settled or blocked):
            return
        state = self.ctx.store.sync_state
        with self.ctx.atomic():
            state.settle([written for written in settled if not _fresh(written, self.ctx.now())])
            state.set_synced(self._still(late))
            state.set_not_synced(blocked)

    def _record(self, written: Sequence[Written], work: Work) -> None:
        state = self.ctx.store.sync_state
        with self.ctx.atomic():
            now = self.ctx.now()
            self.targets.flush()
            state.record([_settled(entry, now) for entry in written], int(now))
            state.set_synced(self._still([(entry.id, entry.groups) for entry in written], work))

    def _push(self, member: Member, target: Target, files: dict[str, bytes], work: Work) -> list[Written]:
        """Push to one agent; its failure is noted and stops nobody else."""
        known = self.targets.manifest
        last = known(member.pushed_digest) or {}
        try:
            report = self.folders.push(place(member), files, self._manifest(target.digest), last, known)
        except MgmtctlError as error:
            work.failed.append((member.agent_id, error))
            return []
        work.changed.append((member, target, report.changes))
        return [_written(member, target, report.print)]

    def _still(
        self, agents: Sequence[tuple[int, str]], work: Work | None = None
    ) -> Iterator[tuple[int, str]]:
        """Those whose sources are as they were when the target was built: an edit in between has its own say."""
        stale = {
            groups for groups in {groups for _, groups in agents} if self.targets.changed_meanwhile(groups)
        }
        if work is not None:
            work.moved_on |= stale
        return ((identifier, groups) for identifier, groups in agents if groups not in stale)


def place(member: Member) -> Place:
    """Where an agent's folder is."""
    return Place(member.agent_id, member.folder)


def _same(member: Member, look: Print) -> bool:
    return member[-len(look) :] == look  # both end with size, times and inode


def _written(member: Member, target: Target, look: Print) -> Written:
    return Written(member.id, member.groups, target.digest, *look)


def _fresh(written: Written, now: float) -> bool:
    """Whether a change made since could bear the same time: such a state is not trusted."""
    return max(written.ctime_ns, written.mtime_ns) > int(now * 1e9) - TICK_NS


def _settled(written: Written, now: float) -> Written:
    return written._replace(size=FRESH) if _fresh(written, now) else written
