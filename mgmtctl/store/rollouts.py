"""Rollouts, what they bring to which combination of groups, and their canaries.

Rules: at most one open rollout is about a combination; a canary that is deleted leaves the rollout; rollouts that
ended are kept as a record. Times are seconds since 1970; digests are of merged files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import NotFoundError
from mgmtctl.domain.rollouts import OPEN, Aim, Canary, Candidate, Chosen, Rollout

if TYPE_CHECKING:
    from mgmtctl.store.database import Database

_ROLLOUT = "SELECT id, state, started, user, context_id, reason, selection, abort_if, changed FROM rollouts"


class RolloutStore:
    """The tables rollouts, rollout_aims and rollout_canaries."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def open(self) -> list[Rollout]:
        """Every rollout that holds agents back, the oldest first."""
        rows = self._database.rows(f"{_ROLLOUT} WHERE state = ? ORDER BY id", (OPEN,))
        return [self._whole(row) for row in rows]

    def get(self, number: int) -> Rollout:
        """One rollout; NotFoundError."""
        row = self._database.row(f"{_ROLLOUT} WHERE id = ?", (number,))
        if row is None:
            raise NotFoundError("rollout", str(number))
        return self._whole(row)

    def _whole(self, row: tuple[Any, ...]) -> Rollout:
        number, state, started, user, context_id, reason, selection, abort_if, changed = row
        aims = self._database.rows(
            "SELECT groups, digest, before FROM rollout_aims WHERE rollout_id = ? ORDER BY groups", (number,)
        )
        canaries = self._database.rows(
            "SELECT agent_id, why, failure FROM rollout_canaries WHERE rollout_id = ? ORDER BY agent_id",
            (number,),
        )
        return Rollout(
            number,
            state,
            started,
            user,
            context_id,
            reason,
            selection,
            abort_if,
            {groups: Aim(digest, before) for groups, digest, before in aims},
            {agent: Canary(why, failure) for agent, why, failure in canaries},
            frozenset(filter(None, changed.split(","))),
        )

    def add(self, rollout: Rollout, canaries: Iterable[Chosen]) -> int:
        """Record a rollout that begins, its own id apart; gives back its id."""
        number = 1 + int(self._database.value("SELECT coalesce(max(id), 0) FROM rollouts"))
        self._database.execute(
            "INSERT INTO rollouts (id, state, started, user, context_id, reason, selection, abort_if, changed)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(number, rollout.state, rollout.started, rollout.user, rollout.context_id),
                *(rollout.reason, rollout.selection, rollout.abort_if, ",".join(sorted(rollout.changed))),
            ),
        )
        self.set_aims(number, rollout.aims)
        self._database.executemany(
            "INSERT INTO rollout_canaries (rollout_id, agent_id, why) VALUES (?, ?, ?)",
            ((number, chosen.id, chosen.why) for chosen in canaries),
        )
        return number

    def set_aims(self, number: int, aims: Mapping[str, Aim]) -> None:
        """What a rollout brings to these combinations from now on."""
        self._database.executemany(
            "INSERT OR REPLACE INTO rollout_aims (rollout_id, groups, digest, before) VALUES (?, ?, ?, ?)",
            ((number, groups, *aim) for groups, aim in aims.items()),
        )

    def set_failures(self, number: int, failures: Mapping[int, str | None]) -> None:
        """Why these canaries could not be written to; None: they could."""
        self._database.executemany(
            "UPDATE rollout_canaries SET failure = ? WHERE rollout_id = ? AND agent_id = ?",
            ((failure, number, agent) for agent, failure in failures.items()),
        )

    def end(self, number: int, state: str, now: int, user: str) -> None:
        """The rollout holds nobody back any more."""
        self._database.execute(
            "UPDATE rollouts SET state = ?, ended = ?, ended_by = ? WHERE id = ? AND state = ?",
            (state, now, user, number, OPEN),
        )

    def combinations(self) -> list[str]:
        """Every combination of groups that has agents."""
        return [
            groups for (groups,) in self._database.rows("SELECT DISTINCT groups FROM agents ORDER BY groups")
        ]

    def given(self, group: str) -> list[str]:
        """The merged files that agents of a group were last given."""
        rows = self._database.rows(
            "SELECT DISTINCT s.digest FROM memberships m JOIN sync_state s ON s.agent_id = m.agent_id"
            " WHERE m.group_name = ? AND s.digest <> ''",
            (group,),
        )
        return [digest for (digest,) in rows]

    def announced(self, ids: Iterable[int]) -> set[int]:
        """Those of these agents to which a push was begun and not recorded."""
        rows = self._database.rows(
            "SELECT agent_id FROM sync_state WHERE look IS NULL AND agent_id IN (SELECT value FROM json_each(?))",
            (f"[{','.join(map(str, ids))}]",),
        )
        return {agent for (agent,) in rows}

    def lacking(self, groups: str, digest: str) -> int:
        """How many agents of a combination were last given another merged file than this one, or none."""
        found = self._database.value(
            "SELECT count(*) FROM agents a LEFT JOIN sync_state s ON s.agent_id = a.id"
            " WHERE a.groups = ? AND coalesce(s.digest, '') <> ?",
            (groups, digest),
        )
        return int(found)

    def members(self, combinations: Iterable[str]) -> dict[str, list[int]]:
        """The agents of each of these combinations that has any."""
        found: dict[str, list[int]] = {}
        for groups in combinations:
            joined = self._database.value("SELECT group_concat(id) FROM agents WHERE groups = ?", (groups,))
            if joined:
                found[groups] = [int(number) for number in str(joined).split(",")]
        return found

    def most_had(self, groups: str, target: str) -> str:
        """The merged file that most agents of a combination were last given, but for `target`; '' for none."""
        found = self._database.value(
            "SELECT s.digest FROM agents a JOIN sync_state s ON s.agent_id = a.id"
            " WHERE a.groups = ? AND s.digest NOT IN ('', ?) GROUP BY s.digest ORDER BY count(*) DESC, s.digest",
            (groups, target),
        )
        return str(found or "")

    def candidates(self, ids: Iterable[int], reported_since: float) -> list[Candidate]:
        """These agents as candidates; an agent reports when its last keepalive is no older than that."""
        rows = self._database.rows(
            "SELECT id, groups, coalesce(os_platform, os_name, ''), coalesce(last_keep_alive, 0) >= ?"
            " AND disconnection_time IS NULL FROM agents WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (reported_since, f"[{','.join(map(str, ids))}]"),
        )
        return [Candidate(number, groups, system, bool(reports)) for number, groups, system, reports in rows]

    def disconnected(self, ids: Iterable[int], now: float) -> list[int]:
        """Those of these agents that are disconnected."""
        from mgmtctl.domain.agents import DISCONNECTED, Reports

        rows = self._database.rows(
            "SELECT id, last_keep_alive, started, disconnection_time, status_code FROM agents"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (f"[{','.join(map(str, ids))}]",),
        )
        return [number for number, *facts in rows if Reports(*facts).at(now).status == DISCONNECTED]
