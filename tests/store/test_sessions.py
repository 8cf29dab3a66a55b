"""Sessions in the store: rows, and the counters that end them (D 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mgmtctl.store.sessions import Session
from mgmtctl.store.store import Store

ROW = Session("d" * 64, "jti", 100, None, None, (101, 100), "1,1,1,1", 1000, 1900)


@pytest.fixture
def store() -> Store:
    store = Store(":memory:")
    store.users.add("ada", None)
    for name in ("one", "two"):
        store.roles.add(name)
    return store


@pytest.mark.parametrize(
    "session",
    [
        ROW,
        replace(ROW, roles=()),
        replace(ROW, context_id="c" * 32, context_name="portal"),
    ],
    ids=["with roles", "without roles", "of a context"],
)
def test_a_session_comes_back_as_it_was_kept(store: Store, session: Session) -> None:
    store.sessions.add(session)
    assert store.sessions.find(session.digest) == session
    assert store.sessions.find("e" * 64) is None


def test_revoking_ends_one_session_only(store: Store) -> None:
    other = replace(ROW, digest="e" * 64)
    store.sessions.add(ROW)
    store.sessions.add(other)
    store.sessions.revoke(ROW.digest)
    assert store.sessions.find(ROW.digest) == replace(ROW, revoked=True)
    assert store.sessions.find(other.digest) == other


def test_the_counters_stand_in_the_agreed_order(store: Store) -> None:
    store.database.execute("UPDATE users SET generation = 5")
    store.database.execute("UPDATE roles SET generation = id, context_generation = id * 10")
    store.sessions.end_all()
    store.sessions.end_context_sessions()
    store.sessions.end_context_sessions()
    assert store.sessions.generations(100, (101, 100), context=False) == "2,5,101,100"
    assert store.sessions.generations(100, (101, 100), context=True) == "2,3,5,101,1010,100,1000"
    assert store.sessions.generations(100, (), context=False) == "2,5"


def test_without_its_user_or_one_of_its_roles_a_session_has_no_counters(store: Store) -> None:
    assert store.sessions.generations(101, (), context=False) is None
    assert store.sessions.generations(100, (100, 7), context=True) is None


@pytest.mark.parametrize(
    ("change", "basic", "by_context"),
    [
        pytest.param(lambda store: store.sessions.end_all(), True, True, id="everything"),
        pytest.param(lambda store: store.sessions.end_context_sessions(), False, True, id="contexts"),
        pytest.param(lambda store: store.users.end_sessions(100), True, True, id="the user"),
        pytest.param(lambda store: store.roles.end_sessions(100), True, True, id="a role"),
        pytest.param(
            lambda store: store.roles.end_context_sessions(100), False, True, id="a role's contexts"
        ),
        pytest.param(lambda store: store.roles.end_sessions(101), False, False, id="another role"),
    ],
)
def test_what_each_counter_ends(
    store: Store, change: Callable[[Store], object], basic: bool, by_context: bool
) -> None:
    def counters() -> list[str | None]:
        return [store.sessions.generations(100, (100,), context=context) for context in (False, True)]

    before = counters()
    change(store)
    assert [new != old for new, old in zip(counters(), before, strict=True)] == [basic, by_context]


def test_expired_sessions_are_forgotten_and_others_kept(store: Store) -> None:
    store.sessions.add(ROW)
    store.sessions.purge(1899)
    assert store.sessions.find(ROW.digest) == ROW
    store.sessions.purge(1900)
    assert store.sessions.find(ROW.digest) is None


def test_a_session_with_very_many_roles_has_all_its_counters(store: Store) -> None:
    ids = [store.roles.add(f"r{number}") for number in range(1200)]
    found = store.sessions.generations(100, ids, context=True)
    assert found is not None
    assert found.count(",") == 2 + 2 * len(ids)


def test_the_counters_of_all_are_those_of_each(store: Store) -> None:
    store.database.execute("UPDATE users SET generation = 5")
    store.database.execute("UPDATE roles SET generation = id, context_generation = id * 10")
    store.sessions.end_context_sessions()
    counters = store.sessions.counters()
    for user_id in (100, 101):
        for role_ids in ((), (100,), (101, 100), (7,)):
            for context in (False, True):
                asked = store.sessions.generations(user_id, role_ids, context=context)
                assert counters.of(user_id, role_ids, context=context) == asked


def test_sessions_are_listed_in_the_order_of_issue_and_by_user(store: Store) -> None:
    later = replace(ROW, digest="e" * 64, jti="later", issued=1100, revoked=False)
    other = replace(ROW, digest="f" * 64, jti="other", user_id=7, issued=900)
    for session in (later, ROW, other):
        store.sessions.add(session)
    store.sessions.revoke(later.digest)
    assert [session.jti for session in store.sessions.list()] == ["other", "jti", "later"]
    assert store.sessions.list(100) == [ROW, replace(later, revoked=True)]
