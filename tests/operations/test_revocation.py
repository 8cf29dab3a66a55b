"""What ends which sessions, exactly: the affected ones, no others, and none that is issued just after (D 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import UnauthenticatedError
from mgmtctl.operations import login, policies, roles, rules, users
from mgmtctl.operations.context import Context
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

NEW_PASSWORD = "Another-Horse-8"
CONTEXTS = {
    "portal as ops": parse_context(b'{"name": "portal", "auth": {"team": "ops"}}'),
    "portal as dev": parse_context(b'{"name": "portal", "auth": {"team": "dev"}}'),
    "portal as nobody": parse_context(b'{"name": "portal", "auth": {}}'),
}
# Sessions by what they hold: ada has the role ops and bob dev by link, free has none; portal may use contexts.
BASIC = ("ada", "bob", "free", "admin")
EVERYBODY = frozenset({*BASIC, *CONTEXTS})
BY_CONTEXT = frozenset(CONTEXTS)
OPS = frozenset({"ada", "portal as ops"})


@dataclass(frozen=True)
class World:
    """A service with the objects of `world`, and its administrator's session."""

    ctx: Context
    admin: Context

    def log_in(self, who: str, password: str = ADMIN_PASSWORD) -> str:
        if who in BASIC:
            return login.log_in(self.ctx, who, password).token
        return login.run_as(self.ctx, "portal", password, CONTEXTS[who]).token

    def lives(self, token: str) -> bool:
        """Whether a token is accepted; both ways of presenting it must agree."""
        answers = set()
        for verified in (True, False):
            try:
                login.resume(self.ctx, token, verified)
                answers.add(True)
            except UnauthenticatedError:
                answers.add(False)
        assert len(answers) == 1
        return answers.pop()

    def acting(self, who: str) -> Context:
        return login.resume(self.ctx, self.log_in(who))


@pytest.fixture
def world(anonymous: Context, service: Context, actor_with: ActorWith) -> World:
    """Roles ops and dev, each with a policy and a rule of its name; a policy and a rule that are linked to nothing."""
    for team in ("ops", "dev"):
        roles.create_role(service, team)
        policies.create_policy(service, team, policy_on(team))
        rules.create_rule(service, team, {"FIND": {"team": team}})
        roles.link_policies(service, team, [team])
        roles.link_rules(service, team, [team])
    policies.create_policy(service, "spare", policy_on("spare"))
    rules.create_rule(service, "spare", {"FIND": {"team": "spare"}})
    actor_with(name="ada", roles=["ops"])
    actor_with(name="bob", roles=["dev"])
    actor_with(name="free")
    actor_with(name="portal", allow_run_as=True)
    return World(anonymous, service)


def policy_on(group: str) -> dict[str, Any]:
    return {"actions": ["agent:read"], "resources": [f"agent:group:{group}"], "effect": "allow"}


def set_mode(world: World) -> None:
    """As the operation of the security settings does."""
    with world.ctx.store.atomic():
        world.ctx.store.settings.set("rbac_mode", "black")
        world.ctx.store.sessions.end_all()


