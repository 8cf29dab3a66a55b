"""Lessons about who may give, do and know what (see test_security_lessons)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from argon2 import PasswordHasher

from mgmtctl import bootstrap, passwords
from mgmtctl.domain.auth_context import MAX_BYTES, parse_context
from mgmtctl.domain.errors import DeniedError, InvalidError, NotFoundError, UnauthenticatedError
from mgmtctl.operations import (
    agents,
    decisions,
    group_files,
    groups,
    login,
    policies,
    roles,
    rules,
    users,
)
from mgmtctl.operations.context import Context
from mgmtctl.settings import Settings
from tests.operations import attack_world as attack
from tests.operations.access_world import add_role, allow, delegate, deny, everything
from tests.operations.attack_world import lead, refused
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

WRONG = "Wrong-Horse-77"


@pytest.fixture(autouse=True)
def little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords are hashed for real, with little work."""
    monkeypatch.setattr(passwords, "hash_password", PasswordHasher(1, 8, 1).hash)


def test_cve_2022_24841_nobody_links_what_he_does_not_hold(service: Context) -> None:
    me = delegate(service, allow("agent:read", "agent:group:own"))
    mine = str(me.actor.user_id) if me.actor else ""
    add_role(service, "other", allow("agent:read", "agent:group:other"))
    before = everything(service)
    for call in (
        lambda: users.link_roles(me, mine, ["other"]),
        lambda: users.link_roles(me, mine, ["administrator"]),
        lambda: users.update_user(me, mine, roles=["delegate", "other"]),
        lambda: roles.link_policies(me, "delegate", ["other"]),
        lambda: policies.update_policy(me, "delegate", document=allow("agent:read", "agent:group:other")),
        lambda: users.create_user(me, "friend", "Another-phrase-2", roles=["other"]),
    ):
        refused(call, DeniedError)
        assert everything(service) == before


def test_ghsa_m2h6_4xpq_qw3m_a_move_needs_the_right_on_both_groups(
    service: Context, actor_with: ActorWith
) -> None:
    for name in ("from", "to"):
        groups.create_group(service, name)
    agent = agents.create_agent(service, "host", groups=["from"]).agent.id
    rights = {
        "from": [allow("group:modify_assignments", "group:id:from")],
        "to": [allow("group:modify_assignments", "group:id:to")],
    }
    for name, held in rights.items():
        me = actor_with([allow("agent:modify_group", "agent:id:*"), *held], name=f"only_{name}")
        refused(lambda me=me: agents.set_agent_groups(me, agent, ["to"]))  # type: ignore[misc]
        assert service.store.agents.groups_of(int(agent)) == ["from"]
    both = actor_with(
        [allow("agent:modify_group", "agent:id:*"), *rights["from"], *rights["to"]], name="both"
    )
    agents.set_agent_groups(both, agent, ["to"])
    assert service.store.agents.groups_of(int(agent)) == ["to"]


def test_f36093_a_right_in_one_group_is_none_in_another(service: Context, actor_with: ActorWith) -> None:
    for name in ("own", "other"):
        groups.create_group(service, name)
    agent = agents.create_agent(service, "host", groups=["other"]).agent.id
    me = actor_with(
        [
            allow("agent:delete", "agent:group:own"),
            allow("agent:read", "agent:group:other"),
            allow("group:update_config", "group:id:own"),
            allow("group:read", "group:id:other"),
        ]
    )
    assert refused(lambda: agents.delete_agents(me, [agent]), DeniedError).code == 4000
    refused(lambda: group_files.put_file(me, "other", "x.txt", b"x"), DeniedError)
    assert service.store.agents.exists(int(agent))


def test_w6651_making_a_user_with_the_run_as_right_is_a_grant(
    service: Context, actor_with: ActorWith
) -> None:
    creator = actor_with([allow("security:create_user", "*:*:*"), allow("security:update", "user:id:*")])
    before = everything(service)
    refused(lambda: users.create_user(creator, "new", "Another-phrase-2", allow_run_as=True), DeniedError)
    assert everything(service) == before
    lead(service, {"FIND": {"team": "ops"}}, "ops_people", "agents_admin")
    # With the right to the flag too, he lacks what the rules lead to.
    flagger = actor_with(
        [allow("security:create_user", "*:*:*"), allow("security:edit_run_as", "*:*:*")], name="flagger"
    )
    refused(lambda: users.create_user(flagger, "new", "Another-phrase-2", allow_run_as=True), DeniedError)
    assert service.store.users.find("new") is None


