"""Facts about the folder of contents: modes, whole or not there, compressed, never other bytes, tidied."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from pathlib import Path

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.folders.revisions import Blobs
from tests.faults import KILL, Faults, Killed, fail


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def contents(*data: bytes) -> dict[str, bytes]:
    return {sha(some): some for some in data}


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return Blobs(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"<agent_config/>\n" * 10_000,
        pytest.param(os.urandom(300_000), id="random"),
        b"\0\xff" * 9,
    ],
)
def test_a_content_comes_back(blobs: Blobs, data: bytes) -> None:
    blobs.add(contents(data))
    assert blobs.read(sha(data), len(data)) == data
    assert blobs.has(sha(data))


def test_text_is_compressed_and_random_bytes_are_not_tried_for_long(blobs: Blobs) -> None:
    text, noise = b"<option>value</option>\n" * 20_000, os.urandom(500_000)
    blobs.add(contents(text, noise))
    sizes = [os.stat(blobs.folder / sha(data)[:2] / sha(data)[2:]).st_size for data in (text, noise)]
    assert sizes[0] < len(text) / 50
    assert sizes[1] < len(noise) + 1000


def test_only_the_owner_may_read(blobs: Blobs) -> None:
    blobs.add(contents(b"secret"))
    for path in (blobs.folder, *blobs.folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_the_same_content_is_kept_once_and_not_written_again(blobs: Blobs) -> None:
    blobs.add(contents(b"one"))
    (path,) = (blobs.folder / name for name in files(blobs.folder))
    before = path.stat()
    blobs.add(contents(b"one", b"two"))
    assert path.stat() == before
    assert len(files(blobs.folder)) == 2


def test_a_size_that_is_not_the_recorded_one_is_damage(blobs: Blobs) -> None:
    blobs.add(contents(b"three"))
    with pytest.raises(UnavailableError):
        blobs.read(sha(b"three"), 4)


def test_a_folder_that_is_a_link_is_not_entered(blobs: Blobs, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    blobs.folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnavailableError):
        blobs.add(contents(b"x"))
    assert files(tmp_path / "elsewhere") == set()


def test_killed_at_any_call_a_content_is_whole_or_not_there(blobs: Blobs) -> None:
    wanted = contents(b"one" * 1000, b"two", b"three")
    with Faults() as counted:
        blobs.add(wanted)
    for number in range(len(counted.calls)):
        blobs.remove(wanted)
        with pytest.raises(Killed), Faults(number, KILL):
            blobs.add(wanted)
        for digest, data in wanted.items():
            assert not blobs.has(digest) or blobs.read(digest, len(data)) == data
        blobs.add(wanted)
        assert all(blobs.read(digest, len(data)) == data for digest, data in wanted.items())


def test_a_full_disk_leaves_nothing_behind(blobs: Blobs) -> None:
    wanted = contents(b"one" * 1000, b"two")
    with Faults() as counted:
        blobs.add(wanted)
    for number, name in enumerate(counted.calls):
        if name not in ("write", "fsync", "rename"):
            continue
        blobs.remove(wanted)
        with pytest.raises(UnavailableError) as caught, Faults(number, fail(errno.ENOSPC), lasting=True):
            blobs.add(wanted)
        assert caught.value.why == "no space left on device"
        assert not [path for path in files(blobs.folder) if path.startswith(".mgmtctl-")]


def test_many_contents_are_written_side_by_side_and_all_or_none_counts(blobs: Blobs) -> None:
    wanted = contents(*(b"%d" % number * 500 for number in range(40)))
    for number in (20, 100, 150):
        with pytest.raises(UnavailableError), Faults(number, fail(errno.ENOSPC), lasting=True):
            blobs.add(wanted)
        assert not [path for path in files(blobs.folder) if path.startswith(".mgmtctl-")]
    with pytest.raises(Killed), Faults(60, KILL):
        blobs.add(wanted)
    blobs.add(wanted)
    assert all(blobs.read(digest, len(data)) == data for digest, data in wanted.items())


def test_tidying_leaves_what_is_needed_and_what_is_being_written(blobs: Blobs) -> None:
    blobs.add(contents(b"needed", b"orphan"))
    for name, age in ((".mgmtctl-young", 0), (".mgmtctl-old", 7200)):
        path = blobs.folder / name
        path.write_bytes(b"x")
        os.utime(path, (time.time() - age, time.time() - age))
    assert blobs.tidied() == 0.0
    assert blobs.tidy({sha(b"needed")}) == 2
    needed = sha(b"needed")
    assert files(blobs.folder) == {f"{needed[:2]}/{needed[2:]}", ".mgmtctl-young", ".tidied"}
    assert time.time() - blobs.tidied() < 60


def test_before_the_first_content_there_is_nothing_to_do(blobs: Blobs) -> None:
    blobs.add({})
    blobs.remove(["0" * 64])
    assert blobs.tidy(()) == 0
    assert not blobs.folder.exists()
    with pytest.raises(UnavailableError):
        blobs.read("0" * 64, 1)
