"""A disk that fails: system calls of `mgmtctl.folders` counted, and one of them made to fail, to kill, or to be late.

    with Faults() as counted:            # a trial run: how many calls are there?
        work()
    for number in range(len(counted.calls)):
        prepare()
        with Faults(number, fail(errno.ENOSPC), lasting=True):
            ...
        with Faults(number, SHORT):      # a write or read of half the bytes, which is no failure
            ...
        with Faults(number, KILL):       # raises Killed; from there on no call of the package does anything
            ...
        with Faults(number, act(plant)): # `plant()` runs between two calls, as another process may
            ...

Only calls made by modules of `mgmtctl.folders`, or for them by `shutil`, are counted; closing is never made to fail.
The package calls through the module `os`, which is patched for the block. A killed process does no tidying: after KILL
every further call but a close raises again, whatever handlers there are. `hit` says whether the call was reached.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from types import TracebackType
from typing import Any

OURS = ("mgmtctl.folders", "shutil")
READING = ("open", "read", "listdir", "scandir", "stat", "lstat", "fstat", "pread")
WRITING = (
    "write", "pwrite", "rename", "replace", "link", "unlink", "remove", "rmdir", "mkdir", "fsync", "fchmod", "fchown",
    "ftruncate",
)  # fmt: skip
_NEEDS_SPACE = ("write", "pwrite", "mkdir", "link")


class Killed(BaseException):
    """The process was killed here, as far as one process can play it."""


Then = Callable[["Faults", str, Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]


def fail(number: int) -> Then:
    """The call fails with this errno, and with ENOSPC a write takes half of its bytes at first."""

    def then(
        faults: Faults, name: str, real: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        if number == errno.ENOSPC and name == "write" and not faults.halved and len(args[1]) > 1:
            faults.halved = True
            return real(args[0], args[1][: len(args[1]) // 2])
        raise OSError(number, os.strerror(number))

    return then


def SHORT(  # noqa: N802
    faults: Faults, name: str, real: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """A write or read that moves half of the bytes, as it may; any other call is as it was."""
    if name == "write" and len(args[1]) > 1:
        return real(args[0], args[1][: len(args[1]) // 2])
    return real(args[0], args[1] // 2 or 1) if name == "read" else real(*args, **named)


def act(what: Callable[[], object]) -> Then:
    """Something else happens right before the call, which then is made."""

    def then(
        faults: Faults, name: str, real: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        what()
        return real(*args, **named)

    return then


def KILL(  # noqa: N802
    faults: Faults, name: str, real: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """The process ends before the call; a write had taken half of its bytes."""
    faults.dead = True
    if name == "write" and len(args[1]) > 1:
        real(args[0], args[1][: len(args[1]) // 2])
    raise Killed


class Faults:
    """A context manager; `calls` names what was called so far, `hit` whether call number `at` (from 0) was reached.

    `lasting`: every later call that needs room on the disk fails too (a disk that stays full).
    """

    def __init__(self, at: int | None = None, then: Then = KILL, *, lasting: bool = False) -> None:
        self.calls: list[str] = []
        self.hit = False
        self.dead = False
        self.halved = False
        self._at = at
        self._then = then
        self._lasting = lasting
        self._real: dict[str, Callable[..., Any]] = {}

    def __enter__(self) -> Faults:
        for name in (*READING, *WRITING):
            self._real[name] = getattr(os, name)
            setattr(os, name, self._wrapped(name, self._real[name]))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name, real in self._real.items():
            setattr(os, name, real)

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            if not sys._getframe(1).f_globals.get("__name__", "").startswith(OURS):
                return real(*args, **named)
            return self._called(name, real, args, named)

        return call

    def _called(
        self, name: str, real: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        if self.dead:
            raise Killed
        number = len(self.calls)
        self.calls.append(name)
        if number == self._at:
            self.hit = True
            return self._then(self, name, real, args, named)
        if self.hit and self._lasting and _takes_room(name, args):
            return self._then(self, name, real, args, named)
        return real(*args, **named)


def _takes_room(name: str, args: tuple[Any, ...]) -> bool:
    return name in _NEEDS_SPACE or (name == "open" and len(args) > 1 and bool(args[1] & os.O_CREAT))
