"""What a change of access would mean is told before it is made, and only as far as the caller may know (D 1, D 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError
from mgmtctl.domain.impact import Impact
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import agents, groups, policies, roles, rules, users
from mgmtctl.operations import impact as operations
from mgmtctl.operations.context import Context
from mgmtctl.store.store import Store
from tests.operations.access_world import (
    ANY_CONTEXT,
    acting,
    add_policy,
    add_role,
    add_rule,
    add_user,
    allow,
    deny,
    everything,
)

WEB = allow("agent:read", "agent:group:web")
DB = allow("agent:read", "agent:group:db")


@pytest.fixture
def admin(anonymous: Context) -> Context:
    """The administrator in a dry run, with five agents: 001-003 in web, 003 and 004 in db, 005 in neither."""
    store = anonymous.store
    for group in ("web", "db"):
        anonymous.folders.create_group(group)
    for number, names in enumerate((["web"], ["web"], ["web", "db"], ["db"], ["default"]), start=1):
        add_agent(store, number, names)
    return dry(acting(anonymous, 1))


def add_agent(store: Store, number: int, groups: list[str]) -> None:
    names = ",".join(groups)
    store.database.execute(
        "INSERT INTO agents (id, name, name_key, key, date_add, groups) VALUES (?, ?, ?, '', 0, ?)",
        (number, f"a{number}", f"a{number}", names),
    )
    for position, group in enumerate(groups):
        store.database.execute("INSERT INTO memberships VALUES (?, ?, ?)", (group, number, position))


def dry(ctx: Context) -> Context:
    ctx.store.dry_run = True
    return replace(ctx, dry_run=True, impacts=[])


def told(found: Impact) -> list[tuple[list[str], list[tuple[str, str, list[str], int | None]]]]:
    """Each group of subjects as `kind name`, with (change, actions, resources, count) of each effect."""
    return [
        (
            [" ".join(filter(None, (s.kind, s.name, s.part, s.by))) for s in consequence.subjects],
            [
                (e.change, ",".join(e.actions), [str(r) for r in e.resources], e.count)
                for e in consequence.effects
            ],
        )
        for consequence in found.consequences
    ]


def impact_of(ctx: Context, change: Callable[[Context], object]) -> Impact:
    """The impact of a change in a dry run, which leaves no trace."""
    before = everything(ctx)
    change(ctx)
    assert everything(ctx) == before
    return ctx.impacts.pop()()


READS_WEB = ("gains", "agent:read", ["agent:group:web"], 3)
LOSES_WEB = ("loses", "agent:read", ["agent:group:web"], 3)


def test_a_role_that_is_given_to_a_user(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    user = add_user(admin, "ann")
    found = impact_of(admin, lambda ctx: users.link_roles(ctx, str(user), [str(role)]))
    assert told(found) == [(["user ann"], [READS_WEB])]


def test_a_policy_that_is_linked_reaches_role_users_and_contexts(admin: Context) -> None:
    role = add_role(admin, "team")
    policy = add_policy(admin, "p", WEB)
    add_user(admin, "ann", role)
    add_user(admin, "bob", role, add_role(admin, "other", allow("agent:read", "agent:id:003")))
    add_rule(admin, "staff", role)
    found = impact_of(admin, lambda ctx: roles.link_policies(ctx, str(role), [str(policy)]))
    assert told(found) == [
        (["role team", "user ann", "rule staff"], [READS_WEB]),
        (["user bob"], [("gains", "agent:read", ["agent:group:web"], 2)]),
    ]


def test_another_document_of_a_policy(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    policy = str(admin.store.policies.find("team"))
    found = impact_of(admin, lambda ctx: policies.update_policy(ctx, policy, document=DB))
    gained = ("gains", "agent:read", ["agent:group:db"], 1)
    lost = ("loses", "agent:read", ["agent:group:web"], 2)
    assert told(found) == [(["role team"], [gained, lost])]
    assert role


def test_a_deny_that_is_deleted_gives(admin: Context) -> None:
    add_user(
        admin,
        "ann",
        add_role(admin, "team", WEB),
        add_role(admin, "calm", deny("agent:read", "agent:id:001")),
    )
    policy = str(admin.store.policies.find("calm"))
    found = impact_of(admin, lambda ctx: policies.delete_policies(ctx, [policy]))
    assert told(found) == [(["user ann"], [("gains", "agent:read", ["agent:id:001"], 1)])]


def test_a_user_that_is_made_and_one_that_is_deleted(admin: Context) -> None:
    add_user(admin, "ann", add_role(admin, "team", WEB))
    made = impact_of(admin, lambda ctx: users.create_user(ctx, "bob", "Secret-phrase-1", ["team"]))
    gone = impact_of(admin, lambda ctx: users.delete_users(ctx, [str(admin.store.users.find("ann"))]))
    assert (told(made), told(gone)) == ([(["user bob"], [READS_WEB])], [(["user ann"], [LOSES_WEB])])


def test_a_role_that_is_deleted(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    add_user(admin, "ann", role)
    found = impact_of(admin, lambda ctx: roles.delete_roles(ctx, [str(role)]))
    assert told(found) == [(["role team", "user ann"], [LOSES_WEB])]


def test_a_rule_that_asks_something_else_is_for_other_contexts(admin: Context) -> None:
    rule = add_rule(admin, "staff", add_role(admin, "team", WEB))
    other = {"MATCH": {"x": "y"}}
    found = impact_of(admin, lambda ctx: rules.update_rule(ctx, str(rule), document=other))
    assert told(found) == [(["rule staff before"], [LOSES_WEB]), (["rule staff after"], [READS_WEB])]
    assert (
        impact_of(admin, lambda ctx: rules.update_rule(ctx, str(rule), document=ANY_CONTEXT)).consequences
        == ()
    )


def test_the_right_to_bring_contexts_gives_what_rules_lead_to(admin: Context) -> None:
    add_rule(admin, "staff", add_role(admin, "team", WEB))
    user = add_user(admin, "portal")
    found = impact_of(admin, lambda ctx: users.set_run_as(ctx, str(user), True))
    assert told(found) == [(["rule staff portal"], [READS_WEB])]


def test_a_change_that_gives_nobody_anything(admin: Context) -> None:
    role, policy = add_role(admin, "team", WEB), add_policy(admin, "same", WEB)
    found = impact_of(admin, lambda ctx: roles.link_policies(ctx, str(role), [str(policy)]))
    assert (found.consequences, found.complete) == ((), True)


def test_a_real_run_does_not_pay_for_it(admin: Context) -> None:
    role, user = add_role(admin, "team", WEB), add_user(admin, "ann")
    admin.store.dry_run = False
    real = replace(admin, dry_run=False, impacts=[])
    users.link_roles(real, str(user), [str(role)])
    assert real.impacts == []


def test_a_refused_change_has_no_impact(admin: Context) -> None:
    me = dry(reader(admin, allow("security:update", "user:id:*", "role:id:*")))
    role, user = add_role(admin, "team", WEB), add_user(admin, "ann")
    with pytest.raises(DeniedError):
        users.link_roles(me, str(user), [str(role)])
    assert me.impacts == []


def test_sessions_that_would_end_are_counted(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    ann, bob = add_user(admin, "ann", role), add_user(admin, "bob")
    for user, held in ((ann, (role,)), (ann, (role,)), (bob, ())):
        add_session(admin, user, held)
    found = impact_of(admin, lambda ctx: users.unlink_roles(ctx, str(ann), [str(role)]))
    assert found.sessions == 2
    assert impact_of(admin, lambda ctx: users.unlink_roles(ctx, str(bob), [str(role)])).sessions == 0


def add_session(ctx: Context, user_id: int, role_ids: tuple[int, ...], **more: Any) -> None:
    from mgmtctl.store.sessions import Session

    count = ctx.store.database.value("SELECT count(*) FROM sessions")
    generations = ctx.store.sessions.generations(user_id, role_ids, context=False) or ""
    expires = int(ctx.now()) + int(more.get("life", 900))
    session = Session(f"{count:064}", f"{count}", user_id, None, None, role_ids, generations, 0, expires)
    ctx.store.sessions.add(session)


# --- what the caller may not know ---------------------------------------------------------------------------------


def reader(ctx: Context, *blocks: dict[str, Any]) -> Context:
    return acting(ctx, add_user(ctx, "reader", add_role(ctx, "reader", *blocks)))


def test_subjects_and_names_that_the_caller_may_not_read_stay_out(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    ann = add_user(admin, "ann", role)
    add_user(admin, "hidden-user", role)
    add_session(admin, ann, (role,))
    add_rule(admin, "hidden-rule", role)
    policy = str(admin.store.policies.find("team"))
    groups = allow("group:read", "group:id:*")
    me = reader(
        admin, allow("security:read", f"policy:id:{policy}", f"user:id:{ann}", f"role:id:{role}"), groups
    )
    found = operations.policy_impact(me, policy, DB)
    assert [part[0] for part in told(found)] == [["role team", "user ann"]]
    assert (found.sessions, found.complete) == (1, False)
    assert set(found.names.values()) == {"team", "ann"}
    assert "hidden" not in str(found.record())


def test_counts_and_groups_are_those_that_the_caller_may_read(admin: Context) -> None:
    role = add_role(admin, "team")
    policy = str(add_policy(admin, "p", allow("agent:read", "agent:group:web", "agent:group:db")))
    admin.store.roles.link_policy(role, int(policy))
    me = reader(
        admin,
        allow("security:read", f"policy:id:{policy}", f"role:id:{role}"),
        allow("agent:read", "agent:id:003"),
    )
    found = operations.policy_impact(me, policy, allow("agent:delete", "agent:id:*"))
    assert told(found) == [
        (
            ["role team"],
            [
                ("gains", "agent:delete", ["agent:id:*"], 1),
                ("loses", "agent:read", ["agent:group:db", "agent:group:web"], 1),
            ],
        )
    ]
    nobody = acting(
        admin, add_user(admin, "no", add_role(admin, "no", allow("security:read", f"policy:id:{policy}")))
    )
    assert operations.policy_impact(nobody, policy, DB).consequences == ()


def test_a_reader_of_every_policy_has_read_every_expression(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    me = reader(admin, allow("security:read", "policy:id:*", f"role:id:{role}"))
    found = operations.policy_impact(me, str(admin.store.policies.find("team")), DB)
    (effects,) = [part[1] for part in told(found)]
    assert [(change, names, count) for change, _, names, count in effects] == [
        ("gains", ["agent:group:db"], None),
        ("loses", ["agent:group:web"], None),
    ]


def test_a_reader_of_the_policy_has_read_its_expressions(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    policy = str(admin.store.policies.find("team"))
    admin.store.roles.link_policy(role, add_policy(admin, "hidden", deny("agent:read", "agent:group:db")))
    me = reader(admin, allow("security:read", f"policy:id:{policy}", f"role:id:{role}"))
    both = allow("agent:read", "agent:id:*")
    assert told(operations.policy_impact(me, policy, both)) == [
        (["role team"], [("gains", "agent:read", ["agent:id:*"], None)])
    ]
    assert "db" not in str(operations.policy_impact(me, policy, both).record())
    new = operations.new_policy_impact(me, str(role), "new", allow("agent:delete", "agent:id:001"))
    assert told(new) == [(["role team"], [("gains", "agent:delete", ["agent:id:001"], None)])]


# --- agents that change groups ------------------------------------------------------------------------------------


def test_agents_that_change_groups_are_gained_and_lost(admin: Context) -> None:
    role = add_role(
        admin, "team", WEB, deny("agent:read", "agent:id:003"), allow("agent:delete", "agent:id:*")
    )
    add_user(admin, "ann", role)
    add_rule(admin, "staff", add_role(admin, "dbs", DB))
    team, dbs = ["role team", "user ann"], ["role dbs", "rule staff"]
    moved = impact_of(admin, lambda ctx: agents.set_agent_groups(ctx, "001", ["db"]))
    assert told(moved) == [
        (team, [("loses", "agent:read", ["agent:id:001"], 1)]),
        (dbs, [("gains", "agent:read", ["agent:id:001"], 1)]),
    ]
    several = impact_of(admin, lambda ctx: agents.remove_agents_from_group(ctx, "web", ["001", "002", "003"]))
    assert told(several) == [(team, [("loses", "agent:read", ["agent:id:001", "agent:id:002"], 2)])]
    deleted = impact_of(admin, lambda ctx: groups.delete_groups(ctx, ["web", "db"], force=True))
    assert [effects[0][2] for _, effects in told(deleted)] == [
        ["agent:id:001", "agent:id:002"],
        ["agent:id:003", "agent:id:004"],
    ]
    assert told(impact_of(admin, lambda ctx: agents.add_agent_to_group(ctx, "001", "web"))) == []


def test_of_agents_that_change_groups_only_readable_ones_are_told(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    add_user(admin, "ann", role)
    assigns = allow("agent:modify_group", "agent:id:*"), allow("group:modify_assignments", "group:id:*")
    sees = allow("security:read", f"role:id:{role}"), allow("agent:read", "agent:id:001")
    me, blind = (
        dry(acting(admin, add_user(admin, name, add_role(admin, name, *assigns, *more))))
        for name, more in (("reader", sees), ("blind", sees[:1]))
    )
    both = ["001", "002"]
    found = impact_of(me, lambda ctx: agents.remove_agents_from_group(ctx, "web", both))
    assert told(found) == [(["role team"], [("loses", "agent:read", ["agent:id:001"], 1)])]
    assert (found.complete, "ann" in str(found)) == (False, False)
    assert impact_of(blind, lambda ctx: agents.remove_agents_from_group(ctx, "web", both)).consequences == ()


# --- policies impact ----------------------------------------------------------------------------------------------


def test_reading_a_policy_is_enough_to_ask(admin: Context) -> None:
    role = add_role(admin, "team", WEB)
    policy = str(admin.store.policies.find("team"))
    me = reader(
        admin,
        allow("security:read", f"policy:id:{policy}", f"role:id:{role}"),
        allow("agent:read", "agent:id:*"),
    )
    me.store.dry_run, before = False, everything(me)
    found = operations.policy_impact(replace(me, dry_run=False), policy, allow("agent:delete", "agent:id:*"))
    assert told(found)[0][1] == [("gains", "agent:delete", ["agent:id:*"], 5), LOSES_WEB]
    assert everything(me) == before
    with pytest.raises(NotFoundError):
        operations.policy_impact(me, "administrator-policy", WEB)
    with pytest.raises(DeniedError):
        operations.policy_impact(me, "1", WEB)


def test_what_can_never_be_is_refused_as_ever(admin: Context) -> None:
    add_role(admin, "team", WEB)
    with pytest.raises(InvalidError):
        operations.policy_impact(admin, "team", allow("agent:raed", "agent:id:*"))
    with pytest.raises(ConflictError):
        operations.policy_impact(admin, "1", WEB)


def test_a_new_policy_is_asked_about_for_a_role(admin: Context) -> None:
    role = add_role(admin, "team")
    add_user(admin, "ann", role)
    before = everything(admin)
    for name in ("new", "agents_read"):
        found = operations.new_policy_impact(admin, "team", name, WEB)
        assert told(found) == [(["role team", "user ann"], [READS_WEB])]
    assert everything(admin) == before


def test_a_policy_can_be_asked_about_for_one_more_role(admin: Context) -> None:
    add_policy(admin, "p", WEB)
    add_role(admin, "team")
    assert operations.policy_impact(admin, "p", WEB).consequences == ()
    assert told(operations.policy_impact(admin, "p", WEB, "team")) == [(["role team"], [READS_WEB])]
    reads_policy = reader(admin, allow("security:read", "policy:id:*"))
    with pytest.raises(NotFoundError):
        operations.policy_impact(reads_policy, "p", WEB, "team")


# --- counting -----------------------------------------------------------------------------------------------------

GROUPS = st.frozensets(st.sampled_from(["a", "b"]))
IDS = st.frozensets(st.sampled_from(["001", "002", "003"]))
SCOPES = st.builds(
    Scope, everything=st.booleans(), values=IDS, groups=GROUPS, grouped=st.booleans(), denied_values=IDS,
    denied_groups=GROUPS,
)  # fmt: skip
AGENTS = {"001": ["a"], "002": ["a", "b"], "003": [], "004": ["b"]}


@pytest.fixture(scope="module")
def fleet() -> Store:
    store = Store(":memory:", create=True)
    for number, names in AGENTS.items():
        add_agent(store, int(number), names)
    return store


@settings(max_examples=150, deadline=None)
@given(SCOPES, SCOPES, SCOPES)
def test_counting_by_sql_agrees_with_asking_for_each_agent(
    fleet: Store, wide: Scope, narrow: Scope, readable: Scope
) -> None:
    asked = [
        wide.covers(agent, groups) and readable.covers(agent, groups) and not narrow.covers(agent, groups)
        for agent, groups in AGENTS.items()
    ]
    assert fleet.agents.count_beyond(wide, narrow, readable) == sum(asked)
