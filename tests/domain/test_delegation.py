"""Nobody gives what he does not hold: rights compared before and after a change."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.defaults import POLICIES, ROLES
from mgmtctl.domain.delegation import GRANT_NOTHING, NOBODY, covers_right, holdings, missing_rights
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.grants import BLACK, WHITE, Entry, Grant, Permissions
from mgmtctl.domain.policies import blocks_record
from mgmtctl.domain.resources import Resource

READ = "agent:read"


def holding(*said: str, mode: str = WHITE, action: str = READ, has_roles: bool = True) -> Permissions:
    """Permissions of entries written `+agent:id:*` (allow) and `-agent:id:001` (deny)."""
    effects = {"+": "allow", "-": "deny"}
    entries = [
        Entry(1, "r", "", 1, "p", "b", effects[text[0]], action, Resource.stored(text[1:])) for text in said
    ]
    return Permissions(mode, entries, has_roles)


def role(name: str, mode: str = WHITE) -> Permissions:
    policies = next(found.policies for found in ROLES if found.name == name)
    return Permissions.granted(
        mode,
        [Grant(1, name, "", p.id, p.name, blocks_record(p.blocks)) for p in POLICIES if p.name in policies],
    )


COVERS = [
    pytest.param(["+agent:id:*"], "agent:id:042", True, id="all agents cover an agent"),
    pytest.param(["+agent:id:*"], "agent:group:web", True, id="all agents cover a group"),
    pytest.param(["+agent:id:*"], "agent:group:*", True, id="all agents cover all groups"),
    pytest.param(["+agent:group:*"], "agent:group:web", True, id="all groups cover a group"),
    pytest.param(["+agent:group:*"], "agent:id:042", False, id="all groups do not cover an agent"),
    pytest.param(["+agent:group:*"], "agent:id:*", False, id="all groups do not cover all agents"),
    pytest.param(["+agent:group:web"], "agent:group:web", True, id="a group covers itself"),
    pytest.param(["+agent:group:web"], "agent:group:db", False, id="a group covers no other"),
    pytest.param(["+agent:group:web"], "agent:id:042", False, id="a group covers no agent, whoever is in it"),
    pytest.param(["+agent:id:042"], "agent:id:042", True, id="an agent covers itself"),
    pytest.param(["+agent:id:042"], "agent:group:web", False, id="an agent covers no group"),
    pytest.param(["+agent:id:*", "-agent:id:042"], "agent:id:042", False, id="a deny takes the agent"),
    pytest.param(["+agent:id:*", "-agent:id:042"], "agent:id:001", True, id="and leaves another"),
    pytest.param(
        ["+agent:id:*", "-agent:id:042"], "agent:group:web", False, id="and takes groups it may be in"
    ),
    pytest.param(
        ["+agent:id:*", "-agent:group:db"], "agent:id:042", False, id="a group deny takes any agent"
    ),
    pytest.param(["+agent:id:*", "-agent:group:db"], "agent:group:web", False, id="and groups that overlap"),
    pytest.param(["+agent:group:web", "-agent:group:web"], "agent:group:web", False, id="a deny wins"),
    pytest.param(
        ["+agent:id:*", "-agent:group:*"], "agent:id:042", False, id="a deny of all groups takes all"
    ),
    pytest.param([], "agent:id:042", False, id="nothing covers nothing"),
]


@pytest.mark.parametrize(("said", "asked", "expected"), COVERS)
def test_holding_is_judged_on_expressions(said: list[str], asked: str, expected: bool) -> None:
    assert covers_right(holding(*said), READ, Resource.parse(asked)) is expected


def test_black_mode_holds_all_that_is_not_denied() -> None:
    black = holding("-agent:id:042", mode=BLACK)
    assert covers_right(black, READ, Resource.parse("agent:id:001"))
    assert not covers_right(black, READ, Resource.parse("agent:id:*"))
    assert not covers_right(holding(mode=BLACK, has_roles=False), READ, Resource.parse("agent:id:001"))
    with pytest.raises(QuestionError):
        covers_right(black, READ, Resource.parse("group:id:web"))


GAINS = [
    pytest.param([], [], ["+agent:group:web"], ["agent:group:web"], id="a right nobody gave the caller"),
    pytest.param(["+agent:id:*"], [], ["+agent:group:web", "+agent:id:7"], [], id="parts of all agents"),
    pytest.param(["+agent:group:web"], [], ["+agent:id:001"], ["agent:id:001"], id="an agent for a group"),
    pytest.param(["+agent:group:web"], ["+agent:id:001"], ["+agent:id:001"], [], id="what was there before"),
    pytest.param(["+agent:group:*"], ["+agent:id:1"], ["+agent:group:db"], [], id="a group of all groups"),
    pytest.param([], ["+agent:id:*"], ["+agent:group:web"], [], id="less than before"),
    pytest.param([], ["+agent:id:*"], ["+agent:id:*", "-agent:id:001"], [], id="a new deny is no gain"),
    pytest.param(
        [],
        ["+agent:id:*", "-agent:id:001"],
        ["+agent:id:*"],
        ["agent:id:001"],
        id="a deny taken away is a gain",
    ),
    pytest.param(
        ["+agent:id:001"],
        ["+agent:id:*", "-agent:id:001"],
        ["+agent:id:*"],
        [],
        id="of what the caller holds",
    ),
    pytest.param(
        [],
        ["+agent:id:*", "-agent:group:db"],
        ["+agent:id:*"],
        ["agent:group:db"],
        id="a group deny taken away is a gain of that group",
    ),
    pytest.param(
        [],
        ["+agent:id:001", "-agent:group:db"],
        ["+agent:id:001"],
        ["agent:id:001"],
        id="or of the one agent that it kept back",
    ),
    pytest.param(
        [],
        ["+agent:group:web", "-agent:id:001"],
        ["+agent:group:web"],
        ["agent:id:001"],
        id="an agent kept out of a group",
    ),
    pytest.param(
        [],
        ["+agent:id:*", "-agent:group:*"],
        ["+agent:id:*", "-agent:group:db"],
        ["agent:group:*"],
        id="a narrower deny instead of a wide one",
    ),
    pytest.param(
        [], ["+agent:id:*", "-agent:id:*"], ["+agent:id:*"], ["agent:id:*"], id="a wildcard deny taken away"
    ),
    pytest.param(
        ["+agent:id:*", "-agent:id:001"],
        [],
        ["+agent:id:*"],
        ["agent:id:*"],
        id="more than a denied caller has",
    ),
    pytest.param(
        ["+agent:id:*", "-agent:id:001"],
        [],
        ["+agent:id:*", "-agent:id:001"],
        [],
        id="a caller with a deny gives with the same deny",
    ),
    pytest.param(
        ["+agent:id:*", "-agent:group:db"],
        [],
        ["+agent:group:web", "-agent:group:db", "-agent:id:9"],
        [],
        id="or with more denies",
    ),
    pytest.param(
        ["+agent:id:*", "-agent:group:db"],
        [],
        ["+agent:id:002"],
        ["agent:id:002"],
        id="an agent may join the denied group tomorrow",
    ),
]


@pytest.mark.parametrize(("caller", "before", "after", "expected"), GAINS)
def test_a_gain_that_the_caller_lacks_is_found(
    caller: list[str], before: list[str], after: list[str], expected: list[str]
) -> None:
    found = missing_rights(holding(*caller), holding(*before), holding(*after))
    assert [(action, str(resource)) for action, resource in found] == [(READ, text) for text in expected]


def test_an_administrator_may_give_everything() -> None:
    administrator = role("administrator")
    for name in (found.name for found in ROLES):
        assert missing_rights(administrator, NOBODY, role(name)) == []
    assert missing_rights(administrator, NOBODY, holding(mode=BLACK)) == []
    assert missing_rights(administrator, role("readonly"), role("readonly", BLACK)) == []


def test_a_narrow_role_may_not_give_a_wide_one() -> None:
    found = missing_rights(role("agents_readonly"), NOBODY, role("agents_admin"))
    assert ("agent:delete", Resource.parse("agent:id:*")) in found
    assert ("group:create", Resource.parse("*:*:*")) in found
    assert READ not in [action for action, _ in found]


def test_other_kinds_are_judged_by_value() -> None:
    some = holding("+user:id:100", action="security:update")
    more = holding("+user:id:100", "+user:id:101", "+role:id:*", action="security:update")
    assert [str(resource) for _, resource in missing_rights(some, NOBODY, more)] == [
        "role:id:*",
        "user:id:101",
    ]
    assert missing_rights(more, NOBODY, some) == []


def test_in_black_mode_unlinking_an_allow_gives_nothing() -> None:
    before = holding("+agent:id:001", "-agent:id:002", mode=BLACK)
    assert missing_rights(NOBODY, before, holding("-agent:id:002", mode=BLACK)) == []


def test_in_black_mode_unlinking_a_deny_gives_what_it_denied() -> None:
    before = holding("-agent:group:db", "-agent:id:002", mode=BLACK)
    found = missing_rights(NOBODY, before, holding("-agent:id:002", mode=BLACK))
    assert [(action, str(resource)) for action, resource in found] == [(READ, "agent:group:db")]


def test_in_black_mode_a_first_role_gives_almost_everything() -> None:
    nobody = holding(mode=BLACK, has_roles=False)
    found = missing_rights(NOBODY, nobody, holding(mode=BLACK))
    assert {action for action, _ in found} == set(ACTIONS) - GRANT_NOTHING
    assert all(resource.value == "*" for _, resource in found)
    denied = holding("-agent:id:001", mode=BLACK)
    given = {str(resource) for action, resource in missing_rights(denied, nobody, holding(mode=BLACK))}
    assert given == {"agent:id:*"}


def test_a_change_of_mode_is_a_gain() -> None:
    found = missing_rights(role("agents_admin"), role("agents_readonly"), role("agents_readonly", BLACK))
    assert ("security:create_user", Resource.parse("*:*:*")) in found
    assert ("agent:delete", Resource.parse("agent:id:*")) not in found
    assert missing_rights(NOBODY, role("readonly", BLACK), role("readonly")) == []


def test_holdings_are_every_scope_that_is_not_nothing() -> None:
    assert set(holdings(role("agents_readonly"))) == {(READ, "agent:id"), ("group:read", "group:id")}
    assert holdings(NOBODY) == {}
    assert set(ACTIONS) - {action for action, _ in holdings(role("administrator"))} == GRANT_NOTHING


IDS = ["001", "002", "other"]
GROUPS = ["db", "web", "other"]
SAID = st.lists(
    st.builds(
        str.__add__,
        st.sampled_from("+-"),
        st.sampled_from(
            [
                "agent:id:*",
                "agent:id:001",
                "agent:id:002",
                "agent:group:*",
                "agent:group:db",
                "agent:group:web",
            ]
        ),
    ),
    max_size=4,
)
HELD = st.builds(lambda said, mode: holding(*said, mode=mode), SAID, st.sampled_from([WHITE, BLACK]))
EVERY_AGENT = [
    (agent, groups)
    for agent in IDS
    for groups in chain.from_iterable(combinations(GROUPS, size) for size in range(len(GROUPS) + 1))
]


def gained(caller: Permissions, before: Permissions, after: Permissions) -> bool:
    """By trying every agent there could be: somebody gets one that the caller and he himself lacked."""
    scopes = [permissions.scope(READ, "agent:id") for permissions in (after, caller, before)]
    return any(
        scopes[0].covers(*agent) and not scopes[1].covers(*agent) and not scopes[2].covers(*agent)
        for agent in EVERY_AGENT
    )


@settings(max_examples=300)
@given(HELD, HELD, HELD)
def test_the_verdict_is_that_of_trying_every_possible_agent(
    caller: Permissions, before: Permissions, after: Permissions
) -> None:
    found = [resource for action, resource in missing_rights(caller, before, after) if action == READ]
    assert bool(found) is gained(caller, before, after)


@settings(max_examples=100)
@given(HELD, HELD)
def test_nobody_lacks_what_he_holds_himself(caller: Permissions, before: Permissions) -> None:
    assert missing_rights(caller, before, caller) == []
    assert missing_rights(before, caller, caller) == []


@settings(max_examples=100)
@given(HELD, st.sampled_from(["agent:id:*", "agent:id:001", "agent:group:*", "agent:group:db"]))
def test_a_covered_right_may_be_given(caller: Permissions, text: str) -> None:
    resource = Resource.parse(text)
    missing = missing_rights(caller, NOBODY, holding(f"+{text}"))
    assert covers_right(caller, READ, resource) is (missing == [])
