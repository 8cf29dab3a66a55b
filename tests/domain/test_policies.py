"""Policy documents: every form that is read, every fault that is named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.findings import ERROR
from mgmtctl.domain.policies import Policy, check_policy, parse_policy, policy_record, stored_blocks

READ = {"actions": ["agent:read"], "resources": ["agent:id:42", "agent:group:web"], "effect": "allow"}
CREATE = {"actions": ["agent:create"], "resources": ["*:*:*"], "effect": "deny"}
STORED_READ = {"actions": ["agent:read"], "resources": ["agent:id:042", "agent:group:web"], "effect": "allow"}

FORMS = [
    pytest.param({"blocks": {"a": READ, "b": CREATE}}, {"a": STORED_READ, "b": CREATE}, id="blocks by name"),
    pytest.param({"policy": READ}, {"mine": STORED_READ}, id="one block as the service writes it"),
    pytest.param(READ, {"mine": STORED_READ}, id="one block by itself"),
    pytest.param({"a": READ, "b": CREATE}, {"a": STORED_READ, "b": CREATE}, id="a mapping of blocks"),
    pytest.param(
        {"id": "100", "name": "old", "blocks": {"a": READ}, "roles": ["1"]},
        {"a": STORED_READ},
        id="a shown record",
    ),
    pytest.param({"name": "old", "policy": CREATE}, {"mine": CREATE}, id="a request body of the service"),
    pytest.param(
        {
            "actions": ["agent:read", "agent:read"],
            "resources": ["agent:id:1", "agent:id:001"],
            "effect": "deny",
        },
        {"mine": {"actions": ["agent:read"], "resources": ["agent:id:001"], "effect": "deny"}},
        id="what is said twice counts once",
    ),
]


@pytest.mark.parametrize(("document", "blocks"), FORMS)
def test_a_policy_is_read_in_every_form(document: object, blocks: dict[str, Any]) -> None:
    parsed = parse_policy(document, "mine")
    record = policy_record(Policy(100, "mine", parsed), [7, 100])
    assert record == {"id": "100", "name": "mine", "blocks": blocks, "roles": ["7", "100"]}
    assert stored_blocks(blocks) == parsed == parse_policy(record, "mine")


def changed(**fields: object) -> dict[str, object]:
    return {**READ, **fields}


def without(key: str) -> dict[str, object]:
    return {name: value for name, value in READ.items() if name != key}


FAULTS = [
    pytest.param(None, [("wrong-type", "")], id="null"),
    pytest.param([READ], [("wrong-type", "")], id="a list of blocks"),
    pytest.param({}, [("empty-policy", "")], id="an empty object"),
    pytest.param({"blocks": {}}, [("empty-policy", "blocks")], id="no blocks"),
    pytest.param({"blocks": [READ]}, [("wrong-type", "blocks")], id="blocks as a list"),
    pytest.param({"blocks": {"a": 1}}, [("wrong-type", "blocks.a")], id="a block that is a number"),
    pytest.param({"blocks": {"a b": READ}}, [("block-name", "blocks.a b")], id="a block name with a blank"),
    pytest.param({"policy": None}, [("wrong-type", "policy")], id="a null policy"),
    pytest.param({"policy": READ, "polcy": 1}, [("unknown-key", "polcy")], id="a misspelt key of the record"),
    pytest.param(
        {"blocks": {"a": READ}, "policy": READ}, [("unknown-key", "policy")], id="both forms at once"
    ),
    pytest.param({"a": READ, "b": "x"}, [("wrong-type", "b")], id="a mapping with text among its blocks"),
    pytest.param(changed(effects="allow"), [("unknown-key", "effects")], id="an extra key in a block"),
    pytest.param(without("actions"), [("missing-key", "")], id="no actions"),
    pytest.param(without("resources"), [("missing-key", "")], id="no resources"),
    pytest.param(without("effect"), [("missing-key", "")], id="no effect"),
    pytest.param(changed(actions=[]), [("empty-list", "actions")], id="an empty list of actions"),
    pytest.param(changed(resources=[]), [("empty-list", "resources")], id="an empty list of resources"),
    pytest.param(changed(actions="agent:read"), [("wrong-type", "actions")], id="actions as text"),
    pytest.param(changed(resources={"a": 1}), [("wrong-type", "resources")], id="resources as an object"),
    pytest.param(changed(actions=["agent:read", None]), [("wrong-type", "actions[1]")], id="a null action"),
    pytest.param(changed(resources=[["agent:id:1"]]), [("wrong-type", "resources[0]")], id="a nested list"),
    pytest.param(changed(actions=["agent:raed"]), [("unknown-action", "actions[0]")], id="a misspelt action"),
    pytest.param(
        changed(actions=["Agent:Read"]), [("unknown-action", "actions[0]")], id="an upper-case action"
    ),
    pytest.param(changed(actions=["*"]), [("unknown-action", "actions[0]")], id="a star as action"),
    pytest.param(
        changed(resources=["agent:id:001", "agent:id"]),
        [("malformed-resource", "resources[1]")],
        id="two parts",
    ),
    pytest.param(changed(effect="Allow"), [("unknown-effect", "effect")], id="an upper-case effect"),
    pytest.param(changed(effect="permit"), [("unknown-effect", "effect")], id="another word as effect"),
    pytest.param(changed(effect=""), [("unknown-effect", "effect")], id="an empty effect"),
    pytest.param(changed(effect=True), [("wrong-type", "effect")], id="true as effect"),
    pytest.param(changed(effect=None), [("wrong-type", "effect")], id="null as effect"),
    pytest.param(
        changed(resources=["*:*:*"]),
        [("never-matches", "actions[0]")],
        id="reading agents on what does not exist yet",
    ),
    pytest.param(
        changed(actions=["agent:read", "agent:create"]),
        [("never-matches", "actions[1]")],
        id="creating among agents",
    ),
    pytest.param(
        changed(resources=["agent:id:*", "group:id:*"]),
        [("never-matches", "resources[1]")],
        id="a resource that no action uses",
    ),
    pytest.param(
        {"actions": ["x", "y"], "resources": ["a", "b"], "effect": "c"},
        [
            ("unknown-action", "actions[0]"),
            ("unknown-action", "actions[1]"),
            ("malformed-resource", "resources[0]"),
            ("malformed-resource", "resources[1]"),
            ("unknown-effect", "effect"),
        ],
        id="every fault is found at once",
    ),
]


@pytest.mark.parametrize(("document", "expected"), FAULTS)
def test_each_fault_is_named_with_its_place(document: object, expected: list[tuple[str, str]]) -> None:
    findings = check_policy(document)
    assert [(finding.rule, finding.path) for finding in findings] == expected
    assert all(finding.severity == ERROR and finding.message for finding in findings)
    with pytest.raises(InvalidError) as caught:
        parse_policy(document, "mine")
    assert list(caught.value.findings) == findings


HINTS = [
    pytest.param(changed(effect="DENY"), "write `deny`", id="upper-case effect"),
    pytest.param(changed(effect="alow"), "write `allow`", id="misspelt effect"),
    pytest.param(changed(effect="no"), "write `allow` or `deny`", id="no near effect"),
    pytest.param(changed(actions=["agents:read"]), "did you mean `agent:read`?", id="misspelt action"),
    pytest.param(
        changed(actions=["agent:create"]), "write a block for it on `*:*:*`", id="resourceless action"
    ),
    pytest.param(
        changed(resources=["*:*:*"]), "write a block for it on `agent:id:*` or `agent:group:*`", id="pair"
    ),
]


@pytest.mark.parametrize(("document", "hint"), HINTS)
def test_a_fault_comes_with_a_suggestion(document: object, hint: str) -> None:
    assert check_policy(document)[0].suggestion == hint


def test_the_place_continues_the_given_path() -> None:
    paths = [finding.path for finding in check_policy({"blocks": {"a": {}}}, "policies[3]")]
    assert paths == ["policies[3].blocks.a"] * 3


def test_the_refusal_names_the_policy_and_the_first_fault() -> None:
    with pytest.raises(InvalidError) as caught:
        parse_policy(changed(effect="Allow"), "web")
    assert caught.value.problem == (
        "policy `web` is refused: effect: effect is `Allow`; expected exactly allow or deny"
    )


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=True), st.text(max_size=12)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(["blocks", "policy", "actions", "resources", "effect"]), st.text(max_size=5)
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
BLOCK = st.fixed_dictionaries(
    {
        "actions": st.one_of(JSON, st.lists(st.sampled_from(["agent:read", "agent:create", "x"]))),
        "resources": st.one_of(JSON, st.lists(st.sampled_from(["agent:id:1", "*:*:*", "agent:id"]))),
        "effect": st.one_of(JSON, st.sampled_from(["allow", "deny"])),
    }
)


@settings(max_examples=200)
@given(st.one_of(JSON, BLOCK, st.dictionaries(st.text(max_size=3), BLOCK, max_size=2)))
def test_any_json_is_read_or_refused(document: object) -> None:
    findings = check_policy(document)
    assert all(f"{finding.path}{finding.message}{finding.suggestion}".isprintable() for finding in findings)
    if findings:
        with pytest.raises(InvalidError):
            parse_policy(document, "mine")
    else:
        assert parse_policy(document, "mine")
