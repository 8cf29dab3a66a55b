"""All that a user or a role may do, as far as the caller may know of it."""

from __future__ import annotations

import pytest

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.delegation import GRANT_NOTHING
from mgmtctl.domain.errors import DeniedError, NotFoundError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import decisions, reach
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_role, add_rule, add_user, allow, deny


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator; ann has the role web: reads and restarts agents of web, the latter without those of db."""
    ctx = acting(anonymous, 1)
    web = add_role(
        ctx,
        "web",
        {"actions": ["agent:read", "agent:restart"], "resources": ["agent:group:web"], "effect": "allow"},
        deny("agent:restart", "agent:group:db"),
    )
    add_user(ctx, "ann", web)
    add_rule(ctx, "to-web", web)
    return ctx


def test_a_user_may_what_the_roles_allow_without_what_they_deny(service: Context) -> None:
    found = reach.user_permissions(service, "ann")
    assert [
        (one.action, list(map(str, one.resources)), list(map(str, one.but)), one.by) for one in found.affected
    ] == [
        ("agent:read", ["agent:group:web"], [], ("web/web",)),
        ("agent:restart", ["agent:group:web"], ["agent:group:db"], ("web/web",)),
    ]
    assert found.notes == ("mode white",)


def test_the_record_has_the_entries_that_speak(service: Context) -> None:
    restart = reach.user_permissions(service, "ann", ListQuery(where="action=agent:restart")).affected[0]
    record = restart.record()
    assert (record["resources"], record["except"], record["by"]) == (
        ["agent:group:web"],
        ["agent:group:db"],
        ["web/web"],
    )
    assert [entry.effect for entry in restart.because] == ["allow", "deny"]


def test_the_administrator_holds_the_whole_catalogue(service: Context) -> None:
    held = reach.user_permissions(service, "admin").affected
    shown = {one.action: [*one.resources, *one.but] for one in held}
    assert set(shown) == set(ACTIONS) - GRANT_NOTHING
    assert list(map(str, shown["security:read"])) == ["role:id:*", "policy:id:*", "user:id:*", "rule:id:*"]
    for action, resources in shown.items():
        for resource in resources:
            assert decisions.can_i(service, action, str(resource), "admin").allowed


def test_a_user_without_roles_is_said_to_have_none(service: Context) -> None:
    add_user(service, "eve")
    service.store.settings.set("rbac_mode", "black")
    found = reach.user_permissions(service, "eve")
    assert (found.affected, found.notes[-1]) == (
        [],
        "user `eve` has no role: everything is denied in both modes",
    )


def test_contexts_are_said_to_give_other_roles_by_their_rules(service: Context) -> None:
    portal = add_user(service, "portal")
    service.store.users.set_allow_run_as(portal, True)
    assert reach.user_permissions(service, "portal").notes[-1].endswith("by rule to-web")
    assert "wui_stacka_admin" in reach.user_permissions(service, "wui").notes[-1]
    assert not any("context" in note for note in reach.user_permissions(service, "ann").notes)


def test_a_rule_is_not_told_to_lead_to_roles_that_may_not_be_read(service: Context) -> None:
    service.store.users.set_allow_run_as(100, True)
    role = add_role(service, "rules", allow("security:read", "user:id:*", "rule:id:*"))
    notes = reach.user_permissions(acting(service, add_user(service, "rules", role)), "ann").notes
    assert "a login with an authorization context gives other roles instead" in notes


def test_one_asks_about_oneself_without_a_right_to_read_users(service: Context) -> None:
    ann = acting(service, 100)
    (read, _restart) = reach.user_permissions(ann, "ann").affected
    assert (list(map(str, read.resources)), read.because, read.whole) == (["agent:group:web"], (), True)
    assert reach.user_permissions(ann, "100").affected
    with pytest.raises(NotFoundError):
        reach.user_permissions(ann, "admin")
    with pytest.raises(DeniedError):
        reach.user_permissions(ann, "1")


def test_a_context_session_is_not_the_user_himself(service: Context) -> None:
    context_session = acting(service, 100, roles=())
    with pytest.raises(DeniedError):
        reach.user_permissions(context_session, "100")


def test_names_in_policies_that_may_not_be_read_stay_out(service: Context) -> None:
    reader = acting(
        service, add_user(service, "reader", add_role(service, "reader", allow("security:read", "user:id:*")))
    )
    found = reach.user_permissions(reader, "ann")
    assert [(one.action, one.resources, one.but, one.by, one.whole) for one in found.affected] == [
        ("agent:read", (), (), (), False),
        ("agent:restart", (), (), (), False),
    ]
    assert "web" not in str([one.record() for one in found.affected])


def test_a_role_shows_what_it_allows_by_itself_and_who_gets_it(service: Context) -> None:
    (web,) = reach.role_permissions(service, ["web"])
    assert [one.action for one in web.held] == ["agent:read", "agent:restart"]
    assert web.record()["held_by"] == {
        "users": [{"id": "100", "name": "ann"}],
        "rules": [{"id": "100", "name": "to-web"}],
    }


def test_those_who_get_a_role_are_shown_as_far_as_they_may_be_read(service: Context) -> None:
    role = add_role(service, "reader", allow("security:read", "role:id:*"))
    (web,) = reach.role_permissions(acting(service, add_user(service, "reader", role)), ["web"])
    assert (web.users, web.rules, [one.whole for one in web.held]) == ({}, {}, [False, False])
    record = web.record()
    assert (record["users"], record["policies"], record["rules"]) == ([], [], [])


def test_a_role_must_be_readable(service: Context) -> None:
    ann = acting(service, 100)
    with pytest.raises(NotFoundError):
        reach.role_permissions(ann, ["web"])
    with pytest.raises(DeniedError):
        reach.role_permissions(ann, ["100"])


def test_what_is_left_out_of_an_answer_is_noted(service: Context) -> None:
    role = add_role(service, "reader", allow("security:read", "user:id:*"))
    me = acting(service, add_user(service, "reader", role))
    assert reach.user_permissions(me, "ann").notes == ("mode white", reach.PARTLY_HIDDEN)
    assert reach.user_permissions(me, "reader").notes == ("mode white", reach.PARTLY_HIDDEN)
    assert reach.PARTLY_HIDDEN not in reach.user_permissions(service, "ann").notes
