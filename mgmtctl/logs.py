"""The request log on disk: whole lines, also from many processes at once (S 5.4, D 4).

Rules: a line is one write to a file opened for appending, under a lock on that file; a line that a full disk cut is
taken back; what a killed process left half is closed off before the next line. Files 0600, no symlink is followed.
`domain/request_log.py` says what a line holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.domain.request_log import RequestRecord, json_line, plain_line

if TYPE_CHECKING:
    from mgmtctl.domain.request_lines import LogEntry

FORMS: dict[str, tuple[str, Callable[[RequestRecord, str], str]]] = {
    "plain": ("requests.log", plain_line),
    "json": ("requests.jsonl", json_line),
}


READ_BACK = 64 * 1024  # bytes read at first for the last entries of a log


class RequestLog:
    """The log of one data folder in one or both `forms` (`plain`, `json`)."""

    def __init__(self, folder: Path, forms: Sequence[str] = ("plain",)) -> None:
        self._folder = folder
        self._forms = tuple(forms)

    def require(self) -> None:
        """Make sure that a line could be written now. UnavailableError (io) before anything is done, not after."""
        for form in self._forms:
            path = self._folder / FORMS[form][0]
            with _translated(path):
                os.close(self._open(path))

    def write(self, record: RequestRecord) -> None:
        """Append one call. UnavailableError (io) when the line cannot be written."""
        import time

        timestamp = time.strftime("%Y/%m/%d %H:%M:%S", time.gmtime(record.time))
        for form in self._forms:
            name, line = FORMS[form]
            self._append(self._folder / name, line(record, timestamp).encode("ascii") + b"\n")

    def read(self) -> Iterator[LogEntry]:
        """Every entry, oldest first; a call that stands in both files comes once. Other lines are passed over."""
        from mgmtctl.domain.request_lines import merged_entries, read_line

        with _translated(self._folder):
            files = [list(map(read_line, self._lines(form))) for form in ("json", "plain")]
        return merged_entries(*files)

    def follower(self, last: int = 0) -> Follower:
        """A reader of the `last` entries, oldest first, and of what is written from now on."""
        form = "json" if "json" in self._forms else self._forms[0]
        return Follower(self._folder / FORMS[form][0], last)

    def _lines(self, form: str) -> Iterator[str]:
        path = self._folder / FORMS[form][0]
        if path.exists():
            with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
                yield from file

    def _append(self, path: Path, line: bytes) -> None:
        import fcntl

        with _translated(path):
            handle = self._open(path)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                _append_whole(handle, line)
            finally:
                os.close(handle)

    def _open(self, path: Path) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(self._folder, 0o700, exist_ok=True)
            return os.open(path, flags, 0o600)


class Follower:
    """Reads on in one log file. `recent`: the last entries from before."""

    def __init__(self, path: Path, last: int) -> None:
        self._path = path
        self._place = 0
        self.recent: list[LogEntry] = []
        size, back = _size(path), READ_BACK
        self._place = size
        while len(self.recent) < last and back < READ_BACK * 8 + 8 * size:
            self._place = max(0, size - back)
            # What stands before the first line end may be the rest of a line.
            self.recent = self.poll(skip_first=self._place > 0)[-last:]
            back *= 8

    def poll(self, *, skip_first: bool = False) -> list[LogEntry]:
        """The entries that have come since the last time."""
        from mgmtctl.domain.request_lines import read_line

        lines, self._place = _lines_after(self._path, self._place)
        return [entry for entry in map(read_line, lines[int(skip_first) :]) if entry is not None]


def _append_whole(handle: int, line: bytes) -> None:
    size = os.fstat(handle).st_size
    if size and os.pread(handle, 1, size - 1) != b"\n":
        line = b"\n" + line
    written = 0
    try:
        written = os.write(handle, line)
        if written < len(line):
            raise OSError(28, "no space left on device")
    except OSError:
        if written:
            os.ftruncate(handle, size)
        raise


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _lines_after(path: Path, place: int) -> tuple[list[str], int]:
    """The whole lines behind `place`, and the place behind them; a file that became shorter is read anew."""
    size = _size(path)
    if size in (0, place):
        return [], size
    with _translated(path), open(path, "rb") as file:
        file.seek(place if place < size else 0)
        place = file.tell()
        data = file.read()
    whole = data[: data.rfind(b"\n") + 1]
    return whole.decode("utf-8", "replace").split("\n")[:-1], place + len(whole)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnavailableError(
            f"cannot use the request log `{path}`", "io", why=error.strerror or str(error)
        ) from None
