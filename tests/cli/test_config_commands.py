"""`config`: settings of places and forms, with their origin (design: command line, settings)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]


def test_the_list_has_every_setting_and_its_origin_on_request(admin: Cli, service_home: Path) -> None:
    assert admin("config", "list", "-o", "json").json()[0] == {"name": "data_dir", "value": str(service_home)}
    (service_home / "config.toml").write_text('logs.format = "json"\n')
    shown = {entry["name"]: entry for entry in admin("config", "list", "--origin", "-o", "json").json()}
    assert list(shown) == ["data_dir", "shared_dir", "log_dir", "logs.format"]
    assert shown["logs.format"] == {
        "name": "logs.format",
        "value": "json",
        "origin": str(service_home / "config.toml"),
    }


def test_a_default_is_a_default_wherever_the_folders_are(admin: Cli) -> None:
    origins = {row["name"]: row["origin"] for row in admin("config", "list", "--origin", "-o", "json").json()}
    assert (origins["log_dir"], origins["logs.format"]) == ("MGMTCTL_HOME", "default")
    assert admin("config", "list").out.splitlines()[0] == "name\tvalue"
    assert admin("config", "list", "--origin").out.splitlines()[0] == "name\tvalue\torigin"


def test_what_holds_is_shown_before_there_is_a_service(cli: Cli, home: Path) -> None:
    assert cli("config", "get", "shared_dir").out == f"{home}/shared\n"
    assert "data_dir\t" in cli("config", "list").out
    assert cli("config", "set", "shared_dir", "/srv").code == 78


def test_a_setting_can_be_read_set_and_tried(admin: Cli, service_home: Path) -> None:
    assert admin("config", "get", "logs.format").out == "plain\n"
    tried = admin("config", "set", "logs.format", "json", "-n")
    assert tried.err == f"dry run: would make `logs.format` `json` in `{service_home}/config.toml`\n"
    assert not (service_home / "config.toml").exists()
    done = admin("config", "set", "logs.format", "plain,json")
    assert done.err == f"`logs.format` is `plain,json` in `{service_home}/config.toml`\n"
    assert admin("config", "get", "logs.format").out == "plain,json\n"
    assert (service_home / "log" / "requests.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param(("get", "log_dri"), 2, "did you mean `log_dir`?", id="misspelt"),
        pytest.param(("get", "rbac_mode"), 2, "lives in the store", id="a setting of the store"),
        pytest.param(
            ("set", "rbac_mode", "black"), 2, "mgmtctl security set rbac_mode VALUE", id="one of the store"
        ),
        pytest.param(("set", "logs.format", "xml"), 7, "expected `plain`", id="a wrong value"),
        pytest.param(("set", "log_dir", "here"), 7, "expected an absolute path", id="a relative path"),
    ],
)
def test_what_config_refuses(
    admin: Cli, service_home: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    refused = admin("config", *arguments)
    assert (refused.code, refused.out) == (code, "")
    assert says in refused.err
    assert not (service_home / "config.toml").exists()


def test_the_path_needs_no_service_and_no_session(cli: Cli, home: Path) -> None:
    assert cli("config", "path") == Result(0, f"{home}/config.toml\n", "", f"{home}/config.toml\n".encode())


def test_everything_else_needs_a_session_with_the_right(
    admin: Cli, service_home: Path, tmp_path: Path
) -> None:
    admin("users", "create", "eve", "--password-stdin", stdin="Eve-Adam-11")
    admin("logout")
    for arguments in (("list",), ("get", "log_dir"), ("set", "log_dir", "/x")):
        assert admin("config", *arguments).code == 4
    admin("login", "-u", "eve", "--password-stdin", stdin="Eve-Adam-11")
    assert "manager:read_api_config" in admin("config", "list").err
    assert "manager:update_config" in admin("config", "set", "log_dir", "/x").err
    assert not (service_home / "config.toml").exists()


def test_a_wrong_file_is_exit_78_for_every_command(admin: Cli, service_home: Path) -> None:
    (service_home / "config.toml").write_text("rbac_mode = 'black'\n")
    refused = admin("whoami")
    assert refused.code == 78
    assert f"{service_home}/config.toml: `rbac_mode` lives in the store" in refused.err
