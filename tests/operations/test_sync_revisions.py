"""Which revisions an agent has and shall have: every view names the same, and all of its groups."""

from __future__ import annotations

from typing import Any

import pytest

from mgmtctl.operations import agents, group_files, history, sync
from mgmtctl.operations.context import Context
from tests.operations.sync_fleet import make_fleet


@pytest.fixture
def fleet(service: Context) -> Context:
    """Agents of default and web as last put: web is at its fourth revision, with the bytes of the second."""
    made = make_fleet(service)
    sync.run_sync(made)
    for content in (b"one", b"two"):
        group_files.put_file(made, "web", "a.txt", content)
        sync.run_sync(made)
    group_files.put_file(made, "web", "a.txt", b"one")
    return made


def why(ctx: Context, agent: str) -> str:
    (where,) = sync.sync_status(ctx, [agent]).affected
    assert sync.explain_sync(ctx, agent).where == where
    return where.stage.why


def planned(ctx: Context, agent: str) -> dict[str, int]:
    (total,) = sync.plan_sync(ctx, [agent]).totals
    return dict(total.revisions)


def head(ctx: Context, group: str) -> int:
    found = ctx.store.revisions.head(group)
    assert found is not None
    return found.number


def test_bytes_that_come_again_are_of_the_last_revision_that_has_them(fleet: Context) -> None:
    assert head(fleet, "web") == 4
    assert why(fleet, "003") == "has web r3; its groups give web r4"
    assert why(fleet, "002") == "has default r1, web r3; its groups give default r1, web r4"
    assert planned(fleet, "002") == sync.explain_sync(fleet, "002").gives == {"default": 1, "web": 4}
    sync.run_sync(fleet)
    assert sync.explain_sync(fleet, "003").where.has == {"web": 4}


def test_a_rollback_is_the_last_revision_to_who_never_left_its_bytes(fleet: Context) -> None:
    sync.run_sync(fleet)
    group_files.put_file(fleet, "web", "a.txt", b"three")
    history.rollback_files(fleet, "web", to="r4")
    explained = sync.explain_sync(fleet, "003")
    assert (explained.where.stage.name, explained.where.has, explained.gives) == (
        "synced",
        {"web": 6},
        {"web": 6},
    )
    assert explained.newer == ()


def test_what_was_changed_on_disk_has_no_revision_yet(fleet: Context) -> None:
    sync.run_sync(fleet)
    (fleet.folders.shared / "web" / "a.txt").write_bytes(b"by hand")
    assert why(fleet, "003") == "has web r4; web changed on disk since r4"
    assert why(fleet, "002") == "has default r1, web r4; web changed on disk since r4"
    record: dict[str, Any] = sync.explain_sync(fleet, "002").record()
    assert (record["gives"], record["changed_on_disk"]) == ({"default": 1}, {"web": 4})
    sync.run_sync(fleet)
    assert sync.explain_sync(fleet, "003").where.has == {"web": 5}


def test_what_was_brought_back_on_disk_is_the_revision_it_was(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "a.txt").write_bytes(b"two")
    assert sync.explain_sync(fleet, "003").where.stage.name == "synced"


def test_other_groups_are_named(fleet: Context) -> None:
    sync.run_sync(fleet)
    agents.add_agent_to_group(fleet, "001", "web")
    assert why(fleet, "001") == ("has default r1; groups changed: + web; its groups give default r1, web r4")
    agents.remove_agent_from_group(fleet, "002", "default")
    assert why(fleet, "002") == "has default r1, web r4; groups changed: - default"
