"""The one filter language `q` of every list (D 4): reading it into a checked tree.

Grammar: `field op value`; `;` is and, `,` is or (and binds tighter), parentheses; operators `= != < > ~`. A value with
blanks or `;,()` stands in double quotes. Rules: `~` is contains; text is compared without regard to case; `!=` is the
exact complement of `=`, records without the field included; `null` is the absent value; versions compare as versions; a
field with several values matches when any of them does; a field that has one of a few values equals none but these. A
tree holds checked operands, so that memory (`matches`) and SQL (the store) cannot read a filter differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.fields import DATE, ID, NAMES, NUMBER, TEXT, VERSION, Fields, OneOf, fold, meant, shown

Operand = str | int | tuple[int, int] | None
MALFORMED, UNKNOWN_FIELD, BAD_OPERATOR, BAD_DATE = 1407, 1408, 1409, 1412
MAX_NESTING = 100
MAX_COMPARISONS = 10_000

_SPACE = re.compile(r"\s*")
_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
OPERATORS = ("=", "!=", "<", ">", "~")
_OPERATOR = re.compile(r"!?[=<>~]+")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_BARE = re.compile(r'[^\s;,()"=<>~]+')
_UNQUOTED = re.compile(r'[^;,()"]+')  # what somebody may have meant as a value
_WORDS = {"and": ";", "&&": ";", "&": ";", "or": ",", "||": ",", "|": ","}
_RELATIVE = re.compile(r"([0-9]{1,9})([smhd])")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})Z)?")
INTEGER = re.compile(r"-?[0-9]{1,18}")
_VERSION = re.compile(r"([0-9]+(?:\.[0-9]+)*)(\S*)")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One `field op value`. `operand`: None for `null`; folded text; a number; [start, end) seconds for a date."""

    field: str
    kind: str
    operator: str
    operand: Operand


@dataclass(frozen=True, slots=True)
class And:
    """True when every part is."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True when some part is."""

    parts: tuple[Tree, ...]


Tree = Comparison | And | Or


class FilterError(QuestionError):
    """A filter that cannot be read; `column` counts from 1."""

    def __init__(self, text: str, column: int, problem: str, *, code: int, fix: str | None = None) -> None:
        shown = "".join(character if character.isprintable() else "?" for character in text)
        start = max(0, column - 50)
        caret = f"{shown[start : start + 70]}\n{' ' * (column - 1 - start)}^"
        super().__init__(f"column {column}: {problem}", why=caret, fix=fix, code=code)
        self.column = column

    def facts(self) -> dict[str, object]:
        return {"column": self.column}


def parse_filter(text: str, fields: Fields, now: float = 0) -> Tree:
    """The tree of a filter; `now` (seconds) is what relative dates such as `7d` are counted back from.

    Raises FilterError with the column: codes 1407 malformed, 1408 field, 1409 operator, 1412 date.
    """
    return _Parser(text, fields, now).whole()


def matches(tree: Tree, record: Mapping[str, Any]) -> bool:
    """Whether a record (its plain form) satisfies a filter."""
    if isinstance(tree, And):
        return all(matches(part, record) for part in tree.parts)
    if isinstance(tree, Or):
        return any(matches(part, record) for part in tree.parts)
    values = values_of(record, tree.field)
    if tree.operator == "!=":
        return not _holds(tree, "=", values)
    return _holds(tree, tree.operator, values)


