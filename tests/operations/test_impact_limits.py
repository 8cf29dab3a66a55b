"""What a preview costs others, and which sessions it counts: it keeps nobody from writing (D 1, D 2, D 9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from mgmtctl.domain.errors import ConflictError, NotFoundError
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import agents, consequences, roles, security, sessions, users
from mgmtctl.operations import impact as operations
from mgmtctl.operations.context import Context
from mgmtctl.store.agents import AgentStore
from mgmtctl.store.sessions import Session
from tests.operations.access_world import acting, add_policy, add_role, add_user, allow
from tests.operations.test_impact import DB, WEB, add_agent, dry

COUNTED = allow("agent:delete", "agent:id:*")


@pytest.fixture
def admin(anonymous: Context) -> Context:
    """The administrator, with one agent in web."""
    anonymous.folders.create_group("web")
    add_agent(anonymous.store, 1, ["web"])
    return acting(anonymous, 1)


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each count of agents, whether others could not write while it was made."""
    made: list[bool] = []
    count = AgentStore.count_beyond

    def counted(self: AgentStore, wide: Scope, narrow: Scope, readable: Scope) -> int:
        made.append(self._database._connection.in_transaction)
        return count(self, wide, narrow, readable)

    monkeypatch.setattr(AgentStore, "count_beyond", counted)
    return made


def test_counting_keeps_nobody_from_writing(admin: Context, counts: list[bool]) -> None:
    role, policy = add_role(admin, "team", WEB), str(add_policy(admin, "p", WEB))
    user = str(add_user(admin, "ann"))
    operations.policy_impact(admin, str(admin.store.policies.find("team")), COUNTED)
    operations.policy_impact(admin, policy, COUNTED, "team")
    operations.new_policy_impact(admin, "team", "new", COUNTED)
    security.preview_config(admin, {"rbac_mode": "black"})
    tried = dry(admin)
    users.link_roles(tried, user, [str(role)])
    assert tried.impacts.pop()().consequences
    assert len(counts) >= 5
    assert not any(counts)


def test_a_dry_run_that_nobody_asks_about_counts_nothing(admin: Context, counts: list[bool]) -> None:
    role, user = add_role(admin, "team", WEB), str(add_user(admin, "ann"))
    users.link_roles(dry(admin), user, [str(role)])
    assert counts == []


def test_too_many_different_numbers_are_not_counted_and_that_is_said(
    admin: Context, counts: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consequences, "_MOST_COUNTED", 2)
    policy = str(add_policy(admin, "p", WEB))
    for number in range(4):
        role = add_role(admin, f"r{number}", allow("agent:read", f"agent:id:00{number}"))
        admin.store.roles.link_policy(role, int(policy))
    found = operations.policy_impact(admin, policy, DB)
    numbers = [effect.count for one in found.consequences for effect in one.effects]
    assert (len(counts), found.counted, found.record()["counted"]) == (2, False, False)
    assert (len(numbers), numbers.count(None)) == (4, 2)


def test_what_is_alike_is_counted_once(admin: Context, counts: list[bool]) -> None:
    policy = str(add_policy(admin, "p", WEB))
    for number in range(4):
        role = add_role(admin, f"r{number}", allow("agent:delete", f"agent:id:00{number}"))
        admin.store.roles.link_policy(role, int(policy))
    assert operations.policy_impact(admin, policy, DB).counted
    assert len(counts) == 2


def test_a_role_that_goes_before_the_preview_is_asked_for_does_not_matter(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    tried = dry(admin)
    agents.remove_agents_from_group(tried, "web", ["001"])
    admin.store.dry_run = False
    roles.delete_roles(admin, [str(role)])
    assert tried.impacts.pop()().consequences == ()


@pytest.mark.parametrize("reserved", ["administrator", "readonly"])
def test_a_reserved_role_gets_no_policy_and_so_is_not_asked_about(admin: Context, reserved: str) -> None:
    policy = str(add_policy(admin, "p", WEB))
    asked: tuple[Callable[[], object], ...] = (
        lambda: operations.policy_impact(admin, policy, WEB, reserved),
        lambda: operations.new_policy_impact(admin, reserved, "new", WEB),
    )
    for refused in asked:
        with pytest.raises(ConflictError, match=rf"role `{reserved}` is reserved"):
            refused()
    (failure,) = roles.link_policies(admin, reserved, [policy]).failed
    assert f"role `{reserved}` is reserved" in str(failure)
    nobody = acting(
        admin, add_user(admin, "nobody", add_role(admin, "q", allow("security:read", "policy:id:*")))
    )
    with pytest.raises(NotFoundError):
        operations.policy_impact(nobody, policy, WEB, reserved)


def add_session(ctx: Context, user_id: int, role: int, number: int, context: str | None) -> Session:
    held = ctx.store.sessions.generations(user_id, (role,), context=context is not None) or ""
    expires = int(ctx.now()) + 900
    made: Any = (f"{number:064}", f"{number}", user_id, context, context, (role,), held, 0, expires)
    session = Session(*made)
    ctx.store.sessions.add(session)
    return session


@pytest.mark.parametrize(("context", "own"), [("aa", 1), ("bb", 2), ("cc", 0), (None, 4)])
def test_a_session_of_a_context_is_told_of_the_sessions_of_its_context_only(
    admin: Context, context: str | None, own: int
) -> None:
    role = add_role(admin, "team", WEB)
    policy = str(admin.store.policies.find("team"))
    portal = add_user(admin, "portal", role)
    for number, brought in enumerate((None, "aa", "bb", "bb")):
        add_session(admin, portal, role, number, brought)
    reads = add_role(admin, "reads", allow("security:read", f"policy:id:{policy}", f"role:id:{role}"))
    me = acting(admin, portal, roles=(reads,))
    assert me.actor is not None
    me = replace(me, actor=replace(me.actor, run_as=context is not None, context_id=context))
    assert operations.policy_impact(me, policy, DB).sessions == own
    assert len(sessions.list_sessions(me).affected) == own
