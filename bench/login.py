"""Logging in, as whole commands, beside what a login cannot do without: an interpreter and one argon2id verification.

    python bench/login.py [--rules 1000]

`run-as` reads so many rules (two in three name keys that the context has) and evaluates them; `whoami` is a command
under a stored session. Below, in one process: what a login and a check of a session cost without start-up.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import timing
from timing import RUNS, report, side_by_side

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mgmtctl import bootstrap, passwords
from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.matching import needed_keys
from mgmtctl.operations import login
from mgmtctl.settings import Settings

PASSWORD = "Bench-pass1!"
VERIFY = "import sys; from argon2 import PasswordHasher; PasswordHasher().verify(sys.argv[1], sys.argv[2].encode())"


def context() -> dict[str, Any]:
    """A context of about 100 leaves."""
    return {
        "name": "bench",
        "auth": {f"key{n}": {f"leaf{m}": f"value{n}-{m}" for m in range(10)} for n in range(10)},
    }


def expression(number: int) -> dict[str, Any]:
    """Literals, patterns and deep searches in turn; about one in three names a key that the context has not."""
    leaf = number % 10 if number % 3 else 10 + number
    kinds: list[dict[str, Any]] = [
        {"FIND": {f"leaf{leaf}": f"value{number}"}},
        {"MATCH": {"auth": {f"key{leaf}": {"leaf1": f"r'value{number}-[0-9]+'"}}}},
        {"AND": [{"FIND": {f"leaf{leaf}": f"r'value[0-9]-{number}'"}}, {"NOT": {"FIND": {"banned": True}}}]},
    ]
    return kinds[number % 3]


def main() -> None:
    """Make a service, time the commands on it, then the calls behind them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rules", type=int, default=1_000)
    rules = parser.parse_args().rules
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = {"MGMTCTL_HOME": str(folder / "home"), "MGMTCTL_STATE": str(folder / "state")}
        secret, account = folder / "password", folder / "context.json"
        secret.write_text(PASSWORD)
        secret.chmod(0o600)
        account.write_text(json.dumps(context()))
        program = [str(Path(sys.executable).parent / "mgmtctl")]
        by_file = ["--password-file", str(secret)]
        run([*program, "init", *by_file], environment)
        settings = Settings(environment)
        fill(settings, rules)
        run([*program, "login", "-u", "admin", *by_file], environment)
        run_as = [
            *program,
            "run-as",
            "-q",
            "-u",
            "portal",
            *by_file,
            "--context-file",
            str(account),
            "--print-token",
        ]
        print(f"# whole commands, {rules} rules, medians of {RUNS}")
        bare = "python, one argon2id verification"
        found = side_by_side(
            {
                bare: [sys.executable, "-c", VERIFY, passwords.hash_password(PASSWORD), PASSWORD],
                "mgmtctl whoami": [*program, "whoami"],
                "mgmtctl login": [*program, "login", "-q", "-u", "admin", "--print-token", *by_file],
                "mgmtctl run-as": run_as,
            },
            environment,
        )
        report(found, bare)
        in_process(settings)


def run(command: list[str], environment: dict[str, str]) -> None:
    """One command that must succeed."""
    subprocess.run(command, env={**os.environ, **environment}, check=True, capture_output=True)


def fill(settings: Settings, rules: int) -> None:
    """A user that may use contexts, and so many rules that lead to a role."""
    ctx = bootstrap.open_context(settings)
    with ctx.atomic():
        ctx.store.users.add("portal", passwords.hash_password(PASSWORD), allow_run_as=True)
        role_id = ctx.store.roles.add("bench")
        for number in range(rules):
            made = [expression(number)]
            ctx.store.roles.link_rule(role_id, ctx.store.rules.add(f"rule{number}", made, needed_keys(made)))
    ctx.store.close()


def in_process(settings: Settings) -> None:
    """Medians of what a login, a context login and a check of a session take without start-up."""
    ctx = bootstrap.open_context(settings)
    account = parse_context(json.dumps(context()).encode())
    token = login.log_in(ctx, "admin", PASSWORD).token
    calls: dict[str, Callable[[], object]] = {
        "verify one argon2id hash": lambda: passwords.verify(None, PASSWORD),
        "log in": lambda: login.log_in(ctx, "admin", PASSWORD),
        "log in by context": lambda: login.run_as(ctx, "portal", PASSWORD, account),
        "resume by digest": lambda: login.resume(ctx, token, False),
        "resume by signature": lambda: login.resume(ctx, token, True),
    }
    timing.in_process(calls)
    ctx.store.close()


if __name__ == "__main__":
    main()
