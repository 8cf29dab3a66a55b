"""Settings of files and environment: precedence, origins, refusals, and changing one (design: command line)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.domain.errors import InvalidError, UnavailableError
from mgmtctl.settings import SYSTEM_FILE, Settings, write_setting


def user_settings(home: Path, **environ: str) -> Settings:
    """The settings of an ordinary user whose home is `home`, whoever runs the test."""
    settings = Settings({"HOME": str(home), **environ})
    settings._is_root = False
    return settings


def test_one_folder_holds_everything_with_mgmtctl_home(tmp_path: Path) -> None:
    settings = Settings({"MGMTCTL_HOME": str(tmp_path)})
    assert [settings.data, settings.store, settings.key] == [
        tmp_path,
        tmp_path / "store.db",
        tmp_path / "key",
    ]
    assert [settings.shared, settings.agents, settings.logs] == [
        tmp_path / "shared",
        tmp_path / "agents",
        tmp_path / "log",
    ]
    assert settings.revisions == tmp_path / "revisions"
    assert settings.user_file == tmp_path / "config.toml"
    origins = {value.name: value.origin for value in settings.values()}
    assert origins.pop("logs.format") == "default"
    assert set(origins.values()) == {"MGMTCTL_HOME"}


def test_a_relative_home_is_what_the_shell_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings({"MGMTCTL_HOME": "x"}).data == tmp_path / "x"


def test_users_have_xdg_folders(tmp_path: Path) -> None:
    settings = user_settings(tmp_path)
    assert settings.data == tmp_path / ".local/share/mgmtctl"
    assert settings.logs == tmp_path / ".local/state/mgmtctl/log"
    assert settings.user_file == tmp_path / ".config/mgmtctl/config.toml"
    moved = user_settings(tmp_path, XDG_DATA_HOME=str(tmp_path / "d"), XDG_CONFIG_HOME="relative")
    assert moved.data == tmp_path / "d/mgmtctl"
    assert moved.user_file == tmp_path / ".config/mgmtctl/config.toml"


def test_root_has_the_system_folders() -> None:
    settings = Settings({"HOME": "/root"})
    settings._is_root = True
    assert (settings.data, settings.logs) == (Path("/var/lib/mgmtctl"), Path("/var/log/mgmtctl"))
    assert settings.user_file == SYSTEM_FILE


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('shared_dir = "/srv/shared"\nlog_dir = "/srv/log"\n')
    settings = Settings({"MGMTCTL_HOME": str(tmp_path), "MGMTCTL_LOG_DIR": "/tmp/log"})
    assert [value.record() for value in settings.values()] == [
        {"name": "data_dir", "value": str(tmp_path), "origin": "MGMTCTL_HOME"},
        {"name": "shared_dir", "value": "/srv/shared", "origin": str(tmp_path / "config.toml")},
        {"name": "log_dir", "value": "/tmp/log", "origin": "MGMTCTL_LOG_DIR"},
        {"name": "logs.format", "value": "plain", "origin": "default"},
    ]


def test_another_data_folder_takes_its_log_along(tmp_path: Path) -> None:
    settings = user_settings(tmp_path, MGMTCTL_DATA_DIR="/srv/one")
    assert settings.logs == Path("/srv/one/log")


@pytest.mark.parametrize("text", ['logs.format = "json,plain"', '[logs]\nformat = "plain, json"'])
def test_both_ways_of_writing_a_dotted_name_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.toml").write_text(text)
    assert Settings({"MGMTCTL_HOME": str(tmp_path)}).log_forms == ("plain", "json")


def test_nothing_is_read_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text("nonsense = 1\n")
    monkeypatch.chdir(tmp_path)
    assert user_settings(tmp_path / "home").log_forms == ("plain",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param('log_dri = "/x"', "unknown setting `log_dri` | did you mean `log_dir`?", id="misspelt"),
        pytest.param('rbac_mode = "black"', "`rbac_mode` lives in the store", id="a setting of the store"),
        pytest.param(
            "[remote]\nallow_private = true", "`remote.allow_private` lives in the store", id="a dotted one"
        ),
        pytest.param('log_dir = "log"', "expected an absolute path, got `log`", id="a relative path"),
        pytest.param("log_dir = 3", "log_dir: expected text, got `3`", id="a number for a path"),
        pytest.param(
            'logs.format = "xml"', "expected `plain`, `json` or `plain,json`, got `xml`", id="unknown form"
        ),
        pytest.param('logs.format = "json,json"', "got `json,json`", id="a form twice"),
        pytest.param("[log_dir]", "log_dir: expected text", id="a table for a value"),
        pytest.param("a = = 1", "config.toml:1:5: not TOML", id="no TOML, with its place"),
        pytest.param("\xff", "not TOML", id="no UTF-8"),
        pytest.param("x = " + "[" * 5000, "not TOML", id="deep nesting"),
        pytest.param(
            'log_dri = "/x"\nrbac_mode = "black"', "`log_dri` | `rbac_mode` lives in the store", id="both"
        ),
    ],
)
def test_a_wrong_file_is_refused_with_every_fault(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "config.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(UnavailableError) as raised:
        Settings({"MGMTCTL_HOME": str(tmp_path)}).values()
    error = raised.value
    said = f"{error.problem} {error.why} {error.fix}"
    assert error.reason == "configuration"
    assert str(tmp_path / "config.toml") in said
    for part in says.split(" | "):
        assert part in said


def test_a_wrong_variable_is_refused_by_its_name(tmp_path: Path) -> None:
    settings = Settings({"MGMTCTL_HOME": str(tmp_path), "MGMTCTL_LOGS_FORMAT": "xml"})
    with pytest.raises(UnavailableError, match="MGMTCTL_LOGS_FORMAT: expected `plain`"):
        settings.values()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("", 'logs.format = "json"\n', id="no file yet"),
        pytest.param(
            '# mine\nlog_dir = "/x" # keep\n',
            'logs.format = "json"\n# mine\nlog_dir = "/x" # keep\n',
            id="comments stay",
        ),
        pytest.param('logs.format = "plain"\n', 'logs.format = "json"\n', id="replaced"),
        pytest.param(
            '[logs]\n# which\nformat="plain"\n', '[logs]\n# which\nformat = "json"\n', id="inside its table"
        ),
        pytest.param(
            'log_dir = "/x"\n[logs]\n', 'log_dir = "/x"\n[logs]\nformat = "json"\n', id="added to its table"
        ),
    ],
)
def test_setting_one_keeps_every_other_line(tmp_path: Path, before: str, after: str) -> None:
    settings = Settings({"MGMTCTL_HOME": str(tmp_path)})
    if before:
        settings.user_file.write_text(before)
    assert write_setting(settings, "logs.format", "json").value == "json"
    assert settings.user_file.read_text() == after
    assert Settings({"MGMTCTL_HOME": str(tmp_path)}).log_forms == ("json",)
    assert os.listdir(tmp_path) == ["config.toml"]


@pytest.mark.parametrize(
    ("name", "value"),
    [("logs.format", "xml"), ("rbac_mode", "black"), ("nope", "1"), ("log_dir", "relative")],
)
def test_what_cannot_be_set_leaves_the_file_alone(tmp_path: Path, name: str, value: str) -> None:
    settings = Settings({"MGMTCTL_HOME": str(tmp_path)})
    settings.user_file.write_text('log_dir = "/x"\n')
    with pytest.raises(InvalidError):
        write_setting(settings, name, value)
    assert settings.user_file.read_text() == 'log_dir = "/x"\n'


def test_a_file_that_others_may_write_is_not_obeyed(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(f'shared_dir = "{tmp_path}"\n', encoding="utf-8")
    path.chmod(0o666)
    with pytest.raises(UnavailableError) as refused:
        _ = Settings({"MGMTCTL_HOME": str(tmp_path)}).shared
    assert refused.value.fix == f"chmod go-w {path}"


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda path: os.mkfifo(path), id="a fifo, which would block"),
        pytest.param(lambda path: path.symlink_to("/dev/zero"), id="a device, which has no end"),
        pytest.param(lambda path: path.mkdir(), id="a folder"),
    ],
)
def test_what_is_no_regular_file_is_not_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "config.toml")
    with pytest.raises(UnavailableError, match="no regular file"):
        _ = Settings({"MGMTCTL_HOME": str(tmp_path)}).shared
