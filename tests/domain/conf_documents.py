"""Random documents out of the vocabulary of agent.conf: each option has a value of its type, each relation is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st

from mgmtctl.domain import options
from mgmtctl.domain.options import ALLOWED, MODULE, MODULE_SECTION, ROOT, Entry

_WORD = st.from_regex(r"[a-z][a-z0-9.-]{0,8}", fullmatch=True)
_PATH = _WORD.map(lambda word: f"/var/{word}")
SECTIONS = [
    entry
    for entry in options.every()
    if entry.kind in ("section", MODULE) and entry.agent_conf == ALLOWED and entry.options
]
CLOSED = frozenset(
    (
        *("yes_no", "int", "time", "size", "enum", "enum_list", "hash", "port", "date", "clock", "day_time"),
        *("weekday", "weekday_list", "month_day"),
    )
)


@dataclass
class Node:
    """One element to be: its entry, attributes, and a value or what lies inside."""

    entry: Entry = field(repr=False)
    attributes: dict[str, str] = field(default_factory=dict)
    value: str = ""
    children: list[Node] = field(default_factory=list)
    name: str = ""

    def lines(self) -> list[str]:
        """The element, one line for each element inside; the first line is its own."""
        attributes = "".join(f' {name}="{value}"' for name, value in self.attributes.items())
        if self.entry.type != "block":
            return [f"<{self.name}{attributes}>{self.value}</{self.name}>"]
        inside = [f"  {line}" for child in self.children for line in child.lines()]
        return [f"<{self.name}{attributes}>", *inside, f"</{self.name}>"]

    def walk(self) -> Iterator[Node]:
        """The node and all below it, in the order of `lines`."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass
class Written:
    """A document as text, with the line of each node."""

    text: str
    line_of: Mapping[int, int]


def written(sections: list[Node]) -> Written:
    """One block with these sections."""
    lines = [f"<{ROOT}>"]
    line_of: dict[int, int] = {}
    for section in sections:
        _number(section, len(lines) + 1, line_of)
        lines += section.lines()
    return Written("\n".join([*lines, f"</{ROOT}>"]) + "\n", line_of)


def _number(node: Node, line: int, line_of: dict[int, int]) -> int:
    """Note the line of the node and of those inside; gives the line after it."""
    line_of[id(node)] = line
    if node.entry.type != "block":
        return line + 1
    line += 1
    for child in node.children:
        line = _number(child, line, line_of)
    return line + 1


@st.composite
def sections(draw: st.DrawFn) -> list[Node]:
    """One to three different sections without a fault."""
    chosen = draw(st.lists(st.sampled_from(SECTIONS), min_size=1, max_size=3, unique_by=lambda e: e.path))
    return [draw(_node(entry)) for entry in chosen]


@st.composite
def _node(draw: st.DrawFn, entry: Entry) -> Node:
    node = Node(entry, name=entry.name)
    if entry.kind == MODULE:
        node.name, node.attributes = MODULE_SECTION, {"name": entry.name}
    for name, known in entry.attributes.items():
        if entry.kind != MODULE and (known.required or draw(st.integers(0, 4)) == 0):
            node.attributes[name] = draw(value_of(known))
    if entry.type != "block":
        node.value = draw(value_of(entry))
        return node
    usable = [e for e in entry.options.values() if e.agent_conf == ALLOWED and not e.facts.get("no_effect")]
    wanted = [e for e in usable if e.required or draw(st.integers(0, 3)) == 0]
    node.children = [draw(_node(option)) for option in wanted]
    _mend(draw, node)
    if not node.children and entry.ref.get("empty", "ok") != "ok":
        node.children = [draw(_node(_first_free(entry)))]
        _mend(draw, node)
    return node


def _first_free(entry: Entry) -> Entry:
    return next(e for e in entry.options.values() if e.agent_conf == ALLOWED and not e.facts.get("no_effect"))


def _mend(draw: st.DrawFn, node: Node) -> None:
    """Keep the relations between options, in the order in which they stand."""
    for rule in node.entry.rules:
        _keep(draw, node, rule)


