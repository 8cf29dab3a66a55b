"""What a rollout holds when agents move or groups change meanwhile, and what promoting it may give to whom."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from mgmtctl.domain.errors import ConflictError, DeniedError
from mgmtctl.operations import rollouts, sync
from mgmtctl.operations.context import Context
from mgmtctl.operations.waiting import wait_for_sync
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import GOOD, add, shared, stage

OLD = GOOD.replace(b"no<", b"yes<")
LATER = GOOD.replace(b"  <client", b"   <client")
WEB, BOTH, DB = ("001", "002", "003"), "004", ("005", "006")


def give(ctx: Context, content: bytes, *groups: str) -> None:
    for group in groups:
        ctx.folders.write_file(group, "agent.conf", content)


def has(ctx: Context, content: bytes, *agents: str) -> set[str]:
    """Those of these agents whose agent.conf has the content."""
    return {agent for agent in agents if content in (shared(ctx, agent) / "agent.conf").read_bytes()}


def move(ctx: Context, agent: str, *groups: str) -> None:
    with ctx.store.atomic():
        ctx.store.agents.set_groups([agent], groups)


@pytest.fixture
def fleet(service: Context) -> Context:
    """001 to 003 of web, 004 of db and web, 005 and 006 of db, 007 of default; synced with OLD, x has nobody."""
    for group in ("web", "db", "x"):
        service.folders.create_group(group)
    give(service, OLD, "web", "db")
    for groups in (*[("web",)] * len(WEB), ("db", "web"), *[("db",)] * len(DB), ("default",)):
        add(service, *groups)
    sync.run_sync(service)
    return service


@pytest.fixture
def of_web(fleet: Context) -> str:
    """A rollout of web with one canary in web and one in db and web; an agent of web that is held."""
    give(fleet, GOOD, "web")
    canaries = rollouts.start_rollout(fleet, sample="2").canaries
    assert BOTH in canaries
    return min(set(WEB) - set(canaries))


# --- what may be promoted -----------------------------------------------------------------------------------------


@pytest.fixture
def without_canary(fleet: Context) -> rollouts.RolloutItems:
    """A rollout of web and db with one canary, in web."""
    give(fleet, GOOD, "web", "db")
    begun = rollouts.start_rollout(fleet, sample="1")
    assert set(begun.canaries) <= set(WEB)
    return begun


def test_content_that_no_canary_had_is_not_promoted(
    fleet: Context, without_canary: rollouts.RolloutItems
) -> None:
    give(fleet, LATER, "db")
    sync.run_sync(fleet)
    with pytest.raises(ConflictError, match="changed since rollout 1 began, without a canary") as caught:
        rollouts.promote_rollout(fleet)
    assert caught.value.why == "`db`: 2 agents\n`db,web`: 1 agent"
    assert str(caught.value.fix).startswith(
        "mgmtctl files rollback db --to 2, or mgmtctl sync promote 1 --cancel"
    )
    assert has(fleet, LATER, *WEB, BOTH, *DB) == set()


def test_a_change_that_the_canaries_took_is_for_their_combination_only(
    fleet: Context, without_canary: rollouts.RolloutItems
) -> None:
    give(fleet, LATER, "web")
    sync.run_sync(fleet)
    with pytest.raises(ConflictError) as caught:
        rollouts.promote_rollout(fleet)
    assert caught.value.why == "`db,web`: 1 agent"


def test_what_was_there_when_it_began_is_promoted_without_a_canary(
    fleet: Context, without_canary: rollouts.RolloutItems
) -> None:
    line = "no canary has what these agents get: 2 of `db`, 1 of `db,web`"
    assert line in without_canary.warnings
    report = rollouts.promote_rollout(fleet)
    assert line in report.warnings
    assert has(fleet, GOOD, *WEB, BOTH, *DB) == {*WEB, BOTH, *DB}


def test_with_a_canary_in_each_combination_nothing_is_said(fleet: Context, of_web: str) -> None:
    assert not [line for line in rollouts.promote_rollout(fleet).warnings if "canary" in line]


def test_without_any_canary_left_no_later_change_is_taken_over(fleet: Context) -> None:
    give(fleet, GOOD, "web")
    for canary in rollouts.start_rollout(fleet, ["001", "002"], sample="1").canaries:
        with fleet.store.atomic():
            fleet.store.agents.delete([canary])
    before = fleet.store.rollouts.get(1).aims
    give(fleet, LATER, "web")
    sync.run_sync(fleet)
    assert fleet.store.rollouts.get(1).aims == before
    with pytest.raises(ConflictError, match="without a canary"):
        rollouts.promote_rollout(fleet)


# --- whom it holds ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "groups", [("web", "default"), ("x", "web"), ("db", "web"), ("web", "db")], ids="-".join
)
def test_a_held_agent_that_moves_stays_held(fleet: Context, of_web: str, groups: tuple[str, ...]) -> None:
    move(fleet, of_web, *groups)
    sync.run_sync(fleet)
    assert stage(fleet, of_web) == "held"
    assert has(fleet, GOOD, of_web) == set()
    move(fleet, of_web, "web")
    sync.run_sync(fleet, [of_web])
    assert has(fleet, GOOD, of_web) == set()


def test_a_new_member_of_a_group_under_rollout_is_held(fleet: Context, of_web: str) -> None:
    move(fleet, "005", "db", "x", "web")
    new = add(fleet, "x", "web")
    sync.run_sync(fleet)
    assert (stage(fleet, "005"), stage(fleet, new)) == ("held", "held")


def test_agents_of_other_groups_are_not_held(fleet: Context, of_web: str) -> None:
    give(fleet, LATER, "db")
    move(fleet, of_web, "x", "db")
    move(fleet, "007", "x", "default")
    sync.run_sync(fleet)
    assert has(fleet, LATER, *DB, of_web) == {*DB, of_web}
    assert stage(fleet, "007") == "synced"


@pytest.mark.parametrize("way", ["promote", "cancel", "rollback"])
def test_an_agent_that_moved_is_freed_when_the_rollout_ends(fleet: Context, of_web: str, way: str) -> None:
    move(fleet, of_web, "x", "web")
    if way == "promote":
        rollouts.promote_rollout(fleet)
        assert has(fleet, GOOD, *WEB) == set(WEB) - {of_web}
    elif way == "cancel":
        rollouts.cancel_rollout(fleet)
    else:
        give(fleet, OLD, "web")
    sync.run_sync(fleet)
    assert stage(fleet, of_web) == "synced"
    assert fleet.store.rollouts.open() == []


def test_a_rollout_whose_agents_all_moved_still_holds_them(fleet: Context) -> None:
    give(fleet, GOOD, "web")
    rollouts.start_rollout(fleet, sample="1")
    for agent in (*WEB, BOTH):
        move(fleet, agent, "x", "web")
    held = has(fleet, OLD, *WEB, BOTH)
    for _ in range(2):
        sync.run_sync(fleet)
        assert has(fleet, OLD, *WEB, BOTH) == held
    assert fleet.store.rollouts.get(1).state == "open"


def test_a_rollout_of_named_agents_is_about_all_agents_of_the_changed_group(fleet: Context) -> None:
    give(fleet, GOOD, "web")
    rollouts.start_rollout(fleet, ["001", "002"], sample="1")
    sync.run_sync(fleet)
    assert stage(fleet, BOTH) == "held"
    rollouts.promote_rollout(fleet)
    assert has(fleet, GOOD, *WEB, BOTH) == {*WEB, BOTH}


def test_who_holds_a_changed_group_back_may_reconnect_all_its_agents(
    fleet: Context, actor_with: ActorWith
) -> None:
    give(fleet, GOOD, "web")
    rules = {"actions": ["agent:reconnect"], "effect": "allow"}
    some = actor_with([{**rules, "resources": [f"agent:id:{agent}" for agent in WEB]}], name="some")
    with pytest.raises(DeniedError, match="every agent of `web`"):
        rollouts.start_rollout(some, list(WEB), sample="1")
    team = actor_with([{**rules, "resources": ["agent:group:web"]}], name="team")
    assert rollouts.start_rollout(team, list(WEB), sample="1").rollout == "1"


def test_who_has_the_promoted_to_be_target_is_repaired_wherever_it_is(fleet: Context, of_web: str) -> None:
    move(fleet, "007", "web", "x")
    with fleet.store.atomic():
        fleet.store.database.execute("UPDATE rollouts SET state = 'cancelled'")
    sync.run_sync(fleet, ["007"])
    with fleet.store.atomic():
        fleet.store.database.execute("UPDATE rollouts SET state = 'open'")
    (shared(fleet, "007") / "agent.conf").write_bytes(b"mine")
    sync.run_sync(fleet)
    assert has(fleet, GOOD, "007") == {"007"}


def test_an_agent_held_by_one_rollout_begins_no_other(fleet: Context, of_web: str) -> None:
    move(fleet, of_web, "x", "web")
    with pytest.raises(ConflictError, match="held back by rollout 1"):
        rollouts.start_rollout(fleet, [of_web])


# --- which groups changed -----------------------------------------------------------------------------------------


def changed(ctx: Context) -> set[str]:
    return set(ctx.store.rollouts.get(1).changed)


def test_only_the_groups_that_changed_count(fleet: Context, of_web: str) -> None:
    assert changed(fleet) == {"web"}


def test_a_group_that_its_agents_were_never_given_counts(fleet: Context) -> None:
    add(fleet, "db", "x")
    rollouts.start_rollout(fleet)
    assert changed(fleet) == {"x"}


def test_a_group_that_others_have_does_not_count_for_who_joins(fleet: Context) -> None:
    move(fleet, "007", "web")
    rollouts.start_rollout(fleet)
    assert changed(fleet) == set()


def test_without_the_memory_of_what_was_given_every_group_counts(fleet: Context) -> None:
    give(fleet, GOOD, "web")
    with fleet.store.atomic():
        fleet.store.database.execute("DELETE FROM manifests")
    rollouts.start_rollout(fleet, [BOTH])
    assert changed(fleet) == {"db", "web"}


def test_another_ar_conf_is_no_change_of_a_group(fleet: Context) -> None:
    (fleet.folders.agents.parent / "shared" / "ar.conf").write_text("restart0 - restart.sh - 0\n")
    begun = rollouts.start_rollout(fleet, group="web")
    assert (begun.held, changed(fleet)) == (3, set())


def test_a_plan_holds_an_agent_that_moved_too(fleet: Context, of_web: str) -> None:
    move(fleet, of_web, "x", "web")
    plan = sync.plan_sync(fleet, [of_web])
    assert (plan.affected, plan.held) == ([], 1)


def test_a_hold_stays_while_its_agents_are_elsewhere(fleet: Context) -> None:
    give(fleet, GOOD, "web")
    rollouts.start_rollout(fleet, sample="1")
    for agent in (*WEB, BOTH):
        move(fleet, agent, "x")
    sync.run_sync(fleet)
    for agent in WEB:
        move(fleet, agent, "web")
    sync.run_sync(fleet)
    assert len(has(fleet, GOOD, *WEB)) == 1
    assert fleet.store.rollouts.get(1).state == "open"


@pytest.mark.parametrize("way", ["rollback", "removal"])
def test_a_hold_on_nobody_ends_with_what_it_brings(fleet: Context, way: str) -> None:
    give(fleet, GOOD, "web")
    rollouts.start_rollout(fleet, sample="1")
    for agent in (*WEB, BOTH):
        move(fleet, agent, "x")
    if way == "rollback":
        give(fleet, OLD, "web")
    else:
        with fleet.folders.deleting_group("web", []):
            pass
    sync.run_sync(fleet)
    assert fleet.store.rollouts.get(1).state == "withdrawn"


# --- pushes that were cut short -----------------------------------------------------------------------------------


def cut_short(ctx: Context, push: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> str:
    """The agent whose push ended after its new agent.conf, before its merged.mg."""
    rename = os.rename

    def ending(source: str, to: str, **named: int) -> None:
        if to == "merged.mg":
            raise KeyboardInterrupt
        rename(source, to, **named)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(os, "rename", ending)
        push()
    (mixed,) = (path.parent.parent.name for path in ctx.folders.agents.glob("*/shared/.mgmtctl-sync"))
    return mixed


def test_a_push_that_a_hold_finds_half_done_is_finished(
    fleet: Context, of_web: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed = cut_short(fleet, lambda: rollouts.promote_rollout(fleet), monkeypatch)
    assert stage(fleet, mixed) == "stale"
    report = sync.run_sync(fleet)
    assert ([one.id for one in report.affected], report.held) == ([mixed], 1)
    assert stage(fleet, mixed) == "synced"
    assert not list(fleet.folders.agents.glob("*/shared/.mgmtctl-*"))


def test_a_rollout_that_begins_finishes_what_is_half_done(
    fleet: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(fleet, LATER, "web")
    mixed = cut_short(fleet, lambda: sync.run_sync(fleet), monkeypatch)
    give(fleet, GOOD, "web")
    report = rollouts.start_rollout(fleet, sample="1")
    assert {one.id for one in report.affected} == {*report.canaries, mixed}
    assert not list(fleet.folders.agents.glob("*/shared/.mgmtctl-*"))


def test_an_agent_that_was_only_announced_stays_held(fleet: Context, of_web: str) -> None:
    with fleet.store.atomic():
        fleet.store.sync_state.begin([int(of_web)])
    sync.run_sync(fleet)
    assert (stage(fleet, of_web), has(fleet, GOOD, of_web)) == ("held", set())


def test_a_held_agent_says_what_was_changed_there(fleet: Context, of_web: str) -> None:
    why = "kept back by rollout 1 until it is promoted"
    assert sync.explain_sync(fleet, of_web).where.stage.why == why
    (shared(fleet, of_web) / "agent.conf").write_bytes(b"mine")
    assert sync.explain_sync(fleet, of_web).where.stage.why == f"{why}; changed there: `agent.conf`"
    waiting = wait_for_sync(fleet, list(WEB))
    assert waiting.notes == (f"2 agents are {why}: mgmtctl sync promote 1",)
