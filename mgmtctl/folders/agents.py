"""Agent folders: what the manager distributes goes into `shared/` of each, file by file, each whole at any moment.

Rules (D 8): a folder is entered by handles from `agents/` or from one of `agents.folder_roots`, no symlink followed at
any step, `shared` a real directory. A push stages every new file under a random hidden name, writes a marker, removes
what left, renames the rest into place, merged.mg last, and takes the marker away: a marker says that the set is mixed,
and the next push finishes it. Nothing is chowned, nothing is synced to disk (a look finds what a crash lost), and what
mgmtctl never put there is left alone. What lies in an agent's folder is never trusted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from mgmtctl.domain import sync
from mgmtctl.domain.errors import InvalidError, UnavailableError
from mgmtctl.domain.files import MERGED
from mgmtctl.folders import paths
from mgmtctl.folders.beside import Beside, Lost
from mgmtctl.folders.looks import Look, Looker
from mgmtctl.folders.pushing import (
    FOLDER_THERE,
    NO_FOLDER_THERE,
    Examined,
    Manifest,
    apply,
    digests_of,
    examine,
    obstacle,
)

SHARED = "shared"
_BELOW = f"%03d/{SHARED}/".encode()
# Agents that are looked at in one go: so many rows are in memory for each process, and a fork is worth its while.
SHARE = 10_000
MOVE_AWAY = "move it away, then sync again"
LARGEST_REPORT = 1 << 20  # bytes of what an agent leaves for us

_Row = tuple[str, int, bytes | None]


class Place(NamedTuple):
    """Where an agent's folder is: `folder` is a registered path, None the folder named by its id below `agents/`."""

    agent_id: str
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class PushReport:
    """What a push did: the changes, and how the files look now."""

    changes: tuple[sync.Change, ...]
    look: Look


