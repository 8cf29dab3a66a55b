"""How the options of one block or section must go together: the `rules` of the vocabulary (D 6).

Rules: each section is judged by itself, as readers do; a relation that rests on a value that is missing, wrong or a
variable is not judged, for that value has a finding of its own. Whatever the stock check does (refuse, log, nothing),
what was written does not happen: an error, save where the vocabulary is not certain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from mgmtctl.domain.agent_conf import Element
from mgmtctl.domain.conf_findings import at, at_value, consequence, gravest
from mgmtctl.domain.conf_tree import option_of
from mgmtctl.domain.conf_values import seconds, unit_of, value_fault
from mgmtctl.domain.findings import Finding
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.options import MODULE_SECTION, Entry

Rule = Mapping[str, Any]
Unknown = Callable[[str], bool]
_NO_RULE_EFFECT = "rejected"
_MONTH = "M"
_UNIT_WORDS = {"M": "months", "w": "weeks", "d": "days"}


class _Held(NamedTuple):
    """A block with what it holds: the elements of each option, by the option's name, aliases resolved."""

    element: Element
    entry: Entry
    options: Mapping[str, list[Element]]
    unknown: Unknown

    def value(self, name: str) -> str | None:
        """The value of an option that counts; None when it is missing, wrong or not known here."""
        elements = self.options.get(name)
        if not elements:
            return None
        value, option = elements[-1].text, self.entry.options[name]
        judged = not self.unknown(value) and value_fault(option, value) is None
        return _cased(option, value) if judged else None

    def attribute(self, name: str) -> str | None:
        """The value of an attribute, or its default; None when that is wrong or not known here."""
        known = self.entry.attributes[name]
        value = self.element.attribute(name)
        value = known.default if value is None else value
        judged = value is not None and not self.unknown(value) and value_fault(known, value) is None
        return value if judged else None


def relation_findings(element: Element, entry: Entry, unknown: Unknown) -> Iterator[Finding]:
    """What in a block does not go together; `unknown` says of a value that it cannot be judged here."""
    if not entry.rules:
        return
    options: dict[str, list[Element]] = {}
    for child in element.children:
        found = option_of(child, entry)
        if found is not None:
            options.setdefault(found.name, []).append(child)
    held = _Held(element, entry, options, unknown)
    for rule in entry.rules:
        yield from _KINDS[rule["kind"]](held, rule)


def _excludes(held: _Held, rule: Rule) -> Iterator[Finding]:
    given = [name for name in rule["options"] if name in held.options]
    if len(given) > 1:
        first, second = given[:2]
        message = f"`{first}` and `{second}` exclude each other{_effect(rule)}"
        yield _at(
            held, max(held.options[first][0], held.options[second][0], key=_start), rule, _EXCLUDE, message
        )


def _multiple_of(held: _Held, rule: Rule) -> Iterator[Finding]:
    value = held.value(rule["option"])
    if rule["if_set"] not in held.options or value is None:
        return
    facts, unit = held.entry.options[rule["option"]].facts, rule["unit"]
    written, time = unit_of(facts, value), seconds(facts, value)
    whole = seconds(facts, f"1{unit}") or 1
    if written == unit or (unit != _MONTH and time is not None and time % whole == 0):
        return
    problem = (
        f"with `{rule['if_set']}` the interval must be in whole {_UNIT_WORDS[unit]}, got {quoted(value)}"
    )
    element = held.options[rule["option"]][-1]
    suggestion = f"write `<{rule['option']}>1{unit}</{rule['option']}>`"
    yield at_value(element, "wrong-interval", _severity(held, rule), problem + _effect(rule), suggestion)


def _requires_any(held: _Held, rule: Rule) -> Iterator[Finding]:
    if any(name in held.options for name in rule["options"]) or _met(held, rule.get("unless")) is not False:
        return
    named = " or ".join(f"`{name}`" for name in rule["options"])
    yield _at(held, held.element, rule, _MISSING, f"{_called(held)} needs {named}{_effect(rule)}")


