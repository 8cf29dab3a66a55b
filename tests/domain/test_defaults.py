"""The objects of an empty store, row by row against the tables of the description."""

from __future__ import annotations

import re

import pytest

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.defaults import POLICIES, ROLES, RULES, USERS
from mgmtctl.domain.policies import Policy, blocks_record, check_policy
from tests.conftest import SPECIFICATION
from tests.domain.test_resources import table_rows

SERVICE = SPECIFICATION / "service.md"
ROWS = table_rows(SERVICE, "### 2.6 ")


def blocks_of(cell: str) -> dict[str, dict[str, object]]:
    """`NAME: ACTION, ACTION on RESOURCE, RESOURCE. NAME: ...` as the description writes the blocks of a policy."""
    found: dict[str, dict[str, object]] = {}
    for part in re.findall(r"(\w+): (.+?) on (.+?)\.(?= |$)", cell):
        name, actions, resources = part
        found[name] = {
            "actions": actions.split(", "),
            "resources": [
                text.replace("R", "*:*:*") if text == "R" else text for text in resources.split(", ")
            ],
            "effect": "allow",
        }
    return found


@pytest.mark.parametrize(
    ("row", "policy"), list(zip(ROWS, POLICIES, strict=True)), ids=[row[0] for row in ROWS]
)
def test_a_default_policy_is_its_row(row: list[str], policy: Policy) -> None:
    assert policy.name == row[0]
    assert blocks_record(policy.blocks) == blocks_of(row[1])
    assert list(blocks_record(policy.blocks)) == list(blocks_of(row[1]))


def test_the_ids_of_the_defaults_follow_the_tables_from_1() -> None:
    assert [policy.id for policy in POLICIES] == list(range(1, 28))
    assert [role.id for role in ROLES] == list(range(1, 8))
    assert [rule.id for rule in RULES] == [1, 2]
    assert [(user.id, user.name, user.allow_run_as) for user in USERS] == [
        (1, "admin", False),
        (2, "wui", True),
    ]
    assert all(user.roles == ("administrator",) for user in USERS)


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_a_default_policy_passes_its_own_check(policy: Policy) -> None:
    assert check_policy(blocks_record(policy.blocks)) == []


def test_the_roles_are_those_of_the_description_with_their_purpose() -> None:
    assert [[role.name, role.purpose] for role in ROLES] == table_rows(SERVICE, "### 2.7 ")


def test_the_rules_are_those_of_the_description() -> None:
    rows = table_rows(SERVICE, "### 2.8 ")
    keys = [re.findall(r"key `(\w+)`", row[1])[0] for row in rows]
    assert [rule.name for rule in RULES] == [row[0] for row in rows]
    assert [rule.rules for rule in RULES] == [
        ({"FIND": {keys[0]: "elastic"}},),
        ({"FIND": {keys[1]: "admin"}},),
    ]


def held_by(role_name: str) -> set[str]:
    role = next(role for role in ROLES if role.name == role_name)
    by_name = {policy.name: policy for policy in POLICIES}
    blocks = [block for name in role.policies for block in by_name[name].blocks]
    return {action for block in blocks for action in block.actions}


def test_the_administrator_holds_the_whole_catalogue_but_what_grants_nothing() -> None:
    assert set(ACTIONS) - held_by("administrator") == {
        "cluster:update_api_config",
        "manager:update_api_config",
    }


def test_readonly_holds_only_what_reads() -> None:
    assert {name.partition(":")[2] for name in held_by("readonly")} == {"read", "read_api_config", "status"}


def test_each_role_holds_known_policies_and_rules() -> None:
    names = {policy.name for policy in POLICIES}
    for role in ROLES:
        assert set(role.policies) <= names
        assert len(set(role.policies)) == len(role.policies)
    assert ROLES[0].rules == tuple(rule.name for rule in RULES)
