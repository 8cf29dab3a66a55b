"""`mgmtctl rules explain`, `mgmtctl rules suggest` and `mgmtctl run-as --doctor` as command lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]
ONE = {"name": "ada", "auth": {"tenant": "acme", "role": "administrator", "groups": ["web", "ops"]}}
OTHER = {"name": "ada", "auth": {"tenant": "acme", "role": "administrator", "groups": ["web"]}}
RULE = {"AND": [{"MATCH": {"auth": {"tenant": "acme"}}}, {"MATCH": {"auth": {"role": "r'admin'"}}}]}
PAGE = """\
{title}  false
  false     AND
  true        MATCH auth.tenant = "acme"  at $.auth.tenant
  false       MATCH auth.role = r'admin'
                nearest: $.auth.role = `administrator`, of which the pattern
                  matched only a part
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with two contexts, a raw account, and a rule."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    files = {"one": ONE, "other": OTHER, "account": {"user_name": "bob"}, "rule": RULE}
    for name, value in files.items():
        (here / f"{name}.json").write_text(json.dumps(value))
    return here


def test_a_stored_rule_is_a_tree_with_who_evaluates_it(admin: Cli, folder: Path) -> None:
    admin("rules", "create", "admins", "-f", "rule.json")
    shown = admin("rules", "explain", "admins", "--context-file", "one.json")
    assert shown.code == 1
    head = PAGE.format(title="rule 100 admins")
    end = "evaluated for nobody: it leads to no role (mgmtctl roles add-rule ROLE admins)\n"
    assert shown.out == head + end
    admin("roles", "add-rule", "readonly", "admins")
    admin("users", "create", "portal", "--allow-run-as", "--password-stdin", stdin="Portal-of-9-tests!")
    (folder / "one.json").write_text(json.dumps({"name": "x", "auth": {"tenant": "acme", "role": "admin"}}))
    shown = admin("rules", "explain", "admins", "--context-file", "one.json", "--as", "portal")
    assert (shown.code, shown.out.splitlines()[-3:]) == (
        0,
        [
            "evaluated for every user who may use contexts",
            "leads to      readonly",
            "user portal gets its roles",
        ],
    )
    shown = admin("rules", "explain", "admins", "--context-file", "one.json", "--as", "admin", "-o", "json")
    assert (shown.code, shown.json()["verdict"], shown.json()["user"]["gets_roles"]) == (1, "true", False)


def test_run_as_shows_the_same_tree(admin: Cli, folder: Path) -> None:
    admin("rules", "create", "admins", "-f", "rule.json")
    admin("roles", "add-rule", "readonly", "admins")
    admin("users", "set-password", "wui", "--password-stdin", stdin="Portal-of-9-tests!")
    shown = admin(
        "run-as",
        "-u",
        "wui",
        "--context-file",
        "one.json",
        "--explain",
        "--password-stdin",
        stdin="Portal-of-9-tests!",
    )
    assert PAGE.format(title="rule 100 admins") in shown.out


def test_a_rule_document_needs_no_service(cli: Cli, folder: Path, home: Path) -> None:
    shown = cli("rules", "explain", "./rule.json", "--context-file", "one.json")
    assert (shown.code, shown.out, shown.err) == (1, PAGE.format(title="rule ./rule.json"), "")
    stdin = cli("rules", "explain", "-", "--context-file", "one.json", stdin='{"FIND": {"groups": "ops"}}')
    assert (stdin.code, stdin.out.splitlines()[0]) == (0, "rule stdin  true")
    record = cli("rules", "explain", "./rule.json", "--context-file", "one.json", "-o", "json").json()
    assert (record["path"], record["verdict"]) == ("./rule.json", "false")
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["./rule.json", "--context-file", "account.json"], 7, id="a raw account document"),
        pytest.param(["./rule.json", "--context-file", "account.json", "--wrap", "x"], 1, id="wrapped"),
        pytest.param(["./absent.json", "--context-file", "one.json"], 7, id="no such rule file"),
        pytest.param(["./one.json", "--context-file", "one.json"], 7, id="no rule document"),
        pytest.param(["-", "--context-file", "-"], 2, id="both from stdin"),
        pytest.param(["./rule.json", "--context-file", "one.json", "--as", "ann"], 2, id="a user of a file"),
        pytest.param(["absent", "--context-file", "one.json"], 5, id="unknown rule"),
        pytest.param(["1", "--context-file", "one.json", "--as", "nobody"], 2, id="unknown user"),
        pytest.param(["1"], 2, id="no context"),
    ],
)
def test_explain_has_its_exit_codes(admin: Cli, folder: Path, arguments: list[str], code: int) -> None:
    assert admin("rules", "explain", *arguments).code == code


