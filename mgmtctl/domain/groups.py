"""Groups: how they are named, and how many an agent may have (D 5).

Rules: a name is what a folder may safely be called; whether a group exists is asked of the folders, never here.
"""

from __future__ import annotations

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.resources import MAX_NAME, NAME_CHARACTERS

DEFAULT_GROUP = "default"
MAX_GROUPS = 128  # of one agent

_BAD_NAME = 1722


def check_group_name(text: str) -> str:
    """`text`, when it can name a group: 1 to 128 of `A-Za-z0-9._-`; InvalidError (D 5)."""
    if not text:
        raise InvalidError("a group needs a name", fix=_FORM, code=_BAD_NAME)
    if not NAME_CHARACTERS.issuperset(text):
        raise InvalidError(f"{quoted(text)} cannot name a group; use letters, digits, . _ -", code=_BAD_NAME)
    if len(text) > MAX_NAME:
        problem = f"the name of a group has at most {MAX_NAME} characters, got {len(text)}"
        raise InvalidError(problem, code=_BAD_NAME)
    if text.startswith("."):
        why = "folders with a leading dot are no groups"
        raise InvalidError(f"`{text}` cannot name a group", why=why, fix=_FORM, code=_BAD_NAME)
    if text == "all":
        raise InvalidError("`all` cannot name a group", why="lists use it for every group", code=_BAD_NAME)
    return text


def is_group_name(text: str) -> bool:
    """Whether `text` can name a group."""
    try:
        check_group_name(text)
    except InvalidError:
        return False
    return True


def quoted(text: str) -> str:
    """User input for a message: in backticks, on one line, control characters escaped, shortened."""
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return f"`{shown}`"


_FORM = "use letters, digits, . _ - and do not begin with a dot"
_SHOWN = 80