def _requires_if(held: _Held, rule: Rule) -> Iterator[Finding]:
    if rule["option"] not in held.options and _met(held, rule["if"]):
        (name, _), *_ = rule["if"].items()
        message = f"`{name}` {quoted(held.value(name) or '')} needs `{rule['option']}`{_effect(rule)}"
        yield _at(held, held.element, rule, _MISSING, message)


def _requires_if_set(held: _Held, rule: Rule) -> Iterator[Finding]:
    if rule["if_set"] in held.options and rule["option"] not in held.options:
        message = f"`{rule['if_set']}` needs `{rule['option']}`{_effect(rule)}"
        yield _at(held, held.options[rule["if_set"]][-1], rule, _MISSING, message)


def _requires_if_block(held: _Held, rule: Rule) -> Iterator[Finding]:
    elements = [held.element]
    for name in rule["block"].split("/"):
        elements = [child for element in elements for child in element.children if child.name == name]
    for element in elements:
        if not any(child.name == rule["option"] for child in element.children):
            message = f"a `{element.name}` of `{rule['block'].partition('/')[0]}` needs `{rule['option']}`"
            yield _at(held, element, rule, _MISSING, message + _effect(rule))


def _requires_exactly_one(held: _Held, rule: Rule) -> Iterator[Finding]:
    given = [name for name in rule["options"] if name in held.options]
    named = " and ".join(f"`{name}`" for name in rule["options"])
    if not given:
        message = f"{_called(held)} needs one of {named}{_effect(rule)}"
        yield _at(held, held.element, rule, _MISSING, message)
    elif len(given) > 1:
        message = f"{named} exclude each other{_effect(rule)}"
        yield _at(held, held.options[given[-1]][-1], rule, _EXCLUDE, message)


def _requires_one_set(held: _Held, rule: Rule) -> Iterator[Finding]:
    if not any(all(name in held.options for name in names) for names in rule["sets"]):
        named = ", or ".join(" with ".join(f"`{name}`" for name in names) for names in rule["sets"])
        yield _at(held, held.element, rule, _MISSING, f"{_called(held)} needs {named}{_effect(rule)}")


def _only_if(held: _Held, rule: Rule) -> Iterator[Finding]:
    if _met(held, rule["if"]) is False:
        ((name, wanted),) = rule["if"].items()
        told = f"only with {_named(name, wanted)}, here it is {quoted(held.value(name) or '')}"
        for element in held.options.get(rule["option"], ()):
            message = f"`{rule['option']}` counts {told}{_effect(rule)}"
            yield _at(held, element, rule, _WITHOUT_EFFECT, message)


def _only_if_attribute(held: _Held, rule: Rule) -> Iterator[Finding]:
    ((name, wanted),) = rule["if"].items()
    value = held.attribute(name)
    if value is not None and value not in wanted:
        for option in rule["options"]:
            for element in held.options.get(option, ()):
                message = f"`{option}` goes only with the attribute {_named(name, wanted)}{_effect(rule)}"
                yield _at(held, element, rule, _WITHOUT_EFFECT, message)


def _not_with_attribute(held: _Held, rule: Rule) -> Iterator[Finding]:
    ((name, refused),) = rule["if"].items()
    if held.attribute(name) in refused:
        for option in rule["options"]:
            for element in held.options.get(option, ()):
                message = f"`{option}` does not go with the attribute {_named(name, refused)}{_effect(rule)}"
                yield _at(held, element, rule, _WITHOUT_EFFECT, message)


def _no_effect(held: _Held, rule: Rule) -> Iterator[Finding]:
    if not _met(held, rule["if"]):
        return
    ((name, _),) = rule["if"].items()
    for option in rule["options"]:
        if any(_speaks_of(other, option, held) for other in held.entry.rules if other is not rule):
            continue
        for element in held.options.get(option, ()):
            message = f"`{option}` does nothing with `{name}` {quoted(held.value(name) or '')}{_effect(rule)}"
            yield _at(held, element, rule, _WITHOUT_EFFECT, message)


