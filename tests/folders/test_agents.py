"""Agent folders on a real disk: pushes, what they leave alone, and what they never follow."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mgmtctl.domain.errors import InvalidError, UnavailableError
from mgmtctl.domain.sync import CREATE, OVERWRITE, REMOVE, UPDATE, Change
from mgmtctl.folders import Folders
from mgmtctl.folders.agents import AgentFolders, Place, PushReport
from mgmtctl.folders.looks import Looker
from mgmtctl.folders.paths import STAGING_PREFIX
from mgmtctl.folders.pushing import MARKER, Manifest, unnamed

OURS = Place("007")
FIRST = {"agent.conf": b"first", "packs/a.conf": b"a", "merged.mg": b"#1"}
THIRD = {"agent.conf": b"third!!", "c.txt": b"c", "merged.mg": b"#333"}
SECOND = {"agent.conf": b"second", "b.txt": b"b", "merged.mg": b"#22"}


def manifest(files: dict[str, bytes]) -> dict[str, tuple[str, int]]:
    return {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}


KNOWN = {manifest(files)["merged.mg"][0]: manifest(files) for files in (FIRST, SECOND, THIRD)}


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    made = Folders(tmp_path / "data" / "shared", tmp_path / "data" / "agents", tmp_path / "data")
    (tmp_path / "data").mkdir()
    made.prepare()
    return made


@pytest.fixture
def agents(folders: Folders, tmp_path: Path) -> Iterator[AgentFolders]:
    (tmp_path / "mounts").mkdir()
    with folders.agent_folders([str(tmp_path / "mounts")]) as opened:
        yield opened


@pytest.fixture
def shared(folders: Folders) -> Path:
    """What the agent 007 sees."""
    return folders.agents / "007" / "shared"


def push(
    agents: AgentFolders, files: dict[str, bytes], last: dict[str, bytes] | None = None, place: Place = OURS
) -> PushReport:
    return agents.push(place, files, manifest(files), manifest(last or {}), KNOWN.get)


def looker(files: dict[str, bytes]) -> Looker:
    return Looker(manifest(files)["merged.mg"][0], files)


def holds(agents: AgentFolders, files: dict[str, bytes]) -> bool:
    """Whether the files are in place byte for byte, and nothing beside them that a push had begun."""
    examined = agents.examine(OURS, manifest(files), manifest(files), KNOWN.get)
    return not (examined.changes or examined.unfinished)


def there(shared: Path) -> dict[str, bytes]:
    return {str(path.relative_to(shared)): path.read_bytes() for path in shared.rglob("*") if path.is_file()}


def test_a_first_push_makes_the_folder_with_every_file(agents: AgentFolders, shared: Path) -> None:
    report = push(agents, FIRST)
    assert there(shared) == FIRST
    assert [change.kind for change in report.changes] == [CREATE] * 3
    assert stat.S_IMODE((shared / "agent.conf").stat().st_mode) == 0o660
    assert agents.look(OURS, looker(FIRST)) == report.look


def test_the_same_push_again_touches_nothing(agents: AgentFolders, shared: Path) -> None:
    before = push(agents, FIRST).look
    inodes = {path: path.stat().st_ino for path in shared.rglob("*")}
    report = push(agents, FIRST, FIRST)
    assert report.changes == ()
    assert report.look == before
    assert {path: path.stat().st_ino for path in shared.rglob("*")} == inodes


def test_a_new_set_replaces_the_old_one(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    report = push(agents, SECOND, FIRST)
    assert there(shared) == SECOND
    assert not (shared / "packs").exists()
    assert report.changes == (
        Change(REMOVE, "packs/a.conf"),
        Change(UPDATE, "agent.conf"),
        Change(CREATE, "b.txt"),
        Change(UPDATE, "merged.mg"),
    )


def test_what_was_never_ours_is_left_alone(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    (shared / "packs" / "local.conf").write_bytes(b"theirs")
    (shared.parent / "local.conf").write_bytes(b"theirs")
    (shared / "note").write_bytes(b"theirs")
    push(agents, SECOND, FIRST)
    assert there(shared) == {**SECOND, "packs/local.conf": b"theirs", "note": b"theirs"}
    assert (shared.parent / "local.conf").read_bytes() == b"theirs"


def test_a_hand_edited_file_is_overwritten_and_reported(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    (shared / "agent.conf").write_bytes(b"mine!")
    report = push(agents, FIRST, FIRST)
    assert there(shared) == FIRST
    assert report.changes == (Change(OVERWRITE, "agent.conf", edited_there=True),)


@pytest.mark.parametrize("kind", ["symlink", "dangling", "pipe"])
def test_what_is_planted_in_place_of_a_file_is_replaced_not_followed(
    agents: AgentFolders, shared: Path, tmp_path: Path, kind: str
) -> None:
    push(agents, FIRST)
    (shared / "agent.conf").unlink()
    victim = tmp_path / "victim"
    if kind == "pipe":
        os.mkfifo(shared / "agent.conf")
    else:
        if kind == "symlink":
            victim.write_bytes(b"first")
        (shared / "agent.conf").symlink_to(victim)
    report = push(agents, FIRST, FIRST)
    assert there(shared) == FIRST
    assert not (shared / "agent.conf").is_symlink()
    assert report.changes == (Change(OVERWRITE, "agent.conf", edited_there=True),)
    assert not victim.exists() or victim.read_bytes() == b"first"


def test_a_symlink_in_place_of_shared_is_refused(agents: AgentFolders, shared: Path, tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    shared.parent.mkdir()
    shared.symlink_to(tmp_path / "victim")
    with pytest.raises(UnavailableError) as caught:
        push(agents, FIRST)
    assert "a file or a symlink stands where a folder shall be" in caught.value.problem
    assert os.listdir(tmp_path / "victim") == []


def test_a_symlink_in_place_of_a_sub_folder_is_refused(
    agents: AgentFolders, shared: Path, tmp_path: Path
) -> None:
    (tmp_path / "victim").mkdir()
    shared.mkdir(parents=True)
    (shared / "packs").symlink_to(tmp_path / "victim")
    with pytest.raises(UnavailableError):
        push(agents, FIRST)
    assert os.listdir(tmp_path / "victim") == []
    assert "merged.mg" not in there(shared)


def test_a_symlink_in_place_of_the_agent_folder_is_refused(
    agents: AgentFolders, folders: Folders, tmp_path: Path
) -> None:
    (tmp_path / "victim").mkdir()
    (folders.agents / "007").symlink_to(tmp_path / "victim")
    with pytest.raises(UnavailableError):
        push(agents, FIRST)
    assert os.listdir(tmp_path / "victim") == []


def test_a_planted_marker_is_not_followed(agents: AgentFolders, shared: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    shared.mkdir(parents=True)
    (shared / MARKER).symlink_to(victim)
    push(agents, FIRST)
    assert victim.read_bytes() == b"precious"
    assert there(shared) == FIRST


def test_a_folder_in_place_of_a_file_fails_and_says_so(agents: AgentFolders, shared: Path) -> None:
    (shared / "agent.conf" / "x").mkdir(parents=True)
    with pytest.raises(UnavailableError) as caught:
        push(agents, FIRST)
    assert "a folder stands where a file shall be" in caught.value.problem
    assert (shared / "agent.conf" / "x").is_dir()
    assert "merged.mg" not in there(shared)


@pytest.mark.parametrize("old", [FIRST, {}], ids=["over_an_older_set", "into_an_empty_folder"])
@pytest.mark.parametrize("done", range(5))
def test_a_push_that_was_cut_short_is_finished(
    agents: AgentFolders, shared: Path, old: dict[str, bytes], done: int
) -> None:
    if old:
        push(agents, old)
    shared.mkdir(parents=True, exist_ok=True)
    # As a kill leaves it: all staged, the marker written, `done` of the steps made.
    for number, (name, data) in enumerate(SECOND.items()):
        (shared / f"{STAGING_PREFIX}0123456789abcdef-{number}").write_bytes(data)
        if number < done:
            (shared / name).write_bytes(data)
    (shared / MARKER).write_text(manifest(SECOND)["merged.mg"][0])
    report = push(agents, FIRST, old)
    assert there(shared) == FIRST
    assert [change for change in report.changes if change.edited_there] == []


def test_a_push_that_was_never_recorded_is_known_by_its_merged_file(
    agents: AgentFolders, shared: Path
) -> None:
    push(agents, FIRST)
    push(agents, SECOND, FIRST)
    report = push(agents, THIRD, FIRST)  # as after a kill between the push of SECOND and its record
    assert there(shared) == THIRD
    assert [change for change in report.changes if change.edited_there] == []


def test_a_push_cut_short_over_another_one_is_finished(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    (shared / "b.txt").write_bytes(SECOND["b.txt"])
    begun = [manifest(files)["merged.mg"][0] for files in (THIRD, SECOND)]
    (shared / MARKER).write_text("\n".join(begun))
    report = push(agents, FIRST, FIRST)
    assert there(shared) == FIRST
    assert report.changes == (Change(REMOVE, "b.txt"),)


def test_a_marker_remembers_what_earlier_pushes_had_begun(
    agents: AgentFolders, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push(agents, FIRST)
    digests = [manifest(files)["merged.mg"][0] for files in (SECOND, THIRD)]
    (shared / MARKER).write_text(digests[0])
    rename = os.rename

    def stopped(source: str, to: str, **named: int) -> None:
        if to == "c.txt":
            raise OSError(errno.EIO, "broken")  # stops the push of THIRD after its marker
        rename(source, to, **named)

    monkeypatch.setattr(os, "rename", stopped)
    with pytest.raises(UnavailableError):
        push(agents, THIRD, FIRST)
    assert (shared / MARKER).read_text().split("\n") == [digests[1], digests[0]]


def test_an_unknown_merged_file_of_any_size_vouches_for_nothing(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    with open(shared / "merged.mg", "wb") as file:
        file.truncate(1 << 40)
    (shared / "note").write_bytes(b"theirs")
    report = push(agents, SECOND, FIRST)
    assert there(shared) == {**SECOND, "note": b"theirs"}
    assert [change.name for change in report.changes if change.edited_there] == ["merged.mg"]


def test_leftovers_without_a_change_are_cleaned(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    (shared / f"{STAGING_PREFIX}0123456789abcdef-0").write_bytes(b"x")
    assert agents.examine(OURS, manifest(FIRST), manifest(FIRST), KNOWN.get).unfinished
    assert not holds(agents, FIRST)
    push(agents, FIRST, FIRST)
    assert sorted(os.listdir(shared)) == ["agent.conf", "merged.mg", "packs"]
    assert holds(agents, FIRST)


def test_a_file_may_become_a_folder_and_back(agents: AgentFolders, shared: Path) -> None:
    flat = {"packs": b"x", "merged.mg": b"#"}
    push(agents, flat)
    push(agents, FIRST, flat)
    assert there(shared) == FIRST
    push(agents, flat, FIRST)
    assert there(shared) == flat


def test_examining_changes_nothing(agents: AgentFolders, folders: Folders, shared: Path) -> None:
    examined = agents.examine(OURS, manifest(FIRST), {}, KNOWN.get)
    assert [change.name for change in examined.changes] == ["agent.conf", "packs/a.conf", "merged.mg"]
    assert not shared.exists()
    assert os.listdir(folders.agents) == []


def test_purging_takes_what_was_pushed_and_leaves_the_rest(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    (shared / "note").write_bytes(b"theirs")
    agents.purge(OURS, manifest(FIRST), KNOWN.get)
    assert there(shared) == {"note": b"theirs"}
    (shared / "note").unlink()
    agents.purge(OURS, manifest(FIRST), KNOWN.get)
    assert not shared.parent.exists()


def registered(tmp_path: Path, name: str = "host") -> Place:
    return Place("008", str(tmp_path / "mounts" / name))


def test_a_registered_folder_is_pushed_to(agents: AgentFolders, tmp_path: Path) -> None:
    (tmp_path / "mounts" / "host").mkdir()
    push(agents, FIRST, place=registered(tmp_path))
    assert there(tmp_path / "mounts" / "host" / "shared") == FIRST
    assert agents.look(registered(tmp_path), looker(FIRST)) is not None


def test_a_registered_folder_that_is_missing_is_not_made(agents: AgentFolders, tmp_path: Path) -> None:
    place = registered(tmp_path)
    with pytest.raises(UnavailableError) as caught:
        push(agents, FIRST, place=place)
    assert caught.value.problem == f"folder `{place.folder}`: it does not exist"
    assert agents.problem(place) == caught.value.problem
    with pytest.raises(UnavailableError):
        agents.examine(place, manifest(FIRST), {}, KNOWN.get)
    assert os.listdir(tmp_path / "mounts") == []


def test_no_step_to_a_registered_folder_may_be_a_symlink(agents: AgentFolders, tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
    (tmp_path / "mounts" / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("link", "link/deep"):
        with pytest.raises(UnavailableError):
            push(agents, FIRST, place=registered(tmp_path, name))
        with pytest.raises(InvalidError):
            agents.check(str(tmp_path / "mounts" / name))
    assert os.listdir(tmp_path / "elsewhere" / "deep") == []


@pytest.mark.parametrize(
    "path",
    [
        "/etc",
        "relative",
        "{mounts}",
        "{mounts}/../data",
        "{mounts}/./x",
        "{mounts}//x",
        "{mounts}/a\0b",
        "",
        "{mounts}x",
    ],
)
def test_a_folder_outside_the_roots_is_refused(agents: AgentFolders, tmp_path: Path, path: str) -> None:
    folder = path.replace("{mounts}", str(tmp_path / "mounts"))
    with pytest.raises(InvalidError):
        agents.check(folder)
    with pytest.raises(InvalidError):
        push(agents, FIRST, place=Place("008", folder))


def test_a_folder_inside_or_above_the_service_s_own_is_refused(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "data" / "agents").mkdir(exist_ok=True)
    with folders.agent_folders([str(tmp_path.parent)]) as agents:
        for path, where in (
            (tmp_path / "data", "inside"),
            (tmp_path / "data" / "agents", "inside"),
            (tmp_path / "data" / "shared", "inside"),
            (tmp_path, "above"),
        ):
            with pytest.raises(InvalidError) as caught:
                agents.check(str(path))
            assert where in caught.value.problem


def test_a_report_of_an_agent_is_read_only_as_a_plain_file(
    agents: AgentFolders, shared: Path, tmp_path: Path
) -> None:
    name = "local_internal_options.conf"
    assert agents.read_report(OURS, name) is None
    push(agents, FIRST)
    report = shared.parent / name
    report.write_bytes(b"agent.remote_conf=0\n")
    assert agents.read_report(OURS, name) == b"agent.remote_conf=0\n"
    os.link(report, tmp_path / "second")
    assert agents.read_report(OURS, name) is None
    report.unlink()
    report.symlink_to(tmp_path / "second")
    assert agents.read_report(OURS, name) is None
    report.unlink()
    os.mkfifo(report)
    assert agents.read_report(OURS, name) is None
    report.unlink()
    report.write_bytes(b"x" * ((1 << 20) + 1))
    assert agents.read_report(OURS, name) is None


def test_a_huge_file_in_place_of_ours_is_not_read(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    with open(shared / "agent.conf", "wb") as file:
        file.truncate(1 << 40)
    report = push(agents, FIRST, FIRST)
    assert report.changes == (Change(OVERWRITE, "agent.conf", edited_there=True),)
    assert there(shared) == FIRST


def test_a_manifest_that_a_marker_invents_names_nothing_of_the_agent(
    agents: AgentFolders, shared: Path
) -> None:
    push(agents, FIRST)
    (shared / "note").write_bytes(b"theirs")
    (shared / MARKER).write_bytes(b"\xff" * 64)
    last: Manifest = manifest(FIRST)
    report = agents.push(OURS, FIRST, manifest(FIRST), last, KNOWN.get)
    assert report.changes == ()
    assert there(shared) == {**FIRST, "note": b"theirs"}


FLAT = {"packs": b"x", "merged.mg": b"#"}
FOLDER_THERE = "a folder stands where a file shall be"
NO_FOLDER_THERE = "a file or a symlink stands where a folder shall be"


def moved(shared: Path, name: str) -> Path:
    """The place of a file of ours, or folder, that is gone from there."""
    (shared / name).rename(shared.parent / "elsewhere")
    return shared / name


@pytest.mark.parametrize(
    ("last", "target", "plant", "words"),
    [
        pytest.param(
            FIRST, FIRST, lambda s: moved(s, "packs").symlink_to("/tmp"), NO_FOLDER_THERE, id="a symlink"
        ),
        pytest.param(
            FIRST, FIRST, lambda s: moved(s, "packs").write_bytes(b""), NO_FOLDER_THERE, id="a file"
        ),
        pytest.param(
            SECOND, FIRST, lambda s: (s / "packs").write_bytes(b""), NO_FOLDER_THERE, id="a file in the way"
        ),
        pytest.param(FIRST, FIRST, lambda s: moved(s, "agent.conf").mkdir(), FOLDER_THERE, id="a folder"),
        pytest.param(
            FIRST, FIRST, lambda s: moved(s, "packs/a.conf").mkdir(), FOLDER_THERE, id="a folder further down"
        ),
        pytest.param(
            FIRST, FIRST, lambda s: moved(s, "merged.mg").mkdir(), FOLDER_THERE, id="a folder for merged.mg"
        ),
        pytest.param(
            FIRST,
            SECOND,
            lambda s: (moved(s, "packs/a.conf") / "own").mkdir(parents=True),
            "",
            id="theirs for what shall go",
        ),
        pytest.param(
            FIRST, SECOND, lambda s: moved(s, "packs").symlink_to("/tmp"), "", id="a link above what shall go"
        ),
        pytest.param(
            FLAT,
            FIRST,
            lambda s: (moved(s, "packs") / "own").mkdir(parents=True),
            "",
            id="theirs becomes ours",
        ),
        pytest.param(
            {"packs/a.conf": b"a", "merged.mg": b"#"},
            FLAT,
            lambda s: moved(s, "packs/a.conf").mkdir(),
            FOLDER_THERE,
            id="theirs for what shall go in the way of what comes",
        ),
        pytest.param(FIRST, FIRST, lambda s: (s / MARKER).mkdir(), FOLDER_THERE, id="for the marker"),
        pytest.param(
            FIRST, FLAT, lambda s: (s / "packs" / "mine").write_bytes(b""), FOLDER_THERE, id="theirs in ours"
        ),
        pytest.param(
            FIRST, FLAT, lambda s: (s / "packs" / "mine").mkdir(), FOLDER_THERE, id="their folder in ours"
        ),
        pytest.param(FIRST, FLAT, lambda s: None, "", id="a folder becomes a file"),
        pytest.param(FLAT, FIRST, lambda s: None, "", id="a file becomes a folder"),
        pytest.param(
            FLAT, FIRST, lambda s: moved(s, "packs").symlink_to("/tmp"), "", id="a planted symlink goes"
        ),
        pytest.param(SECOND, FIRST, lambda s: (s / "packs").mkdir(), "", id="the folder is there"),
        pytest.param(
            FIRST, FIRST, lambda s: moved(s, "packs/a.conf").symlink_to("/tmp"), "", id="a planted link"
        ),
    ],
)
def test_examining_finds_what_a_push_will_meet_and_then_nothing_is_touched(
    agents: AgentFolders,
    shared: Path,
    last: dict[str, bytes],
    target: dict[str, bytes],
    plant: Callable[[Path], object],
    words: str,
) -> None:
    push(agents, last)
    plant(shared)
    before = sorted((str(path), path.lstat().st_ino) for path in shared.rglob("*"))
    examined = agents.examine(OURS, manifest(target), manifest(last), KNOWN.get)
    assert unnamed(examined.obstacle) == (f"folder `agents/007`: {words}" if words else "")
    looked = agents.obstacle(OURS, manifest(target), manifest(last), KNOWN.get)
    assert looked == examined.obstacle
    if not words:
        push(agents, target, last)
        assert {name: data for name, data in there(shared).items() if name in target} == target
        return
    with pytest.raises(UnavailableError) as caught:
        push(agents, target, last)
    assert caught.value.problem == examined.obstacle
    assert sorted((str(path), path.lstat().st_ino) for path in shared.rglob("*")) == before


@pytest.mark.parametrize(
    ("plant", "name"),
    [
        pytest.param(lambda s: moved(s, "packs").symlink_to("/tmp"), "packs", id="a link for a folder"),
        pytest.param(lambda s: moved(s, "packs/a.conf").mkdir(), "packs/a.conf", id="a folder for a file"),
        pytest.param(lambda s: (s / MARKER).mkdir(), MARKER, id="a folder for the marker"),
    ],
)
def test_an_obstacle_is_named_with_what_helps(
    agents: AgentFolders, shared: Path, plant: Callable[[Path], object], name: str
) -> None:
    push(agents, FIRST)
    plant(shared)
    with pytest.raises(UnavailableError) as caught:
        push(agents, FIRST, FIRST)
    assert caught.value.problem.endswith(f" shall be: `{name}`")
    assert caught.value.fix == "move it away, then sync again"


def test_what_others_made_of_a_file_of_ours_is_left_alone_when_the_file_leaves_the_groups(
    agents: AgentFolders, shared: Path
) -> None:
    push(agents, THIRD)
    moved(shared, "c.txt").mkdir()
    (shared / "c.txt" / "own").write_bytes(b"theirs")
    report = push(agents, SECOND, THIRD)
    assert {change.name for change in report.changes} == {"agent.conf", "b.txt", "merged.mg"}
    assert there(shared) == {**SECOND, "c.txt/own": b"theirs"}
    assert holds(agents, SECOND)
    agents.purge(OURS, manifest(SECOND), KNOWN.get)
    assert there(shared) == {"c.txt/own": b"theirs"}


def test_a_folder_that_only_holds_what_shall_go_is_no_hand_change(agents: AgentFolders, shared: Path) -> None:
    push(agents, FIRST)
    examined = agents.examine(OURS, manifest(FLAT), manifest(FIRST), KNOWN.get)
    assert [change.edited_there for change in examined.changes] == [False] * len(examined.changes)
    (shared / "packs" / "a.conf").write_bytes(b"by hand")
    examined = agents.examine(OURS, manifest(FLAT), manifest(FIRST), KNOWN.get)
    assert [change.name for change in examined.changes if change.edited_there] == ["packs/a.conf"]
