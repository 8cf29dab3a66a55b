"""Tables on a terminal: which columns are shown, and how wide each is.

Rules (design: command line, output): ids, names, numbers and times are never cut, for they are what somebody copies
or compares; the texts give way, the last ones first, and end with an ellipsis; a column that is empty in every row is
not shown. When even that is too wide, the terminal wraps.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mgmtctl.cli.text import clean

WHOLE = frozenset({"id", "name", "path"})
_GAP = 2
# A text column gives first the room of its title beyond its cells, then down to so many characters.
_LEAST_TITLE, _COMFORTABLE, _LEAST = 8, 16, 8
_FIGURES = frozenset("0123456789.,:+-TZ /%")

Rows = Sequence[Sequence[str]]


def shown_columns(columns: Sequence[str], rows: Rows) -> list[int]:
    """The places of the columns that hold anything; all of them when there are no rows or nothing is in any."""
    filled = [place for place in range(len(columns)) if any(cells[place] for cells in rows)]
    return filled or list(range(len(columns)))


def fitted(columns: Sequence[str], rows: Rows, room: int) -> list[int]:
    """The width of each column so that they fit into `room`, if texts that may be cut can make them fit."""
    cells = [max((len(row[place]) for row in rows), default=0) for place in range(len(columns))]
    widths = [max(len(name), width) for name, width in zip(columns, cells, strict=True)]
    texts = [place for place in range(len(columns)) if not _whole(columns, rows, place)]
    for least in (
        [max(width, _LEAST_TITLE) for width in cells],
        [_COMFORTABLE] * len(cells),
        [_LEAST] * len(cells),
    ):
        for place in reversed(texts):
            excess = sum(widths) + _GAP * (len(widths) - 1) - room
            widths[place] -= max(0, min(excess, widths[place] - least[place]))
    return widths


def _whole(columns: Sequence[str], rows: Rows, place: int) -> bool:
    """Whether this column is never cut: ids and names, and those of nothing but numbers and times."""
    return columns[place] in WHOLE or all(_FIGURES.issuperset(row[place]) for row in rows)


def write_fitted(
    columns: Sequence[str], rows: Rows, *, width: int, headers: bool, color: bool, every: bool
) -> None:
    """Write a small table to a terminal of this width; `every`: columns that are empty too."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    places = list(range(len(columns))) if every else shown_columns(columns, rows)
    names = [clean(columns[place]) for place in places]
    cells = [[row[place] for place in places] for row in rows]
    widths = fitted(names, cells, width)
    console = Console(
        file=sys.stdout, markup=False, highlight=False, emoji=False, no_color=not color,
        color_system="auto" if color else None, force_terminal=color,
        width=max(width, sum(widths) + _GAP * len(widths)),
    )  # fmt: skip
    table = Table(
        box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=headers,
        header_style="bold" if color else "",
    )  # fmt: skip
    for name, fit in zip(names, widths, strict=True):
        table.add_column(Text(name), overflow="ellipsis", no_wrap=True, width=fit)
    for row in cells:
        table.add_row(*map(Text, row))
    console.print(table)


def aligned(headers: Sequence[str], rows: Rows) -> list[str]:
    """Columns by spaces, never cut, the last one without padding."""
    every = [list(headers), *rows] if headers else list(rows)
    widths = [max(map(len, column)) for column in zip(*every, strict=False)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=False)).rstrip()
        for line in every
    ]
