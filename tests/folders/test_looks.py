"""How files look from outside: whatever happens to one of them is seen without reading it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mgmtctl.folders import Folders
from mgmtctl.folders.agents import AgentFolders, Place
from mgmtctl.folders.looks import Looker

FILES = {"agent.conf": b"conf", "ar.conf": b"", "packs/a.conf": b"a", "merged.mg": b"#1"}
DIGEST = "ab" * 32
AGENT = Place("007")
LONG = [f"file-{number}" for number in range(50)]


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """What the agent 007 sees; the files were written long ago."""
    folder = tmp_path / "agents" / "007" / "shared"
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        os.utime(folder / name, (1, 1))
    return folder


@pytest.fixture
def agents(tmp_path: Path, shared: Path) -> Iterator[AgentFolders]:
    (tmp_path / "shared").mkdir()
    with Folders(tmp_path / "shared", tmp_path / "agents", tmp_path).agent_folders() as opened:
        yield opened


def kept(agents: AgentFolders, looker: Looker) -> bytes:
    look = agents.look(AGENT, looker)
    assert look is not None
    return look.kept


def touched(agents: AgentFolders, looker: Looker | None, look: bytes | None) -> bool:
    count, found = agents.touched([("web", 7, look), ("db", 8, None)], {"web": looker, "db": looker})
    assert (count, found[-1]) == (2, 8)
    return 7 in found


def append(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(b"x")


def overwrite_in_place(path: Path) -> None:
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.write(b"y" * size)
    os.utime(path, (1, 1))  # as somebody who hides the edit


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    os.utime(other, (1, 1))
    os.rename(other, path)


def link(path: Path) -> None:
    os.rename(path, path.with_name("real"))
    path.symlink_to("real")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("happens", [append, overwrite_in_place, replace, link, Path.unlink])
def test_every_file_counts(
    agents: AgentFolders, shared: Path, name: str, happens: Callable[[Path], None]
) -> None:
    looker = Looker(DIGEST, FILES)
    before = kept(agents, looker)
    assert touched(agents, looker, before) is False
    if happens is overwrite_in_place and not FILES[name]:
        return  # nothing to write over
    happens(shared / name)
    assert touched(agents, looker, before) is True


def test_files_that_are_not_ours_do_not_count(agents: AgentFolders, shared: Path) -> None:
    looker = Looker(DIGEST, FILES)
    before = kept(agents, looker)
    (shared / "own.txt").write_bytes(b"own")
    (shared.parent / "local.conf").write_bytes(b"own")
    assert touched(agents, looker, before) is False


def test_a_look_vouches_for_its_own_merged_file_only(agents: AgentFolders) -> None:
    before = kept(agents, Looker(DIGEST, FILES))
    assert touched(agents, Looker("cd" * 32, FILES), before) is True


@pytest.mark.parametrize("look", [None, b""])
def test_without_a_look_to_trust_an_agent_counts_as_touched(agents: AgentFolders, look: bytes | None) -> None:
    assert touched(agents, Looker(DIGEST, FILES), look) is True


def test_without_a_looker_an_agent_counts_as_touched(agents: AgentFolders) -> None:
    assert touched(agents, None, kept(agents, Looker(DIGEST, FILES))) is True


def test_a_folder_that_is_gone_looks_like_nothing(agents: AgentFolders) -> None:
    assert agents.look(Place("008"), Looker(DIGEST, FILES)) is None


def test_what_is_kept_stays_short_and_still_sees_every_file(agents: AgentFolders, shared: Path) -> None:
    for name in LONG:
        (shared / name).write_bytes(b"1")
    looker = Looker(DIGEST, LONG)
    before = kept(agents, looker)
    assert len(before) <= 32
    append(shared / LONG[-1])
    assert touched(agents, looker, before) is True


@pytest.mark.parametrize("seconds", [-(1 << 33), 1 << 34])
def test_a_time_that_no_file_has_is_never_trusted_and_stops_nothing(
    agents: AgentFolders, shared: Path, seconds: int
) -> None:
    os.utime(shared / "agent.conf", (seconds, seconds))
    looker = Looker(DIGEST, FILES)
    look = agents.look(AGENT, looker)
    fits = -(1 << 63) <= (shared / "agent.conf").stat().st_mtime_ns < 1 << 63
    assert (look is not None) == fits


def test_the_newest_change_is_told(agents: AgentFolders, shared: Path) -> None:
    looker = Looker(DIGEST, FILES)
    os.utime(shared / "ar.conf", (1 << 32, 1 << 32))
    look = agents.look(AGENT, looker)
    assert look is not None
    assert look.newest == (1 << 32) * 1_000_000_000
