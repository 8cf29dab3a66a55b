"""Whatever a delegate tries, in whatever order: nobody gains what the delegate lacks (D 1).

The oracle is not the code under test: it decides plain questions about possible agents, for every user and for every
set of rules that a context may satisfy, before and after each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import MgmtctlError
from mgmtctl.domain.grants import Permissions
from mgmtctl.domain.resources import agent_names
from mgmtctl.operations import policies, roles, rules, users
from mgmtctl.operations.access_entries import permissions_of
from mgmtctl.operations.context import Context
from tests.operations.access_world import (
    DELEGATE,
    acting,
    add_policy,
    add_role,
    add_rule,
    add_user,
    allow,
    deny,
)

GROUPS = ("web", "db")
ACTIONS = ("agent:read", "agent:delete")
AGENTS = [
    agent_names(number, groups)
    for number in ("001", "002", "003")
    for groups in ((), ("web",), ("db",), ("web", "db"), ("other",))
]
RESOURCES = (
    "agent:id:*",
    "agent:id:001",
    "agent:id:002",
    "agent:group:web",
    "agent:group:db",
    "agent:group:*",
)
Held = frozenset[tuple[str, int]]

effects = st.sampled_from([allow, deny])
blocks = st.builds(
    lambda effect, action, resources: effect(action, *resources),
    effects,
    st.sampled_from(ACTIONS),
    st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=2, unique=True),
)
policy_documents = st.lists(blocks, min_size=1, max_size=2).map(
    lambda found: {f"b{number}": block for number, block in enumerate(found)}
)
role_names = st.sampled_from(["r1", "r2", "r3"])
policy_names = st.sampled_from(["p1", "p2", "p3"])
rule_names = st.sampled_from(["u1", "u2"])
user_names = st.sampled_from(["ann", "bob", "me"])
flags = st.booleans()
steps = st.one_of(
    st.tuples(st.just("link_policy"), role_names, policy_names),
    st.tuples(st.just("unlink_policy"), role_names, policy_names),
    st.tuples(st.just("update_policy"), policy_names, policy_documents),
    st.tuples(st.just("delete_policy"), policy_names),
    st.tuples(st.just("link_rule"), role_names, rule_names),
    st.tuples(st.just("unlink_rule"), role_names, rule_names),
    st.tuples(st.just("update_rule"), rule_names, st.sampled_from(["x", "y"])),
    st.tuples(st.just("delete_rule"), rule_names),
    st.tuples(st.just("link_role"), user_names, role_names),
    st.tuples(st.just("unlink_role"), user_names, role_names),
    st.tuples(st.just("delete_role"), role_names),
    st.tuples(st.just("run_as"), user_names, flags),
    st.tuples(st.just("edit_user"), user_names, st.lists(role_names, max_size=2, unique=True), flags),
)


def take(ctx: Context, step: tuple[Any, ...]) -> object:
    """One step of the delegate."""
    name, *rest = step
    if name == "update_policy":
        return policies.update_policy(ctx, rest[0], document=rest[1])
    if name == "update_rule":
        return rules.update_rule(ctx, rest[0], document={"FIND": {"a": rest[1]}})
    if name == "edit_user":
        return users.update_user(ctx, rest[0], roles=rest[1], allow_run_as=rest[2])
    if name == "run_as":
        return users.set_run_as(ctx, rest[0], rest[1])
    simple: dict[str, Any] = {
        "link_policy": lambda role, policy: roles.link_policies(ctx, role, [policy]),
        "unlink_policy": lambda role, policy: roles.unlink_policies(ctx, role, [policy]),
        "delete_policy": lambda policy: policies.delete_policies(ctx, [policy]),
        "link_rule": lambda role, rule: roles.link_rules(ctx, role, [rule]),
        "unlink_rule": lambda role, rule: roles.unlink_rules(ctx, role, [rule]),
        "delete_rule": lambda rule: rules.delete_rules(ctx, [rule]),
        "link_role": lambda user, role: users.link_roles(ctx, user, [role]),
        "unlink_role": lambda user, role: users.unlink_roles(ctx, user, [role]),
        "delete_role": lambda role: roles.delete_roles(ctx, [role]),
    }
    return simple[name](*rest)


def held(permissions: Permissions) -> Held:
    """Which action is permitted on which possible agent, asked one by one."""
    return frozenset(
        (action, number)
        for action in ACTIONS
        for number, names in enumerate(AGENTS)
        if permissions.allows(action, *names)
    )


def subjects(ctx: Context) -> dict[tuple[str, ...], Held]:
    """What each user has by his own roles, and, with the run-as right, by each set of own rules that may be true."""
    leading = {number: granted for number, _, granted in ctx.store.rules.leading() if number >= 100}
    sets = list(chain.from_iterable(combinations(sorted(RULES), size) for size in range(len(RULES) + 1)))
    found: dict[tuple[str, ...], Held] = {}
    for user in ctx.store.users.list():
        if user.id < 100:
            continue
        found[(user.name,)] = held(permissions_of(ctx.store, user.roles))
        for true in sets if user.allow_run_as else ():
            granted = frozenset[int]().union(*(leading.get(number, frozenset()) for number in true))
            found[(user.name, *map(str, true))] = held(permissions_of(ctx.store, sorted(granted)))
    return found


RULES: set[int] = set()


def set_up(ctx: Context, mode: str, documents: list[dict[str, Any]], own: dict[str, Any]) -> None:
    ctx.store.settings.set("rbac_mode", mode)
    made = [
        add_policy(ctx, f"p{number}", *document.values())
        for number, document in enumerate(documents, start=1)
    ]
    own_role = add_role(ctx, "mine", *DELEGATE.values(), *own.values())
    granted = [add_role(ctx, f"r{number}") for number in (1, 2, 3)]
    ctx.store.roles.link_policy(granted[0], made[0])
    ctx.store.roles.link_policy(granted[1], made[1])
    add_user(ctx, "ann", granted[0], granted[1])
    bob = add_user(ctx, "bob")
    ctx.store.users.set_allow_run_as(bob, True)
    add_user(ctx, "me", own_role)
    RULES.clear()
    RULES.update({add_rule(ctx, "u1", granted[0]), add_rule(ctx, "u2", granted[1])})


def may_have_been(
    before: dict[tuple[str, ...], Held], subject: tuple[str, ...], changed: set[str]
) -> Iterator[Held]:
    """What this session had: a rule that asks for something else now may or may not have been true for its context."""
    user, true = subject[0], set(subject[1:])
    if len(subject) == 1 and not changed:
        yield before.get(subject, frozenset())
        return
    sure = true - changed
    for extra in chain.from_iterable(combinations(sorted(changed), size) for size in range(len(changed) + 1)):
        yield before.get((user, *sorted(sure | set(extra))), frozenset())


@pytest.mark.parametrize("mode", ["white", "black"])
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
@given(
    documents=st.lists(policy_documents, min_size=3, max_size=3),
    own=policy_documents,
    tried=st.lists(steps, min_size=1, max_size=6),
)
def test_no_sequence_of_steps_gives_anybody_what_the_delegate_lacks(
    anonymous: Context,
    mode: str,
    documents: list[dict[str, Any]],
    own: dict[str, Any],
    tried: list[tuple[Any, ...]],
) -> None:
    database = anonymous.store.database
    database.execute("BEGIN")
    try:
        set_up(anonymous, mode, documents, own)
        me = anonymous.store.users.find("me") or 0
        for step in tried:
            check(anonymous, me, step)
    finally:
        database.execute("ROLLBACK")


def check(ctx: Context, me: int, step: tuple[Any, ...]) -> None:
    """Take one step, undone when it is refused, and compare everybody before and after."""
    database = ctx.store.database
    session = acting(ctx, me)
    assert session.actor is not None
    mine, before = held(session.actor.permissions), subjects(ctx)
    database.execute("SAVEPOINT step")
    changed: set[str] = set()
    try:
        take(session, step)
        if step[0] == "update_rule":
            changed = {str(ctx.store.rules.find(step[1]))}
    except MgmtctlError:
        database.execute("ROLLBACK TO step")
    after = subjects(ctx)
    for subject, has in after.items():
        if len(subject) == 1:
            assert has - before[subject] <= mine, (step, subject)
            continue
        for had in may_have_been(before, subject, changed):
            assert has - had <= mine, (step, subject)
