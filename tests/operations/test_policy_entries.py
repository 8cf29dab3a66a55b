"""Entries put into stored policies and taken out of them: under the rules of every change of a policy."""

from __future__ import annotations

import pytest

from mgmtctl.domain.errors import ConflictError, DeniedError, InvalidError
from mgmtctl.operations import agents, groups, login, policies
from mgmtctl.operations.context import Context
from tests.operations.access_world import add_policy, add_role, add_user, allow, delegate, deny, everything
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith


@pytest.fixture
def world(service: Context) -> Context:
    """The service for its administrator."""
    return service


def test_an_entry_is_put_in_once_and_taken_out_again(world: Context) -> None:
    number = str(add_policy(world, "web", allow("agent:read", "agent:group:web")))
    add, out = policies.add_entries, policies.remove_entries
    changed = add(world, number, ["agent:read"], ["agent:id:42"], "allow")
    assert changed.changes == ("block `agent_read` added",)
    assert [block.name for block in changed.value.policy.blocks] == ["b0", "agent_read"]
    assert add(world, number, ["agent:read"], ["agent:id:042"], "allow").changes == ()
    assert out(world, number, ["agent:read"], ["agent:id:042"], "allow").changes == (
        "block `agent_read` removed",
    )
    assert out(world, number, ["agent:read"], ["agent:id:042"], "allow").changes == ()


@pytest.mark.parametrize(
    ("actions", "resources", "problem"),
    [
        pytest.param(["agent:raed"], ["agent:id:1"], "`agent:raed` does not exist", id="an unknown action"),
        pytest.param(["agent:read"], ["agent:1"], "malformed", id="a malformed resource"),
        pytest.param(["agent:read"], ["*:*:*"], "needs agent:id", id="what can never match"),
        pytest.param([], ["agent:id:1"], "empty", id="no action"),
        pytest.param(["agent:read"], [], "empty", id="no resource"),
    ],
)
def test_an_entry_that_cannot_be_is_refused(
    world: Context, actions: list[str], resources: list[str], problem: str
) -> None:
    number, before = str(add_policy(world, "web", allow("agent:read", "agent:group:web"))), everything(world)
    for change in (policies.add_entries, policies.remove_entries):
        with pytest.raises(InvalidError, match=problem):
            change(world, number, actions, resources, "allow")
    assert everything(world) == before


def test_a_policy_keeps_an_entry_and_reserved_ones_keep_all(world: Context) -> None:
    number = str(add_policy(world, "web", allow("agent:read", "agent:group:web")))
    with pytest.raises(ConflictError, match="without any entry"):
        policies.remove_entries(world, number, ["agent:read"], ["agent:group:web"], "allow")
    for change in (policies.add_entries, policies.remove_entries):
        with pytest.raises(ConflictError, match="is reserved"):
            change(world, "agents_read", ["agent:read"], ["agent:id:*"], "allow")


def test_a_change_of_entries_ends_the_sessions_that_rest_on_them(
    world: Context, actor_with: ActorWith
) -> None:
    ann = actor_with([allow("agent:read", "agent:group:web")], name="ann")
    token = login.log_in(ann, "ann", ADMIN_PASSWORD).token
    policies.add_entries(world, "ann_0", ["agent:read"], ["agent:group:web"], "allow")
    assert login.resume(ann, token, False).actor is not None
    policies.add_entries(world, "ann_0", ["agent:read"], ["agent:id:003"], "allow")
    with pytest.raises(Exception, match="session"):
        login.resume(ann, token, False)


def test_nobody_puts_in_what_he_lacks_or_takes_out_what_keeps_him_back(world: Context) -> None:
    me = delegate(world, allow("agent:read", "agent:group:web"))
    number = str(
        add_policy(
            world, "mine", allow("agent:read", "agent:group:web"), deny("agent:delete", "agent:id:001")
        )
    )
    role = add_role(world, "team")
    world.store.roles.link_policy(role, int(number))
    add_user(world, "ann", role, world.store.roles.find("agents_admin") or 0)
    before = everything(world)
    with pytest.raises(DeniedError, match="permission denied"):
        policies.add_entries(me, number, ["agent:read"], ["agent:group:db"], "allow")
    with pytest.raises(DeniedError, match="permission denied"):
        policies.remove_entries(me, number, ["agent:delete"], ["agent:id:001"], "deny")
    assert everything(world) == before
    assert policies.add_entries(me, number, ["agent:delete"], ["agent:group:db"], "deny").changes


def test_what_still_allows_it_is_told_as_far_as_it_may_be_known(world: Context) -> None:
    groups.create_group(world, "web")
    agents.create_agent(world, "web-1", groups=["web"])
    entries = (
        allow("agent:read", "agent:group:web", "agent:id:001"),
        allow("agent:delete", "agent:id:*", "agent:id:001"),
    )
    number = str(add_policy(world, "web", *entries))

    def told(ctx: Context, action: str) -> list[str]:
        ctx.warnings.clear()
        policies.remove_entries(ctx, number, [action], ["agent:id:001"], "allow")
        return ctx.warnings

    assert told(world, "agent:read") == [
        "agent:read on agent:id:001 is still allowed by agent:group:web in block `b0`"
    ]
    assert told(world, "agent:delete") == [
        "agent:delete on agent:id:001 is still allowed by agent:id:* in block `b1`"
    ]
    me = delegate(world, allow("agent:delete", "agent:id:*"))
    assert told(me, "agent:read") == []  # that the agent is in the group is not his to know
    assert told(world, "agent:restart") == []


def test_a_fault_of_an_entry_is_told_once_and_in_the_callers_words(world: Context) -> None:
    number = str(add_policy(world, "web", allow("agent:read", "agent:group:web")))
    with pytest.raises(InvalidError) as one:
        policies.add_entries(world, number, ["agent:reed"], ["agent:id:1"], "allow")
    said = (one.value.problem, one.value.fix, one.value.findings)
    assert said == ("action `agent:reed` does not exist", "did you mean `agent:read`?", ())
    with pytest.raises(InvalidError) as several:
        policies.add_entries(world, number, ["agent:reed", "x:y"], ["agent:id:1"], "allow")
    assert [finding.path for finding in several.value.findings] == ["actions[0]", "actions[1]"]
