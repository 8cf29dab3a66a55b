"""One question has one answer, whoever is asked: the guard, explain for oneself and by another, who-can (D 2).

Random services, in both modes. If two of them disagreed, an explanation would be wrong, or a guard open.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import DeniedError, NotFoundError
from mgmtctl.operations import access, agents, decisions, groups, reach
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_policy, add_role, add_user
from tests.operations.test_no_escalation import GROUPS, documents, undone

QUESTIONS = [
    *(
        (action, "agent:id", number)
        for action in ("agent:read", "agent:delete")
        for number in ("001", "002", "003")
    ),
    *(("group:read", "group:id", name) for name in GROUPS),
    ("agent:create", "*:*", "*"),
    ("security:update_config", "*:*", "*"),
]


@pytest.fixture
def fleet(service: Context) -> Context:
    """Agent 001 in web, 002 in web and db, 003 in no group but default."""
    for name in GROUPS:
        groups.create_group(service, name)
    for name, of in (("one", ["web"]), ("two", ["web", "db"]), ("three", [])):
        agents.create_agent(service, name, groups=of)
    return service


def passes(ctx: Context, action: str, kind: str, value: str) -> bool:
    """Whether the guard lets this session through."""
    try:
        access.demand(ctx, action, kind, f"{kind}:{value}" if kind == "*:*" else value)
    except (DeniedError, NotFoundError):  # a name that may not be read
        return False
    return True


@pytest.mark.parametrize("mode", ["white", "black"])
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(
    made=st.lists(documents, min_size=2, max_size=2),
    held=st.lists(st.lists(st.sampled_from([0, 1]), max_size=2, unique=True), min_size=3, max_size=3),
)
def test_guard_explain_and_who_can_give_one_answer(
    fleet: Context, mode: str, made: list[dict[str, Any]], held: list[list[int]]
) -> None:
    with undone(fleet):
        fleet.store.settings.set("rbac_mode", mode)
        roles = [add_role(fleet, f"r{number}") for number in (0, 1)]
        for number, document in enumerate(made):
            policy = add_policy(fleet, f"p{number}", *document["blocks"].values())
            fleet.store.roles.link_policy(roles[number], policy)
        users = [
            add_user(fleet, f"u{number}", *(roles[role] for role in which))
            for number, which in enumerate(held)
        ]
        admin = acting(fleet, 1)
        for action, kind, value in QUESTIONS:
            resource = f"{kind}:{value}"
            able = reach.who_can(admin, action, resource, user_ids=[str(user) for user in users])
            listed = {one.id for one in able.affected}
            for user in users:
                me = acting(fleet, user)
                answers = {
                    "guard": passes(me, action, kind, value),
                    "oneself": decisions.can_i(me, action, resource).allowed,
                    "another": decisions.can_i(admin, action, resource, user=str(user)).allowed,
                    "who-can": user in listed,
                }
                assert len(set(answers.values())) == 1, (user, action, resource, answers)
