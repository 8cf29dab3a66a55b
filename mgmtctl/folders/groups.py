"""Group folders below the shared folder: their files, byte for byte, and the merged file beside them.

Rules (D 5): a group exists exactly when its folder exists; `default` always exists; folders with a leading dot and
symlinks are no groups. Names are checked here, at the lowest layer. Bytes are stored as given; a file is staged, synced
and renamed, so that a reader sees the old one or the new one whole. Group folders 0770, files 0660, the group of the
folder kept. Symlinks in a group folder are never followed: such a file cannot be read, and says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mgmtctl.domain.errors import ConflictError, InvalidError, NotFoundError, UnavailableError
from mgmtctl.domain.files import AGENT_CONF, AR_CONF, MAX_PARTS, MERGED, check_file_name
from mgmtctl.domain.groups import DEFAULT_GROUP, check_group_name
from mgmtctl.folders import paths

EMPTY_AGENT_CONF = b"<agent_config>\n</agent_config>\n"
FILES_YML = "files.yml"
_NO_FILE = "it is a folder"
_READ_AGAIN = 3
_LEFT_SECONDS = 3600  # no write takes so long


@dataclass(frozen=True, slots=True)
class FileInfo:
    """One file of a group folder: `size` in bytes; `problem` says why it cannot be read (None: a regular file)."""

    name: str
    size: int
    modified: float
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class GroupContent:
    """The bytes of a group's files by relative name, and (name, why) of what could not be read."""

    files: dict[str, bytes]
    unreadable: tuple[tuple[str, str], ...] = ()


