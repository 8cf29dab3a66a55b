"""Roles through their operations: links, both ends of each, what is protected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mgmtctl.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import roles
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import Selection
from mgmtctl.operations.results import Items
from tests.operations.access_world import (
    acting,
    add_policy,
    add_role,
    add_rule,
    add_user,
    allow,
    everything,
)

READ = allow("agent:read", "agent:id:*")


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator, without the work of a login."""
    return acting(anonymous, 1)


def codes(items: Items[Any]) -> list[tuple[int, tuple[str, ...]]]:
    return [(failure.error.code, failure.ids) for failure in items.failed]


def session_with(ctx: Context, *blocks: dict[str, Any], name: str = "me") -> Context:
    return acting(ctx, add_user(ctx, name, add_role(ctx, name, *blocks)))


def test_a_new_role_is_empty(service: Context) -> None:
    assert roles.create_role(service, "web").record() == {
        "id": "100", "name": "web", "policies": [], "users": [], "rules": [],
    }  # fmt: skip


def test_a_role_shows_what_it_is_linked_to(service: Context) -> None:
    role = add_role(service, "web")
    policy, rule, user = (
        add_policy(service, "p", READ),
        add_rule(service, "r", role),
        add_user(service, "u", role),
    )
    roles.link_policies(service, "web", ["p"])
    (shown,) = roles.list_roles(service, ["web"]).affected
    assert (shown.policies, shown.users, shown.rules) == ((policy,), (user,), (rule,))


@pytest.mark.parametrize("name", ["", "7", "a b", "a" * 65, "a\n"])
def test_a_bad_name_is_refused(service: Context, name: str) -> None:
    with pytest.raises(InvalidError):
        roles.create_role(service, name)
    role = str(add_role(service, "web"))
    with pytest.raises(InvalidError):
        roles.update_role(service, role, name=name)


def test_a_taken_name_is_a_conflict(service: Context) -> None:
    steps: list[Callable[[], object]] = [
        lambda: roles.create_role(service, "Administrator"),
        lambda: roles.update_role(service, str(add_role(service, "web")), name="READONLY"),
    ]
    for step in steps:
        with pytest.raises(ConflictError) as refused:
            step()
        assert refused.value.code == 4005


def test_a_list_holds_what_the_caller_may_read(service: Context) -> None:
    me = session_with(service, allow("security:read", "role:id:3", "role:id:4"))
    assert [role.id for role in roles.list_roles(me).affected] == [3, 4]
    assert [role.id for role in roles.list_roles(me, query=ListQuery(where="id>3")).affected] == [4]


def test_a_session_without_roles_sees_nothing_and_may_nothing(service: Context) -> None:
    me = acting(service, add_user(service, "nobody"))
    assert roles.list_roles(me).affected == []
    with pytest.raises(DeniedError):
        roles.create_role(me, "web")


PROTECTED: list[tuple[str, Callable[[Context], object]]] = [
    ("rename", lambda c: roles.update_role(c, "readonly", name="other")),
    ("policies replaced", lambda c: roles.update_role(c, "readonly", policies=[])),
    ("default rules taken", lambda c: roles.update_role(c, "administrator", rules=[])),
]


@pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in PROTECTED])
def test_reserved_roles_are_protected_from_everybody(
    service: Context, step: Callable[[Context], object]
) -> None:
    before = everything(service)
    with pytest.raises(ConflictError) as refused:
        step(service)
    assert refused.value.code == 4008
    assert everything(service) == before


PROTECTED_LINKS: list[tuple[str, Callable[[Context], Items[Any]]]] = [
    ("delete", lambda c: roles.delete_roles(c, ["1", "readonly"])),
    ("a policy linked", lambda c: roles.link_policies(c, "readonly", ["task_status"])),
    ("a policy unlinked", lambda c: roles.unlink_policies(c, "readonly", ["agents_read"])),
    ("a default rule linked", lambda c: roles.link_rules(c, "readonly", ["1"])),
    ("a default rule unlinked", lambda c: roles.unlink_rules(c, "administrator", ["1", "2"])),
]


