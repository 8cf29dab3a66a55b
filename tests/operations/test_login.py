"""Logging in with a password, what a session is judged by, and logging out (S 4.2, 5.1; D 1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mgmtctl.domain.errors import UnauthenticatedError
from mgmtctl.operations import login
from mgmtctl.operations.context import Actor, Context
from mgmtctl.operations.resuming import CLOCK_TOLERANCE
from mgmtctl.tokens import digest
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith


def actor(ctx: Context) -> Actor:
    assert ctx.actor is not None
    return ctx.actor


def at(ctx: Context, seconds: float) -> Context:
    """The same service, the clock so many seconds from now."""
    moment = ctx.now() + seconds
    return replace(ctx, now=lambda: moment)


def test_a_login_gives_the_linked_roles_in_order(anonymous: Context, actor_with: ActorWith) -> None:
    ada = actor(actor_with(roles=["readonly", "agents_admin"]))
    assert ada.roles == ((6, "readonly"), (2, "agents_admin"))
    assert (ada.run_as, ada.context_id) == (False, None)


@pytest.mark.parametrize("name", ["admin", "ADMIN", "Admin"])
def test_names_are_the_same_in_any_letter_case(anonymous: Context, name: str) -> None:
    assert login.log_in(anonymous, name, ADMIN_PASSWORD).user == "admin"


@pytest.mark.parametrize(
    ("name", "password"),
    [
        pytest.param("admin", "Wrong-Horse-77", id="wrong password"),
        pytest.param("nobody", ADMIN_PASSWORD, id="unknown user"),
        pytest.param("admin", "", id="empty"),
        pytest.param("admin", "   ", id="blank"),
        pytest.param("admin", ADMIN_PASSWORD + "\n", id="a newline more"),
        pytest.param("admin", ADMIN_PASSWORD[:-1], id="a character less"),
        pytest.param("admin", "x" * 1_000_000, id="a million characters"),
        pytest.param("admin", "\ud800\udfff\x00", id="no valid text"),
        pytest.param("", "", id="nothing at all"),
        pytest.param("wui", "", id="a user without password, empty"),
        pytest.param("' OR 1=1 --", ADMIN_PASSWORD, id="an SQL attempt"),
    ],
)
def test_a_refusal_never_says_which_part_was_wrong(anonymous: Context, name: str, password: str) -> None:
    with pytest.raises(UnauthenticatedError) as raised:
        login.log_in(anonymous, name, password)
    assert raised.value.problem == "wrong user name or password"
    assert (raised.value.why, raised.value.fix, raised.value.facts()) == (None, None, {})


def test_neither_token_nor_password_is_in_what_a_login_shows(anonymous: Context) -> None:
    found = login.log_in(anonymous, "admin", ADMIN_PASSWORD)
    shown = f"{found!r} {found.record()}"
    assert found.token not in shown
    assert ADMIN_PASSWORD not in shown


def test_who_am_i_has_the_fixed_form(service: Context) -> None:
    record = login.who_am_i(service).record()
    expires = record.pop("expires")
    assert record == {
        "user": "admin",
        "id": "1",
        "run_as": False,
        "context_id": None,
        "mode": "white",
        "roles": [{"id": "1", "name": "administrator"}],
    }
    assert len(expires) == len("2026-11-21T09:56:10Z")


def test_my_permissions_have_the_shape_of_the_service_and_a_deny_wins(actor_with: ActorWith) -> None:
    allow = {"actions": ["agent:read"], "resources": ["agent:id:001", "agent:id:002"], "effect": "allow"}
    deny = {"actions": ["agent:read"], "resources": ["agent:id:002"], "effect": "deny"}
    for policies in ([allow, deny], [deny, allow]):
        ctx = actor_with(policies, name=f"u{policies[0]['effect']}")
        assert login.my_permissions(ctx) == {
            "agent:read": {"agent:id:001": "allow", "agent:id:002": "deny"},
            "rbac_mode": "white",
        }


def test_whoever_is_not_logged_in_is_told_how(anonymous: Context) -> None:
    for ask in (login.who_am_i, login.my_permissions, login.log_out, login.log_out_everywhere):
        with pytest.raises(UnauthenticatedError) as raised:
            ask(anonymous)
        assert raised.value.fix == "mgmtctl login"


def test_a_session_lives_until_it_expires(anonymous: Context) -> None:
    token = login.log_in(anonymous, "admin", ADMIN_PASSWORD).token
    assert actor(login.resume(at(anonymous, 898), token)).user == "admin"
    for verified in (True, False):
        with pytest.raises(UnauthenticatedError, match="expired"):
            login.resume(at(anonymous, 901), token, verified)


def test_the_life_of_a_session_is_a_setting(anonymous: Context) -> None:
    anonymous.store.settings.set("auth_token_exp_timeout", 30)
    token = login.log_in(anonymous, "admin", ADMIN_PASSWORD).token
    assert login.resume(at(anonymous, 28), token).actor is not None
    with pytest.raises(UnauthenticatedError):
        login.resume(at(anonymous, 31), token)


def test_a_clock_set_back_a_little_is_borne_and_a_lot_is_not(anonymous: Context) -> None:
    token = login.log_in(anonymous, "admin", ADMIN_PASSWORD).token
    assert login.resume(at(anonymous, -CLOCK_TOLERANCE + 2), token).actor is not None
    with pytest.raises(UnauthenticatedError, match="begins in the future"):
        login.resume(at(anonymous, -CLOCK_TOLERANCE - 2), token)


def test_a_login_forgets_expired_sessions(anonymous: Context) -> None:
    old = login.log_in(anonymous, "admin", ADMIN_PASSWORD).token
    login.log_in(at(anonymous, 901), "admin", ADMIN_PASSWORD)
    assert anonymous.store.sessions.find(digest(old)) is None


def test_logging_out_ends_this_session_only(anonymous: Context, service: Context) -> None:
    other = login.log_in(anonymous, "admin", ADMIN_PASSWORD).token
    mine = login.log_in(anonymous, "admin", ADMIN_PASSWORD).token
    login.log_out(login.resume(anonymous, mine))
    with pytest.raises(UnauthenticatedError, match="has ended"):
        login.resume(anonymous, mine)
    assert login.resume(anonymous, other).actor is not None


def test_logging_out_everywhere_ends_all_sessions_of_the_user_and_no_others(
    anonymous: Context, actor_with: ActorWith
) -> None:
    actor_with(name="ada")
    tokens = [login.log_in(anonymous, "admin", ADMIN_PASSWORD).token for _ in range(2)]
    hers = login.log_in(anonymous, "ada", ADMIN_PASSWORD).token
    login.log_out_everywhere(login.resume(anonymous, tokens[0]))
    for token in tokens:
        with pytest.raises(UnauthenticatedError):
            login.resume(anonymous, token)
    assert login.resume(anonymous, hers).actor is not None


def test_a_user_without_any_role_can_log_in_and_be_logged_out(
    anonymous: Context, actor_with: ActorWith
) -> None:
    ada = actor_with()
    assert actor(ada).roles == ()
    assert not actor(ada).permissions.has_roles
    token = login.log_in(anonymous, "ada", ADMIN_PASSWORD).token
    anonymous.store.users.end_sessions(actor(ada).user_id)
    with pytest.raises(UnauthenticatedError):
        login.resume(anonymous, token)


def test_a_user_of_the_same_name_does_not_revive_old_sessions(
    anonymous: Context, actor_with: ActorWith
) -> None:
    hashed = anonymous.store.users.credentials("admin")
    assert hashed is not None
    actor_with()
    token = login.log_in(anonymous, "ada", ADMIN_PASSWORD).token
    anonymous.store.users.delete(100)
    anonymous.store.users.add("ada", hashed.password)
    with pytest.raises(UnauthenticatedError):
        login.resume(anonymous, token)


def test_permissions_are_those_of_now_and_not_of_the_login(anonymous: Context, actor_with: ActorWith) -> None:
    actor_with([{"actions": ["agent:read"], "resources": ["agent:id:*"], "effect": "allow"}])
    token = login.log_in(anonymous, "ada", ADMIN_PASSWORD).token
    # Straight in the table, so that nothing ends the session.
    anonymous.store.database.execute(
        "UPDATE policies SET blocks = replace(blocks, 'agent:id:*', 'agent:id:007') WHERE id = 100"
    )
    scope = actor(login.resume(anonymous, token)).permissions.scope("agent:read", "agent:id")
    assert scope.covers("007")
    assert not scope.covers("008")


def test_a_dry_run_does_not_undo_the_login_it_needs(anonymous: Context) -> None:
    dry = replace(anonymous, dry_run=True)
    dry.store.dry_run = True
    token = login.log_in(dry, "admin", ADMIN_PASSWORD).token
    with pytest.raises(UnauthenticatedError):
        login.log_in(dry, "admin", "Wrong-Horse-77")
    dry.store.dry_run = False
    assert login.resume(anonymous, token).actor is not None
    assert (
        anonymous.store.database.value("SELECT failures FROM login_failures WHERE bucket LIKE 'user 1 %'")
        == 1
    )


def test_a_dry_run_of_logging_out_ends_nothing(anonymous: Context) -> None:
    token = login.log_in(anonymous, "admin", ADMIN_PASSWORD).token
    dry = replace(login.resume(anonymous, token), dry_run=True)
    dry.store.dry_run = True
    login.log_out(dry)
    login.log_out_everywhere(dry)
    dry.store.dry_run = False
    assert login.resume(anonymous, token).actor is not None


def test_a_password_changed_while_it_was_looked_at_gives_no_session(
    anonymous: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mgmtctl import passwords

    real = passwords.verify

    def changed_meanwhile(stored: str | None, password: str) -> bool:
        found = real(stored, password)
        anonymous.store.users.set_password(1, "another hash")
        return found

    monkeypatch.setattr(passwords, "verify", changed_meanwhile)
    with pytest.raises(UnauthenticatedError):
        login.log_in(anonymous, "admin", ADMIN_PASSWORD)
    assert anonymous.store.database.value("SELECT count(*) FROM sessions") == 0
