"""What ends which sessions, exactly: the table tests/access/sessions/revocation.yml, cell by cell (D 1)."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, replace
from typing import Any

import pytest
import yaml

from mgmtctl.domain.auth_context import AuthContext, parse_context
from mgmtctl.domain.errors import DeniedError, MgmtctlError, UnauthenticatedError
from mgmtctl.operations import login, policies, roles, rules
from mgmtctl.operations.context import Context
from tests.conftest import ROOT
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

NEW_PASSWORD = "Another-Horse-8"
TABLE: dict[str, Any] = yaml.safe_load((ROOT / "tests/access/sessions/revocation.yml").read_text("utf-8"))
SESSIONS: dict[str, dict[str, str]] = TABLE["sessions"]
CHANGES = [pytest.param(row, id=row["change"]) for row in TABLE["changes"]]


def members(names: list[str]) -> set[str]:
    """The sessions that a list of sessions and groups of them names."""
    return {who for name in names for who in TABLE["groups"].get(name, [name])}


def context_of(team: str) -> AuthContext:
    return parse_context(f'{{"name": "portal", "auth": {{"team": "{team}"}}}}'.encode())


@dataclass(frozen=True)
class World:
    """A service with the objects of the table; all of a test happens in one moment."""

    ctx: Context

    def log_in(self, who: str, password: str = ADMIN_PASSWORD) -> str:
        user, row = self.name_of(SESSIONS[who]["user"]), SESSIONS[who]
        if row["kind"] == "basic":
            return login.log_in(self.ctx, user, password).token
        return login.run_as(self.ctx, user, password, context_of(row["team"])).token

    def log_in_anew(self, who: str) -> str | None:
        """A token issued right after a change, with whichever password holds; None when there is none to be had."""
        for password in (ADMIN_PASSWORD, NEW_PASSWORD):
            try:
                return self.log_in(who, password)
            except UnauthenticatedError:
                continue
            except DeniedError:
                return None
        return None

    def lives(self, token: str) -> bool:
        """Whether a token is accepted; both ways of presenting it must agree."""
        answers = set()
        for verified in (True, False):
            try:
                login.resume(self.ctx, token, verified)
                answers.add(True)
            except UnauthenticatedError:
                answers.add(False)
        assert len(answers) == 1
        return answers.pop()

    def name_of(self, user: str) -> str:
        """The name that a user of the table has now."""
        return "freed" if self.ctx.store.users.find("freed") and user == "free" else user

    def change(self, row: dict[str, Any], tokens: dict[str, str], *, dry_run: bool = False) -> None:
        """Do what a row of the table says, in the session that it says (else the administrator's)."""
        ctx = login.resume(self.ctx, tokens[row.get("as", "admin")])
        module, _, name = row["do"].partition(".")
        operation = getattr(importlib.import_module(f"mgmtctl.operations.{module}"), name)
        arguments = {key: self.argument(key, value, tokens) for key, value in row.get("with", {}).items()}
        ctx.store.dry_run = dry_run
        try:
            failed = getattr(operation(replace(ctx, dry_run=dry_run), **arguments), "failed", ())
        finally:
            ctx.store.dry_run = False
        assert failed == ()

    def argument(self, key: str, value: Any, tokens: dict[str, str]) -> Any:
        if key == "context_ids":
            return [context_of(name.removeprefix("of ")).id for name in value]
        if key == "session_ids":
            return [jti(self.ctx, tokens[name.removeprefix("of ")]) for name in value]
        return value


def jti(ctx: Context, token: str) -> str:
    from mgmtctl.tokens import digest

    found = ctx.store.sessions.find(digest(token))
    assert found is not None
    return found.jti


@pytest.fixture
def world(anonymous: Context, service: Context, actor_with: ActorWith) -> World:
    for team in ("ops", "dev"):
        roles.create_role(service, team)
        policies.create_policy(service, team, policy_on(team))
        rules.create_rule(service, team, {"FIND": {"team": team}})
        roles.link_policies(service, team, [team])
        roles.link_rules(service, team, [team])
    policies.create_policy(service, "spare", policy_on("spare"))
    rules.create_rule(service, "spare", {"FIND": {"team": "spare"}})
    actor_with(name="ada", roles=["ops"])
    actor_with(name="bob", roles=["dev"])
    actor_with(name="free")
    for name in ("portal", "gate"):
        actor_with(name=name, allow_run_as=True)
    moment = anonymous.now()
    return World(replace(anonymous, now=lambda: moment))


def policy_on(group: str) -> dict[str, Any]:
    return {
        "actions": ["agent:read", "agent:restart"],
        "resources": [f"agent:group:{group}"],
        "effect": "allow",
    }


@pytest.mark.parametrize("row", CHANGES)
def test_exactly_the_affected_sessions_end_and_new_ones_live(world: World, row: dict[str, Any]) -> None:
    before = {who: world.log_in(who) for who in SESSIONS}
    assert all(world.lives(token) for token in before.values())
    world.change(row, before)
    assert {who for who, token in before.items() if not world.lives(token)} == members(row["ends"])
    after = {who: world.log_in_anew(who) for who in SESSIONS}
    assert {who for who, token in after.items() if token is None} == members(row.get("shut", []))
    assert all(world.lives(token) for token in after.values() if token is not None)


def test_no_change_ends_anything_in_a_dry_run(world: World) -> None:
    before = {who: world.log_in(who) for who in SESSIONS}
    for row in TABLE["changes"]:
        world.change(row, before, dry_run=True)
        assert all(world.lives(token) for token in before.values()), row["change"]


def test_the_table_has_every_operation_that_changes_access() -> None:
    from mgmtctl.operations import NOUNS
    from mgmtctl.operations.registry import OPERATIONS

    for noun in NOUNS:
        importlib.import_module(f"mgmtctl.operations.{noun}")
    nouns = ("users", "roles", "policies", "rules", "sessions", "security")
    changing = {
        name for name, found in OPERATIONS.items() if name.startswith(nouns) and found.method != "GET"
    } - BESIDE
    assert changing <= {row["do"] for row in TABLE["changes"]}


# Changes that can end no session, whatever they are given.
BESIDE = {"security.lift_login_limits", "security.preview_config"}


def test_every_kind_of_session_is_ended_and_spared_by_some_change() -> None:
    ended = [members(row["ends"]) for row in TABLE["changes"]]
    for who in SESSIONS:
        assert any(who in ends for ends in ended)
        assert any(ends and who not in ends for ends in ended)


def test_what_a_context_grants_now_is_what_a_new_login_gets(world: World) -> None:
    admin = login.resume(world.ctx, world.log_in("admin"))
    rules.update_rule(admin, "ops", document={"FIND": {"team": "dev"}})
    given = login.run_as(world.ctx, "portal", ADMIN_PASSWORD, context_of("dev"))
    assert [name for _, name in given.roles] == ["ops", "dev"]


def test_a_user_made_anew_under_an_old_name_revives_nothing(world: World) -> None:
    from mgmtctl.operations import users

    token = world.log_in("ada")
    admin = login.resume(world.ctx, world.log_in("admin"))
    users.delete_users(admin, ["ada"])
    users.create_user(admin, "ada", ADMIN_PASSWORD, ["ops"])
    assert not world.lives(token)
    assert world.lives(world.log_in("ada"))


def test_a_refused_change_ends_nothing(world: World) -> None:
    from mgmtctl.operations import users

    before = {who: world.log_in(who) for who in SESSIONS}
    bob = login.resume(world.ctx, before["bob"])
    with pytest.raises(MgmtctlError):
        users.set_run_as(bob, "portal", False)
    assert [len(failure.ids) for failure in users.delete_users(bob, ["ada"]).failed] == [1]
    assert all(world.lives(token) for token in before.values())
