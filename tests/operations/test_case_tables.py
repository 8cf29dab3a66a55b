"""Tables of cases asked of the stored service: the answers are those of `can_i`, and so are the rights they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgmtctl.domain.auth_context import AuthContext, context_id
from mgmtctl.domain.case_runs import Result, Run, run_table
from mgmtctl.domain.case_tables import POLICIES, RULES, Table, read_table
from mgmtctl.domain.errors import DeniedError
from mgmtctl.domain.grants import BLACK, WHITE
from mgmtctl.domain.matching import needed_keys
from mgmtctl.domain.policies import parse_policy
from mgmtctl.domain.rules import parse_rules
from mgmtctl.operations import case_tables, decisions
from mgmtctl.operations.context import Context
from tests.domain.test_access_tables import expected, stories, table_of
from tests.operations.access_world import acting, add_role, add_user, allow

CONTEXT: dict[str, object] = {"name": "ada", "auth": {"groups": ["web"]}}


def stored(ctx: Context, story: dict[str, Any]) -> Context:
    """The administrator's session in a store that holds what a story defines."""
    store = ctx.store
    for number, groups in story.get("agents", {}).items():
        store.database.execute(
            "INSERT INTO agents (id, name, name_key, key, date_add, groups) VALUES (?, ?, ?, '', 0, ?)",
            (int(number), f"agent-{number}", f"agent-{number}", ",".join(groups)),
        )
        for position, group in enumerate(groups):
            store.database.execute(
                "INSERT INTO memberships (group_name, agent_id, position) VALUES (?, ?, ?)",
                (group, int(number), position),
            )
    for name, document in story.get("policies", {}).items():
        store.policies.add(name, parse_policy(document, name))
    for name, policies in story.get("roles", {}).items():
        role = store.roles.add(name)
        for policy in policies:
            store.roles.link_policy(role, _id(store.policies.find(policy)))
    for name, user in story.get("users", {}).items():
        record = user if isinstance(user, dict) else {"roles": user}
        number = store.users.add(name, "hash", allow_run_as=record.get("allow_run_as", False))
        for role_name in record["roles"]:
            store.users.link_role(number, _id(store.roles.find(role_name)))
    for name, document in story.get("rules", {}).items():
        expressions = parse_rules(document)
        rule = store.rules.add(name, expressions, needed_keys(expressions))
        for role_name in document.get("roles", []) if isinstance(document, dict) else []:
            store.roles.link_rule(_id(store.roles.find(role_name)), rule)
    return acting(ctx, 1)


def _id(found: int | None) -> int:
    assert found is not None
    return found


def asked(ctx: Context, story: dict[str, Any], kind: str = POLICIES, coverage: bool = False) -> Run:
    """The cases of a story, asked of the service instead of its own world."""
    cases: Any = _table({"cases": story["cases"], "mode": story.get("mode", WHITE)}, kind).cases
    if kind == POLICIES:
        return case_tables.decide_policy_cases(ctx, cases, coverage)
    return case_tables.judge_rule_cases(ctx, cases, coverage)


def _table(document: dict[str, Any], kind: str = POLICIES) -> Table:
    def no_files(path: str, name: str | None) -> AuthContext:
        raise AssertionError(path)

    return read_table(document, kind, no_files)


def one(ctx: Context, case: dict[str, Any], kind: str = POLICIES) -> Result:
    (result,) = asked(ctx, {"cases": [case]}, kind).results
    return result


@pytest.mark.parametrize("mode", [WHITE, BLACK])
@pytest.mark.parametrize("story", [pytest.param(story, id=name) for name, story in stories().items()])
def test_the_tables_of_decisions_are_what_can_i_says(
    story: dict[str, Any], mode: str, anonymous: Context
) -> None:
    ctx = stored(anonymous, story)
    ctx.store.settings.set("rbac_mode", mode)
    for case in story["cases"]:
        answer = decisions.can_i(ctx, case["action"], case["resource"], user=case["user"])
        assert answer.allowed is expected(case, mode), case
        assert {entry.policy for entry in answer.decision.because} == set(case["because"]), case


@pytest.mark.parametrize("story", [pytest.param(story, id=name) for name, story in stories().items()])
def test_the_tables_of_decisions_pass_on_the_stored_service(
    story: dict[str, Any], anonymous: Context
) -> None:
    results = asked(stored(anonymous, story), story).results
    assert [result.title for result in results if not result.passed] == []
    assert len(results) == 2 * len(story["cases"])


