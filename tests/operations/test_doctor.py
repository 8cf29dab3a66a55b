"""The chain of a context login stops at its first broken link, and the command named there mends it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgmtctl.domain.auth_context import AuthContext, parse_context
from mgmtctl.domain.doctor import Link
from mgmtctl.domain.errors import DeniedError, NotFoundError
from mgmtctl.operations import doctor, login
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_policy, add_role, add_rule, add_user
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

OPS = parse_context(b'{"name": "portal", "auth": {"team": "ops"}}')
ALLOW = {"actions": ["agent:read"], "resources": ["agent:group:web"], "effect": "allow"}
DENY = {"actions": ["agent:read"], "resources": ["agent:id:*"], "effect": "deny"}


def broken(ctx: Context, user: str, context: AuthContext | None = None) -> Link | None:
    """The broken link: always the last one, and every one before it holds."""
    links = doctor.check_run_as(ctx, user, context)
    assert all(link.ok for link in links[:-1])
    assert (links[-1].fix is None) is links[-1].ok
    return None if links[-1].ok else links[-1]


def told(link: Link | None) -> tuple[str, str | None] | None:
    return None if link is None else (link.link, link.fix)


def test_the_chain_is_walked_link_by_link(service: Context, service_template: tuple[Path, str]) -> None:
    store = service.store
    user_id = add_user(service, "portal", password=None)
    assert told(broken(service, "portal")) == ("password", "mgmtctl users set-password portal")
    store.users.set_password(user_id, service_template[1])
    assert told(broken(service, "portal")) == ("run_as", "mgmtctl users allow-run-as portal")
    store.users.set_allow_run_as(user_id, True)
    assert told(broken(service, "portal")) == ("rules", "mgmtctl rules create NAME -f FILE")
    rule_id = store.rules.add("ops", [{"FIND": {"team": "dev"}}], None)
    assert told(broken(service, "portal")) == ("roles", "mgmtctl roles add-rule ROLE ops")
    role_id = add_role(service, "web")
    store.roles.link_rule(role_id, rule_id)
    assert told(broken(service, "portal", OPS)) == (
        "matches",
        "mgmtctl rules explain ops --context-file FILE",
    )
    store.rules.set_expressions(rule_id, [{"FIND": {"team": "ops"}}], None)
    for context in (None, OPS):
        assert told(broken(service, "portal", context)) == ("policies", "mgmtctl roles add-policy web POLICY")
    store.roles.link_policy(role_id, add_policy(service, "nothing", DENY))
    for context in (None, OPS):
        assert told(broken(service, "portal", context)) == ("rights", "mgmtctl roles add-policy web POLICY")
    store.roles.link_policy(role_id, add_policy(service, "web", ALLOW))
    for context in (None, OPS):
        assert told(broken(service, "portal", context)) == ("rights", "mgmtctl policies show nothing")
    store.roles.unlink_policy(role_id, 100)
    for context in (None, OPS):
        assert broken(service, "portal", context) is None
    given = login.run_as(service, "portal", ADMIN_PASSWORD, OPS)
    assert [name for _, name in given.roles] == ["web"]


def test_a_true_rule_without_a_role_is_found_before_a_false_one_is_blamed(service: Context) -> None:
    store = service.store
    store.users.set_allow_run_as(add_user(service, "portal"), True)
    false = store.rules.add("dev", [{"FIND": {"team": "dev"}}], None)
    store.roles.link_rule(add_role(service, "web", ALLOW), false)
    store.rules.add("ops", [{"FIND": {"team": "ops"}}], None)
    link = broken(service, "portal", OPS)
    assert told(link) == ("roles", "mgmtctl roles add-rule ROLE ops")
    assert link is not None
    assert link.why == "rule ops leads to no role"


def test_the_web_interface_has_rules_and_needs_a_password(service: Context) -> None:
    assert told(broken(service, "wui")) == ("password", "mgmtctl users set-password wui")
    service.store.users.set_password(2, "hash")
    assert broken(service, "wui") is None
    stack = parse_context(b'{"name": "x", "auth": {"username": "elastic"}}')
    assert broken(service, "wui", stack) is None
    link = broken(service, "wui", OPS)
    assert link is not None
    assert link.why == "no rule is true for the context; wui_stacka_admin: no key `username` anywhere"


def test_the_own_rule_that_came_nearest_is_named_before_a_default_one(service: Context) -> None:
    service.store.users.set_password(2, "hash")
    role = add_role(service, "web", ALLOW)
    for name, expression in (
        ("far", {"FIND": {"city": "Oslo"}}),
        ("near", {"AND": [{"FIND": {"team": "ops"}}, {"FIND": {"site": "Oslo"}}]}),
        ("lost", {"FIND": {"team": "dev"}}),
    ):
        service.store.roles.link_rule(role, service.store.rules.add(name, [expression], None))
    link = broken(service, "wui", OPS)
    assert link is not None
    assert link.why == "no rule is true for the context; near: no key `site` anywhere"
    assert link.fix == "mgmtctl rules explain near --context-file FILE"


def test_of_several_expressions_the_one_that_came_nearest_is_told(service: Context) -> None:
    service.store.users.set_allow_run_as(add_user(service, "portal"), True)
    expressions = [{"FIND": {"city": "Oslo"}}, {"FIND": {"team": "dev"}}]
    rule = service.store.rules.add("two", expressions, None)
    service.store.roles.link_rule(add_role(service, "web", ALLOW), rule)
    link = broken(service, "portal", OPS)
    assert link is not None
    assert link.why == "no rule is true for the context; two: $.auth.team = `ops`"


def test_a_reserved_user_is_told_to_be_another(service: Context) -> None:
    link = broken(service, "admin")
    assert told(link) == ("run_as", "mgmtctl users create NAME --allow-run-as")


def test_a_rule_that_cannot_be_decided_and_may_deny_breaks_the_chain(service: Context) -> None:
    store = service.store
    store.users.set_allow_run_as(add_user(service, "portal"), True)
    rule_id = store.rules.add("odd", [{"NOT": {"FIND": {"team": "r'('"}}}], None)
    store.roles.link_rule(add_role(service, "web", DENY), rule_id)
    link = broken(service, "portal", OPS)
    assert link is not None
    assert told(link) == ("matches", "mgmtctl rules explain odd --context-file FILE")
    assert link.why.startswith("the login is refused: a limit was reached")


def test_black_mode_needs_no_policy(service: Context) -> None:
    service.store.settings.set("rbac_mode", "black")
    service.store.users.set_allow_run_as(add_user(service, "portal"), True)
    add_rule(service, "all", add_role(service, "web"))
    assert broken(service, "portal") is None
    assert broken(service, "portal", parse_context(b'{"name": "ann", "auth": {"k": "v"}}')) is None


def test_what_may_not_be_read_stays_out(service: Context, actor_with: ActorWith) -> None:
    service.store.users.set_allow_run_as(add_user(service, "portal"), True)
    add_rule(service, "canary-rule", add_role(service, "canary-role", ALLOW))
    reader = actor_with([{"actions": ["security:read"], "resources": ["user:id:*"], "effect": "allow"}])
    link = broken(reader, "portal")
    assert told(link) == ("rules", "mgmtctl rules create NAME -f FILE")
    assert link is not None
    assert link.why == "there is no rule that you may read"
    actor = actor_with(
        [{"actions": ["security:read"], "resources": ["user:id:*", "rule:id:*"], "effect": "allow"}],
        name="eve",
    )
    links = doctor.check_run_as(actor, "portal", OPS)
    assert "canary-role" not in str([link.record() for link in links])
    assert links[-1].why.endswith("that you may read")


def test_nobody_asks_about_a_user_he_may_not_read(service: Context, actor_with: ActorWith) -> None:
    add_user(service, "portal")
    stranger = actor_with([{"actions": ["security:read"], "resources": ["rule:id:*"], "effect": "allow"}])
    with pytest.raises(NotFoundError):
        doctor.check_run_as(stranger, "portal")
    for user in ("100", "999"):
        with pytest.raises(DeniedError):
            doctor.check_run_as(stranger, user)


def test_one_asks_about_oneself_without_a_right(anonymous: Context, actor_with: ActorWith) -> None:
    ann = actor_with(name="ann")
    assert told(broken(ann, "ann")) == ("run_as", "mgmtctl users allow-run-as ann")
    assert broken(ann, "100") == broken(ann, "ann")
    with pytest.raises(NotFoundError):
        doctor.check_run_as(acting(anonymous, 100, roles=()), "ann")


def _fixes(ctx: Context) -> Iterator[str]:
    for user in ("wui", "admin"):
        yield from (link.fix for link in doctor.check_run_as(ctx, user) if link.fix)


def test_every_fix_is_a_command_line(service: Context) -> None:
    assert [shlex.split(fix)[0] for fix in _fixes(service)] == ["mgmtctl", "mgmtctl"]
