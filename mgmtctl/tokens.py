"""Tokens: signed JWTs, the key file they are signed with, and the digest a token is known by (D 1).

Rules: one algorithm, fixed; the key is 32 random bytes in a file of mode 0600 and is read whenever it is needed, so
that a new one counts at once; a token that cannot be one is refused before the key is touched. Signature, issuer,
audience and presence of the claims are judged here; whether a session lives, its times included, is judged by its row.
jwt is imported where it is used.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import ConflictError, UnauthenticatedError, UnavailableError

if TYPE_CHECKING:
    from jwt.types import Options

ALGORITHM = "HS256"
ISSUER = "mgmtctl"
AUDIENCE = "mgmtctl api"
CLAIMS = ("iss", "aud", "iat", "nbf", "exp", "jti", "sub", "uid", "run_as", "rbac_roles", "rbac_mode", "gen")
KEY_SIZE = 32
ABANDONED_AFTER = 60  # seconds; a rotation takes none
LONGEST_TOKEN = 65_536
_TOKEN_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


class SigningKey:
    """The key in one file. Nothing shows it: not its repr, not an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def load(cls, path: Path) -> SigningKey:
        """The key in an existing file, read when it is needed."""
        return cls(path)

    @classmethod
    def create(cls, path: Path) -> SigningKey:
        """A new random key in a new file, written whole or not at all; ConflictError when the file exists."""
        staged = _staged(path)
        try:
            os.link(staged, path)
        except FileExistsError:
            raise ConflictError(f"the key file `{path}` exists") from None
        finally:
            os.unlink(staged)
        return cls(path)

    def rotate(self) -> None:
        """Put a new random key in place of the present one, by one rename; UnavailableError (io) when that fails."""
        try:
            _sweep(self._path)
            staged = _staged(self._path)
            try:
                os.replace(staged, self._path)
            except BaseException:
                staged.unlink(missing_ok=True)
                raise
            _sync_folder(self._path.parent)
        except OSError as error:
            raise UnavailableError(
                f"cannot write the key file `{self._path}`", "io", why=error.strerror
            ) from None

    def issue(self, claims: dict[str, Any]) -> str:
        """The signed token of these claims; issuer and audience are added."""
        import jwt

        return jwt.encode(
            {"iss": ISSUER, "aud": AUDIENCE, **claims}, _read_key(self._path), algorithm=ALGORITHM
        )

    def verify(self, token: str) -> dict[str, Any]:
        """The claims of a token that this key signed; UnauthenticatedError for any other text."""
        if not looks_like_token(token):
            raise invalid_token()
        import jwt

        # Times are compared in one place, with the session's row: an expired token is refused there.
        checks: Options = {
            "require": list(CLAIMS),
            "verify_exp": False,
            "verify_nbf": False,
            "verify_iat": False,
        }
        try:
            return dict(
                jwt.decode(
                    token,
                    _read_key(self._path),
                    algorithms=[ALGORITHM],
                    audience=AUDIENCE,
                    issuer=ISSUER,
                    options=checks,
                )
            )
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise invalid_token() from None


def looks_like_token(text: str) -> bool:
    """Whether the text has the form of a token at all: length, characters, three parts."""
    return len(text) <= LONGEST_TOKEN and text.count(".") == 2 and _TOKEN_CHARACTERS.issuperset(text)


def digest(token: str) -> str:
    """SHA-256 of the token, 64 hex digits: what its session is stored under."""
    import hashlib

    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def invalid_token() -> UnauthenticatedError:
    """The one text for a token that is not accepted, whatever is wrong with it."""
    return UnauthenticatedError("the token is not valid", fix="mgmtctl login")


def _staged(path: Path) -> Path:
    """A new key in a file of its own beside `path`, written through to the disk."""
    staged = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(handle, os.urandom(KEY_SIZE))
        os.fsync(handle)
    except BaseException:
        os.unlink(staged)
        raise
    finally:
        os.close(handle)
    return staged


def _sweep(path: Path) -> None:
    """Remove the keys that killed rotations left beside `path`; one that is being written is younger."""
    import time

    for left in path.parent.glob(f".{path.name}.*"):
        with suppress(FileNotFoundError):  # another rotation swept it
            if left.lstat().st_mtime < time.time() - ABANDONED_AFTER:
                left.unlink()


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _read_key(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as error:
        raise _unusable(path, error.strerror or "it cannot be read") from None
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
            raise _unusable(path, "it must be a file of mode 0600 that is yours")
        secret = os.read(handle, KEY_SIZE + 1)
    finally:
        os.close(handle)
    if len(secret) != KEY_SIZE:
        raise _unusable(path, f"expected {KEY_SIZE} bytes")
    return secret


def _unusable(path: Path, why: str) -> UnavailableError:
    return UnavailableError(f"cannot use the key file `{path}`", "configuration", why=why, code=6003)
