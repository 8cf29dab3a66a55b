"""Nobody gives what he does not hold: ways to more rights, none of which leads anywhere (D 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from mgmtctl.domain.errors import DeniedError
from mgmtctl.operations import policies, roles, rules, users
from mgmtctl.operations.context import Context
from tests.operations.access_world import (
    ANY_CONTEXT,
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
    everything,
)

ADMINISTRATOR = "administrator"


@dataclass
class World:
    """Ids are texts, as a caller writes them. `small` is what the delegate holds beside access: agents of group web."""

    admin: Context
    me: Context
    ids: dict[str, int]

    def __getitem__(self, name: str) -> str:
        return str(self.ids[name])


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator, without the work of a login."""
    return acting(anonymous, 1)


@pytest.fixture
def world(service: Context) -> World:
    """A delegate who may administer access and read the agents of group web, among stronger and weaker others."""
    me = delegate(service, allow("agent:read", "agent:group:web"))
    own = add_role(service, "own", allow("agent:read", "agent:group:web"))
    strong = add_role(service, "strong", allow("agent:delete", "agent:id:*"))
    shield = add_role(service, "shield", deny("agent:delete", "agent:id:001"))
    ids = {
        "own": own,
        "strong": strong,
        "shield": shield,
        "weak_user": add_user(service, "weak_user", own),
        "strong_user": add_user(service, "strong_user", strong),
        "shielded": add_user(service, "shielded", strong, shield),
        "nobody": add_user(service, "nobody"),
        "wide": add_policy(service, "wide", allow("agent:read", "agent:id:*")),
        "narrow": add_policy(service, "narrow", allow("agent:read", "agent:group:web")),
        "shield_policy": service.store.policies.find("shield") or 0,
        "own_policy": service.store.policies.find("own") or 0,
        "free_rule": add_rule(service, "free_rule"),
        "own_rule": add_rule(service, "own_rule", own),
        "me": me.actor.user_id if me.actor else 0,
        "my_role": service.store.roles.find("delegate") or 0,
    }
    return World(service, me, ids)


def with_strong_rule(world: World) -> None:
    """A rule that leads to the strong role: from now on `allow_run_as` is worth as much as that role."""
    world.ids["strong_rule"] = add_rule(world.admin, "strong_rule", world.ids["strong"])


def with_shield_rule(world: World) -> None:
    """Two rules, one gives much and the other takes some of it away, for contexts that satisfy both."""
    with_strong_rule(world)
    world.ids["shield_rule"] = add_rule(world.admin, "shield_rule", world.ids["shield"])


def with_strong_run_as(world: World) -> None:
    with_strong_rule(world)
    world.admin.store.users.set_allow_run_as(world.ids["nobody"], True)


def black(world: World) -> None:
    """Everything is allowed that no policy denies, to those who have a role."""
    world.admin.store.settings.set("rbac_mode", "black")
    limits = add_role(world.admin, "limits", deny("agent:delete", "agent:id:*"))
    world.admin.store.users.link_role(world.ids["me"], limits)
    world.ids["limits"] = limits
    world.me = acting(world.admin, world.ids["me"])


Step = Callable[[World], object]


def nothing(world: World) -> None:
    """The world as it is."""