@pytest.mark.parametrize(
    "story", [pytest.param(story, id=name) for name, story in stories(rules=True).items()]
)
def test_the_tables_of_rules_pass_on_the_stored_service(story: dict[str, Any], anonymous: Context) -> None:
    results = asked(stored(anonymous, story), story, RULES).results
    assert [result.got for result in results if not result.passed] == []


ACTIONS = ("agent:read", "agent:restart", "agent:create", "group:read", "security:read")
RESOURCES = (
    "agent:id:001",
    "agent:id:002",
    "agent:id:*",
    "agent:group:web",
    "group:id:web",
    "*:*:*",
    "user:id:1",
)
PAIRS = {
    "agent:read": RESOURCES[:4], "agent:restart": RESOURCES[:4], "agent:create": ("*:*:*",),
    "group:read": ("group:id:web", "group:id:*"), "security:read": ("user:id:1", "user:id:*"),
}  # fmt: skip
entries = st.sampled_from(ACTIONS).flatmap(
    lambda action: st.builds(
        lambda resource, effect: {"actions": [action], "resources": [resource], "effect": effect},
        st.sampled_from(PAIRS[action]),
        st.sampled_from(("allow", "deny")),
    )
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    policies=st.lists(entries, min_size=1, max_size=4),
    roles=st.lists(st.sets(st.integers(0, 3)), max_size=3),
    linked=st.booleans(),
    mode=st.sampled_from((WHITE, BLACK)),
)
def test_a_world_decides_as_the_service_that_holds_the_same(
    policies: list[dict[str, Any]], roles: list[set[int]], linked: bool, mode: str, anonymous: Context
) -> None:
    names = [f"p{number}" for number in range(len(policies))]
    world: dict[str, Any] = {
        "agents": {"001": ["default"], "002": ["web", "default"]},
        "policies": dict(zip(names, policies, strict=True)),
        "roles": {
            f"r{n}": [names[i] for i in sorted(held) if i < len(names)] for n, held in enumerate(roles)
        },
    }
    world["users"] = {"ada": list(world["roles"]), "via": {"roles": [], "allow_run_as": True}}
    rule = {"rule": {"FIND": {"groups": "web"}}, "roles": list(world["roles"]) if linked else []}
    world["rules"] = {"staff": rule}
    questions = [
        {**subject, "action": action, "resource": resource, "expected": "allow", "because": []}
        for subject in ({"user": "ada"}, {"context": CONTEXT}, {"context": CONTEXT, "user": "via"})
        for action, fitting in PAIRS.items()
        for resource in fitting
    ]
    story = {**world, "mode": mode, "cases": questions}
    table = table_of(story)
    assert table.world is not None
    in_world = [(result.title, result.got) for result in run_table(table, table.world).results]
    ctx = acting(anonymous, 1)
    with pytest.raises(_Undone), ctx.atomic():
        ctx = stored(anonymous, world)
        ctx.store.settings.set("rbac_mode", mode)
        assert [(result.title, result.got) for result in asked(ctx, story).results] == in_world
        for question, (_, got) in zip(questions, in_world, strict=True):
            assert _can_i(ctx, question) == got
        raise _Undone


class _Undone(Exception):  # noqa: N818
    """Takes back what an example put into the store."""


def _can_i(ctx: Context, question: dict[str, Any]) -> str:
    context = AuthContext(CONTEXT, context_id(CONTEXT)) if "context" in question else None
    answer = decisions.can_i(
        ctx, question["action"], question["resource"], question.get("user"), None, context
    )
    because = ", ".join(sorted({entry.policy for entry in answer.decision.because}))
    return f"{'allow' if answer.allowed else 'deny'} because of {because or 'the mode alone'}"


# --- rights -------------------------------------------------------------------------------------------------------


@pytest.fixture
def world(anonymous: Context) -> Context:
    return stored(
        anonymous,
        {
            "agents": {"001": ["web"], "002": ["db"]},
            "policies": {"web": allow("agent:read", "agent:group:web")},
            "roles": {"team": ["web"], "secret": ["web"]},
            "users": {"ada": ["team"], "bob": ["secret"]},
            "rules": {"staff": {"rule": {"FIND": {"groups": "web"}}, "roles": ["secret"]}},
        },
    )


def reader(world: Context, *resources: str, agents: str = "agent:id:*") -> Context:
    role = add_role(world, "reader", allow("security:read", *resources), allow("agent:read", agents))
    return acting(world, add_user(world, "reader", role))


