"""What the file system refuses: a system user without rights is told, and nothing is half written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.folders import Folders
from mgmtctl.folders.agents import AgentFolders, Place

NOBODY = 65534
FILES = {"agent.conf": b"new", "merged.mg": b"#new"}
MANIFEST = {name: ("0" * 64, len(content)) for name, content in FILES.items()}

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can work as another system user")


@pytest.fixture
def folders() -> Iterator[Folders]:
    """A service that belongs to another system user, with agent folders 001 and 002."""
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        for agent in ("001", "002"):
            (data / "agents" / agent / "shared").mkdir(parents=True)
        made = Folders(data / "shared", data / "agents", data)
        made.prepare()
        for path in (Path(name), data, *data.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        yield made


def as_nobody(work: Callable[[], list[str]]) -> list[str]:
    """The lines that `work` gives in a process of a system user without rights."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writer, "\n".join(work()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as lines:
        found = lines.read().split("\n")
    os.waitpid(child, 0)
    return found


def attempt(agents: AgentFolders, agent: str) -> str:
    try:
        agents.push(Place(agent), FILES, MANIFEST, {}, lambda _: None)
    except UnavailableError as error:
        return f"{error.reason} {error.problem}"
    return "written"


def test_a_read_only_agent_folder_is_named_and_the_others_go_on(folders: Folders) -> None:
    shared = folders.agents / "001" / "shared"
    (shared / "agent.conf").write_bytes(b"old")
    shared.chmod(0o500)

    def work() -> list[str]:
        with folders.agent_folders() as agents:
            return [attempt(agents, "001"), attempt(agents, "002")]

    assert as_nobody(work) == ["io folder `agents/001`: permission denied", "written"]
    assert os.listdir(shared) == ["agent.conf"]
    assert (shared / "agent.conf").read_bytes() == b"old"
    assert (folders.agents / "002" / "shared" / "merged.mg").read_bytes() == b"#new"


def test_a_group_file_without_the_right_to_read_is_named(folders: Folders) -> None:
    secret = folders.shared / "default" / "secret.txt"
    secret.write_bytes(b"x")
    secret.chmod(0)

    def work() -> list[str]:
        content = folders.load_group("default")
        return [*content.files, *map(str, content.unreadable)]

    assert as_nobody(work) == ["agent.conf", "('secret.txt', 'permission denied')"]


def test_a_group_folder_without_the_right_to_write_keeps_its_file(folders: Folders) -> None:
    (folders.shared / "default").chmod(0o500)

    def work() -> list[str]:
        try:
            folders.write_file("default", "agent.conf", b"new")
        except UnavailableError as error:
            return [error.problem, str(error.why)]
        return ["written"]

    assert as_nobody(work) == [
        "`default/agent.conf`: permission denied",
        "the system user may not do this there",
    ]
    assert os.listdir(folders.shared / "default") == ["agent.conf"]
