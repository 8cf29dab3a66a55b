"""Sessions for one command end with it, an explanation makes none, and an empty token stands for nobody."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.operations import agents, resuming
from mgmtctl.operations.context import Context
from tests.cli.conftest import ADMIN_PASSWORD, Result

Cli = Callable[..., Result]
PASSWORD = "Ann-Horse-77"


@pytest.fixture
def by_context(admin: Cli, tmp_path: Path) -> tuple[str, ...]:
    """The words of a context login that gives the role of an administrator."""
    assert admin("users", "set-password", "wui", "--password-stdin", stdin=PASSWORD).code == 0
    path, password = tmp_path / "context.json", tmp_path / "password"
    path.write_text('{"name": "x", "auth": {"username": "elastic"}}', "utf-8")
    password.write_text(PASSWORD, "utf-8")
    password.chmod(0o600)
    return "run-as", "-u", "wui", "--password-file", str(password), "--context-file", str(path)


def living(admin: Cli) -> list[str]:
    """The users of the sessions that live, the administrator's stored one apart."""
    found = admin("sessions", "list", "-o", "json").json()
    return [one["user"] for one in found if not one["current"]]


@pytest.mark.parametrize(
    ("command", "code"),
    [
        pytest.param("whoami", 0, id="it succeeded"),
        pytest.param("whoami -o json", 0, id="it succeeded with a document"),
        pytest.param("agents show 042", 5, id="it failed"),
        pytest.param("agents lst", 2, id="there is no such command"),
        pytest.param("groups create web -n", 0, id="it was a dry run"),
        pytest.param("logout", 0, id="it logged out itself"),
        pytest.param("logout -n", 0, id="it would have logged out"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--explain",)])
def test_the_session_of_a_command_ends_with_it(
    admin: Cli, by_context: tuple[str, ...], command: str, code: int, more: tuple[str, ...]
) -> None:
    assert admin(*by_context, *more, "--", *command.split()).code == code
    assert living(admin) == []
    assert admin("whoami", "-o", "json").json()["user"] == "admin"


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        pytest.param(KeyboardInterrupt(), 130, id="by ctrl-c"),
        pytest.param(SystemExit(143), 143, id="by SIGTERM"),
    ],
)
@pytest.mark.parametrize("cron", [True, False])
def test_the_session_of_an_interrupted_command_ends(
    admin: Cli, by_context: tuple[str, ...], monkeypatch: pytest.MonkeyPatch,
    raised: BaseException, code: int, cron: bool,
) -> None:  # fmt: skip
    def interrupted(*_: object, **__: object) -> None:
        raise raised

    with monkeypatch.context() as patched:
        patched.setattr(agents, "list_agents", interrupted)
        if cron:
            as_wui(patched, by_context)
        assert admin(*(() if cron else (*by_context, "--")), "agents", "list").code == code
    assert living(admin) == []


def as_wui(patched: pytest.MonkeyPatch, by_context: tuple[str, ...]) -> None:
    patched.setenv("MGMTCTL_USER", "wui")
    patched.setenv("MGMTCTL_PASSWORD_FILE", by_context[4])


@pytest.mark.parametrize(
    ("command", "code"), [("whoami", 0), ("agents list", 0), ("agents show 042", 5), ("logout", 0)]
)
def test_the_session_of_a_cron_command_ends_with_it(
    admin: Cli, by_context: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, command: str, code: int
) -> None:
    with monkeypatch.context() as patched:
        as_wui(patched, by_context)
        assert admin(*command.split()).code == code
    assert living(admin) == []


def test_a_session_that_cannot_be_ended_fails_no_command(
    admin: Cli, by_context: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(_: Context) -> None:
        raise UnavailableError("the store is locked", "locked")

    monkeypatch.setattr(resuming, "end", locked)
    done = admin(*by_context, "--", "whoami", "-o", "json")
    assert (done.code, json.loads(done.out)["user"], done.err) == (0, "wui", "")


@pytest.mark.parametrize("more", [(), ("-o", "json"), ("--print-token",)])
def test_an_explanation_makes_no_session(
    admin: Cli, by_context: tuple[str, ...], more: tuple[str, ...]
) -> None:
    assert admin(*by_context, "--explain", *more).code == 0
    assert living(admin) == []
    context = admin(*by_context, "--explain", "-o", "json").json()
    assert (context["roles"], context["expires"]) == ([{"id": "1", "name": "administrator"}], None)


def test_an_explanation_without_a_login_is_read_by_the_roles_of_the_context(
    admin: Cli, by_context: tuple[str, ...]
) -> None:
    assert admin("logout").code == 0
    shown = admin(*by_context, "--explain")
    assert (shown.code, "rule 1 wui_stacka_admin  true -> administrator" in shown.out) == (0, True)


def test_an_explanation_proves_the_password_and_counts_failures(
    admin: Cli, by_context: tuple[str, ...]
) -> None:
    wrong = (*by_context[:3], "--password-stdin", *by_context[5:], "--explain")
    admin("security", "set", "max_login_attempts", "3")
    for _ in range(3):
        refused = admin(*wrong, stdin="Wrong-Horse-77")
        assert (refused.code, refused.out) == (4, "")
    blocked = admin(*wrong, stdin=PASSWORD)
    assert (blocked.code, blocked.out) == (6, "")
    assert "too many failed logins" in blocked.err
    assert "fix: ask an administrator: mgmtctl security login-limit lift --user wui\n" in blocked.err


def test_plain_context_logins_keep_their_sessions(admin: Cli, by_context: tuple[str, ...]) -> None:
    token = admin(*by_context, "--print-token").out.strip()
    assert living(admin) == ["wui"]
    os.environ["MGMTCTL_TOKEN"] = token
    try:
        assert admin("whoami").code == 0
    finally:
        del os.environ["MGMTCTL_TOKEN"]


@pytest.mark.parametrize("token", ["", " ", "\n"])
def test_an_empty_token_stands_for_nobody(admin: Cli, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("MGMTCTL_TOKEN", token)
    for command in ("whoami", "agents list", "logout", "can-i agent:read agent:id:*"):
        refused = admin(*command.split())
        assert (refused.code, refused.out) == (4, "")
        assert refused.err.startswith("error: MGMTCTL_TOKEN is set and empty")
    given = admin("login", "-u", "admin", "--password-stdin", "--print-token", stdin=ADMIN_PASSWORD)
    assert (given.code, given.out.count(".")) == (0, 2)
    monkeypatch.delenv("MGMTCTL_TOKEN")
    assert admin("whoami").code == 0


def test_an_empty_token_completes_nothing(admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from mgmtctl.cli import complete

    data, state = complete.places()
    assert complete._reader(data, state) is not None
    monkeypatch.setenv("MGMTCTL_TOKEN", "")
    assert complete._reader(data, state) is None
