"""Whatever an editor leaves in place of the text: nothing hangs, nothing is a bug, and no text is lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.operations.conf_checks import LARGEST_FILE
from tests.cli.conftest import Result

Cli = Callable[..., Result]
EDIT = ("files", "edit", "web/agent.conf", "--yes")


@pytest.fixture(autouse=True)
def drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which texts are edited."""
    folder = tmp_path / "drafts"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def web(admin: Cli, home: Path) -> Path:
    admin("groups", "create", "web")
    return home / "shared" / "web" / "agent.conf"


def editor(drafts: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = drafts.parent / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(path))


def kept(result: Result) -> Path:
    found = re.search(r"what you edited is kept in\s+(\S+)", result.err)
    assert found, result.err
    return Path(found[1])


@pytest.mark.parametrize("script", ['rm "$1"', 'rm -r "$(dirname "$1")"'], ids=["the file", "its folder"])
def test_a_text_that_the_editor_took_away_is_nothing_to_put(
    admin: Cli, web: Path, drafts: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    editor(drafts, monkeypatch, script)
    before = web.read_bytes()
    done = admin(*EDIT)
    assert (done.code, done.err) == (0, "nothing to put: the editor left no file\n")
    assert (web.read_bytes(), list(drafts.iterdir())) == (before, [])


@pytest.mark.parametrize(
    ("script", "what"),
    [
        pytest.param('rm "$1"; mkdir "$1"; echo text > "$1/x"', "it is a folder", id="a folder"),
        pytest.param('rm "$1"; mkfifo "$1"', "it is no regular file", id="a pipe"),
        pytest.param('rm "$1"; ln -s /etc/passwd "$1"', "it is a symlink", id="a symlink"),
        pytest.param('rm "$1"; ln -s nowhere "$1"', "it is a symlink", id="a symlink to nothing"),
    ],
)
def test_what_is_no_regular_file_is_not_read_and_kept(
    admin: Cli, web: Path, drafts: Path, monkeypatch: pytest.MonkeyPatch, script: str, what: str
) -> None:
    editor(drafts, monkeypatch, script)
    failed = admin(*EDIT)
    assert (failed.code, what in failed.err) == (74, True)
    assert os.path.lexists(kept(failed))
    refused = admin("policies", "edit", "agents_read", terminal=True)
    assert (refused.code, what in refused.err) == (74, True)


def test_a_text_that_is_too_large_is_refused_with_the_limit_and_kept(
    admin: Cli, web: Path, drafts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(drafts, monkeypatch, 'truncate -s 20000000 "$1"')
    refused = admin(*EDIT)
    assert refused.code == 7
    assert f"web/agent.conf: 20000000 bytes are too many, at most {LARGEST_FILE}" in refused.err
    assert kept(refused).stat().st_size == 20_000_000
    policy = admin("policies", "edit", "agents_read", terminal=True, stdin="n\n")
    assert (policy.code, "20000000 bytes are too many" in policy.err) == (1, True)


def test_a_policy_that_the_editor_took_away_is_not_saved(
    admin: Cli, web: Path, drafts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(drafts, monkeypatch, 'rm "$1"')
    done = admin("policies", "edit", "agents_read", terminal=True)
    assert (done.code, done.err) == (0, "nothing to save: the editor left no file\n")


@pytest.mark.parametrize(
    ("script", "name"),
    [
        pytest.param('echo "<!-- -->" >> "$1"', "agent.conf", id="saved"),
        pytest.param('echo text > "$(dirname "$1")/.agent.conf.swp"', ".agent.conf.swp", id="not yet saved"),
    ],
)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_the_editor_runs_tells_where_the_text_is(
    admin: Cli,
    web: Path,
    drafts: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    name: str,
    number: signal.Signals,
    code: int,
) -> None:
    ready = drafts.parent / "ready"
    editor(drafts, monkeypatch, f"{script}; touch {ready}; exec sleep 60")
    process = subprocess.Popen(
        [sys.executable, "-m", "mgmtctl", *EDIT], env={**os.environ}, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 30
    while not ready.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    place = kept(Result(code, "", err))
    assert (place if place.is_dir() else place.parent).joinpath(name).is_file()
