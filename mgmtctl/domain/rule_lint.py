"""Lint of rules: what is legal to store and yet true of more, or of less, than its author believes (S 5.3, D 3).

Rules: what is refused on write is found by `rules.check_rules` and passed on. A rule is read as a formula over its
searches; `rule_logic` says what can make it true. Texts that a pattern matches come from a `Sampler`, because making
them takes chance; they are checked with the engine before they get here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from mgmtctl.domain.auth_context import cut
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding
from mgmtctl.domain.patterns import is_pattern, read_pattern
from mgmtctl.domain.rule_logic import Formula
from mgmtctl.domain.rules import LOGICAL, SEARCHES, check_rules, join

# Gives texts that a pattern matches, by its source; none when none could be made.
Sampler = Callable[[str], Sequence[str]]

# Keys that people fill in themselves, or that stand in more than one object of an account.
USER_KEYS = frozenset(
    {
        *("user_name", "username", "user", "userid", "user_id", "login", "preferred_username", "nickname"),
        *("name", "full_name", "fullname", "first_name", "last_name", "given_name", "family_name"),
        *("display_name", "displayname", "email", "mail", "user_email", "title", "description"),
    }
)
MOST_SAMPLED = 100  # patterns of one rule that are shown with samples
_MOST_SAID = 60
_PATTERN_SIGNS = (".*", ".+", "\\d", "\\w", "\\s", "\\.", "[a-z", "[A-Z", "[0-9", "(?:", "(?i)")
_OTHER_QUOTES = (('r"', '"'), ("R'", "'"), ('R"', '"'))


def lint_rule(
    document: object,
    path: str = "",
    *,
    sampler: Sampler,
    roles: Sequence[str] | None = None,
    reserved: bool = False,
) -> list[Finding]:
    """Every finding in a rule document, each at its JSON path below `path`: what is refused, else what is doubtful.

    `roles`: the administrator roles that it leads to; None when that is not known. `reserved`: it is one of ours.
    """
    faults = check_rules(document)
    if faults:
        return [_below(fault, path) for fault in faults]
    expressions = list(expressions_of(document))
    found = [finding for expression, place in expressions for finding in _truth(expression, place)]
    if not any(finding.rule == "true-for-everyone" for finding in found) and len(expressions) > 1:
        found += _truth_of_all([expression for expression, _ in expressions])
    found += _broad(expressions, roles, reserved)
    sampled = 0
    for text, place, is_key in _texts(expressions):
        sampled += is_pattern(text)
        found += _text(text, place, is_key, sampler if sampled <= MOST_SAMPLED else _none)
    return [_below(finding, path) for finding in found]


def _none(source: str) -> Sequence[str]:
    return ()


def expressions_of(document: Any) -> Iterator[tuple[Any, str]]:
    """(expression, its JSON path) of each expression of a sound document, in each of its forms."""
    if isinstance(document, list):
        yield from ((item, f"[{number}]") for number, item in enumerate(document))
    elif "rules" in document:
        yield from ((item, f"rules[{number}]") for number, item in enumerate(document["rules"]))
    elif "rule" in document:
        yield document["rule"], "rule"
    else:
        yield document, ""


def normal_form(expressions: Iterable[Any]) -> str:
    """The same text for rules that are equal but for order, repetition, lists of one and double negation."""
    return _text_of(_normal({"OR": list(expressions)}))


def duplicates(rules: Mapping[str, Iterable[Any]]) -> dict[str, str]:
    """The rules, by name, that ask for the same as an earlier one, with the name of that."""
    first: dict[str, str] = {}
    forms = {name: normal_form(expressions) for name, expressions in rules.items()}
    return {name: other for name, form in forms.items() if (other := first.setdefault(form, name)) != name}


def duplicate(path: str, other: str) -> Finding:
    """The finding that a rule asks for the same as another one."""
    hint = "let one rule lead to the roles of both"
    return Finding("duplicate-rule", WARNING, f"it asks for the same as {other}", path, suggestion=hint)


# --- truth --------------------------------------------------------------------------------------------------------


def _truth(expression: Any, path: str) -> Iterator[Finding]:
    """What can be said of when one expression is true, and of the parts of it that tell nothing."""
    verdict = Formula.of(expression).verdict()
    if verdict.never:
        yield _never(path, "the expression", verdict.why)
    elif verdict.always:
        message = "true of every context: it gives its roles to everybody who may use contexts"
        yield Finding("true-for-everyone", ERROR, message, path, suggestion="ask for what a person must have")
    else:
        if verdict.by_nothing:
            message = "true of a context that says nothing: it only asks for what must be absent"
            hint = "ask for what a person must have beside it, under AND"
            yield Finding("no-positive-condition", WARNING, message, path, suggestion=hint)
        yield from _parts(expression, path)


def _truth_of_all(expressions: Sequence[Any]) -> Iterator[Finding]:
    verdict = Formula.of({"OR": list(expressions)}).verdict()
    if verdict.always:
        message = (
            "one of the expressions is true of every context: everybody who may use contexts gets the roles"
        )
        yield Finding("true-for-everyone", ERROR, message, suggestion="ask for what a person must have")


def _parts(expression: Any, path: str) -> Iterator[Finding]:
    """Parts that are true of every context or of none."""
    ((operator, operand),) = expression.items()
    if operator not in LOGICAL:
        return
    for number, item in enumerate(operand):
        place = f"{join(operator, path)}[{number}]"
        verdict = Formula.of(item).verdict()
        if verdict.never:
            yield _never(place, "this part", verdict.why)
        elif verdict.always:
            message = f"this part is true of every context{f': {verdict.why}' if verdict.why else ''}"
            yield Finding("useless-condition", NOTE, message, place)
        else:
            yield from _parts(item, place)


def _never(path: str, what: str, why: str) -> Finding:
    reason = why or "its conditions exclude each other"
    return Finding("never-true", WARNING, f"{what} is never true: {reason}", path)


# --- broad searches -----------------------------------------------------------------------------------------------


def _broad(
    expressions: Sequence[tuple[Any, str]], roles: Sequence[str] | None, reserved: bool
) -> Iterator[Finding]:
    """Expressions that nothing but FIND on keys of the person himself can make true."""
    if roles is not None and not roles:
        return
    for expression, path in expressions:
        formula = Formula.of(expression)
        if formula.verdict().always or formula.verdict().by_nothing:
            continue
        keys = sorted({key for operand in formula.finds() for key in _user_keys(operand)})
        if keys and formula.holds_by(lambda operand: bool(_user_keys(operand))):
            yield _broad_finding(keys, path, roles, reserved)


def _broad_finding(keys: Sequence[str], path: str, roles: Sequence[str] | None, reserved: bool) -> Finding:
    named = ", ".join(f"`{key}`" for key in keys)
    message = f"FIND on {named} at any depth is all it asks, and people may fill that in themselves"
    if roles is not None:
        which = "an administrator role" if len(roles) == 1 else "administrator roles"
        message += f"; it leads to {' and '.join(f'`{role}`' for role in roles)}, {which}"
    if reserved:
        message += ", for the web interface's user only"
    hint = "MATCH it at the one place where the identity provider writes it" if not reserved else None
    severity = WARNING if roles is not None and not reserved else NOTE
    return Finding("broad-find", severity, message, path, suggestion=hint)


def _user_keys(operand: Mapping[str, Any]) -> list[str]:
    """The keys of a search that people fill in, when it asks for nothing else."""
    found = [
        key for key, value in operand.items() if key.lower() in USER_KEYS and not isinstance(value, dict)
    ]
    return found if len(found) == len(operand) else []


# --- texts --------------------------------------------------------------------------------------------------------


def _texts(expressions: Sequence[tuple[Any, str]]) -> Iterator[tuple[str, str, bool]]:
    """(text, path, whether it is a key) of every text that a context is compared with."""
    rest: list[tuple[Any, str, bool]] = [
        (expression, path, True) for expression, path in reversed(expressions)
    ]
    while rest:
        value, path, is_expression = rest.pop()
        if isinstance(value, dict):
            inner = []
            for key, item in value.items():
                place = join(key, path)
                if not is_expression:
                    yield key, place, True
                inner.append((item, place, is_expression and key not in SEARCHES))
            rest.extend(reversed(inner))
        elif isinstance(value, list):
            rest.extend((item, f"{path}[{n}]", is_expression) for n, item in reversed(list(enumerate(value))))
        elif isinstance(value, str) and not is_expression:
            yield value, path, False


def _text(text: str, path: str, is_key: bool, sampler: Sampler) -> Iterator[Finding]:
    pattern = read_pattern(text) if is_pattern(text) else None
    if pattern is not None:
        if pattern.literal is not None:
            message = f"{_said(text)} matches {_said(pattern.literal)} alone"
            yield Finding("pattern-samples", NOTE, message, path, suggestion="write it as text")
        else:
            samples = sampler(pattern.source)
            if samples:
                yield Finding("pattern-samples", NOTE, f"{_said(text)} matches {_or(samples)}", path)
        return
    meant = _meant(text)
    if meant is not None:
        what = "key" if is_key else "text"
        message = f"{_said(text)} is compared as the {what} it is, not as a pattern"
        yield Finding("literal-looks-like-regex", WARNING, message, path, suggestion=f"write {_said(meant)}")


def _meant(text: str) -> str | None:
    """The pattern that somebody who wrote a literal may have meant."""
    for start, end in _OTHER_QUOTES:
        if len(text) > 3 and text.startswith(start) and text.endswith(end):
            return f"r'{text[2:-1]}'"
    if len(text) < 2:
        return "r'.*'" if text == "*" else None
    anchored = text.startswith("^") or (
        text.endswith("$") and not text.endswith("\\$") and text.count("$") == 1
    )
    if (anchored and len(text) > 2) or any(sign in text for sign in _PATTERN_SIGNS):
        return f"r'{text}'"
    if "|" in text and all(
        part and part.replace("_", "").replace("-", "").isalnum() for part in text.split("|")
    ):
        return f"r'{text}'"
    if "*" in text:
        return f"r'{_escaped(text)}'"
    return None


def _escaped(glob: str) -> str:
    """A text with stars as a pattern in which they stand for anything."""
    return "".join(".*" if c == "*" else f"\\{c}" if c in "\\.^$|?+()[]{}" else c for c in glob)


# --- normal form --------------------------------------------------------------------------------------------------


def _normal(expression: Any) -> Any:
    ((operator, operand),) = expression.items()
    if operator == "NOT":
        inner = _normal(operand)
        return inner.get("NOT", {"NOT": inner})
    if operator not in LOGICAL:
        return {operator: _normal_value(operand)}
    parts: dict[str, Any] = {}
    for item in map(_normal, operand):
        for part in item.get(operator, [item]):
            parts[_text_of(part)] = part
    if len(parts) == 1:
        return next(iter(parts.values()))
    return {operator: [parts[text] for text in sorted(parts)]}


def _normal_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _normal_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return sorted(map(_normal_value, value), key=_text_of)
    return value


def _text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


# --- words --------------------------------------------------------------------------------------------------------


def _below(finding: Finding, path: str) -> Finding:
    if not path:
        return finding
    from dataclasses import replace

    between = "" if not finding.path or finding.path.startswith("[") else "."
    return replace(finding, path=f"{path}{between}{finding.path}")


def _said(text: str) -> str:
    return f"`{cut(text, _MOST_SAID)}`"


def _or(samples: Sequence[str]) -> str:
    known = [_said(sample) if sample else "the empty text" for sample in samples]
    return " and ".join(filter(None, (", ".join(known[:-1]), known[-1])))
