"""Reports that agents leave in their folders (`keepalive.json`), each read for that agent only. No operation.

Rules (D 8): a report is newer than the last one that was recorded, by the time of its file; one that is dated in our
future is refused. A recorded time that lies in the future, left by a clock that was set back, holds nothing up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.agents import timestamp
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.keepalives import AHEAD_SECONDS, REPORT_FILE, check_own, parse_report

if TYPE_CHECKING:
    from mgmtctl.domain.keepalives import Report
    from mgmtctl.folders.agents import AgentFolders, Place

NS = 1_000_000_000
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Incoming:
    """A report that was not recorded yet, and when its file was written (ns)."""

    report: Report
    time: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a reader is told of a report that was not recorded yet; `problem` is why it cannot be."""

    time: int | None = None
    event: str | None = None
    merged_sum: str | None = None
    problem: str | None = None

    def record(self) -> dict[str, Any]:
        """{"time", "event", "mergedSum", "problem"}."""
        return {
            "time": timestamp(self.time),
            "event": self.event,
            "mergedSum": self.merged_sum,
            "problem": self.problem,
        }


def incoming(folders: AgentFolders, place: Place, recorded: int, now: float) -> Incoming | None:
    """The report in the agent's folder, when it is newer than the last that was `recorded` (ns); None: there is none.

    InvalidError for a file that is no report, cannot be read, or is dated in the future.
    """
    written = folders.report_time(place, REPORT_FILE)
    latest = int((now + AHEAD_SECONDS) * NS)
    if written is None or written <= recorded <= latest:
        return None
    what = f"{REPORT_FILE} of agent {place.agent_id}"
    if written > latest:
        raise InvalidError(
            f"{what} is dated {int(written / NS - now)} s ahead of our clock", fix="set the clocks right"
        )
    data = folders.read_report(place, REPORT_FILE)
    if data is None:
        raise InvalidError(f"{what} cannot be read, or is too large")
    return Incoming(parse_report(data, what), written)


def waiting(folders: AgentFolders, place: Place, name: str, recorded: int, now: float) -> Waiting | None:
    """The same for a reader, with what recording it would say: nothing is raised. `name`: of the agent."""
    try:
        found = incoming(folders, place, recorded, now)
        if found is not None:
            check_own(found.report, place.agent_id, name, f"{REPORT_FILE} of agent {place.agent_id}")
    except InvalidError as error:
        faults = [f"{finding.path.rpartition(': ')[2]}: {finding.message}" for finding in error.findings]
        return Waiting(problem="; ".join([error.problem, *faults[:_MOST_NAMED]]))
    if found is None:
        return None
    return Waiting(found.time // NS, found.report.event, found.report.merged_sum)
