"""`mgmtctl policies matrix`: what a role or a user may do, as a grid that reads at a glance."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.exit_codes import NOT_FOUND, USAGE
from mgmtctl.cli.output import wants_color, width_of
from mgmtctl.cli.policies import noun
from mgmtctl.cli.text import clean
from mgmtctl.domain import matrix as answers
from mgmtctl.domain.errors import QuestionError

if TYPE_CHECKING:
    from mgmtctl.domain.matrix import Cell, Row
    from mgmtctl.operations.matrix import Matrix

GROUP, RESOURCE = "group", "resource"
# (mark, colour of the terminal, what it means); a mark says all without its colour.
_MARKS = {
    answers.ALLOWED: ("+", "32", "allowed"),
    answers.BY_MODE: ("o", "36", "allowed by mode black"),
    answers.PARTLY: ("~", "33", "on some"),
    answers.DENIED: ("x", "31", "denied by an entry"),
    answers.NO: (".", "2", "not allowed"),
}
_COUNTED = "on so many of its agents"
_GAP = 2

Role = typer.Option("--role", metavar="ROLE", help="What this role allows by itself.", show_default=False)
User = typer.Option("--user", metavar="USER", help="What this user's roles allow.", show_default=False)
By = typer.Option(
    "--by", metavar="AXIS", help="Columns: `resource` (as policies name them) or `group`.", show_default=False
)
Groups = typer.Option(
    "--group", metavar="GROUP", help="By group, and of this one; may be repeated.", show_default=False
)
Every = typer.Option("--every", help="Show actions that are allowed nowhere too.", show_default=False)


@noun.read(
    "matrix",
    examples=[
        "mgmtctl policies matrix --role agents_readonly",
        "mgmtctl policies matrix --user ann --by group",
        "mgmtctl policies matrix --role agents_admin --group web --group db -o csv",
    ],
    exits={USAGE: "usage; neither or both of --role and --user", NOT_FOUND: "unknown role, user or group"},
)
def matrix(
    session: CliSession,
    role: Annotated[str | None, Role] = None,
    user: Annotated[str | None, User] = None,
    by: Annotated[str | None, By] = None,
    group: Annotated[list[str] | None, Groups] = None,
    every: Annotated[bool, Every] = False,
) -> None:
    """Show what a role or a user may do: a row for each action, a column for each resource that its policies name
    and, before those of a kind, one for the whole kind (`agent:id:*`: on all agents).

    `--by group` has a column for each group of agents: `2/5` is allowed on two of its five agents, and the actions on
    groups stand beside those on agents. Actions that are allowed nowhere are left out. A grid that is too wide for the
    terminal goes on below; in a pipe it is one table in words, as `allowed`, `partly 2/5`, `denied`, `no`.
    """
    from mgmtctl.operations import matrix as operations

    axis = by or (GROUP if group else RESOURCE)
    if group and axis != GROUP:
        raise QuestionError(f"`--group` and `--by {axis}` exclude each other", fix=f"--by {GROUP}")
    found = operations.access_matrix(session.context, role, user, axis, group or (), every)
    if session.output.asked in ("json", "ndjson", "yaml"):
        return session.show(found)
    if session.output.format == "table" and not session.output.asked and not session.output.select:
        # Colours would not pass for text; whatever came from the service is clean.
        sys.stdout.write("".join(f"{line}\n" for line in _page(found, session.output.color)))
    else:
        session.output.many([_row(found, row) for row in found.rows])
    for note in _notes(found):
        session.say(f"note: {note}")
    return None


def _notes(found: Matrix) -> Iterator[str]:
    yield from found.notes
    if found.left_out:
        actions = "1 action that is" if found.left_out == 1 else f"{found.left_out} actions that are"
        where = "nowhere" if found.complete else "nowhere that you may read"
        yield f"left out: {actions} allowed {where}; --every shows them"


def _row(found: Matrix, row: Row) -> dict[str, Any]:
    """A row in words; its first name can be that of no group."""
    first = "action/group" if found.by == GROUP else "action"
    cells = {name: row.cells[name].text if name in row.cells else "" for name in found.columns}
    return {first: row.action, **cells}


def _page(found: Matrix, color: str) -> list[str]:
    """The grids for a terminal, one below the other, and what their marks mean."""
    width, colored = width_of(sys.stdout), wants_color(sys.stdout, color)
    lines = [f"{clean(found.subject)}, mode {found.mode}"]
    for columns in _sections(found):
        rows = [row for row in found.rows if any(name in row.cells for name in columns)]
        for part in _fitting(columns, rows, width):
            lines += ["", *_grid(part, rows, colored)]
    return [*lines, "", *_legend(found, colored)] if found.rows else lines


def _sections(found: Matrix) -> list[tuple[str, ...]]:
    """Columns that the same actions are asked on stand together."""
    if found.by == GROUP:
        return [found.columns]
    alike: dict[tuple[str, ...], list[str]] = {}
    for name in found.columns:
        alike.setdefault(tuple(row.action for row in found.rows if name in row.cells), []).append(name)
    return [tuple(names) for actions, names in alike.items() if actions]


def _fitting(columns: Sequence[str], rows: Sequence[Row], width: int) -> Iterator[list[str]]:
    """The columns in parts that fit the width beside the actions."""
    used = first = sum(_action_widths(rows)) + _GAP
    part: list[str] = []
    for name in columns:
        more = _column_width(name, rows) + _GAP
        if part and 0 < width < used + more:
            yield part
            part, used = [], first
        part.append(name)
        used += more
    if part:
        yield part


def _grid(columns: Sequence[str], rows: Sequence[Row], colored: bool) -> list[str]:
    """A head with the columns, and a line for each action; a noun stands where it begins."""
    nouns, verbs = _action_widths(rows)
    widths = [_column_width(name, rows) for name in columns]
    widths[-1] = 0  # nothing comes after it
    head = "".join(f"{'':{_GAP}}{clean(name):{width}}" for name, width in zip(columns, widths, strict=True))
    lines = [" " * (nouns + _GAP + verbs) + head.rstrip()]
    before = ""
    for row in rows:
        noun_, _, verb = row.action.partition(":")
        shown = noun_ if noun_ != before else ""
        cells = "".join(
            " " * _GAP + _mark(row.cells.get(name), width, colored)
            for name, width in zip(columns, widths, strict=True)
        )
        lines.append(f"{shown:{nouns}}{'':{_GAP}}{verb:{verbs}}{cells}".rstrip())
        before = noun_
    return lines


def _action_widths(rows: Sequence[Row]) -> tuple[int, int]:
    parts = [row.action.partition(":") for row in rows]
    return max((len(noun_) for noun_, _, _ in parts), default=0), max(
        (len(verb) for *_, verb in parts), default=0
    )


def _column_width(name: str, rows: Sequence[Row]) -> int:
    return max(len(clean(name)), *(len(_text(row.cells.get(name))) for row in rows), 1)


def _text(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return f"{cell.agents}/{cell.of}" if cell.answer == answers.PARTLY and cell.of else _MARKS[cell.answer][0]


def _mark(cell: Cell | None, width: int, colored: bool) -> str:
    text = f"{_text(cell):{width}}"
    if cell is None or not colored:
        return text
    return f"\x1b[{_MARKS[cell.answer][1]}m{text}\x1b[0m"


def _legend(found: Matrix, colored: bool) -> list[str]:
    """What each mark that occurs means."""
    cells = [cell for row in found.rows for cell in row.cells.values()]
    said = []
    for answer, (_, number, meaning) in _MARKS.items():
        marks = {_text(cell) for cell in cells if cell.answer == answer}
        counted = sorted(mark for mark in marks if "/" in mark)[:1]
        for mark in [*sorted(mark for mark in marks if "/" not in mark), *counted]:
            shown = f"\x1b[{number}m{mark}\x1b[0m" if colored else mark
            said.append(f"{shown} {_COUNTED if mark in counted else meaning}")
    return ["   ".join(said)]
