"""A trace says where a search was satisfied, and what came nearest when it was not."""

from __future__ import annotations

from typing import Any

import pytest

from mgmtctl.domain.matching import ContextIndex
from mgmtctl.domain.trace import WIDTH, explain

CONTEXT: dict[str, Any] = {
    "name": "corp",
    "auth": {
        "role": "administrator",
        "office": ["20", "21", "30"],
        "age": 42,
        "boss": None,
        "team": {"lead": "x1"},
        "jobs": [{"title": "dev"}, {"title": "ops", "level": 2}],
        "example.org/groups": ["ops"],
    },
}


@pytest.mark.parametrize(
    ("expression", "paths"),
    [
        pytest.param({"MATCH": {"name": "corp"}}, ["$.name"], id="at the root"),
        pytest.param({"FIND": {"office": "21"}}, ["$.auth.office[1]"], id="in a list"),
        pytest.param({"FIND$": {"office": ["30", "21", "20"]}}, ["$.auth.office"], id="a list"),
        pytest.param(
            {"FIND": {"title": "ops", "level": 2}}, ["$.auth.jobs[1].title", "$.auth.jobs[1].level"], id="all"
        ),
        pytest.param({"MATCH": {"auth": {"team": {"lead": "x1"}}}}, ["$.auth.team.lead"], id="nested"),
        pytest.param({"FIND": {"r'o.+e'": "r'3.'"}}, ["$.auth.office[2]"], id="by patterns"),
        pytest.param(
            {"FIND": {"r'.*'": "ops"}}, ['$.auth["example.org/groups"][0]'], id="the first object in order"
        ),
        pytest.param(
            {"MATCH": {"auth": {"r'.*/groups'": "ops"}}}, ['$.auth["example.org/groups"][0]'], id="quoted"
        ),
    ],
)
def test_a_true_search_names_its_place(expression: dict[str, Any], paths: list[str]) -> None:
    (node,) = explain([expression], ContextIndex(CONTEXT)).expressions
    assert list(node.paths) == paths
    assert node.record()["paths"] == paths


@pytest.mark.parametrize(
    ("expression", "nearest"),
    [
        pytest.param({"FIND": {"role": "operator"}}, "$.auth.role = `administrator`", id="another value"),
        pytest.param(
            {"FIND": {"role": "r'admin'"}},
            "$.auth.role = `administrator`, of which the pattern matched only a part",
            id="a part",
        ),
        pytest.param(
            {"FIND": {"office": "r'2'"}},
            "$.auth.office[0] = `20`, of which the pattern matched only a part",
            id="a part of an item",
        ),
        pytest.param(
            {"FIND": {"role": "Administrator"}},
            "$.auth.role = `administrator`, which differs in letter case",
            id="letter case",
        ),
        pytest.param({"FIND": {"age": "42"}}, "$.auth.age = `42`, which is a number", id="a number"),
        pytest.param(
            {"FIND": {"age": "r'.*'"}},
            "$.auth.age = `42`, which is a number: a pattern matches text only",
            id="a pattern for a number",
        ),
        pytest.param({"FIND": {"boss": "x"}}, "$.auth.boss = `null`", id="null"),
        pytest.param({"FIND": {"offcie": "20"}}, "no key `offcie` anywhere", id="no such key"),
        pytest.param({"MATCH": {"office": "20"}}, "no key `office` at the root", id="not at the root"),
        pytest.param(
            {"FIND": {"role": "administrator", "site": 1}},
            "no key `site` in $.auth",
            id="one key of two",
        ),
        pytest.param(
            {"FIND": {"title": "dev", "level": 2}},
            "$.auth.jobs[1].title = `ops`",
            id="the object with most keys",
        ),
        pytest.param(
            {"FIND": {"office": "99"}},
            "$.auth.office has no item `99`; its items: 20, 21, 30",
            id="no such item",
        ),
        pytest.param(
            {"FIND": {"office": ["20", "9"]}},
            "$.auth.office has no item `9`; its items: 20, 21, 30",
            id="one item",
        ),
        pytest.param({"FIND$": {"office": ["20"]}}, "$.auth.office has 3 items, not 1", id="length"),
        pytest.param(
            {"FIND$": {"office": ["20", "21", "21"]}},
            "$.auth.office has items for each by itself, but not one for each",
            id="no pairing",
        ),
        pytest.param(
            {"FIND$": {"office": "20"}},
            "$.auth.office is a list, and a strict search wants exactly `20`",
            id="strict",
        ),
        pytest.param({"FIND": {"role": ["x"]}}, "$.auth.role is text, not a list", id="no list"),
        pytest.param({"FIND": {"role": {"x": 1}}}, "$.auth.role is text, not an object", id="no object"),
        pytest.param({"FIND": {"team": "x1"}}, "$.auth.team is an object, not `x1`", id="an object"),
        pytest.param({"MATCH": {"auth": {"team": {"lead": "x2"}}}}, "$.auth.team.lead = `x1`", id="nested"),
    ],
)
def test_a_false_search_names_what_came_nearest(expression: dict[str, Any], nearest: str) -> None:
    (node,) = explain([expression], ContextIndex(CONTEXT)).expressions
    assert node.verdict is False
    assert (node.nearest or node.note) == nearest
    assert bool(node.note) is ("anywhere" in nearest or "at the root" in nearest)


