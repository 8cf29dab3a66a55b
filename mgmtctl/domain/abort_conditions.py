"""The condition that stops a rollout: `METRIC OP NUMBER[%]`, joined by `and` and `or` (`and` binds tighter).

    not-synced>2 or disconnected>=10%

Rules: a metric counts canaries; per cent are of all canaries; a condition is read at once, with the column of what is
wrong, and its verdict is its reasons: none means no.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mgmtctl.domain.filters import FilterError

METRICS = ("not-synced", "disconnected", "diverged", "failed", "pending-restart")
MAX_LENGTH = 1000

_OPERATORS: dict[str, Callable[[int, int], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
}
_SPACE = re.compile(r"\s*")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*")
_OPERATOR = re.compile(r"[<>=!~]+")
_NUMBER = re.compile(r"([0-9]{1,9})(?![0-9.])(%?)")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One `METRIC OP NUMBER[%]`."""

    metric: str
    operator: str
    number: int
    percent: bool

    def reason(self, counts: Mapping[str, int], total: int) -> str | None:
        """Why it is true of so many canaries, None when it is not."""
        count = counts.get(self.metric, 0)
        compare = _OPERATORS[self.operator]
        true = compare(count * 100, self.number * total) if self.percent else compare(count, self.number)
        return f"{count} of {total} canaries {self.metric} ({self})" if true else None

    def __str__(self) -> str:
        return f"{self.metric}{self.operator}{self.number}{'%' * self.percent}"


@dataclass(frozen=True, slots=True)
class AbortIf:
    """A condition: any of these is true of which every comparison is."""

    text: str
    any_of: tuple[tuple[Comparison, ...], ...]

    def reasons(self, counts: Mapping[str, int], total: int) -> tuple[str, ...]:
        """Why the condition is true of these counts, one line for each part; nothing when it is not."""
        found = ([part.reason(counts, total) for part in every] for every in self.any_of)
        return tuple(" and ".join(filter(None, reasons)) for reasons in found if all(reasons))


def read_abort_if(text: str) -> AbortIf:
    """The condition that a text says; QuestionError with the column."""
    if len(text) > MAX_LENGTH:
        raise FilterError(text[:60], 1, f"the condition has more than {MAX_LENGTH} characters", code=0)
    return _Reader(text).whole()


class _Reader:
    """`at` is the next character."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self._blank()

    def whole(self) -> AbortIf:
        any_of = [[self._comparison()]]
        while self.at < len(self.text):
            word, begin = self._taken(_WORD, "`and`, `or` or the end")
            if word.lower() not in ("and", "or"):
                raise self._error(f"expected `and`, `or` or the end, got `{word}`", begin)
            if word.lower() == "or":
                any_of.append([])
            any_of[-1].append(self._comparison())
        return AbortIf(self.text.strip(), tuple(map(tuple, any_of)))

    def _comparison(self) -> Comparison:
        metric, begin = self._taken(_WORD, "a metric")
        if metric not in METRICS:
            raise self._error(f"no metric `{metric}`", begin, fix=_meant(metric))
        sign, place = self._taken(_OPERATOR, f"one of {' '.join(_OPERATORS)}")
        if sign not in _OPERATORS:
            raise self._error(f"no operator `{sign}`, expected one of {' '.join(_OPERATORS)}", place)
        found = _NUMBER.match(self.text, self.at)
        if found is None:
            raise self._error(f"expected a whole number or per cent, got {self._here()}", self.at)
        self.at = found.end()
        self._blank()
        return Comparison(metric, sign, int(found[1]), bool(found[2]))

    def _taken(self, pattern: re.Pattern[str], what: str) -> tuple[str, int]:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise self._error(f"expected {what}, got {self._here()}", self.at)
        self.at = found.end()
        self._blank()
        return found[0], found.start()

    def _blank(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _here(self) -> str:
        return f"`{self.text[self.at]}`" if self.at < len(self.text) else "the end"

    def _error(self, problem: str, place: int, fix: str | None = None) -> FilterError:
        return FilterError(self.text, place + 1, problem, code=0, fix=fix)


def _meant(metric: str) -> str:
    from mgmtctl.domain.resources import closest

    near = closest(metric.lower().replace("_", "-"), METRICS)
    return f"did you mean `{near}`?" if near else f"metrics are {', '.join(METRICS)}"
