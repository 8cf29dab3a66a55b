"""Files of a group through the operations: what is refused, what is stored, who may, whose status changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mgmtctl.domain.errors import DeniedError, InvalidError, NotFoundError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import conf_checks, group_files, sync
from mgmtctl.operations.context import Context
from mgmtctl.store.agents import NewAgent
from tests.operations.conftest import ActorWith

GOOD = b"<agent_config>\n</agent_config>\n"
BAD = b"<agent_config>\n  <no_such_section/>\n</agent_config>\n"


@pytest.fixture
def fleet(service: Context) -> Context:
    """Group web, agents 001 of default and 002 of web, both synced."""
    service.folders.create_group("web")
    with service.store.atomic():
        for number, group in ((1, "default"), (2, "web")):
            service.store.agents.claim(1)
            service.store.agents.add([NewAgent(number, f"agent{number}", "any", "k" * 64, group)], 0)
    sync.run_sync(service)
    return service


def statuses(ctx: Context) -> list[str]:
    return [row[0] for row in ctx.store.database.rows("SELECT group_config_status FROM agents ORDER BY id")]


def test_a_file_comes_back_byte_for_byte(fleet: Context) -> None:
    data = "é \r\n\ufeff".encode() + b"\xff no end"
    change = group_files.put_file(fleet, "web", "packs/a.txt", data)
    assert (change.change, change.size, change.agents) == ("created", len(data), 1)
    assert group_files.show_file(fleet, "web", "packs/a.txt").content == data


def test_putting_a_file_makes_the_agents_of_the_group_not_synced(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "a.txt", b"1")
    assert statuses(fleet) == ["synced", "not synced"]
    sync.run_sync(fleet)
    assert statuses(fleet) == ["synced", "synced"]
    group_files.remove_file(fleet, "web", "a.txt")
    assert statuses(fleet) == ["synced", "not synced"]


def test_putting_the_same_bytes_again_changes_nothing(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "a.txt", b"1")
    sync.run_sync(fleet)
    assert group_files.put_file(fleet, "web", "a.txt", b"1").change == "unchanged"
    assert statuses(fleet) == ["synced", "synced"]
    assert group_files.put_file(fleet, "web", "a.txt", b"2").change == "updated"


def test_a_dry_run_writes_nothing(fleet: Context) -> None:
    fleet.store.dry_run = True
    dry = replace(fleet, dry_run=True)
    assert group_files.put_file(dry, "web", "a.txt", b"1").change == "created"
    assert group_files.remove_file(dry, "web", "agent.conf").change == "removed"
    assert statuses(fleet) == ["synced", "synced"]
    assert sorted(info.name for info in fleet.folders.list_files("web")) == ["agent.conf", "merged.mg"]


def test_a_wrong_agent_conf_never_enters(fleet: Context) -> None:
    before = group_files.show_file(fleet, "web", "agent.conf").content
    with pytest.raises(InvalidError) as caught:
        group_files.put_file(fleet, "web", "agent.conf", BAD, source="./mine.conf")
    (finding,) = caught.value.findings
    assert (finding.path, finding.line, finding.column) == ("./mine.conf", 2, 3)
    assert group_files.show_file(fleet, "web", "agent.conf").content == before
    assert statuses(fleet) == ["synced", "synced"]


@pytest.mark.parametrize("data", [b"", b"no tags at all", b"<ossec_config></ossec_config>"])
def test_a_document_without_agent_config_never_enters(fleet: Context, data: bytes) -> None:
    with pytest.raises(InvalidError) as caught:
        group_files.put_file(fleet, "web", "agent.conf", data)
    assert caught.value.findings


def test_what_looks_wrong_in_another_file_is_not_our_business(fleet: Context) -> None:
    assert group_files.put_file(fleet, "web", "other.conf", BAD).change == "created"


def test_an_agent_conf_in_a_sub_folder_is_checked_too(fleet: Context) -> None:
    with pytest.raises(InvalidError) as caught:
        group_files.put_file(fleet, "web", "packs/agent.conf", BAD)
    assert [finding.path for finding in caught.value.findings] == ["web/packs/agent.conf"]


def test_a_nul_is_refused_with_its_line(fleet: Context) -> None:
    with pytest.raises(InvalidError) as caught:
        group_files.put_file(fleet, "web", "a.txt", b"one\ntwo\0")
    assert caught.value.problem.startswith("web/a.txt:2: a NUL byte")


def test_a_file_that_is_too_large_is_refused_with_both_sizes(fleet: Context) -> None:
    limit = conf_checks.LARGEST_FILE
    assert group_files.put_file(fleet, "web", "a.txt", b"x" * limit).size == limit
    with pytest.raises(InvalidError) as caught:
        group_files.put_file(fleet, "web", "a.txt", b"x" * (limit + 1))
    assert str(limit) in caught.value.problem
    assert str(limit + 1) in caught.value.problem


@pytest.mark.parametrize(
    "name", ["merged.mg", "merged.mg.bak", ".x", "../default/agent.conf", "Agent.conf", "a/"]
)
def test_a_bad_name_never_enters(fleet: Context, name: str) -> None:
    with pytest.raises(InvalidError):
        group_files.put_file(fleet, "web", name, GOOD)
    assert sorted(info.name for info in fleet.folders.list_files("web")) == ["agent.conf", "merged.mg"]


def test_a_group_may_have_an_ar_conf_of_its_own(fleet: Context) -> None:
    fleet.folders.write_ar_conf(b"common")
    assert group_files.show_file(fleet, "web", "ar.conf").content == b"common"
    group_files.put_file(fleet, "web", "ar.conf", b"of web")
    assert group_files.show_file(fleet, "web", "ar.conf").content == b"of web"
    sync.run_sync(fleet)
    assert (fleet.folders.agents / "002" / "shared" / "ar.conf").read_bytes() == b"of web"
    assert (fleet.folders.agents / "001" / "shared" / "ar.conf").read_bytes() == b"common"


def test_a_listing_says_which_files_agents_get(fleet: Context) -> None:
    group = fleet.folders.shared / "web"
    (group / "bin").write_bytes(b"a\0b")
    (group / ".swp").write_bytes(b"x")
    (group / "link").symlink_to("agent.conf")
    (group / "AGENT.CONF").write_bytes(b"x")
    found = {row.name: row for row in group_files.list_files(fleet, "web").affected}
    assert {name: row.why_not is None for name, row in found.items()} == {
        ".swp": False,
        "AGENT.CONF": False,
        "agent.conf": True,
        "bin": False,
        "link": False,
        "merged.mg": False,
    }
    assert found["link"].why_not == "it is a symlink"
    assert found["bin"].why_not == "it holds a NUL byte, which agents cannot receive"
    assert found["agent.conf"].sha256 == group_files.show_file(fleet, "web", "agent.conf").record()["sha256"]


def test_a_listing_can_be_asked(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "a.txt", b"12345")
    found = group_files.list_files(fleet, "web", ListQuery(where="size=5"))
    assert [row.name for row in found.affected] == ["a.txt"]
    found = group_files.list_files(fleet, "web", ListQuery(sort="-name", limit=1))
    assert ([row.name for row in found.affected], found.total) == (["merged.mg"], 3)


def test_validation_finds_what_others_have_written(fleet: Context) -> None:
    assert group_files.validate_group_files(fleet, "web") == []
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    (fleet.folders.shared / "web" / "bin").write_bytes(b"\0")
    (fleet.folders.shared / "web" / "link").symlink_to("agent.conf")
    found = [(finding.path, finding.severity) for finding in group_files.validate_group_files(fleet, "web")]
    assert found == [("web/agent.conf", "error"), ("web/bin", "warning"), ("web/link", "warning")]
    assert group_files.validate_group_files(fleet, "web", "bin")[0].path == "web/bin"


def test_what_is_not_there_is_not_found(fleet: Context) -> None:
    for call in (
        lambda: group_files.list_files(fleet, "nothing"),
        lambda: group_files.put_file(fleet, "nothing", "a.txt", b"x"),
        lambda: group_files.show_file(fleet, "web", "nothing"),
        lambda: group_files.remove_file(fleet, "web", "nothing"),
        lambda: group_files.validate_group_files(fleet, "web", "nothing"),
    ):
        with pytest.raises(NotFoundError):
            call()


def test_putting_over_a_planted_symlink_replaces_it(fleet: Context) -> None:
    path = fleet.folders.shared / "web" / "a.txt"
    path.symlink_to(fleet.folders.shared / "ar.conf")
    assert group_files.put_file(fleet, "web", "a.txt", b"mine").change == "created"
    assert not path.is_symlink()
    assert fleet.folders.ar_conf() == b""


READER = {"actions": ["group:read"], "resources": ["group:id:web"], "effect": "allow"}
WRITER = {"actions": ["group:read", "group:update_config"], "resources": ["group:id:web"], "effect": "allow"}


def test_a_reader_reads_and_writes_nothing(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([READER])
    assert group_files.show_file(reader, "web", "agent.conf").content
    assert group_files.list_files(reader, "web").affected
    with pytest.raises(DeniedError):
        group_files.put_file(reader, "web", "a.txt", b"x")
    with pytest.raises(DeniedError):
        group_files.remove_file(reader, "web", "agent.conf")


@pytest.mark.parametrize("group", ["default", "nothing"])
def test_a_group_one_may_not_read_is_not_found_whether_it_exists_or_not(
    fleet: Context, actor_with: ActorWith, group: str
) -> None:
    reader = actor_with([READER])
    for call in (
        lambda: group_files.list_files(reader, group),
        lambda: group_files.show_file(reader, group, "agent.conf"),
        lambda: group_files.put_file(reader, group, "a.txt", b"x"),
    ):
        with pytest.raises(NotFoundError) as caught:
            call()
        assert caught.value.problem == f"group `{group}` does not exist"


def test_a_writer_is_not_told_of_agents_he_may_not_read(fleet: Context, actor_with: ActorWith) -> None:
    writer = actor_with([WRITER])
    assert group_files.put_file(writer, "web", "a.txt", b"x").agents == 0
    assert statuses(fleet) == ["synced", "not synced"]