class AgentFolders:
    """The open `agents/` folder and the `roots` that registered folders may lie under; `kept_out` may not be touched.

    A context manager: it holds a handle. Methods raise UnavailableError (io) or InvalidError about one agent's folder.
    """

    def __init__(self, agents: Path, kept_out: Sequence[Path], roots: Sequence[str] = ()) -> None:
        self._roots = tuple(root.rstrip("/") for root in roots)
        self._kept_out = tuple(kept_out)
        self._barred: tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]] | None = None
        try:
            agents.mkdir(mode=0o700, exist_ok=True)
            self._agents = os.open(agents, paths.FOLDER_FLAGS)
        except OSError as error:
            raise _no_agents(agents, error) from None

    def __enter__(self) -> AgentFolders:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._agents)

    def look(self, place: Place, looker: Looker) -> Look | None:
        """How the files that were written there look, without opening one; None when one of them cannot be seen."""
        try:
            if place.folder is None:
                return looker.look(self._agents, f"{place.agent_id}/{SHARED}/".encode())
            with self._entered(place) as folder, paths.folder(SHARED, folder) as shared:
                return looker.look(shared)
        except (OSError, InvalidError):
            return None

    def touched(
        self,
        seen: Iterable[_Row],
        lookers: Mapping[str, Looker | None],
        processes: int = 1,
    ) -> tuple[int, list[int]]:
        """How many agents (groups, id, look) were `seen`, and which of them have to be examined.

        That is where the files below `agents/` do not look so, where there is no look, or no looker for the groups.
        So many `processes` look, each at its share. UnavailableError when one of them ended early.
        """
        rows, count = iter(seen), 0
        found: list[int] = []
        while share := self._share(rows, lookers):
            count += len(share)
            with contextlib.ExitStack() as stack:
                forks: list[Beside] = []
                while len(forks) < processes - 1 and (following := self._share(rows, lookers)):
                    count += len(following)
                    try:
                        fork = Beside(partial(self._tell_touched, share, lookers))
                    except OSError:  # no process, or no memory for one
                        found += self._touched(share, lookers)
                    else:
                        forks.append(stack.enter_context(fork))
                    share = following
                found += self._touched(share, lookers)
                found += _told(forks)
        return count, found

    @staticmethod
    def _share(rows: Iterator[_Row], lookers: Mapping[str, Looker | None]) -> list[_Row]:
        """The next rows; what looks at them is made now, because a fork must not ask the store."""
        share = list(islice(rows, SHARE))
        for groups in dict.fromkeys(row[0] for row in share):
            lookers[groups]
        return share

    def _tell_touched(
        self, share: Sequence[_Row], lookers: Mapping[str, Looker | None], tell: Callable[[bytes], None]
    ) -> None:
        tell(array("q", self._touched(share, lookers)).tobytes())

    def _touched(self, share: Sequence[_Row], lookers: Mapping[str, Looker | None]) -> list[int]:
        folder = self._agents
        found = []
        for groups, identifier, look in share:
            looker = lookers[groups]
            if not look or looker is None or looker.differs(look, folder, _BELOW % identifier):
                found.append(identifier)
        return found

    def problem(self, place: Place) -> str | None:
        """Why the agent's folder cannot be used, or None; a folder below `agents/` that is missing will be made."""
        try:
            with self._entered(place) as folder, paths.folder(SHARED, folder):
                return None
        except FileNotFoundError:
            if place.folder is None:
                return None
            try:
                with self._entered(place):
                    return None
            except OSError as error:
                return _problem(place, error)
        except InvalidError as error:
            return error.problem
        except OSError as error:
            return _problem(place, error)

    def read_report(self, place: Place, name: str) -> bytes | None:
        """A file that the agent left beside `shared/`; None when there is none that may be read (D 8)."""
        try:
            with self._entered(place) as folder:
                return paths.read_regular(name, folder, limit=LARGEST_REPORT, single_link=True)
        except (OSError, InvalidError):
            return None

    def report_time(self, place: Place, name: str) -> int | None:
        """When (mtime, ns) such a file was written, as its system says; None when there is none that may be read."""
        try:
            with self._entered(place) as folder:
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (OSError, InvalidError):
            return None
        return status.st_mtime_ns if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else None

    def examine(
        self, place: Place, target: Manifest, last: Manifest, known: Callable[[str], Manifest | None]
    ) -> Examined:
        """What a push of `target` would change; `last` was written there before, `known` gives manifests by digest."""
        try:
            with self._entered(place) as folder, paths.folder(SHARED, folder) as shared:
                found = examine(shared, target, last, known)
            return replace(found, obstacle=_met(place, found.obstacle)) if found.obstacle else found
        except FileNotFoundError as error:
            if place.folder is not None and not self._reachable(place):
                raise _unusable(place, error) from None
            return Examined(tuple(sync.plan(digests_of(target), {}, {})), unfinished=False, absent=True)
        except OSError as error:
            raise _unusable(place, error) from None

    def obstacle(
        self, place: Place, target: Manifest, last: Manifest, known: Callable[[str], Manifest | None]
    ) -> str:
        """The obstacle that `examine` would find, seen without reading a file that was pushed; empty: none is seen."""
        try:
            with self._entered(place) as folder, paths.folder(SHARED, folder) as shared:
                met = obstacle(shared, target, last, known)
        except (OSError, InvalidError):
            return ""
        return _met(place, met) if met else ""

    def push(
        self,
        place: Place,
        files: Mapping[str, bytes],
        target: Manifest,
        last: Manifest,
        known: Callable[[str], Manifest | None],
    ) -> PushReport:
        """Make `shared/` hold exactly `files` (whose manifest is `target`) beside what was never ours."""
        try:
            with self._entered(place, create=True) as folder:
                shared = paths.open_step(folder, SHARED, create=True)
                try:
                    examined = examine(shared, target, last, known)
                    if examined.obstacle:  # met half-way, it would leave a mixed set
                        raise UnavailableError(_met(place, examined.obstacle), "io", fix=MOVE_AWAY)
                    if examined.changes or examined.unfinished:
                        apply(shared, examined, files, target[MERGED][0])
                    look = Looker(target[MERGED][0], target).look(shared)
                finally:
                    os.close(shared)
        except OSError as error:
            raise _unusable(place, error) from None
        return PushReport(examined.changes, look)

    def purge(
        self, place: Place, last: Manifest, known: Callable[[str], Manifest | None]
    ) -> tuple[sync.Change, ...]:
        """Take away what was written there (`last`), and then the folders that are left empty; all else stays."""
        try:
            with self._entered(place) as folder:
                with paths.folder(SHARED, folder) as shared:
                    examined = examine(shared, {}, last, known)
                    apply(shared, examined, {}, "")
                with contextlib.suppress(OSError):
                    os.rmdir(SHARED, dir_fd=folder)
            if place.folder is None:
                with contextlib.suppress(OSError):
                    os.rmdir(place.agent_id, dir_fd=self._agents)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _unusable(place, error) from None
        return examined.changes

    def check(self, folder: str) -> str:
        """`folder` as it may be registered: normalised, below a root, apart from the service's own. InvalidError."""
        place = Place("", folder)
        try:
            with contextlib.suppress(FileNotFoundError), self._entered(place):
                pass
        except OSError as error:
            raise InvalidError(_problem(place, error)) from None
        return folder.rstrip("/")

    @contextlib.contextmanager
    def _entered(self, place: Place, *, create: bool = False) -> Iterator[int]:
        handle = (
            paths.open_step(self._agents, place.agent_id, create=create)
            if place.folder is None
            else self._descend(place.folder)
        )
        try:
            yield handle
        finally:
            os.close(handle)

    def _descend(self, folder: str) -> int:
        """The handle of a registered folder, step by step from its root; it is never made."""
        root, steps = self._below_root(folder)
        inside, above = self._barred_folders()
        handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for step in (None, *steps):
                if step is not None:
                    above_handle, handle = handle, os.open(step, paths.FOLDER_FLAGS, dir_fd=handle)
                    os.close(above_handle)
                if _identity(os.fstat(handle)) in inside:
                    raise InvalidError(f"folder `{folder}` lies inside the service's own")
            if _identity(os.fstat(handle)) in above:
                raise InvalidError(f"folder `{folder}` lies above the service's own")
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _below_root(self, folder: str) -> tuple[str, list[str]]:
        path = folder.rstrip("/")
        steps = path.split("/")[1:]
        if not path.startswith("/") or "\0" in path or any(step in ("", ".", "..") for step in steps):
            raise InvalidError(f"folder `{folder}` is not a plain absolute path")
        for root in self._roots:
            if path.startswith(root + "/"):
                return root or "/", path[len(root) + 1 :].split("/")
        raise InvalidError(
            f"folder `{folder}` lies under none of agents.folder_roots",
            why=f"these are: {', '.join(self._roots) or 'none'}",
        )

    def _barred_folders(self) -> tuple[frozenset[tuple[int, int]], frozenset[tuple[int, int]]]:
        """(the service's own folders, those and every folder above them), by device and inode."""
        if self._barred is None:
            own: set[tuple[int, int]] = set()
            above: set[tuple[int, int]] = set()
            for path in self._kept_out:
                real = path.resolve()
                own.add(_identity(os.stat(real)))
                above.update(_identity(os.stat(parent)) for parent in (real, *real.parents))
            self._barred = frozenset(own), frozenset(above)
        return self._barred

    def _reachable(self, place: Place) -> bool:
        try:
            with self._entered(place):
                return True
        except OSError:
            return False


