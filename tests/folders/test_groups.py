"""Group folders on a real disk: what is a group, what is written, and what is never followed."""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path

import pytest

from mgmtctl.domain.errors import ConflictError, InvalidError, MgmtctlError, NotFoundError, UnavailableError
from mgmtctl.folders import Folders
from mgmtctl.folders.groups import EMPTY_AGENT_CONF


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    made = Folders(tmp_path / "shared", tmp_path / "agents", tmp_path)
    made.prepare()
    return made


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_prepared_shared_folder_holds_default_and_an_empty_ar_conf(folders: Folders) -> None:
    assert folders.group_names() == ["default"]
    assert folders.ar_conf() == b""


def test_preparing_again_changes_nothing(folders: Folders) -> None:
    folders.write_ar_conf(b"x")
    folders.write_file("default", "agent.conf", b"mine")
    folders.prepare()
    assert folders.ar_conf() == b"x"
    assert folders.read_file("default", "agent.conf") == b"mine"


def test_a_new_group_holds_one_empty_block(folders: Folders) -> None:
    folders.create_group("web")
    assert folders.load_group("web").files == {"agent.conf": EMPTY_AGENT_CONF}
    assert mode(folders.shared / "web") == 0o770
    assert mode(folders.shared / "web" / "agent.conf") == 0o660


def test_modes_do_not_depend_on_the_umask(folders: Folders) -> None:
    before = os.umask(0o077)
    try:
        folders.create_group("web")
        folders.write_file("web", "packs/a.conf", b"x")
    finally:
        os.umask(before)
    assert mode(folders.shared / "web" / "packs") == 0o770
    assert mode(folders.shared / "web" / "packs" / "a.conf") == 0o660


def test_only_real_folders_with_a_name_are_groups(folders: Folders) -> None:
    (folders.shared / "web").mkdir()
    (folders.shared / ".hidden").mkdir()
    (folders.shared / "a b").mkdir()
    (folders.shared / "all").mkdir()
    (folders.shared / "link").symlink_to(folders.shared / "web")
    (folders.shared / "file").write_text("x")
    assert folders.group_names() == ["default", "web"]
    assert [
        name for name in ("link", "file", ".hidden", "all", "nothing", "../x") if folders.group_exists(name)
    ] == []


def test_default_exists_without_a_folder_and_gets_one_when_written(folders: Folders) -> None:
    (folders.shared / "default" / "agent.conf").unlink()
    (folders.shared / "default").rmdir()
    assert folders.group_exists("default")
    assert folders.load_group("default").files == {}
    assert folders.list_files("default") == []
    folders.write_file("default", "a.txt", b"x")
    assert folders.load_group("default").files == {"agent.conf": EMPTY_AGENT_CONF, "a.txt": b"x"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        pytest.param("web", 1711, id="a_group_of_the_name_exists"),
        pytest.param("Default", 1711, id="default_in_any_letter_case"),
        pytest.param("ar.conf", 1713, id="a_file_of_the_name_exists"),
        pytest.param("files.yml", 1713, id="a_file_that_may_come"),
    ],
)
def test_a_taken_name_cannot_be_a_group(folders: Folders, name: str, code: int) -> None:
    folders.create_group("web")
    with pytest.raises(ConflictError) as caught:
        folders.create_group(name)
    assert caught.value.code == code


def delete_group(folders: Folders, group: str) -> None:
    """Delete a group with everything in it; nothing of it may stay."""
    problems: list[str] = []
    with folders.deleting_group(group, problems):
        assert not folders.group_exists(group)
    assert problems == []


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "/etc", "a b", "all", ".x", "x" * 129, "a\n", "a\0b"])
def test_a_bad_group_name_reaches_no_disk(folders: Folders, name: str) -> None:
    for attempt in (
        folders.create_group,
        partial(delete_group, folders),
        folders.list_files,
        folders.load_group,
    ):
        with pytest.raises(InvalidError):
            attempt(name)
    assert folders.group_names() == ["default"]


def test_a_deleted_group_is_gone_with_its_files(folders: Folders) -> None:
    folders.create_group("web")
    folders.write_file("web", "packs/a.conf", b"x")
    delete_group(folders, "web")
    assert sorted(os.listdir(folders.shared)) == ["ar.conf", "default"]
    with pytest.raises(NotFoundError):
        delete_group(folders, "web")


