"""Agents and who belongs to which group: rows, and their lists in SQL.

Rules: an agent's groups stand in `agents.groups` (its combination) and in `memberships` (for queries by group), and
only this module writes either; a change of membership makes the agent `not synced` in the same statement (D 8). Ids are
the highest ever given plus one and never come back by themselves. Nothing here checks rights; times are seconds since
1970.
"""

# ruff: noqa: S608 - SQL text is put together from constants, values are parameters
from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from mgmtctl.domain.agents import (
    FIELDS,
    ID_TAKEN,
    IS_MANAGER,
    MANAGER_ID,
    NAME_TAKEN,
    NOT_SYNCED,
    OS_FIELDS,
    Agent,
    Reports,
    check_reach,
    padded_id,
)
from mgmtctl.domain.errors import ConflictError, InvalidError, NotFoundError
from mgmtctl.domain.fields import fold
from mgmtctl.domain.groups import DEFAULT_GROUP
from mgmtctl.domain.queries import ListQuery, check_query, parse_sort
from mgmtctl.store import agent_queries

if TYPE_CHECKING:
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.store.database import Database, Row

UNKNOWN = 1701
_KIND = "agent"
_COLUMNS = (
    "agents.id, name, groups, last_keep_alive, started, disconnection_time, status_code, register_ip, ip,"
    " group_config_status, merged_sum, config_sum, version, manager, node_name, date_add, folder, "
    + ", ".join(f"os_{name}" for name in OS_FIELDS)
)
_BEFORE_OS = 17
_AMONG = "IN (SELECT value FROM json_each(?))"


class NewAgent(NamedTuple):
    """A row to add; `groups` comma-joined in order."""

    id: int
    name: str
    register_ip: str
    key: str
    groups: str
    folder: str | None = None


