"""Tables on a terminal: what is shown whole, what gives way, and what is left out."""

from __future__ import annotations

import os

import pytest

from mgmtctl.cli.text import folded
from tests.cli.test_output import written

RECORD = {
    "id": "100001",
    "name": "web-production-eu-west-1-of-many.internal.example.org",
    "group": "default,web,pci,base",
    "size": "1234567",
    "at": "2026-11-21T11:05:07Z",
    "why": "its merged file differs from what its groups give now, and somebody changed it there",
}


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def table(
    rows: list[dict[str, str]], width: int, columns: tuple[str, ...], select: tuple[str, ...] = ()
) -> list[str]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(width)
    try:
        lines = written(rows, terminal=True, columns=columns, select=select).splitlines()
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    return [line.rstrip() for line in lines]


def test_the_last_text_gives_way_first() -> None:
    lines = table([RECORD], 120, ("id", "name", "group", "why"))
    assert lines[1].startswith(f"{RECORD['id']}  {RECORD['name']}  {RECORD['group']}  its m")
    assert lines[1].endswith("…")
    assert 110 < len(lines[1]) <= 120


@pytest.mark.parametrize("width", [100, 80, 40, 20])
def test_ids_names_numbers_and_times_are_never_cut(width: int) -> None:
    (_, line) = table([RECORD], width, tuple(RECORD))
    assert all(RECORD[column] in line for column in ("id", "name", "size", "at"))


def test_an_ellipsis_stands_at_the_end_of_a_cell_only() -> None:
    (_, line) = table([RECORD], 80, ("id", "why", "group"))
    why = line.removeprefix(RECORD["id"]).removesuffix("…").strip().rpartition("…")[0].rstrip()
    assert "…" in line
    assert RECORD["why"].startswith(why or line.split("  ")[1].rstrip("…"))


def test_a_title_gives_way_before_a_cell_does() -> None:
    rows = [{"id": "1", "name": "n" * 20, "group_config_status": "not synced"}]
    lines = table(rows, 36, ("id", "name", "group_config_status"))
    assert lines == ["id  name                  group_con…", f"1   {'n' * 20}  not synced"]


def test_a_column_that_is_empty_in_every_row_is_not_shown() -> None:
    rows = [{"id": "1", "name": "a", "why": ""}, {"id": "2", "name": "b", "why": ""}]
    assert table(rows, 80, ("id", "why", "name"))[0].split() == ["id", "name"]
    assert table(rows, 80, (), ("id", "why"))[0].split() == ["id", "why"]
    assert table([*rows, {"id": "3", "name": "", "why": "x"}], 80, ("id", "why", "name"))[0].split() == [
        "id", "why", "name",
    ]  # fmt: skip
    assert table([], 80, ("id", "why", "name"))[0].split() == ["id", "why", "name"]


@pytest.mark.parametrize(
    ("line", "width", "hang", "expected"),
    [
        pytest.param("one two three", 0, None, "one two three", id="nobody looks"),
        pytest.param("one two three", 13, None, "one two three", id="it fits"),
        pytest.param("one two three", 9, None, "one two\n  three", id="broken at a blank"),
        pytest.param("  why: one two", 10, 7, "  why: one\n       two", id="below its text"),
        pytest.param("a/very/long/path is", 6, None, "a/very/long/path\n  is", id="never inside a word"),
        pytest.param("so-and-so", 5, None, "so-and-so", id="nor at a hyphen"),
    ],
)
def test_talk_is_folded_at_blanks(line: str, width: int, hang: int | None, expected: str) -> None:
    assert folded(line, width, hang) == expected
