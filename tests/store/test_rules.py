"""Rules in a real store, as the login reads them."""

from __future__ import annotations

import pytest

from mgmtctl.domain.errors import ConflictError, NotFoundError
from mgmtctl.store.rules import Rule
from mgmtctl.store.store import Store

ONE = {"FIND": {"office": "Zürich"}}
OTHER = {"NOT": {"MATCH": {"x": None}}}


@pytest.fixture
def store() -> Store:
    return Store(":memory:", create=True)


def test_a_rule_comes_back_as_it_was_put_in(store: Store) -> None:
    number = store.rules.add("r", [ONE, OTHER], "office")
    role = store.roles.add("web")
    store.roles.link_rule(role, number)
    assert store.rules.get(number) == Rule(100, "r", (ONE, OTHER), (role,))
    assert store.rules.list() == [store.rules.get(number)]


def test_one_expression_is_also_shown_as_rule(store: Store) -> None:
    assert Rule(100, "r", (ONE,)).record() == {
        "id": "100", "name": "r", "rules": [ONE], "roles": [], "rule": ONE,
    }  # fmt: skip
    assert "rule" not in Rule(100, "r", (ONE, OTHER)).record()


def test_new_expressions_replace_all_old_ones_and_their_keys(store: Store) -> None:
    number = store.rules.add("r", [ONE], "office")
    store.rules.set_expressions(number, [OTHER], None)
    assert store.rules.get(number).expressions == (OTHER,)
    assert store.database.value("SELECT needed_keys FROM rules") is None


def test_a_rule_without_a_role_is_never_evaluated(store: Store) -> None:
    store.rules.add("unlinked", [ONE], "office")
    linked = store.rules.add("linked", [ONE], "office")
    store.roles.link_rule(store.roles.add("web"), linked)
    assert list(store.rules.evaluable(defaults=True)) == [
        (linked, '[{"FIND":{"office":"Zürich"}}]', "office")
    ]


def test_default_rules_are_evaluated_only_on_request(store: Store) -> None:
    default = store.rules.add("d", [ONE], None, rule_id=1)
    own = store.rules.add("own", [ONE], None)
    role = store.roles.add("web")
    for rule in (default, own):
        store.roles.link_rule(role, rule)
    assert [row[0] for row in store.rules.evaluable(defaults=True)] == [default, own]
    assert [row[0] for row in store.rules.evaluable(defaults=False)] == [own]


def test_rules_grant_each_of_their_roles_once(store: Store) -> None:
    rules = [store.rules.add(name, [ONE], None) for name in ("r1", "r2")]
    a, b = store.roles.add("a"), store.roles.add("b")
    for role, rule in ((b, rules[0]), (b, rules[1]), (a, rules[1])):
        store.roles.link_rule(role, rule)
    assert store.rules.roles_granted(rules) == (a, b)
    assert store.rules.roles_granted(rules[:1]) == (b,)
    assert store.rules.roles_granted([]) == ()


def test_a_taken_name_is_a_conflict(store: Store) -> None:
    store.rules.add("r", [ONE], None)
    with pytest.raises(ConflictError) as refused:
        store.rules.add("R", [OTHER], None)
    assert refused.value.code == 4005


def test_an_unknown_rule_is_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError) as missing:
        store.rules.get(1)
    assert missing.value.code == 4022
