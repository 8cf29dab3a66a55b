"""The options that commands share, and the arguments that several nouns take.

`COMMON` is data: the signature of every command is its own parameters plus the rows of its kind. A metavar names what
a value is; shell completion offers values by it (`VALUES`).
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

from mgmtctl.cli.output import COLORS, FORMATS

READ, LIST, WRITE = "read", "list", "write"
ALL = (READ, LIST, WRITE)


class Common(NamedTuple):
    """The values of the common options of one call."""

    output: str | None = None
    color: str = "auto"
    debug: bool = False
    quiet: bool = False
    select: str | None = None
    no_headers: bool = False
    where: str | None = None
    search: str | None = None
    sort: str | None = None
    limit: int | None = None
    envelope: bool = False
    dry_run: bool = False
    yes: bool = False
    reason: str | None = None


def _text(*names: str, metavar: str, help: str) -> Any:  # noqa: A002
    return Annotated[str | None, typer.Option(*names, metavar=metavar, help=help, show_default=False)]


def _flag(*names: str, help: str) -> Any:  # noqa: A002
    return Annotated[bool, typer.Option(*names, help=help, show_default=False)]


# name: (annotation, kinds of commands that have it); defaults are those of Common.
COMMON: dict[str, tuple[Any, tuple[str, ...]]] = {
    "where": (
        _text("--where", metavar="QUERY", help="Only what matches, as `status=active;os.name~ubuntu`."),
        (LIST,),
    ),
    "search": (
        _text("--search", metavar="TEXT", help="Only what contains this; `-TEXT`: what does not."),
        (LIST,),
    ),
    "sort": (
        _text("--sort", metavar="FIELDS", help="Order by these fields; `-` before one: descending."),
        (LIST,),
    ),
    "limit": (
        Annotated[
            int | None,
            typer.Option("--limit", metavar="N", help="At most so many; 0: all.", show_default=False),
        ],
        (LIST,),
    ),
    "select": (
        _text("--select", metavar="FIELDS", help="Only these fields, separated by commas."),
        (READ, LIST),
    ),
    "envelope": (_flag("--envelope", help="The service's envelope around a list (JSON)."), (LIST,)),
    "dry_run": (_flag("-n", "--dry-run", help="Say what would be done, change nothing."), (WRITE,)),
    "yes": (_flag("-y", "--yes", help="Do not ask."), (WRITE,)),
    "reason": (_text("--reason", metavar="TEXT", help="Why, for the log."), (WRITE,)),
    "output": (_text("-o", "--output", metavar="FORMAT", help=f"{', '.join(FORMATS)}."), ALL),
    "no_headers": (_flag("--no-headers", help="Rows without a line of names."), (READ, LIST)),
    "color": (
        Annotated[
            str, typer.Option("--color", metavar="WHEN", help=f"{', '.join(COLORS)}.", show_default=False)
        ],
        ALL,
    ),
    "quiet": (_flag("-q", "--quiet", help="Say nothing beside data, warnings and errors."), ALL),
    "debug": (_flag("--debug", help="Show the traceback of a bug."), ALL),
}

# What shell completion offers for a metavar: a kind of values of the service (with `+`: or a path that begins like
# one), or fixed words.
VALUES: dict[str, str | tuple[str, ...]] = {
    "AGENT": "agents",
    "GROUP": "groups",
    "USER": "users",
    "ROLE": "roles",
    "POLICY": "policies",
    "RULE": "rules",
    "ACTION": "actions",
    "GROUP/FILE": "files",
    "GROUP[/FILE]": "files",
    "GROUP[/FILE]|PATH": "files+",
    "REVISION": "revisions",
    "OPTION": "options",
    "RESOURCE": "resources",
    "SETTING": "settings",
    "STORE_SETTING": "store-settings",
    "FORMAT": FORMATS,
    "AXIS": ("resource", "group"),
    "FORMAT|sarif": (*FORMATS, "sarif"),
    "[POLICY|FILE]": "policies+",
    "[RULE|FILE]": "rules+",
    "RULE|FILE": "rules+",
    "WHEN": COLORS,
    "WHAT": ("fail", "skip"),
    "TOPIC": "topics",
    "SHELL": ("bash", "zsh", "fish"),
}

AgentRef = typer.Argument(metavar="AGENT", help="Name or id of an agent.", show_default=False)
AgentRefs = typer.Argument(
    metavar="AGENT...", help="Names or ids of agents; `-` reads them from stdin.", show_default=False
)
GroupName = typer.Argument(metavar="GROUP", help="Name of a group.", show_default=False)
GroupNames = typer.Argument(
    metavar="GROUP...", help="Names of groups; `-` reads them from stdin.", show_default=False
)
UserRef = typer.Argument(metavar="USER", help="Name or id of a user.", show_default=False)
UserRefs = typer.Argument(
    metavar="USER...", help="Names or ids of users; `-` reads them from stdin.", show_default=False
)
RoleRef = typer.Argument(metavar="ROLE", help="Name or id of a role.", show_default=False)
RoleRefs = typer.Argument(
    metavar="ROLE...", help="Names or ids of roles; `-` reads them from stdin.", show_default=False
)
PolicyRef = typer.Argument(metavar="POLICY", help="Name or id of a policy.", show_default=False)
PolicyRefs = typer.Argument(
    metavar="POLICY...", help="Names or ids of policies; `-` reads them from stdin.", show_default=False
)
RuleRef = typer.Argument(metavar="RULE", help="Name or id of a rule.", show_default=False)
RuleRefs = typer.Argument(
    metavar="RULE...", help="Names or ids of rules; `-` reads them from stdin.", show_default=False
)
ActionName = typer.Argument(metavar="ACTION", help="Name of an action, as `agent:read`.", show_default=False)
NewName = typer.Argument(metavar="NAME", help="The new name.", show_default=False)
GroupFile = typer.Argument(metavar="GROUP/FILE", help="A group and a file in it.", show_default=False)
PasswordFile = typer.Option(
    "--password-file",
    metavar="PATH",
    help="Read the password from a file of yours with mode 0600.",
    show_default=False,
)
PasswordStdin = typer.Option("--password-stdin", help="Read the password from stdin.", show_default=False)
ContextFile = typer.Option(
    "--context-file",
    metavar="FILE",
    help="The authorization context, a JSON object; `-` is stdin.",
    show_default=False,
)
Wrap = typer.Option(
    "--wrap",
    metavar="NAME",
    help="The file is a raw account document: put it under `auth` of a context of this name.",
    show_default=False,
)
UserOption = typer.Option("-u", "--user", metavar="USER", help="Name of the user.", show_default=False)
