"""`mgmtctl security`: settings that decide what is allowed, the signing key, and the login limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli import single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import CONFLICT, NOT_FOUND, REFUSED, UNAUTHENTICATED
from mgmtctl.cli.options import UserOption
from mgmtctl.cli.risks import AcceptRisk, accepted
from mgmtctl.domain.errors import QuestionError

if TYPE_CHECKING:
    from mgmtctl.operations.context import Context
    from mgmtctl.operations.security import SettingsChange

noun = Noun("security", "Settings that decide what is allowed, the key, and login limits.")
limits = noun.part("login-limit", "Failed logins that count, and who is blocked by them.")

ASKS = "rbac_mode"
# What a token that is issued after a change has of it.
_TOKENS = {"rbac_mode": "new tokens have mode {}", "auth_token_exp_timeout": "new tokens live {} s"}
SettingName = typer.Argument(
    metavar="STORE_SETTING", help="Name of a setting, as `rbac_mode`.", show_default=False
)


@noun.read(
    "show",
    examples=["mgmtctl security show", "mgmtctl security show rbac_mode -o value --select value"],
    columns=("name", "value", "default", "meaning"),
    exits={NOT_FOUND: None},
)
def show(
    session: CliSession,
    setting: Annotated[
        list[str] | None,
        typer.Argument(metavar="STORE_SETTING...", help="Names of settings; none: all.", show_default=False),
    ] = None,
) -> None:
    """Show the settings that live in the store: value, default and meaning.

    They decide what is allowed, so no file, no variable and no option sets them: `security set` does.
    """
    from mgmtctl.operations import security as operations

    for name in setting or ():
        _require_known(name)
    wanted = [
        found for found in operations.show_config(session.context) if not setting or found.name in setting
    ]
    records = [found.record() for found in wanted]
    if setting and len(setting) == 1 and not single.in_rows(session):
        return session.show(records[0])
    return session.show([_row(session, record) for record in records])


@noun.write(
    "set",
    asks=True,
    examples=[
        "mgmtctl security set auth_token_exp_timeout 1800",
        "mgmtctl security set rbac_mode black --dry-run",
    ],
    exits={NOT_FOUND: None, REFUSED: "the value is refused", CONFLICT: "nobody could administer any more"},
)
def set_(
    session: CliSession,
    setting: Annotated[str, SettingName],
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The new value.", show_default=False)],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Change one setting of the store. Only a new `rbac_mode` asks, after it has said who gains and loses what.

    A new mode or token life ends every session, this one too; tokens that are issued then have it. A list is written
    as its items separated by commas, or as JSON.
    """
    from mgmtctl.domain.settings import read_store_setting
    from mgmtctl.operations import security as operations

    _require_known(setting)
    values, risks = {setting: read_store_setting(setting, value)}, accepted(accept_risk)
    context = session.context
    if setting == ASKS and not (session.dry_run or session.yes):
        _ask(session, context, values, risks)
    changed = operations.update_config(context, values, risks)
    _tell(session, setting, changed)


@noun.write(
    "rotate-key",
    asks=True,
    examples=["mgmtctl security rotate-key --yes"],
    exits={UNAUTHENTICATED: None, NOT_FOUND: None, REFUSED: None, CONFLICT: None},
)
def rotate_key(session: CliSession) -> None:
    """Make a new key to sign tokens with; every session ends.

    Needs no session: only the system user that owns the data folder can do it. It is logged.
    """
    from mgmtctl.operations import security as operations

    session.confirm("make a new signing key and end every session")
    ended = operations.rotate_key(session.open())
    count = f"{ended} session{'' if ended == 1 else 's'}"
    session.done(
        f"tokens are signed with a new key; {count} ended",
        {"sessions_ended": ended},
        would=f"would make a new signing key and end {count}",
    )


@limits.list(
    "show",
    examples=["mgmtctl security login-limit show"],
    columns=("who", "user", "address", "failures", "limit", "blocked", "until"),
)
def show_limits(session: CliSession) -> None:
    """List failed logins that count now, and who is blocked by them until when.

    They count for a user at an address, for all names together that nobody has, and for the address alone. The last
    two add up everybody's: they are shown to those who may read every user.
    """
    from mgmtctl.domain.queries import apply_query
    from mgmtctl.operations import security as operations

    records = [found.record() for found in operations.list_login_limits(session.context)]
    if single.in_rows(session):
        records = [{**record, "user": (record["user"] or {}).get("name")} for record in records]
    kinds = dict.fromkeys(("who", "user", "user.name", "user.id", "address", "blocked", "until"), "text")
    found, _ = apply_query(records, session.query, {**kinds, "failures": "number", "limit": "number"})
    session.show(found)


@limits.write(
    "lift",
    examples=["mgmtctl security login-limit lift --user ann", "mgmtctl security login-limit lift --all"],
    exits={REFUSED: None, CONFLICT: None},
)
def lift(
    session: CliSession,
    user: Annotated[str | None, UserOption] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address", metavar="ADDRESS", help="An address, as `show` names it.", show_default=False
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Those of everybody.", show_default=False)] = False,
) -> None:
    """Forget failed logins, so that whoever is blocked can log in again.

    With --user and --address together those of that user at that address.
    """
    from mgmtctl.operations import security as operations

    if every == (user is not None or address is not None):
        raise QuestionError(
            "expected whose failed logins to forget", fix="`--user USER`, `--address ADDRESS`, or `--all`"
        )
    lifted = operations.lift_login_limits(session.context, user, address)
    who = single.several("login limit", "login limits", [_whose(found.record()) for found in lifted])
    session.done(
        f"lifted {who}" if lifted else "nothing to lift",
        lifted,
        would=f"would lift {who}" if lifted else None,
    )


def _require_known(name: str) -> None:
    from mgmtctl.domain.settings import STORE_SETTINGS

    if name in STORE_SETTINGS:
        return
    from mgmtctl.domain.resources import closest

    near = closest(name, STORE_SETTINGS)
    hint = f"did you mean `{near}`?" if near else f"one of {', '.join(STORE_SETTINGS)}"
    raise QuestionError(f"`{name}` is no setting of the store", fix=hint)


def _row(session: CliSession, record: dict[str, Any]) -> dict[str, Any]:
    """The record as it is shown: on a terminal the default only where the value is another one."""
    same = record["value"] == record["default"] and session.output.format == "table"
    return {**record, "default": None} if same and not session.output.select else record


def _ask(session: CliSession, context: Context, values: dict[str, Any], risks: tuple[str, ...]) -> None:
    from mgmtctl.operations import security as operations

    session.say(f"with {ASKS} `{values[ASKS]}`:")
    session.say_impact(operations.preview_config(context, values, risks))
    session.confirm(f"set {ASKS} to `{values[ASKS]}`")


def _tell(session: CliSession, name: str, change: SettingsChange) -> None:
    if name not in change.changed:
        now = change.settings[0].value
        session.done(f"nothing to change: `{name}` is `{_text(now)}`", change)
        return
    old, new = map(_text, change.changed[name])
    tokens = _TOKENS.get(name, "").format(new)
    ends = f"; every session has ended, this one too; {tokens}" if change.sessions_ended else ""
    would = f"would make `{name}` `{new}`, is `{old}`" + (f"; {tokens}" if tokens else "")
    session.done(f"`{name}` is `{new}`, was `{old}`{ends}", change, would=would)


def _text(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _whose(record: dict[str, Any]) -> str:
    name = record["user"]["name"] if record["user"] else record["who"]
    return f"{name} at {record['address']}" if record["who"] != "address" else str(record["address"])
