"""Facts about the lint of policies: what is reported, where, and what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain import defaults
from mgmtctl.domain.access_lint import READ_KINDS, Links, lint_stored, pieces_of_stored
from mgmtctl.domain.findings import NOTE, WARNING
from mgmtctl.domain.grants import WHITE, Grant, Permissions
from mgmtctl.domain.policies import Policy, blocks_record, parse_policy
from mgmtctl.domain.policy_lint import lint_policy
from mgmtctl.domain.promises import changes_of, says_read_only
from mgmtctl.domain.roles import Role

Found = list[tuple[str, str, str]]


def block(effect: str, actions: Sequence[str], resources: Sequence[str]) -> dict[str, Any]:
    return {"actions": list(actions), "resources": list(resources), "effect": effect}


def allow(action: str, *resources: str) -> dict[str, Any]:
    return block("allow", action.split(","), resources)


def deny(action: str, *resources: str) -> dict[str, Any]:
    return block("deny", action.split(","), resources)


def found(document: object, **more: str) -> Found:
    return [(f.rule, f.severity, f.path) for f in lint_policy(document, **more)]


SHADOWED, DEAD = "shadowed-entry", "contradictory-entries"
TWO = {"a": allow("agent:read", "agent:id:*"), "b": deny("agent:read", "agent:id:007")}


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param(allow("agent:read", "agent:id:*"), [], id="nothing is wrong"),
        pytest.param(TWO, [], id="an exception is no contradiction"),
        pytest.param(
            {"a": allow("agent:read", "agent:id:007"), "b": deny("agent:read", "agent:id:*")},
            [(DEAD, WARNING, "a")],
            id="an allow inside of a deny never counts",
        ),
        pytest.param(
            {"a": allow("agent:read", "agent:group:web"), "b": deny("agent:read", "agent:group:*")},
            [(DEAD, WARNING, "a")],
            id="a deny of all groups takes away one",
        ),
        pytest.param(
            {"a": allow("agent:read", "agent:id:007"), "b": deny("agent:read", "agent:group:*")},
            [],
            id="an agent may be in no group",
        ),
        pytest.param(
            {
                "a": allow("agent:read", "agent:id:007", "agent:id:008"),
                "b": deny("agent:read", "agent:id:007"),
            },
            [(DEAD, WARNING, "a.resources[0]")],
            id="the narrowest place that holds all",
        ),
        pytest.param(
            {
                "a": allow("agent:read,agent:restart", "agent:id:007"),
                "b": deny("agent:restart", "agent:id:007"),
            },
            [(DEAD, WARNING, "a.actions[1]")],
            id="one action of a block",
        ),
        pytest.param(
            {"a": allow("agent:restart", "agent:id:007"), "b": deny("agent:read", "agent:id:*")},
            [],
            id="a deny of another action",
        ),
        pytest.param(
            allow("agent:read", "agent:id:*", "agent:group:web"),
            [(SHADOWED, NOTE, "resources[1]")],
            id="all agents cover a group",
        ),
        pytest.param(
            allow("agent:read", "agent:group:*", "agent:id:007"), [], id="all groups do not cover an agent"
        ),
        pytest.param(
            allow("agent:read", "agent:id:007", "agent:id:007"),
            [(SHADOWED, NOTE, "resources[1]")],
            id="the second of two equal ones is told",
        ),
        pytest.param(
            {"a": deny("agent:read", "agent:id:007"), "b": deny("agent:read", "agent:id:*")},
            [(SHADOWED, NOTE, "a")],
            id="denies shadow each other too",
        ),
        pytest.param(
            {"a": allow("agent:read", "agent:id:7"), "b": allow("agent:read", "agent:id:007")},
            [(SHADOWED, NOTE, "b")],
            id="ids are compared as they are stored",
        ),
        pytest.param(
            allow("agent:read", "*:*:*"),
            [("star-misunderstood", "error", "actions[0]")],
            id="the star never covers agents",
        ),
        pytest.param(
            allow("agent:create,agent:read", "*:*:*", "agent:group:web"),
            [("star-misunderstood", WARNING, "actions[1]")],
            id="the star beside a part of the agents",
        ),
        pytest.param(
            allow("agent:create,agent:read", "*:*:*", "agent:id:*"), [], id="the star beside all agents"
        ),
        pytest.param(
            allow("agent:read", "agent:group:web", "*:*:*"),
            [("star-misunderstood", "error", "resources[1]")],
            id="the star beside a group, and no action for it",
        ),
        pytest.param(
            allow("agent:create,agent:read", "*:*:*", "group:id:web"),
            [("star-misunderstood", "error", "actions[1]"), ("never-matches", "error", "resources[1]")],
            id="the star and another kind",
        ),
        pytest.param(
            allow("agent:read", "agent:id:*", "agent:id:007", "group:id:web"),
            [("never-matches", "error", "resources[2]"), (SHADOWED, NOTE, "resources[1]")],
            id="the rest of a block with a pair that never matches is linted",
        ),
        pytest.param(
            allow("agent:create", "agent:id:*"),
            [("never-matches", "error", "actions[0]")],
            id="a pair that can never match",
        ),
        pytest.param(
            allow("vulnerability:read", "agent:id:*"),
            [("deprecated-action", WARNING, "actions[0]")],
            id="deprecated",
        ),
        pytest.param(
            [allow("agent:read", "agent:id:007"), deny("agent:read", "agent:id:*")],
            [(DEAD, WARNING, "[0]")],
            id="a list is one policy",
        ),
        pytest.param(
            {"a": allow("agent:raed", "agent:id:*"), "b": allow("agent:read", "agent:id:*", "agent:id:001")},
            [("unknown-action", "error", "a.actions[0]"), (SHADOWED, NOTE, "b.resources[1]")],
            id="blocks beside a broken one are linted",
        ),
    ],
)
def test_lint_of_one_policy(document: object, expected: Found) -> None:
    assert found(document) == expected


def test_findings_stand_below_the_path_of_their_document() -> None:
    document = {"name": "x", "policy": allow("agent:read", "agent:id:*", "agent:id:007")}
    assert found(document, path="data.affected_items[3]") == [
        (SHADOWED, NOTE, "data.affected_items[3].policy.resources[1]")
    ]


@pytest.mark.parametrize(
    ("name", "promises"),
    [
        ("agents_read", True),
        ("web-readonly", True),
        ("Web.Viewer", True),
        ("read-write", False),
        ("readers-admin", False),
        ("read-delete", False),
        ("spread", False),
        ("web-team", False),
    ],
)
def test_a_name_promises_to_be_read_only_by_its_words(name: str, promises: bool) -> None:
    assert says_read_only(name) is promises
    rules = [rule for rule, *_ in found(allow("agent:restart", "agent:id:*"), name=name)]
    assert rules == (["wider-than-description"] if promises else [])


@pytest.mark.parametrize(
    "description", ["Grant read access to agents.", "Read-only for auditors", "Can read all information."]
)
def test_a_description_promises_too(description: str) -> None:
    assert [r for r, *_ in found(allow("agent:restart", "agent:id:*"), description=description)] == [
        "wider-than-description"
    ]
    assert found(allow("agent:read", "agent:id:*"), description=description) == []


def test_the_shipped_roles_keep_what_their_purpose_says() -> None:
    policies = {policy.name: policy for policy in defaults.POLICIES}
    read_only = [role for role in defaults.ROLES if says_read_only(role.name, role.purpose)]
    assert [role.name for role in read_only] == ["agents_readonly", "cluster_readonly", "readonly"]
    for role in read_only:
        held = [piece for name in role.policies for piece in pieces_of_stored(policies[name])]
        assert changes_of(action for piece in held for action in piece.actions) == []


# --- stored policies, roles, users --------------------------------------------------------------------------------


def links(
    policies: dict[str, object], roles: dict[str, tuple[str, ...]], users: dict[str, tuple[str, ...]]
) -> Links:
    """Own policies, roles and users (ids from 100), each with the names of what it has."""
    ids = {name: 100 + number for number, name in enumerate(policies)}
    role_ids = {name: 100 + number for number, name in enumerate(roles)}
    holders = {name: tuple(n for n, user in enumerate(users) if name in users[user]) for name in roles}
    return Links(
        {ids[name]: Policy(ids[name], name, parse_policy(policies[name], name)) for name in policies},
        {
            role_ids[name]: Role(role_ids[name], name, tuple(ids[p] for p in held), holders[name])
            for name, held in roles.items()
        },
        {name: tuple(role_ids[role] for role in held) for name, held in users.items()},
    )


READ, NO_DB, NOTHING = (
    allow("agent:read", "agent:group:db"),
    deny("agent:read", "agent:id:*"),
    deny("agent:read", "agent:group:web"),
)


@pytest.mark.parametrize(
    ("policies", "roles", "users", "expected"),
    [
        pytest.param({"p": READ}, {"r": ("p",)}, {"u": ("r",)}, [], id="all is in use"),
        pytest.param({"p": READ}, {}, {}, [("unused-policy", "policy p")], id="a policy without a role"),
        pytest.param(
            {},
            {"r": ()},
            {},
            [("unused-role", "role r"), ("role-without-policies", "role r")],
            id="an empty role",
        ),
        pytest.param(
            {"p": READ, "q": NO_DB},
            {"r": ("p", "q")},
            {"u": ("r",)},
            [("contradictory-entries", "policy p: blocks.p")],
            id="two policies of one role",
        ),
        pytest.param(
            {"p": READ, "q": NO_DB},
            {"r": ("p",), "s": ("q",)},
            {"u": ("r", "s")},
            [("contradictory-entries", "policy p: blocks.p")],
            id="two roles of one user",
        ),
        pytest.param(
            {"p": READ, "q": NO_DB},
            {"r": ("p",), "s": ("q",)},
            {"u": ("r",), "v": ("s",)},
            [("deny-only-user", "user v")],
            id="two users: nothing meets, one is only denied",
        ),
        pytest.param(
            {"web-read": allow("agent:restart", "agent:id:*")},
            {"viewers": ("web-read",)},
            {"u": ("viewers",)},
            [("wider-than-description", "policy web-read"), ("wider-than-description", "role viewers")],
            id="names that promise too much",
        ),
    ],
)
def test_lint_of_what_is_stored(
    policies: dict[str, object],
    roles: dict[str, tuple[str, ...]],
    users: dict[str, tuple[str, ...]],
    expected: list[tuple[str, str]],
) -> None:
    findings = lint_stored(links(policies, roles, users), WHITE)
    assert [(finding.rule, finding.path) for finding in findings] == expected


def test_a_deny_in_another_policy_that_takes_a_part_is_a_note() -> None:
    held = links({"p": allow("agent:read", "agent:id:*"), "q": NOTHING}, {"r": ("p", "q")}, {"u": ("r",)})
    (finding,) = lint_stored(held, WHITE)
    assert (finding.rule, finding.severity) == ("contradictory-entries", NOTE)
    assert "policy `q`" in finding.message
    assert finding.message.startswith("a part of this block does not count for role `r`: policy `q`")
    assert "role" not in str(finding.suggestion)


def test_a_deny_in_another_policy_is_told_for_those_who_have_both_and_for_nobody_else() -> None:
    roles = {"both": ("p", "q"), "one": ("p",)}
    (finding,) = lint_stored(links({"p": READ, "q": NO_DB}, roles, {"u": ("both",), "v": ("one",)}), WHITE)
    assert (
        finding.message
        == "this block does not count for role `both`: policy `q`, block `q` denies `agent:id:*`"
    )
    assert (finding.severity, finding.path) == ("warning", "policy p: blocks.p")


@pytest.mark.parametrize(
    ("hidden", "left"),
    [
        pytest.param(
            (), {"unused-policy", "unused-role", "role-without-policies", "deny-only-user"}, id="none"
        ),
        pytest.param(("user:id",), {"unused-policy", "role-without-policies", "deny-only-user"}, id="users"),
        pytest.param(("rule:id",), {"unused-policy", "role-without-policies", "deny-only-user"}, id="rules"),
        pytest.param(("role:id",), {"unused-role", "role-without-policies"}, id="roles"),
        pytest.param(("policy:id",), {"unused-policy", "unused-role"}, id="policies"),
    ],
)
def test_what_is_missing_is_told_only_of_kinds_that_are_read_whole(
    hidden: tuple[str, ...], left: set[str]
) -> None:
    held = links({"p": READ, "q": NO_DB}, {"empty": (), "no": ("q",)}, {"u": ("no",)})
    known = replace(held, whole=READ_KINDS - set(hidden))
    assert {finding.rule for finding in lint_stored(known, WHITE)} == left


def test_in_black_mode_a_user_may_be_only_denied() -> None:
    held = links({"q": NO_DB}, {"s": ("q",)}, {"v": ("s",)})
    assert [finding.rule for finding in lint_stored(held, "white")] == ["deny-only-user"]
    assert lint_stored(held, "black") == []


def test_named_policies_are_linted_by_themselves() -> None:
    held = links({"p": READ, "q": NO_DB, "x": READ}, {"r": ("p", "q"), "e": ()}, {"u": ("r",)})
    assert {f.path for f in lint_stored(held, WHITE, frozenset({100}))} == {"policy p: blocks.p"}


# --- properties ---------------------------------------------------------------------------------------------------

RESOURCES = ("agent:id:*", "agent:id:001", "agent:group:*", "agent:group:web", "agent:group:db")
BLOCKS = st.builds(
    block,
    st.sampled_from(["allow", "deny"]),
    st.lists(st.sampled_from(["agent:read", "agent:restart"]), min_size=1, max_size=2, unique=True),
    st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=3),
)
DOCUMENTS = st.dictionaries(st.sampled_from("abcd"), BLOCKS, min_size=1, max_size=4)
AGENTS = [("001", ()), ("001", ("web",)), ("002", ("web", "db")), ("002", ("db",)), ("003", ())]


def reach(document: dict[str, Any]) -> list[bool]:
    """What the policy permits, on agents of every sort, in both modes."""
    plain = blocks_record(parse_policy(document, "p")) if document else {}
    modes = [Permissions.granted(mode, [Grant(1, "r", "", 1, "p", plain)]) for mode in ("white", "black")]
    return [
        permissions.scope(action, "agent:id").covers(agent, groups)
        for permissions in modes
        for action in ("agent:read", "agent:restart")
        for agent, groups in AGENTS
    ]


@given(DOCUMENTS)
@settings(max_examples=150, deadline=None)
def test_what_lint_calls_redundant_can_go_and_nothing_changes(document: dict[str, Any]) -> None:
    for finding in lint_policy(document):
        name, _, rest = finding.path.partition(".")
        if finding.rule not in (SHADOWED, DEAD) or not finding.message.startswith(("`", "this block")):
            continue
        less = {
            key: {k: list(v) if k != "effect" else v for k, v in b.items()} for key, b in document.items()
        }
        if rest:
            items, number = rest.rstrip("]").split("[")
            del less[name][items][int(number)]
        else:
            del less[name]
        # In black mode an allow says nothing, in white mode a deny says nothing by itself: both are compared.
        assert reach(less) == reach(document), finding.text()


@given(DOCUMENTS)
@settings(max_examples=100, deadline=None)
def test_an_entry_is_reported_once(document: dict[str, Any]) -> None:
    places = [(finding.rule, finding.path, finding.message) for finding in lint_policy(document)]
    assert len(places) == len(set(places))


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=8),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["actions", "resources", "effect", "policy", "blocks", "x"]), inner, max_size=4
                    ), max_leaves=8))  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_json_gives_findings_and_no_exception(document: object) -> None:
    for finding in lint_policy(document):
        assert finding.text()
