"""Facts about `policies lint` and `rules lint`: files without a login, places, exit codes, explanations."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]

DEAD = {
    "a": {"actions": ["agent:read"], "resources": ["agent:id:007"], "effect": "allow"},
    "b": {"actions": ["agent:read"], "resources": ["agent:id:*"], "effect": "deny"},
}
NOTE_ONLY = {"actions": ["agent:read"], "resources": ["agent:id:*", "agent:id:007"], "effect": "allow"}


def written(folder: Path, name: str, document: object, **more: object) -> str:
    path = folder / name
    path.write_text(json.dumps(document, indent=2, **more) if not isinstance(document, str) else document)  # type: ignore[arg-type]
    return str(path)


@pytest.mark.parametrize("indent", [None, 2, "\t"])
def test_a_json_file_is_linted_without_login_at_its_lines(cli: Cli, tmp_path: Path, indent: object) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({"blocks": DEAD}, indent=indent))  # type: ignore[arg-type]
    result = cli("policies", "lint", str(path))
    assert result.code == 1
    place = f"{path}:3:10" if indent == 2 else f"{path}:3:8" if indent else f"{path}:1:18"
    assert result.out.startswith(f"{place}: warning: blocks.a: this block never counts: block `b` denies")
    assert result.out.endswith("[contradictory-entries]\n")


def test_a_yaml_file_is_linted_at_its_lines(cli: Cli, tmp_path: Path) -> None:
    policy = "name: x\npolicy:\n  actions: [agent:read]\n  resources: ['*:*:*']\n  effect: allow\n"
    path = written(tmp_path, "p.yaml", policy)
    result = cli("policies", "lint", path)
    assert result.out.startswith(
        f"{path}:3:13: error: policy.actions[0]: `*:*:*` never covers agent:read; did you"
    )


def test_stdin_is_linted(cli: Cli) -> None:
    result = cli("rules", "lint", "-", stdin='{"NOT": {"MATCH": {"a": 1}}}')
    assert (result.code, result.out.partition(": ")[0]) == (1, "stdin:1:1")


def test_notes_alone_end_with_0(cli: Cli, tmp_path: Path) -> None:
    result = cli("policies", "lint", written(tmp_path, "p.json", NOTE_ONLY))
    assert (result.code, "[shadowed-entry]" in result.out) == (0, True)


def test_exit_zero_ends_with_0(cli: Cli, tmp_path: Path) -> None:
    result = cli("policies", "lint", written(tmp_path, "p.json", DEAD), "--exit-zero")
    assert (result.code, "[contradictory-entries]" in result.out) == (0, True)


def test_json_has_the_fixed_records(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, "p.json", DEAD)
    (finding,) = cli("policies", "lint", path, "-o", "json").json()
    assert finding["path"] == path
    assert {key: finding[key] for key in ("line", "column", "severity", "rule")} == {
        "line": 2,
        "column": 8,
        "severity": "warning",
        "rule": "contradictory-entries",
    }


def test_a_clean_file_says_so_and_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, "r.json", {"MATCH": {"auth": {"team": "web"}}})
    result = cli("rules", "lint", path)
    assert (result.code, result.out, result.err) == (0, "", "rules: no findings\n")
    assert cli("rules", "lint", path, "-o", "json").out == "[]\n"


@pytest.mark.parametrize(
    ("document", "places"),
    [
        pytest.param([{"name": "p", "policy": NOTE_ONLY}], ["[0].policy.resources[1]"], id="a list of records"),
        pytest.param({"policies": {"p": NOTE_ONLY}}, ["policies.p.resources[1]"], id="by name"),
        pytest.param({"policies": [{"policy": NOTE_ONLY}]}, ["policies[0].policy.resources[1]"], id="records"),
        pytest.param(
            {"default_policies": {"p": {"description": "x", "policies": {"b": NOTE_ONLY}}}},
            ["default_policies.p.policies.b.resources[1]"],
            id="as services ship them",
        ),
        pytest.param(
            {"data": {"affected_items": [{"id": 1, "name": "p", "policy": NOTE_ONLY, "roles": [1]}]}, "error": 0},
            ["data.affected_items[0].policy.resources[1]"],
            id="the answer of an API",
        ),
        pytest.param([NOTE_ONLY, NOTE_ONLY], ["[0].resources[1]", "[1]"], id="a list of blocks is one policy"),
    ],
)  # fmt: skip
def test_policies_are_read_in_every_form(
    cli: Cli, tmp_path: Path, document: object, places: list[str]
) -> None:
    found = cli("policies", "lint", written(tmp_path, "p.json", document), "-o", "json").json()
    assert [finding["message"].partition(": ")[0] for finding in found] == places
    assert all(finding["line"] > 0 for finding in found)


def test_rules_of_one_file_are_compared(cli: Cli, tmp_path: Path) -> None:
    rule = {"FIND": {"team": "web"}}
    document = {"data": {"affected_items": [{"name": "a", "rule": rule}, {"name": "b", "rules": [rule]}]}}
    (finding,) = cli("rules", "lint", written(tmp_path, "r.json", document), "-o", "json").json()
    assert finding["rule"] == "duplicate-rule"
    assert finding["message"].startswith(
        "data.affected_items[1]: it asks for the same as `data.affected_items[0]`"
    )


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "a: [",
        '{"id": 1, "name": "r", "users": []}',
        "x: &a 1\ny: *a\n",
        '{"a": 1, "a": 2}',
        "a" * 300_000,
    ],
    ids=["empty", "broken", "no YAML", "a role", "anchors", "a key twice", "too large"],
)
def test_what_cannot_be_read_ends_with_7(cli: Cli, tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    assert cli("policies", "lint", str(path)).code in ((1, 7) if not content else (7,))


def test_a_missing_file_ends_with_7(cli: Cli) -> None:
    assert cli("policies", "lint", "./nothing-here.json").code == 7


def test_a_name_that_is_a_file_here_says_how_files_are_written(
    admin: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "p.json", NOTE_ONLY)
    result = admin("policies", "lint", "p.json")
    assert result.code == 5
    assert "for the file here: ./p.json" in result.err


def test_the_service_is_linted_with_a_login_only(service_home: Path, cli: Cli) -> None:
    assert cli("policies", "lint").code == 4


def test_a_new_service_is_clean(admin: Cli) -> None:
    assert admin("policies", "lint").code == 0
    result = admin("rules", "lint")
    assert (result.code, result.out.count("[broad-find]")) == (0, 2)


def test_files_and_stored_policies_together(admin: Cli, tmp_path: Path) -> None:
    assert admin("policies", "create", "mine", "--allow", "agent:read", "--on", "agent:id:*").code == 0
    found = admin("policies", "lint", "mine", written(tmp_path, "p.json", NOTE_ONLY), "-o", "json").json()
    assert [finding["rule"] for finding in found] == ["shadowed-entry", "unused-policy"]


def test_one_of_two_names_that_does_not_exist(admin: Cli) -> None:
    result = admin("policies", "lint", "agents_read", "nope", "-o", "sarif")
    assert result.code == 3
    assert result.json()["runs"][0]["results"] == []
    assert "policy `nope` does not exist" in result.err


def test_a_lint_rule_is_explained_without_login(cli: Cli) -> None:
    result = cli("policies", "lint", "--explain", "deny-only-user")
    assert (result.code, result.out.partition("\n")[0]) == (0, "deny-only-user (warning, policies)")
    record = cli("rules", "lint", "--explain", "broad-find", "-o", "json").json()
    assert (record["name"], record["about"]) == ("broad-find", ["rules"])
    assert cli("rules", "lint", "--explain", "brod-find").code == 2
    assert len(cli("rules", "lint", "--explain", "all", "-o", "json").json()) > 20


def test_an_unknown_format_suggests_the_nearest(cli: Cli) -> None:
    result = cli("policies", "lint", "-o", "sarff")
    assert (result.code, "did you mean `sarif`?" in result.err) == (2, True)


def test_control_characters_of_a_file_reach_no_output(cli: Cli, tmp_path: Path) -> None:
    document = {
        "\x1b[31mred\n": NOTE_ONLY,
        "b": {"actions": ["x\x1b"], "resources": ["\x07"], "effect": "\x1b"},
    }
    result = cli("policies", "lint", written(tmp_path, "p.json", document), terminal=True)
    assert result.code == 1
    assert not {"\x1b", "\x07"} & set(result.out.replace("\x1b[0m", ""))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            "no:\n  actions: []\n",
            ":1:1: error: not YAML: key `no` is not text; write it in quotes",
            id="a key",
        ),
        pytest.param(
            "a:\n  resources: [*:*:*]\n",
            ':2:16: error: not YAML: `*` without quotes begins an alias; write `"*:*:*"`, with the quotes',
            id="a star",
        ),
    ],
)
def test_traps_of_yaml_are_named(cli: Cli, tmp_path: Path, text: str, said: str) -> None:
    result = cli("policies", "lint", written(tmp_path, "p.yaml", text))
    assert (result.code, said in result.err) == (7, True)


RULE = {"FIND": {"team": "web"}}


@pytest.mark.parametrize(
    ("document", "noun", "held"),
    [
        pytest.param(RULE, "policies", "rules", id="a rule"),
        pytest.param([RULE, RULE], "policies", "rules", id="a list of expressions"),
        pytest.param([{"name": "r", "rule": RULE}], "policies", "rules", id="records of rules"),
        pytest.param(NOTE_ONLY, "rules", "policies", id="a policy"),
        pytest.param({"web": NOTE_ONLY}, "rules", "policies", id="a block by name"),
        pytest.param(
            {"policies": {"web": {"policy": NOTE_ONLY}}}, "rules", "policies", id="policies by name"
        ),
    ],
)
def test_a_file_of_the_other_kind_is_told_apart(
    cli: Cli, tmp_path: Path, document: object, noun: str, held: str
) -> None:
    path = written(tmp_path, "p.json", document)
    result = cli(noun, "lint", path)
    assert (result.code, f"these are {held}, not {noun}" in result.err) == (7, True)
    assert f"fix: mgmtctl {held} lint {path}" in result.err
    assert cli(held, "lint", path).code in (0, 1)


def test_a_file_of_neither_kind_is_called_neither(cli: Cli, tmp_path: Path) -> None:
    roles = {"data": {"affected_items": [{"id": 1, "name": "team", "policies": [1], "rules": [2]}]}}
    result = cli("policies", "lint", written(tmp_path, "roles.json", roles))
    assert (result.code, "no policy in it" in result.err) == (7, True)


def test_a_rule_about_keys_of_policies_is_a_rule(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, "r.json", {"FIND": {"actions": "a", "effect": "allow"}})
    assert cli("rules", "lint", path).code == 0
