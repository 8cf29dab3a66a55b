"""Facts about the guard: who gets in, what a refusal says, and what it never tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mgmtctl.domain.errors import DeniedError, MgmtctlError, NotFoundError, UnauthenticatedError
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations.access import admit
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import each, needs, one
from mgmtctl.operations.results import grouped
from mgmtctl.store.agents import NewAgent
from tests.operations.access_world import acting, add_role, add_user, allow, deny

READ_AGENTS = needs("agent:read", each("agent:id", "agents_list"))
READ_AGENT = needs("agent:read", one("agent:id", "agent_id"))
DELETE_AGENT = needs("agent:delete", one("agent:id", "agent_id"))
READ_GROUP = needs("group:read", one("group:id", "group_id"))
UPDATE_GROUP = needs("group:update_config", one("group:id", "group_id"))
READ_USER = needs("security:read", one("user:id", "user_id"))


@pytest.fixture
def fleet(service: Context) -> Context:
    """web-01 (001) in web, db-01 (002) in db."""
    for group in ("web", "db"):
        service.folders.create_group(group)
    with service.atomic():
        service.store.agents.add([_agent(1, "web-01", "web"), _agent(2, "db-01", "db")], now=0)
    return service


def _agent(number: int, name: str, group: str) -> NewAgent:
    return NewAgent(number, name, "any", "0" * 64, group)


def _as(ctx: Context, *blocks: dict[str, Any]) -> Context:
    return acting(ctx, add_user(ctx, "somebody", add_role(ctx, "some", *blocks)))


def _outcome(call: Callable[[], object]) -> tuple[str, str] | None:
    try:
        call()
    except MgmtctlError as error:
        return type(error).__name__, error.problem
    return None


def test_nobody_gets_in_without_a_session(anonymous: Context) -> None:
    with pytest.raises(UnauthenticatedError):
        admit(anonymous, (READ_AGENT,), None, {"agent_id": "001"})


@pytest.mark.parametrize(
    "reference", [pytest.param("002", id="it exists"), pytest.param("999", id="it does not")]
)
def test_an_id_that_may_not_be_read_is_denied_whether_it_exists_or_not(
    fleet: Context, reference: str
) -> None:
    ctx = _as(fleet, allow("agent:read", "agent:group:web"))
    with pytest.raises(DeniedError) as caught:
        admit(ctx, (READ_AGENT,), None, {"agent_id": reference})
    assert caught.value.problem == f"permission denied: agent:read on agent:id:{reference}"


@pytest.mark.parametrize(
    "reference", [pytest.param("db-01", id="it exists"), pytest.param("db-99", id="it does not")]
)
def test_a_name_that_may_not_be_read_is_not_found_whether_it_exists_or_not(
    fleet: Context, reference: str
) -> None:
    ctx = _as(fleet, allow("agent:read", "agent:group:web"))
    with pytest.raises(NotFoundError) as caught:
        admit(ctx, (READ_AGENT,), None, {"agent_id": reference})
    assert (caught.value.problem, caught.value.fix) == (f"agent `{reference}` does not exist", None)


def test_a_name_that_may_be_read_but_not_changed_is_denied(fleet: Context) -> None:
    ctx = _as(fleet, allow("agent:read", "agent:group:web"))
    with pytest.raises(DeniedError) as caught:
        admit(ctx, (DELETE_AGENT,), None, {"agent_id": "web-01"})
    assert (caught.value.action, caught.value.resource) == ("agent:delete", "agent:id:web-01")


def test_a_group_that_may_not_be_read_is_not_found(fleet: Context) -> None:
    ctx = _as(fleet, allow("group:read", "group:id:web"))
    assert _outcome(lambda: admit(ctx, (READ_GROUP,), None, {"group_id": "db"})) == (
        "NotFoundError",
        "group `db` does not exist",
    )
    assert _outcome(lambda: admit(ctx, (UPDATE_GROUP,), None, {"group_id": "web"})) == (
        "DeniedError",
        "permission denied: group:update_config on group:id:web",
    )


def test_names_and_short_ids_become_canonical(fleet: Context) -> None:
    arguments: dict[str, Any] = {"agents_list": ["web-01", "1", "001", "name:db-01"]}
    assert admit(fleet, (READ_AGENTS,), None, arguments) == ()
    assert arguments == {"agents_list": ["001", "002"]}


def test_of_explicit_ids_the_permitted_part_is_handled_and_the_rest_is_reported(fleet: Context) -> None:
    ctx = _as(fleet, allow("agent:read", "agent:group:web"))
    arguments: dict[str, Any] = {"agents_list": ["001", "002", "db-01"]}
    failures = admit(ctx, (READ_AGENTS,), None, arguments)
    assert arguments == {"agents_list": ["001"]}
    assert [(failure.error.code, failure.ids) for failure in failures] == [
        (4000, ("002",)),
        (1701, ("db-01",)),
    ]


def test_explicit_ids_that_are_all_denied_are_a_refusal(fleet: Context) -> None:
    ctx = _as(fleet, allow("agent:read", "agent:group:web"))
    with pytest.raises(DeniedError):
        admit(ctx, (READ_AGENTS,), None, {"agents_list": ["002", "003"]})


def test_no_ids_given_means_the_scope_of_what_is_permitted(fleet: Context) -> None:
    ctx = _as(fleet, allow("agent:read", "agent:group:web"), deny("agent:read", "agent:id:001"))
    arguments: dict[str, Any] = {"agents_list": None}
    admit(ctx, (READ_AGENTS,), None, arguments)
    assert arguments["agents_list"] == Scope(groups=frozenset({"web"}), denied_values=frozenset({"001"}))


def test_many_ids_are_decided_like_few(fleet: Context) -> None:
    ctx = _as(fleet, allow("agent:read", "agent:group:web"))
    asked = [str(number).zfill(3) for number in range(1, 200)]
    arguments: dict[str, Any] = {"agents_list": asked}
    failures = admit(ctx, (READ_AGENTS,), None, arguments)
    assert arguments == {"agents_list": ["001"]}
    assert [failure.ids for failure in failures] == [tuple(asked[1:])]


def test_a_digits_only_argument_is_always_an_id(fleet: Context) -> None:
    with pytest.raises(NotFoundError):
        admit(fleet, (READ_USER,), None, {"user_id": "4711"})


def test_those_who_may_not_read_roles_see_no_reasons(fleet: Context) -> None:
    ctx = _as(fleet, allow("agent:read", "agent:group:web"))
    with pytest.raises(DeniedError) as caught:
        admit(ctx, (DELETE_AGENT,), None, {"agent_id": "001"})
    decision: Any = caught.value.facts()["decision"]
    assert (decision["because"], decision["near_misses"], decision["roles_that_hold"]) == ([], [], [])
    command = "mgmtctl can-i agent:delete agent:id:001 --as somebody --explain"
    assert caught.value.fix == f"ask an administrator:\n{command}"


def test_those_who_may_read_roles_see_entries_near_misses_and_holders(fleet: Context) -> None:
    ctx = _as(
        fleet,
        allow("agent:read", "agent:group:web"),
        allow("agent:delete", "agent:group:db"),
        allow("security:read", "role:id:*", "policy:id:*"),
    )
    with pytest.raises(DeniedError) as caught:
        admit(ctx, (DELETE_AGENT,), None, {"agent_id": "001"})
    facts: Any = caught.value.facts()["decision"]
    assert facts["roles_that_hold"] == ["administrator", "agents_admin"]
    assert "001 is in web; this grants group db" in (caught.value.why or "")


def test_the_groups_of_an_agent_that_may_not_be_read_stay_out_of_the_reasons(fleet: Context) -> None:
    ctx = _as(
        fleet,
        allow("agent:delete", "agent:group:db"),
        allow("security:read", "role:id:*", "policy:id:*"),
    )
    with pytest.raises(DeniedError) as caught:
        admit(ctx, (DELETE_AGENT,), None, {"agent_id": "001"})
    facts: Any = caught.value.facts()["decision"]
    assert (facts["near_misses"], facts["roles_that_hold"]) == ([], [])
    assert "web" not in (caught.value.why or "")


def test_failures_of_one_reason_are_one_failure() -> None:
    failures = grouped(
        [("1", NotFoundError("agent", "1", code=1701)), ("2", NotFoundError("agent", "2", code=1701))]
    )
    assert [failure.ids for failure in failures] == [("1", "2")]
