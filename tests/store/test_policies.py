"""Policies in a real store: what goes in comes out."""

from __future__ import annotations

import json

import pytest

from mgmtctl.domain import defaults
from mgmtctl.domain.errors import ConflictError, NotFoundError
from mgmtctl.domain.policies import Policy, parse_policy
from mgmtctl.store.store import Store

TWO_BLOCKS = parse_policy(
    {
        "see": {"actions": ["agent:read"], "resources": ["agent:id:7", "agent:group:web"], "effect": "allow"},
        "not": {"actions": ["agent:delete"], "resources": ["agent:id:*"], "effect": "deny"},
    },
    "two",
)


@pytest.fixture
def store() -> Store:
    return Store(":memory:", create=True)


def test_a_policy_comes_back_as_it_was_put_in(store: Store) -> None:
    number = store.policies.add("two", TWO_BLOCKS)
    assert store.policies.get(number) == Policy(100, "two", TWO_BLOCKS)
    assert store.policies.list() == [Policy(100, "two", TWO_BLOCKS)]


def test_every_default_policy_comes_back_as_it_was_put_in(store: Store) -> None:
    for policy in defaults.POLICIES:
        store.policies.add(policy.name, policy.blocks, policy_id=policy.id)
    assert store.policies.list() == list(defaults.POLICIES)


def test_blocks_are_stored_as_plain_json(store: Store) -> None:
    store.policies.add("two", TWO_BLOCKS)
    stored = json.loads(store.database.value("SELECT blocks FROM policies"))
    assert stored["see"] == {
        "actions": ["agent:read"],
        "resources": ["agent:id:007", "agent:group:web"],
        "effect": "allow",
    }


def test_new_blocks_replace_all_old_ones(store: Store) -> None:
    number = store.policies.add("two", TWO_BLOCKS)
    store.policies.set_blocks(number, TWO_BLOCKS[:1])
    assert store.policies.get(number).blocks == TWO_BLOCKS[:1]


def test_a_taken_name_is_a_conflict(store: Store) -> None:
    store.policies.add("two", TWO_BLOCKS)
    with pytest.raises(ConflictError) as refused:
        store.policies.add("Two", TWO_BLOCKS)
    assert refused.value.code == 4009


def test_an_unknown_policy_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError) as missing:
        store.policies.get(1)
    assert missing.value.code == 4007


def test_a_policy_knows_the_roles_that_have_it(store: Store) -> None:
    number = store.policies.add("two", TWO_BLOCKS)
    roles = [store.roles.add(name) for name in ("a", "b")]
    for role in reversed(roles):
        store.roles.link_policy(role, number)
    assert store.policies.roles_of(number) == tuple(roles)