@pytest.mark.parametrize("step", [pytest.param(step, id=name) for name, step in PROTECTED_LINKS])
def test_reserved_links_fail_for_everybody(service: Context, step: Callable[[Context], Items[Any]]) -> None:
    before = everything(service)
    result = step(service)
    assert ({code for code, _ in codes(result)}, result.affected) == ({4008}, [])
    assert everything(service) == before


def test_an_own_rule_may_lead_to_a_reserved_role(service: Context) -> None:
    rule = add_rule(service, "r")
    assert rule in roles.link_rules(service, "administrator", ["r"]).affected[0].value.rules
    assert rule not in roles.unlink_rules(service, "administrator", ["r"]).affected[0].value.rules


def test_a_default_policy_may_be_linked_to_an_own_role(service: Context) -> None:
    add_role(service, "web")
    linked = roles.link_policies(service, "web", ["agents_read", "task_status"])
    assert len(linked.affected[0].value.policies) == 2


def test_links_are_idempotent(service: Context) -> None:
    add_role(service, "web")
    add_policy(service, "p", READ)
    add_rule(service, "r")
    for _ in range(2):
        assert roles.link_policies(service, "web", ["p"]).error == 0
        assert roles.link_rules(service, "web", ["r"]).error == 0
    (role,) = roles.list_roles(service, ["web"]).affected
    assert (len(role.policies), len(role.rules)) == (1, 1)
    for _ in range(2):
        assert roles.unlink_policies(service, "web", ["p"]).error == 0
        assert roles.unlink_rules(service, "web", ["r"]).error == 0
    (role,) = roles.list_roles(service, ["web"]).affected
    assert (role.policies, role.rules) == ((), ())


Link = Callable[[Context, str, Selection], Items[Any]]
LINKS: dict[str, tuple[Link, str, str]] = {
    "link_policies": (roles.link_policies, "security:update", "policy"),
    "unlink_policies": (roles.unlink_policies, "security:delete", "policy"),
    "link_rules": (roles.link_rules, "security:update", "rule"),
    "unlink_rules": (roles.unlink_rules, "security:delete", "rule"),
}


@pytest.mark.parametrize("name", LINKS)
@pytest.mark.parametrize("end", ["role", "other"])
def test_a_link_needs_the_right_at_both_ends(service: Context, name: str, end: str) -> None:
    step, action, other = LINKS[name]
    role = add_role(service, "web")
    ids = {"policy": add_policy(service, "p", READ), "rule": add_rule(service, "r")}
    held = f"role:id:{role}" if end == "role" else f"{other}:id:*"
    me = session_with(service, allow(action, held))
    with pytest.raises(DeniedError) as refused:
        step(me, str(role), [str(ids[other])])
    assert refused.value.action == action
    assert refused.value.resource == (f"{other}:id:{ids[other]}" if end == "role" else f"role:id:{role}")


def test_denied_ids_fail_and_permitted_ones_are_linked(service: Context) -> None:
    role = add_role(service, "web")
    empty = add_policy(service, "mine", allow("agent:read", "agent:group:web"))
    other = add_policy(service, "other", READ)
    me = session_with(
        service,
        allow("security:update", f"role:id:{role}", f"policy:id:{empty}"),
        allow("security:read", f"policy:id:{empty}"),
        allow("agent:read", "agent:group:web"),
    )
    result = roles.link_policies(me, str(role), [str(empty), str(other)])
    assert (result.affected[0].value.policies, codes(result)) == ((empty,), [(4000, (str(other),))])


def test_replacing_makes_exactly_the_wanted_links(service: Context) -> None:
    role = add_role(service, "web")
    one, two = add_policy(service, "one", READ), add_policy(service, "two", READ)
    rule = add_rule(service, "r")
    roles.update_role(service, str(role), policies=["one"], rules=["r"])
    changed = roles.update_role(service, str(role), name="team", policies=["two"]).value
    assert (changed.name, changed.policies, changed.rules) == ("team", (two,), (rule,))
    kept = roles.update_role(service, str(role), policies=[str(two), str(one)], rules=[]).value
    assert (kept.policies, kept.rules) == ((two, one), ())