class GroupFolders:
    """The shared folder at `shared`. Raises UnavailableError (io) for what the system refuses."""

    def __init__(self, shared: Path) -> None:
        self.shared = shared

    def prepare(self) -> None:
        """Make the shared folder, the group `default` and an empty ar.conf, as far as they are missing (D 5)."""
        self.shared.mkdir(mode=paths.FOLDER_MODE, parents=True, exist_ok=True)
        if self.ar_conf() is None:
            self.write_ar_conf(b"")
        with self._shared() as shared, _translated(DEFAULT_GROUP):
            if not _is_folder(DEFAULT_GROUP, shared):
                _create(DEFAULT_GROUP, shared)

    def group_names(self) -> list[str]:
        """The names of all groups, sorted; `default` among them whatever the disk says."""
        found = {DEFAULT_GROUP}
        with self._shared() as shared, _translated(self.shared.name), os.scandir(shared) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    with contextlib.suppress(InvalidError):
                        found.add(check_group_name(entry.name))
        return sorted(found)

    def group_exists(self, group: str) -> bool:
        """Whether the group exists; a name that no group can have does not."""
        try:
            check_group_name(group)
        except InvalidError:
            return False
        if group == DEFAULT_GROUP:
            return True
        with self._shared() as shared, _translated(group):
            return _is_folder(group, shared)

    def taken_by_file(self, name: str) -> bool:
        """Whether something that is no folder bears the name in the shared folder (or files.yml will)."""
        with self._shared() as shared, _translated(name):
            try:
                status = os.stat(name, dir_fd=shared, follow_symlinks=False)
            except (FileNotFoundError, ValueError):
                return name in (FILES_YML, AR_CONF)
            return not stat.S_ISDIR(status.st_mode)

    def create_group(self, group: str) -> None:
        """Make the folder with an agent.conf that holds one empty block. InvalidError, ConflictError (1711, 1713)."""
        check_group_name(group)
        if group.casefold() == DEFAULT_GROUP or self.group_exists(group):
            raise ConflictError(f"group `{group}` exists already", code=1711)
        if self.taken_by_file(group):
            raise ConflictError(f"`{group}` cannot name a group, a shared file is called so", code=1713)
        with self._shared() as shared, _translated(group):
            _create(group, shared)

    @contextlib.contextmanager
    def deleting_group(self, group: str, problems: list[str]) -> Iterator[None]:
        """Inside the block the group's folder is out of sight: back again if it fails, taken away if it ends well.

        What then cannot be taken away is told in `problems`; the group is gone all the same. NotFoundError,
        ConflictError (1712) for `default`.
        """
        check_group_name(group)
        if group == DEFAULT_GROUP:
            raise ConflictError(f"group `{DEFAULT_GROUP}` cannot be deleted", code=1712)
        doomed = paths.new_name()
        with self._shared() as shared:
            with _translated(group):
                if not _is_folder(group, shared):
                    raise NotFoundError("group", group, code=1710)
                os.utime(group, dir_fd=shared, follow_symlinks=False)  # what is young nobody tidies
                os.rename(group, doomed, src_dir_fd=shared, dst_dir_fd=shared)
            try:
                yield
            except BaseException:
                os.rename(doomed, group, src_dir_fd=shared, dst_dir_fd=shared)
                raise
            try:
                shutil.rmtree(doomed, dir_fd=shared)
            except (OSError, RecursionError) as error:
                why = paths.reason(error) if isinstance(error, OSError) else "it is too deep"
                problems.append(
                    f"`{doomed}` in the shared folder, once group `{group}`, cannot be removed: {why}"
                )

    def list_files(self, group: str) -> list[FileInfo]:
        """Every file of the group, sub-folders included, sorted by name; merged.mg and hidden ones too."""
        with self._group(group) as folder, _translated(group):
            if folder is None:
                return []
            found = [_info(name, status) for name, status in paths.walk(folder)]
        return sorted(found, key=lambda info: info.name)

    def read_file(self, group: str, name: str) -> bytes:
        """The bytes of one file; merged.mg may be read too. NotFoundError when it is not there."""
        if name != MERGED:
            check_file_name(name)
        return self.read_listed(group, name)

    def read_listed(self, group: str, name: str) -> bytes:
        """The bytes of a file by a name that `list_files` gave, whatever it is called."""
        place = f"{group}/{name}"
        with self._group(group) as folder, _translated(place):
            if folder is None:
                raise NotFoundError("file", place)
            with paths.parent_of(folder, name) as (parent, last):
                return paths.read_regular(last, parent)

    def write_file(self, group: str, name: str, data: bytes) -> None:
        """Put a file into the group, whole or not at all, also through a crash. InvalidError for the name."""
        check_file_name(name)
        self._write(group, name, data)

    def remove_file(self, group: str, name: str) -> None:
        """Take a file away, and the sub-folders that this leaves empty. NotFoundError when it is not there."""
        check_file_name(name)
        place = f"{group}/{name}"
        with self._group(group) as folder, _translated(place):
            if folder is None:
                raise NotFoundError("file", place)
            with paths.parent_of(folder, name) as (parent, last):
                os.unlink(last, dir_fd=parent)
                os.fsync(parent)
            paths.remove_empty_parents(name, folder)

    def load_group(self, group: str) -> GroupContent:
        """Files as of one moment: read again while somebody writes; UnavailableError (busy) if that does not end."""
        for _ in range(_READ_AGAIN):
            before = self.state(group)
            content = self._load(group)
            if self.state(group) == before:
                return content
        raise UnavailableError(
            f"group `{group}`: its files are being changed", "busy", fix="try again when that has ended"
        )

    def signature(self, group: str) -> str:
        """A text that changes whenever a file of the group changes, without reading one.

        Files that changed within the last tick of the clock give a text that never comes again.
        """
        return lasting(*self.state(group))

    def state(self, group: str) -> tuple[str, int]:
        """A digest over the status of every file that counts, and when the newest of them changed (ns)."""
        newest, lines = 0, []
        with self._group(group) as folder, _translated(group):
            for name, status in paths.walk(folder) if folder is not None else ():
                if _counts(name):
                    lines.append(_entry_state(name, status))
                    newest = max(newest, status.st_ctime_ns, status.st_mtime_ns)
            if folder is not None and _is_folder(AGENT_CONF, folder):
                lines.append(_NO_FILE)
        text = "\n".join(sorted(lines)).encode(errors="surrogateescape")
        return hashlib.sha256(text).hexdigest()[:32], newest

    def ar_conf(self) -> bytes | None:
        """The ar.conf of the shared folder; None when somebody removed it."""
        with self._shared() as shared, _translated(AR_CONF):
            try:
                return paths.read_regular(AR_CONF, shared)
            except FileNotFoundError:
                return None

    def ar_conf_state(self) -> tuple[str, int]:
        """What `state` is for a group, for the ar.conf of the shared folder."""
        with self._shared() as shared, _translated(AR_CONF):
            return _state_of(AR_CONF, shared)

    def merged_state(self, group: str) -> tuple[str, int]:
        """What `state` is for a group, for the merged.mg in its folder."""
        with self._group(group) as folder, _translated(f"{group}/{MERGED}"):
            return ("absent", 0) if folder is None else _state_of(MERGED, folder)

    def write_ar_conf(self, data: bytes) -> None:
        """Write the ar.conf of the shared folder."""
        with self._shared() as shared, _translated(AR_CONF):
            paths.replace(AR_CONF, data, shared)

    def merged_matches(self, group: str, size: int, digest: str) -> bool:
        """Whether the merged.mg in the group's folder has these bytes (SHA-256)."""
        with self._group(group) as folder:
            if folder is None:
                return True
            try:
                if os.stat(MERGED, dir_fd=folder, follow_symlinks=False).st_size != size:
                    return False
                return hashlib.sha256(paths.read_regular(MERGED, folder)).hexdigest() == digest
            except OSError:
                return False

    def write_merged(self, group: str, data: bytes) -> None:
        """Write the group's merged.mg (S 2.9); it can be made again, so nobody waits for the disk."""
        self._write(group, MERGED, data, durable=False)

    def tidy(self) -> None:
        """Take away what killed writes left under hidden names, an hour ago or more, here and in the groups."""
        with self._shared() as shared, contextlib.suppress(OSError):
            _tidy(shared, time.time() - _LEFT_SECONDS, MAX_PARTS)

    def _write(self, group: str, name: str, data: bytes, *, durable: bool = True) -> None:
        place = f"{group}/{name}"
        with self._shared() as shared, _translated(place):
            if group == DEFAULT_GROUP and not _is_folder(group, shared):
                _create(group, shared)
        with self._group(group) as folder, _translated(place):
            if folder is None:
                raise NotFoundError("group", group, code=1710)
            gid = os.fstat(folder).st_gid
            with paths.parent_of(folder, name, create=True) as (parent, last):
                with contextlib.suppress(OSError):
                    os.rmdir(last, dir_fd=parent)  # an empty folder holds nothing that a file would take away
                paths.replace(last, data, parent, gid=gid, durable=durable)

    def _load(self, group: str) -> GroupContent:
        files: dict[str, bytes] = {}
        unreadable: list[tuple[str, str]] = []
        with self._group(group) as folder, _translated(group):
            if folder is None:
                return GroupContent({})
            for name in sorted(name for name, _ in paths.walk(folder) if _counts(name)):
                try:
                    with paths.parent_of(folder, name) as (parent, last):
                        files[name] = paths.read_regular(last, parent)
                except OSError as error:
                    # A disk that fails takes no file away from agents: they keep the last good ones.
                    if paths.is_fault(error):
                        raise paths.unavailable(f"{group}/{name}", error) from None
                    unreadable.append((name, paths.reason(error)))
            if _is_folder(AGENT_CONF, folder):
                unreadable.append((AGENT_CONF, _NO_FILE))
        return GroupContent(files, tuple(unreadable))

    @contextlib.contextmanager
    def _shared(self) -> Iterator[int]:
        try:
            # The shared folder itself is a setting: where it leads is the administrator's choice.
            handle = os.open(self.shared, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise paths.FaultError(
                f"cannot use the shared folder `{self.shared}`", "io", why=paths.reason(error)
            ) from None
        try:
            yield handle
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def _group(self, group: str) -> Iterator[int | None]:
        """The handle of a group's folder; None for `default` when its folder is missing. NotFoundError (1710)."""
        check_group_name(group)
        with self._shared() as shared:
            try:
                handle = os.open(group, paths.FOLDER_FLAGS, dir_fd=shared)
            except (FileNotFoundError, NotADirectoryError):
                if group != DEFAULT_GROUP:
                    raise NotFoundError("group", group, code=1710) from None
                yield None
                return
            except OSError as error:
                raise paths.unavailable(group, error) from None
            try:
                yield handle
            finally:
                os.close(handle)


def _tidy(folder: int, old: float, levels: int) -> None:
    """Remove what bears a hidden name of ours and is older than that, so many levels deep."""
    with os.scandir(folder) as entries:
        for entry in entries:
            below = entry.is_dir(follow_symlinks=False)
            if not entry.name.startswith(paths.STAGING_PREFIX):
                if below and levels and not entry.name.startswith("."):
                    with contextlib.suppress(OSError), paths.folder(entry.name, folder) as handle:
                        _tidy(handle, old, levels - 1)
            elif entry.stat(follow_symlinks=False).st_mtime < old:
                if below:
                    shutil.rmtree(entry.name, ignore_errors=True, dir_fd=folder)
                else:
                    paths.remove_quietly(entry.name, folder)


def _counts(name: str) -> bool:
    """Whether a file can be part of a merged file by its name: no leading dot, no merged.mg, at any level."""
    return not any(part.startswith((".", MERGED)) for part in name.split("/"))


def _entry_state(name: str, status: os.stat_result) -> str:
    return f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}\0{status.st_ino}"


