"""What users, roles, policies and rules are linked to: ids in records, names in rows, and changes in words.

Rules: a record keeps ids, because scripts rely on it; a row has names where ids stood, so that somebody can read it; a
list can be asked for either. What a change did is told in words that fit behind "changed x:" and "would change x:".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from mgmtctl.domain.fields import Fields
from mgmtctl.domain.queries import ListQuery, apply_query


class Recorded(Protocol):
    """A value with a plain form."""

    def record(self) -> dict[str, object]:
        """Plain form."""
        ...


T = TypeVar("T", bound=Recorded)
# For each field that holds ids: the names of those that may be shown, by id.
Names = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Changed(Generic[T]):
    """A value after a change: `changes` in words, `kept` the names of what was as wanted before."""

    value: T
    changes: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    def record(self) -> dict[str, object]:
        """That of the value."""
        return self.value.record()


@dataclass(frozen=True, slots=True)
class _Either(Generic[T]):
    """A value whose plain form has ids and names, to be asked for by either."""

    value: T
    names: Names

    def record(self) -> dict[str, object]:
        record, row = self.value.record(), named(self.value.record(), self.names)
        return {**record, **{field: [*_items(record[field]), *_items(row[field])] for field in self.names}}


def named(record: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """The record as a row: names in place of ids where they are known."""
    found = dict(record)
    for field, known in names.items():
        found[field] = [known.get(number, number) for number in record[field]]
    return found


def asked(
    values: Sequence[T], query: ListQuery | None, fields: Fields, names: Names
) -> tuple[list[T], int | None]:
    """What the query wants of the values, by ids or names, and how many there were before its limit."""
    if query is None:
        return list(values), None
    found, total = apply_query([_Either(value, names) for value in values], query, fields)
    return [either.value for either in found], total


def differences(
    kind: str, before: Iterable[object], after: Iterable[object], names: Mapping[str, str]
) -> tuple[str, ...]:
    """What is linked now and was not, and the other way round, in words; names where they are known."""
    old, new = [str(one) for one in before], [str(one) for one in after]
    added = [f"{kind} `{names.get(one, one)}` added" for one in new if one not in old]
    removed = [f"{kind} `{names.get(one, one)}` removed" for one in old if one not in new]
    return (*added, *removed)


def renamed(before: str, after: str) -> tuple[str, ...]:
    """A change of name in words; nothing when it is the same."""
    return (f"name `{before}` -> `{after}`",) if before != after else ()


def _items(value: object) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
