"""`mgmtctl can-i ...` as command lines: 0 yes, 1 no, 2 what cannot be asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result, run_here

Cli = Callable[..., Result]
PASSWORD = "Secret-phrase-1"


@pytest.fixture
def web(admin: Cli) -> Cli:
    """An agent web-1 in group web, and a user ann with a role that may read that group."""
    for arguments in (
        ["groups", "create", "web"],
        ["agents", "create", "web-1", "--group", "web"],
        ["policies", "create", "web", "--allow", "agent:read", "--on", "agent:group:web"],
        ["roles", "create", "web"],
        ["roles", "add-policy", "web", "web"],
        ["users", "create", "ann", "--password-stdin", "--role", "web"],
    ):
        assert admin(*arguments, stdin=PASSWORD).code == 0, arguments
    return admin


@pytest.mark.parametrize(
    ("arguments", "code", "out"),
    [
        (["agent:read", "agent:id:web-1"], 0, "yes\n"),
        (["agent:read", "agent:id:001", "--as", "ann"], 0, "yes\n"),
        (["agent:read", "agent:id:web-1", "--as", "100"], 0, "yes\n"),
        (["agent:delete", "agent:id:001", "--as", "ann"], 1, "no\n"),
        (["agent:read", "agent:group:web", "--role", "web"], 0, "yes\n"),
        (["agent:read", "agent:id:*", "--role", "web"], 1, "no\n"),
        (["agent:read", "agent:id:*", "--role", "web", "--role", "readonly"], 0, "yes\n"),
        (["agent:create", "*:*:*", "--role", "agents_admin"], 0, "yes\n"),
        (["agent:raed", "agent:id:001"], 2, ""),
        (["agent:read", "agnt:id:001"], 2, ""),
        (["agent:read", "*:*:*"], 2, ""),
        (["agent:read", "agent:id:001", "--as", "absent"], 2, ""),
        (["agent:read", "agent:id:001", "--role", "absent"], 2, ""),
        (["agent:read", "agent:id:absent"], 5, ""),
        (["agent:read"], 2, ""),
        (["agent:read", "agent:id:001", "--wrap", "portal"], 2, ""),
        (["agent:read", "agent:id:001", "--as", "ann", "--role", "web"], 2, ""),
    ],
)
def test_the_answer_is_the_exit_code(web: Cli, arguments: list[str], code: int, out: str) -> None:
    answer = web("can-i", *arguments)
    assert (answer.code, answer.out) == (code, out)


def test_the_answer_is_explained(web: Cli) -> None:
    yes = web("can-i", "agent:read", "agent:id:web-1", "--as", "ann", "--explain").out
    for part in ("yes\n", "mode white", "for user ann", "allow agent:read on agent:group:web", "policy web"):
        assert part in yes
    no = web("can-i", "agent:delete", "agent:id:web-1", "--as", "ann", "--explain").out
    assert no.startswith("no\n")
    assert "held by     administrator, agents_admin" in no


def test_the_json_form_is_the_decision_record(web: Cli) -> None:
    answer = web("can-i", "agent:read", "agent:id:web-1", "--as", "ann", "-o", "json")
    record = answer.json()
    assert (answer.code, record["allowed"], record["resource"], record["mode"]) == (
        0,
        True,
        "agent:id:001",
        "white",
    )
    assert record["names"] == ["agent:id:001", "agent:group:web"]
    assert record["because"][0]["policy"]["name"] == "web"
    denied = web("can-i", "agent:delete", "agent:id:web-1", "--as", "ann", "-o", "json")
    assert (denied.code, denied.json()["roles_that_hold"]) == (1, ["administrator", "agents_admin"])


def test_a_context_is_judged_by_the_rules(web: Cli, tmp_path: Path) -> None:
    web("rules", "create", "north", "-f", "-", stdin='{"FIND": {"office": "north"}}')
    web("roles", "add-rule", "web", "north")
    context = tmp_path / "context.json"
    context.write_text(json.dumps({"name": "x", "auth": {"office": ["north", "east"]}}))
    ask = ["can-i", "agent:read", "agent:id:001", "--context-file", str(context), "--explain"]
    answer = web(*ask)
    assert (answer.code, "rule north" in answer.out) == (0, True)
    raw = tmp_path / "raw.json"
    raw.write_text(json.dumps({"office": "north"}))
    refused = web("can-i", "agent:read", "agent:id:001", "--context-file", str(raw))
    assert (refused.code, "--wrap" in refused.err) == (7, True)
    assert (
        web("can-i", "agent:read", "agent:id:001", "--context-file", str(raw), "--wrap", "portal").code == 0
    )
    piped = web("can-i", "agent:read", "agent:id:001", "--context-file", "-", stdin="null")
    assert piped.code == 7


def test_one_asks_about_oneself_without_any_right_to_read(web: Cli) -> None:
    assert web("login", "-u", "ann", "--password-stdin", stdin=PASSWORD).code == 0
    assert web("can-i", "agent:read", "agent:id:web-1").out == "yes\n"
    assert web("can-i", "agent:delete", "agent:id:web-1").code == 1
    explained = web("can-i", "agent:read", "agent:id:web-1", "--explain").out
    assert "policy web" not in explained
    refused = web("can-i", "agent:read", "agent:id:web-1", "--as", "1")
    assert (refused.code, "security:read on user:id:1" in refused.err) == (6, True)
    hidden = web("can-i", "agent:read", "agent:id:web-1", "--as", "admin")
    absent = web("can-i", "agent:read", "agent:id:web-1", "--as", "absent")
    assert (hidden.code, hidden.err.replace("admin", "X")) == (absent.code, absent.err.replace("absent", "X"))


def test_nobody_asks_without_a_session(service_home: Path) -> None:
    assert run_here("can-i", "agent:read", "agent:id:001").code == 4


def test_a_question_about_a_group_that_is_not_there_has_a_note_beside_its_answer(web: Cli) -> None:
    answer = web("can-i", "agent:read", "agent:group:absent")
    assert (answer.code, answer.out, answer.err) == (0, "yes\n", "note: group `absent` does not exist\n")
    assert web("can-i", "agent:read", "agent:group:absent", "-q").err == ""
    explained = web("can-i", "agent:read", "agent:group:absent", "--explain")
    assert ("  note        group `absent` does not exist" in explained.out, explained.err) == (True, "")


def test_roles_and_logins_are_asked_about_one_at_a_time(web: Cli) -> None:
    for other in ("--as", "--context-file"):
        refused = web("can-i", "agent:read", "agent:id:001", "--role", "web", other, "ann")
        assert (refused.code, f"`--role` and `{other}` exclude each other" in refused.err) == (2, True)


def test_an_explanation_reads_at_a_glance_on_80_columns(web: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    web("groups", "create", "db")
    web("agents", "create", "db-1", "--group", "db")
    explained = web("can-i", "agent:read", "agent:id:db-1", "--as", "ann", "--explain", terminal=True)
    assert explained.out.splitlines() == [
        "no",
        "denied (mode white): agent:read on agent:id:002",
        "  for user ann",
        "  no entry covers it, and mode white denies what no policy allows",
        "  no effect   allow agent:read on agent:group:web",
        "              role web (linked), policy web, block web",
        "              002 is in db; this grants group web",
        "  to allow    put an entry into policy web of role web",
        "    mgmtctl policies add-entry web --allow agent:read --on agent:id:002",
        "    or with --on agent:group:db  (1 agent)",
        "  held by     administrator, agents_admin, agents_readonly, readonly",
    ]


def test_a_refusal_says_what_the_question_says(web: Cli) -> None:
    web("policies", "create", "see", "--allow", "security:read", "--on", "role:id:*,policy:id:*")
    web("roles", "add-policy", "web", "see")
    assert web("login", "-u", "ann", "--password-stdin", stdin=PASSWORD).code == 0
    refused = web("agents", "delete", "web-1", "-y")
    assert refused.err.splitlines() == [
        "error: permission denied: agent:delete on agent:id:web-1",
        "  why: no entry covers it, and mode white denies what no policy allows",
        "       held by     administrator, agents_admin",
        "  fix: ask an administrator:",
        "       mgmtctl can-i agent:delete agent:id:web-1 --as ann --explain",
    ]
    as_json = json.loads(web("agents", "delete", "web-1", "-y", "-o", "json").err)
    asked = web("can-i", "agent:delete", "agent:id:web-1", "-o", "json").json()
    assert (as_json["type"], as_json["exit"], as_json["decision"]) == ("denied", 6, asked)


def test_the_command_that_one_is_told_to_pass_on_works_for_oneself_too(web: Cli) -> None:
    assert web("login", "-u", "ann", "--password-stdin", stdin=PASSWORD).code == 0
    fix = web("agents", "delete", "web-1", "-y").err.splitlines()[-1]
    for command in (fix.split()[1:], fix.replace("--as ann", "--as 100").split()[1:]):
        asked = web(*command)
        assert (asked.code, asked.out.splitlines()[0]) == (1, "no")
        assert fix.strip() in asked.out
    assert web("policies", "matrix", "--user", "ann").code == 0
    assert "ann has id 100" in web("run-as", "--doctor", "ann").out


def test_the_file_of_a_context_stands_in_what_is_to_be_passed_on(web: Cli, tmp_path: Path) -> None:
    raw = tmp_path / "raw.json"
    raw.write_text(json.dumps({"office": "north"}))
    web("policies", "create", "rules", "--allow", "security:read", "--on", "rule:id:*,user:id:*")
    web("policies", "create", "all", "--allow", "agent:read", "--on", "agent:id:*")
    web("roles", "add-policy", "web", "rules", "all")
    assert web("login", "-u", "ann", "--password-stdin", stdin=PASSWORD).code == 0
    asked = ["can-i", "agent:read", "agent:id:001", "--context-file", str(raw), "--wrap", "portal"]
    explained = web(*asked, "--explain").out
    assert f"mgmtctl {' '.join(asked)} --explain" in explained


def test_a_misspelt_user_has_a_name_that_is_near(web: Cli) -> None:
    refused = web("can-i", "agent:read", "agent:id:001", "--as", "anne")
    assert (refused.code, "did you mean `ann`?" in refused.err) == (2, True)
