"""How a rollout ends: what leads back, what a promote leaves open, and who waits for whom."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.operations import history, rollouts, sync
from mgmtctl.operations.context import Context
from mgmtctl.operations.sync_run import Unwatched
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import BAD, GOOD, add, shared, stage

OLD = GOOD.replace(b"no<", b"yes<")
LATER = GOOD.replace(b"  <client", b"   <client")
WEB, BOTH, DB = ("001", "002", "003"), "004", ("005", "006")


def give(ctx: Context, content: bytes, *groups: str) -> None:
    for group in groups:
        ctx.folders.write_file(group, "agent.conf", content)


@pytest.fixture
def fleet(service: Context) -> Context:
    """001 to 003 of web, 004 of db and web, 005 and 006 of db; synced with OLD, then web got GOOD."""
    for group in ("web", "db"):
        service.folders.create_group(group)
    give(service, OLD, "web", "db")
    for groups in (*[("web",)] * len(WEB), ("db", "web"), *[("db",)] * len(DB)):
        add(service, *groups)
    sync.run_sync(service)
    give(service, GOOD, "web")
    return service


@contextmanager
def dry(ctx: Context) -> Iterator[Context]:
    ctx.store.dry_run = True
    yield replace(ctx, dry_run=True)
    ctx.store.dry_run = False


def state(ctx: Context) -> str:
    return ctx.store.rollouts.get(1).state


# --- back ---------------------------------------------------------------------------------------------------------


def test_the_way_back_is_to_what_most_had_whatever_came_after(fleet: Context) -> None:
    begun = rollouts.start_rollout(fleet, sample="2")
    assert begun.back == ("mgmtctl files rollback web --to 1",)
    give(fleet, LATER, "web")
    sync.run_sync(fleet)
    (shared(fleet, begun.canaries[0]) / "agent.conf").write_bytes(b"mine")
    history.rollback_files(fleet, "web", to="1")
    sync.run_sync(fleet)
    assert state(fleet) == "withdrawn"
    assert {stage(fleet, agent) for agent in (*WEB, BOTH)} == {"synced"}


def test_without_anything_before_there_is_no_way_back(service: Context) -> None:
    service.folders.create_group("web")
    give(service, GOOD, "web")
    for _ in WEB:
        add(service, "web")
    begun = rollouts.start_rollout(service, sample="1", abort_if="disconnected>=0")
    assert begun.back == ()
    with pytest.raises(rollouts.NotReadyError) as caught:
        rollouts.promote_rollout(service)
    assert caught.value.fix == (
        f"change the groups, then mgmtctl sync run {begun.canaries[0]}, or mgmtctl sync promote 1 --cancel"
    )


def test_the_way_back_names_no_group_that_may_not_be_read(fleet: Context, actor_with: ActorWith) -> None:
    team = actor_with(
        [{"actions": ["agent:reconnect"], "resources": ["agent:group:web"], "effect": "allow"}], name="team"
    )
    assert rollouts.start_rollout(team, sample="1").back == ("mgmtctl files rollback GROUP --to REVISION",)


# --- promote ------------------------------------------------------------------------------------------------------


def test_a_promote_leaves_open_what_is_blocked(fleet: Context) -> None:
    give(fleet, GOOD, "db")
    begun = rollouts.start_rollout(fleet, list(WEB), sample="1")
    give(fleet, BAD, "db")
    report = rollouts.promote_rollout(fleet)
    assert (report.state, state(fleet), len(report.affected)) == ("open", "open", 2)
    assert [failure.ids for failure in report.failed] == [(BOTH,)]
    give(fleet, LATER, "db")
    sync.run_sync(fleet, [BOTH])
    assert stage(fleet, BOTH) == "held"
    give(fleet, GOOD, "db")
    assert (rollouts.promote_rollout(fleet).state, begun.rollout) == ("promoted", "1")


class Ending(Unwatched):
    """Ends the rollout as soon as the first agent was written to."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx

    def step(self) -> None:
        with self._ctx.atomic():
            self._ctx.store.rollouts.end(1, "withdrawn", 0, "ann")


def test_a_promote_tells_the_state_that_is_stored(fleet: Context) -> None:
    rollouts.start_rollout(fleet, sample="2")
    report = rollouts.promote_rollout(fleet, watch=Ending(fleet))
    assert (report.state, state(fleet)) == ("withdrawn", "withdrawn")


# --- cancel -------------------------------------------------------------------------------------------------------


def test_cancel_waits_for_who_pushes(fleet: Context) -> None:
    rollouts.start_rollout(fleet, sample="1")
    with fleet.folders.lock("sync", "mgmtctl sync promote"):
        with pytest.raises(UnavailableError, match="mgmtctl sync promote"):
            rollouts.cancel_rollout(fleet)
        assert rollouts.cancel_rollout(fleet, if_locked="skip").skipped
        assert state(fleet) == "open"
    assert rollouts.cancel_rollout(fleet).state == "cancelled"


# --- words --------------------------------------------------------------------------------------------------------


def test_a_second_rollout_counts_its_own_as_its_own(fleet: Context) -> None:
    rollouts.start_rollout(fleet, list(WEB), sample="1")
    for _ in range(2):
        add(fleet, "default")
    with dry(fleet) as trial:
        assert rollouts.start_rollout(trial, sample="1").held_by == ()
    second = rollouts.start_rollout(fleet, sample="1")
    assert (second.held, second.held_by) == (4, ("1", "2"))


def test_a_canary_that_was_changed_there_needs_a_run(fleet: Context) -> None:
    (canary, _) = rollouts.start_rollout(fleet, sample="2").canaries
    (shared(fleet, canary) / "agent.conf").write_bytes(b"mine")
    with pytest.raises(rollouts.NotReadyError) as caught:
        rollouts.promote_rollout(fleet)
    assert caught.value.fix == f"mgmtctl sync run {canary}, then mgmtctl sync promote 1"


def test_a_canary_that_waits_for_a_restart_is_waited_for(fleet: Context) -> None:
    canaries = rollouts.start_rollout(fleet, sample="2").canaries
    fleet.store.database.execute("UPDATE sync_state SET running = ''")
    for canary in canaries:
        local = b"<local_config><client><auto_restart>no</auto_restart></client></local_config>\n"
        (shared(fleet, canary).parent / "local.conf").write_bytes(local)
    (shared(fleet, canaries[0]) / "agent.conf").write_bytes(b"mine")
    with pytest.raises(rollouts.NotReadyError) as caught:
        rollouts.promote_rollout(fleet)
    assert caught.value.fix == (
        f"mgmtctl sync run {canaries[0]}, then mgmtctl sync wait {' '.join(canaries)},"
        " then mgmtctl sync promote 1"
    )
