"""Users: names, passwords, reserved ids (D 1).

Rules: the name rule is that of users, roles, policies and rules alike; a password that is refused hears every rule that
it breaks; a message never repeats a password.
"""

from __future__ import annotations

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.resources import DIGITS, LETTERS, shown

NAME_CHARACTERS = LETTERS | DIGITS | frozenset("_.%-")
MAX_NAME = 64
MIN_PASSWORD = 8
MAX_PASSWORD = 64
PASSWORD_RULE = (
    f"{MIN_PASSWORD} to {MAX_PASSWORD} characters, among them a lower-case letter, an upper-case letter, "
    "a digit and a symbol"
)
FIRST_OWN_ID = 100
ADMIN_ID = 1
WEB_INTERFACE_ID = 2


def is_reserved(object_id: int) -> bool:
    """Whether a user, role, policy or rule of that id is a default one (ids 1-99; own ones start at 100)."""
    return object_id < FIRST_OWN_ID


def check_name(kind: str, text: str) -> str:
    """`text`, when it can name a user, role, policy or rule (`kind`); InvalidError. Uniqueness: compare name_key."""
    if not text:
        raise InvalidError(f"a {kind} needs a name", fix=f"write 1 to {MAX_NAME} letters, digits, _ . % -")
    if len(text) > MAX_NAME:
        raise InvalidError(f"the name of a {kind} has at most {MAX_NAME} characters, got {len(text)}")
    if not NAME_CHARACTERS.issuperset(text):
        raise InvalidError(f"{shown(text)} cannot name a {kind}", fix="use letters, digits, _ . % -")
    if DIGITS.issuperset(text):
        raise InvalidError(
            f"{shown(text)} cannot name a {kind}", why="digits only are always an id", fix="add a letter"
        )
    return text


def name_key(text: str) -> str:
    """What names are compared by: two names that differ in letter case only are the same (D 1)."""
    return text.casefold()


def check_password(text: str) -> list[str]:
    """Each rule that the password does not meet, as a phrase; none: it may be set. Never holds the password."""
    unmet = []
    if len(text) < MIN_PASSWORD:
        unmet.append(f"at least {MIN_PASSWORD} characters")
    if len(text) > MAX_PASSWORD:
        unmet.append(f"at most {MAX_PASSWORD} characters")
    return unmet + [rule for rule, met in _CLASSES.items() if not any(map(met, text))]


def require_password(text: str) -> str:
    """`text`, when every rule is met; InvalidError that names each unmet one."""
    unmet = check_password(text)
    if unmet:
        raise InvalidError(f"the password needs {', '.join(unmet)}", code=5007)
    return text


def _is_symbol(character: str) -> bool:
    return character.isprintable() and not character.isalnum() and not character.isspace()


_CLASSES = {
    "a lower-case letter": str.islower,
    "an upper-case letter": str.isupper,
    "a digit": str.isdecimal,
    "a symbol": _is_symbol,
}
