"""How the files of one merged file look in an agent's folder: seen without reading one, enough to tell a touched file.

Rules (D 8): size, mtime, ctime and inode of every file that was written count, together with the merged file they came
with. What is kept for an agent is short, however many files it has. Every agent is looked at in every run, so this is
written for speed.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable
from typing import NamedTuple

_FORM = "qqqQ"  # size, mtime, ctime, inode
_LONGEST = 256  # bytes that are kept as they are, without the time to make a digest of them
_DIGEST_BYTES = 16


class Look(NamedTuple):
    """How the files look: bytes to compare and keep, and when the newest of them changed (ns)."""

    kept: bytes
    newest: int


class Looker:
    """Looks at the files `names` that came with the merged file `digest` (SHA-256 in hex)."""

    def __init__(self, digest: str, names: Iterable[str]) -> None:
        self._seed = bytes.fromhex(digest)[:_DIGEST_BYTES]
        self._names = tuple(map(os.fsencode, sorted(names)))
        self._form = struct.Struct(f"={_DIGEST_BYTES}s" + _FORM * len(self._names))

    def look(self, folder: int, below: bytes = b"") -> Look:
        """How they look now, `below` (a path with its slash) an open folder; OSError when one cannot be seen."""
        facts = self._facts(folder, below)
        return Look(self._kept(facts), max(*facts[1::4], *facts[2::4]))

    def differs(self, look: bytes, folder: int, below: bytes) -> bool:
        """Whether they do not look so."""
        try:
            return self._kept(self._facts(folder, below)) != look
        except OSError:
            return True

    def _facts(self, folder: int, below: bytes) -> list[int]:
        facts: list[int] = []
        lstat = os.lstat
        for name in self._names:
            # A symlink on the way could only show us a file that is not the one we wrote.
            status = lstat(below + name, dir_fd=folder)
            facts += (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        return facts

    def _kept(self, facts: list[int]) -> bytes:
        try:
            packed = self._form.pack(self._seed, *facts)
        except struct.error:
            raise OSError("a file bears a time that cannot be kept") from None
        if len(packed) <= _LONGEST:
            return packed
        return hashlib.blake2b(packed, digest_size=_DIGEST_BYTES).digest()
