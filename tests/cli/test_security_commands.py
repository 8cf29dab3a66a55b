"""`mgmtctl security`: settings of the store, the key and login limits at the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.domain.settings import STORE_SETTINGS
from tests.cli.conftest import ADMIN_PASSWORD, Result

Cli = Callable[..., Result]


def log_in(cli: Cli) -> None:
    assert cli("login", "-u", "admin", "--password-stdin", "-q", stdin=ADMIN_PASSWORD).code == 0


def test_show_has_every_setting_with_value_default_and_meaning(admin: Cli) -> None:
    found = admin("security", "show", "-o", "json").json()
    assert [setting["name"] for setting in found] == list(STORE_SETTINGS)
    assert found[1] == {
        "name": "auth_token_exp_timeout",
        "value": 900,
        "default": 900,
        "meaning": "life of a token in seconds",
        "expected": "a whole number, at least 30 and at most 315360000",
    }
    assert admin("security", "show", "rbac_mode", "-o", "json").json()["value"] == "white"
    assert admin("security", "show", "rbac_mode", "--select", "value", "--no-headers").out == "white\n"


def test_set_says_what_was_and_that_every_session_ended(admin: Cli) -> None:
    done = admin("security", "set", "auth_token_exp_timeout", "1800")
    said = (
        "`auth_token_exp_timeout` is `1800`, was `900`; every session has ended, this one too;"
        " new tokens live 1800 s\n"
    )
    assert (done.code, done.out, done.err) == (0, "", said)
    assert admin("whoami").code == 4
    log_in(admin)
    assert admin("security", "set", "auth_token_exp_timeout", "1800").err.startswith("nothing to change")
    assert admin("whoami").code == 0
    record = admin("security", "set", "agents.folder_roots", "/srv,/mnt", "-o", "json").json()
    assert (record["name"], record["value"]) == ("agents.folder_roots", ["/srv", "/mnt"])


def test_a_dry_run_says_which_sessions_end_and_changes_nothing(admin: Cli) -> None:
    done = admin("security", "set", "auth_token_exp_timeout", "60", "-n")
    assert done.err == (
        "dry run: would make `auth_token_exp_timeout` `60`, is `900`; new tokens live 60 s\n"
        "  nobody gains or loses anything; 1 session ends\n"
    )
    assert (
        admin("security", "show", "auth_token_exp_timeout", "--select", "value", "--no-headers").out
        == "900\n"
    )


def test_a_mode_is_asked_about_after_who_gains_was_shown(admin: Cli) -> None:
    admin("users", "create", "ann", "--password-stdin", "--role", "readonly", stdin=ADMIN_PASSWORD)
    asked = admin("security", "set", "rbac_mode", "black", stdin="n\n", terminal=True)
    assert asked.code == 1
    assert "with rbac_mode `black`:\n  user ann\n    gains  " in asked.err
    assert admin("security", "set", "rbac_mode", "black").code == 2
    assert admin("security", "show", "rbac_mode", "--select", "value", "--no-headers").out == "white\n"
    done = admin("security", "set", "rbac_mode", "black", "--yes")
    assert done.err.endswith("every session has ended, this one too; new tokens have mode black\n")
    log_in(admin)
    assert admin("security", "show", "rbac_mode", "--select", "value", "--no-headers").out == "black\n"


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param(("show", "rbac_mod"), 2, "did you mean `rbac_mode`?", id="misspelt"),
        pytest.param(("set", "log_dir", "/x"), 2, "is no setting of the store", id="a setting of a file"),
        pytest.param(("set", "rbac_mode", "grey", "-y"), 7, "expected white or black", id="a wrong word"),
        pytest.param(("set", "auth_token_exp_timeout", "20"), 7, "at least 30", id="too little"),
        pytest.param(("login-limit", "lift"), 2, "expected whose failed logins", id="an omitted target"),
        pytest.param(("login-limit", "lift", "--all", "-u", "admin"), 2, "expected whose", id="all and one"),
        pytest.param(("login-limit", "lift", "-u", "nobody"), 5, "`nobody` does not exist", id="nobody"),
        pytest.param(("login-limit", "shw"), 2, "did you mean `mgmtctl security login-limit show`?", id="a verb"),
        pytest.param(("rotate-key",), 2, "--yes", id="no terminal to ask at"),
    ],
)  # fmt: skip
def test_what_security_refuses(admin: Cli, arguments: tuple[str, ...], code: int, says: str) -> None:
    refused = admin("security", *arguments)
    assert (refused.code, refused.out) == (code, "")
    assert says in refused.err


def test_a_new_key_needs_no_session_and_ends_all(admin: Cli, service_home: Path) -> None:
    before = (service_home / "key").read_bytes()
    assert (
        admin("security", "rotate-key", "-n").err
        == "dry run: would make a new signing key and end 1 session\n"
    )
    assert (service_home / "key").read_bytes() == before
    assert admin("security", "rotate-key", "-y").err == "tokens are signed with a new key; 1 session ended\n"
    assert (service_home / "key").read_bytes() != before
    assert admin("whoami").code == 4
    assert admin("security", "rotate-key", "-y", "-o", "json").json() == {"sessions_ended": 0}
    log_in(admin)
    assert admin("whoami").code == 0


def test_failed_logins_are_shown_and_lifted(admin: Cli) -> None:
    for name in ("admin", "unheard-of"):
        assert admin("login", "-u", name, "--password-stdin", stdin="Wrong-password-1").code == 4
    rows = [
        line.split("\t") for line in admin("security", "login-limit", "show", "--no-headers").out.splitlines()
    ]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("address", "", "2"),
        ("user", "admin", "1"),
        ("unknown names", "", "1"),
    ]
    found = admin("security", "login-limit", "show", "--where", "user.name=admin", "-o", "json").json()
    assert [(one["user"], one["blocked"]) for one in found] == [({"id": "1", "name": "admin"}, False)]
    address = rows[0][2]
    assert admin("security", "login-limit", "lift", "-u", "admin", "-n").err == (
        f"dry run: would lift login limit `admin at {address}`\n"
    )
    assert (
        admin("security", "login-limit", "lift", "-u", "admin").err
        == f"lifted login limit `admin at {address}`\n"
    )
    assert admin("security", "login-limit", "lift", "-u", "admin").err == "nothing to lift\n"
    lifted = admin("security", "login-limit", "lift", "--all", "-o", "json").json()
    assert [one["who"] for one in lifted] == ["address", "unknown names"]
    assert admin("security", "login-limit", "show", "-o", "json").json() == []


def test_help_knows_the_noun_within_the_noun(cli: Cli) -> None:
    assert "login-limit  " in cli("security", "--help").out
    assert "\n  lift  " in cli("security", "login-limit").out
    assert (
        "Usage: mgmtctl security login-limit lift [OPTIONS]"
        in cli("security", "login-limit", "lift", "-h").out
    )
