"""`mgmtctl policies test` and `rules test`: what is shown, what is written, and how it ends."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Result
from tests.domain.test_access_tables import ACCESS, OTHER_TABLES, RULE_TABLES

Cli = Callable[..., Result]

TABLE = """\
agents: {"001": [default, web]}
policies:
  web: {actions: [agent:read], resources: [agent:group:web], effect: allow}
  idle: {actions: [agent:restart], resources: [agent:group:web], effect: allow}
roles: {team: [web]}
users: {ada: [team]}
cases:
  - {user: ada, action: agent:read, resource: agent:id:001, expected: allow}
"""
FAILING = '  - {user: ada, action: agent:restart, resource: agent:id:001, expected: allow, note: "she\\u009bmust"}\n'
RULES = """\
rules: {staff: {FIND: {groups: web}}}
cases:
  - {context_file: ada.json, rules: [staff]}
"""
STORED = "cases:\n  - {user: admin, action: agent:create, resource: '*:*:*', expected: allow}\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with tables in it."""
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "good.yml").write_text(TABLE, encoding="utf-8")
    (folder / "bad.yml").write_text(TABLE + FAILING, encoding="utf-8")
    (folder / "rules.yml").write_text(RULES, encoding="utf-8")
    (folder / "stored.yml").write_text(STORED, encoding="utf-8")
    (folder / "ada.json").write_text('{"name": "ada", "auth": {"groups": ["web"]}}', encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


def read_xml(path: Path) -> ElementTree.Element:
    return ElementTree.fromstring(path.read_bytes())  # noqa: S314 - it is our own


def tables(*, rules: bool) -> list[Any]:
    return [
        pytest.param(path, id=path.stem)
        for path in sorted(ACCESS.glob("*.yml"))
        if path.stem.startswith(RULE_TABLES) is rules and path.stem not in OTHER_TABLES
    ]


@pytest.mark.parametrize("table", tables(rules=False))
def test_the_tables_of_decisions_pass(cli: Cli, table: Path) -> None:
    result = cli("policies", "test", str(table))
    assert (result.code, result.out) == (0, "")
    assert result.err.endswith("all passed\n")


@pytest.mark.parametrize("table", tables(rules=True))
def test_the_tables_of_rules_pass(cli: Cli, table: Path) -> None:
    result = cli("rules", "test", str(table))
    assert (result.code, result.out) == (0, "")


@pytest.mark.parametrize("table", tables(rules=False))
def test_a_table_that_expects_the_opposite_fails_in_every_case(cli: Cli, table: Path) -> None:
    text = table.read_text("utf-8")
    turned = text.replace(": allow", ": ALLOW").replace(": deny", ": allow").replace(": ALLOW", ": deny")
    turned = turned.replace("effect: deny", "effect: ALLOW").replace("effect: allow", "effect: deny")
    turned = turned.replace("effect: ALLOW", "effect: allow")
    result = cli("policies", "test", "-", "-o", "json", stdin=turned)
    assert result.code == 1
    assert [found["case"] for found in result.json() if found["passed"]] == []
    assert len(result.json()) == 2 * text.count("user: ")


def test_nothing_is_shown_of_what_passes(cli: Cli, here: Path) -> None:
    assert cli("policies", "test", "good.yml") == Result(0, "", "1 case: all passed\n", b"")
    assert cli("policies", "test", "good.yml", "-q").err == ""


def test_a_failure_stands_with_its_place_and_its_reasons(cli: Cli, here: Path) -> None:
    result = cli("policies", "test", "good.yml", "bad.yml")
    lines = result.out.splitlines()
    assert result.code == 1
    assert lines[:4] == [
        "bad.yml:9:5: ada agent:restart agent:id:001 (mode white)",
        "  expected allow",
        "  got      deny",
        "  note     she\x9bmust",
    ]
    assert lines[4].strip() == "denied (mode white): agent:restart on agent:id:001"
    assert result.err == "3 cases: 2 passed, 1 failed\n"


def test_no_control_character_reaches_a_terminal(cli: Cli, here: Path) -> None:
    result = cli("policies", "test", "bad.yml", terminal=True)
    assert "\x9b" not in result.out
    assert "she\\x9bmust" in result.out


def test_json_has_every_result(cli: Cli, here: Path) -> None:
    passed, failed = cli("policies", "test", "bad.yml", "-o", "json").json()
    assert (passed["passed"], passed["expected"], passed["got"], passed["reasons"]) == (
        True,
        "allow",
        "allow",
        [],
    )
    assert (failed["path"], failed["line"], failed["column"], failed["mode"]) == ("bad.yml", 9, 5, "white")
    assert (failed["passed"], failed["error"], failed["got"]) == (False, False, "deny")
    assert failed["decision"]["allowed"] is False


def test_coverage_says_what_no_case_exercised(cli: Cli, here: Path) -> None:
    result = cli("policies", "test", "good.yml", "--coverage")
    assert result.code == 0
    assert result.out.splitlines() == [
        "coverage: 1 of 2 policies, 1 of 2 blocks, 1 of 2 entries",
        "  no case: policy idle",
    ]
    found = cli("policies", "test", "good.yml", "--coverage", "-o", "json").json()
    assert [case["passed"] for case in found["results"]] == [True]
    (coverage,) = found["coverage"]
    assert (coverage["path"], coverage["policies"][1]["exercised"]) == ("good.yml", False)


def test_coverage_of_rules_is_of_their_nodes(cli: Cli, here: Path) -> None:
    result = cli("rules", "test", "rules.yml", "--coverage")
    assert result.out.splitlines() == [
        "coverage: 0 of 1 rules, 0 of 1 nodes were both true and false",
        '  never false: rule staff, FIND: FIND {"groups": "web"}',
    ]


def test_junit_tells_failures_apart(cli: Cli, here: Path) -> None:
    (here / "results.xml").write_text("what was there before")
    assert cli("policies", "test", "bad.yml", "good.yml", "--junit", "results.xml").code == 1
    root = read_xml(here / "results.xml")
    counts = {name: root.get(name) for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "3", "failures": "1", "errors": "0"}
    assert [suite.get("name") for suite in root] == ["bad.yml", "good.yml"]
    (failure,) = root.iter("failure")
    assert failure.get("message") == "expected allow, got deny"
    assert "she\\x9bmust" in str(failure.text)
    assert [test.get("line") for test in root.iter("testcase")] == ["8", "9", "8"]


def test_junit_is_written_when_all_pass_too(cli: Cli, here: Path) -> None:
    assert cli("rules", "test", "rules.yml", "--junit", "results.xml").code == 0
    assert read_xml(here / "results.xml").get("failures") == "0"


@pytest.mark.parametrize(
    ("table", "code", "said"),
    [
        pytest.param("broken.yml", 7, "broken.yml:1:8: error: not YAML", id="no table"),
        pytest.param("stored.yml", 4, "not logged in", id="nobody is logged in"),
    ],
)
def test_junit_of_a_run_that_did_not_take_place_is_one_error(
    cli: Cli, service_home: Path, here: Path, table: str, code: int, said: str
) -> None:
    (here / "broken.yml").write_text("cases: }")
    (here / "results.xml").write_text("what was there before")
    assert cli("policies", "test", "good.yml", table, "--junit", "results.xml").code == code
    root = read_xml(here / "results.xml")
    assert [root.get(name) for name in ("tests", "failures", "errors")] == ["1", "0", "1"]
    (error,) = root.iter("error")
    assert said in str(error.text)


def test_a_case_that_cannot_be_decided_says_why_once(admin: Cli, here: Path) -> None:
    result = admin("policies", "test", "-", stdin=STORED.replace("admin", "nobody"), terminal=True)
    assert result.out.count("user `nobody` does not exist") == 1


def test_junit_that_cannot_be_written_is_an_error(cli: Cli, here: Path) -> None:
    result = cli("policies", "test", "good.yml", "--junit", "none/results.xml")
    assert result.code == 74
    assert "cannot write `none/results.xml`" in result.err


@pytest.mark.parametrize("place", ["store.db", "agents/results.xml", "../tables/way/store.db"])
def test_junit_is_not_written_into_the_data_folder(
    cli: Cli, service_home: Path, here: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    from mgmtctl.settings import Settings

    data = Settings().data
    (here / "way").symlink_to(data)
    before = (data / "store.db").read_bytes()
    path = here / place if place.startswith("..") else data / place
    result = cli("policies", "test", "good.yml", "--junit", str(path))
    assert (result.code, "it lies in the data folder" in result.err) == (74, True)
    assert (data / "store.db").read_bytes() == before
    assert not list(data.rglob("results.xml*"))


def test_junit_replaces_a_file_whole_and_follows_no_link(cli: Cli, here: Path) -> None:
    (here / "mine").write_text("mine")
    os.link(here / "mine", here / "results.xml")
    (here / "link.xml").symlink_to("mine")
    assert cli("policies", "test", "good.yml", "--junit", "results.xml").code == 0
    assert cli("policies", "test", "good.yml", "--junit", "link.xml").code == 74
    assert (here / "mine").read_text() == "mine"
    assert read_xml(here / "results.xml").get("tests") == "1"
    assert [path.name for path in here.glob("results.xml*")] == ["results.xml"]


def test_junit_can_go_to_a_device(cli: Cli, here: Path) -> None:
    assert cli("policies", "test", "good.yml", "--junit", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


LONG_NUMBERS = {"hex": "0x" + "f" * 5_000, "binary": "0b" + "1" * 20_000, "base 60": ":".join(["59"] * 3_000)}


@pytest.mark.parametrize("number", LONG_NUMBERS.values(), ids=LONG_NUMBERS)
def test_a_number_beyond_all_measure_is_refused(cli: Cli, here: Path, number: str) -> None:
    (here / "long.yml").write_text(f"FIND:\n  level: {number}\n")
    (here / "table.yml").write_text(RULES.replace("groups: web", f"groups: {number}"))
    for words in (
        ("rules", "lint", "./long.yml"),
        ("rules", "test", "table.yml"),
        ("policies", "test", "table.yml"),
    ):
        result = cli(*words)
        assert (result.code, "is too long for a number: at most 1000" in result.err) == (7, True), result.err


def test_a_table_with_an_odd_name_keeps_to_its_lines(cli: Cli, here: Path) -> None:
    (here / "bad.yml").rename(here / "bad\n1.yml")
    assert cli("policies", "test", "bad\n1.yml").out.startswith("bad\\n1.yml:9:5: ")
    (here / "broken\n1.yml").write_text("cases: }")
    assert cli("policies", "test", "broken\n1.yml").err.startswith("broken\\n1.yml:1:8: error: ")


def test_a_context_file_lies_beside_its_table(cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(here.parent)
    assert cli("rules", "test", "tables/rules.yml").code == 0
    assert cli("rules", "test", "-", stdin=RULES).code == 7


def test_a_draft_of_a_rule_is_told_apart(cli: Cli, here: Path) -> None:
    (here / "other.json").write_text('{"user_name": "bob", "groups": []}', encoding="utf-8")
    draft = {
        "rules": {"draft": {"FIND": {"groups": "web"}}},
        "cases": [
            {"context_file": "ada.json", "rules": ["draft"]},
            {"context_file": "other.json", "wrap": "portal", "rules": []},
        ],
    }
    assert cli("rules", "test", "-", stdin=json.dumps(draft)).code == 0


def test_a_table_without_a_world_asks_the_service(admin: Cli, here: Path) -> None:
    assert admin("policies", "test", "stored.yml", "good.yml").code == 0
    result = admin("policies", "test", "-", stdin=STORED.replace("admin", "nobody"), terminal=True)
    assert result.code == 1
    assert "got      cannot be decided: user `nobody` does not exist" in result.out
    (here / "stored.yml").write_text("cases: [{context_file: ada.json, rules: []}]")
    assert admin("rules", "test", "stored.yml").code == 0


def test_only_a_table_without_a_world_needs_a_login(cli: Cli, service_home: Path, here: Path) -> None:
    assert cli("policies", "test", "good.yml").code == 0
    assert cli("policies", "test", "stored.yml").code == 4


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"cases: }", ":1:8: error: not YAML", id="no YAML"),
        pytest.param(b"\xff\xfe", ":1:1: error: expected UTF-8", id="no UTF-8"),
        pytest.param(b"", "error: expected an object, got null", id="empty"),
        pytest.param(b"cases: &a []", ":1:8: error: anchors are not used here", id="an anchor"),
        pytest.param(b"cases: !!set {}", ":1:8: error: tag `tag:yaml.org,2002:set`", id="a tag"),
        pytest.param(b"cases: []\ncases: []", ":2:1: error: key `cases` is given twice", id="a key twice"),
        pytest.param(b"agents: {001: [web]}", ":1:10: error: key `001` is not text", id="a key without quotes"),
        pytest.param(b"roles: {no: []}", ":1:9: error: key `no` is not text; write it in quotes", id="a key no"),
        pytest.param(b"a: [*:*:*]", 'not YAML: `*` without quotes begins an alias; write `"*:*:*"`', id="a star"),
        pytest.param(b"cases: 2024-01-01", ":1:8: error: `2024-01-01`: expected text", id="a date"),
        pytest.param(b"a\n---\nb", ":2:1: error: expected one document", id="two documents"),
        pytest.param(b"[" * 100_000, "nested too deep: at most 256 levels", id="brackets without end"),
        pytest.param(b"- " * 100_000, "nested too deep: at most 256 levels", id="lists without end"),
        pytest.param(b"[" + b"1," * 200_000 + b"]", "at most 100000 values", id="many values"),
        pytest.param(b"#" * (1024 * 1024 + 1), "larger than 1048576 bytes", id="many bytes"),
        pytest.param(b"cases: [{usr: ada}]", "unknown; did you mean `user`? [unknown-key]", id="an unknown key"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("noun", ["policies", "rules"])
def test_what_cannot_be_read_ends_with_7(cli: Cli, here: Path, noun: str, content: bytes, said: str) -> None:
    (here / "table.yml").write_bytes(content)
    result = cli(noun, "test", "table.yml")
    assert result.code == 7
    assert "table.yml" in result.err
    assert said in result.err
    assert result.out == ""


def test_every_fault_of_every_table_is_told(cli: Cli, here: Path) -> None:
    (here / "one.yml").write_text(TABLE + "  - {user: bob}\n")
    (here / "two.yml").write_text("cases: }")
    result = cli("policies", "test", "good.yml", "one.yml", "two.yml", "none.yml")
    assert result.code == 7
    for said in ("one.yml:9:6: error: cases[1].user: user `bob`", "one.yml:9:5: error: cases[1]: `action`",
                 "two.yml:1:8: ", "none.yml: error: cannot be read", "3 of 4 tables are refused"):  # fmt: skip
        assert said in result.err
    findings = json.loads(cli("policies", "test", "one.yml", "-o", "json").err)["findings"]
    assert findings[0]["line"] == 9


def test_a_long_key_costs_no_memory(cli: Cli, here: Path) -> None:
    text = '? "' + "k" * 500_000 + '"\n: [' + "[1]," * 20_000 + "]\n"
    assert cli("policies", "test", "-", stdin=text).code == 7


def test_a_table_is_not_stdin_by_way_of_a_context_file(cli: Cli, here: Path) -> None:
    (here / "table.yml").write_text("rules: {a: {FIND: {b: 1}}}\ncases: [{context_file: '-', rules: []}]")
    result = cli("rules", "test", "table.yml", stdin='{"name": "x", "auth": {}}')
    assert result.code == 7
    assert os.path.join(".", "-") in result.err
