"""What is gone from the disk: a group's folder, its agent.conf; what is said of it, and the way back."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl.domain.errors import ConflictError, NotFoundError
from mgmtctl.operations import group_files, groups, history, sync
from mgmtctl.operations.context import Context
from tests.operations.sync_fleet import GOOD, make_fleet, shared

LINE = "`web/agent.conf` of r1 is gone, its 2 agents lose what it said (mgmtctl files rollback web/agent.conf --to 1)"


@pytest.fixture
def fleet(service: Context) -> Context:
    """Agents 001 of default, 002 of default and web, 003 of web; synced."""
    make_fleet(service)
    sync.run_sync(service)
    return service


def folder(ctx: Context, group: str = "web") -> Path:
    return ctx.folders.agents.parent / "shared" / group


def losses(lines: tuple[str, ...]) -> list[str]:
    return [line for line in lines if "is gone" in line]


def said(ctx: Context) -> list[str]:
    return losses(sync.plan_sync(ctx).warnings)


def test_the_way_back_to_a_folder_that_is_gone_brings_its_files_back(fleet: Context) -> None:
    shutil.rmtree(folder(fleet))
    where = sync.explain_sync(fleet, "003").where
    commands = "mgmtctl groups create web, then mgmtctl files rollback web --to 1"
    assert where.stage.next_step == f"{commands}, then mgmtctl sync run 003"
    with pytest.raises(NotFoundError) as refused:
        history.rollback_files(fleet, "web", to="r1")
    assert refused.value.fix == commands
    assert groups.create_group(fleet, "web").earlier == 1
    history.rollback_files(fleet, "web", to="r1")
    assert (folder(fleet) / "agent.conf").read_bytes() == GOOD


def test_the_way_back_leads_to_what_agents_have(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "later.txt", b"no agent has this")
    shutil.rmtree(folder(fleet))
    (failure,) = sync.run_sync(fleet, ["003"]).failed
    assert failure.error.fix == "mgmtctl groups create web, then mgmtctl files rollback web --to 1"


def test_a_group_without_a_past_is_only_created(service: Context) -> None:
    assert groups.create_group(service, "new").earlier is None
    with pytest.raises(NotFoundError) as refused:
        history.rollback_files(service, "other", to="r1")
    assert refused.value.fix == "mgmtctl groups create other"


def test_an_agent_conf_that_is_gone_is_told_before_and_when_agents_lose_it(fleet: Context) -> None:
    (folder(fleet) / "agent.conf").unlink()
    assert said(fleet) == [LINE]
    assert losses(sync.run_sync(fleet, ["003"]).warnings) == [LINE]
    assert (shared(fleet, "003") / "merged.mg").is_file()
    assert said(fleet) == [LINE]  # 002 still has it
    assert losses(sync.run_sync(fleet).warnings) == [LINE]
    assert said(fleet) == []


def test_validate_warns_of_an_agent_conf_that_somebody_took_away(fleet: Context) -> None:
    (folder(fleet) / "agent.conf").unlink()
    (finding,) = group_files.validate_group_files(fleet, "web")
    assert (finding.rule, finding.severity, finding.path) == ("agent-conf-gone", "warning", "web/agent.conf")
    assert finding.suggestion == "mgmtctl files rollback web/agent.conf --to 1"
    sync.run_sync(fleet)
    assert [found.rule for found in group_files.validate_group_files(fleet, "web")] == ["agent-conf-gone"]


def test_one_that_a_command_removed_is_told_until_no_agent_has_it(fleet: Context) -> None:
    group_files.remove_file(fleet, "web", "agent.conf")
    assert [found.rule for found in group_files.validate_group_files(fleet, "web")] == ["agent-conf-gone"]
    sync.run_sync(fleet)
    assert group_files.validate_group_files(fleet, "web") == []


def test_one_that_is_back_is_not_told(fleet: Context) -> None:
    group_files.remove_file(fleet, "web", "agent.conf")
    group_files.put_file(fleet, "web", "agent.conf", GOOD)
    assert group_files.validate_group_files(fleet, "web") == []
    assert said(fleet) == []


def test_what_is_gone_is_not_told_of_groups_that_cannot_be_read(fleet: Context) -> None:
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.operations.sync_work import opened

    (folder(fleet) / "agent.conf").unlink()
    with opened(replace(fleet), keep=False) as run:
        run.targets.of("web")
        assert losses(tuple(run.targets.warnings(Scope(everything=False)))) == []
        assert "its agents lose" in losses(tuple(run.targets.warnings(Scope(everything=True))))[0]


def test_undoing_that_a_group_came_again_brings_its_last_files_back(fleet: Context) -> None:
    groups.delete_groups(fleet, ["web"])
    groups.create_group(fleet, "web")
    back = history.rollback_files(fleet, "web")
    assert (back.to, back.findings) == (1, ())
    assert (folder(fleet) / "agent.conf").read_bytes() == GOOD
    assert (folder(fleet) / "packs" / "a.conf").read_bytes() == b"a"


def test_undoing_that_a_folder_came_again_brings_one_file_back_too(fleet: Context) -> None:
    shutil.rmtree(folder(fleet))
    groups.create_group(fleet, "web")
    assert history.rollback_files(fleet, "web", "agent.conf").to == 1
    assert (folder(fleet) / "agent.conf").read_bytes() == GOOD


def test_going_back_to_no_agent_conf_is_told(fleet: Context) -> None:
    groups.delete_groups(fleet, ["web"])
    groups.create_group(fleet, "web")
    history.rollback_files(fleet, "web", to="1")
    (finding,) = history.rollback_files(fleet, "web", to="2").findings
    assert (finding.rule, finding.path) == ("agent-conf-gone", "web/agent.conf")
    assert finding.message == "r2 has no such file; agents get none from this group"


def test_an_empty_folder_is_not_in_the_way_of_a_file_that_comes_back(fleet: Context) -> None:
    path = folder(fleet) / "agent.conf"
    path.unlink()
    path.mkdir()
    assert history.rollback_files(fleet, "web").revision is not None
    assert path.read_bytes() == GOOD
    path.unlink()
    (path / "deeper").mkdir(parents=True)
    with pytest.raises(ConflictError) as refused:
        history.rollback_files(fleet, "web")
    assert (
        refused.value.problem == "`web/agent.conf` is in the way: a file on one side, a folder on the other"
    )
    assert refused.value.fix == "move away what stands there, then do it again"
    assert (path / "deeper").is_dir()
