"""Sync on a real service: what is pushed, what is left alone, how a run is planned and stopped."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl.domain.errors import NotFoundError
from mgmtctl.folders.agents import Place
from mgmtctl.folders.looks import Looker
from mgmtctl.folders.paths import STAGING_PREFIX
from mgmtctl.operations import group_files, sync, sync_targets
from mgmtctl.operations.context import Context
from mgmtctl.operations.sync_run import Unwatched
from tests.operations.sync_fleet import BAD, GOOD, make_fleet, settle, shared, stage, status, views


@pytest.fixture
def fleet(service: Context) -> Context:
    return make_fleet(service)


def test_a_run_brings_every_agent_what_its_groups_give(fleet: Context) -> None:
    report = sync.run_sync(fleet)
    assert [entry.id for entry in report.affected] == ["001", "002", "003"]
    assert (report.unchanged, report.failed, report.warnings) == (0, (), ())
    assert (shared(fleet, "003") / "agent.conf").read_bytes() == GOOD
    assert (shared(fleet, "002") / "packs" / "a.conf").read_bytes() == b"a"
    both = (shared(fleet, "002") / "agent.conf").read_bytes()
    assert both.startswith(b"<!-- Source file: default/agent.conf -->\n")
    assert both.endswith(b"<!-- Source file: web/agent.conf -->\n" + GOOD)
    assert (shared(fleet, "001") / "merged.mg").read_bytes().startswith(b"#default\n!0 ar.conf\n")
    assert {status(fleet, agent) for agent in ("001", "002", "003")} == {"synced"}


def test_a_second_run_has_nothing_to_do(fleet: Context) -> None:
    sync.run_sync(fleet)
    for _ in range(2):
        report = sync.run_sync(fleet)
        assert (len(report.affected), report.unchanged, report.error) == (0, 3, 0)


def test_the_merged_file_of_a_group_lies_in_its_folder(fleet: Context) -> None:
    sync.run_sync(fleet)
    merged = (fleet.folders.shared / "web" / "merged.mg").read_bytes()
    assert merged == (shared(fleet, "003") / "merged.mg").read_bytes()
    (fleet.folders.shared / "web" / "merged.mg").write_bytes(b"damaged")
    sync.run_sync(fleet)
    assert (fleet.folders.shared / "web" / "merged.mg").read_bytes() == merged


def test_an_edit_on_disk_reaches_the_agents_of_the_group_only(fleet: Context) -> None:
    sync.run_sync(fleet)
    (fleet.folders.shared / "web" / "packs" / "a.conf").write_bytes(b"b")
    assert [stage(fleet, agent) for agent in ("001", "002", "003")] == ["synced", "stale", "stale"]
    report = sync.run_sync(fleet)
    assert [entry.id for entry in report.affected] == ["002", "003"]
    assert report.affected[1].summary() == "2 updated"
    assert (shared(fleet, "003") / "packs" / "a.conf").read_bytes() == b"b"


def test_an_edit_of_the_same_size_within_one_tick_is_seen(fleet: Context) -> None:
    path = fleet.folders.shared / "web" / "packs" / "a.conf"
    for number in range(10):
        data = b"%d" % number
        with open(path, "r+b") as file:
            file.write(data)
        sync.run_sync(fleet)
        assert (shared(fleet, "003") / "packs" / "a.conf").read_bytes() == data


def test_a_file_that_left_the_groups_leaves_the_agents(fleet: Context) -> None:
    sync.run_sync(fleet)
    group_files.remove_file(fleet, "web", "packs/a.conf")
    sync.run_sync(fleet)
    assert sorted(os.listdir(shared(fleet, "003"))) == ["agent.conf", "ar.conf", "merged.mg"]


def test_a_hand_edited_merged_file_is_found_without_verify(fleet: Context) -> None:
    sync.run_sync(fleet)
    path = shared(fleet, "003") / "merged.mg"
    with open(path, "r+b") as file:
        file.write(b"X")
    assert stage(fleet, "003") == "diverged"
    report = sync.run_sync(fleet)
    assert [change.record() for change in report.affected[0].changes] == [
        {"change": "overwrite", "file": "merged.mg", "edited_there": True}
    ]


def test_verify_reads_every_byte(fleet: Context) -> None:
    settle(fleet)
    path = shared(fleet, "003") / "agent.conf"
    path.write_bytes(b"edited there")
    # As on a disk that forgets when a file was changed: the file looks as it was left.
    target = fleet.store.sync_state.members(["003"])[0].pushed_digest
    with fleet.folders.agent_folders() as folders:
        look = folders.look(Place("003"), Looker(target, fleet.store.sync_state.manifest(target) or {}))
    assert look is not None
    fleet.store.database.execute("UPDATE sync_state SET look = ? WHERE agent_id = 3", (look.kept,))
    assert not sync.run_sync(fleet).affected
    assert path.read_bytes() == b"edited there"
    report = sync.run_sync(fleet, verify=True)
    assert [entry.id for entry in report.affected] == ["003"]
    assert report.affected[0].changes[0].edited_there
    assert path.read_bytes() == GOOD


def append(path: Path) -> None:
    with open(path, "ab") as file:
        file.write(b"x")


@pytest.mark.parametrize(
    ("name", "happens", "why"),
    [
        pytest.param("agent.conf", append, "changed there: `agent.conf`", id="an_edit"),
        pytest.param("ar.conf", Path.unlink, "missing there: `ar.conf`", id="a_deletion"),
        pytest.param("packs/a.conf", Path.unlink, "missing there: `packs/a.conf`", id="in_a_sub_folder"),
        pytest.param("merged.mg", append, "changed there: `merged.mg`", id="the_merged_file"),
        pytest.param("packs", shutil.rmtree, "missing there: `packs/a.conf`", id="a_sub_folder"),
        pytest.param("", shutil.rmtree, "its folder is missing", id="all_of_it"),
    ],
)
def test_what_happens_to_any_file_is_seen_by_every_view_and_named(
    fleet: Context, name: str, happens: Callable[[Path], None], why: str
) -> None:
    settle(fleet)
    assert views(fleet, "003") == ("synced", 0, 0, 0)
    happens(shared(fleet, "003") / name)
    changes = 4 if name == "" else 1
    assert views(fleet, "003") == ("diverged", changes, changes, changes)
    assert sync.explain_sync(fleet, "003").where.stage.why == why
    assert [entry.id for entry in sync.run_sync(fleet).affected] == ["003"]
    assert views(fleet, "003") == ("synced", 0, 0, 0)
    assert status(fleet, "003") == "synced"


def test_the_views_agree_in_every_stage(fleet: Context) -> None:
    assert views(fleet, "003") == ("never-synced", 4, 4, 4)
    settle(fleet)
    (fleet.folders.shared / "web" / "packs" / "a.conf").write_bytes(b"b")
    assert views(fleet, "003") == ("stale", 2, 2, 2)
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    assert views(fleet, "003") == ("blocked", 0, 0, 0)


def test_what_a_cut_push_left_beside_whole_files_is_a_reason(fleet: Context) -> None:
    sync.run_sync(fleet)
    (shared(fleet, "003") / f"{STAGING_PREFIX}0123456789abcdef-0").write_bytes(b"x")
    fleet.store.sync_state.begin([3])
    assert sync.explain_sync(fleet, "003").where.stage.why == "a push was cut short there"
    sync.run_sync(fleet)
    assert stage(fleet, "003") == "synced"


def test_files_touched_without_a_change_are_no_work_for_long(fleet: Context) -> None:
    sync.run_sync(fleet)
    for name in ("merged.mg", "agent.conf"):
        os.utime(shared(fleet, "003") / name, ns=(1, 1))
    assert views(fleet, "003") == ("synced", 0, 0, 0)
    time.sleep(0.05)
    assert not sync.run_sync(fleet).affected
    (look,) = fleet.store.database.row("SELECT look FROM sync_state WHERE agent_id = 3") or ()
    assert look


def test_a_vanished_folder_of_the_service_is_made_again(fleet: Context) -> None:
    sync.run_sync(fleet)
    shutil.rmtree(fleet.folders.agents / "003")
    assert stage(fleet, "003") == "diverged"
    assert [entry.id for entry in sync.run_sync(fleet).affected] == ["003"]
    assert (shared(fleet, "003") / "agent.conf").read_bytes() == GOOD


def test_a_target_may_be_named_agents_or_a_group(fleet: Context) -> None:
    assert [entry.id for entry in sync.run_sync(fleet, ["agent1"]).affected] == ["001"]
    assert [entry.id for entry in sync.run_sync(fleet, group="web").affected] == ["002", "003"]
    with pytest.raises(NotFoundError):
        sync.run_sync(fleet, group="nothing")


def test_too_many_agents_are_not_begun(fleet: Context) -> None:
    with pytest.raises(sync.AffectedError) as caught:
        sync.run_sync(fleet, max_affected=2)
    assert (caught.value.count, caught.value.most) == (3, 2)
    assert os.listdir(fleet.folders.agents) == []
    assert len(sync.run_sync(fleet, max_affected=3).affected) == 3


def test_a_dry_run_and_a_plan_show_the_run_and_leave_every_byte(fleet: Context) -> None:
    sync.run_sync(fleet, ["001"])
    group_files.put_file(fleet, "web", "new.txt", b"x")

    def everything() -> dict[str, bytes]:
        files = {str(path): path.read_bytes() for path in fleet.folders.data.rglob("*") if path.is_file()}
        rows = fleet.store.database.rows("SELECT * FROM sync_state, agents, merged_files, manifests")
        kept = {name: data for name, data in files.items() if "/log/" not in name}
        return kept | {"rows": repr(rows).encode()}

    before = everything()
    planned = sync.plan_sync(fleet)
    fleet.store.dry_run = True
    dry = sync.run_sync(replace(fleet, dry_run=True))
    fleet.store.dry_run = False
    assert everything() == before
    real = sync.run_sync(fleet)
    assert planned == dry
    assert [entry.record() for entry in real.affected] == [entry.record() for entry in dry.affected]
    assert (real.unchanged, real.failed) == (dry.unchanged, dry.failed)


def test_moving_an_agent_between_groups_changes_its_files(fleet: Context) -> None:
    sync.run_sync(fleet)
    with fleet.store.atomic():
        fleet.store.agents.set_groups(["003"], ["default"])
    assert status(fleet, "003") == "not synced"
    assert stage(fleet, "003") == "stale"
    sync.run_sync(fleet)
    assert (shared(fleet, "003") / "merged.mg").read_bytes() == (
        shared(fleet, "001") / "merged.mg"
    ).read_bytes()
    assert not (shared(fleet, "003") / "packs").exists()


def test_manifests_nobody_needs_are_forgotten(fleet: Context) -> None:
    for number in range(5):
        group_files.put_file(fleet, "web", "a.txt", b"%d" % number)
        sync.run_sync(fleet)
    sync.run_sync(fleet, verify=True)
    kept = fleet.store.database.value("SELECT count(*) FROM manifests WHERE files <> ''")
    assert kept <= 4


class Stopper(Unwatched):
    """Stops after so many agents."""

    def __init__(self, after: int) -> None:
        self.after = after
        self.total = 0

    def begin(self, total: int) -> None:
        self.total = total

    def step(self) -> None:
        self.after -= 1
        self.stopped = self.after <= 0


def test_a_run_can_be_stopped_between_agents_and_finished_later(fleet: Context) -> None:
    watch = Stopper(after=2)
    with pytest.raises(sync.StoppedError) as caught:
        sync.run_sync(fleet, watch=watch)
    report = caught.value.report
    assert (watch.total, len(report.affected), report.not_reached) == (3, 2, 1)
    assert sum(status(fleet, agent) == "synced" for agent in ("001", "002", "003")) == 2
    assert [entry.status_code for entry in fleet.log.read() if entry.uri == "PUT /sync"] == [503]
    assert len(sync.run_sync(fleet).affected) == 1


class Editor(Unwatched):
    """Edits the group while the run is going on."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def step(self) -> None:
        self.ctx.folders.write_file("web", "late.txt", os.urandom(4).hex().encode())


