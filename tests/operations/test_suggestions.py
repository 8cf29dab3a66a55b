"""Facts about suggestions: the nearest name is offered, and only out of what the caller may read."""

from __future__ import annotations

import pytest

from mgmtctl.domain.errors import NotFoundError
from mgmtctl.operations import agents, roles
from mgmtctl.operations.context import Context
from mgmtctl.store.agents import NewAgent
from tests.operations.access_world import acting, add_role, add_user, allow


def _fix(ctx: Context, name: str) -> str | None:
    with pytest.raises(NotFoundError) as caught:
        roles.update_role(ctx, name, name="anything")
    return caught.value.fix


def test_the_nearest_name_is_offered(service: Context) -> None:
    assert _fix(service, "agent_admin") == "did you mean `agents_admin`?  mgmtctl roles list"


def test_without_a_near_name_the_list_is_named(service: Context) -> None:
    assert _fix(service, "zzzzzz") == "mgmtctl roles list"


def test_names_that_may_not_be_read_are_never_offered(service: Context) -> None:
    ctx = acting(
        service, add_user(service, "ada", add_role(service, "some", allow("security:update", "role:id:*")))
    )
    assert _fix(ctx, "agent_admin") == "mgmtctl roles list"


def test_one_missing_agent_is_answered_with_the_nearest(service: Context) -> None:
    with service.atomic():
        service.store.agents.add([NewAgent(1, "web-01", "any", "0" * 64, "default")], now=0)
    result = agents.list_agents(service, ["web-1"])
    assert [failure.error.fix for failure in result.failed] == ["did you mean `web-01`?  mgmtctl agents list"]
