"""Facts about the table of lint rules: it explains every rule that a finding may name."""

from __future__ import annotations

import ast

import pytest

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.lint_rules import LINT_RULES, explained
from mgmtctl.domain.policy_lint import lint_policy
from tests.conftest import ROOT


def test_every_rule_that_a_finding_may_name_is_explained() -> None:
    named = set()
    for module in ("policies", "rules", "policy_lint", "rule_lint", "access_lint"):
        tree = ast.parse((ROOT / "mgmtctl" / "domain" / f"{module}.py").read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
        named |= {
            call.args[0].value
            for call in calls
            if getattr(call.func, "id", "") in ("Finding", "_fault")
            and isinstance(call.args[0], ast.Constant)
            and isinstance(call.args[0].value, str)
        }
    assert named - set(LINT_RULES) == set()
    assert len(named) > 25


def test_every_rule_has_a_paragraph_and_a_kebab_case_name() -> None:
    for name, rule in LINT_RULES.items():
        assert name == rule.name
        assert name.replace("-", "").isalpha()
        assert name == name.lower()
        assert rule.explanation.endswith(".")
        assert not rule.summary.endswith(".")


def test_explaining_what_does_not_exist_suggests_the_nearest() -> None:
    assert [rule.name for rule in explained("broad-find", "policies")] == ["broad-find"]
    assert {about for rule in explained("all", "rules") for about in rule.about} == {"policies", "rules"}
    with pytest.raises(QuestionError) as caught:
        explained("brod-find", "rules")
    assert caught.value.fix == "did you mean `broad-find`?"


def test_deprecated_actions_are_those_of_the_catalogue() -> None:
    for name, action in ACTIONS.items():
        document = {"actions": [name], "resources": [f"{action.kinds[0]}:*"], "effect": "allow"}
        rules = [finding.rule for finding in lint_policy(document)]
        assert ("deprecated-action" in rules) is (action.deprecated is not None)
