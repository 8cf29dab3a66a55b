"""`mgmtctl sync`: targets, exit codes, what is said and what is data."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mgmtctl import bootstrap
from mgmtctl.domain.sync import STAGES
from mgmtctl.operations.context import Context
from mgmtctl.settings import Settings
from mgmtctl.store.agents import NewAgent
from tests.cli.conftest import Result

Cli = Callable[..., Result]
BAD = b"<agent_config>\n  <no_such_section/>\n</agent_config>\n"


@pytest.fixture
def fleet(admin: Cli) -> Iterator[Context]:
    """Agents 001 host-1 of default and 002 host-2 of web; the administrator is logged in."""
    ctx = bootstrap.open_context(Settings())
    ctx.folders.create_group("web")
    with ctx.store.atomic():
        ctx.store.agents.claim(2)
        rows = [NewAgent(n, f"host-{n}", "any", "k" * 64, g) for n, g in ((1, "default"), (2, "web"))]
        ctx.store.agents.add(rows, 0)
    yield ctx
    ctx.store.close()


def shared(ctx: Context, agent: str) -> Path:
    return ctx.folders.agents / agent / "shared"


def test_no_target_never_means_all(admin: Cli, fleet: Context) -> None:
    result = admin("sync", "run")
    assert result.code == 2
    assert "--all" in result.err
    assert not fleet.folders.agents.exists() or not any(fleet.folders.agents.iterdir())


@pytest.mark.parametrize("words", [("--all", "001"), ("--all", "--group", "web"), ("--group", "web", "001")])
def test_two_targets_are_one_too_many(admin: Cli, fleet: Context, words: tuple[str, ...]) -> None:
    assert admin("sync", "run", *words).code == 2


def test_a_run_says_what_it_did(admin: Cli, fleet: Context) -> None:
    first = admin("sync", "run", "--all")
    assert (first.code, first.out, first.err) == (0, "", "2 agents: 2 written to, 0 up to date\n")
    assert admin("sync", "run", "--all").err == "2 agents: 0 written to, 2 up to date\n"
    assert admin("sync", "run", "--all", "-q").err == ""


def test_a_plan_on_a_terminal_lists_ten_agents(admin: Cli, fleet: Context) -> None:
    for number in range(3, 14):
        assert admin("agents", "create", f"host-{number}").code == 0
    shown = admin("sync", "plan", "--all", terminal=True)
    assert [line.split()[0] for line in shown.out.splitlines()[1:]] == [f"{n:03}" for n in range(1, 11)]
    assert "and 3 more: -o tsv lists all\n" in shown.err
    assert len(admin("sync", "plan", "--all", "-o", "tsv", terminal=True).out.splitlines()) == 14
    assert len(admin("sync", "plan", "--all").out.splitlines()) == 14
    admin("sync", "run", "--all")
    nothing = admin("sync", "plan", "--all", terminal=True)
    assert (nothing.out, nothing.err) == ("", "13 agents: 0 would be written to, 13 up to date\n")


@pytest.mark.parametrize("verb", ["plan", "run"])
def test_findings_come_before_what_failed(admin: Cli, fleet: Context, verb: str) -> None:
    fleet.folders.write_file("web", "agent.conf", BAD)
    told = admin("sync", verb, "--all").err
    assert told.index("[unknown-section]") < told.index("error: 002: group `web` is invalid")


@pytest.mark.parametrize("words", [("plan", "--all"), ("run", "--all"), ("run", "002")])
@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_failures_as_json_are_all_that_stderr_holds(
    admin: Cli, fleet: Context, words: tuple[str, ...], form: str
) -> None:
    fleet.folders.write_file("web", "agent.conf", BAD)
    other = shared(fleet, "001") / "merged.mg"
    other.parent.mkdir(parents=True)
    other.write_text("foreign")
    found = admin("sync", *words, "-o", form)
    record = json.loads(found.err)
    assert record["summary"].endswith("1 failed")
    assert ("warnings" in record) == ("--all" in words)
    assert record["exit"] == found.code != 0
    assert [finding["rule"] for finding in record["findings"]] == ["unknown-section"]


def test_a_folder_that_is_none_is_named_with_its_agent_and_a_fix(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "--all")
    shutil.rmtree(fleet.folders.agents / "002")
    (fleet.folders.agents / "002").write_text("")
    fleet.folders.write_file("web", "a.txt", b"1")
    told = admin("sync", "run", "--all").err
    assert "error: folder `agents/002`: a file or a symlink stands where a folder shall be\n" in told
    assert "  fix: make it a folder that can be used, then sync again\n" in told


def test_ignored_counts_as_fine_and_help_says_so(admin: Cli) -> None:
    assert "End with 1 unless every agent is synced or ignored." in admin("sync", "status", "--help").out


def test_a_run_gives_data_when_a_format_is_asked_for(admin: Cli, fleet: Context) -> None:
    assert admin("sync", "run", "--all", "-o", "json", "-q").json()[0]["changes"][0] == {
        "change": "create",
        "file": "agent.conf",
        "edited_there": False,
    }
    assert admin("sync", "run", "--all", "-o", "json", "-q").json() == []


def test_agents_are_named_by_name_id_or_stdin(admin: Cli, fleet: Context) -> None:
    assert admin("sync", "run", "host-1").err == "1 agent: 1 written to, 0 up to date\n"
    assert admin("sync", "run", "-", stdin=b"2\nhost-1\n").err == "2 agents: 1 written to, 1 up to date\n"
    assert admin("sync", "run", "nobody").code == 5
    mixed = admin("sync", "run", "host-1", "nobody")
    assert (mixed.code, "nobody" in mixed.err) == (3, True)


def test_a_dry_run_writes_nothing_and_needs_no_yes(admin: Cli, fleet: Context) -> None:
    result = admin("sync", "run", "--all", "-n", "--max-affected", "5")
    assert result.err == "dry run: 2 agents: 2 would be written to, 0 up to date\n"
    assert not shared(fleet, "001").exists()


def test_a_blocked_group_is_partly_done_or_refused(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "--all")
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    both = admin("sync", "run", "--all")
    assert both.code == 3
    assert "web/agent.conf:2:3: error: " in both.err
    assert "2 agents: 0 written to, 1 up to date, 1 failed" in both.err
    assert "error: 002: group `web` is invalid: web/agent.conf has errors" in both.err
    assert admin("sync", "run", "--group", "web").code == 7
    assert admin("sync", "plan", "--group", "web").code == 7


def test_hand_edited_files_are_reported(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "--all")
    (shared(fleet, "002") / "agent.conf").write_bytes(b"mine")
    result = admin("sync", "run", "--all", "--verify")
    assert "warning: 002 host-2: was changed there: agent.conf\n" in result.err


def test_an_unreachable_folder_is_an_io_failure(admin: Cli, fleet: Context) -> None:
    shared(fleet, "001").parent.mkdir(parents=True)
    shared(fleet, "001").symlink_to("/nowhere")
    assert admin("sync", "run", "001").code == 74
    assert admin("sync", "run", "--all").code == 3


def test_more_than_max_affected_asks(admin: Cli, fleet: Context) -> None:
    refused = admin("sync", "run", "--all", "--max-affected", "1")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert not shared(fleet, "001").exists()
    assert admin("sync", "run", "--all", "--max-affected", "1", stdin=b"n\n", terminal=True).code != 0
    assert not shared(fleet, "001").exists()
    assert admin("sync", "run", "--all", "--max-affected", "1", stdin=b"y\n", terminal=True).code == 0
    assert shared(fleet, "001").exists()


def test_the_question_has_one_question_mark(admin: Cli, fleet: Context) -> None:
    asked = admin("sync", "run", "--all", "--max-affected", "1", stdin=b"n\n", terminal=True)
    assert "write to 2 agents, at most 1 were expected? [y/N] " in asked.err


def test_max_affected_counts_only_what_would_be_written(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "--all")
    assert admin("sync", "run", "--all", "--max-affected", "0").code == 0


def test_status_lists_stages_and_totals(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "001")
    found = admin("sync", "status")
    assert found.out.splitlines() == [
        "id\tname\tstage\twhy",
        "001\thost-1\tsynced\tits folder holds what its groups give",
        "002\thost-2\tnever-synced\tnothing was ever written to its folder",
    ]
    assert found.err == "1 never-synced, 1 synced\n"
    assert found.code == 0
    assert admin("sync", "status", "--exit-code").code == 1
    for where in ("stage!=synced", "stage=never-synced"):
        assert admin("sync", "status", "--where", where, "-o", "id").out == "002\n"
    assert admin("sync", "status", "--where", "stage=stael").code == 2
    assert admin("sync", "status", "--group", "default", "--exit-code").code == 0


def test_every_stage_is_in_the_help_of_status(admin: Cli) -> None:
    words = set(re.findall(r"[a-z-]+", admin("sync", "status", "--help").out))
    assert set(STAGES) <= words


def test_a_status_of_nobody_is_only_the_error(admin: Cli, fleet: Context) -> None:
    found = admin("sync", "status", "nosuch")
    assert (found.code, found.out) == (5, "")
    assert found.err.startswith("error: agent `nosuch` does not exist\n")
    assert "no agents" not in found.err


@pytest.fixture
def cron(admin: Cli, fleet: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`cron("agent:reconnect")`: from now on somebody acts who may do that to every agent, and nothing else."""

    def act(action: str) -> None:
        password = tmp_path / "password"
        password.write_text("Cr0n-of-tests!")
        password.chmod(0o600)
        admin("policies", "create", "only", "--allow", action, "--on", "agent:id:*")
        admin("roles", "create", "only")
        admin("roles", "add-policy", "only", "only")
        assert admin("users", "create", "cron", "--password-file", str(password), "--role", "only").code == 0
        monkeypatch.setenv("MGMTCTL_USER", "cron")
        monkeypatch.setenv("MGMTCTL_PASSWORD_FILE", str(password))

    return act


