"""One question explained over many policies: whole commands, in process, and the bare decision beside it.

    python bench/explain.py [--policies 10 100 1000]

One user has all the policies by one role; each speaks of one group, one in ten denies. Uses the `mgmtctl` that is
installed beside this Python for the whole commands.
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

from mgmtctl import bootstrap, passwords
from mgmtctl.domain.policies import parse_policy
from mgmtctl.domain.resources import Resource
from mgmtctl.operations import decisions, login
from mgmtctl.operations.access_entries import permissions_of
from mgmtctl.settings import Settings

ACTION, AGENT = "agent:restart", "agent:id:001"


def main() -> None:
    """Make a service for each number of policies and time the question on it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--policies", type=int, nargs="+", default=[10, 100, 1000])
    for number in parser.parse_args().policies:
        with tempfile.TemporaryDirectory() as name:
            measure(Path(name), number)


def measure(folder: Path, policies: int) -> None:
    """The question over so many policies."""
    environment = services.fresh(folder)
    settings = Settings(environment)
    fill(settings, policies)
    print(f"# {policies} policies, whole commands, medians of {RUNS}")
    question = [services.MGMTCTL, "can-i", ACTION, AGENT, "--as", "ann"]
    found = side_by_side(
        {
            "python -c pass": [sys.executable, "-c", "pass"],
            "can-i": answered_no(question),
            "can-i --explain": answered_no([*question, "--explain"]),
        },
        environment,
    )
    report(found, "python -c pass")
    in_process(settings)


def answered_no(command: list[str]) -> list[str]:
    """The command under a shell that takes its answer "no" (exit 1) for the success it is."""
    return ["sh", "-c", '"$@"; test $? = 1', "sh", *command]


def fill(settings: Settings, policies: int) -> None:
    """A user with one role that has so many policies."""
    ctx = bootstrap.open_context(settings)
    with ctx.atomic():
        user_id = ctx.store.users.add("ann", passwords.hash_password(services.PASSWORD))
        role_id = ctx.store.roles.add("bench")
        ctx.store.users.link_role(user_id, role_id)
        for number in range(policies):
            block = {
                "actions": ["agent:read", ACTION],
                "resources": [f"agent:group:g{number}"],
                "effect": "allow" if number % 10 else "deny",
            }
            ctx.store.roles.link_policy(
                role_id, ctx.store.policies.add(f"p{number}", parse_policy(block, f"p{number}"))
            )
    ctx.store.close()


def in_process(settings: Settings) -> None:
    """Medians of the explanation, and of the decision by itself, on an open service."""
    ctx = bootstrap.open_context(settings)
    ctx = login.resume(ctx, login.log_in(ctx, "admin", services.PASSWORD).token, False)
    permissions = permissions_of(ctx.store, [ctx.store.roles.find("bench") or 0])
    names = (Resource("agent:id", "001"), Resource("agent:group", "default"))
    calls: dict[str, Callable[[], object]] = {
        "question with all reasons": lambda: decisions.can_i(ctx, ACTION, AGENT, "ann").lines(),
        "decide with reasons": lambda: permissions.decide(ACTION, *names),
        "decide alone": lambda: permissions.allows(ACTION, *names),
    }
    timing.in_process(calls)
    ctx.store.close()


if __name__ == "__main__":
    main()
