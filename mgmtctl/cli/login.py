"""`mgmtctl login`: log in with name and password."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.credentials import PrintToken, credentials, keep, summary
from mgmtctl.cli.exit_codes import CONFIGURATION, DENIED, NOT_FOUND, UNAUTHENTICATED
from mgmtctl.cli.options import PasswordFile, PasswordStdin, UserOption

ROOT = Noun("", "")


@ROOT.read(
    "login",
    examples=["mgmtctl login -u admin", "mgmtctl login -u admin --password-file admin.password"],
    exits={
        UNAUTHENTICATED: "wrong user name or password",
        NOT_FOUND: None,
        DENIED: "too many failed logins, blocked for a while",
        CONFIGURATION: "the password file is refused, or bad configuration",
    },
)
def login(
    session: CliSession,
    user: Annotated[str | None, UserOption] = None,
    password_file: Annotated[Path | None, PasswordFile] = None,
    password_stdin: Annotated[bool, PasswordStdin] = False,
    print_token: Annotated[bool, PrintToken] = False,
) -> None:
    """Log in with a user's own roles; the session is stored for the next commands.

    Without options the user is MGMTCTL_USER and the password comes from MGMTCTL_PASSWORD_FILE, or both are asked for.
    """
    from mgmtctl.operations import login as operations

    ctx = session.open()
    name, password = credentials(session, user, password_file, password_stdin)
    given = operations.log_in(ctx, name, password)
    keep(session, given, print_token)
    session.done(summary(given), None if print_token else given)
