"""Facts about the import contracts: what they must catch, they catch. One copy of the package holds all violations."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

# (module, line to add, the contract that must break, how its report names the import)
VIOLATIONS = (
    ("cli/groups.py", "import sqlite3", "Only the store knows sqlite3", "mgmtctl.cli.groups -> sqlite3"),
    (
        "cli/groups.py",
        "from mgmtctl.store.store import Store",
        "Interfaces do not reach past the operations",
        "mgmtctl.cli.groups -> mgmtctl.store.store",
    ),
    (
        "domain/groups.py",
        "import requests",
        "The domain does no I/O and knows no framework",
        "mgmtctl.domain.groups -> requests",
    ),
    (
        "store/users.py",
        "from mgmtctl.operations import users",
        "Interfaces > bootstrap > operations > adapters > domain",
        "mgmtctl.store.users -> mgmtctl.operations",
    ),
    (
        "operations/groups.py",
        "import rich",
        "Only the CLI knows Typer and rich",
        "mgmtctl.operations.groups -> rich",
    ),
    (
        "operations/groups.py",
        "from mgmtctl.operations import agents",
        "Operations do not call operations; nouns stay apart",
        "mgmtctl.operations.groups -> mgmtctl.operations.agents",
    ),
    ("store/users.py", "from mgmtctl.store import agents", "Table modules stay apart", "mgmtctl.store.users"),
    (
        "folders/paths.py",
        "from mgmtctl.store import store",
        "Interfaces > bootstrap > operations > adapters > domain",
        "mgmtctl.folders.paths -> mgmtctl.store",
    ),
    (
        "utils.py",
        '"""Anything."""',
        "Interfaces > bootstrap > operations > adapters > domain",
        "mgmtctl.utils",
    ),
    (
        "operations/helpers.py",
        '"""Anything."""',
        "Operations do not call operations; nouns stay apart",
        "mgmtctl.operations.helpers",
    ),
)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the contracts say about a copy of the package with all violations in it."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "mgmtctl", copy / "mgmtctl", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    for module, line, _, _ in VIOLATIONS:
        with open(copy / "mgmtctl" / module, "a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    program = Path(sys.executable).parent / "lint-imports"
    found = subprocess.run([program, "--no-cache"], cwd=copy, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stderr
    return " ".join(found.stdout.split())


@pytest.mark.parametrize(
    ("contract", "shown"),
    [pytest.param(contract, shown, id=f"{module}: {line}") for module, line, contract, shown in VIOLATIONS],
)
def test_a_violation_breaks_its_contract(report: str, contract: str, shown: str) -> None:
    assert f"{contract} BROKEN" in report or (contract in report.partition("Broken contracts")[2])
    assert shown in report.partition("Broken contracts")[2]
