"""Facts about lint of the stored service: what it says of a new one, and that it names nothing that is hidden."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mgmtctl.domain.errors import DeniedError
from mgmtctl.domain.findings import NOTE
from mgmtctl.operations import lint
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_policy, add_role, add_user, allow, deny, everything
from tests.operations.conftest import ActorWith


def told(items: Any) -> list[tuple[str, str]]:
    return [(finding.rule, finding.path) for finding in items.affected]


def add_rule(ctx: Context, name: str, document: Any, *roles: int) -> int:
    rule_id = ctx.store.rules.add(name, [document], None)
    for role_id in roles:
        ctx.store.roles.link_rule(role_id, rule_id)
    return rule_id


def test_policies_of_a_new_service_have_no_finding(service: Context) -> None:
    assert told(lint.lint_policies(service)) == []


def test_rules_of_a_new_service_have_a_note_each(service: Context) -> None:
    items = lint.lint_rules(service)
    assert told(items) == [
        ("broad-find", "rule wui_stacka_admin: rules[0]"),
        ("broad-find", "rule wui_stackb_admin: rules[0]"),
    ]
    assert {finding.severity for finding in items.affected} == {NOTE}


def test_a_stored_policy_is_linted_with_its_role(service: Context) -> None:
    role = add_role(service, "ops", allow("agent:read", "agent:group:web"))
    service.store.roles.link_policy(role, add_policy(service, "calm", deny("agent:read", "agent:id:*")))
    add_user(service, "bob", role)
    assert told(lint.lint_policies(service)) == [("contradictory-entries", "policy ops: blocks.b0")]
    assert told(lint.lint_policies(service, ["calm"])) == []
    assert told(lint.lint_policies(service, ["ops"])) == [("contradictory-entries", "policy ops: blocks.b0")]


def test_the_mode_decides_whether_a_user_is_only_denied(service: Context) -> None:
    add_user(service, "eve", add_role(service, "calm", deny("agent:read", "agent:id:*")))
    assert told(lint.lint_policies(service)) == [("deny-only-user", "user eve")]
    service.store.settings.set("rbac_mode", "black")
    assert told(lint.lint_policies(service)) == []


def test_a_rule_is_linted_with_where_it_leads(service: Context) -> None:
    broad = {"FIND": {"email": "a@b"}}
    boss = add_role(service, "boss", allow("security:update", "user:id:*"))
    plain = add_role(service, "plain", allow("agent:read", "agent:id:*"))
    add_rule(service, "one", broad, boss)
    add_rule(service, "two", broad, plain)
    add_rule(service, "three", {"MATCH": {"a": 1}})
    assert told(lint.lint_rules(service, ["one", "two", "three"])) == [
        ("broad-find", "rule one: rules[0]"),
        ("duplicate-rule", "rule two"),
        ("unlinked-rule", "rule three"),
    ]


def test_a_rule_is_no_duplicate_of_one_that_counts_for_the_web_interface_only(service: Context) -> None:
    shipped = json.loads(json.dumps(service.store.rules.get(1).expressions[0]))
    add_rule(service, "mine", shipped, add_role(service, "plain", allow("agent:read", "agent:id:*")))
    assert told(lint.lint_rules(service, ["mine"])) == []


def test_lint_changes_nothing(service: Context) -> None:
    add_user(service, "eve", add_role(service, "calm", deny("agent:read", "agent:id:*")))
    before = everything(service)
    lint.lint_policies(service)
    lint.lint_rules(service)
    assert everything(service) == before


def test_an_unknown_policy_fails_by_itself(service: Context) -> None:
    items = lint.lint_policies(service, ["agents_read", "nope"])
    assert [failure.ids for failure in items.failed] == [("nope",)]


# --- what may not be read stays out -------------------------------------------------------------------------------


def reader(service: Context, *resources: str) -> Context:
    role = add_role(service, "reader", allow("security:read", *resources))
    return acting(service, add_user(service, "reader", role))


def test_without_the_right_there_is_nothing(actor_with: ActorWith) -> None:
    nobody = actor_with()
    assert told(lint.lint_policies(nobody)) == []
    assert told(lint.lint_rules(nobody)) == []
    with pytest.raises(DeniedError):
        lint.lint_policies(nobody, ["100"])


def test_findings_name_no_role_user_or_policy_that_is_hidden(service: Context) -> None:
    shown = add_policy(service, "shown", allow("agent:read", "agent:group:web"))
    hidden = add_policy(service, "canary_policy", deny("agent:read", "agent:id:*"))
    role = add_role(service, "canary_role")
    service.store.roles.link_policy(role, shown)
    service.store.roles.link_policy(role, hidden)
    add_user(service, "canary_user", role)
    ctx = reader(service, f"policy:id:{shown}")
    said = json.dumps([finding.record() for finding in lint.lint_policies(ctx).affected])
    assert said == "[]"
    both = add_role(service, "second", allow("security:read", f"policy:id:{shown}", f"policy:id:{hidden}"))
    ctx = acting(service, add_user(service, "second", both))
    said = json.dumps([finding.record() for finding in lint.lint_policies(ctx).affected])
    assert "canary_role" not in said
    assert "canary_user" not in said


def test_a_user_is_not_called_denied_while_one_of_his_policies_is_hidden(service: Context) -> None:
    denies = add_policy(service, "denies", deny("agent:read", "agent:id:*"))
    allows = add_policy(service, "allows", allow("agent:read", "agent:id:*"))
    role = add_role(service, "mixed")
    service.store.roles.link_policy(role, denies)
    service.store.roles.link_policy(role, allows)
    add_user(service, "eve", role)
    ctx = reader(service, f"policy:id:{denies}", "role:id:*", "user:id:*")
    assert not [path for _, path in told(lint.lint_policies(ctx)) if path == "user eve"]


def test_a_hidden_role_is_no_reason_for_a_finding_about_a_rule(service: Context) -> None:
    boss = add_role(service, "boss", allow("security:update", "user:id:*"))
    rule = add_rule(service, "one", {"FIND": {"email": "a@b"}}, boss)
    assert told(lint.lint_rules(reader(service, f"rule:id:{rule}"))) == []


@pytest.mark.parametrize("linked", [False, True], ids=["no link", "a link to what is hidden"])
def test_no_finding_comes_or_goes_by_a_link_to_what_is_hidden(service: Context, *, linked: bool) -> None:
    shown = add_policy(service, "shown", deny("agent:read", "agent:group:web"))
    role = add_role(service, "plain")
    rule = add_rule(service, "one", {"FIND": {"email": "a@b"}})
    user = add_user(service, "eve", add_role(service, "calm", deny("agent:read", "agent:id:*")))
    service.store.roles.link_rule(role, add_rule(service, "other", {"MATCH": {"a": 1}}))
    ctx = reader(service, f"policy:id:{shown}", f"role:id:{role}", f"rule:id:{rule}", f"user:id:{user}")
    if linked:
        hidden = add_role(service, "canary_role")
        service.store.roles.link_policy(hidden, shown)
        service.store.roles.link_policy(
            role, add_policy(service, "canary", allow("security:update", "user:id:*"))
        )
        service.store.roles.link_rule(hidden, rule)
        add_user(service, "canary_user", role)
    assert told(lint.lint_policies(ctx)) == []
    assert told(lint.lint_rules(ctx)) == []


@pytest.mark.parametrize("linked", [False, True], ids=["no link", "a link to what is hidden"])
def test_an_administrator_role_is_named_to_who_may_read_all_policies(
    service: Context, *, linked: bool
) -> None:
    boss = add_role(service, "boss", allow("security:update", "user:id:*"))
    rule = add_rule(service, "one", {"FIND": {"email": "a@b"}}, boss)
    known = [str(number) for number in service.store.roles.get(boss).policies]
    ctx = reader(service, f"rule:id:{rule}", "role:id:*", *(f"policy:id:{number}" for number in known))
    if linked:
        service.store.roles.link_policy(boss, add_policy(service, "canary", deny("agent:read", "agent:id:*")))
    assert told(lint.lint_rules(ctx)) == []
