"""Settings that decide what is allowed: they live in the store only, and these are their defaults and limits (D 1).

Rules: no flag, environment variable or file sets one of them; a stored value is JSON; a value outside its limits is
refused before it is stored. The settings of places and forms (folders, log) are in `mgmtctl/settings.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mgmtctl.domain.errors import InvalidError

DAY = 86_400
_MOST_DIGITS = 18


class StoreSetting(NamedTuple):
    """A default, what it means, the text of what is expected, and whether a value is that."""

    default: Any
    summary: str
    expected: str
    accepts: Callable[[Any], bool]


def _one_of(*words: str) -> tuple[str, Callable[[Any], bool]]:
    return " or ".join(words), lambda value: isinstance(value, str) and value in words


def _integer(least: int, most: int | None = None) -> tuple[str, Callable[[Any], bool]]:
    text = f"a whole number, at least {least}" + ("" if most is None else f" and at most {most}")
    return text, lambda value: type(value) is int and least <= value and (most is None or value <= most)


def _flag() -> tuple[str, Callable[[Any], bool]]:
    return "true or false", lambda value: isinstance(value, bool)


def _texts(expected: str, accepts: Callable[[str], bool]) -> tuple[str, Callable[[Any], bool]]:
    return (
        expected,
        lambda value: (
            isinstance(value, list) and all(isinstance(item, str) and accepts(item) for item in value)
        ),
    )


STORE_SETTINGS: dict[str, StoreSetting] = {
    "rbac_mode": StoreSetting("white", "what holds where no policy speaks", *_one_of("white", "black")),
    "auth_token_exp_timeout": StoreSetting(900, "life of a token in seconds", *_integer(30, 10 * 365 * DAY)),
    "max_login_attempts": StoreSetting(
        50, "failed logins of one user from one address", *_integer(1, 100_000)
    ),
    "login_window": StoreSetting(300, "seconds in which failed logins are counted", *_integer(1, DAY)),
    "block_time": StoreSetting(300, "seconds that logins stay blocked", *_integer(1, DAY)),
    "accept_raw_contexts": StoreSetting(False, "contexts without name and auth are accepted", *_flag()),
    "remote.allow_private": StoreSetting(False, "downloads from private addresses", *_flag()),
    "agents.folder_roots": StoreSetting(
        [],
        "where agent folders may lie",
        *_texts("a list of absolute paths", lambda path: path.startswith("/")),
    ),
    "agents.keepalive_interval": StoreSetting(
        10, "seconds between two reports of an agent", *_integer(1, DAY)
    ),
    "files.revisions_kept": StoreSetting(
        100, "revisions kept of each group; 0: all", *_integer(0, 1_000_000)
    ),
}


def check_store_setting(name: str, value: Any) -> Any:
    """`value`, when the store setting may have it; InvalidError for it or for an unknown name."""
    setting = STORE_SETTINGS.get(name)
    if setting is None:
        raise InvalidError(f"`{name}` is no setting of the store", fix=f"one of {', '.join(STORE_SETTINGS)}")
    if not setting.accepts(value):
        raise InvalidError(f"{name}: expected {setting.expected}, got `{value}`")
    return value


def read_store_setting(name: str, text: str) -> Any:
    """The value that a text of the command line means; InvalidError as in `check_store_setting`.

    A list is written as JSON, or its items separated by commas; the empty text is the empty list.
    """
    setting = STORE_SETTINGS.get(name)
    return check_store_setting(name, text if setting is None else _value(setting.default, text.strip()))


def _value(like: Any, text: str) -> Any:
    """The text as a value of the same type as `like`; as it is when it cannot be one."""
    if isinstance(like, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    if isinstance(like, int):
        return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else text
    if isinstance(like, list):
        return _list(text)
    return text


def _list(text: str) -> Any:
    if not text.startswith("["):
        return [item.strip() for item in text.split(",") if item.strip()]
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
