"""The README's examples are real: its `console` blocks are one transcript (`--update-scripts` rewrites them)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.transcripts import replay

README = Path(__file__).resolve().parents[2] / "README.md"
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def test_readme_prints_what_it_says(home: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    text = README.read_text(encoding="utf-8")
    assert _BLOCK.search(text), "the README has no console block"
    found = _BLOCK.sub(lambda block: replay(block[0], folder), text)
    if request.config.getoption("--update-scripts", default=False):
        README.write_text(found, encoding="utf-8")
    assert found == README.read_text(encoding="utf-8")