def version_key(text: str) -> str:
    """Text that sorts as versions do: `4.9 < 4.10`, `4.9 = 4.9.0 = Product v4.9`, `4.9-rc1 < 4.9`. Total."""
    found = _VERSION.search(text)
    if found is None:
        return fold(text)
    numbers = [number.lstrip("0") for number in found[1].split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    # The length in front makes text order number order; `!` ends the numbers below `.`, `~` ranks a release above
    # what precedes it.
    return ".".join(f"{len(number):02}{number}" for number in numbers) + "!" + (fold(found[2]) or "~")


class _Parser:
    """Recursive descent over the text; `at` is the next character."""

    def __init__(self, text: str, fields: Fields, now: float) -> None:
        self.text = text
        self.fields = fields
        self.now = now
        self.at = 0
        self.depth = 0
        self.comparisons = 0

    def whole(self) -> Tree:
        broken = next((at for at, letter in enumerate(self.text) if "\ud800" <= letter <= "\udfff"), None)
        if broken is not None:
            raise self.error("a character that is not Unicode text", broken)
        tree = self.alternatives()
        if self.at < len(self.text):
            raise self.error(f"expected `;`, `,` or the end, got `{self.text[self.at]}`")
        return tree

    def alternatives(self) -> Tree:
        parts = self.separated(",", lambda: self.conjunction())
        return parts[0] if len(parts) == 1 else Or(parts)

    def conjunction(self) -> Tree:
        parts = self.separated(";", lambda: self.term())
        return parts[0] if len(parts) == 1 else And(parts)

    def separated(self, mark: str, part: Callable[[], Tree]) -> tuple[Tree, ...]:
        parts = [part()]
        while self.skipped(mark):
            parts.append(part())
        return tuple(parts)

    def term(self) -> Tree:
        if not self.skipped("("):
            return self.comparison()
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"more than {MAX_NESTING} parentheses deep")
        inner = self.alternatives()
        if not self.skipped(")"):
            raise self.error(f"expected `)`, got {self.here()}")
        self.depth -= 1
        return inner

    def comparison(self) -> Comparison:
        self.comparisons += 1
        if self.comparisons > MAX_COMPARISONS:
            raise self.error(f"more than {MAX_COMPARISONS} comparisons")
        field, begin = self.taken(_FIELD, "a field")
        kind = self.fields.get(field)
        if kind is None:
            raise self.error(f"no field `{field}`", begin, code=UNKNOWN_FIELD, fix=meant(field, self.fields))
        operator, place = self.taken(_OPERATOR, f"one of {' '.join(OPERATORS)}")
        if operator not in OPERATORS:
            problem = f"no operator `{operator}`, expected one of {' '.join(OPERATORS)}"
            raise self.error(problem, place, code=BAD_OPERATOR, fix=self.meant_by(field, operator))
        if kind == NAMES and operator in "<>":
            raise self.error(f"`{field}` goes with =, != and ~", place, code=BAD_OPERATOR)
        return Comparison(field, kind, operator, self.operand(kind, operator, place))

    def meant_by(self, field: str, operator: str) -> str | None:
        """What to write instead of an operator of another language."""
        found = _BARE.match(self.text, self.at)
        value = found[0] if found else "VALUE"
        if operator in (">=", "<="):
            return f"({field}{operator[0]}{value},{field}={value})"
        known = {"==": "=", "=~": "~", "<>": "!=", "!==": "!="}.get(operator)
        return f"{field}{known}{value}" if known else None

    def operand(self, kind: str, operator: str, place: int) -> Operand:
        """The value, in the form that its field is compared by."""
        value, begin, quoted = self.value()
        if value == "null" and not quoted:
            if operator not in ("=", "!="):
                raise self.error("`null` goes with = and !=", place, code=BAD_OPERATOR)
            return None
        if isinstance(kind, OneOf) and operator in ("=", "!="):
            return self.choice(value, kind.values, begin)
        if operator == "~" or kind in (TEXT, NAMES):
            return fold(value)
        if kind == VERSION:
            return version_key(value)
        if kind == DATE:
            return self.date(value, begin)
        if not INTEGER.fullmatch(value):
            raise self.error(f"expected a number, got `{value}`", begin)
        return int(value)

    def value(self) -> tuple[str, int, bool]:
        """The text of a value, where it begins, and whether it stood in quotes."""
        self.space()
        begin = self.at
        quoted = _QUOTED.match(self.text, begin)
        if quoted:
            self.at = quoted.end()
            self.space()
            return re.sub(r'\\(["\\])', r"\1", quoted[1]), begin, True
        if self.text[begin : begin + 1] == '"':
            raise self.error("no closing quote")
        if self.text[begin : begin + 1] == "'":
            meant = self.text[begin + 1 :].partition("'")[0]
            raise self.error("a value is not quoted by `'`", begin, fix=f'use double quotes: "{meant}"')
        text, _ = self.taken(_BARE, "a value")
        if self.at < len(self.text) and self.text[self.at] not in ";,)":
            raise self.after_value(begin)
        return text, begin, False

    def after_value(self, begin: int) -> FilterError:
        """What follows a bare value and cannot: a part of the value, or a word where a mark belongs."""
        got = self.text[self.at]
        if got in '"=<>~(':
            return self.error(f"`{got}` in a value", fix="put the value in double quotes")
        word = self.text[self.at :].split(maxsplit=1)[0].lower()
        if word in _WORDS:
            fix = f"write `{_WORDS[word]}` for `{word}`: `;` is and, `,` is or"
        else:
            meant = _UNQUOTED.match(self.text, begin)
            fix = f'a value with blanks stands in double quotes: "{meant[0].strip() if meant else ""}"'
        return self.error(f"expected `;`, `,` or the end, got `{got}`", fix=fix)

    def choice(self, value: str, values: Sequence[str], begin: int) -> str:
        """`value` folded, when it is one of these."""
        if fold(value) in values:
            return fold(value)
        known = ", ".join(f'"{name}"' if " " in name else name for name in values)
        raise self.error(f"expected one of {known}, got `{value}`", begin)

    def date(self, value: str, begin: int) -> tuple[int, int]:
        relative = _RELATIVE.fullmatch(value)
        if relative:
            moment = int(self.now) - int(relative[1]) * _UNITS[relative[2]]
            return moment, moment + 1
        span = date_span(value)
        if span is None:
            fix = "write YYYY-MM-DD, YYYY-MM-DDTHH:MM:SSZ, or how long ago: 7d, 24h, 30m, 60s"
            raise self.error(f"expected a date, got `{value}`", begin, code=BAD_DATE, fix=fix)
        return span

    def taken(self, pattern: re.Pattern[str], what: str) -> tuple[str, int]:
        self.space()
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self.error(f"expected {what}, got {self.here()}")
        self.at = found.end()
        self.space()
        return found[0], found.start()

    def skipped(self, mark: str) -> bool:
        self.space()
        if not self.text.startswith(mark, self.at):
            return False
        self.at += 1
        self.space()
        return True

    def space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def here(self) -> str:
        return f"`{self.text[self.at]}`" if self.at < len(self.text) else "the end"

    def error(
        self, problem: str, at: int | None = None, *, code: int = MALFORMED, fix: str | None = None
    ) -> FilterError:
        return FilterError(self.text, (self.at if at is None else at) + 1, problem, code=code, fix=fix)


