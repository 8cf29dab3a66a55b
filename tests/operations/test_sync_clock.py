"""Clocks that are wrong or jump: what was changed in an agent's folder is found all the same, what was not is left."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl.operations import sync
from mgmtctl.operations.context import Context
from mgmtctl.operations.sync_run import Unwatched
from mgmtctl.operations.sync_work import opened
from tests.operations.sync_fleet import make_fleet, settle, shared

YEAR = 365 * 86_400


@pytest.fixture
def fleet(service: Context) -> Context:
    return make_fleet(service)


def at(ctx: Context, seconds: float) -> Context:
    """The service with a clock that is so much ahead."""
    return replace(ctx, now=lambda: time.time() + seconds)


def hidden_edit(path: Path) -> None:
    """In place, of the same size, with the old time put back."""
    before = path.stat()
    with open(path, "r+b") as file:
        file.write(b"X")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def run(ctx: Context, seconds: float) -> list[str]:
    """The agents that a run at that time writes to; it does not judge the session by the wrong clock."""
    with opened(at(ctx, seconds), keep=True) as opened_run:
        work = opened_run.sort_out(ctx.store.sync_state.seen(None))
        opened_run.push_all(work, Unwatched())
    assert work.failed == []
    return sorted(member.agent_id for member, _, _ in work.changed)


@pytest.mark.parametrize(
    "clocks",
    [
        pytest.param((-3600, 0), id="it was an hour behind, and was put right"),
        pytest.param((YEAR, 0), id="it was a year ahead, and was put right"),
        pytest.param((0, -3600), id="it fell behind"),
        pytest.param((0, YEAR), id="it jumped ahead"),
        pytest.param((-YEAR, YEAR), id="it jumped far"),
    ],
)
def test_a_hidden_edit_is_found_whatever_the_clock_says(fleet: Context, clocks: tuple[int, int]) -> None:
    assert run(fleet, clocks[0]) == ["001", "002", "003"]
    time.sleep(0.05)
    assert run(fleet, clocks[0]) == []
    hidden_edit(shared(fleet, "002") / "agent.conf")
    assert run(fleet, clocks[1]) == ["002"]
    assert run(fleet, clocks[1]) == []
    assert run(fleet, 0) == []


@pytest.mark.parametrize("seconds", [-2_000_000_000, -1, 0, 1, 4_000_000_000, 32_000_000_000])
def test_a_file_that_bears_a_strange_time_is_read_and_is_no_change(fleet: Context, seconds: int) -> None:
    settle(fleet)
    path = shared(fleet, "002") / "agent.conf"
    try:
        os.utime(path, (seconds, seconds))
    except OverflowError:
        pytest.skip("no such time on this system")
    for _ in range(2):
        assert len(sync.run_sync(fleet).affected) == 0
    hidden_edit(path)
    assert [entry.id for entry in sync.run_sync(fleet).affected] == ["002"]


def test_groups_from_the_future_are_built_and_an_edit_reaches_agents(fleet: Context) -> None:
    path = fleet.folders.shared / "web" / "packs" / "a.conf"
    future = time.time() + YEAR
    os.utime(path, (future, future))
    assert len(sync.run_sync(fleet).affected) == 3
    assert len(sync.run_sync(fleet).affected) == 0
    path.write_bytes(b"b")
    os.utime(path, (future, future))
    assert len(sync.run_sync(fleet).affected) == 2
