"""What an agent really gets, on a real service: rights, secrets, its own files, what is pending, its shared files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.domain.errors import DeniedError, NotFoundError, QuestionError
from mgmtctl.operations import agent_config, sync
from mgmtctl.operations.agent_config import AgentConfig
from mgmtctl.operations.context import Context
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import BAD, add

DEFAULT = b"<agent_config>\n<syscheck><frequency>43200</frequency></syscheck>\n</agent_config>\n"
WEB = (
    b"<agent_config>\n<syscheck><frequency>3600</frequency></syscheck>\n"
    b"<fluent-forward><tag>t</tag><socket_path>/s</socket_path><password>hunter2</password></fluent-forward>\n"
    b"</agent_config>\n"
)
LOCAL = b"""<r>
<client><config-profile>pci</config-profile></client>
<fluent-forward><password>localsecret</password></fluent-forward>
<mystery><my_token>localsecret</my_token></mystery><!-- localsecret -->
</r>
"""


@pytest.fixture
def fleet(service: Context) -> Context:
    """001 in default and web, 002 in default; nothing is pushed yet."""
    service.folders.create_group("web")
    service.folders.write_file("default", "agent.conf", DEFAULT)
    service.folders.write_file("web", "agent.conf", WEB)
    add(service, "default", "web")
    add(service, "default")
    return service


def leave(ctx: Context, agent: str, name: str, data: bytes) -> Path:
    """Put a file into the agent's folder, as the agent would."""
    path = Path(ctx.folders.agents) / agent / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def values(found: AgentConfig) -> dict[str, str]:
    return {value.path: value.value for value in found.effective.values}


def test_the_groups_count_in_order_and_say_where_each_value_stands(fleet: Context) -> None:
    found = agent_config.show_config(fleet, "001")
    frequency = found.effective.values[0]
    assert (frequency.value, frequency.origin.text()) == ("3600", "web/agent.conf:2")
    assert [over.origin.text() for over in frequency.over] == ["default/agent.conf:2"]
    assert [(one.group, one.why) for one in found.memberships] == [("default", "by hand"), ("web", "by hand")]
    assert found.record()["values"][0]["origin"]["group"] == "web"


def test_the_order_of_the_groups_decides(fleet: Context) -> None:
    with fleet.store.atomic():
        fleet.store.agents.set_groups(["001"], ("web", "default"))
    assert values(agent_config.show_config(fleet, "001"))["syscheck.frequency"] == "43200"


def test_the_own_files_of_the_agent_are_read(fleet: Context) -> None:
    leave(fleet, "001", "local.conf", LOCAL)
    fleet.folders.write_file(
        "web", "agent.conf", WEB.replace(b"<agent_config>", b'<agent_config profile="pci">')
    )
    found = agent_config.show_config(fleet, "001")
    assert values(found)["client.config-profile"] == "pci"
    assert [block.verdict for block in found.effective.blocks] == ["yes", "yes"]
    assert [part.where for part in found.source] == [
        "local.conf:1",
        "default/agent.conf:1",
        "web/agent.conf:1",
    ]


def test_remote_conf_0_leaves_only_what_the_agent_says_itself(fleet: Context) -> None:
    leave(fleet, "001", "local.conf", LOCAL)
    leave(fleet, "001", "local_internal_options.conf", b"agent.remote_conf=0\n")
    found = agent_config.show_config(fleet, "001")
    assert set(values(found)) == {"client.config-profile", "fluent-forward.password"}
    assert [part.where for part in found.source] == ["local.conf:1"]


def plant_symlink(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(_secret_file(path))


def plant_hard_link(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    os.link(_secret_file(path), path)


def plant_fifo(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)


def _secret_file(path: Path) -> Path:
    target = path.parent.parent / "elsewhere"
    target.write_bytes(LOCAL)
    return target


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(plant_symlink, id="a symlink"),
        pytest.param(plant_hard_link, id="a hard link"),
        pytest.param(plant_fifo, id="a pipe, which is not waited for"),
        pytest.param(lambda path: leave_large(path), id="more than 1 MiB"),
    ],
)
def test_what_is_no_plain_file_of_the_agent_is_not_read(
    fleet: Context, plant: Callable[[Path], None]
) -> None:
    plant(Path(fleet.folders.agents) / "001" / "local.conf")
    found = agent_config.show_config(fleet, "001")
    assert "client.config-profile" not in values(found)


