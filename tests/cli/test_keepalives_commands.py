"""`agents keepalive` and `agents restart`: targets, exit codes, what is said; and the page of `sync explain`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.settings import Settings
from tests.cli.conftest import Result

Cli = Callable[..., Result]


@pytest.fixture
def fleet(admin: Cli) -> Path:
    """Agents 001 web-1 and 002 web-2 of web, synced; their folders."""
    for words in ("groups create web", "agents create web-1 --group web", "agents create web-2 --group web"):
        assert admin(*words.split()).code == 0
    assert admin("sync", "run", "--all").code == 0
    home = Settings().home
    assert home is not None
    return home / "agents"


@pytest.fixture
def report(admin: Cli, fleet: Path) -> Callable[..., Result]:
    """Give one agent's report on stdin."""

    def give(agent: str, *words: str, **said: Any) -> Result:
        return admin("agents", "keepalive", agent, *words, stdin=json.dumps(said))

    return give


def test_a_report_on_stdin_is_recorded(admin: Cli, report: Callable[..., Result]) -> None:
    result = report("web-1", version="Product v4.9.2")
    assert (result.code, result.out, result.err) == (0, "", "001 web-1 is active\n")
    assert admin("agents", "show", "web-1", "-o", "json").json()["version"] == "Product v4.9.2"


def test_a_report_says_which_revision_it_stands_for(admin: Cli, report: Callable[..., Result]) -> None:
    digest = admin("sync", "explain", "web-1", "-o", "json").json()["digest"]
    assert report("web-1", mergedSum=digest).err.endswith("which its groups give\n")
    assert "r1 " in admin("sync", "explain", "web-1").out
    other = report("web-1", "--push", mergedSum="9c" * 16)
    assert "its groups give something else: not synced; 0 written to, 1 up to date" in other.err


def test_a_bad_report_is_refused_with_every_fault(admin: Cli, report: Callable[..., Result]) -> None:
    result = report("web-1", event="reboot", version=3, id="002")
    assert result.code == 7
    assert "report: event: error: expected startup, keepalive, shutdown, got `reboot`" in result.err
    assert "report: version: error: expected text" in result.err
    assert admin("agents", "show", "web-1", "-o", "json").json()["status"] == "never_connected"


def test_an_answer_around_a_record_is_no_report(admin: Cli, report: Callable[..., Result]) -> None:
    result = report("web-1", data={"affected_items": []}, message="all", error=0)
    assert result.code == 7
    assert "none of its keys is one of a report: `data`, `message`, `error`" in result.err
    assert admin("agents", "show", "web-1", "-o", "json").json()["status"] == "never_connected"
    assert report("web-1").code == 0


def test_explain_says_what_recording_a_report_would(admin: Cli, fleet: Path) -> None:
    (fleet / "002" / "keepalive.json").write_text('{"id": "001"}')
    text = admin("sync", "explain", "web-2").out
    assert (
        "\nwaiting keepalive.json of agent 002 is of another agent than 002 web-2; id: expected `002`" in text
    )
    assert "--collect" not in text
    refused = admin("agents", "keepalive", "--collect", "web-2")
    assert (refused.code, "`id` and `name` must be left out or be this agent's" in refused.err) == (7, True)


def test_explain_says_what_of_the_local_files_it_does_not_believe(admin: Cli, fleet: Path) -> None:
    (fleet / "002" / "local.conf").write_text("<ossec_config>\n<client>\n")
    (fleet / "002" / "local_internal_options.conf").write_text("agent.remote_conf=maybe\n")
    text = admin("sync", "explain", "web-2").out
    assert "\nlocal   local.conf:" in text
    assert "\nlocal   local_internal_options.conf:1 agent.remote_conf is `maybe`" in text
    record = admin("sync", "explain", "web-2", "-o", "json").json()
    assert [entry["file"] for entry in record["local_problems"]] == [
        "local.conf",
        "local_internal_options.conf",
    ]


def test_a_run_names_the_agents_that_no_run_helps(
    admin: Cli, fleet: Path, report: Callable[..., Result]
) -> None:
    report("web-2", mergedSum="9c" * 16)
    line = "1 agent has its files and reports others, which no run changes: mgmtctl agents restart 002"
    assert line in admin("sync", "plan", "--all").err
    assert line in admin("sync", "run", "--all").err
    admin("agents", "restart", "002")
    assert "reports others" not in admin("sync", "run", "--all").err


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("web-1", "web-2"),
        ("--all",),
        ("--group", "web"),
        ("-",),
        ("--collect",),
        ("--collect", "--all", "web-1"),
        ("--collect", "--all", "--group", "web"),
    ],
)
def test_a_keepalive_without_a_clear_target_records_nothing(
    admin: Cli, fleet: Path, words: tuple[str, ...]
) -> None:
    assert admin("agents", "keepalive", *words).code == 2


