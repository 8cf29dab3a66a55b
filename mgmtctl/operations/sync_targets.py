"""What the agents of each combination of groups shall hold now, read from the group folders.

Rules (D 5, D 6, D 8): people edit in the group folders with their own tools, so the disk as it is now counts. An
agent.conf with an error blocks every combination its group is in. A combination whose sources did not change since it
was last built is not read again. What is read for a run that writes is recorded as a revision of its group, and the
merged file keeps which revisions it is made of. Nothing here is an operation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mgmtctl import __version__
from mgmtctl.domain.errors import InvalidError, MgmtctlError, NotFoundError, UnavailableError
from mgmtctl.domain.files import AR_CONF, MERGED
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.scopes import EVERYTHING, Scope
from mgmtctl.folders.digests import md5_meanwhile
from mgmtctl.folders.groups import GroupContent, lasting
from mgmtctl.folders.looks import Looker
from mgmtctl.folders.paths import FaultError
from mgmtctl.operations import recording, restoring
from mgmtctl.operations.conf_checks import accepted_lines, conf_problem
from mgmtctl.store.sync_state import Merged

if TYPE_CHECKING:
    from mgmtctl.domain.merging import Combination, Conflict, LeftOut
    from mgmtctl.folders import Folders
    from mgmtctl.folders.pushing import Manifest
    from mgmtctl.operations.recording import Looked
    from mgmtctl.store.store import Store

# The contents of groups that are kept at once, so that a group in many combinations is read once.
_KEPT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Target:
    """The merged file of one combination (`groups`, comma-joined): `digest` is its SHA-256."""

    groups: str
    digest: str
    md5: str
    size: int


@dataclass(frozen=True, slots=True)
class Blocked:
    """A combination that cannot be sent: the error of each group that is at fault."""

    groups: str
    errors: Mapping[str, MgmtctlError]

    @property
    def error(self) -> MgmtctlError:
        """All of them as one failure."""
        return self.seen_by(EVERYTHING)

    def seen_by(self, readable: Scope) -> MgmtctlError:
        """The same for somebody who may read these groups: what is wrong in the others is not told (D 2)."""
        told = [
            error if readable.covers(group) else InvalidError(f"group `{group}` cannot be sent")
            for group, error in self.errors.items()
        ]
        if len(told) == 1:
            return told[0]
        findings = [finding for error in told for finding in getattr(error, "findings", ())]
        return InvalidError("; ".join(error.problem for error in told), findings=findings)


class _Read(NamedTuple):
    """A group as it was read, and why just this content cannot be sent (None: it can)."""

    content: GroupContent
    problem: MgmtctlError | None


_NOTHING = GroupContent({})


@dataclass(slots=True)
class Targets:
    """Targets as of one piece of work; with `keep` what is built is written down (`saved`: digests that are)."""

    store: Store
    folders: Folders
    now: Callable[[], float]
    keep: bool
    conflicts: dict[str, tuple[Conflict, ...]] = field(default_factory=dict)
    left_out: dict[str, tuple[LeftOut, ...]] = field(default_factory=dict)
    saved: set[str] = field(default_factory=set)
    _unsaved: list[tuple[Merged, Manifest | None]] = field(default_factory=list)
    _targets: dict[str, Target | Blocked] = field(default_factory=dict)
    _groups: dict[str, _Read] = field(default_factory=dict)
    _states: dict[str, tuple[str, int]] = field(default_factory=dict)
    _ar_conf: tuple[bytes | None] | None = None
    _ar_problem: str | None = None
    _manifests: dict[str, dict[str, tuple[str, int]] | None] = field(default_factory=dict)
    _last: tuple[str, dict[str, bytes]] | None = None
    _looked: dict[str, Looked] = field(default_factory=dict)
    _unsettled: set[str] = field(default_factory=set)
    _numbers: dict[str, int | None] = field(default_factory=dict)
    _unrecorded: dict[str, str] = field(default_factory=dict)
    _losses: restoring.Losses = field(init=False)

    def __post_init__(self) -> None:
        self._losses = restoring.Losses(self.store)
        if self.keep:
            recording.finish_all(self)

    def of(self, groups: str) -> Target | Blocked:
        """What agents of these groups (comma-joined, in order) shall hold."""
        found = self._targets.get(groups)
        if found is None:
            found = self._targets[groups] = self._find(groups)
            if isinstance(found, Target):
                for name in groups.split(","):
                    read = self._groups.get(name)
                    self._losses.note(name, read.content.files if read else None)
        return found

    def files(self, groups: str) -> tuple[Target | Blocked, dict[str, bytes]]:
        """The target with the bytes of every file; only the last combination asked for is kept."""
        if self._last is None or self._last[0] != groups:
            self._last = None
            self._targets[groups] = self._build(groups)
        return self._targets[groups], self._last[1] if self._last else {}

    def manifest(self, digest: str) -> Manifest | None:
        """What the merged file with this digest puts into a folder; None when that is not known any more."""
        if digest not in self._manifests:
            self._manifests[digest] = self.store.sync_state.manifest(digest)
        return self._manifests[digest]

    def looker(self, target: Target) -> Looker:
        """What looks at the files that the target puts into a folder."""
        return Looker(target.digest, self.manifest(target.digest) or {})

    def changed_meanwhile(self, groups: str) -> bool:
        """Whether a source of the combination changed since it was looked at here."""
        try:
            return any(self._read_state(source) != self._states.get(source) for source in _sources(groups))
        except MgmtctlError:
            return True

    def refresh_group(self, group: str) -> str | None:
        """Bring the merged.mg in the group's own folder up to date (S 2.9); a line that says what hinders it.

        An invalid group keeps its last good one, and its agents say so.
        """
        try:
            target = self.of(group)
            if isinstance(target, Target) and not self._merged_known(group, target):
                self._write_own(group, target)
        except MgmtctlError as error:
            return f"`{_own(group)}` cannot be written: {error.problem}"
        return None

    def _write_own(self, group: str, target: Target | Blocked) -> None:
        if isinstance(target, Target) and not self.folders.merged_matches(group, target.size, target.digest):
            target, files = self.files(group)
            if MERGED in files:
                self.folders.write_merged(group, files[MERGED])
        if isinstance(target, Target):
            signature = lasting(*self.folders.merged_state(group))
            row = Merged(_own(group), target.digest, target.md5, target.size, signature, int(self.now()))
            self._unsaved.append((row, None))

    def warnings(self, readable: Scope, agents: Scope | None = None) -> Iterator[str]:
        """What somebody who may read these groups should know about what was built, one line each, none twice."""
        from mgmtctl.domain.merging import conflict_lines, conflicts_among

        self._ar()
        if self._ar_problem is not None:
            yield f"{self._ar_problem}; merged files are built without it"
        every = (conflict for found in self.conflicts.values() for conflict in found)
        yield from conflict_lines(conflicts_among(every, readable))
        lines = [
            f"{quoted(f'{left.group}/{left.name}')} is not sent: {left.reason}"
            for left_out in self.left_out.values()
            for left in left_out
            if readable.covers(left.group) and not left.name.rpartition("/")[2].startswith((".", MERGED))
        ]
        yield from dict.fromkeys(lines)
        yield from self._losses.lines(readable, agents)
        names = {name for groups in self._targets for name in groups.split(",")}
        yield from accepted_lines(self.store, self.folders, names, readable)
        for group, why in sorted(self._unrecorded.items()):
            if readable.covers(group):
                yield f"the revision of group `{group}` is not recorded: {why}"

    def flush(self) -> None:
        """Write down what was built since the last time, in the caller's transaction."""
        renewed = self._settle()
        for row, manifest in self._unsaved:
            names = row.groups.split(",")
            if manifest is not None and not renewed.isdisjoint(names) and self._differs(row):
                self.store.sync_state.mark_not_synced(renewed.intersection(names))
            numbers = {name: self._numbers[name] for name in names if name in self._numbers}
            if None in numbers.values() or not self._unrecorded.keys().isdisjoint(names):
                row = row._replace(signature="")  # to be read again, until it can be recorded
            self.store.sync_state.save_merged(row)
            if manifest is not None:
                known = {name: number for name, number in numbers.items() if number is not None}
                self.store.sync_state.save_manifest(row.digest, row.md5, manifest, known)
                self.saved.add(row.digest)
        self._unsaved.clear()

    def _settle(self) -> set[str]:
        """Record what was found on disk; the groups that somebody changed there."""
        renewed = set()
        for group in self._unsettled:
            before = recording.revision_now(self, group)
            self._numbers[group] = recording.settle(self, self._looked[group])
            if self._numbers[group] not in (before, None):
                renewed.add(group)
        self._unsettled.clear()
        return renewed

    def _differs(self, row: Merged) -> bool:
        return getattr(self.store.sync_state.merged(row.groups), "digest", row.digest) != row.digest

    @property
    def unsaved(self) -> bool:
        """Whether something was built, or a change was found, that the store does not know yet."""
        return bool(self._unsaved or self._unsettled)

    def _merged_known(self, group: str, target: Target) -> bool:
        """Whether the group's own merged.mg looks as when it was last found to be the target."""
        row = self.store.sync_state.merged(_own(group))
        return (
            row is not None
            and row.digest == target.digest
            and row.signature == lasting(*self.folders.merged_state(group))
        )

    def _find(self, groups: str) -> Target | Blocked:
        try:
            signature = self._signature(groups)
        except MgmtctlError:
            return self._build(groups)
        row = self.store.sync_state.merged(groups)
        if row is not None and row.signature == signature:
            self.saved.add(row.digest)
            return Target(groups, row.digest, row.md5, row.size)
        return self._build(groups)

    def _build(self, groups: str) -> Target | Blocked:
        from mgmtctl.domain.merging import combine, target_files

        # Held here: what was judged is what is sent, also when not all of it is kept.
        reads = {name: self._read(name) for name in groups.split(",")}
        errors = {name: read.problem for name, read in reads.items() if read.problem is not None}
        if errors:
            return Blocked(groups, errors)
        signature = self._signature(groups)
        sources = {name: read.content.files for name, read in reads.items()}
        combination = combine(list(sources.items()))
        files = target_files(combination.parts, self._ar(), combination.tag)
        self._note(groups, combination, reads)
        target = self._keep(groups, signature, files, sources)
        self._last = (groups, files)
        return target

    def _keep(
        self, groups: str, signature: str, files: dict[str, bytes], sources: dict[str, dict[str, bytes]]
    ) -> Target:
        merged = files[MERGED]
        md5_of = md5_meanwhile(merged)
        # By identity: what goes from a group into the merged file as it is was hashed when it was recorded.
        known = {
            id(data): found.tree[name]
            for group, content in sources.items()
            if (found := self._looked.get(group)) is not None
            for name, data in content.items()
            if name in found.tree
        }
        manifest = {
            name: known.get(id(data)) or (hashlib.sha256(data).hexdigest(), len(data))
            for name, data in files.items()
        }
        md5 = md5_of()
        digest = manifest[MERGED][0]
        self._manifests[digest] = manifest
        if self.keep:
            row = Merged(groups, digest, md5, len(merged), signature, int(self.now()))
            self._unsaved.append((row, manifest))
        return Target(groups, digest, md5, len(merged))

    def _note(self, groups: str, combination: Combination, reads: Mapping[str, _Read]) -> None:
        """Remember what has to be reported about a combination that was built."""
        from mgmtctl.domain.merging import LeftOut

        self.conflicts[groups] = combination.conflicts
        unreadable = [
            LeftOut(name, *found) for name, read in reads.items() for found in read.content.unreadable
        ]
        self.left_out[groups] = (*combination.left_out, *unreadable)

    def problem(self, group: str) -> MgmtctlError | None:
        """Why the group cannot be sent as it is now; None when it can."""
        return self._read(group).problem

    def _read(self, group: str) -> _Read:
        found = self._groups.get(group)
        if found is None:
            found = self._read_now(group)
            kept = (len(data) for read in self._groups.values() for data in read.content.files.values())
            if sum(kept) > _KEPT_BYTES:
                self._groups.clear()
            self._groups[group] = found
        return found

    def _read_now(self, group: str) -> _Read:
        try:
            state = self._read_state(group)  # before the content: a change in between is the next run's
            self._states.setdefault(group, state)
            content = self.folders.load_group(group)
            if self.keep:
                self._look(group, state, content)
            return _Read(content, conf_problem(self.store, self.folders, group, content))
        except NotFoundError:
            fix = restoring.commands(self.store, group)
            return _Read(_NOTHING, InvalidError(f"group `{group}` has no folder", fix=fix, code=1710))
        except MgmtctlError as error:
            return _Read(_NOTHING, error)

    def _look(self, group: str, state: tuple[str, int], content: GroupContent) -> None:
        """Have what was read recorded with the next `flush`; UnavailableError (busy) while mgmtctl changes it."""
        if recording.is_changing(self, group):
            raise UnavailableError(f"group `{group}`: its files are being changed", "busy", fix="try again")
        known = self._looked.get(group)
        if known is not None and (known.state, known.newest) == state:
            return
        found = self._looked[group] = recording.looked(group, state, content.files)
        try:
            recording.stage(self, found, content.files)
        except UnavailableError as error:
            self._unrecorded[group] = error.why or error.problem
        else:
            self._unsettled.add(group)

    def _ar(self) -> bytes | None:
        """The ar.conf of the shared folder; one that cannot be read is left out, as any other file (D 5)."""
        if self._ar_conf is None:
            self._state("")
            try:
                self._ar_conf = (self.folders.ar_conf(),)
            except FaultError:
                raise  # a disk that fails takes it from no agent
            except UnavailableError as error:
                self._ar_conf, self._ar_problem = (None,), error.problem
            else:
                self._ar_problem = _ar_problem(self._ar_conf[0])
        return self._ar_conf[0]

    def _signature(self, groups: str) -> str:
        """The state of all sources as a text; another version of the program builds and checks again."""
        return " ".join([__version__, *(lasting(*self._state(source)) for source in _sources(groups))])

    def _state(self, source: str) -> tuple[str, int]:
        if source not in self._states:
            self._states[source] = self._read_state(source)
        return self._states[source]

    def _read_state(self, source: str) -> tuple[str, int]:
        return self.folders.state(source) if source else self.folders.ar_conf_state()


def _ar_problem(content: bytes | None) -> str | None:
    """Why an ar.conf with this content (None: it is not there) is in no merged file."""
    if content is None:
        return f"{AR_CONF} is missing in the shared folder"
    return f"{AR_CONF} in the shared folder holds a NUL byte" if b"\0" in content else None


def _own(group: str) -> str:
    """What the store calls the merged.mg that lies in the group's own folder; no combination is called so."""
    return f"{group}/{MERGED}"


def _sources(groups: str) -> list[str]:
    """What a merged file is made of: the shared folder's own ar.conf (the empty name) and each group."""
    return ["", *groups.split(",")]
