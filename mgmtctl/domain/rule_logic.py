"""What can make a rule true: its expressions as formulas over facts about a context (S 5.3, D 3).

Rules: a fact is one thing that a search asks for: a value at a path from the root (MATCH), or somewhere (FIND). Facts
depend on each other: two strict texts at one path exclude each other, what is at the root is somewhere. Each way in
which the facts may hold together is tried while they are few; when they are many nothing is claimed. Claims are sound:
"never" is said only when no context with an `auth` and a `name` proves it wrong, "always" only when none does whose
name is not empty and of one line.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

from mgmtctl.domain.matching import ContextIndex, holds
from mgmtctl.domain.patterns import is_pattern
from mgmtctl.domain.rules import SEARCHES

MOST_FACTS = 8
MOST_NODES = 200
_NAMES = ("\x00", "a", "0", "A-b c", "", "a\nb")  # also unusual ones, which are names too
_ANY, _SOME = "any name of one line", "any name of one line that is not empty"
ANY_TEXT = {"r'.*'": _ANY, "r'^.*$'": _ANY, "r'.+'": _SOME, "r'^.+$'": _SOME}


class Fact(NamedTuple):
    """Something a search asks for; `path` is empty for a FIND of several keys. `wanted` is canonical JSON."""

    somewhere: bool
    strict: bool
    path: tuple[str, ...]
    wanted: str

    @property
    def value(self) -> Any:
        """What is asked for."""
        return json.loads(self.wanted)


class Verdict(NamedTuple):
    """When a formula is true: never, always, of a context that says nothing; `why` when one fact explains it."""

    never: bool = False
    always: bool = False
    by_nothing: bool = False
    why: str = ""


Tree = tuple[str, tuple["Tree | int", ...]]


@dataclass(slots=True)
class Formula:
    """An expression as AND, OR and NOT over numbered facts. `operands`: that of each FIND, by its fact."""

    tree: Tree | int
    facts: list[Fact]
    nodes: int
    operands: dict[int, dict[str, Any]] = field(default_factory=dict)
    expression: Any = None
    _numbers: dict[Fact, int] = field(default_factory=dict)

    @classmethod
    def of(cls, expression: Any) -> Formula:
        """The formula of a sound expression."""
        made = cls(0, [], 0, expression=expression)
        made.tree = made._tree(expression)
        return made

    def verdict(self) -> Verdict:
        """What can be claimed; of a formula of many facts or nodes nothing."""
        if len(self.facts) > MOST_FACTS or self.nodes > MOST_NODES:
            return Verdict()
        fixed = [certain(fact) for fact in self.facts]
        usual = [known and known[0] for known in fixed]
        always = self._outcomes(usual) == {True}
        # What is true of every usual name is not true of every name: "never" must hold for the others too.
        never = self._outcomes([False if value is False else None for value in usual]) == {False}
        nothing = [bool(value) for value in usual]
        silent = _true(self.tree, nothing) or _true(self.tree, [False] * len(nothing))
        by_nothing = silent and self._holds_of_nothing()
        why = next((known[1] for known in fixed if known and known[0] is not never), "")
        return Verdict(never, always, by_nothing, why)

    def _holds_of_nothing(self) -> bool:
        """Whether a context of a name and an empty `auth` makes it true: a NOT of what each has does not."""
        contexts = (ContextIndex({"name": name, "auth": {}}) for name in _NAMES)
        return any(holds([self.expression], context) for context in contexts)

    def _outcomes(self, fixed: Sequence[bool | None]) -> set[bool]:
        return {_true(self.tree, values) for values in self._ways(fixed)}

    def finds(self) -> list[dict[str, Any]]:
        """The operands of all its FINDs."""
        return list(self.operands.values())

    def holds_by(self, chosen: Callable[[dict[str, Any]], bool]) -> bool:
        """Whether it is true when all that holds are the FINDs whose operand is chosen, and what always does."""
        values = [bool((known := certain(fact)) and known[0]) for fact in self.facts]
        for number, operand in self.operands.items():
            values[number] = values[number] or chosen(operand)
        return _true(self.tree, values)

    def _tree(self, expression: Any) -> Tree | int:
        ((operator, operand),) = expression.items()
        self.nodes += 1
        if operator in SEARCHES:
            return self._search(operator, operand)
        if operator == "NOT":
            return "NOT", (self._tree(operand),)
        return operator, tuple(self._tree(item) for item in operand)

    def _search(self, operator: str, operand: dict[str, Any]) -> Tree | int:
        strict = operator.endswith("$")
        if operator.startswith("MATCH"):
            return "AND", tuple(self._number(fact) for fact in _at_root(operand, (), strict))
        number = self._number(_somewhere(operand, strict))
        self.operands[number] = operand
        return number

    def _number(self, fact: Fact) -> int:
        number = self._numbers.setdefault(fact, len(self.facts))
        if number == len(self.facts):
            self.facts.append(fact)
        return number

    def _ways(self, fixed: Sequence[bool | None]) -> Iterator[tuple[bool, ...]]:
        """The combinations of true and false that a context may have."""
        follows = [
            (one, other, value)
            for one, fact in enumerate(self.facts)
            for other, second in enumerate(self.facts)
            if one != other and (value := follows_from(fact, second)) is not None
        ]
        choices = [(known,) if known is not None else (False, True) for known in fixed]
        for values in product(*choices):
            if all(values[other] is value for one, other, value in follows if values[one]):
                yield values


def _at_root(operand: dict[str, Any], path: tuple[str, ...], strict: bool) -> Iterator[Fact]:
    """The facts of a MATCH: one for each value that is no object, or stands below a key that is a pattern."""
    for key, value in operand.items():
        place = (*path, key)
        if isinstance(value, dict) and not is_pattern(key):
            yield from _at_root(value, place, strict)
        else:
            # A name is text, never a list, so partial and strict are the same there.
            yield Fact(False, strict or place == ("name",), place, _canonical(value))


def _somewhere(operand: dict[str, Any], strict: bool) -> Fact:
    path: tuple[str, ...] = ()
    value: Any = operand
    while isinstance(value, dict) and len(value) == 1 and not is_pattern(next(iter(value))):
        ((key, value),) = value.items()
        path = (*path, key)
    if isinstance(value, dict):
        return Fact(True, strict, (), _canonical(operand))
    return Fact(True, strict, path, _canonical(value))


def certain(fact: Fact) -> tuple[bool, str] | None:
    """Whether a fact holds in every context or in none, and why; None when it depends."""
    for pattern in _patterns((fact.value, fact.path)):
        if matches_nothing(pattern[2:-1]):
            return False, f"`{pattern}` matches no text"
    if fact.path == ("name",):
        if fact.wanted[1:-1] in ANY_TEXT:
            return True, f"`{fact.wanted[1:-1]}` is {ANY_TEXT[fact.wanted[1:-1]]}"
        if not fact.somewhere and not isinstance(fact.value, str):
            return False, "`name` is always text"
    if not fact.somewhere and fact.path[:1] == ("name",) and len(fact.path) > 1:
        return False, "`name` is always text"
    if not fact.somewhere and fact.path == ("auth",):
        return False, "`auth` is always an object"
    return None


def follows_from(known: Fact, asked: Fact) -> bool | None:
    """Whether a fact holds in every context, or in none, in which another one does; None when it depends."""
    same = known.path == asked.path and known.wanted == asked.wanted
    if same and known.somewhere <= asked.somewhere and known.strict >= asked.strict:
        return True
    if known.somewhere or asked.somewhere or not known.strict or not _is_scalar(known.value):
        return None
    if any(is_pattern(key) for key in (*known.path, *asked.path)):
        return None
    if len(asked.path) > len(known.path) and asked.path[: len(known.path)] == known.path:
        return False  # there is a scalar, not an object
    if known.path != asked.path:
        return None
    operator = "MATCH$" if asked.strict else "MATCH"
    return bool(holds([{operator: {"x": asked.value}}], ContextIndex({"x": known.value})))


def matches_nothing(source: str) -> bool:
    """Whether a pattern certainly matches no text: something must stand before `^`, or after `$`."""
    consumed = ended = False
    position = 0
    if "(?" in source or "|" in source:
        return False
    while position < len(source):
        character = source[position]
        if character in "([":
            return False  # what is in there is not looked at
        width = 2 if character == "\\" else 1
        following = source[position + width : position + width + 1]
        if character == "^" and consumed:
            return True
        if character == "$":
            ended = True
        elif character not in "^*+?{" and source[position + 1 : position + 2] not in (
            "b",
            "B",
            "A",
            "z",
            "Q",
        ):
            must = following not in ("*", "?", "{")
            if must and ended:
                return True
            consumed = consumed or must
        if character == "{":
            position = source.find("}", position)
            if position < 0:
                return False
        position += width
    return False


def _patterns(value: object) -> Iterator[str]:
    rest = [value]
    while rest:
        item = rest.pop()
        if isinstance(item, dict):
            rest.extend([*item, *item.values()])
        elif isinstance(item, (list, tuple)):
            rest.extend(item)
        elif isinstance(item, str) and is_pattern(item):
            yield item


def _is_scalar(value: object) -> bool:
    return not isinstance(value, (dict, list)) and not is_pattern(value)


def _true(tree: Tree | int, values: Sequence[bool]) -> bool:
    if isinstance(tree, int):
        return values[tree]
    operator, parts = tree
    if operator == "NOT":
        return not _true(parts[0], values)
    return (all if operator == "AND" else any)(_true(part, values) for part in parts)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
