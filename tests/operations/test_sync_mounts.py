"""Real file systems that are full, read-only or gone, below registered folders: where mounting is allowed.

Elsewhere these tests are skipped and say so; then `test_sync_faults` (the fault layer) and the limit of file sizes here
have played the same.
"""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.folders.paths import STAGING_PREFIX
from mgmtctl.operations import group_files, sync
from mgmtctl.operations.context import Context
from tests.faults import Faults, act
from tests.operations.sync_fleet import GOOD, add, stage, status

NO_MOUNT = "mounting is not allowed here; the fault layer plays this"
BIG = b"line of a big file\n" * 8_000  # 152 KB, and as much in merged.mg


def mount(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0


def umount(path: Path) -> None:
    subprocess.run(["umount", "-l", str(path)], capture_output=True, check=False)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 1 MiB."""
    path = tmp_path / "disk"
    path.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=1m", "mgmtctl-test", str(path)):
        pytest.skip(NO_MOUNT)
    yield path
    umount(path)


@pytest.fixture
def fleet(service: Context, disk: Path) -> Context:
    """Agents 001 to 005 with folders on the small disk, 006 elsewhere; all of web."""
    service.folders.create_group("web")
    service.folders.write_file("web", "agent.conf", GOOD)
    service.store.settings.set("agents.folder_roots", [str(disk)])
    for number in range(5):
        (disk / f"host{number}").mkdir()
        add(service, "web", folder=str(disk / f"host{number}"))
    add(service, "web")
    return service


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def failures(report: sync.SyncItems) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for failure in report.failed:
        words = failure.error.problem.partition(": ")[2]
        found[words] = tuple(sorted((*found.get(words, ()), *failure.ids)))
    return found


def test_a_full_disk_leaves_whole_files_and_the_rest_goes_on(fleet: Context, disk: Path) -> None:
    sync.run_sync(fleet)
    old = held(disk / "host0")
    fleet.folders.write_file("web", "big.txt", BIG)
    report = sync.run_sync(fleet)
    done = [entry.id for entry in report.affected]
    (failed,) = failures(report).values()
    assert failures(report).keys() == {"no space left on device"}
    assert "006" in done
    assert 2 <= len(failed) <= 4
    assert len(done) + len(failed) == 6
    new = held(disk / "host0")
    for number in range(5):
        found = held(disk / f"host{number}")
        assert found == (old if f"{number + 1:03}" in failed else new)
    assert {stage(fleet, agent) for agent in failed} == {"stale"}
    assert {status(fleet, agent) for agent in failed} == {"not synced"}
    assert mount("-o", "remount,size=8m", str(disk))
    report = sync.run_sync(fleet)
    assert ([entry.id for entry in report.affected], report.failed) == (list(failed), ())
    assert all(held(disk / f"host{number}") == new for number in range(5))


def test_a_disk_without_room_for_one_more_name_is_a_failure(fleet: Context, disk: Path) -> None:
    sync.run_sync(fleet)
    filler = 0
    try:
        while True:
            (disk / f"filler{filler}").write_bytes(b"x" * 4096)
            filler += 1
    except OSError:
        pass
    group_files.put_file(fleet, "web", "agent.conf", b"<agent_config/>\n" + b" " * 9000)
    report = sync.run_sync(fleet)
    assert failures(report) == {"no space left on device": ("001", "002", "003", "004", "005")}
    for number in range(filler):
        (disk / f"filler{number}").unlink()
    assert sync.run_sync(fleet).failed == ()


def test_a_read_only_disk_is_a_failure_and_the_rest_goes_on(fleet: Context, disk: Path) -> None:
    sync.run_sync(fleet)
    before = held(disk)
    fleet.folders.write_file("web", "agent.conf", b"<agent_config/>\n")
    assert mount("-o", "remount,ro", str(disk))
    report = sync.run_sync(fleet)
    assert [entry.id for entry in report.affected] == ["006"]
    assert failures(report) == {"read-only file system": ("001", "002", "003", "004", "005")}
    assert held(disk) == before
    assert mount("-o", "remount,rw", str(disk))
    report = sync.run_sync(fleet)
    assert (len(report.affected), report.failed) == (5, ())


def test_a_mount_that_is_gone_gets_no_files_below_it(fleet: Context, disk: Path) -> None:
    sync.run_sync(fleet)
    umount(disk)
    assert {stage(fleet, f"00{number}") for number in range(1, 6)} == {"no-folder"}
    report = sync.run_sync(fleet)
    assert failures(report) == {"it does not exist": ("001", "002", "003", "004", "005")}
    assert list(disk.iterdir()) == []


def test_a_mount_that_vanishes_during_a_run_gets_no_files_below_it(fleet: Context, disk: Path) -> None:
    fleet.folders.write_file("web", "agent.conf", GOOD)
    with Faults() as counted:
        sync.run_sync(fleet)
    hits = 0
    for number in range(0, len(counted.calls), 11):
        fleet.folders.write_file("web", "agent.conf", GOOD + b"\n" * (number + 1))
        with Faults(number, act(lambda: umount(disk))) as used:
            report = sync.run_sync(fleet)
        if not used.hit:
            break
        assert [entry.id for entry in report.affected][-1:] == ["006"]
        assert failures(report).keys() <= {"it does not exist"}
        assert list(disk.iterdir()) == []
        assert mount("-t", "tmpfs", "-o", "size=1m", "mgmtctl-test", str(disk))
        for host in range(5):
            (disk / f"host{host}").mkdir()
        assert sync.run_sync(fleet).failed == ()
        hits += 1
        assert len({(disk / f"host{host}" / "shared" / "agent.conf").read_bytes() for host in range(5)}) == 1
    assert hits > 10


def test_a_file_larger_than_allowed_is_a_failure_that_leaves_whole_files(service: Context) -> None:
    service.folders.create_group("web")
    service.folders.write_file("web", "agent.conf", GOOD)
    agent = add(service, "web")
    sync.run_sync(service)
    folder = service.folders.agents / agent
    before = held(folder)
    service.folders.write_file("web", "big.txt", BIG * 40)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, hard))
    try:
        report = sync.run_sync(service)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert failures(report) == {"file too large": (agent,)}
    assert held(folder) == before
    assert not [name for name in held(folder) if STAGING_PREFIX in name]
    assert sync.run_sync(service).failed == ()
    assert held(folder)["shared/big.txt"] == BIG * 40


def test_a_full_disk_below_the_groups_leaves_the_old_file(service: Context, disk: Path) -> None:
    (disk / "shared" / "default").mkdir(parents=True)
    (disk / "shared" / "default" / "agent.conf").write_bytes(GOOD)
    service.folders.shared = disk / "shared"
    with pytest.raises(UnavailableError) as caught:
        service.folders.write_file("default", "big.txt", BIG * 10)
    assert caught.value.problem == "`default/big.txt`: no space left on device"
    assert [info.name for info in service.folders.list_files("default")] == ["agent.conf"]
