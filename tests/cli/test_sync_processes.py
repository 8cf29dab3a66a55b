"""Real processes of `mgmtctl sync run`: killed, interrupted, two at once. Nothing is half, nothing is lost."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mgmtctl import bootstrap
from mgmtctl.domain.merging import unpack
from mgmtctl.folders.paths import STAGING_PREFIX
from mgmtctl.folders.pushing import MARKER
from mgmtctl.operations.context import Context
from mgmtctl.settings import Settings
from mgmtctl.store.agents import NewAgent
from tests.cli.conftest import Result

pytestmark = pytest.mark.slow

AGENTS = 200
KILLS = 22
OWN = b"the agent's own"


@pytest.fixture
def fleet(admin: Callable[..., Result]) -> Iterator[Context]:
    """200 agents of web, synced; each has a file of its own beside ours."""
    ctx = bootstrap.open_context(Settings())
    ctx.folders.create_group("web")
    fill(ctx, 0)
    with ctx.store.atomic():
        first = ctx.store.agents.claim(AGENTS)
        rows = [NewAgent(first + n, f"host-{n}", "any", "k" * 64, "web") for n in range(AGENTS)]
        ctx.store.agents.add(rows, 0)
    assert admin("sync", "run", "--all").code == 0
    for shared in folders(ctx):
        (shared / "own.txt").write_bytes(OWN)
    yield ctx
    ctx.store.close()


def fill(ctx: Context, number: int) -> dict[str, bytes]:
    """New content for the group: one file changes, one gets another name, one stays. What agents shall hold then."""
    files = {
        "agent.conf": b"<agent_config>\n<!-- %06d %s -->\n</agent_config>\n" % (number, b"x" * 3000),
        f"packs/{number}.conf": b"%06d" % number,
        "stays.txt": b"the same",
    }
    for name in ctx.folders.load_group("web").files:
        if name not in files:
            ctx.folders.remove_file("web", name)
    for name, data in files.items():
        ctx.folders.write_file("web", name, data)
    return {**files, "ar.conf": b""}


def folders(ctx: Context) -> list[Path]:
    return [ctx.folders.agents / f"{number:03}" / "shared" for number in range(1, AGENTS + 1)]


def held(shared: Path) -> dict[str, bytes]:
    return {str(path.relative_to(shared)): path.read_bytes() for path in shared.rglob("*") if path.is_file()}


def sync_process(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mgmtctl", "sync", "run", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
        start_new_session=True,
    )


def kill(process: subprocess.Popen[str], number: int) -> None:
    """Kill the run: the process that was started, with its forks, or one of its forks only."""
    if number % 3 == 0:
        process.send_signal(signal.SIGKILL)
    elif number % 3 == 1:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        for child in children.read_text().split()[:1] if children.exists() else ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        time.sleep(0.01)
        process.send_signal(signal.SIGKILL)


def changed_since(ctx: Context, new: dict[str, bytes]) -> int:
    """How many agents have the new agent.conf."""
    size = new["agent.conf"]
    return sum((shared / "agent.conf").read_bytes() == size for shared in folders(ctx))


def wait_for_first(ctx: Context, new: dict[str, bytes], process: subprocess.Popen[str]) -> None:
    path = folders(ctx)[0] / "agent.conf"
    while path.read_bytes() != new["agent.conf"] and process.poll() is None:
        time.sleep(0.001)


def assert_whole(shared: Path, old: dict[str, bytes], new: dict[str, bytes]) -> None:
    """Each file is old or new, own files are there, and without a marker the set is that of its merged file."""
    found = held(shared)
    assert found.pop("own.txt") == OWN
    marker = found.pop(MARKER, None)
    found = {name: data for name, data in found.items() if not name.startswith(STAGING_PREFIX)}
    merged = found.pop("merged.mg")
    for name, data in found.items():
        assert data in (old.get(name), new.get(name)), name
    if marker is None:
        assert found == dict(unpack(merged))
    else:
        assert marker == b"" or set(map(len, marker.split(b"\n"))) == {64}


def test_a_killed_run_leaves_whole_files_and_the_next_finishes(fleet: Context) -> None:
    chance = random.Random(11)
    began = time.monotonic()
    old = fill(fleet, 1)
    process = sync_process("--all", "-q")
    wait_for_first(fleet, old, process)
    worked = time.monotonic()
    process.communicate()
    assert process.returncode == 0
    seconds = time.monotonic() - worked
    hits = 0
    for number in range(2, 2 + KILLS):
        new = fill(fleet, number)
        process = sync_process("--all", "-q")
        wait_for_first(fleet, new, process)
        time.sleep(chance.random() * seconds * 0.8)
        kill(process, number)
        process.communicate()
        hits += 0 < changed_since(fleet, new) < AGENTS
        for shared in folders(fleet):
            assert_whole(shared, old, new)
        if number % 2:  # every other time content changes again before the next run
            old, new = new, fill(fleet, number + 1000)
        finished = sync_process("--all")
        _, said = finished.communicate()
        assert finished.returncode == 0, said
        assert "was changed there" not in said
        for shared in folders(fleet):
            found = held(shared)
            merged = found.pop("merged.mg")
            assert found == {**new, "own.txt": OWN}
            assert dict(unpack(merged)) == new
        assert statuses(fleet) == {"synced"}
        old = new
    assert hits >= KILLS // 2, f"only {hits} of {KILLS} kills fell into the middle"
    assert time.monotonic() - began < 300


def statuses(ctx: Context) -> set[str]:
    return {row[0] for row in ctx.store.database.rows("SELECT DISTINCT group_config_status FROM agents")}


@pytest.mark.parametrize(
    "whole_group", [False, True], ids=["by its id", "as a terminal does, with its forks"]
)
def test_an_interrupted_run_ends_after_the_agents_in_hand(fleet: Context, whole_group: bool) -> None:
    old, new = fill(fleet, 0), fill(fleet, 1)
    process = sync_process("--all")
    wait_for_first(fleet, new, process)
    if whole_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    done = changed_since(fleet, new)
    assert process.returncode == 130
    summary = f"{AGENTS} agents: {done} written to, 0 up to date, {AGENTS - done} not reached"
    assert said == f"interrupted: {summary}\n"
    assert [
        line
        for line in (fleet.folders.data / "log" / "requests.log").read_text().splitlines()
        if "PUT /sync" in line
    ][-1].endswith(": 503")
    assert 0 < done < AGENTS
    for shared in folders(fleet):
        assert_whole(shared, old, new)
        assert not [name for name in os.listdir(shared) if name.startswith(STAGING_PREFIX)]
    finished = sync_process("--all")
    _, said = finished.communicate()
    assert finished.returncode == 0
    assert f"{AGENTS} agents: {AGENTS - done} written to, {done} up to date" in said


def test_of_two_runs_at_once_the_second_is_told_who_works(fleet: Context) -> None:
    new = fill(fleet, 1)
    first = sync_process("--all", "-q")
    wait_for_first(fleet, new, first)
    first.send_signal(signal.SIGSTOP)
    try:
        second = sync_process("--all")
        _, said = second.communicate()
        assert second.returncode == 75
        assert f"process {first.pid}, since " in said
        skipping = sync_process("--all", "--if-locked", "skip")
        _, said = skipping.communicate()
        assert skipping.returncode == 0
        assert "another sync runs, nothing done" in said
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            impatient = sync_process("--all", "--lock-timeout", "600")
            time.sleep(1.5)
            impatient.send_signal(number)
            impatient.communicate(timeout=60)
            assert impatient.returncode == code
        waiting = sync_process("--all", "--lock-timeout", "60")
        time.sleep(0.2)
    finally:
        first.send_signal(signal.SIGCONT)
    first.communicate()
    _, said = waiting.communicate()
    assert (first.returncode, waiting.returncode) == (0, 0)
    assert f"{AGENTS} agents: 0 written to, {AGENTS} up to date" in said
    assert {hashlib.sha256((shared / "merged.mg").read_bytes()).hexdigest() for shared in folders(fleet)} == {
        fleet.store.database.value("SELECT digest FROM merged_files WHERE groups = 'web'")
    }


def test_a_put_during_a_run_waits_for_nobody_and_is_not_lost(fleet: Context) -> None:
    new = fill(fleet, 1)
    process = sync_process("--all", "-q")
    wait_for_first(fleet, new, process)
    for number in range(5):
        put = subprocess.run(
            [sys.executable, "-m", "mgmtctl", "files", "put", "web/late.txt", "-", "-q"],
            input=b"%d" % number, check=False, cwd=Path(__file__).resolve().parents[2],
        )  # fmt: skip
        assert put.returncode == 0
    process.communicate()
    stale = [shared for shared in folders(fleet) if not (shared / "late.txt").exists()]
    assert not stale or statuses(fleet) != {"synced"}
    finished = sync_process("--all", "-q")
    finished.communicate()
    assert {(shared / "late.txt").read_bytes() for shared in folders(fleet)} == {b"4"}
    assert statuses(fleet) == {"synced"}


def test_a_fork_that_is_killed_is_a_failure_and_stops_nobody_else(fleet: Context) -> None:
    old, new = fill(fleet, 0), fill(fleet, 1)
    process = sync_process("--all")
    wait_for_first(fleet, new, process)
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    except OSError:
        children = []
    for child in children[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(child), signal.SIGKILL)
    _, said = process.communicate()
    for shared in folders(fleet):
        assert_whole(shared, old, new)
    missing = AGENTS - changed_since(fleet, new)
    assert process.returncode == (3 if missing else 0), said
    if missing:
        assert "the process that writes to agents ended early" in said
    finished = sync_process("--all")
    _, said = finished.communicate()
    assert finished.returncode == 0, said
    assert changed_since(fleet, new) == AGENTS
    assert statuses(fleet) == {"synced"}
