"""Users in the store: names, links in order, and the counter that ends their sessions (D 1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mgmtctl.domain.errors import ConflictError, NotFoundError
from mgmtctl.store.store import Store
from mgmtctl.store.users import Credentials, User


@pytest.fixture
def store() -> Store:
    store = Store(":memory:")
    for name in ("one", "two", "three"):
        store.roles.add(name)
    store.users.add("ada", "hash", allow_run_as=True)
    return store


def generation(store: Store) -> int:
    return int(store.database.value("SELECT generation FROM users WHERE id = 100"))


def test_own_users_start_at_100_and_ids_never_come_back(store: Store) -> None:
    assert store.users.add("bob", None) == 101
    store.users.delete(101)
    assert store.users.add("bob", None) == 102


def test_names_are_unique_without_regard_to_case(store: Store) -> None:
    with pytest.raises(ConflictError) as raised:
        store.users.add("ADA", None)
    assert raised.value.code == 5000
    assert store.users.find("Ada") == 100


def test_a_user_is_shown_without_its_password(store: Store) -> None:
    user = store.users.get(100)
    assert user == User(100, "ada", True, (), True)
    assert user.record() == {"id": "100", "username": "ada", "allow_run_as": True, "roles": []}
    assert "hash" not in repr(user)


def test_unknown_users_are_not_found(store: Store) -> None:
    with pytest.raises(NotFoundError) as raised:
        store.users.get(7)
    assert raised.value.code == 5001
    assert store.users.credentials("nobody") is None
    assert store.users.find("nobody") is None
    assert not store.users.exists(7)


def test_credentials_are_found_in_any_letter_case(store: Store) -> None:
    assert store.users.credentials("aDA") == Credentials(100, "ada", "hash", True)


def test_roles_keep_the_order_they_were_linked_in(store: Store) -> None:
    for role_id in (102, 100, 101):
        assert store.users.link_role(100, role_id)
    assert store.users.roles_of(100) == (102, 100, 101)
    assert store.users.unlink_role(100, 100)
    assert store.users.link_role(100, 100)
    assert store.users.get(100).roles == (102, 101, 100)
    assert store.users.list() == [store.users.get(100)]


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        pytest.param(lambda users: users.set_password(100, "other"), True, id="a new password ends sessions"),
        pytest.param(
            lambda users: users.set_allow_run_as(100, False), True, id="the run-as right taken ends them"
        ),
        pytest.param(
            lambda users: users.set_allow_run_as(100, True), False, id="nothing changed, nothing ends"
        ),
        pytest.param(lambda users: users.link_role(100, 100), True, id="a role linked ends them"),
        pytest.param(lambda users: users.unlink_role(100, 100), False, id="unlinking nothing does not"),
        pytest.param(lambda users: users.end_sessions(100), True, id="ending them ends them"),
        pytest.param(lambda users: users.end_sessions(1), False, id="those of another user"),
        pytest.param(lambda users: users.add("bob", None), False, id="creating a user"),
    ],
)
def test_what_ends_the_sessions_of_a_user(
    store: Store, change: Callable[[object], object], ends: bool
) -> None:
    before = generation(store)
    change(store.users)
    assert (generation(store) > before) is ends


def test_a_second_link_is_no_change(store: Store) -> None:
    store.users.link_role(100, 100)
    before = generation(store)
    assert not store.users.link_role(100, 100)
    assert generation(store) == before
