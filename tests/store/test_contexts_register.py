"""The register of contexts: one row for each outcome, bounded, without a value of any context (S 5.4)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mgmtctl.store import contexts
from mgmtctl.store.contexts import ContextLogin
from mgmtctl.store.store import Store

LOGIN = ContextLogin(
    "a" * 32, 100, "portal", ((100, "staff"),), ((101, "ops"), (102, "dev")), {"name": "ann"}, 1000, 1000
)


@pytest.fixture
def store() -> Store:
    return Store(":memory:")


def test_a_login_comes_back_as_it_was_noted(store: Store) -> None:
    store.contexts.note(LOGIN)
    assert store.contexts.of(LOGIN.context_id) == [LOGIN]
    assert store.contexts.of("b" * 32) == []


def test_the_same_outcome_again_counts_on(store: Store) -> None:
    for moment in (1000, 1500, 2000):
        store.contexts.note(replace(LOGIN, first=moment, last=moment))
    assert store.contexts.of(LOGIN.context_id) == [replace(LOGIN, last=2000, logins=3)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(LOGIN, rules=((100, "renamed"),)), id="a rule of another name"),
        pytest.param(replace(LOGIN, rules=()), id="other rules"),
        pytest.param(replace(LOGIN, roles=((101, "ops"),)), id="other roles"),
        pytest.param(replace(LOGIN, user_id=103), id="another user"),
        pytest.param(replace(LOGIN, user="portal2"), id="the user renamed"),
    ],
)
def test_another_outcome_is_a_row_of_its_own(store: Store, other: ContextLogin) -> None:
    store.contexts.note(LOGIN)
    store.contexts.note(replace(other, first=2000, last=2000))
    assert store.contexts.of(LOGIN.context_id) == [LOGIN, replace(other, first=2000, last=2000)]


def test_contexts_are_found_by_how_their_id_begins(store: Store) -> None:
    for digits in ("a", "ab", "b"):
        store.contexts.note(replace(LOGIN, context_id=digits.ljust(32, "0")))
    assert sorted(store.contexts.ids("a")) == ["a".ljust(32, "0"), "ab".ljust(32, "0")]
    assert store.contexts.ids("_") == []


def test_the_register_is_bounded_and_forgets_what_was_not_seen_longest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contexts, "MOST", 3)
    ids = [str(number) * 32 for number in range(4)]
    for moment, number in enumerate((0, 1, 2, 0, 3)):
        store.contexts.note(replace(LOGIN, context_id=ids[number], first=moment, last=moment))
    assert [bool(store.contexts.of(one)) for one in ids] == [True, False, True, True]
