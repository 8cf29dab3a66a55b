"""Decisions and their reasons; the properties that make them safe."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.grants import BLACK, WHITE, AgentAccess, Entry, Grant, Permissions, decide
from mgmtctl.domain.resources import RESOURCELESS, Resource, agent_names
from mgmtctl.domain.scopes import Scope

AGENT_042 = agent_names("042", ["db", "default"])


def entry(
    effect: str, resource: str, action: str = "agent:read", policy: str = "p", role_id: int = 100
) -> Entry:
    return Entry(role_id, f"r{role_id}", "", 100, policy, "b", effect, action, Resource.stored(resource))


def test_a_decision_names_what_decided_and_what_lost() -> None:
    allow, deny = entry("allow", "agent:id:*", policy="all"), entry("deny", "agent:group:db", policy="not_db")
    denied = decide([allow, deny], WHITE, "agent:read", AGENT_042)
    assert (denied.allowed, denied.because, denied.overridden, denied.default) == (
        False,
        (deny,),
        (allow,),
        False,
    )
    allowed = decide([allow], WHITE, "agent:read", AGENT_042)
    assert (allowed.allowed, allowed.because, allowed.overridden, allowed.near_misses) == (
        True,
        (allow,),
        (),
        (),
    )


NEAR = [
    pytest.param("agent:group:web", "042 is in db, default; this grants group web", id="another group"),
    pytest.param("agent:id:001", "this grants 001 only, asked is 042", id="another id"),
    pytest.param(
        "*:*:*",
        "`*:*:*` never covers agent:read; it needs agent:id or agent:group",
        id="resourceless",
    ),
    pytest.param(
        "group:id:db",
        "agent:read is never asked on group:id; it needs agent:id or agent:group",
        id="another kind",
    ),
]


@pytest.mark.parametrize(("resource", "why"), NEAR)
def test_a_near_miss_says_why_it_does_not_count(resource: str, why: str) -> None:
    decision = decide([entry("allow", resource)], WHITE, "agent:read", AGENT_042)
    assert not decision.allowed
    assert decision.default
    assert [miss.why for miss in decision.near_misses] == [why]


def test_near_misses_are_entries_that_would_have_turned_the_decision() -> None:
    entries = [
        entry("allow", "agent:id:001"),
        entry("deny", "agent:id:002"),
        entry("allow", "agent:id:042", "agent:delete"),
    ]
    in_white = decide(entries, WHITE, "agent:read", AGENT_042)
    assert [miss.entry for miss in in_white.near_misses] == entries[:1]
    in_black = decide(entries, BLACK, "agent:read", AGENT_042)
    assert [miss.why for miss in in_black.near_misses] == ["this denies 002 only, asked is 042"]


def test_a_decision_reads_as_lines() -> None:
    team = Entry(
        100, "team-web", "rule sec", 100, "web_agents", "agents", "allow", "agent:read", AGENT_042[1]
    )
    decision = decide(
        [team._replace(resource=Resource.parse("agent:group:web"))], WHITE, "agent:read", AGENT_042
    )
    assert decision.lines() == [
        "denied (mode white): agent:read on agent:id:042",
        "  no entry covers it, and mode white denies what no policy allows",
        "  no effect   allow agent:read on agent:group:web",
        "              role team-web (rule sec), policy web_agents, block agents",
        "              042 is in db, default; this grants group web",
    ]


def test_of_many_reasons_the_first_are_listed() -> None:
    entries = [entry("allow", f"agent:id:{number:03}") for number in range(100, 120)]
    decision = decide(entries, WHITE, "agent:read", AGENT_042)
    lines = decision.lines()
    assert (len(lines), lines[-1]) == (2 + 8 * 3 + 1, "              and 12 more")
    assert len(decision.near_misses) == 20


OTHER_MISSES = [
    pytest.param(
        "agent:group:db", "agent:group:web", "this grants group web only, asked is group db", id="groups"
    ),
    pytest.param(
        "agent:group:db", "agent:id:001", "this grants 001 only, asked is group db", id="an id for a group"
    ),
    pytest.param(
        "agent:id:*", "agent:group:web", "this grants group web only, asked is every agent", id="all"
    ),
    pytest.param(
        "agent:id:007", "agent:group:*", "007 is in no group; this grants agents of any group", id="no group"
    ),
]


@pytest.mark.parametrize(("asked", "held", "why"), OTHER_MISSES)
def test_a_near_miss_of_a_group_or_of_all_says_why_too(asked: str, held: str, why: str) -> None:
    decision = decide([entry("allow", held)], WHITE, "agent:read", (Resource.parse(asked),))
    assert [miss.why for miss in decision.near_misses] == [why]


def test_a_deny_beside_what_is_allowed_is_not_called_without_effect() -> None:
    entries = [entry("allow", "agent:group:web"), entry("deny", "agent:id:002")]
    lines = decide(entries, WHITE, "agent:read", (Resource.parse("agent:group:web"),)).lines()
    assert "  elsewhere   deny agent:read on agent:id:002" in lines


def test_the_entries_of_one_action_are_those_of_all_that_name_it() -> None:
    blocks = {
        "a": {"actions": ["agent:read", "agent:delete"], "resources": ["agent:id:1"], "effect": "deny"},
        "b": {"actions": ["agent:delete"], "resources": ["agent:id:2"], "effect": "allow"},
    }
    permissions = Permissions.granted(WHITE, [Grant(100, "r", "", 100, "p", blocks)])
    for action in ("agent:read", "agent:delete", "agent:restart"):
        assert permissions.entries_of(action) == sorted(e for e in permissions.entries if e.action == action)


def test_a_decision_has_a_plain_form() -> None:
    record = decide([entry("allow", "agent:group:db")], WHITE, "agent:read", AGENT_042).record()
    assert record["resource"] == "agent:id:042"
    assert record["names"] == ["agent:id:042", "agent:group:db", "agent:group:default"]
    assert record["because"] == [
        {
            "role": {"id": "100", "name": "r100", "via": ""},
            "policy": {"id": "100", "name": "p", "block": "b"},
            "effect": "allow",
            "action": "agent:read",
            "resource": "agent:group:db",
        }
    ]


ABOUT_MANY = [
    pytest.param(["allow agent:id:*"], "agent:group:web", True, id="all agents include a group"),
    pytest.param(["allow agent:group:*"], "agent:group:web", True, id="all groups include a group"),
    pytest.param(["allow agent:group:db"], "agent:group:web", False, id="a group is not another"),
    pytest.param(["allow agent:id:001"], "agent:group:web", False, id="an agent is not a group"),
    pytest.param(["allow agent:group:*"], "agent:id:*", False, id="all groups are not all agents"),
    pytest.param(["allow agent:id:*", "deny agent:id:001"], "agent:id:*", False, id="all but one is not all"),
    pytest.param(
        ["allow agent:id:*", "deny agent:group:db"], "agent:id:*", False, id="all but a group is not all"
    ),
    pytest.param(["allow agent:id:*", "deny agent:group:db"], "agent:group:*", False, id="nor all groups"),
    pytest.param(
        ["allow agent:id:*", "deny agent:group:db"], "agent:group:web", True, id="but another group"
    ),
]


@pytest.mark.parametrize(("said", "asked", "allowed"), ABOUT_MANY)
def test_a_question_may_be_about_many_agents(said: list[str], asked: str, allowed: bool) -> None:
    entries = [entry(effect, resource) for effect, resource in map(str.split, said)]
    name = Resource.parse(asked)
    assert decide(entries, WHITE, "agent:read", (name,)).allowed is allowed
    assert Permissions(WHITE, entries).allows("agent:read", name) is allowed


UNASKABLE = [
    pytest.param("agent:raed", (RESOURCELESS,), "does not exist", id="an unknown action"),
    pytest.param("agent:read", (RESOURCELESS,), "never asked on", id="an action on a kind it does not use"),
    pytest.param("agent:read", (), "asked on nothing", id="no resource"),
]


@pytest.mark.parametrize("mode", [WHITE, BLACK])
@pytest.mark.parametrize(("action", "names", "problem"), UNASKABLE)
def test_what_cannot_be_asked_is_no_answer(
    mode: str, action: str, names: tuple[Resource, ...], problem: str
) -> None:
    permissions = Permissions(mode, [])
    for ask in (permissions.allows, permissions.decide):
        with pytest.raises(QuestionError, match=problem):
            ask(action, *names)
    if names:
        with pytest.raises(QuestionError, match=problem):
            permissions.scope(action, names[0].kind)


def test_whole_policies_give_the_same_as_their_entries() -> None:
    blocks = {
        "b": {
            "actions": ["agent:read", "agent:delete"],
            "resources": ["agent:id:1", "agent:group:db"],
            "effect": "deny",
        }
    }
    grant = Grant(100, "r", "", 100, "p", blocks)
    whole = Permissions.granted(BLACK, [grant])
    assert len(whole.entries) == 4
    assert whole.entries == tuple(grant.entries())
    unfolded = Permissions(BLACK, whole.entries)
    assert unfolded.entries == whole.entries
    assert unfolded.scope("agent:read", "agent:id") == whole.scope("agent:read", "agent:group")


def test_agent_access_asks_for_the_ids_of_an_action_once() -> None:
    asked: list[Scope] = []

    def ids_in(scope: Scope) -> frozenset[str]:
        asked.append(scope)
        return frozenset({"001", "002"})

    access = AgentAccess(Permissions(WHITE, [entry("allow", "agent:group:db")]), ids_in)
    assert [access.allows("agent:read", number) for number in ("001", "002", "003")] == [True, True, False]
    assert not access.allows("agent:delete", "001")
    assert asked == [Scope(groups=frozenset({"db"}))]


IDS = ["001", "002", "003"]
GROUPS = ["db", "web"]
RESOURCES = [
    "*:*:*",
    *(f"agent:id:{value}" for value in ["*", *IDS]),
    *(f"agent:group:{value}" for value in ["*", *GROUPS]),
]
ENTRIES = st.lists(
    st.builds(
        entry,
        st.sampled_from(["allow", "deny"]),
        st.sampled_from(RESOURCES),
        st.sampled_from(["agent:read", "agent:delete"]),
        role_id=st.integers(100, 102),
    ),
    max_size=6,
)
MODES = st.sampled_from([WHITE, BLACK])
NAMES = st.builds(agent_names, st.sampled_from(IDS), st.lists(st.sampled_from(GROUPS), unique=True))


@settings(max_examples=150)
@given(ENTRIES, MODES, NAMES, st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_entries_never_matters(
    entries: list[Entry], mode: str, names: tuple[Resource, ...], random: Random, has_roles: bool
) -> None:
    shuffled = list(entries)
    random.shuffle(shuffled)
    assert decide(entries, mode, "agent:read", names, has_roles) == decide(
        shuffled, mode, "agent:read", names, has_roles
    )


@settings(max_examples=150)
@given(ENTRIES, MODES, NAMES, st.sampled_from(RESOURCES))
def test_an_allow_never_takes_away_and_a_deny_never_gives(
    entries: list[Entry], mode: str, names: tuple[Resource, ...], resource: str
) -> None:
    now = decide(entries, mode, "agent:read", names).allowed
    with_allow = decide([*entries, entry("allow", resource)], mode, "agent:read", names).allowed
    with_deny = decide([*entries, entry("deny", resource)], mode, "agent:read", names).allowed
    assert with_deny <= now <= with_allow


@settings(max_examples=150)
@given(ENTRIES, MODES, NAMES, st.booleans())
def test_scopes_agree_with_decisions(
    entries: list[Entry], mode: str, names: tuple[Resource, ...], has_roles: bool
) -> None:
    permissions = Permissions(mode, entries, has_roles)
    allowed = decide(entries, mode, "agent:read", names, has_roles).allowed
    groups = [name.value for name in names[1:]]
    assert permissions.scope("agent:read", "agent:id").covers(names[0].value, groups) is allowed
    assert permissions.allows("agent:read", *names) is allowed
    assert permissions.scope("agent:read", "agent:id").is_nothing <= (not allowed)


@settings(max_examples=100)
@given(ENTRIES, st.sampled_from(RESOURCES[1:]), MODES)
def test_a_question_about_many_is_never_wider_than_its_entries(
    entries: list[Entry], asked: str, mode: str
) -> None:
    permissions = Permissions(mode, entries)
    name = Resource.stored(asked)
    assert permissions.allows("agent:read", name) is permissions.decide("agent:read", name).allowed


@settings(max_examples=50)
@given(ENTRIES, MODES, NAMES)
def test_a_session_without_roles_is_denied_in_both_modes(
    entries: list[Entry], mode: str, names: tuple[Resource, ...]
) -> None:
    decision = decide(entries, mode, "agent:read", names, has_roles=False)
    assert (decision.allowed, decision.because, decision.near_misses) == (False, (), ())
    assert "no role" in decision.lines()[1]
