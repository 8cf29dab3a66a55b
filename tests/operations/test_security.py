"""Settings that decide what is allowed, the signing key and the login limits: changed by right only (D 1)."""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mgmtctl import bootstrap
from mgmtctl.domain.errors import (
    ConflictError,
    DeniedError,
    InvalidError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
)
from mgmtctl.domain.settings import STORE_SETTINGS, read_store_setting
from mgmtctl.operations import login, security
from mgmtctl.operations.context import Context, Door
from mgmtctl.settings import Settings
from tests.operations.access_world import acting, add_role, add_user, allow, delegate, deny
from tests.operations.conftest import ADMIN_PASSWORD

CONFIG = allow("security:update_config", "*:*:*")


def values(ctx: Context) -> dict[str, Any]:
    return {setting.name: setting.value for setting in security.show_config(ctx)}


def lives(ctx: Context, token: str, *, outside: bool = False) -> bool:
    try:
        login.resume(replace(ctx, actor=None), token, verify_signature=outside)
    except UnauthenticatedError:
        return False
    return True


def token(ctx: Context) -> str:
    return login.log_in(replace(ctx, actor=None), "admin", ADMIN_PASSWORD).token


# --- settings -----------------------------------------------------------------------------------------------------


def test_what_is_not_named_stays_as_it_is(service: Context) -> None:
    security.update_config(service, {"auth_token_exp_timeout": 1200})
    security.update_config(service, {"max_login_attempts": 7, "login_window": 60})
    defaults = {name: setting.default for name, setting in STORE_SETTINGS.items()}
    changed = {"auth_token_exp_timeout": 1200, "max_login_attempts": 7, "login_window": 60}
    assert values(service) == {**defaults, **changed}


@pytest.mark.parametrize(
    ("change", "ends"),
    [
        pytest.param({"rbac_mode": "black"}, True, id="a mode"),
        pytest.param({"auth_token_exp_timeout": 60}, True, id="a token life"),
        pytest.param({"rbac_mode": "white", "auth_token_exp_timeout": 900}, False, id="what was so before"),
        pytest.param({"max_login_attempts": 3}, False, id="a login limit"),
    ],
)
def test_a_mode_or_a_token_life_ends_every_session(
    service: Context, change: dict[str, Any], ends: bool
) -> None:
    before = token(service)
    changed = security.update_config(service, change)
    assert (changed.sessions_ended, lives(service, before)) == (ends, not ends)
    assert lives(service, token(service), outside=True)


def test_a_new_token_lives_as_long_as_the_setting_says(service: Context) -> None:
    security.update_config(service, {"auth_token_exp_timeout": 60})
    given = login.log_in(replace(service, actor=None), "admin", ADMIN_PASSWORD)
    assert 58 <= given.expires - service.now() <= 60


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param({"rbac_mode": "grey"}, "expected white or black", id="a mode that is none"),
        pytest.param({"rbac_mode": None}, "expected white or black", id="null"),
        pytest.param({"auth_token_exp_timeout": 29}, "at least 30", id="too short a life"),
        pytest.param({"auth_token_exp_timeout": "900"}, "a whole number", id="a number as text"),
        pytest.param({"auth_token_exp_timeout": True}, "a whole number", id="true is no number"),
        pytest.param({"max_login_attempts": 0}, "at least 1", id="no attempt at all"),
        pytest.param({"rbac_mod": "black"}, "is no setting", id="an unknown name"),
        pytest.param({}, "nothing to change", id="nothing"),
    ],
)
def test_a_wrong_value_changes_nothing_and_ends_nothing(
    service: Context, change: dict[str, Any], says: str
) -> None:
    before, alive = values(service), token(service)
    with pytest.raises(InvalidError, match=says):
        security.update_config(service, {"login_window": 10, **change} if change else change)
    assert (values(service), lives(service, alive)) == (before, True)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        pytest.param("rbac_mode", "black", "black", id="a word"),
        pytest.param("auth_token_exp_timeout", "1800", 1800, id="a number"),
        pytest.param("accept_raw_contexts", "true", True, id="a flag"),
        pytest.param("agents.folder_roots", "/srv/a, /srv/b", ["/srv/a", "/srv/b"], id="a list by commas"),
        pytest.param("agents.folder_roots", '["/srv/a,b"]', ["/srv/a,b"], id="a list as JSON"),
        pytest.param("agents.folder_roots", "", [], id="the empty list"),
    ],
)
def test_a_text_is_read_as_what_the_setting_is(name: str, text: str, expected: object) -> None:
    assert read_store_setting(name, text) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("auth_token_exp_timeout", "0900x"),
        ("auth_token_exp_timeout", "9" * 30),
        ("accept_raw_contexts", "yes"),
        ("agents.folder_roots", "srv"),
        ("agents.folder_roots", "[1]"),
        ("agents.folder_roots", "[" * 5000),
        ("rbac_mode", ""),
        ("nothing", "1"),
    ],
)
def test_a_text_that_is_no_value_is_refused(name: str, text: str) -> None:
    with pytest.raises(InvalidError):
        read_store_setting(name, text)


