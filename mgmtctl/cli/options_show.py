"""`mgmtctl options`: what is known of the sections and options of agent.conf."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from mgmtctl.cli import single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import DENIED, NOT_FOUND, UNAUTHENTICATED
from mgmtctl.cli.output import width_of
from mgmtctl.cli.text import folded

noun = Noun("options", "What is known of the sections and options of agent.conf.")

Section = typer.Argument(
    metavar="[OPTION]", help="Only what is in this section, module or block.", show_default=False
)
Option = typer.Argument(
    metavar="OPTION",
    help="A path such as `syscheck.frequency`, `wodle.syscollector`, `syscheck.directories@realtime`.",
    show_default=False,
)
All = typer.Option("--all", help="Every option and attribute, not only the sections.", show_default=False)
_NO_SERVICE = {UNAUTHENTICATED: None, DENIED: None}


@noun.list(
    examples=[
        "mgmtctl options list",
        "mgmtctl options list syscheck",
        "mgmtctl options list --all --search realtime",
        "mgmtctl options list --all --where 'runs_command=true'",
    ],
    columns=("path", "values", "default", "since", "systems"),
    exits={NOT_FOUND: "no such section or option", **_NO_SERVICE},
)
def list_(
    session: CliSession,
    option: Annotated[str | None, Section] = None,
    all_: Annotated[bool, All] = False,
) -> None:
    """List the sections of agent.conf, or what is in one: options, their attributes, values and defaults.

    The vocabulary is part of the program: this needs no login and no data folder. `-o json` has every fact, such as
    what the stock check does with a wrong value.
    """
    from mgmtctl.domain.conf_facts import FIELDS, listed
    from mgmtctl.domain.queries import apply_query
    from mgmtctl.operations.results import Items

    found, total = apply_query(listed(option, all_), session.query, FIELDS)
    if not single.in_rows(session):
        return session.show(Items(found, total=total))
    rows = [item.row() for item in found]
    width = max((len(row["path"]) for row in rows), default=0)
    return session.show(Items([single.paged(session, row, _liner(width)) for row in rows], total=total))


def _liner(width: int) -> Callable[[dict[str, Any]], str]:
    """What makes a line of a row for a terminal: the path as it is, what is said of it folded beside that."""

    def line(row: dict[str, Any]) -> str:
        facts = [
            *([f"default {row['default']}"] if row["default"] is not None else []),
            *([f"since {row['since']}"] if row["since"] else []),
            *([_in_words(row["systems"])] if row["systems"] != "all" else []),
        ]
        said = f"{row['values']} ({'; '.join(facts)})" if facts else row["values"]
        return folded(f"{row['path']:{width}}  {said}", width_of(sys.stdout), width + 2)

    return line


def _in_words(systems: str | list[str]) -> str:
    return systems if isinstance(systems, str) else ", ".join(systems)


@noun.read(
    "show",
    examples=[
        "mgmtctl options show syscheck.directories",
        "mgmtctl options show localfile.log_format -o json",
        "mgmtctl options show wodle.syscollector",
    ],
    columns=("path", "values", "default", "since", "systems"),
    exits={NOT_FOUND: "no such section or option", **_NO_SERVICE},
)
def show(session: CliSession, option: Annotated[str, Option]) -> None:
    """Show what is known of a section, a module, an option or an attribute of agent.conf.

    Its values and default, the systems and the first release that know it, what a second one does to the first, what
    the stock check does with a fault in it, and which other options it depends on.
    """
    from mgmtctl.domain.conf_facts import facts_of

    found = facts_of(option)
    session.show(single.paged(session, found.record(), lambda _: single.sheet(found.pairs())))
