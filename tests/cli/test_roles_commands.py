"""`mgmtctl roles ...` as command lines."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]
RULE = '{"FIND": {"office": "north"}}'


def test_a_role_is_made_linked_shown_and_deleted(admin: Cli) -> None:
    assert admin("roles", "create", "web", "-n").err == "dry run: would create role `web` with id 100\n"
    assert admin("roles", "create", "web").err == "created role `web` with id 100\n"
    assert admin("roles", "add-policy", "web", "agents_read", "27").code == 0
    assert admin("rules", "create", "north", "-f", "-", stdin=RULE).code == 0
    assert admin("roles", "add-rule", "web", "north").code == 0
    shown = admin("roles", "show", "web", "-o", "json").json()
    assert shown == {"id": "100", "name": "web", "policies": ["3", "27"], "users": [], "rules": ["100"]}
    assert admin("roles", "remove-policy", "web", "27").code == 0
    assert admin("roles", "remove-rule", "web", "north").code == 0
    assert admin("roles", "show", "web", "-o", "json").json()["policies"] == ["3"]
    assert admin("roles", "rm", "web", "--yes").err == "deleted role `web`\n"
    assert admin("roles", "show", "web").code == 5


def test_lists_are_asked_and_cut(admin: Cli) -> None:
    assert admin("roles", "list", "--where", "name~agents", "-o", "id").out == "2\n3\n"
    assert admin(
        "roles", "list", "--sort", "-id", "--limit", "1", "--select", "name", "-o", "json"
    ).json() == [{"name": "users_admin"}]
    assert admin("roles", "list", "--where", "nme=x").code == 2
    envelope = admin("roles", "list", "--envelope", "--limit", "2").json()
    assert (len(envelope["data"]["affected_items"]), envelope["data"]["total_affected_items"]) == (2, 7)


def test_a_role_is_set_by_name_and_from_a_file(admin: Cli, tmp_path: Path) -> None:
    admin("roles", "create", "web")
    path = tmp_path / "web.json"
    path.write_text(json.dumps({"policies": ["agents_read", "task_status"]}))
    changed = admin("roles", "set", "web", "--name", "team", "-f", str(path), "-o", "json").json()
    assert (changed["name"], len(changed["policies"])) == ("team", 2)
    again = admin(
        "roles", "set", "team", "-f", "-", "-o", "json", stdin=json.dumps({**changed, "policies": ["3"]})
    )
    assert again.json()["policies"] == ["3"]


def test_a_role_is_edited_as_json(admin: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    admin("roles", "create", "web")
    path = tmp_path / "editor.sh"
    path.write_text('#!/bin/sh\nsed -i \'s/"policies": \\[\\]/"policies": ["agents_read"]/\' "$1"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", str(path))
    assert (
        admin("roles", "edit", "web", terminal=True).err == "changed role `web`: policy `agents_read` added\n"
    )
    assert admin("roles", "show", "web", "-o", "json").json()["policies"] == ["3"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        pytest.param(["create", "readonly"], 9, "role `readonly` exists", id="taken"),
        pytest.param(["create", "a b"], 7, "cannot name a role", id="bad name"),
        pytest.param(["delete", "readonly", "--yes"], 9, "reserved", id="delete a reserved role"),
        pytest.param(["delete", "web"], 2, "--yes", id="delete asks"),
        pytest.param(["add-policy", "readonly", "agents_all"], 9, "reserved", id="link to a reserved role"),
        pytest.param(["add-policy", "web"], 2, "POLICY", id="no policy named"),
        pytest.param(["add-policy", "web", "absent"], 5, "policy `absent`", id="unknown policy"),
        pytest.param(["add-rule", "web", "1"], 9, "reserved", id="a reserved rule"),
        pytest.param(["set", "web", "-f", "-"], 7, "stdin", id="an empty document"),
        pytest.param(["show", "agents-admin"], 5, "role `agents-admin` does not exist", id="unknown role"),
        pytest.param(["edit", "web"], 2, "editing role `web` needs a terminal", id="edit without a terminal"),
        pytest.param(["set", "web"], 2, "`--name NAME` or `-f FILE`", id="set nothing"),
    ],
)
def test_refusals_have_their_exit_codes(admin: Cli, arguments: list[str], code: int, said: str) -> None:
    admin("roles", "create", "web")
    refused = admin("roles", *arguments)
    assert (refused.code, refused.out) == (code, "")
    assert said in refused.err


def test_a_part_that_fails_is_listed_and_the_rest_is_done(admin: Cli) -> None:
    admin("roles", "create", "web")
    partly = admin("roles", "add-policy", "web", "agents_read", "absent")
    assert (partly.code, "policy `absent` does not exist" in partly.err) == (3, True)
    assert admin("roles", "show", "web", "-o", "json").json()["policies"] == ["3"]


def test_a_dry_run_changes_nothing(admin: Cli) -> None:
    admin("roles", "create", "web")
    for arguments in (["add-policy", "web", "agents_read"], ["set", "web", "--name", "x"], ["delete", "web"]):
        assert admin("roles", *arguments, "-n").err.startswith("dry run: would ")
    assert admin("roles", "show", "web", "-o", "json").json() == {
        "id": "100", "name": "web", "policies": [], "users": [], "rules": [],
    }  # fmt: skip


def test_escalation_is_exit_6_and_names_what_is_lacking(admin: Cli) -> None:
    password = "Secret-phrase-1"
    admin("roles", "create", "web")
    policy = {
        "a": {
            "actions": ["security:update", "security:read"],
            "resources": ["role:id:*", "policy:id:*"],
            "effect": "allow",
        }
    }
    admin("policies", "create", "access", "-f", "-", stdin=json.dumps(policy))
    admin("roles", "create", "access")
    admin("roles", "add-policy", "access", "access")
    admin("users", "create", "ann", "--password-stdin", "--role", "access", stdin=password)
    admin("login", "-u", "ann", "--password-stdin", stdin=password)
    refused = admin("roles", "add-policy", "web", "agents_read")
    assert refused.code == 6
    assert "permission denied: agent:read on agent:" in refused.err
    assert "nobody gives what he does not hold" in refused.err
    facts = json.loads(admin("roles", "add-policy", "web", "agents_read", "-o", "json").err)
    assert {"action": "group:read", "resource": "group:id:*"} in facts["lacking"]


def test_rows_have_names_and_json_has_ids(admin: Cli) -> None:
    admin("roles", "create", "web")
    admin("roles", "add-policy", "web", "agents_read", "task_status")
    admin("users", "create", "ann", "--password-stdin", "--role", "web", stdin="Secret-phrase-1")
    for arguments in (["list", "--where", "name=web"], ["list", "--where", "policies=task_status;users=ann"]):
        rows = admin("roles", *arguments).out.splitlines()
        assert rows == ["id\tname\tusers\trules\tpolicies", "100\tweb\tann\t\tagents_read,task_status"]
    (record,) = admin("roles", "list", "--where", "name=web", "-o", "json").json()
    assert (record["users"], record["policies"][0]) == (["100"], "3")
    envelope = admin("roles", "list", "--where", "name=web", "--envelope").json()
    assert envelope["data"]["affected_items"] == [record]


def test_rules_and_policies_that_are_linked_already_are_named(admin: Cli) -> None:
    admin("roles", "create", "web")
    admin("rules", "create", "north", "-f", "-", stdin=RULE)
    for verb, noun, other, before in (
        ("add", "policy", "agents_read", "has policy `agents_read` already"),
        ("add", "rule", "north", "has rule `north` already"),
        ("remove", "policy", "agents_read", "does not have policy `agents_read`"),
        ("remove", "rule", "north", "does not have rule `north`"),
    ):
        did = admin("roles", f"{verb}-{noun}", "100", other)
        ended = "added" if verb == "add" else "removed"
        assert did.err == f"changed role `web`: {noun} `{other}` {ended}\n"
        assert admin("roles", f"{verb}-{noun}", "web", other).err == f"role `web` {before}\n"
