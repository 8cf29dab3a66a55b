"""Policies through their operations: every form goes in, one form comes out, nothing half."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mgmtctl.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import policies
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_policy, add_role, add_user, allow, deny, everything

READ = {"actions": ["agent:read"], "resources": ["agent:id:*"], "effect": "allow"}


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator, without the work of a login."""
    return acting(anonymous, 1)


@pytest.mark.parametrize(
    ("document", "block"),
    [
        pytest.param(READ, "p", id="a block by itself"),
        pytest.param({"policy": READ}, "p", id="policy"),
        pytest.param({"blocks": {"see": READ}}, "see", id="blocks"),
        pytest.param({"see": READ}, "see", id="a mapping of blocks"),
        pytest.param({"id": "7", "name": "x", "roles": [], "blocks": {"see": READ}}, "see", id="a record"),
    ],
)
def test_every_form_of_a_policy_is_shown_as_blocks(
    service: Context, document: dict[str, Any], block: str
) -> None:
    assert policies.create_policy(service, "p", document).record() == {
        "id": "100", "name": "p", "blocks": {block: READ}, "roles": [],
    }  # fmt: skip


def test_what_is_shown_can_be_created_again(service: Context) -> None:
    shown = policies.list_policies(service, ["agents_all"]).affected[0].record()
    again = policies.create_policy(service, "again", shown).record()
    assert again["blocks"] == shown["blocks"]


def test_every_fault_of_a_document_is_reported_and_nothing_is_stored(service: Context) -> None:
    before = everything(service)
    with pytest.raises(InvalidError) as refused:
        policies.create_policy(
            service,
            "p",
            {"a": {"actions": ["agent:raed"], "resources": ["agent:id"], "effect": "Allow"}},
        )
    assert [finding.path for finding in refused.value.findings] == [
        "a.actions[0]", "a.resources[0]", "a.effect",
    ]  # fmt: skip
    assert everything(service) == before


def test_a_bad_or_taken_name_is_refused(service: Context) -> None:
    with pytest.raises(InvalidError):
        policies.create_policy(service, "12", READ)
    with pytest.raises(ConflictError) as refused:
        policies.create_policy(service, "AGENTS_all", READ)
    assert refused.value.code == 4009


def test_a_policy_keeps_what_an_update_does_not_name(service: Context) -> None:
    policies.create_policy(service, "p", READ)
    renamed = policies.update_policy(service, "p", name="q")
    assert (renamed.value.name, [block.record() for block in renamed.value.policy.blocks]) == ("q", [READ])
    changed = policies.update_policy(service, "q", document=deny("agent:read", "agent:id:001"))
    assert (changed.value.name, changed.value.policy.blocks[0].effect) == ("q", "deny")


def test_a_change_of_blocks_is_told_by_their_names(service: Context) -> None:
    policies.create_policy(service, "p", {"a": READ, "b": READ})
    wanted = {"b": deny("agent:read", "agent:id:001"), "c": READ}
    changed = policies.update_policy(service, "p", document=wanted)
    assert changed.changes == ("block `c` added", "block `b` changed", "block `a` removed")
    assert policies.update_policy(service, "p", document=wanted).changes == ()


def test_an_update_that_is_refused_changes_nothing(service: Context) -> None:
    policies.create_policy(service, "p", READ)
    before = everything(service)
    steps: list[Callable[[], object]] = [
        lambda: policies.update_policy(service, "p", name="q", document={"x": 1}),
        lambda: policies.update_policy(
            service, "p", document=allow("agent:read", "agent:id:1"), name="readonly "
        ),
        lambda: policies.update_policy(
            service, "p", document=allow("agent:read", "agent:id:1"), name="sca_read"
        ),
        lambda: policies.update_policy(service, "p"),
    ]
    for step in steps:
        with pytest.raises((InvalidError, ConflictError)):
            step()
    assert everything(service) == before


def test_default_policies_never_change(service: Context) -> None:
    before = everything(service)
    for name, document in (("x", None), (None, READ)):
        with pytest.raises(ConflictError) as refused:
            policies.update_policy(service, "agents_read", name=name, document=document)
        assert refused.value.code == 4008
    result = policies.delete_policies(service, ["agents_read", "27"])
    assert [failure.error.code for failure in result.failed] == [4008, 4008]
    assert result.affected == []
    assert everything(service) == before


def test_a_deleted_policy_is_gone_from_its_roles(service: Context) -> None:
    role = add_role(service, "web", allow("agent:read", "agent:id:*"))
    deleted = policies.delete_policies(service, ["web", "absent"])
    assert [policy.record()["roles"] for policy in deleted.affected] == [[str(role)]]
    assert [failure.error.code for failure in deleted.failed] == [4007]
    assert service.store.roles.policies_of(role) == ()


def test_a_list_holds_what_the_caller_may_read(service: Context) -> None:
    mine = add_policy(service, "mine", allow("agent:read", "agent:id:*"))
    role = add_role(service, "me", allow("security:read", f"policy:id:{mine}"))
    me = acting(service, add_user(service, "me", role))
    assert [policy.name for policy in policies.list_policies(me).affected] == ["mine"]
    with pytest.raises(DeniedError):
        policies.list_policies(me, ["1"])
    assert (
        policies.list_policies(me, ["agents_all"]).failed[0].error.problem
        == "policy `agents_all` does not exist"
    )


def test_a_list_can_be_asked(service: Context) -> None:
    found = policies.list_policies(service, query=ListQuery(where="name~users", sort="-id"))
    assert [policy.name for policy in found.affected] == ["users_modify_run_as", "users_all"]


def test_reading_does_not_mean_changing(service: Context) -> None:
    add_policy(service, "p", allow("agent:read", "agent:id:*"))
    me = acting(service, add_user(service, "me", 6))
    steps: list[Callable[[], object]] = [
        lambda: policies.create_policy(me, "q", READ),
        lambda: policies.update_policy(me, "100", document=READ),
        lambda: policies.delete_policies(me, ["100"]),
    ]
    for step in steps:
        with pytest.raises(DeniedError):
            step()
    with pytest.raises(NotFoundError):
        policies.update_policy(me, "p", document=READ)
