"""`mgmtctl policies ...` as command lines: forms of a policy, findings with their places."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]
BLOCK = {"actions": ["agent:read"], "resources": ["agent:group:web"], "effect": "allow"}
YAML = """\
# who looks after the web servers
see:
  actions: [agent:read]
  resources:
    - agent:group:web
  effect: allow
"""


@pytest.mark.parametrize(
    ("arguments", "effect"), [(["--allow", "agent:read"], "allow"), (["--deny", "agent:read"], "deny")]
)
def test_options_make_one_block_named_like_the_policy(admin: Cli, arguments: list[str], effect: str) -> None:
    made = admin(
        "policies", "create", "web", *arguments, "--on", "agent:id:7,agent:group:web", "-o", "json"
    ).json()
    assert made == {
        "id": "100",
        "name": "web",
        "blocks": {
            "web": {
                "actions": ["agent:read"],
                "resources": ["agent:id:007", "agent:group:web"],
                "effect": effect,
            }
        },
        "roles": [],
    }


@pytest.mark.parametrize(
    ("name", "text", "block"),
    [
        pytest.param("p.json", json.dumps(BLOCK), "web", id="json, one block"),
        pytest.param(
            "p.json", "\ufeff" + json.dumps({"see": BLOCK}), "see", id="json with a byte order mark"
        ),
        pytest.param("p.yaml", YAML, "see", id="yaml"),
        pytest.param("p.yml", json.dumps({"see": BLOCK}), "see", id="json in a yaml file"),
        pytest.param("p.txt", YAML, "see", id="yaml by its look"),
    ],
)
def test_a_file_is_read_as_json_or_yaml(admin: Cli, tmp_path: Path, name: str, text: str, block: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    made = admin("policies", "create", "web", "-f", str(path), "-o", "json")
    assert (made.code, made.json()["blocks"]) == (0, {block: BLOCK})


def test_what_show_prints_can_be_created_again(admin: Cli) -> None:
    for form in ("json", "yaml"):
        shown = admin("policies", "show", "agents_all", "-o", form).out
        again = admin("policies", "create", f"again-{form}", "-f", "-", "-o", "json", stdin=shown)
        assert again.json()["blocks"] == admin("policies", "show", "1", "-o", "json").json()["blocks"]


def test_every_finding_has_its_place_in_a_json_file(admin: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(
        '{"blocks": {\n  "see": {"actions": ["agent:raed"],\n          "resources": ["agent:id"],\n'
        '          "effect": "Allow"}}}\n'
    )
    refused = admin("policies", "create", "web", "-f", str(path))
    places = [line.split(": error: ")[0] for line in refused.err.splitlines()[:3]]
    assert (refused.code, places) == (7, [f"{path}:2:23", f"{path}:3:25", f"{path}:4:21"])
    assert "did you mean `agent:read`?" in refused.err
    assert admin("policies", "show", "web").code == 5


def test_findings_are_facts_of_the_json_error(admin: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(YAML.replace("agent:read", "agent:raed"))
    refused = admin("policies", "create", "web", "-f", str(path), "-o", "json")
    (finding,) = json.loads(refused.err)["findings"]
    assert (finding["path"], finding["line"], finding["column"]) == (str(path), 3, 13)
    assert (finding["rule"], finding["severity"]) == ("unknown-action", "error")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("{", "stdin:1:2: error: not JSON", id="json cut off"),
        pytest.param('{"a": 1, "a": 2}', "given twice", id="json, a key twice"),
        pytest.param('{"a": NaN}', "NaN", id="json, no number"),
        pytest.param("a: [1", "stdin:1:6: error: not YAML", id="yaml cut off"),
        pytest.param(
            "a: {}\na: {}\n", "stdin:2:1: error: not YAML: key `a` is given twice", id="yaml, a key twice"
        ),
        pytest.param("a: &x {}\nb: *x\n", "anchors are not used here", id="yaml, an anchor"),
        pytest.param("a: !!python/object:os.system {}\n", "not YAML", id="yaml, a tag"),
        pytest.param("1: {}\n", "key `1` is not text; write it in quotes", id="yaml, a number as key"),
        pytest.param("a: {actions: 2020-01-01}\n", "expected a list", id="yaml, a date"),
        pytest.param("", "expected an object", id="nothing"),
        pytest.param("[]", "expected an object", id="a list"),
        pytest.param("a: " + "[" * 5000, "", id="yaml, very deep"),
        pytest.param("[" * 100_000, "", id="json, very deep"),
        pytest.param("\x00", "", id="a control character"),
        pytest.param(b"\xff\xfe".decode("latin-1"), "", id="not UTF-8"),
    ],
)
def test_what_is_no_policy_is_exit_7_and_never_a_traceback(admin: Cli, text: str, said: str) -> None:
    refused = admin("policies", "create", "web", "-f", "-", stdin=text.encode("latin-1"))
    assert (refused.code, refused.out) == (7, "")
    assert said in refused.err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--allow", "agent:read"],
        ["--on", "agent:id:*"],
        ["--allow", "agent:read", "--deny", "agent:read", "--on", "agent:id:*"],
        ["-f", "-", "--allow", "agent:read", "--on", "agent:id:*"],
    ],
)
def test_half_a_block_is_a_usage_error(admin: Cli, arguments: list[str]) -> None:
    assert admin("policies", "create", "web", *arguments).code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--allow", "agent:raed", "--on", "agent:id:*"], "did you mean `agent:read`?"),
        (["--allow", "agent:read", "--on", "*:*:*"], "agent:read needs agent:id or agent:group"),
        (["--allow", "", "--on", "agent:id:*"], "the list is empty"),
        (["--allow", "agent:read", "--on", "agent:id:7*"], "`*` stands for the whole value only"),
    ],
)
def test_a_block_that_cannot_work_is_refused_with_the_reason(
    admin: Cli, arguments: list[str], said: str
) -> None:
    refused = admin("policies", "create", "web", *arguments)
    assert (refused.code, said in refused.err) == (7, True)


def test_a_policy_is_set_and_deleted(admin: Cli) -> None:
    admin("policies", "create", "web", "--allow", "agent:read", "--on", "agent:group:web")
    changed = admin("policies", "set", "web", "--name", "w", "-f", "-", "-o", "json", stdin=YAML).json()
    assert (changed["name"], list(changed["blocks"])) == ("w", ["see"])
    assert admin("policies", "set", "w").code == 2
    assert admin("policies", "set", "agents_read", "--name", "x").code == 9
    assert admin("policies", "delete", "w").code == 2
    assert admin("policies", "delete", "w", "--yes").err == "deleted policy `w`\n"


def test_an_edit_is_checked_and_can_be_mended_before_it_is_saved(
    admin: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin("policies", "create", "web", "--allow", "agent:read", "--on", "agent:group:web")
    path = tmp_path / "editor.sh"
    path.write_text(
        "#!/bin/sh\n"
        'if grep -q raed "$1"; then sed -i s/agent:raed/agent:delete/ "$1"; '
        'else sed -i s/agent:read/agent:raed/ "$1"; fi\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(path))
    refused = admin("policies", "edit", "web", terminal=True, stdin="n\n")
    assert (refused.code, "unknown-action" in refused.err) == (1, True)
    assert admin("policies", "show", "web", "-o", "json").json()["blocks"]["web"]["actions"] == ["agent:read"]
    mended = admin("policies", "edit", "web", terminal=True, stdin="y\n")
    assert (mended.code, mended.err.splitlines()[-1]) == (
        0,
        "edit it again? [y/N] changed policy `web`: block `web` changed",
    )
    assert admin("policies", "show", "web", "-o", "json").json()["blocks"]["web"]["actions"] == [
        "agent:delete"
    ]


def test_an_editor_that_fails_saves_nothing(admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in ("false", "/nowhere/editor", "'"):
        monkeypatch.setenv("EDITOR", command)
        assert admin("policies", "edit", "agents_read", terminal=True).code == 74


def test_a_policy_is_a_page_on_a_terminal_and_rows_in_a_pipe(admin: Cli) -> None:
    actions = "agent:read,agent:restart"
    admin("policies", "create", "web", "--allow", actions, "--on", "agent:group:web")
    admin("roles", "create", "team")
    admin("roles", "add-policy", "team", "web")
    assert admin("policies", "show", "web", terminal=True).out.splitlines() == [
        "id     100",
        "name   web",
        "roles  team",
        "block web",
        "  effect     allow",
        "  actions    agent:read",
        "             agent:restart",
        "  resources  agent:group:web",
    ]
    assert "\nroles\tteam\n" in admin("policies", "show", "web").out
    assert admin("policies", "show", "web", "-o", "json", terminal=True).json()["roles"] == ["100"]


def test_entries_are_put_in_and_taken_out(admin: Cli) -> None:
    admin("policies", "create", "web", "--allow", "agent:read", "--on", "agent:group:web")
    words = ["web", "--allow", "agent:read,agent:restart", "--on", "agent:id:7"]
    tried = admin("policies", "add-entry", *words, "-n")
    assert (tried.code, tried.err.splitlines()[0]) == (
        0,
        "dry run: would change policy `web`: block `agent_read` added",
    )
    added = admin("policies", "add-entry", *words, "-o", "json")
    assert added.json()["blocks"]["agent_read"] == {
        "actions": ["agent:read", "agent:restart"],
        "resources": ["agent:id:007"],
        "effect": "allow",
    }
    assert admin("policies", "add-entry", *words).err == "nothing to change in policy `web`\n"
    gone = admin("policies", "remove-entry", "web", "--allow", "agent:restart", "--on", "agent:id:007")
    assert gone.err == "changed policy `web`: block `agent_read` changed\n"
    assert (
        admin("policies", "remove-entry", *words).err == "changed policy `web`: block `agent_read` removed\n"
    )
    emptied = admin("policies", "remove-entry", "web", "--allow", "agent:read", "--on", "agent:group:web")
    assert (emptied.code, "would be left without any entry" in emptied.err) == (9, True)


def test_an_entry_may_go_into_a_block_that_is_named(admin: Cli) -> None:
    admin("policies", "create", "web", "--allow", "agent:read", "--on", "agent:group:web")
    words = ["--on", "agent:group:db", "--block", "web"]
    assert admin("policies", "add-entry", "web", "--allow", "agent:read", *words).code == 0
    refused = admin("policies", "add-entry", "web", "--allow", "agent:restart", *words)
    assert (refused.code, "it would also allow agent:re" in refused.err) == (9, True)


@pytest.mark.parametrize("verb", ["add-entry", "remove-entry"])
@pytest.mark.parametrize(
    "arguments", [[], ["--allow", "agent:read"], ["--allow", "x", "--deny", "y", "--on", "agent:id:*"]]
)
def test_an_entry_needs_an_effect_and_resources(admin: Cli, verb: str, arguments: list[str]) -> None:
    refused = admin("policies", verb, "agents_read", *arguments)
    assert (refused.code, refused.err.splitlines()[0]) == (2, "error: expected actions with resources")
