"""Standard streams that are closed, full or gone: a documented exit code, and never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mgmtctl.cli.session_file import session_path, write_token
from mgmtctl.settings import Settings
from tests.cli.test_app import started

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


@pytest.fixture
def logged_in(service_home: Path, made_service: tuple[Path, str]) -> Path:
    write_token(session_path(Settings()), made_service[1])
    return service_home


def in_shell(line: str) -> tuple[int, str]:
    """The exit code and stderr of `mgmtctl LINE` in a shell."""
    command = f'"{sys.executable}" -m mgmtctl {line}'
    done = subprocess.run(
        ["sh", "-c", command], env={**os.environ}, check=False, timeout=60, stderr=subprocess.PIPE, text=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode, done.stderr


def test_a_closed_pipe_ends_a_read_quietly_with_0(home: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = started("help", "output", home=home, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, b"")


@FULL
@pytest.mark.parametrize(
    "line", ["help output", "--help", "roles list", "roles list -o json", "roles list -o yaml"]
)
@pytest.mark.parametrize("stream", [">/dev/full", ">&-"])
def test_data_that_cannot_be_written_is_74(line: str, stream: str, logged_in: Path) -> None:
    code, err = in_shell(f"{line} {stream}")
    assert code == 74
    assert "cannot write to stdout" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("stream", [">/dev/full", ">&-"])
def test_a_change_that_writes_no_data_needs_no_stdout(stream: str, logged_in: Path) -> None:
    assert in_shell(f"groups create web {stream}") == (0, "created group `web`\n")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param("groups create web", 0, id="a change"),
        pytest.param("roles show nobody", 5, id="an error"),
        pytest.param("roles show nobody -o json", 5, id="an error as JSON"),
        pytest.param("nothing", 2, id="a usage error"),
    ],
)
@pytest.mark.parametrize("stream", ["2>&-", "2>/dev/full"])
def test_talk_that_nobody_can_hear_changes_no_exit_code(
    line: str, code: int, stream: str, logged_in: Path
) -> None:
    assert in_shell(f"{line} {stream}")[0] == code


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("login -u admin --password-stdin", id="a password"),
        pytest.param("roles show -", id="names"),
        pytest.param("rules create x -f -", id="a document"),
        pytest.param("files put default/x.txt -", id="a file"),
        pytest.param("agents import -", id="agents"),
        pytest.param("files validate -", id="a file to check"),
    ],
)
def test_a_closed_stdin_is_no_empty_one(line: str, logged_in: Path) -> None:
    code, err = in_shell(f"{line} <&-")
    assert (code, "Traceback" in err) == (74, False)
    assert err.splitlines()[0] == "error: stdin: cannot be read"
    assert "why: it is closed" in err
    assert not (logged_in / "shared" / "default" / "x.txt").exists()


@pytest.mark.parametrize("line", ["roles delete 100", "login -u admin"])
def test_nobody_can_be_asked_at_a_closed_stdin(line: str, logged_in: Path) -> None:
    assert in_shell(f"{line} <&-")[0] == 2


def test_a_stdin_that_can_only_be_written_is_a_failure_too(logged_in: Path, tmp_path: Path) -> None:
    code, err = in_shell(f"files put default/x.txt - 0> {tmp_path}/written")
    assert (code, "stdin: cannot be read" in err) == (74, True)


def test_an_empty_stdin_is_an_empty_file(logged_in: Path) -> None:
    assert in_shell("files put default/x.txt - < /dev/null")[0] == 0
    assert (logged_in / "shared" / "default" / "x.txt").read_bytes() == b""


def test_without_any_stream_it_still_works(logged_in: Path) -> None:
    assert in_shell("groups create web <&- >&- 2>&-")[0] == 0
