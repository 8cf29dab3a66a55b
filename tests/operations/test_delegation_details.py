"""Delegation in detail: what counts as holding, what a refusal shows, one's own password (D 1)."""

from __future__ import annotations

import pytest

from mgmtctl.domain.errors import DeniedError
from mgmtctl.operations import policies, roles, users
from mgmtctl.operations.context import Context
from tests.operations.access_world import (
    OTHER_PASSWORD,
    PASSWORD,
    acting,
    add_policy,
    add_role,
    add_rule,
    add_user,
    allow,
    delegate,
    deny,
)


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator, without the work of a login."""
    return acting(anonymous, 1)


def test_a_holder_of_all_agents_may_grant_a_group(service: Context) -> None:
    me = delegate(service, allow("agent:read", "agent:id:*"))
    role = add_role(service, "one_group")
    policies.create_policy(me, "one_group", allow("agent:read", "agent:group:db"))
    assert roles.link_policies(me, str(role), ["one_group"]).error == 0


def test_a_deny_of_the_caller_is_handed_on_or_nothing_is(service: Context) -> None:
    me = delegate(service, allow("agent:read", "agent:id:*"), deny("agent:read", "agent:id:007"))
    role = str(add_role(service, "others"))
    policies.create_policy(me, "all", allow("agent:read", "agent:id:*"))
    with pytest.raises(DeniedError):
        roles.link_policies(me, role, ["all"])
    policies.update_policy(
        me,
        "all",
        document={"a": allow("agent:read", "agent:id:*"), "d": deny("agent:read", "agent:id:007")},
    )
    assert roles.link_policies(me, role, ["all"]).error == 0


def test_the_refusal_hides_resources_from_those_who_read_no_policy(service: Context) -> None:
    blind = add_role(service, "blind", allow("security:update", "role:id:*", "policy:id:*"))
    me = acting(service, add_user(service, "blind", blind))
    hidden = add_policy(service, "hidden", allow("agent:read", "agent:group:secret"))
    target = add_role(service, "target")
    with pytest.raises(DeniedError) as refused:
        roles.link_policies(me, str(target), [str(hidden)])
    said = f"{refused.value} {refused.value.why} {refused.value.facts()}"
    assert "agent:read on agent:group" in said
    assert "secret" not in said


def test_the_refusal_names_what_stands_in_policies_that_the_caller_may_read(service: Context) -> None:
    team, seen = add_role(service, "team"), add_policy(service, "seen", allow("agent:read", "agent:id:001"))
    hidden = add_policy(service, "hidden", allow("agent:delete", "agent:id:002"))
    service.store.roles.link_policy(team, seen)
    rights = [
        allow("security:update", "role:id:*", "policy:id:*"),
        allow("security:read", f"policy:id:{seen}"),
        allow("agent:read", "agent:id:001"),
    ]
    me = acting(service, add_user(service, "hal", add_role(service, "limited", *rights)))
    with pytest.raises(DeniedError) as refused:
        policies.add_entries(me, str(seen), ["agent:delete"], ["agent:id:003"], "allow")
    assert refused.value.problem == "permission denied: agent:delete on agent:id:003"
    command = "mgmtctl can-i agent:delete agent:id:003 --as hal --explain"
    assert refused.value.fix == f"ask an administrator:\n{command}"
    with pytest.raises(DeniedError) as blind:
        roles.link_policies(me, str(team), [str(hidden)])
    assert (blind.value.problem, blind.value.fix) == (
        "permission denied: agent:delete on agent:id",
        "ask somebody who holds it",
    )


def test_own_password_needs_only_the_right_to_change_it(service: Context) -> None:
    role = add_role(service, "self", allow("security:update", "user:id:*"))
    me = acting(service, add_user(service, "self", role))
    users.update_user(me, "self", password=OTHER_PASSWORD)
    service.store.users.set_allow_run_as(service.store.users.find("self") or 0, True)
    add_rule(service, "strong", add_role(service, "strong", allow("agent:delete", "agent:id:*")))
    users.update_user(me, "self", password=PASSWORD)


def test_a_context_session_cannot_take_over_its_service_user(service: Context) -> None:
    role = add_role(service, "visitor", allow("security:update", "user:id:*"))
    visitor = acting(service, 2, roles=(role,))
    with pytest.raises(DeniedError):
        users.update_user(visitor, "2", password=OTHER_PASSWORD)
