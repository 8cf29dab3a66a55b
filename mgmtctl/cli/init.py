"""`mgmtctl init`: make a data folder with one administrator, and nobody logged in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import CONFLICT
from mgmtctl.cli.new_password import EXITS, GeneratePassword, hand_over, new_password
from mgmtctl.cli.options import PasswordFile, PasswordStdin

ROOT = Noun("", "")


@ROOT.write(
    "init",
    examples=[
        "mgmtctl init",
        "mgmtctl init --generate-password",
        "mgmtctl init --password-file admin.password",
    ],
    exits={**EXITS, CONFLICT: "there is a service already"},
)
def init(
    session: CliSession,
    password_file: Annotated[Path | None, PasswordFile] = None,
    password_stdin: Annotated[bool, PasswordStdin] = False,
    generate_password: Annotated[bool, GeneratePassword] = False,
) -> None:
    """Make a data folder: store, key, default policies, roles and rules, the group `default`, the user `admin`.

    MGMTCTL_HOME says where; otherwise it is your XDG data folder, or /var/lib/mgmtctl for root. A second init changes
    nothing. The web interface's user `wui` has no password until one is set.
    """
    from mgmtctl import bootstrap
    from mgmtctl.domain.users import require_password
    from mgmtctl.operations import setup

    bootstrap.require_new(session.settings)
    password = require_password(new_password(session, password_file, password_stdin, generate_password))
    where = session.settings.data
    if not session.dry_run:
        with bootstrap.create_service(session.settings, reason=session.reason) as ctx:
            setup.initialise(ctx, password)
            if generate_password:
                hand_over(session, password)
    service = f"a service in `{where}` with the administrator `admin`"
    session.done(f"made {service}; next: mgmtctl login -u admin", would=f"would make {service}")