def test_a_tree_is_read_from_top_to_bottom() -> None:
    rule = [
        {"AND": [{"MATCH": {"name": "corp"}}, {"NOT": {"FIND": {"role": "r'admin'"}}}, {"FIND": {"age": 43}}]}
    ]
    assert explain(rule, ContextIndex(CONTEXT)).lines() == [
        "false     AND",
        'true        MATCH name = "corp"  at $.name',
        "true        NOT",
        "false         FIND role = r'admin'",
        "                nearest: $.auth.role = `administrator`, of which the pattern",
        "                  matched only a part",
        "false       FIND age = 43  nearest: $.auth.age = `42`",
    ]


def test_conditions_that_do_not_fit_have_lines_of_their_own() -> None:
    wanted = {
        "auth": {"role": "administrator", "office": ["20", "30"], "team": {"lead": "r'x[0-9]'"}},
        "name": "no",
    }
    assert explain([{"MATCH": wanted}], ContextIndex(CONTEXT)).lines() == [
        'false     MATCH auth.role = "administrator"',
        '                auth.office = ["20", "30"]',
        "                auth.team.lead = r'x[0-9]'",
        '                name = "no"',
        "            nearest: $.name = `corp`",
    ]


def test_a_search_with_many_conditions_shows_the_first_ones() -> None:
    rule = [{"FIND": {f"key_{number}": "v" * 30 for number in range(50)}}]
    lines = explain(rule, ContextIndex(CONTEXT)).lines()
    assert [line.split()[0] for line in lines[-3:]] == ["key_7", "...", "no"]


@pytest.mark.parametrize(
    ("expression", "because"),
    [
        pytest.param({"FIND": {"office": "21"}}, "at $.auth.office[1]", id="true"),
        pytest.param({"FIND": {"age": 43}}, "$.auth.age = `42`", id="false"),
        pytest.param({"NOT": {"FIND": {"age": 42}}}, "at $.auth.age", id="what must not be there"),
        pytest.param(
            {"AND": [{"FIND": {"age": 42}}, {"FIND": {"age": 43}}]},
            "$.auth.age = `42`",
            id="the false one of AND",
        ),
        pytest.param(
            {"AND": [{"FIND": {"age": 42}}, {"MATCH": {"name": "corp"}}]},
            "at $.auth.age, and at $.name",
            id="all of AND",
        ),
        pytest.param(
            {"OR": [{"FIND": {"age": 43}}, {"MATCH": {"name": "corp"}}]}, "at $.name", id="the true one of OR"
        ),
    ],
)
def test_what_decided_is_said_in_one_line(expression: dict[str, Any], because: str) -> None:
    assert explain([expression], ContextIndex(CONTEXT)).expressions[0].because() == because


