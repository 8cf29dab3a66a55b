"""What cannot be decided grants nothing, under NOT neither, and ends in bounded work."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mgmtctl.domain.evaluation import RULE_STEPS, Evaluation
from mgmtctl.domain.matching import ContextIndex, holds, true_rules
from mgmtctl.domain.rules import check_rules
from mgmtctl.domain.trace import explain

NEVER = {"FIND": {"no such key": 1}}
COSTLY: dict[str, Any] = {"FIND": {"a": "r'(.*a){1,50}b'"}}
LONG = {"a": "a" * 200_000}

MALFORMED = [
    pytest.param(None, id="null"),
    pytest.param("FIND", id="text"),
    pytest.param([], id="list"),
    pytest.param({}, id="no operator"),
    pytest.param({"find": {"a": 1}}, id="lower case"),
    pytest.param({"FIND": {"a": 1}, "MATCH": {"a": 1}}, id="two operators"),
    pytest.param({"AND": []}, id="AND of none"),
    pytest.param({"OR": []}, id="OR of none"),
    pytest.param({"AND": {"FIND": {"a": 1}}}, id="AND without a list"),
    pytest.param({"MATCH": {}}, id="search for nothing"),
    pytest.param({"FIND": {}}, id="search for nothing at any depth"),
    pytest.param({"FIND": {"a": {}}}, id="empty object inside"),
    pytest.param({"FIND": {"list": [{}]}}, id="empty object in a list"),
    pytest.param({"FIND": {"list": []}}, id="partial empty list"),
    pytest.param({"FIND": {"b": "r'('"}}, id="invalid pattern"),
    pytest.param({"FIND": {"r'('": "b"}}, id="invalid key pattern"),
    pytest.param({"FIND": {"b": r"r'(x)\1'"}}, id="back-reference"),
    pytest.param({"FIND": {"b": "r''"}}, id="empty pattern"),
    pytest.param({"FIND": {"b": "r'b"}}, id="pattern not closed"),
    pytest.param({"FIND": {"list": ["r'x"]}}, id="pattern not closed, in a list"),
    pytest.param({"FIND": {"half": "r'[a-z]'"}}, id="a text that is not Unicode"),
]


@pytest.mark.parametrize("expression", MALFORMED)
def test_what_would_be_refused_on_write_never_grants(expression: object) -> None:
    index = ContextIndex({"a": {"x": 1}, "b": "b", "list": [{"a": 1}], "half": "\ud800"})
    for rule in ([expression], [{"NOT": expression}], [{"NOT": {"NOT": expression}}], [NEVER, expression]):
        assert holds(rule, index) is None
        assert explain(rule, index).verdict is None
        assert true_rules([(1, json.dumps(rule), None)], index) == []


@pytest.mark.parametrize("rules", [{}, {"FIND": {"a": 1}}, "x", 1, None])
def test_rules_that_are_no_list_never_grant(rules: Any) -> None:
    index = ContextIndex({"a": 1})
    assert holds(rules, index) is None
    assert true_rules([(1, json.dumps(rules), None)], index) == []


def test_the_work_limit_turns_no_not_into_a_grant() -> None:
    index = ContextIndex(LONG)
    assert check_rules(COSTLY) == []
    for rule in ([COSTLY], [{"NOT": COSTLY}], [{"OR": [COSTLY, {"FIND": {"a": "r'a+'"}}]}]):
        assert holds(rule, index) is None
        trace = explain(rule, index)
        assert trace.verdict is None
        assert "limit of 200000 steps" in trace.reason
        assert trace.lines()[0].startswith("undecided")


def test_a_rule_that_was_true_before_the_limit_is_true() -> None:
    assert holds([{"FIND": {"a": "r'a.*'"}}, COSTLY], ContextIndex(LONG)) is True


def test_a_pattern_is_linear_so_the_same_text_without_repetition_is_decided() -> None:
    assert holds([{"FIND": {"a": "r'(a|aa)+b'"}}], ContextIndex(LONG)) is False


DISTINCT: list[Any] = [f"r'[a-z]{{{k}}}'" for k in range(2_000)]
ONE_SHORT: list[Any] = ["r'[ab]'"] * 2_999 + ["r'[c]'"]
HOSTILE = [
    pytest.param({"MATCH": {"x": DISTINCT}}, {"x": ["é"] * 19_000}, False, id="patterns and elements"),
    pytest.param({"MATCH$": {"x": DISTINCT}}, {"x": ["é"] * 2_000}, False, id="strict, no pair"),
    pytest.param({"MATCH$": {"x": ["r'[a]+'"] * 4_000}}, {"x": ["a"] * 4_000}, None, id="strict, any pair"),
    pytest.param({"MATCH$": {"x": ONE_SHORT}}, {"x": ["a"] * 3_000}, None, id="strict, one short"),
    pytest.param({"FIND": {"r'k.*'": "r'[b]'"}}, {f"k{k}": "a" for k in range(19_000)}, False, id="any key"),
    pytest.param(
        {"FIND": {f"r'k.*{k}[xy]?'": 1 for k in range(3_000)}},
        {f"k{k}": 1 for k in range(15_000)},
        None,
        id="many key patterns",
    ),
    pytest.param({"OR": [{"FIND": {"a": f"r'[a]{{{k}}}'"}} for k in range(900)]}, LONG, None, id="long text"),
    pytest.param({"FIND": {"r'z[a]'": 1}}, [{"a": 1}] * 10_000, False, id="many objects"),
]


@pytest.mark.parametrize(("expression", "context", "verdict"), HOSTILE)
def test_hostile_rules_end_after_bounded_work(
    expression: dict[str, Any], context: object, verdict: bool | None
) -> None:
    index = ContextIndex(context)
    evaluation = Evaluation(index)
    assert evaluation.rule([expression]) is verdict
    assert evaluation.spent <= RULE_STEPS
    assert holds([{"NOT": expression}], index) is (None if verdict is None else True)
    assert explain([expression], index).verdict is verdict


def test_all_rules_of_a_login_share_a_limit() -> None:
    costly, mild = json.dumps([COSTLY]), json.dumps([{"FIND": {"a": "r'a.*'"}}])
    index = ContextIndex(LONG)
    few = [(1, mild, None), *((k, costly, None) for k in range(2, 100)), (100, mild, None)]
    assert true_rules(few, index) == [1, 100]
    many = [(1, mild, None), *((k, costly, None) for k in range(2, 10_000)), (10_000, mild, None)]
    assert true_rules(many, index) == [1]


def test_rules_are_judged_after_a_costly_one() -> None:
    stored = [(1, json.dumps([COSTLY]), None), (2, json.dumps([{"FIND": {"a": "r'a+'"}}]), None)]
    assert true_rules(stored, ContextIndex(LONG)) == [2]


@pytest.mark.parametrize(
    "text", ["", "{", '[{"FIND": {"a": 1}}]]', "[" * 100_000, "[1", '"x"', "null", '[{"FIND": {"a": NaN}}]']
)
def test_a_stored_rule_that_cannot_be_read_grants_nothing(text: str) -> None:
    good = (2, json.dumps([{"FIND": {"a": 1}}]), "a")
    assert true_rules([(1, text, None), good], ContextIndex({"a": 1})) == [2]


def deep(levels: int, bottom: Any) -> Any:
    for _ in range(levels):
        bottom = {"a": [bottom]}
    return bottom


def test_deep_contexts_are_searched_without_recursion() -> None:
    index = ContextIndex(deep(50_000, {"b": "c"}))
    assert holds([{"FIND": {"b": "c"}}], index) is True
    assert holds([{"FIND": {"a": "c"}}], index) is False
    assert explain([{"FIND": {"b": "c"}}, {"FIND": {"b": "d"}}], index).lines()


def test_deep_rules_are_undecided_not_a_crash() -> None:
    expression: Any = {"FIND": {"a": 1}}
    for _ in range(50_000):
        expression = {"NOT": expression}
    assert holds([expression], ContextIndex({"a": 1})) is None
    assert explain([expression], ContextIndex({"a": 1})).verdict is None
    pattern = [{"MATCH": deep(50_000, 1)}, {"MATCH$": deep(50_000, 1)}]
    assert holds(pattern, ContextIndex(deep(50_000, 2))) is None
    assert explain(pattern, ContextIndex(deep(50_000, 2))).verdict is None


def test_the_deepest_legal_rule_is_decided() -> None:
    expression: Any = {"FIND$": {"a": deep(30, "x")["a"]}}
    for _ in range(60):
        expression = {"AND": [expression]}
    assert check_rules(expression) == []
    assert holds([expression], ContextIndex(deep(30, "x"))) is True


def test_explaining_has_a_limit_of_its_own() -> None:
    slow, mild = {"FIND": {"a": "r'(a|aa)+b'"}}, {"FIND": {"a": "r'a.*'"}}
    few = explain([{"OR": [*([slow] * 9), mild]}], ContextIndex(LONG))
    assert few.expressions[0].children[-1].verdict is True
    many = explain([{"OR": [mild, *([slow] * 400), mild]}], ContextIndex(LONG))
    assert many.verdict is True
    assert many.expressions[0].children[-1].verdict is None
