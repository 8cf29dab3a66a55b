"""Questions about what somebody may do: verdicts, whom one may ask about, what the reasons may show."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mgmtctl.domain.auth_context import AuthContext, parse_context
from mgmtctl.domain.errors import DeniedError, NotFoundError, QuestionError
from mgmtctl.operations import agents, decisions
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_role, add_rule, add_user, allow, deny


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator, and three agents: 001 web-1 in web, 002 db-1 in db and web, 003 lone in default."""
    ctx = acting(anonymous, 1)
    for number, name, groups in ((1, "web-1", "web"), (2, "db-1", "db,web"), (3, "lone", "default")):
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
def reader(service: Context) -> Context:
    """One who may read the agents of group web but 002 not, and delete one."""
    role = add_role(
        service,
        "reader",
        allow("agent:read", "agent:group:web"),
        deny("agent:read", "agent:id:002"),
        allow("agent:delete", "agent:id:001"),
        allow("agent:create", "*:*:*"),
    )
    return acting(service, add_user(service, "reader", role))


def context(**auth: Any) -> AuthContext:
    return parse_context(json.dumps({"name": "test", "auth": auth}).encode())


@pytest.mark.parametrize(
    ("action", "resource", "allowed"),
    [
        ("agent:read", "agent:id:001", True),
        ("agent:read", "agent:id:1", True),
        ("agent:read", "agent:id:web-1", True),
        ("agent:read", "agent:id:WEB-1", True),
        ("agent:read", "agent:id:002", False),
        ("agent:read", "agent:id:003", False),
        ("agent:read", "agent:id:999", False),
        ("agent:read", "agent:group:db", False),
        ("agent:read", "agent:id:*", False),
        ("agent:delete", "agent:id:web-1", True),
        ("agent:create", "*:*:*", True),
        ("group:create", "*:*:*", False),
        ("security:read", "user:id:1", False),
    ],
)
def test_a_session_asks_about_itself(reader: Context, action: str, resource: str, allowed: bool) -> None:
    assert decisions.can_i(reader, action, resource).allowed is allowed


def test_the_answer_is_that_of_the_guard_for_every_agent(service: Context, reader: Context) -> None:
    from mgmtctl.operations import access

    for agent in ("001", "002", "003"):
        asked = decisions.can_i(reader, "agent:read", f"agent:id:{agent}").allowed
        try:
            access.demand(reader, "agent:read", "agent:id", agent)
            admitted = True
        except DeniedError:
            admitted = False
        assert asked is admitted


