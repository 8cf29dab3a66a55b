"""`mgmtctl sync`: bring shared files into the agents' folders, and say where each agent stands."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import PARTLY, TERMINATED
from mgmtctl.cli.options import AgentRef

if TYPE_CHECKING:
    from mgmtctl.cli.progress import Bar
    from mgmtctl.operations.sync import Explanation, SyncItems

noun = Noun("sync", "Bring shared files into the agents' folders.")

_LOCKED = ("fail", "skip")
SomeAgents = typer.Argument(
    metavar="[AGENT]...", help="Names or ids of agents; `-` reads them from stdin.", show_default=False
)
InGroup = typer.Option("--group", metavar="GROUP", help="Every agent of this group.", show_default=False)
All = typer.Option("--all", help="Every agent.", show_default=False)
Verify = typer.Option(
    "--verify", help="Read every byte in the agents' folders, instead of trusting what looks untouched."
)
IfLocked = typer.Option("--if-locked", metavar="WHAT", help="When another sync runs: fail or skip.")
LockTimeout = typer.Option("--lock-timeout", metavar="SECONDS", min=0, help="Wait so long for another sync.")
MaxAffected = typer.Option(
    "--max-affected",
    metavar="N",
    min=0,
    help="Ask before writing to more agents than this.",
    show_default=False,
)
ExitCode = typer.Option("--exit-code", help="End with 1 unless every agent is synced.", show_default=False)


@noun.write(
    "run",
    asks=True,
    examples=[
        "mgmtctl sync run --all",
        "mgmtctl sync run --group web --dry-run",
        "mgmtctl sync run 001 db-02",
    ],
    columns=("id", "name", "group", "summary"),
    exits={
        3: "some agents failed, the others are done",
        74: "no folder could be written",
        75: "another sync runs, or files are being changed",
    },
)
def run(
    session: CliSession,
    agents: Annotated[list[str] | None, SomeAgents] = None,
    group: Annotated[str | None, InGroup] = None,
    every: Annotated[bool, All] = False,
    verify: Annotated[bool, Verify] = False,
    max_affected: Annotated[int | None, MaxAffected] = None,
    if_locked: Annotated[str, IfLocked] = "fail",
    lock_timeout: Annotated[float, LockTimeout] = 0.0,
) -> None:
    """Write into the agents' folders what their groups give.

    Agents that have it already are not touched. A group with an invalid agent.conf is never sent: its agents keep the
    last good files and are reported, the others go on. Files that somebody changed in an agent's folder are
    overwritten and reported; files that were never sent are left alone. SIGINT finishes the agent in hand.
    """
    from mgmtctl.operations import sync

    named = _target(session, agents, group, every)
    _require_word(if_locked)
    with _watched(session) as watch:

        def attempt(most: int | None) -> SyncItems:
            return sync.run_sync(
                session.context,
                named,
                group,
                verify=verify,
                max_affected=most,
                if_locked=if_locked,
                lock_timeout=lock_timeout,
                watch=watch,
            )

        try:
            report = _allowed(session, attempt, max_affected)
        except sync.StoppedError as stopped:
            _tell(session, stopped.report, "interrupted: ")
            session.exit(128 + watch.signal)
    _tell(session, report)


def _allowed(session: CliSession, attempt: Callable[[int | None], SyncItems], most: int | None) -> SyncItems:
    """The run, after a yes when it would write to more agents than `most`."""
    from mgmtctl.operations.sync import AffectedError

    try:
        return attempt(None if session.yes or session.dry_run else most)
    except AffectedError as error:
        session.confirm(f"write to {error.count} agents, at most {error.most} were expected")
        return attempt(None)


@noun.list(
    "status",
    examples=[
        "mgmtctl sync status",
        "mgmtctl sync status --where 'stage!=synced'",
        "mgmtctl sync status --exit-code",
    ],
    columns=("id", "name", "stage", "why"),
    exits={
        1: "with --exit-code: an agent is not synced",
        3: "some agents may not be read",
        5: "no such agent or group",
    },
)
def status(
    session: CliSession,
    agents: Annotated[list[str] | None, SomeAgents] = None,
    group: Annotated[str | None, InGroup] = None,
    exit_code: Annotated[bool, ExitCode] = False,
) -> None:
    """Say where each agent stands, and why.

    The stage is one of: synced; stale (its groups give something else now); diverged (files were changed or removed in
    its folder); never-synced; blocked (a group cannot be sent); no-folder (it cannot be entered); ignored (delivered,
    but the agent's own options say that it uses no shared files). Every file that was written is looked at, by its
    size, times and inode; one that looks touched is read. A run looks at the same, so that both say the same.
    """
    from mgmtctl.domain.sync import IGNORED, SYNCED
    from mgmtctl.operations import sync

    named = session.refs(agents) if agents else None
    found = sync.sync_status(session.context, named, group, query=session.query)
    session.show(found)
    if found.failed and not found.affected:
        return
    stages = Counter(entry.stage.name for entry in found.affected)
    session.say(", ".join(f"{count} {stage}" for stage, count in sorted(stages.items())) or "no agents")
    if exit_code and set(stages) - {SYNCED, IGNORED}:
        session.code = session.code or 1


@noun.read("explain", examples=["mgmtctl sync explain db-02"])
def explain(session: CliSession, agent: Annotated[str, AgentRef]) -> None:
    """Say where one agent stands, why, what it has and shall have, and what to do next."""
    from mgmtctl.operations import sync

    session.show(Explained(sync.explain_sync(session.context, agent)))


@noun.read(
    "plan",
    examples=["mgmtctl sync plan --all", "mgmtctl sync plan --group web -o json"],
    columns=("id", "name", "group", "summary"),
    exits={
        3: "some agents could not be sent to, the others are shown",
        7: "the groups of these agents are invalid",
        74: "no folder can be entered",
    },
)
def plan(
    session: CliSession,
    agents: Annotated[list[str] | None, SomeAgents] = None,
    group: Annotated[str | None, InGroup] = None,
    every: Annotated[bool, All] = False,
    verify: Annotated[bool, Verify] = False,
) -> None:
    """Show what `sync run` would change, agent by agent; `-o json` file by file."""
    from mgmtctl.operations import sync

    named = _target(session, agents, group, every)
    report = sync.plan_sync(session.context, named, group, verify=verify)
    session.show(report)
    _partly(session, report)
    _tell_about(session, report)
    session.say(_summary(report, "would be written to"))


class Explained:
    """An explanation as a page of text, or as its record when a format is asked for."""

    def __init__(self, explanation: Explanation) -> None:
        self._explanation = explanation

    def record(self) -> dict[str, Any]:
        """The record of the explanation."""
        return self._explanation.record()

    def text(self) -> str:
        """One fact a line."""
        found = self._explanation
        where, stage = found.where, found.where.stage
        record = found.record()
        lines = [
            f"agent   {where.id} {where.name}, groups {', '.join(where.groups)}",
            f"stage   {stage.name}",
            f"why     {stage.why}",
            f"next    {stage.next_step or 'nothing'}",
            f"target  {record['target'] or '-'}",
            f"has     {record['has'] or '-'}" + (f", written {record['pushed']}" if record["pushed"] else ""),
        ]
        lines += [f"change  {_change(change)}" for change in record["changes"]]
        lines += [f"finding {finding.text()}" for finding in found.findings]
        lines += [
            f"note    `{conflict.name}`: group `{conflict.winner}` wins over `{'`, `'.join(conflict.losers)}`"
            for conflict in found.conflicts
        ]
        return "\n".join(lines)


class Watch:
    """Shows the bar of a run, and lets a signal end it after the agent in hand; a second one ends it at once."""

    def __init__(self, session: CliSession, stack: ExitStack) -> None:
        self.stopped = False
        self.signal = 0
        self._session = session
        self._stack = stack
        self._bar: Bar | None = None

    def begin(self, total: int) -> None:
        """Put up the bar."""
        self._bar = self._stack.enter_context(self._session.progress(total, "sync"))

    def step(self) -> None:
        """One more agent is done."""
        if self._bar is not None:
            self._bar.advance()

    def end(self, number: int, frame: object) -> None:
        """What a signal does; before the first push (waiting for the lock, looking) there is nothing to finish."""
        if self.stopped or self._bar is None:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(TERMINATED)
        self.stopped, self.signal = True, number


@contextmanager
def _watched(session: CliSession) -> Iterator[Watch]:
    with ExitStack() as stack:
        watch = Watch(session, stack)
        for number in (signal.SIGINT, signal.SIGTERM):
            stack.callback(signal.signal, number, signal.signal(number, watch.end))
        yield watch


def _target(
    session: CliSession, agents: list[str] | None, group: str | None, every: bool
) -> list[str] | None:
    """The agents that are named; None when a group or all are meant. QuestionError unless it is exactly one of them."""
    from mgmtctl.domain.errors import QuestionError

    if sum((bool(agents), group is not None, every)) != 1:
        raise QuestionError(
            "name agents, or a group with --group, or all with --all",
            why="exactly one of them says which agents are meant",
        )
    return session.refs(agents) if agents else None


def _require_word(if_locked: str) -> None:
    from mgmtctl.domain.errors import QuestionError

    if if_locked not in _LOCKED:
        raise QuestionError(f"--if-locked: expected {' or '.join(_LOCKED)}, got `{if_locked}`")


def _tell(session: CliSession, report: SyncItems, beginning: str = "") -> None:
    """What was done, what was overwritten, and what failed."""
    if report.skipped:
        session.say("another sync runs, nothing done")
        return
    _tell_about(session, report)
    text = beginning + _summary(report, "written to")
    would = beginning + _summary(report, "would be written to")
    if report.failed and not report.affected:
        session.say(f"dry run: {would}" if session.dry_run else text)
    session.done(text, report, would)
    _partly(session, report)


def _partly(session: CliSession, report: SyncItems) -> None:
    """Agents that need nothing are done too: some failures among them are not a failure of all."""
    if session.code and report.unchanged:
        session.code = PARTLY


def _tell_about(session: CliSession, report: SyncItems) -> None:
    from mgmtctl.operations.results import Failure

    for line in report.warnings:
        session.warn(line)
    for agent in report.affected:
        edited = [change.name for change in agent.changes if change.edited_there]
        if edited:
            session.warn(f"{agent.id} {agent.name}: was changed there: {', '.join(edited)}")
    failures: tuple[Failure, ...] = report.failed
    for finding in dict.fromkeys(
        found for failure in failures for found in getattr(failure.error, "findings", ())
    ):
        session.say(finding.text())


def _summary(report: SyncItems, did: str) -> str:
    failed = sum(len(failure.ids) for failure in report.failed)
    parts = [f"{len(report.affected)} {did}", f"{report.unchanged} up to date"]
    if failed:
        parts.append(f"{failed} failed")
    if report.not_reached:
        parts.append(f"{report.not_reached} not reached")
    count = len(report.affected) + report.unchanged + failed + report.not_reached
    return f"{count} agent{'s' * (count != 1)}: " + ", ".join(parts)


def _change(change: dict[str, Any]) -> str:
    return f"{change['change']} {change['file']}" + (" (was changed there)" if change["edited_there"] else "")
