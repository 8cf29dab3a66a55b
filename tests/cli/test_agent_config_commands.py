"""`mgmtctl agents config` and `agents files`: what is printed where, and the exit codes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]

DEFAULT = """<agent_config>
<syscheck><frequency>43200</frequency><directories realtime="yes">/etc,/usr/bin</directories></syscheck>
</agent_config>
<agent_config os="windows"><rootcheck><disabled>yes</disabled></rootcheck></agent_config>
"""
WEB = """<agent_config name="^web">
<syscheck><frequency>3600</frequency></syscheck>
<localfile><log_format>command</log_format><command>df -P</command></localfile>
</agent_config>
"""


@pytest.fixture
def fleet(admin: Cli) -> Cli:
    """web-1 in default and web, db-1 in default."""
    admin("groups", "create", "web")
    admin("agents", "create", "web-1", "--group", "default", "--group", "web")
    admin("agents", "create", "db-1")
    for group, text in (("default", DEFAULT), ("web", WEB)):
        assert admin("files", "put", f"{group}/agent.conf", "-", stdin=text).code == 0
    return admin


def test_without_an_option_the_blocks_are_printed_as_they_stand(fleet: Cli) -> None:
    found = fleet("agents", "config", "web-1")
    assert found.code == 0
    assert found.out == (
        "<!-- default/agent.conf:1 -->\n"
        + DEFAULT.partition("</agent_config>\n")[0]
        + "</agent_config>\n\n<!-- web/agent.conf:1 -->\n"
        + WEB
    )
    assert "001 web-1: 2 of 3 blocks are for it, of 1 that is not known" in found.err
    assert "never-synced: nothing was ever written to its folder (next: mgmtctl sync run 001)" in found.err


def test_in_a_pipe_values_are_rows(fleet: Cli) -> None:
    found = fleet("agents", "config", "web-1", "--origin")
    assert found.out.splitlines()[:3] == [
        "path\tvalue\tattributes\torigin\tover",
        "syscheck.frequency\t3600\t\tweb/agent.conf:2\tdefault/agent.conf:2 (43200)",
        "syscheck.directories\t/etc\trealtime=yes\tdefault/agent.conf:2\t",
    ]
    assert 'default/agent.conf:4  not known: os "windows" cannot be judged' in found.err


def test_on_a_terminal_it_reads_well(fleet: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    found = fleet("agents", "config", "web-1", "--origin", terminal=True)
    lines = found.out.splitlines()
    assert lines[:3] == [
        "syscheck.frequency       3600                     web/agent.conf:2",
        "    over default/agent.conf:2 (43200)",
        'syscheck.directories     /etc realtime="yes"      default/agent.conf:2',
    ]
    assert any(
        line.startswith("    runs only with logcollector.remote_commands=1 on the agent") for line in lines
    )
    assert "blocks:" in lines
    assert max(map(len, lines)) <= 80
    plain = fleet("agents", "config", "web-1", "--effective", terminal=True).out
    assert plain.splitlines()[0] == "syscheck.frequency       3600"


def test_json_has_everything(fleet: Cli) -> None:
    found = fleet("agents", "config", "web-1", "-o", "json").json()
    assert found["groups"] == [{"group": "default", "why": "by hand"}, {"group": "web", "why": "by hand"}]
    assert found["values"][0] == {
        "path": "syscheck.frequency",
        "option": "syscheck.frequency",
        "value": "3600",
        "attributes": {},
        "origin": {"group": "web", "path": "web/agent.conf", "line": 2, "column": 11},
        "over": [
            {
                "value": "43200",
                "attributes": {},
                "origin": {"group": "default", "path": "default/agent.conf", "line": 2, "column": 11},
            }
        ],
        "also": [],
        "note": None,
    }
    assert [block["verdict"] for block in found["blocks"]] == ["yes", "unknown", "yes"]
    assert (found["stage"], found["pending"]) == ("never-synced", None)


def test_rows_can_be_had_as_json_lines(fleet: Cli) -> None:
    import json

    lines = fleet("agents", "config", "web-1", "--effective", "-o", "ndjson").out.splitlines()
    assert json.loads(lines[0])["path"] == "syscheck.frequency"


@pytest.mark.parametrize(
    ("option", "out", "code"),
    [
        pytest.param("syscheck.frequency", "3600\n", 0, id="one value"),
        pytest.param("syscheck.directories", "/etc\n/usr/bin\n", 0, id="a list"),
        pytest.param("rootcheck.frequency", "43200\n", 0, id="a default"),
        pytest.param("syscheck.ignore", "", 1, id="nothing"),
        pytest.param("syscheck.frequencyy", "", 2, id="no such option"),
    ],
)
def test_one_option(fleet: Cli, option: str, out: str, code: int) -> None:
    found = fleet("agents", "config", "web-1", "--get", option)
    assert (found.out, found.code) == (out, code)


def test_an_option_that_nobody_sets_says_so(fleet: Cli) -> None:
    assert (
        "nobody sets `rootcheck.frequency` for 001 web-1; 43200 is the default"
        in fleet("agents", "config", "web-1", "--get", "rootcheck.frequency").err
    )
    assert (
        "has no default that is known" in fleet("agents", "config", "web-1", "--get", "syscheck.ignore").err
    )


def test_a_slip_is_answered_with_the_nearest_option(fleet: Cli) -> None:
    found = fleet("agents", "config", "web-1", "--get", "syscheck.scan-on-start")
    assert "did you mean `syscheck.scan_on_start`?" in found.err


def test_an_option_with_its_whole_chain(fleet: Cli) -> None:
    found = fleet("agents", "config", "web-1", "--get", "syscheck.frequency", "--origin")
    assert found.out.splitlines()[1].endswith("web/agent.conf:2\tdefault/agent.conf:2 (43200)")


def test_what_differs_from_another_agent(fleet: Cli) -> None:
    found = fleet("agents", "config", "web-1", "--diff", "db-1")
    assert found.code == 1
    assert found.out.splitlines() == [
        "path\tleft\tleft_origin\tright\tright_origin",
        "syscheck.frequency\t3600\tweb/agent.conf:2\t43200\tdefault/agent.conf:2",
        "localfile[1].log_format\tcommand\tweb/agent.conf:3\t\t",
        "localfile[1].command\tdf -P\tweb/agent.conf:3\t\t",
    ]
    shown = fleet("agents", "config", "web-1", "--diff", "db-1", terminal=True).out.splitlines()
    assert shown[:4] == ["--- 001 web-1", "+++ 002 db-1", "syscheck.frequency", "  - 3600  web/agent.conf:2"]


def test_agents_that_do_not_differ(fleet: Cli) -> None:
    found = fleet("agents", "config", "db-1", "--diff", "db-1")
    assert found.code == 0
    assert "get the same configuration" in found.err


def test_two_questions_at_once_are_refused(fleet: Cli) -> None:
    assert fleet("agents", "config", "web-1", "--get", "syscheck", "--diff", "db-1").code == 2


def test_what_is_not_in_use_yet_is_told(fleet: Cli) -> None:
    assert fleet("sync", "run", "--all").code == 0
    fleet("files", "put", "web/agent.conf", "-", stdin=WEB.replace("3600", "60"))
    found = fleet("agents", "config", "web-1", "--effective")
    assert "pending, 1 difference to what it uses now (default r" in found.err
    assert re.search(r"^    - 3600  web/agent.conf@r\d+:2$", found.err, re.MULTILINE)
    assert "    + 60  web/agent.conf:2" in found.err


def test_an_agent_whose_group_is_invalid_shows_what_it_keeps(fleet: Cli, home: Path) -> None:
    assert fleet("sync", "run", "--all").code == 0
    (home / "shared" / "web" / "agent.conf").write_text("<agent_config><nonsense/></agent_config>")
    found = fleet("agents", "config", "web-1", "--get", "syscheck.frequency")
    assert found.out == "3600\n"
    found = fleet("agents", "config", "web-1", "--effective")
    assert "blocked: " in found.err
    assert "shown is what it keeps: default r" in found.err


def test_the_files_of_an_agent(fleet: Cli) -> None:
    fleet("files", "put", "default/rules.txt", "-", stdin="one")
    fleet("files", "put", "web/rules.txt", "-", stdin="two")
    found = fleet("agents", "files", "web-1")
    assert found.code == 0
    assert [line.split("\t")[0] for line in found.out.splitlines()] == [
        "name",
        "ar.conf",
        "agent.conf",
        "rules.txt",
        "rules.txt",
        "merged.mg",
    ]
    assert "never-synced" in found.err
    left = fleet("agents", "files", "web-1", "--where", "sent=false", "-o", "json").json()
    assert [(row["name"], row["group"], row["why_not"]) for row in left] == [
        ("rules.txt", "default", "that of `web` is sent")
    ]


def test_quiet_says_nothing_beside_the_data(fleet: Cli) -> None:
    for words in (["config", "web-1", "--effective"], ["files", "web-1"]):
        assert fleet("agents", *words, "-q").err == ""


@pytest.mark.parametrize("words", [["config"], ["files"]])
def test_an_agent_that_does_not_exist(fleet: Cli, words: list[str]) -> None:
    assert fleet("agents", *words, "099").code == 5


def test_nothing_in_a_file_begins_a_line_of_its_own(fleet: Cli, home: Path) -> None:
    (home / "shared" / "web" / "agent.conf").write_text(
        '<agent_config name="^web|x\nforged">\n<localfile><log_format>syslog</log_format>'
        "<location>/a\nforged\x1b[31m</location><age>x\nforged</age></localfile>\n"
        '<syscheck><ignore type="a\nforged">/b</ignore></syscheck></agent_config>\n'
    )
    for words in (["--origin"], ["--effective"], ["--diff", "db-1"], ["--get", "localfile"]):
        for terminal in (False, True):
            found = fleet("agents", "config", "web-1", *words, terminal=terminal)
            lines = (found.out + found.err).splitlines()
            assert not [line for line in lines if line.strip().startswith("forged")]
            assert terminal is False or "\x1b[31m" not in found.out + found.err


def test_own_files_that_cannot_be_read_are_warned_of(fleet: Cli, home: Path) -> None:
    folder = home / "agents" / "001"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "local.conf").write_text("<r>\n<client>\n")
    found = fleet("agents", "config", "web-1")
    assert "warning: local.conf:1 cannot be read: `r` is not closed at the end of the file\n" in found.err
    (problem,) = fleet("agents", "config", "web-1", "-o", "json").json()["local_problems"]
    assert (problem["file"], problem["line"]) == ("local.conf", 1)
