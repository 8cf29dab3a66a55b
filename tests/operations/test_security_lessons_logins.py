"""Lessons about logins, contexts, tokens and sessions (see test_security_lessons)."""

from __future__ import annotations

import dataclasses
import stat
from pathlib import Path

import jwt
import pytest

from mgmtctl import passwords
from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import DeniedError, InvalidError, MgmtctlError, UnauthenticatedError
from mgmtctl.operations import (
    agents,
    group_files,
    login,
    roles,
    rules,
    security,
    users,
)
from mgmtctl.operations.context import Context
from mgmtctl.tokens import LONGEST_TOKEN, SigningKey
from tests.operations.access_world import add_user, allow, delegate, everything
from tests.operations.attack_world import lead, refused
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

WRONG = "Wrong-Horse-77"
CONTEXT = parse_context(b'{"name": "person", "auth": {"team": "ops"}}')
EMPTY = [
    pytest.param(b"{}", id="{}"),
    pytest.param(b'{"auth": {}}', id="no name"),
    pytest.param(b'{"name": ""}', id="no auth"),
    pytest.param(b'{"name": "", "auth": {}}', id="nothing in it"),
    pytest.param(b'{"name": null, "auth": null}', id="nulls"),
]


@pytest.fixture
def portal(anonymous: Context, actor_with: ActorWith) -> Context:
    """A user `portal` with the role readonly who may use contexts; a rule leads team ops to agents_admin."""
    actor_with(name="portal", roles=["readonly"], allow_run_as=True)
    lead(anonymous, {"FIND": {"team": "ops"}}, "ops_people", "agents_admin")
    return anonymous


def test_cve_2025_24016_a_context_is_plain_data(portal: Context) -> None:
    for key in (
        "__class__",
        "__callable__",
        "__unhandled_exc__",
        "__reduce__",
        "py/object",
        "!!python/object",
    ):
        document = f'{{"name": "x", "auth": {{"{key}": {{"__args__": ["id"]}}, "{key}x": "touch"}}}}'
        context = parse_context(document.encode())
        assert context.document["auth"] == {key: {"__args__": ["id"]}, f"{key}x": "touch"}
        assert login.run_as(portal, "portal", ADMIN_PASSWORD, context).roles == ()
    lead(portal, {"FIND": {"__class__": "os.system"}}, "odd", "readonly")
    odd = parse_context(b'{"name": "x", "auth": {"__class__": "os.system"}}')
    assert [name for _, name in login.run_as(portal, "portal", ADMIN_PASSWORD, odd).roles] == ["readonly"]


@pytest.mark.parametrize("levels", [100, 100_000])
def test_cve_2026_74039_deep_and_large_contexts_are_refused_with_the_limit(levels: int) -> None:
    data = b'{"name": "x", "auth": ' + b'{"a":' * levels + b"1" + b"}" * levels + b"}"
    assert "at most" in refused(lambda: parse_context(data), InvalidError).problem
    large = b'{"name": "x", "auth": {"a": "' + b"x" * 10_000_000 + b'"}}'
    assert "at most 262144 bytes" in refused(lambda: parse_context(large), InvalidError).problem


@pytest.mark.parametrize("password", ["", " ", "        ", "\t\n"])
def test_cve_2026_74035_empty_password_never_means_unchanged(service: Context, password: str) -> None:
    add_user(service, "plain", password=None)
    before = everything(service)
    for name in ("admin", "wui", "plain"):
        refused(lambda name=name: users.update_user(service, name, password=password), InvalidError)  # type: ignore[misc]
        refused(lambda name=name: login.log_in(service, name, password), UnauthenticatedError)  # type: ignore[misc]
    assert everything(service) == before


def test_cve_2026_74035_reserved_users_are_guarded_first(service: Context) -> None:
    """Whoever administers some users takes over no stronger one, whatever he leaves empty."""
    me = delegate(service, allow("agent:read", "agent:id:*"))
    for password in ("", "Another-phrase-2"):
        for name in ("admin", "wui"):
            before = everything(service)
            refused(lambda n=name, p=password: users.update_user(me, n, password=p))  # type: ignore[misc]
            refused(lambda n=name: users.update_user(me, n, name="mine"), DeniedError)  # type: ignore[misc]
            refused(lambda n=name: users.update_user(me, n, roles=[]), DeniedError)  # type: ignore[misc]
            assert everything(service) == before


