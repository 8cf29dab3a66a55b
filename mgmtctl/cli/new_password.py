"""How a new password comes: from the terminal twice, from stdin, from a file, or made up and shown once (D 1)."""

from __future__ import annotations

from pathlib import Path

import typer

from mgmtctl.cli.session import CliSession
from mgmtctl.domain.errors import QuestionError

GeneratePassword = typer.Option(
    "--generate-password", help="Make up a password and print it, this once.", show_default=False
)


def new_password(session: CliSession, file: Path | None, stdin: bool, generate: bool) -> str:
    """The password to set. QuestionError for sources that exclude each other, or none without a terminal."""
    if not generate:
        return session.read_password("New password", file, stdin, confirm=True)
    if file is not None or stdin:
        raise QuestionError("`--generate-password` goes with no other source of a password")
    from mgmtctl.passwords import generate as made_up

    return made_up()


def hand_over(session: CliSession, password: str, generated: bool) -> None:
    """Print a made-up password on stdout: nothing else knows it."""
    if generated and not session.dry_run:
        session.print(password)
