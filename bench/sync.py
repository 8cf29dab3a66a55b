"""Sync of 100,000 agents: nothing to do, a full push, one group of 50, each beside a bare loop on the same disk.

    python bench/sync.py [--agents N] [--runs N] [--pushes N] [--rsync N] [--folder PATH]

Agents get agent.conf, ar.conf and rules.txt, 16 KiB together, and as much in merged.mg; each is in two of 50 groups,
200 combinations. Rows: `first push` makes the folders, beside a loop that makes them too. `idle` is the whole command
`mgmtctl sync run --all`, which looks at every file of every agent, less the same command for a group without agents
(start-up), beside one os.stat for each agent's merged.mg. `push` is the same command after every group changed, beside
writing the same files into as many folders, each written under another name and renamed, and beside `rsync -a` for
each folder (measured on a few). `one group` is the command after one group changed, beside the bare loop for its
members. Medians; the order of the two alternates, and the disk is idle (sync) before each.
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
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

GROUPS = [f"group{number}" for number in range(50)]
PAIRS = [f"group{number},group{(number + step) % 50}" for step in range(1, 5) for number in range(50)]
PASSWORD = "Correct-Horse-7"


def make_service(home: Path, agents: int) -> None:
    """A data folder with groups, agents, and a session that the command finds."""
    from mgmtctl import bootstrap
    from mgmtctl.cli.session_file import session_path, write_token
    from mgmtctl.operations import login, setup
    from mgmtctl.settings import Settings
    from mgmtctl.store.agents import NewAgent

    settings = Settings()
    with bootstrap.create_service(settings) as ctx:
        setup.initialise(ctx, PASSWORD)
    ctx = bootstrap.open_context(settings)
    with ctx.store.atomic():
        ctx.store.settings.set("auth_token_exp_timeout", 86_400)
        first = ctx.store.agents.claim(agents)
        rows = (
            NewAgent(first + n, f"host-{n}", "any", "k" * 64, PAIRS[n % len(PAIRS)]) for n in range(agents)
        )
        ctx.store.agents.add(rows, time.time())
    for group in (*GROUPS, "nobody"):
        ctx.folders.create_group(group)
    write_token(session_path(settings), login.log_in(ctx, "admin", PASSWORD).token)
    ctx.store.close()


def in_fork(work: Callable[[], None]) -> None:
    """Do it in a process of its own: what is measured would be told to have the memory of this one."""
    pid = os.fork()
    if pid == 0:
        work()
        os._exit(0)
    if os.waitpid(pid, 0)[1]:
        raise SystemExit("the service could not be made")


def fill_groups(shared: Path, number: int, groups: list[str] = GROUPS) -> None:
    """New content of the groups, and of what all agents get if it is about all groups."""
    if groups is GROUPS:
        (shared / "ar.conf").write_text(f"restart-ossec0 - restart-ossec.sh - {number:08}\n" * 111)
    block = f"<agent_config>\n<!-- {number:08} {'x' * 2400} -->\n</agent_config>\n"
    for group in groups:
        (shared / group / "agent.conf").write_text(block)
        (shared / group / "rules.txt").write_text(f"{group} {number:08} {'y' * 5800}\n")
    time.sleep(0.05)  # as at rest: files younger than a tick of the clock are looked at twice


def command(*words: str) -> tuple[float, float]:
    """Seconds that one command line takes, and MiB of its largest process."""
    os.sync()
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "mgmtctl", "sync", "run", "-q", *words],
        cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"sync run {' '.join(words)} ended with {process.returncode}")
    return time.perf_counter() - began, used.ru_maxrss / 1024


def stats(agents: Path) -> float:
    """Seconds for one os.stat of each agent's merged.mg."""
    names = [f"{agents}/{name}/shared/merged.mg" for name in os.listdir(agents)]
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


