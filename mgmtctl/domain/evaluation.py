"""Evaluation of one rule against one authorization context: every operator of the language (S 5.3, D 3).

Rules: equality is by JSON type; a search needs each key of its pattern on its own; lists are compared without order.
What cannot be decided (the work limit, a pattern that RE2 cannot take, what is no expression) ends the whole rule, so
it grants nothing, under NOT neither. Work is counted in steps, not in time: the same rule and context always end the
same way. Rules are interpreted as they are stored; compiling them first would cost more than one login.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from mgmtctl.domain.patterns import PATTERN_START, Pattern, is_pattern, read_pattern
from mgmtctl.domain.rules import LOGICAL, MAX_LEVELS, SEARCHES

if TYPE_CHECKING:
    from mgmtctl.domain.matching import ContextIndex

RULE_STEPS = 200_000  # for one rule; a step is some 0.3 microseconds
_WORK_SHIFT = 9  # 512 engine instructions on one character are a step


class UndecidedError(Exception):
    """The rule cannot be decided; the reason is for traces."""


class Evaluation:
    """One evaluation of one rule, with what it may still spend."""

    __slots__ = ("_asked", "_index", "_limit", "left", "reason")

    def __init__(self, index: ContextIndex, steps: int = RULE_STEPS) -> None:
        self._index = index
        self._limit = self.left = steps
        self._asked: set[Pattern] = set()
        self.reason = ""  # of an undecided rule

    @property
    def spent(self) -> int:
        """The steps taken so far."""
        return self._limit - self.left

    def rule(self, rules: Sequence[object]) -> bool | None:
        """True when an expression is; None when undecided, whatever the expressions after it may be."""
        try:
            if not isinstance(rules, (list, tuple)):
                _no_expression()
            for expression in rules:
                if self.expression(expression, MAX_LEVELS):
                    return True
        except UndecidedError as error:
            self.reason = str(error)
        except RecursionError:
            self.reason = "nested too deep"
        else:
            return False
        return None

    def expression(self, expression: object, levels: int) -> bool:
        """The verdict; UndecidedError. `levels` is how deep it may still go."""
        operator, operand = operation(expression)
        self.spend(1)
        if operator in SEARCHES:
            return self.search(operator, operand)
        if levels <= 0:
            raise UndecidedError(f"more than {MAX_LEVELS} levels")
        if operator == "NOT":
            return not self.expression(operand, levels - 1)
        if operator not in LOGICAL or not isinstance(operand, list) or not operand:
            _no_expression()
        decisive = operator == "OR"
        for item in operand:
            if self.expression(item, levels - 1) is decisive:
                return decisive
        return not decisive

    def search(self, operator: str, wanted: Any) -> bool:
        """The verdict of a search operator with the pattern object `wanted`."""
        if not isinstance(wanted, dict):
            _no_expression()
        return self.place(operator, wanted) is not None

    def place(self, operator: str, wanted: dict[str, Any]) -> dict[str, Any] | None:
        """The first object of the context, of those that the operator looks at, that satisfies `wanted`."""
        strict = operator.endswith("$")
        for candidate in self.candidates(operator, wanted):
            if self.fits_object(wanted, candidate, strict):
                return candidate
        return None

    def candidates(self, operator: str, wanted: dict[str, Any]) -> Sequence[dict[str, Any]]:
        """The objects that may satisfy: the root, or all that hold the rarest of the literal keys."""
        if not operator.startswith("FIND"):
            root = self._index.document
            return (root,) if isinstance(root, dict) else ()
        by_key = self._index.by_key
        holders = [by_key.get(key, ()) for key in wanted if not is_pattern(key)]
        return min(holders, key=len) if holders else self._index.objects

    def fits_object(self, wanted: dict[str, Any], value: dict[str, Any], strict: bool) -> bool:
        """True when each key of `wanted` is satisfied; further keys of `value` never matter."""
        if not wanted:
            raise UndecidedError("an empty object asks for nothing")
        for key, item in wanted.items():
            self.spend(1)
            if key[:2] == PATTERN_START:
                if not self._some_key(key, item, value, strict):
                    return False
            elif key not in value or not self.fits(item, value[key], strict):
                return False
        return True

    def fits(self, wanted: Any, value: Any, strict: bool) -> bool:
        """True when one value satisfies what is wanted of it."""
        if isinstance(wanted, dict):
            return isinstance(value, dict) and self.fits_object(wanted, value, strict)
        if isinstance(wanted, list):
            if not isinstance(value, list):
                return False
            return self._same_items(wanted, value) if strict else self._has_items(wanted, value)
        if isinstance(value, list):
            return not strict and self._contains(value, wanted)
        return self.equals(wanted, value)

    def equals(self, wanted: Any, value: Any) -> bool:
        """Equality by JSON type; a pattern is equal to the texts that it matches."""
        if not isinstance(wanted, str):
            return not isinstance(value, (str, dict, list)) and _identity(wanted) == _identity(value)
        if not isinstance(value, str):
            return False
        return self._matches(wanted, value) if wanted[:2] == PATTERN_START else wanted == value

    def whole(self, wanted: Any, value: Any) -> bool:
        """Comparison inside lists: same keys, same length, whatever the operator."""
        self.spend(1)
        if isinstance(wanted, dict):
            if not wanted:
                raise UndecidedError("an empty object asks for nothing")
            return isinstance(value, dict) and len(wanted) == len(value) and self._same_keys(wanted, value)
        if isinstance(wanted, list):
            return isinstance(value, list) and self._same_items(wanted, value)
        return self.equals(wanted, value)

    def _some_key(self, pattern: str, wanted: Any, value: dict[str, Any], strict: bool) -> bool:
        return any(
            self._matches(pattern, key) and self.fits(wanted, item, strict) for key, item in value.items()
        )

    def _matches(self, text: str, value: str) -> bool:
        return self._verdict(_pattern(text), value)

    def _verdict(self, pattern: Pattern, value: str) -> bool:
        self.spend(1 + (len(value) >> _WORK_SHIFT))
        verdict = pattern.quick(value)
        return self._ask(pattern, pattern.matches, value) if verdict is None else verdict

    def finds(self, pattern: Pattern, value: str) -> bool:
        """True when the pattern matches a part of the text (for traces)."""
        return self._ask(pattern, pattern.finds, value)

    def _ask(self, pattern: Pattern, question: Callable[[str], bool], value: str) -> bool:
        """Put a question to the engine; its work is counted before it is done."""
        try:
            if pattern not in self._asked:
                self._asked.add(pattern)
                self.spend(pattern.size)  # compiling
            self.spend(pattern.size * len(value) >> _WORK_SHIFT)
            return question(value)
        except ValueError as error:
            raise UndecidedError(f"pattern: {error}") from None

    def _contains(self, values: list[Any], wanted: Any) -> bool:
        """The scalar wanted is in the list, or in a list in it."""
        pattern = _pattern(wanted) if is_pattern(wanted) else None
        rest = [values]
        while rest:
            items = rest.pop()
            self.spend(len(items))
            if pattern is None and isinstance(wanted, str) and wanted in items:
                return True
            for item in items:
                if isinstance(item, list):
                    rest.append(item)
                elif pattern is None:
                    if self.equals(wanted, item):
                        return True
                elif isinstance(item, str) and self._verdict(pattern, item):
                    return True
        return False

    def _has_items(self, wanted: list[Any], values: list[Any]) -> bool:
        """Each item wanted is satisfied by some element."""
        if not wanted:
            raise UndecidedError("an empty list asks for nothing")
        if len(wanted) > 1:
            literals = self._flat(values)
            wanted = [item for item in wanted if not _is_literal(item) or _identity(item) not in literals]
            if any(_is_literal(item) for item in wanted):
                return False
        return all(
            any(self.whole(item, value) for value in values)
            if isinstance(item, (dict, list))
            else self._contains(values, item)
            for item in wanted
        )

    def _flat(self, values: list[Any]) -> set[object]:
        """The scalars in a list and the lists in it."""
        found: set[object] = set()
        rest = [values]
        while rest:
            items = rest.pop()
            self.spend(len(items))
            rest.extend(item for item in items if isinstance(item, list))
            found.update(_identity(item) for item in items if not isinstance(item, (dict, list)))
        return found

    def _same_items(self, wanted: list[Any], values: list[Any]) -> bool:
        """A one-to-one pairing of items and elements exists, in any order."""
        if len(wanted) != len(values):
            return False
        self.spend(len(values))
        places: dict[object, list[int]] = {}
        for number, value in enumerate(values):
            if not isinstance(value, (dict, list)):
                places.setdefault(_identity(value), []).append(number)
        open_items, taken = [], set()
        for item in wanted:
            if not _is_literal(item):
                open_items.append(item)
            elif free := places.get(_identity(item)):  # equal elements are as good as each other
                taken.add(free.pop())
            else:
                return False
        rest = [value for number, value in enumerate(values) if number not in taken]
        return self._pairs(open_items, rest, self.whole)

    def _same_keys(self, wanted: dict[str, Any], value: dict[str, Any]) -> bool:
        literal = {key: item for key, item in wanted.items() if not is_pattern(key)}
        if not all(key in value and self.whole(item, value[key]) for key, item in literal.items()):
            return False
        patterns = [(key, item) for key, item in wanted.items() if key not in literal]
        rest = [(key, item) for key, item in value.items() if key not in literal]
        return self._pairs(patterns, rest, self._same_entry)

    def _same_entry(self, wanted: tuple[str, Any], entry: tuple[str, Any]) -> bool:
        return self._matches(wanted[0], entry[0]) and self.whole(wanted[1], entry[1])

    def _pairs(self, wanted: list[Any], values: list[Any], fits: Callable[[Any, Any], bool]) -> bool:
        """All of `wanted` can be paired off: augmenting paths, breadth first, because their length is input."""
        owner: dict[int, int] = {}  # place in values -> place in wanted
        held: dict[int, int] = {}  # the reverse
        for start in range(len(wanted)):
            reached: dict[int, int] = {}  # place -> the item that reached it on the way
            queue, free = [start], None
            for item in queue:
                self.spend(1 + len(values) // 8)
                for place, value in enumerate(values):
                    if place not in reached and fits(wanted[item], value):
                        reached[place] = item
                        if place not in owner:
                            free = place
                            break
                        queue.append(owner[place])
                if free is not None:
                    break
            if free is None:
                return False
            while free is not None:  # each item of the path hands its place to the one that reached it
                item = reached[free]
                owner[free], held[item], free = item, free, held.get(item)
        return True

    def spend(self, steps: int) -> None:
        """Count work before it is done. UndecidedError at the limit."""
        if steps > self.left:
            raise UndecidedError(f"the limit of {self._limit} steps was reached")
        self.left -= steps


def _pattern(text: str) -> Pattern:
    pattern = read_pattern(text)
    if pattern is None:
        raise UndecidedError("a pattern is not closed, or empty")
    return pattern


def operation(expression: object) -> tuple[str, Any]:
    if not isinstance(expression, dict) or len(expression) != 1:
        _no_expression()
    ((operator, operand),) = expression.items()
    return operator, operand


def _no_expression() -> NoReturn:
    raise UndecidedError("not an expression with exactly one operator")


def _identity(scalar: object) -> object:
    """Equal for two scalars exactly when they are equal in JSON: true is not 1, 1 is 1.0."""
    return scalar if isinstance(scalar, str) else (scalar.__class__ in (int, float), scalar)


def _is_literal(item: object) -> bool:
    return not isinstance(item, (dict, list)) and not is_pattern(item)
