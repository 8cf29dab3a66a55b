"""`mgmtctl files validate` and `files put --accept-risk`: for which agents, in which form, with which exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.store.database import Database
from tests.cli.conftest import Result

Cli = Callable[..., Result]
BAD = b"<agent_config>\n  <no_such_section/>\n</agent_config>\n"
NEW = b'<agent_config>\n  <wodle name="syscollector">\n    <users>yes</users>\n  </wodle>\n</agent_config>\n'
NOBODY = b'<agent_config name="^nobody$">\n</agent_config>\n'


@pytest.fixture
def web(admin: Cli, home: Path) -> Path:
    """The folder of the group web, with agent 001, too old for NEW; the administrator is logged in."""
    assert admin("groups", "create", "web").code == 0
    assert admin("agents", "create", "web-01", "--group", "web").code == 0
    database = Database(str(home / "store.db"))
    database.execute("UPDATE agents SET version = 'Agent v4.9.2', os_platform = 'ubuntu'")
    database.close()
    return home / "shared" / "web"


@pytest.fixture
def conf(tmp_path: Path) -> Callable[..., str]:
    def write(data: bytes, name: str = "mine.conf") -> str:
        (tmp_path / name).write_bytes(data)
        return str(tmp_path / name)

    return write


def test_a_path_is_judged_for_the_agents_of_a_group(admin: Cli, web: Path, conf: Callable[..., str]) -> None:
    path = conf(NEW)
    alone = admin("files", "validate", path)
    assert (alone.code, alone.out) == (
        0,
        f"{path}:3:5: note: `users` needs 4.14.0: an older agent refuses the whole file [needs-release]\n",
    )
    for_web = admin("files", "validate", path, "--group", "web")
    assert for_web.code == 1
    assert for_web.out.startswith(
        f"{path}:3:5: error: `users` needs 4.14.0; 1 agent of the group is older (001): "
    )


def test_findings_look_the_same_wherever_they_are_told(
    admin: Cli, web: Path, conf: Callable[..., str]
) -> None:
    command = b"<localfile><log_format>command</log_format><command>w</command></localfile>"
    path = conf(b'<agent_config>%s</agent_config>\n<agent_config name="^x$"/>\n' % command)
    told = admin("files", "validate", path, "--group", "web").out
    assert [found in told for found in (": warning: ", ": note: ")] == [True, True]
    put = admin("files", "put", "web/agent.conf", path)
    assert put.err.startswith(told)
    quiet = admin("files", "put", "web/agent.conf", path, "-q").err
    assert quiet == "".join(f"{line}\n" for line in told.splitlines() if ": warning: " in line)


def test_several_files_come_to_a_total(cli: Cli, conf: Callable[..., str]) -> None:
    first, second, fine = (
        conf(BAD, "a.conf"),
        conf(BAD * 2, "b.conf"),
        conf(b"<agent_config>\n</agent_config>\n"),
    )
    found = cli("files", "validate", first, second)
    assert (found.code, found.err) == (1, "3 errors in 2 files\n")
    assert cli("files", "validate", first, fine).err == ""
    assert cli("files", "validate", first, second, "-q").err == ""


def test_all_rules_are_explained_line_by_line_on_a_terminal(cli: Cli) -> None:
    lines = cli("files", "validate", "--explain", "all", terminal=True).out.splitlines()
    assert lines[0] == "empty-document (error): a file without a byte"
    assert lines[1].startswith("  Agents get a file")
    assert sum(line.startswith("  fix: ") for line in lines) > 20


def test_with_a_group_every_argument_is_a_file(
    admin: Cli, web: Path, conf: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    conf(NEW)
    monkeypatch.chdir(tmp_path)
    found = admin("files", "validate", "mine.conf", "-", "--group", "web", stdin=BAD)
    assert found.code == 1
    assert [line.partition(":")[0] for line in found.out.splitlines()] == ["mine.conf", "stdin"]


def test_a_group_needs_a_login_and_must_exist(
    cli: Cli, admin: Cli, web: Path, conf: Callable[..., str]
) -> None:
    path = conf(NEW)
    assert admin("files", "validate", path, "--group", "nowhere").code == 5
    assert admin("logout").code == 0
    assert cli("files", "validate", path, "--group", "web").code == 4
    assert cli("files", "validate", path).code == 0


def test_warnings_fail_when_it_is_strict(admin: Cli, web: Path, conf: Callable[..., str]) -> None:
    path = conf(NOBODY)
    assert admin("files", "validate", path, "--group", "web").code == 0
    strict = admin("files", "validate", path, "--group", "web", "--strict")
    assert (strict.code, strict.out) == (
        1,
        f"{path}:1:1: warning: the block matches 0 of 1 agent [no-agent-matches]\n",
    )
    assert admin("files", "validate", conf(NEW), "--strict").code == 0


def test_several_files_are_checked_in_their_order(cli: Cli, conf: Callable[..., str]) -> None:
    paths = [conf(BAD, "b.conf"), conf(NEW, "a.conf"), conf(BAD, "c.conf")]
    found = cli("files", "validate", *paths, paths[0], "-o", "json")
    assert found.code == 1
    assert [finding["path"] for finding in found.json()] == paths


def test_one_that_cannot_be_read_does_not_hide_the_others(cli: Cli, conf: Callable[..., str]) -> None:
    found = cli("files", "validate", "./no-such-file", conf(BAD))
    assert found.code == 3
    assert found.err == "warning: not checked: ./no-such-file: cannot be read\n"
    assert "[unknown-section]" in found.out
    assert cli("files", "validate", "./no-such-file").code == 7


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(("validate",), id="nothing to check"),
        pytest.param(("validate", "-", "-"), id="stdin twice"),
        pytest.param(
            ("validate", "-", "--as", "merged.mg", "--group", "web"), id="a merged file for a group"
        ),
        pytest.param(("validate", "--explain", "wrong-systm"), id="no such rule"),
        pytest.param(
            ("put", "web/agent.conf", "-", "--accept-risk", "lockout"), id="a risk of other commands"
        ),
        pytest.param(("put", "web/agent.conf", "-", "--accept-risk", "no-validate"), id="no reason"),
    ],
)
def test_wrong_questions_end_with_2(admin: Cli, web: Path, line: tuple[str, ...]) -> None:
    assert admin("files", *line, stdin=BAD).code == 2


def test_a_rule_is_explained_without_login_or_data_folder(cli: Cli, home: Path) -> None:
    page = cli("files", "validate", "--explain", "wrong-system")
    assert page.code == 0
    assert page.out.startswith("wrong-system (error or warning or note): ")
    assert "fix: " in page.out
    record = cli("files", "validate", "--explain", "not-sent", "-o", "json").json()
    assert sorted(record) == ["fix", "name", "severities", "summary", "why"]
    every = cli("files", "validate", "--explain", "all", "-o", "json").json()
    assert {"too-new", "merged-header", "unknown-section"} <= {rule["name"] for rule in every}
    near = cli("files", "validate", "--explain", "wrong-systm")
    assert "did you mean `wrong-system`?" in near.err
    assert not home.exists()


def test_sarif_describes_the_rules_that_were_found(admin: Cli, web: Path, conf: Callable[..., str]) -> None:
    found = admin("files", "validate", conf(NEW), "--group", "web", "-o", "sarif")
    (run,) = json.loads(found.out)["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["defaultConfiguration"]) == ("too-new", {"level": "error"})
    assert rule["fullDescription"]["text"]


def test_accepted_errors_are_put_and_every_report_says_who_and_why(
    admin: Cli, web: Path, conf: Callable[..., str]
) -> None:
    path, accept = conf(NEW), ("--accept-risk", "no-validate", "--reason", "upgraded today")
    assert admin("files", "put", "web/agent.conf", path).code == 7
    put = admin("files", "put", "web/agent.conf", path, *accept)
    assert put.code == 0
    assert put.err.startswith(f"{path}:3:5: warning: `users` needs 4.14.0; ")
    assert "(accepted by `admin`: upgraded today)" in put.err
    for line in (("sync", "plan", "--all"), ("sync", "run", "--all"), ("sync", "run", "--all")):
        assert "`web/agent.conf` is sent with errors, accepted by `admin`: upgraded today" in admin(*line).err
    validated = admin("files", "validate", "web")
    assert (validated.code, "accepted by `admin`" in validated.out) == (0, True)
    assert admin("files", "validate", "web", "--strict").code == 1


def test_a_document_that_cannot_be_read_is_refused_although_accepted(admin: Cli, web: Path) -> None:
    line = ("files", "put", "web/agent.conf", "-", "--accept-risk", "no-validate", "--reason", "x")
    assert admin(*line, stdin=b"<agent_config>").code == 7
    assert admin(*line, stdin=b"no tag").code == 7


def test_a_merged_file_is_told_from_an_agent_conf(cli: Cli, conf: Callable[..., str]) -> None:
    path = conf(b"#web\n!15 agent.conf\n<agent_config/>\n", "merged.mg")
    assert cli("files", "validate", path).out == (
        f"{path}:1:1: warning: the file begins as a merged file, and not as an agent.conf; "
        "mgmtctl files validate --as merged.mg [merged-file]\n"
    )


def test_an_agent_conf_that_is_gone_is_told(admin: Cli, web: Path) -> None:
    (web / "agent.conf").unlink()
    found = admin("files", "validate", "web")
    assert (found.code, found.out) == (
        0,
        "web/agent.conf: warning: the file of r1 is gone; agents lose what it said; "
        "mgmtctl files rollback web/agent.conf --to 1 [agent-conf-gone]\n",
    )
