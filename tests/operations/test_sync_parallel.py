"""Looking and pushing in several processes at once: the same verdicts and the same files as in one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl.domain.errors import MgmtctlError, UnavailableError
from mgmtctl.domain.groups import DEFAULT_GROUP
from mgmtctl.folders import agents as agent_folders
from mgmtctl.folders.beside import Beside, Lost
from mgmtctl.folders.pushing import MARKER
from mgmtctl.operations import sync
from mgmtctl.operations.context import Context
from mgmtctl.operations.pushes import WORTH_FORKS
from mgmtctl.operations.sync_run import Unwatched, Work
from mgmtctl.operations.sync_work import opened
from mgmtctl.store.agents import NewAgent
from tests.faults import Faults, act
from tests.operations.sync_fleet import GOOD, shared, stage

# A fork is safe here: it does nothing but work on files, and the other threads of a test run wait for messages.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

AGENTS = 90
assert AGENTS > WORTH_FORKS
COMBINATIONS = ("web", f"{DEFAULT_GROUP},web", DEFAULT_GROUP)


@pytest.fixture
def fleet(service: Context) -> Context:
    """90 agents of three combinations, never synced."""
    service.folders.create_group("web")
    service.folders.write_file("web", "agent.conf", GOOD)
    service.folders.write_file("web", "packs/a.conf", b"a")
    with service.store.atomic():
        first = service.store.agents.claim(AGENTS)
        service.store.agents.add(
            [
                NewAgent(first + n, f"agent{first + n}", "any", "k" * 64, COMBINATIONS[n % 3])
                for n in range(AGENTS)
            ],
            0,
        )
    return service


def names() -> list[str]:
    return [f"{number:03}" for number in range(1, AGENTS + 1)]


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def every_folder(fleet: Context) -> dict[str, dict[str, bytes]]:
    return {agent: held(shared(fleet, agent)) for agent in names()}


def run(ctx: Context, processes: int, watch: Unwatched | None = None) -> Work:
    """A run with so many processes."""
    with opened(ctx, keep=True) as opened_run:
        work = replace(opened_run, processes=processes).sort_out(ctx.store.sync_state.seen(None))
        replace(opened_run, processes=processes).push_all(work, watch or Unwatched())
    return work


def statuses(ctx: Context) -> dict[str, int]:
    rows = ctx.store.database.rows("SELECT group_config_status, count(*) FROM agents GROUP BY 1")
    return dict(rows)


class Counting(Unwatched):
    """Counts, and stops the run after so many agents."""

    def __init__(self, most: int = AGENTS) -> None:
        self.total = self.steps = 0
        self.most = most

    def begin(self, total: int) -> None:
        self.total = total

    def step(self) -> None:
        self.steps += 1
        self.stopped = self.steps >= self.most


@pytest.mark.parametrize("processes", [2, 3])
def test_several_processes_write_what_one_writes(fleet: Context, processes: int) -> None:
    watch = Counting()
    work = run(fleet, processes, watch)
    assert (watch.total, watch.steps, len(work.changed), work.failed) == (AGENTS, AGENTS, AGENTS, [])
    assert statuses(fleet) == {"synced": AGENTS}
    found = every_folder(fleet)
    rows = {row[0]: row[1] for row in fleet.store.database.rows("SELECT agent_id, look FROM sync_state")}
    assert None not in rows.values()
    fleet.folders.write_file("web", "agent.conf", b"<agent_config/>\n")
    run(fleet, processes)
    fleet.folders.write_file("web", "agent.conf", GOOD)
    work = run(fleet, 1)
    assert every_folder(fleet) == found
    assert {tuple(change.kind for change in changes) for _, _, changes in work.changed} == {
        ("update", "update")
    }
    assert len(work.changed) == AGENTS * 2 // 3


def spoil(fleet: Context) -> set[int]:
    """Folders changed in all ways; the agents that they belong to."""
    (shared(fleet, "002") / "agent.conf").write_bytes(b"mine")
    (shared(fleet, "040") / "merged.mg").unlink()
    os.utime(shared(fleet, "041") / "packs" / "a.conf", (1, 1))
    (shared(fleet, "088")).rename(shared(fleet, "088").with_name("elsewhere"))
    (fleet.folders.agents / "090").rename(fleet.folders.agents / "gone")
    return {2, 40, 41, 88, 90}


def test_several_processes_see_what_one_sees(fleet: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_folders, "SHARE", 7)
    run(fleet, 1)
    with fleet.store.atomic():  # as if the looks were old enough to be trusted
        for member in fleet.store.sync_state.members(None):
            with opened(fleet, keep=False) as opened_run:
                target = opened_run.targets.of(member.groups)
                place = agent_folders.Place(member.agent_id)
                look = opened_run.folders.look(place, opened_run.targets.looker(target))  # type: ignore[arg-type]
            assert look is not None
            fleet.store.database.execute(
                "UPDATE sync_state SET look = ? WHERE agent_id = ?", (look.kept, member.id)
            )
    spoiled = spoil(fleet)
    seen = list(fleet.store.sync_state.seen(None))

    class Lookers(dict[str, object]):
        def __missing__(self, groups: str) -> object:
            with opened(fleet, keep=False) as opened_run:
                found = self[groups] = opened_run.targets.looker(opened_run.targets.of(groups))  # type: ignore[arg-type]
            return found

    with fleet.folders.agent_folders() as folders:
        for processes in (1, 2, 3, 8):
            count, found = folders.touched(seen, Lookers(), processes)  # type: ignore[arg-type]
            assert (count, set(found), len(found)) == (AGENTS, spoiled, len(spoiled)), processes
    work = run(fleet, 2)
    assert {member.id for member, _, _ in work.changed} == spoiled - {41}
    assert work.unchanged == AGENTS - 4


def test_one_agent_s_failure_stops_no_other_in_any_process(fleet: Context, tmp_path: Path) -> None:
    for agent in ("001", "045", "090"):
        (fleet.folders.agents / agent).symlink_to(tmp_path)
    work = run(fleet, 2)
    assert sorted(agent for agent, _ in work.failed) == ["001", "045", "090"]
    errors = [error for _, error in work.failed if isinstance(error, MgmtctlError)]
    assert {error.problem.partition(": ")[2] for error in errors} == {
        "a file or a symlink stands where a folder shall be"
    }
    assert {type(error) for _, error in work.failed} == {UnavailableError}
    assert statuses(fleet) == {"synced": AGENTS - 3, "not synced": 3}


def test_a_folder_with_an_unknown_past_is_left_to_the_first_process(fleet: Context) -> None:
    for agent in names():
        shared(fleet, agent).mkdir(parents=True)
        (shared(fleet, agent) / MARKER).write_text("ab" * 32)
    work = run(fleet, 2)
    assert (len(work.changed), work.failed) == (AGENTS, [])
    assert not [agent for agent in names() if (shared(fleet, agent) / MARKER).exists()]


def test_a_process_that_is_killed_loses_only_what_it_had_in_hand(fleet: Context) -> None:
    parent = os.getpid()

    def die() -> None:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    calls = len_of_calls_to_prepare(fleet)
    with Faults(calls, act(die)):
        work = run(fleet, 2)
    lost = [error for _, error in work.failed if isinstance(error, MgmtctlError)]
    assert lost
    assert work.changed
    assert len(lost) + len(work.changed) == AGENTS
    assert {(error.problem, error.why) for error in lost} == {
        ("the process that writes to agents ended early", "it was killed by signal 9")
    }
    assert statuses(fleet) == {"synced": len(work.changed), "not synced": len(lost)}
    work = run(fleet, 2)
    assert (len(work.changed) >= len(lost) - 2, work.failed) == (True, [])
    assert statuses(fleet) == {"synced": AGENTS}
    assert {stage(fleet, agent) for agent in names()} == {"synced"}


def len_of_calls_to_prepare(fleet: Context) -> int:
    """Calls up to somewhere in the middle of what the first forks do."""
    with Faults() as counted, opened(fleet, keep=False) as opened_run:
        work = opened_run.sort_out(fleet.store.sync_state.seen(None))
        for groups in work.todo:
            opened_run.targets.files(groups)
    return len(counted.calls) + 200


def test_without_another_process_this_one_does_it(fleet: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(agent_folders, "SHARE", 7)
    assert len(run(fleet, 4).changed) == AGENTS
    assert statuses(fleet) == {"synced": AGENTS}


@pytest.mark.parametrize("processes", [1, 2])
def test_a_stopped_run_tells_everybody_whom_it_did_not_reach(fleet: Context, processes: int) -> None:
    watch = Counting(most=20)
    work = run(fleet, processes, watch)
    assert work.not_reached > 0
    assert work.not_reached + len(work.changed) == AGENTS
    assert statuses(fleet) == {"synced": len(work.changed), "not synced": work.not_reached}
    assert len([agent for agent in names() if held(shared(fleet, agent))]) == len(work.changed)
    assert len(sync.run_sync(fleet).affected) == work.not_reached


def test_an_error_of_the_program_in_a_fork_is_one_here(fleet: Context) -> None:
    def wrong(tell: Callable[[object], None]) -> None:
        tell(1)
        raise ZeroDivisionError("really")

    with Beside(wrong) as fork, pytest.raises(RuntimeError, match="ZeroDivisionError: really"):
        list(fork.frames())


def test_what_a_fork_tells_arrives_whole_and_in_order() -> None:
    told = [b"x" * 300_000, (1, "text", None, [b""]), 7, b"y" * 70_000]

    def work(tell: Callable[[object], None]) -> None:
        for frame in told:
            tell(frame)

    with Beside(work) as fork:
        assert list(fork.frames()) == told


def test_a_fork_that_ends_early_is_lost() -> None:
    with Beside(lambda tell: os._exit(3)) as fork, pytest.raises(Lost, match="it ended with 3"):
        list(fork.frames())


def test_a_fork_that_nobody_wants_any_more_is_ended() -> None:
    with pytest.raises(MgmtctlError), Beside(lambda tell: signal.pause()) as fork:
        pid = fork.pid
        raise UnavailableError("enough", "io")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