def test_a_file_that_is_taken_for_a_rule_is_pointed_at(admin: Cli, folder: Path) -> None:
    refused = admin("rules", "explain", "rule.json", "--context-file", "one.json")
    assert (refused.code, "mgmtctl rules explain ./rule.json" in refused.err) == (5, True)


def test_long_and_hostile_values_stay_on_80_columns(cli: Cli, folder: Path) -> None:
    odd = "\x1b[31m\u202e" + "x" * 300
    (folder / "one.json").write_text(json.dumps({"name": odd, "auth": {odd: [odd, odd], "k": odd}}))
    rule = {"OR": [{"MATCH": {"auth": {"k": odd + "y", "l": [odd] * 9}}}, {"NOT": {"FIND": {odd: odd}}}]}
    (folder / "rule.json").write_text(json.dumps(rule))
    shown = cli("rules", "explain", "./rule.json", "--context-file", "one.json", terminal=True)
    assert shown.code == 1
    assert max(map(len, shown.out.splitlines())) <= 80
    assert all(line.isprintable() for line in shown.out.splitlines())


def test_a_suggestion_can_be_created(admin: Cli, folder: Path) -> None:
    draft = admin("rules", "suggest", "--from", "one.json", "--not-like", "other.json")
    assert (draft.code, draft.json()) == (0, {"MATCH": {"auth": {"groups": "ops"}}})
    assert draft.err.splitlines() == [
        "true of one.json: at $.auth.groups[1]",
        "false of other.json: $.auth.groups has no item `ops`; its items: web",
        "next: mgmtctl rules create NAME -f FILE",
    ]
    assert admin("rules", "create", "ops", "-f", "-", stdin=draft.out).code == 0
    for name, code in (("one", 0), ("other", 1)):
        assert admin("rules", "explain", "ops", "--context-file", f"{name}.json").code == code


def test_a_suggestion_passes_rules_test(admin: Cli, folder: Path) -> None:
    draft = admin("rules", "suggest", "--from", "one.json", "--not-like", "other.json").json()
    table: dict[str, Any] = {
        "rules": {"draft": draft},
        "cases": [
            {"context_file": "one.json", "rules": ["draft"]},
            {"context_file": "other.json", "rules": []},
        ],
    }
    (folder / "table.yml").write_text(json.dumps(table))
    tested = admin("rules", "test", "table.yml")
    assert tested.code == 0, (tested.out, tested.err)
    (folder / "table.yml").write_text(json.dumps({**table, "rules": {"draft": {"NOT": draft}}}))
    assert admin("rules", "test", "table.yml").code == 1


def test_a_rule_document_may_be_yaml(cli: Cli, folder: Path, home: Path) -> None:
    (folder / "rule.yml").write_text("FIND: {backend_roles: nobody}\n")
    told = cli("rules", "explain", "./rule.yml", "--context-file", "one.json")
    assert (told.code, told.out.splitlines()[1].split()[:2]) == (1, ["false", "FIND"])


def test_where_nothing_tells_them_apart_the_answer_is_no(cli: Cli, folder: Path, home: Path) -> None:
    none = cli("rules", "suggest", "--from", "one.json", "--not-like", "./one.json")
    assert (none.code, none.out, none.err) == (1, "", "no rule: one.json and ./one.json are the same\n")
    record = cli("rules", "suggest", "--from", "one.json", "--not-like", "one.json", "-o", "json")
    assert (record.code, record.json()["rule"], record.json()["true_of"]) == (1, None, [])
    assert not home.exists()


