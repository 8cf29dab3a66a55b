"""An effective configuration as lines to read: values, where each stands, what it overrode, and what does not count.

Rules: one value is one line, with its origin on the same line where that fits; nothing is cut, and nothing in a file
can begin a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mgmtctl.cli.text import clean

if TYPE_CHECKING:
    from mgmtctl.domain.effective_diff import Difference
    from mgmtctl.domain.effective_values import BlockUse, Effective, Ignored, Over, Value

_LONGEST_PATH = 36
_INDENT = "    "


def shown_value(value: str, attributes: Mapping[str, str]) -> str:
    """A value in one line, with its attributes as they are written."""
    text = " ".join(value.split()) if "\n" in value else value
    return clean(" ".join(filter(None, (text, *(f'{name}="{given}"' for name, given in attributes.items())))))


def overrode(over: Over) -> str:
    """An earlier value with its place: `default/agent.conf:4 (43200)`."""
    return f"{over.origin.text()} ({shown_value(over.value, over.attributes)})"


def row(value: Value) -> dict[str, Any]:
    """A value as cells."""
    return {
        "path": value.path,
        "value": value.value,
        "attributes": " ".join(f"{name}={given}" for name, given in value.attributes.items()),
        "origin": value.origin.text(),
        "over": ", ".join(map(overrode, value.over)),
        "also": ", ".join(origin.text() for origin in value.also),
        "note": value.note or "",
    }


def difference_row(one: Difference) -> dict[str, Any]:
    """A difference as cells."""
    cells: dict[str, Any] = {"path": one.path}
    for name, side in (("left", one.left), ("right", one.right)):
        cells[name] = "" if side is None else shown_value(side.value, side.attributes)
        cells[f"{name}_origin"] = "" if side is None else side.origin.text()
    return cells


def value_lines(values: Sequence[Value], *, origin: bool, width: int) -> Iterator[str]:
    """A line for each value; with `origin` where it stands, and a line for each that it overrode."""
    cells = [(clean(value.path), shown_value(value.value, value.attributes), value) for value in values]
    room = max((len(path) for path, _, _ in cells if len(path) <= _LONGEST_PATH), default=0)
    wide = max((len(cell) for _, cell, _ in cells if len(cell) <= _LONGEST_PATH), default=0)
    for path, cell, value in cells:
        line = f"{path:<{room}}  {cell}"
        if not origin:
            yield line
            continue
        where = value.origin.text()
        joined = f"{path:<{room}}  {cell:<{wide}}  {where}"
        yield from [joined] if len(joined) <= width else [line, f"{_INDENT}{where}"]
        yield from (f"{_INDENT}over {overrode(over)}" for over in value.over)
        if value.also:
            yield f"{_INDENT}also {', '.join(place.text() for place in value.also)}"
        if value.note:
            yield f"{_INDENT}{value.note}"


def story_lines(found: Effective) -> Iterator[str]:
    """Which blocks matched and why others did not, and what does not count."""
    yield from _titled("blocks:", map(_block_line, found.blocks))
    yield from _titled("does not count:", map(_ignored_line, found.ignored))


def summary(found: Effective) -> str:
    """How many blocks are for the agent, and how much does not count."""
    verdicts = [block.verdict for block in found.blocks]
    text = f"{verdicts.count('yes')} of {len(verdicts)} blocks are for it"
    unknown = verdicts.count("unknown")
    if unknown:
        text += f", of {unknown} that is not known"
    if found.ignored:
        count = len(found.ignored)
        text += f"; {count} thing{'s' * (count > 1)} in them do{'es' * (count == 1)} not count"
    return text


def difference_lines(differences: Iterable[Difference]) -> Iterator[str]:
    """A path, then what each side has."""
    for one in differences:
        yield clean(one.path)
        for mark, side in (("-", one.left), ("+", one.right)):
            if side is not None:
                yield f"  {mark} {shown_value(side.value, side.attributes)}  {side.origin.text()}"


def _titled(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield title
        yield from (f"  {clean(line)}" for line in found)


def _block_line(block: BlockUse) -> str:
    said = {"yes": "matches", "no": "does not match", "unknown": "not known"}[block.verdict]
    reasons = "; ".join(selector.text() for selector in block.selectors) or "for every agent of the group"
    return f"{block.origin.text()}  {said}: {reasons}"


def _ignored_line(ignored: Ignored) -> str:
    value = f" ({shown_value(ignored.value, {})})" if ignored.value else ""
    return f"{ignored.origin.text()}  {ignored.path}{value}: {ignored.why}"