def test_several_expressions_stand_under_the_rule() -> None:
    lines = explain([{"FIND": {"age": 43}}, {"FIND": {"age": 42}}], ContextIndex(CONTEXT)).lines()
    assert lines[0] == "true      any of 2 expressions"
    assert lines[1] == "false       FIND age = 43  nearest: $.auth.age = `42`"


def test_the_record_is_the_tree() -> None:
    rule = [{"NOT": {"FIND": {"age": 43}}}]
    assert explain(rule, ContextIndex(CONTEXT)).record() == {
        "verdict": "true",
        "expressions": [
            {
                "operator": "NOT",
                "verdict": "true",
                "expressions": [
                    {
                        "operator": "FIND",
                        "verdict": "false",
                        "wanted": {"age": 43},
                        "nearest": "$.auth.age = `42`",
                    }
                ],
            }
        ],
    }


def test_the_first_place_in_document_order_is_named() -> None:
    index = ContextIndex({"b": {"k": 1}, "a": [{"x": {"k": 1}}, {"k": 1}]})
    (node,) = explain([{"FIND": {"k": 1}}], index).expressions
    assert node.paths == ("$.b.k",)
    (node,) = explain([{"FIND": {"k": 2}}], index).expressions
    assert node.nearest == "$.b.k = `1`"


@pytest.mark.parametrize(
    ("operator", "operands", "verdict"),
    [
        ("OR", ["yes", "bad"], True),
        ("OR", ["bad", "yes"], None),
        ("OR", ["no", "bad"], None),
        ("AND", ["no", "bad"], False),
        ("AND", ["bad", "no"], None),
        ("AND", ["yes", "bad"], None),
    ],
)
def test_a_node_is_undecided_where_a_login_would_stop(
    operator: str, operands: list[str], verdict: bool | None
) -> None:
    search = {"yes": "r'admin.*'", "no": "x", "bad": "r'('"}
    rule = [{operator: [{"FIND": {"role": search[operand]}} for operand in operands]}]
    trace = explain(rule, ContextIndex(CONTEXT))
    assert trace.verdict is trace.expressions[0].verdict is verdict


def test_an_undecided_rule_says_why() -> None:
    trace = explain([{"FIND": {"role": "r'('"}}], ContextIndex(CONTEXT))
    assert trace.record()["verdict"] == "undecided"
    assert "missing )" in str(trace.record()["reason"])
    assert trace.lines()[0] == "undecided rule, so it grants nothing"


def test_lines_stay_narrow_and_printable_whatever_they_show() -> None:
    hostile = "\x1b[31m\n\u202e" + "x" * 500
    rule: Any = {"FIND": {hostile: hostile, "a": hostile}}
    for _ in range(60):
        rule = {"AND": [rule, {"FIND": {"a": "r'.*'"}}]}
    for context in ({"a": hostile}, {"b": {hostile: [hostile]}}, {hostile: hostile, "a": hostile}):
        lines = explain([rule], ContextIndex(context)).lines()
        assert max(map(len, lines)) <= WIDTH
        assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    ("items", "told"),
    [
        pytest.param([], "$.groups has no item `web`: it is empty", id="empty"),
        pytest.param([1, None], "$.groups has no item `web`; its items: 1, null", id="no text"),
        pytest.param(
            list("abcdefg"), "$.groups has no item `web`; its items: a, b, c, d, e, 2 more", id="many"
        ),
        pytest.param(["x" * 50], f"$.groups has no item `web`; its items: {'x' * 24}...", id="long"),
        pytest.param([{"a": 1}], '$.groups has no item `web`; its items: {"a": 1}', id="an object"),
        pytest.param(["a\x1b[31m"], "$.groups has no item `web`; its items: a\\x1b[31m", id="odd characters"),
    ],
)
def test_a_list_without_the_item_says_what_it_has(items: list[object], told: str) -> None:
    (node,) = explain([{"FIND": {"groups": "web"}}], ContextIndex({"groups": items})).expressions
    assert node.nearest == told
