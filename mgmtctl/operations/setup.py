"""Setting up a service and getting back into it: for the system user that owns the data folder (D 1, S 2.6-2.8)."""

from __future__ import annotations

from collections.abc import Callable

from mgmtctl.domain.users import ADMIN_ID, require_password
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import operation

ADMINISTRATOR_ROLE_ID = 1


@operation(http="POST /service", open_to="owner")
def initialise(ctx: Context, password: str) -> None:
    """Fill an empty store: user `admin` with this password, default users, roles, policies and rules, group `default`.

    InvalidError names each rule that the password does not meet (D 1).
    """
    from mgmtctl import passwords

    hashed = passwords.hash_password(require_password(password))
    ctx.folders.prepare()
    with ctx.atomic():
        _add_defaults(ctx, hashed)


@operation(http="POST /service/recover", open_to="owner")
def recover(ctx: Context, password: str, show: Callable[[], None] | None = None) -> None:
    """Give user 1 a new password and its role, lift its login blocks, end all sessions (D 1).

    `show` tells a made-up password while all of that can still be undone: when it fails, nothing was done.
    """
    from mgmtctl import passwords

    hashed = passwords.hash_password(require_password(password))
    with ctx.atomic():
        users = ctx.store.users
        users.set_password(ADMIN_ID, hashed)
        users.link_role(ADMIN_ID, ADMINISTRATOR_ROLE_ID)
        ctx.store.login_failures.forget_user(ADMIN_ID)
        ctx.store.sessions.end_all()
        if show is not None:
            show()


def _add_defaults(ctx: Context, admin_password: str) -> None:
    from mgmtctl.domain import defaults
    from mgmtctl.domain.matching import needed_keys

    store = ctx.store
    policy_ids = {
        policy.name: store.policies.add(policy.name, policy.blocks, policy_id=policy.id)
        for policy in defaults.POLICIES
    }
    rule_ids = {
        rule.name: store.rules.add(rule.name, rule.rules, needed_keys(list(rule.rules)), rule_id=rule.id)
        for rule in defaults.RULES
    }
    role_ids = {}
    for role in defaults.ROLES:
        role_ids[role.name] = role_id = store.roles.add(role.name, role_id=role.id)
        for policy in role.policies:
            store.roles.link_policy(role_id, policy_ids[policy])
        for rule in role.rules:
            store.roles.link_rule(role_id, rule_ids[rule])
    for user in defaults.USERS:
        password = admin_password if user.id == ADMIN_ID else None
        store.users.add(user.name, password, allow_run_as=user.allow_run_as, user_id=user.id)
        for name in user.roles:
            store.users.link_role(user.id, role_ids[name])
