"""`mgmtctl groups` as it is called: forms, exit codes, what goes to which stream."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]


@pytest.fixture
def fleet(admin: Cli) -> Cli:
    """Groups web and pci; 001 web-1 in web, 002 db-1 in default."""
    for line in (
        "groups create web",
        "groups create pci",
        "agents create web-1 --group web",
        "agents create db-1",
    ):
        assert admin(*line.split()).code == 0
    return admin


def test_groups_are_listed_with_their_members_counted(fleet: Cli) -> None:
    assert fleet("groups", "list").out == "name\tcount\ndefault\t1\npci\t0\nweb\t1\n"
    assert [group["name"] for group in fleet("groups", "list", "-o", "json", "--where", "count>0").json()] == [
        "default", "web",
    ]  # fmt: skip


def test_show_gives_checksums_by_the_wanted_algorithm(fleet: Cli) -> None:
    record = fleet("groups", "show", "web", "-o", "json", "--hash", "md5").json()
    assert (record["name"], record["count"], len(record["configSum"])) == ("web", 1, 32)
    assert fleet("groups", "show", "web", "--hash", "crc32").code == 2
    assert fleet("groups", "show", "web", "nix").code == 3


def test_members_are_listed(fleet: Cli) -> None:
    assert fleet("groups", "agents", "web", "-o", "id").out.split() == ["001"]
    assert fleet("groups", "agents", "web", "--where", "name~db").code == 0
    assert fleet("groups", "agents", "nix").code == 5


def test_agents_are_added_and_removed_in_bulk(fleet: Cli) -> None:
    assert (
        fleet("groups", "add-agents", "web", "web-1", "db-1").err
        == "put 1 agent into group `web`, 1 unchanged\n"
    )
    assert (
        fleet("groups", "add-agents", "pci", "-", stdin="001\n002\n").err == "put 2 agents into group `pci`\n"
    )
    assert fleet("groups", "remove-agents", "pci", "001").err == "took 1 agent out of group `pci`\n"
    assert fleet("agents", "show", "db-1", "-o", "json").json()["group"] == ["default", "web", "pci"]
    assert fleet("groups", "add-agents", "pci", "001", "nix").code == 3


def test_conflict_is_told_once_for_many_agents(fleet: Cli, service_home: Path) -> None:
    for group in ("web", "pci"):
        (service_home / "shared" / group / "audit.rules").write_bytes(b"x")
    fleet("groups", "add-agents", "web", "db-1")
    result = fleet("groups", "add-agents", "pci", "web-1", "db-1")
    assert result.err.count("warning: file `audit.rules` of group `pci` wins over that of `web`") == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param("create web", 9, id="exists"),
        pytest.param("create all", 7, id="the word for all"),
        pytest.param("create ../web", 7, id="a path"),
        pytest.param("create ar.conf", 9, id="the name of a file"),
        pytest.param("delete default -y", 9, id="default"),
        pytest.param("delete nix -y", 5, id="unknown"),
        pytest.param("delete web", 2, id="delete asks, and nobody can answer"),
        pytest.param("add-agents nix 001", 5, id="into an unknown group"),
        pytest.param("list --where x=1", 2, id="an unknown field"),
    ],
)
def test_refusal_has_its_exit_code(fleet: Cli, words: str, code: int) -> None:
    result = fleet("groups", *words.split())
    assert (result.code, result.out) == (code, "")
    assert "error: " in result.err


def test_delete_tells_who_left(fleet: Cli, service_home: Path) -> None:
    told = "deleted group `web` (1 agent left it, for `default`)\n"
    assert fleet("groups", "delete", "web", "-y").err == told
    assert not (service_home / "shared" / "web").exists()
    assert fleet("agents", "show", "web-1", "-o", "json").json()["group"] == ["default"]


def test_group_that_a_policy_names_is_deleted_by_force(fleet: Cli) -> None:
    words = "policies create team --allow agent:read --on agent:group:web"
    assert fleet(*words.split()).code == 0
    result = fleet("groups", "delete", "web", "-y")
    assert result.code == 9
    assert "group `web` is named by policies: `team`" in result.err
    forced = fleet("groups", "delete", "web", "-y", "--force")
    assert forced.code == 0
    assert "warning: policy `team` still names group `web`" in forced.err


def test_dry_run_creates_nothing(fleet: Cli, service_home: Path) -> None:
    assert fleet("groups", "create", "db", "-n").err == "dry run: would create group `db`\n"
    assert not (service_home / "shared" / "db").exists()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param("delete web", "would delete group `web` (1 agent would leave it, for `default`)", id="delete"),
        pytest.param("delete pci", "would delete group `pci` (0 agents would leave it)", id="delete an empty one"),
        pytest.param("add-agents pci 001 002", "would put 2 agents into group `pci`", id="add"),
        pytest.param("remove-agents web 001", "would take 1 agent out of group `web`", id="remove"),
    ],
)  # fmt: skip
def test_dry_run_says_what_would_be(fleet: Cli, words: str, text: str) -> None:
    nobody = "  nobody gains or loses anything; no session ends\n"
    assert fleet("groups", *words.split(), "-n").err == f"dry run: {text}\n{nobody}"


def test_delete_says_before_it_asks_who_would_leave(fleet: Cli, service_home: Path) -> None:
    fleet("groups", "add-agents", "web", "db-1")
    fleet("groups", "add-agents", "pci", "web-1")
    fleet("agents", "create", "web-2", "--group", "web")
    question = "delete groups `pci` (1 agent would leave it), "
    question += "`web` (3 agents would leave it, 1 of them for `default`), with all files? [y/N] "
    result = fleet("groups", "delete", "pci", "web", terminal=True, stdin="no\n")
    assert (result.code, result.err.startswith(question)) == (1, True)
    assert fleet("agents", "show", "web-1", "-o", "json").json()["group"] == ["web", "pci"]
    assert (service_home / "shared" / "web").is_dir()
    assert fleet("groups", "delete", "pci", "web", terminal=True, stdin="yes\n").code == 0
    assert not (service_home / "shared" / "web").exists()


def test_delete_does_not_ask_about_what_it_would_refuse(fleet: Cli) -> None:
    result = fleet("groups", "delete", "default", terminal=True)
    assert (result.code, "[y/N]" in result.err) == (9, False)
    assert "group `default` cannot be deleted" in result.err


def test_help_of_the_members_lists_the_exit_code_of_an_unknown_group(fleet: Cli) -> None:
    assert "  5  no such group\n" in fleet("groups", "agents", "--help").out


def test_name_and_count_are_whole_on_a_narrow_terminal(fleet: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "production-" + "x" * 60
    assert fleet("groups", "create", name).code == 0
    assert f"\n{name}  0" in fleet("groups", "list", terminal=True).out


def test_a_group_that_comes_back_has_its_files_named(fleet: Cli, home: Path) -> None:
    shutil.rmtree(home / "shared" / "web")
    assert fleet("groups", "create", "web").err == (
        "created group `web`\n"
        "its agent.conf is empty; the files that it had until r1: mgmtctl files rollback web --to 1\n"
    )
    assert fleet("groups", "create", "new").err == "created group `new`\n"
