"""32 processes that log in at once, through both ways in, get no more attempts than the limit (D 1; CVE-2026-26206).

Each is a process of its own with its own connection, and all are let go at the same moment.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl import bootstrap, passwords
from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import DeniedError, UnauthenticatedError
from mgmtctl.operations import login
from mgmtctl.operations.context import Context
from mgmtctl.settings import Settings
from tests.operations.conftest import ADMIN_PASSWORD

PROCESSES = 32
LIMIT = 10
WRONG = "Wrong-Horse-77"
CONTEXT = parse_context(b'{"name": "x", "auth": {}}')


def attempt(ctx: Context, number: int, user: str, password: str) -> str:
    """One login, by name and password or on behalf of a context, and how it was answered."""
    try:
        if number % 2:
            login.run_as(ctx, user, password, CONTEXT)
        else:
            login.log_in(ctx, user, password)
    except UnauthenticatedError:
        return "looked at"
    except DeniedError as error:
        return "blocked" if error.code == 6000 else "no contexts"
    return "in"


def burst(settings: Settings, users: list[str], password: str = WRONG) -> Counter[str]:
    """The answers that 32 processes get; the number of a process chooses its user."""
    gate, open_gate = os.pipe()
    results, report = os.pipe()
    children = []
    for number in range(PROCESSES):
        child = os.fork()
        if child == 0:
            answer = "failed"
            try:
                os.close(open_gate)
                ctx = bootstrap.open_context(settings)
                os.read(gate, 1)  # until the parent lets go
                answer = attempt(ctx, number, users[number % len(users)], password)
            finally:
                os.write(report, f"{answer}\n".encode())
                os._exit(0)
        children.append(child)
    os.close(gate)
    os.close(open_gate)
    for child in children:
        os.waitpid(child, 0)
    os.close(report)
    with os.fdopen(results) as answers:
        return Counter(answers.read().split("\n")[:-1])


@pytest.fixture
def limited(home: Path) -> Settings:
    """A service with a limit of ten, and passwords that take their full work, so that attempts overlap."""
    settings = Settings({"MGMTCTL_HOME": str(home)})
    ctx = bootstrap.open_context(settings)
    ctx.store.settings.set("max_login_attempts", LIMIT)
    hashed = passwords.hash_password(ADMIN_PASSWORD)
    ctx.store.users.set_password(1, hashed)
    ctx.store.users.set_password(2, hashed)
    ctx.store.close()
    return settings


@pytest.mark.slow
def test_32_wrong_logins_at_once_get_ten_attempts_for_each_user(limited: Settings) -> None:
    # 16 attempts each: two neighbouring numbers, one of each way in, are one user.
    users = ["admin", "admin", "wui", "wui"]
    assert burst(limited, users) == {"looked at": 2 * LIMIT, "blocked": PROCESSES - 2 * LIMIT}
    ctx = bootstrap.open_context(limited)
    with pytest.raises(DeniedError):
        login.log_in(ctx, "admin", ADMIN_PASSWORD)
    later = ctx.now() + int(ctx.store.settings.get("block_time")) + 1
    login.log_in(replace(ctx, now=lambda: later), "admin", ADMIN_PASSWORD)
    ctx.store.close()


@pytest.mark.slow
def test_right_logins_at_once_leave_nothing_counted_and_nobody_blocked(limited: Settings) -> None:
    """More than the limit at the same instant wait for the first ones, and are not held against the user."""
    answers = burst(limited, ["wui"], ADMIN_PASSWORD)
    assert answers["in"] >= LIMIT
    assert answers["looked at"] == answers["failed"] == 0
    ctx = bootstrap.open_context(limited)
    assert ctx.store.database.value("SELECT coalesce(sum(failures), 0) FROM login_failures") == 0
    login.log_in(ctx, "wui", ADMIN_PASSWORD)
    ctx.store.close()
