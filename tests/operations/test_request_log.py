"""The request log of a real service: every call, whole lines from many processes, read back (S 5.4, D 4)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl import bootstrap
from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import DeniedError, MgmtctlError, UnavailableError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.domain.request_log import RequestRecord
from mgmtctl.logs import RequestLog
from mgmtctl.operations import login, request_log, users
from mgmtctl.operations.context import Context
from mgmtctl.settings import Settings
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

LINE = re.compile(
    r'\d{4}/\d\d/\d\d \d\d:\d\d:\d\d INFO: \S+( \([0-9a-f]{32}\))? 127\.0\.0\.1 "[A-Z]+ /\S*"'
    r" with parameters \{.*\} and body \{.*\} done in \d+\.\d{3}s: \d{3}"
)
CONTEXT = parse_context(
    b'{"name": "portal", "auth": {"user": "ann", "password": "hunter2"}, "groups": ["staff"]}'
)


def record(path: str = "/agents") -> RequestRecord:
    return RequestRecord(0.0, "ada", None, "127.0.0.1", "GET", path, {}, 0.001, 200)


@pytest.fixture
def both(home: Path) -> Context:
    """The service with both forms of the log."""
    ctx = bootstrap.open_context(Settings({"MGMTCTL_HOME": str(home), "MGMTCTL_LOGS_FORMAT": "plain,json"}))
    return login.resume(ctx, login.log_in(ctx, "admin", ADMIN_PASSWORD).token, False)


def plain_lines(home: Path) -> list[str]:
    return (home / "log" / "requests.log").read_text("ascii").splitlines()


def json_payloads(home: Path) -> list[dict[str, object]]:
    lines = (home / "log" / "requests.jsonl").read_text("ascii").splitlines()
    return [json.loads(line)["data"]["payload"] for line in lines]


def test_every_call_is_one_line_in_each_form(both: Context, home: Path) -> None:
    login.who_am_i(both)
    lines = plain_lines(home)
    assert all(LINE.fullmatch(line) for line in lines)
    assert [payload["uri"] for payload in json_payloads(home)] == [
        "POST /security/user/authenticate",
        "GET /security/users/me",
    ]
    assert json_payloads(home)[-1]["uid"] == os.getuid()
    both.store.close()


def test_a_context_session_carries_its_id_from_the_login_on(
    both: Context, home: Path, actor_with: ActorWith
) -> None:
    actor_with(name="portal", allow_run_as=True)
    session = login.resume(both, login.run_as(both, "portal", ADMIN_PASSWORD, CONTEXT).token)
    login.who_am_i(session)
    with pytest.raises(DeniedError):
        login.run_as(both, "admin", ADMIN_PASSWORD, CONTEXT)
    found = json_payloads(home)[-3:]
    assert [payload["hash_auth_context"] for payload in found] == [CONTEXT.id] * 3
    assert found[0]["body"] == {
        "name": "portal",
        "auth": {"user": "****", "password": "****"},
        "groups": "****",
    }
    assert f"portal ({CONTEXT.id}) 127.0.0.1" in plain_lines(home)[-2]
    text = (home / "log" / "requests.log").read_text() + (home / "log" / "requests.jsonl").read_text()
    assert not any(secret in text for secret in ("ann", "hunter2", "staff", ADMIN_PASSWORD))
    both.store.close()


def test_refused_calls_are_logged_masked_with_their_status(
    both: Context, home: Path, actor_with: ActorWith
) -> None:
    nobody = both.acting_as(None)
    calls: list[tuple[int, Callable[[], object]]] = [
        (401, lambda: login.log_in(nobody, "admin", "Hunter-Number-2")),
        (401, lambda: login.log_in(nobody, "nobody\nadmin 127.0.0.1", "Hunter-Number-2")),
        (403, lambda: users.create_user(replace(both, actor=actor_with().actor), "eve", "Hunter-Number-2")),
        (400, lambda: users.create_user(both, "eve", "Hunter")),
    ]
    for _, call in calls:
        with pytest.raises(MgmtctlError):
            call()
    found = json_payloads(home)[-len(calls) :]
    assert [payload["status_code"] for payload in found] == [status for status, _ in calls]
    assert found[0]["user"] == "admin"
    assert found[1]["user"] == "nobody\nadmin 127.0.0.1"
    assert "nobody\\x0aadmin\\x20127.0.0.1 127.0.0.1" in (home / "log" / "requests.log").read_text()
    assert "Hunter" not in (home / "log" / "requests.log").read_text()
    both.store.close()


def test_a_dry_run_is_logged_with_its_reason(settings: Settings, home: Path) -> None:
    ctx = bootstrap.open_context(settings, dry_run=True, reason="JIRA-7")
    session = login.resume(ctx, login.log_in(ctx, "admin", ADMIN_PASSWORD).token)
    login.log_out(session)
    assert '"dry_run": true, "reason": "JIRA-7"' in plain_lines(home)[-1]
    ctx.store.close()


def test_the_log_reads_back_newest_first_whichever_forms_it_was_written_in(both: Context) -> None:
    for _ in range(3):
        login.who_am_i(both)
    found = request_log.list_requests(both)
    # `init` wrote one form only, perhaps in the same second.
    uris = [entry.uri for entry in found.affected if entry.uri != "POST /service"]
    assert uris == ["GET /security/users/me"] * 3 + ["POST /security/user/authenticate"]
    assert found.total == 5
    both.store.close()


def test_the_log_can_be_filtered_searched_and_cut(service: Context) -> None:
    login.who_am_i(service)
    with pytest.raises(MgmtctlError):
        login.log_in(service, "eve", "Hunter-Number-2")
    failed = request_log.list_requests(service, ListQuery(where="status_code>399;http_method=POST"))
    assert [(entry.user, entry.status_code) for entry in failed.affected] == [("admin", 401)]
    cut = request_log.list_requests(service, ListQuery(search="users/me", limit=1))
    assert ([entry.uri for entry in cut.affected], cut.total) == (["GET /security/users/me"], 1)


def test_reading_the_log_needs_the_right(actor_with: ActorWith) -> None:
    ctx = actor_with(roles=["agents_admin"])
    with pytest.raises(DeniedError):
        request_log.list_requests(ctx)
    with pytest.raises(DeniedError):
        request_log.follow_requests(ctx)


@pytest.mark.parametrize("form", ["plain", "json"])
def test_a_follower_gives_the_last_entries_and_then_the_new_ones(tmp_path: Path, form: str) -> None:
    log = RequestLog(tmp_path, (form,))
    for number in range(2_000):
        log.write(record(f"/agents/{number}"))
    follower = log.follower(last=1_500)
    assert [entry.uri for entry in follower.recent] == [
        f"GET /agents/{number}" for number in range(500, 2_000)
    ]
    assert next(entry.uri for entry in log.follower(last=3).recent) == "GET /agents/1997"
    assert len(log.follower(last=9_999).recent) == 2_000
    assert log.follower().recent == []
    assert follower.poll() == []
    log.write(record("/new"))
    assert [entry.uri for entry in follower.poll()] == ["GET /new"]
    assert follower.poll() == []


def test_a_follower_waits_for_the_rest_of_a_line_and_reads_a_new_file_from_its_start(tmp_path: Path) -> None:
    log, path = RequestLog(tmp_path), tmp_path / "requests.log"
    log.write(record("/one"))
    follower = log.follower()
    whole = path.read_bytes().replace(b"/one", b"/two")
    with path.open("ab") as file:
        file.write(whole[:40])
        file.flush()
        assert follower.poll() == []
        file.write(whole[40:])
    assert [entry.uri for entry in follower.poll()] == ["GET /two"]
    path.unlink()
    assert follower.poll() == []
    log.write(record("/3"))
    assert [entry.uri for entry in follower.poll()] == ["GET /3"]


def test_a_line_that_a_killed_process_left_half_does_not_spoil_the_next(tmp_path: Path) -> None:
    log, path = RequestLog(tmp_path), tmp_path / "requests.log"
    log.write(record("/one"))
    with path.open("ab") as file:
        file.write(b"2026/11/21 09:41:10 INFO: ada 127.0.0.1")
    log.write(record("/two"))
    assert [entry.uri for entry in log.read()] == ["GET /one", "GET /two"]


def test_a_log_folder_that_was_removed_is_made_again(tmp_path: Path) -> None:
    RequestLog(tmp_path / "log").write(record())
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "log" / "requests.log").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("spoil", ["a symlink", "a folder"])
def test_a_log_that_is_no_file_is_refused(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "requests.log"
    if spoil == "a symlink":
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.mkdir()
    with pytest.raises(UnavailableError) as raised:
        RequestLog(tmp_path).write(record())
    assert raised.value.reason == "io"
    assert not (tmp_path / "elsewhere").exists()


FULL = """
import resource, sys
from pathlib import Path
from mgmtctl.domain.errors import UnavailableError
from mgmtctl.domain.request_log import RequestRecord
from mgmtctl.logs import RequestLog
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for number in range(20):
    try:
        RequestLog(Path(sys.argv[1])).write(RequestRecord(0.0, "ada", None, "127.0.0.1", "GET", "/x", {}, 0.001, 200))
    except UnavailableError as error:
        print(error.reason)
