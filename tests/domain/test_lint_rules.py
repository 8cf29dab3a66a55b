"""Facts about the lint of rules: what is reported, where, and that no claim is wrong of any context."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.findings import ERROR, NOTE, WARNING
from mgmtctl.domain.matching import ContextIndex, holds
from mgmtctl.domain.patterns import Pattern
from mgmtctl.domain.rule_lint import duplicates, lint_rule, normal_form
from mgmtctl.domain.rule_logic import MOST_FACTS, Formula, matches_nothing

Found = list[tuple[str, str, str]]
EVERYONE, NEVER, NOTHING = "true-for-everyone", "never-true", "no-positive-condition"
USELESS, LITERAL, BROAD, SAMPLES = (
    "useless-condition",
    "literal-looks-like-regex",
    "broad-find",
    "pattern-samples",
)


def sampler(source: str) -> tuple[str, ...]:
    return () if source == "unsampled+" else ("one", "two", "three")


def found(document: object, **more: Any) -> Found:
    return [(f.rule, f.severity, f.path) for f in lint_rule(document, sampler=sampler, **more)]


def rules(document: object, **more: Any) -> list[str]:
    return [rule for rule, *_ in found(document, **more)]


def is_(key: str, value: object) -> dict[str, Any]:
    return {"MATCH$": {key: value}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({"MATCH": {"auth": {"team": "web"}}}, [], id="nothing is wrong"),
        pytest.param({"NOT": is_("a", 1)}, [(NOTHING, WARNING, "")], id="a lone NOT"),
        pytest.param(
            {"AND": [{"NOT": is_("a", 1)}, {"NOT": is_("b", 1)}]}, [(NOTHING, WARNING, "")], id="only NOTs"
        ),
        pytest.param({"AND": [is_("a", 1), {"NOT": is_("b", 1)}]}, [], id="a NOT beside a condition"),
        pytest.param(
            {"OR": [is_("a", 1), {"NOT": is_("a", 1)}]}, [(EVERYONE, ERROR, "")], id="something or not"
        ),
        pytest.param(
            [is_("a", 1), {"NOT": {"MATCH": {"a": 1}}}],
            [(NOTHING, WARNING, "[1]")],
            id="a strict condition or no partial one leaves a gap",
        ),
        pytest.param(
            [{"MATCH": {"a": 1}}, {"NOT": is_("a", 1)}],
            [(NOTHING, WARNING, "[1]"), (EVERYONE, ERROR, "")],
            id="two expressions that leave no gap",
        ),
        pytest.param(
            {"MATCH": {"name": "r'.*'"}}, [(EVERYONE, ERROR, ""), (SAMPLES, NOTE, "MATCH.name")], id="any name"
        ),
        pytest.param(
            {"AND": [{"FIND": {"name": "r'.+'"}}, is_("a", 1)]},
            [(USELESS, NOTE, "AND[0]"), (SAMPLES, NOTE, "AND[0].FIND.name")],
            id="any name beside a condition",
        ),
        pytest.param(
            {"NOT": {"MATCH": {"name": "r'.+'"}}},
            [(NOTHING, WARNING, ""), (SAMPLES, NOTE, "NOT.MATCH.name")],
            id="no name: an empty one is enough, so it is not never true",
        ),
        pytest.param(
            {"NOT": {"FIND": {"name": "r'(?s).*'"}}},
            [(SAMPLES, NOTE, "NOT.FIND.name")],
            id="no text as a name: no context is enough, so nothing is claimed",
        ),
        pytest.param(
            {"NOT": {"MATCH": {"name": "r'[^x]+'"}}},
            [(NOTHING, WARNING, ""), (SAMPLES, NOTE, "NOT.MATCH.name")],
            id="not of what most names have: one of the others is enough",
        ),
        pytest.param(
            {"AND": [{"NOT": {"MATCH": {"name": "r'.*'"}}}, is_("a", 1)]},
            [(SAMPLES, NOTE, "AND[0].NOT.MATCH.name")],
            id="a name of two lines beside a condition",
        ),
        pytest.param({"AND": [is_("a", "x"), is_("a", "y")]}, [(NEVER, WARNING, "")], id="two texts, one key"),
        pytest.param(
            {"AND": [is_("a", "x"), is_("a", ["x"])]}, [(NEVER, WARNING, "")], id="a text is no list"
        ),
        pytest.param(
            {"AND": [{"MATCH": {"a": "x"}}, {"MATCH": {"a": "y"}}]}, [], id="a list may hold both"
        ),
        pytest.param(
            {"AND": [{"MATCH": {"name": "x"}}, {"MATCH": {"name": "y"}}]},
            [(NEVER, WARNING, "")],
            id="a name is no list",
        ),
        pytest.param(
            {"AND": [is_("a", "x"), {"MATCH": {"a": {"b": 1}}}]}, [(NEVER, WARNING, "")], id="a text has no keys"
        ),
        pytest.param(
            {"AND": [is_("a", 1), {"NOT": {"FIND": {"a": 1}}}]},
            [(NEVER, WARNING, "")],
            id="what is at the root is somewhere",
        ),
        pytest.param({"AND": [{"FIND": {"a": 1}}, {"NOT": is_("a", 1)}]}, [], id="what is somewhere may be elsewhere"),
        pytest.param({"MATCH": {"name": 7}}, [(NEVER, WARNING, "")], id="a name is text"),
        pytest.param({"MATCH": {"auth": "x"}}, [(NEVER, WARNING, "")], id="auth is an object"),
        pytest.param({"FIND": {"auth": "x"}}, [], id="somewhere it may be text"),
        pytest.param(
            {"OR": [is_("b", 1), {"MATCH": {"name": 7}}]}, [(NEVER, WARNING, "OR[1]")], id="a part that is never true"
        ),
        pytest.param(is_("a", "^admin$"), [(LITERAL, WARNING, "MATCH$.a")], id="anchors in a literal"),
        pytest.param(is_("a", "admin|root"), [(LITERAL, WARNING, "MATCH$.a")], id="alternatives"),
        pytest.param(is_("a", "*@acme.com"), [(LITERAL, WARNING, "MATCH$.a")], id="a star"),
        pytest.param(is_("a", 'r"admin"'), [(LITERAL, WARNING, "MATCH$.a")], id="the other quotes"),
        pytest.param({"FIND": {"ro.*": "x"}}, [(LITERAL, WARNING, 'FIND["ro.*"]')], id="a key"),
        pytest.param(is_("a", ["x", "adm.*"]), [(LITERAL, WARNING, "MATCH$.a[1]")], id="an item of a list"),
        pytest.param(is_("a", "CN=web,OU=(ops)"), [], id="a distinguished name"),
        pytest.param(is_("a", "a.b@acme.com"), [], id="an address"),
        pytest.param(is_("a", "US$"), [(LITERAL, WARNING, "MATCH$.a")], id="a dollar at the end"),
        pytest.param(is_("a", "5$ and $6"), [], id="dollars elsewhere"),
        pytest.param(is_("a", "r'x+'"), [(SAMPLES, NOTE, "MATCH$.a")], id="a pattern is shown"),
        pytest.param(is_("a", "r'unsampled+'"), [], id="a pattern without samples is not"),
        pytest.param({"find": {}}, [("unknown-operator", ERROR, "find")], id="faults come alone"),
    ],
)  # fmt: skip
def test_lint_of_one_rule(document: object, expected: Found) -> None:
    assert found(document) == expected


def test_what_is_meant_is_suggested() -> None:
    assert [f.suggestion for f in lint_rule(is_("a", "*@acme.com"), sampler=sampler)] == [
        "write `r'.*@acme\\.com'`"
    ]
    assert [f.suggestion for f in lint_rule(is_("a", "R'x'"), sampler=sampler)] == ["write `r'x'`"]


def test_a_pattern_is_shown_with_what_it_matches() -> None:
    (finding,) = lint_rule(is_("a", "r'x+'"), sampler=sampler)
    assert finding.message == "`r'x+'` matches `one`, `two` and `three`"
    (finding,) = lint_rule(is_("a", "r'^admin$'"), sampler=sampler)
    assert finding.message == "`r'^admin$'` matches `admin` alone"


@pytest.mark.parametrize(
    ("document", "is_broad"),
    [
        pytest.param({"FIND": {"user_name": "admin"}}, True, id="one key of the user"),
        pytest.param({"FIND$": {"Email": "a@b"}}, True, id="strict, and letter case"),
        pytest.param({"FIND": {"user_name": "admin", "tenant": "x"}}, False, id="another key in the same object"),
        pytest.param({"AND": [{"FIND": {"user_name": "a"}}, {"FIND": {"tenant": "x"}}]}, False, id="and another"),
        pytest.param({"OR": [{"FIND": {"user_name": "a"}}, {"FIND": {"tenant": "x"}}]}, True, id="or another"),
        pytest.param({"AND": [{"FIND": {"name": "a"}}, {"NOT": {"FIND": {"off": 1}}}]}, True, id="a NOT is no help"),
        pytest.param({"MATCH": {"name": "admin"}}, False, id="at the root"),
        pytest.param({"FIND": {"auth": {"name": "admin"}}}, False, id="below a key that he does not write"),
        pytest.param({"NOT": {"FIND": {"user_name": "admin"}}}, False, id="absent is told otherwise"),
    ],
)  # fmt: skip
def test_a_search_on_what_people_write_themselves_is_broad(document: object, is_broad: bool) -> None:
    assert (BROAD in rules(document)) is is_broad


def test_a_broad_search_weighs_by_where_it_leads() -> None:
    document = {"FIND": {"user_name": "admin"}}
    assert found(document) == [(BROAD, NOTE, "")]
    assert found(document, roles=["boss"]) == [(BROAD, WARNING, "")]
    assert found(document, roles=["boss"], reserved=True) == [(BROAD, NOTE, "")]
    assert found(document, roles=[]) == []


def test_findings_stand_below_the_path_of_their_document() -> None:
    assert found({"rules": [{"NOT": is_("a", 1)}]}, path="[3]") == [(NOTHING, WARNING, "[3].rules[0]")]
    assert found([{"NOT": is_("a", 1)}], path="x") == [(NOTHING, WARNING, "x[0]")]


def test_many_facts_are_claimed_nothing_of() -> None:
    many = {"AND": [is_(f"k{n}", 1) for n in range(MOST_FACTS)] + [is_("a", "x"), is_("a", "y")]}
    assert rules(many) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ([{"AND": [is_("a", 1)]}], [is_("a", 1)], True),
        ([{"OR": [is_("a", 1), is_("b", 2)]}], [is_("b", 2), is_("a", 1), is_("a", 1)], True),
        ([{"NOT": {"NOT": is_("a", 1)}}], [is_("a", 1)], True),
        ([is_("a", [1, 2])], [is_("a", [2, 1])], True),
        ([is_("a", 1)], [{"MATCH": {"a": 1}}], False),
        ([is_("a", 1)], [is_("a", "1")], False),
        ([is_("a", 1)], [is_("a", True)], False),
        ([{"NOT": is_("a", 1)}], [is_("a", 1)], False),
    ],
)
def test_rules_are_equal_but_for_how_they_are_written(one: list[Any], other: list[Any], same: bool) -> None:
    assert (normal_form(one) == normal_form(other)) is same
    assert duplicates({"x": one, "y": other}) == ({"y": "x"} if same else {})


@pytest.mark.parametrize("source", ["a^b", "x$y", "ab+^", "$a", "[a]+", "a\\$^"])
def test_a_pattern_that_is_said_to_match_nothing_does_not(source: str) -> None:
    if matches_nothing(source):
        assert not any(
            Pattern(source).matches(text) for text in ("", "a", "ab", "x", "y", "xy", "abb", "a$", "a^b")
        )


@pytest.mark.parametrize("source", ["a^b", "x$y", "$a", "a\\$^"])
def test_impossible_anchors_are_found(source: str) -> None:
    assert matches_nothing(source)


@pytest.mark.parametrize(
    "source", ["^a$", "a*^b", "a?^", "$", "^$", "a|^b", "(a^b)?", "x$y*", "a{0}^b", "[$]a", "\\^a"]
)
def test_possible_anchors_are_left_alone(source: str) -> None:
    assert not matches_nothing(source)


# --- properties ---------------------------------------------------------------------------------------------------

VALUES = st.sampled_from(["x", "y", 1, True, None, ["x"], ["x", "y"], {"b": "x"}, "r'x|y'"])
OPERANDS = st.dictionaries(st.sampled_from(["a", "b", "name"]), VALUES, min_size=1, max_size=2)
SEARCHES = st.builds(lambda o, w: {o: w}, st.sampled_from(["MATCH", "MATCH$", "FIND", "FIND$"]), OPERANDS)
EXPRESSIONS = st.recursive(
    SEARCHES,
    lambda inner: (
        st.builds(lambda item: {"NOT": item}, inner)
        | st.builds(
            lambda operator, items: {operator: items},
            st.sampled_from(["AND", "OR"]),
            st.lists(inner, min_size=1, max_size=3),
        )
    ),
    max_leaves=5,
)
PLAIN = st.sampled_from(
    ["x", "y", 1, True, None, ["x"], ["y", "x"], [], {"b": "x"}, {"a": ["x", {"b": "y"}]}]
)
CONTEXTS = st.builds(
    lambda name, auth, more: {**more, "name": name, "auth": auth},
    st.sampled_from(["x", "y", "ada"]),
    st.dictionaries(st.sampled_from(["a", "b", "name"]), PLAIN, max_size=2),
    st.dictionaries(st.sampled_from(["a", "b"]), PLAIN, max_size=2),
)


@given(EXPRESSIONS, st.lists(CONTEXTS, min_size=1, max_size=20))
@settings(max_examples=200, deadline=None)
def test_no_claim_about_a_rule_is_wrong_of_any_context(expression: Any, contexts: list[Any]) -> None:
    verdict = Formula.of(expression).verdict()
    verdicts = {holds([expression], ContextIndex(context)) for context in contexts}
    if verdict.never:
        assert verdicts == {False}
    if verdict.always:
        assert verdicts == {True}


@given(EXPRESSIONS)
@settings(max_examples=150, deadline=None)
def test_a_rule_without_a_positive_condition_is_true_of_a_context_that_says_nothing(expression: Any) -> None:
    nothing = {"name": "\x00", "auth": {}}
    verdict = Formula.of(expression).verdict()
    assert verdict.by_nothing is bool(holds([expression], ContextIndex(nothing)))


@pytest.mark.parametrize("name", ["r'.+'", "r'.*'", "r'(?s).*'", "r'(?s:.+)|'", "r'[^x]*'", "x"])
@pytest.mark.parametrize("search", ["MATCH", "FIND"])
def test_nothing_is_said_to_be_enough_only_if_some_name_is(search: str, name: str) -> None:
    expression = {"NOT": {search: {"name": name}}}
    names = ("", "x", "ada", "7", "\n", "a\nb")
    enough = any(holds([expression], ContextIndex({"name": text, "auth": {}})) for text in names)
    assert enough or NOTHING not in rules(expression)


@given(EXPRESSIONS, CONTEXTS)
@settings(max_examples=150, deadline=None)
def test_rules_of_one_normal_form_agree(expression: Any, context: Any) -> None:
    written = json.loads(normal_form([{"OR": [expression, expression]}, {"AND": [expression]}]))
    index = ContextIndex(context)
    assert holds([written], index) == holds([expression], index)