def test_who_may_read_no_agent_gets_no_green_status(admin: Cli, cron: Callable[..., None]) -> None:
    cron("agent:reconnect")
    for words in (("status", "--exit-code"), ("status", "--group", "web"), ("plan", "--all")):
        refused = admin("sync", *words)
        assert (refused.code, refused.out) == (6, "")
        assert "permission denied: agent:read on agent:" in refused.err
    assert admin("sync", "run", "--all").code == 0


def test_who_may_sync_no_agent_is_refused(admin: Cli, cron: Callable[..., None]) -> None:
    cron("agent:read")
    refused = admin("sync", "run", "--all")
    assert refused.code == 6
    assert "permission denied: agent:reconnect on agent:id:*" in refused.err
    assert admin("sync", "status").code == 0


def test_a_changed_file_is_named_by_every_command(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "--all")
    (shared(fleet, "002") / "agent.conf").write_bytes(b"mine")
    (shared(fleet, "002") / "ar.conf").unlink()
    why = "changed there: `agent.conf`; missing there: `ar.conf`"
    assert admin("sync", "status").out.splitlines()[2] == f"002\thost-2\tdiverged\t{why}"
    assert admin("sync", "status", "--exit-code").code == 1
    text = admin("sync", "explain", "002").out
    assert f"why     {why}\nnext    mgmtctl sync run 002\n" in text
    assert "change  overwrite agent.conf (was changed there)\nchange  create ar.conf\n" in text
    assert admin("sync", "plan", "--all").out.splitlines()[1:] == [
        "002\thost-2\tweb\t1 created, 1 overwritten"
    ]
    assert "2 agents: 1 written to, 1 up to date\n" in admin("sync", "run", "--all").err
    assert admin("sync", "status", "--exit-code").code == 0


