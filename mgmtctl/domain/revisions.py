"""Revisions of a group's files: what a state of a folder is, what changed between two, and which ones are kept.

Rules (D 5): every change is a revision with a number of its own group, author, time and reason; numbers only grow and
never come back; they decide the order, times are only shown. A tree is the state of a folder: relative file name to
(SHA-256, size). What an agent was last given, or still runs, and the last revision are never dropped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mgmtctl.domain.errors import ConflictError, NotFoundError, QuestionError
from mgmtctl.domain.groups import quoted

Tree = Mapping[str, tuple[str, int]]

CREATED, UPDATED, REMOVED = "created", "updated", "removed"
# How a revision came: by a command, or found on disk, where somebody worked with tools of his own.
CREATE, PUT, EDIT, RM, ROLLBACK, DELETE, FOUND = "create", "put", "edit", "rm", "rollback", "delete", "found"
NO_FILE = "none"  # what --if-match says of a file that must not be there
_LEAST_DIGITS = 8
_MOST_NUMBER = 9  # digits


class Changed(NamedTuple):
    """One file that differs between two trees: `change` is created, updated or removed."""

    change: str
    file: str

    def record(self) -> dict[str, str]:
        """{"change", "file"}."""
        return {"change": self.change, "file": self.file}


@dataclass(frozen=True, slots=True)
class Author:
    """Who made a change: a user, and the context of his session if it has one."""

    user: str
    context_id: str | None = None


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of a group's folder; `author` None: found on disk, the files were written in `written` (from, to).

    `tree` is the digest of the tree; `time` when it was recorded, seconds since 1970.
    """

    group: str
    number: int
    time: int
    how: str
    author: Author | None
    reason: str | None
    changes: tuple[Changed, ...]
    tree: str
    written: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """A change that was announced and is not recorded yet: what the folder was and shall be, and by whom."""

    group: str
    how: str
    author: Author | None
    reason: str | None
    time: int
    before: Tree
    after: Tree

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files it is about."""
        return tuple(changed.file for changed in changes(self.before, self.after))


def tree_of(files: Mapping[str, bytes]) -> dict[str, tuple[str, int]]:
    """The state of a folder with these files."""
    return {name: (hashlib.sha256(data).hexdigest(), len(data)) for name, data in files.items()}


def tree_digest(tree: Tree) -> str:
    """The SHA-256 of a tree: the same files give the same text."""
    return hashlib.sha256(tree_text(tree).encode(errors="surrogateescape")).hexdigest()


def tree_text(tree: Tree) -> str:
    """A tree as canonical JSON."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":"))


def read_tree(text: str) -> dict[str, tuple[str, int]]:
    """What `tree_text` wrote."""
    return {name: (sha256, size) for name, (sha256, size) in json.loads(text).items()}


def changes(before: Tree, after: Tree) -> tuple[Changed, ...]:
    """What has to be done to the files of `before` to make `after`, by name."""
    found = [
        Changed(UPDATED if name in before else CREATED, name)
        for name in after
        if _differs(name, before, after)
    ]
    found += [Changed(REMOVED, name) for name in before if name not in after]
    return tuple(sorted(found, key=lambda changed: changed.file))


def _differs(name: str, before: Tree, after: Tree) -> bool:
    return before.get(name) != after.get(name)


def in_place(intent: Intent, actual: Tree) -> tuple[str, ...]:
    """The files of an intended change that are on disk as intended."""
    return tuple(name for name in intent.files if actual.get(name) == intent.after.get(name))


def outstanding(intent: Intent, actual: Tree) -> tuple[str, ...]:
    """The files of an intended change that nobody touched yet, when others are in place already; else none.

    A change of several files that was cut short is completed, so that no mixture stays; one that has not begun never
    happened.
    """
    if not in_place(intent, actual):
        return ()
    return tuple(
        name
        for name in intent.files
        if actual.get(name) == intent.before.get(name) and actual.get(name) != intent.after.get(name)
    )


