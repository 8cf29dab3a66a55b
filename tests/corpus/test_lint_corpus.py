"""What lint finds in real policies and rules is what the table in docs/lint-corpus.md says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.domain.policy_lint import lint_policy
from mgmtctl.domain.rule_lint import lint_rule
from mgmtctl.operations.samples import samples
from tests.cli.conftest import run_here
from tests.conftest import CORPUS, ROOT
from tests.corpus import rbac_documents as read
from tests.corpus.test_rules_corpus import script_objects

FOLDER = CORPUS / "rbac"
TABLE = ROOT / "docs" / "lint-corpus.md"
BY_HAND: dict[str, Callable[[str], read.Documents]] = {
    "012": read.decision_cases,
    "013": read.decision_cases,
    "014": read.decision_cases,
    "018": read.catalogue_cases,
    "032": read.script,
    "033": read.examples,
    "035": read.examples,
    "036": read.manual,
    "052": read.dump,
}
RULES = ("039", "041", "043", "045")

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="corpus not here")


def said() -> dict[str, dict[str, int]]:
    """The numbers of the table: file -> finding -> how many."""
    found: dict[str, dict[str, int]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 6 and cells[0].isdigit():
            findings = found.setdefault(cells[0], {})
            if cells[3] != "none":
                findings[cells[3]] = int(cells[4])
    return found


def names() -> dict[str, Path]:
    return {path.name[:3]: path for path in FOLDER.iterdir()} if FOLDER.is_dir() else {}


def counted(number: str) -> dict[str, int]:
    path = names()[number]
    if number in BY_HAND:
        documents = [
            (label, document)
            for label, document in BY_HAND[number](path.read_text(encoding="utf-8"))
            if document != {"blocks": {}}  # a case without permissions
        ]
        found = [f for label, document in documents for f in lint_policy(document, name=label)]
        return dict(Counter(finding.rule for finding in found))
    if number == "034":
        found = [f for document in script_objects() for f in lint_rule(document, sampler=samples)]
        return dict(Counter(finding.rule for finding in found))
    noun = "rules" if number in RULES else "policies"
    result = run_here(noun, "lint", str(path), "-o", "json")
    if result.code == 7:
        return {"refused, 7": 1}
    return dict(Counter(finding["rule"] for finding in result.json()))


def test_the_table_has_every_file() -> None:
    assert sorted(said()) == sorted(names())
    assert len(names()) == 26


@pytest.mark.parametrize("number", sorted(names()))
def test_lint_finds_what_the_table_says(number: str) -> None:
    assert counted(number) == said()[number]


@pytest.mark.parametrize("number", sorted(set(names()) - set(BY_HAND) - {"034"}))
def test_findings_in_files_have_their_line(number: str) -> None:
    path = names()[number]
    result = run_here("rules" if number in RULES else "policies", "lint", str(path), "-o", "json")
    lines = path.read_text(encoding="utf-8").splitlines()
    for finding in result.json() if result.code != 7 else []:
        assert 1 <= finding["line"] <= len(lines), finding
        assert 1 <= finding["column"] <= len(lines[finding["line"] - 1]) + 1, finding
