"""What the agents of each combination of groups shall hold now, read from the group folders.

Rules (D 5, D 6, D 8): people edit in the group folders with their own tools, so the disk as it is now counts. An
agent.conf with an error blocks every combination its group is in. A combination whose sources did not change since it
was last built is not read again. Nothing here is an operation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mgmtctl import __version__
from mgmtctl.domain.errors import InvalidError, MgmtctlError, NotFoundError, UnavailableError
from mgmtctl.domain.files import AGENT_CONF, AR_CONF, MERGED
from mgmtctl.domain.findings import blocks
from mgmtctl.domain.groups import quoted
from mgmtctl.folders.groups import lasting
from mgmtctl.folders.looks import Looker
from mgmtctl.store.sync_state import Merged

if TYPE_CHECKING:
    from mgmtctl.domain.merging import Combination, Conflict, LeftOut
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.folders import Folders, GroupContent
    from mgmtctl.folders.pushing import Manifest
    from mgmtctl.store.store import Store

# The contents of groups that are kept at once, so that a group in many combinations is read once.
_KEPT_BYTES = 64 << 20
_CONFLICTS_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Target:
    """The merged file of one combination (`groups`, comma-joined): `digest` is its SHA-256."""

    groups: str
    digest: str
    md5: str
    size: int


@dataclass(frozen=True, slots=True)
class Blocked:
    """A combination that cannot be sent: one error per group that is at fault."""

    groups: str
    errors: tuple[MgmtctlError, ...]

    @property
    def error(self) -> MgmtctlError:
        """All of them as one failure."""
        if len(self.errors) == 1:
            return self.errors[0]
        findings = [finding for error in self.errors for finding in getattr(error, "findings", ())]
        return InvalidError("; ".join(error.problem for error in self.errors), findings=findings)


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
    _groups: dict[str, GroupContent] = field(default_factory=dict)
    _problems: dict[str, MgmtctlError | None] = field(default_factory=dict)
    _states: dict[str, tuple[str, int]] = field(default_factory=dict)
    _ar_conf: tuple[bytes | None] | None = None
    _ar_problem: str | None = None
    _manifests: dict[str, dict[str, tuple[str, int]] | None] = field(default_factory=dict)
    _last: tuple[str, dict[str, bytes]] | None = None

    def of(self, groups: str) -> Target | Blocked:
        """What agents of these groups (comma-joined, in order) shall hold."""
        found = self._targets.get(groups)
        if found is None:
            found = self._targets[groups] = self._find(groups)
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

    def warnings(self, readable: Scope) -> Iterator[str]:
        """What somebody who may read these groups should know about what was built, one line each, none twice."""
        self._ar()
        if self._ar_problem is not None:
            yield f"{self._ar_problem}; merged files are built without it"
        every = (conflict for found in self.conflicts.values() for conflict in found)
        yield from _conflict_lines(conflicts_among(every, readable))
        lines = [
            f"{quoted(f'{left.group}/{left.name}')} is not sent: {left.reason}"
            for left_out in self.left_out.values()
            for left in left_out
            if readable.covers(left.group) and not left.name.rpartition("/")[2].startswith((".", MERGED))
        ]
        yield from dict.fromkeys(lines)

    def flush(self) -> None:
        """Write down what was built since the last time, in the caller's transaction."""
        for row, manifest in self._unsaved:
            self.store.sync_state.save_merged(row)
            if manifest is not None:
                self.store.sync_state.save_manifest(row.digest, row.md5, manifest)
                self.saved.add(row.digest)
        self._unsaved.clear()

    @property
    def unsaved(self) -> bool:
        """Whether something was built that the store does not know yet."""
        return bool(self._unsaved)

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

        names = groups.split(",")
        errors = [error for error in map(self.problem, names) if error is not None]
        if errors:
            return Blocked(groups, tuple(errors))
        signature = self._signature(groups)
        combination = combine([(name, self._content(name).files) for name in names])
        files = target_files(combination.parts, self._ar(), combination.tag)
        self._note(groups, combination)
        target = self._keep(groups, signature, files)
        self._last = (groups, files)
        return target

    def _keep(self, groups: str, signature: str, files: dict[str, bytes]) -> Target:
        merged = files[MERGED]
        manifest = {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}
        md5 = hashlib.md5(merged, usedforsecurity=False).hexdigest()
        digest = manifest[MERGED][0]
        self._manifests[digest] = manifest
        if self.keep:
            row = Merged(groups, digest, md5, len(merged), signature, int(self.now()))
            self._unsaved.append((row, manifest))
        return Target(groups, digest, md5, len(merged))

    def _note(self, groups: str, combination: Combination) -> None:
        """Remember what has to be reported about a combination that was built."""
        self.conflicts[groups] = combination.conflicts
        unreadable = self._unreadable(groups.split(","))
        self.left_out[groups] = (*combination.left_out, *unreadable)

    def _unreadable(self, names: Sequence[str]) -> list[LeftOut]:
        from mgmtctl.domain.merging import LeftOut

        return [LeftOut(name, file, why) for name in names for file, why in self._content(name).unreadable]

    def problem(self, group: str) -> MgmtctlError | None:
        """Why the group cannot be sent as it is now; None when it can."""
        if group not in self._problems:
            try:
                self._problems[group] = conf_problem(group, self._content(group))
            except NotFoundError:
                self._problems[group] = InvalidError(
                    f"group `{group}` has no folder", fix=f"mgmtctl groups create {group}", code=1710
                )
            except MgmtctlError as error:
                self._problems[group] = error
        return self._problems[group]

    def _content(self, group: str) -> GroupContent:
        found = self._groups.get(group)
        if found is None:
            self._state(group)  # before the content: what changes in between is found by the next run
            found = self.folders.load_group(group)
            if sum(sum(map(len, kept.files.values())) for kept in self._groups.values()) > _KEPT_BYTES:
                self._groups.clear()
            self._groups[group] = found
        return found

    def _ar(self) -> bytes | None:
        """The ar.conf of the shared folder; one that cannot be read is left out, as any other file (D 5)."""
        if self._ar_conf is None:
            self._state("")
            self._ar_conf = (None,)
            try:
                self._ar_conf = (self.folders.ar_conf(),)
            except UnavailableError as error:
                self._ar_problem = error.problem
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


