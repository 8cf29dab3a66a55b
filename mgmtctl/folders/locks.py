"""One at a time: a lock file whose holder is named in it, held by the kernel and so never left behind by a kill."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from mgmtctl.domain.errors import UnavailableError

FAIL = "fail"
SKIP = "skip"
_POLL_SECONDS = 0.05


@contextlib.contextmanager
def lock(path: Path, holder: str, *, if_locked: str = FAIL, timeout: float = 0.0) -> Iterator[bool]:
    """Hold the lock file `path` as `holder` (a command in words); yields False when it is held and `if_locked` is skip.

    Waits up to `timeout` seconds. UnavailableError (busy) names the one who holds it; (io) when there can be no lock.
    """
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        raise UnavailableError(f"cannot lock `{path}`", "io", why=error.strerror) from None
    try:
        if _acquired(handle, timeout):
            _sign(handle, holder)
            yield True
        elif if_locked == SKIP:
            yield False
        else:
            raise _held(handle)
    finally:
        os.close(handle)


def _acquired(handle: int, timeout: float) -> bool:
    end = time.monotonic() + timeout
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            left = end - time.monotonic()
            if not left > 0:  # nan too is no time to wait
                return False
            time.sleep(min(_POLL_SECONDS, left))
        else:
            return True


def _sign(handle: int, holder: str) -> None:
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = json.dumps({"pid": os.getpid(), "command": holder, "since": since}).encode()
    with contextlib.suppress(OSError):  # on a full disk it is held without a name
        os.ftruncate(handle, 0)
        os.pwrite(handle, text, 0)


def _held(handle: int) -> UnavailableError:
    try:
        found = json.loads(os.pread(handle, 4096, 0))
        who = f"`{found['command']}`, process {int(found['pid'])}, since {found['since']}"
    except (ValueError, KeyError, TypeError):
        who = "another process"
    return UnavailableError(
        f"locked by {who}", "busy", fix="wait, or give --lock-timeout SECONDS, or --if-locked skip"
    )
