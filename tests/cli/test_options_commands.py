"""Facts about `options list` and `options show`: the vocabulary of agent.conf without a login and a data folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result, run_here

Cli = Callable[..., Result]


def test_the_vocabulary_is_shown_without_login_and_data_folder(cli: Cli, home: Path) -> None:
    assert cli("options", "list").code == 0
    assert cli("options", "show", "syscheck.frequency").code == 0
    assert not (home / "service").exists()


def test_a_list_is_the_sections_or_what_is_in_one_or_all(cli: Cli) -> None:
    rows = cli("options", "list", "--no-headers").out.splitlines()
    assert len(rows) == 47
    assert rows[0].split("\t") == ["syscheck", "31 options", "", "", "all"]
    assert "global\tmanagers only\t\t\tall" in rows
    inside = cli("options", "list", "sca.policies", "--no-headers").out.splitlines()
    assert [row.split("\t")[0] for row in inside] == [
        "sca.policies",
        "sca.policies.policy",
        "sca.policies.policy@enabled",
    ]
    everything = cli("options", "list", "--all", "-o", "json").json()
    assert len(everything) > 500


def test_a_list_on_a_terminal_cuts_neither_paths_nor_values(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = cli("options", "list", "localfile", terminal=True).out
    assert "\u2026" not in shown
    assert max(map(len, shown.splitlines())) <= 80
    paths = [line.split()[0] for line in shown.splitlines() if not line.startswith(" ")]
    assert paths == [row["path"] for row in cli("options", "list", "localfile", "-o", "json").json()]
    assert "localfile.multiline_regex@timeout      a whole number of seconds from 1 to 120\n" in shown
    assert "localfile.query@type                   activity, log or trace, several with ,\n" in shown
    assert "between (since 4.3.0; macos)\n" in shown


def test_a_list_can_be_searched_and_filtered(cli: Cli) -> None:
    def paths(*arguments: str) -> list[str]:
        return [row["path"] for row in cli("options", "list", *arguments, "-o", "json").json()]

    assert "syscheck.directories@realtime" in paths("--all", "--search", "realtime")
    assert paths("--where", "agent_conf=local_only") == [
        "active-response",
        "agent-upgrade",
        "logging",
        "anti_tampering",
    ]
    assert paths("syscheck", "--where", "since>4.8.0", "--sort", "path") == [
        "syscheck.whodata.provider",
        "syscheck.whodata.queue_size",
    ]


def test_an_option_is_shown_with_every_fact(cli: Cli) -> None:
    found = cli("options", "show", "localfile.only-future-events@max-size", "-o", "json").json()
    assert found["kind"] == "attribute"
    assert found["default"] == "10M"
    assert found["since"] == "4.2.0"
    assert found["systems"][:2] == ["linux", "windows"]
    assert found["facts"]["max"] == "2G"
    assert cli("options", "show", "syscheck.prefilter_cmd", "-o", "json").json()["gate"]["default"] == "no"


def test_a_page_says_in_words_what_a_reader_needs() -> None:
    page = run_here("options", "show", "syscheck.directories", terminal=True).out
    assert "values       paths with , between, at most 64\n" in page
    assert "a later one with the same path replaces" in page
    assert "             an unknown attribute: logged, and without effect\n" in page
    assert "realtime  yes or no  (default no; linux, windows)\n" in page
    assert max(map(len, page.splitlines())) <= 80


def test_a_page_tells_what_goes_together() -> None:
    page = run_here("options", "show", "localfile", terminal=True).out
    assert "together     needs location or command, unless log_format macos or journald\n" in page
    runs = run_here("options", "show", "localfile.command", terminal=True).out
    assert "only with logcollector.remote_commands=1 on the agent" in " ".join(runs.split())


def test_an_unknown_path_is_not_found_and_suggested(cli: Cli) -> None:
    for words in (("show", "syscheck.directorys"), ("list", "syscheck.directorys")):
        result = cli("options", *words)
        assert result.code == 5
        assert "option `syscheck.directorys` does not exist" in result.err
        assert "did you mean `syscheck.directories`?" in result.err
