"""What the names and descriptions of policies and roles promise: that nothing can be changed by them.

Rules: a name promises by one of its words, unless another word takes it back; a description by a fixed phrase. Nothing
else is read into them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.findings import WARNING, Finding
from mgmtctl.domain.resources import one_line

# Actions that change nothing, beside all that are called `read`.
READ_VERBS = ("read", "read_api_config", "read_config", "status")
READ_ACTIONS = frozenset({"logtest:run", *(name for name in ACTIONS if name.partition(":")[2] in READ_VERBS)})
READ_ONLY_WORDS = frozenset(
    {"read", "readonly", "reader", "readers", "ro", "view", "viewer", "viewers", "auditor"}
)
# Words of a name that promises more: those below, and the verbs of all other actions (create, delete, run ...).
OTHER_WORDS = frozenset({"write", "rw", "editor", "change", "manage", "admin", "all", "full"}).union(
    name.partition(":")[2].partition("_")[0] for name in ACTIONS if name not in READ_ACTIONS
)
_MOST_SAID = 3


def changes_of(allowed: Iterable[str]) -> list[str]:
    """The actions that change something, each once."""
    return [action for action in dict.fromkeys(allowed) if action not in READ_ACTIONS]


def says_read_only(name: str, description: str = "") -> bool:
    """Whether a name or a description promises that nothing can be changed."""
    words = _words(name)
    if words & READ_ONLY_WORDS and not words & OTHER_WORDS:
        return True
    said = f" {' '.join(description.lower().replace('-', ' ').split())} "
    return any(
        f" {phrase} " in said for phrase in ("read only", "readonly", "read access", "can read", "allow read")
    )


def wider(name: str, actions: Sequence[str], path: str, what: str) -> Finding:
    """The finding that something promises to be read-only and is not."""
    some = ", ".join(actions[:_MOST_SAID]) + (
        f" and {len(actions) - _MOST_SAID} more" * (len(actions) > _MOST_SAID)
    )
    said = f"`{one_line(name)}`" if name else "the description"
    message = f"{said} says read-only, and {what} {some}"
    return Finding("wider-than-description", WARNING, message, path, suggestion="rename it, or take them out")


def _words(name: str) -> set[str]:
    return set("".join(c if c.isalnum() else " " for c in name.lower()).split())
