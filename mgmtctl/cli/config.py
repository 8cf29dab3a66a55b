"""`mgmtctl config`: settings of places and forms (those that decide what is allowed live in the store)."""

from __future__ import annotations

from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun

noun = Noun("config", "Settings of places and forms.")

SettingName = typer.Argument(metavar="NAME", help="Name of a setting, as `logs.format`.", show_default=False)


@noun.list(
    examples=["mgmtctl config list", "mgmtctl config list --origin"], columns=("name", "value", "origin")
)
def list_(
    session: CliSession,
    origin: Annotated[
        bool, typer.Option("--origin", help="Say where each value comes from.", show_default=False)
    ] = False,
) -> None:
    """List the settings that hold."""
    from mgmtctl.domain.queries import apply_query
    from mgmtctl.operations import settings as operations

    fields = ("name", "value", "origin") if origin else ("name", "value")
    values = operations.list_settings(session.context, session.settings)
    records = [{field: value.record()[field] for field in fields} for value in values]
    found, _ = apply_query(records, session.query, dict.fromkeys(fields, "text"))
    session.show(found)


@noun.read("get", examples=["mgmtctl config get shared_dir"])
def get(session: CliSession, name: Annotated[str, SettingName]) -> None:
    """Print the value of one setting."""
    from mgmtctl.operations import settings as operations

    value = operations.show_setting(session.context, session.settings, name)
    if session.output.asked is None:
        session.print(value.value)
    else:
        session.show(value.record())


@noun.write("set", examples=["mgmtctl config set logs.format plain,json"])
def set_(
    session: CliSession,
    name: Annotated[str, SettingName],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.", show_default=False)],
) -> None:
    """Set one setting in your config.toml; every other line of it is kept."""
    from mgmtctl.operations import settings as operations

    found = operations.set_setting(session.context, session.settings, name, value)
    session.done(f"`{name}` is `{found.value}` in `{found.origin}`", found)


@noun.read("path", examples=["mgmtctl config path"])
def path(session: CliSession) -> None:
    """Print where your config.toml is, whether it exists or not."""
    session.print(str(session.settings.user_file))
