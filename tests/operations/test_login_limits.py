"""Failed logins: counted for real, failures only, and not beaten by a burst of processes (D 1)."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl import passwords
from mgmtctl.domain.errors import DeniedError, UnauthenticatedError
from mgmtctl.operations import login
from mgmtctl.operations.context import Context, Door
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith


@pytest.fixture
def three(anonymous: Context) -> Context:
    """The service with a limit of three failures in 300 s, then blocked for 120 s."""
    anonymous.store.settings.set("max_login_attempts", 3)
    anonymous.store.settings.set("block_time", 120)
    return anonymous


def at(ctx: Context, seconds: float) -> Context:
    moment = ctx.now() + seconds
    return replace(ctx, now=lambda: moment)


def fail(ctx: Context, name: str = "admin", times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(UnauthenticatedError):
            login.log_in(ctx, name, "Wrong-Horse-77")


def blocked(ctx: Context, name: str = "admin") -> bool:
    try:
        login.log_in(ctx, name, ADMIN_PASSWORD)
    except DeniedError as error:
        return error.code == 6000
    return False


def test_after_the_last_failure_the_right_password_does_not_help_until_the_block_ends(three: Context) -> None:
    fail(three, times=3)
    assert blocked(three)
    assert blocked(at(three, 115))
    assert not blocked(at(three, 121))


def test_the_block_says_how_long_it_lasts_and_nothing_about_the_password(three: Context) -> None:
    fail(three, times=3)
    with pytest.raises(DeniedError) as raised:
        login.log_in(three, "admin", ADMIN_PASSWORD)
    seconds = int(
        raised.value.problem.removeprefix("too many failed logins, try again in ").removesuffix(" s")
    )
    assert 115 <= seconds <= 120


def test_a_success_begins_the_count_anew(three: Context) -> None:
    for _ in range(4):
        fail(three, times=2)
        assert not blocked(three)


def test_successes_never_count(three: Context) -> None:
    for _ in range(12):
        assert not blocked(three)


def test_another_address_and_another_user_are_not_blocked(three: Context, actor_with: ActorWith) -> None:
    actor_with(name="ada")
    fail(three, times=3)
    assert blocked(three)
    assert not blocked(three, "ada")
    assert not blocked(replace(three, door=Door(address="10.0.0.7")))


def test_unknown_names_count_as_one_per_address(three: Context) -> None:
    for name in ("one", "two", "three"):
        fail(three, name)
    assert not blocked(three)
    unknown = three.store.database.rows("SELECT failures FROM login_failures WHERE bucket LIKE '%unknown%'")
    assert [tuple(row) for row in unknown] == [(3,)]


def test_no_number_of_unknown_names_tells_a_user_from_nobody(three: Context) -> None:
    """The first attempt with any name is answered alike, until the address answers nobody."""
    for number in range(29):
        fail(three, f"nobody-{number}")
    fail(three, "admin")
    assert blocked(three, "admin")
    assert blocked(three, "nobody-30")


def test_an_unknown_name_costs_the_work_of_a_password_however_often_it_failed(
    three: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str | None] = []
    verify = passwords.verify

    def watched(stored: str | None, given: str) -> bool:
        looked_at.append(stored)
        return verify(stored, given)

    monkeypatch.setattr(passwords, "verify", watched)
    fail(three, "nobody", times=6)
    assert looked_at == [None] * 6


def test_an_address_alone_may_fail_ten_times_as_often(three: Context, actor_with: ActorWith) -> None:
    names = [f"u{number}" for number in range(10)]
    for name in names:
        actor_with(name=name)
    for name in names:
        fail(three, name, times=3)
    known = three.store.users.credentials("u1")
    assert known is not None
    three.store.users.add("fresh", known.password)
    assert blocked(three, "fresh")
    assert not blocked(at(three, 121), "fresh")


def test_a_success_gives_the_address_back_its_own_attempt_only(three: Context, actor_with: ActorWith) -> None:
    actor_with(name="ada")
    for _ in range(14):
        fail(three, times=2)
        assert not blocked(three)
    fail(three, "nobody")
    # 29 failures of the address so far; the thirtieth blocks it, whoever comes next.
    fail(three)
    assert blocked(three, "ada")


def test_a_context_login_counts_in_the_same_place(three: Context) -> None:
    from mgmtctl.domain.auth_context import parse_context

    context = parse_context(b'{"name": "x", "auth": {}}')
    for _ in range(3):
        with pytest.raises(UnauthenticatedError):
            login.run_as(three, "admin", "Wrong-Horse-77", context)
    assert blocked(three)


def test_lacking_the_right_to_contexts_is_no_failed_login(three: Context) -> None:
    from mgmtctl.domain.auth_context import parse_context

    context = parse_context(b'{"name": "x", "auth": {}}')
    for _ in range(6):
        with pytest.raises(DeniedError) as raised:
            login.run_as(three, "admin", ADMIN_PASSWORD, context)
        assert raised.value.code == 6004


BURST = """
import sys
from mgmtctl import bootstrap
from mgmtctl import passwords
from mgmtctl.domain.errors import DeniedError, UnauthenticatedError
from mgmtctl.operations import login
from mgmtctl.settings import Settings
ctx = bootstrap.open_context(Settings())
print("ready", flush=True)
sys.stdin.readline()
seen = []
for _ in range(4):
    try:
        login.log_in(ctx, "admin", "Wrong-Horse-77")
    except UnauthenticatedError:
        seen.append("looked at")
    except DeniedError:
        seen.append("blocked")
print(",".join(seen))
"""


@pytest.mark.slow
def test_a_burst_of_processes_gets_no_more_attempts_than_the_limit(anonymous: Context, home: Path) -> None:
    anonymous.store.settings.set("max_login_attempts", 10)
    # A hash with the full work, so that every process is inside it while the others count.
    anonymous.store.users.set_password(1, passwords.hash_password(ADMIN_PASSWORD))
    burst = [
        subprocess.Popen(
            [sys.executable, "-c", BURST],
            env={**os.environ, "MGMTCTL_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for process in burst:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    answers = [process.communicate("go\n", timeout=120)[0].strip().split(",") for process in burst]
    counted = [answer for answers_of_one in answers for answer in answers_of_one]
    assert counted.count("looked at") == 10
    assert counted.count("blocked") == 22
    assert blocked(anonymous)
