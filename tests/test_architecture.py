"""Facts about the shape of the code that no other tool checks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

MODULES = sorted((ROOT / "mgmtctl").rglob("*.py"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_is_longer_than_400_lines(module: Path) -> None:
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_lives_in_it(module: Path) -> None:
    assert re.match(r'("""|\'\'\')\S', module.read_text(encoding="utf-8")) or module.parent.name == "data"


def test_nothing_in_the_package_is_a_reminder() -> None:
    found = [
        str(path.relative_to(ROOT))
        for path in MODULES
        if re.search(r"\b(TODO|FIXME|XXX|HACK)\b|not implemented", path.read_text(encoding="utf-8"))
    ]
    assert found == []
