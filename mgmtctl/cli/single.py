"""How commands on users, roles, policies and rules show things and tell what they did.

Rules: JSON, YAML and bare values keep ids, rows and tables have names; one thing by itself is no list, and its refusal
no list of failures; what was done reads as done, in a dry run as what would be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.links import named

if TYPE_CHECKING:
    from mgmtctl.cli.session import CliSession
    from mgmtctl.domain.links import Changed
    from mgmtctl.operations.links import LinkedItems
    from mgmtctl.operations.results import Items

T = TypeVar("T")
Row = dict[str, Any]
Value = str | Sequence[str]

_ROWS = ("table", "wide", "tsv", "csv")
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Sheet:
    """A record that has a page of its own on a terminal."""

    row: Row
    page: str

    def record(self) -> Row:
        """The record as it is."""
        return self.row

    def text(self) -> str:
        """The page."""
        return self.page


def only(items: Items[T]) -> T:
    """The one value that was asked for, or the reason why it is not there."""
    if items.failed:
        raise items.failed[0].error
    return items.affected[0]


def settled(items: Items[T]) -> Items[T]:
    """The items; when all that came of them is one refusal, that is raised."""
    if not items.affected and len(items.failed) == 1 and len(items.failed[0].ids) == 1:
        raise items.failed[0].error
    return items


def unwrapped(items: Items[T], references: Sequence[str]) -> T | Items[T]:
    """The value by itself when one reference gave it; for several, or `-`, whatever came of them."""
    alone = len(references) == 1 and references[0] != "-" and not items.failed
    return items.affected[0] if alone and len(items.affected) == 1 else items


def in_rows(session: CliSession) -> bool:
    """Whether what is shown becomes rows or a table, to be read by somebody."""
    return session.output.format in _ROWS and not session.common.envelope


def readable(
    session: CliSession,
    items: LinkedItems[Any],
    page: Callable[[Row], str] | None = None,
    hidden: str | None = None,
) -> Items[Any]:
    """The items as they are shown: with names where rows are, each by its `page` where there is a terminal.

    `hidden`: a field that says what another one says, left out of rows that do not select it.
    """
    if not in_rows(session):
        return items
    rows = [named(item.record(), items.names) for item in items.affected]
    if hidden and hidden not in session.output.select:
        rows = [{name: value for name, value in row.items() if name != hidden} for row in rows]
    if page is None:
        return replace(items, affected=rows)
    end = "" if len(rows) == 1 else "\n"
    return replace(items, affected=[paged(session, row, page, end) for row in rows])


def paged(session: CliSession, row: Row, page: Callable[[Row], str], end: str = "") -> Sheet | Row:
    """The row with its page, where a terminal is to show it and nothing else was asked for."""
    output = session.output
    if output.format != "table" or output.asked or output.select:
        return row
    return Sheet(row, page(row) + end)


def sheet(pairs: Iterable[tuple[str, Value]], indent: str = "") -> str:
    """Names and values in two columns; a list has a line for each item."""
    known = [(name, [value] if isinstance(value, str) else list(value) or [""]) for name, value in pairs]
    width = max(len(name) for name, _ in known)
    lines = [
        f"{indent}{'' if number else name:{width}}  {item}".rstrip()
        for name, items in known
        for number, item in enumerate(items)
    ]
    return "\n".join(lines)


def several(kind: str, plural: str, names: Sequence[str]) -> str:
    """Things of one kind in a sentence: each by name while they are few."""
    if not names or len(names) > _MOST_NAMED:
        return f"{len(names) or 'no'} {plural}"
    return f"{kind if len(names) == 1 else plural} {', '.join(f'`{name}`' for name in names)}"


def tell_changed(session: CliSession, what: str, changed: Changed[Any]) -> None:
    """Tell what became different."""
    words = ", ".join(changed.changes)
    if words:
        session.done(f"changed {what}: {words}", changed, would=f"would change {what}: {words}")
    else:
        session.done(f"nothing to change in {what}", changed)


def tell_linked(
    session: CliSession, subject: str, kind: str, plural: str, items: Items[Changed[Any]], has: str
) -> None:
    """Tell what was linked or unlinked, and what was so before; `has`: `has {} already` or `does not have {}`."""
    if not settled(items).affected:
        return session.done("nothing to change", items)
    changed = items.affected[0]
    what, words = f"{subject} `{changed.value.name}`", ", ".join(changed.changes)
    kept = f"{what} {has.format(several(kind, plural, changed.kept))}" if changed.kept else ""
    did, would = (f"{verb} {what}: {words}" if words else "" for verb in ("changed", "would change"))
    value = items if items.failed else changed
    return session.done(_joined(did, kept), value, would=_joined(would, kept))


def tell_deleted(session: CliSession, kind: str, plural: str, items: Items[Any]) -> None:
    """Tell what was deleted."""
    words = several(kind, plural, [item.name for item in settled(items).affected])
    session.done(f"deleted {words}", items, would=f"would delete {words}")


def require_some(changes: bool, others: str) -> None:
    """QuestionError for a `set` without anything to set; `others`: the commands that change the rest."""
    if not changes:
        raise QuestionError("nothing to change; expected `--name NAME` or `-f FILE`", fix=others)


def _joined(*parts: str) -> str:
    return "; ".join(part for part in parts if part)
