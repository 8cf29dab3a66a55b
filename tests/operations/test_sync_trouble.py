"""Sync when something is wrong: invalid groups, files that cannot be sent, folders that cannot be entered."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl.domain.errors import InvalidError, UnavailableError
from mgmtctl.operations import group_files, sync
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import BAD, GOOD, add, make_fleet, shared, stage, status, views


@pytest.fixture
def fleet(service: Context) -> Context:
    return make_fleet(service)


def test_an_invalid_group_blocks_its_agents_and_no_others(fleet: Context) -> None:
    sync.run_sync(fleet)
    before = (shared(fleet, "003") / "merged.mg").read_bytes()
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    group_files.put_file(fleet, "default", "new.txt", b"x")
    report = sync.run_sync(fleet)
    assert [entry.id for entry in report.affected] == ["001"]
    ((failure),) = report.failed
    assert failure.ids == ("002", "003")
    assert isinstance(failure.error, InvalidError)
    assert failure.error.problem == "group `web` is invalid: web/agent.conf has errors"
    assert failure.error.findings[0].line == 2
    assert report.error == 2
    assert (shared(fleet, "003") / "merged.mg").read_bytes() == before
    assert [status(fleet, agent) for agent in ("001", "002", "003")] == ["synced", "not synced", "not synced"]
    assert stage(fleet, "003") == "blocked"
    assert sync.explain_sync(fleet, "003").findings[0].path == "web/agent.conf"


def test_a_group_put_right_again_is_synced_without_a_push(fleet: Context) -> None:
    sync.run_sync(fleet)
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    sync.run_sync(fleet)
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(GOOD)
    report = sync.run_sync(fleet)
    assert (len(report.affected), report.unchanged) == (0, 3)
    assert status(fleet, "003") == "synced"


@pytest.mark.parametrize("obstacle", ["dangling symlink", "folder", "pipe"])
def test_an_unreadable_agent_conf_blocks_its_group(fleet: Context, obstacle: str) -> None:
    path = fleet.folders.shared / "web" / "agent.conf"
    path.unlink()
    if obstacle == "pipe":
        os.mkfifo(path)
    elif obstacle == "dangling symlink":
        path.symlink_to("nowhere")
    else:
        path.mkdir()
        (path / "x").write_text("x")
    report = sync.run_sync(fleet)
    blocked = [agent for failure in report.failed for agent in failure.ids]
    assert blocked == ["002", "003"]


def test_an_unreadable_other_file_is_left_out_and_reported(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "leak").symlink_to("/etc/passwd")
    report = sync.run_sync(fleet)
    assert report.warnings == ("`web/leak` is not sent: it is a symlink",)
    assert not (shared(fleet, "003") / "leak").exists()


def test_a_file_with_a_nul_is_left_out_and_reported(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "bin").write_bytes(b"a\0b")
    report = sync.run_sync(fleet)
    assert len(report.affected) == 3
    assert report.warnings == ("`web/bin` is not sent: it holds a NUL byte, which agents cannot receive",)


def test_the_same_name_in_two_groups_is_reported(fleet: Context) -> None:
    fleet.folders.write_file("default", "same.txt", b"1")
    fleet.folders.write_file("web", "same.txt", b"2")
    report = sync.run_sync(fleet)
    assert report.warnings == ("`same.txt` in several groups: `web` wins over `default`",)
    assert (shared(fleet, "002") / "same.txt").read_bytes() == b"2"
    assert sync.explain_sync(fleet, "002").record()["conflicts"] == [
        {"name": "same.txt", "winner": "web", "losers": ("default",)}
    ]


def test_a_removed_ar_conf_is_a_warning_and_not_made_again(fleet: Context) -> None:
    (fleet.folders.shared / "ar.conf").unlink()
    report = sync.run_sync(fleet)
    assert report.warnings == ("ar.conf is missing in the shared folder; merged files are built without it",)
    assert not (fleet.folders.shared / "ar.conf").exists()
    assert (shared(fleet, "001") / "merged.mg").read_bytes().startswith(b"#default\n!")
    assert b"ar.conf" not in (shared(fleet, "001") / "merged.mg").read_bytes()


@pytest.mark.parametrize("obstacle", ["a symlink", "a pipe", "a NUL byte"])
def test_an_ar_conf_that_cannot_be_sent_is_a_warning_and_stops_nobody(fleet: Context, obstacle: str) -> None:
    path = fleet.folders.shared / "ar.conf"
    path.unlink()
    if obstacle == "a symlink":
        path.symlink_to("/etc/passwd")
    elif obstacle == "a pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"\0")
    for _ in range(2):
        report = sync.run_sync(fleet)
        (line,) = report.warnings
        assert "ar.conf" in line
        assert line.endswith("; merged files are built without it")
        assert report.failed == ()
    assert not (shared(fleet, "001") / "ar.conf").exists()
    assert views(fleet, "001") == ("synced", 0, 0, 0)
    path.unlink()
    path.write_bytes(b"restart0 - restart.sh - 0\n")
    assert len(sync.run_sync(fleet).affected) == 3


def test_an_agent_conf_with_a_nul_blocks_its_group(fleet: Context) -> None:
    sync.run_sync(fleet)
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(GOOD + b"\0")
    assert [failure.ids for failure in sync.run_sync(fleet).failed] == [("002", "003")]
    assert (shared(fleet, "003") / "agent.conf").read_bytes() == GOOD


def test_failures_are_listed_in_the_order_of_agents(fleet: Context) -> None:
    for groups in (("web", "default"), ("default", "web"), ("web",)):
        add(fleet, *groups)
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    for report in (sync.run_sync(fleet), sync.plan_sync(fleet)):
        assert [failure.ids for failure in report.failed] == [("002", "003", "004", "005", "006")]


def test_a_change_of_ar_conf_reaches_everybody(fleet: Context) -> None:
    sync.run_sync(fleet)
    fleet.folders.write_ar_conf(b"restart0 - restart.sh - 0\n")
    assert len(sync.run_sync(fleet).affected) == 3


def test_a_group_whose_folder_is_gone_blocks_its_agents(fleet: Context) -> None:
    shutil.rmtree(fleet.folders.shared / "web")
    report = sync.run_sync(fleet)
    assert [entry.id for entry in report.affected] == ["001"]
    assert [failure.error.problem for failure in report.failed] == ["group `web` has no folder"]


def test_a_group_folder_that_takes_no_merged_file_is_a_warning(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "merged.mg" / "theirs").mkdir(parents=True)
    report = sync.run_sync(fleet)
    assert len(report.affected) == 3
    (line,) = report.warnings
    assert line.startswith("`web/merged.mg` cannot be written: ")


def test_one_agent_s_failure_stops_no_other(fleet: Context, tmp_path: Path) -> None:
    (fleet.folders.agents / "001").mkdir()
    (tmp_path / "victim").mkdir()
    shared(fleet, "001").symlink_to(tmp_path / "victim")
    shared(fleet, "002").mkdir(parents=True)
    (shared(fleet, "002") / "agent.conf" / "x").mkdir(parents=True)
    report = sync.run_sync(fleet)
    assert [entry.id for entry in report.affected] == ["003"]
    assert [(type(failure.error), failure.ids) for failure in report.failed] == [
        (UnavailableError, ("001",)),
        (UnavailableError, ("002",)),
    ]
    assert os.listdir(tmp_path / "victim") == []
    assert [status(fleet, agent) for agent in ("001", "002", "003")] == ["not synced", "not synced", "synced"]
    assert stage(fleet, "001") == "no-folder"


def test_a_registered_folder_that_is_not_mounted_is_a_failure(fleet: Context, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.mkdir()
    fleet.store.settings.set("agents.folder_roots", [str(mounts)])
    agent = add(fleet, "web", folder=str(mounts / "host"))
    report = sync.run_sync(fleet)
    assert [failure.ids for failure in report.failed] == [(agent,)]
    assert stage(fleet, agent) == "no-folder"
    (mounts / "host").mkdir()
    assert [entry.id for entry in sync.run_sync(fleet).affected] == [agent]
    assert (mounts / "host" / "shared" / "agent.conf").read_bytes() == GOOD
    assert stage(fleet, agent) == "synced"
    fleet.store.settings.set("agents.folder_roots", [])
    assert stage(fleet, agent) == "no-folder"


def test_an_agent_that_ignores_shared_files_is_delivered_and_says_so(fleet: Context) -> None:
    sync.run_sync(fleet)
    (fleet.folders.agents / "003" / "local_internal_options.conf").write_text("agent.remote_conf=0\n")
    assert stage(fleet, "003") == "ignored"
    assert status(fleet, "003") == "synced"


@pytest.mark.parametrize("known", [True, False], ids=["synced once", "never synced"])
def test_plan_run_and_dry_run_meet_the_same_obstacle(fleet: Context, known: bool) -> None:
    if known:
        sync.run_sync(fleet)
    for agent in ("002", "003"):
        packs = shared(fleet, agent) / "packs"
        packs.rename(packs.parent / "theirs") if known else packs.parent.mkdir(parents=True)
        packs.symlink_to(packs.parent / "theirs")
    fleet.store.dry_run = True
    dry = sync.run_sync(replace(fleet, dry_run=True))
    fleet.store.dry_run = False
    planned = sync.plan_sync(fleet)
    explained = sync.explain_sync(fleet, "002")
    run = sync.run_sync(fleet)
    told = "folder `agents/...`: a file or a symlink stands where a folder shall be: `packs`"
    for report in (dry, planned, run):
        assert [(failure.error.problem, failure.ids) for failure in report.failed] == [(told, ("002", "003"))]
        assert not {"002", "003"}.intersection(agent.id for agent in report.affected)
    assert told.replace("...", "002") in explained.where.stage.why
    assert explained.where.stage.next_step == "move it away, then mgmtctl sync run 002"
    assert explained.where.stage.name == ("diverged" if known else "never-synced")


def test_what_is_in_the_way_is_told_before_that_the_agent_is_stale(
    fleet: Context, actor_with: ActorWith
) -> None:
    sync.run_sync(fleet)
    packs = shared(fleet, "003") / "packs"
    shutil.rmtree(packs)
    packs.write_text("theirs")
    fleet.folders.write_file("web", "packs/b.conf", b"b")
    (entry,) = sync.sync_status(fleet, ["003"]).affected
    words = "folder `agents/003`: a file or a symlink stands where a folder shall be"
    assert (entry.stage.name, entry.stage.why) == ("diverged", f"{words}: `packs`")
    assert entry.stage.next_step == "move it away, then mgmtctl sync run 003"
    may = {"actions": ["agent:read", "agent:reconnect"], "resources": ["agent:id:*"], "effect": "allow"}
    reader = actor_with([may])
    assert sync.sync_status(reader, ["003"]).affected[0].stage.why == words
    for report in (sync.plan_sync(reader, ["003"]), sync.run_sync(reader, ["003"])):
        assert [failure.error.problem for failure in report.failed] == [words]
    (failure,) = sync.run_sync(fleet, ["003"]).failed
    assert (failure.error.problem, failure.error.fix) == (
        f"{words}: `packs`",
        "move it away, then sync again",
    )


def test_a_folder_of_others_blocks_nobody_when_the_file_leaves_the_group(fleet: Context) -> None:
    fleet.folders.write_file("web", "n.txt", b"n")
    sync.run_sync(fleet)
    path = shared(fleet, "003") / "n.txt"
    path.unlink()
    path.mkdir()
    (path / "own").write_text("own")
    fleet.folders.remove_file("web", "n.txt")
    assert sync.plan_sync(fleet).failed == ()
    assert sync.run_sync(fleet).failed == ()
    assert (path / "own").read_text() == "own"
    assert views(fleet, "003") == ("synced", 0, 0, 0)