class AgentStore:
    """The tables agents and memberships."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._functions_made = False

    def find(self, name: str) -> int | None:
        """The id of the agent with this name, in any letter case."""
        if not name.isascii():
            return None
        found: int | None = self._database.value("SELECT id FROM agents WHERE name_key = ?", (fold(name),))
        return found

    def exists(self, number: int) -> bool:
        """Whether an agent has this id; InvalidError 1703 for that of the manager."""
        if number == MANAGER_ID:
            raise InvalidError(f"agent `{padded_id(MANAGER_ID)}` is the manager", code=IS_MANAGER)
        return self._database.value("SELECT 1 FROM agents WHERE id = ?", (number,)) is not None

    def get(self, number: int, now: float) -> Agent:
        """One agent as it is at `now`; NotFoundError."""
        row = self._database.row(f"SELECT {_COLUMNS} FROM agents WHERE id = ?", (number,))
        if row is None:
            raise NotFoundError(_KIND, padded_id(number), code=UNKNOWN)
        return _agent(row, now)

    def groups_of(self, number: int) -> list[str]:
        """The agent's groups in order; none for an agent that does not exist."""
        groups = self._database.value("SELECT groups FROM agents WHERE id = ?", (number,))
        return groups.split(",") if groups else []

    def groups_of_each(self, ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The groups in order of each of these agents that exists, by id."""
        rows = self._database.rows(
            f"SELECT id, groups FROM agents WHERE id {_AMONG} ORDER BY id", (agent_queries.id_list(ids),)
        )
        return {padded_id(number): tuple(groups.split(",")) for number, groups in rows}

    def ids(self, selection: Scope | Sequence[str]) -> list[str]:
        """The ids of the agents in a scope, or those of the given ones that exist; in order."""
        found = agent_queries.source(selection)
        # One long text costs a fraction of a row for each agent.
        joined = self._database.value(
            f"SELECT group_concat(printf('%03d', id)) FROM (SELECT {found.identifier} AS id FROM {found.counted}"
            f" WHERE {found.condition.sql} ORDER BY 1)",
            found.condition.parameters,
        )
        return joined.split(",") if joined else []

    def counts(self, scope: Scope, within: Scope | None = None) -> dict[str, int]:
        """How many agents of the scope, and `within` another one, each group has; groups without any are left out."""
        parts = [part for part in (scope, within) if part is not None and not part.is_everything]
        inside = [agent_queries.source(part) for part in parts]
        condition = " AND ".join(
            f"agent_id IN (SELECT {found.identifier} FROM {found.counted} WHERE {found.condition.sql})"
            for found in inside
        )
        parameters = [value for found in inside for value in found.condition.parameters]
        return dict(
            self._database.rows(
                f"SELECT group_name, count(*) FROM memberships WHERE {condition or '1'} GROUP BY group_name",
                parameters,
            )
        )

    def count_beyond(self, wide: Scope, narrow: Scope, readable: Scope) -> int:
        """How many agents are in `wide` and not in `narrow`, of those that are `readable`."""
        parts = [("", wide), (" INTERSECT ", readable), (" EXCEPT ", narrow)]
        sql, parameters = "", list[object]()
        for word, scope in parts:
            found = agent_queries.source(scope)
            sql += f"{word}SELECT {found.identifier} FROM {found.counted} WHERE {found.condition.sql}"
            parameters += found.condition.parameters
        return int(self._database.value(f"SELECT count(*) FROM ({sql})", parameters) or 0)

    def tally(self, selection: Scope | Sequence[str], now: float) -> list[tuple[str, str, int]]:
        """(status, group_config_status, how many) for these agents; what nobody has is left out."""
        found, status = agent_queries.source(selection), agent_queries.columns(now)["status"].shown
        return self._database.rows(
            f"SELECT {status}, agents.group_config_status, count(*) FROM {found.tables}"
            f" WHERE {found.condition.sql} GROUP BY 1, 2",
            found.condition.parameters,
        )

    def members(self, group: str) -> list[str]:
        """The ids of all members of a group, in order."""
        rows = self._database.rows(
            "SELECT agent_id FROM memberships WHERE group_name = ? ORDER BY agent_id", (group,)
        )
        return [padded_id(number) for (number,) in rows]

    def alone_in(self, group: str, scope: Scope) -> int:
        """How many agents of the scope are in this group and no other."""
        found = agent_queries.source(scope, group)
        alone = agent_queries.Condition("agents.groups = ?", (group,))
        condition = agent_queries.all_of((found.condition, alone))
        count: int = self._database.value(
            f"SELECT count(*) FROM {found.tables} WHERE {condition.sql}", condition.parameters
        )
        return count

    def key(self, number: int) -> str:
        """The agent's key; NotFoundError."""
        key: str | None = self._database.value("SELECT key FROM agents WHERE id = ?", (number,))
        if key is None:
            raise NotFoundError(_KIND, padded_id(number), code=UNKNOWN)
        return key

    def address_taken(self, address: str, but: int = MANAGER_ID) -> bool:
        """Whether another agent than `but` registered from this address."""
        found = self._database.value(
            "SELECT 1 FROM agents WHERE register_ip = ? AND id <> ? LIMIT 1", (address, but)
        )
        return found is not None

    def taken(self) -> tuple[set[str], set[int], set[str]]:
        """What a new agent must not have: folded names, ids, addresses."""
        rows = self._database.rows("SELECT name_key, id, register_ip FROM agents")
        return {row[0] for row in rows}, {row[1] for row in rows}, {row[2] for row in rows}

    def folders(self) -> dict[str, str]:
        """Every registered folder with the id of its agent."""
        rows = self._database.rows("SELECT folder, id FROM agents WHERE folder IS NOT NULL")
        return {folder: padded_id(number) for folder, number in rows}

    def claim(self, count: int, at_least: int = 0) -> int:
        """Take `count` new ids, all above every id ever given and above `at_least`; returns the first.

        InvalidError for an id so far above the others that it would use the range up, ConflictError at its end.
        """
        highest = int(self._database.value("SELECT highest FROM identifiers WHERE kind = ?", (_KIND,)) or 0)
        check_reach(at_least, highest, count)
        last: int = self._database.value(
            "INSERT INTO identifiers (kind, highest) VALUES (?, ? + ?) ON CONFLICT (kind)"
            " DO UPDATE SET highest = max(highest, ?) + ? RETURNING highest",
            (_KIND, at_least, count, at_least, count),
        )
        return last - count + 1

    def add(self, agents: Iterable[NewAgent], now: float) -> None:
        """Add agents, all `not synced`; ConflictError 1705 (name), 1708 (id) or without code (folder)."""
        rows = list(agents)
        date = int(now)
        with _unique():
            self._database.executemany(
                "INSERT INTO agents (id, name, name_key, register_ip, key, groups, folder, date_add)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (number, name, fold(name), address, key, groups, folder, date)
                    for number, name, address, key, groups, folder in rows
                ),
            )
        self._database.executemany(
            "INSERT INTO memberships (group_name, agent_id, position) VALUES (?, ?, ?)",
            (
                (group, agent.id, position)
                for agent in rows
                for position, group in enumerate(agent.groups.split(","))
            ),
        )

    def set(self, number: int, *, name: str, register_ip: str, folder: str | None) -> None:
        """Give the agent these; ConflictError as in `add`."""
        with _unique():
            self._database.execute(
                "UPDATE agents SET name = ?, name_key = ?, register_ip = ?, folder = ? WHERE id = ?",
                (name, fold(name), register_ip, folder, number),
            )

    def set_groups(self, ids: Iterable[str], groups: Sequence[str]) -> None:
        """Give these agents exactly these groups, in order; they are `not synced` from now on."""
        among = agent_queries.id_list(ids)
        self._database.execute(f"DELETE FROM memberships WHERE agent_id {_AMONG}", (among,))
        self._database.executemany(
            f"INSERT INTO memberships SELECT ?, id, ? FROM agents WHERE id {_AMONG}",
            ((group, position, among) for position, group in enumerate(groups)),
        )
        self._database.execute(
            f"UPDATE agents SET groups = ?, group_config_status = ? WHERE id {_AMONG}",
            (",".join(groups), NOT_SYNCED, among),
        )

    def leave_group(self, group: str) -> None:
        """Take every member out of a group that goes away; who has no other falls back to `default` (D 5)."""
        combinations = self._database.rows(
            "SELECT DISTINCT groups FROM agents WHERE id IN"
            " (SELECT agent_id FROM memberships WHERE group_name = ?)",
            (group,),
        )
        self._database.execute("DELETE FROM memberships WHERE group_name = ?", (group,))
        for (groups,) in combinations:
            left = [name for name in groups.split(",") if name != group]
            if not left:
                self._database.execute(
                    "INSERT INTO memberships SELECT ?, id, 0 FROM agents WHERE groups = ?",
                    (DEFAULT_GROUP, groups),
                )
            self._database.execute(
                "UPDATE agents SET groups = ?, group_config_status = ? WHERE groups = ?",
                (",".join(left or [DEFAULT_GROUP]), NOT_SYNCED, groups),
            )

    def delete(self, ids: Iterable[str]) -> None:
        """Remove agents with their memberships; their ids do not come back by themselves."""
        self._database.execute(f"DELETE FROM agents WHERE id {_AMONG}", (agent_queries.id_list(ids),))

    def list(
        self, selection: Scope | Sequence[str], query: ListQuery, now: float, *, group: str | None = None
    ) -> tuple[list[Agent], int]:
        """The agents of a scope, or with these ids (of `group` only), that the query asks for, at `now`.

        Also how many match without its limit. QuestionError for a query that cannot be.
        """
        check_query(query, FIELDS)
        keys = parse_sort(query.sort, FIELDS)
        found = agent_queries.source(selection, group)
        asked = []
        if query.where:
            from mgmtctl.domain.filters import parse_filter

            asked.append(agent_queries.where(parse_filter(query.where, FIELDS, now), now))
        if query.search:
            asked.append(agent_queries.search(query.search, now))
        if asked or keys:
            self._make_functions()
        condition = agent_queries.all_of((found.condition, *asked))
        order = agent_queries.order(keys, found.identifier, now)
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM {found.tables} WHERE {condition.sql} ORDER BY {order} LIMIT ?",
            (*condition.parameters, query.limit or -1),
        )
        total = len(rows)
        if query.limit and total == query.limit:
            tables = found.tables if asked else found.counted
            total = self._database.value(
                f"SELECT count(*) FROM {tables} WHERE {condition.sql}", condition.parameters
            )
        return [_agent(row, now) for row in rows], total

    def _make_functions(self) -> None:
        if not self._functions_made:
            from mgmtctl.domain.filters import version_key

            self._database.create_function("fold", 1, _or_null(fold))
            self._database.create_function("version_key", 1, _or_null(version_key))
            self._functions_made = True


