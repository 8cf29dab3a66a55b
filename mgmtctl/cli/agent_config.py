"""`mgmtctl agents config` and `mgmtctl agents files`: what an agent really gets."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli.agents import noun
from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.options import AgentRef
from mgmtctl.cli.output import is_terminal, width_of

if TYPE_CHECKING:
    from mgmtctl.domain.effective_values import Value
    from mgmtctl.domain.sync import Stage
    from mgmtctl.operations.agent_config import AgentConfig

_DOCUMENTS = ("json", "yaml")
_COLUMNS = ("path", "value", "attributes")
_ORIGINS = (*_COLUMNS, "origin", "over")
_DIFFERENCES = ("path", "left", "left_origin", "right", "right_origin")

Merged = typer.Option("--effective", help="The values that count in the end.", show_default=False)
WithOrigin = typer.Option(
    "--origin", help="Where each value stands, what it overrode, and what does not count.", show_default=False
)
Get = typer.Option(
    "--get", metavar="OPTION", help="One option or section, as `syscheck.frequency`.", show_default=False
)
Other = typer.Option("--diff", metavar="AGENT", help="Only what differs from this agent.", show_default=False)


@noun.read(
    "config",
    examples=[
        "mgmtctl agents config web-1 --effective --origin",
        "mgmtctl agents config web-1 --get syscheck.frequency",
        "mgmtctl agents config web-1 --diff web-2",
        "mgmtctl agents config web-1",
    ],
    exits={1: "the option is set nowhere and has no default, or --diff found something"},
)
def config(
    session: CliSession,
    reference: Annotated[str, AgentRef],
    effective: Annotated[bool, Merged] = False,
    origin: Annotated[bool, WithOrigin] = False,
    get: Annotated[str | None, Get] = None,
    other: Annotated[str | None, Other] = None,
) -> None:
    """Show the configuration that an agent really gets.

    Its own configuration counts first, then each block that is for it, in the order of its groups; the last value of
    an option wins, lists add up. Without an option the blocks are printed as they stand in the files. It is what the
    groups give now: stderr says when the agent does not use that yet, and how the values differ. Secrets are masked
    unless you may change the group that they come from.
    """
    from mgmtctl.domain.errors import QuestionError
    from mgmtctl.operations import agent_config

    if get is not None and other is not None:
        raise QuestionError("--get and --diff are two questions", fix="ask one of them")
    if get is not None:
        _answer(session, agent_config.show_config_value(session.context, reference, get), origin)
    elif other is not None:
        _compare(session, agent_config.diff_config(session.context, reference, other))
    else:
        _show(session, agent_config.show_config(session.context, reference), effective or origin, origin)


@noun.list(
    "files",
    examples=["mgmtctl agents files web-1", "mgmtctl agents files web-1 --where sent=false"],
    columns=("name", "size", "group", "sent", "why_not"),
    exits={5: "no such agent"},
)
def files(session: CliSession, reference: Annotated[str, AgentRef]) -> None:
    """List the shared files that an agent is sent, from which group, and what is left out and why.

    Of a file that several groups hold, the last group wins; agent.conf is put together from all of them. `-o json` has
    the SHA-256 of each, that of merged.mg among them.
    """
    from mgmtctl.operations import agent_config

    found = agent_config.list_agent_files(session.context, reference, query=session.query)
    session.show(found)
    if found.stage is not None:
        _say_stage(session, found.stage)


def _show(session: CliSession, found: AgentConfig, merged: bool, origin: bool) -> None:
    from mgmtctl.cli import agent_config_text as text

    told = list(text.story_lines(found.effective)) if origin else []
    if session.output.asked in _DOCUMENTS:
        session.output.one(found.record())
        told = []
    elif merged or session.output.asked is not None:
        told = _values(session, found.effective.values, origin, told)
    else:
        _source(session, found)
    for line in told:
        session.say(line)
    if not origin:
        session.say(f"{found.id} {found.name}: {text.summary(found.effective)}")
    for problem in found.problems:
        session.warn(problem.text())
    _say_stage(session, found.stage)
    _say_pending(session, found)


def _source(session: CliSession, found: AgentConfig) -> None:
    """The text of what the agent reads, with a comment before each part."""
    parts = [f"<!-- {part.where} -->\n{part.text.rstrip()}\n" for part in found.source]
    session.output.text("\n".join(parts))


def _values(
    session: CliSession, values: Sequence[Value], origin: bool, told: Sequence[str] = ()
) -> list[str]:
    """Write values: to be read on a terminal, where `told` follows; else as rows. What is left to tell."""
    from mgmtctl.cli import agent_config_text as text

    if session.output.asked is None and is_terminal(sys.stdout):
        width = width_of(sys.stdout)
        session.output.page([*text.value_lines(values, origin=origin, width=width), *told])
        return []
    _rows(session, map(text.row, values), _ORIGINS if origin else _COLUMNS)
    return list(told)


def _rows(session: CliSession, rows: Iterable[dict[str, Any]], columns: tuple[str, ...]) -> None:
    replace(session.output, columns=columns).many(list(rows))


def _answer(session: CliSession, found: Any, origin: bool) -> None:
    """One option: its value alone, or its values by path."""
    answer = found.answer
    if not answer.values and answer.default is None:
        session.code = 1
    if session.output.asked in _DOCUMENTS:
        session.output.one(found.record())
    elif origin or session.output.asked is not None or len({value.path for value in answer.values}) > 1:
        _values(session, answer.values, origin)
    else:
        given = [value.value for value in answer.values] or [answer.default or ""]
        session.output.text("".join(f"{line}\n" for line in given if line))
    if not answer.values:
        said = (
            "has no default that is known" if answer.default is None else f"{answer.default} is the default"
        )
        session.say(f"nobody sets `{answer.path}` for {found.id} {found.name}; {said}")


def _compare(session: CliSession, found: Any) -> None:
    from mgmtctl.cli import agent_config_text as text

    if session.output.asked in _DOCUMENTS:
        session.output.one(found.record())
    elif session.output.asked is None and is_terminal(sys.stdout):
        heads = [f"--- {' '.join(found.left)}", f"+++ {' '.join(found.right)}"] if found.differences else []
        session.output.page([*heads, *text.difference_lines(found.differences)])
    else:
        _rows(session, map(text.difference_row, found.differences), _DIFFERENCES)
    if found.differences:
        session.code = 1
    else:
        session.say(f"{' '.join(found.left)} and {' '.join(found.right)} get the same configuration")


def _say_stage(session: CliSession, stage: Stage) -> None:
    step = f" (next: {stage.next_step})" if stage.next_step else ""
    session.say(f"{stage.name}: {stage.why}{step}")


def _say_pending(session: CliSession, found: AgentConfig) -> None:
    """What the agent keeps, or does not use yet."""
    from mgmtctl.cli import agent_config_text as text

    if found.keeps:
        session.say(f"shown is what it keeps: {_revisions(found.keeps)}")
    if found.pending is None:
        return
    runs = _revisions(found.runs)
    if not found.pending:
        session.say(f"it uses {runs}, with the same values")
        return
    count = len(found.pending)
    session.say(f"pending, {count} difference{'s' * (count > 1)} to what it uses now ({runs}):")
    for line in text.difference_lines(found.pending):
        session.say(f"  {line}")


def _revisions(found: Mapping[str, int]) -> str:
    return ", ".join(f"{group} r{number}" for group, number in found.items())