def _keep(draw: st.DrawFn, node: Node, rule: Mapping[str, Any]) -> None:
    kind, names = rule["kind"], rule.get("options") or [rule.get("option")]
    if kind == "excludes":
        _drop(node, names[1:])
    elif kind == "multiple_of" and _has(node, rule["if_set"]):
        if not _met(node, {rule["option"]: ("1M", "1w")}):  # these hold whole days too
            _set(draw, node, rule["option"], f"1{rule['unit']}")
    elif kind == "requires_any" and not any(_has(node, name) for name in names):
        if not _met(node, rule.get("unless", {"": ()})):
            _add(draw, node, names[0])
    elif (kind == "requires_if" and _met(node, rule["if"])) or (
        kind == "requires_if_set" and _has(node, rule["if_set"])
    ):
        _add(draw, node, rule["option"])
    elif (kind == "only_if" and not _met(node, rule["if"])) or (
        kind == "no_effect" and _met(node, rule["if"])
    ):
        _drop(node, names)
    elif kind in ("only_if_attribute", "not_with_attribute"):
        ((name, values),) = rule["if"].items()
        value = node.attributes.get(name, node.entry.attributes[name].default)
        if (value in values) == (kind == "not_with_attribute"):
            _drop(node, names)
    elif kind == "fixed_value" and _met(node, rule["if"]) and _has(node, rule["option"]):
        _set(draw, node, rule["option"], rule["values"][0])
    elif kind == "at_least":
        _drop(node, [rule["option"]])
    elif kind == "requires_exactly_one":
        _drop(node, names)
        _add(draw, node, draw(st.sampled_from(names)))
    elif kind == "requires_one_set":
        for name in draw(st.sampled_from(rule["sets"])):
            _add(draw, node, name)
    elif kind == "requires_if_block":
        outer, inner = rule["block"].split("/")
        for child in node.children:
            for request in child.children:
                if child.name == outer and request.name == inner:
                    _add(draw, request, rule["option"])


def _has(node: Node, name: str) -> bool:
    return any(child.name == name for child in node.children)


def _met(node: Node, condition: Mapping[str, Any]) -> bool:
    return all(
        any(child.name == name and child.value in values for child in node.children)
        for name, values in condition.items()
    )


def _drop(node: Node, names: list[str]) -> None:
    node.children = [child for child in node.children if child.name not in names]


def _add(draw: st.DrawFn, node: Node, name: str) -> None:
    if not _has(node, name):
        node.children.append(draw(_node(node.entry.options[name])))


def _set(draw: st.DrawFn, node: Node, name: str, value: str) -> None:
    _add(draw, node, name)
    node.children = [replace(c, value=value) if c.name == name else c for c in node.children]


def value_of(entry: Entry) -> st.SearchStrategy[str]:
    """Values that the entry takes."""
    facts = entry.facts
    if entry.type in ("int", "port", "month_day"):
        low, high = facts.get("min", 1 if entry.type != "int" else 0), facts.get("max", 28)
        return st.integers(low, high).map(str)
    if entry.type == "time":
        unit = "s" if "s" in facts["units"] else "m"
        return st.integers(max(1, facts.get("min", 0)), 3600).map(lambda number: f"{number}{unit}")
    if entry.type == "size":
        unit = facts["units"][1]
        return st.integers(1, 1000).map(lambda number: f"{number}{unit}")
    if entry.type in ("enum", "enum_list"):
        return st.sampled_from(facts["values"])
    if entry.type == "hash":
        return st.just("0a" * (facts["hex_len"] // 2))
    return _SIMPLE.get(entry.type, _WORD)


_SIMPLE = {
    "yes_no": st.sampled_from(["yes", "no"]),
    "path": _PATH,
    "path_list": st.lists(_PATH, min_size=1, max_size=3, unique=True).map(",".join),
    "registry_list": _WORD.map(lambda word: f"HKEY_LOCAL_MACHINE\\{word}"),
    "host": _WORD,
    "date": st.just("2026-JAN-31"),
    "clock": st.times().map(lambda time: f"{time:%H:%M}"),
    "day_time": st.sampled_from(["4", "04:30", "4am", "8:30pm"]),
    "weekday": st.sampled_from(["monday", "Sun"]),
    "weekday_list": st.sampled_from(["monday,thursday", "weekends"]),
}
