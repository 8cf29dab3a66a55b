"""Agents: create, show, change, delete, keys; what a reader sees of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.domain.errors import (
    ConflictError,
    DeniedError,
    InvalidError,
    MgmtctlError,
    NotFoundError,
    QuestionError,
    UnavailableError,
)
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import agents, groups
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith

READ_ONE = {"actions": ["agent:read"], "resources": ["agent:id:001"], "effect": "allow"}
CREATE = {"actions": ["agent:create"], "resources": ["*:*:*"], "effect": "allow"}


@pytest.fixture
def fleet(service: Context) -> Context:
    """Three agents: 001 web-1 in web, 002 web-2 in web and pci, 003 db-1 in default."""
    for group in ("web", "pci"):
        groups.create_group(service, group)
    agents.create_agent(service, "web-1", groups=["web"])
    agents.create_agent(service, "web-2", ip="10.0.0.2", groups=["web", "pci"])
    agents.create_agent(service, "db-1")
    return service


def names(ctx: Context, **query: str) -> list[str]:
    return [agent.name for agent in agents.list_agents(ctx, query=ListQuery(**query)).affected]  # type: ignore[arg-type]


def test_created_agent_has_the_next_id_a_key_and_default(service: Context) -> None:
    created = agents.create_agent(service, "web-1")
    assert (created.agent.id, created.agent.groups, len(created.key)) == ("001", ("default",), 64)
    assert int(created.key, 16)
    assert agents.show_key(service, "web-1").record() == {"id": "001", "key": created.key}
    assert created.record()["key"] == created.key
    assert "key" not in created.agent.record()


def test_two_agents_have_different_keys(fleet: Context) -> None:
    assert agents.show_key(fleet, "001").key != agents.show_key(fleet, "002").key


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        pytest.param({"name": "WEB-1"}, ConflictError, 1705, id="a name in another letter case"),
        pytest.param({"name": "new", "agent_id": "1"}, ConflictError, 1708, id="an id that is taken"),
        pytest.param({"name": "new", "agent_id": "000"}, InvalidError, 1703, id="the id of the manager"),
        pytest.param({"name": "new", "ip": "10.0.0.2"}, ConflictError, 1706, id="an address that is taken"),
        pytest.param({"name": "new", "ip": "10.0.0.256"}, InvalidError, 1706, id="no address"),
        pytest.param({"name": "042"}, InvalidError, 0, id="a name of digits"),
        pytest.param({"name": "n" * 129}, InvalidError, 1738, id="a long name"),
        pytest.param(
            {"name": "new", "groups": ["nix"]}, NotFoundError, 1710, id="a group that does not exist"
        ),
        pytest.param(
            {"name": "new", "groups": ["../web"]}, NotFoundError, 1710, id="a group that cannot exist"
        ),
        pytest.param({"name": "new", "groups": ["web", "web"]}, InvalidError, 0, id="a group twice"),
        pytest.param({"name": "new", "folder": "/srv/a"}, InvalidError, 0, id="a folder outside the roots"),
        pytest.param({"name": "new", "folder": "relative"}, InvalidError, 0, id="a relative folder"),
    ],
)
def test_agent_is_refused_and_nothing_is_added(
    fleet: Context, arguments: dict[str, object], kind: type[MgmtctlError], code: int
) -> None:
    with pytest.raises(kind) as caught:
        agents.create_agent(fleet, **arguments)  # type: ignore[arg-type]
    assert caught.value.code == code
    assert len(names(fleet)) == 3
    assert agents.create_agent(fleet, "next").agent.id == "004"


def test_agents_may_share_any(fleet: Context) -> None:
    assert agents.create_agent(fleet, "new", ip="any").agent.register_ip == "any"


def test_folder_below_a_root_belongs_to_one_agent(fleet: Context, tmp_path: Path) -> None:
    root = tmp_path / "roots"
    (root / "a" / "inner").mkdir(parents=True)
    fleet.store.settings.set("agents.folder_roots", [str(root)])
    assert agents.create_agent(fleet, "aa", folder=f"{root}/a/").agent.folder == f"{root}/a"
    for taken in ("a", "a/inner"):
        with pytest.raises(ConflictError):
            agents.create_agent(fleet, "bb", folder=f"{root}/{taken}")
    with pytest.raises(InvalidError):
        agents.create_agent(fleet, "bb", folder=str(root / ".." / "b"))


def test_symlink_below_a_root_is_no_folder_of_an_agent(fleet: Context, tmp_path: Path) -> None:
    root = tmp_path / "roots"
    root.mkdir()
    (root / "link").symlink_to(tmp_path)
    fleet.store.settings.set("agents.folder_roots", [str(root)])
    with pytest.raises((InvalidError, UnavailableError)):
        agents.create_agent(fleet, "aa", folder=str(root / "link"))


def test_new_folder_makes_not_synced_and_the_old_one_can_come_back(fleet: Context, tmp_path: Path) -> None:
    root = tmp_path / "roots"
    (root / "a").mkdir(parents=True)
    fleet.store.settings.set("agents.folder_roots", [str(root)])
    fleet.store.database.execute("UPDATE agents SET group_config_status = 'synced'")
    agent = agents.set_agent(fleet, "web-1", folder=str(root / "a")).agent
    assert (agent.folder, agent.group_config_status) == (str(root / "a"), "not synced")
    assert agents.set_agent(fleet, "web-1", folder=str(root / "a")).agent.folder == str(root / "a")
    assert agents.set_agent(fleet, "web-1", folder="").agent.folder is None


def test_fields_are_changed_together_or_not_at_all(fleet: Context) -> None:
    changed = agents.set_agent(fleet, "web-1", name="Web-1", ip="10.0.0.9", groups=["pci", "web"])
    assert (changed.agent.name, changed.agent.register_ip, changed.agent.groups) == (
        "Web-1", "10.0.0.9", ("pci", "web"),
    )  # fmt: skip
    refused: list[dict[str, Any]] = [
        {"groups": ["nix"]},
        {"groups": []},
        {"ip": "10.0.0.2"},
        {"name": "db-1"},
    ]
    for wrong in refused:
        with pytest.raises(MgmtctlError):
            agents.set_agent(fleet, "001", **{"name": "other", **wrong})
    assert names(fleet) == ["Web-1", "web-2", "db-1"]


def test_setting_nothing_is_a_usage_error(fleet: Context) -> None:
    with pytest.raises(QuestionError):
        agents.set_agent(fleet, "web-1")


def test_agents_are_found_by_name_and_id(fleet: Context) -> None:
    found = agents.list_agents(fleet, ["db-1", "1", "002", "WEB-1"])
    assert [agent.id for agent in found.affected] == ["001", "002", "003"]


def test_unknown_agents_and_the_manager_are_failures_of_their_own(fleet: Context) -> None:
    found = agents.list_agents(fleet, ["nix", "077", "000", "001"])
    assert [agent.id for agent in found.affected] == ["001"]
    assert [(failure.error.code, failure.ids) for failure in found.failed] == [
        (1701, ("nix", "077")),
        (1703, ("000",)),
    ]


def test_agent_named_like_a_number_is_addressed_by_a_prefix(service: Context) -> None:
    agents.import_agents(service, "f.csv", b"name\n007\n")
    assert agents.list_agents(service, ["name:007"]).affected[0].id == "001"
    assert agents.list_agents(service, ["007"]).affected == []


def test_list_shows_and_counts_only_what_may_be_read(fleet: Context, actor_with: ActorWith) -> None:
    policy = {"actions": ["agent:read"], "resources": ["agent:group:web"], "effect": "allow"}
    reader = actor_with([policy])
    found = agents.list_agents(reader, query=ListQuery(limit=1))
    assert (len(found.affected), found.total, found.failed) == (1, 2, ())
    assert names(reader, where="name~db") == []
    assert names(reader, where="group!=pci") == ["web-1"]


def test_hidden_name_is_not_found_and_hidden_id_is_denied(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([READ_ONE])
    found = agents.list_agents(reader, ["db-1", "nix", "003", "099", "001"])
    assert [agent.id for agent in found.affected] == ["001"]
    assert [(failure.error.code, failure.ids) for failure in found.failed] == [
        (1701, ("db-1", "nix")), (4000, ("003", "099")),
    ]  # fmt: skip


def test_nobody_without_a_right_reads_a_key(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([READ_ONE])
    assert agents.show_key(reader, "001").id == "001"
    with pytest.raises(DeniedError):
        agents.show_key(reader, "003")
    with pytest.raises(NotFoundError):
        agents.show_key(reader, "db-1")


def test_key_is_neither_filter_nor_order_nor_search(fleet: Context) -> None:
    key = agents.show_key(fleet, "001").key
    assert names(fleet, search=key[:8]) == []
    for query in (ListQuery(where="key~a"), ListQuery(sort="key"), ListQuery(select=("key",))):
        with pytest.raises(QuestionError):
            agents.list_agents(fleet, query=query)


def test_delete_names_what_was_deleted_and_keeps_folders(fleet: Context, home: Path) -> None:
    folder = home / "agents" / "001"
    folder.mkdir(parents=True)
    deleted = agents.delete_agents(fleet, ["web-1", "001", "nix"])
    assert [agent.name for agent in deleted.affected] == ["web-1"]
    assert [(failure.error.code, failure.ids) for failure in deleted.failed] == [(1701, ("nix",))]
    assert folder.is_dir()
    assert names(fleet) == ["web-2", "db-1"]


def test_delete_without_agents_is_a_usage_error(fleet: Context) -> None:
    with pytest.raises(QuestionError):
        agents.delete_agents(fleet, None)
    assert len(names(fleet)) == 3


def test_delete_needs_its_right_on_each_agent(fleet: Context, actor_with: ActorWith) -> None:
    deleter = actor_with(
        [{"actions": ["agent:read", "agent:delete"], "resources": ["agent:group:pci"], "effect": "allow"}]
    )
    deleted = agents.delete_agents(deleter, ["001", "002"])
    assert ([agent.id for agent in deleted.affected], deleted.failed[0].ids) == (["002"], ("001",))


def test_purge_takes_away_what_was_put_there_and_nothing_else(fleet: Context, home: Path) -> None:
    from mgmtctl.operations import sync

    (home / "shared" / "web" / "rules.txt").write_bytes(b"x")
    sync.run_sync(fleet, ["001"])
    shared = home / "agents" / "001" / "shared"
    assert (shared / "rules.txt").read_bytes() == b"x"
    (home / "agents" / "001" / "local.conf").write_bytes(b"own")
    agents.delete_agents(fleet, ["001"], purge=True)
    assert [path.name for path in (home / "agents" / "001").rglob("*")] == ["local.conf"]


def test_right_to_create_is_needed(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([READ_ONE])
    with pytest.raises(DeniedError) as caught:
        agents.create_agent(reader, "new")
    assert (caught.value.code, caught.value.action) == (4000, "agent:create")


def test_creating_into_a_group_needs_the_right_on_it_and_default_does_not(
    fleet: Context, actor_with: ActorWith
) -> None:
    creator = actor_with([CREATE])
    assert agents.create_agent(creator, "new").agent.groups == ("default",)
    with pytest.raises(NotFoundError):
        agents.create_agent(creator, "newer", groups=["web"])


@pytest.mark.parametrize("operation", ["create", "import", "set", "groups", "add", "remove", "delete"])
def test_dry_run_changes_nothing(fleet: Context, operation: str, home: Path) -> None:
    before = agents.list_agents(fleet).affected
    fleet.dry_run = fleet.store.dry_run = True
    calls: dict[str, Callable[[], object]] = {
        "create": lambda: agents.create_agent(fleet, "new", groups=["web"]),
        "import": lambda: agents.import_agents(fleet, "f.csv", b"name\nnew\n"),
        "set": lambda: agents.set_agent(fleet, "001", name="other"),
        "groups": lambda: agents.set_agent_groups(fleet, "001", ["pci"]),
        "add": lambda: agents.add_agent_to_group(fleet, "001", "pci"),
        "remove": lambda: agents.remove_agent_from_group(fleet, "001", "web"),
        "delete": lambda: agents.delete_agents(fleet, ["001"], purge=True),
    }
    calls[operation]()
    assert agents.list_agents(fleet).affected == before
    fleet.dry_run = fleet.store.dry_run = False
    assert agents.create_agent(fleet, "next").agent.id == "004"
