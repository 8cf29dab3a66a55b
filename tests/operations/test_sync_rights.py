"""Sync for somebody who may not touch every agent, or read every group."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from mgmtctl.domain.errors import DeniedError, MgmtctlError, NotFoundError
from mgmtctl.operations import sync
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import BAD, make_fleet


@pytest.fixture
def fleet(service: Context) -> Context:
    return make_fleet(service)


AGENT_READER = {"actions": ["agent:read"], "resources": ["agent:group:web"], "effect": "allow"}
WEB_SYNCER = {
    "actions": ["agent:read", "agent:reconnect"],
    "resources": ["agent:group:web"],
    "effect": "allow",
}


def test_only_permitted_agents_are_synced(fleet: Context, actor_with: ActorWith) -> None:
    syncer = actor_with([WEB_SYNCER])
    assert [entry.id for entry in sync.run_sync(syncer).affected] == ["002", "003"]
    report = sync.run_sync(syncer, ["001", "002"])
    assert [type(failure.error) for failure in report.failed] == [DeniedError]
    assert report.failed[0].ids == ("001",)
    with pytest.raises(DeniedError):
        sync.run_sync(syncer, ["001"])
    with pytest.raises(DeniedError):
        sync.explain_sync(syncer, "001")


def test_reading_stages_needs_no_right_to_sync_and_gives_none(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([AGENT_READER])
    assert [entry.id for entry in sync.sync_status(reader).affected] == ["002", "003"]
    assert [entry.id for entry in sync.plan_sync(reader).affected] == ["002", "003"]
    with pytest.raises(DeniedError):
        sync.run_sync(reader, ["003"])
    with pytest.raises(DeniedError) as caught:
        sync.run_sync(reader)
    assert caught.value.problem == "permission denied: agent:reconnect on agent:id:*"
    assert os.listdir(fleet.folders.agents) == []


@pytest.mark.parametrize("look", [sync.sync_status, sync.plan_sync])
def test_who_may_read_no_agent_is_refused_and_not_told_that_all_is_well(
    fleet: Context, actor_with: ActorWith, look: Callable[..., object]
) -> None:
    cron = actor_with([{"actions": ["agent:reconnect"], "resources": ["agent:id:*"], "effect": "allow"}])
    for group, resource in (
        (None, "agent:id:*"),
        ("web", "agent:group:web"),
        ("nothing", "agent:group:nothing"),
    ):
        with pytest.raises(DeniedError) as caught:
            look(cron, group=group)
        assert caught.value.problem == f"permission denied: agent:read on {resource}"
    assert len(sync.run_sync(cron).affected) == 3


def test_a_group_without_an_agent_that_may_be_synced_is_refused(
    fleet: Context, actor_with: ActorWith
) -> None:
    fleet.folders.create_group("empty")
    reader = {"actions": ["group:read"], "resources": ["group:id:*"], "effect": "allow"}
    syncer = actor_with([WEB_SYNCER, reader])
    assert [entry.id for entry in sync.run_sync(syncer, group="default").affected] == ["002"]
    for call in (sync.run_sync, sync.sync_status):
        with pytest.raises(DeniedError) as caught:
            call(syncer, group="empty")
        assert caught.value.resource == "agent:group:empty"
    assert sync.run_sync(fleet, group="empty").error == 0


def test_findings_in_a_group_are_shown_to_its_readers_only(fleet: Context, actor_with: ActorWith) -> None:
    sync.run_sync(fleet)
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    syncer = actor_with([WEB_SYNCER])
    explained = sync.explain_sync(syncer, "003")
    assert explained.where.stage.name == "blocked"
    assert explained.where.stage.why.startswith("group `web` cannot be sent; it keeps the last good files")
    assert explained.findings == ()
    assert sync.explain_sync(fleet, "003").where.stage.why.startswith("group `web` is invalid")
    for failure in sync.run_sync(syncer).failed:
        assert getattr(failure.error, "findings", ()) == ()


def test_a_group_the_caller_may_not_read_is_not_found(fleet: Context, actor_with: ActorWith) -> None:
    fleet.folders.create_group("hidden")
    syncer = actor_with([WEB_SYNCER])
    for name in ("hidden", "nothing"):
        with pytest.raises(NotFoundError) as caught:
            sync.run_sync(syncer, group=name)
        assert caught.value.problem == f"group `{name}` does not exist"


def test_nobody_syncs_without_a_login(anonymous: Context) -> None:
    for call in (sync.run_sync, sync.plan_sync, sync.sync_status):
        with pytest.raises(MgmtctlError):
            call(anonymous)


def test_groups_that_may_not_be_read_are_named_in_no_warning_and_no_conflict(
    fleet: Context, actor_with: ActorWith
) -> None:
    fleet.folders.create_group("secret")
    for group in ("web", "secret"):
        fleet.folders.write_file(group, "both.txt", group.encode())
    (fleet.folders.shared / "secret" / "nul.txt").write_bytes(b"a\0b\n")
    with fleet.atomic():
        fleet.store.agents.set_groups(["002"], ["web", "secret"])
    reader = actor_with(
        [WEB_SYNCER, {"actions": ["group:read"], "resources": ["group:id:web"], "effect": "allow"}]
    )
    assert sync.explain_sync(reader, "002").conflicts == ()
    assert [line for line in sync.plan_sync(reader).warnings if "secret" in line] == []
    assert [conflict.name for conflict in sync.explain_sync(fleet, "002").conflicts] == ["both.txt"]
    assert len([line for line in sync.plan_sync(fleet).warnings if "secret" in line]) == 2


def test_names_of_files_are_told_to_readers_of_every_group_of_the_agent_only(
    fleet: Context, actor_with: ActorWith
) -> None:
    sync.run_sync(fleet)
    (fleet.folders.agents / "002" / "shared" / "packs" / "a.conf").write_bytes(b"changed there")
    reads_web = {"actions": ["group:read"], "resources": ["group:id:web"], "effect": "allow"}
    partly = sync.explain_sync(actor_with([WEB_SYNCER, reads_web]), "002")
    assert (partly.where.stage.name, partly.where.stage.why) == ("diverged", "changed there: 1 file")
    assert (partly.changes, partly.change_count) == ((), 1)
    whole = sync.explain_sync(fleet, "002")
    assert whole.where.stage.why == "changed there: `packs/a.conf`"
    assert [change.name for change in whole.changes] == ["packs/a.conf"]


@pytest.mark.parametrize("look", [sync.plan_sync, sync.run_sync])
def test_what_is_wrong_in_a_group_is_told_to_who_may_read_it(
    fleet: Context, actor_with: ActorWith, look: Callable[[Context], sync.SyncItems]
) -> None:
    folder = fleet.folders.shared / "web" / "merger-of-acme"
    folder.mkdir()
    (folder / "agent.conf").write_bytes(BAD)
    syncer = actor_with([WEB_SYNCER])
    (failure,) = look(syncer).failed
    assert (failure.ids, failure.error.problem) == (("002", "003"), "group `web` cannot be sent")
    assert "acme" not in repr((failure.error.facts(), failure.error.why, failure.error.fix))
    (failure,) = look(fleet).failed
    assert "merger-of-acme" in failure.error.problem
