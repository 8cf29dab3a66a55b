"""Revisions of groups: numbers, authors, reasons and trees, and the changes that were announced and not recorded yet.

Rules (D 5): the highest number of a group is kept for ever, so that none comes back when the group does. A tree is kept
once; `blobs` counts in how many trees a content is, so that it is known which is needed no more. Contents themselves
lie in the folder `revisions/`.
"""

# ruff: noqa: S608 - SQL text is put together from constants, values are parameters

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mgmtctl.domain.revisions import (
    Author,
    Changed,
    Intent,
    Revision,
    Tree,
    changes,
    read_tree,
    require_known,
    tree_digest,
    tree_text,
)
from mgmtctl.domain.scopes import Scope
from mgmtctl.store import agent_queries
from mgmtctl.store.database import Database

_REVISION = (
    "SELECT group_name, number, time, how, author, context_id, reason, changes, tree, written FROM revisions"
)
# The manifests of merged files that some agent was last given, or runs.
_HELD = """m.digest IN (SELECT digest FROM sync_state)
    OR m.digest IN (SELECT running FROM sync_state)"""


class Head(NamedTuple):
    """The last revision of a group: its number, the digest of its tree, and how the folder looked then (state)."""

    number: int
    tree: str
    state: str


class RevisionStore:
    """Tables revisions, trees, blobs, revision_heads and intents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def head(self, group: str) -> Head | None:
        """The last revision of a group, None when it has none."""
        row = self._database.row(
            "SELECT h.number, r.tree, h.state FROM revision_heads h"
            " JOIN revisions r ON r.group_name = h.group_name AND r.number = h.number WHERE h.group_name = ?",
            (group,),
        )
        return None if row is None else Head._make(row)

    def add(
        self,
        group: str,
        tree: Tree,
        *,
        how: str,
        time: int,
        state: str = "",
        author: Author | None = None,
        reason: str | None = None,
        written: tuple[int, int] | None = None,
    ) -> int:
        """Record a state of the group's folder as its next revision and return the number."""
        head = self.head(group)
        number = (head.number if head else 0) + 1
        found = changes(self.tree(head.tree) if head else {}, tree)
        digest = self._keep_tree(tree)
        self._database.execute(
            "INSERT INTO revisions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(group, number, time, how),
                *((author.user, author.context_id) if author else (None, None)),
                *(reason, json.dumps(found), digest, json.dumps(written) if written else None),
            ),
        )
        self._database.execute(
            "INSERT OR REPLACE INTO revision_heads VALUES (?, ?, ?)", (group, number, state)
        )
        return number

    def set_state(self, group: str, state: str) -> None:
        """Note how the folder looks now that it holds the last revision."""
        self._database.execute("UPDATE revision_heads SET state = ? WHERE group_name = ?", (state, group))

    def get(self, group: str, number: int) -> Revision:
        """One revision; NotFoundError."""
        row = self._database.row(f"{_REVISION} WHERE group_name = ? AND number = ?", (group, number))
        if row is None:
            require_known(group, number, self.numbers(group))
            raise AssertionError(number)
        return _revision(row)

    def list(self, group: str) -> list[Revision]:
        """All revisions of a group that are kept, the last first."""
        rows = self._database.rows(f"{_REVISION} WHERE group_name = ? ORDER BY number DESC", (group,))
        return [_revision(row) for row in rows]

    def numbers(self, group: str) -> Sequence[int]:
        """The numbers of the revisions that are kept, ascending."""
        rows = self._database.rows(
            "SELECT number FROM revisions WHERE group_name = ? ORDER BY number", (group,)
        )
        return [number for (number,) in rows]

    def tree(self, digest: str) -> dict[str, tuple[str, int]]:
        """The tree with this digest."""
        return read_tree(self._database.value("SELECT files FROM trees WHERE digest = ?", (digest,)))

    def with_tree(self, group: str, tree: str) -> int | None:
        """The last revision of the group with this tree."""
        number: int | None = self._database.value(
            "SELECT max(number) FROM revisions WHERE group_name = ? AND tree = ?", (group, tree)
        )
        return number

    def with_file(self, group: str, name: str) -> Sequence[int]:
        """The numbers of the revisions that hold the file, ascending."""
        rows = self._database.rows(
            "SELECT r.number FROM revisions r JOIN trees t ON t.digest = r.tree"
            " WHERE r.group_name = ? AND json_type(t.files, ?) IS NOT NULL ORDER BY r.number",
            (group, f'$."{name}"'),
        )
        return [number for (number,) in rows]

    def without_file(self, name: str) -> set[str]:
        """The groups whose last revision does not hold the file."""
        rows = self._database.rows(
            "SELECT h.group_name FROM revision_heads h"
            " JOIN revisions r ON r.group_name = h.group_name AND r.number = h.number"
            " JOIN trees t ON t.digest = r.tree WHERE json_type(t.files, ?) IS NULL",
            (f'$."{name}"',),
        )
        return {group for (group,) in rows}

    def held(self, group: str) -> set[int]:
        """The revisions that are in a merged file that some agent was last given, or runs."""
        rows = self._database.rows(
            f"SELECT DISTINCT e.value FROM manifests m, json_each(m.revisions) e WHERE e.key = ? AND ({_HELD})",
            (group,),
        )
        return {int(number) for (number,) in rows}

    def drop(self, group: str, numbers: Iterable[int]) -> None:
        """Forget revisions, and trees that no other has; contents that are in no tree any more count 0 uses."""
        for number in numbers:
            tree = self._database.value(
                "DELETE FROM revisions WHERE group_name = ? AND number = ? RETURNING tree", (group, number)
            )
            if (
                tree is not None
                and self._database.value("SELECT 1 FROM revisions WHERE tree = ?", (tree,)) is None
            ):
                self._count(self.tree(tree), -1)
                self._database.execute("DELETE FROM trees WHERE digest = ?", (tree,))

    def unused_blobs(self) -> Sequence[str]:
        """Contents that are in no tree any more."""
        return [digest for (digest,) in self._database.rows("SELECT sha256 FROM blobs WHERE uses <= 0")]

    def forget_blobs(self, digests: Iterable[str]) -> None:
        """Contents that were taken away."""
        self._database.executemany(
            "DELETE FROM blobs WHERE sha256 = ? AND uses <= 0", ((digest,) for digest in digests)
        )

    def needed_blobs(self) -> set[str]:
        """Every content that a tree or an announced change needs."""
        found = {digest for (digest,) in self._database.rows("SELECT sha256 FROM blobs WHERE uses > 0")}
        for group in self.announced():
            intent = self.intent(group)
            found.update(digest for digest, _ in (intent.after if intent else {}).values())
        return found

    def announce(self, intent: Intent) -> None:
        """Write a change down before its first file is touched."""
        author = intent.author
        self._database.execute(
            "INSERT INTO intents VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(intent.group, intent.how),
                *((author.user, author.context_id) if author else (None, None)),
                *(intent.reason, intent.time, tree_text(intent.before), tree_text(intent.after)),
            ),
        )

    def announced(self) -> Sequence[str]:
        """The groups with a change that was announced and not recorded: it goes on, or was cut short."""
        return [
            group for (group,) in self._database.rows("SELECT group_name FROM intents ORDER BY group_name")
        ]

    def intent(self, group: str) -> Intent | None:
        """The change of a group that was announced and not recorded."""
        row = self._database.row(
            "SELECT group_name, how, author, context_id, reason, time, before, after FROM intents WHERE group_name = ?",
            (group,),
        )
        if row is None:
            return None
        name, how, user, context_id, reason, time, before, after = row
        return Intent(name, how, _author(user, context_id), reason, time, read_tree(before), read_tree(after))

    def settle(self, group: str) -> None:
        """The announced change is recorded, or never happened."""
        self._database.execute("DELETE FROM intents WHERE group_name = ?", (group,))

    def agents(self, group: str, readable: Scope) -> dict[int, int]:
        """How many readable agents were last given each revision of the group."""
        found = agent_queries.source(readable)
        rows = self._database.rows(
            "SELECT e.value, sum(counted.agents) FROM manifests m, json_each(m.revisions) e, ("
            "SELECT digest, count(*) AS agents FROM sync_state WHERE agent_id IN"
            f" (SELECT {found.identifier} FROM {found.counted} WHERE {found.condition.sql}) GROUP BY digest"
            ") counted WHERE counted.digest = m.digest AND e.key = ? GROUP BY e.value",
            (*found.condition.parameters, group),
        )
        return {int(number): int(count) for number, count in rows}

    def _keep_tree(self, tree: Tree) -> str:
        digest = tree_digest(tree)
        added = self._database.execute("INSERT OR IGNORE INTO trees VALUES (?, ?)", (digest, tree_text(tree)))
        if added.rowcount:
            self._count(tree, 1)
        return digest

    def _count(self, tree: Tree, more: int) -> None:
        self._database.executemany(
            "INSERT INTO blobs VALUES (?, ?) ON CONFLICT (sha256) DO UPDATE SET uses = uses + excluded.uses",
            ((digest, more) for digest in {digest for digest, _ in tree.values()}),
        )


def _author(user: str | None, context_id: str | None) -> Author | None:
    return None if user is None else Author(user, context_id)


def _revision(row: tuple[Any, ...]) -> Revision:
    group, number, time, how, user, context_id, reason, changed, tree, written = row
    found = tuple(Changed(*entry) for entry in json.loads(changed))
    span = tuple(json.loads(written)) if written else None
    return Revision(group, number, time, how, _author(user, context_id), reason, found, tree, span)
