"""`mgmtctl config`: settings of places and forms (those that decide what is allowed live in the store)."""

from __future__ import annotations

from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import CONFLICT, DENIED, NOT_FOUND, REFUSED, UNAUTHENTICATED, USAGE

noun = Noun("config", "Settings of places and forms.")

UNKNOWN = "usage; unknown setting, or one that lives in the store"
SettingName = typer.Argument(
    metavar="SETTING", help="Name of a setting, as `logs.format`.", show_default=False
)


@noun.list(examples=["mgmtctl config list", "mgmtctl config list --origin"], columns=("name", "value"))
def list_(
    session: CliSession,
    origin: Annotated[
        bool, typer.Option("--origin", help="Say where each value comes from.", show_default=False)
    ] = False,
) -> None:
    """List the settings that hold. Before `init` there is no service whose rights could be asked."""
    from dataclasses import replace

    from mgmtctl.domain.queries import apply_query
    from mgmtctl.operations import settings as operations

    fields = ("name", "value", "origin") if origin else ("name", "value")
    settings = session.settings
    if settings.initialised:
        values = operations.list_settings(session.context, settings)
    else:
        values = operations.values(settings)
    records = [{field: value.record()[field] for field in fields} for value in values]
    found, _ = apply_query(records, session.query, dict.fromkeys(fields, "text"))
    session.output = replace(session.output, columns=fields)
    session.show(found)


@noun.read("get", examples=["mgmtctl config get shared_dir"], exits={USAGE: UNKNOWN, NOT_FOUND: None})
def get(session: CliSession, name: Annotated[str, SettingName]) -> None:
    """Print the value of one setting."""
    from mgmtctl.operations import settings as operations

    settings = session.settings
    if settings.initialised:
        value = operations.show_setting(session.context, settings, name)
    else:
        value = operations.value(settings, name)
    if session.output.asked is None:
        session.print(value.value)
    else:
        session.show(value.record())


@noun.write(
    "set",
    examples=["mgmtctl config set logs.format plain,json"],
    exits={USAGE: UNKNOWN, NOT_FOUND: None, REFUSED: "the value is refused", CONFLICT: None},
)
def set_(
    session: CliSession,
    name: Annotated[str, SettingName],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.", show_default=False)],
) -> None:
    """Set one setting in your config.toml; every other line of it is kept."""
    from mgmtctl.operations import settings as operations

    found = operations.set_setting(session.context, session.settings, name, value)
    is_so = f"`{found.value}` in `{found.origin}`"
    session.done(f"`{name}` is {is_so}", found, would=f"would make `{name}` {is_so}")


@noun.read(
    "path",
    examples=["mgmtctl config path"],
    exits={UNAUTHENTICATED: None, NOT_FOUND: None, DENIED: None},
)
def path(session: CliSession) -> None:
    """Print where your config.toml is, whether it exists or not."""
    session.print(str(session.settings.user_file))
