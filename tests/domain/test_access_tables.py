"""The tables of tests/access, decided by `decide`, by compiled permissions, and as `policies test` runs them.

What the operation and the command make of the same tables: tests/operations and tests/cli, test_case_tables.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from mgmtctl.domain.case_runs import run_table
from mgmtctl.domain.case_tables import POLICIES as OF_POLICIES
from mgmtctl.domain.case_tables import RULES as OF_RULES
from mgmtctl.domain.case_tables import Table, read_table
from mgmtctl.domain.defaults import POLICIES, ROLES
from mgmtctl.domain.grants import BLACK, WHITE, Grant, Permissions
from mgmtctl.domain.matching import ContextIndex, holds, judge_rules, needed_keys
from mgmtctl.domain.policies import blocks_record, parse_policy
from mgmtctl.domain.resources import Resource, agent_names
from mgmtctl.domain.rules import parse_rules
from mgmtctl.domain.trace import explain

ACCESS = Path(__file__).resolve().parent.parent / "access"
RULE_TABLES = "rules_"
OTHER_TABLES = ("revocation",)  # tables of what ends which sessions have a form of their own


def stories(*, rules: bool = False) -> dict[str, dict[str, Any]]:
    """The tables by name: those of policies, or those of rules."""
    return {
        path.stem: yaml.safe_load(path.read_text("utf-8"))
        for path in sorted(ACCESS.glob("*.yml"))
        if path.stem.startswith(RULE_TABLES) is rules and path.stem not in OTHER_TABLES
    }


def rows() -> list[Any]:
    return [
        pytest.param(story, case, id=f"{name}: {case['user']} {case['action']} {case['resource']}")
        for name, story in stories().items()
        for case in story["cases"]
    ]


def expected(case: dict[str, Any], mode: str) -> bool:
    word = case["expected"] if isinstance(case["expected"], str) else case["expected"][mode]
    return {"allow": True, "deny": False}[word]


def table_of(story: dict[str, Any], kind: str = OF_POLICIES) -> Table:
    def no_files(path: str, name: str | None) -> Any:
        raise AssertionError(path)

    return read_table(story, kind, no_files)


def permissions(story: dict[str, Any], user: str, mode: str) -> Permissions:
    """The permissions of one user of a story, as a session would have them."""
    plain = {policy.name: blocks_record(policy.blocks) for policy in POLICIES}
    for name, document in story.get("policies", {}).items():
        plain[name] = blocks_record(parse_policy(document, name))
    held = {role.name: list(role.policies) for role in ROLES} | story.get("roles", {})
    roles = story["users"][user]
    grants = [
        Grant(number, role, "", 100 + list(plain).index(policy), policy, plain[policy])
        for number, role in enumerate(roles, start=100)
        for policy in held[role]
    ]
    return Permissions.granted(mode, grants, has_roles=bool(roles))


def names(story: dict[str, Any], text: str) -> tuple[Resource, ...]:
    resource = Resource.parse(text)
    if resource.kind == "agent:id" and resource.value != "*":
        return agent_names(resource.value, story["agents"][resource.value])
    return (resource,)


@pytest.mark.parametrize("mode", [WHITE, BLACK])
@pytest.mark.parametrize(("story", "case"), rows())
def test_the_table_is_what_is_decided(story: dict[str, Any], case: dict[str, Any], mode: str) -> None:
    held, asked = permissions(story, case["user"], mode), names(story, case["resource"])
    decision = held.decide(case["action"], *asked)
    assert decision.allowed is expected(case, mode)
    assert held.allows(case["action"], *asked) is decision.allowed
    assert list(dict.fromkeys(entry.policy for entry in decision.because)) == case["because"]
    assert decision.default is (not case["because"])


@pytest.mark.parametrize("story", [pytest.param(story, id=name) for name, story in stories().items()])
def test_every_case_passes_in_both_modes_as_a_table(story: dict[str, Any]) -> None:
    table = table_of(story)
    assert table.world is not None
    results = run_table(table, table.world).results
    assert [result.title for result in results if not result.passed] == []
    assert len(results) == 2 * len(story["cases"])


@pytest.mark.parametrize(
    "story", [pytest.param(story, id=name) for name, story in stories(rules=True).items()]
)
def test_the_table_is_what_rules_are(story: dict[str, Any]) -> None:
    rules = {name: parse_rules(document) for name, document in story["rules"].items()}
    for case in story["cases"]:
        index = ContextIndex(case["context"])
        assert [name for name, rule in rules.items() if holds(rule, index)] == case["rules"]
        assert [name for name, rule in rules.items() if explain(rule, index).verdict] == case["rules"]
        stored = [(number, json.dumps(rule), needed_keys(rule)) for number, rule in enumerate(rules.values())]
        assert [list(rules)[number] for number in judge_rules(stored, index)[0]] == case["rules"]
    table = table_of(story, OF_RULES)
    assert table.world is not None
    assert all(result.passed for result in run_table(table, table.world).results)


def test_no_table_is_empty() -> None:
    assert len(stories()) >= 3
    assert len(stories(rules=True)) >= 3
    assert all(
        story["story"] and story["cases"] for story in (*stories().values(), *stories(rules=True).values())
    )
