"""Groups: create, list, delete, members; what a count tells to whom."""

from __future__ import annotations

import hashlib
import os
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
from mgmtctl.domain.policies import parse_policy
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import agents, groups
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith


def allow(action: str, resource: str) -> dict[str, Any]:
    return {"actions": [action], "resources": [resource], "effect": "allow"}


@pytest.fixture
def fleet(service: Context) -> Context:
    """001 in web, 002 in web and pci, 003 in default."""
    for group in ("web", "pci"):
        groups.create_group(service, group)
    for name, members in (("one", ["web"]), ("two", ["web", "pci"]), ("three", [])):
        agents.create_agent(service, name, groups=members)
    return service


def counts(ctx: Context, **query: Any) -> dict[str, int]:
    return {group.name: group.count for group in groups.list_groups(ctx, query=ListQuery(**query)).affected}


def test_new_group_has_a_folder_with_one_empty_block(service: Context, home: Path) -> None:
    group = groups.create_group(service, "web")
    content = (home / "shared" / "web" / "agent.conf").read_bytes()
    assert b"<agent_config>" in content
    assert group.record() == {"name": "web", "count": 0, "configSum": hashlib.sha256(content).hexdigest()}


@pytest.mark.parametrize(
    ("name", "kind", "code"),
    [
        pytest.param("web", ConflictError, 1711, id="exists"),
        pytest.param("default", ConflictError, 1711, id="default"),
        pytest.param("Default", ConflictError, 1711, id="default in another letter case"),
        pytest.param("ar.conf", ConflictError, 1713, id="the name of a file"),
        pytest.param("files.yml", ConflictError, 1713, id="the name of a file that may come"),
        pytest.param("all", InvalidError, 1722, id="the word for all"),
        pytest.param("../web", InvalidError, 1722, id="a path"),
        pytest.param(".web", InvalidError, 1722, id="a leading dot"),
        pytest.param("", InvalidError, 1722, id="nothing"),
        pytest.param("web\n", InvalidError, 1722, id="a trailing newline"),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
def test_group_is_refused(
    fleet: Context, home: Path, name: str, kind: type[MgmtctlError], code: int, dry_run: bool
) -> None:
    fleet.dry_run = fleet.store.dry_run = dry_run
    before = sorted((home / "shared").iterdir())
    with pytest.raises(kind) as caught:
        groups.create_group(fleet, name)
    assert caught.value.code == code
    assert sorted((home / "shared").iterdir()) == before


def test_dry_run_creates_and_deletes_nothing(fleet: Context) -> None:
    fleet.dry_run = fleet.store.dry_run = True
    assert groups.create_group(fleet, "db").record() == {"name": "db", "count": 0}
    assert [group.members for group in groups.delete_groups(fleet, ["web"]).affected] == [2]
    assert counts(fleet) == {"default": 1, "pci": 1, "web": 2}


def test_groups_are_listed_filtered_and_sorted(fleet: Context) -> None:
    assert counts(fleet) == {"default": 1, "pci": 1, "web": 2}
    assert counts(fleet, where="count>1") == {"web": 2}
    assert list(counts(fleet, sort="-count,name")) == ["web", "default", "pci"]
    assert counts(fleet, search="PC") == {"pci": 1}
    found = groups.list_groups(fleet, query=ListQuery(limit=1))
    assert (len(found.affected), found.total) == (1, 3)


def test_checksums_are_of_what_is_there(fleet: Context, home: Path) -> None:
    (home / "shared" / "web" / "merged.mg").write_bytes(b"#web\n")
    (home / "shared" / "pci" / "agent.conf").unlink()
    pci, web = groups.list_groups(fleet, ["web", "pci"], hash="md5").affected
    assert web.merged_sum == hashlib.md5(b"#web\n", usedforsecurity=False).hexdigest()
    assert pci.record() == {"name": "pci", "count": 1}


def test_unknown_checksum_is_refused(fleet: Context) -> None:
    with pytest.raises(QuestionError) as caught:
        groups.list_groups(fleet, hash="crc32")
    assert caught.value.code == 1723


def test_unknown_groups_are_failures_of_their_own(fleet: Context) -> None:
    found = groups.list_groups(fleet, ["web", "nix", "../etc"])
    assert [group.name for group in found.affected] == ["web"]
    assert [(failure.error.code, failure.ids) for failure in found.failed] == [(1710, ("nix", "../etc"))]


def test_list_is_limited_to_what_may_be_read(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([allow("group:read", "group:id:web"), allow("agent:read", "agent:id:001")])
    assert counts(reader) == {"web": 1}
    found = groups.list_groups(reader, ["web", "pci", "nix"])
    assert [failure.ids for failure in found.failed] == [("pci", "nix")]


def test_count_tells_nothing_to_who_may_read_no_agent(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([allow("group:read", "group:id:*")])
    assert counts(reader) == {"default": 0, "pci": 0, "web": 0}
    assert counts(reader, where="count>0") == {}


def test_members_are_those_that_may_be_read(fleet: Context, actor_with: ActorWith) -> None:
    assert [agent.id for agent in groups.list_group_agents(fleet, "web").affected] == ["001", "002"]
    reader = actor_with([allow("group:read", "group:id:web"), allow("agent:read", "agent:group:pci")])
    found = groups.list_group_agents(reader, "web")
    assert ([agent.id for agent in found.affected], found.total) == (["002"], 1)
    for group in ("pci", "nix"):
        with pytest.raises(NotFoundError):
            groups.list_group_agents(reader, group)


def test_members_of_a_group_that_does_not_exist(fleet: Context) -> None:
    with pytest.raises(NotFoundError) as caught:
        groups.list_group_agents(fleet, "nix")
    assert caught.value.code == 1710


def test_deleting_moves_members_and_takes_the_folder(fleet: Context, home: Path) -> None:
    fleet.store.database.execute("UPDATE agents SET group_config_status = 'synced'")
    (deleted,) = groups.delete_groups(fleet, ["web"]).affected
    assert deleted.record() == {"name": "web", "members": 2, "fallen": 1, "policies": []}
    found = agents.list_agents(fleet).affected
    assert [(agent.groups, agent.group_config_status) for agent in found] == [
        (("default",), "not synced"), (("pci",), "not synced"), (("default",), "synced"),
    ]  # fmt: skip
    assert not (home / "shared" / "web").exists()


def test_recreated_group_has_no_members(fleet: Context) -> None:
    groups.delete_groups(fleet, ["web"])
    assert groups.create_group(fleet, "web").count == 0
    assert counts(fleet)["web"] == 0


def test_default_and_unknown_groups_cannot_be_deleted(fleet: Context) -> None:
    done = groups.delete_groups(fleet, ["default", "nix", "pci"])
    assert [group.name for group in done.affected] == ["pci"]
    assert [(failure.error.code, failure.ids) for failure in done.failed] == [
        (1712, ("default",)),
        (1710, ("nix",)),
    ]


@pytest.mark.parametrize("resource", ["agent:group:web", "group:id:web"])
def test_group_that_policies_name_is_deleted_by_force_only(fleet: Context, resource: str) -> None:
    action = "agent:read" if resource.startswith("agent") else "group:read"
    fleet.store.policies.add("team_web", parse_policy(allow(action, resource), "team_web"))
    (failure,) = groups.delete_groups(fleet, ["web"]).failed
    assert isinstance(failure.error, ConflictError)
    assert failure.error.problem == "group `web` is named by policies: `team_web`"
    assert counts(fleet)["web"] == 2
    (deleted,) = groups.delete_groups(fleet, ["web"], force=True).affected
    assert deleted.policies == ("team_web",)
    assert "web" not in counts(fleet)


def test_policies_that_may_not_be_read_are_not_named(fleet: Context, actor_with: ActorWith) -> None:
    deleter = actor_with([allow("group:delete", "group:id:web"), allow("group:read", "group:id:web")])
    (failure,) = groups.delete_groups(deleter, ["web"]).failed
    assert failure.error.problem == "group `web` is named by policies"
    (deleted,) = groups.delete_groups(deleter, ["web"], force=True).affected
    assert (deleted.members, deleted.fallen, deleted.policies) == (0, 0, ())


def test_members_that_may_not_be_read_are_not_counted(fleet: Context, actor_with: ActorWith) -> None:
    deleter = actor_with([allow("group:delete", "group:id:*"), allow("agent:read", "agent:id:002")])
    (deleted,) = groups.delete_groups(deleter, ["web"], force=True).affected
    assert (deleted.members, deleted.fallen) == (1, 0)
    (deleted,) = groups.delete_groups(deleter, ["pci"], force=True).affected
    assert (deleted.members, deleted.fallen) == (1, 1)


def test_deleting_needs_its_right_and_nothing_on_members(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([allow("group:read", "group:id:web")], name="reader")
    with pytest.raises(DeniedError) as caught:
        groups.delete_groups(reader, ["web"])
    assert (caught.value.action, caught.value.resource) == ("group:delete", "group:id:web")
    deleter = actor_with([allow("group:delete", "group:id:*")], name="deleter")
    assert groups.delete_groups(deleter, ["web"], force=True).failed == ()


def test_delete_without_groups_is_a_usage_error(fleet: Context) -> None:
    with pytest.raises(QuestionError):
        groups.delete_groups(fleet, None)


def test_creating_needs_its_right(fleet: Context, actor_with: ActorWith) -> None:
    with pytest.raises(DeniedError):
        groups.create_group(actor_with([allow("group:read", "group:id:*")]), "db")


@pytest.mark.skipif(os.geteuid() == 0, reason="root is not stopped by modes")
def test_folder_that_cannot_be_deleted_leaves_memberships(fleet: Context, home: Path) -> None:
    (home / "shared").chmod(0o500)
    with pytest.raises(UnavailableError):
        groups.delete_groups(fleet, ["web"])
    (home / "shared").chmod(0o770)
    assert counts(fleet)["web"] == 2
