"""A small world of users, roles, policies and rules, and sessions of anybody in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mgmtctl.domain.policies import parse_policy
from mgmtctl.operations.access_entries import permissions_of
from mgmtctl.operations.context import Actor, Context

SECURITY = ("user:id:*", "role:id:*", "policy:id:*", "rule:id:*")
# What a delegated administrator of access holds beside the rights he is to hand on.
DELEGATE = {
    "objects": {
        "actions": ["security:read", "security:update", "security:delete"],
        "resources": list(SECURITY),
        "effect": "allow",
    },
    "new": {
        "actions": ["security:create", "security:create_user", "security:edit_run_as"],
        "resources": ["*:*:*"],
        "effect": "allow",
    },
}
PASSWORD = "Secret-phrase-1"
OTHER_PASSWORD = "Another-phrase-2"
ANY_CONTEXT = {"NOT": {"MATCH": {"never": "there"}}}


def block(effect: str, action: str, *resources: str) -> dict[str, Any]:
    return {"actions": [action], "resources": list(resources), "effect": effect}


def allow(action: str, *resources: str) -> dict[str, Any]:
    return block("allow", action, *resources)


def deny(action: str, *resources: str) -> dict[str, Any]:
    return block("deny", action, *resources)


def add_policy(ctx: Context, name: str, *blocks: dict[str, Any]) -> int:
    document = {"blocks": {f"b{number}": part for number, part in enumerate(blocks)}}
    return ctx.store.policies.add(name, parse_policy(document, name))


def add_role(ctx: Context, name: str, *blocks: dict[str, Any]) -> int:
    """A role with one policy of its own name, or none."""
    role_id = ctx.store.roles.add(name)
    if blocks:
        ctx.store.roles.link_policy(role_id, add_policy(ctx, name, *blocks))
    return role_id


def add_user(ctx: Context, name: str, *roles: int, password: str | None = "hash") -> int:  # noqa: S107
    user_id = ctx.store.users.add(name, password)
    for role_id in roles:
        ctx.store.users.link_role(user_id, role_id)
    return user_id


def add_rule(ctx: Context, name: str, *roles: int) -> int:
    rule_id = ctx.store.rules.add(name, [ANY_CONTEXT], None)
    for role_id in roles:
        ctx.store.roles.link_rule(role_id, rule_id)
    return rule_id


def acting(ctx: Context, user_id: int, *, roles: tuple[int, ...] | None = None) -> Context:
    """The service in a basic session of the user, or in a context session with these roles."""
    user = ctx.store.users.get(user_id)
    held = user.roles if roles is None else roles
    names = ctx.store.roles.names()
    actor = Actor(
        user_id=user_id,
        user=user.name,
        run_as=roles is not None,
        context_id=None if roles is None else "0" * 32,
        roles=tuple((number, names[number]) for number in held),
        permissions=permissions_of(ctx.store, held),
        session="0" * 64,
        expires=0,
    )
    return replace(ctx, actor=actor)


def delegate(ctx: Context, *blocks: dict[str, Any], name: str = "delegate") -> Context:
    """A session of a new user who may administer access and holds these rights beside."""
    role_id = add_role(ctx, name, *DELEGATE.values(), *blocks)
    return acting(ctx, add_user(ctx, name, role_id))


def everything(ctx: Context) -> list[list[tuple[Any, ...]]]:
    """All rows that say who may do what, to see that a refusal left no trace."""
    tables = ("users", "roles", "policies", "rules", "user_roles", "role_policies", "role_rules")
    return [ctx.store.database.rows(f"SELECT * FROM {table} ORDER BY 1, 2") for table in tables]  # noqa: S608
