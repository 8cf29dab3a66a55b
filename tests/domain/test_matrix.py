"""The grid: its cells say what decisions say, and count what membership does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.grants import BLACK, WHITE, Grant, Permissions
from mgmtctl.domain.matrix import ALLOWED, BY_MODE, DENIED, NO, PARTLY, Cell, group_grid, kind_grid, mentioned
from mgmtctl.domain.resources import Resource, agent_names
from mgmtctl.domain.scopes import EVERYTHING, Scope

AGENTS = {"001": ("web",), "002": ("web", "db"), "003": ("default",)}
GROUPS = ("db", "default", "pci", "web")
ACTION = "agent:read"
RESOURCES = (
    "agent:id:*",
    "agent:id:001",
    "agent:id:003",
    "agent:group:web",
    "agent:group:db",
    "agent:group:*",
)


def members(scope: Scope) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for number, groups in AGENTS.items():
        for group in groups if scope.covers(number, groups) else ():
            found[group] = found.get(group, 0) + 1
    return found


def permissions(mode: str, *blocks: dict[str, Any]) -> Permissions:
    named = {f"b{number}": block for number, block in enumerate(blocks)}
    return Permissions.granted(mode, [Grant(1, "r", "linked", 1, "p", named)])


def block(effect: str, action: str, *resources: str) -> dict[str, Any]:
    return {"actions": [action], "resources": list(resources), "effect": effect}


def by_group(mode: str, *blocks: dict[str, Any]) -> dict[str, Mapping[str, Cell]]:
    rows = group_grid(permissions(mode, *blocks), GROUPS, members, EVERYTHING)
    return {row.action: row.cells for row in rows}


def by_resource(mode: str, *blocks: dict[str, Any]) -> dict[str, Mapping[str, Cell]]:
    held = permissions(mode, *blocks)
    rows = kind_grid(
        held, mentioned(held.entries), lambda number: AGENTS.get(number, ()), members, EVERYTHING
    )
    return {row.action: row.cells for row in rows}


@pytest.mark.parametrize(
    ("mode", "blocks", "group", "cell"),
    [
        pytest.param(
            WHITE, [("allow", "agent:group:web")], "web", Cell(ALLOWED, 2, 2), id="a group by itself"
        ),
        pytest.param(WHITE, [("allow", "agent:id:*")], "pci", Cell(ALLOWED, 0, 0), id="an empty group too"),
        pytest.param(
            WHITE, [("allow", "agent:group:web")], "db", Cell(PARTLY, 1, 1), id="its agents, not the group"
        ),
        pytest.param(
            WHITE, [("allow", "agent:group:web")], "default", Cell(NO, 0, 1), id="nothing allows it"
        ),
        pytest.param(WHITE, [("allow", "agent:id:001")], "web", Cell(PARTLY, 1, 2), id="one of its agents"),
        pytest.param(
            WHITE,
            [("allow", "agent:group:web"), ("deny", "agent:group:db")],
            "web",
            Cell(PARTLY, 1, 2),
            id="a deny takes one away",
        ),
        pytest.param(
            WHITE,
            [("allow", "agent:id:*"), ("deny", "agent:group:web")],
            "web",
            Cell(DENIED, 0, 2),
            id="a deny",
        ),
        pytest.param(
            WHITE,
            [("allow", "agent:id:*"), ("deny", "agent:group:web")],
            "db",
            Cell(DENIED, 0, 1),
            id="all taken",
        ),
        pytest.param(BLACK, [], "web", Cell(BY_MODE, 2, 2), id="the mode"),
        pytest.param(
            BLACK, [("deny", "agent:group:db")], "web", Cell(PARTLY, 1, 2), id="the mode without some"
        ),
        pytest.param(
            BLACK, [("deny", "agent:id:*")], "web", Cell(DENIED, 0, 2), id="a deny against the mode"
        ),
    ],
)
def test_a_group_of_agents(mode: str, blocks: list[tuple[str, str]], group: str, cell: Cell) -> None:
    assert by_group(mode, *(block(effect, ACTION, on) for effect, on in blocks))[ACTION][group] == cell


def test_groups_are_asked_about_agents_and_groups_and_nothing_else() -> None:
    rows = by_group(
        WHITE, block("allow", "group:read", "group:id:web"), block("allow", "agent:create", "*:*:*")
    )
    kinds = {kind for action in rows for kind in ACTIONS[action].kinds}
    assert kinds == {"agent:id", "agent:group", "group:id"}
    assert [rows["group:read"][group].answer for group in GROUPS] == [NO, NO, NO, ALLOWED]
    assert list(rows) == [name for name in ACTIONS if name in rows]


@pytest.mark.parametrize(
    ("mode", "blocks", "column", "answer"),
    [
        pytest.param(WHITE, [("allow", "agent:id:*")], "agent:id:*", ALLOWED, id="all"),
        pytest.param(WHITE, [("allow", "agent:group:web")], "agent:id:*", PARTLY, id="some of all"),
        pytest.param(
            WHITE, [("deny", "agent:group:web")], "agent:id:*", NO, id="a deny alone allows nothing"
        ),
        pytest.param(
            WHITE, [("allow", "agent:id:*"), ("deny", "agent:id:001")], "agent:id:*", PARTLY, id="all but one"
        ),
        pytest.param(
            WHITE,
            [("allow", "agent:id:001"), ("deny", "agent:id:001")],
            "agent:id:*",
            DENIED,
            id="all taken away",
        ),
        pytest.param(
            WHITE,
            [("allow", "agent:id:*"), ("deny", "agent:group:*")],
            "agent:group:*",
            DENIED,
            id="any group denied",
        ),
        pytest.param(WHITE, [("allow", "agent:group:*")], "agent:group:*", ALLOWED, id="any group allowed"),
        pytest.param(WHITE, [("allow", "agent:id:001")], "agent:id:001", ALLOWED, id="one agent"),
        pytest.param(
            WHITE,
            [("allow", "agent:id:001"), ("deny", "agent:group:web")],
            "agent:id:001",
            DENIED,
            id="by its group",
        ),
        pytest.param(BLACK, [("deny", "agent:id:001")], "agent:id:*", PARTLY, id="the mode but one"),
    ],
)
def test_a_resource(mode: str, blocks: list[tuple[str, str]], column: str, answer: str) -> None:
    cells = by_resource(mode, *(block(effect, ACTION, on) for effect, on in blocks))[ACTION]
    assert cells[column].answer == answer


def test_a_row_has_cells_only_where_its_action_is_asked() -> None:
    rows = by_resource(
        WHITE, block("allow", ACTION, "agent:group:web"), block("allow", "group:create", "*:*:*")
    )
    assert list(rows[ACTION]) == ["agent:id:*", "agent:group:web"]
    assert list(rows["group:create"]) == ["*:*:*"]
    assert "group:read" not in rows


def test_entries_that_can_never_match_make_no_column() -> None:
    assert mentioned(permissions(WHITE, block("allow", ACTION, "*:*:*")).entries) == []


blocks_ = st.builds(block, st.sampled_from(("allow", "deny")), st.just(ACTION), st.sampled_from(RESOURCES))


@settings(max_examples=150)
@given(found=st.lists(blocks_, max_size=4), mode=st.sampled_from((WHITE, BLACK)))
def test_cells_agree_with_what_is_allowed_agent_by_agent(found: list[dict[str, Any]], mode: str) -> None:
    held = permissions(mode, *found)
    allowed = {n: held.allows(ACTION, *agent_names(n, groups)) for n, groups in AGENTS.items()}
    for group, cell in by_group(mode, *found)[ACTION].items():
        inside = [allowed[number] for number, groups in AGENTS.items() if group in groups]
        assert (cell.agents, cell.of) == (sum(inside), len(inside))
        assert cell.answer not in (ALLOWED, BY_MODE) or all(inside)
        assert cell.answer not in (DENIED, NO) or not any(inside)
    for column, cell in by_resource(mode, *found).get(ACTION, {}).items():
        resource = Resource.parse(column)
        if resource.kind == "agent:id" and resource.value in AGENTS:
            assert (cell.answer in (ALLOWED, BY_MODE)) is allowed[resource.value]
        if column == "agent:id:*":
            assert (cell.answer in (ALLOWED, BY_MODE)) is held.allows(ACTION, resource)
            assert cell.answer not in (DENIED, NO) or not any(allowed.values())


def test_a_session_without_roles_may_do_nothing_in_either_mode() -> None:
    nobody = Permissions.granted(BLACK, (), has_roles=False)
    rows = group_grid(nobody, GROUPS, members, EVERYTHING)
    assert {cell.answer for row in rows for cell in row.cells.values()} == {NO}
    assert not any(row.says_something for row in rows)
