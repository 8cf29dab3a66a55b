"""`log list` and `log tail` (issue: request log; design: command line)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.settings import Settings
from tests.cli.conftest import ADMIN_PASSWORD, Result

Cli = Callable[..., Result]


def test_the_newest_come_first_and_a_limit_keeps_them(admin: Cli) -> None:
    admin("whoami")
    admin("groups", "list")
    found = admin("log", "list", "--limit", "2", "-o", "json").json()
    assert [entry["uri"] for entry in found] == ["GET /groups", "GET /security/users/me"]
    assert set(found[0]) == {
        "timestamp", "levelname", "user", "hash_auth_context", "ip", "http_method", "uri", "parameters", "body",
        "time", "status_code",
    }  # fmt: skip


def test_rows_have_the_columns_of_the_table(admin: Cli) -> None:
    admin("login", "-u", "eve", "--password-stdin", stdin="x")
    lines = admin("log", "list", "--where", "status_code=401").out.splitlines()
    assert lines[0] == "timestamp\tuser\tstatus_code\turi\tdry_run"
    assert lines[1].split("\t")[1:3] == ["eve", "401"]


def test_a_dry_run_is_marked_and_nothing_else_is(admin: Cli) -> None:
    admin("groups", "create", "web", "-n")
    admin("groups", "create", "web")
    lines = admin("log", "list", "--limit", "2").out.splitlines()
    assert [line.split("\t")[3:] for line in lines[1:]] == [["POST /groups", ""], ["POST /groups", "true"]]
    real, dry = admin("log", "list", "--limit", "3", "-o", "json").json()[1:]
    assert (dry["dry_run"], "dry_run" in real) == (True, False)
    shown = admin("log", "list", "--limit", "5", "--color", "never", terminal=True).out
    assert shown.splitlines()[0].split()[-1] == "dry_run"
    assert "dry_run" not in admin("log", "list", "--limit", "2", "--color", "never", terminal=True).out


def test_a_forged_name_reaches_no_terminal_as_it_is(admin: Cli) -> None:
    admin("login", "-u", "\x1b[31meve\n2026/11/21 00:00:00 INFO: admin", "--password-stdin", stdin="x")
    for arguments in (("list",), ("tail",), ("list", "-o", "json")):
        shown = admin("log", *arguments, terminal=True)
        assert "\x1b[31m" not in shown.out
        assert "\n2026/11/21 00:00:00" not in shown.out


def test_a_tail_shows_the_last_lines_oldest_first(admin: Cli) -> None:
    for _ in range(3):
        admin("whoami")
    lines = admin("log", "tail", "--lines", "2").out.splitlines()
    assert len(lines) == 2
    assert all('"GET /security/users/me"' in line for line in lines)
    found = [
        json.loads(line) for line in admin("log", "tail", "--lines", "1", "-o", "ndjson").out.splitlines()
    ]
    assert found[0]["uri"] == "GET /manager/requests/new"
    assert admin("log", "tail", "--lines", "0").out == ""


def test_a_tail_is_objects_one_array_or_refused(admin: Cli) -> None:
    admin("whoami")
    line = admin("log", "tail", "--lines", "1", "-o", "ndjson").out
    assert line == json.dumps(json.loads(line), separators=(",", ":")) + "\n"
    assert len(admin("log", "tail", "--lines", "2", "-o", "json").json()) == 2
    for arguments in (("-o", "yaml"), ("-o", "table"), ("-f", "-o", "json")):
        refused = admin("log", "tail", *arguments)
        assert (refused.code, refused.out, "ndjson" in refused.err) == (2, "", True)


def test_reading_the_log_needs_the_right(admin: Cli) -> None:
    admin("users", "create", "eve", "--password-stdin", stdin="Eve-Adam-11")
    admin("login", "-u", "eve", "--password-stdin", stdin="Eve-Adam-11")
    for arguments in (("list",), ("tail",), ("tail", "-f")):
        refused = admin("log", *arguments)
        assert (refused.code, refused.out) == (6, "")
        assert "manager:read" in refused.err


def followed(*more: str, **environ: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "mgmtctl", "log", "tail", "-f", "--lines", "0", *more],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_following_shows_new_lines_until_it_is_interrupted(admin: Cli) -> None:
    process = followed()
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stderr.readline().startswith("following until the session ends, in ")
    admin("config", "path")
    admin("groups", "list")
    seen = ""
    while "GET /groups" not in seen:
        seen = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, "Traceback" in err) == (130, False)


@pytest.mark.slow
def test_following_ends_with_its_session_by_4_and_renews_one_of_cron(
    admin: Cli, service_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mgmtctl.bootstrap import open_context
    from mgmtctl.operations import login

    ctx = open_context(Settings())
    ctx.store.database.execute("INSERT INTO settings VALUES ('auth_token_exp_timeout', '3')")
    token = login.log_in(ctx, "admin", ADMIN_PASSWORD).token
    path = tmp_path / "cron.password"
    path.write_text(ADMIN_PASSWORD)
    path.chmod(0o600)
    ends = followed(MGMTCTL_TOKEN=token)
    goes_on = followed(MGMTCTL_USER="admin", MGMTCTL_PASSWORD_FILE=str(path))
    _, err = ends.communicate(timeout=30)
    assert ends.returncode == 4
    assert "the session has expired" in err
    time.sleep(1)
    assert goes_on.poll() is None
    goes_on.send_signal(signal.SIGTERM)
    assert (goes_on.communicate(timeout=30)[1], goes_on.returncode) == ("", 143)
    ctx.store.close()
