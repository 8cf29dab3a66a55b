"""Command lines in this process on a real data folder: `cli(...)` gives exit code, stdout and stderr."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mgmtctl import bootstrap
from mgmtctl.__main__ import main
from mgmtctl.cli.session_file import session_path, write_token
from mgmtctl.operations import login, setup
from mgmtctl.settings import Settings

ADMIN_PASSWORD = "Adm1n-of-tests!"
VARIABLES = (
    "MGMTCTL_HOME", "MGMTCTL_STATE", "MGMTCTL_TOKEN", "MGMTCTL_USER", "MGMTCTL_PASSWORD_FILE", "NO_COLOR",
    "FORCE_COLOR", "VISUAL", "EDITOR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What one command line gave."""

    code: int
    out: str
    err: str
    raw: bytes = b""

    def json(self) -> Any:
        """Stdout as JSON."""
        import json

        return json.loads(self.out)


class _Stream(io.TextIOWrapper):
    """A stream that says whether it is a terminal."""

    def __init__(self, data: bytes = b"", *, terminal: bool = False) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", errors="backslashreplace", write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@contextmanager
def streams(stdin: bytes, terminal: bool) -> Iterator[tuple[_Stream, _Stream]]:
    before = sys.stdin, sys.stdout, sys.stderr
    out, err = _Stream(terminal=terminal), _Stream(terminal=terminal)
    sys.stdin, sys.stdout, sys.stderr = _Stream(stdin, terminal=terminal), out, err
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def run_here(*arguments: str, stdin: bytes | str = b"", terminal: bool = False) -> Result:
    """One command line (without `mgmtctl`) in this process."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    with streams(data, terminal) as (out, err):
        code = _signals_kept(lambda: main(list(arguments)))
        raw, said = _bytes(out), _bytes(err)
    return Result(code, raw.decode("utf-8", "surrogateescape"), said.decode("utf-8", "surrogateescape"), raw)


def _bytes(stream: _Stream) -> bytes:
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue()


def _signals_kept(call: Callable[[], int]) -> int:
    import signal

    before = signal.getsignal(signal.SIGTERM)
    try:
        return call()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place for a data folder, set as MGMTCTL_HOME; the rest of the environment says nothing."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "home"
    monkeypatch.setenv("MGMTCTL_HOME", str(folder))
    monkeypatch.setenv("MGMTCTL_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    return folder


@pytest.fixture
def cli(home: Path) -> Callable[..., Result]:
    """`cli("agents", "list", stdin=b"", terminal=False) -> Result` on the empty `home`."""
    return run_here


@pytest.fixture(scope="session")
def made_service(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data folder as `init` leaves it, made once to be copied, and the token of its administrator."""
    folder = tmp_path_factory.mktemp("made") / "home"
    settings = Settings({"MGMTCTL_HOME": str(folder)})
    with bootstrap.create_service(settings) as context:
        setup.initialise(context, ADMIN_PASSWORD)
    context = bootstrap.open_context(settings)
    token = login.log_in(context, "admin", ADMIN_PASSWORD).token
    context.store.close()
    return folder, token


@pytest.fixture
def service_home(home: Path, made_service: tuple[Path, str]) -> Path:
    """A data folder of its own with the administrator `admin`; nobody is logged in."""
    shutil.copytree(made_service[0], home, symlinks=True)
    return home


@pytest.fixture
def admin(service_home: Path, made_service: tuple[Path, str]) -> Callable[..., Result]:
    """As `cli`, on a service where the administrator is logged in."""
    write_token(session_path(Settings()), made_service[1])
    return run_here
