"""Whole commands timed side by side: A B C, A B C ..., so that a drift of the machine hits all alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

RUNS = 11


def side_by_side(
    commands: Mapping[str, Sequence[str]], environment: Mapping[str, str] | None = None, runs: int = RUNS
) -> dict[str, list[float]]:
    """Wall seconds of each command, `runs` times in turn after one warm-up; a command that fails is an error."""
    found: dict[str, list[float]] = {name: [] for name in commands}
    surroundings = {**os.environ, **(environment or {})}
    for turn in range(runs + 1):
        for name, command in commands.items():
            began = time.perf_counter()
            subprocess.run(command, env=surroundings, stdout=subprocess.DEVNULL, check=True)
            if turn:
                found[name].append(time.perf_counter() - began)
    return found


def report(found: Mapping[str, Sequence[float]], base: str) -> None:
    """One line a command: median, minimum, maximum in milliseconds, and the ratio of medians to `base`."""
    reference = statistics.median(found[base])
    print(f"{'command':40} {'median ms':>10} {'min':>8} {'max':>8} {'ratio':>7}")
    for name, seconds in found.items():
        median = statistics.median(seconds)
        print(
            f"{name:40} {median * 1000:10.1f} {min(seconds) * 1000:8.1f} {max(seconds) * 1000:8.1f} "
            f"{median / reference:7.2f}"
        )


def in_process(calls: Mapping[str, Callable[[], object]], runs: int = RUNS) -> None:
    """One line a call: the median of its milliseconds, `runs` times in turn after one warm-up."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(runs + 1):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            if turn:
                found[name].append(time.perf_counter() - began)
    print(f"# in one process, medians of {runs}")
    for name, seconds in found.items():
        print(f"{name:40} {statistics.median(seconds) * 1000:10.3f} ms")
