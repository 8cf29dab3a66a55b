"""Keepalives and restarts on a real service: what is recorded, what it means for files, whose folders are read."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.domain.errors import DeniedError, InvalidError, NotFoundError
from mgmtctl.operations import agents, keepalives, sync
from mgmtctl.operations.context import Context
from mgmtctl.operations.keepalives import KeepaliveItems, Recorded
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import make_fleet, shared, stage, status

NO_RESTART = b"<ossec_config><client><auto_restart>no</auto_restart></client></ossec_config>\n"


@pytest.fixture
def fleet(service: Context) -> Context:
    made = make_fleet(service)
    sync.run_sync(made)
    return made


def report(ctx: Context, agent: str, push: bool = False, **said: Any) -> Recorded:
    (entry,) = keepalives.record_keepalive(ctx, agent, json.dumps(said).encode(), push).affected
    return entry


def leave(ctx: Context, agent: str, name: str, content: bytes, at: float | None = None) -> Path:
    path = ctx.folders.agents / agent / name
    path.write_bytes(content)
    if at is not None:
        os.utime(path, (at, at))
    return path


def edit(ctx: Context, content: bytes) -> None:
    (ctx.folders.shared / "web" / "packs" / "a.conf").write_bytes(content)


def digest(ctx: Context, agent: str) -> str:
    return ctx.store.sync_state.members([agent])[0].pushed_digest


def running(ctx: Context, agent: str) -> str:
    return ctx.store.sync_state.members([agent])[0].running


def md5(ctx: Context, agent: str) -> str:
    merged = ctx.store.sync_state.merged(ctx.store.sync_state.members([agent])[0].groups)
    assert merged is not None
    return merged.md5


def shown(ctx: Context, agent: str) -> dict[str, Any]:
    return agents.list_agents(ctx, [agent]).affected[0].record()


def test_a_report_fills_the_record_of_the_agent(fleet: Context) -> None:
    report(fleet, "003", version="Product v4.9.2", os={"name": "Ubuntu", "version": "22.04"}, ip="10.0.0.7")
    found = shown(fleet, "003")
    assert (found["status"], found["version"], found["ip"]) == ("active", "Product v4.9.2", "10.0.0.7")
    assert found["os"] == {"name": "Ubuntu", "version": "22.04"}
    report(fleet, "003", event="shutdown")
    found = shown(fleet, "003")
    assert (found["status"], found["status_code"]) == ("disconnected", 3)
    assert (found["version"], found["os"]["name"]) == ("Product v4.9.2", "Ubuntu")
    report(fleet, "003", os={"name": "Debian"})
    assert shown(fleet, "003")["os"] == {"name": "Debian"}


def test_a_report_says_nothing_about_names_groups_and_folders(fleet: Context) -> None:
    before = shown(fleet, "003")
    entry = report(fleet, "003", groups=["default"], folder="/elsewhere", id="003", name=before["name"])
    assert "ignored: `groups`, `folder`" in entry.remarks[0]
    after = shown(fleet, "003")
    for key in ("id", "name", "group", "registerIP"):
        assert after[key] == before[key]
    assert "folder" not in after
    with pytest.raises(InvalidError) as caught:
        report(fleet, "003", id="002")
    assert "report: id: expected `003`, got `002`" in [
        f"{finding.path}: {finding.message}" for finding in caught.value.findings
    ]
    assert shown(fleet, "002")["status"] == "never_connected"


@pytest.mark.parametrize("checksum", [md5, digest])
def test_the_checksum_of_what_the_groups_give_is_known_in_both_kinds(
    fleet: Context, checksum: Callable[[Context, str], str]
) -> None:
    entry = report(fleet, "003", mergedSum=checksum(fleet, "003"))
    assert (entry.matches, status(fleet, "003"), stage(fleet, "003")) == (True, "synced", "synced")


def test_another_checksum_makes_the_agent_not_synced_at_once(fleet: Context) -> None:
    old = md5(fleet, "003")
    edit(fleet, b"b")
    entry = report(fleet, "003", mergedSum=old)
    assert (entry.matches, entry.status, status(fleet, "003")) == (False, "not synced", "not synced")
    assert stage(fleet, "003") == "stale"


def test_a_report_with_push_brings_the_files_in_the_same_call(fleet: Context) -> None:
    old = md5(fleet, "003")
    edit(fleet, b"b")
    found = keepalives.record_keepalive(fleet, "003", json.dumps({"mergedSum": old}).encode(), push=True)
    assert found.pushed is not None
    assert [entry.id for entry in found.pushed.affected] == ["003"]
    assert (shared(fleet, "003") / "packs" / "a.conf").read_bytes() == b"b"
    assert (status(fleet, "003"), stage(fleet, "003")) == ("synced", "synced")
    assert stage(fleet, "002") == "stale"
    assert [(entry.pushed, entry.status) for entry in found.affected] == [(True, "synced")]
    again = keepalives.record_keepalive(
        fleet, "003", json.dumps({"mergedSum": md5(fleet, "003")}).encode(), push=True
    )
    assert again.pushed is None


def test_a_push_after_a_report_reads_every_byte_of_that_folder(fleet: Context) -> None:
    (shared(fleet, "003") / "packs" / "a.conf").write_bytes(b"!")
    found = keepalives.record_keepalive(fleet, "003", b'{"mergedSum": "x"}', push=True)
    assert found.pushed is not None
    assert [change.name for change in found.pushed.affected[0].changes] == ["packs/a.conf"]


def ignore_shared(ctx: Context) -> None:
    leave(ctx, "003", "local_internal_options.conf", b"agent.remote_conf=0\n")


@pytest.mark.parametrize(
    ("then", "column", "stage_name"),
    [
        pytest.param(lambda ctx: None, "not synced", "diverged", id="nothing"),
        pytest.param(
            lambda ctx: report(ctx, "003"), "not synced", "diverged", id="a_report_without_a_checksum"
        ),
        pytest.param(
            lambda ctx: report(ctx, "003", mergedSum=md5(ctx, "003")),
            "synced",
            "synced",
            id="a_report_of_the_target",
        ),
        pytest.param(lambda ctx: keepalives.restart_agent(ctx, "003"), "synced", "synced", id="a_restart"),
        pytest.param(lambda ctx: report(ctx, "003", event="startup"), "synced", "synced", id="a_start"),
        pytest.param(ignore_shared, "synced", "ignored", id="an_option_to_use_no_shared_files"),
    ],
)
def test_a_run_that_writes_nothing_believes_the_last_report(
    fleet: Context, then: Callable[[Context], object], column: str, stage_name: str
) -> None:
    found = keepalives.record_keepalive(
        fleet, "003", json.dumps({"mergedSum": "9c" * 16}).encode(), push=True
    )
    assert found.pushed is not None
    assert (len(found.pushed.affected), found.affected[0].status) == (0, "not synced")
    then(fleet)
    for _ in range(2):
        assert not sync.run_sync(fleet).affected
        assert (status(fleet, "003"), stage(fleet, "003")) == (column, stage_name)


def test_what_waits_for_a_restart_is_synced_as_long_as_no_report_says_otherwise(fleet: Context) -> None:
    leave(fleet, "003", "local.conf", NO_RESTART)
    edit(fleet, b"b")
    sync.run_sync(fleet)
    assert (status(fleet, "003"), stage(fleet, "003")) == ("synced", "pending-restart")
    fleet.store.sync_state.set_not_synced([3])
    sync.run_sync(fleet)
    assert (status(fleet, "003"), stage(fleet, "003")) == ("synced", "pending-restart")


def test_an_agent_that_reports_an_older_file_than_it_was_given_is_stale(fleet: Context) -> None:
    old = md5(fleet, "003")
    edit(fleet, b"b")
    sync.run_sync(fleet)
    report(fleet, "003", mergedSum=old)
    explained = sync.explain_sync(fleet, "003")
    assert explained.where.stage.name == "stale"
    assert explained.where.stage.why.startswith("reports ")
    assert explained.where.stage.next_step == "mgmtctl agents restart 003"
    assert explained.changes == ()


@pytest.mark.parametrize(
    ("checksum", "why"),
    [
        pytest.param("9c" * 16, "matches no known revision", id="unknown"),
        pytest.param("x", "it has no merged file", id="none"),
    ],
)
def test_an_agent_that_reports_something_unknown_has_diverged(
    fleet: Context, checksum: str, why: str
) -> None:
    report(fleet, "003", mergedSum=checksum)
    where = sync.explain_sync(fleet, "003").where
    assert (where.stage.name, why in where.stage.why) == ("diverged", True)
    assert status(fleet, "003") == "not synced"
    report(fleet, "003", mergedSum=md5(fleet, "003"))
    assert stage(fleet, "003") == "synced"


def test_without_auto_restart_what_was_pushed_waits_for_a_restart(fleet: Context) -> None:
    leave(fleet, "003", "local.conf", NO_RESTART)
    before = digest(fleet, "003")
    edit(fleet, b"b")
    sync.run_sync(fleet)
    assert running(fleet, "003") == before != digest(fleet, "003")
    assert running(fleet, "002") == digest(fleet, "002")
    where = sync.explain_sync(fleet, "003").where
    assert (where.stage.name, where.stage.next_step) == ("pending-restart", "mgmtctl agents restart 003")
    assert "auto_restart is no" in where.stage.why
    assert status(fleet, "003") == "synced"
    assert not sync.run_sync(fleet).affected


@pytest.mark.parametrize(
    "restart",
    [
        pytest.param(lambda ctx: keepalives.restart_agent(ctx, "003"), id="a_restart"),
        pytest.param(lambda ctx: keepalives.restart_agents(ctx, ["003"]), id="a_restart_of_several"),
        pytest.param(lambda ctx: keepalives.restart_agents(ctx), id="a_restart_of_all"),
        pytest.param(lambda ctx: keepalives.restart_group(ctx, "web"), id="a_restart_of_its_group"),
        pytest.param(lambda ctx: report(ctx, "003", event="startup"), id="a_start_up_report"),
        pytest.param(lambda ctx: report(ctx, "003", mergedSum=md5(ctx, "003")), id="its_checksum"),
    ],
)
def test_what_is_pending_is_applied_by(fleet: Context, restart: Callable[[Context], object]) -> None:
    leave(fleet, "003", "local.conf", NO_RESTART)
    edit(fleet, b"b")
    sync.run_sync(fleet)
    assert stage(fleet, "003") == "pending-restart"
    restart(fleet)
    assert stage(fleet, "003") == "synced"


def test_a_restart_says_what_it_applied(fleet: Context) -> None:
    with fleet.atomic():
        number = fleet.store.agents.claim(1)
        from mgmtctl.store.agents import NewAgent

        fleet.store.agents.add([NewAgent(number, "new", "any", "k" * 64, "web")], 0)
    leave(fleet, "003", "local.conf", NO_RESTART)
    leave(fleet, "002", "local_internal_options.conf", b"agent.remote_conf=0\n")
    edit(fleet, b"b")
    sync.run_sync(fleet, ["001", "002", "003"])
    found = keepalives.restart_agents(fleet).affected
    assert [entry.applied for entry in found] == [False, False, True, False]
    assert found[0].note.startswith("nothing was pending")
    assert "agent.remote_conf=0" in found[1].note
    assert found[2].note.startswith("uses ")
    assert found[3].note == "nothing was ever written to its folder"
    assert [entry.applied for entry in keepalives.restart_agents(fleet).affected] == [False] * 4


def test_a_dry_run_restarts_and_records_nothing(fleet: Context) -> None:
    leave(fleet, "003", "local.conf", NO_RESTART)
    edit(fleet, b"b")
    sync.run_sync(fleet)
    fleet.store.dry_run = True
    dry = replace(fleet, dry_run=True)
    assert keepalives.restart_agent(dry, "003").applied
    assert report(dry, "003", push=True, mergedSum="x").matches is False
    fleet.store.dry_run = False
    assert (stage(fleet, "003"), shown(fleet, "003")["status"]) == ("pending-restart", "never_connected")


def test_a_file_that_is_still_in_use_is_remembered(fleet: Context) -> None:
    leave(fleet, "003", "local.conf", NO_RESTART)
    first = digest(fleet, "003")
    for content in (b"b", b"c", b"d"):
        edit(fleet, content)
        sync.run_sync(fleet)
    assert fleet.store.sync_state.manifest(first) is not None
    assert stage(fleet, "003") == "pending-restart"
    keepalives.restart_agent(fleet, "003")
    edit(fleet, b"e")
    sync.run_sync(fleet)
    assert fleet.store.sync_state.manifest(first) is None


def test_reports_are_collected_from_the_folders(fleet: Context) -> None:
    now = fleet.now()
    leave(fleet, "001", "keepalive.json", b'{"version": "Product v4.9.2"}', now - 30)
    leave(fleet, "002", "keepalive.json", b"{", now - 30)
    found = keepalives.collect_keepalives(fleet)
    assert [entry.id for entry in found.affected] == ["001"]
    assert [failure.ids for failure in found.failed] == [("002",)]
    assert (found.unchanged, found.error) == (1, 2)
    assert shown(fleet, "001")["version"] == "Product v4.9.2"
    assert fleet.store.sync_state.members(["001"])[0].reported_at == int(now - 30)
    again = keepalives.collect_keepalives(fleet)
    assert (len(again.affected), again.unchanged) == (0, 2)


def test_two_reports_within_one_second_are_both_collected(fleet: Context) -> None:
    second = int(fleet.now()) - 30
    leave(fleet, "001", "keepalive.json", b'{"event": "startup"}', second + 0.25)
    assert [entry.state.status for entry in keepalives.collect_keepalives(fleet).affected] == ["pending"]
    leave(fleet, "001", "keepalive.json", b"{}", second + 0.5)
    assert [entry.state.status for entry in keepalives.collect_keepalives(fleet).affected] == ["active"]


def hard_link(path: Path) -> None:
    os.link(path, path.with_name("twin"))


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def symlink(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


@pytest.mark.parametrize("make", [hard_link, fifo, symlink])
def test_only_a_plain_file_is_a_report(fleet: Context, make: Callable[[Path], None]) -> None:
    make(leave(fleet, "001", "keepalive.json", b"{}", fleet.now() - 5))
    found = keepalives.collect_keepalives(fleet)
    assert (found.affected, found.failed, found.unchanged) == ([], (), 3)


def test_a_report_in_a_folder_is_never_believed_of_another_agent(fleet: Context) -> None:
    leave(fleet, "001", "keepalive.json", b'{"id": "002", "version": "Product v1.0.0"}', fleet.now() - 5)
    found = keepalives.collect_keepalives(fleet)
    assert found.failed[0].error.problem == "report is of another agent than 001 agent1"
    assert not found.affected
    assert "version" not in shown(fleet, "001")
    assert "version" not in shown(fleet, "002")


def test_a_report_that_is_too_large_is_a_failure(fleet: Context) -> None:
    leave(fleet, "001", "keepalive.json", b" " * ((1 << 20) + 1), fleet.now() - 5)
    (failure,) = keepalives.collect_keepalives(fleet).failed
    assert failure.error.problem == "keepalive.json of agent 001 cannot be read, or is too large"


def test_a_report_that_is_older_than_the_push_says_nothing_about_it(fleet: Context) -> None:
    old = md5(fleet, "003")
    leave(fleet, "003", "keepalive.json", json.dumps({"mergedSum": old}).encode(), fleet.now() - 30)
    edit(fleet, b"b")
    sync.run_sync(fleet)
    (entry,) = keepalives.collect_keepalives(fleet).affected
    assert entry.matches is False
    assert (entry.status, status(fleet, "003"), stage(fleet, "003")) == ("synced", "synced", "synced")


def at(ctx: Context, now: float) -> Context:
    return dataclasses.replace(ctx, now=lambda: now)


@pytest.mark.parametrize(
    ("recorded", "written", "now", "taken", "status_then"),
    [
        pytest.param(None, 1000, 1010, True, "active", id="the_first"),
        pytest.param(1000, 1020, 1030, True, "active", id="a_newer_one"),
        pytest.param(1000, 1000, 1030, False, "active", id="the_same"),
        pytest.param(1000, 990, 1030, False, "active", id="an_older_one"),
        pytest.param(None, 1000, 1601, True, "disconnected", id="one_that_is_long_ago"),
        pytest.param(None, 1060, 1010, True, "active", id="a_clock_of_a_mount_may_be_a_little_ahead"),
        pytest.param(None, 1100, 1010, None, "never_connected", id="one_from_the_future_is_refused"),
        pytest.param(1000, 5000, 1700, None, "disconnected", id="the_future_keeps_nobody_alive"),
        pytest.param(9000, 1000, 1010, True, "active", id="our_clock_went_back_and_reports_go_on"),
        pytest.param(9000, None, 1010, False, "active", id="our_clock_went_back_and_nobody_is_lost"),
        pytest.param(1000, None, 900, False, "active", id="our_clock_went_back_a_little"),
    ],
)
def test_clocks_that_jump(
    fleet: Context,
    recorded: float | None,
    written: float | None,
    now: float,
    taken: bool | None,
    status_then: str,
) -> None:
    if recorded is not None:
        report(at(fleet, recorded), "001")
    if written is not None:
        leave(fleet, "001", "keepalive.json", b"{}", written)
    found: KeepaliveItems = keepalives.collect_keepalives(at(fleet, now), ["001"])
    assert (len(found.affected), len(found.failed)) == (int(taken is True), int(taken is None))
    assert shown(at(fleet, now), "001")["status"] == status_then


def test_a_time_from_the_future_is_brought_back_by_any_report(fleet: Context) -> None:
    report(at(fleet, 9_000_000), "001")
    assert shown(at(fleet, 1000), "001")["status"] == "active"
    report(at(fleet, 1000), "002")
    assert shown(at(fleet, 1500), "001")["status"] == "active"
    assert shown(at(fleet, 1601), "001")["status"] == "disconnected"


def test_who_may_not_reconnect_or_restart_is_refused(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([{"actions": ["agent:read"], "resources": ["agent:id:*"], "effect": "allow"}])
    for call in (
        lambda: report(reader, "003"),
        lambda: keepalives.collect_keepalives(reader),
        lambda: keepalives.restart_agent(reader, "003"),
        lambda: keepalives.restart_agents(reader),
        lambda: keepalives.restart_group(reader, "web"),
    ):
        with pytest.raises(DeniedError):
            call()
    assert shown(fleet, "003")["status"] == "never_connected"


def test_only_permitted_agents_are_collected_and_restarted(fleet: Context, actor_with: ActorWith) -> None:
    web = actor_with(
        [
            {
                "actions": ["agent:reconnect", "agent:restart"],
                "resources": ["agent:group:web"],
                "effect": "allow",
            }
        ]
    )
    for agent in ("001", "003"):
        leave(fleet, agent, "keepalive.json", b"{}", fleet.now() - 5)
    assert [entry.id for entry in keepalives.collect_keepalives(web).affected] == ["003"]
    assert [entry.id for entry in keepalives.restart_agents(web).affected] == ["002", "003"]
    assert [entry.id for entry in keepalives.restart_group(web, "default").affected] == ["002"]
    assert [entry.uses for entry in keepalives.restart_agents(web).affected] == [{}, {}]
    with pytest.raises(NotFoundError):
        keepalives.restart_group(web, "nothing")


def test_another_release_or_system_has_the_groups_judged_again(fleet: Context) -> None:
    def signature() -> str:
        merged = fleet.store.sync_state.merged("web")
        assert merged is not None
        return merged.signature

    assert signature()
    report(fleet, "003", version="Product v4.9.2")
    assert signature() == ""
    sync.run_sync(fleet)
    report(fleet, "003", version="Product v4.9.2", mergedSum=md5(fleet, "003"))
    assert signature()


def test_explain_shows_a_report_that_waits_in_the_folder(fleet: Context) -> None:
    leave(fleet, "003", "keepalive.json", b'{"event": "startup", "mergedSum": "x"}', fleet.now() - 5)
    waiting = sync.explain_sync(fleet, "003").waiting
    assert waiting is not None
    assert (waiting.event, waiting.merged_sum, waiting.problem) == ("startup", "x", None)
    assert shown(fleet, "003")["status"] == "never_connected"
    keepalives.collect_keepalives(fleet, ["003"])
    assert sync.explain_sync(fleet, "003").waiting is None
    leave(fleet, "003", "keepalive.json", b"{", time.time())
    waiting = sync.explain_sync(fleet, "003").waiting
    assert waiting is not None
    assert waiting.problem


def test_the_record_of_a_stage_tells_what_is_used_and_reported(fleet: Context) -> None:
    now = int(fleet.now())
    report(at(fleet, now), "003", mergedSum=md5(fleet, "003"))
    (entry,) = sync.sync_status(fleet, ["003"]).affected
    record = entry.record()
    assert record["running"] == digest(fleet, "003")
    assert record["reported"]["mergedSum"] == md5(fleet, "003")
    (other,) = sync.sync_status(fleet, ["002"]).affected
    assert other.record()["reported"] is None


def say_startup(ctx: Context) -> str:
    return report(ctx, "003", event="startup").status


def say_the_right_checksum(ctx: Context) -> str:
    return report(ctx, "003", mergedSum=md5(ctx, "003")).status


def restart(ctx: Context) -> str:
    keepalives.restart_agent(ctx, "003")
    return status(ctx, "003")


RIGHT_AGAIN = [say_startup, say_the_right_checksum, restart]


@pytest.mark.parametrize("again", RIGHT_AGAIN)
def test_an_agent_that_is_right_again_is_synced_at_once(
    fleet: Context, again: Callable[[Context], str]
) -> None:
    report(fleet, "003", mergedSum="x")
    assert (status(fleet, "003"), stage(fleet, "003")) == ("not synced", "diverged")
    assert again(fleet) == "synced"
    assert (status(fleet, "003"), stage(fleet, "003")) == ("synced", "synced")
    assert sync.run_sync(fleet).affected == []


@pytest.mark.parametrize("again", RIGHT_AGAIN)
def test_no_report_and_no_restart_makes_synced_whose_files_are_not_in_place(
    fleet: Context, again: Callable[[Context], str]
) -> None:
    report(fleet, "003", mergedSum="x")
    (shared(fleet, "003") / "packs" / "a.conf").write_bytes(b"by hand")
    assert again(fleet) == "not synced"
    assert (status(fleet, "003"), stage(fleet, "003")) == ("not synced", "diverged")


def test_a_report_from_the_second_of_the_push_and_before_it_says_nothing_about_it(fleet: Context) -> None:
    old = md5(fleet, "003")
    edit(fleet, b"b")
    sync.run_sync(fleet)
    (member,) = fleet.store.sync_state.members(["003"])
    told = json.dumps({"mergedSum": old}).encode()
    path = leave(fleet, "003", "keepalive.json", told)
    os.utime(path, ns=(member.pushed_ns - 1, member.pushed_ns - 1))
    (entry,) = keepalives.collect_keepalives(fleet, ["003"]).affected
    assert (entry.matches, entry.status, stage(fleet, "003")) == (False, "synced", "synced")
    assert sync.run_sync(fleet).affected == []
    assert (status(fleet, "003"), stage(fleet, "003")) == ("synced", "synced")
    os.utime(path, ns=(member.pushed_ns + 1, member.pushed_ns + 1))
    (entry,) = keepalives.collect_keepalives(fleet, ["003"]).affected
    assert (entry.status, stage(fleet, "003")) == ("not synced", "stale")
