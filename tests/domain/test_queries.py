"""Small lists: filter, search, sort and limit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.filters import matches, parse_filter
from mgmtctl.domain.queries import (
    DATE,
    ID,
    NAMES,
    NUMBER,
    TEXT,
    VERSION,
    Fields,
    ListQuery,
    apply_query,
    found_by,
)

FIELDS: Fields = {
    "id": ID,
    "name": TEXT,
    "count": NUMBER,
    "group": NAMES,
    "os.version": VERSION,
    "seen": DATE,
    "allow_run_as": TEXT,
}
NOW = 1_700_000_000
WEB: dict[str, Any] = {
    "id": "007",
    "name": "Web-1",
    "count": 3,
    "group": ["default", "Web"],
    "os": {"version": "10.0.19045"},
    "seen": "2023-11-14T22:13:20Z",
    "allow_run_as": True,
}
BARE: dict[str, Any] = {"id": "012", "name": "bare", "group": []}


@pytest.mark.parametrize(
    ("where", "web", "bare"),
    [
        pytest.param("name=web-1", True, False, id="equal without regard to case"),
        pytest.param("name~EB", True, False, id="contains without regard to case"),
        pytest.param("id=7", True, False, id="ids are numbers"),
        pytest.param("id~01", False, True, id="contains looks at an id as it is shown"),
        pytest.param("id<12", True, False, id="ids compare as numbers"),
        pytest.param("count>2", True, False, id="an absent number is not greater"),
        pytest.param("count<4", True, False, id="an absent number is not less"),
        pytest.param("count!=3", False, True, id="an absent value is not equal"),
        pytest.param("count=null", False, True, id="null is the absent value"),
        pytest.param("count!=null", True, False, id="not null is present"),
        pytest.param("group=web", True, False, id="any of several values counts"),
        pytest.param("group!=web", False, True, id="unequal is the complement for several values too"),
        pytest.param("group~ef", True, False, id="contains in any of several values"),
        pytest.param("group=null", False, True, id="no values are the absent value"),
        pytest.param("os.version>9", True, False, id="versions compare as versions, a dotted name goes in"),
        pytest.param("os.version<10.0.2", False, False, id="version 10.0.19045 is not below 10.0.2"),
        pytest.param("seen=2023-11-14", True, False, id="a second is on its day"),
        pytest.param("seen>2023-11-14", False, False, id="after a day begins the next day"),
        pytest.param("seen<2023-11-15", True, False, id="before a day"),
        pytest.param("seen>1m", True, False, id="later than a minute ago"),
        pytest.param("seen~2023-11", True, False, id="contains looks at a date as it is shown"),
        pytest.param("allow_run_as=true", True, False, id="true is the word"),
        pytest.param("(id=1,id=2);name=bare", False, False, id="parentheses are heeded"),
        pytest.param("id=7,id=12;name=x", True, False, id="and binds tighter"),
    ],
)
def test_record_matches(where: str, web: bool, bare: bool) -> None:
    tree = parse_filter(where, FIELDS, NOW)
    assert (matches(tree, WEB), matches(tree, BARE)) == (web, bare)


@pytest.mark.parametrize(
    ("search", "web"),
    [
        pytest.param("WEB", True, id="in a text"),
        pytest.param("19045", True, id="inside a nested value"),
        pytest.param("defa", True, id="inside a list"),
        pytest.param("nothing", False, id="nowhere"),
        pytest.param("-web", False, id="a leading minus negates"),
        pytest.param("-nothing", True, id="without what is nowhere"),
        pytest.param("-", True, id="a minus alone is a text"),
        pytest.param("version", False, id="names of fields are not values"),
    ],
)
def test_search_looks_at_all_shown_values(search: str, web: bool) -> None:
    assert found_by(search, WEB) is web


@dataclass(frozen=True)
class Thing:
    name: str
    count: int | None = None

    def record(self) -> dict[str, Any]:
        return {"name": self.name, **({} if self.count is None else {"count": self.count})}


THINGS = [Thing("b", 2), Thing("A"), Thing("c", 10), Thing("a", 2)]


@pytest.mark.parametrize(
    ("query", "names", "total"),
    [
        pytest.param(ListQuery(), "bAca", 4, id="everything in the order given"),
        pytest.param(ListQuery(sort="name"), "Aabc", 4, id="text sorts without regard to case, stable"),
        pytest.param(ListQuery(sort="count"), "bacA", 4, id="numbers as numbers, absent last"),
        pytest.param(ListQuery(sort="-count"), "cbaA", 4, id="absent last when descending too"),
        pytest.param(ListQuery(sort="count,-name"), "bacA", 4, id="a second key"),
        pytest.param(ListQuery(sort="+count,name"), "abcA", 4, id="a plus is ascending"),
        pytest.param(ListQuery(limit=2, sort="name"), "Aa", 4, id="the total counts before the limit"),
        pytest.param(ListQuery(limit=0), "bAca", 4, id="limit 0 is all"),
        pytest.param(ListQuery(where="count=2"), "ba", 2, id="a filter"),
        pytest.param(ListQuery(search="a"), "Aa", 2, id="a search"),
    ],
)
def test_query_is_applied(query: ListQuery, names: str, total: int) -> None:
    found, count = apply_query(THINGS, query, {"name": TEXT, "count": NUMBER})
    assert ("".join(thing.name for thing in found), count) == (names, total)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        pytest.param(ListQuery(sort="nmae"), 1403, id="an unknown field to sort by"),
        pytest.param(ListQuery(sort="name,"), 1403, id="an empty field to sort by"),
        pytest.param(ListQuery(limit=-1), 1401, id="a limit below zero"),
        pytest.param(ListQuery(select=("nmae",)), 1724, id="an unknown field to select"),
        pytest.param(ListQuery(where="nmae=1"), 1408, id="an unknown field in a filter"),
    ],
)
def test_query_that_cannot_be_is_refused_for_an_empty_list_too(query: ListQuery, code: int) -> None:
    with pytest.raises(QuestionError) as caught:
        apply_query([], query, {"name": TEXT})
    assert caught.value.code == code


def test_group_of_nested_fields_can_be_selected() -> None:
    assert apply_query([WEB], ListQuery(select=("os", "name")), FIELDS) == ([WEB], 1)


values = st.one_of(st.none(), st.integers(-3, 3), st.text("ab1.", max_size=3), st.booleans())
records = st.fixed_dictionaries(
    {},
    optional={
        "id": values,
        "name": values,
        "count": values,
        "group": st.lists(st.sampled_from(["a", "B", "ab"]), max_size=3),
        "os": st.fixed_dictionaries({}, optional={"version": st.text("01.", max_size=4)}),
        "seen": st.sampled_from(["2023-11-14T22:13:20Z", "1970-01-01T00:00:00Z", "never", 7]),
    },
)
comparisons = st.one_of(
    st.builds("{}{}{}".format, st.sampled_from(["id", "count"]), st.sampled_from("=<>"), st.integers(-2, 2)),
    st.builds(
        "{}{}{}".format, st.just("name"), st.sampled_from("=<>~"), st.sampled_from(["a", "1", "null1"])
    ),
    st.builds("group{}{}".format, st.sampled_from("=~"), st.sampled_from(["a", "null1"])),
    st.builds("os.version{}{}".format, st.sampled_from("=<>~"), st.sampled_from(["1", "0.1"])),
    st.builds("seen{}{}".format, st.sampled_from("=<>"), st.sampled_from(["1d", "2023-11-14"])),
    st.builds("{}=null".format, st.sampled_from(sorted(FIELDS))),
)


@settings(max_examples=200)
@given(records, comparisons)
def test_unequal_is_the_exact_complement_of_equal(record: dict[str, Any], text: str) -> None:
    if "=" in text:
        equal = matches(parse_filter(text, FIELDS, NOW), record)
        unequal = matches(parse_filter(text.replace("=", "!=", 1), FIELDS, NOW), record)
        assert equal is not unequal


@settings(max_examples=150)
@given(records, st.lists(comparisons, min_size=1, max_size=4))
def test_and_or_and_parentheses_mean_what_they_say(record: dict[str, Any], parts: list[str]) -> None:
    single = [matches(parse_filter(part, FIELDS, NOW), record) for part in parts]

    def holds(text: str) -> bool:
        return matches(parse_filter(text, FIELDS, NOW), record)

    assert holds(";".join(parts)) is all(single)
    assert holds(",".join(parts)) is any(single)
    assert holds(";".join(f"({part})" for part in parts)) is all(single)
