"""Listing sessions and ending them: who sees which, who may end which (D 1, D 9)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from mgmtctl.domain.auth_context import AuthContext, parse_context
from mgmtctl.domain.errors import (
    DeniedError,
    InvalidError,
    NotFoundError,
    QuestionError,
)
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import login, roles, rules, sessions
from mgmtctl.operations.context import Context
from mgmtctl.operations.resuming import living
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

READ_BOB = {"actions": ["security:read"], "resources": ["user:id:{bob}"], "effect": "allow"}
REVOKE = {"actions": ["security:revoke"], "resources": ["*:*:*"], "effect": "allow"}
OPS = parse_context(b'{"name": "ann of ops", "auth": {"team": "ops"}}')
DEV = parse_context(b'{"name": "joe of dev", "auth": {"team": "dev"}}')


@pytest.fixture
def world(service: Context, actor_with: ActorWith) -> Context:
    """Users bob and portal; portal may use contexts, and the team ops leads to the role ops."""
    actor_with(name="bob")
    actor_with(name="portal", allow_run_as=True)
    roles.create_role(service, "ops")
    rules.create_rule(service, "ops", {"FIND": {"team": "ops"}})
    roles.link_rules(service, "ops", ["ops"])
    return service


def by(ctx: Context, name: str, context: AuthContext | None = None) -> Context:
    """The service in a new session of the user."""
    given = (
        login.log_in(ctx, name, ADMIN_PASSWORD)
        if context is None
        else login.run_as(ctx, name, ADMIN_PASSWORD, context)
    )
    return login.resume(ctx, given.token)


def reader_of_bob(world: Context, actor_with: ActorWith, *policies: dict[str, Any]) -> Context:
    bob = world.store.users.find("bob")
    resource = f"user:id:{bob}"
    return actor_with([{**READ_BOB, "resources": [resource]}, *policies], name="ada")


def users_of(ctx: Context) -> list[tuple[str, str | None]]:
    return sorted((one.user, one.session.context_name or "") for one in sessions.list_sessions(ctx).affected)


def alive(ctx: Context) -> bool:
    """Whether the session that this context acts in still lives."""
    assert ctx.actor is not None
    return ctx.actor.session in {session.digest for session in living(ctx)}


def test_who_may_read_users_sees_their_sessions_and_others_their_own(
    world: Context, actor_with: ActorWith
) -> None:
    bob = by(world, "bob")
    by(world, "portal", OPS)
    assert users_of(bob) == [("bob", ""), ("bob", "")]
    assert {user for user, _ in users_of(world)} == {"admin", "bob", "portal"}
    assert {user for user, _ in users_of(reader_of_bob(world, actor_with))} == {"ada", "bob"}


def test_a_session_of_a_context_sees_those_of_this_context_only(world: Context) -> None:
    ann, joe = by(world, "portal", OPS), by(world, "portal", DEV)
    again = by(world, "portal", OPS)
    assert users_of(ann) == users_of(again) == [("portal", "ann of ops")] * 2
    assert users_of(joe) == [("portal", "joe of dev")]
    assert {name for _, name in users_of(by(world, "portal"))} == {"", "ann of ops", "joe of dev"}


def test_the_present_session_is_marked_and_no_secret_is_shown(world: Context) -> None:
    token = login.log_in(world, "bob", ADMIN_PASSWORD).token
    bob = login.resume(world, token)
    found = [one.record() for one in sessions.list_sessions(bob).affected]
    assert [record["current"] for record in found].count(True) == 1
    shown = json.dumps(found)
    assert bob.actor is not None
    assert token not in shown
    assert bob.actor.session not in shown
    assert set(found[0]) == {
        "id", "user", "user_id", "context_id", "context_name", "roles", "issued", "expires", "current",
    }  # fmt: skip


def test_ended_and_expired_sessions_are_not_listed(world: Context) -> None:
    bob = by(world, "bob")
    login.log_out(by(world, "bob"))
    before = len(sessions.list_sessions(bob).affected)
    later = replace(world, now=lambda: world.now() + 901)
    assert before == 2
    assert sessions.list_sessions(later).affected == []
    earlier = replace(world, now=lambda: world.now() - 3600)
    assert sessions.list_sessions(earlier).affected == []


def test_a_list_is_asked_for_like_any_other(world: Context) -> None:
    by(world, "portal", OPS)
    by(world, "portal", DEV)
    found = sessions.list_sessions(world, ListQuery(where="context_id!=null;roles=ops"))
    assert [one.session.context_name for one in found.affected] == ["ann of ops"]
    assert sessions.list_sessions(world, ListQuery(where="user=portal", limit=1)).total == 3


def test_names_of_roles_stay_with_who_may_read_them(world: Context, actor_with: ActorWith) -> None:
    ops = by(world, "portal", OPS)
    number = str(world.store.roles.find("ops"))
    assert sessions.list_sessions(world).names["roles"][number] == "ops"
    assert sessions.list_sessions(ops).names["roles"] == {number: "ops"}
    assert number not in sessions.list_sessions(actor_with(name="eve")).names["roles"]


def test_roles_that_may_not_be_read_are_not_in_the_sessions_of_others(
    world: Context, actor_with: ActorWith
) -> None:
    bob, role = world.store.users.find("bob") or 0, world.store.roles.find("ops") or 0
    world.store.users.link_role(bob, role)
    by(world, "bob")
    reader = reader_of_bob(world, actor_with)
    seen, whole = (
        [one.session.roles for one in sessions.list_sessions(who).affected if one.session.user_id == bob]
        for who in (reader, world)
    )
    assert set(seen) == {()}
    assert (role,) in whole
    query = ListQuery(where=f"roles={role}")
    assert sessions.list_sessions(reader, query).affected == []


def test_own_sessions_need_no_right(world: Context) -> None:
    first, second = by(world, "bob"), by(world, "bob")
    assert second.actor is not None
    (one,) = [s for s in sessions.list_sessions(first).affected if s.session.digest == second.actor.session]
    assert len(sessions.revoke_sessions(first, session_ids=[one.session.jti[:12]]).affected) == 1
    assert (alive(first), alive(second)) == (True, False)
    assert len(sessions.revoke_sessions(first, user_ids=["bob"]).affected) == 2
    assert not alive(first)


def test_those_of_others_need_the_right_and_to_be_visible(world: Context, actor_with: ActorWith) -> None:
    bob = by(world, "bob")
    reader = reader_of_bob(world, actor_with)
    with pytest.raises(DeniedError) as refused:
        sessions.revoke_sessions(reader, user_ids=["bob"])
    assert (refused.value.action, alive(bob)) == ("security:revoke", True)
    blind = actor_with([REVOKE], name="eve")
    failures = sessions.revoke_sessions(blind, user_ids=["bob", "nobody"]).failed
    assert [type(failure.error) for failure in failures] == [NotFoundError]
    assert alive(bob)


def test_with_both_rights_they_end(world: Context, actor_with: ActorWith) -> None:
    bob = by(world, "bob")
    both = reader_of_bob(world, actor_with, REVOKE)
    assert {one.user for one in sessions.revoke_sessions(both, user_ids=["bob"]).affected} == {"bob"}
    assert (alive(bob), alive(both)) == (False, True)


def test_a_context_ends_for_the_users_that_are_visible(world: Context, actor_with: ActorWith) -> None:
    actor_with(name="gate", allow_run_as=True)
    ours, theirs = by(world, "portal", OPS), by(world, "gate", OPS)
    portal = world.store.users.find("portal")
    reads = {"actions": ["security:read"], "resources": [f"user:id:{portal}"], "effect": "allow"}
    limited = actor_with([reads, REVOKE], name="ada")
    assert [one.user for one in sessions.revoke_sessions(limited, context_ids=[OPS.id]).affected] == [
        "portal"
    ]
    assert (alive(ours), alive(theirs)) == (False, True)


def test_a_context_session_ends_no_other_of_its_user(world: Context) -> None:
    ann, joe, itself = by(world, "portal", OPS), by(world, "portal", DEV), by(world, "portal")
    found = sessions.revoke_sessions(ann, context_ids=[DEV.id])
    assert [type(failure.error) for failure in found.failed] == [NotFoundError]
    found = sessions.revoke_sessions(ann, user_ids=[str(world.store.users.find("portal"))])
    assert [type(failure.error) for failure in found.failed] == [DeniedError]
    assert alive(joe)
    assert alive(itself)
    assert len(sessions.revoke_sessions(ann, context_ids=[OPS.id]).affected) == 1
    assert not alive(ann)


def test_a_login_after_it_lives(world: Context) -> None:
    moment = world.now()
    now = replace(world, now=lambda: moment)
    by(now, "bob")
    sessions.revoke_sessions(now, user_ids=["bob"])
    assert alive(by(now, "bob"))
    sessions.revoke_all_sessions(now)
    assert alive(by(now, "bob"))


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        pytest.param({"context_ids": [""]}, QuestionError, id="an empty id"),
        pytest.param({"session_ids": ["0123"]}, QuestionError, id="too few digits"),
        pytest.param({"session_ids": ["not-hexadecimal"]}, QuestionError, id="no digits"),
        pytest.param({"session_ids": ["0123456789"]}, NotFoundError, id="an unknown id"),
        pytest.param({"user_ids": ["nobody"]}, NotFoundError, id="an unknown user"),
    ],
)
def test_what_names_nothing_ends_nothing(
    world: Context, given: dict[str, list[str]], kind: type[Exception]
) -> None:
    by(world, "bob")
    before = users_of(world)
    found = sessions.revoke_sessions(world, **given)
    assert [type(failure.error) for failure in found.failed] == [kind]
    assert found.affected == []
    assert users_of(world) == before


def test_naming_nothing_never_means_everything(world: Context) -> None:
    with pytest.raises(InvalidError):
        sessions.revoke_sessions(world)
    assert alive(world)


def test_ending_all_needs_the_right_and_tells_of_what_is_visible(
    world: Context, actor_with: ActorWith
) -> None:
    bob = by(world, "bob")
    with pytest.raises(DeniedError):
        sessions.revoke_all_sessions(bob)
    limited = reader_of_bob(world, actor_with, REVOKE)
    assert {one.user for one in sessions.revoke_all_sessions(limited).affected} == {"ada", "bob"}
    assert not alive(bob)
    assert not alive(world)


def test_a_dry_run_tells_and_ends_nothing(world: Context) -> None:
    bob = by(world, "bob")
    world.store.dry_run = True
    dry = replace(world, dry_run=True)
    assert len(sessions.revoke_sessions(dry, user_ids=["bob"]).affected) == 2
    sessions.revoke_all_sessions(dry)
    world.store.dry_run = False
    assert alive(bob)
