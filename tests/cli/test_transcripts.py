"""The stories in tests/scripts: what is on the screen, line by line (`--update-scripts` rewrites them)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mgmtctl.cli.session_file import session_path, write_token
from mgmtctl.settings import Settings
from tests.cli.transcripts import GIVEN, given, parse, replay

SCRIPTS = sorted((Path(__file__).parent.parent / "scripts").glob("*.txt"))


@pytest.mark.parametrize("script", [pytest.param(path, id=path.stem) for path in SCRIPTS])
def test_story_prints_what_its_transcript_says(
    script: Path, home: Path, tmp_path: Path, made_service: tuple[Path, str], request: pytest.FixtureRequest
) -> None:
    text = script.read_text(encoding="utf-8")
    begins_with = given(text)
    if begins_with != GIVEN[0]:
        shutil.copytree(made_service[0], home, symlinks=True)
    if begins_with == GIVEN[2]:
        write_token(session_path(Settings()), made_service[1])
    folder = tmp_path / "here"
    folder.mkdir()
    found = replay(text, folder)
    if request.config.getoption("--update-scripts", default=False):
        script.write_text(found, encoding="utf-8")
    assert found == script.read_text(encoding="utf-8")


def test_a_transcript_keeps_comments_and_empty_lines_where_they_were(home: Path, tmp_path: Path) -> None:
    text = "# given: nothing\n\n$ cat > a/b.txt <<EOF\none\n\ntwo\nEOF\n\n# and now\n$ mgmtctl --version\nmgmtctl 9\n"
    assert replay(text, tmp_path).startswith(text.rpartition("mgmtctl 9")[0])
    assert (tmp_path / "a/b.txt").read_text() == "one\n\ntwo\n"


def test_output_with_empty_and_hash_lines_belongs_to_its_command() -> None:
    steps, rest = parse("$ mgmtctl help rules\nfirst\n\n# no comment\nlast\n\n# the end\n")
    assert steps[0].expected == ["first", "", "# no comment", "last"]
    assert rest == ["", "# the end"]


def test_exit_code_is_shown_when_it_is_not_zero(home: Path, tmp_path: Path) -> None:
    assert replay("$ mgmtctl nothing-like-it\n", tmp_path).endswith("[exit 2]\n")
