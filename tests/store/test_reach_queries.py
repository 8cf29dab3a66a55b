"""What questions about many at once read: policies by action, roles by rule, members within two scopes."""

from __future__ import annotations

import pytest

from mgmtctl.domain.policies import parse_policy
from mgmtctl.domain.scopes import EVERYTHING, NOTHING, Scope
from mgmtctl.store.agents import NewAgent
from mgmtctl.store.store import Store


@pytest.fixture
def store() -> Store:
    """Agents 1 in web, 2 in web and db, 3 in db."""
    made = Store(":memory:", create=True)
    rows = ((1, "one", "web"), (2, "two", "web,db"), (3, "three", "db"))
    made.agents.add((NewAgent(number, name, "any", "", groups) for number, name, groups in rows), 0)
    return made


def test_every_policy_that_names_an_action_is_read_with_its_role(store: Store) -> None:
    roles = [store.roles.add(name) for name in ("one", "two")]
    for name, action in (("reads", "agent:read"), ("restarts", "agent:restart")):
        resources = ["agent:id:*"]
        policy = parse_policy({"actions": [action], "resources": resources, "effect": "allow"}, name)
        policy_id = store.policies.add(name, policy)
        for role_id in roles:
            store.roles.link_policy(role_id, policy_id)
    found = [(role, policy) for _, role, _, policy, _ in store.roles.grants_naming("agent:restart")]
    assert found == [("one", "restarts"), ("two", "restarts")]
    assert list(store.roles.grants_naming("agent:rest")) == []


def test_rules_are_told_with_the_roles_they_lead_to(store: Store) -> None:
    roles = [store.roles.add(name) for name in ("one", "two")]
    rules = [store.rules.add(name, [{"FIND": {"a": 1}}], None) for name in ("to-both", "to-none")]
    for role_id in roles:
        store.roles.link_rule(role_id, rules[0])
    assert store.roles.led_to() == {rules[0]: frozenset(roles)}


@pytest.mark.parametrize(
    ("scope", "within", "counts"),
    [
        pytest.param(EVERYTHING, None, {"web": 2, "db": 2}, id="all"),
        pytest.param(EVERYTHING, EVERYTHING, {"web": 2, "db": 2}, id="all within all"),
        pytest.param(Scope(groups=frozenset({"web"})), None, {"web": 2, "db": 1}, id="members of a group"),
        pytest.param(
            Scope(groups=frozenset({"web"})),
            Scope(groups=frozenset({"db"})),
            {"web": 1, "db": 1},
            id="of both groups",
        ),
        pytest.param(
            Scope(everything=True, denied_values=frozenset({"002"})),
            Scope(values=frozenset({"001", "002"})),
            {"web": 1},
            id="some without one",
        ),
        pytest.param(NOTHING, EVERYTHING, {}, id="none"),
        pytest.param(EVERYTHING, NOTHING, {}, id="within none"),
    ],
)
def test_members_are_counted_within_two_scopes(
    store: Store, scope: Scope, within: Scope | None, counts: dict[str, int]
) -> None:
    assert store.agents.counts(scope, within) == counts