def date_span(text: str) -> tuple[int, int] | None:
    """[start, end) in seconds since 1970 of a day or a second in UTC; None when it is no date."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    from datetime import datetime, timezone

    try:
        moment = datetime(*(int(part or 0) for part in found.groups()), tzinfo=timezone.utc)  # type: ignore[arg-type,misc]  # noqa: UP017
    except ValueError:
        return None
    start = int(moment.timestamp())
    return start, start + (1 if found[4] else _UNITS["d"])


def values_of(record: Mapping[str, Any], field: str) -> Sequence[Any]:
    """The values of a field, by its dotted name: none when it is absent, several when it is a list."""
    value: Any = record.get(field)
    if value is None and "." in field:
        value = record
        for part in field.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    if value is None:
        return ()
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _holds(tree: Comparison, operator: str, values: Sequence[Any]) -> bool:
    operand = tree.operand
    if operand is None:
        return not values
    if operator == "~":
        return any(str(operand) in fold(shown(value)) for value in values)
    found = [comparable(tree.kind, value) for value in values]
    start, after = operand if isinstance(operand, tuple) else (operand, operand)
    if operator == "=":
        if tree.kind == DATE:
            return any(value is not None and start <= value < after for value in found)
        return operand in found
    if operator == "<":
        return any(value is not None and value < start for value in found)
    beyond = after - 1 if isinstance(operand, tuple) else after  # type: ignore[operator]
    return any(value is not None and value > beyond for value in found)


def comparable(kind: str, value: Any) -> Any:
    """A record's value in the form that operands have; None when it cannot be compared."""
    text = shown(value)
    if kind == DATE:
        span = date_span(text)
        return span[0] if span else None
    if kind in (NUMBER, ID):
        return int(text) if INTEGER.fullmatch(text) else None
    return version_key(text) if kind == VERSION else fold(text)
