"""Whatever sets of files follow each other, and wherever a push stops, the next one ends with exactly its set."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.folders import Folders
from mgmtctl.folders.agents import AgentFolders, Place
from mgmtctl.folders.pushing import Examined, Manifest

AGENT = Place("001")
Known = dict[str, dict[str, tuple[str, int]]]
NAMES = st.sampled_from(["agent.conf", "a", "b.txt", "packs/x", "packs/y", "deep/er/z"])
SETS = st.lists(
    st.dictionaries(NAMES, st.sampled_from([b"1", b"2", b"33"]), max_size=4), min_size=1, max_size=4
)


class Stopped(BaseException):
    """An end in the middle, as far as one process can play it; real kills are in the tests of the command line."""


def with_merged(files: dict[str, bytes], number: int) -> dict[str, bytes]:
    return {**files, "merged.mg": b"#%d" % number}


def manifest(files: dict[str, bytes]) -> dict[str, tuple[str, int]]:
    return {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}


def held(folders: Folders) -> dict[str, bytes]:
    shared = folders.agents / "001" / "shared"
    return {str(path.relative_to(shared)): path.read_bytes() for path in shared.rglob("*") if path.is_file()}


def push_stopped_after(
    renames: int, agents: AgentFolders, files: dict[str, bytes], last: Manifest, known: Known
) -> None:
    """A push that ends at its n-th rename, or well when it has fewer."""
    real, left = os.rename, renames

    def rename(old: str, new: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        nonlocal left
        if left == 0:
            raise Stopped
        left -= 1
        real(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    with pytest.MonkeyPatch.context() as patch, contextlib.suppress(Stopped):
        patch.setattr(os, "rename", rename)
        agents.push(AGENT, files, manifest(files), last, known.get)


@settings(max_examples=60, deadline=None)
@given(sets=SETS, stops=st.lists(st.integers(0, 5), min_size=4, max_size=4), own=st.booleans())
def test_a_push_ends_with_its_set_whatever_came_before(
    sets: list[dict[str, bytes]], stops: list[int], own: bool
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folders = Folders(Path(name) / "shared", Path(name) / "agents", Path(name))
        folders.shared.mkdir()
        known: Known = {}
        with folders.agent_folders() as agents:
            recorded: dict[str, tuple[str, int]] = {}
            for number, (content, stop) in enumerate(zip(sets, stops, strict=False)):
                files = with_merged(content, number)
                target = manifest(files)
                known[target["merged.mg"][0]] = target
                if number == 0 or stop == 5:
                    agents.push(AGENT, files, target, recorded, known.get)
                    recorded = target
                    assert held(folders) == {**files, **({"mine": b"own"} if own and number else {})}
                else:
                    push_stopped_after(stop, agents, files, recorded, known)
                if own:
                    (folders.agents / "001" / "shared" / "mine").write_bytes(b"own")
            files = with_merged({"agent.conf": b"last"}, 99)
            report = agents.push(AGENT, files, manifest(files), recorded, known.get)
            assert held(folders) == {**files, **({"mine": b"own"} if own else {})}
            assert not [change for change in report.changes if change.edited_there]
            target = manifest(files)
            assert agents.examine(AGENT, target, target, known.get) == Examined((), unfinished=False)