def test_replacing_needs_delete_on_what_goes(service: Context) -> None:
    role, policy = add_role(service, "web"), add_policy(service, "p", READ)
    service.store.roles.link_policy(role, policy)
    blocks = allow("security:update", "role:id:*", "policy:id:*"), allow("security:read", "policy:id:*")
    me = session_with(service, *blocks)
    with pytest.raises(DeniedError) as refused:
        roles.update_role(me, str(role), policies=[])
    assert refused.value.action == "security:delete"


def test_a_link_that_the_caller_may_not_read_is_not_shown_and_stays(service: Context) -> None:
    role, hidden = add_role(service, "web"), add_policy(service, "hidden", READ)
    service.store.roles.link_policy(role, hidden)
    rights = (allow(f"security:{verb}", "role:id:*", "rule:id:*") for verb in ("read", "update", "delete"))
    me = session_with(service, *rights)
    assert roles.list_roles(me, [str(role)]).affected[0].policies == ()
    assert roles.update_role(me, str(role), name="team", policies=[]).value.policies == ()
    assert service.store.roles.get(role).policies == (hidden,)


def test_an_edit_of_nothing_says_so(service: Context) -> None:
    with pytest.raises(InvalidError) as refused:
        roles.update_role(service, "readonly")
    assert refused.value.code == 4001


def test_a_deleted_role_takes_its_links_along(service: Context) -> None:
    role = add_role(service, "web", READ)
    ann = add_user(service, "ann", role)
    add_rule(service, "r", role)
    assert [gone.id for gone in roles.delete_roles(service, ["web"]).affected] == [role]
    assert service.store.users.get(ann).roles == ()
    assert service.store.rules.leading() == [
        row for row in service.store.rules.leading() if role not in row[2]
    ]
    with pytest.raises(NotFoundError):
        roles.update_role(service, "web", name="x")


def test_naming_nothing_changes_nothing(service: Context) -> None:
    add_role(service, "web")
    for step, _, _ in LINKS.values():
        with pytest.raises(InvalidError, match="is required"):
            step(service, "web", None)
    with pytest.raises(InvalidError, match="is required"):
        roles.delete_roles(service, None)


def test_a_change_says_what_became_different_and_what_was_so_before(service: Context) -> None:
    add_role(service, "web")
    add_policy(service, "one", READ)
    add_policy(service, "two", READ)
    roles.link_policies(service, "web", ["one"])
    (linked,) = roles.link_policies(service, "web", ["one", "two"]).affected
    assert (linked.changes, linked.kept) == (("policy `two` added",), ("one",))
    changed = roles.update_role(service, "web", name="team", policies=["two"])
    assert changed.changes == ("name `web` -> `team`", "policy `one` removed")
    assert roles.update_role(service, "team", name="team").changes == ()


def test_a_list_is_asked_for_by_names_and_ids_of_what_is_linked(service: Context) -> None:
    role = add_role(service, "web")
    roles.link_policies(service, "web", ["agents_read"])
    for value in ("agents_read", "3"):
        found = roles.list_roles(service, query=ListQuery(where=f"policies={value};id>99"))
        assert [each.id for each in found.affected] == [role]
    assert found.names["policies"]["3"] == "agents_read"


def test_names_that_may_not_be_read_are_not_told_by_links(service: Context) -> None:
    role, secret = add_role(service, "web"), add_policy(service, "secret", READ)
    service.store.roles.link_policy(role, secret)
    me = session_with(service, allow("security:read", "role:id:*"))
    listed = roles.list_roles(me)
    assert (listed.names["policies"], listed.names["users"]) == ({}, {})
    assert roles.list_roles(me, query=ListQuery(where="policies=secret")).affected == []
    me = session_with(
        service, allow("security:update", f"role:id:{role}", f"policy:id:{secret}"), READ, name="other"
    )
    (linked,) = roles.link_policies(me, str(role), [str(secret)]).affected
    assert linked.kept == (str(secret),)
