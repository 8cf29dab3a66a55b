"""Lists: what a caller wants of one (`ListQuery`), and how a small list gives it (`apply_query`). D 4.

Rules: filters are read by `filters`; search is contains over all shown values without regard to case, a leading `-`
negates; absent values sort last in both directions; text sorts without regard to case. For agents the store does the
same in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.fields import DATE, ID, NAMES, NUMBER, TEXT, VERSION, Fields, fold, meant, shown

# A list describes its fields as {dotted name: one of these}.
__all__ = (
    "DATE",
    "ID",
    "NAMES",
    "NUMBER",
    "TEXT",
    "VERSION",
    "Fields",
    "ListQuery",
    "SortKey",
    "apply_query",
    "check_query",
    "found_by",
    "parse_sort",
    "search_term",
)
BAD_LIMIT, BAD_SORT, BAD_SELECT = 1401, 1403, 1724
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What to show of a list: `where` in the filter language, `search` text (a leading `-` means without), `sort`
    fields (`-` before one: descending), at most `limit` (None or 0: all), only the `select`ed fields."""

    where: str | None = None
    search: str | None = None
    sort: str | None = None
    limit: int | None = None
    select: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SortKey:
    """One field to sort by."""

    field: str
    kind: str
    descending: bool


def parse_sort(text: str | None, fields: Fields) -> tuple[SortKey, ...]:
    """`[-]field[,[-]field...]` as keys; QuestionError 1403."""
    keys = []
    for part in (text or "").split(",") if text else ():
        name = part.strip()
        descending, name = name.startswith("-"), name.lstrip("+-")
        if name not in fields:
            raise QuestionError(f"cannot sort by `{name}`", fix=meant(name, fields), code=BAD_SORT)
        keys.append(SortKey(name, fields[name], descending))
    return tuple(keys)


def check_query(query: ListQuery, fields: Fields) -> None:
    """Refuse a limit or a selected field that cannot be; QuestionError 1401, 1724. `os` selects every `os.x`."""
    if query.limit is not None and query.limit < 0:
        raise QuestionError(f"limit `{query.limit}` is below zero", fix="0 shows all", code=BAD_LIMIT)
    for name in query.select:
        if name not in fields and not any(field.startswith(f"{name}.") for field in fields):
            raise QuestionError(f"no field `{name}` to select", fix=meant(name, fields), code=BAD_SELECT)


def apply_query(
    records: Iterable[T], query: ListQuery, fields: Fields, now: float = 0
) -> tuple[list[T], int]:
    """What the query asks of a small list, and how many matched before the limit.

    `records` are values with `.record()` or plain dicts; without `sort` they keep their order.
    """
    check_query(query, fields)
    keys = parse_sort(query.sort, fields)
    pairs = [(item, _record(item)) for item in records]
    if query.where:
        from mgmtctl.domain.filters import matches, parse_filter

        tree = parse_filter(query.where, fields, now)
        pairs = [pair for pair in pairs if matches(tree, pair[1])]
    if query.search:
        pairs = [pair for pair in pairs if found_by(query.search, pair[1])]
    for key in reversed(keys):
        pairs = _sorted(pairs, key)
    return [item for item, _ in pairs[: query.limit or None]], len(pairs)


def found_by(search: str, record: Mapping[str, Any]) -> bool:
    """Whether some shown value contains the text, or none does when it begins with `-`; without regard to case."""
    wanted, without = search_term(search)
    return any(wanted in fold(shown(value)) for value in _leaves(record)) is not without


def search_term(search: str) -> tuple[str, bool]:
    """The folded text to look for, and whether records without it are wanted."""
    search = search.encode("utf-8", "replace").decode()  # undecodable bytes of a command line
    without = len(search) > 1 and search.startswith("-")
    return fold(search[1:] if without else search), without


def _sorted(pairs: list[tuple[T, Any]], key: SortKey) -> list[tuple[T, Any]]:
    """Stable, absent values last in both directions."""
    keyed = [(_sort_value(record, key), (item, record)) for item, record in pairs]
    present = [entry for entry in keyed if entry[0] is not None]
    absent = [pair for value, pair in keyed if value is None]
    present.sort(key=lambda entry: entry[0], reverse=key.descending)
    return [pair for _, pair in present] + absent


def _sort_value(record: Mapping[str, Any], key: SortKey) -> Any:
    from mgmtctl.domain.filters import comparable, values_of

    values = values_of(record, key.field)
    if not values:
        return None
    if key.kind == NAMES:
        return ",".join(fold(shown(value)) for value in values)
    return comparable(key.kind, values[0])


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _leaves(inner)
    elif value is not None:
        yield value


def _record(item: Any) -> Mapping[str, Any]:
    record: Mapping[str, Any] = item.record() if hasattr(item, "record") else item
    return record