def reached(intent: Intent, actual: Tree) -> dict[str, tuple[str, int]]:
    """The tree that the intended change alone has made: `before` with what of it is in place."""
    done = set(in_place(intent, actual))
    kept = {name: entry for name, entry in intent.before.items() if name not in done}
    return {**kept, **{name: entry for name, entry in intent.after.items() if name in done}}


def superfluous(numbers: Sequence[int], keep: int, used: Container[int]) -> list[int]:
    """Which of the revisions to drop so that the last `keep` (0: all) and those that are `used` stay."""
    if keep == 0:
        return []
    return [number for number in sorted(numbers)[:-keep] if number not in used]


def parse_number(text: str) -> int:
    """The revision that `7` or `r7` names; QuestionError."""
    digits = text.removeprefix("r")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_NUMBER and int(digits) > 0):
        raise QuestionError(f"{quoted(text)} is no revision", fix="write its number, as 7 or r7")
    return int(digits)


def is_number(text: str) -> bool:
    """Whether an --if-match names a revision (`r7`) rather than a digest."""
    return text.startswith("r")


def check_match(text: str) -> str:
    """What --if-match may be: a SHA-256 (8 digits of it at least), `rN`, or `none`; QuestionError."""
    if text == NO_FILE:
        return text
    if is_number(text):
        return f"r{parse_number(text)}"
    if _LEAST_DIGITS <= len(text) <= 64 and not set(text.lower()) - set("0123456789abcdef"):
        return text.lower()
    raise QuestionError(
        f"{quoted(text)} cannot be compared", fix="give the SHA-256 of the file, a revision as r7, or none"
    )


def require_file(
    place: str, expected: str, there: str | None, *, asked: int | None = None, now: int | None = None
) -> None:
    """ConflictError unless the file `place` has the digest `there` (None: it does not exist) that was `expected`.

    `asked`: the revision that this digest stands for, `now`: the one that the file is as in.
    """
    if expected == NO_FILE and there is None:
        return
    if expected != NO_FILE and there is not None and there.startswith(expected):
        return
    has = "it does not exist" if there is None else f"it has {there[:12]}"
    wanted = "no file" if expected == NO_FILE else expected[:12]
    if asked is not None:
        wanted, has = f"r{asked}", "it was changed on disk since" if now is None else f"it is r{now}"
    raise changed_meanwhile(place, f"expected {wanted}, {has}")


def changed_meanwhile(place: str, why: str) -> ConflictError:
    """The refusal of a change that rests on another state than the present one."""
    group = place.partition("/")[0]
    return ConflictError(
        f"`{place}` was changed meanwhile", why=why, fix=f"look at it: mgmtctl files history {group}"
    )


def removals_first(names: Collection[str], after: Tree) -> list[str]:
    """In which order to bring files to `after`: a file may have to go before a folder can bear its name."""
    return sorted(names, key=lambda name: (name in after, name))


def require_known(group: str, number: int, numbers: Sequence[int]) -> None:
    """NotFoundError unless the group has this revision still; `numbers` are those that are kept, ascending."""
    if number in numbers:
        return
    if not numbers:
        why = "the group has none yet; they begin with the next change or sync"
    elif number > numbers[-1]:
        why = f"the last is r{numbers[-1]}"
    elif number == 0:
        why = f"r{numbers[0]} is the first"
    else:
        why = "it is not kept any more (setting files.revisions_kept)"
    error = NotFoundError("revision", f"r{number} of {group}", why=why, fix=f"mgmtctl files history {group}")
    error.problem = f"revision `r{number}` of `{group}` does not exist"
    raise error


def change_words(found: Sequence[Changed]) -> str:
    """What changed, for people: `agent.conf, +packs/a.conf, -old.txt`."""
    signs = {CREATED: "+", UPDATED: "", REMOVED: "-"}
    return ", ".join(f"{signs[changed.change]}{changed.file}" for changed in found)


def plain_changes(found: Sequence[Changed]) -> list[dict[str, Any]]:
    """The record form of changes."""
    return [changed.record() for changed in found]
