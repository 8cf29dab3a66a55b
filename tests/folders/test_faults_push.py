"""A push whose n-th system call fails, or at whose n-th call the process is killed: for every n.

No half-written file is ever visible, nothing of the agent's own is touched, and the next push ends with its set.
"""

from __future__ import annotations

import errno
import gc
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.folders import Folders
from mgmtctl.folders.agents import AgentFolders, Place, PushReport
from mgmtctl.folders.looks import Looker
from mgmtctl.folders.paths import STAGING_PREFIX
from mgmtctl.folders.pushing import MARKER
from tests.faults import KILL, SHORT, Faults, Killed, fail

AGENT = Place("001")
OLD = {
    "agent.conf": b"old conf" * 50,
    "left.txt": b"left",
    "packs/a": b"old a" * 9,
    "merged.mg": b"#old" * 99,
}
NEW = {
    "agent.conf": b"new conf!" * 60,
    "deep/er/n": b"new",
    "packs/a": b"new a!" * 9,
    "merged.mg": b"#new!" * 99,
}
OWN = {"own.txt": b"the agent's own", "packs/own": b"its own too"}
BESIDE = {"local.conf": b"<agent_config/>", "keepalive.json": b"{}"}


def manifest(files: dict[str, bytes]) -> dict[str, tuple[str, int]]:
    return {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}


KNOWN = {manifest(files)["merged.mg"][0]: manifest(files) for files in (OLD, NEW)}


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


class World:
    """One agent that holds OLD (or nothing: `first`) beside files of its own, and a push of NEW."""

    def __init__(self, home: Path, *, first: bool = False) -> None:
        self.folders = Folders(home / "shared", home / "agents", home)
        self.folders.shared.mkdir()
        self.agent = self.folders.agents / "001"
        self.shared = self.agent / "shared"
        self.old = {} if first else OLD
        with self.folders.agent_folders() as agents:
            if not first:
                push(agents, OLD, {})
                write(self.shared, OWN)
                write(self.agent, BESIDE)
        self.own, self.beside = ({}, {}) if first else (OWN, BESIDE)

    def push(self) -> PushReport:
        with self.folders.agent_folders() as agents:
            return push(agents, NEW, self.old)

    def assert_nothing_is_half(self) -> None:
        """Each file is old or new, what is the agent's is there, and a mixed set says so."""
        assert {name: data for name, data in held(self.agent).items() if "/" not in name} == self.beside
        found = held(self.shared)
        assert {name: found.pop(name, None) for name in self.own} == self.own
        real = {name: data for name, data in found.items() if not name.startswith(STAGING_PREFIX)}
        for name, data in real.items():
            assert data in (self.old.get(name), NEW.get(name)), name
        assert real in (self.old, NEW) or MARKER in found

    def assert_the_next_push_ends(self, report: PushReport) -> None:
        assert held(self.shared) == {**NEW, **self.own}
        assert not [change for change in report.changes if change.edited_there]
        with self.folders.agent_folders() as agents:
            digest = manifest(NEW)["merged.mg"][0]
            assert agents.look(AGENT, Looker(digest, NEW)) == report.look


def push(agents: AgentFolders, files: dict[str, bytes], last: dict[str, bytes]) -> PushReport:
    return agents.push(AGENT, files, manifest(files), manifest(last), KNOWN.get)


def every_call(tmp_path: Path, *, first: bool) -> range:
    counted = Faults()
    world = World(made(tmp_path / "counted"), first=first)
    with counted:
        world.push()
    assert len(counted.calls) > 30
    return range(len(counted.calls))


def made(path: Path) -> Path:
    path.mkdir()
    return path


FAILURES = [
    pytest.param(lambda n: Faults(n, fail(errno.EIO)), id="a bad sector"),
    pytest.param(lambda n: Faults(n, fail(errno.ENOSPC), lasting=True), id="a full disk"),
    pytest.param(lambda n: Faults(n, fail(errno.EROFS), lasting=True), id="a disk turned read-only"),
    pytest.param(lambda n: Faults(n, fail(errno.ESTALE)), id="a vanished mount"),
]