def leave_large(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(LOCAL + b" " * (1 << 20))


def allow(action: str, *resources: str) -> dict[str, Any]:
    return {"actions": [action], "resources": list(resources), "effect": "allow"}


READS_ALL = (allow("agent:read", "agent:id:*"), allow("group:read", "group:id:*"))
ASKED: dict[str, Callable[[Context], object]] = {
    "config": lambda ctx: agent_config.show_config(ctx, "001"),
    "value": lambda ctx: agent_config.show_config_value(ctx, "001", "syscheck"),
    "diff": lambda ctx: agent_config.diff_config(ctx, "001", "002"),
    "diff, the other side": lambda ctx: agent_config.diff_config(ctx, "002", "001"),
    "files": lambda ctx: agent_config.list_agent_files(ctx, "001"),
}
CALLS = [pytest.param(call, id=name) for name, call in ASKED.items()]


@pytest.mark.parametrize("call", CALLS)
def test_it_takes_the_right_on_every_group(
    fleet: Context, actor_with: ActorWith, call: Callable[[Context], object]
) -> None:
    caller = actor_with([allow("agent:read", "agent:id:*"), allow("group:read", "group:id:default")])
    with pytest.raises(DeniedError) as refused:
        call(caller)
    assert (refused.value.action, refused.value.resource) == ("group:read", "group:id:web")


@pytest.mark.parametrize("call", CALLS)
def test_it_takes_the_right_on_the_agent(
    fleet: Context, actor_with: ActorWith, call: Callable[[Context], object]
) -> None:
    with pytest.raises(DeniedError):
        call(actor_with([allow("group:read", "group:id:*"), allow("agent:read", "agent:id:9")]))


def test_secrets_are_masked_without_the_right_to_change_the_group(
    fleet: Context, actor_with: ActorWith
) -> None:
    leave(fleet, "001", "local.conf", LOCAL)
    for reader in (
        actor_with(READS_ALL),
        actor_with([*READS_ALL, allow("group:update_config", "group:id:default")], name="bob"),
    ):
        found = agent_config.show_config(reader, "001")
        assert values(found)["fluent-forward.password"] == "******"
        told = [
            found.record(),
            [part.text for part in found.source],
            agent_config.show_config_value(reader, "001", "fluent-forward.password").record(),
            agent_config.diff_config(reader, "001", "002").record(),
            agent_config.diff_config(reader, "002", "001").record(),
        ]
        assert "hunter2" not in str(told)
        assert "localsecret" not in str(told)


def test_secrets_of_a_group_are_shown_to_who_may_change_it_and_those_of_the_agent_are_not(
    fleet: Context, actor_with: ActorWith
) -> None:
    leave(fleet, "001", "local.conf", LOCAL)
    editor = actor_with([*READS_ALL, allow("group:update_config", "group:id:web")])
    found = agent_config.show_config(editor, "001")
    assert values(found)["fluent-forward.password"] == "hunter2"
    assert [over.value for value in found.effective.values for over in value.over if value.secret] == [
        "******"
    ]
    assert "localsecret" not in str((found.record(), [part.text for part in found.source]))
    every = agent_config.show_config(fleet, "001")
    assert "localsecret" in str(every.record())


def test_one_option_and_its_default(fleet: Context) -> None:
    answer = agent_config.show_config_value(fleet, "001", "syscheck.frequency").answer
    assert [value.value for value in answer.values] == ["3600"]
    assert agent_config.show_config_value(fleet, "001", "rootcheck.frequency").answer.default == "43200"
    with pytest.raises(QuestionError):
        agent_config.show_config_value(fleet, "001", "syscheck.nonsense")


def test_two_agents_differ_where_their_groups_do(fleet: Context) -> None:
    found = agent_config.diff_config(fleet, "002", "001").differences
    assert next((one.path, one.left and one.left.value, one.right and one.right.value) for one in found) == (
        "syscheck.frequency",
        "43200",
        "3600",
    )
    assert agent_config.diff_config(fleet, "001", "001").differences == ()


def test_an_agent_that_does_not_exist_is_not_found(fleet: Context) -> None:
    with pytest.raises(NotFoundError):
        agent_config.show_config(fleet, "099")


def test_what_is_not_in_use_yet_is_told_as_a_difference(fleet: Context) -> None:
    found = agent_config.show_config(fleet, "001")
    assert (found.stage.name, found.pending) == ("never-synced", None)
    sync.run_sync(fleet)
    found = agent_config.show_config(fleet, "001")
    assert (found.stage.name, found.runs, found.pending) == ("synced", {}, None)
    fleet.folders.write_file("web", "agent.conf", WEB.replace(b"3600", b"60"))
    found = agent_config.show_config(fleet, "001")
    assert found.stage.name == "stale"
    assert set(found.runs) == {"default", "web"}
    assert found.pending is not None
    assert [(one.left and one.left.value, one.right and one.right.value) for one in found.pending] == [
        ("3600", "60")
    ]


def test_a_push_without_a_restart_is_pending(fleet: Context) -> None:
    leave(fleet, "001", "local.conf", b"<r><client><auto_restart>no</auto_restart></client></r>")
    sync.run_sync(fleet)
    assert agent_config.show_config(fleet, "001").stage.name == "pending-restart"


def test_an_agent_whose_group_is_invalid_keeps_what_it_has(fleet: Context) -> None:
    sync.run_sync(fleet)
    fleet.folders.write_file("web", "agent.conf", BAD)
    found = agent_config.show_config(fleet, "001")
    assert found.stage.name == "blocked"
    assert set(found.keeps) == {"default", "web"}
    assert values(found)["syscheck.frequency"] == "3600"
    assert found.pending is None
    assert all(file.why_not for file in agent_config.list_agent_files(fleet, "001").affected)


def test_an_invalid_group_that_was_never_pushed_gives_nothing(fleet: Context) -> None:
    fleet.folders.write_file("web", "agent.conf", b"<agent_config><syscheck>")
    found = agent_config.show_config(fleet, "001")
    assert values(found) == {}
    assert next(one.reason for one in found.effective.ignored) == "unreadable"


def test_a_file_that_cannot_be_read_says_so(fleet: Context) -> None:
    path = Path(fleet.folders.shared) / "web" / "agent.conf"
    path.unlink()
    path.symlink_to("/etc/hostname")
    assert (
        next(one.reason for one in agent_config.show_config(fleet, "001").effective.ignored) == "unreadable"
    )


def rows(ctx: Context, agent: str) -> list[tuple[str, str, str | None]]:
    found = agent_config.list_agent_files(ctx, agent).affected
    return [(file.name, file.group, file.why_not) for file in found]


def test_the_files_say_which_group_gave_them_and_what_is_left_out(fleet: Context) -> None:
    fleet.folders.write_file("default", "rules.txt", b"one")
    fleet.folders.write_file("web", "rules.txt", b"two")
    fleet.folders.write_file("web", "nul.bin", b"a\0b")
    (Path(fleet.folders.shared) / "web" / "link").symlink_to("/etc/hostname")
    found = rows(fleet, "001")
    assert found[:5] == [
        ("ar.conf", "", None),
        ("agent.conf", "default,web", None),
        ("rules.txt", "web", None),
        ("rules.txt", "default", "that of `web` is sent"),
        ("merged.mg", "", None),
    ]
    assert found[5] == ("nul.bin", "web", "it holds a NUL byte, which agents cannot receive")
    assert found[6][:2] == ("link", "web")


def test_the_digest_of_the_merged_file_is_that_of_what_is_pushed(fleet: Context) -> None:
    import hashlib

    sync.run_sync(fleet)
    pushed = (Path(fleet.folders.agents) / "001" / "shared" / "merged.mg").read_bytes()
    found = agent_config.list_agent_files(fleet, "001").affected
    assert found[-1].sha256 == hashlib.sha256(pushed).hexdigest()


def test_looking_changes_nothing_on_disk(fleet: Context) -> None:
    sync.run_sync(fleet)
    fleet.folders.write_file("web", "agent.conf", WEB.replace(b"3600", b"60"))
    before = fleet.store.database.value("SELECT total_changes()")
    for call in ASKED.values():
        call(fleet)
    assert fleet.store.database.value("SELECT total_changes()") == before


def test_own_files_that_cannot_be_read_are_told(fleet: Context) -> None:
    leave(fleet, "001", "local.conf", LOCAL[: LOCAL.index(b"</")])
    leave(fleet, "001", "local_internal_options.conf", b"agent.remote_conf=maybe\n")
    found = agent_config.show_config(fleet, "001")
    assert [(one.file, one.line) for one in found.problems] == [
        ("local.conf", 1),
        ("local_internal_options.conf", 1),
    ]
    assert found.record()["local_problems"] == [one.record() for one in found.problems]
