"""The catalogue of actions against the description and the endpoint table."""

from __future__ import annotations

import csv

import pytest

from mgmtctl.domain.actions import ACTIONS, action, mismatch, require_kind
from mgmtctl.domain.endpoints import endpoint, endpoints
from mgmtctl.domain.errors import NotFoundError, QuestionError
from mgmtctl.domain.resources import KINDS, Resource
from tests.conftest import ROOT, SPECIFICATION
from tests.domain.test_resources import table_rows

TABLE = ROOT / "mgmtctl" / "domain" / "data" / "endpoints.csv"


def listed() -> dict[str, bool]:
    """Action -> deprecated, as the table of the description says."""
    cells = [
        cell for row in table_rows(SPECIFICATION / "service.md", "### 2.5 ") for cell in row[1].split(",")
    ]
    return {cell.split()[0]: "(deprecated)" in cell for cell in cells}


def test_the_actions_are_those_of_the_description_in_its_order() -> None:
    assert list(ACTIONS) == list(listed())


def test_the_deprecated_actions_are_those_of_the_description() -> None:
    assert {name: found.deprecated is not None for name, found in ACTIONS.items()} == listed()
    text = (SPECIFICATION / "service.md").read_text(encoding="utf-8").split("## 9. Versioning")[1]
    for found in ACTIONS.values():
        if found.deprecated:
            sentence = next(part for part in text.split(". ") if f"`{found.name}`" in part)
            assert f"since {found.deprecated}" in sentence


def test_each_action_has_a_description_and_known_kinds() -> None:
    for found in ACTIONS.values():
        assert found.description
        assert found.kinds
        assert set(found.kinds) <= set(KINDS)


WITHOUT_ROW = {
    "cluster:update_api_config": ("node:id",),
    "manager:update_api_config": ("*:*",),
    "vulnerability:read": ("agent:id", "agent:group"),
    "vulnerability:run": ("*:*",),
}


def test_an_action_is_asked_on_the_kinds_of_the_rows_that_name_it_alone() -> None:
    """In a row with several actions an action belongs to the kinds of its own noun, so only lone rows say all."""
    lone: dict[str, set[str]] = {name: set(kinds) for name, kinds in WITHOUT_ROW.items()}
    with TABLE.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names = row["actions"].split(";")
            if len(names) == 1 and names[0]:
                lone.setdefault(names[0], set()).update(row["resources"].split(";"))
    for name, found in ACTIONS.items():
        if name in lone:
            assert set(found.kinds) == lone[name], name
    assert set(ACTIONS) - set(lone) == {
        "agent:modify_group",
        "cluster:restart",
        "decoders:update",
        "group:modify_assignments",
        "lists:update",
        "manager:restart",
        "rules:update",
    }


NOUN_KINDS = [
    pytest.param("agent:modify_group", ("agent:id", "agent:group"), id="agent actions on agents"),
    pytest.param("group:modify_assignments", ("group:id",), id="group actions on groups"),
    pytest.param("cluster:restart", ("node:id",), id="cluster actions on nodes"),
    pytest.param("manager:restart", ("*:*",), id="manager actions on nothing"),
    pytest.param("decoders:update", ("*:*",), id="decoder upload is resourceless"),
    pytest.param("lists:update", ("*:*",), id="list upload is resourceless"),
    pytest.param("rules:update", ("*:*",), id="rule upload is resourceless"),
]


@pytest.mark.parametrize(("name", "kinds"), NOUN_KINDS)
def test_an_action_of_shared_rows_has_the_kinds_of_its_noun(name: str, kinds: tuple[str, ...]) -> None:
    assert ACTIONS[name].kinds == kinds


def test_in_each_row_every_kind_is_asked_by_an_action_and_every_action_finds_a_kind() -> None:
    for row in endpoints():
        pairs = {name: ACTIONS[name].kinds_in(row.resources) for name in row.actions}
        assert all(pairs.values()), row
        assert {kind for kinds in pairs.values() for kind in kinds} == set(row.resources), row


