"""How results are written: formats, colours, tables.

Rules (design: command line, output): stdout is the data asked for, stderr is everything else; a table only on a
terminal, in a pipe tab-separated rows, never cut; control characters never reach a terminal; rich only for small
tables on a terminal, with its markup off.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from mgmtctl.cli.records import cell, compact, field_names, identifier, narrowed, pick, row
from mgmtctl.cli.text import clean, clean_lines, row_cell

FORMATS = ("table", "wide", "json", "ndjson", "yaml", "csv", "tsv", "id", "value")
COLORS = ("auto", "always", "never")
_MOST_RICH_ROWS = 200


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

    def many(self, records: Sequence[Any]) -> None:
        """Write a list of records."""
        if self.select:
            records = [narrowed(record, self.select) for record in records]
        _SEVERAL[self.format](self, records)

    def text(self, text: str) -> None:
        """Write text as it is, made safe on a terminal."""
        sys.stdout.write(clean_lines(text) if is_terminal(sys.stdout) else text)

    def columns_of(self, records: Sequence[Any], *, every: bool = False) -> tuple[str, ...]:
        """The columns to show: the selected ones, else those of the command, else all that occur."""
        if self.select:
            return self.select
        return self.columns if self.columns and not every else field_names(records) or self.columns


def _safe() -> Callable[[str], str]:
    """What makes a cell safe where it goes: on a terminal nothing odd, in a pipe only what would break a row."""
    return clean if is_terminal(sys.stdout) else row_cell


def _write(lines: Sequence[str]) -> None:
    if lines:
        sys.stdout.write("\n".join(lines) + "\n")


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
    _SEVERAL[output.format](output, [record])


# --- several records ----------------------------------------------------------------------------------------------


def _many_table(output: Output, records: Sequence[Any]) -> None:
    columns = output.columns_of(records, every=output.format == "wide")
    safe = _safe()
    rows = [[safe(text) for text in row(record, columns)] for record in records]
    if is_terminal(sys.stdout) and len(rows) <= _MOST_RICH_ROWS and output.format == "table":
        _rich_table(columns, rows, output)
    else:
        _aligned([safe(name) for name in columns] if output.headers else (), rows)


def _aligned(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns by spaces, never cut, the last one without padding."""
    every = [list(headers), *rows] if headers else list(rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=False)]
    _write(
        [
            "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=False)).rstrip()
            for line in every
        ]
    )


def _rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]], output: Output) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    color = wants_color(sys.stdout, output.color)
    console = Console(
        file=sys.stdout, markup=False, highlight=False, emoji=False, no_color=not color,
        color_system="auto" if color else None, force_terminal=color,
    )  # fmt: skip
    table = Table(box=None, pad_edge=False, show_header=output.headers, header_style="bold" if color else "")
    for name in columns:
        table.add_column(Text(clean(name)), overflow="ellipsis", no_wrap=True)
    for cells in rows:
        table.add_row(*map(Text, cells))
    console.print(table)


def _many_tsv(output: Output, records: Sequence[Any]) -> None:
    columns = output.columns_of(records)
    safe = _safe()
    lines = ["\t".join(map(safe, columns))] if output.headers and columns else []
    lines += ["\t".join([safe(text) for text in row(record, columns)]) for record in records]
    _write(lines)


def _many_csv(output: Output, records: Sequence[Any]) -> None:
    import csv

    columns = output.columns_of(records, every=True)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    safe = clean if is_terminal(sys.stdout) else str
    if output.headers and columns:
        writer.writerow(map(safe, columns))
    writer.writerows([safe(text) for text in row(record, columns)] for record in records)


def _many_json(output: Output, records: Sequence[Any]) -> None:
    """A bare array: readable on a terminal, one record per line in a pipe."""
    if not records:
        sys.stdout.write("[]\n")
    elif is_terminal(sys.stdout) and len(records) <= _MOST_RICH_ROWS:
        sys.stdout.write(_indented(list(records)) + "\n")
    else:
        sys.stdout.write("[\n" + ",\n".join(_safe_json(compact(record)) for record in records) + "\n]\n")


def _many_ndjson(output: Output, records: Sequence[Any]) -> None:
    _write([_safe_json(compact(record)) for record in records])


def _many_id(output: Output, records: Sequence[Any]) -> None:
    safe = _safe()
    _write([safe(identifier(record)) for record in records])


def _many_value(output: Output, records: Sequence[Any]) -> None:
    """Bare values without names: those of the selected fields, or the whole record's, in one row."""
    safe = _safe()
    _write(["\t".join(safe(text) for text in row(record, output.columns_of([record]))) for record in records])


def _one_value(output: Output, record: Any) -> None:
    """As a row; a single list gives a line for each item."""
    values = [value for _, value in _pairs(output, record)]
    if len(values) == 1 and isinstance(values[0], list):
        safe = _safe()
        _write([safe(cell(item)) for item in values[0]])
    else:
        _many_value(output, [record])


def _yaml(output: Output, value: Any) -> None:
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    value = list(value) if isinstance(value, (list, tuple)) else value
    text = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True)
    if is_terminal(sys.stdout) and not text.replace("\n", "").isprintable():
        text = yaml.dump(value, Dumper=Dumper, sort_keys=False)  # everything beyond ASCII as an escape
    sys.stdout.write(text)


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
    "yaml": _yaml,
    "csv": _one_row,
    "tsv": _one_tsv,
    "id": _one_row,
    "value": _one_value,
}
_SEVERAL: dict[str, Callable[[Output, Sequence[Any]], None]] = {
    "table": _many_table,
    "wide": _many_table,
    "json": _many_json,
    "ndjson": _many_ndjson,
    "yaml": _yaml,
    "csv": _many_csv,
    "tsv": _many_tsv,
    "id": _many_id,
    "value": _many_value,
}