def _agent(row: Row, now: float) -> Agent:
    (number, name, groups, alive, started, gone, code, register_ip, ip, synced, merged, config) = row[:12]
    version, manager, node, added, folder = row[12:_BEFORE_OS]
    system = row[_BEFORE_OS:]
    return Agent(
        id=padded_id(number),
        name=name,
        groups=tuple(groups.split(",")) if groups else (),
        state=Reports(alive, started, gone, code).at(now),
        register_ip=register_ip,
        ip=ip,
        group_config_status=synced,
        merged_sum=merged,
        config_sum=config,
        os={field: value for field, value in zip(OS_FIELDS, system, strict=True) if value is not None},
        version=version,
        manager=manager,
        node_name=node,
        date_add=added,
        last_keep_alive=alive,
        folder=folder,
    )


def _or_null(function: object) -> object:
    return lambda value: None if value is None else function(value)  # type: ignore[operator]


@contextmanager
def _unique() -> Iterator[None]:
    """What the unique columns refuse, as the service says it."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        text = str(error)
        for column, what, code in (
            ("name_key", "name", NAME_TAKEN),
            ("agents.id", "id", ID_TAKEN),
            ("folder", "folder", 0),
        ):
            if column in text:
                raise ConflictError(f"an agent with this {what} exists already", code=code) from None
        raise
