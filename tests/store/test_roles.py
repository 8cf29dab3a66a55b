"""Roles and their links in a real store."""

from __future__ import annotations

import pytest

from mgmtctl.domain.errors import ConflictError, NotFoundError
from mgmtctl.domain.policies import parse_policy
from mgmtctl.domain.roles import Role
from mgmtctl.domain.scopes import Scope
from mgmtctl.store.store import Store

READ = parse_policy({"actions": ["agent:read"], "resources": ["agent:id:*"], "effect": "allow"}, "read")
CREATE = parse_policy({"actions": ["agent:create"], "resources": ["*:*:*"], "effect": "deny"}, "create")


@pytest.fixture
def store() -> Store:
    return Store(":memory:", create=True)


def generations(store: Store, role_id: int) -> tuple[int, int]:
    found = store.database.row("SELECT generation, context_generation FROM roles WHERE id = ?", (role_id,))
    assert found is not None
    return found[0], found[1]


def test_own_roles_start_at_100_and_count_up(store: Store) -> None:
    assert [store.roles.add("one"), store.roles.add("two")] == [100, 101]


def test_own_roles_start_at_100_after_the_defaults(store: Store) -> None:
    assert store.roles.add("administrator", role_id=1) == 1
    assert store.roles.add("own") == 100


def test_an_id_never_comes_back(store: Store) -> None:
    store.roles.add("one")
    store.roles.delete(store.roles.add("two"))
    assert store.roles.add("three") == 102


def test_a_role_is_found_in_any_letter_case(store: Store) -> None:
    number = store.roles.add("Web.Team")
    assert store.roles.find("web.team") == number
    assert store.roles.find("web") is None
    assert store.roles.exists(number)
    assert not store.roles.exists(number + 1)


def test_a_name_in_another_letter_case_is_taken(store: Store) -> None:
    store.roles.add("web")
    with pytest.raises(ConflictError) as refused:
        store.roles.add("WEB")
    assert (refused.value.problem, refused.value.code) == ("role `WEB` exists", 4005)


def test_a_refused_name_costs_no_role(store: Store) -> None:
    store.roles.add("web")
    with pytest.raises(ConflictError):
        store.roles.add("Web")
    assert [role.name for role in store.roles.list()] == ["web"]


def test_a_role_can_change_the_letter_case_of_its_own_name(store: Store) -> None:
    number = store.roles.add("web")
    store.roles.rename(number, "WEB")
    assert store.roles.get(number).name == "WEB"


def test_a_role_cannot_take_the_name_of_another(store: Store) -> None:
    store.roles.add("web")
    number = store.roles.add("db")
    with pytest.raises(ConflictError):
        store.roles.rename(number, "Web")


def test_an_unknown_role_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError) as missing:
        store.roles.get(7)
    assert (missing.value.problem, missing.value.code) == ("role `7` does not exist", 4002)


def test_links_keep_their_order_and_list_agrees_with_get(store: Store) -> None:
    number = store.roles.add("web")
    second, first = store.policies.add("b", READ), store.policies.add("a", CREATE)
    rule = store.rules.add("r", [{"FIND": {"x": 1}}], None)
    assert store.roles.link_policy(number, first)
    assert store.roles.link_policy(number, second)
    assert store.roles.link_rule(number, rule)
    assert store.roles.get(number) == Role(number, "web", (first, second), (), (rule,))
    assert store.roles.list() == [store.roles.get(number)]


def test_linking_twice_changes_nothing(store: Store) -> None:
    number, policy = store.roles.add("web"), store.policies.add("p", READ)
    rule = store.rules.add("r", [{"FIND": {"x": 1}}], None)
    assert [store.roles.link_policy(number, policy) for _ in range(2)] == [True, False]
    assert [store.roles.link_rule(number, rule) for _ in range(2)] == [True, False]
    assert store.roles.get(number) == Role(number, "web", (policy,), (), (rule,))


def test_unlinking_what_is_not_linked_changes_nothing(store: Store) -> None:
    number, policy = store.roles.add("web"), store.policies.add("p", READ)
    rule = store.rules.add("r", [{"FIND": {"x": 1}}], None)
    store.roles.link_policy(number, policy)
    store.roles.link_rule(number, rule)
    assert [store.roles.unlink_policy(number, policy) for _ in range(2)] == [True, False]
    assert [store.roles.unlink_rule(number, rule) for _ in range(2)] == [True, False]
    assert store.roles.get(number) == Role(number, "web")


def test_a_policy_linked_after_an_unlink_comes_last(store: Store) -> None:
    number = store.roles.add("web")
    one, two, three = (store.policies.add(name, READ) for name in ("p1", "p2", "p3"))
    store.roles.link_policy(number, one)
    store.roles.link_policy(number, two)
    store.roles.unlink_policy(number, one)
    store.roles.link_policy(number, three)
    assert store.roles.policies_of(number) == (two, three)


def test_grants_come_in_role_and_link_order(store: Store) -> None:
    first, second = store.roles.add("first"), store.roles.add("second")
    read, create = store.policies.add("read", READ), store.policies.add("create", CREATE)
    store.roles.link_policy(second, read)
    store.roles.link_policy(first, create)
    store.roles.link_policy(first, read)
    found = [(role, policy) for _, role, _, policy, _ in store.roles.grants(None)]
    assert found == [("first", "create"), ("first", "read"), ("second", "read")]
    assert [row[0] for row in store.roles.grants([second])] == [second]
    assert list(store.roles.grants([])) == []


def test_deleting_a_role_takes_its_links_along(store: Store) -> None:
    number, policy = store.roles.add("web"), store.policies.add("p", READ)
    rule = store.rules.add("r", [{"FIND": {"x": 1}}], None)
    store.roles.link_policy(number, policy)
    store.roles.link_rule(number, rule)
    store.roles.delete(number)
    assert store.policies.roles_of(policy) == ()
    assert store.rules.roles_of(rule) == ()
    assert list(store.roles.grants(None)) == []


def test_ending_sessions_moves_one_generation_of_one_role(store: Store) -> None:
    one, other = store.roles.add("one"), store.roles.add("other")
    store.roles.end_sessions(one)
    assert (generations(store, one), generations(store, other)) == ((2, 1), (1, 1))
    store.roles.end_context_sessions(one)
    assert (generations(store, one), generations(store, other)) == ((2, 2), (1, 1))


def test_a_choice_is_a_scope_or_ids_in_their_order(store: Store) -> None:
    one, two, three = (store.roles.add(name) for name in ("one", "two", "three"))
    scope = Scope(everything=True, denied_values=frozenset({str(two)}))
    assert [role.id for role in store.roles.chosen(scope)] == [one, three]
    assert [role.id for role in store.roles.chosen([str(three), str(one)])] == [three, one]
    assert store.roles.chosen([]) == []