@pytest.mark.parametrize(
    ("action", "resource"),
    [
        pytest.param("agent:raed", "agent:id:001", id="unknown action"),
        pytest.param("agent:read", "agnet:id:001", id="unknown kind"),
        pytest.param("agent:read", "agent:001", id="two parts"),
        pytest.param("agent:read", "*:*:*", id="an action that is never resourceless"),
        pytest.param("agent:create", "agent:id:001", id="an action that is only resourceless"),
        pytest.param("agent:read", "*", id="a bare star"),
        pytest.param("agent:read", "agent:id:00*", id="half a star"),
        pytest.param("agent:read", "agent:group:..", id="no group name"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_what_cannot_be_asked_is_a_question_error(service: Context, action: str, resource: str) -> None:
    with pytest.raises(QuestionError):
        decisions.can_i(service, action, resource)


def test_unknown_users_and_roles_are_question_errors(service: Context) -> None:
    with pytest.raises(QuestionError, match="user `absent` does not exist"):
        decisions.can_i(service, "agent:read", "agent:id:001", user="absent")
    with pytest.raises(QuestionError, match="role `absent` does not exist"):
        decisions.can_i(service, "agent:read", "agent:id:001", roles=["absent"])
    with pytest.raises(QuestionError):
        decisions.can_i(service, "agent:read", "agent:id:001", user="admin", roles=["readonly"])


def test_an_agent_that_may_not_be_read_has_no_name(service: Context, reader: Context) -> None:
    for name in ("lone", "db-1", "absent"):
        with pytest.raises(NotFoundError, match=f"agent `{name}` does not exist"):
            decisions.can_i(reader, "agent:delete", f"agent:id:{name}")


def test_one_asks_about_oneself_by_name_without_a_right(service: Context, reader: Context) -> None:
    for me in ("reader", "READER", "100"):
        for agent in ("001", "002", "003", "999"):
            named, plain = (
                decisions.can_i(reader, "agent:delete", f"agent:id:{agent}", user=user) for user in (me, None)
            )
            assert {**named.record(), "subject": ""} == {**plain.record(), "subject": ""}
    by_context = acting(service, 100, roles=(100,))
    with pytest.raises(QuestionError, match="user `reader` does not exist"):
        decisions.can_i(by_context, "agent:delete", "agent:id:001", user="reader")


@pytest.mark.parametrize(
    ("blocks", "readable", "notes"),
    [
        pytest.param(
            [deny("agent:restart", "agent:id:002")], "*", ("1 of its 2 agents is denied: 002",), id="by id"
        ),
        pytest.param(
            [deny("agent:restart", "agent:group:db")],
            "*",
            ("1 of its 2 agents is denied: 002",),
            id="by group",
        ),
        pytest.param([deny("agent:restart", "agent:id:003")], "*", (), id="no member"),
        pytest.param([], "*", (), id="no deny"),
        pytest.param(
            [deny("agent:restart", "agent:id:001"), deny("agent:restart", "agent:id:002")],
            "001",
            ("1 of its 1 agents that you may read is denied: 001",),
            id="readable ones only",
        ),
        pytest.param([deny("agent:restart", "agent:id:002")], "001", (), id="a hidden one"),
    ],
)
def test_a_yes_for_a_group_names_its_agents_that_are_denied(
    service: Context, blocks: list[Any], readable: str, notes: tuple[str, ...]
) -> None:
    service.folders.prepare()
    service.folders.create_group("web")
    role = add_role(service, "team", allow("agent:restart", "agent:group:web"), *blocks)
    reading = add_role(service, "reading", allow("agent:read", f"agent:id:{readable}"))
    me = acting(service, add_user(service, "me", role, reading))
    answer = decisions.can_i(me, "agent:restart", "agent:group:web")
    assert (answer.allowed, answer.notes) == (True, notes)


def test_others_are_asked_about_with_their_own_roles(service: Context, reader: Context) -> None:
    answer = decisions.can_i(service, "agent:read", "agent:id:001", user="reader")
    assert (answer.allowed, answer.subject) == (True, "user reader")
    assert not decisions.can_i(service, "agent:read", "agent:id:002", user="reader").allowed


def test_roles_are_asked_about_together(service: Context, reader: Context) -> None:
    ask = decisions.can_i
    assert ask(service, "agent:read", "agent:id:002", roles=["readonly"]).allowed
    assert not ask(service, "agent:read", "agent:id:002", roles=["readonly", "reader"]).allowed
    assert not ask(service, "agent:read", "agent:id:002", roles=[]).allowed


def test_asking_about_others_needs_the_right_to_read_them(service: Context) -> None:
    role = add_role(service, "me", allow("security:read", "user:id:1"), allow("agent:read", "agent:id:001"))
    me = acting(service, add_user(service, "me", role))
    assert decisions.can_i(me, "agent:read", "agent:id:001", user="1").allowed
    for asked in ({"user": "2"}, {"roles": ["1"]}, {"context": context()}):
        with pytest.raises(DeniedError) as refused:
            decisions.can_i(me, "agent:read", "agent:id:001", **asked)
        assert refused.value.action == "security:read"
    with pytest.raises(DeniedError) as refused:
        decisions.can_i(me, "agent:read", "agent:id:002", user="1")
    assert (refused.value.action, refused.value.resource) == ("agent:read", "agent:id:002")


def test_the_reasons_name_who_spoke_and_who_holds_it(service: Context, reader: Context) -> None:
    answer = decisions.can_i(service, "agent:read", "agent:id:db-1", user="reader")
    record = answer.record()
    assert [entry["effect"] for entry in record["because"]] == ["deny"]  # type: ignore[attr-defined]
    assert "administrator" in answer.holders
    text = "\n".join(answer.lines())
    for part in (
        "mode white",
        "for user reader",
        "deny agent:read on agent:id:002",
        "role reader",
        "held by",
    ):
        assert part in text


def test_near_misses_are_shown_with_the_reason(service: Context, reader: Context) -> None:
    text = "\n".join(decisions.can_i(service, "agent:read", "agent:id:003", user="reader").lines())
    assert "003 is in default; this grants group web" in text


def test_who_may_not_read_roles_gets_the_verdict_only(service: Context, reader: Context) -> None:
    answer = decisions.can_i(reader, "agent:read", "agent:id:001")
    assert (answer.allowed, answer.holders, answer.decision.because) == (True, (), ())
    said = "\n".join(answer.lines()) + json.dumps(answer.record())
    assert "role reader" not in said
    assert "policy" not in said


def test_reasons_do_not_tell_the_groups_of_an_agent_that_is_hidden(service: Context) -> None:
    role = add_role(
        service,
        "auditor",
        allow("security:read", "role:id:*", "policy:id:*"),
        allow("agent:delete", "agent:group:web"),
    )
    auditor = acting(service, add_user(service, "auditor", role))
    answer = decisions.can_i(auditor, "agent:delete", "agent:id:003")
    said = "\n".join(answer.lines()) + json.dumps(answer.record())
    assert not answer.allowed
    assert "default;" not in said
    assert "agent:group:default" not in said


def test_a_context_is_asked_about_by_the_rules_that_are_true(service: Context) -> None:
    role = add_role(service, "north", allow("agent:read", "agent:group:web"))
    rule = service.store.rules.add("north", [{"FIND": {"office": "north"}}], None)
    service.store.roles.link_rule(role, rule)
    ask = decisions.can_i
    answer = ask(service, "agent:read", "agent:id:001", context=context(office="north"))
    assert answer.allowed
    assert "rule north" in "\n".join(answer.lines())
    none = ask(service, "agent:read", "agent:id:001", context=context(office="south"))
    assert (none.allowed, none.notes) == (False, ("no rule is true for this context",))


def test_default_rules_count_for_the_web_interface_only(service: Context) -> None:
    ask = decisions.can_i
    elastic = context(username="elastic")
    assert ask(service, "agent:read", "agent:id:001", user="wui", context=elastic).allowed
    assert not ask(service, "agent:read", "agent:id:001", context=elastic).allowed


def test_a_user_without_the_run_as_right_gets_nothing_from_a_context(service: Context) -> None:
    add_rule(service, "everybody", 1)
    ann = add_user(service, "ann")
    ask = decisions.can_i
    answer = ask(service, "agent:read", "agent:id:001", user="ann", context=context())
    assert (answer.allowed, "user ann may not use authorization contexts" in answer.notes) == (False, True)
    service.store.users.set_allow_run_as(ann, True)
    assert ask(service, "agent:read", "agent:id:001", user="ann", context=context()).allowed


def test_rules_that_may_not_be_read_are_not_evaluated_and_that_is_said(service: Context) -> None:
    add_rule(service, "hidden", 1)
    mine = add_rule(service, "mine")
    role = add_role(
        service, "me", allow("security:read", f"rule:id:{mine}"), allow("agent:read", "agent:id:*")
    )
    me = acting(service, add_user(service, "me", role))
    answer = decisions.can_i(me, "agent:delete", "agent:id:001", context=context())
    assert not answer.allowed
    assert "only the rules that you may read were evaluated" in answer.notes
    assert "hidden" not in "\n".join(answer.lines())


def test_black_mode_says_yes_to_what_nobody_denies_but_not_without_a_role(service: Context) -> None:
    service.store.settings.set("rbac_mode", "black")
    nobody = acting(service, add_user(service, "nobody"))
    someone = acting(service, add_user(service, "someone", add_role(service, "empty")))
    assert not decisions.can_i(nobody, "agent:read", "agent:id:001").allowed
    assert decisions.can_i(someone, "agent:read", "agent:id:001").allowed


@pytest.mark.parametrize(
    ("action", "resource", "notes"),
    [
        pytest.param("agent:read", "agent:group:absent", ("group `absent` does not exist",), id="no group"),
        pytest.param(
            "group:read", "group:id:absent", ("group `absent` does not exist",), id="no group by id"
        ),
        pytest.param("agent:read", "agent:group:empty", ("no agent is in group `empty`",), id="no member"),
        pytest.param("agent:read", "agent:id:999", ("agent `999` does not exist",), id="no agent"),
        pytest.param("security:read", "role:id:999", ("role `999` does not exist",), id="no role"),
        pytest.param("agent:read", "agent:group:default", (), id="a group with members"),
        pytest.param("agent:read", "agent:id:001", (), id="an agent"),
        pytest.param("agent:read", "agent:group:*", (), id="every group"),
        pytest.param("agent:create", "*:*:*", (), id="resourceless"),
    ],
)
def test_a_question_about_what_is_not_there_is_answered_with_a_note(
    service: Context, action: str, resource: str, notes: tuple[str, ...]
) -> None:
    service.folders.prepare()
    service.folders.create_group("empty")
    answer = decisions.can_i(service, action, resource)
    assert (answer.allowed, answer.notes) == (True, notes)


def test_whether_it_is_there_is_told_to_readers_only(service: Context, reader: Context) -> None:
    for resource in ("agent:id:003", "agent:id:999", "agent:group:absent", "agent:group:default"):
        assert decisions.can_i(reader, "agent:delete", resource).notes == ()


@pytest.mark.parametrize("hidden", [False, True], ids=["no agent", "a hidden agent"])
def test_who_is_denied_some_agents_does_not_hear_that_a_group_has_none(
    service: Context, *, hidden: bool
) -> None:
    service.folders.prepare()
    service.folders.create_group("half")
    may = allow("agent:read", "agent:group:half"), deny("agent:read", "agent:group:default")
    partly = add_role(service, "partly", *may, allow("group:read", "group:id:*"))
    reader = acting(service, add_user(service, "partly", partly))
    if hidden:
        agents.set_agent_groups(service, "001", ["default", "half"])
    assert decisions.can_i(reader, "agent:read", "agent:group:half").notes == ()


def test_an_unknown_agent_is_named_as_it_was_written(service: Context, reader: Context) -> None:
    with pytest.raises(NotFoundError, match="agent `050000` does not exist"):
        decisions.can_i(service, "agent:read", "agent:id:050000", user="reader")