ATTACKS: list[tuple[str, Step, Step]] = [
    (
        "a wider policy linked to an own role",
        nothing,
        lambda w: roles.link_policies(w.me, "own", ["wide"]),
    ),
    (
        "a default policy linked to an own role",
        nothing,
        lambda w: roles.link_policies(w.me, "own", ["agents_all"]),
    ),
    (
        "a wider policy linked to the role of the caller",
        nothing,
        lambda w: roles.link_policies(w.me, "delegate", ["wide"]),
    ),
    (
        "a role given other policies as a whole",
        nothing,
        lambda w: roles.update_role(w.me, "own", policies=["wide"]),
    ),
    ("the strong role given to oneself", nothing, lambda w: users.link_roles(w.me, w["me"], ["strong"])),
    (
        "the administrator role given to oneself",
        nothing,
        lambda w: users.link_roles(w.me, w["me"], [ADMINISTRATOR]),
    ),
    (
        "the administrator role given to a friend",
        nothing,
        lambda w: users.link_roles(w.me, "weak_user", [ADMINISTRATOR]),
    ),
    (
        "the roles of oneself replaced",
        nothing,
        lambda w: users.update_user(w.me, w["me"], roles=["delegate", "strong"]),
    ),
    (
        "a user made with the administrator role",
        nothing,
        lambda w: users.create_user(w.me, "new", PASSWORD, roles=[ADMINISTRATOR]),
    ),
    (
        "a policy of a role widened",
        nothing,
        lambda w: policies.update_policy(w.me, "own", document=allow("agent:read", "agent:id:*")),
    ),
    (
        "a policy of a role given another action",
        nothing,
        lambda w: policies.update_policy(w.me, "own", document=allow("agent:delete", "agent:group:web")),
    ),
    (
        "a deny policy made to allow",
        nothing,
        lambda w: policies.update_policy(w.me, "shield", document=allow("agent:delete", "agent:id:001")),
    ),
    (
        "a deny policy made to deny something else",
        nothing,
        lambda w: policies.update_policy(w.me, "shield", document=deny("agent:delete", "agent:id:002")),
    ),
    ("a deny policy deleted", nothing, lambda w: policies.delete_policies(w.me, ["shield"])),
    ("a deny policy unlinked", nothing, lambda w: roles.unlink_policies(w.me, "shield", ["shield"])),
    ("a deny role deleted", nothing, lambda w: roles.delete_roles(w.me, ["shield"])),
    ("a deny role unlinked", nothing, lambda w: users.unlink_roles(w.me, "shielded", ["shield"])),
    (
        "a deny role replaced",
        nothing,
        lambda w: users.update_user(w.me, "shielded", roles=["strong"]),
    ),
    ("a rule linked to the strong role", nothing, lambda w: roles.link_rules(w.me, "strong", ["free_rule"])),
    (
        "a rule linked to the administrator role",
        nothing,
        lambda w: roles.link_rules(w.me, ADMINISTRATOR, ["free_rule"]),
    ),
    (
        "the rules of the strong role replaced",
        nothing,
        lambda w: roles.update_role(w.me, "strong", rules=["own_rule"]),
    ),
    (
        "a rule of the strong role asked for something else",
        with_strong_rule,
        lambda w: rules.update_rule(w.me, "strong_rule", document={"FIND": {"me": "please"}}),
    ),
    (
        "context logins allowed while a rule leads to the strong role",
        with_strong_rule,
        lambda w: users.set_run_as(w.me, "weak_user", True),
    ),
    (
        "context logins allowed to oneself",
        with_strong_rule,
        lambda w: users.set_run_as(w.me, w["me"], True),
    ),
    (
        "context logins allowed by an edit of the user",
        with_strong_rule,
        lambda w: users.update_user(w.me, "weak_user", allow_run_as=True),
    ),
    (
        "a user made with context logins",
        with_strong_rule,
        lambda w: users.create_user(w.me, "new", PASSWORD, allow_run_as=True),
    ),
    (
        "a rule that takes rights away unlinked",
        with_shield_rule,
        lambda w: roles.unlink_rules(w.me, "shield", ["shield_rule"]),
    ),
    (
        "a rule that takes rights away deleted",
        with_shield_rule,
        lambda w: rules.delete_rules(w.me, ["shield_rule"]),
    ),
    (
        "a rule that takes rights away asked for something else",
        with_shield_rule,
        lambda w: rules.update_rule(w.me, "shield_rule", document={"FIND": {"nobody": "here"}}),
    ),
    (
        "the password of a stronger user",
        nothing,
        lambda w: users.update_user(w.me, "strong_user", password=OTHER_PASSWORD),
    ),
    (
        "the password of the administrator",
        nothing,
        lambda w: users.update_user(w.me, "1", password=OTHER_PASSWORD),
    ),
    (
        "the password of the web-interface user",
        nothing,
        lambda w: users.update_user(w.me, "2", password=OTHER_PASSWORD),
    ),
    (
        "the password of one whose contexts are stronger",
        with_strong_run_as,
        lambda w: users.update_user(w.me, "nobody", password=OTHER_PASSWORD),
    ),
    (
        "the password and a role of oneself at once",
        nothing,
        lambda w: users.update_user(w.me, w["me"], password=OTHER_PASSWORD, roles=["delegate", "strong"]),
    ),
    ("the name of a stronger user", nothing, lambda w: users.update_user(w.me, "strong_user", name="gone")),
    ("the roles of a stronger user", nothing, lambda w: users.unlink_roles(w.me, "strong_user", ["strong"])),
    (
        "a role for a stronger user",
        nothing,
        lambda w: users.link_roles(w.me, "strong_user", ["own"]),
    ),
    (
        "context logins of a stronger user forbidden",
        with_strong_run_as,
        lambda w: users.set_run_as(w.me, "nobody", False),
    ),
    (
        "black mode: a first role for a user without",
        black,
        lambda w: users.link_roles(w.me, "nobody", ["own"]),
    ),
    (
        "black mode: the denies of the caller unlinked",
        black,
        lambda w: users.unlink_roles(w.me, w["me"], ["limits"]),
    ),
    (
        "black mode: a rule without denies",
        black,
        lambda w: roles.link_rules(w.me, "own", ["free_rule"]),
    ),
    (
        "black mode: a deny replaced by an allow",
        black,
        lambda w: policies.update_policy(w.me, "limits", document=allow("agent:read", "agent:id:*")),
    ),
]


