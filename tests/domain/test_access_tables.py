"""The decision tables of tests/access, run through `decide` and through compiled permissions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from mgmtctl.domain.defaults import POLICIES, ROLES
from mgmtctl.domain.grants import BLACK, WHITE, Grant, Permissions
from mgmtctl.domain.policies import blocks_record, parse_policy
from mgmtctl.domain.resources import Resource, agent_names

ACCESS = Path(__file__).resolve().parent.parent / "access"
VERDICTS = {True: True, False: False, "yes": True, "no": False}


def stories() -> dict[str, dict[str, Any]]:
    return {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in sorted(ACCESS.glob("*.yml"))}


def rows() -> list[Any]:
    return [
        pytest.param(story, row, id=f"{name}: {row['ask']}{': ' + row['note'] if 'note' in row else ''}")
        for name, story in stories().items()
        for row in story["questions"]
    ]


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
@pytest.mark.parametrize(("story", "row"), rows())
def test_the_table_is_what_is_decided(story: dict[str, Any], row: dict[str, Any], mode: str) -> None:
    user, action, resource = row["ask"].split()
    held, asked = permissions(story, user, mode), names(story, resource)
    decision = held.decide(action, *asked)
    assert decision.allowed is VERDICTS[row[mode]]
    assert held.allows(action, *asked) is decision.allowed
    assert list(dict.fromkeys(entry.policy for entry in decision.because)) == row["because"]
    assert decision.default is (not row["because"])


def test_no_table_is_empty() -> None:
    assert len(stories()) >= 3
    assert all(story["story"] and story["questions"] for story in stories().values())
