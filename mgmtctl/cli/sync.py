"""`mgmtctl sync`: bring shared files into the agents' folders, and say where each agent stands."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.options import AgentRef
from mgmtctl.cli.output import height_of, is_terminal, wants_color, width_of
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
    partly,
    pushed,
    require_word,
    summary,
    target,
    tell,
    tell_about,
    tell_held,
    tell_next,
)
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.sync import FINE

if TYPE_CHECKING:
    from mgmtctl.operations.agent_stages import AgentStage
    from mgmtctl.operations.results import Items
    from mgmtctl.operations.sync import SyncItems

noun = Noun("sync", "Bring shared files into the agents' folders.")

_MOST_SHOWN = 10
_NOT_FINE = ";".join(f"stage!={stage}" for stage in FINE)

Canary = Annotated[
    str | None,
    typer.Option(
        "--canary",
        metavar="N|P%",
        help="Write to so many of the agents only, and hold the others back until `sync promote`.",
        show_default=False,
    ),
]
AbortIf = Annotated[
    str | None,
    typer.Option(
        "--abort-if",
        metavar="CONDITION",
        help="With --canary: what must not be true of the canaries, as `disconnected>1 or failed>=10%`.",
        show_default=False,
    ),
]
ExitCode = Annotated[
    bool,
    typer.Option(
        "--exit-code", help="End with 1 unless every agent is synced or ignored.", show_default=False
    ),
]
Totals = Annotated[
    bool,
    typer.Option("--totals", help="How many agents of each group are in each stage.", show_default=False),
]


@noun.write(
    "run",
    asks=True,
    examples=[
        "mgmtctl sync run --all",
        "mgmtctl sync run --group web --dry-run",
        "mgmtctl sync run 001 db-02",
        "mgmtctl sync run --group web --canary 5% --abort-if 'disconnected>1'",
    ],
    columns=("id", "name", "group", "summary"),
    exits={
        3: "some agents failed, the others are done",
        9: "with --canary: an open rollout holds these agents back",
        74: "no folder could be written",
        75: "another sync runs, or files are being changed",
    },
)
def run(
    session: CliSession,
    agents: SomeAgents = None,
    group: InGroup = None,
    every: All = False,
    canary: Canary = None,
    abort_if: AbortIf = None,
    verify: Verify = False,
    max_affected: MaxAffected = None,
    if_locked: IfLocked = "fail",
    lock_timeout: LockTimeout = 0.0,
) -> None:
    """Write into the agents' folders what their groups give.

    Agents that have it already are not touched. A group with an invalid agent.conf is never sent: its agents keep the
    last good files and are reported, the others go on. Files that somebody changed in an agent's folder are
    overwritten and reported; files that were never sent are left alone. SIGINT finishes the agent in hand.

    With --canary a rollout begins: a sample of the agents that need it, spread over groups and systems and the same
    whenever it is asked for, gets the files; every other agent of the same groups is held back, by every later run
    too, until `sync promote`, or until the groups give again what they gave before (`files rollback`). The condition
    of --abort-if counts canaries: not-synced, disconnected, diverged, failed, pending-restart.
    """
    from mgmtctl.operations import sync

    named = target(session, agents, group, every)
    require_word(if_locked)
    if abort_if is not None and canary is None:
        raise QuestionError("--abort-if goes with --canary", fix="--canary 5%")

    def attempt(most: int | None, watch: Watch) -> SyncItems:
        how: dict[str, Any] = {"verify": verify, "max_affected": most, "if_locked": if_locked}
        how |= {"lock_timeout": lock_timeout, "watch": watch}
        if canary is None:
            return sync.run_sync(session.context, named, group, **how)
        from mgmtctl.operations import rollouts

        return rollouts.start_rollout(session.context, named, group, sample=canary, abort_if=abort_if, **how)

    report = pushed(session, attempt, max_affected)
    tell(session, report)
    if canary is None:
        tell_held(session, report)
    elif not report.skipped:
        tell_next(session, report)  # type: ignore[arg-type]


@noun.list(
    "status",
    examples=[
        "mgmtctl sync status",
        "mgmtctl sync status --totals",
        "mgmtctl sync status --where 'stage!=synced'",
        "mgmtctl sync status --exit-code",
    ],
    columns=("id", "name", "stage", "why"),
    exits={
        1: "with --exit-code: an agent is neither synced nor ignored",
        3: "some agents may not be read",
        5: "no such agent or group",
    },
)
def status(
    session: CliSession,
    agents: SomeAgents = None,
    group: InGroup = None,
    totals: Totals = False,
    exit_code: ExitCode = False,
) -> None:
    """Say where each agent stands, and why.

    The stage is one of: synced; stale (its groups give something else now); held (a rollout keeps it back); diverged
    (files were changed or removed in its folder); never-synced; blocked (a group cannot be sent); no-folder (it cannot
    be entered); pending-restart (it has its files and uses them after a restart); ignored (delivered, but the agent's
    own options say that it uses no shared files). Every file that was written is looked at, by its size, times and
    inode; one that looks touched is read. A run looks at the same, so that both say the same.

    On a terminal it begins with a picture, and lists only agents that are not synced, those alike in one row and no
    more than fit; --limit 0 lists all. A letter of
    a bar stands for its part of the agents, `#` for those that are synced.
    """
    from mgmtctl.operations import sync

    named = session.refs(agents) if agents else None
    query = replace(session.query, sort=None, limit=None, select=()) if totals else session.query
    found = sync.sync_status(session.context, named, group, query=query)
    if totals:
        _show_totals(session, found)
    elif _wants_picture(session, agents):
        _show_picture(session, found)
    else:
        session.show(found)
    if found.failed and not found.affected:
        return
    stages = Counter(entry.stage.name for entry in found.affected)
    session.say(", ".join(f"{count} {stage}" for stage, count in sorted(stages.items())) or "no agents")
    if exit_code and set(stages) - set(FINE):
        session.code = session.code or 1


def _wants_picture(session: CliSession, agents: list[str] | None) -> bool:
    """Whether somebody looks who asked for nothing special."""
    asked = session.common
    special = (asked.where, asked.search, asked.sort, asked.limit, asked.select, asked.output)
    return is_terminal(sys.stdout) and not (agents or asked.envelope) and special == (None,) * len(special)


def _show_picture(session: CliSession, found: Items[AgentStage]) -> None:
    from mgmtctl.cli.sync_views import counted, fitting, late, picture, problem
    from mgmtctl.operations.results import Items

    counts, problems = counted(found.affected), late(found.affected)
    groups, rows = fitting(counts, len(problems), height_of(sys.stdout))
    color = wants_color(sys.stdout, session.output.color)
    lines = picture(counts, width_of(sys.stdout), color, groups)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    if problems:
        sys.stdout.write("\n")
    if problems or found.failed:
        session.output = replace(session.output, columns=("agents", "stage", "why"))
        session.show(Items([problem(same) for same in problems[:rows]], found.failed))
    if more := sum(map(len, problems[rows:])):
        session.say(f"and {more} more: mgmtctl sync status --where '{_NOT_FINE}'")
    if problems:
        session.say(f"mgmtctl sync explain {problems[0][0].id} says what to do about one")


def _show_totals(session: CliSession, found: Items[AgentStage]) -> None:
    from mgmtctl.cli.sync_views import counted, rows
    from mgmtctl.domain.queries import NUMBER, TEXT, ListQuery, apply_query
    from mgmtctl.domain.sync import STAGES

    fields = {"group": TEXT, "agents": NUMBER, **dict.fromkeys(reversed(STAGES), NUMBER)}
    query = ListQuery(sort=session.query.sort, limit=session.query.limit, select=session.query.select)
    records = rows(counted(found.affected))
    shown, total = apply_query(records, query, fields)
    columns = tuple(fields)
    if is_terminal(sys.stdout) and session.output.asked is None:
        columns = tuple(name for name in fields if name in ("group", "agents") or records[0][name])
    session.output = replace(session.output, columns=columns)
    session.show(replace(found, affected=shown, total=total))  # type: ignore[arg-type]


@noun.read("explain", examples=["mgmtctl sync explain db-02"])
def explain(session: CliSession, agent: Annotated[str, AgentRef]) -> None:
    """Say where one agent stands, why, what it has and shall have, and what to do next."""
    from mgmtctl.cli.sync_explain import Explained
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
    agents: SomeAgents = None,
    group: InGroup = None,
    every: All = False,
    verify: Verify = False,
) -> None:
    """Show what `sync run` would change, agent by agent and in all; `-o json` file by file.

    On a terminal the first ten agents are listed, unless a format is asked for.
    """
    from mgmtctl.cli.sync_views import total_lines
    from mgmtctl.operations import sync

    named = target(session, agents, group, every)
    report = sync.plan_sync(session.context, named, group, verify=verify)
    tell_about(session, report)
    _show_some(session, report)
    partly(session, report)
    told = summary(report, "would be written to")
    if is_told_as_json(session, report):
        session.beside["summary"] = told
        return
    for line in total_lines(report.totals):
        session.say(line)
    session.say(told)
    tell_held(session, report)


def _show_some(session: CliSession, report: SyncItems) -> None:
    """The agents of a plan; to somebody who looks and asked for no format the first ones, and no empty table."""
    output = session.output
    if not is_terminal(sys.stdout) or output.asked or output.select or session.common.envelope:
        session.show(report)
        return
    more = len(report.affected) - _MOST_SHOWN
    if report.affected or report.failed:
        session.show(replace(report, affected=report.affected[:_MOST_SHOWN]))
    if more > 0:
        session.say(f"and {more} more: -o tsv lists all")
