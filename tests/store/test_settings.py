"""Settings of the store: defaults, limits, JSON values (D 1)."""

from __future__ import annotations

from typing import Any

import pytest

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.settings import STORE_SETTINGS
from mgmtctl.store.store import Store


@pytest.fixture
def store() -> Store:
    return Store(":memory:")


def test_an_empty_store_has_the_defaults(store: Store) -> None:
    assert store.settings.all() == {name: setting.default for name, setting in STORE_SETTINGS.items()}
    assert store.settings.get("auth_token_exp_timeout") == 900
    assert store.settings.get("rbac_mode") == "white"


def test_every_default_is_within_its_own_limits() -> None:
    assert all(setting.accepts(setting.default) for setting in STORE_SETTINGS.values())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rbac_mode", "black"),
        ("auth_token_exp_timeout", 30),
        ("accept_raw_contexts", True),
        ("agents.folder_roots", ["/srv/agents"]),
    ],
)
def test_a_value_comes_back_as_it_was_set(store: Store, name: str, value: Any) -> None:
    store.settings.set(name, value)
    store.settings.set(name, value)
    assert store.settings.get(name) == value
    assert store.settings.all()[name] == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("rbac_mode", "White", id="letter case"),
        pytest.param("rbac_mode", "", id="empty"),
        pytest.param("auth_token_exp_timeout", 29, id="below the least life"),
        pytest.param("auth_token_exp_timeout", True, id="true is no number"),
        pytest.param("auth_token_exp_timeout", 900.0, id="a fraction"),
        pytest.param("max_login_attempts", 0, id="no attempt at all"),
        pytest.param("accept_raw_contexts", "yes", id="text for a flag"),
        pytest.param("agents.folder_roots", ["srv"], id="a relative path"),
        pytest.param("agents.folder_roots", "/srv", id="text for a list"),
        pytest.param("no_such", 1, id="unknown"),
    ],
)
def test_a_value_outside_its_limits_is_refused_and_changes_nothing(
    store: Store, name: str, value: Any
) -> None:
    before = store.settings.all()
    with pytest.raises(InvalidError):
        store.settings.set(name, value)
    assert store.settings.all() == before


def test_an_unknown_setting_has_no_value(store: Store) -> None:
    with pytest.raises(KeyError):
        store.settings.get("no_such")