def test_w37076_a_deny_is_not_read_as_a_permission(service: Context, actor_with: ActorWith) -> None:
    me = actor_with(
        [
            deny("agent:read", "agent:id:*"),
            deny("security:read", "user:id:*"),
            deny("group:read", "group:id:*"),
        ]
    )
    agents.create_agent(service, "host")
    assert list(agents.list_agents(me).affected) == []
    assert list(users.list_users(me).affected) == []
    assert list(groups.list_groups(me).affected) == []
    refused(lambda: decisions.can_i(me, "agent:read", "agent:id:001", user="admin"))


def test_w7328_lists_and_counts_are_those_of_what_may_be_read(
    service: Context, actor_with: ActorWith
) -> None:
    for name in ("own", "other"):
        groups.create_group(service, name)
    agents.create_agent(service, "mine", groups=["own"])
    agents.create_agent(service, "theirs", groups=["own", "other"])
    me = actor_with([allow("agent:read", "agent:id:001"), allow("group:read", "group:id:own")])
    assert [agent.name for agent in agents.list_agents(me).affected] == ["mine"]
    assert agents.list_agents(me).total == 1
    (own,) = groups.list_groups(me).affected
    assert (own.name, own.count) == ("own", 1)
    nobody = actor_with(name="nobody")
    assert list(groups.list_groups(nobody).affected) == []
    assert list(roles.list_roles(nobody).affected) == []


@pytest.mark.parametrize("kind", ["user", "role", "policy", "rule", "agent"])
def test_w38683_refusals_are_the_same_whether_it_exists_or_not(
    service: Context, actor_with: ActorWith, kind: str
) -> None:
    agents.create_agent(service, "there")
    users.create_user(service, "there", "Another-phrase-2")
    roles.create_role(service, "there")
    policies.create_policy(service, "there", allow("agent:read", "agent:id:*"))
    rules.create_rule(service, "there", {"FIND": {"a": "b"}})
    me = actor_with([allow("manager:read", "*:*:*")])
    ask: dict[str, Callable[[str], object]] = {
        "user": lambda reference: users.update_user(me, reference, name="x"),
        "role": lambda reference: roles.update_role(me, reference, name="x"),
        "policy": lambda reference: policies.update_policy(me, reference, name="x"),
        "rule": lambda reference: rules.update_rule(me, reference, name="x"),
        "agent": lambda reference: agents.show_key(me, reference),
    }
    number = {"user": "101", "agent": "001"}.get(kind, "100")
    by_name = [refused(lambda n=name: ask[kind](n), NotFoundError) for name in ("there", "where")]  # type: ignore[misc]
    by_id = [refused(lambda n=name: ask[kind](n), DeniedError) for name in (number, "7777")]  # type: ignore[misc]
    for one, other in ((by_name, ("there", "where")), (by_id, (number, "7777"))):
        said = [attack.dump_error(error) for error in one]
        assert repr(said[0]).replace(other[0], "*") == repr(said[1]).replace(other[1], "*")


def test_w8051_no_secret_is_in_the_log_of_a_refused_call(home: Path, anonymous: Context) -> None:
    secrets = ["S3cret-of-a-context", "S3cret-at-depth", "S3cret-Password-1"]
    document = (
        f'{{"name": "x", "auth": {{"password": "{secrets[0]}", "a": [{{"api_token": "{secrets[1]}"}}]}}}}'
    )
    context = parse_context(document.encode())
    refused(lambda: login.run_as(anonymous, "nobody", secrets[2], context), UnauthenticatedError)
    refused(lambda: login.log_in(anonymous, "admin", secrets[2]), UnauthenticatedError)
    refused(lambda: users.create_user(anonymous, "new", secrets[2]), UnauthenticatedError)
    logged = b"".join(path.read_bytes() for path in home.rglob("requests*"))
    assert logged.count(b"\n") >= 3
    assert [secret for secret in secrets if secret.encode() in logged] == []


