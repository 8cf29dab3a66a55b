"""Every policy that real files hold, checked; each verdict below was judged by reading the file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.domain.grants import BLACK, WHITE, Entry, Permissions, decide
from mgmtctl.domain.policies import check_policy, parse_policy
from mgmtctl.domain.resources import RESOURCELESS, Resource
from tests.conftest import CORPUS
from tests.corpus import rbac_documents as read

FOLDER = CORPUS / "rbac"
Faults = dict[str, list[tuple[str, str]]]

UNKNOWN, MALFORMED, NEVER = "unknown-action", "malformed-resource", "never-matches"
PAIRED = "cluster:read_file"  # an old action on two resources at once, which is no part of this service
EXAMPLE = [(NEVER, "actions[0]")]  # group:create named beside group:read on groups: it never matched there

# file -> (reader, number of policies, {label: faults}); what has no entry is accepted
VERDICTS: dict[str, tuple[Callable[[str], read.Documents], int, Faults]] = {
    "005-default-policies-5-0.yaml": (  # a later product: actions that are new, and cluster actions without a node
        read.shipped,
        9,
        {
            "agents_all": [(UNKNOWN, "resourceless.actions[2]"), (UNKNOWN, "agents.actions[4]")],
            "cluster_all": [(NEVER, "resourceless.actions[1]"), (NEVER, "resourceless.actions[2]")],
            "cluster_read": [(NEVER, "resourceless.actions[1]"), (NEVER, "resourceless.actions[2]")],
        },
    ),
    "007-default-policies-4-0-0.yaml": (  # the oldest: actions on files that are gone, and pairs of resources
        read.shipped,
        16,
        {
            "lists_read": [(MALFORMED, "rules.resources[0]")],
            "cluster_all": [
                (UNKNOWN, "resourceless.actions[4]"),
                (UNKNOWN, "resourceless.actions[6]"),
                (UNKNOWN, "files.actions[0]"),
                (UNKNOWN, "files.actions[1]"),
                (MALFORMED, "files.resources[0]"),
                (UNKNOWN, "nodes.actions[0]"),
                (UNKNOWN, "nodes.actions[6]"),
                (UNKNOWN, "combination.actions[0]"),
                (UNKNOWN, "combination.actions[1]"),
                (MALFORMED, "combination.resources[0]"),
            ],
            "cluster_read": [
                (MALFORMED, "files.resources[0]"),
                (UNKNOWN, "combination.actions[0]"),
                (MALFORMED, "combination.resources[0]"),
            ],
        },
    ),
    "013-tests-resourceless-white.json": (  # agent:create beside an agent id
        read.decision_cases,
        7,
        {
            "3": [(NEVER, "blocks.1.actions[0]")],
            "4": [(NEVER, "blocks.0.actions[0]")],
            "5": [(NEVER, "blocks.0.actions[0]"), (NEVER, "blocks.2.actions[0]")],
            "6": [(NEVER, "blocks.0.actions[0]"), (NEVER, "blocks.1.actions[0]")],
            "7": [(NEVER, "blocks.0.actions[0]"), (NEVER, "blocks.2.actions[0]")],
        },
    ),
    "014-tests-resourceless-black.json": (
        read.decision_cases,
        5,
        {
            "3": [(NEVER, "blocks.1.actions[0]")],
            "4": [(NEVER, "blocks.0.actions[0]")],
            "5": [(NEVER, "blocks.0.actions[0]"), (NEVER, "blocks.2.actions[0]")],
        },
    ),
    "015-tests-sanitize.yaml": (  # mixed letter case, which that system lowers; one without actions
        read.policy_list,
        4,
        {
            "1": [
                (UNKNOWN, "policy.actions[0]"),
                (MALFORMED, "policy.resources[0]"),
                ("unknown-effect", "policy.effect"),
            ],
            "2": [
                (UNKNOWN, "policy.actions[0]"),
                (MALFORMED, "policy.resources[0]"),
                ("unknown-effect", "policy.effect"),
            ],
            "3": [("missing-key", "policy")],
        },
    ),
    "018-tests-catalog.yml": (  # one example names an action that is new since
        read.catalogue_cases,
        57,
        {"3 agent:uninstall": [(UNKNOWN, "actions[0]")], "3 group:read": EXAMPLE},
    ),
    "023-it-rootcheck-black.yaml": (read.bare_list, 6, {}),
    "024-it-manager-white.yaml": (read.bare_list, 2, {}),
    "025-it-event-black.yaml": (read.bare_list, 1, {}),
    "032-dash-me-policies.js": (  # edit_run_as on a user, and a resource with a colon too many
        read.script,
        34,
        {
            "PLUGIN_SECURITY_USERS_ALLOW_CREATE_USER_ALLOW_UPDATE_USER_DENY_EDIT_RUN_AS": [
                (NEVER, "blocks.4.actions[0]")
            ],
            "PLUGIN_SECURITY_ROLES_MAPPING_ALLOW_READ_ROLES_MAPPING_DENY_CREATE_ROLE_MAPPING": [
                (MALFORMED, "blocks.1.resources[0]")
            ],
        },
    ),
    "033-dash-actions.json": (
        read.examples,
        32,
        {"agent:uninstall": [(UNKNOWN, "actions[0]")], "group:read": EXAMPLE},
    ),
    "035-splunk-actions.json": (read.examples, 53, {"group:read": EXAMPLE}),
    "036-tf-policy-doc.md": (  # bodies without actions or resources; a short name of an action
        read.manual,
        4,
        {
            "encoded 0": [("empty-list", "policy.actions"), ("empty-list", "policy.resources")],
            "encoded 1": [(UNKNOWN, "policy.actions[1]")],
            "json 0": [("empty-list", "policy.actions"), ("empty-list", "policy.resources")],
            "json 1": [("empty-list", "policy.actions"), ("empty-list", "policy.resources")],
        },
    ),
    "049-docs-customer-x.json": (read.one, 1, {}),
    "052-pr32048-sqlite-dump.txt": (read.dump, 5, {"agents_all_resourceless": [(UNKNOWN, "actions[2]")]}),
}

NOT_POLICIES = {
    "004-default-relationships-4-14.yaml": "which roles hold which policies",
    "012-tests-permissions-black.json": "decisions, see below",
    "017-tests-rolepolicies-cases.yml": "links by id",
    "030-dash-roles.json": "a list of roles",
    "031-dash-users.json": "a list of users",
    "034-dash-rule-editor-tests.ts": "rules",
    "039-docs-rule-match.json": "a rule",
    "041-docs-rule-find.json": "a rule",
    "043-docs-rule-and.json": "a rule",
    "045-docs-rule-not.json": "a rule",
    "050-issue5224-mixed.yaml": "no YAML: an unquoted star is an alias",
}


def text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def test_every_file_has_a_verdict(corpus: Path) -> None:
    names = {path.name for path in (corpus / "rbac").iterdir()}
    assert names == set(VERDICTS) | set(NOT_POLICIES)
    assert not set(VERDICTS) & set(NOT_POLICIES)


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("name", VERDICTS)
def test_the_policies_of_a_file_have_their_verdict(name: str) -> None:
    reader, number, faults = VERDICTS[name]
    documents = list(reader(text(name)))
    assert len(documents) == number
    found = {label: [(f.rule, f.path) for f in check_policy(document)] for label, document in documents}
    assert {label: places for label, places in found.items() if places} == faults
    for label, document in documents:
        if label not in faults:
            assert parse_policy(document, "mine")


@pytest.mark.usefixtures("corpus")
def test_pairs_of_resources_are_refused_wherever_they_stand() -> None:
    for case in json.loads(text("012-tests-permissions-black.json")):
        document = read.effective(case["rbac"])
        joined = [block for block in document["blocks"].values() if "&" in block["resources"][0]]
        rules = [finding.rule for finding in check_policy(document)]
        if joined:
            assert all(block["actions"] == [PAIRED] for block in joined)
            assert rules.count(MALFORMED) == len(joined)


def entries(case: dict[str, Any]) -> list[Entry]:
    return [
        Entry(1, "r", "", 1, "p", "b", effect, action, Resource.stored(resource))
        for action, effects in case["rbac"].items()
        for resource, effect in effects.items()
    ]


@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize(
    ("name", "mode"),
    [("013-tests-resourceless-white.json", WHITE), ("014-tests-resourceless-black.json", BLACK)],
)
def test_resourceless_decisions_are_those_of_the_file(name: str, mode: str) -> None:
    for case in json.loads(text(name)):
        asked = case["decorator_params"]["actions"]
        verdicts = [decide(entries(case), mode, action, (RESOURCELESS,)).allowed for action in asked]
        assert all(verdicts) is case["allowed"], case


# cases of that file where this service decides otherwise, on purpose (D 2)
LATER_ALLOW_WINS = {6, 7, 9, 10, 14, 19}  # there a later entry takes an earlier deny back; here any deny wins
NOTHING_AT_ALL = {
    18
}  # there one refused side empties the other; here the guard refuses, the scope does not change


def permitted(case: dict[str, Any]) -> list[list[str]]:
    system, given = case["fake_system_resources"], case["function_params"]
    permissions = Permissions(BLACK, entries(case))
    action = case["decorator_params"]["actions"][0]

    def groups(value: str) -> list[str]:
        return [key.rpartition(":")[2] for key, ids in system.items() if "group" in key and value in ids]

    found = []
    for resource in case["decorator_params"]["resources"]:
        kind, _, parameter = resource.rpartition(":")
        values = given.get(parameter.strip("{}")) if "{" in parameter else [parameter]
        scope = permissions.scope(action, kind)
        every = system[f"{kind}:*"] if values is None else values
        found.append(sorted(value for value in every if scope.covers(value, groups(value))))
    return found


@pytest.mark.usefixtures("corpus")
def test_decisions_in_black_mode_are_those_of_the_file_but_where_order_mattered() -> None:
    different = set()
    for number, case in enumerate(json.loads(text("012-tests-permissions-black.json"))):
        asked = case["decorator_params"]
        if len(asked["actions"]) == 1 and not any("&" in resource for resource in asked["resources"]):
            expected = [sorted(values) for values in case["allowed_resources"]]
            different |= {number} if permitted(case) != expected else set()
    assert different == LATER_ALLOW_WINS | NOTHING_AT_ALL
