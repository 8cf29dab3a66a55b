"""Who logs in and with which password, for `login` and `run-as` (D 1)."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mgmtctl.cli.session import CliSession
from mgmtctl.domain.errors import QuestionError

if TYPE_CHECKING:
    from mgmtctl.operations.proof import Login

PrintToken = typer.Option(
    "--print-token", help="Print the token (for MGMTCTL_TOKEN) and store no session.", show_default=False
)


def credentials(session: CliSession, user: str | None, file: Path | None, stdin: bool) -> tuple[str, str]:
    """User name and password, by option, else MGMTCTL_USER and MGMTCTL_PASSWORD_FILE, else asked at the terminal."""
    name = user or os.environ.get("MGMTCTL_USER") or _asked_name()
    if file is None and not stdin and os.environ.get("MGMTCTL_PASSWORD_FILE"):
        return name, session.password_of_environment()
    return name, session.read_password(f"Password of {name}", file, stdin)


def keep(session: CliSession, given: Login, print_token: bool) -> None:
    """Print the token when that was asked for, else make the session the stored one."""
    if print_token:
        session.print(given.token)
    else:
        session.store_token(given.token)


def summary(given: Login) -> str:
    """What a login gave, in one line."""
    roles = ", ".join(name for _, name in given.roles) or "no role"
    context = f", context {given.context_id}" if given.context_id else ""
    return f"logged in as `{given.user}`{context}; roles: {roles}; until {given.record()['expires']}"


def _asked_name() -> str:
    if not sys.stdin.isatty():
        raise QuestionError("who logs in? there is no terminal to ask at", fix="-u USER")
    sys.stderr.write("User: ")
    sys.stderr.flush()
    name = sys.stdin.readline().strip()
    if not name:
        raise QuestionError("a login needs a user name", fix="-u USER")
    return name
