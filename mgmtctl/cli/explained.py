"""How a decision with its reasons reads on a terminal: in answers of `can-i` and in every refusal alike.

Rules: no wider than the terminal, what goes on below stands under its label; command lines stay whole, to be copied.
"""

from __future__ import annotations

from collections.abc import Iterable

from mgmtctl.cli.text import clean, folded

# "no effect   ", "to allow    ": what is said stands in this column.
_COLUMN = 12


def wrapped(lines: Iterable[str], width: int, indent: int = 0) -> list[str]:
    """The lines of a decision (`Answer.lines`, `reasons`, `advice`) with so many blanks before each; width 0: as wide
    as they are."""
    return [_wrapped(" " * indent + clean(line), width) for line in lines]


def _wrapped(line: str, width: int) -> str:
    begin = len(line) - len(line.lstrip())
    if line[begin:].startswith("mgmtctl "):
        return line
    labelled = line[begin + _COLUMN - 3 : begin + _COLUMN].isspace()
    return folded(line, width, begin + _COLUMN if labelled else begin)