def test_a_suggestion_as_json_carries_its_reasons(cli: Cli, folder: Path) -> None:
    less = {"name": "ada", "auth": {"tenant": "acme"}}
    (folder / "less.json").write_text(json.dumps(less))
    found: dict[str, Any] = cli(
        "rules", "suggest", "--from", "less.json", "--not-like", "one.json", "-o", "json"
    ).json()
    assert found["denies"] is True
    assert found["rule"]["AND"][1] == {"NOT": {"MATCH": {"auth": {"groups": "ops"}}}}
    assert found["true_of"] == [
        {"path": "less.json", "because": "at $.auth.tenant, and no key `groups` in $.auth"}
    ]
    assert found["false_of"] == [{"path": "one.json", "because": "at $.auth.groups[1]"}]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--from", "one.json"], 2, id="nothing to tell it from"),
        pytest.param(["--not-like", "one.json"], 2, id="nothing to start from"),
        pytest.param(["--from", "account.json", "--not-like", "one.json"], 7, id="a raw document"),
        pytest.param(["--from", "account.json", "--not-like", "one.json", "--wrap", "x"], 0, id="wrapped"),
        pytest.param(["--from", "absent.json", "--not-like", "one.json"], 7, id="no such file"),
    ],
)
def test_suggest_has_its_exit_codes(cli: Cli, folder: Path, arguments: list[str], code: int) -> None:
    assert cli("rules", "suggest", *arguments).code == code


def test_the_doctor_shows_the_chain_and_needs_no_password_of_the_user(admin: Cli, folder: Path) -> None:
    shown = admin("run-as", "--doctor", "wui", terminal=True)
    assert shown.code == 1
    assert shown.out == (
        "ok      user      wui has id 2\n"
        "BROKEN  password  user wui has none, so nobody can log in as that user\n"
        "        fix       mgmtctl users set-password wui\n"
    )
    assert shown.err == "wui: stops at `password`\n"
    links = admin("run-as", "--doctor", "wui", "-o", "json").json()
    assert [set(link) for link in links] == [{"link", "ok", "why", "fix"}] * 2
    assert admin("run-as", "--doctor", "wui").out.splitlines()[0] == "link\tok\twhy\tfix"
    admin("users", "set-password", "wui", "--password-stdin", stdin="Portal-of-9-tests!")
    whole = admin("run-as", "--doctor", "wui")
    assert (whole.code, whole.err) == (0, "wui: the chain is whole\n")
    broken = admin(
        "run-as", "--doctor", "wui", "--context-file", "account.json", "--wrap", "a b", "-o", "json"
    )
    assert broken.json()[-1]["fix"] == (
        "mgmtctl rules explain wui_stacka_admin --context-file account.json --wrap 'a b'"
    )
    unknown = admin("run-as", "--doctor", "nobody")
    assert (unknown.code, unknown.err) == (1, "nobody: stops at `user`\n")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--doctor", "wui", "-u", "wui"], id="a login"),
        pytest.param(["--doctor", "wui", "--explain"], id="an explanation"),
        pytest.param(["--doctor", "wui", "--wrap", "x"], id="a name without a file"),
        pytest.param(["-u", "wui"], id="no context"),
    ],
)
def test_the_doctor_stands_alone_and_a_login_needs_a_context(admin: Cli, arguments: list[str]) -> None:
    assert admin("run-as", *arguments).code == 2


def test_a_draft_that_rests_on_the_application_is_told_with_a_warning(cli: Cli, tmp_path: Path) -> None:
    paths = [tmp_path / "one.json", tmp_path / "other.json"]
    for path, audience in zip(paths, ("portal", "shop"), strict=True):
        path.write_text(json.dumps({"name": "x", "auth": {"sub": "ada", "aud": audience}}), "utf-8")
    words = ("rules", "suggest", "--from", str(paths[0]), "--not-like", str(paths[1]))
    given = cli(*words)
    assert (
        "warning: `aud` says by which application somebody came: the rule may be true of everybody"
        in given.err
    )
    assert cli(*words, "-o", "json").json()["client_wide"] == ["aud"]


def test_who_may_read_no_roles_hears_the_same_of_each_rule(admin: Cli, cli: Cli, folder: Path) -> None:
    for name in ("linked", "lost"):
        admin("rules", "create", name, "-f", "rule.json")
    admin("roles", "add-rule", "readonly", "linked")
    admin("policies", "create", "see", "--allow", "security:read", "--on", "rule:id:*")
    admin("roles", "create", "see")
    admin("roles", "add-policy", "see", "see")
    admin("users", "create", "eve", "--password-stdin", stdin="Portal-of-9-tests!")
    admin("users", "add-role", "eve", "see")
    assert admin("login", "-u", "eve", "--password-stdin", stdin="Portal-of-9-tests!").code == 0
    for name in ("linked", "lost"):
        last = cli("rules", "explain", name, "--context-file", "one.json").out.splitlines()[-1]
        known = "evaluated for nobody: it leads to no role that you may read"
        assert last == f"{known} (mgmtctl roles add-rule ROLE {name})"
