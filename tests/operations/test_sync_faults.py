"""A whole run whose n-th call to the disk fails, or at whose n-th call the process is killed.

Whatever happens: files are whole, the agents' own stay, the report says what happened, and the next run completes.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mgmtctl.domain.errors import MgmtctlError
from mgmtctl.folders.paths import STAGING_PREFIX
from mgmtctl.operations import sync
from mgmtctl.operations.context import Context
from tests.faults import KILL, Faults, Killed, fail
from tests.operations.sync_fleet import GOOD, make_fleet, shared, stage, status

pytestmark = pytest.mark.slow

AGENTS = ("001", "002", "003")
EDITS = (b"<agent_config/>\n", GOOD)


@pytest.fixture
def fleet(service: Context) -> Context:
    """Three agents that were synced once; 003 has a file of its own."""
    make_fleet(service)
    sync.run_sync(service)
    (shared(service, "003") / "own.txt").write_bytes(b"own")
    return service


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def edit(fleet: Context, number: int) -> None:
    """New content for both groups, by other means than ours."""
    for group in ("default", "web"):
        (fleet.folders.shared / group / "agent.conf").write_bytes(EDITS[number % 2])
        (fleet.folders.shared / group / "packs").mkdir(exist_ok=True)
        (fleet.folders.shared / group / "packs" / "a.conf").write_bytes(b"%d" % number)


def everything(fleet: Context) -> dict[str, dict[str, bytes]]:
    return {agent: held(shared(fleet, agent)) for agent in AGENTS}


def numbers(fleet: Context) -> Iterator[int]:
    """Numbers of calls that a run after an edit makes: each fifth, others in each fault's turn."""
    edit(fleet, 0)
    with Faults() as counted:
        sync.run_sync(fleet)
    yield from range(0, len(counted.calls), 5)


@pytest.mark.parametrize(
    ("faults", "shift"),
    [
        pytest.param(lambda n: Faults(n, fail(errno.EIO)), 0, id="a bad sector"),
        pytest.param(lambda n: Faults(n, fail(errno.ENOSPC), lasting=True), 1, id="a full disk"),
        pytest.param(lambda n: Faults(n, fail(errno.EROFS), lasting=True), 2, id="a disk turned read-only"),
        pytest.param(lambda n: Faults(n, KILL), 1, id="a kill"),
        pytest.param(lambda n: Faults(n, KILL), 3, id="a kill two calls later"),
        pytest.param(lambda n: Faults(n, KILL), 4, id="a kill three calls later"),
    ],
)
def test_whatever_call_fails_the_next_run_completes(
    fleet: Context, faults: Callable[[int], Faults], shift: int
) -> None:
    for turn, number in enumerate(numbers(fleet), 1):
        before = everything(fleet)
        edit(fleet, turn)
        problem: str | None = None
        try:
            with faults(number + shift):
                report = sync.run_sync(fleet)
        except Killed:
            problem = "killed"
        except MgmtctlError as error:
            problem = error.problem
        else:
            failed = {agent for failure in report.failed for agent in failure.ids}
            for agent in set(AGENTS) - failed:
                assert stage(fleet, agent) == "synced"
            for agent in failed:
                assert status(fleet, agent) == "not synced"
            problem = "; ".join([failure.error.problem for failure in report.failed] + list(report.warnings))
        after = everything(fleet)
        assert sync.run_sync(fleet).failed == (), (number, problem)
        final = everything(fleet)
        for agent in AGENTS:
            assert status(fleet, agent) == "synced"
            assert stage(fleet, agent) == "synced"
            assert not [name for name in final[agent] if STAGING_PREFIX in name]
            for name, data in after[agent].items():
                if STAGING_PREFIX not in name:
                    assert data in (before[agent].get(name), final[agent].get(name)), (number, agent, name)
            target = sync.explain_sync(fleet, agent).target
            assert target is not None
            assert len(final[agent]["merged.mg"]) == target.size
        assert final["003"]["own.txt"] == b"own"
        assert final["001"]["agent.conf"] == final["003"]["agent.conf"] == EDITS[turn % 2]
        assert problem or after == final, number
