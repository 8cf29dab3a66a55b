"""Tokens and password hashes: one algorithm, nothing forged, the same work for everybody (D 1)."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import jwt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl import passwords
from mgmtctl.domain.errors import ConflictError, UnauthenticatedError, UnavailableError
from mgmtctl.operations import login
from mgmtctl.operations.context import Context
from mgmtctl.tokens import ALGORITHM, AUDIENCE, CLAIMS, ISSUER, SigningKey, digest
from tests.operations.conftest import ADMIN_PASSWORD


@pytest.fixture
def token(anonymous: Context) -> str:
    return login.log_in(anonymous, "admin", ADMIN_PASSWORD).token


def secret_of(ctx: Context) -> bytes:
    return Path(ctx.store.database.path).with_name("key").read_bytes()


def claims_of(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return found


def test_a_token_has_the_claims_of_the_decision(token: str, anonymous: Context) -> None:
    claims = claims_of(token)
    assert set(claims) == set(CLAIMS)
    assert (claims["iss"], claims["aud"], claims["sub"], claims["uid"]) == (ISSUER, AUDIENCE, "admin", 1)
    assert (claims["run_as"], claims["rbac_roles"], claims["rbac_mode"]) == (False, [1], "white")
    assert claims["exp"] - claims["iat"] == 900
    assert claims["nbf"] == claims["iat"]
    assert len(claims["jti"]) == 32
    assert jwt.get_unverified_header(token) == {"alg": ALGORITHM, "typ": "JWT"}


def test_the_store_keeps_the_digest_and_never_the_token(token: str, anonymous: Context, home: Path) -> None:
    assert anonymous.store.sessions.find(digest(token)) is not None
    anonymous.store.close()
    for path in home.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()


def test_two_logins_in_the_same_second_give_two_tokens(anonymous: Context) -> None:
    assert len({login.log_in(anonymous, "admin", ADMIN_PASSWORD).token for _ in range(3)}) == 3


def forged(token: str, secret: bytes) -> dict[str, str]:
    """Tokens with the right claims that must not be accepted."""
    claims = claims_of(token)
    head, body, mark = token.split(".")
    changed = base64.urlsafe_b64encode(json.dumps({**claims, "uid": 2}).encode()).decode().rstrip("=")
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
    return {
        "another key": jwt.encode(claims, os.urandom(32), algorithm="HS256"),
        "an empty signature": f"{head}.{body}.",
        "no algorithm": f"{none}.{body}.",
        "no algorithm, old signature": f"{none}.{body}.{mark}",
        "another algorithm": jwt.encode(claims, secret + secret, algorithm="HS512"),
        "a changed claim": f"{head}.{changed}.{mark}",
        "right key, unknown session": jwt.encode({**claims, "jti": "x"}, secret, algorithm="HS256"),
        "another audience": jwt.encode({**claims, "aud": "x"}, secret, algorithm="HS256"),
        "another issuer": jwt.encode({**claims, "iss": "x"}, secret, algorithm="HS256"),
        "a claim missing": jwt.encode(
            {k: v for k, v in claims.items() if k != "jti"}, secret, algorithm="HS256"
        ),
        "one more part": f"{token}.x",
        "blanks around it": f" {token} ",
        "a newline behind it": f"{token}\n",
        "cut": token[:-1],
        "empty": "",
        "a megabyte": "a.b." + "c" * 1_000_000,
    }


def test_forged_tokens_are_refused_all_alike(token: str, anonymous: Context) -> None:
    accepted = set()
    for name, text in forged(token, secret_of(anonymous)).items():
        for verified in (True, False):
            try:
                login.resume(anonymous, text, verified)
                accepted.add(name)
            except UnauthenticatedError as error:
                if error.problem != "the token is not valid":
                    accepted.add(f"{name}: {error.problem}")
    assert accepted == set()
    assert login.resume(anonymous, token).actor is not None


def test_a_signed_token_with_the_claims_of_another_session_is_refused(token: str, anonymous: Context) -> None:
    row = anonymous.store.sessions.find(digest(token))
    assert row is not None
    other = jwt.encode({**claims_of(token), "rbac_roles": [1, 2]}, secret_of(anonymous), algorithm="HS256")
    anonymous.store.database.execute("UPDATE sessions SET digest = ?", (digest(other),))
    with pytest.raises(UnauthenticatedError):
        login.resume(anonymous, other)


@settings(max_examples=100, deadline=None)
@given(
    st.text()
    | st.from_regex(r"[A-Za-z0-9_-]{0,20}\.[A-Za-z0-9_-]{0,40}\.[A-Za-z0-9_-]{0,20}", fullmatch=True)
)
def test_any_text_is_refused_in_the_same_way(key: SigningKey, text: str) -> None:
    with pytest.raises(UnauthenticatedError, match="not valid"):
        key.verify(text)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> SigningKey:
    return SigningKey.create(tmp_path_factory.mktemp("key") / "key")


def test_garbage_is_refused_before_the_key_is_read(tmp_path: Path) -> None:
    with pytest.raises(UnauthenticatedError):
        SigningKey.load(tmp_path / "no such file").verify("garbage")


def test_a_key_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "key"
    SigningKey.create(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(path.read_bytes()) == 32
    before = path.read_bytes()
    with pytest.raises(ConflictError):
        SigningKey.create(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["key"]


@pytest.mark.parametrize("spoil", ["short", "long", "open to a group", "a symlink", "a folder"])
def test_a_key_file_that_is_not_as_it_was_made_is_not_used(tmp_path: Path, spoil: str) -> None:
    path = tmp_path / "key"
    if spoil == "a folder":
        path.mkdir(mode=0o700)
    else:
        SigningKey.create(path)
    if spoil in ("short", "long"):
        path.write_bytes(b"x" * (31 if spoil == "short" else 33))
    elif spoil == "open to a group":
        path.chmod(0o640)
    elif spoil == "a symlink":
        path.rename(tmp_path / "real")
        path.symlink_to(tmp_path / "real")
    with pytest.raises(UnavailableError) as raised:
        SigningKey.load(path).issue({})
    assert (raised.value.reason, raised.value.code) == ("configuration", 6003)


def test_a_key_is_never_shown(key: SigningKey) -> None:
    key.issue({})
    secret = key._path.read_bytes()
    assert secret.hex() not in f"{key!r} {vars(key)}"
    assert repr(secret) not in f"{key!r} {vars(key)}"


def test_passwords_are_kept_as_argon2id_with_a_salt_of_their_own() -> None:
    first, second = passwords.hash_password(ADMIN_PASSWORD), passwords.hash_password(ADMIN_PASSWORD)
    assert first != second
    assert first.startswith("$argon2id$")
    assert passwords.verify(first, ADMIN_PASSWORD)
    assert not passwords.verify(first, ADMIN_PASSWORD + "x")


def test_the_hash_for_nobody_costs_the_same_work_as_a_real_one() -> None:
    from argon2 import PasswordHasher, extract_parameters

    assert not PasswordHasher().check_needs_rehash(passwords._NOBODY)
    assert extract_parameters(passwords._NOBODY) == extract_parameters(passwords.hash_password("x"))


@pytest.mark.parametrize("stored", [None, "", "plain", "$argon2id$v=19$broken", "admin"])
@pytest.mark.parametrize("password", ["", " ", "admin", "plain", "-", ADMIN_PASSWORD])
def test_without_a_usable_hash_nothing_authenticates(stored: str | None, password: str) -> None:
    assert not passwords.verify(stored, password)


@pytest.mark.parametrize("password", ["", " ", "\t\n"])
def test_a_blank_password_never_authenticates_even_if_it_was_hashed(password: str) -> None:
    assert not passwords.verify(passwords.hash_password(password), password)
