"""Password hashes: argon2id with the library's parameters, and passwords made up for others (D 1).

Rules: every check costs the work of one hash, also for a user nobody has and one without a password; empty and blank
never authenticate. The rules a password must meet are in `domain/users.py`. argon2 is imported where it is used.
"""

from __future__ import annotations

# A hash of nothing anybody knows, made with the parameters that `hash_password` uses (a test compares them).
_NOBODY = "$argon2id$v=19$m=65536,t=3,p=4$GnoqKcsT688Wf1zPIuq0ew$GnkWgcjyTXCi6gu2qal7LExUOxtLOWbwsoEzI952rw8"
LONGEST_ASKED = 1_024  # bytes; no password that may be set is as long
_ALPHABET = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-_.+="
_GENERATED_LENGTH = 24


def hash_password(password: str) -> str:
    """The argon2id hash to store, with its parameters and salt."""
    from argon2 import PasswordHasher

    return PasswordHasher().hash(_bytes(password))


def verify(stored: str | None, password: str) -> bool:
    """Whether `password` is the one that `stored` is a hash of; the same work when nothing is stored."""
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerificationError

    asked = _bytes(password)
    usable = bool(password.strip()) and len(asked) <= LONGEST_ASKED
    try:
        matched = PasswordHasher().verify(stored or _NOBODY, asked if usable else b"-")
    except (VerificationError, InvalidHashError):
        return False
    return matched and usable and stored is not None


def generate() -> str:
    """A new random password that meets every rule (about 140 bits)."""
    import secrets

    from mgmtctl.domain.users import check_password

    while True:
        password = "".join(secrets.choice(_ALPHABET) for _ in range(_GENERATED_LENGTH))
        if not check_password(password) and password[0].isalnum():
            return password


def _bytes(password: str) -> bytes:
    return password.encode("utf-8", "surrogatepass")