def conflicts_among(conflicts: Iterable[Conflict], readable: Scope) -> Iterator[Conflict]:
    """The conflicts between groups that may be read; the names of the others are nobody's business (D 2)."""
    for conflict in conflicts:
        losers = tuple(group for group in conflict.losers if readable.covers(group))
        if losers and readable.covers(conflict.winner):
            yield conflict._replace(losers=losers)


def _conflict_lines(conflicts: Iterable[Conflict]) -> Iterator[str]:
    """One line for each file name that several groups of an agent hold."""
    by_name: dict[str, dict[str, None]] = {}
    for conflict in conflicts:
        words = f"`{conflict.winner}` wins over `{'`, `'.join(conflict.losers)}`"
        by_name.setdefault(conflict.name, {})[words] = None
    for name, found in sorted(by_name.items()):
        more = len(found) - _CONFLICTS_SHOWN
        shown = "; ".join(list(found)[:_CONFLICTS_SHOWN])
        yield f"{quoted(name)} in several groups: {shown}" + (f"; and {more} more" if more > 0 else "")


def _own(group: str) -> str:
    """What the store calls the merged.mg that lies in the group's own folder; no combination is called so."""
    return f"{group}/{MERGED}"


def _sources(groups: str) -> list[str]:
    """What a merged file is made of: the shared folder's own ar.conf (the empty name) and each group."""
    return ["", *groups.split(",")]


def conf_problem(group: str, content: GroupContent) -> InvalidError | None:
    """Why a group's agent.conf cannot be sent: it cannot be read, or has findings that block (D 6).

    A NUL byte blocks here too. Any other file that holds one is merely left out (D 5), but without their agent.conf
    agents would lose the group's whole configuration; so they keep the last good one.
    """
    from mgmtctl.domain.agent_conf_check import check_agent_conf

    path = f"{group}/{AGENT_CONF}"
    for name, why in content.unreadable:
        if name == AGENT_CONF:
            return InvalidError(f"`{path}`: {why}", fix=f"repair it, then mgmtctl files validate {group}")
    if AGENT_CONF not in content.files:
        return None
    findings = check_agent_conf(content.files[AGENT_CONF], path)
    if not blocks(findings):
        return None
    return InvalidError(
        f"group `{group}` is invalid: {path} has errors",
        fix=f"mgmtctl files validate {group}",
        findings=findings,
    )
