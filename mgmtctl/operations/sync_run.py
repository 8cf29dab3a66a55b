"""The work of a sync: which agents need one, and pushing to them in batches. Nothing here is an operation.

Rules (D 8): an agent that was last given the target and whose files look as they were left is not touched; every file
counts, and one that looks otherwise is read. Status, plan and explain ask the same comparison. Pushes are announced in
the store, made, and recorded; a kill in between is found by the next run, which finishes it. One agent's failure never
stops the others. `synced` is only committed for files that are in place and sources that did not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mgmtctl.domain.errors import MgmtctlError, UnavailableError
from mgmtctl.domain.sync import Change
from mgmtctl.folders.agents import MOVE_AWAY, Place
from mgmtctl.folders.beside import places
from mgmtctl.folders.groups import lasting
from mgmtctl.folders.paths import TICK_NS
from mgmtctl.folders.pushing import unnamed
from mgmtctl.operations import access, recording, restarts
from mgmtctl.operations.pushes import Part, Pushed, Pushes
from mgmtctl.operations.sync_targets import Blocked, Target, Targets
from mgmtctl.store.sync_state import FRESH, Member, Written

if TYPE_CHECKING:
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.folders.agents import AgentFolders
    from mgmtctl.folders.looks import Looker
    from mgmtctl.folders.pushing import Examined, Manifest
    from mgmtctl.operations.context import Context
    from mgmtctl.store.sync_state import Seen

# How many pushes a kill may leave unrecorded: the next run looks into so many folders.
BATCH = 500
_AT_ONCE = 10_000  # rows of agents in memory, while it is told who has to be written to


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
    """What a run found and did; ids of agents as in the store.

    `examined` holds what was found in the folders of agents that were last given what they shall have; `held` why a
    rollout keeps an agent back; `elsewhere` are agents that need nothing, and report something else all the same.
    """

    groups: set[str] = field(default_factory=set)
    todo: dict[str, list[Member]] = field(default_factory=dict)
    examined: dict[int, Examined] = field(default_factory=dict)
    changed: list[tuple[Member, Target, tuple[Change, ...]]] = field(default_factory=list)
    failed: list[tuple[str, MgmtctlError | Blocked]] = field(default_factory=list)
    unchanged: int = 0
    not_reached: int = 0
    moved_on: set[str] = field(default_factory=set)
    held: dict[int, str] = field(default_factory=dict)
    elsewhere: list[str] = field(default_factory=list)

    @property
    def pending(self) -> int:
        """How many agents have to be written to."""
        return sum(map(len, self.todo.values()))

    def pending_ids(self) -> set[int]:
        """The agents that have to be written to."""
        return {member.id for same in self.todo.values() for member in same}


class Lookers(dict[str, "Looker | None"]):
    """What looks at the agents of each combination of groups; None where looks do not tell: `verify`, or blocked."""

    def __init__(self, targets: Targets, verify: bool) -> None:
        super().__init__()
        self._targets = targets
        self._verify = verify

    def __missing__(self, groups: str) -> Looker | None:
        target = self._targets.of(groups)
        found = None if self._verify or isinstance(target, Blocked) else self._targets.looker(target)
        self[groups] = found
        return found


@dataclass(frozen=True, slots=True)
class Sync:
    """One run: the service, what agents shall hold, and the open agent folders.

    So many `processes` work at the disk; 0: as many as there are processors.
    """

    ctx: Context
    targets: Targets
    folders: AgentFolders
    verify: bool = False
    processes: int = 0

    def sort_out(self, seen: Iterable[Seen]) -> Work:
        """Tell agents that need nothing from those to push to and those whose groups are blocked."""
        lookers = Lookers(self.targets, self.verify)
        count, unsure = self.folders.touched(seen, lookers, self.processes or places())
        groups = {name for combination in lookers for name in combination.split(",")}
        work = Work(groups, unchanged=count - len(unsure))
        if unsure:
            self._look_closer(unsure, work)
        return work

    def _look_closer(self, agents: Sequence[int], work: Work) -> None:
        in_place: list[Member] = []
        settled: list[Written] = []
        same: dict[str, str] = {}
        for member in self._members(agents):
            target = self.targets.of(member.groups)
            if isinstance(target, Blocked):
                work.failed.append((member.agent_id, target))
            elif not self._needs_nothing(member, target, work, settled):
                work.todo.setdefault(member.groups, []).append(_slim(member, same))
            elif self._reports_otherwise(member):
                work.elsewhere.append(member.agent_id)
            else:
                in_place.append(member)
        work.unchanged += len(in_place) + len(work.elsewhere)
        self._note_found(in_place, settled, [int(identifier) for identifier, _ in work.failed])

    def _members(self, agents: Sequence[int]) -> Iterator[Member]:
        for start in range(0, len(agents), _AT_ONCE):
            yield from self.ctx.store.sync_state.members(agents[start : start + _AT_ONCE])

    def push_all(self, work: Work, watch: Watch) -> None:
        """Push to every agent of `work.todo`: all are announced, then pushed, and recorded batch by batch."""
        watch.begin(work.pending)
        if not work.todo:
            return
        with self.ctx.atomic():
            self.targets.flush()
            self.ctx.store.sync_state.begin(member.id for same in work.todo.values() for member in same)
        written: list[Written] = []
        seen = access.scope(self.ctx, "group:read", "group:id")
        pushes = Pushes(self.folders, self.targets.manifest, self.processes or places())
        with closing(pushes.results(self._parts(work, watch), work.pending, watch)) as results:
            for pushed in results:
                written += _noted(pushed, work, seen)
                if pushed.outcome is not None:
                    watch.step()
                if len(written) >= BATCH:
                    self._record(written, work)
                    written = []
        self._record(written, work)

    def _parts(self, work: Work, watch: Watch) -> Iterator[Part]:
        """What to push to whom, one combination after the other; agents of a blocked one fail.

        What it is made of is in the store before the first file is written.
        """
        for groups, members in work.todo.items():
            target, files = (self.targets.of(groups), {}) if watch.stopped else self.targets.files(groups)
            if isinstance(target, Blocked):
                for member in members:
                    if watch.stopped:
                        work.not_reached += 1
                    else:
                        work.failed.append((member.agent_id, target))
                        watch.step()
                continue
            if not watch.stopped and target.digest not in self.targets.saved:
                with self.ctx.atomic():
                    self.targets.flush()
            yield Part(target, files, members)

    def examine_all(self, work: Work) -> None:
        """What `push_all` would do, without doing it."""
        seen = access.scope(self.ctx, "group:read", "group:id")
        for groups, members in work.todo.items():
            target, _ = self.targets.files(groups)
            for member in members:
                if isinstance(target, Blocked):
                    work.failed.append((member.agent_id, target))
                    continue
                try:
                    examined = self._examined(member, target)
                    if examined.obstacle:
                        raise UnavailableError(examined.obstacle, "io", fix=MOVE_AWAY)
                except MgmtctlError as error:
                    work.failed.append((member.agent_id, _tellable(error, member, seen)))
                else:
                    work.changed.append((member, target, examined.changes))

    def obstacle(self, member: Member, target: Target) -> str:
        """What would be in the way of a push to one agent, as far as that is seen without reading."""
        known = self.targets.manifest
        last = known(member.pushed_digest) or {}
        return self.folders.obstacle(place(member), self._manifest(target.digest), last, known)

    def changes(self, member: Member, target: Target) -> tuple[Change, ...]:
        """What a push to one agent would change."""
        return self._examined(member, target).changes

    def _examined(self, member: Member, target: Target) -> Examined:
        known = self.targets.manifest
        last = known(member.pushed_digest) or {}
        return self.folders.examine(place(member), self._manifest(target.digest), last, known)

    def in_place(self, member: Member) -> bool:
        """Whether an agent holds what its groups give, by a look into its folder; False while it is pushed to."""
        target = self.targets.of(member.groups)
        return (
            member.look is not None
            and not isinstance(target, Blocked)
            and self._needs_nothing(member, target, Work(), [])
            and not self.targets.changed_meanwhile(member.groups)
        )

    def _needs_nothing(self, member: Member, target: Target, work: Work, settled: list[Written]) -> bool:
        """Whether the agent holds the target; a look that was found to be in order goes to `settled`."""
        if member.pushed_digest != target.digest:
            return False
        # Looked at before it is read: what changes in between looks otherwise the next time.
        look = self.folders.look(place(member), self.targets.looker(target))
        if look is not None and look.kept == member.look and not self.verify:
            return True
        # Not to be trusted by its look alone: the bytes decide, and leftovers of a push that was cut short.
        known = self.targets.manifest
        manifest = self._manifest(target.digest)
        try:
            examined = self.folders.examine(place(member), manifest, manifest, known)
        except MgmtctlError:
            return False
        if examined.changes or examined.unfinished:
            work.examined[member.id] = examined
            return False
        if look is not None:
            found = Written(member.id, member.groups, target.digest, *look)
            settled.append(_to_keep(found, self.ctx.now()))
        return True

    def _reports_otherwise(self, member: Member) -> bool:
        """Whether it says, in a report from after the last push, that it uses something else: not synced (D 8)."""
        return (
            member.running not in ("", member.pushed_digest)
            and member.reported is not None
            and (member.reported_ns or 0) >= member.pushed_ns
            and not restarts.ignores_shared(self.folders, place(member))
        )

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
            state.settle(settled)
            state.set_synced(self._still(late))
            state.set_not_synced(blocked)

    def _record(self, written: Sequence[Written], work: Work) -> None:
        state = self.ctx.store.sync_state
        with self.ctx.atomic():
            now = self.ctx.now()
            self.targets.flush()
            state.record([_to_keep(entry, now) for entry in written], now)
            state.set_synced(self._still([(entry.id, entry.groups) for entry in written], work))

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


def _noted(pushed: Pushed, work: Work, seen: Scope) -> list[Written]:
    """Put down in `work` what came of a push; what there is to record."""
    member, target, outcome, applied = pushed
    if outcome is None:
        work.not_reached += 1
        return []
    if isinstance(outcome, MgmtctlError):
        work.failed.append((member.agent_id, _tellable(outcome, member, seen)))
        return []
    work.changed.append((member, target, outcome.changes))
    return [Written(member.id, member.groups, target.digest, *outcome.look, applied)]


def _tellable(error: MgmtctlError, member: Member, seen: Scope) -> MgmtctlError:
    """A failure without names of files when these groups that may be read are not all of the agent's."""
    if not all(map(seen.covers, member.groups.split(","))):
        error.problem = unnamed(error.problem)
    return error


