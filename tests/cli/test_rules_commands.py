"""`mgmtctl rules ...` and `mgmtctl actions ...` as command lines."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]
ONE = {"FIND": {"office": "north"}}
OTHER = {"NOT": {"MATCH$": {"name": "visitor"}}}


@pytest.mark.parametrize(
    ("document", "expressions"),
    [
        pytest.param(ONE, [ONE], id="one expression"),
        pytest.param([ONE, OTHER], [ONE, OTHER], id="a list"),
        pytest.param({"rule": OTHER}, [OTHER], id="rule"),
        pytest.param({"id": "7", "name": "x", "roles": ["1"], "rules": [ONE]}, [ONE], id="a record"),
    ],
)
def test_every_form_of_a_rule_can_be_created(admin: Cli, document: object, expressions: list[object]) -> None:
    made = admin("rules", "create", "north", "-f", "-", "-o", "json", stdin=json.dumps(document)).json()
    assert (made["id"], made["name"], made["rules"], made["roles"]) == ("100", "north", expressions, [])


def test_what_show_prints_can_be_set_again(admin: Cli) -> None:
    admin("rules", "create", "north", "-f", "-", stdin=json.dumps(ONE))
    shown = admin("rules", "show", "wui_stackb_admin", "-o", "json")
    changed = admin(
        "rules", "set", "north", "--name", "south", "-f", "-", "-o", "json", stdin=shown.out
    ).json()
    assert (changed["name"], changed["rules"]) == ("south", [{"FIND": {"user_name": "admin"}}])


def test_a_rule_can_be_yaml_as_a_policy_can(admin: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rule.yml"
    path.write_text("# who\nFIND: {level: 1}\n")
    made = admin("rules", "create", "north", "-f", str(path), "-o", "json").json()
    assert made["rules"] == [{"FIND": {"level": 1}}]
    path.write_text("AND:\n  - FINDS: {level: 2}\n")
    refused = admin("rules", "set", "north", "-f", str(path))
    assert (refused.code, refused.err.startswith(f"{path}:2:12: error: ")) == (7, True), refused.err
    set_ = admin("rules", "set", "north", "-f", "-", "-o", "json", stdin="FIND: {level: 3}\n").json()
    assert set_["rules"] == [{"FIND": {"level": 3}}]


def test_findings_have_their_place_in_the_file(admin: Cli, tmp_path: Path) -> None:
    path = tmp_path / "rule.json"
    path.write_text('{"AND": [\n  {"FINDS": {"a": 1}},\n  {"FIND": {}}\n]}\n')
    refused = admin("rules", "create", "north", "-f", str(path))
    assert refused.code == 7
    assert refused.err.startswith(f"{path}:2:")
    assert "did you mean `FIND`?" in refused.err
    assert f"{path}:3:" in refused.err


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        pytest.param(["create", "north"], "", 2, id="no file"),
        pytest.param(["create", "north", "-f", "-"], "{}", 7, id="no operator"),
        pytest.param(["create", "north", "-f", "-"], "FIND: &a {a: 1}", 7, id="yaml with an anchor"),
        pytest.param(["create", "12", "-f", "-"], json.dumps(ONE), 7, id="digits only"),
        pytest.param(["create", "wui_stacka_admin", "-f", "-"], json.dumps(ONE), 9, id="taken"),
        pytest.param(["set", "1", "-f", "-"], json.dumps(ONE), 9, id="reserved"),
        pytest.param(["set", "absent", "--name", "x"], "", 5, id="unknown"),
        pytest.param(["delete", "1"], "", 2, id="delete asks"),
        pytest.param(["delete", "1", "--yes"], "", 9, id="delete a reserved rule"),
        pytest.param(["edit", "1"], "", 2, id="edit without a terminal"),
        pytest.param(["set", "1"], "", 2, id="set nothing"),
    ],
)
def test_refusals_have_their_exit_codes(admin: Cli, arguments: list[str], stdin: str, code: int) -> None:
    refused = admin("rules", *arguments, stdin=stdin)
    assert (refused.code, refused.out) == (code, "")


def test_a_rule_is_edited_as_json(admin: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    admin("rules", "create", "north", "-f", "-", stdin=json.dumps(ONE))
    path = tmp_path / "editor.sh"
    path.write_text('#!/bin/sh\nsed -i s/north/south/ "$1"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(path))
    assert admin("rules", "edit", "north", terminal=True).err == (
        "changed rule `south`: name `north` -> `south`, expressions replaced\n"
    )
    assert admin("rules", "show", "south", "-o", "json").json()["rules"] == [{"FIND": {"office": "south"}}]


def test_rules_are_listed_and_deleted(admin: Cli) -> None:
    admin("rules", "create", "north", "-f", "-", stdin=json.dumps(ONE))
    assert admin("rules", "list", "--search", "north", "-o", "id").out == "100\n"
    assert admin("rules", "ls").out.splitlines()[0] == "id\tname\troles"
    assert admin("rules", "delete", "north", "-y").err == "deleted rule `north`\n"


def test_actions_are_listed_in_the_fixed_form(admin: Cli) -> None:
    from mgmtctl.domain.actions import ACTIONS

    listed = admin("actions", "list", "-o", "json").json()
    assert [action["name"] for action in listed] == list(ACTIONS)
    assert set(listed[0]) == {"name", "description", "endpoints", "resources", "deprecated"}
    assert admin(
        "actions", "list", "--where", "deprecated!=null", "--select", "name", "-o", "value"
    ).out.split() == [name for name, action in ACTIONS.items() if action.deprecated]


def test_the_actions_of_an_endpoint_are_told(admin: Cli) -> None:
    asked = admin("actions", "list", "--endpoint", "PUT /agents/group", "--select", "name", "-o", "value")
    assert set(asked.out.split()) == {"agent:modify_group", "group:modify_assignments"}
    assert admin("actions", "list", "--endpoint", "PUT /agents/grp").code == 2


def test_one_action_is_shown_and_an_unknown_one_is_exit_2(admin: Cli) -> None:
    shown = admin("actions", "show", "syscollector:read", "-o", "json").json()
    assert shown["resources"] == ["agent:id", "agent:group"]
    unknown = admin("actions", "show", "agent:raed")
    assert (unknown.code, "did you mean `agent:read`?" in unknown.err) == (2, True)
    assert admin("actions", "show").code == 2


def test_a_fault_under_an_odd_key_has_its_place_too(admin: Cli) -> None:
    text = '{"FIND": {"office hours": {"from.to": []}}}'
    refused = admin("rules", "create", "north", "-f", "-", stdin=text)
    assert refused.code == 7
    assert refused.err.startswith(f"stdin:1:{text.index('[]') + 1}: error: ")


def test_a_rule_is_a_page_on_a_terminal(admin: Cli) -> None:
    admin("rules", "create", "north", "-f", "-", stdin=json.dumps(ONE))
    admin("rules", "create", "both", "-f", "-", stdin=json.dumps([ONE, OTHER]))
    head, _, text = admin("rules", "show", "north", terminal=True).out.partition("rule\n")
    assert (head, json.loads(text)) == ("id     100\nname   north\nroles\n", ONE)
    assert text.splitlines()[1] == '    "FIND": {'
    _, _, text = admin("rules", "show", "both", terminal=True).out.partition("rules\n")
    assert json.loads(text) == [ONE, OTHER]


def test_rows_tell_a_rule_once(admin: Cli) -> None:
    names = [line.split("\t")[0] for line in admin("rules", "show", "1").out.splitlines()]
    assert names == ["id", "name", "rules", "roles"]
    assert set(admin("rules", "show", "1", "-o", "json").json()) == {"id", "name", "rules", "rule", "roles"}


def test_an_action_has_its_endpoints_on_lines_of_their_own(admin: Cli) -> None:
    lines = admin("actions", "show", "agent:create", terminal=True).out.splitlines()
    assert lines[0] == "name         agent:create"
    assert all("POST" in line or "PUT" in line for line in lines[lines.index("resources    *:*") + 1 :])


def test_the_kinds_of_resources_are_listed(admin: Cli) -> None:
    from mgmtctl.domain.resources import KINDS

    listed = admin("actions", "resources", "-o", "json").json()
    assert [kind["name"] for kind in listed] == list(KINDS)
    assert (
        admin("actions", "resources", "agent:group", "--select", "value", "-o", "value").out == "group name\n"
    )
    assert admin("actions", "resources", "agent:grop").code == 2
