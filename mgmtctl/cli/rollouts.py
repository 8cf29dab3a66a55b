"""`mgmtctl sync promote` and `sync wait`: what follows a run with canaries."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.exit_codes import NO, PARTLY, TIMEOUT
from mgmtctl.cli.sync import noun
from mgmtctl.cli.sync_runs import (
    All,
    IfLocked,
    InGroup,
    LockTimeout,
    MaxAffected,
    SomeAgents,
    Verify,
    Watch,
    is_told_as_json,
    pushed,
    require_word,
    target,
    tell,
)
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.sync import FINE, SYNCED

if TYPE_CHECKING:
    from mgmtctl.cli.progress import Bar
    from mgmtctl.operations.rollouts import RolloutItems
    from mgmtctl.operations.waiting import WaitItems

_NAMED = 10

Cancel = Annotated[
    bool, typer.Option("--cancel", help="End the rollout without writing to anybody.", show_default=False)
]
RolloutId = Annotated[
    str | None,
    typer.Argument(
        metavar="[ROLLOUT]", help="Its number; left out: the only one that is open.", show_default=False
    ),
]


@noun.write(
    "promote",
    asks=True,
    examples=["mgmtctl sync promote", "mgmtctl sync promote 1 --dry-run", "mgmtctl sync promote --cancel"],
    columns=("id", "name", "group", "summary"),
    exits={
        1: "the canaries are not well with it, nothing was written",
        3: "some agents failed, the others are done",
        9: "no rollout is open, or its groups changed since the canaries were written to",
        74: "no folder could be written",
        75: "another sync runs, or files are being changed",
    },
)
def promote(
    session: CliSession,
    rollout: RolloutId = None,
    cancel: Cancel = False,
    verify: Verify = False,
    max_affected: MaxAffected = None,
    if_locked: IfLocked = "fail",
    lock_timeout: LockTimeout = 0.0,
) -> None:
    """Give what the canaries have to the agents that were held back, and end the rollout.

    Before that every canary is looked at: its folder holds what its groups give, and it uses that (no restart is
    pending); and the condition of --abort-if is false. If not, nothing is written. While groups of it cannot be sent
    the rollout stays open for their agents. Agents of groups that have no canary together get what these gave when the
    rollout began, which is said; if they give something else by now, nothing is written. Agents that joined the groups
    since, or moved, are no longer held back: the next run writes to them. With --cancel the rollout just ends: the next
    run writes to the others, unless the groups were rolled back.
    """
    from mgmtctl.cli import errors
    from mgmtctl.operations import rollouts

    require_word(if_locked)
    if cancel:
        ended = rollouts.cancel_rollout(
            session.context, rollout, if_locked=if_locked, lock_timeout=lock_timeout
        )
        _tell_end(session, ended)
        return

    def attempt(most: int | None, watch: Watch) -> RolloutItems:
        return rollouts.promote_rollout(
            session.context,
            rollout,
            verify=verify,
            max_affected=most,
            if_locked=if_locked,
            lock_timeout=lock_timeout,
            watch=watch,
        )

    try:
        report = pushed(session, attempt, max_affected)
    except rollouts.NotReadyError as error:
        as_json = session.output.asked in ("json", "ndjson")
        errors.say_error(error, as_json=as_json, color=session.output.color, code=NO)
        session.exit(NO)
    _tell_end(session, report)


def _tell_end(session: CliSession, report: RolloutItems) -> None:
    """What was done, how a rollout ended, and what follows from that."""
    if report.skipped or report.state in ("promoted", "open") or report.affected:
        tell(session, report)
    elif session.output.asked is not None:
        session.show(report)
    if report.skipped:
        return
    after = {
        "open": f"groups of it cannot be sent; repair them, then mgmtctl sync promote {report.rollout}",
        "withdrawn": "its groups give what they gave before it; its canaries get that with the next run",
        "cancelled": "nobody is held back any more: the next run writes to the others, too",
    }.get(report.state)
    text = f"rollout {report.rollout} is {report.state}" + (f": {after}" if after else "")
    if is_told_as_json(session, report):
        session.beside["state"] = report.state
    else:
        session.say(f"dry run: {text}" if session.dry_run else text)


# --- wait ---------------------------------------------------------------------------------------------------------

Timeout = Annotated[str, typer.Option("--timeout", metavar="DURATION", help="Wait no longer: 30s, 5m, 1h.")]
Interval = Annotated[str, typer.Option("--interval", metavar="DURATION", help="Between two looks.")]


@noun.read(
    "wait",
    examples=["mgmtctl sync wait --group web --timeout 5m", "mgmtctl sync wait db-02 && echo it is there"],
    columns=("id", "name", "stage", "why"),
    exits={
        3: "some agents may not be waited for, the others are synced",
        4: "not logged in, or the session has expired while waiting",
        5: "no such agent or group",
        8: "timed out: these agents are left",
    },
)
def wait(
    session: CliSession,
    agents: SomeAgents = None,
    group: InGroup = None,
    every: All = False,
    timeout: Timeout = "5m",
    interval: Interval = "2s",
) -> None:
    """Wait until agents use what their groups give.

    An agent is done when its folder holds what its groups give and it uses that, or has an option not to (stages
    synced and ignored). When time is up those that are left are listed, ten of them unless a format is asked for.
    With MGMTCTL_USER and MGMTCTL_PASSWORD_FILE waiting logs in again before the session expires; with any other
    session it ends with it.
    """
    from mgmtctl.domain.durations import read_duration

    named = target(session, agents, group, every)
    seconds, pause = read_duration(timeout, "--timeout"), read_duration(interval, "--interval")
    if not pause:
        raise QuestionError("--interval: expected a second at least", fix="--interval 1s")
    _Wait(session, named, group, seconds, pause).through()


class _Wait:
    """One wait; times in seconds."""

    def __init__(
        self, session: CliSession, named: list[str] | None, group: str | None, timeout: int, pause: int
    ) -> None:
        self._session, self._named, self._group, self._pause = session, named, group, pause
        self._timeout, self._end = timeout, time.monotonic() + timeout
        self._context = session.context
        self._first = self._begun()

    def through(self) -> None:
        """Look until nobody is left or time is up, and tell."""
        self._tell_the_end()
        look = self._first
        for line in look.notes:
            self._session.say(line)
        with self._session.progress(look.meant, "synced") as bar:
            look = self._watched(look, bar)
        self._told(look)

    def _begun(self) -> WaitItems:
        from mgmtctl.operations import waiting

        return waiting.wait_for_sync(self._context, self._named, self._group)

    def _session_left(self) -> float:
        """The seconds until the session ends; a new login has no end here."""
        from mgmtctl.cli.staying import seconds_left

        left = seconds_left(self._context)
        return math.inf if left is None else max(left, 0.0)

    def _tell_the_end(self) -> None:
        left = self._session_left()
        if left < self._timeout:
            self._session.say(f"waiting until the session ends, in {left:.0f} s")

    def _watched(self, look: WaitItems, bar: Bar) -> WaitItems:
        shown = 0
        while True:
            done = look.meant - len(look.affected)
            bar.advance(done - shown)
            shown = done
            left = self._end - time.monotonic()
            if not look.affected or left <= 0:
                return look
            self._sleep(min(self._pause, left, self._session_left()), bar)
            look = self._looked(look)

    def _sleep(self, seconds: float, bar: Bar) -> None:
        """Sleep, the bar kept up to date: it comes up after a second."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(left, 1.0))
            bar.advance(0)

    def _looked(self, before: WaitItems) -> WaitItems:
        """Look once more, by a new login when the session is about to expire."""
        from mgmtctl.cli.staying import still_in

        context = still_in(self._session, self._context)
        if context is self._context and before.again is not None:
            return before.again()
        self._context = context
        return self._begun()

    def _told(self, look: WaitItems) -> None:
        from mgmtctl.operations.results import Items

        session, count = self._session, len(look.affected)
        asked = session.output.asked is not None
        shown = list(look.affected) if asked else list(look.affected)[:_NAMED]
        if shown or self._first.failed or asked:
            session.show(Items(shown, self._first.failed))
        if count > len(shown):
            session.say(f"and {count - len(shown)} more")
        of = f"of {look.meant} agent{'s' * (look.meant != 1)}"
        told = {name: many for name, many in look.counts.items() if not count or name not in FINE}
        stages = ", ".join(f"{many} {name}" for name, many in sorted(told.items()))
        if count:
            session.say(f"{count} {of} left after {self._timeout} s: {stages}")
        else:
            done = "synced" if set(look.counts) <= {SYNCED} else f"settled: {stages}"
            session.say(f"{look.meant} {of} {done}")
        if count:
            session.code = TIMEOUT
        elif session.code and look.meant:
            session.code = PARTLY
