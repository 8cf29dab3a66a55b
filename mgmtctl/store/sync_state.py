"""What was built for each combination of groups, and what was last written into each agent's folder.

Rules (D 8): `group_config_status` changes in the transaction of its cause, and `synced` is only written for files that
are in place. A push is announced first (`begin`) and recorded after (`record`): an agent whose push was cut short has
an unsettled state, so that the next run looks into its folder. What an agent was given and what it uses are two things:
`running` follows a push at once, or at the next restart. Digests are SHA-256 of merged files.
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
_MD5_DIGITS = 32
_NS = 1_000_000_000
_REMEMBERED = 10_000  # checksums of merged files that nobody was given or uses any more


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

    `pushed_digest` is empty when nothing was ever written; `look` says how the files looked then (a digest). `running`
    is what it uses, as far as that is known: empty, a digest, or what it reported that is nothing known. `reported` is
    the checksum of its last report. `pushed_ns` and `reported_ns` say when, in nanoseconds: a report may come within
    the second of the push.
    """

    id: int
    name: str
    groups: str
    folder: str | None
    status: str
    pushed_digest: str
    pushed_ns: int
    look: bytes | None
    running: str = ""
    reported: str | None = None
    reported_ns: int | None = None

    @property
    def pushed(self) -> int:
        """When its files were last written, in seconds; 0: never."""
        return self.pushed_ns // _NS

    @property
    def reported_at(self) -> int | None:
        """When its last report was, in seconds."""
        return None if self.reported_ns is None else self.reported_ns // _NS

    @property
    def agent_id(self) -> str:
        """The id as it is shown, three digits at least."""
        return f"{self.id:03}"


class Written(NamedTuple):
    """A push that ended: the agent, the groups it was for, what was written, how its files look now, and when the
    newest of them changed (ns). `applied`: the agent restarts by itself, so it uses them from now on."""

    id: int
    groups: str
    digest: str
    look: bytes
    newest: int
    applied: bool = True


# Groups (comma-joined), agent id, and its look when that alone can say that the agent needs nothing.
Seen = tuple[str, int, bytes | None]

_SEEN = """SELECT a.groups, a.id,
        CASE WHEN a.folder IS NULL AND a.group_config_status = 'synced' THEN s.look END
    FROM agents a LEFT JOIN sync_state s ON s.agent_id = a.id"""
_MEMBER = """SELECT a.id, a.name, a.groups, a.folder, a.group_config_status,
        coalesce(s.digest, ''), coalesce(s.pushed, 0), s.look, coalesce(s.running, ''), a.merged_sum,
        coalesce(a.reported, a.last_keep_alive * 1000000000)
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

    def save_manifest(
        self,
        digest: str,
        md5: str,
        manifest: Mapping[str, tuple[str, int]],
        revisions: Mapping[str, int] | None = None,
    ) -> None:
        """Keep what a merged file puts into agent folders: name -> (SHA-256, size), and the revisions of its groups.

        The same bytes may come again from later revisions; the last ones count.
        """
        self._database.execute(
            "INSERT INTO manifests (digest, md5, files, revisions, saved)"
            " VALUES (?, ?, ?, ?, (SELECT coalesce(max(saved), 0) + 1 FROM manifests)) ON CONFLICT (digest)"
            " DO UPDATE SET files = excluded.files, saved = excluded.saved,"
            " revisions = iif(excluded.revisions = '{}', revisions, excluded.revisions)",
            (digest, md5, json.dumps(manifest), json.dumps(revisions or {})),
        )

    def revisions(self, digest: str) -> dict[str, int]:
        """The last revision of each group that has what the merged file with this digest was built from.

        None when not known. The same files may have come again in a later revision than it was built from.
        """
        rows = self._database.rows(
            "SELECT e.key, coalesce((SELECT max(later.number) FROM revisions built JOIN revisions later"
            " ON later.tree = built.tree AND later.group_name = built.group_name"
            " WHERE built.group_name = e.key AND built.number = e.value), e.value)"
            " FROM manifests m, json_each(m.revisions) e WHERE m.digest = ? ORDER BY e.id",
            (digest,),
        )
        return {group: int(number) for group, number in rows}

    def known_digest(self, checksum: str) -> str | None:
        """The digest of the merged file with this checksum, MD5 or SHA-256 in lower case; None: of none that is kept.

        None too where two merged files share their MD5: then it says nothing.
        """
        by_md5 = "SELECT digest FROM manifests WHERE md5 = ? LIMIT 2"
        by_digest = "SELECT digest FROM manifests WHERE digest = ?"
        rows = self._database.rows(by_md5 if len(checksum) == _MD5_DIGITS else by_digest, (checksum,))
        return rows[0][0] if len(rows) == 1 else None

    def manifest(self, digest: str) -> dict[str, tuple[str, int]] | None:
        """What the merged file with this digest put into agent folders: name -> (SHA-256, size)."""
        text = self._database.value("SELECT files FROM manifests WHERE digest = ?", (digest,))
        if not text:
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
            "INSERT INTO sync_state (agent_id, digest, pushed) VALUES (?, '', 0)"
            " ON CONFLICT (agent_id) DO UPDATE SET look = NULL",
            rows,
        )
        self.set_not_synced(row[0] for row in rows)

    def record(self, written: Sequence[Written], now: float) -> None:
        """Record pushes whose files are in place. An agent deleted meanwhile is passed over.

        They were made when the newest file changed, which is told by the clock that also tells when an agent left a
        report; one in the future counts as now.
        """
        latest = int(now * _NS)
        self._database.executemany(
            "UPDATE sync_state SET digest = ?1, pushed = ?2, look = ?3, running = iif(?4, ?1, running)"
            " WHERE agent_id = ?5",
            ((w.digest, min(w.newest, latest), w.look, w.applied, w.id) for w in written),
        )

    def set_running(self, agents: Iterable[tuple[int, str]]) -> None:
        """What these agents (id, checksum) use from now on; who was never pushed to keeps nothing."""
        self._database.executemany(
            "UPDATE sync_state SET running = ?2 WHERE agent_id = ?1 AND running <> ?2", agents
        )

    def doubt(self, ids: Iterable[int]) -> None:
        """Do not trust how the files of these agents look: the next run reads them."""
        self._database.executemany(
            "UPDATE sync_state SET look = ?2 WHERE agent_id = ?1 AND look IS NOT NULL",
            ((identifier, FRESH) for identifier in ids),
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
        """Drop combinations without agents, and what merged files hold that nothing refers to.

        Not while a push that was cut short may need it. The checksums of the last ones stay known.
        """
        self._database.execute(
            "DELETE FROM merged_files WHERE instr(groups, ',') > 0 AND groups NOT IN (SELECT groups FROM agents)"
        )
        self._database.execute(
            "UPDATE manifests SET files = '' WHERE files <> ''"
            " AND NOT EXISTS (SELECT 1 FROM sync_state WHERE look IS NULL)"
            " AND digest NOT IN (SELECT digest FROM merged_files)"
            " AND digest NOT IN (SELECT digest FROM sync_state)"
            " AND digest NOT IN (SELECT running FROM sync_state)"
        )
        self._database.execute(
            "DELETE FROM manifests WHERE files = '' AND saved <= (SELECT max(saved) FROM manifests) - ?",
            (_REMEMBERED,),
        )
