"""The last user who can administer and has a password stays one (D 1)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mgmtctl.domain.errors import ConflictError
from mgmtctl.operations import policies, roles, users
from mgmtctl.operations.context import Context
from mgmtctl.operations.delegation import LOCKOUT, administers
from mgmtctl.operations.standing import Access
from tests.operations.access_world import acting, add_policy, add_role, add_user, deny, everything


@pytest.fixture
def service(anonymous: Context) -> Context:
    """Only `root2` can administer and log in: the administrator has lost its password. The caller is somebody else."""
    ctx = acting(anonymous, 1)
    own = ctx.store.roles.add("own_admin")
    for policy in ctx.store.roles.policies_of(1):
        ctx.store.roles.link_policy(own, policy)
    add_user(ctx, "root2", own)
    add_user(ctx, "plain", 6)
    ctx.store.database.execute("UPDATE users SET password = NULL WHERE id IN (1, 2)")
    return ctx


def deny_all(ctx: Context) -> str:
    return str(add_policy(ctx, "no", deny("security:update", "user:id:*")))


Step = Callable[[Context, tuple[str, ...]], object]
LOCKING: list[tuple[str, Step]] = [
    ("the user deleted", lambda c, risk: users.delete_users(c, ["root2"], risk)),
    ("its role unlinked", lambda c, risk: users.unlink_roles(c, "root2", ["own_admin"], risk)),
    ("its roles replaced", lambda c, risk: users.update_user(c, "root2", roles=[], accept_risk=risk)),
    ("its role deleted", lambda c, risk: roles.delete_roles(c, ["own_admin"], risk)),
    (
        "the policy of its role unlinked",
        lambda c, risk: roles.unlink_policies(c, "own_admin", ["security_all"], risk),
    ),
    (
        "the policies of its role replaced",
        lambda c, risk: roles.update_role(c, "own_admin", policies=["agents_all"], accept_risk=risk),
    ),
    ("a deny linked to its role", lambda c, risk: roles.link_policies(c, "own_admin", [deny_all(c)], risk)),
    ("a role with a deny given to it", lambda c, risk: users.link_roles(c, "root2", [_denying(c)], risk)),
]


def _denying(ctx: Context) -> str:
    return str(add_role(ctx, "no", deny("security:delete", "role:id:100")))


@pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in LOCKING])
def test_nobody_locks_everybody_out(service: Context, step: Step) -> None:
    with pytest.raises(ConflictError) as refused:
        step(service, ())
    assert refused.value.problem == "nobody could administer the service any more"
    assert "--accept-risk lockout" in (refused.value.fix or "")
    assert administers(Access.read(service.store), service.store.users.find("root2") or 0)


@pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in LOCKING])
def test_the_risk_can_be_accepted_by_its_name_only(service: Context, step: Step) -> None:
    with pytest.raises(ConflictError):
        step(service, ("no-validate",))
    service.store.database.execute("DELETE FROM roles WHERE name = 'no'")
    service.store.database.execute("DELETE FROM policies WHERE name = 'no'")
    step(service, (LOCKOUT,))
    assert not administers(Access.read(service.store), service.store.users.find("root2") or 0)


@pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in LOCKING])
def test_with_another_administrator_nothing_is_locked_out(service: Context, step: Step) -> None:
    root3 = add_user(service, "root3", 1)
    step(service, ())
    assert administers(Access.read(service.store), root3)


@pytest.mark.parametrize(
    ("roles_of_other", "password"),
    [
        pytest.param((1,), None, id="no password"),
        pytest.param((7,), "hash", id="only users, not roles and policies"),
        pytest.param((6,), "hash", id="only reads"),
    ],
)
def test_who_cannot_log_in_or_change_access_is_no_administrator(
    service: Context, roles_of_other: tuple[int, ...], password: str | None
) -> None:
    add_user(service, "root3", *roles_of_other, password=password)
    with pytest.raises(ConflictError):
        users.delete_users(service, ["root2"])


def test_a_change_elsewhere_is_not_stopped_when_nobody_administers(service: Context) -> None:
    users.delete_users(service, ["root2"], (LOCKOUT,))
    assert users.delete_users(service, ["plain"]).error == 0


def test_editing_a_policy_can_lock_out_too(service: Context) -> None:
    number = str(add_policy(service, "limit", deny("agent:read", "agent:id:001")))
    roles.link_policies(service, "own_admin", [number])
    with pytest.raises(ConflictError):
        policies.update_policy(service, number, document=deny("security:read", "user:id:*"))


def test_a_dry_run_finds_the_lockout_and_changes_nothing(service: Context) -> None:
    service.store.dry_run = True
    before = everything(service)
    with pytest.raises(ConflictError):
        users.delete_users(service, ["root2"])
    users.delete_users(service, ["root2"], (LOCKOUT,))
    assert everything(service) == before
