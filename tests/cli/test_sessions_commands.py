"""`sessions list|revoke` and `log show`: what they print, ask and end with (design: command line)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ADMIN_PASSWORD, Result

Cli = Callable[..., Result]
PASSWORD = "Ann-Horse-77"
CONTEXT = {"name": "ann of ops", "auth": {"groups": ["web"], "password": "hunter2"}, "mail": "a@b.c"}


def log_in(admin: Cli, name: str = "ann") -> str:
    """A token of a new session."""
    given = admin("login", "-u", name, "--password-stdin", "--print-token", stdin=PASSWORD)
    assert given.code == 0, given.err
    return given.out.strip()


def alive(admin: Cli, token: str) -> bool:
    os.environ["MGMTCTL_TOKEN"] = token
    try:
        return admin("whoami").code == 0
    finally:
        del os.environ["MGMTCTL_TOKEN"]


@pytest.fixture
def world(admin: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Users ann and wui; web leads to the role ops; a context file in the present folder."""
    monkeypatch.chdir(tmp_path)
    Path("context.json").write_text(json.dumps(CONTEXT), "utf-8")
    Path("rule.json").write_text('{"FIND": {"groups": "web"}}', "utf-8")
    for line in (
        "users create ann --password-stdin",
        "users set-password wui --password-stdin",
        "roles create ops",
        "rules create of-web -f rule.json",
        "roles add-rule ops of-web",
    ):
        done = admin(*line.split(), stdin=PASSWORD)
        assert done.code == 0, done.err
    return admin


def run_as(world: Cli, *command: str) -> Result:
    more = ("--", *command) if command else ("--print-token",)
    return world(
        "run-as", "-u", "wui", "--password-stdin", "--context-file", "context.json", *more, stdin=PASSWORD
    )


def test_a_list_has_the_facts_and_no_token(world: Cli) -> None:
    token = run_as(world).out.strip()
    found = world("sessions", "list", "--sort", "-issued", "-o", "json")
    (by_context,) = [one for one in found.json() if one["context_id"]]
    assert by_context["user"] == "wui"
    assert by_context["context_name"] == "ann of ops"
    assert (by_context["roles"], by_context["current"]) == (["100"], False)
    assert token not in found.out
    rows = world("sessions", "list", "--where", "user=wui").out.splitlines()
    assert rows[0].split("\t") == [
        "id", "user", "context_id", "context_name", "roles", "issued", "expires", "current",
    ]  # fmt: skip
    assert rows[1].split("\t")[1:5] == ["wui", by_context["context_id"], "ann of ops", "ops"]