def test_a_plan_where_every_agent_fails_is_an_empty_list(admin: Cli, fleet: Context) -> None:
    for group in ("web", "default"):
        (fleet.folders.shared / group / "agent.conf").write_bytes(BAD)
    for words in (("plan", "--all"), ("run", "--all"), ("run", "--all", "-n")):
        found = admin("sync", *words, "-o", "json")
        assert (found.code, found.json()) == (7, [])


def test_plan_shows_files_as_json(admin: Cli, fleet: Context) -> None:
    plan = admin("sync", "plan", "--all", "-o", "json").json()
    assert [change["file"] for change in plan[0]["changes"]] == ["agent.conf", "ar.conf", "merged.mg"]
    assert admin("sync", "plan", "--all").out.splitlines()[1] == "001\thost-1\tdefault\t3 created"


def test_explain_names_the_stage_and_the_next_step(admin: Cli, fleet: Context) -> None:
    text = admin("sync", "explain", "host-2").out
    assert "stage   never-synced\n" in text
    assert "next    mgmtctl sync run 002\n" in text
    assert "change  create agent.conf\n" in text
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    text = admin("sync", "explain", "host-2").out
    assert "next    mgmtctl files validate web, then mgmtctl sync run 002\n" in text
    assert "finding web/agent.conf:2:3: error: " in text
    assert admin("sync", "explain", "host-2", "-o", "json").json()["stage"] == "never-synced"
    assert "why     nothing was ever written to its folder, and group `web` is invalid: " in text
    assert admin("sync", "explain", "nobody").code == 5


@pytest.mark.parametrize(
    "words", [("--if-locked", "wait"), ("--lock-timeout", "-1"), ("--max-affected", "x")]
)
def test_bad_option_values_are_usage_errors(admin: Cli, fleet: Context, words: tuple[str, ...]) -> None:
    assert admin("sync", "run", "--all", *words).code == 2


def test_a_missing_ar_conf_is_a_warning(admin: Cli, fleet: Context) -> None:
    (fleet.folders.shared / "ar.conf").unlink()
    result = admin("sync", "run", "--all")
    assert (result.code, result.err.startswith("warning: ar.conf is missing")) == (0, True)


def test_without_a_login_nothing_is_said(cli: Cli, service_home: Path) -> None:
    for words in (("run", "--all"), ("status",), ("plan", "--all"), ("explain", "001")):
        assert cli("sync", *words).code == 4


def test_an_empty_fleet_is_no_error(admin: Cli) -> None:
    assert admin("sync", "run", "--all").err == "0 agents: 0 written to, 0 up to date\n"
    assert admin("sync", "status", "--exit-code").code == 0


@pytest.mark.parametrize("command", ["run --all", "promote 1"])
@pytest.mark.parametrize("seconds", ["nan", "NaN", "inf", "1e999", "-1", "-inf", "x", ""])
def test_a_time_to_wait_is_a_number(admin: Cli, command: str, seconds: str) -> None:
    refused = admin("sync", *command.split(), f"--lock-timeout={seconds}", "-y")
    assert (refused.code, "--lock-timeout" in refused.err) == (2, True)


@pytest.mark.parametrize("option", ["--timeout", "--interval"])
@pytest.mark.parametrize("duration", ["nan", "inf", "nans", "-1s", "1e9s", "1.5s", "5", ""])
def test_a_duration_is_a_number_with_its_unit(admin: Cli, option: str, duration: str) -> None:
    refused = admin("sync", "wait", "--all", f"{option}={duration}")
    assert (refused.code, option in refused.err) == (2, True)
