"""Who may do something: exactly those for whom the question says yes, and nobody whom the caller may not read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import DeniedError, NotFoundError, QuestionError, UnauthenticatedError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import decisions, reach
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_policy, add_role, add_rule, add_user, allow, deny

ACTION = "agent:read"
RESOURCES = (
    "agent:id:*",
    "agent:id:001",
    "agent:id:002",
    "agent:group:web",
    "agent:group:db",
    "agent:group:*",
)


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator, and two agents: 001 web-1 in web, 002 db-1 in db and web."""
    ctx = acting(anonymous, 1)
    for number, name, groups in ((1, "web-1", "web"), (2, "db-1", "db,web")):
        ctx.store.database.execute(
            "INSERT INTO agents (id, name, name_key, key, date_add, groups) VALUES (?, ?, ?, '', 0, ?)",
            (number, name, name, groups),
        )
        for position, group in enumerate(groups.split(",")):
            ctx.store.database.execute(
                "INSERT INTO memberships (group_name, agent_id, position) VALUES (?, ?, ?)",
                (group, number, position),
            )
    return ctx


@pytest.fixture
def teams(service: Context) -> Context:
    """Two roles: web may read agents of web, calm denies it on those of db; ann has one, bob both, eve none."""
    web = add_role(service, "web", allow(ACTION, "agent:group:web"), allow("agent:restart", "agent:id:*"))
    calm = add_role(service, "calm", deny(ACTION, "agent:group:db"))
    for name, roles in (("ann", (web,)), ("bob", (web, calm)), ("eve", ())):
        add_user(service, name, *roles)
    add_rule(service, "to-web", web)
    add_rule(service, "to-both", web, calm)
    return service


def who(ctx: Context, resource: str, action: str = ACTION) -> list[str]:
    return [f"{one.kind} {one.name}" for one in reach.who_can(ctx, action, resource).affected]


SHIPPED = ["rule wui_stacka_admin", "rule wui_stackb_admin"]


def test_users_and_rules_are_listed_that_may(teams: Context) -> None:
    assert who(teams, "agent:id:web-1") == [
        *("user admin", "user wui", "user ann", "user bob"),
        *(*SHIPPED, "rule to-web", "rule to-both"),
    ]


def test_a_deny_of_any_role_takes_somebody_out(teams: Context) -> None:
    assert who(teams, "agent:id:002") == ["user admin", "user wui", "user ann", *SHIPPED, "rule to-web"]


def test_the_chain_is_told_from_the_user_to_the_resource(teams: Context) -> None:
    ann = next(one for one in reach.who_can(teams, ACTION, "agent:id:1").affected if one.name == "ann")
    record: dict[str, Any] = ann.record()
    assert {name: record[name] for name in ("user", "via", "role", "policy", "block", "on", "by_mode")} == {
        "user": "ann",
        "via": "link",
        "role": ["web"],
        "policy": ["web"],
        "block": ["b0"],
        "on": ["agent:group:web"],
        "by_mode": False,
    }
    assert [(entry["role"]["via"], entry["effect"]) for entry in record["because"]] == [("linked", "allow")]


def test_a_rule_reads_as_a_context_login_and_a_shipped_one_names_its_only_user(teams: Context) -> None:
    found = {one.name: one.record() for one in reach.who_can(teams, ACTION, "agent:id:001").affected}
    assert (found["to-web"]["user"], found["to-web"]["via"]) == ("any context login", "rule to-web")
    assert found["to-web"]["because"][0]["role"]["via"] == "rule to-web"
    assert found["wui_stacka_admin"]["user"] == "context login of wui"


def test_in_black_mode_the_mode_is_the_reason_where_no_entry_is(teams: Context) -> None:
    add_user(teams, "zoe", add_role(teams, "empty"))
    teams.store.settings.set("rbac_mode", "black")
    result = reach.who_can(teams, "group:create", "*:*:*")
    found = {one.name: (one.chain.by_mode, one.via, one.chain.entries) for one in result.affected}
    assert found["zoe"] == (True, "mode black", ())
    assert found["to-both"] == (True, "rule to-both, mode black", ())
    assert found["admin"][0] is False
    assert "eve" not in found
    assert any("mode black" in note for note in result.notes)


