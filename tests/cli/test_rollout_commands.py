"""`sync run --canary`, `sync promote`, `sync wait`: exit codes, what is said and what is data."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mgmtctl import bootstrap
from mgmtctl.cli import staying
from mgmtctl.operations import login
from mgmtctl.operations.context import Context
from mgmtctl.operations.proof import Login
from mgmtctl.settings import Settings
from mgmtctl.store.agents import NewAgent
from tests.cli.conftest import ADMIN_PASSWORD, Result
from tests.conftest import ROOT

Cli = Callable[..., Result]
OLD, NEW = (
    b"<agent_config>\n  <client_buffer>\n    <disabled>%s</disabled>\n  </client_buffer>\n</agent_config>\n"
    % word
    for word in (b"yes", b"no")
)
AGENTS = 4


@pytest.fixture
def fleet(admin: Cli) -> Iterator[Context]:
    """Agents 001 to 004 of web, synced; then web changed."""
    ctx = bootstrap.open_context(Settings())
    ctx.folders.create_group("web")
    ctx.folders.write_file("web", "agent.conf", OLD)
    with ctx.store.atomic():
        ctx.store.agents.claim(AGENTS)
        rows = [NewAgent(n, f"host-{n}", "any", "k" * 64, "web") for n in range(1, AGENTS + 1)]
        ctx.store.agents.add(rows, 0)
    assert admin("sync", "run", "--all").code == 0
    ctx.folders.write_file("web", "agent.conf", NEW)
    yield ctx
    ctx.store.close()


def canary(admin: Cli, *words: str) -> list[dict[str, Any]]:
    """Begin a rollout of one canary; the records of what was written."""
    found = admin("sync", "run", "--all", "--canary", "1", *words, "-o", "json", "-q")
    assert found.code == 0
    written: list[dict[str, Any]] = found.json()
    return written


def test_a_rollout_that_failed_in_part_says_all_of_it_in_one_json_object(admin: Cli, fleet: Context) -> None:
    shutil.rmtree(fleet.folders.agents / "002")
    (fleet.folders.agents / "002").write_text("")
    found = admin("sync", "run", "--all", "--canary", str(AGENTS), "-o", "json")
    record = json.loads(found.err)
    assert (found.code, record["exit"], record["rollout"]) == (3, 3, "1")
    assert record["canaries"] == ["001", "002", "003", "004"]
    assert record["summary"] == "4 agents: 3 written to, 0 up to date, 1 failed"


@pytest.mark.parametrize(("verb", "would"), [("plan", "would be "), ("run", "")])
def test_who_is_held_back_is_told_by_which_rollout_and_what_helps(
    admin: Cli, fleet: Context, verb: str, would: str
) -> None:
    canary(admin)
    found = admin("sync", verb, "--all")
    assert found.err == (
        f"4 agents: 0 {would}written to, 1 up to date, 3 held back by rollout 1\n"
        "rollout 1 holds them back until it is promoted: mgmtctl sync promote 1\n"
    )
    assert admin("sync", verb, "--all", terminal=True).out == ""


def test_the_json_of_a_run_with_canaries_names_rollout_and_reason(admin: Cli, fleet: Context) -> None:
    (one,) = canary(admin)
    assert (one["rollout"], one["chosen"]) == ("1", "1 of 4 agents of web on an unknown system")
    assert {change["file"] for change in one["changes"]} == {"agent.conf", "merged.mg"}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--canary", "0"), id="none"),
        pytest.param(("--canary", "200%"), id="too many"),
        pytest.param(("--canary", "some"), id="no number"),
        pytest.param(("--abort-if", "failed>0"), id="a condition without canaries"),
        pytest.param(("--canary", "1", "--abort-if", "failed>"), id="half a condition"),
    ],
)
def test_what_cannot_be_asked_is_usage(admin: Cli, fleet: Context, words: tuple[str, ...]) -> None:
    assert admin("sync", "run", "--all", *words).code == 2
    assert admin("sync", "promote").code == 9


def test_promote_pushes_and_says_so(admin: Cli, fleet: Context) -> None:
    canary(admin)
    found = admin("sync", "promote", "-o", "json")
    assert (found.code, len(found.json())) == (0, 3)
    assert found.err == "4 agents: 3 written to, 1 up to date\nrollout 1 is promoted\n"
    assert admin("sync", "status", "--exit-code", "-q").code == 0


def test_promote_answers_no_with_one_on_stderr_and_nothing_on_stdout(admin: Cli, fleet: Context) -> None:
    (one,) = canary(admin)
    (fleet.folders.agents / one["id"] / "shared" / "agent.conf").write_bytes(b"mine")
    found = admin("sync", "promote", "-o", "json")
    told = json.loads(found.err)
    assert (found.code, found.out, told["exit"], told["rollout"]) == (1, "", 1, "1")
    assert [(ill["id"], ill["stage"]) for ill in told["canaries"]] == [(one["id"], "diverged")]
    text = admin("sync", "promote")
    assert text.code == 1
    assert f"  why: {one['id']} {one['name']}: diverged: changed there: `agent.conf`\n" in text.err
    assert f"  fix: mgmtctl sync run {one['id']}, then mgmtctl sync promote 1\n" in text.err


def test_promote_asks_beyond_max_affected(admin: Cli, fleet: Context) -> None:
    canary(admin)
    refused = admin("sync", "promote", "--max-affected", "2")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert admin("sync", "promote", "--max-affected", "2", stdin=b"n\n", terminal=True).code != 0
    assert admin("sync", "promote", "--max-affected", "2", stdin=b"y\n", terminal=True).code == 0


def test_promote_lists_what_failed(admin: Cli, fleet: Context) -> None:
    (one,) = canary(admin)
    broken = next(f"{n:03}" for n in range(1, AGENTS + 1) if f"{n:03}" != one["id"])
    folder = fleet.folders.agents / broken / "shared"
    folder.rename(folder.with_name("aside"))
    folder.symlink_to("/nowhere")
    found = admin("sync", "promote")
    assert (found.code, f"error: {broken}: " in found.err or broken in found.err) == (3, True)
    assert "4 agents: 2 written to, 1 up to date, 1 failed\n" in found.err


def test_cancel_ends_the_hold(admin: Cli, fleet: Context) -> None:
    canary(admin)
    found = admin("sync", "promote", "--cancel")
    assert (found.code, found.err.startswith("rollout 1 is cancelled: ")) == (0, True)
    assert admin("sync", "run", "--all").err == "4 agents: 3 written to, 1 up to date\n"


def test_cancel_does_not_end_what_is_being_pushed(admin: Cli, fleet: Context) -> None:
    canary(admin)
    with fleet.folders.lock("sync", "mgmtctl sync promote"):
        found = admin("sync", "promote", "--cancel")
        assert (found.code, found.err.startswith("error: ")) == (75, True)
        skipped = admin("sync", "promote", "--cancel", "--if-locked", "skip", "-o", "json")
        assert (skipped.code, skipped.out, skipped.err) == (0, "", "another sync runs, nothing done\n")
    assert admin("sync", "promote", "--cancel", "-o", "json").json() == []


def test_promote_says_what_it_leaves_open(admin: Cli, fleet: Context) -> None:
    fleet.folders.create_group("db")
    fleet.folders.write_file("db", "agent.conf", OLD)
    with fleet.store.atomic():
        fleet.store.agents.claim(1)
        fleet.store.agents.add([NewAgent(5, "host-5", "any", "k" * 64, "db,web")], 0)
    canary(admin)
    fleet.folders.write_file("db", "agent.conf", b"<agent_config><bogus/></agent_config>")
    found = admin("sync", "promote")
    assert found.code == 3
    assert "5 agents: 3 written to, 1 up to date, 1 failed\n" in found.err
    assert found.err.endswith(
        "rollout 1 is open: groups of it cannot be sent; repair them, then mgmtctl sync promote 1\n"
    )


def test_who_had_nothing_before_is_not_told_to_go_back(admin: Cli, fleet: Context) -> None:
    fleet.store.database.execute("DELETE FROM sync_state")
    found = admin("sync", "run", "--all", "--canary", "1")
    assert "  mgmtctl sync promote 1 --cancel  the next run writes to all\n" in found.err
    assert "rollback" not in found.err


def test_wait_ends_when_all_are_synced(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "--all")
    found = admin("sync", "wait", "--all")
    assert (found.code, found.out, found.err) == (0, "", "4 of 4 agents synced\n")
    assert admin("sync", "wait", "--all", "-o", "json").json() == []


def test_wait_times_out_with_those_that_are_left(admin: Cli, fleet: Context) -> None:
    found = admin("sync", "wait", "002", "host-3", "--timeout", "1s", "--interval", "1s")
    assert found.code == 8
    assert [line.split("\t")[:3] for line in found.out.splitlines()[1:]] == [
        ["002", "host-2", "stale"],
        ["003", "host-3", "stale"],
    ]
    assert found.err == "2 of 2 agents left after 1 s: 2 stale\n"
    left = admin("sync", "wait", "--all", "--timeout", "0s", "-o", "id")
    assert (left.code, left.out.split()) == (8, ["001", "002", "003", "004"])


def test_a_wait_counts_by_stage_and_says_at_once_who_is_held(admin: Cli, fleet: Context) -> None:
    (one,) = canary(admin)
    found = admin("sync", "wait", "--group", "web", "--timeout", "0s")
    first, *_, last = found.err.splitlines()
    assert first == "3 agents are kept back by rollout 1 until it is promoted: mgmtctl sync promote 1"
    assert last == "3 of 4 agents left after 0 s: 3 held"
    (fleet.folders.agents / one["id"] / "local_internal_options.conf").write_text("agent.remote_conf=0\n")
    assert admin("sync", "promote").code == 0
    assert admin("sync", "wait", "--all").err == "4 of 4 agents settled: 1 ignored, 3 synced\n"


def test_a_wait_shows_ten_of_many(admin: Cli, fleet: Context) -> None:
    with fleet.store.atomic():
        fleet.store.agents.claim(9)
        rows = [NewAgent(n, f"host-{n}", "any", "k" * 64, "web") for n in range(5, 14)]
        fleet.store.agents.add(rows, 0)
    found = admin("sync", "wait", "--group", "web", "--timeout", "0s")
    assert len(found.out.splitlines()) == 11
    assert found.err == "and 3 more\n13 of 13 agents left after 0 s: 9 never-synced, 4 stale\n"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param((), 2, id="no target"),
        pytest.param(("--all", "--timeout", "soon"), 2, id="no duration"),
        pytest.param(("--all", "--timeout", "5"), 2, id="no unit"),
        pytest.param(("--all", "--interval", "0s"), 2, id="no pause"),
        pytest.param(("--group", "nosuch"), 5, id="no such group"),
        pytest.param(("nosuch",), 5, id="no such agent"),
    ],
)
def test_what_cannot_be_waited_for(admin: Cli, fleet: Context, words: tuple[str, ...], code: int) -> None:
    assert admin("sync", "wait", *words).code == code


def test_agents_that_may_not_be_waited_for_are_listed(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "--all")
    found = admin("sync", "wait", "001", "nosuch")
    assert (found.code, "agent `nosuch` does not exist" in found.err) == (3, True)


def test_a_wait_ends_with_its_session(admin: Cli, fleet: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    token = login.log_in(fleet, "admin", ADMIN_PASSWORD).token
    fleet.store.database.execute("UPDATE sessions SET expires = ?", (int(time.time()) + 2,))
    monkeypatch.setenv("MGMTCTL_TOKEN", token)
    found = admin("sync", "wait", "--all", "--timeout", "1m", "--interval", "1s")
    assert found.code == 4
    assert found.err.startswith("waiting until the session ends, in ")
    assert "error: the session has expired\n" in found.err


def test_a_wait_logs_in_again_by_the_password_file(
    admin: Cli, fleet: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = tmp_path / "password"
    password.write_text(ADMIN_PASSWORD)
    password.chmod(0o600)
    monkeypatch.setenv("MGMTCTL_USER", "admin")
    monkeypatch.setenv("MGMTCTL_PASSWORD_FILE", str(password))
    monkeypatch.setattr(staying, "EARLY", 10_000)  # every session is about to expire
    issued: list[str] = []
    issue = login.log_in

    def counted(context: Context, user_name: str, password: str) -> Login:
        issued.append(user_name)
        return issue(context, user_name, password)

    monkeypatch.setattr(login, "log_in", counted)
    found = admin("sync", "wait", "--all", "--timeout", "2s", "--interval", "1s")
    assert (found.code, found.err) == (8, "4 of 4 agents left after 2 s: 4 stale\n")
    assert len(issued) >= 2


def process(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mgmtctl", "sync", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def test_a_wait_is_interrupted(admin: Cli, fleet: Context) -> None:
    with process("wait", "--all") as waiting:
        time.sleep(1.5)
        waiting.send_signal(signal.SIGINT)
        said = waiting.communicate(timeout=20)[1]
    assert (waiting.returncode, said) == (130, "error: interrupted\n")


def test_two_promotes_exclude_each_other(admin: Cli, fleet: Context) -> None:
    canary(admin)
    with fleet.folders.lock("sync", "mgmtctl sync promote"):
        assert admin("sync", "promote").code == 75
        skipped = admin("sync", "promote", "--if-locked", "skip")
        assert (skipped.code, skipped.err) == (0, "another sync runs, nothing done\n")
        assert admin("sync", "run", "--all", "--canary", "1").code == 75
    assert admin("sync", "promote").code == 0


@pytest.mark.slow
def test_a_promote_that_was_killed_is_finished_by_the_next(admin: Cli, fleet: Context) -> None:
    with fleet.store.atomic():
        fleet.store.agents.claim(1500)
        rows = [NewAgent(n, f"host-{n}", "any", "k" * 64, "web") for n in range(5, 1505)]
        fleet.store.agents.add(rows, 0)
    canary(admin)
    killed = 0
    for delay in (0.25, 0.3, 0.35, 0.4, 0.45):
        # What the one before forked may hold the lock for some milliseconds more.
        with process("promote", "--lock-timeout", "10") as promote:
            time.sleep(delay)
            promote.kill()
        killed += promote.returncode == -signal.SIGKILL
        if promote.returncode == 0:
            break
    assert killed
    if fleet.store.rollouts.get(1).state == "open":
        assert admin("sync", "promote", "--lock-timeout", "10").code == 0
    assert fleet.store.rollouts.get(1).state == "promoted"
    assert admin("sync", "status", "--exit-code", "-q").code == 0
    assert os.listdir(fleet.folders.agents / "300" / "shared")
