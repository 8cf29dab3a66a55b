"""Rollouts: canaries first, the others held, then promoted, cancelled or withdrawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from mgmtctl.domain.errors import ConflictError, DeniedError, NotFoundError, QuestionError
from mgmtctl.operations import rollouts, sync
from mgmtctl.operations.context import Context
from mgmtctl.operations.sync_run import Unwatched
from mgmtctl.operations.waiting import wait_for_sync
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import BAD, GOOD, add, shared, stage, status

OLD = GOOD.replace(b"no<", b"yes<")


def give(ctx: Context, content: bytes, group: str = "web") -> None:
    ctx.folders.write_file(group, "agent.conf", content)


def has(ctx: Context, *agents: str) -> set[str]:
    """Those of these agents that hold GOOD."""
    return {agent for agent in agents if (shared(ctx, agent) / "agent.conf").read_bytes() == GOOD}


WEB = tuple(f"{number:03}" for number in range(1, 7))


@pytest.fixture
def fleet(service: Context) -> Context:
    """Agents 001 to 006 of web and 007 of default, synced with OLD; then web got GOOD."""
    service.folders.create_group("web")
    give(service, OLD)
    for _ in WEB:
        add(service, "web")
    add(service, "default")
    sync.run_sync(service)
    give(service, GOOD)
    return service


@contextmanager
def dry(ctx: Context) -> Iterator[Context]:
    from dataclasses import replace

    ctx.store.dry_run = True
    yield replace(ctx, dry_run=True)
    ctx.store.dry_run = False


def started(ctx: Context, canary: str = "2", abort_if: str | None = None) -> tuple[str, ...]:
    return rollouts.start_rollout(ctx, sample=canary, abort_if=abort_if).canaries


def state_of(ctx: Context, number: int = 1) -> str:
    return ctx.store.rollouts.get(number).state


def test_canaries_get_it_and_the_others_are_held(fleet: Context) -> None:
    found = rollouts.start_rollout(fleet, sample="2")
    assert (found.rollout, len(found.affected), found.held, found.unchanged) == ("1", 2, 4, 1)
    assert has(fleet, *WEB) == set(found.canaries)
    assert {one.record()["chosen"] for one in found.affected} == {
        "1 of 6 agents of web on an unknown system",
        "2 of 6 agents of web on an unknown system",
    }
    again = sync.run_sync(fleet)
    assert (len(again.affected), again.held, again.unchanged, again.failed) == (0, 4, 3, ())
    held = (set(WEB) - set(found.canaries)).pop()
    assert stage(fleet, held) == "held"
    assert status(fleet, held) == "not synced"
    assert stage(fleet, found.canaries[0]) == "synced"


def test_every_view_says_held(fleet: Context) -> None:
    canaries = started(fleet)
    plan = sync.plan_sync(fleet)
    assert (len(plan.affected), plan.held) == (0, 4)
    stages = {entry.id: entry.stage.name for entry in sync.sync_status(fleet).affected}
    assert {agent for agent, name in stages.items() if name == "held"} == set(WEB) - set(canaries)
    with dry(fleet) as trial:
        assert sync.run_sync(trial).held == 4


def test_an_agent_named_alone_is_held_too(fleet: Context) -> None:
    held = (set(WEB) - set(started(fleet))).pop()
    assert (sync.run_sync(fleet, [held]).held, has(fleet, held)) == (1, set())


def test_promote_gives_it_to_the_others(fleet: Context) -> None:
    started(fleet, abort_if="disconnected>0")
    report = rollouts.promote_rollout(fleet)
    assert (len(report.affected), report.unchanged, report.held, report.state) == (4, 2, 0, "promoted")
    assert has(fleet, *WEB) == set(WEB)
    assert state_of(fleet) == "promoted"
    with pytest.raises(ConflictError, match="no rollout is open"):
        rollouts.promote_rollout(fleet)
    with pytest.raises(ConflictError, match="promoted already"):
        rollouts.promote_rollout(fleet, "1")


def test_rollback_releases_everybody_and_withdraws(fleet: Context) -> None:
    canaries = started(fleet)
    give(fleet, OLD)
    report = sync.run_sync(fleet)
    assert ({one.id for one in report.affected}, report.held) == (set(canaries), 0)
    assert has(fleet, *WEB) == set()
    assert state_of(fleet) == "withdrawn"
    assert report.warnings == ("rollout 1 is withdrawn: it holds nobody back any more",)
    assert stage(fleet, "001") == "synced"


def test_promote_of_what_was_rolled_back_withdraws_it(fleet: Context) -> None:
    canaries = started(fleet)
    give(fleet, OLD)
    report = rollouts.promote_rollout(fleet)
    assert (report.state, report.affected) == ("withdrawn", ())
    assert has(fleet, *WEB) == set(canaries)


def test_a_further_change_stays_held_until_the_canaries_have_it(fleet: Context) -> None:
    canaries = started(fleet)
    give(fleet, GOOD.replace(b"client_buffer", b"labels").replace(b"disabled", b"label"))
    if sync.plan_sync(fleet).failed:  # whatever the lint says of it
        give(fleet, GOOD + b"\n")
    with pytest.raises(ConflictError, match="changed since its canaries"):
        rollouts.promote_rollout(fleet)
    assert state_of(fleet) == "open"
    report = sync.run_sync(fleet)
    assert ({one.id for one in report.affected}, report.held) == (set(canaries), 4)
    assert len(rollouts.promote_rollout(fleet).affected) == 4


def test_the_next_step_of_who_is_held_is_the_one_that_helps(fleet: Context, actor_with: ActorWith) -> None:
    canaries = started(fleet)
    held = (set(WEB) - set(canaries)).pop()
    assert sync.explain_sync(fleet, held).where.stage.next_step == "mgmtctl sync promote 1"
    give(fleet, GOOD + b"\n")
    run = f"mgmtctl sync run {' '.join(canaries)}"
    assert sync.explain_sync(fleet, held).where.stage.next_step == f"{run}, then mgmtctl sync promote 1"
    alone = actor_with([reader(f"agent:id:{held}")], name="alone")
    where = sync.explain_sync(alone, held).where
    assert where.stage.next_step == "mgmtctl sync promote 1"
    sync.run_sync(fleet, list(canaries))
    assert sync.explain_sync(fleet, held).where.stage.next_step == "mgmtctl sync promote 1"


def reader(*resources: str) -> dict[str, object]:
    return {"actions": ["agent:read"], "resources": list(resources), "effect": "allow"}


def test_a_sick_canary_says_no(fleet: Context) -> None:
    canaries = started(fleet)
    (shared(fleet, canaries[0]) / "agent.conf").write_bytes(b"mine")
    with pytest.raises(rollouts.NotReadyError) as caught:
        rollouts.promote_rollout(fleet)
    assert [one.where.id for one in caught.value.canaries] == [canaries[0]]
    assert f"{canaries[0]} agent{int(canaries[0])}: diverged" in str(caught.value.why)
    assert has(fleet, *WEB) == {canaries[1]}
    sync.run_sync(fleet)
    assert len(rollouts.promote_rollout(fleet).affected) == 4


def silence(ctx: Context, agent: str) -> None:
    ctx.store.database.execute("UPDATE agents SET last_keep_alive = 1 WHERE id = ?", (int(agent),))


def test_the_abort_condition_says_no(fleet: Context) -> None:
    canaries = started(fleet, abort_if="disconnected>=50%")
    silence(fleet, canaries[1])
    with pytest.raises(rollouts.NotReadyError) as caught:
        rollouts.promote_rollout(fleet)
    assert caught.value.abort == ("1 of 2 canaries disconnected (disconnected>=50%)",)
    assert "mgmtctl files rollback web" in str(caught.value.fix)
    assert caught.value.facts()["rollout"] == "1"


def test_a_canary_that_could_not_be_written_to_is_not_promoted(fleet: Context) -> None:
    with dry(fleet) as trial:
        (canary,) = rollouts.start_rollout(trial, sample="1").canaries
    folder = shared(fleet, canary)
    folder.rename(folder.with_name("aside"))
    folder.symlink_to("/nowhere")
    report = rollouts.start_rollout(fleet, sample="1")
    assert (report.canaries, len(report.failed), report.held) == ((canary,), 1, 5)
    with pytest.raises(rollouts.NotReadyError, match="rollout 1 is not ready"):
        rollouts.promote_rollout(fleet)
    assert fleet.store.rollouts.get(1).canaries[int(canary)].failure is not None
    folder.unlink()
    folder.with_name("aside").rename(folder)
    sync.run_sync(fleet)
    assert fleet.store.rollouts.get(1).canaries[int(canary)].failure is None
    assert len(rollouts.promote_rollout(fleet).affected) == 5


def test_without_a_canary_nobody_can_say_that_it_is_well(fleet: Context) -> None:
    for canary in started(fleet, "1"):
        with fleet.store.atomic():
            fleet.store.agents.delete([canary])
    with pytest.raises(rollouts.NotReadyError, match="not ready") as caught:
        rollouts.promote_rollout(fleet)
    assert caught.value.why == "none of its canaries is left in its groups"
    assert rollouts.cancel_rollout(fleet).state == "cancelled"


def test_cancel_ends_the_hold_without_pushing(fleet: Context) -> None:
    canaries = started(fleet)
    assert rollouts.cancel_rollout(fleet, "1").state == "cancelled"
    assert has(fleet, *WEB) == set(canaries)
    report = sync.run_sync(fleet)
    assert (len(report.affected), report.held) == (4, 0)


def test_a_dry_run_begins_and_ends_nothing(fleet: Context) -> None:
    with dry(fleet) as trial:
        report = rollouts.start_rollout(trial, sample="2")
    assert (len(report.affected), report.held, report.rollout) == (2, 4, None)
    assert fleet.store.rollouts.open() == []
    assert rollouts.start_rollout(fleet, sample="2").canaries == report.canaries
    with dry(fleet) as trial:
        assert len(rollouts.promote_rollout(trial).affected) == 4
        rollouts.cancel_rollout(trial)
    assert state_of(fleet) == "open"
    assert has(fleet, *WEB) == set(report.canaries)


def test_nothing_to_do_begins_no_rollout(fleet: Context) -> None:
    sync.run_sync(fleet)
    report = rollouts.start_rollout(fleet, sample="50%")
    assert (report.rollout, report.affected, report.unchanged) == (None, [], 7)
    assert fleet.store.rollouts.open() == []


def test_held_agents_are_in_one_rollout_only(fleet: Context) -> None:
    started(fleet)
    with pytest.raises(ConflictError, match="held back by rollout 1"):
        started(fleet)
    give(fleet, GOOD, "default")
    second = rollouts.start_rollout(fleet, sample="1")
    assert (second.rollout, second.canaries, second.held) == ("2", ("007",), 4)
    with pytest.raises(QuestionError, match="2 rollouts are open"):
        rollouts.promote_rollout(fleet)
    assert rollouts.promote_rollout(fleet, "2").state == "promoted"
    assert rollouts.promote_rollout(fleet).rollout == "1"


def test_more_than_allowed_begins_nothing(fleet: Context) -> None:
    with pytest.raises(rollouts.AffectedError):
        rollouts.start_rollout(fleet, sample="2", max_affected=1)
    assert fleet.store.rollouts.open() == []
    started(fleet)
    with pytest.raises(rollouts.AffectedError):
        rollouts.promote_rollout(fleet, max_affected=3)
    assert state_of(fleet) == "open"


def test_a_damaged_folder_of_a_canary_or_of_who_has_it_already_is_repaired(fleet: Context) -> None:
    sync.run_sync(fleet, ["001"])
    canaries = started(fleet)
    assert "001" not in canaries
    for agent in ("001", canaries[0]):
        (shared(fleet, agent) / "agent.conf").write_bytes(b"mine")
    report = sync.run_sync(fleet)
    assert ({one.id for one in report.affected}, report.held) == ({"001", canaries[0]}, 3)


class StopAfter(Unwatched):
    """Stops a run after so many agents."""

    def __init__(self, count: int) -> None:
        self.left = count

    def step(self) -> None:
        self.left -= 1
        self.stopped = self.left <= 0


def test_a_promote_that_was_stopped_is_finished_by_the_next(fleet: Context) -> None:
    started(fleet)
    with pytest.raises(sync.StoppedError) as stopped:
        rollouts.promote_rollout(fleet, watch=StopAfter(1))
    assert stopped.value.report.warnings[-1] == "rollout 1 is still open: promote it again to go on"
    assert state_of(fleet) == "open"
    assert sync.run_sync(fleet).held == 3
    assert (len(rollouts.promote_rollout(fleet).affected), state_of(fleet)) == (3, "promoted")


def test_what_changes_after_the_canaries_were_looked_at_is_not_pushed(
    fleet: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    canaries = started(fleet)
    time.sleep(0.05)  # so that the group need not be read again
    sync.run_sync(fleet)
    check: Callable[..., None] = rollouts.require_well

    def checked_then_edited(*words: object) -> None:
        check(*words)
        give(fleet, OLD + b"\n\n")

    monkeypatch.setattr(rollouts, "require_well", checked_then_edited)
    report = rollouts.promote_rollout(fleet)
    assert report.affected == []
    assert {problem.error.problem for problem in report.failed} == {
        "groups `web` changed since the canaries were looked at"
    }
    assert has(fleet, *WEB) == set(canaries)


def test_an_invalid_group_is_blocked_not_held(fleet: Context) -> None:
    started(fleet)
    give(fleet, BAD)
    report = sync.run_sync(fleet)
    assert (report.held, sum(len(failure.ids) for failure in report.failed)) == (0, 6)
    with pytest.raises(rollouts.NotReadyError):
        rollouts.promote_rollout(fleet)


def reconnect(*resources: str) -> dict[str, object]:
    return {"actions": ["agent:reconnect", "agent:read"], "resources": list(resources), "effect": "allow"}


def test_a_rollout_is_for_whoever_may_reconnect_every_agent_of_its_groups(
    fleet: Context, actor_with: ActorWith
) -> None:
    one = actor_with([reconnect("agent:id:001")], name="one")
    with pytest.raises(DeniedError, match="holds back every agent of `web`"):
        rollouts.start_rollout(one, sample="1")
    assert fleet.store.rollouts.open() == []
    team = actor_with([reconnect("agent:group:web")], name="team")
    assert rollouts.start_rollout(team, sample="1").rollout == "1"
    for refused in (rollouts.promote_rollout, rollouts.cancel_rollout):
        with pytest.raises(DeniedError):
            refused(one, "1")
        with pytest.raises(DeniedError):
            refused(one, "2")
        with pytest.raises(ConflictError, match="no rollout is open"):
            refused(one)
    assert rollouts.promote_rollout(team).state == "promoted"


def test_unknown_rollouts_are_not_found(fleet: Context) -> None:
    for name in ("7", "x", "9" * 30):
        with pytest.raises(NotFoundError):
            rollouts.promote_rollout(fleet, name)


def test_held_agents_of_others_are_not_counted(fleet: Context, actor_with: ActorWith) -> None:
    started(fleet)
    held = sorted(agent for agent in WEB if stage(fleet, agent) == "held")
    limited = actor_with([reconnect(f"agent:id:{held[0]}", "agent:id:007")], name="limited")
    assert sync.run_sync(limited).held == 1


def test_waiting_looks_until_all_use_it(fleet: Context) -> None:
    waiting = wait_for_sync(fleet, group="web")
    assert (waiting.meant, len(waiting.affected)) == (6, 6)
    assert waiting.again is not None
    started(fleet)
    look = waiting.again()
    assert {where.stage.name for where in look.affected} == {"held"}
    assert (waiting.notes, dict(look.counts)) == ((), {"held": 4, "synced": 2})
    assert look.notes == ("4 agents are kept back by rollout 1 until it is promoted: mgmtctl sync promote 1",)
    rollouts.promote_rollout(fleet)
    assert waiting.again().affected == []


def test_waiting_needs_the_right_on_each_agent(fleet: Context, actor_with: ActorWith) -> None:
    limited = actor_with([reconnect("agent:id:001")], name="limited")
    assert wait_for_sync(limited).meant == 1
    named = wait_for_sync(limited, ["001", "002"])
    assert ([failure.ids for failure in named.failed], named.meant) == ([("002",)], 1)
    with pytest.raises(DeniedError):
        wait_for_sync(limited, ["002"])
    with pytest.raises(DeniedError):
        wait_for_sync(actor_with([], name="nobody"))
    with pytest.raises(NotFoundError):
        wait_for_sync(fleet, group="nosuch")


def test_names_of_files_are_for_readers_of_all_groups(fleet: Context, actor_with: ActorWith) -> None:
    limited = actor_with([reconnect("agent:group:web")], name="limited")
    record = sync.plan_sync(limited, ["001"]).affected[0].record()
    assert (record["changes"], record["summary"]) == ([], "2 updated")


def test_a_canary_that_waits_for_a_restart_does_not_use_it_yet(fleet: Context) -> None:
    with dry(fleet) as trial:
        (canary,) = rollouts.start_rollout(trial, sample="1").canaries
    local = b"<local_config><client><auto_restart>no</auto_restart></client></local_config>\n"
    (shared(fleet, canary).parent / "local.conf").write_bytes(local)
    assert started(fleet, "1", "pending-restart>0") == (canary,)
    assert stage(fleet, canary) == "pending-restart"
    with pytest.raises(rollouts.NotReadyError) as caught:
        rollouts.promote_rollout(fleet)
    assert caught.value.abort == ("1 of 1 canaries pending-restart (pending-restart>0)",)
    assert str(caught.value.canaries[0].problem).startswith("pending-restart: ")
    fleet.store.database.execute("UPDATE sync_state SET running = digest")  # as after a restart
    assert rollouts.promote_rollout(fleet).state == "promoted"
