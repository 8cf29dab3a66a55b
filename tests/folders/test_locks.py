"""Locks between real processes."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.folders.locks import lock

HOLDER = """
import sys, time
from pathlib import Path
from mgmtctl.folders.locks import lock
with lock(Path(sys.argv[1]), "mgmtctl sync run --all"):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sync.lock"


def holder(path: Path, seconds: float) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


@pytest.fixture
def other(path: Path) -> Iterator[subprocess.Popen[str]]:
    process = holder(path, 60)
    yield process
    process.kill()
    process.communicate()


def test_a_free_lock_is_held(path: Path) -> None:
    with lock(path, "x") as held:
        assert held
    with lock(path, "x") as held:
        assert held


def test_the_second_is_told_who_holds_it(path: Path, other: subprocess.Popen[str]) -> None:
    with pytest.raises(UnavailableError) as caught, lock(path, "x"):
        pass
    assert caught.value.reason == "busy"
    assert f"`mgmtctl sync run --all`, process {other.pid}, since 20" in caught.value.problem


def test_the_second_may_skip(path: Path, other: subprocess.Popen[str]) -> None:
    with lock(path, "x", if_locked="skip") as held:
        assert not held


def test_the_second_may_wait(path: Path) -> None:
    process = holder(path, 0.3)
    with lock(path, "x", timeout=30) as held:
        assert held
    process.communicate()


def test_waiting_ends(path: Path, other: subprocess.Popen[str]) -> None:
    began = time.monotonic()
    with pytest.raises(UnavailableError), lock(path, "x", timeout=0.2):
        pass
    assert time.monotonic() - began >= 0.2


def test_a_killed_holder_holds_nothing(path: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    with lock(path, "x") as held:
        assert held


def test_a_symlink_is_no_lock(path: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("precious")
    path.symlink_to(tmp_path / "victim")
    with pytest.raises(UnavailableError), lock(path, "x"):
        pass
    assert (tmp_path / "victim").read_text() == "precious"


def test_rubbish_in_a_lock_file_is_no_traceback(path: Path) -> None:
    with lock(path, "x"):
        path.write_text('["rubbish"]')
        handle = os.open(path, os.O_RDONLY)
        os.close(handle)
        with pytest.raises(UnavailableError) as caught, lock(path, "y"):
            pass
    assert caught.value.problem == "locked by another process"


def test_no_number_is_no_time_to_wait(path: Path, other: subprocess.Popen[str]) -> None:
    with pytest.raises(UnavailableError), lock(path, "x", timeout=math.nan):
        pass
