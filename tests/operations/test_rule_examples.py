"""One rule is explained for one context: its own verdict, whose logins evaluate it, and what one user gets by it."""

from __future__ import annotations

from typing import Any

import pytest

from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import DeniedError, NotFoundError, QuestionError
from mgmtctl.domain.matching import needed_keys
from mgmtctl.operations import rule_examples
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith

OPS = parse_context(b'{"name": "portal", "auth": {"team": "ops", "user_name": "admin"}}')
DEV = parse_context(b'{"name": "portal", "auth": {"team": "dev"}}')
READ_RULES = {"actions": ["security:read"], "resources": ["rule:id:*"], "effect": "allow"}


@pytest.fixture
def world(service: Context, actor_with: ActorWith) -> Context:
    """The administrator's service with a user `portal` who may use contexts, and two rules that ask for team ops."""
    actor_with(name="portal", allow_run_as=True)
    actor_with(name="guest")
    add_rule(service, "ops", "agents_admin")
    add_rule(service, "lost")
    return service


def add_rule(ctx: Context, name: str, *roles: str) -> None:
    expression: dict[str, Any] = {"FIND": {"team": "ops"}}
    rule_id = ctx.store.rules.add(name, [expression], needed_keys([expression]))
    for role in roles:
        ctx.store.roles.link_rule(rule_id=rule_id, role_id=int(ctx.store.roles.find(role) or 0))


@pytest.mark.parametrize(
    ("rule", "context", "user", "verdict", "yes", "evaluated_for", "hindrance"),
    [
        pytest.param("ops", OPS, None, True, True, "every user who may use contexts", "", id="true"),
        pytest.param("ops", DEV, None, False, False, "every user who may use contexts", "", id="false"),
        pytest.param(
            "lost", OPS, None, True, True, "nobody: it leads to no role", "", id="true and unlinked"
        ),
        pytest.param("ops", OPS, "portal", True, True, "every user who may use contexts", "", id="got"),
        pytest.param(
            "ops",
            DEV,
            "portal",
            False,
            False,
            "every user who may use contexts",
            "the rule is false",
            id="not true",
        ),
        pytest.param(
            "ops",
            OPS,
            "guest",
            True,
            False,
            "every user who may use contexts",
            "the user may not use authorization contexts",
            id="not allowed",
        ),
        pytest.param(
            "lost",
            OPS,
            "portal",
            True,
            False,
            "nobody: it leads to no role",
            "the rule leads to no role",
            id="no role",
        ),
        pytest.param(
            "wui_stackb_admin",
            OPS,
            "portal",
            True,
            False,
            "the web interface's user only: it is a default rule",
            "a default rule is for the web interface's user only",
            id="a default rule",
        ),
        pytest.param(
            "wui_stackb_admin",
            OPS,
            "wui",
            True,
            True,
            "the web interface's user only: it is a default rule",
            "",
            id="a default rule for wui",
        ),
    ],
)
def test_a_rule_is_judged_and_who_gets_anything_by_it_is_said(
    world: Context,
    rule: str,
    context: Any,
    user: str | None,
    verdict: bool,
    yes: bool,
    evaluated_for: str,
    hindrance: str,
) -> None:
    found = rule_examples.explain_rule(world, rule, context, user)
    assert (found.trace.verdict, found.yes) == (verdict, yes)
    assert (found.evaluated_for, found.hindrance) == (evaluated_for, hindrance)
    record = found.record()
    assert record["verdict"] == {True: "true", False: "false"}[verdict]
    assert ("user" in record) is (user is not None)


def test_an_undecided_rule_is_no_yes(world: Context) -> None:
    world.store.rules.set_expressions(100, [{"NOT": {"FIND": {"team": "r'('"}}}], None)
    found = rule_examples.explain_rule(world, "ops", OPS, "portal")
    assert (found.trace.verdict, found.yes, found.hindrance) == (None, False, "the rule is undecided")


def test_roles_that_may_not_be_read_are_not_named(world: Context, actor_with: ActorWith) -> None:
    reader = actor_with([READ_RULES])
    found = rule_examples.explain_rule(reader, "ops", OPS)
    assert (found.roles, found.yes) == ((), True)
    assert "agents_admin" not in str(found.record())


def test_a_rule_or_user_that_may_not_be_read_is_not_there(world: Context, actor_with: ActorWith) -> None:
    other = {**READ_RULES, "resources": ["rule:id:101"]}
    reader = actor_with([other])
    with pytest.raises(NotFoundError):
        rule_examples.explain_rule(reader, "ops", OPS)
    with pytest.raises(DeniedError):
        rule_examples.explain_rule(reader, "100", OPS)
    for user in ("portal", "nobody"):
        with pytest.raises(QuestionError) as raised:
            rule_examples.explain_rule(reader, "lost", OPS, user)
        assert raised.value.problem == f"user `{user}` does not exist"


@pytest.mark.parametrize("user", [None, "portal"])
@pytest.mark.parametrize("context", [OPS, DEV], ids=["true", "false"])
def test_a_role_that_may_not_be_read_is_as_none(
    world: Context, actor_with: ActorWith, context: Any, user: str | None
) -> None:
    users = {**READ_RULES, "resources": ["rule:id:*", "user:id:*"]}
    reader = actor_with([users])
    ops, lost = (rule_examples.explain_rule(reader, rule, context, user) for rule in ("ops", "lost"))
    assert ops.evaluated_for == lost.evaluated_for == "nobody: it leads to no role that you may read"
    nowhere = "the rule leads to no role that you may read" if user else ""
    assert (ops.hindrance, ops.yes) == (lost.hindrance, lost.yes) == (nowhere, context is OPS and not user)
