"""The evaluator against the sentences of D 3 written down once more, as slowly and as plainly as possible."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.matching import ContextIndex, holds, needed_keys, true_rules
from mgmtctl.domain.rules import check_rules
from mgmtctl.domain.trace import WIDTH, explain

TEXTS = st.sampled_from(["a", "b", "ab", "A", "", "1", "true"])
SCALARS = st.none() | st.booleans() | st.sampled_from([0, 1, 1.0, 2.5, 10**400]) | TEXTS
KEYS = st.sampled_from(["a", "b", "ab", "name"])
CONTEXTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
PATTERNS = st.sampled_from(["r'a'", "r'a.*'", "r'[ab]+'", "r'.*'", "r'a|b'", "r'.+b'"])
WANTED = st.recursive(
    SCALARS | PATTERNS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | PATTERNS, inner, min_size=1, max_size=2)
    ),
    max_leaves=5,
)
SEARCHES = st.builds(
    lambda operator, wanted: {operator: wanted},
    st.sampled_from(["MATCH", "MATCH$", "FIND", "FIND$"]),
    st.dictionaries(KEYS | PATTERNS, WANTED, min_size=1, max_size=2),
)
EXPRESSIONS = st.recursive(
    SEARCHES,
    lambda inner: (
        st.builds(lambda one: {"NOT": one}, inner)
        | st.builds(
            lambda operator, several: {operator: several},
            st.sampled_from(["AND", "OR"]),
            st.lists(inner, min_size=1, max_size=3),
        )
    ),
    max_leaves=4,
).filter(lambda expression: not check_rules(expression))
RULES = st.lists(EXPRESSIONS, min_size=1, max_size=2)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | PATTERNS | st.just("r'("),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text() | PATTERNS | st.sampled_from(["AND", "OR", "NOT", "MATCH", "MATCH$", "FIND", "FIND$"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=10,
)


def true(expression: Any, context: Any) -> bool:
    ((operator, operand),) = expression.items()
    if operator in ("AND", "OR"):
        return (all if operator == "AND" else any)([true(item, context) for item in operand])
    if operator == "NOT":
        return not true(operand, context)
    places = list(objects(context)) if operator.startswith("FIND") else [context]
    return any(satisfies(operand, place, operator.endswith("$")) for place in places)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)


def satisfies(wanted: Any, value: Any, strict: bool) -> bool:
    if isinstance(wanted, dict):
        return isinstance(value, dict) and all(
            any(equal(key, name) and satisfies(item, inner, strict) for name, inner in value.items())
            for key, item in wanted.items()
        )
    if isinstance(wanted, list):
        if not isinstance(value, list):
            return False
        if strict:
            return whole(wanted, value)
        return all(any(element(item, inner) for inner in value) for item in wanted)
    return equal(wanted, value) or (not strict and isinstance(value, list) and element(wanted, value))


def element(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, (dict, list)):
        return whole(wanted, value)
    return any(element(wanted, inner) for inner in value) if isinstance(value, list) else equal(wanted, value)


def whole(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, dict) and isinstance(value, dict) and len(wanted) == len(value):
        return any(
            all(
                equal(key, name) and whole(wanted[key], value[name])
                for key, name in zip(wanted, names, strict=True)
            )
            for names in itertools.permutations(value)
        )
    if isinstance(wanted, list) and isinstance(value, list) and len(wanted) == len(value):
        return any(all(map(whole, wanted, order)) for order in itertools.permutations(value))
    return equal(wanted, value)


def equal(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, (dict, list)) or isinstance(value, (dict, list)):
        return False
    if isinstance(wanted, str) and isinstance(value, str):
        if wanted.startswith("r'"):
            return re.fullmatch(wanted[2:-1], value) is not None
        return wanted == value
    kinds = [float if type(one) in (int, float) else type(one) for one in (wanted, value)]
    return kinds[0] is kinds[1] and bool(wanted == value)


@settings(max_examples=400)
@given(rules=RULES, context=CONTEXTS)
def test_the_verdict_is_that_of_the_sentences(rules: list[Any], context: Any) -> None:
    assert holds(rules, ContextIndex(context)) is any(true(expression, context) for expression in rules)


@settings(max_examples=200)
@given(rules=RULES, context=CONTEXTS)
def test_a_skipped_rule_would_not_have_been_true(rules: list[Any], context: Any) -> None:
    index = ContextIndex(context)
    text = json.dumps(rules)
    assert true_rules([(1, text, needed_keys(rules))], index) == [1] * bool(holds(rules, index))
    assert true_rules([(1, text, None)], index) == [1] * bool(holds(rules, index))


@settings(max_examples=150)
@given(rules=RULES, context=CONTEXTS)
def test_the_trace_agrees_node_by_node(rules: list[Any], context: Any) -> None:
    index = ContextIndex(context)
    trace = explain(rules, index)
    assert trace.verdict is holds(rules, index)
    assert [node.verdict for node in trace.expressions] == [true(expression, context) for expression in rules]
    assert json.loads(json.dumps(trace.record()))["verdict"] == str(trace.verdict).lower()
    assert all(len(line) <= WIDTH for line in trace.lines())


@settings(max_examples=100)
@given(rules=RULES, context=CONTEXTS)
def test_not_turns_the_verdict_around(rules: list[Any], context: Any) -> None:
    index = ContextIndex(context)
    assert holds([{"NOT": {"OR": rules}}], index) is not holds(rules, index)


@settings(max_examples=100)
@given(rules=RULES, context=CONTEXTS, order=st.randoms())
def test_the_order_of_keys_never_matters(rules: list[Any], context: Any, order: Any) -> None:
    assert holds(shuffled(rules, order), ContextIndex(shuffled(context, order))) is holds(
        rules, ContextIndex(context)
    )


def shuffled(value: Any, order: Any) -> Any:
    if isinstance(value, list):
        return [shuffled(inner, order) for inner in value]
    if not isinstance(value, dict):
        return value
    entries = [(key, shuffled(inner, order)) for key, inner in value.items()]
    order.shuffle(entries)
    return dict(entries)


@settings(max_examples=200)
@given(rules=st.lists(ANY_JSON, max_size=2) | ANY_JSON, context=ANY_JSON)
def test_any_json_gives_a_verdict(rules: Any, context: Any) -> None:
    index = ContextIndex(context)
    verdict = holds(rules, index)
    assert verdict in (True, False, None)
    if isinstance(rules, list):
        assert explain(rules, index).verdict is verdict
        assert all(line.isprintable() for line in explain(rules, index).lines())
        assert true_rules([(1, json.dumps(rules), None)], index) == [1] * bool(verdict)