@pytest.mark.parametrize("first", [False, True], ids=["an update", "a first push"])
@pytest.mark.parametrize("faults", FAILURES)
def test_a_call_that_fails_leaves_whole_files_and_a_next_push_that_ends(
    tmp_path: Path, faults: Callable[[int], Faults], first: bool
) -> None:
    failed, said = 0, set[str]()
    for number in every_call(tmp_path, first=first):
        world = World(made(tmp_path / str(number)), first=first)
        try:
            with faults(number) as used:
                report = world.push()
        except UnavailableError as error:
            failed += 1
            said.add(error.problem)
            world.assert_nothing_is_half()
        else:
            # What failed was of no matter, or was done again: then nothing is missing and nothing is left.
            assert held(world.shared).items() >= {**NEW, **world.own}.items(), used.calls[number]
            assert report.changes
            world.assert_nothing_is_half()
        assert used.hit
        world.assert_the_next_push_ends(world.push())
    assert failed > 10
    assert all("/agents`" in text or "`agents/001`: " in text for text in said), said


def test_a_write_or_read_of_half_the_bytes_is_no_failure(tmp_path: Path) -> None:
    for number in every_call(tmp_path, first=False):
        world = World(made(tmp_path / str(number)))
        with Faults(number, SHORT):
            report = world.push()
        assert not world.push().changes
        world.assert_the_next_push_ends(report)


@pytest.mark.parametrize("first", [False, True], ids=["an update", "a first push"])
def test_a_kill_at_any_call_leaves_whole_files_and_a_next_push_that_ends(tmp_path: Path, first: bool) -> None:
    for number in every_call(tmp_path, first=first):
        world = World(made(tmp_path / str(number)), first=first)
        with pytest.raises(Killed), Faults(number, KILL):
            world.push()
        if world.agent.exists():
            world.assert_nothing_is_half()
        world.assert_the_next_push_ends(world.push())


def test_a_kill_in_the_push_that_mends_a_killed_one_is_mended_too(tmp_path: Path) -> None:
    calls = every_call(tmp_path, first=False)
    for number in range(calls.stop * 2 // 3, calls.stop):
        for second in (5, number - 3, number):
            world = World(made(tmp_path / f"{number}-{second}"))
            for at in (number, second):
                try:
                    with Faults(at, KILL):
                        world.push()
                except Killed:
                    pass
                world.assert_nothing_is_half()
            world.assert_the_next_push_ends(world.push())


@pytest.mark.parametrize("faults", [*FAILURES, pytest.param(lambda n: Faults(n, KILL), id="a kill")])
def test_a_purge_cut_short_touches_nothing_of_the_agent_s_own(
    tmp_path: Path, faults: Callable[[int], Faults]
) -> None:
    counted = Faults()
    world = World(made(tmp_path / "counted"))

    def purge() -> None:
        with world.folders.agent_folders() as agents:
            agents.purge(AGENT, manifest(OLD), KNOWN.get)

    with counted:
        purge()
    for number in range(len(counted.calls)):
        world = World(made(tmp_path / str(number)))
        try:
            with faults(number):
                purge()
        except (UnavailableError, Killed):
            pass
        found = held(world.agent)
        assert found.items() >= {**BESIDE, **{f"shared/{name}": data for name, data in OWN.items()}}.items()
        purge()
        assert held(world.shared) == OWN


def test_a_look_and_an_examination_that_fail_write_nothing(tmp_path: Path) -> None:
    world = World(made(tmp_path / "home"))
    before = held(world.agent)
    digest = manifest(OLD)["merged.mg"][0]

    def ask() -> None:
        with world.folders.agent_folders() as agents:
            agents.look(AGENT, Looker(digest, OLD))
            agents.problem(AGENT)
            agents.read_report(AGENT, "local.conf")
            agents.report_time(AGENT, "local.conf")
            agents.examine(AGENT, manifest(NEW), manifest(OLD), KNOWN.get)

    with Faults() as counted:
        ask()
    assert not {"write", "rename", "unlink", "mkdir"} & set(counted.calls)
    for number in range(len(counted.calls)):
        try:
            with Faults(number, fail(errno.EIO)):
                ask()
        except UnavailableError:
            pass
        assert held(world.agent) == before


def test_no_handle_stays_open_whatever_fails(tmp_path: Path) -> None:
    gc.collect()
    open_before = len(os.listdir("/proc/self/fd"))
    for number in every_call(tmp_path, first=False):
        world = World(made(tmp_path / str(number)))
        try:
            with Faults(number, fail(errno.EIO)):
                world.push()
        except UnavailableError:
            pass
    assert len(os.listdir("/proc/self/fd")) == open_before
