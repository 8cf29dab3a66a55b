"""What values an option takes, in words: for messages and for `options show`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mgmtctl.domain.options import Entry

Facts = Any  # the facts of an entry, as in the data
DATE = "a date such as `2026-JAN-31`"
CLOCK = "a time of day such as `04:30`"
DAY_TIME = "a time of day such as `4`, `04:30`, `4am` or `4:30pm`"
WEEKDAY = "a day of the week such as `monday`"
WEEKDAYS = "days of the week such as `monday,thursday`, `weekdays` or `weekends`"


def in_words(entry: Entry) -> str:
    """What values an entry takes, in words: `yes or no`, `a whole number from 1 to 100000 (seconds)`."""
    describe = _WORDS.get(entry.type)
    return describe(entry.facts) if describe else _PLAIN.get(entry.type, entry.type)


def int_words(facts: Facts) -> str:
    unit = {"s": " of seconds"}.get(facts.get("unit", ""), f" of {facts['unit']}" if "unit" in facts else "")
    words = "".join(f" or `{word}`" for word in facts.get("words", ()))
    return f"a whole number{unit}{_range_words(facts.get('min'), facts.get('max'))}{words}"


def time_words(facts: Facts) -> str:
    units = ", ".join(facts["units"])
    bare = facts.get("bare")
    without = "" if bare is False else f" (none: {bare})" if bare else ""
    return f"digits and one of the units {units}{without}{_range_words(facts.get('min'), facts.get('max'))}"


def one_of(values: Iterable[str]) -> str:
    known = [f"`{value}`" for value in values]
    return known[0] if len(known) == 1 else f"{', '.join(known[:-1])} or {known[-1]}"


def _range_words(low: Any, high: Any) -> str:
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None and low != 0:
        return f", at least {low}"
    return f", at most {high}" if high is not None else ""


def _most_words(facts: Facts) -> str:
    return f", at most {facts['max_items']}" if "max_items" in facts else ""


def _text_words(facts: Facts) -> str:
    known = facts.get("known_values")
    return f"text, as {one_of(known)}" if known else "text"


_WORDS: dict[str, Callable[[Facts], str]] = {
    "int": int_words,
    "time": time_words,
    "size": time_words,
    "enum": lambda facts: one_of(facts["values"]),
    "enum_list": lambda facts: f"{one_of(facts['values'])}, several with `{facts['separator']}` between",
    "regex": lambda facts: f"an expression ({facts['syntax']})",
    "path_list": lambda facts: f"paths with `{facts['separator']}` between{_most_words(facts)}",
    "registry_list": lambda facts: f"registry keys with `{facts['separator']}` between{_most_words(facts)}",
    "text_list": lambda facts: f"texts with `{facts['separator']}` between{_most_words(facts)}",
    "text": lambda facts: _text_words(facts),
    "path": lambda facts: "a path, wildcards allowed" if facts.get("wildcards") else "a path",
    "hash": lambda facts: f"{facts['hex_len']} hexadecimal digits",
}
_PLAIN = {
    "yes_no": "`yes` or `no`",
    "command": "a command line",
    "port": "a port from 1 to 65535",
    "host": "an address or a host name",
    "date": DATE,
    "clock": CLOCK,
    "day_time": DAY_TIME,
    "weekday": WEEKDAY,
    "weekday_list": WEEKDAYS,
    "month_day": "a day of the month from 1 to 31",
    "block": "options",
    "none": "nothing that is read",
}
