"""What checks of agent.conf rest on: findings that somebody accepted, and what the agents of a group reported.

Rules (D 6): an acceptance is of exactly these bytes in that group, and of the rules that had found something then; a
combination that was checked for other agents than it has now is not trusted any more. Nothing here checks rights.
"""

# ruff: noqa: S608 - SQL text is put together from constants, values are parameters
from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from mgmtctl.store import agent_queries

if TYPE_CHECKING:
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.store.database import Database


class Acceptance(NamedTuple):
    """Somebody's word that a file may be sent although these rules find errors in it; `digest` is its SHA-256."""

    group: str
    file: str
    digest: str
    rules: tuple[str, ...]
    user: str
    context_id: str | None
    reason: str
    time: int


class Reported(NamedTuple):
    """What an agent reported about itself, and where its folder is (None: the usual place)."""

    id: int
    name: str
    folder: str | None
    version: str | None
    platform: str | None
    os_name: str | None
    os_version: str | None
    uname: str | None


_COLUMNS = "group_name, file, digest, rules, user, context_id, reason, time"
_REPORTED = (
    "agents.id, agents.name, agents.folder, agents.version, agents.os_platform, agents.os_name,"
    " agents.os_version, agents.os_uname"
)


class AcceptedStore:
    """The table accepted, and what is asked of agents and merged files for checks."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, group: str, file: str, digest: str) -> Acceptance | None:
        """The acceptance of these bytes as this file."""
        row = self._database.row(
            f"SELECT {_COLUMNS} FROM accepted WHERE group_name = ? AND file = ? AND digest = ?",
            (group, file, digest),
        )
        return None if row is None else _acceptance(row)

    def of_group(self, group: str) -> list[Acceptance]:
        """All that was accepted for files of a group, whatever these are now."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM accepted WHERE group_name = ? ORDER BY file, time", (group,)
        )
        return list(map(_acceptance, rows))

    def groups(self) -> set[str]:
        """The groups for which something was accepted."""
        return {group for (group,) in self._database.rows("SELECT DISTINCT group_name FROM accepted")}

    def add(self, found: Acceptance) -> None:
        """Keep an acceptance; an earlier one of the same bytes is replaced."""
        self._database.execute(
            f"INSERT OR REPLACE INTO accepted ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            found._replace(rules=json.dumps(found.rules)),  # type: ignore[arg-type]
        )

    def forget(self, group: str) -> None:
        """Take away what was accepted for files of a group: one of the same name later is another group."""
        self._database.execute("DELETE FROM accepted WHERE group_name = ?", (group,))

    def distrust(self, groups: Iterable[str]) -> None:
        """Have what was built for these groups read and checked again: who is in them, or what he runs, changed."""
        self._database.executemany(
            "UPDATE merged_files SET signature = '' WHERE signature <> ''"
            " AND instr(',' || groups || ',', ',' || ? || ',') > 0",
            ((group,) for group in groups),
        )

    def reported(self, group: str, scope: Scope) -> Iterator[Reported]:
        """What the agents of a group that are in the scope reported, by id."""
        found = agent_queries.source(scope, group)
        rows = self._database.execute(
            f"SELECT {_REPORTED} FROM {found.tables} WHERE {found.condition.sql} ORDER BY {found.identifier}",
            found.condition.parameters,
        )
        return map(Reported._make, rows)


def _acceptance(row: tuple[Any, ...]) -> Acceptance:
    found = Acceptance._make(row)
    return found._replace(rules=tuple(json.loads(row[3])))
