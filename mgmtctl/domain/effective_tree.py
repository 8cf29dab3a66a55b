"""Putting what files say together: one tree of what counts, by the `repeat` of each section and option.

Rules: as docs/agent-options.md says: last_wins, append, append_by_key, first_wins, merge, replace, and
`across_sections: replace` of lists that a later section drops. An entry of a list that stands there again counts once
and keeps every place. What a value overrode stays with it, the latest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Element
from mgmtctl.domain.effective_fit import COMMAND_FORMATS, child_value
from mgmtctl.domain.effective_values import Origin, Over, Value
from mgmtctl.domain.options import Entry

Slot = tuple[str, ...]
MOST_TOLD = 256  # earlier values, and further places, that one value tells of
_LISTS = ("path_list", "registry_list")
_SELF = ("path", "entry")  # parts of a `key` that mean the value itself
_FIXED = {"journald": "journald", "macos": "macos"}  # log formats whose location is always the same


@dataclass(slots=True, eq=False)
class Leaf:
    """A value that counts."""

    entry: Entry
    value: str
    attributes: Mapping[str, str]
    origin: Origin
    over: tuple[Over, ...] = ()
    also: tuple[Origin, ...] = ()
    note: str | None = None

    def as_over(self) -> Over:
        """How a later value tells of this one."""
        return Over(self.value, self.attributes, self.origin)


@dataclass(slots=True, eq=False)
class Node:
    """A section or block: what it holds, in slots; `key` tells it from others of its kind.

    `lists` is, for each list that a later section drops, the number of the section that gave it.
    """

    entry: Entry | None
    origin: Origin | None = None
    key: str | None = None
    slots: dict[Slot, Leaf | Node] = field(default_factory=dict)
    lists: dict[str, int] = field(default_factory=dict)
    added: int = 0

    def fresh(self, name: str) -> Slot:
        """A slot of its own."""
        self.added += 1
        return (name, "#", str(self.added))


def put(node: Node, leaf: Leaf) -> None:
    """Put a value into its block."""
    entry = leaf.entry
    for value in _items(entry, leaf.value):
        one = (
            leaf if value == leaf.value else Leaf(entry, value, leaf.attributes, leaf.origin, note=leaf.note)
        )
        slot = _slot(node, one)
        before = node.slots.get(slot)
        if isinstance(before, Leaf):
            if entry.repeat == "append" or (before.as_over()[:2] == one.as_over()[:2] and _is_list(entry)):
                before.also = (*before.also, one.origin)[:MOST_TOLD]
                continue
            one.over = (before.as_over(), *before.over)[:MOST_TOLD]
        node.slots[slot] = one


def second(node: Node, entry: Entry) -> Leaf | None:
    """The value that stays although another one follows it in the same block (`first_wins`)."""
    found = node.slots.get((entry.name,)) if entry.repeat == "first_wins" else None
    return found if isinstance(found, Leaf) else None


def enter(node: Node, element: Element, entry: Entry, origin: Origin) -> tuple[Node, Slot, Node | None]:
    """(the block that the element fills, its slot, the one that it replaces as a whole).

    A block that replaces or stands by itself is new, and not in its slot before `settle`.
    """
    key, merges = _block_key(element, entry)
    if entry.repeat in ("merge", "last_wins") or merges:
        slot: Slot = (entry.path, "key", key) if key is not None else (entry.path,)
        found = node.slots.get(slot)
        if isinstance(found, Node):
            return found, slot, None
        return Node(entry, origin, key), slot, None
    if entry.repeat == "replace":
        slot = (entry.path,)
    elif entry.repeat == "append_by_key" and key is not None:
        slot = (entry.path, "key", key)
    else:
        slot = node.fresh(entry.path)
    before = node.slots.get(slot)
    return Node(entry, origin, key), slot, before if isinstance(before, Node) else None


def settle(node: Node, slot: Slot, block: Node, before: Node | None) -> list[Leaf]:
    """Put a filled block into its slot; the values of the block it replaces that nothing in it overrides."""
    node.slots[slot] = block
    return [] if before is None else list(_lost(before, block))


def _lost(before: Node, block: Node) -> Iterator[Leaf]:
    for slot, old in before.slots.items():
        new = block.slots.get(slot)
        if isinstance(old, Leaf) and isinstance(new, Leaf):
            new.over = (*new.over, old.as_over(), *old.over)[:MOST_TOLD]
        elif isinstance(old, Node) and isinstance(new, Node):
            yield from _lost(old, new)
        else:
            yield from leaves(old)


def leaves(found: Leaf | Node) -> Iterator[Leaf]:
    """Every value at or below."""
    if isinstance(found, Leaf):
        yield found
    else:
        for inner in found.slots.values():
            yield from leaves(inner)


def drop_list(node: Node, entry: Entry, section: int) -> list[Leaf]:
    """What an earlier section put into a list that the section of this number begins anew (`across_sections`)."""
    if entry.facts.get("across_sections") != "replace":
        return []
    if node.lists.setdefault(entry.name, section) == section:
        return []
    node.lists[entry.name] = section
    gone = [slot for slot in node.slots if slot[0] == entry.path]
    return [leaf for slot in gone for leaf in leaves(node.slots.pop(slot))]


def values(root: Node) -> tuple[Value, ...]:
    """Everything that counts, sections in the order in which they first came."""
    return tuple(_values(root, "", ""))


def _values(node: Node, path: str, within: str) -> Iterator[Value]:
    several = _numbers(node)
    for slot, found in _together(node):
        name = "" if found.entry is None else _named(found.entry, path)
        if isinstance(found, Node):
            number = several.get(slot)
            mark = found.key if number is None else number
            inner = name if mark is None else f"{name}[{mark}]"
            yield from _values(found, inner, within or (inner if number is not None else ""))
        else:
            mark = found.attributes.get("key") if found.entry.key == "key" else None
            yield _value(found, name if mark is None else f"{name}[{mark}]", mark is None, within)


def _together(node: Node) -> list[tuple[Slot, Leaf | Node]]:
    """What a block holds, entries of one list beside each other."""
    first: dict[str, int] = {}
    paths = ["" if found.entry is None else found.entry.path for found in node.slots.values()]
    for path in paths:
        first.setdefault(path, len(first))
    order = sorted(zip(paths, node.slots.items(), strict=True), key=lambda pair: first[pair[0]])
    return [item for _, item in order]


def _value(leaf: Leaf, path: str, listed: bool, within: str) -> Value:
    entry = leaf.entry
    return Value(
        path, entry.path, leaf.value, leaf.attributes, leaf.origin, leaf.over, leaf.also, entry.secret, leaf.note,
        listed and _is_list(entry), within,
    )  # fmt: skip


def _named(entry: Entry, path: str) -> str:
    if not path:
        return entry.path
    return f"{path}@{entry.name}" if entry.kind == options.ATTRIBUTE else f"{path}.{entry.name}"


def _numbers(node: Node) -> dict[Slot, str]:
    """The number of each block among those of its kind that have no key."""
    counts: dict[str, int] = {}
    found = {}
    for slot, inner in node.slots.items():
        if isinstance(inner, Node) and inner.key is None and slot[1:2] == ("#",):
            counts[slot[0]] = counts.get(slot[0], 0) + 1
            found[slot] = str(counts[slot[0]])
    return found


def _items(entry: Entry, text: str) -> list[str]:
    """The values that a text stands for: each path of a list by itself."""
    if entry.type not in _LISTS:
        return [text]
    return [item for item in (part.strip() for part in text.split(entry.facts["separator"])) if item]


def _is_list(entry: Entry) -> bool:
    return entry.repeat in ("append", "append_by_key")


def _slot(node: Node, leaf: Leaf) -> Slot:
    entry = leaf.entry
    if entry.repeat == "append":
        return (entry.path, "value", leaf.value, *(f"{k}={v}" for k, v in sorted(leaf.attributes.items())))
    if entry.repeat == "append_by_key":
        key = [_key_part(part, leaf) for part in (entry.key or "").split("+")]
        return node.fresh(entry.path) if None in key else (entry.path, "key", *filter(None, key))
    return (entry.name,)


def _key_part(part: str, leaf: Leaf) -> str | None:
    if part in _SELF:
        return leaf.value
    attribute = leaf.entry.attributes.get(part)
    return leaf.attributes.get(part, attribute.default if attribute is not None else None)


def _block_key(element: Element, entry: Entry) -> tuple[str | None, bool]:
    """(what tells this block from others of its kind, whether it is merged into one with the same key)."""
    if entry.repeat != "append_by_key" or entry.key is None:
        return None, False
    if entry.path == "localfile":
        form = child_value(element, "log_format", entry)
        if form in COMMAND_FORMATS:
            return None, False
        if form in _FIXED:
            return _FIXED[form], form == "journald"
    return child_value(element, entry.key, entry), False