"""


def test_when_no_more_fits_the_error_says_so_and_no_half_line_stays(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=60, check=True
    )
    lines = plain_lines_of(tmp_path)
    assert 0 < len(lines) < 20
    assert run.stdout.split() == ["io"] * (20 - len(lines))
    assert all(LINE.fullmatch(line) for line in lines)


WRITER = """
import sys
from pathlib import Path
from mgmtctl.domain.request_log import RequestRecord
from mgmtctl.logs import RequestLog
log, name = RequestLog(Path(sys.argv[1]), ("plain", "json")), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    long = {"text": "x" * 900, "list": ["y" * 90] * (number % 40)}
    log.write(RequestRecord(0.0, name, None, "127.0.0.1", "GET", f"/{name}/{number}", long, 0.001, 200))
"""


def writers(folder: Path, count: int, lines: int) -> list[subprocess.Popen[str]]:
    made = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), f"w{number}", str(lines)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    for process in made:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    return made


def start(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


@pytest.mark.slow
def test_sixteen_processes_write_whole_lines(tmp_path: Path) -> None:
    processes = writers(tmp_path, 16, 100)
    start(processes)
    assert [process.wait(timeout=60) for process in processes] == [0] * 16
    for process in processes:
        process.communicate()
    lines = plain_lines_of(tmp_path)
    assert len(lines) == 1_600
    assert all(LINE.fullmatch(line) for line in lines)
    expected = sorted(f"GET /w{writer}/{number}" for writer in range(16) for number in range(100))
    for name in ("requests.log", "requests.jsonl"):
        alone = tmp_path / name.replace(".", "")
        alone.mkdir()
        (tmp_path / name).rename(alone / name)
        assert sorted(entry.uri for entry in RequestLog(alone).read()) == expected


@pytest.mark.slow
def test_killed_writers_spoil_no_line_of_the_others(tmp_path: Path) -> None:
    doomed, safe = writers(tmp_path, 4, 100_000), writers(tmp_path, 2, 200)
    start([*doomed, *safe])
    for process in doomed:
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    for process in [*doomed, *safe]:
        process.communicate(timeout=60)
    RequestLog(tmp_path).write(record("/last"))
    found = [entry.uri for entry in RequestLog(tmp_path).read()]
    for writer in ("w0", "w1"):
        assert {f"GET /{writer}/{number}" for number in range(200)} <= set(found)
    broken = [line for line in plain_lines_of(tmp_path) if not LINE.fullmatch(line)]
    assert len(broken) <= len(doomed)


def plain_lines_of(folder: Path) -> list[str]:
    return (folder / "requests.log").read_text("ascii").splitlines()
