"""`mgmtctl help`: topics that are no command."""

from __future__ import annotations

from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.topics import TOPICS, topic
from mgmtctl.domain.errors import QuestionError

ROOT = Noun("", "")


@ROOT.read("help", examples=["mgmtctl help exit-codes", "mgmtctl help rules"])
def help_(
    session: CliSession,
    name: Annotated[
        str | None, typer.Argument(metavar="TOPIC", help="A topic; none lists them.", show_default=False)
    ] = None,
) -> None:
    """Show a topic, or the list of topics."""
    if name is None:
        session.show([{"name": name, "summary": topic.summary} for name, topic in TOPICS.items()])
        return
    if name not in TOPICS:
        from mgmtctl.domain.resources import closest

        near = closest(name, TOPICS)
        hint = f"did you mean `{near}`?" if near else f"topics are {', '.join(TOPICS)}"
        raise QuestionError(f"no topic `{name}`", fix=hint)
    session.print(_wrapped(topic(name).text()))


def _wrapped(text: str) -> str:
    """Paragraphs at 80 columns; those that begin with blanks as they are."""
    import textwrap

    return "\n\n".join(
        part if part.startswith("  ") else textwrap.fill(part, 80) for part in text.split("\n\n")
    )