# What is done -> (the change, whose sessions it ends).
CHANGES: dict[str, tuple[Callable[[World], object], frozenset[str]]] = {
    "a role is unlinked from a user": (
        lambda w: users.unlink_roles(w.admin, "ada", ["ops"]),
        frozenset({"ada"}),
    ),
    "a role is linked to a user": (lambda w: users.link_roles(w.admin, "free", ["dev"]), frozenset({"free"})),
    "a role that is there is linked again": (
        lambda w: users.link_roles(w.admin, "ada", ["ops"]),
        frozenset(),
    ),
    "a password is set": (lambda w: users.update_user(w.admin, "bob", NEW_PASSWORD), frozenset({"bob"})),
    "the run-as right is taken": (lambda w: users.set_run_as(w.admin, "portal", False), BY_CONTEXT),
    "a user is deleted": (lambda w: users.delete_users(w.admin, ["ada"]), frozenset({"ada"})),
    "the user of contexts is deleted": (lambda w: users.delete_users(w.admin, ["portal"]), BY_CONTEXT),
    "a user is created": (lambda w: users.create_user(w.admin, "new", NEW_PASSWORD), frozenset()),
    "a role is renamed": (lambda w: roles.update_role(w.admin, "ops", name="ops2"), OPS),
    "a role is deleted": (lambda w: roles.delete_roles(w.admin, ["ops"]), OPS),
    "a role is created": (lambda w: roles.create_role(w.admin, "new"), frozenset()),
    "a policy is changed": (lambda w: policies.update_policy(w.admin, "ops", document=policy_on("x")), OPS),
    "a policy is deleted": (lambda w: policies.delete_policies(w.admin, ["ops"]), OPS),
    "a policy is linked": (lambda w: roles.link_policies(w.admin, "ops", ["spare"]), OPS),
    "a policy is unlinked": (lambda w: roles.unlink_policies(w.admin, "ops", ["ops"]), OPS),
    "a policy that nobody has is changed": (
        lambda w: policies.update_policy(w.admin, "spare", document=policy_on("y")),
        frozenset(),
    ),
    "a rule is changed": (
        lambda w: rules.update_rule(w.admin, "ops", document={"FIND": {"team": "none"}}),
        frozenset({"portal as ops"}),
    ),
    "a rule is deleted": (lambda w: rules.delete_rules(w.admin, ["ops"]), frozenset({"portal as ops"})),
    "a rule is linked": (lambda w: roles.link_rules(w.admin, "ops", ["spare"]), BY_CONTEXT),
    "a rule is unlinked": (lambda w: roles.unlink_rules(w.admin, "ops", ["ops"]), BY_CONTEXT),
    "a rule without roles is changed": (
        lambda w: rules.update_rule(w.admin, "spare", document={"FIND": {"team": "z"}}),
        frozenset(),
    ),
    "the mode changes": (set_mode, EVERYBODY),
    "the life of tokens changes": (lambda w: w.ctx.store.sessions.end_all(), EVERYBODY),
    "one session logs out": (lambda w: login.log_out(w.acting("ada")), frozenset()),
    "a user logs out everywhere": (lambda w: login.log_out_everywhere(w.acting("ada")), frozenset({"ada"})),
    "a context session logs out everywhere": (
        lambda w: login.log_out_everywhere(w.acting("portal as nobody")),
        BY_CONTEXT,
    ),
    "every context session is ended": (lambda w: w.ctx.store.sessions.end_context_sessions(), BY_CONTEXT),
}


@pytest.mark.parametrize("change", CHANGES)
def test_exactly_the_affected_sessions_end_and_new_ones_live(world: World, change: str) -> None:
    act, ends = CHANGES[change]
    # One moment for all of it: nothing may depend on seconds passing.
    moment = world.ctx.now()
    frozen = replace(
        world, ctx=replace(world.ctx, now=lambda: moment), admin=replace(world.admin, now=lambda: moment)
    )
    before = {who: frozen.log_in(who) for who in EVERYBODY}
    assert all(frozen.lives(token) for token in before.values())
    act(frozen)
    assert {who for who, token in before.items() if not frozen.lives(token)} == set(ends)
    for who in EVERYBODY:
        token = logged_in_anew(frozen, who)
        assert token is None or frozen.lives(token)


def logged_in_anew(world: World, who: str) -> str | None:
    """A token issued right after the change; None for somebody who can no longer log in."""
    name = who if who in BASIC else "portal"
    found = world.ctx.store.users.credentials(name)
    if found is None or (who not in BASIC and not found.allow_run_as):
        return None
    try:
        return world.log_in(who)
    except UnauthenticatedError:
        return world.log_in(who, NEW_PASSWORD)


def test_changes_that_a_dry_run_undoes_end_nothing(world: World) -> None:
    before = {who: world.log_in(who) for who in EVERYBODY}
    dry = replace(world, admin=replace(world.admin, dry_run=True))
    dry.admin.store.dry_run = True
    for act in (CHANGES[name][0] for name in ("a role is deleted", "a password is set", "a rule is linked")):
        act(dry)
    dry.admin.store.dry_run = False
    assert all(world.lives(token) for token in before.values())


def test_what_a_context_grants_now_is_what_a_new_login_gets(world: World) -> None:
    rules.update_rule(world.admin, "ops", document={"FIND": {"team": "dev"}})
    assert [
        name for _, name in login.run_as(world.ctx, "portal", ADMIN_PASSWORD, CONTEXTS["portal as dev"]).roles
    ] == [
        "ops",
        "dev",
    ]
