"""What is wrong with a value of an option or an attribute, by its type in the vocabulary (D 6, agent_options.md).

Rules: a value is compared as written, blanks included; a fault says what was expected, then what stands there, and
gives the value that was probably meant. A value that cannot be judged (a path, an expression) has no fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from mgmtctl.domain import options
from mgmtctl.domain.conf_words import CLOCK, DATE, DAY_TIME, WEEKDAY, WEEKDAYS, int_words, one_of, time_words
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.options import Entry
from mgmtctl.domain.resources import closest

Facts = Any  # the facts of an entry, as in the data


class Fault(NamedTuple):
    """What is wrong with a value (`expected ..., got ...`), and the value that was probably meant."""

    problem: str
    meant: str | None = None


def value_fault(entry: Entry, value: str) -> Fault | None:
    """What is wrong with the value; None when nothing is, or nothing can be told."""
    check = _CHECKS.get(entry.type)
    if check is None:
        return None
    expected = check(entry.facts, value)
    if expected is None:
        return None
    return Fault(f"expected {expected}, got {shown(value)}", _meant(entry, check, value))


def blanks_around(value: str) -> bool:
    """Whether the value begins or ends with blanks, which belong to it."""
    return value != value.strip(_BLANKS)


def known_problem(entry: Entry, value: str) -> str | None:
    """Why a free text may be wrong: it is none of those that are known; None when nothing is."""
    known = entry.facts.get("known_values")
    if not known or value in known:
        return None
    return f"{shown(value)} is none of the known values {one_of(known)}"


def many_values(entry: Entry) -> bool:
    """Whether an entry takes more values than a message lists."""
    return len(entry.facts.get("values", ())) > _MOST_NAMED


def shown(value: str) -> str:
    """A value for a message."""
    return quoted(value) if value else "nothing"


def seconds(facts: Facts, value: str) -> int | None:
    """A time in seconds, a month as 30 days; None when it is none."""
    found = _amount(facts, value)
    return None if found is None else found[0] * _SECONDS[found[1]]


def unit_of(facts: Facts, value: str) -> str | None:
    """The unit of a time, its bare one included; None when it is none."""
    found = _amount(facts, value)
    return None if found is None else found[1]


# --- one check per type: None, or what was expected ---


def _yes_no(facts: Facts, value: str) -> str | None:
    known = ("yes", "no")
    return None if _cased(facts, value) in known else "`yes` or `no`"


def _int(facts: Facts, value: str) -> str | None:
    if value in facts.get("words", ()):
        return None
    low, high = facts.get("min"), facts.get("max")
    pattern = _SIGNED if low is not None and low < 0 else _DIGITS
    number = int(value) if len(value) <= _MOST_DIGITS and pattern.fullmatch(value) else None
    return None if number is not None and _within(number, low, high) else int_words(facts)


def _time(facts: Facts, value: str) -> str | None:
    found = seconds(facts, value)
    low, high = (_limit(facts.get(limit), facts) for limit in ("min", "max"))
    return None if found is not None and _within(found, low, high) else time_words(facts)


def _size(facts: Facts, value: str) -> str | None:
    found = _bytes(facts, value)
    low, high = (None if facts.get(end) is None else _bytes(facts, str(facts[end])) for end in ("min", "max"))
    return None if found is not None and _within(found, low, high) else time_words(facts)


def _enum(facts: Facts, value: str) -> str | None:
    if value in facts["values"] or (facts.get("case") == "any" and _cased(facts, value) in _known(facts)):
        return None
    if any(re.fullmatch(pattern, value) for pattern in facts.get("patterns", ())):
        return None
    return one_of(facts["values"]) if len(facts["values"]) <= _MOST_NAMED else "one of its known values"


def _enum_list(facts: Facts, value: str) -> str | None:
    known = _known(facts)
    items = [item.strip(_BLANKS) for item in _cased(facts, value).split(facts["separator"])]
    if all(item in known for item in items):
        return None
    return f"{one_of(facts['values'])}, several with `{facts['separator']}` between"


def _text(facts: Facts, value: str) -> str | None:
    least = facts.get("min_len", 0)
    most = facts.get("max_len")
    if len(value) < least:
        return "a value" if least == 1 else f"at least {least} characters"
    if most is not None and len(value.encode(errors="surrogateescape")) > most:
        return f"at most {most} bytes"
    if value in facts.get("forbidden_values", ()):
        return f"another value than `{value}`"
    return None


def _list(facts: Facts, value: str) -> str | None:
    most = facts.get("max_items")
    if most is not None and value.count(facts["separator"]) >= most:
        return f"at most {most} items"
    return _text(facts, value)


def _command(facts: Facts, value: str) -> str | None:
    return None if value.strip(_BLANKS) else "a command"


def _hash(facts: Facts, value: str) -> str | None:
    length = facts["hex_len"]
    return None if len(value) == length and _HEX.fullmatch(value) else f"{length} hexadecimal digits"


def _port(facts: Facts, value: str) -> str | None:
    return _int({"min": 1, "max": 65535}, value)


def _host(facts: Facts, value: str) -> str | None:
    good = value and "/" not in value and not any(c in _BLANKS for c in value)
    return None if good else "an address or a host name"


def _date(facts: Facts, value: str) -> str | None:
    found = _DATE.fullmatch(value)
    good = found and found[1].upper() in _MONTHS and 1 <= int(found[2]) <= 31
    return None if good else DATE


def _clock(facts: Facts, value: str) -> str | None:
    found = _CLOCK.fullmatch(value)
    good = found and int(found[1]) < 24 and int(found[2]) < 60
    return None if good else CLOCK


def _day_time(facts: Facts, value: str) -> str | None:
    found = _DAY_TIME.fullmatch(value)
    good = False
    if found:
        hour, minute, half = int(found[1]), int(found[2] or 0), found[3]
        good = minute < 60 and (1 <= hour <= 12 if half else hour < 24)
    return None if good else DAY_TIME


def _weekday(facts: Facts, value: str) -> str | None:
    return None if value.casefold() in _type_values("weekday") else WEEKDAY


def _weekday_list(facts: Facts, value: str) -> str | None:
    days = [day for day in re.split("[, ]", value.casefold()) if day]
    known = _type_values("weekday_list")
    good = days and all(day in known for day in days)
    return None if good else WEEKDAYS


def _month_day(facts: Facts, value: str) -> str | None:
    return _int({"min": 1, "max": 31}, value) and "a day of the month from 1 to 31"


def _regex(facts: Facts, value: str) -> str | None:
    if facts.get("syntax") == "pcre2" and not balanced(value):
        return "an expression whose brackets close"
    return _text(facts, value)


_Check = Callable[[Facts, str], "str | None"]
_CHECKS: dict[str, _Check] = {
    "yes_no": _yes_no,
    "int": _int,
    "time": _time,
    "size": _size,
    "enum": _enum,
    "enum_list": _enum_list,
    "regex": _regex,
    "path": _text,
    "path_list": _list,
    "registry_list": _list,
    "text": _text,
    "text_list": _list,
    "command": _command,
    "hash": _hash,
    "port": _port,
    "host": _host,
    "date": _date,
    "clock": _clock,
    "day_time": _day_time,
    "weekday": _weekday,
    "weekday_list": _weekday_list,
    "month_day": _month_day,
}
# --- what was meant ---


def _meant(entry: Entry, check: _Check, value: str) -> str | None:
    """A value that the check accepts and that somebody who wrote this one may have meant."""
    plain = value.strip(_BLANKS)
    if not plain or len(plain) > _LONGEST:
        return None
    return next((found for found in _guesses(entry, plain) if check(entry.facts, found) is None), None)


def _guesses(entry: Entry, plain: str) -> Iterable[str]:
    facts = entry.facts
    if plain not in facts.get("forbidden_values", ()):
        yield plain
    if entry.type == "yes_no":
        yield _TRUTH.get(plain.casefold(), plain.casefold())
    spelt = _SPELT.fullmatch(plain)
    if spelt and "units" in facts:
        yield from _with_unit(facts["units"], spelt[1], spelt[2])
    elif spelt and facts.get("unit") == "s" and spelt[2][0] in _SECONDS:
        yield str(int(spelt[1]) * _SECONDS[spelt[2][0]])
    if "values" in facts:
        words = plain.split(facts["separator"]) if "separator" in facts else [plain]
        near = [_near(facts, word.strip(_BLANKS)) for word in words]
        if all(near):
            yield facts.get("separator", "").join(map(str, near))


def _with_unit(units: Sequence[str], number: str, written: str) -> Iterable[str]:
    """`10 minutes` and `10Mb` as they are written here."""
    for unit in units:
        if unit.casefold() == written.casefold():
            yield number + unit
    yield number + written[0].casefold()
    yield number + written.upper().removesuffix("B")


def _near(facts: Facts, word: str) -> str | None:
    folded = {known.casefold().replace("_", "-"): known for known in facts["values"]}
    near = None if ":" in word else closest(word.casefold().replace("_", "-"), folded)
    return folded[near] if near else None


# --- parts ---


def _cased(facts: Facts, value: str) -> str:
    return value.casefold() if facts.get("case") == "any" else value


def _known(facts: Facts) -> set[str]:
    return {_cased(facts, known) for known in facts["values"]}


def _within(number: int, low: int | None, high: int | None) -> bool:
    return (low is None or number >= low) and (high is None or number <= high)


def _limit(limit: Any, facts: Facts) -> int | None:
    return limit if limit is None or isinstance(limit, int) else seconds(facts, limit)


def _amount(facts: Facts, value: str) -> tuple[int, str] | None:
    """The number and the unit of a time or a size; the bare unit where none stands."""
    found = _NUMBER.fullmatch(value)
    if found is None:
        return None
    unit = found[2] or facts.get("bare") or ""
    known = unit in facts["units"] or (not found[2] and unit != "")
    return (int(found[1]), unit) if known else None


def _bytes(facts: Facts, value: str) -> int | None:
    found = _amount(facts, value)
    return None if found is None else found[0] * _FACTORS.get(found[1][:1], 1)


def _type_values(name: str) -> frozenset[str]:
    return frozenset(options.data()["types"][name]["values"])


def balanced(pattern: str) -> bool:
    """Whether the round and square brackets of an expression close; true where that cannot be told simply."""
    if any(sign in pattern for sign in _NOT_SIMPLE):
        return True
    depth, at, inside = 0, 0, False
    while at < len(pattern):
        c = pattern[at]
        if c == "\\":
            at += 1
        elif inside:
            inside = c != "]"
        elif c == "[":
            inside = True
            at += pattern.startswith("^", at + 1)
            at += pattern.startswith("]", at + 1)
        elif c in "()":
            depth += 1 if c == "(" else -1
            if depth < 0:
                return False
        at += 1
    return depth == 0 and not inside and at == len(pattern)


_BLANKS = " \t\r\n\v\f"
_DIGITS = re.compile(r"[0-9]+")
_SIGNED = re.compile(r"-?[0-9]+")
_HEX = re.compile(r"[0-9A-Fa-f]+")
_DATE = re.compile(r"[0-9]{4}-([A-Za-z]{3})-([0-9]{1,2})")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})")
_DAY_TIME = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?([aApP][mM])?")
_NUMBER = re.compile(r"([0-9]{1,18})([A-Za-z]*)")
_SPELT = re.compile(r"([0-9]{1,18})\s*([A-Za-z]+)")  # `10 minutes`
_NOT_SIMPLE = (r"\Q", "(?#", "(?x", "[[:", "[^[:")
_MONTHS = frozenset(["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"])
_TRUTH = {
    "true": "yes",
    "false": "no",
    "1": "yes",
    "0": "no",
    "on": "yes",
    "off": "no",
    "y": "yes",
    "n": "no",
}
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800, "M": 30 * 86400}
_FACTORS = {"B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_MOST_DIGITS = 18
_MOST_NAMED = 12
_LONGEST = 64
