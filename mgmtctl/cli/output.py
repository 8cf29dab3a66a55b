"""How results are written: formats, colours, tables.

Rules (design: command line, output): stdout is the data asked for, stderr is everything else; a table only on a
terminal, in a pipe tab-separated rows, never cut; control characters never reach a terminal; rich only for small
tables on a terminal, with its markup off.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TextIO

from mgmtctl.cli.records import cell, compact, field_names, identifier, narrowed, pick, plain, row
from mgmtctl.cli.text import clean, clean_lines, folded, row_cell

FORMATS = ("table", "wide", "json", "ndjson", "yaml", "csv", "tsv", "id", "value")
COLORS = ("auto", "always", "never")
_MOST_RICH_ROWS = 200
_USUAL_WIDTH, _USUAL_HEIGHT = 80, 24
_LINES_AT_ONCE = 500
# Formats that pick their columns out of a record themselves.
_ROWS = ("table", "wide", "csv", "tsv", "value")


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody looks at this stream."""
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def wants_color(stream: TextIO, choice: str = "auto") -> bool:
    """Whether to colour: `--color`, else NO_COLOR, FORCE_COLOR, TERM=dumb, else on terminals only."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return os.environ.get("TERM") != "dumb" and is_terminal(stream)


def width_of(stream: TextIO) -> int:
    """How many characters a line of this terminal has; 0 when nobody looks."""
    if not is_terminal(stream):
        return 0
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except (OSError, ValueError):
        return _USUAL_WIDTH


def height_of(stream: TextIO) -> int:
    """How many lines this terminal shows at once; 0 when nobody looks."""
    if not is_terminal(stream):
        return 0
    given = os.environ.get("LINES", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).lines or _USUAL_HEIGHT
    except (OSError, ValueError):
        return _USUAL_HEIGHT


class Records:
    """Values as plain records, each made when it is written: a long list does not wait for its last one."""

    def __init__(self, values: Sequence[Any], select: tuple[str, ...]) -> None:
        self._values, self._select = values, select

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        if self._select:
            return (narrowed(plain(value), self._select) for value in self._values)
        return map(plain, self._values)


@dataclass(frozen=True, slots=True)
class Output:
    """How one command writes: `asked` is the format the user named; `columns` are those of the command's table."""

    asked: str | None = None
    color: str = "auto"
    headers: bool = True
    select: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The format in force: a table on a terminal, rows in a pipe, or what was asked for."""
        return self.asked or ("table" if is_terminal(sys.stdout) else "tsv")

    def one(self, record: Any) -> None:
        """Write a single record."""
        _SINGLE[self.format](self, narrowed(record, self.select))

    def many(self, values: Sequence[Any]) -> None:
        """Write a list of values or records, one after another."""
        _SEVERAL[self.format](self, Records(values, () if self.format in _ROWS else self.select))

    def text(self, text: str) -> None:
        """Write text as it is, made safe on a terminal."""
        sys.stdout.write(clean_lines(text) if is_terminal(sys.stdout) else text)

    def page(self, lines: Iterable[str]) -> None:
        """Write lines that are meant to be read; those too long for a terminal go on below, with an indent."""
        width = width_of(sys.stdout)
        parts = (part for line in lines for part in line.split("\n"))
        self.text("".join(folded(part, width) + "\n" for part in parts))

    def columns_of(self, records: Iterable[Any], *, every: bool = False) -> tuple[str, ...]:
        """The columns to show: the selected ones, else those of the command, else all that occur."""
        if self.select:
            return self.select
        return self.columns if self.columns and not every else field_names(records) or self.columns


def _safe() -> Callable[[str], str]:
    """What makes a cell safe where it goes: on a terminal nothing odd, in a pipe only what would break a row."""
    return clean if is_terminal(sys.stdout) else row_cell


def _write(lines: Iterable[str], between: str = "\n") -> None:
    """Write lines as they come, some at a time."""
    coming = iter(lines)
    write = sys.stdout.write
    some = list(islice(coming, _LINES_AT_ONCE))
    while some:
        text = between.join(some)
        some = list(islice(coming, _LINES_AT_ONCE))
        write(text + (between if some else "\n"))


def _tabbed(cells: Sequence[str]) -> str:
    """Cells as one row for a pipe; what would break it is escaped."""
    line = "\t".join(cells)
    if line.count("\t") != len(cells) - 1 or "\n" in line or "\r" in line:
        return "\t".join(map(row_cell, cells))
    return line


def _shown_row(cells: Sequence[str]) -> str:
    return "\t".join(map(clean, cells))


def _line_maker() -> Callable[[Sequence[str]], str]:
    return _shown_row if is_terminal(sys.stdout) else _tabbed


# --- one record ---------------------------------------------------------------------------------------------------


def _pairs(output: Output, record: Any) -> list[tuple[str, Any]]:
    if not isinstance(record, dict):
        return [("", record)]
    return [(name, pick(record, name)) for name in (output.select or record)]


def _one_table(output: Output, record: Any) -> None:
    safe = _safe()
    pairs = [(safe(name), value) for name, value in _pairs(output, record)]
    width = max((len(name) for name, _ in pairs), default=0)
    lines = []
    for name, value in pairs:
        shown = _nested(value, safe)
        lines.append(f"{name:{width}}  {shown[0]}".strip() if shown else name)
        lines += [" " * (width + 2) + line for line in shown[1:]]
    _write(lines)


def _nested(value: Any, safe: Callable[[str], str]) -> list[str]:
    """A value in lines: a list of records or a deep record as one line each, anything else in one."""
    if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        return [safe(cell(item)) for item in value]
    if isinstance(value, dict) and value:
        return [f"{safe(str(name))}: {safe(cell(inner))}" for name, inner in value.items()]
    return [safe(cell(value))]


def _one_tsv(output: Output, record: Any) -> None:
    safe = _safe()
    pairs = _pairs(output, record)
    if pairs and pairs[0][0]:
        _write([f"{safe(name)}\t{safe(cell(value))}" for name, value in pairs])
    else:
        _write([safe(cell(record))])


def _one_json(output: Output, record: Any) -> None:
    sys.stdout.write(_indented(record) + "\n")


def _one_row(output: Output, record: Any) -> None:
    _SEVERAL[output.format](output, Records([record], ()))


# --- several records ----------------------------------------------------------------------------------------------


def _many_table(output: Output, records: Records) -> None:
    from mgmtctl.cli import tables

    found = list(records)
    columns = output.columns_of(found, every=output.format == "wide")
    safe = _safe()
    rows = [[safe(text) for text in row(record, columns)] for record in found]
    width = width_of(sys.stdout)
    if columns and width and len(rows) <= _MOST_RICH_ROWS and output.format == "table":
        color, every = wants_color(sys.stdout, output.color), bool(output.select)
        tables.write_fitted(columns, rows, width=width, headers=output.headers, color=color, every=every)
    else:
        _write(tables.aligned([safe(name) for name in columns] if output.headers else (), rows))


def _many_tsv(output: Output, records: Records) -> None:
    columns = output.columns_of(records)
    line = _line_maker()
    if output.headers and columns:
        _write([line(columns)])
    _write(line(row(record, columns)) for record in records)


def _many_csv(output: Output, records: Records) -> None:
    import csv

    found = list(records)
    columns = output.columns_of(found, every=True)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if output.headers and columns:
        writer.writerow(map(clean, columns) if is_terminal(sys.stdout) else columns)
    rows = (row(record, columns) for record in found)
    writer.writerows(([clean(text) for text in cells] for cells in rows) if is_terminal(sys.stdout) else rows)


def _many_json(output: Output, records: Records) -> None:
    """A bare array: readable on a terminal, one record per line in a pipe."""
    if not records:
        sys.stdout.write("[]\n")
    elif is_terminal(sys.stdout) and len(records) <= _MOST_RICH_ROWS:
        sys.stdout.write(_indented(list(records)) + "\n")
    else:
        sys.stdout.write("[\n")
        _write((_safe_json(compact(record)) for record in records), ",\n")
        sys.stdout.write("]\n")


def _many_ndjson(output: Output, records: Records) -> None:
    _write(_safe_json(compact(record)) for record in records)


def _many_yaml(output: Output, records: Records) -> None:
    from mgmtctl.cli.yaml_text import yaml_lines

    _write((line for record in records for line in yaml_lines([record])) if records else ["[]"])


def _many_id(output: Output, records: Records) -> None:
    safe = _safe()
    _write(safe(identifier(record)) for record in records)


def _many_value(output: Output, records: Records) -> None:
    """Bare values without names: those of the selected fields, or the whole record's, in one row."""
    line = _line_maker()
    _write(line(row(record, output.columns_of([record]))) for record in records)


