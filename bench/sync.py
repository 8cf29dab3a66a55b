"""Sync of 10,000 agents: nothing to do, and a full push, each beside a bare loop in plain Python on the same disk.

    python bench/sync.py [--agents N] [--runs N] [--folder PATH]

Rows: `first push` makes the folders, beside a loop that makes them too. `idle` is the whole command
`mgmtctl sync run --all`, which looks at every file of every agent, less the same command for a group without agents
(start-up), beside one os.stat for each agent folder. `push` is the same command after every group changed, beside
writing the same files into as many folders, each written under another name and renamed. Medians; the order of the two
alternates, and the disk is idle (sync) before each.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import permutations
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

COMBINATIONS = 50
GROUPS = [f"group{number}" for number in range(10)]
PASSWORD = "Correct-Horse-7"


def make_service(home: Path, agents: int) -> None:
    """A data folder with groups, agents, and a session that the command finds."""
    from mgmtctl import bootstrap
    from mgmtctl.cli.session_file import session_path, write_token
    from mgmtctl.operations import login, setup
    from mgmtctl.settings import Settings
    from mgmtctl.store.agents import NewAgent

    os.environ.update(MGMTCTL_HOME=str(home / "service"), MGMTCTL_STATE=str(home / "state"))
    settings = Settings()
    with bootstrap.create_service(settings) as ctx:
        setup.initialise(ctx, PASSWORD)
    ctx = bootstrap.open_context(settings)
    with ctx.store.atomic():
        ctx.store.settings.set("auth_token_exp_timeout", 86_400)
        pairs = [",".join(pair) for pair in list(permutations(GROUPS, 2))[:COMBINATIONS]]
        first = ctx.store.agents.claim(agents)
        rows = (
            NewAgent(first + n, f"host-{n}", "any", "k" * 64, pairs[n % len(pairs)]) for n in range(agents)
        )
        ctx.store.agents.add(rows, time.time())
    for group in (*GROUPS, "nobody"):
        ctx.folders.create_group(group)
    write_token(session_path(settings), login.log_in(ctx, "admin", PASSWORD).token)
    ctx.store.close()


def fill_groups(shared: Path, number: int) -> None:
    """New content: agents get agent.conf, ar.conf and rules.txt, 8 KiB together, and as much in merged.mg."""
    block = f"<agent_config>\n<!-- {number:08} {'x' * 1200} -->\n</agent_config>\n"
    (shared / "ar.conf").write_text(f"restart-ossec0 - restart-ossec.sh - {number:08}\n" * 55)
    for group in GROUPS:
        (shared / group / "agent.conf").write_text(block)
        (shared / group / "rules.txt").write_text(f"{group} {number:08} {'y' * 2700}\n")
    time.sleep(0.05)  # as at rest: files younger than a tick of the clock are looked at twice


def command(*words: str) -> float:
    """Seconds that one command line takes."""
    os.sync()
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "mgmtctl", "sync", "run", "-q", *words],
        check=True, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    return time.perf_counter() - began


def stats(agents: Path) -> float:
    """Seconds for one os.stat of each agent folder."""
    names = [f"{agents}/{name}" for name in os.listdir(agents)]
    began = time.perf_counter()
    for name in names:
        os.stat(name)
    return time.perf_counter() - began


def bare_push(agents: Path, model: Path, names: list[str], *, make: bool = False) -> float:
    """Seconds to write and rename the same files in the folders `names` below `agents`; `make`: and to make these."""
    files = {name: (model / name).read_bytes() for name in sorted(os.listdir(model))}
    folders = [f"{agents}/{name}/shared/" for name in names]
    os.sync()
    began = time.perf_counter()
    for folder in folders:
        if make:
            os.makedirs(folder)
        for name, data in files.items():
            with open(f"{folder}{name}.new", "wb") as file:
                file.write(data)
            os.rename(f"{folder}{name}.new", folder + name)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--pushes", type=int, default=5)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="mgmtctl-bench-", dir=given.folder))
    try:
        measure(home, given.agents, given.runs, given.pushes)
    finally:
        shutil.rmtree(home)


def measure(home: Path, agents: int, runs: int, pushes: int) -> None:
    make_service(home, agents)
    shared, folders, bare = home / "service" / "shared", home / "service" / "agents", home / "bare"
    fill_groups(shared, 0)
    first = command("--all")
    model = folders / "001" / "shared"
    size = sum(path.stat().st_size for path in model.iterdir())
    names = os.listdir(folders)
    first_bare = bare_push(bare, model, names, make=True)
    print(f"{agents} agents, {COMBINATIONS} combinations, {len(os.listdir(model))} files of {size} bytes")
    print(f"first push (once, folders made)  {first:8.3f} s   bare loop that makes them {first_bare:8.3f} s")

    pushed, written = [], []
    for number in range(pushes):
        fill_groups(shared, number + 1)
        if number % 2:
            pushed.append(command("--all"))
            written.append(bare_push(bare, model, names))
        else:
            written.append(bare_push(bare, model, names))
            pushed.append(command("--all"))
    command("--all")
    idle, empty, stat = [], [], []
    for _ in range(runs):
        empty.append(command("--group", "nobody"))
        idle.append(command("--all"))
        stat.append(stats(folders))
    report(runs, (empty, idle, stat), pushes, (pushed, written))


def report(
    runs: int, looks: tuple[list[float], ...], pushes: int, writes: tuple[list[float], list[float]]
) -> None:
    """Print the medians side by side, and whether each is within what was allowed."""
    start, idle, stat = map(statistics.median, looks)
    pushed, written = map(statistics.median, writes)
    beyond, ceiling = idle - start, 3 * stat + 0.05
    ratio = (pushed - start) / written
    print(f"start-up (no agents), median of {runs:2}  {start:8.3f} s")
    print(
        f"idle beyond start-up             {beyond:8.3f} s   3 x {stat:.3f} + 0.050 = {ceiling:.3f} s   ",
        end="",
    )
    print("met" if beyond <= ceiling else "UNMET")
    print(
        f"push beyond start-up, of {pushes:2}      {pushed - start:8.3f} s   bare loop {written:.3f} s   ",
        end="",
    )
    print(f"{ratio:.2f} times, 3 allowed: {'met' if ratio <= 3 else 'UNMET'}")


if __name__ == "__main__":
    main()