def _slim(member: Member, same: dict[str, str]) -> Member:
    """With no more than a push needs, and texts that many have in memory once: there may be 100,000."""
    groups = same.setdefault(member.groups, member.groups)
    digest = same.setdefault(member.pushed_digest, member.pushed_digest)
    return member._replace(groups=groups, pushed_digest=digest, look=None)


class Latest(NamedTuple):
    """The last revision of a group; `changed` when its folder holds something else by now."""

    number: int
    changed: bool


def latest(ctx: Context, group: str) -> Latest | None:
    """The last revision of a group, None when it has none; the files are read when the folder does not look as then."""
    head = ctx.store.revisions.head(group)
    if head is None:
        return None
    try:
        state = ctx.folders.state(group)
        same = head.state == lasting(*state) or head.tree == _tree(ctx, group, state)
    except MgmtctlError:
        same = False
    return Latest(head.number, not same)


def _tree(ctx: Context, group: str, state: tuple[str, int]) -> str:
    return recording.looked(group, state, ctx.folders.load_group(group).files).digest


def place(member: Member) -> Place:
    """Where an agent's folder is."""
    return Place(member.agent_id, member.folder)


def _to_keep(written: Written, now: float) -> Written:
    """With no look to be trusted when a change made since could bear the same time."""
    fresh = written.newest > int(now * 1e9) - TICK_NS
    return written._replace(look=FRESH) if fresh else written
