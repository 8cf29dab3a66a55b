"""`login`, `run-as`, `whoami`, `logout`: sessions at a shell and in cron (design: command line; D 1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.cli.session_file import session_path
from mgmtctl.settings import Settings
from tests.cli.conftest import ADMIN_PASSWORD, Result

Cli = Callable[..., Result]
WUI_PASSWORD = "Web-Face-99"
ACCOUNT = '{"user_name": "admin", "roles": ["own_index"]}'


@pytest.fixture
def account(tmp_path: Path) -> str:
    path = tmp_path / "account.json"
    path.write_text(ACCOUNT)
    return str(path)


@pytest.fixture
def web(admin: Cli, tmp_path: Path) -> tuple[str, ...]:
    """`run-as` as the web interface's user, with a password file."""
    path = tmp_path / "wui.password"
    path.write_text(WUI_PASSWORD)
    path.chmod(0o600)
    assert admin("users", "set-password", "wui", "--password-file", str(path)).code == 0
    return ("run-as", "-u", "wui", "--password-file", str(path))


def stored() -> Path:
    """Where the session is kept."""
    return Path(session_path(Settings()))


def log_in(cli: Cli, *more: str) -> Result:
    return cli("login", "-u", "admin", "--password-stdin", *more, stdin=ADMIN_PASSWORD)


def test_a_login_stores_a_session_for_the_next_commands(cli: Cli, service_home: Path) -> None:
    given = log_in(cli)
    assert (given.code, given.out) == (0, "")
    assert given.err.startswith("logged in as `admin`; roles: administrator; until 20")
    assert cli("whoami", "-o", "json").json()["user"] == "admin"
    assert stored().stat().st_mode & 0o777 == 0o600


def test_whoami_has_the_fixed_form(admin: Cli) -> None:
    assert list(admin("whoami", "-o", "json").json()) == [
        "user", "id", "run_as", "context_id", "mode", "roles", "expires",
    ]  # fmt: skip


def test_permissions_have_the_shape_of_the_service(admin: Cli) -> None:
    shown = admin("whoami", "--permissions", "-o", "json").json()
    assert shown["rbac_mode"] == "white"
    assert shown["agent:read"] == {"agent:group:*": "allow", "agent:id:*": "allow"}


def test_check_answers_with_its_exit_code_only(admin: Cli, service_home: Path) -> None:
    assert admin("whoami", "--check") == Result(0, "", "")
    admin("logout")
    missing = admin("whoami", "--check")
    assert (missing.code, missing.out, missing.err) == (1, "", "not logged in\n")
    assert admin("whoami", "--check", "-q").err == ""


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "says"),
    [
        pytest.param(
            ("-u", "admin", "--password-stdin"),
            "Wrong-Horse-77",
            4,
            "wrong user name or password",
            id="wrong",
        ),
        pytest.param(
            ("-u", "x", "--password-stdin"), "Wrong-Horse-77", 4, "wrong user name or password", id="unknown"
        ),
        pytest.param(("-u", "admin", "--password-stdin"), "", 4, "wrong user name or password", id="empty"),
        pytest.param(("-u", "admin"), "", 2, "--password-stdin or --password-file", id="no terminal"),
        pytest.param(("--password-stdin",), ADMIN_PASSWORD, 2, "-u USER", id="no user"),
    ],
)
def test_what_login_refuses(
    cli: Cli, service_home: Path, arguments: tuple[str, ...], stdin: str, code: int, says: str
) -> None:
    refused = cli("login", *arguments, stdin=stdin)
    assert (refused.code, refused.out) == (code, "")
    assert says in refused.err
    assert not stored().exists()


def test_a_failed_login_leaves_the_stored_session(admin: Cli) -> None:
    assert admin("login", "-u", "admin", "--password-stdin", stdin="Wrong-Horse-77").code == 4
    assert admin("whoami").code == 0


def test_too_many_failures_are_exit_6(cli: Cli, service_home: Path) -> None:
    from mgmtctl.bootstrap import open_context

    ctx = open_context(Settings())
    ctx.store.settings.set("max_login_attempts", 1)
    ctx.store.close()
    assert cli("login", "-u", "admin", "--password-stdin", stdin="Wrong-Horse-77").code == 4
    refused = log_in(cli)
    assert (refused.code, "too many failed logins, try again in" in refused.err) == (6, True)