def test_cve_2026_26206_an_attempt_is_counted_before_it_is_looked_at(
    portal: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each attempt begins another while its password is being looked at: no more than the limit are looked at."""
    portal.store.settings.set("max_login_attempts", 5)
    looked_at = 0

    def verify(_stored: str | None, _password: str) -> bool:
        nonlocal looked_at
        looked_at += 1
        assert looked_at < 50
        with pytest.raises(MgmtctlError):
            if looked_at % 2:
                login.run_as(portal, "portal", WRONG, CONTEXT)
            else:
                login.log_in(portal, "portal", WRONG)
        return False

    monkeypatch.setattr(passwords, "verify", verify)
    refused(lambda: login.log_in(portal, "portal", WRONG), UnauthenticatedError)
    assert looked_at == 5
    assert refused(lambda: login.log_in(portal, "portal", ADMIN_PASSWORD), DeniedError).code == 6000


def test_cve_2026_25771_garbage_is_refused_before_the_key_is_read(tmp_path: Path) -> None:
    no_key = SigningKey.load(tmp_path / "is not there")
    for token in ("", "x", "a.b", "a.b.c.d", "ä.b.c", "../../etc/passwd", "a.b." + "c" * LONGEST_TOKEN):
        refused(lambda token=token: no_key.verify(token), UnauthenticatedError)  # type: ignore[misc]


def test_cve_2026_48162_who_reads_files_gets_no_key_and_rotation_ends_all_tokens(
    service: Context, home: Path
) -> None:
    (key,) = [path for path in home.iterdir() if path.is_file() and path.stat().st_size == 32]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    secret = key.read_bytes()
    assert all(secret not in path.read_bytes() for path in home.rglob("*") if path.is_file() and path != key)
    for name in (key.name, f"../{key.name}", f"../../{key.name}", str(key)):
        refused(lambda name=name: group_files.show_file(service, "default", name))  # type: ignore[misc]
    token = login.log_in(service, "admin", ADMIN_PASSWORD).token
    claims = jwt.decode(token, options={"verify_signature": False})
    forged = jwt.encode(claims, "", algorithm="none")
    refused(lambda: login.resume(service, forged), UnauthenticatedError)
    security.rotate_key(service)
    assert key.read_bytes() != secret
    for verified in (True, False):
        refused(lambda v=verified: login.resume(service, token, v), UnauthenticatedError)  # type: ignore[misc]


def test_cve_2026_25769_permissions_never_come_from_the_message(
    anonymous: Context, actor_with: ActorWith
) -> None:
    """Not even a token with the right signature brings roles, and a session holds what its roles permit now."""
    actor_with([allow("agent:read", "agent:id:*")], name="ada")
    token = login.log_in(anonymous, "ada", ADMIN_PASSWORD).token
    claims = jwt.decode(token, options={"verify_signature": False})
    for stronger in ({"rbac_roles": [1]}, {"uid": 1}, {"sub": "admin", "uid": 1, "rbac_roles": [1]}):
        message = anonymous.keys.issue({**claims, **stronger})
        refused(lambda message=message: login.resume(anonymous, message), UnauthenticatedError)  # type: ignore[misc]
    me = login.resume(anonymous, token)
    assert me.actor is not None
    assert not me.actor.permissions.scope("agent:delete", "agent:id").covers("001")
    black = anonymous.keys.issue({**claims, "rbac_mode": "black"})
    refused(lambda: login.resume(anonymous, black), UnauthenticatedError)


def test_ghsa_8w7x_52r7_qvjf_a_context_session_never_has_the_service_users_roles(portal: Context) -> None:
    given = login.run_as(portal, "portal", ADMIN_PASSWORD, CONTEXT)
    assert [name for _, name in given.roles] == ["agents_admin"]
    nobody = parse_context(b'{"name": "other", "auth": {}}')
    assert login.run_as(portal, "portal", ADMIN_PASSWORD, nobody).roles == ()
    assert given.token not in repr(given)
    assert given.token not in str(given.record())


@pytest.mark.parametrize("accepts_raw", [False, True])
@pytest.mark.parametrize("data", EMPTY)
def test_w38810_empty_context_grants_nothing_and_needs_allow_run_as(
    portal: Context, data: bytes, accepts_raw: bool
) -> None:
    portal.store.settings.set("accept_raw_contexts", accepts_raw)
    context = parse_context(data, accept_raw=True)
    error = refused(lambda: login.run_as(portal, "admin", ADMIN_PASSWORD, context), DeniedError)
    assert error.code == 6004
    try:
        given = login.run_as(portal, "portal", ADMIN_PASSWORD, context)
    except InvalidError:
        assert not accepts_raw
    else:
        assert given.roles == ()
        session = login.resume(portal, given.token)
        refused(lambda: agents.create_agent(session, "new"), DeniedError)


def test_w38193_context_sessions_end_with_what_they_rest_on(portal: Context, service: Context) -> None:
    for change in (
        lambda: roles.unlink_rules(service, "agents_admin", ["ops_people"]),
        lambda: roles.link_rules(service, "agents_admin", ["ops_people"]),
        lambda: rules.update_rule(service, "ops_people", document={"MATCH": {"auth": {"team": "ops"}}}),
        lambda: users.update_user(service, "portal", password="Another-phrase-2"),
    ):
        token = login.run_as(portal, "portal", ADMIN_PASSWORD, CONTEXT).token
        assert login.resume(portal, token).actor is not None
        change()
        refused(lambda token=token: login.resume(portal, token), UnauthenticatedError)  # type: ignore[misc]


def test_w35043_a_token_issued_in_the_second_of_a_revocation_lives(anonymous: Context) -> None:
    moment = anonymous.now()
    still = dataclasses.replace(anonymous, now=lambda: moment)
    old = login.log_in(still, "admin", ADMIN_PASSWORD).token
    login.log_out_everywhere(login.resume(still, old))
    new = login.log_in(still, "admin", ADMIN_PASSWORD).token
    refused(lambda: login.resume(still, old), UnauthenticatedError)
    assert login.resume(still, new).actor is not None