def test_on_a_terminal_a_session_fits_a_line(world: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    run_as(world)
    record = world("sessions", "list", "--where", "user=wui", "-o", "json").json()[0]
    lines = world("sessions", "list", "--color", "never", terminal=True).out.splitlines()
    assert all(len(line.rstrip()) <= 80 for line in lines)
    (line,) = [line for line in lines if " wui " in line]
    assert line.startswith(record["id"][:8] + " ")
    assert f"{record['context_id'][:8]} ann of" in line
    assert sum("this one" in line for line in lines) == 1
    assert lines[0].split() == ["id", "user", "context_name", "roles", "issued", "expires", "current"]
    day = record["issued"][:10]
    times = [record[name].removeprefix(f"{day}T") for name in ("issued", "expires")]
    assert re.split(r"  +", line.rstrip())[-2:] == times


def test_a_session_sees_its_own_alone(world: Cli) -> None:
    log_in(world)
    assert {one["user"] for one in json.loads(run_as(world, "sessions", "list", "-o", "json").out)} == {"wui"}


def test_sessions_of_a_user_end_and_it_is_said(world: Cli) -> None:
    tokens = [log_in(world) for _ in range(2)]
    tried = world("sessions", "revoke", "--user", "ann", "-n")
    assert (tried.code, tried.err) == (0, "dry run: would end 2 sessions of user `ann`\n")
    assert all(alive(world, token) for token in tokens)
    assert world("sessions", "revoke", "--user", "ann").err == "ended 2 sessions of user `ann`\n"
    assert not any(alive(world, token) for token in tokens)
    assert world("sessions", "revoke", "--user", "ann").err == "ended no sessions\n"


def test_one_session_ends_by_the_digits_of_the_table(world: Cli) -> None:
    first = log_in(world)
    (record,) = world("sessions", "list", "--where", "user=ann", "-o", "json").json()
    second = log_in(world)
    ended = world("sessions", "revoke", "--session", record["id"][:8], "-o", "json")
    assert [one["id"] for one in ended.json()] == [record["id"]]
    assert [alive(world, token) for token in (first, second)] == [False, True]


def test_sessions_of_a_context_end(world: Cli) -> None:
    token, ann = run_as(world).out.strip(), log_in(world)
    context = world("sessions", "list", "--where", "user=wui", "-o", "json").json()[0]["context_id"]
    assert world("sessions", "revoke", "--context-id", context[:8]).err == "ended 1 session of user `wui`\n"
    assert [alive(world, one) for one in (token, ann)] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param((), 2, "--all", id="nothing named"),
        pytest.param(("--all", "--user", "ann"), 2, "by itself", id="all and somebody"),
        pytest.param(("--all",), 2, "--yes", id="all without a terminal"),
        pytest.param(("--user", "nobody"), 5, "user `nobody` does not exist", id="an unknown user"),
        pytest.param(("--session", "12345678"), 5, "does not exist", id="an unknown session"),
        pytest.param(("--context-id", "1234"), 2, "8", id="too few digits"),
        pytest.param(("--user", "ann", "--user", "nobody"), 3, "nobody", id="one of two"),
    ],
)
def test_what_cannot_be_ended_is_said(world: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    log_in(world)
    refused = world("sessions", "revoke", *arguments)
    assert (refused.code, said in refused.err) == (code, True), refused.err
    assert world("whoami").code == 0


def test_all_asks_and_ends_the_caller_too(world: Cli) -> None:
    token = log_in(world)
    no = world("sessions", "revoke", "--all", stdin="n\n", terminal=True)
    assert (no.code, "every session of everybody" in no.err) == (1, True)
    assert alive(world, token)
    yes = world("sessions", "revoke", "--all", stdin="y\n", terminal=True)
    assert yes.code == 0
    assert "ended every session; you could see 2 sessions; yours is among them" in yes.err
    assert not alive(world, token)
    assert world("whoami").code == 4
    assert world("login", "-u", "admin", "--password-stdin", stdin=ADMIN_PASSWORD).code == 0


def test_a_context_is_shown_for_somebody_to_read(world: Cli) -> None:
    context = json.loads(run_as(world, "whoami", "-o", "json").out)["context_id"]
    run_as(world, "sessions", "revoke", "--session", "00000000", "-n")
    shown = world("log", "show", "--context", context[:8])
    times, marked = zip(*re.findall(r"^  (2\S+)  .*?( \(dry run\))?$", shown.out, re.MULTILINE), strict=True)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}Z", time) for time in times)
    assert [bool(mark) for mark in marked] == [False, False, False, True]
    assert shown.out.splitlines()[:4] == [
        f"context  {context}",
        "name     ann of ops",
        "keys     auth: groups, password",
        "         mail",
    ]
    for words in (
        "logged in as wui 2 times, ",
        "  rules  100 of-web",
        "  roles  100 ops",
        "GET /security/users/me",
    ):
        assert words in shown.out
    assert "hunter2" not in shown.out
    by_file = world("log", "show", "--context-file", "context.json", "-o", "json").json()
    assert (by_file["context_id"], by_file["name"]) == (context, "ann of ops")
    assert by_file["logins"][0]["rules"] == [{"id": "100", "name": "of-web"}]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(("show",), 2, id="no context"),
        pytest.param(
            ("show", "--context", "12345678", "--context-file", "context.json"), 2, id="two of them"
        ),
        pytest.param(("show", "--context", "12345678", "--wrap", "x"), 2, id="an id to wrap"),
        pytest.param(("show", "--context", "xyz"), 2, id="no id"),
        pytest.param(("list", "--context", "xyz"), 2, id="no id in a list"),
        pytest.param(("show", "--context", "12345678"), 5, id="an unknown id"),
        pytest.param(("show", "--context-file", "context.json"), 5, id="a context nobody brought"),
    ],
)
def test_what_is_no_known_context_is_refused(world: Cli, arguments: tuple[str, ...], code: int) -> None:
    refused = world("log", *arguments)
    assert (refused.code, refused.out) == (code, "")


def test_requests_of_one_context_are_listed(world: Cli) -> None:
    context = json.loads(run_as(world, "whoami", "-o", "json").out)["context_id"]
    world("whoami")
    listed = world("log", "list", "--context", context[:8], "-o", "json").json()
    assert [entry["uri"] for entry in listed] == [
        "GET /security/users/me",
        "POST /security/user/authenticate/run_as",
    ]


def test_no_token_and_no_digest_is_in_the_log_of_ending_sessions(world: Cli, service_home: Path) -> None:
    token = log_in(world)
    record = world("sessions", "list", "--where", "user=ann", "-o", "json").json()[0]
    world("sessions", "revoke", "--session", record["id"])
    from mgmtctl.tokens import digest

    logged = (service_home / "log" / "requests.log").read_text("ascii")
    assert record["id"] in logged
    assert token not in logged
    assert digest(token) not in logged
