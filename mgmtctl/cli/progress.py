"""A progress bar on stderr: only on a terminal, after one second, gone at the end (design: command line, output)."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

_DELAY, _INTERVAL, _WIDTH = 1.0, 0.1, 30
_CLEAR = "\r\x1b[K"


class Bar:
    """How far a long command is; `advance` after each item."""

    def __init__(self, total: int, label: str, shown: bool) -> None:
        self._total, self._label, self._shown = max(total, 1), label, shown
        self._done, self._drawn = 0, False
        self._next = time.monotonic() + _DELAY if shown else 0.0

    def advance(self, count: int = 1) -> None:
        """`count` more items are done."""
        self._done += count
        if self._shown and time.monotonic() >= self._next:
            self._draw()

    def clear(self) -> None:
        """Take the bar off the screen."""
        if self._drawn:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._drawn = False

    def _draw(self) -> None:
        filled = min(_WIDTH, _WIDTH * self._done // self._total)
        bar = "#" * filled + "." * (_WIDTH - filled)
        sys.stderr.write(f"{_CLEAR}{self._label} {bar} {self._done}/{self._total}")
        sys.stderr.flush()
        self._drawn, self._next = True, time.monotonic() + _INTERVAL


@contextmanager
def progress(total: int, label: str, *, shown: bool) -> Iterator[Bar]:
    """A bar for the block; it is gone when the block ends, however it ends."""
    bar = Bar(total, label, shown)
    try:
        yield bar
    finally:
        bar.clear()