def test_w38844_no_password_is_shipped(tmp_path: Path) -> None:
    """What init leaves: one password, the one it was given; no other user can log in, with nothing and no name."""
    from mgmtctl.operations import setup

    with bootstrap.create_service(Settings({"MGMTCTL_HOME": str(tmp_path / "new")})) as ctx:
        setup.initialise(ctx, ADMIN_PASSWORD)
        have = ctx.store.database.rows("SELECT name FROM users WHERE password IS NOT NULL")
        assert [row[0] for row in have] == ["admin"]
        for name in ("wui", "admin"):
            for password in (name, "", "admin", "wui", "password"):
                refused(lambda n=name, p=password: login.log_in(ctx, n, p), UnauthenticatedError)  # type: ignore[misc]
    with bootstrap.create_service(Settings({"MGMTCTL_HOME": str(tmp_path / "weak")})) as ctx:
        refused(lambda: setup.initialise(ctx, "admin"), InvalidError)


def test_w39214_too_large_is_413_with_both_numbers() -> None:
    data = b'{"name": "x", "auth": {"a": "' + b"x" * MAX_BYTES + b'"}}'
    error = refused(lambda: parse_context(data), InvalidError)
    assert error.code == 413
    assert f"at most {MAX_BYTES} bytes, got {len(data)}" in error.problem


def test_log_injection_no_name_forges_a_line(home: Path, anonymous: Context) -> None:
    forged = 'x\n2026/01/01 00:00:00 INFO: admin 127.0.0.1 "DELETE /everything"\r\x1b[31m\u2028'
    before = b"".join(path.read_bytes() for path in home.rglob("requests*")).count(b"\n")
    refused(lambda: login.log_in(anonymous, forged, WRONG), UnauthenticatedError)
    logged = b"".join(path.read_bytes() for path in home.rglob("requests*"))
    assert logged.count(b"\n") == before + 1
    assert not set(logged) & ({*range(32), 127} - {10})


@pytest.mark.parametrize(
    "name",
    [
        "agent.conf/",
        "./agent.conf",
        "AGENT.CONF",
        "Agent.conf",
        "agent.conf\0.txt",
        "agent.conf ",
        "x/../agent.conf",
    ],
)
def test_cve_2026_74040_no_other_spelling_of_agent_conf_enters(
    service: Context, home: Path, name: str
) -> None:
    groups.create_group(service, "web")
    before = (home / "shared" / "web" / "agent.conf").read_bytes()
    refused(lambda: group_files.put_file(service, "web", name, b"no agent_config at all"), InvalidError)
    assert os.listdir(home / "shared" / "web") == ["agent.conf"]
    assert (home / "shared" / "web" / "agent.conf").read_bytes() == before


def test_cve_2026_74036_files_need_their_own_right(
    service: Context, actor_with: ActorWith, home: Path
) -> None:
    """Whoever may read a group, change its members or make groups puts no file into it, whatever it is called."""
    groups.create_group(service, "web")
    me = actor_with(
        [
            allow("group:read", "group:id:*"),
            allow("group:modify_assignments", "group:id:*"),
            allow("group:create", "*:*:*"),
        ]
    )
    for name in ("agent.conf", "policy.txt", "cis_rcl.txt"):
        refused(lambda name=name: group_files.put_file(me, "web", name, attack.CONF), DeniedError)  # type: ignore[misc]
    assert os.listdir(home / "shared" / "web") == ["agent.conf"]


def files_of(home: Path) -> dict[Path, bytes]:
    """Every file of the service with its content, but for the log and the bytes of the store."""
    files = [path for path in home.rglob("*") if path.is_file() and not path.name.startswith("requests")]
    return {path: b"" if path.name.startswith("store.db") else path.read_bytes() for path in files}


@pytest.mark.parametrize(
    "name", ["..", "../web", "../../store.db", "/etc/passwd", "a/../../b", "a\0b", "a\nb", "a\\..\\b", ""]
)
def test_cve_2021_26814_no_name_leaves_its_folder(service: Context, home: Path, name: str) -> None:
    groups.create_group(service, "web")
    before = files_of(home)
    for call in (
        lambda: group_files.show_file(service, "web", name),
        lambda: group_files.put_file(service, "web", name, b"x"),
        lambda: group_files.remove_file(service, "web", name),
        lambda: group_files.list_files(service, name),
        lambda: groups.create_group(service, name),
        lambda: agents.create_agent(service, "host", groups=[name]),
        lambda: agents.create_agent(service, "host", folder=name or ".."),
    ):
        refused(call)
    assert groups.delete_groups(service, [name]).affected == []
    assert files_of(home) == before
