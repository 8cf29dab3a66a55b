"""Values as plain records and cells, the same for every output format.

Rules: a record is what `.record()` gives, or the dict itself; a field has a dotted name; an absent value is an empty
cell, a list is joined by commas, anything deeper is compact JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any


def plain(value: Any) -> Any:
    """The plain form of a value: its record, or itself; lists and tuples item by item."""
    if hasattr(value, "record"):
        return value.record()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def pick(record: Any, field: str) -> Any:
    """The value of a dotted field, None when it is absent."""
    if not isinstance(record, Mapping):
        return None
    if field in record:
        return record[field]
    value: Any = record
    for part in field.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def narrowed(record: Any, fields: Sequence[str]) -> Any:
    """Only these fields of a record, nested as they were; absent ones stay away. No fields: all of it."""
    if not fields or not isinstance(record, Mapping):
        return record
    result: dict[str, Any] = {}
    for field in fields:
        if field in record:
            result[field] = record[field]
            continue
        value = pick(record, field)
        if value is None:
            continue
        *path, last = field.split(".")
        inner = result
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return result


def field_names(records: Iterable[Any]) -> tuple[str, ...]:
    """The names that occur in the records, in the order they come."""
    names: dict[str, None] = {}
    for record in records:
        if isinstance(record, Mapping):
            names.update(dict.fromkeys(str(key) for key in record))
    return tuple(names)


def cell(value: Any) -> str:
    """One value as text."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list, tuple)) for item in value):
        return ",".join(cell(item) for item in value)
    if isinstance(value, (dict, list, tuple)):
        return compact(value)
    return str(value)


def row(record: Any, columns: Sequence[str]) -> list[str]:
    """The cells of one record; a value that is no record is one cell."""
    if not isinstance(record, Mapping):
        return [cell(record)]
    values = [record[name] if name in record else pick(record, name) for name in columns]
    # Most values are texts: not a call for each of a million.
    return [value if type(value) is str else cell(value) for value in values]


def identifier(record: Any) -> str:
    """The `id` of a record, else its `name`, else its first value."""
    if not isinstance(record, Mapping):
        return cell(record)
    for name in ("id", "name"):
        if record.get(name) is not None:
            return cell(record[name])
    return next((cell(value) for value in record.values()), "")


def compact(value: Any) -> str:
    """JSON in one line."""
    return _encoder()(value)


@cache
def _encoder() -> Callable[[Any], str]:
    import json

    return json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str).encode
