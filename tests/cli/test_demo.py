"""Facts about the demo: it ends well, it shows real output, and it touches nothing of the user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mgmtctl.cli.demo_story import NEXT, STORY
from tests.cli.conftest import run_here


def test_the_story_ends_with_what_to_try_next(tmp_path: Path) -> None:
    before, here = dict(os.environ), Path.cwd()
    result = run_here("demo", "--keep", str(tmp_path / "story"))
    assert (result.code, result.err.count("this step should have ended")) == (0, 0)
    assert all(line in result.out for line in NEXT)
    assert result.out.count("\n$ mgmtctl ") == len(STORY)
    assert (dict(os.environ), Path.cwd()) == (before, here)


def test_the_kept_folder_is_a_service_with_synced_agents(tmp_path: Path) -> None:
    run_here("demo", "--keep", str(tmp_path / "story"))
    pushed = sorted((tmp_path / "story" / "service" / "agents").glob("*/shared/merged.mg"))
    assert [path.parent.parent.name for path in pushed] == ["001", "002", "003", "004", "005"]
    assert b"<syscheck>" in pushed[0].read_bytes()


def test_a_folder_that_exists_is_not_used(tmp_path: Path) -> None:
    assert run_here("demo", "--keep", str(tmp_path)).code == 9
    assert list(tmp_path.iterdir()) == []


def test_without_keep_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run_here("demo").code == 0
    assert list(tmp_path.iterdir()) == []
