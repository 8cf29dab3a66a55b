"""`mgmtctl agents keepalive` and `agents restart`: what agents report, and using what they were given."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.agents import noun
from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.exit_codes import PARTLY
from mgmtctl.cli.sync_runs import All, InGroup, SomeAgents, target

if TYPE_CHECKING:
    from mgmtctl.operations.keepalives import KeepaliveItems, Recorded

_Collect = typer.Option(
    "--collect", help="Take the reports that agents left in their folders.", show_default=False
)
_Push = typer.Option(
    "--push", help="Also write to agents that report something else than their groups give.", show_default=False
)  # fmt: skip
_NAMED = 5
_COLUMNS = ("id", "name", "event", "status", "group_config_status")


@noun.write(
    "keepalive",
    examples=[
        "mgmtctl agents keepalive web-1 < report.json",
        "mgmtctl agents keepalive --collect --all --push",
        "mgmtctl agents keepalive --collect --group web -n",
    ],
    columns=_COLUMNS,
    exits={
        3: "some reports are bad, or some agents could not be written to; the others are done",
        7: "the report, or every report, is bad",
        74: "no folder could be written",
        75: "files are being changed",
    },
)
def keepalive(
    session: CliSession,
    agents: SomeAgents = None,
    collect: Annotated[bool, _Collect] = False,
    group: InGroup = None,
    every: All = False,
    push: Annotated[bool, _Push] = False,
) -> None:
    """Record what agents report: that they are there, their system, and which files they use.

    One agent's report is a JSON object on stdin. All keys may be left out: event (`startup`, `keepalive`, `shutdown`),
    version, os, ip, manager, node_name, mergedSum (MD5 or SHA-256 of its merged file, `x` for none), configSum, time.
    Its id and name, if it gives them, must be this agent's; other keys are ignored. An agent whose checksum is not that
    of what its groups give is not synced from then on. With --collect, `keepalive.json` in each agent's folder is such
    a report, taken when it is newer than the last one.
    """
    from mgmtctl.operations import keepalives

    if collect:
        named = target(session, agents, group, every)
        found = keepalives.collect_keepalives(session.context, named, group, push)
    else:
        reference = _one(agents, group, every)
        data, _ = session.read_input("-")
        found = keepalives.record_keepalive(session.context, reference, data, push)
    _tell(session, found, collect)


@noun.write(
    "restart",
    examples=["mgmtctl agents restart web-1", "mgmtctl agents restart --group web -n"],
    columns=("id", "name", "applied", "note"),
    exits={3: "some agents may not be restarted, the others are done"},
)
def restart(
    session: CliSession,
    agents: SomeAgents = None,
    group: InGroup = None,
    every: All = False,
) -> None:
    """Restart agents: they use from then on what was written into their folders.

    Only agents without `auto_restart` need it, and those that report older files than they were given.
    """
    from mgmtctl.operations import keepalives
    from mgmtctl.operations.results import Items

    named = target(session, agents, group, every)
    if group is not None:
        found = keepalives.restart_group(session.context, group)
    elif named is not None and len(named) == 1:
        found = Items([keepalives.restart_agent(session.context, named[0])])
    else:
        found = keepalives.restart_agents(session.context, named)
    done = [entry for entry in found.affected if entry.applied]
    if len(found.affected) == 1:
        (entry,) = found.affected
        text = would = f"{entry.id} {entry.name}: {entry.note}"
        if entry.applied:
            would = text.replace(": uses ", ": would use ", 1).removesuffix(" now")
    else:
        others = len(found.affected) - len(done)
        which = (
            f": {', '.join(f'{entry.id} {entry.name}' for entry in done)}" if 0 < len(done) <= _NAMED else ""
        )
        text = f"{_count(len(done))} restarted{which}; {others} had nothing pending"
        would = f"{_count(len(done))} would be restarted{which}; {others} have nothing pending"
    session.done(text, found, would)


def _tell(session: CliSession, found: KeepaliveItems, collected: bool) -> None:
    """What was recorded, what was written then, and what failed."""
    remarks = Counter(remark for entry in found.affected for remark in entry.remarks)
    for remark, count in remarks.items():
        session.warn(f"{_count(count)}: {remark}" if collected else remark)
    pushed = found.pushed
    for line in pushed.warnings if pushed is not None else ():
        session.warn(line)
    if collected:
        verb = "would be recorded" if session.dry_run else "recorded"
        parts = [f"{len(found.affected)} {verb}", f"{found.unchanged} without a new report"]
        failed = sum(len(failure.ids) for failure in found.failed)
        parts += [f"{failed} failed"] if failed else []
        late = sum(entry.matches is False for entry in found.affected)
        parts += [f"{late} not synced"] if late else []
        text = ", ".join(parts)
    else:
        text = _one_line(found.affected[0])
    if pushed is not None:
        text += "; " + _push_text(session, found)
    if found.failed and not found.affected:
        session.say(f"dry run: {text}" if session.dry_run else text)
    session.done(text, found)
    if session.code and found.unchanged:
        session.code = PARTLY


def _one_line(entry: Recorded) -> str:
    from mgmtctl.domain.sync import revisions

    text = f"{entry.id} {entry.name} is {entry.state.status}"
    if entry.reported is None:
        return text
    checksum = "no merged file" if entry.reported == "x" else entry.reported[:12]
    known = f" ({revisions(entry.uses)})" if entry.uses else ""
    verdicts = {
        True: "which its groups give",
        False: "its groups give something else: not synced",
        None: "its groups cannot be sent",
    }
    return f"{text}, reports {checksum}{known}, {verdicts[entry.matches]}"


def _push_text(session: CliSession, found: KeepaliveItems) -> str:
    pushed = found.pushed
    if pushed is None or pushed.skipped:
        return "another sync runs, nothing written"
    would = "would be written to" if session.dry_run else "written to"
    held = f", {pushed.held} held" if pushed.held else ""
    return f"{len(pushed.affected)} {would}, {pushed.unchanged} up to date{held}"


def _one(agents: list[str] | None, group: str | None, every: bool) -> str:
    from mgmtctl.domain.errors import QuestionError

    if group is not None or every or not agents or len(agents) != 1 or agents[0] == "-":
        raise QuestionError(
            "a report on stdin is of one agent: name it",
            fix="mgmtctl agents keepalive AGENT < report.json, or take those in the folders with --collect",
        )
    return agents[0]


def _count(number: int) -> str:
    return f"{number} agent{'s' * (number != 1)}"
