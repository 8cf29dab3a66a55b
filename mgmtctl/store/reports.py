"""What agents reported: the columns of the table agents that follow from their reports.

Rules: only this module writes them; times are seconds since 1970, `reported` nanoseconds, all by our clock. A clock
that was set back leaves times in the future, which would keep an agent active however long it is silent: `mend_times`
brings them back to the present.
"""

# ruff: noqa: S608 - SQL text is put together from constants, values are parameters
from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from mgmtctl.domain.agents import OS_FIELDS, Reports
from mgmtctl.domain.keepalives import AHEAD_SECONDS

if TYPE_CHECKING:
    from mgmtctl.domain.keepalives import Report
    from mgmtctl.store.database import Database

_TEXTS = ("version", "ip", "manager", "node_name", "merged_sum", "config_sum")
_STATE = ("last_keep_alive", "started", "disconnection_time", "status_code")
_SYSTEM = tuple(f"os_{name}" for name in OS_FIELDS)
_NS = 1_000_000_000


class Known(NamedTuple):
    """What is known of an agent from its reports; `reported` is when the last one was, in nanoseconds."""

    state: Reports
    reported: int
    version: str | None
    system: tuple[str | None, ...]


class ReportStore:
    """The columns of the table agents that reports fill."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def known(self, number: int) -> Known:
        """What is known of an agent that exists."""
        columns = ", ".join((*_STATE, "coalesce(reported, 0)", "version", *_SYSTEM))
        row = self._database.row(f"SELECT {columns} FROM agents WHERE id = ?", (number,))
        if row is None:
            raise LookupError(number)
        return Known(Reports(*row[:4]), row[4], row[5], tuple(row[6:]))

    def reported(self, ids: Iterable[str] | None, group: str | None = None) -> Iterator[tuple[Any, ...]]:
        """(id, folder, when the last report was in nanoseconds) of these agents (None: all), of one group if given."""
        where, parameters = [], []
        if ids is not None:
            where.append("id IN (SELECT value FROM json_each(?))")
            parameters.append(f"[{','.join(str(int(identifier)) for identifier in ids)}]")
        if group is not None:
            where.append("id IN (SELECT agent_id FROM memberships WHERE group_name = ?)")
            parameters.append(group)
        condition = f" WHERE {' AND '.join(where)}" if where else ""
        return self._database.execute(
            f"SELECT id, folder, coalesce(reported, 0) FROM agents{condition} ORDER BY id", parameters
        )

    def record(self, number: int, report: Report, state: Reports, reported: int) -> None:
        """Write down a report; what it does not say stays as it was."""
        said = {name: getattr(report, name) for name in _TEXTS}
        said |= {f"os_{name}": report.os.get(name) for name in OS_FIELDS} if report.os else {}
        columns = [name for name, value in said.items() if value is not None or name.startswith("os_")]
        values = [said[name] for name in columns]
        columns += [*_STATE, "reported"]
        values += [*state, reported]
        self._database.execute(
            f"UPDATE agents SET {', '.join(f'{name} = ?' for name in columns)} WHERE id = ?",
            (*values, number),
        )

    def mend_times(self, now: float) -> int:
        """Bring times that lie in the future back to the present; how many agents had one."""
        present = int(now)
        return self._database.execute(
            "UPDATE agents SET last_keep_alive = ?1, started = min(started, ?1), reported = min(reported, ?2)"
            " WHERE last_keep_alive > ?3",
            (present, present * _NS, present + AHEAD_SECONDS),
        ).rowcount
