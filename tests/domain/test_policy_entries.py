"""Entries put into policies and taken out: exactly these, in blocks that a policy may have."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.actions import ACTIONS, mismatch
from mgmtctl.domain.errors import ConflictError
from mgmtctl.domain.policies import Block, blocks_record, check_policy
from mgmtctl.domain.policy_entries import Entries, entries_of, with_entries, without_entries
from mgmtctl.domain.resources import Resource

SAMPLES = ["agent:read", "agent:restart", "agent:create", "group:read", "security:read"]
PLACES = [
    "agent:id:001",
    "agent:id:002",
    "agent:group:web",
    "*:*:*",
    "group:id:web",
    "role:id:100",
    "user:id:7",
]


def block(name: str, actions: str, resources: str, effect: str = "allow") -> Block:
    return Block(name, tuple(actions.split()), tuple(map(Resource.parse, resources.split())), effect)


def entries(actions: str, resources: str, effect: str = "allow") -> Entries:
    return Entries(*_parts(actions, resources), effect)


def _parts(actions: str, resources: str) -> tuple[tuple[str, ...], tuple[Resource, ...]]:
    return tuple(actions.split()), tuple(map(Resource.parse, resources.split()))


@st.composite
def blocks(draw: st.DrawFn, name: str = "b") -> Block:
    """A block that a policy may have: each action fits some resource, and each resource some action."""
    places = draw(st.lists(st.sampled_from(PLACES), min_size=1, unique=True))
    resources = [Resource.parse(place) for place in places]
    fits = [a for a in SAMPLES if any(mismatch(ACTIONS[a], one) is None for one in resources)]
    actions = draw(st.lists(st.sampled_from(fits), min_size=1, unique=True))
    used = tuple(one for one in resources if any(mismatch(ACTIONS[a], one) is None for a in actions))
    return Block(name, tuple(actions), used, draw(st.sampled_from(["allow", "deny"])))


POLICIES = st.lists(blocks(), min_size=1, max_size=4).map(
    lambda found: [Block(f"b{n}", b.actions, b.resources, b.effect) for n, b in enumerate(found)]
)
ASKED = blocks().map(lambda found: Entries(found.actions, found.resources, found.effect))


def is_policy(found: tuple[Block, ...]) -> bool:
    names = [one.name for one in found]
    return len(set(names)) == len(names) and check_policy({"blocks": blocks_record(found)}) == []


@settings(max_examples=200)
@given(POLICIES, ASKED)
def test_exactly_the_entries_that_are_named_go(policy: list[Block], asked: Entries) -> None:
    left = without_entries(policy, asked)
    assert entries_of(left) == entries_of(policy) - {(*pair, asked.effect) for pair in asked.pairs()}
    assert not left or is_policy(left)
    assert [b for b in left if b in policy] == [b for b in policy if b in left]
    assert without_entries(left, asked) == left


@settings(max_examples=200)
@given(POLICIES, ASKED)
def test_exactly_the_entries_that_are_named_come(policy: list[Block], asked: Entries) -> None:
    more = with_entries(policy, asked)
    wanted = {(*pair, asked.effect) for pair in asked.pairs()}
    assert entries_of(more) == entries_of(policy) | wanted
    assert (is_policy(more), more[: len(policy)]) == (True, tuple(policy))
    assert with_entries(more, asked) == more


@settings(max_examples=200)
@given(POLICIES, ASKED)
def test_a_named_block_takes_exactly_them_or_refuses(policy: list[Block], asked: Entries) -> None:
    try:
        more = with_entries(policy, asked, "b0")
    except ConflictError:
        return
    assert entries_of(more) == entries_of(policy) | {(*pair, asked.effect) for pair in asked.pairs()}
    assert is_policy(more)


def test_what_is_missing_comes_as_a_block_of_its_own() -> None:
    policy = [
        block("web", "agent:read", "agent:group:web"),
        block("agent_read", "agent:read", "agent:group:db"),
    ]
    more = with_entries(policy, entries("agent:read", "agent:group:web agent:id:042"))
    assert more[2:] == (block("agent_read_2", "agent:read", "agent:id:042"),)
    denied = with_entries(policy, entries("agent:restart agent:delete", "agent:id:042", "deny"))
    assert denied[2:] == (block("deny_agent_restart", "agent:restart agent:delete", "agent:id:042", "deny"),)


def test_a_named_block_is_made_or_joined() -> None:
    policy = [block("web", "agent:read", "agent:group:web")]
    asked = entries("agent:read", "agent:id:042")
    assert with_entries(policy, asked, "web") == (block("web", "agent:read", "agent:group:web agent:id:042"),)
    assert with_entries(policy, asked, "new") == (*policy, block("new", "agent:read", "agent:id:042"))


REFUSED = [
    pytest.param(
        "agent:restart", "agent:id:042", "allow", "it would also allow agent:read on agent:id:042", id="more"
    ),
    pytest.param("agent:read", "agent:id:042", "deny", "its effect is allow", id="another effect"),
]


@pytest.mark.parametrize(("action", "resource", "effect", "why"), REFUSED)
def test_a_block_never_comes_to_say_more(action: str, resource: str, effect: str, why: str) -> None:
    with pytest.raises(ConflictError) as refused:
        with_entries(
            [block("web", "agent:read", "agent:group:web")], entries(action, resource, effect), "web"
        )
    assert refused.value.why == why


def test_a_block_is_split_where_it_must_keep_others() -> None:
    policy = [block("web", "agent:read agent:restart", "agent:id:001 agent:id:002")]
    assert without_entries(policy, entries("agent:restart", "agent:id:001")) == (
        block("web", "agent:read", "agent:id:001 agent:id:002"),
        block("web_2", "agent:restart", "agent:id:002"),
    )
    assert without_entries(policy, entries("agent:restart agent:read", "agent:id:001")) == (
        block("web", "agent:read agent:restart", "agent:id:002"),
    )
    assert without_entries(policy, entries("agent:restart agent:read", "agent:id:001 agent:id:002")) == ()


@pytest.mark.parametrize(
    ("held", "asked"),
    [("agent:id:*", "agent:id:042"), ("agent:id:*", "agent:group:web"), ("agent:group:*", "agent:group:web")],
)
@pytest.mark.parametrize("effect", ["allow", "deny"])
def test_a_wildcard_is_not_split(held: str, asked: str, effect: str) -> None:
    policy = [block("all", "agent:read", held, effect)]
    with pytest.raises(ConflictError) as refused:
        without_entries(policy, entries("agent:read", asked, effect))
    assert held in (refused.value.why or "")
    other = entries("agent:read", asked, "deny" if effect == "allow" else "allow")
    assert without_entries(policy, other) == tuple(policy)
