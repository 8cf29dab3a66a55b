"""What commands that push share: which agents, how, the bar with its signals, and telling what was done.

Rules: a target is always said; the first signal ends a run after the agent in hand, the second one at once; what was
overwritten, held back and left out is told beside the data.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.exit_codes import PARTLY, TERMINATED

if TYPE_CHECKING:
    from mgmtctl.cli.progress import Bar
    from mgmtctl.operations.rollouts import RolloutItems
    from mgmtctl.operations.sync import SyncItems

_NAMED = 10
R = TypeVar("R", bound="SyncItems")
_LOCKED = ("fail", "skip")

SomeAgents = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[AGENT]...", help="Names or ids of agents; `-` reads them from stdin.", show_default=False
    ),
]
InGroup = Annotated[
    str | None,
    typer.Option("--group", metavar="GROUP", help="Every agent of this group.", show_default=False),
]
All = Annotated[bool, typer.Option("--all", help="Every agent.", show_default=False)]
Verify = Annotated[
    bool,
    typer.Option(
        "--verify", help="Read every byte in the agents' folders, instead of trusting what looks untouched."
    ),
]
IfLocked = Annotated[
    str, typer.Option("--if-locked", metavar="WHAT", help="When another sync runs: fail or skip.")
]
LockTimeout = Annotated[
    float,
    typer.Option(
        "--lock-timeout",
        metavar="SECONDS",
        min=0,
        callback=lambda seconds: _finite(seconds, "--lock-timeout"),
        help="Wait so long for another sync.",
    ),
]
MaxAffected = Annotated[
    int | None,
    typer.Option(
        "--max-affected",
        metavar="N",
        min=0,
        help="Ask before writing to more agents than this.",
        show_default=False,
    ),
]


def _finite(number: float, option: str) -> float:
    """A number that is one: with `nan` and `inf` a wait would never end. QuestionError."""
    from mgmtctl.domain.errors import QuestionError

    if abs(number) < float("inf"):
        return number
    raise QuestionError(f"{option}: expected a number of seconds, got `{number}`")


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


def pushed(session: CliSession, attempt: Callable[[int | None, Watch], R], most: int | None) -> R:
    """What `attempt` (most agents it may write to, watch) reports; after a yes, when it would write to more.

    When a signal ended it, what was done is told and the command ends.
    """
    from mgmtctl.operations.sync import AffectedError, StoppedError

    with _watched(session) as watch:
        try:
            try:
                return attempt(None if session.yes or session.dry_run else most, watch)
            except AffectedError as error:
                session.confirm(f"write to {error.count} agents, at most {error.most} were expected")
                return attempt(None, watch)
        except StoppedError as stopped:
            tell(session, stopped.report, "interrupted: ")
            session.exit(128 + watch.signal)


@contextmanager
def _watched(session: CliSession) -> Iterator[Watch]:
    with ExitStack() as stack:
        watch = Watch(session, stack)
        for number in (signal.SIGINT, signal.SIGTERM):
            stack.callback(signal.signal, number, signal.signal(number, watch.end))
        yield watch


def target(session: CliSession, agents: list[str] | None, group: str | None, every: bool) -> list[str] | None:
    """The agents that are named; None when a group or all are meant. QuestionError unless it is exactly one of them."""
    from mgmtctl.domain.errors import QuestionError

    if sum((bool(agents), group is not None, every)) != 1:
        raise QuestionError(
            "name agents, or a group with --group, or all with --all",
            why="exactly one of them says which agents are meant",
        )
    return session.refs(agents) if agents else None


def require_word(if_locked: str) -> None:
    """QuestionError unless it is a thing to do while another sync runs."""
    from mgmtctl.domain.errors import QuestionError

    if if_locked not in _LOCKED:
        raise QuestionError(f"--if-locked: expected {' or '.join(_LOCKED)}, got `{if_locked}`")


def tell(session: CliSession, report: SyncItems, beginning: str = "") -> None:
    """What was done, what was overwritten, and what failed."""
    if report.skipped:
        session.say("another sync runs, nothing done")
        return
    tell_about(session, report)
    text = beginning + summary(report, "written to")
    would = beginning + summary(report, "would be written to")
    if is_told_as_json(session, report):
        session.beside["summary"] = would if session.dry_run else text
        session.show(report)
    else:
        if report.failed and not report.affected:
            session.say(f"dry run: {would}" if session.dry_run else text)
        session.done(text, report, would)
    partly(session, report)


def is_told_as_json(session: CliSession, report: SyncItems) -> bool:
    """Whether stderr is one JSON object about what failed, with what would be talk beside it (`session.beside`)."""
    return bool(report.failed) and session.output.asked in ("json", "ndjson")


def partly(session: CliSession, report: SyncItems) -> None:
    """Agents that need nothing are done too: some failures among them are not a failure of all."""
    if session.code and (report.unchanged or report.held):
        session.code = PARTLY


def tell_about(session: CliSession, report: SyncItems) -> None:
    """What is told beside the data: warnings, what was overwritten, findings of what failed."""
    from mgmtctl.operations.results import Failure

    warnings = [*report.warnings, *_edited(report)]
    if is_told_as_json(session, report):
        session.beside.update({"warnings": warnings} if warnings else {})
        return
    for line in warnings:
        session.warn(line)
    failures: tuple[Failure, ...] = report.failed
    for finding in dict.fromkeys(
        found for failure in failures for found in getattr(failure.error, "findings", ())
    ):
        session.say(finding.text())


def _edited(report: SyncItems) -> Iterator[str]:
    for agent in report.affected:
        edited = [change.name for change in agent.changes if change.edited_there]
        if edited:
            yield f"{agent.id} {agent.name}: was changed there: {', '.join(edited)}"


def summary(report: SyncItems, did: str) -> str:
    """How many agents it was about, and what became of them."""
    failed = sum(len(failure.ids) for failure in report.failed)
    parts = [f"{len(report.affected)} {did}", f"{report.unchanged} up to date"]
    for count, words in (
        (report.held, f"held back{_by(report.held_by)}"),
        (failed, "failed"),
        (report.not_reached, "not reached"),
    ):
        if count:
            parts.append(f"{count} {words}")
    count = len(report.affected) + report.unchanged + report.held + failed + report.not_reached
    return f"{count} agent{'s' * (count != 1)}: " + ", ".join(parts)


def _by(rollouts: Sequence[str]) -> str:
    return f" by rollout {' and '.join(rollouts)}" if rollouts else ""


def tell_held(session: CliSession, report: SyncItems) -> None:
    """What brings it to those that are held back."""
    if not is_told_as_json(session, report):
        for rollout in report.held_by:
            session.say(
                f"rollout {rollout} holds them back until it is promoted: mgmtctl sync promote {rollout}"
            )


def tell_next(session: CliSession, report: RolloutItems) -> None:
    """Which agents are the canaries, and what comes next."""
    if is_told_as_json(session, report):
        session.beside.update({"rollout": report.rollout, "canaries": list(report.canaries)})
        return
    if not report.canaries:
        session.say("nothing to try out: no rollout begins")
        return
    more = len(report.canaries) - _NAMED
    names = " ".join(report.canaries[:_NAMED])
    session.say(f"canaries: {names}" + (f" and {more} more" if more > 0 else ""))
    if report.rollout is None:
        return
    steps = [(f"mgmtctl sync promote {report.rollout}", "the others get it too")]
    steps += [(command, "and") for command in report.back[:-1]]
    steps += [(command, "nobody gets it, then mgmtctl sync run --all") for command in report.back[-1:]]
    if not report.back:
        steps.append((f"mgmtctl sync promote {report.rollout} --cancel", "the next run writes to all"))
    if more <= 0:
        steps.insert(0, (f"mgmtctl sync wait {names}", "until the canaries use it"))
    session.say(f"rollout {report.rollout} holds the others back until it is promoted; next:")
    width = max(len(command) for command, _ in steps)
    for command, what in steps:
        session.say(f"  {command:{width}}  {what}")
