"""Facts about the check of an agent.conf at every door: for the agents of the group, and with accepted errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from mgmtctl.domain.errors import InvalidError, NotFoundError, QuestionError
from mgmtctl.domain.findings import Finding
from mgmtctl.operations import agents, group_files, groups, sync
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import BAD, GOOD, add, shared, stage

NEW = b'<agent_config>\n  <wodle name="syscollector">\n    <users>yes</users>\n  </wodle>\n</agent_config>\n'
FOR_WEB = b'<agent_config profile="web">' + NEW.partition(b">")[2]
UNREADABLE = b"<agent_config>\n  <no_such_section/>\n"
RISK = ("no-validate",)


@pytest.fixture
def fleet(service: Context) -> Context:
    """Group web with agent 001, synced; agent 002 in default."""
    service.folders.create_group("web")
    add(service, "web")
    add(service, "default")
    sync.run_sync(service)
    return service


def reports(ctx: Context, agent: str, version: str, platform: str = "ubuntu") -> None:
    """What a keepalive of the agent would record; nothing that was checked before is distrusted."""
    with ctx.store.atomic():
        ctx.store.database.execute(
            "UPDATE agents SET version = ?, os_platform = ?, os_name = ?, os_uname = ? WHERE id = ?",
            (f"Agent v{version}", platform, platform, f"{platform} |host |1", int(agent)),
        )


def reader_of(ctx: Context, actor_with: ActorWith, *agents: str, name: str = "reader") -> Context:
    """Somebody who may change and read group web, and read these agents."""
    return actor_with(
        [
            {
                "actions": ["group:read", "group:update_config"],
                "resources": ["group:id:web"],
                "effect": "allow",
            },
            {
                "actions": ["agent:read", "agent:reconnect"],
                "resources": [f"agent:id:{agent}" for agent in agents],
                "effect": "allow",
            },
        ],
        name=name,
    )


def because(ctx: Context, reason: str = "they are upgraded today") -> Context:
    return replace(ctx, reason=reason)


def rules(findings: list[Finding] | tuple[Finding, ...]) -> list[str]:
    return [finding.rule for finding in findings]


def test_put_refuses_what_an_agent_of_the_group_is_too_old_for(fleet: Context) -> None:
    reports(fleet, "001", "4.9.2")
    with pytest.raises(InvalidError) as caught:
        group_files.put_file(fleet, "web", "agent.conf", NEW)
    (finding,) = caught.value.findings
    assert (finding.rule, finding.line) == ("too-new", 3)
    assert "; 1 agent of the group is older (001): " in finding.message
    assert rules(group_files.put_file(fleet, "default", "agent.conf", NEW).findings) == ["needs-release"]


def test_a_document_is_judged_for_the_agents_of_a_group_without_being_put(fleet: Context) -> None:
    reports(fleet, "001", "4.9.2")
    before = group_files.show_file(fleet, "web", "agent.conf").content
    (finding,) = group_files.validate_document(fleet, "web", NEW, source="./mine.conf")
    assert (finding.path, finding.rule) == ("./mine.conf", "too-new")
    assert rules(group_files.validate_document(fleet, "default", NEW)) == ["needs-release"]
    assert group_files.show_file(fleet, "web", "agent.conf").content == before
    with pytest.raises(NotFoundError):
        group_files.validate_document(fleet, "nowhere", NEW)


def test_profiles_come_from_what_the_agent_left_in_its_folder(fleet: Context) -> None:
    reports(fleet, "001", "4.9.2")
    assert rules(group_files.validate_document(fleet, "web", FOR_WEB)) == ["no-known-profile", "too-new"]
    local = fleet.folders.agents / "001" / "local.conf"
    local.write_text("<x><client><config-profile>db, ubuntu</config-profile></client></x>")
    assert rules(group_files.validate_document(fleet, "web", FOR_WEB)) == ["no-agent-matches"]
    local.write_text("<x><client><config-profile>db, web</config-profile></client></x>")
    assert rules(group_files.validate_document(fleet, "web", FOR_WEB)) == ["too-new"]


def test_agents_that_may_not_be_read_are_neither_named_nor_counted(
    fleet: Context, actor_with: ActorWith
) -> None:
    second = add(fleet, "web")
    for agent in ("001", second):
        reports(fleet, agent, "4.9.2")
    nobodys = reader_of(fleet, actor_with, "999")
    assert rules(group_files.validate_document(nobodys, "web", NEW)) == ["needs-release"]
    one = reader_of(fleet, actor_with, "001", name="other")
    (finding,) = group_files.validate_document(one, "web", NEW)
    assert "; 1 agent of the group is older (001): " in finding.message
    assert rules(group_files.validate_document(one, "web", b'<agent_config name="agent3"/>')) == [
        "no-agent-matches"
    ]


def test_the_documents_of_a_group_are_judged_for_who_may_read_it(
    fleet: Context, actor_with: ActorWith
) -> None:
    stranger = actor_with([], name="stranger", roles=["users_admin"])
    with pytest.raises(NotFoundError):
        group_files.validate_document(stranger, "web", NEW)


def test_a_push_rests_on_all_agents_and_names_none(fleet: Context, actor_with: ActorWith) -> None:
    second = add(fleet, "web")
    reports(fleet, second, "4.9.2")
    writer = reader_of(fleet, actor_with, "001")
    assert group_files.put_file(writer, "web", "agent.conf", NEW).change == "updated"
    report = sync.run_sync(writer, ["001"])
    (failure,) = report.failed
    assert failure.ids == ("001",)
    (finding,) = failure.error.findings  # type: ignore[attr-defined]
    assert finding.message.startswith("`users` needs 4.14.0; agents of the group are older: ")
    assert second not in finding.text()
    assert (shared(fleet, "001") / "agent.conf").read_bytes() != NEW


def test_accepted_errors_are_put_pushed_and_told_with_who_and_why(fleet: Context) -> None:
    reports(fleet, "001", "4.9.2")
    change = group_files.put_file(because(fleet), "web", "agent.conf", NEW, accept_risk=RISK)
    assert change.change == "updated"
    (finding,) = change.findings
    assert finding.severity == "warning"
    assert finding.message.endswith("(accepted by `admin`: they are upgraded today)")
    report = sync.run_sync(fleet)
    assert (shared(fleet, "001") / "agent.conf").read_bytes() == NEW
    line = "`web/agent.conf` is sent with errors, accepted by `admin`: they are upgraded today"
    assert line in report.warnings
    assert line in sync.run_sync(fleet).warnings
    assert line in sync.plan_sync(fleet).warnings
    assert group_files.validate_group_files(fleet, "web") == [finding]


def test_an_acceptance_is_of_exactly_these_bytes(fleet: Context) -> None:
    reports(fleet, "001", "4.9.2")
    group_files.put_file(because(fleet), "web", "agent.conf", NEW, accept_risk=RISK)
    with pytest.raises(InvalidError):
        group_files.put_file(fleet, "web", "agent.conf", NEW + b"\n")
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(NEW + b"\n")
    report = sync.run_sync(fleet)
    assert [failure.ids for failure in report.failed] == [("001",)]
    assert not any("accepted" in line for line in report.warnings)
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(NEW)
    assert not sync.run_sync(fleet).failed


def test_an_acceptance_goes_with_its_group(fleet: Context) -> None:
    reports(fleet, "001", "4.9.2")
    group_files.put_file(because(fleet), "web", "agent.conf", NEW, accept_risk=RISK)
    tried = replace(fleet, dry_run=True)
    fleet.store.dry_run = True
    groups.delete_groups(tried, ["web"])
    fleet.store.dry_run = False
    assert fleet.store.accepted.groups() == {"web"}
    groups.delete_groups(fleet, ["web"])
    assert fleet.store.accepted.groups() == set()
    groups.create_group(fleet, "web")
    agents.set_agent_groups(fleet, "001", ["web"])
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(NEW)
    assert [failure.ids for failure in sync.run_sync(fleet).failed] == [("001",)]


def test_an_acceptance_is_of_that_group(fleet: Context) -> None:
    for agent in ("001", "002"):
        reports(fleet, agent, "4.9.2")
    group_files.put_file(because(fleet), "web", "agent.conf", NEW, accept_risk=RISK)
    with pytest.raises(InvalidError):
        group_files.put_file(fleet, "default", "agent.conf", NEW)


def test_errors_of_another_kind_were_not_accepted(fleet: Context) -> None:
    group_files.put_file(because(fleet), "web", "agent.conf", BAD, accept_risk=RISK)
    assert not sync.run_sync(fleet).failed
    both = BAD.replace(b"<no_such_section/>", b'<wodle name="syscollector"><users>yes</users></wodle><x/>')
    group_files.put_file(because(fleet), "web", "agent.conf", both, accept_risk=RISK)
    assert not sync.run_sync(fleet).failed
    reports(fleet, "001", "4.9.2")
    with fleet.store.atomic():
        fleet.store.accepted.distrust(["web"])
    assert [failure.ids for failure in sync.run_sync(fleet).failed] == [("001",)]
    found = group_files.validate_group_files(fleet, "web")
    assert [(finding.rule, finding.severity) for finding in found] == [
        ("too-new", "error"),
        ("unknown-section", "error"),
    ]


def test_bytes_that_are_there_already_can_be_accepted(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    assert stage(fleet, "001") == "blocked"
    change = group_files.put_file(because(fleet), "web", "agent.conf", BAD, accept_risk=RISK)
    assert change.change == "unchanged"
    assert not sync.run_sync(fleet).failed
    assert (shared(fleet, "001") / "agent.conf").read_bytes() == BAD


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(UNREADABLE, id="an element that does not end"),
        pytest.param(b"", id="not a byte"),
        pytest.param(b"only text\n", id="no block"),
        pytest.param(b"<agent_config>\0</agent_config>", id="a NUL byte"),
    ],
)
def test_what_cannot_be_read_cannot_be_accepted(fleet: Context, data: bytes) -> None:
    with pytest.raises(InvalidError):
        group_files.put_file(because(fleet), "web", "agent.conf", data, accept_risk=RISK)
    assert fleet.store.accepted.groups() == set()


@pytest.mark.parametrize("reason", [None, "", "  \n "])
def test_accepting_needs_a_reason(fleet: Context, reason: str | None) -> None:
    with pytest.raises(QuestionError, match="needs a reason"):
        group_files.put_file(replace(fleet, reason=reason), "web", "agent.conf", BAD, accept_risk=RISK)


def test_nothing_is_accepted_where_nothing_is_wrong_or_in_a_dry_run(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "agent.conf", GOOD, accept_risk=RISK)
    fleet.store.dry_run = True
    dry = replace(because(fleet), dry_run=True)
    assert group_files.put_file(dry, "web", "agent.conf", BAD, accept_risk=RISK).change == "updated"
    assert fleet.store.accepted.groups() == set()


def test_a_reason_stays_one_line(fleet: Context) -> None:
    ctx = because(fleet, "a\nerror: \x1b[31mforged\t" + "x" * 5000)
    change = group_files.put_file(ctx, "web", "agent.conf", BAD, accept_risk=RISK)
    (found,) = fleet.store.accepted.of_group("web")
    assert "\n" not in found.reason
    assert len(found.reason) <= 1000
    assert all(finding.text().isprintable() for finding in change.findings)
    assert all(line.isprintable() for line in sync.run_sync(fleet).warnings)


def test_an_agent_conf_in_a_sub_folder_blocks_its_group(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "packs").mkdir()
    (fleet.folders.shared / "web" / "packs" / "agent.conf").write_bytes(BAD)
    (failure,) = sync.run_sync(fleet).failed
    assert failure.ids == ("001",)
    assert "web/packs/agent.conf" in failure.error.problem
    (finding,) = group_files.validate_group_files(fleet, "web")
    assert finding.path == "web/packs/agent.conf"


def test_one_that_is_never_sent_blocks_nobody(fleet: Context) -> None:
    (fleet.folders.shared / "web" / ".old").mkdir()
    (fleet.folders.shared / "web" / ".old" / "agent.conf").write_bytes(BAD)
    assert not sync.run_sync(fleet).failed


def joins(ctx: Context, agent: str) -> None:
    agents.add_agent_to_group(ctx, agent, "web")


def is_given(ctx: Context, agent: str) -> None:
    agents.set_agent_groups(ctx, agent, ["web"])


def falls_back(ctx: Context, agent: str) -> None:
    groups.delete_groups(ctx, ["old"], force=True)


@pytest.mark.parametrize(
    ("before", "comes", "group"),
    [
        pytest.param(("default",), joins, "web", id="added to the group"),
        pytest.param(("default",), is_given, "web", id="given the group"),
        pytest.param(("old",), falls_back, "default", id="its group was deleted"),
    ],
)
def test_what_was_checked_is_checked_again_for_an_agent_that_comes(
    fleet: Context, before: tuple[str, ...], comes: Callable[[Context, str], None], group: str
) -> None:
    fleet.folders.create_group("old")
    newcomer = add(fleet, *before)
    reports(fleet, newcomer, "4.9.2")
    stays = {"web": "001", "default": "002"}[group]
    reports(fleet, stays, "4.14.0")
    if group == "default":
        (fleet.folders.shared / "old" / "agent.conf").write_bytes(GOOD)
    group_files.put_file(fleet, group, "agent.conf", NEW) if before != (group,) else None
    sync.run_sync(fleet)
    assert stage(fleet, stays) == "synced"
    comes(fleet, newcomer)
    assert {newcomer, stays} <= {agent for failure in sync.run_sync(fleet).failed for agent in failure.ids}


def test_a_new_name_is_checked_again(fleet: Context) -> None:
    reports(fleet, "001", "4.9.2")
    named = b'<agent_config name="^old$">' + NEW.partition(b">")[2]
    group_files.put_file(fleet, "web", "agent.conf", named)
    assert not sync.run_sync(fleet).failed
    agents.set_agent(fleet, "001", name="old")
    assert [failure.ids for failure in sync.run_sync(fleet).failed] == [("001",)]


def test_a_check_is_not_repeated_while_nothing_changed(fleet: Context) -> None:
    signature = "SELECT signature FROM merged_files WHERE groups = 'web'"
    before = fleet.store.database.value(signature)
    assert before
    agents.add_agent_to_group(fleet, "001", "web")
    assert fleet.store.database.value(signature) == before
    with fleet.store.atomic():
        fleet.store.accepted.distrust(["we", "eb", "web_"])
    assert fleet.store.database.value(signature) == before


def test_a_large_document_is_judged(fleet: Context) -> None:
    line = b"<localfile><location>/var/log/x</location><log_format>syslog</log_format></localfile>\n"
    data = b"<agent_config>\n" + line * (1_000_000 // len(line)) + b"</agent_config>\n"
    assert isinstance(group_files.validate_document(fleet, "web", data), list)
