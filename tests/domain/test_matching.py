"""The rule language as a table: every sentence of S 5.3 and D 3 is a row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mgmtctl.domain.matching import ContextIndex, holds, needed_keys, true_rules
from mgmtctl.domain.rules import check_rules
from mgmtctl.domain.trace import explain

PERSON: dict[str, Any] = {
    "name": "Bill",
    "auth": {
        "name": "Bill",
        "office": ["20", "21", "30"],
        "one": ["20"],
        "age": 42,
        "zero": 0,
        "active": True,
        "boss": None,
        "team": {"lead": {"id": "x1"}, "tags": []},
        "jobs": [{"title": "dev", "years": 3}, [{"title": "ops", "level": [["deep"]]}]],
    },
    "departments": ["Technical", "Sales"],
}
PAIRS = {"auth": {"pairs": [["a", 1], {"k": "v", "l": "w"}, "ab", "ac"]}}

SPECIFICATION = [
    # S 5.3, values
    pytest.param(
        {"FIND": {"name": "r'B.*l'"}}, True, id="a string r'...' as a value is a regular expression"
    ),
    pytest.param({"FIND": {"r'off.+'": "20"}}, True, id="a pattern is also a key"),
    pytest.param({"MATCH": {"r'dep.*'": "Sales", "name": "Bill"}}, True, id="a key pattern beside a literal"),
    pytest.param({"FIND": {"name": "B.*l"}}, False, id="other strings are literals"),
    pytest.param({"FIND": {"active": True}}, True, id="values may be booleans"),
    pytest.param({"FIND": {"office": ["30", "20"]}}, True, id="values may be lists"),
    pytest.param(
        {"MATCH": {"auth": {"team": {"lead": {"id": "x1"}}}}}, True, id="values may be nested objects"
    ),
    # S 5.3, search operators
    pytest.param({"MATCH": {"auth": {"office": "20"}}}, True, id="MATCH looks at the root"),
    pytest.param({"MATCH": {"office": "20"}}, False, id="MATCH looks at the root only"),
    pytest.param({"MATCH": {"name": "Bill"}}, True, id="MATCH allows extra keys"),
    pytest.param({"MATCH": {"departments": "Sales"}}, True, id="MATCH: a scalar is in the list"),
    pytest.param({"MATCH$": {"departments": "Sales"}}, False, id="MATCH$: a scalar is not a larger list"),
    pytest.param({"MATCH$": {"name": "Bill"}}, True, id="MATCH$: the value is exactly equal"),
    pytest.param({"MATCH$": {"departments": ["Technical", "Sales"]}}, True, id="MATCH$: the exact list"),
    pytest.param({"MATCH$": {"departments": ["Technical"]}}, False, id="MATCH$: not a part of the list"),
    pytest.param({"FIND": {"office": "20"}}, True, id="FIND needs no enclosing keys"),
    pytest.param({"FIND": {"id": "x1"}}, True, id="FIND looks at every depth"),
    pytest.param({"FIND": {"auth": {"office": "20"}}}, True, id="FIND takes enclosing keys"),
    pytest.param({"FIND": {"name": "Bill"}}, True, id="FIND looks at the root too"),
    pytest.param({"FIND$": {"office": "20"}}, False, id="FIND$ is strict as MATCH$"),
    pytest.param({"FIND$": {"office": ["20", "21", "30"]}}, True, id="FIND$: the exact list at any depth"),
    pytest.param({"FIND$": {"auth": {"age": 42}}}, True, id="FIND$: keys not needed can be left out"),
    # S 5.3, logical operators
    pytest.param({"AND": [{"MATCH": {"name": "Bill"}}, {"FIND": {"age": 42}}]}, True, id="AND: all are true"),
    pytest.param({"AND": [{"MATCH": {"name": "Bill"}}, {"FIND": {"age": 43}}]}, False, id="AND: one is not"),
    pytest.param({"AND": [{"FIND": {"age": 42}}]}, True, id="AND of one true one"),
    pytest.param({"AND": [{"FIND": {"age": 43}}]}, False, id="AND of one false one"),
    pytest.param({"OR": [{"FIND": {"age": 43}}, {"FIND": {"age": 42}}]}, True, id="OR: at least one is true"),
    pytest.param({"OR": [{"FIND": {"age": 43}}, {"FIND": {"x": 1}}]}, False, id="OR: none is true"),
    pytest.param({"NOT": {"FIND": {"age": 43}}}, True, id="NOT: the enclosed one is false"),
    pytest.param({"NOT": {"FIND": {"age": 42}}}, False, id="NOT: the enclosed one is true"),
    pytest.param(
        {"NOT": {"OR": [{"AND": [{"NOT": {"FIND": {"age": 42}}}]}, {"FIND": {"x": 1}}]}},
        True,
        id="any nesting",
    ),
]

DECISIONS = [
    # objects
    pytest.param({"MATCH": {"auth": {"r'(on|age)e'": "20"}}}, True, id="two keys match, one satisfies"),
    pytest.param({"MATCH": {"auth": {"r'o.*'": "20"}}}, True, id="two keys match, both satisfy"),
    pytest.param(
        {"MATCH": {"auth": {"r'o.*'": "20", "x": 1}}}, False, id="two hits do not make up for a missing key"
    ),
    pytest.param(
        {"MATCH": {"auth": {"r'o.*'": "20", "r'o.*e'": "30"}}},
        True,
        id="one key may satisfy two pattern keys",
    ),
    pytest.param({"MATCH": {"auth": {"r'of'": "20"}}}, False, id="a key pattern matches the whole key"),
    pytest.param({"MATCH": {"r'AUTH'": {"age": 42}}}, False, id="keys are case-sensitive"),
    pytest.param({"MATCH$": {"auth": {"team": {"tags": []}}}}, True, id="strict: extra keys never matter"),
    pytest.param({"MATCH": {"name": {"x": 1}}}, False, id="an object is not satisfied by text"),
    pytest.param(
        {"MATCH": {"auth": {"jobs": {"title": "dev"}}}}, False, id="an object is not satisfied by a list"
    ),
    pytest.param(
        {"MATCH": {"auth": {"boss": {"name": "Bill"}}}}, False, id="null does not fall back to the root"
    ),
    # scalars
    pytest.param({"FIND": {"level": "deep"}}, True, id="partial: the element that satisfies may be a list"),
    pytest.param({"FIND$": {"one": "20"}}, False, id="strict: not a list of one either"),
    pytest.param({"FIND": {"office": 20}}, False, id="1 is not in a list of texts"),
    pytest.param({"FIND": {"team": "x1"}}, False, id="a scalar is not satisfied by an object"),
    # equality
    pytest.param({"FIND": {"active": 1}}, False, id="true is not 1"),
    pytest.param({"FIND": {"zero": False}}, False, id="0 is not false"),
    pytest.param({"FIND": {"age": "42"}}, False, id='"42" is not 42'),
    pytest.param({"FIND": {"age": 42.0}}, True, id="42 is 42.0"),
    pytest.param({"FIND": {"boss": None}}, True, id="null is null"),
    pytest.param({"FIND": {"zero": None}}, False, id="null is not 0"),
    pytest.param({"FIND": {"missing": None}}, False, id="null is not an absent key"),
    pytest.param({"FIND": {"name": "bill"}}, False, id="text is case-sensitive"),
    # patterns
    pytest.param({"FIND": {"name": "r'Bil'"}}, False, id="a pattern matches the whole text, not a prefix"),
    pytest.param({"FIND": {"name": "r'ill'"}}, False, id="nor a suffix"),
    pytest.param({"FIND": {"name": "r'^Bill$'"}}, True, id="anchors change nothing"),
    pytest.param({"FIND": {"name": "r'^Bil$'"}}, False, id="the last character counts"),
    pytest.param({"FIND": {"name": "r'Bil.*'"}}, True, id=".* for a prefix"),
    pytest.param({"FIND": {"name": "r'Bill|x'"}}, True, id="an alternative"),
    pytest.param({"FIND": {"name": "r'Bi|ll'"}}, False, id="each alternative matches the whole text"),
    pytest.param({"FIND": {"name": "r'(?i)BILL'"}}, True, id="case can be told not to matter"),
    pytest.param({"FIND": {"age": "r'.*'"}}, False, id="a pattern matches no number"),
    pytest.param({"FIND": {"active": "r'.*'"}}, False, id="a pattern matches no boolean"),
    pytest.param({"FIND": {"boss": "r'.*'"}}, False, id="a pattern matches no null"),
    pytest.param({"FIND": {"office": "r'3[0-9]'"}}, True, id="partial: a pattern is satisfied in a list"),
    pytest.param(
        {"FIND$": {"office": "r'3[0-9]'"}}, False, id="strict: a pattern is not satisfied by a list"
    ),
    pytest.param({"FIND": {"office": ["r'2.'", "r'3.'"]}}, True, id="patterns in a list"),
    # lists
    pytest.param({"FIND": {"name": ["Bill"]}}, False, id="a list is not satisfied by a scalar"),
    pytest.param({"FIND": {"office": ["20", "99"]}}, False, id="partial: each item is needed"),
    pytest.param({"FIND": {"one": ["20", "20"]}}, True, id="partial: one element may satisfy two items"),
    pytest.param({"FIND": {"one": ["20", "21"]}}, False, id="partial: [a, b] is not satisfied by [a]"),
    pytest.param({"FIND$": {"office": ["30", "20", "21"]}}, True, id="strict: in any order"),
    pytest.param({"FIND$": {"office": ["20", "20", "21"]}}, False, id="strict: one element for each item"),
    pytest.param({"FIND$": {"office": ["r'2.'", "21", "r'.0'"]}}, True, id="strict: a pairing exists"),
    pytest.param(
        {"FIND$": {"office": ["r'20'", "r'2[0-9]'", "r'20'"]}}, False, id="strict: no pairing exists"
    ),
    pytest.param({"FIND$": {"tags": []}}, True, id="strict: the empty list equals the empty list"),
    pytest.param({"FIND$": {"office": []}}, False, id="strict: the empty list equals no other"),
    pytest.param({"FIND$": {"boss": []}}, False, id="strict: the empty list is not null"),
    pytest.param(
        {"FIND": {"jobs": [{"title": "dev", "years": 3}]}}, True, id="an object in a list, compared whole"
    ),
    pytest.param({"FIND": {"jobs": [{"title": "dev"}]}}, False, id="an object in a list has the same keys"),
    pytest.param(
        {"FIND": {"jobs": [{"r't.*'": "dev", "r'.*s'": 3}]}}, True, id="key patterns in a whole object"
    ),
    pytest.param(
        {"FIND": {"jobs": [{"r'.*'": "dev", "years": 3}]}}, True, id="a literal key takes its own first"
    ),
    pytest.param(
        {"FIND": {"jobs": [{"r'.*'": "dev", "r't.*'": 3}]}}, False, id="one key for each key pattern"
    ),
    pytest.param({"FIND": {"jobs": [[{"title": "ops", "level": [["deep"]]}]]}}, True, id="a list in a list"),
    pytest.param({"FIND": {"jobs": [[{"title": "ops", "level": "deep"}]]}}, False, id="by the strict rules"),
    # depth
    pytest.param({"FIND": {"title": "dev"}}, True, id="FIND goes through lists"),
    pytest.param({"FIND": {"title": "ops"}}, True, id="FIND goes through lists of lists"),
    pytest.param({"FIND": {"title": "dev", "level": "deep"}}, False, id="all keys in the same object"),
    pytest.param({"MATCH": {"title": "dev"}}, False, id="MATCH does not"),
]


@pytest.mark.parametrize(("expression", "verdict"), SPECIFICATION + DECISIONS)
def test_expression(expression: dict[str, Any], verdict: bool) -> None:
    """Each row: an expression, whether it is true of PERSON; every way to ask must say the same."""
    assert check_rules(expression) == []
    index = ContextIndex(PERSON)
    assert holds([expression], index) is verdict
    assert explain([expression], index).verdict is verdict
    stored = [(7, json.dumps([expression]), needed_keys([expression]))]
    assert true_rules(stored, index) == [7] * verdict


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (["a", "a"], False),
        (["a", "b"], True),
        (["b", "a", "c"], True),
        ([["a"], "b"], True),
        ([None, "a", 1, {"b": "b"}], False),
        ([None, {"b": ["a", "b"]}, "b", "a"], True),
    ],
)
def test_a_list_of_two_needs_both(value: list[object], verdict: bool) -> None:
    assert holds([{"MATCH": {"x": ["a", "b"]}}], ContextIndex({"x": value})) is verdict


@pytest.mark.parametrize(
    ("wanted", "verdict"),
    [
        pytest.param(
            ["r'a.'", "ab", ["a", 1], {"l": "w", "k": "v"}], True, id="patterns leave literals their own"
        ),
        pytest.param(
            ["r'a.'", "r'a.'", ["r'.'", 1], {"r'.'": "v", "l": "w"}], True, id="patterns at any depth"
        ),
        pytest.param(["r'ab'", "r'a.'", [1, "a"], {"r'k'": "v", "r'.'": "w"}], True, id="in any order"),
        pytest.param(
            ["r'a.'", "r'[a]b'", ["a", 1], {"l": "w", "k": "v"}], True, id="the first pattern gives way"
        ),
        pytest.param(
            ["ab", "ac", ["a", 1], {"r'.'": "r'.'", "r'[kl]'": "r'[vw]'", "r'x'": 1}],
            False,
            id="too many keys",
        ),
        pytest.param(
            ["ab", "ac", ["a", 1], {"r'.'": "r'.'", "r'k'": "v"}], True, id="a key pattern gives way"
        ),
        pytest.param(["r'ab'", "r'ab'", ["a", 1], {"l": "w", "k": "v"}], False, id="two for one"),
        pytest.param(["ab", "ac", ["a", 1, 1], {"l": "w", "k": "v"}], False, id="a list inside, too long"),
        pytest.param(["ab", "ac", ["a", True], {"l": "w", "k": "v"}], False, id="true inside is not 1"),
    ],
)
def test_strict_lists_are_paired_one_to_one(wanted: list[object], verdict: bool) -> None:
    expression = {"MATCH$": {"auth": {"pairs": wanted}}}
    assert check_rules(expression) == []
    assert holds([expression], ContextIndex(PAIRS)) is verdict


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1), (1, 3, 0, 2)])
def test_a_pairing_is_found_by_any_number_of_exchanges(order: tuple[int, ...]) -> None:
    patterns = ["r'[a-d]'", "r'[a-c]'", "r'[ab]'", "r'[a]'"]
    expression = {"MATCH$": {"x": [patterns[place] for place in order]}}
    assert holds([expression], ContextIndex({"x": ["a", "b", "c", "d"]})) is True
    assert holds([expression], ContextIndex({"x": ["a", "b", "d", "d"]})) is False


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        pytest.param({"MATCH": {"auth": {"office": "20"}}}, "office\x1f20", id="key and text, not auth"),
        pytest.param({"FIND": {"name": "r'B.*'"}}, "name", id="only a key for a pattern"),
        pytest.param({"FIND": {"a": r"r'^x\.y$'"}}, "a\x1fx.y", id="a pattern for one text is that text"),
        pytest.param(
            {"FIND": {"age": 42, "longer": True}}, "longer", id="numbers and booleans: the longest key"
        ),
        pytest.param({"FIND": {"a": ["r'.'", "x"]}}, "a\x1fx", id="a text in a list"),
        pytest.param({"FIND": {"r'a.'": 1}}, None, id="a key pattern may be any key"),
        pytest.param({"FIND": {"r'a.'": {"b": "c"}}}, "b\x1fc", id="below a key pattern"),
        pytest.param({"AND": [{"FIND": {"a": 1}}, {"FIND": {"b": "c"}}]}, "b\x1fc", id="AND: the rarest"),
        pytest.param({"AND": [{"NOT": {"FIND": {"a": 1}}}, {"FIND": {"b": 1}}]}, "b", id="AND: beside a NOT"),
        pytest.param({"OR": [{"FIND": {"a": 1}}, {"FIND": {"b": 1}}]}, "a\x1eb", id="OR: either"),
        pytest.param({"OR": [{"FIND": {"a": 1}}, {"NOT": {"FIND": {"b": 1}}}]}, None, id="OR: with a NOT"),
        pytest.param({"NOT": {"FIND": {"a": 1}}}, None, id="NOT: anything"),
        pytest.param({"FIND": {"a\x1eb": "x", "c": "x\x1fy"}}, "c", id="separators are left out"),
    ],
)
def test_a_rule_is_skipped_by_what_it_needs(expression: dict[str, Any], needed: str | None) -> None:
    """The texts are stored beside the rules: a change of form needs a migration."""
    assert needed_keys([expression]) == needed


def test_a_rule_is_true_when_any_of_its_expressions_is() -> None:
    no, yes = {"FIND": {"x": 1}}, {"FIND": {"age": 42}}
    index = ContextIndex(PERSON)
    assert holds([no, yes], index) is True
    assert holds([no, no], index) is False
    assert holds([], index) is False


@pytest.mark.parametrize("operator", ["MATCH", "MATCH$", "FIND", "FIND$"])
def test_an_empty_context_satisfies_no_search(operator: str) -> None:
    contexts: list[Any] = [{}, {"auth": {}}, None, [], [{}], 0, "", False]
    for context in contexts:
        index = ContextIndex(context)
        assert holds([{operator: {"r'.*'": "r'.*'"}}], index) is False
        assert holds([{"NOT": {operator: {"a": None}}}], index) is True


def test_keys_that_run_code_elsewhere_are_just_data() -> None:
    index = ContextIndex({"auth": {"__class__": "x", "__unhandled_exc__": {"__args__": ["y"]}}})
    assert holds([{"FIND": {"__class__": "x"}}], index) is True
    assert holds([{"FIND": {"__unhandled_exc__": {"__args__": "y"}}}], index) is True


def test_a_lone_not_is_true_of_an_empty_context() -> None:
    assert holds([{"NOT": {"FIND": {"disabled": True}}}], ContextIndex({})) is True
