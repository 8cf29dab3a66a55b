"""Where two effective configurations differ: two agents, or one agent before and after.

Rules: what counts is compared, not where it stands; entries of a list are compared one by one, whatever their order;
blocks that have a number and no key are compared as wholes, so that one more of them does not make the others differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from mgmtctl.domain.effective_values import Effective, Value

_Key = tuple[str, str]


class Difference(NamedTuple):
    """One path with the value of each side; None where a side has none."""

    path: str
    left: Value | None
    right: Value | None

    def record(self) -> dict[str, Any]:
        """{"path", "left", "right"}: each a value's record or null."""
        left, right = (None if side is None else side.record() for side in (self.left, self.right))
        return {"path": self.path, "left": left, "right": right}


def difference(left: Effective, right: Effective) -> tuple[Difference, ...]:
    """What differs, in the order of the left side, then what only the right one has."""
    gone = _same_blocks(left.values, right.values)
    mine, theirs = (_by_key(value for value in side.values if value.within not in same) for side, same in
                    zip((left, right), gone, strict=True))  # fmt: skip
    found: list[Difference] = []
    for key in dict.fromkeys((*mine, *theirs)):
        found += _pairs(mine.get(key, []), theirs.get(key, []))
    return tuple(found)


def _pairs(mine: list[Value], theirs: list[Value]) -> Iterator[Difference]:
    """What is left on each side when what both have is taken away."""
    theirs = list(theirs)
    mine = [value for value in mine if not _taken(value, theirs)]
    for place in range(max(len(mine), len(theirs))):
        left = mine[place] if place < len(mine) else None
        right = theirs[place] if place < len(theirs) else None
        shown = left or right
        if shown is not None:
            yield Difference(shown.path, left, right)


def _taken(value: Value, others: list[Value]) -> bool:
    for place, other in enumerate(others):
        if (value.value, value.attributes) == (other.value, other.attributes):
            del others[place]
            return True
    return False


def _by_key(values: Iterable[Value]) -> dict[_Key, list[Value]]:
    found: dict[_Key, list[Value]] = {}
    for value in values:
        # A numbered block is nothing that the other side could have under the same number.
        found.setdefault((value.path, value.value if value.listed else ""), []).append(value)
    return found


def _same_blocks(left: Iterable[Value], right: Iterable[Value]) -> tuple[set[str], set[str]]:
    """The paths of numbered blocks, on each side, that the other side has too."""
    mine, theirs = _blocks(left), _blocks(right)
    common = Counter(mine.values()) & Counter(theirs.values())
    return _some(mine, common), _some(theirs, common)


def _some(blocks: Mapping[str, Any], wanted: Counter[Any]) -> set[str]:
    left = wanted.copy()
    found = set()
    for path, content in blocks.items():
        if left[content] > 0:
            left[content] -= 1
            found.add(path)
    return found


def _blocks(values: Iterable[Value]) -> dict[str, tuple[Any, ...]]:
    """What each numbered block holds, whatever its number."""
    found: dict[str, list[Any]] = {}
    for value in values:
        if value.within:
            inner = value.path[len(value.within) :]
            content = (value.option, inner, value.value, tuple(sorted(value.attributes.items())))
            found.setdefault(value.within, []).append(content)
    return {path: tuple(sorted(content)) for path, content in found.items()}