def test_deleting_a_group_never_follows_a_symlink_in_it(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    folders.create_group("web")
    (folders.shared / "web" / "out").symlink_to(tmp_path / "precious")
    delete_group(folders, "web")
    assert (tmp_path / "precious" / "file").read_text() == "x"


def test_a_deletion_that_fails_brings_the_folder_back(folders: Folders) -> None:
    folders.create_group("web")
    with pytest.raises(KeyError), folders.deleting_group("web", []):
        raise KeyError("anything")
    assert folders.read_file("web", "agent.conf")
    assert sorted(os.listdir(folders.shared)) == ["ar.conf", "default", "web"]


def test_what_cannot_be_removed_is_told_and_the_group_is_gone(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*_: object, **__: object) -> None:
        raise PermissionError(1, "operation not permitted")

    folders.create_group("web")
    monkeypatch.setattr("shutil.rmtree", stuck)
    problems: list[str] = []
    with folders.deleting_group("web", problems):
        pass
    assert (folders.group_exists("web"), len(problems)) == (False, 1)
    assert "once group `web`" in problems[0]


def test_a_folder_deeper_than_files_may_lie_is_not_entered(folders: Folders) -> None:
    folders.create_group("web")
    place = folders.shared / "web"
    for _ in range(40):
        place = place / "a"
        place.mkdir()
    (place / "file").write_text("x")
    deep = [info for info in folders.list_files("web") if info.name != "agent.conf"]
    assert [(info.name.count("/"), info.problem) for info in deep] == [(16, "it is not a regular file")]
    assert folders.load_group("web").files.keys() == {"agent.conf"}


def test_a_file_larger_than_memory_is_a_problem_of_its_own(folders: Folders) -> None:
    folders.create_group("web")
    with open(folders.shared / "web" / "big", "wb") as file:
        file.truncate(1 << 40)
    content = folders.load_group("web")
    assert (sorted(content.files), [name for name, _ in content.unreadable]) == (["agent.conf"], ["big"])


def test_default_cannot_be_deleted(folders: Folders) -> None:
    with pytest.raises(ConflictError) as caught:
        delete_group(folders, "default")
    assert caught.value.code == 1712


def test_bytes_come_back_as_they_were_given(folders: Folders) -> None:
    data = b"\xef\xbb\xbf\r\n<a>\\<\xff\n no end"
    folders.write_file("default", "rules/x.txt", data)
    assert folders.read_file("default", "rules/x.txt") == data


def test_nothing_but_the_file_is_left_after_writing(folders: Folders) -> None:
    folders.write_file("default", "a.txt", b"1")
    folders.write_file("default", "a.txt", b"2")
    assert sorted(os.listdir(folders.shared / "default")) == ["a.txt", "agent.conf"]


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/passwd",
        "a/../../x",
        "agent.conf/",
        "./agent.conf",
        "AGENT.CONF",
        "a\0b",
        "a\nb",
        "a\\b",
        "",
    ],
)
def test_a_bad_file_name_reaches_no_disk(folders: Folders, tmp_path: Path, name: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidError):
        folders.write_file("default", name, b"x")
    with pytest.raises(InvalidError):
        folders.remove_file("default", name)
    with pytest.raises(InvalidError):
        folders.read_file("default", name)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_symlinked_file_is_not_read_and_says_so(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folders.shared / "default" / "leak.txt").symlink_to(tmp_path / "secret")
    assert folders.load_group("default").unreadable == (("leak.txt", "it is a symlink"),)
    with pytest.raises(UnavailableError) as caught:
        folders.read_file("default", "leak.txt")
    assert caught.value.problem == "`default/leak.txt`: it is a symlink"