def number(ctx: Context, kind: str, name: str) -> str:
    store = ctx.store.users if kind == "user" else ctx.store.roles
    return f"{kind}:id:{_id(store.find(name))}"


CASE = {"user": "bob", "action": "agent:read", "resource": "agent:id:001", "expected": "allow"}


def test_a_user_that_one_may_not_read_is_no_pass(world: Context) -> None:
    ctx = reader(world, number(world, "user", "ada"))
    by_name, by_id = one(ctx, CASE), one(ctx, {**CASE, "user": str(world.store.users.find("bob"))})
    for result in (by_name, by_id):
        assert result.error
        assert not result.passed
    assert by_name.got == "cannot be decided: user `bob` does not exist"
    assert "permission denied: security:read on user:id:" in by_id.got


def test_an_agent_that_one_may_not_read_is_no_pass(world: Context) -> None:
    ctx = reader(world, "user:id:*", agents="agent:id:002")
    assert "permission denied: agent:read" in one(ctx, CASE).got


def test_reasons_hold_nothing_that_one_may_not_read(world: Context) -> None:
    ctx = reader(world, "user:id:*", number(world, "role", "team"), "policy:id:*")
    result = one(ctx, {**CASE, "expected": "deny"})
    assert (result.passed, result.got) == (False, "allow")
    assert "secret" not in str(result.record())
    assert result.lines[-1].strip() == "some of the reasons are hidden from you"
    because = one(ctx, {**CASE, "because": ["web"]})
    assert (because.error, because.passed) == (True, False)
    assert "secret" not in str(because.record())


def test_coverage_holds_nothing_that_one_may_not_read(world: Context) -> None:
    found = asked(reader(world, "user:id:*"), {"cases": [CASE]}, coverage=True).coverage
    assert found is not None
    assert found.record() == {"policies": []}


def test_contexts_need_every_rule(world: Context) -> None:
    ctx = reader(world, "rule:id:1", "role:id:*")
    case = {**CASE, "context": CONTEXT}
    del case["user"]
    assert "permission denied: security:read on rule:id:*" in one(ctx, case).got
    with pytest.raises(DeniedError):
        one(ctx, {"context": CONTEXT, "rules": ["staff"]}, RULES)


def test_roles_that_one_may_not_read_are_not_compared(world: Context) -> None:
    ctx = reader(world, "rule:id:*", number(world, "role", "team"))
    result = one(ctx, {"context": CONTEXT, "roles": ["team"]}, RULES)
    assert result.error
    assert "secret" not in str(result.record())
    rules = one(ctx, {"context": CONTEXT, "rules": []}, RULES)
    assert rules.got == "rules staff"
    assert "secret" not in str(rules.record())


def test_agents_and_security_objects_may_be_called_by_name(world: Context) -> None:
    assert one(world, {**CASE, "resource": "agent:id:agent-001"}).passed
    assert one(
        world, {**CASE, "action": "security:read", "resource": "user:id:ada", "expected": "deny"}
    ).passed
    assert "does not exist" in one(world, {**CASE, "resource": "agent:id:nobody"}).got


def test_an_unknown_rule_cannot_be_decided(world: Context) -> None:
    result = one(world, {"context": CONTEXT, "rules": ["staf"]}, RULES)
    assert result.error
    assert result.got == "cannot be decided: rule `staf` does not exist"


def test_the_mode_is_that_of_the_service_unless_said(world: Context) -> None:
    case = {**CASE, "action": "agent:delete", "expected": "allow"}
    by_default = asked(world, {"cases": [case], "mode": BLACK}).results[0]
    assert (by_default.mode, by_default.passed) == (BLACK, True)
    cases: Any = _table({"cases": [case]}).cases
    assert case_tables.decide_policy_cases(world, cases).results[0].mode == WHITE
    world.store.settings.set("rbac_mode", BLACK)
    assert case_tables.decide_policy_cases(world, cases).results[0].mode == BLACK


def test_a_run_is_one_line_of_the_log_without_the_content_of_a_context(world: Context, home: Path) -> None:
    case = {"context": {"name": "ada", "auth": {"mail": "ada@corp.example"}}, "rules": []}
    asked(world, {"cases": [case, case]}, RULES)
    text = "".join(path.read_text("utf-8") for path in (home / "log").rglob("*") if path.is_file())
    assert text.count("POST /security/rules/test") == 1
    assert "ada@corp.example" not in text
    assert "cases[1]" in text
