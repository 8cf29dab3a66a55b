"""Which change ends whose sessions: exactly those that hold what changed, and no others (D 1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mgmtctl.operations import policies, roles, rules, users
from mgmtctl.operations.context import Context
from tests.operations.access_world import PASSWORD, acting, add_policy, add_role, add_rule, add_user, allow

# user a holds role a, user b role b; each has a basic session and a context session with its role.
SESSIONS = ("a basic", "a context", "b basic", "b context")
ALL_CONTEXTS = {"a context", "b context"}
A = {"a basic", "a context"}


@pytest.fixture
def service(anonymous: Context) -> Context:
    """Two users, two roles with a policy and a rule each; the caller is the administrator."""
    ctx = acting(anonymous, 1)
    for name in "ab":
        role = add_role(ctx, f"role_{name}", allow("agent:read", f"agent:group:{name}"))
        add_user(ctx, f"user_{name}", role)
        add_rule(ctx, f"rule_{name}", role)
    add_role(ctx, "spare_role")
    add_policy(ctx, "spare_policy", allow("agent:read", "agent:group:c"))
    add_rule(ctx, "spare_rule")
    return ctx


def counters(ctx: Context) -> dict[str, str | None]:
    found = {}
    for name in SESSIONS:
        user = ctx.store.users.find(f"user_{name[0]}")
        role = ctx.store.roles.find(f"role_{name[0]}")
        ids = SAVED.setdefault(name[0], (user or 0, role or 0))
        found[name] = ctx.store.sessions.generations(ids[0], [ids[1]], context=name.endswith("context"))
    return found


SAVED: dict[str, tuple[int, int]] = {}

CHANGES: list[tuple[str, Callable[[Context], object], set[str]]] = [
    ("password", lambda c: users.update_user(c, "user_a", password=PASSWORD), A),
    ("run-as allowed", lambda c: users.set_run_as(c, "user_a", True), A),
    ("run-as as it was", lambda c: users.set_run_as(c, "user_a", False), set()),
    ("user renamed", lambda c: users.update_user(c, "user_a", name="user_a.x"), A),
    ("user deleted", lambda c: users.delete_users(c, ["user_a"]), A),
    ("user created", lambda c: users.create_user(c, "new", PASSWORD, roles=["role_a"]), set()),
    ("role linked", lambda c: users.link_roles(c, "user_a", ["spare_role"]), A),
    ("role linked again", lambda c: users.link_roles(c, "user_a", ["role_a"]), set()),
    ("role unlinked", lambda c: users.unlink_roles(c, "user_a", ["role_a"]), A),
    ("another role unlinked", lambda c: users.unlink_roles(c, "user_a", ["spare_role"]), set()),
    ("role created", lambda c: roles.create_role(c, "new"), set()),
    ("role renamed", lambda c: roles.update_role(c, "role_a", name="role_a.x"), A),
    ("role given its own name", lambda c: roles.update_role(c, "role_a", name="role_a"), set()),
    ("role deleted", lambda c: roles.delete_roles(c, ["role_a"]), A),
    ("spare role deleted", lambda c: roles.delete_roles(c, ["spare_role"]), set()),
    ("policy created", lambda c: policies.create_policy(c, "new", allow("task:status", "*:*:*")), set()),
    ("policy linked", lambda c: roles.link_policies(c, "role_a", ["spare_policy"]), A),
    ("policy linked again", lambda c: roles.link_policies(c, "role_a", ["role_a"]), set()),
    ("policy unlinked", lambda c: roles.unlink_policies(c, "role_a", ["role_a"]), A),
    (
        "policy changed",
        lambda c: policies.update_policy(c, "role_a", document=allow("task:status", "*:*:*")),
        A,
    ),
    ("policy renamed", lambda c: policies.update_policy(c, "role_a", name="p"), A),
    (
        "policy as it was",
        lambda c: policies.update_policy(c, "role_a", document={"b0": allow("agent:read", "agent:group:a")}),
        set(),
    ),
    ("policy deleted", lambda c: policies.delete_policies(c, ["role_a"]), A),
    ("spare policy deleted", lambda c: policies.delete_policies(c, ["spare_policy"]), set()),
    ("rule created", lambda c: rules.create_rule(c, "new", {"FIND": {"x": 1}}), set()),
    ("rule linked", lambda c: roles.link_rules(c, "role_a", ["spare_rule"]), ALL_CONTEXTS),
    ("rule linked again", lambda c: roles.link_rules(c, "role_a", ["rule_a"]), set()),
    ("rule unlinked", lambda c: roles.unlink_rules(c, "role_a", ["rule_a"]), ALL_CONTEXTS),
    (
        "rule changed",
        lambda c: rules.update_rule(c, "rule_a", document={"FIND": {"x": 1}}),
        {"a context"},
    ),
    ("rule deleted", lambda c: rules.delete_rules(c, ["rule_a"]), {"a context"}),
    ("spare rule deleted", lambda c: rules.delete_rules(c, ["spare_rule"]), set()),
]


@pytest.mark.parametrize(("change", "ended"), [pytest.param(c, e, id=name) for name, c, e in CHANGES])
def test_a_change_ends_exactly_the_sessions_it_touches(
    service: Context, change: Callable[[Context], object], ended: set[str]
) -> None:
    SAVED.clear()
    before = counters(service)
    change(service)
    after = counters(service)
    assert {name for name in SESSIONS if before[name] != after[name]} == ended


def test_a_refused_change_ends_no_session(service: Context) -> None:
    SAVED.clear()
    before = counters(service)
    assert roles.delete_roles(service, ["readonly"]).error == 1
    assert users.link_roles(service, "user_a", ["absent"]).error == 1
    assert counters(service) == before