def test_every_row_of_the_table_is_an_endpoint() -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(found.method, found.path) for found in endpoints()] == [
        (row["method"], row["path"]) for row in rows
    ]
    assert [found.deprecated for found in endpoints()] == [row["deprecated"] == "yes" for row in rows]
    assert [found.summary for found in endpoints()] == [row["summary"] for row in rows]


def test_an_endpoint_is_found_by_method_and_path() -> None:
    found = endpoint("PUT", "/agents/group")
    assert found.actions == ("agent:modify_group", "group:modify_assignments")
    with pytest.raises(NotFoundError, match="PATCH /agents"):
        endpoint("PATCH", "/agents")


def test_an_action_lists_its_endpoints_with_their_kinds() -> None:
    lines = action("group:modify_assignments").endpoints()
    assert "PUT /agents/group (group:id)" in lines
    assert action("agent:modify_group").record() == {
        "name": "agent:modify_group",
        "description": "change the groups of agents",
        "endpoints": [line.replace("(group:id)", "(agent:id, agent:group)") for line in lines],
        "resources": ["agent:id", "agent:group"],
        "deprecated": None,
    }


@pytest.mark.parametrize("line", table_rows(SPECIFICATION / "service.md", "### 4.5 "))
def test_the_inventory_endpoints_of_the_description_need_its_action(line: list[str]) -> None:
    path, _, names = line[0].partition("{agent_id}/{" if "{agent_id}" in line[0] else "{")
    prefix = path + ("{agent_id}/" if "{agent_id}" in line[0] else "")
    for name in names.rstrip("}").split(","):
        found = endpoint("GET", prefix + name.strip())
        assert found.actions == ("syscollector:read",)
        assert found.resources == ("agent:id", "agent:group")


UNKNOWN = [
    pytest.param("agents:read", "agent:read", id="plural noun"),
    pytest.param("agent:modify", "agent:modify_group", id="cut short"),
    pytest.param("Agent:Read", "agent:read", id="upper case"),
    pytest.param("agent:raed", "agent:read", id="letters swapped"),
    pytest.param("agent:delte", "agent:delete", id="a letter less"),
    pytest.param("agent:restartt", "agent:restart", id="a letter more"),
    pytest.param("agent:reed", "agent:read", id="another letter"),
    pytest.param("manager:update", "manager:update_config", id="the shorter of two"),
    pytest.param("manager:delete_file", "actions list", id="a long noun and another verb"),
    pytest.param("agent:reload", "actions list", id="a verb that is near in letters only"),
    pytest.param("agent:delete_file", "actions list", id="a verb that does less"),
    pytest.param("agent:", "actions list", id="no verb"),
    pytest.param("frobnicate", "actions list", id="nothing near"),
    pytest.param("", "actions list", id="empty"),
]


@pytest.mark.parametrize(("name", "hint"), UNKNOWN)
def test_an_unknown_action_is_a_question_that_cannot_be_asked(name: str, hint: str) -> None:
    with pytest.raises(QuestionError) as caught:
        action(name)
    assert hint in (caught.value.fix or "")


def test_an_action_is_only_asked_on_its_kinds() -> None:
    require_kind("agent:read", "agent:group")
    with pytest.raises(QuestionError, match="never asked on group:id"):
        require_kind("agent:read", "group:id")
    with pytest.raises(QuestionError, match="kind `agents:id` does not exist"):
        require_kind("agent:read", "agents:id")


def test_the_star_is_written_whole_in_advice() -> None:
    with pytest.raises(QuestionError) as caught:
        require_kind("agent:create", "agent:id")
    assert caught.value.fix == "ask it on `*:*:*`"
    with pytest.raises(QuestionError, match=r"never asked on `\*:\*:\*`"):
        require_kind("agent:read", "*:*")


def test_a_pair_that_can_never_match_is_named() -> None:
    assert mismatch(action("agent:read"), Resource.parse("agent:group:web")) is None
    assert "have no resource" in (mismatch(action("agent:read"), Resource.parse("*:*:*")) or "")
    assert "needs `*:*:*`" in (mismatch(action("agent:create"), Resource.parse("agent:id:*")) or "")
