"""From the context id in the log back to the name and the rules that were true (S 5.4)."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import (
    DeniedError,
    InvalidError,
    NotFoundError,
    QuestionError,
    UnauthenticatedError,
)
from mgmtctl.operations import login, request_log, roles, rules
from mgmtctl.operations.context import Context
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

CONTEXT = parse_context(
    b'{"name": "ann of ops", "auth": {"team": "canary-team", "password": "canary-word"}, "mail": "canary@x"}'
)
SECRETS = (b"canary-team", b"canary-word", b"canary@x")
READ_LOG = {"actions": ["manager:read"], "resources": ["*:*:*"], "effect": "allow"}


@pytest.fixture
def world(service: Context, actor_with: ActorWith) -> Context:
    actor_with(name="portal", allow_run_as=True)
    roles.create_role(service, "ops")
    rules.create_rule(service, "of-ops", {"FIND": {"team": "r'canary.*'"}})
    rules.create_rule(service, "never", {"FIND": {"team": "none"}})
    roles.link_rules(service, "ops", ["of-ops", "never"])
    return service


def log_in(ctx: Context) -> Context:
    return login.resume(ctx, login.run_as(ctx, "portal", ADMIN_PASSWORD, CONTEXT).token)


def test_an_id_leads_to_name_keys_rules_and_roles(world: Context) -> None:
    login.who_am_i(log_in(world))
    found = request_log.show_context(world, CONTEXT.id[:8]).record()
    assert (found["context_id"], found["name"]) == (CONTEXT.id, "ann of ops")
    assert found["keys"]["auth"] == {"team": "****", "password": "****"}
    (one,) = found["logins"]
    assert (one["user"], one["logins"]) == ("portal", 1)
    assert one["rules"] == [{"id": "100", "name": "of-ops"}]
    assert one["roles"] == [{"id": "100", "name": "ops"}]
    assert [entry["uri"] for entry in found["requests"]] == [
        "POST /security/user/authenticate/run_as",
        "GET /security/users/me",
    ]


def test_rules_and_roles_keep_the_names_they_had(world: Context) -> None:
    log_in(world)
    rules.update_rule(world, "of-ops", name="renamed")
    log_in(world)
    rules.delete_rules(world, ["renamed"])
    log_in(world)
    logins = request_log.show_context(world, CONTEXT.id).logins
    assert [[rule["name"] for rule in one["rules"]] for one in logins] == [["of-ops"], ["renamed"], []]


def test_no_value_of_a_context_is_kept_anywhere(world: Context, home: Path) -> None:
    log_in(world)
    world.store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for path in home.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [secret for secret in SECRETS if secret in content], path


def test_reading_it_needs_the_right_to_read_the_log(world: Context, actor_with: ActorWith) -> None:
    log_in(world)
    with pytest.raises(DeniedError) as raised:
        request_log.show_context(actor_with(name="eve"), CONTEXT.id)
    assert raised.value.action == "manager:read"


def test_rules_and_roles_are_for_who_may_read_them(world: Context, actor_with: ActorWith) -> None:
    log_in(world)
    (one,) = request_log.show_context(actor_with([READ_LOG], name="eve"), CONTEXT.id).logins
    assert (one["user"], one["rules"], one["roles"]) == ("portal", [], [])


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        pytest.param("0" * 32, NotFoundError, id="an id nobody used"),
        pytest.param("ann of ops", QuestionError, id="a name"),
        pytest.param("", QuestionError, id="nothing"),
    ],
)
def test_what_is_no_known_id_is_refused(world: Context, reference: str, kind: type[Exception]) -> None:
    log_in(world)
    with pytest.raises(kind):
        request_log.show_context(world, reference)


def test_a_login_that_was_refused_is_known_from_the_log_alone(world: Context) -> None:
    with pytest.raises(DeniedError):
        login.run_as(world, "admin", ADMIN_PASSWORD, CONTEXT)
    found = request_log.show_context(world, CONTEXT.id)
    assert (found.keys["name"], list(found.logins)) == ("ann of ops", [])
    assert [entry.status_code for entry in found.requests] == [403]


def test_a_login_without_a_true_rule_is_registered_too(world: Context) -> None:
    rules.delete_rules(world, ["of-ops"])
    log_in(world)
    (one,) = request_log.show_context(world, CONTEXT.id).logins
    assert (one["rules"], one["roles"]) == ([], [])


def test_only_logins_that_succeed_are_registered(world: Context) -> None:
    with pytest.raises(UnauthenticatedError):
        login.run_as(world, "portal", "Wrong-Horse-77", CONTEXT)
    raw = parse_context(b'{"team": "canary-team"}', accept_raw=True)
    with pytest.raises(InvalidError):
        login.run_as(world, "portal", ADMIN_PASSWORD, raw)
    login.log_in(world, "portal", ADMIN_PASSWORD)
    assert world.store.database.value("SELECT count(*) FROM contexts") == 0


def test_so_many_requests_are_shown_as_were_asked_for(world: Context) -> None:
    session = log_in(world)
    for _ in range(5):
        login.who_am_i(session)
    assert len(request_log.show_context(world, CONTEXT.id, last=3).requests) == 3
    assert request_log.show_context(world, CONTEXT.id, last=0).requests == []


def test_a_list_of_requests_is_narrowed_to_a_context(world: Context) -> None:
    login.who_am_i(log_in(world))
    found = request_log.list_requests(world, context_id=CONTEXT.id[:10].upper()).affected
    assert [entry.uri for entry in found] == [
        "GET /security/users/me",
        "POST /security/user/authenticate/run_as",
    ]


def test_a_dry_run_undoes_no_entry(world: Context) -> None:
    world.store.dry_run = True
    log_in(replace(world, dry_run=True))
    world.store.dry_run = False
    assert request_log.show_context(world, CONTEXT.id).logins


def test_session_and_register_are_written_together_or_not_at_all(world: Context) -> None:
    world.store.database.execute("ALTER TABLE contexts RENAME TO elsewhere")
    before = world.store.database.value("SELECT count(*) FROM sessions")
    with pytest.raises(sqlite3.OperationalError):
        log_in(world)
    assert world.store.database.value("SELECT count(*) FROM sessions") == before
