"""Work beside this process: forked processes that touch only the disk, and tell through a pipe what they did.

Rules: a fork neither reads nor writes the store, asks nobody and prints nothing; what it needs is made before it is
forked. It leaves signals to this process, and ends when nobody reads it any more. It holds the locks of this process
until it ends, so that a lock lasts as long as somebody writes. One that is killed is an error, told by `Lost`.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

MOST = 8
_HEAD_BYTES = 4
_READ_BYTES = 1 << 16
PATIENCE = 2.0  # seconds that a fork has to end in when its work is not wanted any more
_FAULT = "fault"
_SIGNALS = (signal.SIGINT, signal.SIGTERM)

# What marshal can carry: numbers, bytes, text, None, and tuples or lists of these. A dict is the end of a faulty one.
Frame = Any
Tell = Callable[[Frame], None]


class Lost(Exception):  # noqa: N818
    """A fork ended before its work did; the text says how."""


def places() -> int:
    """How many processes may work at once here, this one included: 1 where a fork would not be safe."""
    import threading

    if not hasattr(os, "fork") or threading.active_count() > 1:
        return 1
    return min(
        MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )


class Beside:
    """A fork that runs `work(tell)`; what it tells is read here, in that order.

    A context manager, after which the fork has ended. `stop` asks it to end early, where its work looks at `stopped`.
    """

    _open: set[int] = set()  # noqa: RUF012

    def __init__(self, work: Callable[[Tell], None]) -> None:
        ours, theirs = os.pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _work(work, theirs, {ours, *Beside._open})
        except OSError:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._handle = ours
        self._data = b""
        self._ended = False
        Beside._open.add(ours)

    def __enter__(self) -> Beside:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(0.0 if kind is None else PATIENCE)

    def fileno(self) -> int:
        """The pipe, to wait for several."""
        return self._handle

    def frames(self) -> Iterator[Frame]:
        """All that it tells, to its end. Lost."""
        while not self._ended:
            yield from self.read()

    def read(self) -> list[Frame]:
        """What it told since the last time, waiting for the first; nothing at its end, which comes once. Lost."""
        more = os.read(self._handle, _READ_BYTES)
        if not more:
            self._ended = True
            self._reap()
            return []
        found = []
        data, start = self._data + more, 0
        while len(data) >= (body := start + _HEAD_BYTES):
            end = body + int.from_bytes(data[start:body], "big")
            if len(data) < end:
                break
            frame = marshal.loads(data[body:end])  # noqa: S302 - written by our own fork
            if isinstance(frame, dict):
                raise RuntimeError(f"in a fork: {frame[_FAULT]}")
            found.append(frame)
            start = end
        self._data = data[start:]
        return found

    @property
    def ended(self) -> bool:
        """Whether it has told everything."""
        return self._ended

    def close(self, patience: float = 0.0) -> None:
        """Make sure that it has ended: by itself within `patience` seconds, or killed."""
        if self._handle in Beside._open:
            Beside._open.discard(self._handle)
            os.close(self._handle)
        if self.pid:
            end = time.monotonic() + patience
            while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
                if time.monotonic() >= end:
                    os.kill(self.pid, signal.SIGKILL)
                    os.waitpid(self.pid, 0)
                    break
                time.sleep(0.005)
            self.pid = 0

    def _reap(self) -> None:
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        code = os.waitstatus_to_exitcode(status)
        if code or self._data:
            raise Lost(f"it was killed by signal {-code}" if code < 0 else f"it ended with {code}")


def waiting(forks: list[Beside], seconds: float) -> list[Beside]:
    """Those that have told something, or ended, within so many seconds."""
    poll = select.poll()
    for fork in forks:
        poll.register(fork, select.POLLIN)
    ready = {handle for handle, _ in poll.poll(seconds * 1000)}
    return [fork for fork in forks if fork.fileno() in ready]


def _work(work: Callable[[Tell], None], pipe: int, others: set[int]) -> None:
    """The fork: never returns, leaves nothing of the parent's undone or done twice."""
    code = 1
    try:
        gc.disable()  # what is shared with the parent stays shared
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        for handle in others:
            os.close(handle)
        with contextlib.suppress(BrokenPipeError):
            work(lambda frame: _tell(pipe, frame))
        code = 0
    except BaseException:
        import traceback

        with contextlib.suppress(BaseException):
            _tell(pipe, {_FAULT: traceback.format_exc()})
    finally:
        os._exit(code)


def _tell(pipe: int, frame: Frame) -> None:
    body = marshal.dumps(frame)
    data = len(body).to_bytes(_HEAD_BYTES, "big") + body
    while data:
        data = data[os.write(pipe, data) :]
