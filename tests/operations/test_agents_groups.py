"""Who may change which membership, and what a change does: order, fallback, limits, conflicts, status."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mgmtctl.domain.errors import ConflictError, DeniedError, InvalidError, MgmtctlError, NotFoundError
from mgmtctl.operations import agents, groups
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith

GROUPS = ("web", "pci", "db")


@pytest.fixture
def fleet(service: Context) -> Context:
    """001 in web, 002 in web and pci, 003 in default; all of them synced."""
    for group in GROUPS:
        groups.create_group(service, group)
    for name, members in (("one", ["web"]), ("two", ["web", "pci"]), ("three", [])):
        agents.create_agent(service, name, groups=members)
    service.store.database.execute("UPDATE agents SET group_config_status = 'synced'")
    return service


def groups_of(ctx: Context, *ids: int) -> list[list[str]]:
    return [ctx.store.agents.groups_of(number) for number in ids]


def status(ctx: Context, number: int) -> str:
    return ctx.store.agents.get(number, 0).group_config_status


def test_group_is_added_last_and_the_agent_is_not_synced(fleet: Context) -> None:
    changed = agents.add_agent_to_group(fleet, "one", "db")
    assert (changed.agent.groups, changed.changed) == (("web", "db"), True)
    assert (status(fleet, 1), status(fleet, 2)) == ("not synced", "synced")


def test_position_puts_a_group_in_front_and_moves_a_member(fleet: Context) -> None:
    assert agents.add_agent_to_group(fleet, "two", "db", 1).agent.groups == ("db", "web", "pci")
    assert agents.add_agent_to_group(fleet, "two", "db", 3).agent.groups == ("web", "pci", "db")
    with pytest.raises(InvalidError):
        agents.add_agent_to_group(fleet, "two", "db", 0)


def test_adding_a_member_again_changes_nothing(fleet: Context) -> None:
    changed = agents.add_agent_to_group(fleet, "two", "web")
    assert (changed.changed, changed.agent.groups, status(fleet, 2)) == (False, ("web", "pci"), "synced")


def test_last_group_left_means_default(fleet: Context) -> None:
    changed = agents.remove_agent_from_group(fleet, "one", "web")
    assert (changed.agent.groups, status(fleet, 1)) == (("default",), "not synced")


def test_only_default_cannot_be_left(fleet: Context) -> None:
    with pytest.raises(ConflictError) as caught:
        agents.remove_agent_from_group(fleet, "three", "default")
    assert caught.value.code == 1745


def test_removing_where_it_is_not_changes_nothing(fleet: Context) -> None:
    assert not agents.remove_agent_from_group(fleet, "one", "db").changed
    assert status(fleet, 1) == "synced"


@pytest.mark.parametrize("group", ["nix", "../web", "Web", ""])
def test_group_that_does_not_exist(fleet: Context, group: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: agents.add_agent_to_group(fleet, "one", group),
        lambda: agents.remove_agent_from_group(fleet, "one", group),
        lambda: agents.set_agent_groups(fleet, "one", ["web", group]),
        lambda: agents.add_agents_to_group(fleet, group, ["one"]),
        lambda: agents.remove_agents_from_group(fleet, group, ["one"]),
    ]
    for call in calls:
        with pytest.raises(NotFoundError) as caught:
            call()
        assert caught.value.code == 1710
    assert groups_of(fleet, 1) == [["web"]]


def test_group_whose_folder_is_gone_can_be_left(fleet: Context, home: Path) -> None:
    for path in (home / "shared" / "web").iterdir():
        path.unlink()
    (home / "shared" / "web").rmdir()
    assert agents.remove_agent_from_group(fleet, "two", "web").agent.groups == ("pci",)


def test_exact_groups_set_the_order(fleet: Context) -> None:
    assert agents.set_agent_groups(fleet, "two", ["pci", "web"]).agent.groups == ("pci", "web")
    assert not agents.set_agent_groups(fleet, "two", ["pci", "web"]).changed


def test_many_agents_change_at_once_and_failures_are_listed(fleet: Context) -> None:
    done = agents.remove_agents_from_group(fleet, "default", ["one", "three", "nix"])
    assert [(item.agent.id, item.changed) for item in done.affected] == [("001", False)]
    assert sorted((failure.error.code, failure.ids) for failure in done.failed) == [
        (1701, ("nix",)), (1745, ("003",)),
    ]  # fmt: skip
    done = agents.add_agents_to_group(fleet, "db", ["one", "two", "three"], 1)
    assert [item.agent.groups for item in done.affected] == [
        ("db", "web"), ("db", "web", "pci"), ("db", "default"),
    ]  # fmt: skip


def test_no_agents_named_means_those_that_are_permitted(fleet: Context, actor_with: ActorWith) -> None:
    mover = actor_with(
        [
            {"actions": ["agent:modify_group"], "resources": ["agent:group:web"], "effect": "allow"},
            {"actions": ["group:modify_assignments"], "resources": ["group:id:db"], "effect": "allow"},
        ]
    )
    agents.add_agents_to_group(mover, "db")
    assert groups_of(fleet, 1, 2, 3) == [["web", "db"], ["web", "pci", "db"], ["default"]]


def test_the_129th_group_is_refused(fleet: Context) -> None:
    fleet.store.agents.set_groups(["001"], [f"g{number}" for number in range(128)])
    with pytest.raises(ConflictError) as caught:
        agents.add_agent_to_group(fleet, "one", "web")
    assert caught.value.code == 1737
    failed = agents.add_agents_to_group(fleet, "web", ["one", "three"]).failed
    assert [(failure.error.code, failure.ids) for failure in failed] == [(1737, ("001",))]


def test_files_of_the_same_name_are_reported_when_assigned(fleet: Context, home: Path) -> None:
    for group in ("web", "db"):
        (home / "shared" / group / "audit.rules").write_bytes(b"x")
        (home / "shared" / group / ".hidden").write_bytes(b"x")
    (conflict,) = agents.add_agent_to_group(fleet, "one", "db").conflicts
    assert (conflict.name, conflict.winner, conflict.losers) == ("audit.rules", "db", ("web",))
    (conflict,) = agents.create_agent(fleet, "new", groups=["db", "web"]).conflicts
    assert conflict.winner == "web"
    (conflict,) = agents.import_agents(fleet, "f.csv", b'name,groups\nnewer,"db,web"\nnewest,web\n').conflicts
    assert conflict.losers == ("db",)


def test_conflict_tells_nothing_of_a_group_that_may_not_be_read(
    fleet: Context, home: Path, actor_with: ActorWith
) -> None:
    for group in ("web", "db"):
        (home / "shared" / group / "audit.rules").write_bytes(b"x")
    mover = actor_with(
        [
            {"actions": ["agent:modify_group"], "resources": ["agent:id:*"], "effect": "allow"},
            {"actions": ["group:modify_assignments"], "resources": ["group:id:db"], "effect": "allow"},
            {"actions": ["group:read"], "resources": ["group:id:db"], "effect": "allow"},
        ]
    )
    assert agents.add_agent_to_group(mover, "001", "db").conflicts == ()


def allow(*rights: str) -> list[dict[str, object]]:
    """`agent` is agent:modify_group on every agent, any other word group:modify_assignments on that group."""
    return [
        {"actions": ["agent:modify_group", "agent:read"], "resources": ["agent:id:*"], "effect": "allow"}
        if right == "agent"
        else {
            "actions": ["group:modify_assignments", "group:read"],
            "resources": [f"group:id:{right}"],
            "effect": "allow",
        }
        for right in rights
    ]


@pytest.mark.parametrize(
    ("change", "rights"),
    [
        pytest.param(("add", "001", "db"), ["agent", "db"], id="entering"),
        pytest.param(("remove", "002", "pci"), ["agent", "pci"], id="leaving"),
        pytest.param(("remove", "001", "web"), ["agent", "web"], id="falling back needs nothing on default"),
        pytest.param(("set", "001", "db"), ["agent", "web", "db"], id="moving: both ends"),
        pytest.param(("set", "002", "web,pci,db"), ["agent", "db"], id="groups that stay need nothing"),
        pytest.param(("set", "002", "pci,web"), ["agent", "pci", "web"], id="another order: what moves"),
        pytest.param(("set", "001", "default"), ["agent", "web", "default"], id="default by name is entered"),
        pytest.param(("add many", "001", "db"), ["agent", "db"], id="entering in bulk"),
        pytest.param(("remove many", "002", "pci"), ["agent", "pci"], id="leaving in bulk"),
    ],
)
def test_change_needs_exactly_these_rights(
    fleet: Context, actor_with: ActorWith, change: tuple[str, str, str], rights: Sequence[str]
) -> None:
    kind, agent, group = change

    def call(ctx: Context) -> object:
        if kind == "set":
            return agents.set_agent_groups(ctx, agent, group.split(","))
        if kind == "add":
            return agents.add_agent_to_group(ctx, agent, group)
        if kind == "remove":
            return agents.remove_agent_from_group(ctx, agent, group)
        many = agents.add_agents_to_group if kind == "add many" else agents.remove_agents_from_group
        return many(ctx, group, [agent])

    before = groups_of(fleet, 1, 2, 3)
    for number, missing in enumerate(rights):
        weaker = actor_with(allow(*(right for right in rights if right != missing)), name=f"ada_{number}")
        with pytest.raises((DeniedError, NotFoundError)):
            call(weaker)
        assert groups_of(fleet, 1, 2, 3) == before
    call(actor_with(allow(*rights), name="eve"))
    assert groups_of(fleet, 1, 2, 3) != before


def test_set_of_fields_and_groups_needs_the_rights_of_both(fleet: Context, actor_with: ActorWith) -> None:
    create = {"actions": ["agent:create"], "resources": ["*:*:*"], "effect": "allow"}
    mover = actor_with(allow("agent", "web", "db"), name="mover")
    read = {"actions": ["agent:read"], "resources": ["agent:id:*"], "effect": "allow"}
    creator = actor_with([create, read], name="creator")
    assigner = actor_with([*allow("web", "db"), create, read], name="assigner")
    for weaker in (mover, creator, assigner):
        with pytest.raises(MgmtctlError):
            agents.set_agent(weaker, "001", name="new", groups=["db"])
    assert fleet.store.agents.get(1, 0).name == "one"
    both = actor_with([*allow("agent", "web", "db"), create], name="both")
    assert agents.set_agent(both, "001", name="new", groups=["db"]).agent.groups == ("db",)
