"""How results are written: one format after another, on a terminal and in a pipe."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.cli.output import FORMATS, Output, wants_color
from mgmtctl.cli.text import clean, clean_lines, row_cell
from tests.cli.conftest import _bytes, streams

AGENTS = [
    {"id": "001", "name": "web-01", "group": ["default", "web"], "os": {"name": "Debian"}, "note": None},
    {"id": "042", "name": "db-01", "group": ["db"], "os": {}, "locked": True},
]
COLUMNS = ("id", "name", "group", "os.name")


def written(
    value: Any, form: str | None = None, *, terminal: bool = False, many: bool = True, **options: Any
) -> str:
    with streams(b"", terminal) as (out, _):
        output = Output(form, **options)
        (output.many if many else output.one)(value)
        return _bytes(out).decode()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        pytest.param(
            "tsv", "id\tname\tgroup\tos.name\n001\tweb-01\tdefault,web\tDebian\n042\tdb-01\tdb\t\n", id="tsv"
        ),
        pytest.param("id", "001\n042\n", id="id"),
        pytest.param("value", "001\tweb-01\tdefault,web\tDebian\n042\tdb-01\tdb\t\n", id="value"),
        pytest.param(
            "table",
            "id   name    group        os.name\n001  web-01  default,web  Debian\n042  db-01   db\n",
            id="a table in a pipe has spaces and no lines",
        ),
    ],
)
def test_lists_in_text_formats(form: str, expected: str) -> None:
    assert written(AGENTS, form, columns=COLUMNS) == expected


def test_default_in_a_pipe_is_rows_and_on_a_terminal_a_table() -> None:
    assert written(AGENTS, columns=COLUMNS) == written(AGENTS, "tsv", columns=COLUMNS)
    shown = written(AGENTS, columns=COLUMNS, terminal=True)
    assert "\t" not in shown
    assert [line.split() for line in shown.splitlines()][1][:2] == ["001", "web-01"]


def test_json_of_a_list_is_a_bare_array_with_whole_records() -> None:
    for terminal in (False, True):
        assert json.loads(written(AGENTS, "json", columns=COLUMNS, terminal=terminal)) == AGENTS
    assert written([], "json") == "[]\n"


def test_ndjson_has_one_record_per_line() -> None:
    assert [json.loads(line) for line in written(AGENTS, "ndjson").splitlines()] == AGENTS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | st.sampled_from(["yes", "null", "- a", "a: b", "a #b", "~", "1:20", "0x1", "1e3", ".5", "=", "<<", "'"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(VALUES)
def test_yaml_is_read_back_as_it_was(value: Any) -> None:
    assert yaml.safe_load(written(value, "yaml", many=False)) == value
    assert yaml.safe_load(written([value], "yaml", terminal=True)) == [value]


def test_a_key_of_any_length_is_read_back_from_yaml() -> None:
    record = {"k" * length: {"a": [length]} for length in (100, 900, 901, 5000)}
    assert yaml.safe_load(written(record, "yaml", many=False)) == record


def test_long_lists_are_written_record_by_record() -> None:
    made: list[int] = []

    class Row:
        def __init__(self, number: int) -> None:
            self.number = number

        def record(self) -> dict[str, Any]:
            made.append(self.number)
            return {"id": str(self.number)}

    class Pipe(io.StringIO):
        def write(self, text: str) -> int:
            if made:
                raise BrokenPipeError
            return len(text)

    for form in ("tsv", "ndjson", "json", "yaml", "id", "value"):
        made.clear()
        with pytest.MonkeyPatch.context() as patch, pytest.raises(BrokenPipeError):
            patch.setattr("sys.stdout", Pipe())
            Output(form, columns=("id",)).many([Row(number) for number in range(100_000)])
        assert len(made) < 2000, form


def test_yaml_and_csv_are_read_back_by_their_readers() -> None:
    assert yaml.safe_load(written(AGENTS, "yaml")) == AGENTS
    rows = list(csv.DictReader(io.StringIO(written([{"a": 'say "hi", you', "b": "x\ny"}], "csv"))))
    assert rows == [{"a": 'say "hi", you', "b": "x\ny"}]


def test_select_takes_only_these_fields_in_their_order() -> None:
    assert written(AGENTS, "tsv", select=("os.name", "id")) == "os.name\tid\nDebian\t001\n\t042\n"
    assert json.loads(written(AGENTS, "json", select=("os.name", "id"))) == [
        {"os": {"name": "Debian"}, "id": "001"},
        {"id": "042"},
    ]


def test_no_headers_leaves_the_line_of_names_out() -> None:
    for form in ("tsv", "csv", "table"):
        lines = [
            written(AGENTS, form, columns=COLUMNS, headers=headers).splitlines() for headers in (True, False)
        ]
        assert [line.split() for line in lines[0][1:]] == [line.split() for line in lines[1]]


def test_one_record_is_names_with_values() -> None:
    record = {"id": "001", "roles": [{"id": "1"}], "on": True, "none": None}
    assert written(record, many=False) == 'id\t001\nroles\t[{"id":"1"}]\non\ttrue\nnone\t\n'
    assert written(record, "json", many=False) == json.dumps(record, indent=2) + "\n"
    assert written(record, "value", many=False, select=("id",)) == "001\n"
    assert written({"names": ["a", "b"]}, "value", many=False, select=("names",)) == "a\nb\n"


def test_a_single_record_on_a_terminal_is_aligned() -> None:
    assert written({"id": "1", "name": "x"}, many=False, terminal=True) == "id    1\nname  x\n"


def test_a_large_table_is_written_plain_and_is_never_cut() -> None:
    rows = [{"name": "n" * 300, "number": str(number)} for number in range(201)]
    lines = written(rows, terminal=True, columns=("name", "number")).splitlines()
    assert lines[1] == "n" * 300 + "  0"


def test_a_small_table_on_a_terminal_fits_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = written([{"note": "n" * 300}], terminal=True, columns=("note",)).splitlines()
    assert all(len(line) <= 40 for line in lines)
    assert "…" in lines[1]


HOSTILE = "a\x1b[31m\x07\u202ered\x9b\r\nb\tc"


@pytest.mark.parametrize("form", [pytest.param(form, id=form) for form in FORMATS])
@pytest.mark.parametrize("many", [pytest.param(True, id="list"), pytest.param(False, id="record")])
def test_no_control_character_of_data_reaches_a_terminal(form: str, many: bool) -> None:
    record = {"id": HOSTILE, HOSTILE: [HOSTILE], "deep": {"x": HOSTILE}}
    shown = written([record] if many else record, form, terminal=True, color="never")
    assert not set(shown) & set("\x1b\x07\u202e\x9b\r")


@pytest.mark.parametrize("form", ["tsv", "id", "value", "table"])
def test_a_row_in_a_pipe_is_one_line_whatever_it_holds(form: str) -> None:
    assert len(written([{"id": HOSTILE}], form, headers=False).splitlines(keepends=False)) >= 1
    assert written([{"id": "a\nb\tc"}], form, headers=False) == "a\\nb\\tc\n"


def test_a_pipe_gets_data_as_it_is() -> None:
    assert written([{"id": "a\x1bé"}], "tsv", headers=False) == "a\x1bé\n"


@given(
    st.lists(
        st.dictionaries(st.text(max_size=4), st.text(max_size=6) | st.none() | st.integers(), max_size=3)
    )
)
def test_json_says_the_same_for_every_record(records: list[dict[str, Any]]) -> None:
    for form, read in READERS.items():
        assert read(written(records, form)) == records
        assert read(written(records, form, terminal=True)) == records


READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "ndjson": lambda text: [json.loads(line) for line in text.split("\n") if line],
}


@given(st.text())
def test_clean_text_is_printable_and_plain_text_is_kept(text: str) -> None:
    assert clean(text).isprintable()
    assert clean_lines(text).replace("\n", "").replace("\t", "").isprintable()
    assert not set(row_cell(text)) & set("\n\r\t")
    if text.isprintable():
        assert clean(text) == clean_lines(text) == row_cell(text) == text


@pytest.mark.parametrize(
    ("choice", "variables", "terminal", "expected"),
    [
        pytest.param("auto", {}, True, True, id="terminal"),
        pytest.param("auto", {}, False, False, id="pipe"),
        pytest.param("auto", {"NO_COLOR": "1"}, True, False, id="NO_COLOR"),
        pytest.param("auto", {"TERM": "dumb"}, True, False, id="dumb terminal"),
        pytest.param("auto", {"FORCE_COLOR": "1"}, False, True, id="FORCE_COLOR in a pipe"),
        pytest.param("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False, id="NO_COLOR wins"),
        pytest.param("always", {"NO_COLOR": "1"}, False, True, id="--color always wins"),
        pytest.param("never", {"FORCE_COLOR": "1"}, True, False, id="--color never wins"),
    ],
)
def test_when_colours_are_used(
    choice: str, variables: dict[str, str], terminal: bool, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with streams(b"", terminal) as (out, _):
        assert wants_color(out, choice) is expected
