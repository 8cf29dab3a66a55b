"""Handles, not paths: every step below a folder is opened from the handle of the one above, and no symlink is followed.

Rules (D 5, D 8): a name that comes from anywhere else was checked by `check_file_name` before it gets here; what is
checked here is the disk. New files are created exclusively under a random hidden name and renamed with the same handle.
OSErrors pass through; `unavailable` turns them into what a user can act on.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.domain.files import MAX_PARTS

FILE_MODE = 0o660
FOLDER_MODE = 0o770
LARGEST_READ = 1 << 30
# Everything mgmtctl leaves beside real files for a moment begins so; a leading dot keeps it out of merged files.
STAGING_PREFIX = ".mgmtctl-"
# File systems stamp with the clock of the last tick: changes nearer together than this may bear the same time.
TICK_NS = 20_000_000

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Without O_NONBLOCK a planted pipe would hold us for ever.
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NotRegularError(OSError):
    """What stands there is a symlink, a folder, a pipe or a device, where a regular file was expected."""


class FaultError(UnavailableError):
    """The disk failed, or the mount went: what stands there is not known."""


# What stands there is no file that can be read, or may be.
_NO_FILE = (NotRegularError, FileNotFoundError, NotADirectoryError, PermissionError)
_NO_FILE_EITHER = (errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG)


def unavailable(place: str, error: OSError) -> UnavailableError:
    """The failure to show for `place` (a name the user knows): FaultError where the disk failed."""
    kind = FaultError if is_fault(error) else UnavailableError
    return kind(f"`{place}`: {reason(error)}", "io", why=_why(error))


def is_fault(error: OSError) -> bool:
    """Whether this tells of a failing disk, rather than that no file stands there that could be read."""
    return not isinstance(error, _NO_FILE) and error.errno not in _NO_FILE_EITHER


def reason(error: OSError) -> str:
    """What went wrong with a file or folder, in a few words."""
    if isinstance(error, NotRegularError):
        return str(error)
    if isinstance(error, FileNotFoundError):
        return "it does not exist"
    return (error.strerror or str(error)).lower()


def _why(error: OSError) -> str | None:
    return "the system user may not do this there" if isinstance(error, PermissionError) else None


@contextlib.contextmanager
def folder(name: str, dir_fd: int | None = None) -> Iterator[int]:
    """An open handle of a real folder."""
    handle = os.open(name, FOLDER_FLAGS, dir_fd=dir_fd)
    try:
        yield handle
    finally:
        os.close(handle)


@contextlib.contextmanager
def parent_of(dir_fd: int, name: str, *, create: bool = False) -> Iterator[tuple[int, str]]:
    """The handle of the folder that holds the relative `name`, and its last part; `create` makes missing folders."""
    *steps, last = name.split("/")
    with contextlib.ExitStack() as handles:
        for step in steps:
            dir_fd = open_step(dir_fd, step, create=create)
            handles.callback(os.close, dir_fd)
        yield dir_fd, last


def open_step(dir_fd: int, step: str, *, create: bool) -> int:
    """The handle of one folder below another; the caller closes it."""
    if not create:
        return os.open(step, FOLDER_FLAGS, dir_fd=dir_fd)
    try:
        return os.open(step, FOLDER_FLAGS, dir_fd=dir_fd)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):
            os.mkdir(step, FOLDER_MODE, dir_fd=dir_fd)
    handle = os.open(step, FOLDER_FLAGS, dir_fd=dir_fd)
    try:
        os.fchmod(handle, FOLDER_MODE)  # the mode of mkdir is cut by the umask
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_regular(name: str, dir_fd: int, *, limit: int | None = None, single_link: bool = False) -> bytes:
    """The bytes of a regular file. Raises NotRegularError for anything else, or for what is larger than `limit`.

    Without one the limit is LARGEST_READ: shared files have no bound of their own (S 8), memory has.
    """
    try:
        handle = os.open(name, READ_FLAGS, dir_fd=dir_fd)
    except OSError as error:
        if is_symlink(name, dir_fd):
            raise NotRegularError("it is a symlink") from error
        raise
    try:
        status = os.fstat(handle)
        limit = LARGEST_READ if limit is None else limit
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError("it is not a regular file")
        if single_link and status.st_nlink != 1:
            raise NotRegularError("it has other hard links")
        if limit is not None and status.st_size > limit:
            raise NotRegularError(f"it has {status.st_size} bytes, more than {limit}")
        return read_all(handle, status.st_size, limit)
    except MemoryError:
        raise NotRegularError("it does not fit into memory") from None
    finally:
        os.close(handle)


def read_all(handle: int, size: int, limit: int | None = None) -> bytes:
    """Everything from an open file that had `size` bytes a moment ago, at most `limit` bytes."""
    data = os.read(handle, size + 1)
    if len(data) == size or not data:
        return data
    parts, total = [data], len(data)
    while limit is None or total <= limit:
        more = os.read(handle, 1 << 20)
        if not more:
            return b"".join(parts)
        parts.append(more)
        total += len(more)
    raise NotRegularError(f"it has more than {limit} bytes")


def is_symlink(name: str, dir_fd: int) -> bool:
    """Whether a symlink stands there."""
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode)
    except OSError:
        return False


def new_name() -> str:
    """A random hidden name."""
    return STAGING_PREFIX + os.urandom(8).hex()


def write_new(name: str, data: bytes, dir_fd: int, *, durable: bool, gid: int | None = None) -> None:
    """Create a file that was not there, mode 0660; `durable` waits for the disk; `gid` is the group it shall have."""
    handle = os.open(name, NEW_FLAGS, FILE_MODE, dir_fd=dir_fd)
    try:
        os.fchmod(handle, FILE_MODE)  # the mode of open is cut by the umask
        if gid is not None and os.fstat(handle).st_gid != gid:
            with contextlib.suppress(PermissionError):
                os.fchown(handle, -1, gid)
        if os.write(handle, data) != len(data):
            _write_rest(handle, data)
        if durable:
            os.fsync(handle)
    finally:
        os.close(handle)


def _write_rest(handle: int, data: bytes) -> None:
    """A disk that took a part only (nearly full, or more than 2 GiB): go on where it stopped."""
    done = os.lseek(handle, 0, os.SEEK_CUR)
    while done < len(data):
        done += os.write(handle, memoryview(data)[done : done + (1 << 30)])


def replace(name: str, data: bytes, dir_fd: int, *, gid: int | None = None, durable: bool = True) -> None:
    """Write a file whole or not at all: staged, renamed; `durable` syncs it, so that this holds through a crash."""
    staged = new_name()
    try:
        write_new(staged, data, dir_fd, durable=durable, gid=gid)
        os.rename(staged, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        remove_quietly(staged, dir_fd)
        raise
    if durable:
        os.fsync(dir_fd)


def remove_quietly(name: str, dir_fd: int) -> None:
    """Take a name away if it can be."""
    with contextlib.suppress(OSError):
        os.unlink(name, dir_fd=dir_fd)


def remove_empty_parents(name: str, dir_fd: int) -> None:
    """Take away the folders above a removed file as far as they are empty, below `dir_fd` only."""
    parent = name.rpartition("/")[0]
    while parent:
        try:
            with parent_of(dir_fd, parent) as (above, last):
                os.rmdir(last, dir_fd=above)
        except OSError:
            return
        parent = parent.rpartition("/")[0]


def walk(dir_fd: int, prefix: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """Every entry below a folder that is no folder: relative name and status, symlinks as themselves, in no order.

    A folder deeper than any shared file may lie is not entered; it comes as an entry itself.
    """
    with os.scandir(dir_fd) as entries:
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir(follow_symlinks=False) and name.count("/") < MAX_PARTS:
                with contextlib.suppress(FileNotFoundError), folder(entry.name, dir_fd) as below:
                    yield from walk(below, name + "/")
                continue
            try:
                yield name, entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
