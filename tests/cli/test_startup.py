"""Which modules the hot commands load: start-up is a feature, and this is how it stays one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mgmtctl.cli.app import TREE

ROOT = Path(__file__).resolve().parents[2]
BARE = set(
    subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
)
HEAVY = {
    "jwt",
    "requests",
    "yaml",
    "rich",
    "re2",
    "argon2",
    "csv",
    "tomli",
    "click",
    "cryptography",
    "google",
}


# `-X importtime` does not see what importlib is asked for, and the nouns are asked for.
PROGRAM = """
import sys
from mgmtctl.__main__ import main
code = main(sys.argv[1:])
sys.stderr.write("\\n".join(sys.modules))
sys.exit(code)
"""


def loaded(*arguments: str) -> set[str]:
    """The modules that one command line imports, beside those of a bare interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr[-2000:]
    return set(result.stderr.split("\n")) - BARE


def own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("mgmtctl")}


def nouns(modules: set[str]) -> set[str]:
    return {f"mgmtctl.cli.{name}" for branch in TREE.values() for name in branch.modules} & modules


def test_version_loads_nothing_of_ours_but_itself(home: Path) -> None:
    modules = loaded("--version")
    assert own(modules) <= {"mgmtctl", "mgmtctl.__main__"}
    assert "typer" not in modules


@pytest.mark.parametrize("kind", ["agents", "users"])
def test_completion_loads_no_typer_and_no_more_than_it_needs(kind: str, admin: object) -> None:
    modules = loaded("--complete", kind)
    assert own(modules) == {
        "mgmtctl",
        "mgmtctl.__main__",
        "mgmtctl.cli",
        "mgmtctl.cli.complete",
        "mgmtctl.cli.session_file",
        "mgmtctl.domain",
        "mgmtctl.domain.scopes",
        "mgmtctl.store",
        "mgmtctl.store.completion",
    }
    banned = {
        "typer",
        "json",
        "dataclasses",
        "typing",
        "pathlib",
        "hashlib",
        "sqlite3",
        "inspect",
        "datetime",
    }
    assert not modules & (banned | HEAVY)


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_the_help_of_the_tree_imports_no_noun(arguments: tuple[str, ...], home: Path) -> None:
    modules = loaded(*arguments)
    assert nouns(modules) == set()
    assert not modules & HEAVY
    assert not {
        name for name in modules if name.startswith(("mgmtctl.operations", "mgmtctl.store", "sqlite3"))
    }


@pytest.mark.parametrize("word", ["agents", "roles", "sync"])
def test_the_help_of_a_noun_imports_that_noun_only(word: str, home: Path) -> None:
    modules = loaded(word, "--help")
    assert nouns(modules) == {f"mgmtctl.cli.{name}" for name in TREE[word].modules}
    assert not {
        name for name in modules if name.startswith(("mgmtctl.operations", "mgmtctl.store", "sqlite3"))
    }
    assert not modules & HEAVY


@pytest.mark.parametrize("arguments", [("whoami",), ("agents", "list", "-o", "json")])
def test_hot_commands_load_no_heavy_library(arguments: tuple[str, ...], admin: object) -> None:
    modules = loaded(*arguments)
    assert not modules & HEAVY
    assert nouns(modules) == {f"mgmtctl.cli.{name}" for name in TREE[arguments[0]].modules}
