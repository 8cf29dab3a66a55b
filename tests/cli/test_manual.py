"""What is generated is current, the same every time, and clean under the tools that read it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mgmtctl.cli import manual
from mgmtctl.cli.app import TREE
from mgmtctl.cli.exit_codes import MEANINGS
from mgmtctl.cli.roff import text
from mgmtctl.domain.actions import ACTIONS

ROOT = Path(__file__).resolve().parents[2]
FILES = manual.generated()
PAGES = sorted(path for path in FILES if path.startswith("man/"))


def test_generated_files_are_current() -> None:
    assert manual.differences(ROOT) == [], "run `make docs`"


def test_they_are_the_same_in_another_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mgmtctl.cli.manual"]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "7", "COLUMNS": "40", "LANG": "C"}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert {path: (tmp_path / path).read_text() for path in FILES} == FILES
    assert subprocess.run([*command, "--check"], cwd=tmp_path, env=environment, check=False).returncode == 0


@pytest.mark.parametrize("spoil", ["changed", "missing", "one too many"])
def test_check_finds_what_is_not_current(spoil: str, tmp_path: Path) -> None:
    manual.write(tmp_path)
    page = tmp_path / PAGES[0]
    if spoil == "changed":
        page.write_text(page.read_text() + "more\n")
    elif spoil == "missing":
        page.unlink()
    else:
        (tmp_path / "man" / "old.1").write_text("old\n")
    assert len(manual.differences(tmp_path)) == 1
    manual.write(tmp_path)
    assert manual.differences(tmp_path) == []


def test_every_command_is_in_the_reference() -> None:
    reference = FILES["docs/reference/cli.md"]
    assert all(f"## {word}\n" in reference for word in TREE)
    assert all(f"| {code} |" in FILES["docs/reference/exit-codes.md"] for code in MEANINGS)
    assert all(f"| `{name}` |" in FILES["docs/reference/actions.md"] for name in ACTIONS)


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not here")
@pytest.mark.parametrize("page", PAGES)
def test_groff_warns_of_nothing(page: str) -> None:
    command = ["groff", "-man", "-Tutf8", "-ww", "-z"]
    result = subprocess.run(command, input=FILES[page], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not here")
@pytest.mark.parametrize("page", PAGES)
def test_man_warns_of_nothing(page: str, tmp_path: Path) -> None:
    (tmp_path / "page").write_text(FILES[page])
    command = ["man", "--warnings", "-E", "UTF-8", "-l", str(tmp_path / "page")]
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"MANWIDTH": "80", "PATH": "/usr/bin:/bin"}
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "NAME" in result.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param(".begins with a dot", r"\&.begins with a dot", id="no macro"),
        pytest.param("'tis", r"\(aqtis", id="no macro by a quote"),
        pytest.param("a -b `--c`", r"a \-b \fB\-\-c\fR", id="minus and bold"),
        pytest.param("\\n ~ ^", r"\en \(ti \(ha", id="backslash, tilde, caret"),
    ],
)
def test_text_means_nothing_to_roff(words: str, expected: str) -> None:
    assert text(words) == expected