@pytest.mark.parametrize(("prepare", "attack"), [pytest.param(p, a, id=name) for name, p, a in ATTACKS])
def test_no_way_gives_more_than_the_caller_holds(world: World, prepare: Step, attack: Step) -> None:
    prepare(world)
    before = everything(world.admin)
    with pytest.raises(DeniedError) as refused:
        attack(world)
    assert everything(world.admin) == before
    assert "nobody gives what he does not hold" in (refused.value.why or "")
    assert refused.value.explanation["lacking"]


@pytest.mark.parametrize(("prepare", "attack"), [pytest.param(p, a, id=name) for name, p, a in ATTACKS])
def test_an_administrator_may_do_all_of_it(world: World, prepare: Step, attack: Step) -> None:
    prepare(world)
    world.me = world.admin
    attack(world)


LEGITIMATE: list[tuple[str, Step, Step]] = [
    ("a policy with what he holds", nothing, lambda w: roles.link_policies(w.me, "own", ["narrow"])),
    (
        "a policy that nobody has yet, with anything",
        nothing,
        lambda w: policies.create_policy(w.me, "plan", allow("agent:delete", "agent:id:*")),
    ),
    ("a role that holds what he holds", nothing, lambda w: users.link_roles(w.me, "nobody", ["own"])),
    (
        "a user with such a role",
        nothing,
        lambda w: users.create_user(w.me, "new", PASSWORD, roles=["own"]),
    ),
    (
        "a deny for others",
        nothing,
        lambda w: policies.update_policy(w.me, "own", document=deny("agent:read", "agent:id:*")),
    ),
    ("a deny for a user with few rights", nothing, lambda w: users.link_roles(w.me, "weak_user", ["shield"])),
    ("a role taken away", nothing, lambda w: users.unlink_roles(w.me, "weak_user", ["own"])),
    ("an own role deleted", nothing, lambda w: roles.delete_roles(w.me, ["own"])),
    ("an own policy deleted", nothing, lambda w: policies.delete_policies(w.me, ["own"])),
    ("a strong role renamed", nothing, lambda w: roles.update_role(w.me, "strong", name="stronger")),
    ("a rule to an own role", nothing, lambda w: roles.link_rules(w.me, "own", ["free_rule"])),
    (
        "an own rule asked for something else",
        nothing,
        lambda w: rules.update_rule(w.me, "own_rule", document={"FIND": {"team": "web"}}),
    ),
    ("a strong rule deleted", with_strong_rule, lambda w: rules.delete_rules(w.me, ["strong_rule"])),
    ("context logins while rules give little", nothing, lambda w: users.set_run_as(w.me, "weak_user", True)),
    (
        "the password of a weaker user",
        nothing,
        lambda w: users.update_user(w.me, "weak_user", password=OTHER_PASSWORD),
    ),
    ("a weaker user deleted", nothing, lambda w: users.delete_users(w.me, ["weak_user"])),
    (
        "a role with his denies in black mode",
        black,
        lambda w: users.link_roles(w.me, "nobody", ["limits"]),
    ),
    ("an empty role in black mode", black, lambda w: roles.create_role(w.me, "empty")),
]


@pytest.mark.parametrize(("prepare", "step"), [pytest.param(p, s, id=name) for name, p, s in LEGITIMATE])
def test_a_delegate_hands_on_what_he_holds(world: World, prepare: Step, step: Step) -> None:
    prepare(world)
    before = everything(world.admin)
    step(world)
    assert everything(world.admin) != before


def test_the_refusal_names_the_action_and_the_resource(world: World) -> None:
    with pytest.raises(DeniedError) as refused:
        roles.link_policies(world.me, "own", ["wide"])
    assert refused.value.problem == "permission denied: agent:read on agent:id:*"
    assert refused.value.facts()["lacking"] == [{"action": "agent:read", "resource": "agent:id:*"}]


@pytest.mark.parametrize(
    "step",
    [
        pytest.param(lambda w: users.link_roles(w.me, "nobody", ["own"]), id="roles.link"),
        pytest.param(lambda w: policies.delete_policies(w.me, ["own"]), id="policies.delete"),
    ],
)
def test_a_dry_run_judges_and_changes_nothing(world: World, step: Step) -> None:
    world.admin.store.dry_run = True
    before = everything(world.admin)
    step(world)
    assert everything(world.admin) == before
    with pytest.raises(DeniedError):
        roles.link_policies(world.me, "own", ["wide"])


def test_rules_of_a_weak_caller_stay_possible_beside_strong_ones(world: World) -> None:
    """A rule that gives little may be changed by a delegate though other rules give much."""
    with_strong_rule(world)
    changed = rules.update_rule(world.me, "own_rule", document=[ANY_CONTEXT, {"FIND": {"a": 1}}])
    assert len(changed.value.expressions) == 2
