"""Something changes in an agent's folder before the n-th call of a push, for every n: nothing is written through."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.folders import Folders
from mgmtctl.folders.pushing import MARKER
from tests.faults import Faults, act
from tests.folders.test_faults_push import AGENT, NEW, OWN, World, every_call, held, made

PRECIOUS = {"agent.conf": b"precious", "packs/a": b"precious", "passwd": b"root", "own.txt": b"x"}


def victim_at(folder: Path) -> Path:
    for name, data in PRECIOUS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def swapped(path: Path, target: Path) -> None:
    """A symlink to `target` stands where `path` was, which is kept aside."""
    if path.is_symlink():
        return
    if path.exists():
        path.rename(path.with_name(path.name + ".aside"))
    if path.parent.is_dir():
        path.symlink_to(target)


def put_back(path: Path) -> None:
    path.unlink(missing_ok=True)
    aside = path.with_name(path.name + ".aside")
    if aside.exists():
        aside.rename(path)


def try_to_push(world: World) -> None:
    """A push that may fail, and then says whose folder it was."""
    try:
        world.push()
    except UnavailableError as error:
        said = error.problem
    else:
        return
    assert said.startswith("folder `agents/001`: ")


def state(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Everything about the files that a write, a chmod or a removal would change."""
    return {
        str(path.relative_to(folder)): (
            path.read_bytes() if path.is_file() else b"",
            path.lstat().st_ino,
            path.lstat().st_mode,
        )
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    ("planted", "target"),
    [
        pytest.param("", "", id="for the agent's folder"),
        pytest.param("shared", "", id="for shared"),
        pytest.param("shared/packs", "packs", id="for a folder of the group"),
        pytest.param("shared/agent.conf", "agent.conf", id="for a file"),
        pytest.param("shared/merged.mg", "passwd", id="for the merged file"),
        pytest.param(f"shared/{MARKER}", "passwd", id="for the marker"),
    ],
)
def test_a_symlink_planted_at_any_call_is_never_written_through(
    tmp_path: Path, planted: str, target: str
) -> None:
    for number in every_call(tmp_path, first=False):
        home = made(tmp_path / str(number))
        victim = victim_at(home / "victim")
        before = state(victim)
        world = World(home)
        path = world.agent / planted if planted else world.agent
        with Faults(number, act(partial(swapped, path, victim / target))):
            try_to_push(world)
        assert state(victim) == before
        try_to_push(world)  # still planted, or already replaced by what shall be there
        assert state(victim) == before
        if path.is_symlink():
            put_back(path)
        world.push()
        found = held(world.shared)
        assert {name: found[name] for name in NEW} == NEW
        assert found["own.txt"] == OWN["own.txt"]


def test_a_file_that_goes_at_any_call_is_of_no_matter(tmp_path: Path) -> None:
    for number in every_call(tmp_path, first=False):
        world = World(made(tmp_path / str(number)))

        def gone(world: World = world) -> None:
            for name in ("agent.conf", "left.txt", "packs/a"):
                (world.shared / name).unlink(missing_ok=True)

        with Faults(number, act(gone)):
            try_to_push(world)
        world.push()
        assert {name: data for name, data in held(world.shared).items() if name in NEW} == NEW
        assert "left.txt" not in held(world.shared)


def test_a_folder_that_vanishes_at_any_call_is_made_again(tmp_path: Path) -> None:
    for number in every_call(tmp_path, first=False):
        world = World(made(tmp_path / str(number)))

        def gone(world: World = world) -> None:
            world.agent.rename(world.agent.with_name("gone"))

        with Faults(number, act(gone)):
            try_to_push(world)
        world.push()
        assert held(world.shared) == NEW


def test_agents_that_is_a_symlink_is_refused(tmp_path: Path) -> None:
    victim = victim_at(tmp_path / "victim")
    (tmp_path / "agents").symlink_to(victim)
    with pytest.raises(UnavailableError) as caught:
        Folders(tmp_path / "shared", tmp_path / "agents", tmp_path).agent_folders()
    assert (caught.value.why, caught.value.fix) == ("it is a symlink", "mount the other folder there")
    assert held(victim) == PRECIOUS


def linked(path: Path) -> None:
    path.with_name("other").write_bytes(b"secret")
    os.link(path.with_name("other"), path)


def device(path: Path) -> None:
    try:
        os.mknod(path, 0o20666, os.makedev(1, 5))  # /dev/zero: a reader would never end
    except PermissionError:
        pytest.skip("devices cannot be made here")


def sparse(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(1 << 40)


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(os.mkfifo, id="a pipe nobody writes to"),
        pytest.param(device, id="a device without an end"),
        pytest.param(linked, id="a hard link to another file"),
        pytest.param(lambda path: path.symlink_to("/etc/hostname"), id="a symlink"),
        pytest.param(lambda path: path.mkdir(), id="a folder"),
        pytest.param(sparse, id="a terabyte"),
    ],
)
def test_a_report_that_is_no_plain_file_is_not_read(tmp_path: Path, plant: Callable[[Path], None]) -> None:
    world = World(made(tmp_path / "home"))
    path = world.agent / "local.conf"
    path.unlink()
    plant(path)
    with world.folders.agent_folders() as agents:
        with Faults() as counted:
            assert agents.read_report(AGENT, "local.conf") is None
        assert "read" not in counted.calls
    world.push()
    assert path.lstat()