def rsync_push(agents: Path, model: Path, names: list[str]) -> float | None:
    """Seconds for one `rsync -a` into each of these folders; None where there is no rsync."""
    if not shutil.which("rsync") or not names:
        return None
    os.sync()
    began = time.perf_counter()
    for name in names:
        # The bare loop gave these files new times, so all of them are copied.
        subprocess.run(["rsync", "-a", f"{model}/", f"{agents}/{name}/shared/"], check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agents", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--pushes", type=int, default=3)
    parser.add_argument("--rsync", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="mgmtctl-bench-", dir=given.folder))
    try:
        os.environ.update(MGMTCTL_HOME=str(home / "service"), MGMTCTL_STATE=str(home / "state"))
        in_fork(lambda: make_service(home, given.agents))
        Bench(home, given).run()
    finally:
        shutil.rmtree(home)


class Bench:
    """One service, and bare folders beside it that hold the same."""

    def __init__(self, home: Path, given: argparse.Namespace) -> None:
        self.given = given
        self.shared, self.folders, self.bare = home / "service/shared", home / "service/agents", home / "bare"
        self.model = self.folders / "001" / "shared"
        self.names: list[str] = []
        self.number = 0

    def run(self) -> None:
        self.first()
        self.start = statistics.median(command("--group", "nobody")[0] for _ in range(self.given.runs))
        print(f"start-up (no agents)  {self.start:.3f} s")
        self.idle()
        self.push()
        self.one_group()

    def first(self) -> None:
        fill_groups(self.shared, 0)
        seconds, memory = command("--all")
        self.names = os.listdir(self.folders)
        sizes = {path.name: path.stat().st_size for path in self.model.iterdir()}
        print(
            f"{len(self.names)} agents, {len(PAIRS)} combinations, {len(os.sched_getaffinity(0))} CPUs, {sizes}"
        )
        bare = bare_push(self.bare, self.model, self.names, make=True)
        print(
            f"first push (once)     {seconds:.1f} s, {memory:.0f} MiB; bare loop that makes folders {bare:.1f} s"
        )

    def idle(self) -> None:
        command("--all")
        looks = [(command("--all"), stats(self.folders)) for _ in range(self.given.runs)]
        beyond = statistics.median(seconds for (seconds, _), _ in looks) - self.start
        stat = statistics.median(stat for _, stat in looks)
        memory = max(memory for (_, memory), _ in looks)
        told("idle", beyond, stat, f"one os.stat each, {memory:.0f} MiB")

    def push(self) -> None:
        pushed, written = [], []
        for turn in range(self.given.pushes):
            self.number += 1
            fill_groups(self.shared, self.number)
            if turn % 2:
                pushed.append(command("--all"))
            written.append(bare_push(self.bare, self.model, self.names))
            if not turn % 2:
                pushed.append(command("--all"))
        beyond = statistics.median(seconds for seconds, _ in pushed) - self.start
        memory = max(memory for _, memory in pushed)
        told("push", beyond, statistics.median(written), f"bare loop, {memory:.0f} MiB")
        few = self.names[: self.given.rsync]
        seconds = rsync_push(self.bare, self.model, few)
        if seconds is not None:
            every = seconds / len(few) * len(self.names)
            print(
                f"rsync -a of {len(few)} folders {seconds:.2f} s, of all {every:.0f} s: {every / beyond:.0f} times"
            )

    def one_group(self) -> None:
        command("--all")
        idle = statistics.median(command("--all")[0] for _ in range(3))
        members = sum("group7" in pair.split(",") for pair in PAIRS) * len(self.names) // len(PAIRS)
        for words, nothing in ((("--all",), idle), (("--group", "group7"), self.start)):
            pushed, written = [], []
            for _ in range(self.given.pushes):
                self.number += 1
                fill_groups(self.shared, self.number, ["group7"])
                pushed.append(command(*words)[0])
                written.append(bare_push(self.bare, self.model, self.names[:members]))
            beyond = statistics.median(pushed) - nothing
            told(
                f"one group, {' '.join(words)}",
                beyond,
                statistics.median(written),
                f"bare loop, {members} members",
            )


def told(what: str, seconds: float, beside: float, said: str) -> None:
    """One row: seconds beyond start-up (or an idle run), and how many times what stands beside it."""
    print(
        f"{what:26} {seconds:8.3f} s beyond; {beside:8.3f} s {said}; {seconds / beside:.2f} times", flush=True
    )


if __name__ == "__main__":
    main()