def test_reports_in_folders_are_collected(admin: Cli, fleet: Path) -> None:
    (fleet / "001" / "keepalive.json").write_text('{"version": "Product v4.9.2"}')
    found = admin("agents", "keepalive", "--collect", "--all", "-o", "json")
    assert [entry["id"] for entry in found.json()] == ["001"]
    (fleet / "002" / "keepalive.json").write_text("{")
    partly = admin("agents", "keepalive", "--collect", "--all")
    assert partly.code == 3
    assert partly.err.startswith("0 recorded, 1 without a new report, 1 failed\n")
    assert admin("agents", "keepalive", "--collect", "web-2").code == 7


def test_a_dry_run_collects_nothing(admin: Cli, fleet: Path) -> None:
    (fleet / "001" / "keepalive.json").write_text("{}")
    for _ in range(2):
        said = admin("agents", "keepalive", "--collect", "--group", "web", "-n").err
        assert said == "dry run: 1 would be recorded, 1 without a new report\n"


@pytest.mark.parametrize("words", [(), ("--all", "web-1"), ("--all", "--group", "web")])
def test_no_target_never_means_all(admin: Cli, fleet: Path, words: tuple[str, ...]) -> None:
    assert admin("agents", "restart", *words).code == 2


@pytest.fixture
def pending(admin: Cli, fleet: Path, tmp_path: Path) -> Path:
    """The same after a change, which web-2 uses only after a restart."""
    (fleet / "002" / "local.conf").write_text("<c><client><auto_restart>no</auto_restart></client></c>")
    conf = tmp_path / "new.conf"
    conf.write_text(
        "<agent_config>\n<client_buffer><disabled>no</disabled></client_buffer>\n</agent_config>\n"
    )
    assert admin("files", "put", "web/agent.conf", str(conf)).code == 0
    assert admin("sync", "run", "--all").code == 0
    return fleet


def test_a_restart_applies_what_is_pending(admin: Cli, pending: Path) -> None:
    assert "stage   pending-restart\n" in admin("sync", "explain", "web-2").out
    dry = admin("agents", "restart", "--group", "web", "-n")
    assert dry.err == "dry run: 1 agent would be restarted: 002 web-2; 1 have nothing pending\n"
    assert "stage   pending-restart\n" in admin("sync", "explain", "web-2").out
    assert admin("agents", "restart", "web-2", "-n").err == "dry run: 002 web-2: would use web r2\n"
    done = admin("agents", "restart", "web-2", "-o", "json")
    assert [entry["applied"] for entry in done.json()] == [True]
    assert "uses web r2 now" in done.err
    assert "stage   synced\n" in admin("sync", "explain", "web-2").out
    assert admin("agents", "restart", "--all").err == "0 agents restarted; 2 had nothing pending\n"


def test_explain_tells_the_whole_chain(admin: Cli, pending: Path, report: Callable[..., Result]) -> None:
    report("web-2", mergedSum=admin("sync", "explain", "web-2", "-o", "json").json()["running"])
    (pending / "002" / "keepalive.json").write_text('{"event": "startup"}')
    os.utime(pending / "002" / "keepalive.json")
    lines = dict(line.split(maxsplit=1) for line in admin("sync", "explain", "web-2").out.splitlines())
    assert lines["why"] == "uses web r1; its folder holds web r2; auto_restart is no"
    assert lines["next"] == "mgmtctl agents restart 002"
    assert lines["target"].startswith("web r2 (")
    assert lines["has"].startswith("web r2 (")
    assert lines["uses"].startswith("web r1 (")
    assert " s ago: web r1 (" in lines["report"]
    assert lines["local"] == "auto_restart no, agent.remote_conf 1"
    assert lines["waiting"].endswith("mgmtctl agents keepalive --collect 002")


def test_explain_tells_what_an_edit_on_disk_did(admin: Cli, pending: Path) -> None:
    shared = Settings().shared / "web" / "agent.conf"
    shared.write_text("<agent_config>\n  <no_such_section/>\n</agent_config>\n")
    assert admin("sync", "run", "--all").code == 7
    text = admin("sync", "explain", "web-1").out
    assert (
        "why     group `web` is invalid: web/agent.conf has errors; it keeps the last good files (web r2)"
        in text
    )
    assert "\nnewer   web r3, found on disk, " in text
    assert "\nfinding web/agent.conf:2:3: error: " in text
