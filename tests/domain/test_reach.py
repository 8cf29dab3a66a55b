"""Who may, and all that somebody may: what decisions say, for many at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.delegation import GRANT_NOTHING
from mgmtctl.domain.grants import BLACK, WHITE, Grant, Permissions, decide
from mgmtctl.domain.reach import able, everything_held, said_by_roles
from mgmtctl.domain.resources import Resource, agent_names

ACTION, OTHER = "agent:read", "agent:delete"
RESOURCES = (
    "agent:id:*",
    "agent:id:001",
    "agent:id:002",
    "agent:group:web",
    "agent:group:db",
    "agent:group:*",
)
ASKED = [
    *(agent_names(number, groups) for number in ("001", "003") for groups in ((), ("web",), ("web", "db"))),
    (Resource("agent:id", "*"),),
    (Resource("agent:group", "web"),),
    (Resource("agent:group", "*"),),
]

blocks = st.fixed_dictionaries(
    {
        "actions": st.lists(st.sampled_from((ACTION, OTHER)), min_size=1, max_size=2, unique=True),
        "resources": st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=2, unique=True),
        "effect": st.sampled_from(("allow", "deny")),
    }
)
worlds = st.lists(st.lists(blocks, max_size=2), min_size=1, max_size=3)
modes = st.sampled_from((WHITE, BLACK))


def grants(world: list[list[dict[str, Any]]]) -> list[Grant]:
    """Each list of blocks is the one policy of a role."""
    return [
        Grant(
            number,
            f"r{number}",
            "linked",
            number,
            f"p{number}",
            {f"b{k}": block for k, block in enumerate(found)},
        )
        for number, found in enumerate(world, start=1)
    ]


@settings(max_examples=150)
@given(world=worlds, mode=modes, names=st.sampled_from(ASKED), chosen=st.sets(st.integers(1, 3)))
def test_who_is_able_is_who_the_decision_allows(
    world: list[list[dict[str, Any]]], mode: str, names: tuple[Resource, ...], chosen: set[int]
) -> None:
    given_ = grants(world)
    held = {grant.role_id for grant in given_} & chosen
    entries = [entry for grant in given_ if grant.role_id in held for entry in grant.entries()]
    decision = decide(entries, mode, ACTION, names, has_roles=bool(held))
    found = able(sorted(held), said_by_roles(given_, ACTION, names), mode)
    assert (found is not None) is decision.allowed
    if found is not None:
        assert sorted(found) == sorted(decision.because)


def test_a_role_that_says_nothing_to_the_question_is_not_asked_again() -> None:
    silent = grants([[{"actions": [OTHER], "resources": ["agent:id:*"], "effect": "allow"}]])
    assert said_by_roles(silent, ACTION, ASKED[0]) == {}


@settings(max_examples=100)
@given(world=worlds, mode=modes)
def test_what_is_held_reaches_exactly_what_the_decision_allows(
    world: list[list[dict[str, Any]]], mode: str
) -> None:
    permissions = Permissions.granted(mode, grants(world))
    held = {one.action: one for one in everything_held(permissions, lambda entry: True)}
    for names in ASKED[:6]:
        groups = {name.value for name in names if name.kind == "agent:group"}

        def covered(part: tuple[Resource, ...], names: Any = names, groups: Any = groups) -> bool:
            return any(
                (r.kind == "agent:group" and (r.value in groups or (r.value == "*" and groups)))
                or (r.kind == "agent:id" and r.value in ("*", names[0].value))
                for r in part
            )

        one = held.get(ACTION)
        reached = one is not None and covered(one.resources) and not covered(one.but)
        assert reached is permissions.allows(ACTION, *names)


def test_everything_held_is_whole_for_one_who_sees_all() -> None:
    world = [[{"actions": [ACTION], "resources": ["agent:group:web", "agent:id:007"], "effect": "allow"}]]
    (one,) = everything_held(Permissions.granted(WHITE, grants(world)), lambda entry: True)
    assert (one.whole, one.by, one.by_mode) == (True, ("r1/p1",), False)
    assert list(map(str, one.resources)) == ["agent:group:web", "agent:id:007"]


def test_what_a_hidden_policy_names_stays_out_but_not_that_there_is_more() -> None:
    world = [
        [{"actions": [ACTION], "resources": ["agent:group:web"], "effect": "allow"}],
        [{"actions": [ACTION], "resources": ["agent:group:hidden"], "effect": "allow"}],
        [{"actions": [OTHER], "resources": ["agent:id:*"], "effect": "allow"}],
        [{"actions": [OTHER], "resources": ["agent:id:666"], "effect": "deny"}],
    ]
    permissions = Permissions.granted(WHITE, grants(world))
    read, delete = sorted(
        everything_held(permissions, lambda entry: entry.role_id == 1),
        key=lambda one: one.action,
        reverse=True,
    )
    assert ([str(r) for r in read.resources], read.whole, read.by) == (["agent:group:web"], False, ("r1/p1",))
    assert ([str(r) for r in delete.resources], delete.but, delete.whole) == (["agent:id:*"], (), False)
    assert "hidden" not in str(read.record())
    assert "666" not in str(delete.record())


def test_a_session_sees_all_resources_of_its_own_but_no_policy_that_is_hidden() -> None:
    world = [[{"actions": [ACTION], "resources": ["agent:group:web"], "effect": "allow"}]]
    (one,) = everything_held(Permissions.granted(WHITE, grants(world)), lambda entry: False, own=True)
    assert ([str(r) for r in one.resources], one.because, one.whole) == (["agent:group:web"], (), True)


@pytest.mark.parametrize(("mode", "number"), [(WHITE, 0), (BLACK, len(ACTIONS) - len(GRANT_NOTHING))])
def test_a_role_that_says_nothing_holds_what_the_mode_gives(mode: str, number: int) -> None:
    held = everything_held(Permissions.granted(mode, ()), lambda entry: True)
    assert (len(held), {one.by for one in held}) == (number, {("mode black",)} if number else set())


def test_the_mode_is_no_reason_where_an_entry_gives_all() -> None:
    world = [[{"actions": ["agent:create"], "resources": ["*:*:*"], "effect": "allow"}]]
    held = {
        one.action: one
        for one in everything_held(Permissions.granted(BLACK, grants(world)), lambda entry: True)
    }
    assert (held["agent:create"].by, held["group:create"].by) == (("r1/p1",), ("mode black",))


def test_nobody_without_a_role_holds_or_is_able() -> None:
    assert everything_held(Permissions.granted(BLACK, (), has_roles=False), lambda entry: True) == []
    assert able([], {}, BLACK) is None
