"""Rules through their operations."""

from __future__ import annotations

import pytest

from mgmtctl.domain.errors import ConflictError, DeniedError, InvalidError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import rules
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_role, add_rule, add_user, allow, everything

ONE = {"FIND": {"office": "north"}}
OTHER = {"MATCH$": {"name": "visitor"}}


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator, without the work of a login."""
    return acting(anonymous, 1)


@pytest.mark.parametrize(
    ("document", "expressions"),
    [
        pytest.param(ONE, [ONE], id="one expression"),
        pytest.param([ONE, OTHER], [ONE, OTHER], id="a list"),
        pytest.param({"rule": ONE}, [ONE], id="a record with rule"),
        pytest.param({"rules": [ONE, OTHER]}, [ONE, OTHER], id="a record with rules"),
    ],
)
def test_every_form_of_a_rule_is_shown_as_a_list(
    service: Context, document: object, expressions: list[object]
) -> None:
    created = rules.create_rule(service, "r", document).record()
    assert (created["id"], created["name"], created["roles"]) == ("100", "r", [])
    assert created["rules"] == expressions


def test_a_bad_expression_is_refused_and_nothing_is_stored(service: Context) -> None:
    before = everything(service)
    with pytest.raises(InvalidError) as refused:
        rules.create_rule(service, "r", {"AND": [ONE, {"FINDS": {"a": 1}}]})
    assert refused.value.findings
    assert everything(service) == before


def test_a_bad_or_taken_name_is_refused(service: Context) -> None:
    with pytest.raises(InvalidError):
        rules.create_rule(service, "12", ONE)
    with pytest.raises(ConflictError) as refused:
        rules.create_rule(service, "WUI_stacka_admin", ONE)
    assert refused.value.code == 4005


def test_a_rule_keeps_what_an_update_does_not_name(service: Context) -> None:
    rules.create_rule(service, "r", [ONE, OTHER])
    assert rules.update_rule(service, "r", name="s").value.expressions == (ONE, OTHER)
    changed = rules.update_rule(service, "s", document=OTHER)
    assert (changed.value.name, changed.value.expressions) == ("s", (OTHER,))
    assert changed.changes == ("expressions replaced",)
    assert rules.update_rule(service, "s", document=OTHER).changes == ()


def test_what_a_login_needs_to_know_is_written_with_the_rule(service: Context) -> None:
    from mgmtctl.domain.matching import needed_keys

    rules.create_rule(service, "r", ONE)
    rules.update_rule(service, "r", document=OTHER)
    stored = service.store.database.value("SELECT needed_keys FROM rules WHERE id = 100")
    assert stored == needed_keys([OTHER])
    assert stored != needed_keys([ONE])


def test_default_rules_never_change(service: Context) -> None:
    before = everything(service)
    for name, document in (("x", None), (None, ONE)):
        with pytest.raises(ConflictError) as refused:
            rules.update_rule(service, "1", name=name, document=document)
        assert refused.value.code == 4008
    result = rules.delete_rules(service, ["1", "2"])
    assert ([failure.error.code for failure in result.failed], result.affected) == ([4008, 4008], [])
    assert everything(service) == before


def test_a_deleted_rule_leads_nowhere(service: Context) -> None:
    role = add_role(service, "web")
    add_rule(service, "r", role)
    assert [rule.roles for rule in rules.delete_rules(service, ["r"]).affected] == [(role,)]
    assert service.store.roles.rules_of(role) == ()


def test_a_list_holds_what_the_caller_may_read(service: Context) -> None:
    mine = add_rule(service, "mine")
    role = add_role(service, "me", allow("security:read", f"rule:id:{mine}"))
    me = acting(service, add_user(service, "me", role))
    assert [rule.name for rule in rules.list_rules(me).affected] == ["mine"]
    found = rules.list_rules(service, query=ListQuery(search="elastic"))
    assert [rule.id for rule in found.affected] == [1]


def test_an_update_of_nothing_says_so(service: Context) -> None:
    add_rule(service, "r")
    with pytest.raises(InvalidError) as refused:
        rules.update_rule(service, "r")
    assert refused.value.code == 4001
    with pytest.raises(InvalidError, match="is required"):
        rules.delete_rules(service, None)


def test_creating_needs_the_right_to_create(service: Context) -> None:
    me = acting(service, add_user(service, "me", 7))
    with pytest.raises(DeniedError) as refused:
        rules.create_rule(me, "r", ONE)
    assert refused.value.action == "security:create"
