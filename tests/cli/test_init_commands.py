"""`init` and `recover` as an administrator runs them (design: command line, fixed forms)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.domain.users import check_password
from tests.cli.conftest import ADMIN_PASSWORD, Result

Cli = Callable[..., Result]
PASSWORD = "Correct-Horse-7"


def password_file(folder: Path, text: str = PASSWORD + "\n", mode: int = 0o600) -> str:
    path = folder / "password"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_init_says_what_it_made_and_what_comes_next(cli: Cli, home: Path, tmp_path: Path) -> None:
    made = cli("init", "--password-file", password_file(tmp_path))
    assert (made.code, made.out) == (0, "")
    assert (
        made.err
        == f"made a service in `{home}` with the administrator `admin`; next: mgmtctl login -u admin\n"
    )
    assert cli("login", "-u", "admin", "--password-stdin", stdin=PASSWORD).code == 0


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ("init", ["0", "2", "7", "9", "78"]),
        ("recover", ["0", "2", "7", "78"]),
        ("login", ["0", "2", "4", "6", "78"]),
        ("run-as", ["0", "1", "2", "4", "6", "7", "78"]),
    ],
)
def test_help_lists_the_exit_codes_that_can_come(cli: Cli, command: str, codes: list[str]) -> None:
    _, _, listed = cli(command, "--help").out.partition("Exit codes:\n")
    assert [line.split()[0] for line in listed.splitlines() if line[:3].strip().isdigit()] == codes


def test_init_logs_nobody_in(cli: Cli) -> None:
    assert cli("init", "--password-stdin", stdin=PASSWORD).code == 0
    assert cli("whoami").code == 4


def test_a_generated_password_is_printed_once_and_works(cli: Cli, home: Path) -> None:
    made = cli("init", "--generate-password", "-q")
    password = made.out.removesuffix("\n")
    assert check_password(password) == []
    assert (made.code, made.err) == (0, "")
    assert cli("login", "-u", "admin", "--password-stdin", stdin=password).code == 0
    for path in home.rglob("*"):
        assert not path.is_file() or password.encode() not in path.read_bytes()


def test_a_second_init_is_exit_9_and_asks_for_nothing(cli: Cli, service_home: Path) -> None:
    again = cli("init", "--password-stdin", stdin="x")
    assert again.code == 9
    assert "holds a service already" in again.err


def test_a_dry_run_makes_nothing(cli: Cli, home: Path) -> None:
    tried = cli("init", "-n", "--password-stdin", stdin=PASSWORD)
    assert tried.code == 0
    assert tried.err.startswith("dry run: would make a service")
    assert not home.exists()
    assert cli("init", "-n", "--password-stdin", stdin="weak").code == 7


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "says"),
    [
        pytest.param((), "", 2, "--password-stdin or --password-file", id="no terminal and no flag"),
        pytest.param(("--password-stdin",), "short", 7, "at least 8 characters", id="too short"),
        pytest.param(
            ("--password-stdin",), "all-lower-case-1", 7, "an upper-case letter", id="no upper case"
        ),
        pytest.param(("--password-stdin",), "", 7, "at least 8 characters", id="nothing"),
        pytest.param(("--password-stdin", "--generate-password"), "", 2, "no other source", id="two sources"),
        pytest.param(
            ("--password-file", "/nowhere"), "", 78, "cannot use the password file", id="no such file"
        ),
        pytest.param((PASSWORD,), "", 2, "", id="a password as an argument"),
    ],
)
def test_what_init_refuses(
    cli: Cli, home: Path, arguments: tuple[str, ...], stdin: str, code: int, says: str
) -> None:
    refused = cli("init", *arguments, stdin=stdin)
    assert (refused.code, refused.out) == (code, "")
    assert says in refused.err
    assert not (home / "store.db").exists()


def spoil(path: Path, how: str) -> None:
    if how == "readable by others":
        path.chmod(0o644)
        return
    path.rename(path.with_name("real"))
    if how == "a symlink":
        path.symlink_to(path.with_name("real"))
    elif how == "a pipe":
        os.mkfifo(path, 0o600)
    else:
        path.mkdir(0o700)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("readable by others", "mode 0644 opens it to others"),
        ("a symlink", "it is a link"),
        ("a pipe", "no regular file"),
        ("a folder", "no regular file"),
    ],
)
def test_a_password_file_that_is_not_safe_is_refused(cli: Cli, tmp_path: Path, how: str, says: str) -> None:
    path = password_file(tmp_path)
    spoil(Path(path), how)
    refused = cli("init", "--password-file", path)
    assert (refused.code, says in refused.err) == (78, True)


def test_everything_made_is_private_whatever_the_umask(cli: Cli, home: Path) -> None:
    before = os.umask(0)
    try:
        assert cli("init", "--password-stdin", stdin=PASSWORD).code == 0
    finally:
        os.umask(before)
    for name, mode in {
        ".": 0o700,
        "store.db": 0o600,
        "key": 0o600,
        "log": 0o700,
        "log/requests.log": 0o600,
    }.items():
        assert stat.S_IMODE((home / name).stat().st_mode) == mode, name


def test_recover_gives_a_new_password_and_ends_all_sessions(admin: Cli) -> None:
    assert admin("whoami").code == 0
    done = admin("recover", "--password-stdin", "--reason", "lost", stdin="Another-Horse-8")
    assert (done.code, done.out) == (0, "")
    assert admin("whoami").code == 4
    assert admin("login", "-u", "admin", "--password-stdin", stdin=ADMIN_PASSWORD).code == 4
    assert admin("login", "-u", "admin", "--password-stdin", stdin="Another-Horse-8").code == 0
    log = admin("log", "list", "--where", 'uri="POST /service/recover"', "-o", "json").json()
    assert log[0]["parameters"] == {"password": "****", "reason": "lost"}


def test_a_recover_in_a_dry_run_changes_nothing(admin: Cli) -> None:
    tried = admin("recover", "-n", "--generate-password")
    assert (tried.code, tried.out) == (0, "")
    assert admin("whoami").code == 0


def test_recover_needs_a_service(cli: Cli) -> None:
    refused = cli("recover", "--generate-password")
    assert (refused.code, refused.out) == (78, "")
    assert "mgmtctl init" in refused.err


def test_a_data_folder_that_others_may_write_is_exit_78(admin: Cli, service_home: Path) -> None:
    service_home.chmod(0o777)
    refused = admin("whoami")
    assert refused.code == 78
    assert "is open to others" in refused.err