def test_a_token_is_printed_only_on_request_and_then_not_stored(
    cli: Cli, service_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = log_in(cli, "-o", "json")
    assert shown.json()["user"] == "admin"
    assert "token" not in shown.out
    cli("logout")
    token = log_in(cli, "--print-token").out.strip()
    assert cli("whoami").code == 4
    monkeypatch.setenv("MGMTCTL_TOKEN", token)
    assert cli("whoami").code == 0
    monkeypatch.setenv("MGMTCTL_TOKEN", token[:-2])
    assert cli("whoami").code == 4


def test_cron_logs_in_for_one_command_by_environment(
    cli: Cli, service_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cron.password"
    path.write_text(ADMIN_PASSWORD + "\n")
    path.chmod(0o600)
    monkeypatch.setenv("MGMTCTL_USER", "admin")
    assert cli("whoami").code == 4
    monkeypatch.setenv("MGMTCTL_PASSWORD_FILE", str(path))
    assert cli("whoami").code == 0
    assert not stored().exists()
    path.chmod(0o604)
    assert cli("whoami").code == 78
    path.chmod(0o600)
    assert cli("login").code == 0
    assert stored().exists()


def test_the_token_of_the_environment_comes_before_the_stored_session(
    admin: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MGMTCTL_TOKEN", "a.b.c")
    assert admin("whoami").code == 4


def test_logging_out_forgets_the_session_and_a_second_time_is_exit_4(admin: Cli) -> None:
    assert admin("logout", "-n").code == 0
    assert admin("whoami").code == 0
    assert admin("logout") == Result(0, "", "logged out\n")
    assert not stored().exists()
    assert admin("logout").code == 4


def test_logging_out_of_a_session_that_has_ended_forgets_it(admin: Cli) -> None:
    admin("recover", "--generate-password")
    assert admin("logout").err == "the session had ended already\n"
    assert not stored().exists()


def test_logging_out_of_all_ends_other_sessions_too(admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    token = log_in(admin, "--print-token").out.strip()
    assert admin("logout", "--all").code == 0
    monkeypatch.setenv("MGMTCTL_TOKEN", token)
    assert admin("whoami").code == 4


def test_a_context_login_becomes_the_stored_session(admin: Cli, web: tuple[str, ...], account: str) -> None:
    given = admin(*web, "--context-file", account, "--wrap", "portal")
    assert (given.code, given.out) == (0, "")
    me = admin("whoami", "-o", "json").json()
    assert (me["user"], me["run_as"], me["roles"]) == ("wui", True, [{"id": "1", "name": "administrator"}])
    assert f"context {me['context_id']}" in given.err


def test_a_raw_account_is_refused_and_the_error_says_how_to_wrap_it(
    admin: Cli, web: tuple[str, ...], account: str
) -> None:
    refused = admin(*web, "--context-file", account)
    assert (refused.code, refused.out) == (7, "")
    assert "--wrap NAME" in refused.err


@pytest.mark.parametrize(
    ("content", "code"),
    [
        pytest.param("", 7, id="nothing"),
        pytest.param("null", 7, id="null"),
        pytest.param("[]", 7, id="a list"),
        pytest.param("{}", 7, id="an empty object"),
        pytest.param('{"name": "x", "name": "y", "auth": {}}', 7, id="a key twice"),
        pytest.param('{"name": "x", "auth": ' + '{"a":' * 100 + "1" + "}" * 101, 7, id="too deep"),
        pytest.param('{"name": "x", "auth": {"a": "' + "b" * 300_000 + '"}}', 7, id="too large"),
        pytest.param('{"name": "x", "auth": {"a": NaN}}', 7, id="no JSON"),
        pytest.param(None, 7, id="no such file"),
    ],
)
def test_contexts_that_are_refused(
    admin: Cli, web: tuple[str, ...], tmp_path: Path, content: str | None, code: int
) -> None:
    path = tmp_path / "context.json"
    if content is not None:
        path.write_text(content)
    refused = admin(*web, "--context-file", str(path))
    assert (refused.code, refused.out) == (code, "")
    assert refused.err.splitlines()[-1].startswith(("error: ", "  "))
    assert refused.err.startswith((str(path), f"error: {path}"))


def test_a_user_without_the_right_is_exit_6(admin: Cli, account: str) -> None:
    refused = admin(
        "run-as",
        "-u",
        "admin",
        "--password-stdin",
        "--context-file",
        account,
        "--wrap",
        "x",
        stdin=ADMIN_PASSWORD,
    )
    assert refused.code == 6
    assert "user `admin` may not use authorization contexts" in refused.err


def test_context_and_password_cannot_both_come_from_stdin(admin: Cli) -> None:
    refused = admin("run-as", "-u", "wui", "--password-stdin", "--context-file", "-", stdin="{}")
    assert refused.code == 2


def test_a_context_may_come_from_stdin(admin: Cli, web: tuple[str, ...]) -> None:
    assert admin(*web, "--context-file", "-", "--wrap", "portal", stdin=ACCOUNT).code == 0


def test_no_true_rule_is_a_session_without_roles_and_says_so(
    admin: Cli, web: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "nobody.json"
    path.write_text('{"name": "x", "auth": {}}')
    given = admin(*web, "--context-file", str(path))
    assert given.code == 0
    assert given.err.startswith("warning: no rule is true for this context: the session has no role")
    assert admin("whoami", "-o", "json").json()["roles"] == []


def test_a_command_runs_under_the_context_and_the_stored_session_stays(
    admin: Cli, web: tuple[str, ...], account: str
) -> None:
    context = (*web, "--context-file", account, "--wrap", "portal")
    inner = admin(*context, "--", "whoami", "-o", "json")
    assert (inner.code, json.loads(inner.out)["user"]) == (0, "wui")
    assert admin("whoami", "-o", "json").json()["user"] == "admin"
    assert admin(*context, "--", "groups", "lst").code == 2
    assert admin(*context, "--", "agents", "show", "042").code == 5
    dry = admin(*context, "--", "groups", "create", "web", "-n")
    assert (dry.code, dry.err.startswith("dry run:")) == (0, True)
    assert admin("groups", "list", "-o", "id").out == "default\n"


def test_logging_out_inside_a_context_leaves_the_stored_session(
    admin: Cli, web: tuple[str, ...], account: str
) -> None:
    assert admin(*web, "--context-file", account, "--wrap", "portal", "--", "logout").code == 0
    assert admin("whoami", "-o", "json").json()["user"] == "admin"


def test_explaining_tells_rule_by_rule_and_stores_nothing(
    admin: Cli, web: tuple[str, ...], account: str
) -> None:
    admin("rules", "create", "lost", "-f", "-", stdin='{"FIND": {"user_name": "admin"}}')
    shown = admin(*web, "--context-file", account, "--wrap", "portal", "--explain")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert "rule 1 wui_stacka_admin  false" in lines
    assert "rule 2 wui_stackb_admin  true -> administrator" in lines
    assert "rule 100 lost  not evaluated: it leads to no role" in lines
    assert any("$.auth.user_name" in line for line in lines)
    assert "roles: administrator" in lines
    assert admin("whoami", "-o", "json").json()["user"] == "admin"
    record = admin(*web, "--context-file", account, "--wrap", "portal", "--explain", "-o", "json").json()
    assert [rule["verdict"] for rule in record["rules"]] == ["false", "true", "not evaluated"]
    assert "token" not in record


def test_a_context_that_is_no_json_is_told_with_its_place(
    admin: Cli, web: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{\n  "name": "x",\n  "auth": {},\n}\n')
    for command in (web, ("can-i", "agent:read", "agent:id:*")):
        refused = admin(*command, "--context-file", str(path))
        assert refused.code == 7
        assert refused.err.startswith(f"{path}:4:1: error: not JSON: ")


def test_whoami_has_names_in_rows_and_a_row_for_each_right(admin: Cli) -> None:
    assert "roles\tadministrator\n" in admin("whoami").out
    shown = admin("whoami", "--permissions")
    rows = shown.out.splitlines()
    assert rows[0] == "action\teffect\tresource"
    assert "agent:read\tallow\tagent:id:*" in rows
    assert (shown.err, "rbac_mode" in shown.out) == ("mode white\n", False)
    one = admin("whoami", "--permissions", "--select", "agent:create")
    assert one.out == 'agent:create\t{"*:*:*":"allow"}\n'


def test_a_dry_logout_tells_what_it_would_do(admin: Cli) -> None:
    assert admin("logout", "-n").err == "dry run: would log out\n"
    assert admin("logout", "--all", "-n").err == "dry run: would end every session of the user\n"


@pytest.mark.parametrize("words", ["login -u admin", "recover", "run-as -u wui", "init"])
def test_what_changes_the_stored_session_does_not_run_under_a_context(
    admin: Callable[..., Result], tmp_path: Path, words: str
) -> None:
    context = tmp_path / "context.json"
    context.write_text('{"name": "ada", "auth": {}}', encoding="utf-8")
    result = admin("run-as", "-u", "wui", "--context-file", str(context), "--", *words.split())
    assert (result.code, "does not run under" in result.err) == (2, True)
    assert admin("whoami", "-o", "json").json()["user"] == "admin"