def _state_of(name: str, folder: int) -> tuple[str, int]:
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return "absent", 0
    return _entry_state(name, status), max(status.st_ctime_ns, status.st_mtime_ns)


def lasting(state: str, newest: int) -> str:
    """The state as a text to keep: what changed within the last tick of the clock never has the same text again."""
    return f"{state}-{os.urandom(8).hex()}" if newest > time.time_ns() - paths.TICK_NS else state


def _info(name: str, status: os.stat_result) -> FileInfo:
    problem = None
    if not stat.S_ISREG(status.st_mode):
        problem = "it is a symlink" if stat.S_ISLNK(status.st_mode) else "it is not a regular file"
    return FileInfo(name, status.st_size, status.st_mtime, problem)


def _is_folder(name: str, shared: int) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=shared, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _create(group: str, shared: int) -> None:
    """Build the folder under a hidden name and rename it, so that half a group is never seen."""
    staged = paths.new_name()
    try:
        handle = paths.open_step(shared, staged, create=True)
        try:
            paths.write_new(AGENT_CONF, EMPTY_AGENT_CONF, handle, durable=True)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(staged, group, src_dir_fd=shared, dst_dir_fd=shared)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True, dir_fd=shared)
        raise
    os.fsync(shared)


@contextlib.contextmanager
def _translated(place: str) -> Iterator[None]:
    """OSErrors about `place` as what a user can act on."""
    try:
        yield
    except FileNotFoundError:
        raise NotFoundError("file", place) from None
    except (IsADirectoryError, NotADirectoryError):
        problem = f"`{place}` is in the way: a file on one side, a folder on the other"
        raise ConflictError(problem, fix="move away what stands there, then do it again") from None
    except OSError as error:
        raise paths.unavailable(place, error) from None