def test_reading_and_changing_are_two_rights(anonymous: Context) -> None:
    may_read = acting(
        anonymous, add_user(anonymous, "r", add_role(anonymous, "r", allow("security:read_config", "*:*:*")))
    )
    assert values(may_read)["rbac_mode"] == "white"
    for call in (security.update_config, security.preview_config):
        with pytest.raises(DeniedError):
            call(may_read, {"login_window": 9})
    with pytest.raises(DeniedError):
        security.show_config(acting(anonymous, add_user(anonymous, "n", add_role(anonymous, "n", CONFIG))))


def test_nobody_gives_everything_by_a_mode_who_does_not_hold_it(anonymous: Context) -> None:
    me = delegate(anonymous, CONFIG)
    for call in (security.update_config, security.preview_config):
        with pytest.raises(DeniedError) as refused:
            call(me, {"rbac_mode": "black"})
        assert "nobody gives what he does not hold" in str(refused.value.why)
    assert anonymous.store.settings.get("rbac_mode") == "white"
    assert security.update_config(me, {"login_window": 60}).changed == {"login_window": (300, 60)}


def test_a_mode_that_would_lock_everybody_out_needs_the_risk_named(anonymous: Context) -> None:
    """The only administrator holds his rights by the mode alone."""
    store = anonymous.store
    store.settings.set("rbac_mode", "black")
    store.users.unlink_role(1, 1)
    me = acting(
        anonymous,
        add_user(anonymous, "boss", add_role(anonymous, "boss", deny("agent:delete", "agent:id:1"))),
    )
    with pytest.raises(ConflictError, match="nobody could administer"):
        security.update_config(me, {"rbac_mode": "white"})
    assert security.update_config(me, {"rbac_mode": "white"}, ["lockout"]).changed


def test_the_preview_says_who_gains_and_changes_nothing(service: Context) -> None:
    add_user(service, "ann", add_role(service, "team", deny("agent:delete", "agent:id:*")))
    alive = token(service)
    found = security.preview_config(service, {"rbac_mode": "black"})
    (consequence,) = found.consequences
    assert [subject.name for subject in consequence.subjects] == ["ann"]
    actions = {action for effect in consequence.effects for action in effect.actions}
    assert {effect.change for effect in consequence.effects} == {"gains"}
    assert "agent:read" in actions
    assert "agent:delete" not in actions
    assert found.sessions == 2
    assert (values(service)["rbac_mode"], lives(service, alive)) == ("white", True)


# --- the key ------------------------------------------------------------------------------------------------------


def test_a_new_key_ends_every_token_and_signs_the_next(service: Context, settings: Settings) -> None:
    old, before = token(service), settings.key.read_bytes()
    assert security.rotate_key(service) == 2
    assert settings.key.read_bytes() != before
    assert (len(settings.key.read_bytes()), stat.S_IMODE(settings.key.stat().st_mode)) == (32, 0o600)
    assert not lives(service, old)
    with pytest.raises(UnauthenticatedError):
        service.keys.verify(old)
    assert lives(service, token(service), outside=True)
    assert [path.name for path in settings.data.iterdir() if path.name.startswith(".key")] == []


def test_the_key_is_changed_by_the_owner_of_the_data_folder_only(
    service: Context, settings: Settings
) -> None:
    before = settings.key.read_bytes()
    with pytest.raises(DeniedError):
        security.rotate_key(replace(service, door=Door(uid=1234, owner=False)))
    assert settings.key.read_bytes() == before


def test_a_dry_run_keeps_the_key_and_the_sessions(service: Context, settings: Settings) -> None:
    alive, before = token(service), settings.key.read_bytes()
    service.store.dry_run = True
    assert security.rotate_key(replace(service, dry_run=True)) == 2
    assert (settings.key.read_bytes(), lives(service, alive, outside=True)) == (before, True)


