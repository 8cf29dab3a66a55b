"""Values for completion: those that the acting session may read, and silence when anything is amiss."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mgmtctl import bootstrap
from mgmtctl.cli.complete import places
from mgmtctl.cli.session_file import session_path, sha256, write_token
from mgmtctl.domain.policies import parse_policy
from mgmtctl.settings import Settings
from mgmtctl.store.sessions import Session
from mgmtctl.store.store import Store
from tests.cli.conftest import Result, run_here

Cli = Callable[..., Result]
GROUPS = ("default", "web", "db")


@pytest.fixture
def fleet(admin: Cli) -> Cli:
    """Six agents in three groups."""
    for group in GROUPS[1:]:
        assert admin("groups", "create", group).code == 0
    lines = ["name,groups", *(f"host-{number},{GROUPS[number % 3]}" for number in range(5)), '2nd,"web,db"']
    assert admin("agents", "import", "-", stdin="\n".join(lines) + "\n").code == 0
    return admin


def complete(kind: str, prefix: str = "", *more: str) -> list[str]:
    result = run_here("--complete", kind, prefix, *more)
    assert (result.code, result.err) == (0, "")
    return result.out.splitlines()


@pytest.mark.parametrize(
    ("kind", "prefix", "expected"),
    [
        pytest.param(
            "agents", "00", [f"00{n}\thost-{n - 1} never_connected" for n in range(1, 6)], id="ids of agents"
        ),
        pytest.param("agents", "host-3", ["host-3\t004 never_connected"], id="names of agents"),
        pytest.param("agents", "2", ["2nd\t006 never_connected"], id="names that begin with a digit"),
        pytest.param("agents", "HOST", [], id="case as it is typed"),
        pytest.param("groups", "", ["db", "default", "web"], id="groups"),
        pytest.param("roles", "administrator", ["administrator\t1"], id="roles by name"),
        pytest.param("roles", "1", ["1\tadministrator"], id="roles by id"),
        pytest.param("users", "a", ["admin\t1"], id="users"),
        pytest.param("files", "w", ["web/"], id="groups of files"),
        pytest.param("files", "web/a", ["web/agent.conf"], id="files of a group"),
        pytest.param("files", "../", [], id="no way out of the shared folder"),
        pytest.param("resources", "agent:", ["agent:group:", "agent:id:"], id="kinds of resources"),
        pytest.param("resources", "*", ["*:*:*"], id="no resource"),
        pytest.param(
            "resources",
            "group:id:",
            ["group:id:db", "group:id:default", "group:id:web", "group:id:*"],
            id="groups as resources",
        ),
        pytest.param(
            "resources", "agent:id:006", ["agent:id:006\t2nd never_connected"], id="agents as resources"
        ),
        pytest.param("resources", "policy:id:", ["policy:id:*"], id="values that nobody remembers"),
        pytest.param(
            "settings", "logs", ["logs.format\tforms of the request log: plain, json or both"], id="settings"
        ),
        pytest.param("nothing", "", [], id="unknown kind"),
    ],
)
def test_values(kind: str, prefix: str, expected: list[str], fleet: Cli) -> None:
    found = complete(kind, prefix)
    assert [line for line in found if kind != "agents" or prefix != "00" or line < "006"] == expected


def test_bare_values_have_no_description(fleet: Cli) -> None:
    assert complete("agents", "", "bare") == ["001", "002", "003", "004", "005", "006"]


def test_revisions_are_those_of_the_group_on_the_line(fleet: Cli) -> None:
    assert fleet("files", "put", "web/a.txt", "-", "--reason", "one\ttwo\nthree", stdin="x").code == 0
    assert complete("revisions", "", "", "web/a.txt") == ["2\tput admin one two three", "1\tcreate admin"]
    assert complete("revisions", "1", "bare", "web") == ["1"]
    assert complete("revisions", "", "", "nothing") == []
    assert complete("revisions") == []


def test_revisions_of_a_group_that_may_not_be_read_are_not_offered(store: Store) -> None:
    act_with(store, [{**allow("group:id:web"), "actions": ["group:read"]}])
    assert complete("revisions", "", "", "db") == []
    assert [line.split("\t")[0] for line in complete("revisions", "", "", "web")] == ["1"]


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        pytest.param("sysch", ["syscheck"], id="sections"),
        pytest.param("syscheck.f", ["syscheck.frequency\tint", "syscheck.file_limit"], id="options of one"),
        pytest.param("wodle.sysc", ["wodle.syscollector"], id="modules"),
        pytest.param("syscheck.directories@rea", ["syscheck.directories@realtime\tyes_no"], id="attributes"),
        pytest.param("nonsense.", [], id="nothing"),
    ],
)
def test_options_of_agent_conf_need_no_session(prefix: str, expected: list[str], cli: Cli) -> None:
    assert complete("options", prefix) == expected


def test_actions_and_topics_need_no_session(cli: Cli) -> None:
    assert "agent:read\tread agents: records, keys, configuration, status" in complete("actions", "agent:")
    assert complete("topics", "cr") == ["cron\tRunning unattended."]


@pytest.fixture
def store(fleet: Cli, service_home: Path) -> Iterator[Store]:
    context = bootstrap.open_context(Settings())
    yield context.store
    context.store.close()


def act_with(store: Store, blocks: list[dict[str, Any]], context_id: str | None = None) -> str:
    """Store a session of user 1 with one role of these blocks; its token."""
    with store.atomic():
        named = {f"b{number}": block for number, block in enumerate(blocks)}
        policy = store.policies.add("probe", parse_policy({"blocks": named}, "probe"))
        role = store.roles.add("probe")
        store.roles.link_policy(role, policy)
        token = "probe.to.ken"
        generations = store.sessions.generations(1, [role], context=context_id is not None)
        assert generations is not None
        now = int(time.time())
        session = Session(
            sha256(token.encode()), "jti", 1, context_id, None, (role,), generations, now, now + 60
        )
        store.sessions.add(session)
    write_token(session_path(Settings()), token)
    return token


def allow(*resources: str) -> dict[str, Any]:
    return {"actions": ["agent:read"], "resources": list(resources), "effect": "allow"}


def deny(*resources: str) -> dict[str, Any]:
    return {**allow(*resources), "effect": "deny"}


RIGHTS = [
    pytest.param([allow("agent:id:*")], id="every agent"),
    pytest.param([allow("agent:id:002", "agent:id:005")], id="two agents"),
    pytest.param([allow("agent:group:web")], id="one group"),
    pytest.param([allow("agent:group:*")], id="every group"),
    pytest.param([allow("agent:id:*"), deny("agent:id:003")], id="all but one"),
    pytest.param([allow("agent:id:*"), deny("agent:group:db")], id="all but a group"),
    pytest.param([allow("agent:group:web"), deny("agent:group:db")], id="a group without another"),
    pytest.param([allow("agent:id:*"), deny("agent:group:*")], id="nobody in a group"),
    pytest.param([allow("agent:id:002"), deny("agent:id:*")], id="a deny of all"),
    pytest.param([{**allow("group:id:web"), "actions": ["group:read"]}], id="another right"),
]


@pytest.mark.parametrize("blocks", RIGHTS)
@pytest.mark.parametrize("mode", ["white", "black"])
def test_agents_are_those_that_the_list_shows(blocks: list[dict[str, Any]], mode: str, store: Store) -> None:
    with store.atomic():
        store.settings.set("rbac_mode", mode)
    act_with(store, blocks)
    listed = run_here("agents", "list", "-o", "id")
    assert listed.code == 0, listed.err
    assert complete("agents", "", "bare") == listed.out.split()
    assert complete("agents", "host", "bare") == [
        line.split("\t")[0]
        for line in complete("agents", "host")
        if line.split("\t")[1][:3] in listed.out.split()
    ]


def test_names_that_may_not_be_read_are_not_offered(store: Store) -> None:
    act_with(store, [{**allow("group:id:web"), "actions": ["group:read"]}])
    assert complete("groups") == ["web"]
    assert complete("files", "d") == []
    assert complete("files", "db/") == []
    assert complete("users") == complete("roles") == complete("policies") == complete("rules") == []


def _expire(database: sqlite3.Connection) -> None:
    database.execute("UPDATE sessions SET expires = 1")


def _revoke(database: sqlite3.Connection) -> None:
    database.execute("UPDATE sessions SET revoked = 1")


def _end_user(database: sqlite3.Connection) -> None:
    database.execute("UPDATE users SET generation = generation + 1 WHERE id = 1")


def _end_role(database: sqlite3.Connection) -> None:
    database.execute("UPDATE roles SET generation = generation + 1")


def _end_service(database: sqlite3.Connection) -> None:
    database.execute("INSERT OR REPLACE INTO generations VALUES ('service', 99)")


def _delete_role(database: sqlite3.Connection) -> None:
    database.execute("DELETE FROM roles WHERE name = 'probe'")


def _end_context(database: sqlite3.Connection) -> None:
    database.execute("UPDATE roles SET context_generation = context_generation + 1")


@pytest.mark.parametrize("by_context", [False, True])
@pytest.mark.parametrize(
    "end", [_expire, _revoke, _end_user, _end_role, _end_service, _delete_role, _end_context, None]
)
def test_a_session_that_has_ended_offers_nothing(
    end: Callable[[sqlite3.Connection], None] | None, by_context: bool, store: Store, service_home: Path
) -> None:
    act_with(store, [allow("agent:id:*")], context_id="c" * 32 if by_context else None)
    assert len(complete("agents")) == 6
    if end is None:
        return
    with sqlite3.connect(service_home / "store.db") as database:
        end(database)
    database.close()
    still = end is _end_context and not by_context
    assert len(complete("agents")) == (6 if still else 0)


def test_a_session_without_roles_offers_nothing(store: Store) -> None:
    act_with(store, [allow("agent:id:*")])
    with store.atomic():
        store.database.execute("UPDATE sessions SET roles = '', generations = '1,1'")
        store.settings.set("rbac_mode", "black")
    assert complete("agents") == []


def test_many_agents_are_given_whole_and_without_descriptions(store: Store) -> None:
    with store.atomic():
        insert = "INSERT INTO agents (id, name, name_key, key, date_add, groups) VALUES (?, ?, ?, ?, ?, ?)"
        rows = ((n, f"m{n}", f"m{n}", "k", 1, "default") for n in range(10, 3_000))
        store.database.executemany(insert, rows)
    listed = run_here("agents", "list", "-o", "id").out.split()
    assert complete("agents") == listed
    assert len(listed) == 2_996
    assert complete("agents", "m299") == [f"m{n}\t{n:03} never_connected" for n in (299, *range(2990, 3000))]
    assert complete("agents", "299")[:2] == ["299\tm299 never_connected", "2990\tm2990 never_connected"]
    assert len(complete("agents", "m")) == 2_990
    assert complete("agents", "09") == [f"0{n}\tm{n} never_connected" for n in range(90, 100)]


@pytest.mark.parametrize("offers", ["agents", "groups", "users", "files"])
class TestSilence:
    def test_no_store(self, offers: str, home: Path) -> None:
        assert complete(offers) == []

    def test_nobody_logged_in(self, offers: str, service_home: Path) -> None:
        assert complete(offers) == []

    def test_damaged_store(self, offers: str, admin: Cli, service_home: Path) -> None:
        (service_home / "store.db").write_bytes(b"no database" * 999)
        assert complete(offers) == []

    def test_folder_open_to_others(self, offers: str, admin: Cli, service_home: Path) -> None:
        service_home.chmod(0o777)
        assert complete(offers) == []

    def test_wrong_token(self, offers: str, admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MGMTCTL_TOKEN", "é")
        assert complete(offers) == []

    def test_user_of_the_environment(self, offers: str, admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MGMTCTL_USER", "other")
        assert complete(offers) == []

    def test_locked_store(self, offers: str, admin: Cli, service_home: Path) -> None:
        database = sqlite3.connect(service_home / "store.db", isolation_level=None)
        database.execute("PRAGMA locking_mode=EXCLUSIVE")
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("BEGIN EXCLUSIVE")
        assert complete(offers) == []
        database.close()


def test_control_characters_are_never_offered(store: Store, admin: Cli) -> None:
    with store.atomic():
        store.database.execute("UPDATE agents SET name = 'a' || char(27) || '[31m' WHERE id = 1")
    assert [line for line in complete("agents") if not line.replace("\t", "").isprintable()] == []
    assert len(complete("agents")) == 5


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({"MGMTCTL_HOME": "/somewhere/mgmt"}, id="home"),
        pytest.param({"MGMTCTL_HOME": "rel/ative"}, id="relative home"),
        pytest.param({"MGMTCTL_HOME": "~/mgmt"}, id="home with tilde"),
        pytest.param({}, id="standard"),
        pytest.param({"XDG_DATA_HOME": "/x/data", "XDG_STATE_HOME": "/x/state"}, id="XDG"),
        pytest.param({"XDG_DATA_HOME": "relative"}, id="relative XDG"),
        pytest.param({"MGMTCTL_DATA_DIR": "/elsewhere"}, id="data folder"),
        pytest.param({"MGMTCTL_HOME": "/somewhere", "MGMTCTL_DATA_DIR": "/elsewhere"}, id="both"),
    ],
)
@pytest.mark.parametrize("user", [0, 1000])
def test_places_are_those_of_the_settings(
    variables: dict[str, str], user: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MGMTCTL_HOME")
    monkeypatch.delenv("MGMTCTL_STATE")
    monkeypatch.setattr(os, "geteuid", lambda: user)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert places() == (str(settings.data), str(settings.state))


def test_a_configuration_file_has_its_say(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text(f"data_dir = {json.dumps(str(home / 'data'))}\n")
    assert places()[0] == str(Settings().data) == str(home / "data")
