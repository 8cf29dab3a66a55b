"""What was built for each combination of groups, and what was last written into each agent's folder.

Rules (D 8): `group_config_status` changes in the transaction of its cause, and `synced` is only written for files that
are in place. A push is announced first (`begin`) and recorded after (`record`): an agent whose push was cut short has
an unsettled state, so that the next run looks into its folder. Digests are SHA-256 of merged files.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from mgmtctl.store.database import Database

# A look that was recorded within the tick of the clock in which a file was written: a later change may bear the same
# time, so it is not trusted. NULL: a push was announced and is not recorded yet.
FRESH = b""


class Merged(NamedTuple):
    """The merged file of a combination as last built; `signature` is the state of the sources it came from."""

    groups: str
    digest: str
    md5: str
    size: int
    signature: str
    built: int


class Member(NamedTuple):
    """An agent as sync sees it: what it shall get (`groups`, comma-joined), where, and what it last got.

    `pushed_digest` is empty when nothing was ever written; `look` says how the files looked then (a digest).
    """

    id: int
    name: str
    groups: str
    folder: str | None
    status: str
    pushed_digest: str
    pushed: int
    look: bytes | None

    @property
    def agent_id(self) -> str:
        """The id as it is shown, three digits at least."""
        return f"{self.id:03}"


class Written(NamedTuple):
    """A push that ended: the agent, the groups it was for, what was written, how its files look now, and when the
    newest of them changed (ns)."""

    id: int
    groups: str
    digest: str
    look: bytes
    newest: int


# Groups (comma-joined), agent id, and its look when that alone can say that the agent needs nothing.
Seen = tuple[str, int, bytes | None]

_SEEN = """SELECT a.groups, a.id,
        CASE WHEN a.folder IS NULL AND a.group_config_status = 'synced' THEN s.look END
    FROM agents a LEFT JOIN sync_state s ON s.agent_id = a.id"""
_MEMBER = """SELECT a.id, a.name, a.groups, a.folder, a.group_config_status,
        coalesce(s.digest, ''), coalesce(s.pushed, 0), s.look
    FROM agents a LEFT JOIN sync_state s ON s.agent_id = a.id"""


class SyncStateStore:
    """Tables merged_files, manifests and sync_state, and the status column of agents."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def members(self, ids: Iterable[str] | Iterable[int] | None, group: str | None = None) -> list[Member]:
        """The agents with these ids (None: all), of one group if given, those with the same groups together."""
        return list(map(Member._make, self._selected(_MEMBER, ids, group, "a.groups, a.id")))

    def seen(self, ids: Iterable[str] | None, group: str | None = None) -> Iterator[Seen]:
        """The same agents by id, with no more than it takes to see that nothing has to be done."""
        # In the order in which they lie on disk: every agent is read in every run.
        return self._selected(_SEEN, ids, group, "a.id")

    def _selected(
        self, columns: str, ids: Iterable[str] | Iterable[int] | None, group: str | None, order: str
    ) -> Iterator[tuple[Any, ...]]:
        where, parameters = [], []
        if ids is not None:
            where.append("a.id IN (SELECT value FROM json_each(?))")
            parameters.append(f"[{','.join(str(int(identifier)) for identifier in ids)}]")
        if group is not None:
            where.append("a.id IN (SELECT agent_id FROM memberships WHERE group_name = ?)")
            parameters.append(group)
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        return self._database.execute(f"{columns}{condition} ORDER BY {order}", parameters)

    def merged(self, groups: str) -> Merged | None:
        """What was last built for these groups (comma-joined)."""
        row = self._database.row(
            "SELECT groups, digest, md5, size, signature, built FROM merged_files WHERE groups = ?", (groups,)
        )
        return None if row is None else Merged._make(row)

    def save_merged(self, merged: Merged) -> None:
        """Keep what was built for a combination."""
        self._database.execute("INSERT OR REPLACE INTO merged_files VALUES (?, ?, ?, ?, ?, ?)", merged)

    def save_manifest(self, digest: str, md5: str, manifest: Mapping[str, tuple[str, int]]) -> None:
        """Keep what a merged file puts into agent folders: name -> (SHA-256, size)."""
        self._database.execute(
            "INSERT OR IGNORE INTO manifests VALUES (?, ?, ?)", (digest, md5, json.dumps(manifest))
        )

    def manifest(self, digest: str) -> dict[str, tuple[str, int]] | None:
        """What the merged file with this digest put into agent folders: name -> (SHA-256, size)."""
        text = self._database.value("SELECT files FROM manifests WHERE digest = ?", (digest,))
        if text is None:
            return None
        return {name: (sha256, size) for name, (sha256, size) in json.loads(text).items()}

    @contextmanager
    def unhurried(self) -> Iterator[None]:
        """Commits inside do not wait for the disk, which would make them wait for every file that was pushed.

        What a power cut takes of them the next run finds by looking. Not inside a transaction.
        """
        before = int(self._database.value("PRAGMA synchronous"))
        self._database.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            self._database.execute(f"PRAGMA synchronous = {before}")

    def begin(self, ids: Iterable[int]) -> None:
        """Announce pushes: until they are recorded these agents are not synced and their state is not trusted."""
        rows = [(identifier,) for identifier in ids]
        self._database.executemany(
            "INSERT INTO sync_state VALUES (?, '', 0, NULL) ON CONFLICT (agent_id) DO UPDATE SET look = NULL",
            rows,
        )
        self.set_not_synced(row[0] for row in rows)

    def record(self, written: Sequence[Written], now: int) -> None:
        """Record pushes whose files are in place. An agent deleted meanwhile is passed over."""
        self._database.executemany(
            "UPDATE sync_state SET digest = ?, pushed = ?, look = ? WHERE agent_id = ?",
            ((w.digest, now, w.look, w.id) for w in written),
        )

    def settle(self, written: Sequence[Written]) -> None:
        """Record how files look that were found in place, without a push."""
        self._database.executemany(
            "UPDATE sync_state SET look = ? WHERE agent_id = ? AND digest = ?",
            ((w.look, w.id, w.digest) for w in written),
        )

    def set_synced(self, agents: Iterable[tuple[int, str]]) -> None:
        """Agents (id, groups) whose folders hold what these groups give; one that was moved meanwhile is left out."""
        self._database.executemany(
            "UPDATE agents SET group_config_status = 'synced'"
            " WHERE id = ? AND groups = ? AND group_config_status <> 'synced'",
            agents,
        )

    def set_not_synced(self, ids: Iterable[int]) -> None:
        """Agents whose folders are known to differ from what their groups give."""
        self._database.executemany(
            "UPDATE agents SET group_config_status = 'not synced'"
            " WHERE id = ? AND group_config_status <> 'not synced'",
            ((identifier,) for identifier in ids),
        )

    def mark_not_synced(self, groups: Iterable[str]) -> int:
        """Every agent of these groups is not synced any more: their files changed. Returns how many were synced."""
        return sum(
            self._database.execute(
                "UPDATE agents SET group_config_status = 'not synced' WHERE group_config_status <> 'not synced'"
                " AND id IN (SELECT agent_id FROM memberships WHERE group_name = ?)",
                (group,),
            ).rowcount
            for group in groups
        )

    def forget_unused(self) -> None:
        """Drop combinations without agents, and manifests that nothing refers to and no push cut short may need."""
        self._database.execute(
            "DELETE FROM merged_files WHERE instr(groups, ',') > 0 AND groups NOT IN (SELECT groups FROM agents)"
        )
        self._database.execute(
            "DELETE FROM manifests WHERE NOT EXISTS (SELECT 1 FROM sync_state WHERE look IS NULL)"
            " AND digest NOT IN (SELECT digest FROM merged_files)"
            " AND digest NOT IN (SELECT digest FROM sync_state)"
        )
