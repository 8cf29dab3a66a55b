"""Sync for somebody who may not touch every agent, or read every group."""

from __future__ import annotations

import os

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
    assert sync.run_sync(reader) == sync.SyncItems([])
    assert os.listdir(fleet.folders.agents) == []


def test_findings_in_a_group_are_shown_to_its_readers_only(fleet: Context, actor_with: ActorWith) -> None:
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    syncer = actor_with([WEB_SYNCER])
    explained = sync.explain_sync(syncer, "003")
    assert explained.where.stage.name == "blocked by an invalid group"
    assert explained.findings == ()
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
