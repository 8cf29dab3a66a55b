"""What the fix of a refusal says, and what it keeps to itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import DeniedError
from mgmtctl.operations import access, decisions, login, policies, request_log
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import each, needs, one
from mgmtctl.store.agents import NewAgent
from tests.operations.access_world import (
    acting,
    add_policy,
    add_role,
    add_rule,
    add_user,
    allow,
    deny,
)
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

NORTH = parse_context(json.dumps({"name": "someone", "auth": {"office": "north"}}).encode())
READ_ACCESS = allow("security:read", "role:id:*", "policy:id:*", "user:id:*")
AUDIT = {
    "actions": ["security:read", "agent:read"],
    "resources": ["role:id:*", "policy:id:*", "rule:id:*", "agent:id:*"],
    "effect": "allow",
}
Fix = dict[str, Any]


@pytest.fixture
def world(service: Context) -> Context:
    """Three agents: 001 in web, 002 in db and web, 003 in db."""
    for group in ("web", "db"):
        service.folders.create_group(group)
    groups = {1: "web", 2: "db,web", 3: "db"}
    with service.atomic():
        found = [NewAgent(n, f"host-{n}", "any", "0" * 64, names) for n, names in groups.items()]
        service.store.agents.add(found, now=0)
    return service


def fix_of(ctx: Context, action: str, resource: str, **who: Any) -> Fix:
    found: Any = decisions.can_i(ctx, action, resource, **who).record()["fix"]
    return dict(found)


def commands(fix: Fix) -> list[str]:
    return [step["command"] for step in fix["steps"]]


def _roles(ctx: Context, name: str) -> list[int]:
    found = ctx.store.roles.find(name)
    assert found is not None
    return [found]


# --- what a fix says --------------------------------------------------------------------------------------------------


def test_a_near_miss_by_group_has_the_groups_of_the_agent_as_wider_ways(world: Context) -> None:
    add_user(world, "ann", add_role(world, "team", allow("agent:read", "agent:group:none")))
    fix = fix_of(world, "agent:read", "agent:id:host-2", user="ann")
    assert commands(fix) == ["mgmtctl policies add-entry team --allow agent:read --on agent:id:002"]
    assert [(other["resource"], other["agents"]) for other in fix["alternatives"]] == [
        ("agent:group:db", 2),
        ("agent:group:web", 2),
    ]
    lines = decisions.can_i(world, "agent:read", "agent:id:host-2", user="ann").lines()
    assert lines[-5:-1] == [
        "  to allow    put an entry into policy team of role team",
        "    mgmtctl policies add-entry team --allow agent:read --on agent:id:002",
        "    or with --on agent:group:db  (2 agents)",
        "    or with --on agent:group:web  (2 agents)",
    ]


def test_a_deny_that_covers_more_says_so(world: Context) -> None:
    blocks = [allow("agent:read", "agent:id:*"), deny("agent:read", "agent:group:web")]
    add_user(world, "ann", add_role(world, "team", *blocks))
    fix = fix_of(world, "agent:read", "agent:id:001", user="ann")
    assert (fix["gives"], fix["more_agents"]) == (
        [{"action": "agent:read", "resource": "agent:group:web"}],
        1,
    )
    lines = decisions.can_i(world, "agent:read", "agent:id:001", user="ann").lines()
    assert "    this also allows agent:read on agent:group:web  (1 more agent)" in lines


def test_the_policy_of_the_near_miss_is_taken_then_one_of_the_same_noun(world: Context) -> None:
    role = add_role(world, "team")
    for name, action, resource in (
        ("a", "group:read", "group:id:web"),
        ("b", "agent:restart", "agent:id:001"),
        ("c", "agent:read", "agent:id:001"),
    ):
        world.store.roles.link_policy(role, add_policy(world, name, allow(action, resource)))
    add_user(world, "ann", role)
    taken = {
        action: fix_of(world, action, resource, user="ann")["steps"][0]["policy"]
        for action, resource in (
            ("agent:read", "agent:id:003"),
            ("agent:delete", "agent:id:003"),
            ("group:delete", "group:id:db"),
            ("manager:read", "*:*:*"),
        )
    }
    assert taken == {"agent:read": "c", "agent:delete": "b", "group:delete": "a", "manager:read": "a"}


def test_other_roles_that_have_the_policy_are_named(world: Context) -> None:
    team = add_role(world, "team", allow("agent:read", "agent:id:001"))
    policy = world.store.policies.find("team") or 0
    world.store.roles.link_policy(add_role(world, "others"), policy)
    add_user(world, "ann", team)
    assert fix_of(world, "agent:read", "agent:id:003", user="ann")["other_roles"] == ["others"]


def test_a_role_is_given_that_gives_the_least_else(world: Context) -> None:
    add_role(world, "wide", allow("agent:read", "agent:id:*"))
    add_role(world, "team", allow("agent:read", "agent:group:web"), allow("agent:restart", "agent:group:web"))
    add_role(world, "chief", allow("agent:read", "agent:id:001"), allow("security:update", "role:id:1"))
    add_user(world, "ann")
    fix = fix_of(world, "agent:read", "agent:id:001", user="ann")
    assert commands(fix) == ["mgmtctl users add-role ann team"]
    assert fix["gives"] == [
        {"action": "agent:read", "resource": "agent:group:web"},
        {"action": "agent:restart", "resource": "agent:group:web"},
    ]
    assert fix["more_agents"] == 1


def test_new_things_get_names_that_are_free(world: Context) -> None:
    add_user(world, "ann")
    add_role(world, "ANN")
    add_policy(world, "ann_2_agent_delete", allow("agent:read", "agent:id:001"))
    fix = fix_of(world, "agent:delete", "agent:id:001", user="ann")
    assert [(step["kind"], step.get("policy"), step.get("role")) for step in fix["steps"]] == [
        ("create-role", None, "ann_2"),
        ("create-policy", "ann_2_agent_delete_2", None),
        ("add-policy", "ann_2_agent_delete_2", "ann_2"),
        ("add-role", None, "ann_2"),
    ]


UNFIXABLE = [
    pytest.param({"user": "wui"}, "user wui came with the service", id="a reserved user"),
    pytest.param({"roles": ["agents_readonly"]}, "a role of your own", id="a reserved role by itself"),
    pytest.param({"context": NORTH}, "no rule that you may read is true", id="no true rule"),
    pytest.param(
        {"context": NORTH, "user": "ann"}, "no rule that you may read is true", id="for a user neither"
    ),
]


@pytest.mark.parametrize(("who", "said"), UNFIXABLE)
def test_what_nobody_may_change_is_said(world: Context, who: dict[str, Any], said: str) -> None:
    world.store.users.set_allow_run_as(add_user(world, "ann"), True)
    wui = world.store.users.get(2)
    for role in wui.roles:
        world.store.users.unlink_role(2, role)
    world.store.users.link_role(2, _roles(world, "agents_readonly")[0])
    fix = fix_of(world, "agent:restart", "agent:id:001", **who)
    assert (said in fix["summary"], fix["steps"]) == (True, [])


def test_reserved_rules_keep_their_roles(world: Context) -> None:
    context = parse_context(json.dumps({"name": "x", "auth": {"username": "elastic"}}).encode())
    for grant in world.store.roles.grants([1]):
        world.store.roles.unlink_policy(1, grant[2])
    fix = fix_of(world, "agent:read", "agent:id:001", user="wui", context=context)
    assert ("came with the service" in fix["summary"], fix["steps"]) == (True, [])


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_refusal_has_the_answer_of_the_question(world: Context) -> None:
    role = add_role(
        world, "team", allow("agent:read", "agent:id:*"), allow("agent:delete", "agent:group:db"), READ_ACCESS
    )
    ann = acting(world, add_user(world, "ann", role))
    with pytest.raises(DeniedError) as refused:
        access.demand(ann, "agent:delete", "agent:id", "host-1")
    answer = decisions.can_i(ann, "agent:delete", "agent:id:host-1")
    facts = refused.value.facts()
    assert (facts["resource"], facts["decision"]) == ("agent:id:host-1", answer.record())
    said = [
        line.strip() for text in (refused.value.why, refused.value.fix) for line in (text or "").split("\n")
    ]
    lines = [line.strip().removeprefix("to allow    ") for line in answer.lines()[2:]]
    assert sorted(said) == sorted(lines)


def test_who_may_not_read_access_is_told_whom_to_ask_with_what(world: Context) -> None:
    ann = acting(world, add_user(world, "ann", add_role(world, "team", allow("agent:read", "agent:id:*"))))
    command = "mgmtctl can-i agent:delete agent:id:host-1 --as ann --explain"
    with pytest.raises(DeniedError) as refused:
        access.demand(ann, "agent:delete", "agent:id", "host-1")
    assert refused.value.fix == f"ask an administrator:\n{command}"
    fix = fix_of(ann, "agent:delete", "agent:id:host-1")
    assert (fix["summary"], fix["steps"]) == (f"ask an administrator: {command}", [])


def test_every_right_that_is_missing_is_named(world: Context) -> None:
    ann = acting(world, add_user(world, "ann", add_role(world, "team", allow("agent:read", "agent:id:*"))))
    declared = (
        needs("agent:create"),
        needs("agent:delete", one("agent:id", "agent_id")),
        needs("agent:read", one("agent:id", "agent_id")),
        needs("group:modify_assignments", one("group:id", "group_id")),
    )
    with pytest.raises(DeniedError) as refused:
        access.admit(ann, declared[:2], None, {"agent_id": "host-1", "group_id": "web"})
    assert (
        refused.value.problem == "permission denied: agent:create on *:*:*, agent:delete on agent:id:host-1"
    )
    also: Any = refused.value.facts()["also_denied"]
    assert [(one["action"], one["resource"]) for one in also] == [("agent:delete", "agent:id:host-1")]
    assert (refused.value.fix or "").count("mgmtctl can-i") == 2
    with pytest.raises(DeniedError) as beside:
        access.admit(ann, declared, None, {"agent_id": "host-1", "group_id": "db"})
    assert "db" not in f"{beside.value} {beside.value.why} {beside.value.fix} {beside.value.facts()}"


def test_of_many_refused_items_one_is_explained(world: Context) -> None:
    ann = acting(
        world,
        add_user(
            world,
            "ann",
            add_role(world, "team", allow("agent:read", "agent:id:*"), allow("agent:delete", "agent:id:1")),
        ),
    )
    failures = access.admit(
        ann, (needs("agent:delete", each("agent:id", "agents_list")),), None, {"agents_list": ["1", "2", "3"]}
    )
    assert [(failure.ids, failure.error.why is None) for failure in failures] == [(("2", "3"), False)]


# --- what the caller may not see --------------------------------------------------------------------------------------


def test_a_fix_rests_on_what_the_caller_may_read(world: Context) -> None:
    """A reader of some roles and policies: neither names, nor entries, nor counts of the others are told."""
    seen = add_role(world, "seen", allow("agent:read", "agent:id:001"))
    hidden = add_role(
        world, "hidden-role", allow("agent:read", "agent:group:secret"), deny("agent:restart", "agent:id:001")
    )
    world.store.roles.link_policy(hidden, world.store.policies.find("seen") or 0)
    add_user(world, "ann", seen, hidden)
    add_user(world, "bob")
    policy = world.store.policies.find("seen")
    reader = add_role(
        world, "reader",
        allow("security:read", f"role:id:{seen}", f"policy:id:{policy}", "user:id:*"),
        allow("agent:read", "agent:group:web"),
    )  # fmt: skip
    me = acting(world, add_user(world, "reader", reader))
    answers = [
        decisions.can_i(me, action, "agent:id:001" if number == 1 else "agent:id:002", user=user)
        for user in ("ann", "bob")
        for number in (1, 2)
        for action in ("agent:read", "agent:restart", "agent:delete")
    ]
    said = "\n".join(json.dumps(answer.record()) + "\n".join(answer.lines()) for answer in answers)
    assert "hidden-role" not in said
    assert "secret" not in said
    fixes: list[Any] = [answer.record()["fix"] for answer in answers]
    kinds = [[step["kind"] for step in fix["steps"]] if fix else [] for fix in fixes]
    # A deny that is hidden has no fix but to ask; a policy that is seen may get an entry.
    assert kinds[:3] == [[], [], ["add-entry"]]
    assert "ask an administrator: mgmtctl can-i agent:restart agent:id:001 --as ann --explain" in said


def test_a_hidden_policy_gets_no_entry_and_a_hidden_role_is_not_given(world: Context) -> None:
    team = add_role(world, "team", allow("agent:read", "agent:id:001"))
    add_role(world, "hidden-role", allow("agent:delete", "agent:id:001"))
    add_user(world, "ann", team)
    add_user(world, "bob")
    reader = add_role(
        world,
        "reader",
        allow("security:read", f"role:id:{team}", "policy:id:1", "user:id:*"),
        allow("agent:read", "agent:id:*"),
    )
    me = acting(world, add_user(world, "reader", reader))
    assert [step["kind"] for step in fix_of(me, "agent:delete", "agent:id:001", user="ann")["steps"]] == [
        "create-policy", "add-policy",
    ]  # fmt: skip
    assert fix_of(me, "agent:delete", "agent:id:001", user="bob")["steps"][0]["kind"] == "create-role"


def test_an_agent_that_may_not_be_read_gives_the_same_answer_whether_it_is_there(world: Context) -> None:
    role = add_role(
        world,
        "team",
        deny("agent:delete", "agent:group:db"),
        allow("agent:read", "agent:id:001"),
        READ_ACCESS,
    )
    me = acting(world, add_user(world, "ann", role))
    answers = []
    for number in ("003", "999"):
        answer = decisions.can_i(me, "agent:delete", f"agent:id:{number}")
        answers.append(json.dumps([answer.record(), answer.lines()]).replace(number, "N"))
    assert answers[0] == answers[1]


def test_a_context_session_is_told_to_ask_about_its_roles_and_its_context(
    world: Context, actor_with: ActorWith
) -> None:
    portal = actor_with(name="portal", allow_run_as=True)
    rule = add_rule(world, "anybody", add_role(world, "auditor", AUDIT))
    sessions = [_by_context(portal)]
    world.store.rules.delete(rule)
    sessions.append(_by_context(portal))
    said = []
    for session in sessions:
        with pytest.raises(DeniedError) as refused:
            access.demand(session, "agent:restart", "agent:id", "001")
        said.append((refused.value.fix or "").split("\n"))
    shown = f"mgmtctl log show --context {NORTH.id[:8]}"
    assert said == [
        [
            "ask an administrator:",
            "mgmtctl can-i agent:restart agent:id:001 --role auditor --explain",
            shown,
        ],
        ["ask an administrator:", shown],
    ]
    assert request_log.show_context(world, NORTH.id[:8]).logins


def _by_context(ctx: Context) -> Context:
    return login.resume(ctx, login.run_as(ctx, "portal", ADMIN_PASSWORD, NORTH).token, False)


def test_who_is_refused_is_told_whom_to_ask_though_he_reads_all(world: Context) -> None:
    """Nobody gives himself what he lacks, so that no fix is his to make; asking about himself by name tells it."""
    team = add_role(
        world, "team", allow("agent:read", "agent:id:*"), READ_ACCESS, allow("security:update", "policy:id:*")
    )
    ann = acting(world, add_user(world, "ann", team))
    command = "mgmtctl can-i agent:delete agent:id:001 --as ann --explain"
    with pytest.raises(DeniedError) as refused:
        access.demand(ann, "agent:delete", "agent:id", "001")
    assert refused.value.fix == f"ask an administrator:\n{command}"
    assert fix_of(ann, "agent:delete", "agent:id:001")["steps"] == []
    steps = fix_of(ann, "agent:delete", "agent:id:001", user="ann")["steps"]
    assert [step["kind"] for step in steps] == ["add-entry"]
    with pytest.raises(DeniedError):
        policies.add_entries(ann, "team", ["agent:delete"], ["agent:id:001"], "allow")
