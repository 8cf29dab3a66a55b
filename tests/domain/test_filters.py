"""The filter language: what is read, how it is grouped, and where a fault is shown."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.fields import DATE, ID, NAMES, NUMBER, TEXT, VERSION, Fields, OneOf
from mgmtctl.domain.filters import (
    MAX_NESTING,
    And,
    Comparison,
    FilterError,
    Or,
    date_span,
    parse_filter,
    version_key,
)

FIELDS: Fields = {
    "id": ID,
    "name": TEXT,
    "count": NUMBER,
    "group": NAMES,
    "os.version": VERSION,
    "dateAdd": DATE,
    "state": OneOf("active", "not active"),
}
OPERATORS = "expected one of = != < > ~"
NOW = 1_700_000_000


def a(field: str, operator: str, operand: object) -> Comparison:
    return Comparison(field, FIELDS[field], operator, operand)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        pytest.param("name=web-1", a("name", "=", "web-1"), id="a field, an operator, a value"),
        pytest.param("  name =  web-1  ", a("name", "=", "web-1"), id="blanks around words do not matter"),
        pytest.param("name=WEB", a("name", "=", "web"), id="text is folded"),
        pytest.param('name="a b;c,(d)"', a("name", "=", "a b;c,(d)"), id="quotes keep blanks and marks"),
        pytest.param(
            r'name="a\"b\\c\d"', a("name", "=", r"a\"b\c\d".replace(r"\"", '"')), id="escapes in quotes"
        ),
        pytest.param('name=""', a("name", "=", ""), id="an empty text stands in quotes"),
        pytest.param("name=null", a("name", "=", None), id="null is the absent value"),
        pytest.param('name="null"', a("name", "=", "null"), id="null in quotes is a text"),
        pytest.param("id=042", a("id", "=", 42), id="an id is a number"),
        pytest.param("id~04", a("id", "~", "04"), id="contains looks at text, also of a number"),
        pytest.param("count>-1", a("count", ">", -1), id="numbers may be below zero"),
        pytest.param("os.version<4.10", a("os.version", "<", version_key("4.10")), id="a version"),
        pytest.param("dateAdd=2023-11-14", a("dateAdd", "=", (1_699_920_000, 1_700_006_400)), id="a day"),
        pytest.param("dateAdd>2023-11-14T22:13:20Z", a("dateAdd", ">", (NOW, NOW + 1)), id="a second"),
        pytest.param("dateAdd<7d", a("dateAdd", "<", (NOW - 604_800, NOW - 604_799)), id="days ago"),
        pytest.param("dateAdd>30m", a("dateAdd", ">", (NOW - 1800, NOW - 1799)), id="minutes ago"),
        pytest.param(
            "name=a;id=1,id=2",
            Or((And((a("name", "=", "a"), a("id", "=", 1))), a("id", "=", 2))),
            id="and binds tighter than or",
        ),
        pytest.param(
            "name=a;(id=1,id=2)",
            And((a("name", "=", "a"), Or((a("id", "=", 1), a("id", "=", 2))))),
            id="parentheses group",
        ),
        pytest.param("((name=a))", a("name", "=", "a"), id="parentheses alone are neutral"),
        pytest.param("name=c:\\x!y", a("name", "=", "c:\\x!y"), id="other marks need no quotes"),
        pytest.param("name=o'brien", a("name", "=", "o'brien"), id="a single quote inside a value"),
        pytest.param("name=!x", a("name", "=", "!x"), id="a value may begin with a mark of an operator"),
        pytest.param('state="Not Active"', a("state", "=", "not active"), id="one of a few values, folded"),
        pytest.param("state=null", a("state", "=", None), id="the absence of one of a few values"),
        pytest.param("state~act", a("state", "~", "act"), id="a part of one of a few values"),
    ],
)
def test_filter_is_read(text: str, tree: object) -> None:
    assert parse_filter(text, FIELDS, NOW) == tree


@pytest.mark.parametrize(
    ("text", "column", "code", "problem"),
    [
        pytest.param("", 1, 1407, "expected a field, got the end", id="nothing"),
        pytest.param("nam=x", 1, 1408, "no field `nam`", id="an unknown field"),
        pytest.param("name=a;nam=x", 8, 1408, "no field `nam`", id="an unknown field further on"),
        pytest.param("name", 5, 1407, "expected one of = != < > ~, got the end", id="no operator"),
        pytest.param("name==x", 5, 1409, f"no operator `==`, {OPERATORS}", id="two operators"),
        pytest.param("name><x", 5, 1409, f"no operator `><`, {OPERATORS}", id="two other operators"),
        pytest.param("count>=4", 6, 1409, f"no operator `>=`, {OPERATORS}", id="at least"),
        pytest.param("name= =x", 7, 1407, "expected a value, got `=`", id="two operators apart"),
        pytest.param("name='x'", 6, 1407, "a value is not quoted by `'`", id="single quotes"),
        pytest.param("name=x(y)", 7, 1407, "`(` in a value", id="a parenthesis in a bare value"),
        pytest.param(
            "state=actve",
            7,
            1407,
            'expected one of active, "not active", got `actve`',
            id="a value that the field never has",
        ),
        pytest.param(
            'state!="null"',
            8,
            1407,
            'expected one of active, "not active", got `null`',
            id="null in quotes is no value of a field that has a few",
        ),
        pytest.param("name=a=b", 7, 1407, "`=` in a value", id="an operator in a bare value"),
        pytest.param("name=", 6, 1407, "expected a value, got the end", id="no value"),
        pytest.param("name=x y", 8, 1407, "expected `;`, `,` or the end, got `y`", id="a blank in a value"),
        pytest.param('name="x', 6, 1407, "no closing quote", id="an open quote"),
        pytest.param("(name=x", 8, 1407, "expected `)`, got the end", id="an open parenthesis"),
        pytest.param(
            "name=x)", 7, 1407, "expected `;`, `,` or the end, got `)`", id="a parenthesis too many"
        ),
        pytest.param("name=x;", 8, 1407, "expected a field, got the end", id="trailing and"),
        pytest.param("group<a", 6, 1409, "`group` goes with =, != and ~", id="no order among groups"),
        pytest.param("name~null", 5, 1409, "`null` goes with = and !=", id="nothing contains null"),
        pytest.param("id=web", 4, 1407, "expected a number, got `web`", id="text for a number"),
        pytest.param("dateAdd>soon", 9, 1412, "expected a date, got `soon`", id="text for a date"),
        pytest.param("dateAdd>2023-02-30", 9, 1412, "expected a date, got `2023-02-30`", id="no such day"),
        pytest.param("name=\udcff", 6, 1407, "a character that is not Unicode text", id="odd bytes"),
    ],
)
def test_fault_has_a_column_and_a_caret(text: str, column: int, code: int, problem: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter(text, FIELDS, NOW)
    error = caught.value
    assert (error.column, error.code, error.problem) == (column, code, f"column {column}: {problem}")
    assert error.facts() == {"column": column}
    assert error.why is not None
    assert error.why.endswith("\n" + " " * (column - 1) + "^")


def test_unknown_field_has_a_suggestion() -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter("os.versoin=1", FIELDS)
    assert caught.value.fix == "did you mean `os.version`?"


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        pytest.param("state=not active", 'a value with blanks stands in double quotes: "not active"', id="blank"),
        pytest.param("(id=1,name=a b c);id=2", 'a value with blanks stands in double quotes: "a b c"', id="nested"),
        pytest.param("name='a b'", 'use double quotes: "a b"', id="single quotes"),
        pytest.param("name=a and id=1", "write `;` for `and`: `;` is and, `,` is or", id="and"),
        pytest.param("name=a || id=1", "write `,` for `||`: `;` is and, `,` is or", id="or"),
        pytest.param("count>=4", "(count>4,count=4)", id="at least"),
        pytest.param("name==x", "name=x", id="equal in another language"),
        pytest.param("name=~x", "name~x", id="contains in another language"),
        pytest.param("name<>", "name!=VALUE", id="unequal in another language"),
        pytest.param("name=a=b", "put the value in double quotes", id="an operator in a value"),
    ],
)  # fmt: skip
def test_fault_says_what_to_write(text: str, fix: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter(text, FIELDS)
    assert caught.value.fix == fix


def test_nesting_is_bounded_and_reported() -> None:
    parse_filter("(" * MAX_NESTING + "id=1" + ")" * MAX_NESTING, FIELDS)
    with pytest.raises(FilterError, match="parentheses deep"):
        parse_filter("(" * 50_000 + "id=1", FIELDS)


def test_number_of_comparisons_is_bounded() -> None:
    with pytest.raises(FilterError, match="more than 10000 comparisons"):
        parse_filter(",".join(["id=1"] * 10_001), FIELDS)


def test_caret_of_a_long_filter_stays_near() -> None:
    with pytest.raises(FilterError) as caught:
        parse_filter("id=1;" * 500 + "x=1", FIELDS)
    shown, _, caret = str(caught.value.why).partition("\n")
    assert len(shown) <= 70
    assert shown[len(caret) - 1] == "x"


@settings(max_examples=300)
@given(st.text(alphabet='name=idgroup;,()"<>~! \\0123null-\x00é\ud800', max_size=40))
def test_any_text_is_read_or_refused_with_a_column_inside_it(text: str) -> None:
    with contextlib.suppress(FilterError):
        parse_filter(text, FIELDS, NOW)
        return
    with pytest.raises(QuestionError) as caught:
        parse_filter(text, FIELDS, NOW)
    assert isinstance(caught.value, FilterError)
    assert 1 <= caught.value.column <= len(text) + 1


VERSIONS = ["3.9.9", "4.9-rc1", "4.9-rc2", "4.9", "4.9.1", "4.10", "10.0.17763", "10.0.19045"]


def test_versions_sort_as_versions() -> None:
    assert sorted(sorted(VERSIONS), key=version_key) == VERSIONS


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("4.9", "4.9.0", id="trailing zeros do not count"),
        pytest.param("4.9.2", "Product v4.9.2", id="what stands before does not count"),
        pytest.param("22.04", "22.04 LTS (Jammy)", id="what stands after a blank does not count"),
        pytest.param("4.09", "4.9", id="leading zeros do not count"),
        pytest.param("Sid", "SID", id="without digits it is text"),
    ],
)
def test_versions_that_are_equal(one: str, other: str) -> None:
    assert version_key(one) == version_key(other)


@settings(max_examples=200)
@given(
    st.lists(st.integers(0, 10**12), min_size=1, max_size=4),
    st.lists(st.integers(0, 10**12), min_size=1, max_size=4),
)
def test_versions_compare_as_their_numbers_do(one: list[int], other: list[int]) -> None:
    def stripped(numbers: list[int]) -> list[int]:
        while len(numbers) > 1 and numbers[-1] == 0:
            numbers = numbers[:-1]
        return numbers

    left, right = (version_key(".".join(map(str, numbers))) for numbers in (one, other))
    assert (left < right) == (stripped(one) < stripped(other))


@settings(max_examples=100)
@given(st.text(max_size=30))
def test_any_text_has_a_version_key(text: str) -> None:
    assert isinstance(version_key(text), str)


def test_date_span_of_what_is_no_date_is_none() -> None:
    assert [date_span(text) for text in ("", "2023-13-01", "2023-11-14T25:00:00Z", "0000-01-01")] == [
        None
    ] * 4
