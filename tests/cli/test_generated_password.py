"""A generated password is shown before what it is for is kept: it is never lost, and never of nothing (D 1)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ADMIN_PASSWORD, Result

Cli = Callable[..., Result]
PASSWORD = "Old-of-ann-77"

# Each way of giving stdout no room, as a shell writes it.
LOST = {"a full disk": "> /dev/full", "a closed stdout": ">&-", "a reader that is gone": "| true"}


def at_a_shell(line: str) -> tuple[int, str]:
    """The exit code of the command and what it said on stderr; a closed pipe is closed before it begins."""
    program = f'{sys.executable} -m mgmtctl "$@"'
    script = f"set -o pipefail; m() {{ sleep 0.1; {program}; }}; m {line}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False, env=os.environ)
    return done.returncode, done.stderr


@pytest.mark.parametrize("lost", LOST)
def test_a_user_whose_password_cannot_be_shown_is_not_made(admin: Cli, lost: str) -> None:
    code, err = at_a_shell(f"users create ann --generate {LOST[lost]}")
    assert code == 74
    assert "cannot write the generated password to stdout" in err
    assert "nothing was changed" in err
    assert admin("users", "show", "ann").code == 5
    assert "ann" not in admin("users", "list").out


@pytest.mark.parametrize("lost", LOST)
def test_a_password_that_cannot_be_shown_is_not_set_and_ends_nothing(admin: Cli, lost: str) -> None:
    admin("users", "create", "ann", "--password-stdin", stdin=PASSWORD)
    token = admin("login", "-u", "ann", "--password-stdin", "--print-token", stdin=PASSWORD).out.strip()
    code, err = at_a_shell(f"users set-password ann --generate -o json {LOST[lost]}")
    assert (code, "cannot write the generated password" in err) == (74, True)
    assert admin("login", "-u", "ann", "--password-stdin", "--print-token", stdin=PASSWORD).code == 0
    os.environ["MGMTCTL_TOKEN"] = token
    assert admin("whoami").code == 0
    del os.environ["MGMTCTL_TOKEN"]


def test_an_init_whose_password_cannot_be_shown_leaves_no_service(home: Path, cli: Cli) -> None:
    code, err = at_a_shell("init --generate-password > /dev/full")
    assert (code, "cannot write the generated password" in err) == (74, True)
    assert not (home / "store.db").exists()
    assert cli("init", "--generate-password").code == 0


def test_a_recovery_whose_password_cannot_be_shown_changes_nothing(admin: Cli) -> None:
    code, err = at_a_shell("recover --generate-password > /dev/full")
    assert (code, "cannot write the generated password" in err) == (74, True)
    assert admin("whoami").code == 0
    assert admin("login", "-u", "admin", "--password-stdin", stdin=ADMIN_PASSWORD).code == 0


def test_a_password_is_generated_shown_once_and_works(admin: Cli) -> None:
    admin("users", "create", "ann", "--password-stdin", stdin=PASSWORD)
    for _ in range(2):
        admin("login", "-u", "ann", "--password-stdin", "--print-token", stdin=PASSWORD)
    made = admin("users", "set-password", "ann", "--generate")
    assert made.err == "changed the password of user `ann`; ended 2 sessions\n"
    password = made.out.removesuffix("\n")
    assert admin("login", "-u", "ann", "--password-stdin", "--print-token", stdin=PASSWORD).code == 4
    assert admin("login", "-u", "ann", "--password-stdin", "--print-token", stdin=password).code == 0


def test_a_generated_password_is_part_of_the_record_and_of_nothing_else(
    admin: Cli, service_home: Path
) -> None:
    admin("users", "create", "ann", "--password-stdin", stdin=PASSWORD)
    made = admin("users", "set-password", "ann", "--generate", "-o", "json")
    password = made.json()["password"]
    assert made.json() == {
        "id": "100",
        "username": "ann",
        "allow_run_as": False,
        "roles": [],
        "password": password,
    }
    kept = b"".join(path.read_bytes() for path in service_home.rglob("*") if path.is_file())
    assert password.encode() not in kept
    assert json.dumps(password) not in made.err


def test_a_dry_run_shows_no_password(admin: Cli) -> None:
    admin("users", "create", "ann", "--password-stdin", stdin=PASSWORD)
    tried = admin("users", "set-password", "ann", "--generate", "-n")
    assert tried.out == ""
    assert tried.err.startswith("dry run: would change the password of user `ann`\n")
    assert admin("login", "-u", "ann", "--password-stdin", "--print-token", stdin=PASSWORD).code == 0