def test_what_may_not_be_read_is_left_out(teams: Context) -> None:
    role = add_role(
        teams,
        "reader",
        allow("security:read", "user:id:1", "user:id:100"),
        allow(ACTION, "agent:id:*"),
    )
    reader = acting(teams, add_user(teams, "reader", role))
    result = reach.who_can(reader, ACTION, "agent:id:001")
    assert [(one.name, one.chain.entries, one.chain.by_mode) for one in result.affected] == [
        ("admin", (), False),
        ("ann", (), False),
    ]
    assert result.notes == ("only users and rules that you may read are listed",)


def test_one_who_may_read_nobody_gets_an_empty_list(teams: Context) -> None:
    lone = acting(teams, add_user(teams, "lone", add_role(teams, "lone", allow(ACTION, "agent:id:*"))))
    assert reach.who_can(lone, ACTION, "agent:id:001").affected == []


def test_an_agent_must_be_readable_to_be_asked_about(teams: Context) -> None:
    role = add_role(teams, "half", allow("security:read", "user:id:*"), allow(ACTION, "agent:id:001"))
    half = acting(teams, add_user(teams, "half", role))
    assert reach.who_can(half, ACTION, "agent:id:001").affected
    with pytest.raises(DeniedError):
        reach.who_can(half, ACTION, "agent:id:002")
    for name in ("db-1", "absent"):
        with pytest.raises(NotFoundError, match=f"agent `{name}` does not exist"):
            reach.who_can(half, ACTION, f"agent:id:{name}")


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        pytest.param("agent:raed", "agent:id:001", id="unknown action"),
        pytest.param(ACTION, "agnet:id:001", id="unknown kind"),
        pytest.param(ACTION, "*:*:*", id="a pair that is never asked"),
        pytest.param(ACTION, "", id="nothing"),
    ],
)
def test_what_cannot_be_asked_is_a_question_error(teams: Context, action: str, resource: str) -> None:
    with pytest.raises(QuestionError):
        reach.who_can(teams, action, resource)


def test_nobody_asks_without_a_session(anonymous: Context) -> None:
    with pytest.raises(UnauthenticatedError):
        reach.who_can(anonymous, ACTION, "agent:id:*")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (ListQuery(where="kind=rule;role=web"), ["to-web", "to-both"]),
        (ListQuery(where="policy=web;kind=user", sort="-name"), ["bob", "ann"]),
        (ListQuery(search="to-both"), ["to-both"]),
        (ListQuery(where="kind=user", limit=1), ["admin"]),
    ],
)
def test_the_list_can_be_queried(teams: Context, query: ListQuery, names: list[str]) -> None:
    found = reach.who_can(teams, ACTION, "agent:id:001", query=query)
    assert [one.name for one in found.affected] == names


def test_named_users_are_asked_about_without_rules(teams: Context) -> None:
    found = reach.who_can(teams, ACTION, "agent:id:001", user_ids=["ann", "eve"])
    assert [one.name for one in found.affected] == ["ann"]


blocks = st.builds(
    lambda effect, resources: effect(ACTION, *resources),
    st.sampled_from([allow, deny]),
    st.lists(st.sampled_from(RESOURCES), min_size=1, max_size=2, unique=True),
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    roles=st.lists(st.lists(blocks, max_size=2), min_size=2, max_size=3),
    users=st.lists(st.sets(st.integers(0, 1)), min_size=2, max_size=3),
    mode=st.sampled_from(("white", "black")),
    asked=st.sampled_from(
        ("agent:id:001", "agent:id:002", "agent:id:*", "agent:group:web", "agent:group:db")
    ),
)
def test_who_can_lists_exactly_those_for_whom_can_i_says_yes(
    service: Context, roles: list[list[dict[str, Any]]], users: list[set[int]], mode: str, asked: str
) -> None:
    store = service.store
    store.database.execute("SAVEPOINT world")
    try:
        store.settings.set("rbac_mode", mode)
        made = [add_role(service, f"r{number}") for number in range(len(roles))]
        for number, found in enumerate(roles):
            for place, block in enumerate(found):
                store.roles.link_policy(made[number], add_policy(service, f"p{number}_{place}", block))
        for number, places in enumerate(users):
            add_user(service, f"u{number}", *(made[place] for place in places))
        listed = {one.name for one in reach.who_can(service, ACTION, asked).affected if one.kind == "user"}
        able = {
            user.name
            for user in store.users.list()
            if decisions.can_i(service, ACTION, asked, user.name).allowed
        }
        assert listed == able
    finally:
        store.database.execute("ROLLBACK TO world")
        store.database.execute("RELEASE world")