def test_a_symlinked_folder_is_never_entered(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (folders.shared / "default" / "packs").symlink_to(tmp_path / "out")
    with pytest.raises(MgmtctlError):
        folders.write_file("default", "packs/a.conf", b"x")
    assert os.listdir(tmp_path / "out") == []
    assert "packs/a.conf" not in folders.load_group("default").files


def test_writing_replaces_a_symlink_and_not_what_it_points_to(folders: Folders, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folders.shared / "default" / "a.txt").symlink_to(tmp_path / "secret")
    folders.write_file("default", "a.txt", b"mine")
    assert (tmp_path / "secret").read_text() == "secret"
    assert folders.read_file("default", "a.txt") == b"mine"


def test_a_pipe_in_a_group_does_not_hold_us(folders: Folders) -> None:
    os.mkfifo(folders.shared / "default" / "pipe")
    assert folders.load_group("default").unreadable == (("pipe", "it is not a regular file"),)


def test_a_file_and_a_folder_of_one_name_are_a_conflict(folders: Folders) -> None:
    folders.write_file("default", "packs", b"x")
    with pytest.raises(ConflictError):
        folders.write_file("default", "packs/a.conf", b"x")
    folders.write_file("default", "more/a.conf", b"x")
    with pytest.raises(ConflictError):
        folders.write_file("default", "more", b"x")
    assert folders.load_group("default").files["packs"] == b"x"
    assert not [name for name in os.listdir(folders.shared / "default") if name.startswith(".")]


def test_removing_the_last_file_of_a_sub_folder_removes_the_folder(folders: Folders) -> None:
    folders.write_file("default", "a/b/c.txt", b"x")
    folders.write_file("default", "a/d.txt", b"x")
    folders.remove_file("default", "a/b/c.txt")
    assert sorted(os.listdir(folders.shared / "default" / "a")) == ["d.txt"]
    with pytest.raises(NotFoundError):
        folders.remove_file("default", "a/b/c.txt")


def test_a_listing_names_every_file(folders: Folders) -> None:
    folders.write_file("default", "packs/a.conf", b"four")
    folders.write_merged("default", b"#default\n")
    found = [(info.name, info.size, info.problem) for info in folders.list_files("default")]
    assert found == [
        ("agent.conf", len(EMPTY_AGENT_CONF), None),
        ("merged.mg", 9, None),
        ("packs/a.conf", 4, None),
    ]


def test_merged_and_hidden_files_are_no_content_of_a_group(folders: Folders) -> None:
    folders.write_merged("default", b"#default\n")
    (folders.shared / "default" / "merged.mg.bak").write_text("x")
    (folders.shared / "default" / ".swp").write_text("x")
    assert list(folders.load_group("default").files) == ["agent.conf"]


@pytest.mark.parametrize("change", ["write", "remove", "touch", "chmod", "replace"])
def test_any_change_of_a_file_changes_the_signature(folders: Folders, change: str) -> None:
    folders.write_file("default", "a.txt", b"one")
    path = folders.shared / "default" / "a.txt"
    os.utime(path, ns=(1, 1))
    before = folders.state("default")
    if change == "write":
        path.write_bytes(b"two")
        os.utime(path, ns=(1, 1))
    elif change == "remove":
        path.unlink()
    elif change == "touch":
        path.touch()
    elif change == "chmod":
        path.chmod(0o600)
    else:
        folders.write_file("default", "a.txt", b"one")
    assert folders.state("default") != before


def test_the_signature_of_files_at_rest_stays(folders: Folders) -> None:
    import time

    time.sleep(0.05)
    assert folders.signature("default") == folders.signature("default")
    folders.write_merged("default", b"x")
    (folders.shared / "default" / ".swp").write_text("x")
    assert folders.state("default") == folders.state("default")


def test_the_signature_of_files_that_just_changed_never_comes_again(folders: Folders) -> None:
    folders.write_file("default", "a.txt", b"one")
    assert folders.signature("default") != folders.signature("default")


def test_editor_and_merged_files_do_not_change_the_signature(folders: Folders) -> None:
    before = folders.state("default")
    folders.write_merged("default", b"x")
    (folders.shared / "default" / ".agent.conf.swp").write_text("x")
    assert folders.state("default") == before


def test_leftovers_of_killed_writes_go_after_an_hour(folders: Folders) -> None:
    for name in (".mgmtctl-old", "default/.mgmtctl-old", "default/.mgmtctl-new", "default/.swp"):
        (folders.shared / name).write_text("x")
    (folders.shared / ".mgmtctl-group").mkdir()
    (folders.shared / ".mgmtctl-group" / "agent.conf").write_text("x")
    for name in (".mgmtctl-old", "default/.mgmtctl-old", "default/.swp", ".mgmtctl-group"):
        os.utime(folders.shared / name, (0, 0))
    folders.tidy()
    assert sorted(os.listdir(folders.shared)) == ["ar.conf", "default"]
    assert sorted(os.listdir(folders.shared / "default")) == [".mgmtctl-new", ".swp", "agent.conf"]


def test_a_missing_shared_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as caught:
        Folders(tmp_path / "gone", tmp_path / "agents").group_names()
    assert caught.value.reason == "io"
    assert str(tmp_path / "gone") in caught.value.problem
