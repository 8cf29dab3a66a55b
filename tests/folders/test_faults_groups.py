"""Writing into group folders when the n-th system call fails, or the process is killed there: for every n.

A file is the old one or the new one whole, a group is there or not, and what is left over is hidden and tidied.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mgmtctl.domain.errors import ConflictError, NotFoundError, UnavailableError
from mgmtctl.folders import Folders
from mgmtctl.folders.paths import STAGING_PREFIX
from tests.faults import KILL, SHORT, Faults, Killed, act, fail
from tests.folders.test_faults_races import state, swapped, victim_at

OLD, NEW = b"<agent_config>old</agent_config>" * 40, b"<agent_config>new!</agent_config>" * 50
EMPTY = b"<agent_config>\n</agent_config>\n"
Work = Callable[[Folders], object]


def prepared(home: Path) -> Folders:
    """A group `web` with one file on top and one below, and `old`."""
    folders = Folders(home / "shared", home / "agents", home)
    home.mkdir()
    folders.prepare()
    for name in ("web", "old"):
        folders.create_group(name)
    folders.write_file("web", "agent.conf", OLD)
    folders.write_file("web", "packs/a", b"a")
    folders.write_merged("web", b"#old")
    return folders


def seen(folders: Folders) -> dict[str, bytes]:
    """What everybody sees: hidden names are nobody's files."""
    return {
        str(path.relative_to(folders.shared)): path.read_bytes()
        for path in folders.shared.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folders.shared).parts)
    }


def hidden(folders: Folders) -> list[Path]:
    return list(folders.shared.rglob(STAGING_PREFIX + "*"))


def write(folders: Folders) -> None:
    folders.write_file("web", "agent.conf", NEW)


def write_below(folders: Folders) -> None:
    folders.write_file("web", "new/deep/b", NEW)


def write_merged(folders: Folders) -> None:
    folders.write_merged("web", b"#new" * 100)


def remove(folders: Folders) -> None:
    folders.remove_file("web", "packs/a")


def create(folders: Folders) -> None:
    folders.create_group("db")


def delete(folders: Folders) -> None:
    with folders.deleting_group("old", []):
        pass


START = {
    "ar.conf": b"",
    "default/agent.conf": EMPTY,
    "old/agent.conf": EMPTY,
    "web/agent.conf": OLD,
    "web/merged.mg": b"#old",
    "web/packs/a": b"a",
}
WORKS = [
    pytest.param(write, {**START, "web/agent.conf": NEW}, id="overwriting a file"),
    pytest.param(write_below, {**START, "web/new/deep/b": NEW}, id="a new file in new folders"),
    pytest.param(write_merged, {**START, "web/merged.mg": b"#new" * 100}, id="the merged file"),
    pytest.param(
        remove, {name: START[name] for name in START if name != "web/packs/a"}, id="removing a file"
    ),
    pytest.param(create, {**START, "db/agent.conf": EMPTY}, id="a new group"),
    pytest.param(
        delete, {name: START[name] for name in START if name != "old/agent.conf"}, id="deleting a group"
    ),
]
FULL = pytest.param(lambda n: Faults(n, fail(errno.ENOSPC), lasting=True), id="a full disk")
FAILURES = [
    pytest.param(lambda n: Faults(n, fail(errno.EIO)), id="a bad sector"),
    FULL,
    pytest.param(lambda n: Faults(n, fail(errno.EROFS), lasting=True), id="a disk turned read-only"),
    pytest.param(lambda n: Faults(n, KILL), id="a kill"),
]


@pytest.mark.parametrize("faults", FAILURES)
@pytest.mark.parametrize(("work", "after"), WORKS)
def test_what_is_cut_short_is_whole_before_or_after(
    tmp_path: Path, work: Work, after: dict[str, bytes], faults: Callable[[int], Faults]
) -> None:
    folders = prepared(tmp_path / "counted")
    with Faults() as counted:
        work(folders)
    full = faults is FULL.values[0] and work is not delete
    for number in range(len(counted.calls)):
        folders = prepared(tmp_path / str(number))
        with faults(number) as used, contextlib.suppress(UnavailableError, ConflictError, Killed):
            work(folders)
        assert used.hit
        found = seen(folders)
        assert found in (START, after), (number, counted.calls[number])
        assert not full or counted.calls[number] == "unlink" or hidden(folders) == []
        for path in hidden(folders):
            os.utime(path, (1, 1), follow_symlinks=False)
        with contextlib.suppress(NotFoundError, ConflictError):  # it was done all the same
            work(folders)
        folders.tidy()
        assert seen(folders) == after
        assert hidden(folders) == []


@pytest.mark.parametrize("planted", ["web", "web/packs", "web/agent.conf", "old"])
@pytest.mark.parametrize("work", [write, write_below, write_merged, remove, delete])
def test_a_symlink_planted_at_any_call_is_never_written_through(
    tmp_path: Path, work: Work, planted: str
) -> None:
    folders = prepared(tmp_path / "counted")
    with Faults() as counted:
        work(folders)
    for number in range(len(counted.calls)):
        folders = prepared(tmp_path / str(number))
        victim = victim_at(tmp_path / f"victim{number}")
        before = state(victim)
        target = victim / "agent.conf" if planted.endswith(".conf") else victim
        with (
            Faults(number, act(partial(swapped, folders.shared / planted, target))),
            contextlib.suppress(UnavailableError, ConflictError, NotFoundError),
        ):
            work(folders)
        assert state(victim) == before, counted.calls[: number + 1]


@pytest.mark.parametrize(("work", "after"), WORKS)
def test_a_write_or_read_of_half_the_bytes_is_no_failure(
    tmp_path: Path, work: Work, after: dict[str, bytes]
) -> None:
    folders = prepared(tmp_path / "counted")
    with Faults() as counted:
        work(folders)
    for number in range(len(counted.calls)):
        folders = prepared(tmp_path / str(number))
        with Faults(number, SHORT):
            work(folders)
        assert seen(folders) == after
        assert {name: folders.load_group("web").files.get(name) for name in ("agent.conf", "packs/a")} == {
            name: after.get(f"web/{name}") for name in ("agent.conf", "packs/a")
        }
