"""`mgmtctl recover`: get back into a service whose administrator cannot log in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import CONFLICT
from mgmtctl.cli.new_password import EXITS, GeneratePassword, hand_over, new_password
from mgmtctl.cli.options import PasswordFile, PasswordStdin

ROOT = Noun("", "")


@ROOT.write(
    "recover",
    examples=["mgmtctl recover", "mgmtctl recover --generate-password --reason 'password lost'"],
    exits={**EXITS, CONFLICT: None},
)
def recover(
    session: CliSession,
    password_file: Annotated[Path | None, PasswordFile] = None,
    password_stdin: Annotated[bool, PasswordStdin] = False,
    generate_password: Annotated[bool, GeneratePassword] = False,
) -> None:
    """Give user 1 a new password and its role back, and end every session.

    Needs no session: only the system user that owns the data folder can do it. It is logged.
    """
    from mgmtctl.operations import setup

    ctx = session.open()
    password = new_password(session, password_file, password_stdin, generate_password)
    shows = generate_password and not session.dry_run
    setup.recover(ctx, password, (lambda: hand_over(session, password)) if shows else None)
    session.done(
        "the administrator has the new password; all sessions have ended",
        would="would give the administrator the new password and end all sessions",
    )
