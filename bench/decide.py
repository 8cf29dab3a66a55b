"""Decide alone, over many policies, in source trees side by side: does a change of the code cost anything?

    git worktree add /tmp/before COMMIT
    python bench/decide.py /tmp/before . [--policies 10 100 1000] [--rounds 21]

Each round starts one fresh process per tree, in turn; a process asks about 2,000 agents and says how long one question
took, warm. `allows` is the check of a request, `decide` the same with reasons.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

WORK = """
import sys, time
from mgmtctl.domain.grants import WHITE, Grant, Permissions
from mgmtctl.domain.resources import Resource

number = int(sys.argv[1])
blocks = [
    {
        "actions": ["agent:read", "agent:restart"],
        "resources": [f"agent:group:g{k}"],
        "effect": "allow" if k % 10 else "deny",
    }
    for k in range(number)
]
grants = [Grant(100, "role", "linked", 100 + k, f"p{k}", {"one": block}) for k, block in enumerate(blocks)]
permissions = Permissions.granted(WHITE, grants)
asked = [(Resource("agent:id", f"{k:03}"), Resource("agent:group", f"g{k % number}")) for k in range(1, 2001)]

def seconds(call, many):
    for names in many[:20]:
        call("agent:restart", *names)
    began = time.perf_counter()
    for names in many:
        call("agent:restart", *names)
    return (time.perf_counter() - began) / len(many)

print(seconds(permissions.allows, asked), seconds(permissions.decide, asked[: max(20, 20000 // number)]))
"""


def main() -> None:
    """A line for each tree and number of policies."""
    parser = argparse.ArgumentParser()
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--policies", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    for policies in arguments.policies:
        found: dict[str, list[tuple[float, float]]] = {tree: [] for tree in arguments.trees}
        for _ in range(arguments.rounds):
            for tree in arguments.trees:
                found[tree].append(_measured(tree, policies))
        print(f"# {policies} policies, medians of {arguments.rounds} processes, microseconds")
        base = [statistics.median(column) for column in zip(*found[arguments.trees[0]], strict=True)]
        for tree, rows in found.items():
            allows, decide = (statistics.median(column) for column in zip(*rows, strict=True))
            print(
                f"{tree:30} allows {allows * 1e6:8.3f} ({allows / base[0]:.3f})"
                f"   decide {decide * 1e6:10.2f} ({decide / base[1]:.3f})"
            )


def _measured(tree: str, policies: int) -> tuple[float, float]:
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(tree)}
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(policies)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    allows, decide = map(float, done.stdout.split())
    return allows, decide


if __name__ == "__main__":
    main()