@pytest.mark.parametrize("step", ["before the new key is there", "after it"])
def test_killed_half_way_the_old_tokens_are_refused(
    service: Context, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    old, rotate = token(service), type(service.keys).rotate

    def killed(keys: Any) -> None:
        if step == "after it":
            rotate(keys)
        raise KeyboardInterrupt

    monkeypatch.setattr(type(service.keys), "rotate", killed)
    with pytest.raises(KeyboardInterrupt):
        security.rotate_key(service)
    assert not lives(service, old)
    assert not lives(service, old, outside=True)
    assert lives(service, token(service), outside=True)


def left_keys(settings: Settings) -> list[str]:
    return [path.name for path in settings.data.iterdir() if path.name.startswith(".key")]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_an_interrupted_rotation_leaves_no_key_behind(
    service: Context, settings: Settings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(f"mgmtctl.tokens.os.{step}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            service.keys.rotate()
    assert left_keys(settings) == []


def test_a_rotation_sweeps_what_killed_ones_left(service: Context, settings: Settings) -> None:
    old, young = (settings.data / f".key.{letter * 16}" for letter in "ab")
    for path in (old, young):
        path.write_bytes(b"x" * 32)
    os.utime(old, (1, 1))
    service.keys.rotate()
    assert left_keys(settings) == [young.name]  # that may be being written


def test_a_key_that_cannot_be_written_says_so(service: Context, settings: Settings) -> None:
    before = settings.key.read_bytes()
    service.keys._path = Path(settings.data, "missing", "key")
    with pytest.raises(UnavailableError, match="cannot write the key file"):
        security.rotate_key(service)
    assert settings.key.read_bytes() == before


def test_two_at_once_leave_one_whole_key(settings: Settings, service: Context) -> None:
    old, failures = token(service), list[BaseException]()

    def work() -> None:
        ctx = bootstrap.open_context(settings)
        try:
            for _ in range(5):
                security.rotate_key(ctx)
        except BaseException as error:
            failures.append(error)
        finally:
            ctx.store.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(settings.key.read_bytes()) == 32
    assert not lives(service, old)
    assert lives(service, token(service), outside=True)


# --- login limits -------------------------------------------------------------------------------------------------


def fail(ctx: Context, name: str, times: int = 1, uid: int = 7) -> None:
    for _ in range(times):
        with pytest.raises((UnauthenticatedError, DeniedError)):
            login.log_in(replace(ctx, actor=None, door=Door(uid=uid)), name, "Wrong-password-1")


def counted(ctx: Context) -> list[tuple[str, str | None, str, int, bool]]:
    return sorted(
        (found.who, found.user, found.address, found.failures, found.blocked)
        for found in security.list_login_limits(ctx)
    )


@pytest.fixture
def limited(service: Context) -> Context:
    security.update_config(service, {"max_login_attempts": 2, "block_time": 100})
    return service


def test_who_failed_and_who_is_blocked_is_listed(limited: Context) -> None:
    fail(limited, "admin", 2)
    fail(limited, "nobody-of-that-name")
    assert counted(limited) == [
        ("address", None, "local:7", 3, False),
        ("unknown names", None, "local:7", 1, False),
        ("user", "admin", "local:7", 2, True),
    ]
    (blocked,) = [found for found in security.list_login_limits(limited) if found.blocked]
    assert 95 <= blocked.until - limited.now() <= 100
    assert (blocked.limit, blocked.user_id) == (2, 1)


def test_what_is_over_is_not_listed(limited: Context) -> None:
    fail(limited, "admin", 2)
    assert counted(replace(limited, now=lambda: limited.now() + 1000)) == []


def test_a_lifted_user_can_log_in_again(limited: Context) -> None:
    fail(limited, "admin", 2)
    fail(limited, "admin", 2, uid=8)
    door = Door(uid=7)
    with pytest.raises(DeniedError):
        login.log_in(replace(limited, actor=None, door=door), "admin", ADMIN_PASSWORD)
    assert len(security.lift_login_limits(limited, "admin", "local:7")) == 1
    assert login.log_in(replace(limited, actor=None, door=door), "admin", ADMIN_PASSWORD).user == "admin"
    assert [found[2] for found in counted(limited) if found[0] == "user"] == ["local:8"]


@pytest.mark.parametrize(
    ("user", "address", "left"),
    [
        pytest.param("admin", None, {"address local:7", "address local:8", "unknown names local:8"}, id="a user"),
        pytest.param(None, "local:7", {"address local:8", "unknown names local:8", "user local:8"}, id="an address"),
        pytest.param(None, None, set(), id="everybody"),
        pytest.param(
            "admin", "nowhere",
            {"address local:7", "user local:7", "address local:8", "unknown names local:8", "user local:8"},
            id="neither",
        ),
    ],
)  # fmt: skip
def test_exactly_what_is_named_is_lifted(
    limited: Context, user: str | None, address: str | None, left: set[str]
) -> None:
    fail(limited, "admin")
    fail(limited, "admin", uid=8)
    fail(limited, "unheard-of", uid=8)
    security.lift_login_limits(limited, user, address)
    assert {f"{who} {place}" for who, _, place, _, _ in counted(limited)} == left


def test_users_that_the_caller_may_not_read_are_neither_listed_nor_lifted(limited: Context) -> None:
    ann = add_user(limited, "ann")
    role = add_role(
        limited, "calm", allow("security:revoke", "*:*:*"), allow("security:read", f"user:id:{ann}")
    )
    me = acting(limited, add_user(limited, "me", role))
    fail(limited, "ann")
    fail(limited, "admin")
    assert counted(me) == [("user", "ann", "local:7", 1, False)]
    with pytest.raises(NotFoundError):
        security.lift_login_limits(me, "admin")
    assert [found.user for found in security.lift_login_limits(me)] == ["ann"]
    assert [found[1] for found in counted(limited) if found[0] == "user"] == ["admin"]


def test_the_limits_need_the_right_to_revoke(limited: Context) -> None:
    me = acting(limited, add_user(limited, "me", add_role(limited, "r", allow("security:read", "user:id:*"))))
    for call in (security.list_login_limits, security.lift_login_limits):
        with pytest.raises(DeniedError):
            call(me)
