"""What a rule document may be, and every fault of one that is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.findings import ERROR
from mgmtctl.domain.rules import MAX_BYTES, MAX_LEVELS, OPERATORS, check_rules, join, parse_rules

FIND = {"FIND": {"office": "20"}}
MATCH: dict[str, Any] = {"MATCH$": {"auth": {"office": []}}}


@pytest.mark.parametrize(
    ("document", "expressions"),
    [
        pytest.param(FIND, [FIND], id="one expression"),
        pytest.param([FIND, MATCH], [FIND, MATCH], id="a list of them"),
        pytest.param({"rules": [FIND, MATCH]}, [FIND, MATCH], id="a record with rules"),
        pytest.param({"rule": FIND}, [FIND], id="a record with rule"),
        pytest.param(
            {"id": "100", "name": "r", "roles": ["1"], "rules": [FIND], "rule": FIND},
            [FIND],
            id="a record as it is shown",
        ),
    ],
)
def test_each_form_of_a_rule_is_read(document: object, expressions: list[object]) -> None:
    assert check_rules(document) == []
    assert parse_rules(document) == expressions


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        pytest.param({"AND": [FIND]}, "an AND of one", id="AND of one"),
        pytest.param({"NOT": FIND}, "legal, though it grants to an empty context", id="lone NOT"),
        pytest.param({"MATCH$": {"a": []}}, "strict: exactly the empty list", id="strict empty list"),
        pytest.param({"FIND": {"a": [[], {"b": []}]}}, "inside a list all is compared whole", id="[[]]"),
        pytest.param({"MATCH": {"a": None, "b": True, "c": 1.5, "d": "", "": 0}}, "scalars", id="scalars"),
        pytest.param({"FIND": {r"r'a|b\.c'": r"r'^(x|y)+$'"}}, "patterns in keys and values", id="patterns"),
        pytest.param(
            {"FIND": {"a": "r", "b": "'r'", "c": "R'x'", "d": " r'x"}}, "no patterns", id="literals"
        ),
        pytest.param({"FIND": {"a": "r'''"}}, "a quote is a pattern", id="a quote between the quotes"),
    ],
)
def test_these_expressions_are_legal(expression: object, reason: str) -> None:
    assert check_rules(expression) == [], reason


@pytest.mark.parametrize(
    ("document", "found"),
    [
        pytest.param("x", [("wrong-type", "")], id="text"),
        pytest.param(None, [("wrong-type", "")], id="null"),
        pytest.param([], [("empty-list", "")], id="no expression"),
        pytest.param({"rules": []}, [("empty-list", "rules")], id="a record without expressions"),
        pytest.param({"rules": FIND}, [("wrong-type", "rules")], id="rules no list"),
        pytest.param({"rule": [FIND]}, [("wrong-type", "rule")], id="rule a list"),
        pytest.param({"rule": FIND, "rules": [MATCH]}, [("rule-and-rules", "rule")], id="two that differ"),
        pytest.param({"rule": FIND, "nmae": "x"}, [("unknown-key", "nmae")], id="key of a record misspelt"),
        pytest.param({}, [("one-operator", "")], id="empty object"),
        pytest.param({**FIND, **MATCH}, [("one-operator", "")], id="two operators"),
        pytest.param({"find": {"a": 1}}, [("unknown-operator", "find")], id="lower case"),
        pytest.param({"user_name": "x"}, [("unknown-operator", "user_name")], id="no operator"),
        pytest.param({"NOT": {"MATCHES": {}}}, [("unknown-operator", "NOT.MATCHES")], id="below NOT"),
        pytest.param({"AND": []}, [("empty-list", "AND")], id="AND of none"),
        pytest.param({"OR": FIND}, [("wrong-type", "OR")], id="OR without a list"),
        pytest.param({"NOT": [FIND]}, [("wrong-type", "NOT")], id="NOT of a list"),
        pytest.param({"FIND": []}, [("wrong-type", "FIND")], id="search for a list"),
        pytest.param({"MATCH": {}}, [("empty-object", "MATCH")], id="search for nothing"),
        pytest.param({"MATCH$": {"a": {}}}, [("empty-object", "MATCH$.a")], id="empty object inside"),
        pytest.param({"FIND": {"a": [{}]}}, [("empty-object", "FIND.a[0]")], id="empty object in a list"),
        pytest.param({"FIND": {"a": []}}, [("empty-list", "FIND.a")], id="partial empty list"),
        pytest.param({"FIND": {"a": "r''"}}, [("empty-pattern", "FIND.a")], id="empty pattern"),
        pytest.param({"FIND": {"a": "r'"}}, [("empty-pattern", "FIND.a")], id="only the start of a pattern"),
        pytest.param({"FIND": {"a": "r'x"}}, [("unclosed-pattern", "FIND.a")], id="pattern not closed"),
        pytest.param({"FIND": {"r'x ": 1}}, [("unclosed-pattern", 'FIND["r\'x "]')], id="key not closed"),
        pytest.param({"FIND": {"a": r"r'x\'"}}, [("invalid-pattern", "FIND.a")], id="escape of nothing"),
        pytest.param({"FIND": {"a": ["r'('"]}}, [("invalid-pattern", "FIND.a[0]")], id="parenthesis open"),
        pytest.param({"FIND": {"r'*'": 1}}, [("invalid-pattern", "FIND[\"r'*'\"]")], id="key invalid"),
        pytest.param({"FIND": {"a": float("nan")}}, [("wrong-type", "FIND.a")], id="nan"),
        pytest.param({"FIND": {"a": "\ud800"}}, [("invalid-text", "")], id="not Unicode"),
        pytest.param(
            {"rules": [FIND, {"AND": [FIND, {"FIND": {"office": {}}}]}]},
            [("empty-object", "rules[1].AND[1].FIND.office")],
            id="the path leads to the fault",
        ),
        pytest.param(
            [{"FIND": {"a.b": {"ü": []}}}, {"OR": [1, {"not": FIND}]}, {"NOT": {"MATCH": {"x": "r'"}}}],
            [
                ("empty-list", '[0].FIND["a.b"]["ü"]'),
                ("wrong-type", "[1].OR[0]"),
                ("unknown-operator", "[1].OR[1].not"),
                ("empty-pattern", "[2].NOT.MATCH.x"),
            ],
            id="all faults at once",
        ),
    ],
)
def test_each_fault_is_found_at_its_path(document: object, found: list[tuple[str, str]]) -> None:
    findings = check_rules(document)
    assert [(finding.rule, finding.path) for finding in findings] == found
    assert {finding.severity for finding in findings} == {ERROR}
    with pytest.raises(InvalidError) as error:
        parse_rules(document, "r")
    assert error.value.findings == tuple(findings)
    assert error.value.problem.startswith("rule `r` is refused: ")


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("find", "FIND"),
        ("Match", "MATCH"),
        ("MATHC", "MATCH"),
        ("FIND$$", "FIND$"),
        ("And", "AND"),
        ("ANDD", "AND"),
    ],
)
def test_a_misspelt_operator_is_suggested(misspelt: str, meant: str) -> None:
    (finding,) = check_rules({misspelt: FIND})
    assert finding.suggestion == f"did you mean `{meant}`?"


def test_an_operator_that_resembles_none_lists_them() -> None:
    (finding,) = check_rules({"user_name": "admin"})
    assert finding.suggestion == f"operators are {', '.join(OPERATORS)}"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(?=a)b", "look-around"),
        ("(?!a)b", "look-around"),
        ("(?<=a)b", "look-around"),
        ("(?<!a)b", "look-around"),
        (r"(a)\1", "back-references"),
        (r"\d\9", "back-references"),
        ("a{1001}", "invalid repetition size"),
        ("a**", "bad repetition operator"),
    ],
)
def test_syntax_that_re2_lacks_is_refused_with_the_reason(pattern: str, reason: str) -> None:
    (finding,) = check_rules({"FIND": {"a": f"r'{pattern}'"}})
    assert finding.rule == "invalid-pattern"
    assert reason in finding.message


def test_patterns_too_large_to_compile_at_every_login_are_refused() -> None:
    (finding,) = check_rules({"OR": [{"FIND": {"a": rf"r'\pL{{30}}x{k}'"}} for k in range(50)]})
    assert finding.rule == "large-pattern"
    assert finding.path == "OR[1].FIND.a"


def conjunction(levels: int) -> dict[str, Any]:
    """An expression of as many levels (odd: each AND has two)."""
    expression: dict[str, Any] = {"NOT": FIND} if levels % 2 else FIND
    for _ in range((levels - 2) // 2):
        expression = {"AND": [expression]}
    return expression


@pytest.mark.parametrize("record", [False, True])
def test_200_levels_are_legal_and_201_are_not(record: bool) -> None:
    good, bad = conjunction(MAX_LEVELS), conjunction(MAX_LEVELS + 1)
    assert check_rules({"rules": [good]} if record else good) == []
    (finding,) = check_rules({"rules": [good, bad]} if record else bad)
    assert (finding.rule, finding.path) == ("too-deep", "rules[1]" if record else "")


def test_checking_does_not_recurse_over_what_is_too_deep() -> None:
    assert [finding.rule for finding in check_rules(conjunction(100_000))] == ["too-deep"]


def test_64_kib_of_expressions_are_legal_and_one_byte_more_is_not() -> None:
    frame = len(json.dumps([{"FIND": {"a": ""}}], separators=(",", ":")))
    assert check_rules({"FIND": {"a": "x" * (MAX_BYTES - frame)}}) == []
    (finding,) = check_rules({"FIND": {"a": "x" * (MAX_BYTES - frame + 1)}})
    assert finding.rule == "too-large"
    assert "at most 65536 bytes, got 65537" in finding.message


def test_a_list_that_forms_a_whole_rule_counts_as_one() -> None:
    findings = check_rules([{"FIND": {"a": "x" * (MAX_BYTES // 2)}}] * 2)
    assert [finding.rule for finding in findings] == ["too-large"]


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("office", "a.office"),
        ("MATCH$", "a.MATCH$"),
        ("user_name-1", "a.user_name-1"),
        ("a.b", 'a["a.b"]'),
        ("", 'a[""]'),
        ('"', 'a["\\""]'),
        ("\x1b[31m\x7f", 'a["\\u001b[31m\\u007f"]'),
        ("\u202e", 'a["\\u202e"]'),
    ],
)
def test_a_key_in_a_path_is_unmistakable_and_printable(key: str, path: str) -> None:
    assert join(key, "a") == path
    assert path.isprintable()


KEYS = st.sampled_from([*OPERATORS, "find", "rules", "rule", "a", "r'", "r'a'", "r'(?=a)'", ""]) | st.text(
    max_size=3
)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | KEYS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150)
@given(document=DOCUMENTS)
def test_checking_is_total_and_parsing_agrees(document: object) -> None:
    findings = check_rules(document)
    for finding in findings:
        assert finding.text().isprintable()
    if findings:
        with pytest.raises(InvalidError):
            parse_rules(document)
    else:
        assert check_rules(parse_rules(document)) == []