def _told(forks: Iterable[Beside]) -> Iterator[int]:
    """The numbers that forks tell. UnavailableError when one of them ended early."""
    for fork in forks:
        try:
            for frame in fork.frames():
                yield from array("q", frame)
        except Lost as error:
            raise UnavailableError(
                "a process that looked at agent folders ended early", "io", why=str(error)
            ) from None


def _no_agents(agents: Path, error: OSError) -> UnavailableError:
    """Where it is no setting tells, so a symlink there is nobody's choice and is not followed."""
    if not agents.is_symlink():
        return UnavailableError(f"cannot use the folder `{agents}`", "io", why=paths.reason(error))
    return UnavailableError(
        f"cannot use the folder `{agents}`", "io", why="it is a symlink", fix="mount the other folder there"
    )


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _met(place: Place, obstacle: str) -> str:
    return f"{_shown(place)}: {obstacle}"


def _problem(place: Place, error: OSError) -> str:
    if error.errno in (errno.EISDIR, errno.ENOTEMPTY):
        return f"{_shown(place)}: {FOLDER_THERE}"
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return f"{_shown(place)}: {NO_FOLDER_THERE}"
    return f"{_shown(place)}: {paths.reason(error)}"


def _unusable(place: Place, error: OSError) -> UnavailableError:
    return UnavailableError(
        _problem(place, error), "io", fix="make it a folder that can be used, then sync again"
    )


def _shown(place: Place) -> str:
    return f"folder `{place.folder or f'agents/{place.agent_id}'}`"
