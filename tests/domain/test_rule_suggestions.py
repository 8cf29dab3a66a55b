"""A draft is true of what it was made from, false of what it shall not be like, as small as can be, and positive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.evaluation import Evaluation
from mgmtctl.domain.matching import ContextIndex, holds
from mgmtctl.domain.rule_suggestions import MOST_CONTEXTS, Draft, suggest
from mgmtctl.domain.rules import check_rules

Context = dict[str, Any]


def drafted(wanted: list[Context], unwanted: list[Context]) -> Draft:
    """The draft, proved: storable, true and false where it must be, and false of a context that says nothing."""
    draft = suggest(
        [(f"one{number}", context) for number, context in enumerate(wanted)],
        [(f"other{number}", context) for number, context in enumerate(unwanted)],
    )
    if draft.expression is not None:
        assert check_rules(draft.expression) == []
        assert [holds([draft.expression], ContextIndex(context)) for context in wanted] == [True] * len(
            wanted
        )
        assert [holds([draft.expression], ContextIndex(context)) for context in unwanted] == [False] * len(
            unwanted
        )
        assert holds([draft.expression], ContextIndex({})) is False
    return draft


ACME: Context = {
    "name": "portal",
    "auth": {
        "tenant": "acme",
        "groups": ["web", "ops"],
        "email": "ada@acme.example",
        "sub": "4711",
        "exp": 1700000000,
        "level": 3,
        "active": True,
    },
}


def like_acme(**changes: object) -> Context:
    return {"name": "portal", "auth": {**ACME["auth"], **changes}}


@pytest.mark.parametrize(
    ("other", "expression"),
    [
        pytest.param(
            like_acme(groups=["web"], email="b@x.y", sub="1", exp=1, level=1),
            {"MATCH": {"auth": {"groups": "ops"}}},
            id="a group before anything else",
        ),
        pytest.param(
            like_acme(email="b@x.y", sub="1", exp=1, level=1),
            {"MATCH": {"auth": {"level": 3}}},
            id="an attribute before a person",
        ),
        pytest.param(
            like_acme(email="b@x.y", exp=1),
            {"MATCH": {"auth": {"email": "ada@acme.example"}}},
            id="a person before a moment",
        ),
        pytest.param(
            like_acme(exp=1),
            {"MATCH": {"auth": {"exp": 1700000000}}},
            id="a moment when nothing else differs",
        ),
        pytest.param(like_acme(active=1), {"MATCH": {"auth": {"active": True}}}, id="true is not 1"),
        pytest.param(
            like_acme(groups=["web", "ops", "db"]),
            {"MATCH$": {"auth": {"groups": ["web", "ops"]}}},
            id="exactly these groups",
        ),
        pytest.param(
            like_acme(tenant=["acme"]),
            {"MATCH$": {"auth": {"tenant": "acme"}}},
            id="a text and not a list of it",
        ),
    ],
)
def test_the_draft_is_the_one_that_lasts(other: Context, expression: Context) -> None:
    assert drafted([ACME], [other]) == Draft(expression)


@pytest.mark.parametrize("key", ["aud", "iss", "azp", "client_id", "clientId", "appid"])
def test_what_says_only_the_application_comes_last_and_is_told(key: str) -> None:
    one, other = {"sub": "ada", "x": "1", key: "portal"}, {"sub": "ada", "x": "1", key: "shop"}
    forced = drafted([one], [other])
    assert forced.expression == {"MATCH": {key: "portal"}}
    assert forced.client_wide == (key,)
    for better in ({"groups": ["web"]}, {"level": 3}, {"email": "ada@acme.example"}):
        draft = drafted([{**one, **better}], [other])
        assert draft.client_wide == ()
        assert key not in str(draft.expression)
    beside_a_time = drafted([{**one, "iat": 1700000000}], [{**other, "iat": 1700000001}])
    assert beside_a_time.client_wide == (key,)


def test_several_conditions_at_the_root_are_one_search() -> None:
    draft = drafted([{"a": ["x", "y"], "b": 1}], [{"a": ["x"], "b": 1}, {"a": ["y"], "b": 1}])
    assert draft.expression == {"MATCH": {"a": ["x", "y"]}}
    draft = drafted([{"a": {"r": "x"}, "g": "y"}], [{"a": {"r": "x"}}, {"g": "y"}])
    assert draft.expression == {"MATCH": {"a": {"r": "x"}, "g": "y"}}


def test_objects_in_lists_are_found() -> None:
    one = {"users": [{"role": "admin", "profile": {}}]}
    assert drafted([one], [{"users": [{"role": "guest", "profile": {}}]}]).expression == {
        "FIND": {"role": "admin"}
    }


def test_what_must_hold_of_one_object_together_is_asked_together() -> None:
    one = {"grants": [{"team": "web", "may": "read", "x": {}}, {"team": "db", "may": "write", "x": {}}]}
    other = {"grants": [{"team": "web", "may": "write", "x": {}}, {"team": "db", "may": "read", "x": {}}]}
    draft = drafted([one], [other])
    assert draft.expression == {"FIND": {"team": "web", "may": "read"}}


def test_not_is_used_only_when_nothing_positive_tells_them_apart() -> None:
    draft = drafted([{"team": "web"}], [{"team": "web", "blocked": True}])
    assert draft == Draft(
        {"AND": [{"MATCH": {"team": "web"}}, {"NOT": {"MATCH": {"blocked": True}}}]}, "", True
    )
    together = {"l": [{"a": 1, "b": 1, "x": {}}, {"a": 2, "b": 2, "x": {}}]}
    apart = {"l": [{"a": 1, "b": 2, "x": {}}, {"a": 2, "b": 1, "x": {}}]}
    denies = drafted([{**apart, "t": {}}, {**apart, "u": {}}], [{"l": [*together["l"], *apart["l"]]}])
    assert denies.denies is True


def test_items_that_python_takes_for_equal_are_told_apart() -> None:
    draft = drafted([{"k": [1, True, "1"], "x": {}}], [{"k": [1, "1"]}, {"k": [True, "1"]}])
    assert draft.expression == {"MATCH": {"k": [True, 1]}}


def test_contexts_that_share_nothing_get_an_alternative_each() -> None:
    draft = drafted([{"team": "web"}, {"group": "ops"}], [{"team": "db", "group": "dev"}])
    assert draft.expression == {"OR": [{"MATCH": {"team": "web"}}, {"MATCH": {"group": "ops"}}]}
    everywhere = drafted([{"a": {"team": "web"}}, {"b": {"team": "web"}}], [{"a": {"team": "db"}}])
    assert everywhere.expression == {"FIND": {"team": "web"}}


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        pytest.param({}, {"a": 1}, "one0 holds nothing", id="an empty context"),
        pytest.param({"a": {}}, {"a": 1}, "one0 holds nothing", id="nothing but empty objects"),
        pytest.param({"a": [{}]}, {"a": 1}, "one0 holds nothing", id="empty objects in a list"),
        pytest.param({"a": [1, 2]}, {"a": [2, 1]}, "one0 and other0 are the same", id="another order"),
        pytest.param({"a": 1, "b": {}}, {"a": 1.0}, "one0 and other0 are the same", id="1 and 1.0"),
    ],
)
def test_where_nothing_tells_them_apart_it_says_why(one: Context, other: Context, reason: str) -> None:
    draft = drafted([one], [other])
    assert draft.expression is None
    assert draft.why_not.startswith(reason)


@pytest.mark.parametrize("text", ["r'a.*'", "r'", "r'x", "r'\\Q.\0'", "a'b\n"])
def test_a_text_that_looks_like_a_pattern_is_taken_as_it_is(text: str) -> None:
    assert drafted([{"k": text}], [{"k": "other"}]).expression is not None
    assert drafted([{text: 1}], [{"k": 1}]).expression is not None
    assert drafted([{"k": ["x", {text: text, "y": {}}]}], [{"k": ["x"]}]).expression is not None


def test_a_draft_rests_on_nothing_that_its_contexts_do_not_share() -> None:
    wanted = [like_acme(groups=["ops", str(number)], sub=str(number)) for number in range(8)]
    unwanted = [like_acme(groups=["web", str(number)], sub=str(number)) for number in range(8)]
    assert drafted(wanted, unwanted).expression == {"MATCH": {"auth": {"groups": "ops"}}}


def test_more_contexts_than_can_be_judged_are_refused() -> None:
    draft = suggest([("one", {"a": 1})], [("other", {})] * MOST_CONTEXTS)
    assert (draft.expression, "at most 32 contexts" in draft.why_not) == (None, True)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(
            lambda seed: {"l": [{"k": n, "v": (n * seed) % 97, "x": {}} for n in range(4000)]}, id="objects"
        ),
        pytest.param(lambda seed: {"groups": [f"{n}-{n % seed}" for n in range(19_000)]}, id="a long list"),
        pytest.param(lambda seed: {f"k{n}": n % seed for n in range(19_000)}, id="many keys"),
        pytest.param(lambda seed: {"l": [[["x"] * (n % seed)] for n in range(1500)]}, id="lists of lists"),
    ],
)
def test_large_contexts_end_with_a_draft_or_a_reason(make: Any) -> None:
    draft = drafted([make(7)], [make(5)])
    assert draft.expression is not None or draft.why_not


KEYS = ("a", "b")
SCALARS = st.sampled_from(["x", "y", 1, True, None])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=2),
    max_leaves=4,
)
CONTEXTS = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=2)


@settings(max_examples=50, deadline=None)
@given(CONTEXTS, CONTEXTS)
def test_a_draft_is_found_exactly_when_brute_force_finds_a_difference(one: Context, other: Context) -> None:
    draft = drafted([one], [other])
    searches = [*_searches(one), *_searches(other)]
    here, there = ([_true(search, context) for search in searches] for context in (one, other))
    assert (draft.expression is not None) == (any(here) and here != there)
    pure = any(first and not second for first, second in zip(here, there, strict=True))
    if draft.expression is not None:
        assert draft.denies is not pure
        smallest = min(
            (_size(found) for found, yes, no in zip(searches, here, there, strict=True) if yes and not no),
            default=None,
        )
        if smallest is not None:
            assert _size(draft.expression) <= smallest


@settings(max_examples=60, deadline=None)
@given(st.lists(CONTEXTS, min_size=1, max_size=3), st.lists(CONTEXTS, min_size=1, max_size=3))
def test_many_are_told_apart_exactly_when_each_pair_is(
    wanted: list[Context], unwanted: list[Context]
) -> None:
    draft = drafted(wanted, unwanted)
    pairs = product(wanted, unwanted)
    assert (draft.expression is not None) == all(
        suggest([("one", one)], [("other", other)]).expression is not None for one, other in pairs
    )


def _searches(document: Context) -> Iterator[Context]:
    """Every search that asks some of the keys of some object, each with some of what it holds."""
    for value in _objects(document):
        for pattern in _patterns(value):
            for operator in ("MATCH", "MATCH$", "FIND", "FIND$"):
                if not check_rules({operator: pattern}):
                    yield {operator: pattern}


def _objects(value: Any) -> Iterator[Context]:
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(item)


def _patterns(value: Context) -> Iterator[Context]:
    """Each choice of keys with each way to ask for their values."""
    ways = {key: [None, *_ways(item)] for key, item in value.items()}
    for chosen in product(*ways.values()):
        pattern = {key: way[0] for key, way in zip(ways, chosen, strict=True) if way is not None}
        if pattern:
            yield pattern


def _ways(value: Any) -> list[tuple[Any]]:
    if isinstance(value, dict):
        return [(pattern,) for pattern in _patterns(value)]
    if not isinstance(value, list):
        return [(value,)]
    scalars = list(_scalars(value))
    parts = [list(part) for size in (0, 1, 2) for part in product([*value, *scalars], repeat=size)]
    return [*((scalar,) for scalar in scalars), *((part,) for part in parts), (value,)]


def _scalars(values: list[Any]) -> Iterator[Any]:
    for item in values:
        if isinstance(item, list):
            yield from _scalars(item)
        elif not isinstance(item, dict):
            yield item


def _true(search: Context, context: Context) -> bool:
    return Evaluation(ContextIndex(context)).rule([search]) is True


def _size(expression: Any) -> int:
    """Operators and conditions."""
    ((operator, operand),) = expression.items()
    if operator in ("AND", "OR"):
        return 1 + sum(map(_size, operand))
    return 1 + (_size(operand) if operator == "NOT" else _leaves(operand))


def _leaves(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return max(1, sum(map(_leaves, inner)))


def test_equal_questions_get_equal_answers() -> None:
    one = {"groups": ["b", "a", "c"], "roles": ["z", "y"]}
    answers = {json.dumps(drafted([one], [{"groups": ["q"]}]).expression) for _ in range(5)}
    assert len(answers) == 1
