"""What the files of revisions held: one compressed blob per content, named by its SHA-256, below `revisions/`.

Rules (D 5): a blob is staged, synced and renamed, so that it is whole or not there; its digest is checked whenever it
is read, and damage is an error, never other bytes. Folders 0700, files 0600. Blobs say nothing about what they belong
to: the store does, and only it knows which are still needed. OSErrors become UnavailableError (io).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.folders import paths

FOLDER = "revisions"
_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_MANY, _MUCH, _THREADS = 16, 1 << 20, 4  # from so many files or bytes on, in so many threads
_SMALL = 64 * 1024  # up to here the best compression costs nothing that anybody notices
_PROBE = 16 * 1024
_WORTH = 0.95
_LEFT_SECONDS = 3600
_TIDY = "tidy"
_TIDIED = ".tidied"  # its time of change says when that was


class Blobs:
    """The folder `revisions/` below the data folder; it is made with the first blob."""

    def __init__(self, data: Path) -> None:
        self.folder = data / FOLDER

    def add(self, contents: Mapping[str, bytes]) -> None:
        """Keep contents, given by their SHA-256; what is there and whole stays, what is damaged is written again."""
        if not contents:
            return
        with _translated("keep"), self._opened(create=True) as root:
            missing = [
                (digest, data) for digest, data in contents.items() if not _is_whole(root, digest, data)
            ]
            if missing:
                _write(root, missing)

    def has(self, digest: str) -> bool:
        """Whether a blob is there; its bytes are not looked at."""
        try:
            os.stat(self.folder / _name(digest), follow_symlinks=False)
        except OSError:
            return False
        return True

    def read(self, digest: str, size: int) -> bytes:
        """The content with this SHA-256 and size. UnavailableError (io) when it is missing or damaged."""
        try:
            with self._opened() as root:
                found = _read(root, digest, size)
        except FileNotFoundError:
            raise _lost(digest, "it is missing") from None
        except OSError as error:
            raise _lost(digest, paths.reason(error)) from None
        if found is None:
            raise _lost(digest, "it is damaged")
        return found

    def remove(self, digests: Collection[str]) -> None:
        """Take blobs away as far as they are there."""
        if not digests:
            return
        with contextlib.suppress(FileNotFoundError), _translated(_TIDY), self._opened() as root:
            for digest in digests:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(_name(digest), dir_fd=root)

    def tidy(self, used: Collection[str]) -> int:
        """Take away what killed commands left: blobs that are not `used`, and staged ones of an hour ago or more.

        Returns how many. Nobody may add or record meanwhile.
        """
        try:
            with _translated(_TIDY), self._opened() as root:
                gone = sum(_tidied(root, name, used) for name in os.listdir(root) if name != _TIDIED)
                with contextlib.suppress(OSError):
                    os.close(
                        os.open(_TIDIED, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, _FILE_MODE, dir_fd=root)
                    )
                    os.utime(_TIDIED, dir_fd=root)
                return gone
        except FileNotFoundError:
            return 0

    def tidied(self) -> float:
        """When `tidy` was last here, seconds since 1970; a clock that went back does not count."""
        try:
            return min(os.stat(self.folder / _TIDIED, follow_symlinks=False).st_mtime, time.time())
        except OSError:
            return 0.0

    @contextlib.contextmanager
    def _opened(self, *, create: bool = False) -> Iterator[int]:
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self.folder, _FOLDER_MODE)
        with paths.folder(str(self.folder)) as root:
            yield root


def _name(digest: str) -> str:
    return f"{digest[:2]}/{digest[2:]}"


def _write(root: int, missing: Sequence[tuple[str, bytes]]) -> None:
    """Stage all, and only then give them their names."""
    names = {digest: paths.new_name() for digest, _ in missing}
    try:
        _stage_all(root, [(names[digest], data) for digest, data in missing])
        parents = {digest[:2] for digest in names}
        for parent in parents.difference(os.listdir(root)):
            with contextlib.suppress(FileExistsError):
                os.mkdir(parent, _FOLDER_MODE, dir_fd=root)
        for digest, name in names.items():
            os.rename(name, _name(digest), src_dir_fd=root, dst_dir_fd=root)
    except BaseException:
        for name in names.values():
            paths.remove_quietly(name, root)
        raise
    for parent in sorted(parents):
        with paths.folder(parent, root) as folder:
            os.fsync(folder)
    os.fsync(root)


def _stage_all(root: int, staged: Sequence[tuple[str, bytes]]) -> None:
    """Write each whole under its hidden name; many at a time, as each waits for the disk and compressing takes long."""
    if sum(len(data) for _, data in staged) < _MUCH and len(staged) < _MANY:
        for name, data in staged:
            _stage(root, name, data)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_THREADS) as pool:
        done = [pool.submit(_stage, root, name, data) for name, data in staged]
        try:
            for one in done:
                one.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _stage(root: int, name: str, data: bytes) -> None:
    handle = os.open(name, paths.NEW_FLAGS, _FILE_MODE, dir_fd=root)
    try:
        _write_all(handle, zlib.compress(data, _level(data)))
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    done = 0
    while done < len(data):
        done += os.write(handle, memoryview(data)[done:])


def _level(data: bytes) -> int:
    """How hard to compress: well when small, fast when large, not at all when it does not help."""
    if len(data) <= _SMALL:
        return 6
    probe = data[:_PROBE]
    return 1 if len(zlib.compress(probe, 1)) < len(probe) * _WORTH else 0


def _is_whole(root: int, digest: str, data: bytes) -> bool:
    try:
        return _read(root, digest, len(data)) is not None
    except OSError:
        return False


def _read(root: int, digest: str, size: int) -> bytes | None:
    """The content of a blob, None when it is not what its name says; never more than `size` bytes are unpacked."""
    with paths.parent_of(root, _name(digest)) as (parent, last):
        packed = paths.read_regular(last, parent)
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(packed, size + 1)
    except zlib.error:
        return None
    return data if len(data) == size and hashlib.sha256(data).hexdigest() == digest else None


def _tidied(root: int, name: str, used: Collection[str]) -> int:
    """What was taken away of one entry of `revisions/`."""
    if name.startswith(paths.STAGING_PREFIX):
        with contextlib.suppress(OSError):
            if os.stat(name, dir_fd=root, follow_symlinks=False).st_mtime < time.time() - _LEFT_SECONDS:
                os.unlink(name, dir_fd=root)
                return 1
        return 0
    gone = 0
    with contextlib.suppress(OSError), paths.folder(name, root) as folder:
        for rest in os.listdir(folder):
            if name + rest not in used:
                os.unlink(rest, dir_fd=folder)
                gone += 1
    return gone


def _lost(digest: str, why: str) -> UnavailableError:
    return UnavailableError(
        f"the content {digest[:12]} of a revision cannot be read",
        "io",
        why=why,
        fix="restore the folder `revisions` from a backup; the other revisions can be used",
    )


@contextlib.contextmanager
def _translated(verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if verb == _TIDY and isinstance(error, FileNotFoundError):
            raise
        raise UnavailableError(f"cannot {verb} revisions", "io", why=paths.reason(error)) from None
