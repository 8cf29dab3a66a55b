"""`mgmtctl help`: topics that are no command."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from mgmtctl.cli.commands import CliSession, Group, Noun
from mgmtctl.cli.output import width_of
from mgmtctl.cli.topics import TOPICS, WIDEST, topic
from mgmtctl.domain.errors import QuestionError

ROOT = Noun("", "")


@ROOT.read("help", examples=["mgmtctl help exit-codes", "mgmtctl help rules", "mgmtctl help agents list"])
def help_(
    session: CliSession,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC",
            help="A topic, or a word of `mgmtctl`; none lists the topics.",
            show_default=False,
        ),
    ] = None,
    verb: Annotated[
        str | None, typer.Argument(metavar="VERB", help="A command of that noun.", show_default=False)
    ] = None,
) -> None:
    """Show a topic, or the list of topics; of a command the same as its `--help`."""
    if name is None:
        session.show([{"name": name, "summary": topic.summary} for name, topic in TOPICS.items()])
    elif name in TOPICS and verb is None:
        session.print(_wrapped(topic(name).text()))
    else:
        session.print(_help_of([name] if verb is None else [name, verb]))


def _help_of(words: list[str]) -> str:
    """The help of a noun or a command; QuestionError when the words are neither that nor a topic."""
    from mgmtctl.cli.app import TREE, root
    from mgmtctl.domain.resources import closest

    if words[0] not in TREE:
        near = closest(words[0], (*TOPICS, *TREE))
        hint = f"did you mean `{near}`?" if near else f"topics are {', '.join(TOPICS)}"
        raise QuestionError(f"no topic `{words[0]}`", fix=hint)
    command: Any = root()
    context = command.make_context("mgmtctl", [], resilient_parsing=True)
    for word in words:
        if not isinstance(command, Group):
            raise QuestionError(f"no topic `{' '.join(words)}`", fix=f"{context.command_path} --help")
        name, command, _ = command.resolve_command(context, [word])
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
    return str(context.get_help())


def _wrapped(text: str) -> str:
    """Paragraphs no wider than 80 columns and the terminal; those that begin with blanks as they are."""
    import textwrap

    width = min(WIDEST, width_of(sys.stdout) or WIDEST)
    return "\n\n".join(
        part if part.startswith("  ") else textwrap.fill(part, width, break_on_hyphens=False)
        for part in text.split("\n\n")
    )
