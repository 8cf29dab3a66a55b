"""Matching: which rules are true of an authorization context (S 5.3, D 3).

Rules: a rule is true when any of its expressions is; undecided never grants. A context is indexed once for a login, and
a rule whose needed keys do not occur in it is not even read: that makes a login among thousands of rules cheap.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mgmtctl.domain.evaluation import RULE_STEPS, Evaluation, operation
from mgmtctl.domain.patterns import is_pattern, read_pattern
from mgmtctl.domain.rules import SEARCHES

LOGIN_STEPS = 4_000_000  # for all rules of one login, at most RULE_STEPS for each

_PAIR = "\x1f"  # key _PAIR text: the key with that text as its value
_OR = "\x1e"  # between the alternatives of needed keys
_decode = json.JSONDecoder().raw_decode  # `json.loads` without looking for blanks around
_EVERYWHERE = frozenset({"name", "auth"})  # each context has them: they tell nothing


class ContextIndex:
    """A context as searches need it: every object (root first, document order), and which of them hold a key.

    `tokens`: each key, and each key with each text that is its value or stands in the list that is.
    """

    __slots__ = ("by_key", "document", "objects", "tokens")

    def __init__(self, document: object) -> None:
        self.document = document
        self.objects: list[dict[str, Any]] = []
        self.by_key: dict[str, list[dict[str, Any]]] = {}
        self.tokens: set[str] = set()
        rest: list[tuple[str, Any]] = [("", document)]
        while rest:
            key, value = rest.pop()
            if isinstance(value, dict):
                self.objects.append(value)
                for name in value:
                    self.by_key.setdefault(name, []).append(value)
                self.tokens.update(value)
                inner = [(name, item) for name, item in value.items() if self._is_inner(name, item)]
            else:
                inner = [(key, item) for item in _items(value) if self._is_inner(key, item)]
            rest.extend(reversed(inner))

    def _is_inner(self, key: str, value: object) -> bool:
        if isinstance(value, str):
            self.tokens.add(f"{key}{_PAIR}{value}")
        return isinstance(value, (dict, list))


def holds(rules: Sequence[object], index: ContextIndex) -> bool | None:
    """True when any of the expressions `rules` is true of the context; None: undecided, which never grants."""
    return Evaluation(index).rule(rules)


def true_rules(stored: Iterable[tuple[int, str, str | None]], index: ContextIndex) -> list[int]:
    """The ids of the true ones among (id, JSON list of expressions, needed keys), in order; see `judge_rules`."""
    return judge_rules(stored, index)[0]


def judge_rules(
    stored: Iterable[tuple[int, str, str | None]], index: ContextIndex
) -> tuple[list[int], list[int]]:
    """The ids of the true and of the undecided ones among (id, JSON list of expressions, needed keys), in order.

    A rule whose needed keys do not occur is not even read. One that cannot be read is not true.
    """
    tokens, left = index.tokens, LOGIN_STEPS
    found: list[int] = []
    undecided: list[int] = []
    for rule_id, text, needed in stored:
        if needed is not None and needed not in tokens and tokens.isdisjoint(needed.split(_OR)):
            continue
        evaluation = Evaluation(index, min(RULE_STEPS, left))
        verdict = evaluation.rule(_read(text))
        if verdict:
            found.append(rule_id)
        elif verdict is None:
            undecided.append(rule_id)
        left -= evaluation.spent
    return found, undecided


def needed_keys(rules: Sequence[object]) -> str | None:
    """What a context must hold for the checked `rules` to be true: alternatives to look up in `tokens`.

    None: they may be true of any context. Computed when a rule is written, and stored beside it: the text joins keys,
    or keys with a text under them, of which one must occur.
    """
    alternatives = _any_of(rules)
    return None if alternatives is None else _OR.join(dict.fromkeys(alternatives))


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _read(text: str) -> list[object]:
    """The stored expressions; none when the text is damaged."""
    try:
        rules, end = _decode(text)
    except (ValueError, RecursionError):
        return []
    return rules if isinstance(rules, list) and end == len(text) else []


def _any_of(expressions: Sequence[object]) -> list[str] | None:
    found: list[str] = []
    for expression in expressions:
        alternatives = _needed(expression)
        if alternatives is None:
            return None
        found += alternatives
    return found


def _needed(expression: object) -> list[str] | None:
    """Tokens of which a context must hold one; None when it may be true without any."""
    operator, operand = operation(expression)
    if operator in SEARCHES:
        tokens = sorted(_tokens(operand), key=_rank)
        return tokens[:1] or None
    if operator == "OR":
        return _any_of(operand)
    if operator == "AND":
        known = [needed for needed in map(_needed, operand) if needed is not None]
        return min(known, key=lambda needed: (len(needed), _rank(needed[0])), default=None)
    return None


def _tokens(wanted: dict[str, Any]) -> Iterator[str]:
    """Tokens that every context that satisfies `wanted` holds."""
    for key, item in wanted.items():
        name = _literal(key)
        if name is not None:
            yield name
            texts = map(_literal, item if isinstance(item, list) else [item])
            yield from (f"{name}{_PAIR}{text}" for text in texts if text is not None)
        if isinstance(item, dict):
            yield from _tokens(item)


def _literal(text: object) -> str | None:
    """The one text that satisfies `text`, as far as it can stand in a token."""
    if is_pattern(text):
        pattern = read_pattern(text)
        text = pattern and pattern.literal
    return text if isinstance(text, str) and _PAIR not in text and _OR not in text else None


def _rank(token: str) -> tuple[bool, bool, int]:
    """Small for tokens that few contexts hold."""
    return _PAIR not in token, token in _EVERYWHERE, -len(token)
