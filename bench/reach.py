"""Who may do something, over many users and policies: whole commands, and in process.

    python bench/reach.py [--sizes 10 100 1000] [--agents 0]

There are as many users as policies, each linked to a role of its own; a user has three roles. A policy allows an
action on a group, one in ten denies it; one in ten speaks of another action only. Uses the `mgmtctl` that is installed
beside this Python for the whole commands. With `--agents`, the matrix by group is timed over so many agents in as many
groups as there are policies.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import services
import timing
from timing import RUNS, report, side_by_side

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mgmtctl import bootstrap
from mgmtctl.domain.policies import parse_policy
from mgmtctl.operations import login, matrix, reach
from mgmtctl.settings import Settings
from mgmtctl.store.agents import NewAgent

ACTION, OTHER, AGENT = "agent:restart", "agent:upgrade", "agent:id:001"
ROLES_OF_A_USER = 3


def main() -> None:
    """Make a service for each size and time the questions on it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--agents", type=int, default=0)
    arguments = parser.parse_args()
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as name:
            measure(Path(name), size, arguments.agents)


def measure(folder: Path, size: int, agents: int) -> None:
    """The questions over so many users and policies."""
    environment = services.fresh(folder)
    settings = Settings(environment)
    fill(settings, size, agents)
    print(f"# {size} users and {size} policies, whole commands, medians of {RUNS}")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "who-can": [services.MGMTCTL, "who-can", ACTION, AGENT, "-q"],
        "who-can -o json": [services.MGMTCTL, "who-can", ACTION, AGENT, "-o", "json", "-q"],
        "users permissions": [services.MGMTCTL, "users", "permissions", "u0", "-q"],
        "policies matrix --by group": [
            services.MGMTCTL,
            "policies",
            "matrix",
            "--user",
            "u0",
            "--by",
            "group",
            "-q",
        ],
    }
    report(side_by_side(commands, environment), "python -c pass")
    in_process(settings)


def fill(settings: Settings, size: int, agents: int) -> None:
    """So many users, roles and policies, and agents in as many groups."""
    ctx = bootstrap.open_context(settings)
    with ctx.atomic():
        roles = [ctx.store.roles.add(f"r{number}") for number in range(size)]
        for number, role_id in enumerate(roles):
            block = {
                "actions": [ACTION if number % 10 != 5 else OTHER],
                "resources": ["agent:group:default" if number % 3 else f"agent:group:g{number}"],
                "effect": "deny" if number % 10 == 9 else "allow",
            }
            policy = parse_policy(block, f"p{number}")
            ctx.store.roles.link_policy(role_id, ctx.store.policies.add(f"p{number}", policy))
        for number in range(size):
            user_id = ctx.store.users.add(f"u{number}", None)
            for place in range(min(ROLES_OF_A_USER, size)):
                ctx.store.users.link_role(user_id, roles[(number * 7 + place * 3) % size])
        first = ctx.store.agents.claim(agents) if agents else 0
        new = (NewAgent(first + n, f"a{n}", "any", "", f"default,g{n % size}") for n in range(agents))
        ctx.store.agents.add(new, 0)
    for number in range(size if agents else 0):
        ctx.folders.create_group(f"g{number}")
    ctx.store.close()


def in_process(settings: Settings) -> None:
    """Medians of the operations on an open service."""
    ctx = bootstrap.open_context(settings)
    ctx = login.resume(ctx, login.log_in(ctx, "admin", services.PASSWORD).token, False)
    calls: dict[str, Callable[[], object]] = {
        "who can": lambda: reach.who_can(ctx, ACTION, AGENT),
        "what a user may do": lambda: reach.user_permissions(ctx, "u0"),
        "matrix of a user by group": lambda: matrix.access_matrix(ctx, user="u0", by="group"),
    }
    print(f"# {len(reach.who_can(ctx, ACTION, AGENT).affected)} may")
    timing.in_process(calls)
    ctx.store.close()


if __name__ == "__main__":
    main()
