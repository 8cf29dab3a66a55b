"""Who is acting: token, user with password file, session file; and what is refused of each."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.cli.options import Common
from mgmtctl.cli.session import CliSession
from mgmtctl.cli.session_file import path_in, read_token, session_path, sha256, write_token
from mgmtctl.domain.errors import UnavailableError
from mgmtctl.settings import Settings
from tests.cli.conftest import ADMIN_PASSWORD, Result, _bytes, streams

Cli = Callable[..., Result]


def user(result: Result) -> str:
    assert result.code == 0, result.err
    return str(result.json()["user"])


def test_session_file_is_private_and_holds_the_token(home: Path) -> None:
    path = session_path(Settings())
    assert path == str(home.parent / "state/sessions" / sha256(os.fsencode(home)))
    assert read_token(path) is None
    write_token(path, "abc")
    assert read_token(path) == "abc"
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    write_token(path, "def")
    assert os.listdir(os.path.dirname(path)) == [os.path.basename(path)]


def test_each_data_folder_has_its_own_session_file() -> None:
    assert path_in("/s", "/a") != path_in("/s", "/b")


def _open_to_group(path: Path) -> None:
    path.chmod(0o640)


def _open_folder(path: Path) -> None:
    path.parent.chmod(0o777)


def _link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


@pytest.mark.parametrize("spoil", [_open_to_group, _open_folder, _link, _fifo, _folder])
def test_a_session_file_that_is_not_safe_is_refused(
    spoil: Callable[[Path], None], home: Path, cli: Cli
) -> None:
    path = Path(session_path(Settings()))
    write_token(str(path), "abc")
    spoil(path)
    with pytest.raises(UnavailableError) as caught:
        read_token(str(path))
    assert caught.value.reason == "configuration"


def test_a_folder_in_place_of_the_session_file_is_78_and_nothing_is_left_beside_it(
    admin: Cli, service_home: Path
) -> None:
    path = Path(session_path(Settings()))
    _folder(path)
    for words in (("whoami",), ("logout",), ("login", "-u", "admin", "--password-stdin")):
        assert admin(*words, stdin=ADMIN_PASSWORD).code == 78
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_session_file_of_somebody_else_is_refused(home: Path) -> None:
    path = session_path(Settings())
    write_token(path, "abc")
    os.chown(path, 65534, 65534)
    with pytest.raises(UnavailableError, match="refused"):
        read_token(path)


def test_token_wins_over_user_and_user_over_session_file(
    admin: Cli, made_service: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "Other-Pass1!"
    assert admin("users", "create", "other", "--password-stdin", stdin=other).code == 0
    password = tmp_path / "password"
    password.write_text(other + "\n")
    password.chmod(0o600)
    assert user(admin("whoami", "-o", "json")) == "admin"
    monkeypatch.setenv("MGMTCTL_USER", "other")
    refused = admin("whoami")
    assert (refused.code, "MGMTCTL_PASSWORD_FILE" in refused.err) == (4, True)
    monkeypatch.setenv("MGMTCTL_PASSWORD_FILE", str(password))
    assert user(admin("whoami", "-o", "json")) == "other"
    monkeypatch.setenv("MGMTCTL_TOKEN", made_service[1])
    assert user(admin("whoami", "-o", "json")) == "admin"
    monkeypatch.setenv("MGMTCTL_TOKEN", made_service[1][:-2] + "xx")
    assert admin("whoami").code == 4


@pytest.mark.parametrize(
    ("mode", "link"), [pytest.param(0o644, False, id="readable"), pytest.param(0o600, True, id="link")]
)
def test_a_password_file_that_is_not_safe_is_refused(
    mode: int, link: bool, service_home: Path, cli: Cli
) -> None:
    path = service_home.parent / "password"
    path.write_text(ADMIN_PASSWORD + "\n")
    path.chmod(mode)
    if link:
        path.with_name("link").symlink_to(path)
        path = path.with_name("link")
    result = cli("login", "-u", "admin", "--password-file", str(path))
    assert result.code == 78
    assert ADMIN_PASSWORD not in result.err


def test_a_password_is_never_asked_for_without_a_terminal(service_home: Path, cli: Cli) -> None:
    result = cli("login", "-u", "admin", stdin=ADMIN_PASSWORD)
    assert result.code == 2
    assert "--password-stdin or --password-file" in result.err


def test_names_come_from_stdin_for_a_single_dash(admin: Cli) -> None:
    result = admin("roles", "show", "-", "-o", "json", stdin="administrator\nreadonly\n")
    assert [record["name"] for record in result.json()] == ["administrator", "readonly"]


def test_a_password_typed_at_the_terminal_is_not_echoed(service_home: Path) -> None:
    main, terminal = pty.openpty()
    command = [sys.executable, "-m", "mgmtctl", "login", "-u", "admin"]
    process = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
    )
    os.close(terminal)
    seen = _read_until(main, "Password of admin: ")
    os.write(main, ADMIN_PASSWORD.encode() + b"\n")
    seen += _read_until(main, "logged in as `admin`")
    assert process.wait(timeout=20) == 0
    os.close(main)
    assert ADMIN_PASSWORD not in seen


def _read_until(handle: int, text: str) -> str:
    seen = ""
    while text not in seen:
        assert select.select([handle], [], [], 20)[0], f"expected `{text}`, got {seen!r}"
        seen += os.read(handle, 4096).decode()
    return seen


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_on_a_terminal_only_and_gone_at_the_end(
    terminal: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mgmtctl.cli.progress._DELAY", 0.0)
    with streams(b"", terminal) as (out, err):
        with CliSession(Common()).progress(4, "syncing") as bar:
            bar.advance()
            drawn = _bytes(err).decode()
        ended = _bytes(err).decode()
        assert _bytes(out) == b""
    assert ("syncing #######....................... 1/4" in drawn) is terminal
    assert ended == (drawn + "\r\x1b[K" if terminal else "")


def test_completion_install_puts_the_generated_script_where_the_shell_looks(
    cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home.parent / "user/.config/fish/completions/mgmtctl.fish"
    assert cli("completion", "install", "fish", "-n").err == f"dry run: wrote `{path}`\n"
    assert not path.exists()
    assert cli("completion", "install", "fish").code == 0
    assert path.read_text() == cli("completion", "fish").out
    assert cli("completion", "install", "tcsh").code == 2
    monkeypatch.delenv("SHELL", raising=False)
    assert cli("completion", "install").err.startswith("error: which shell? $SHELL is not set\n")
