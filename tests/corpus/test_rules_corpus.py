"""Real rules: from a manual, and from the tests of a rule editor, which holds good and broken ones in a script.

Each rule file of the folder has a verdict, judged by reading it. The other files there hold policies, roles and users.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.matching import ContextIndex, holds
from mgmtctl.domain.rules import check_rules, parse_rules
from tests.conftest import CORPUS

FOLDER = CORPUS / "rbac"
SCRIPT = "034-dash-rule-editor-tests.ts"
CONTEXTS = (
    "002-docs-initial-auth.json",
    "003-docs-eleventh-auth.json",
    "004-docs-first-example.json",
    "005-docs-login-bill.json",
)
# True of which of these four contexts.
VERDICTS = {
    "039-docs-rule-match.json": (True, False, True, True),  # auth.office holds or is "20"
    "041-docs-rule-find.json": (True, False, True, True),
    "043-docs-rule-and.json": (True, False, True, True),  # and any name, which all have
    "045-docs-rule-not.json": (True, True, True, True),  # no name NameNotFound, no office of just 20 and 30
}

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="corpus not here")


def test_every_file_that_holds_a_rule_has_a_verdict() -> None:
    holding = {path.name for path in FOLDER.iterdir() if re.search(r"\b(FIND|MATCH)\b", path.read_text())}
    assert holding == {*VERDICTS, SCRIPT}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_rule_of_the_manual(name: str) -> None:
    document = json.loads((FOLDER / name).read_text())
    assert check_rules(document) == []
    verdicts = tuple(holds(parse_rules(document), index(context)) for context in CONTEXTS)
    assert verdicts == VERDICTS[name]


def index(context: str) -> ContextIndex:
    return ContextIndex(parse_context((CORPUS / "auth_context" / context).read_bytes()).document)


def script_objects() -> list[Any]:
    """The object literals of the script that are rules, or are meant to be taken for one."""
    text = (FOLDER / SCRIPT).read_text()
    starts = [match.end() - 1 for match in re.finditer(r"(?:JsonObject|expectedValues)\s*=\s*\n?\s*\{", text)]
    starts += [match.end() - 1 for match in re.finditer(r"JSON\.stringify\(\{", text)]
    return [as_json(balanced(text, start)) for start in starts if "..." not in balanced(text, start)]


def balanced(text: str, start: int) -> str:
    level = 0
    for place in range(start, len(text)):
        level += {"{": 1, "}": -1}.get(text[place], 0)
        if not level:
            return text[start : place + 1]
    raise AssertionError("the script ends inside an object")


def as_json(literal: str) -> Any:
    quoted = re.sub(r"([{,]\s*)(\w+):", r'\1"\2":', literal.replace("'", '"'))
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", quoted))


def test_the_editors_rules_are_good_and_its_wrong_formats_are_refused() -> None:
    found = [
        (json.dumps(document), [(finding.path, finding.rule) for finding in check_rules(document)])
        for document in script_objects()
    ]
    refused = [faults for _, faults in found if faults]
    assert refused == [
        [("OR[0].foo", "unknown-operator")],
        [("OR[0].AND[0].find", "unknown-operator"), ("OR[0].AND[1].find", "unknown-operator")],
        [
            ("OR[0].OR[0].foo", "unknown-operator"),
            ("OR[1].AND[0].find", "unknown-operator"),
            ("OR[1].AND[1].find", "unknown-operator"),
        ],
    ]
    assert len(found) - len(refused) == 8


def test_lower_case_operators_of_the_editor_are_suggested() -> None:
    findings = [finding for document in script_objects() for finding in check_rules(document)]
    lower = [finding for finding in findings if finding.path.endswith(".find")]
    assert {finding.suggestion for finding in lower} == {"did you mean `FIND`?"}
    assert len(lower) == 4