def test_an_edit_during_the_run_is_never_committed_as_synced(fleet: Context) -> None:
    report = sync.run_sync(fleet, watch=Editor(fleet))
    assert [status(fleet, agent) for agent in ("001", "002", "003")] == ["synced", "not synced", "not synced"]
    assert any("changed during the run" in line for line in report.warnings)
    assert len(sync.run_sync(fleet).affected) == 2
    assert status(fleet, "003") == "synced"


class Spoiler(Unwatched):
    """Spoils every group while the run is going on."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def begin(self, total: int) -> None:
        for group in ("default", "web"):
            (self.ctx.folders.shared / group / "agent.conf").write_bytes(BAD)


def test_what_is_read_again_is_judged_again(fleet: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    sync.run_sync(fleet)
    monkeypatch.setattr(sync_targets, "_KEPT_BYTES", 0)
    for group in ("default", "web"):
        group_files.put_file(fleet, group, "a.txt", b"new")
    report = sync.run_sync(fleet, watch=Spoiler(fleet))
    # The combination that was built last is sent as it was judged; the others are read again.
    assert sum(len(failure.ids) for failure in report.failed) >= 2
    for agent in ("001", "002", "003"):
        assert BAD not in (shared(fleet, agent) / "merged.mg").read_bytes()


def test_a_folder_called_agent_conf_blocks_its_group(fleet: Context) -> None:
    sync.run_sync(fleet)
    before = (shared(fleet, "003") / "agent.conf").read_bytes()
    path = fleet.folders.shared / "web" / "agent.conf"
    path.unlink()
    path.mkdir()
    assert "it is a folder" in sync.run_sync(fleet).failed[0].error.problem
    assert stage(fleet, "003") == "blocked"
    assert (shared(fleet, "003") / "agent.conf").read_bytes() == before
    path.rmdir()
    assert len(sync.run_sync(fleet).affected) == 2, "a group without one is what somebody wanted"