def _one_value(output: Output, record: Any) -> None:
    """As a row; a single list gives a line for each item."""
    values = [value for _, value in _pairs(output, record)]
    if len(values) == 1 and isinstance(values[0], list):
        safe = _safe()
        _write([safe(cell(item)) for item in values[0]])
    else:
        _many_value(output, Records([record], ()))


def _one_yaml(output: Output, value: Any) -> None:
    from mgmtctl.cli.yaml_text import yaml_lines

    _write(yaml_lines(value))


def _indented(value: Any) -> str:
    import json

    return _safe_json(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def _safe_json(text: str) -> str:
    """JSON with every character that does not print as itself escaped the JSON way; line ends are ours."""
    if text.isprintable() or text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else _json_escape(c) for c in text)


def _json_escape(character: str) -> str:
    number = ord(character)
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"


_SINGLE: dict[str, Callable[[Output, Any], None]] = {
    "table": _one_table,
    "wide": _one_table,
    "json": _one_json,
    "ndjson": _one_row,
    "yaml": _one_yaml,
    "csv": _one_row,
    "tsv": _one_tsv,
    "id": _one_row,
    "value": _one_value,
}
_SEVERAL: dict[str, Callable[[Output, Records], None]] = {
    "table": _many_table,
    "wide": _many_table,
    "json": _many_json,
    "ndjson": _many_ndjson,
    "yaml": _many_yaml,
    "csv": _many_csv,
    "tsv": _many_tsv,
    "id": _many_id,
    "value": _many_value,
}
