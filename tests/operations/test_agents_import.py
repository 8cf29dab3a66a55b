"""Importing a fleet: one transaction, every fault at once, ids, keys and rights."""

from __future__ import annotations

from pathlib import Path

import pytest

from mgmtctl.domain.errors import DeniedError, InvalidError, UnauthenticatedError
from mgmtctl.domain.scopes import EVERYTHING
from mgmtctl.operations import agents, groups
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith

CREATE = {"actions": ["agent:create"], "resources": ["*:*:*"], "effect": "allow"}


def allowed(group: str) -> dict[str, object]:
    return {"actions": ["group:modify_assignments"], "resources": [f"group:id:{group}"], "effect": "allow"}


@pytest.fixture
def fleet(service: Context) -> Context:
    """Groups web and pci, one agent 001 old from 10.0.0.1."""
    for group in ("web", "pci"):
        groups.create_group(service, group)
    agents.create_agent(service, "old", ip="10.0.0.1")
    return service


def places(error: InvalidError) -> list[str]:
    return [f"{finding.path}:{finding.line}:{finding.column} {finding.rule}" for finding in error.findings]


def test_rows_become_agents_in_order(fleet: Context) -> None:
    data = b'name,id,ip,groups\naa,,10.0.0.2,"web,pci"\nbb,50,any,\ncc,,,web\n'
    assert agents.import_agents(fleet, "f.csv", data).record() == {
        "imported": 3,
        "ids": ["051", "050", "052"],
    }
    found = agents.list_agents(fleet, ["aa", "bb", "cc"]).affected
    assert [(agent.name, agent.groups, agent.register_ip) for agent in found] == [
        ("bb", ("default",), "any"), ("aa", ("web", "pci"), "10.0.0.2"), ("cc", ("web",), "any"),
    ]  # fmt: skip
    keys = {agents.show_key(fleet, agent.id).key for agent in found}
    assert len(keys) == 3
    assert {len(key) for key in keys} == {64}
    assert agents.create_agent(fleet, "next").agent.id == "053"


def test_one_fault_refuses_the_whole_file_with_every_finding(fleet: Context) -> None:
    data = b"name,id,ip,groups\ngood,,,web\nOLD,,,\nx,,,\ndd,001,10.0.0.1,nix\n"
    with pytest.raises(InvalidError) as caught:
        agents.import_agents(fleet, "fleet.csv", data)
    assert places(caught.value) == [
        "fleet.csv:3:1 name-taken",
        "fleet.csv:4:1 name",
        "fleet.csv:5:4 id-taken",
        "fleet.csv:5:8 address-taken",
        "fleet.csv:5:17 groups",
    ]
    assert fleet.store.agents.ids(EVERYTHING) == ["001"]
    assert agents.create_agent(fleet, "next").agent.id == "002"


def test_group_that_is_hidden_is_a_group_that_does_not_exist(fleet: Context, actor_with: ActorWith) -> None:
    importer = actor_with([CREATE, allowed("web")])
    for group in ("pci", "nix"):
        with pytest.raises(InvalidError) as caught:
            agents.import_agents(importer, "f.csv", f"name,groups\naa,web\nbb,{group}\n".encode())
        assert [finding.message for finding in caught.value.findings] == [f"group `{group}` does not exist"]


def test_missing_right_on_a_group_refuses_the_file(fleet: Context, actor_with: ActorWith) -> None:
    read = {"actions": ["group:read"], "resources": ["group:id:*"], "effect": "allow"}
    importer = actor_with([CREATE, allowed("web"), read])
    with pytest.raises(DeniedError) as caught:
        agents.import_agents(importer, "f.csv", b'name,groups\naa,web\nbb,"web,pci"\n')
    assert (caught.value.action, caught.value.resource) == ("group:modify_assignments", "group:id:pci")
    assert fleet.store.agents.ids(EVERYTHING) == ["001"]
    assert agents.import_agents(importer, "f.csv", b"name,groups\naa,web\nbb,\n").ids == ("002", "003")


def test_right_to_create_is_needed(fleet: Context, actor_with: ActorWith, anonymous: Context) -> None:
    with pytest.raises(DeniedError):
        agents.import_agents(actor_with([allowed("web")]), "f.csv", b"name\naa\n")
    anonymous.actor = None
    with pytest.raises(UnauthenticatedError):
        agents.import_agents(anonymous, "f.csv", b"name\naa\n")


def test_folders_of_a_file_do_not_overlap(fleet: Context, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("roots")
    for name in ("a", "a/b", "c"):
        (root / name).mkdir()
    fleet.store.settings.set("agents.folder_roots", [str(root)])
    data = f"name,folder\naa,{root}/a\nbb,{root}/a/b\ncc,{root}/c\ndd,/etc\n".encode()
    with pytest.raises(InvalidError) as caught:
        agents.import_agents(fleet, "f.csv", data)
    assert places(caught.value) == ["f.csv:3:4 folder", "f.csv:5:4 folder"]


def test_keys_are_not_in_the_log(fleet: Context, home: Path) -> None:
    agents.import_agents(fleet, "f.csv", b"name\naa\n")
    key = agents.show_key(fleet, "aa").key
    created = agents.create_agent(fleet, "bb")
    written = b"".join(path.read_bytes() for path in (home / "log").iterdir())
    assert b"/agents/import" in written
    assert key.encode() not in written
    assert created.key.encode() not in written
