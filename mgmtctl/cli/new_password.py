"""How a new password comes: from the terminal twice, from stdin, from a file, or made up and shown once (D 1)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from mgmtctl.cli.exit_codes import CONFIGURATION, DENIED, NOT_FOUND, REFUSED, UNAUTHENTICATED
from mgmtctl.cli.session import CliSession
from mgmtctl.domain.errors import QuestionError, UnavailableError
from mgmtctl.domain.users import PASSWORD_RULE

# The exit codes of a command that needs no session and sets a password (see `commands.Command.exits`).
EXITS: dict[int, str | None] = {
    UNAUTHENTICATED: None,
    NOT_FOUND: None,
    DENIED: None,
    REFUSED: "the password breaks a rule",
    CONFIGURATION: "the password file is refused, or bad configuration",
}
GeneratePassword = typer.Option(
    "--generate-password", help="Make up a password and print it, this once.", show_default=False
)


def new_password(session: CliSession, file: Path | None, stdin: bool, generate: bool) -> str:
    """The password to set. QuestionError for sources that exclude each other, or none without a terminal."""
    if not generate:
        if file is None and not stdin and sys.stdin.isatty():
            session.say(f"a password has {PASSWORD_RULE}")
        return session.read_password("New password", file, stdin, confirm=True)
    if file is not None or stdin:
        raise QuestionError("`--generate-password` goes with no other source of a password")
    from mgmtctl.passwords import generate as made_up

    return made_up()


def hand_over(session: CliSession, password: str, record: dict[str, Any] | None = None) -> None:
    """Show a made-up password on stdout, by itself or in the record that was asked for, and see that it has left.

    Nothing else knows it: this is called while what it is for can still be undone. UnavailableError (io).
    """
    try:
        if record is not None and session.output.asked is not None:
            session.show({**record, "password": password})
        else:
            session.print(password)
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        raise UnavailableError(
            "cannot write the generated password to stdout",
            "io",
            why=getattr(error, "strerror", None),
            fix="nothing was changed; try again",
        ) from None