def _speaks_of(rule: Rule, option: str, held: _Held) -> bool:
    """Whether an `only_if` tells already that the option has no effect here."""
    return rule["kind"] == "only_if" and rule["option"] == option and _met(held, rule["if"]) is False


def _fixed_value(held: _Held, rule: Rule) -> Iterator[Finding]:
    elements = held.options.get(rule["option"])
    if not elements or not _met(held, rule["if"]):
        return
    value, values = elements[-1].text, rule["values"]
    if value not in values and not held.unknown(value):
        ((name, _),) = rule["if"].items()
        with_ = f"with `{name}` {quoted(held.value(name) or '')}"
        message = f"`{rule['option']}` {with_} is {_or(values)}, got {quoted(value)}{_effect(rule)}"
        meant = next((known for known in values if known.casefold() == value.strip().casefold()), None)
        only = meant or (values[0] if len(values) == 1 else None)
        suggestion = f"write `{only}`" if only else None
        yield at_value(elements[-1], "fixed-value", _severity(held, rule), message, suggestion)


def _at_least(held: _Held, rule: Rule) -> Iterator[Finding]:
    value, other = held.value(rule["option"]), _value_or_default(held, rule["other"])
    if value is None or other is None:
        return
    own = seconds(held.entry.options[rule["option"]].facts, value)
    least = seconds(held.entry.options[rule["other"]].facts, other)
    if own is not None and least is not None and own < least:
        message = f"`{rule['option']}` must be at least `{rule['other']}` ({other}), got {quoted(value)}"
        element = held.options[rule["option"]][-1]
        yield at_value(element, "too-small", _severity(held, rule), message + _effect(rule))


_KINDS: dict[str, Callable[[_Held, Rule], Iterator[Finding]]] = {
    "excludes": _excludes,
    "multiple_of": _multiple_of,
    "requires_any": _requires_any,
    "requires_if": _requires_if,
    "requires_if_set": _requires_if_set,
    "requires_if_block": _requires_if_block,
    "requires_exactly_one": _requires_exactly_one,
    "requires_one_set": _requires_one_set,
    "only_if": _only_if,
    "only_if_attribute": _only_if_attribute,
    "not_with_attribute": _not_with_attribute,
    "no_effect": _no_effect,
    "fixed_value": _fixed_value,
    "at_least": _at_least,
}
_MISSING, _EXCLUDE, _WITHOUT_EFFECT = "missing-option", "excluding-options", "option-without-effect"


def _met(held: _Held, condition: Mapping[str, list[str]] | None) -> bool | None:
    """Whether the options have these values; None when that is not known."""
    if condition is None:
        return False
    verdicts = []
    for name, wanted in condition.items():
        value = held.value(name)
        verdicts.append(None if value is None else value in wanted)
    return False if False in verdicts else None if None in verdicts else True


def _value_or_default(held: _Held, name: str) -> str | None:
    default = held.entry.options[name].default
    return held.value(name) if name in held.options else default and str(default)


def _cased(entry: Entry, value: str) -> str:
    return value.casefold() if entry.facts.get("case") == "any" else value


def _at(held: _Held, element: Element, rule: Rule, name: str, message: str) -> Finding:
    return at(element, name, _severity(held, rule), message)


def _severity(held: _Held, rule: Rule) -> str:
    return gravest(held.entry, rule.get("certain", True))


def _effect(rule: Rule) -> str:
    return consequence(rule.get("ref", _NO_RULE_EFFECT))


def _named(name: str, values: list[str]) -> str:
    return f"`{name}` {_or(values)}"


def _or(values: list[str]) -> str:
    return " or ".join(f"`{value}`" for value in values)


def _called(held: _Held) -> str:
    return f"`{held.entry.path.removeprefix(f'{MODULE_SECTION}.')}`"


def _start(element: Element) -> int:
    return element.start
