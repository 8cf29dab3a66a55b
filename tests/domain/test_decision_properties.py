"""What every decision keeps to, over the whole catalogue: order, monotony, modes, and true reasons (D 2).

`test_grants` has these for one action on agents; here they hold for grants as a session has them (roles, policies,
blocks), for every action and kind, and for everything that answers: decide, allows, scope and holdings.
"""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.delegation import holdings
from mgmtctl.domain.grants import ALLOW, BLACK, DENY, WHITE, Decision, Grant, Permissions, decide
from mgmtctl.domain.resources import RESOURCELESS, Resource, agent_names

AGENTS = [
    agent_names(number, groups) for number in ("001", "002") for groups in ((), ("web",), ("web", "db"))
]
OTHERS = [
    RESOURCELESS,
    *(
        Resource(kind, value)
        for kind in ("user:id", "role:id", "policy:id", "rule:id")
        for value in ("1", "2")
    ),
    *(Resource("group:id", value) for value in ("web", "db")),
    *(Resource(kind, "x") for kind in ("node:id", "decoder:file", "list:file", "rule:file")),
]
QUESTIONS: list[tuple[str, tuple[Resource, ...]]] = [
    (action.name, names)
    for action in ACTIONS.values()
    for names in [*AGENTS, *((other,) for other in OTHERS)]
    if names[0].kind in action.kinds
]
WRITTEN = [
    *(
        "*:*:*",
        "agent:id:*",
        "agent:id:001",
        "agent:id:002",
        "agent:group:*",
        "agent:group:web",
        "agent:group:db",
    ),
    *(
        "group:id:*",
        "group:id:web",
        "user:id:*",
        "user:id:1",
        "role:id:1",
        "policy:id:2",
        "rule:id:*",
        "node:id:*",
    ),
]
# Few actions, so that entries meet; of every sort.
ASKED = [
    "agent:read",
    "agent:delete",
    "group:read",
    "security:read",
    "security:update",
    "security:create",
    "manager:read",
]
MODES = st.sampled_from([WHITE, BLACK])


def blocks_of(*effects: str) -> st.SearchStrategy[dict[str, Any]]:
    block = st.fixed_dictionaries(
        {
            "actions": st.lists(st.sampled_from(ASKED), min_size=1, max_size=3, unique=True),
            "resources": st.lists(st.sampled_from(WRITTEN), min_size=1, max_size=3, unique=True),
            "effect": st.sampled_from(effects),
        }
    )
    return st.dictionaries(st.sampled_from(["a", "b", "c"]), block, min_size=1, max_size=2)


def policies(*effects: str, least: int = 0) -> st.SearchStrategy[list[Grant]]:
    grant = st.builds(
        lambda role, policy, blocks: Grant(role, f"r{role}", "linked", policy, f"p{policy}", blocks),
        st.integers(100, 102),
        st.integers(100, 103),
        blocks_of(*effects),
    )
    return st.lists(grant, min_size=least, max_size=4)


GRANTS = policies(ALLOW, DENY)


def answers(mode: str, grants: list[Grant], has_roles: bool = True) -> list[bool]:
    """The answer to every question that can be asked."""
    permissions = Permissions.granted(mode, grants, has_roles)
    return [permissions.allows(action, *names) for action, names in QUESTIONS]


def shuffled(grants: list[Grant], random: Random) -> list[Grant]:
    """The same grants with their policies, blocks, actions and resources in another order."""

    def mixed(values: Any) -> Any:
        return random.sample(list(values), len(values))

    found: list[Grant] = mixed(
        [
            grant._replace(
                blocks={
                    name: {
                        **block,
                        "actions": mixed(block["actions"]),
                        "resources": mixed(block["resources"]),
                    }
                    for name, block in mixed(grant.blocks.items())
                }
            )
            for grant in grants
        ]
    )
    return found


def decisions(permissions: Permissions) -> list[Decision]:
    return [permissions.decide(action, *names) for action, names in QUESTIONS if action in ASKED]


@settings(max_examples=50, deadline=None)
@given(GRANTS, MODES, st.randoms(use_true_random=False))
def test_no_order_of_policies_blocks_actions_or_resources_matters(
    grants: list[Grant], mode: str, random: Random
) -> None:
    first = Permissions.granted(mode, grants)
    second = Permissions.granted(mode, shuffled(grants, random))
    assert decisions(first) == decisions(second)
    assert answers(mode, grants) == answers(mode, shuffled(grants, random))
    assert holdings(first) == holdings(second)


@settings(max_examples=50, deadline=None)
@given(GRANTS, policies(ALLOW, least=1), MODES)
def test_a_policy_that_allows_takes_no_right_away(grants: list[Grant], more: list[Grant], mode: str) -> None:
    assert all(
        before <= after
        for before, after in zip(answers(mode, grants), answers(mode, [*more, *grants]), strict=True)
    )


@settings(max_examples=50, deadline=None)
@given(GRANTS, policies(DENY, least=1), MODES)
def test_a_policy_that_denies_gives_no_right(grants: list[Grant], more: list[Grant], mode: str) -> None:
    assert all(
        before >= after
        for before, after in zip(answers(mode, grants), answers(mode, [*more, *grants]), strict=True)
    )


@settings(max_examples=50, deadline=None)
@given(GRANTS)
def test_black_mode_permits_all_that_white_mode_permits(grants: list[Grant]) -> None:
    assert all(
        white <= black for white, black in zip(answers(WHITE, grants), answers(BLACK, grants), strict=True)
    )


@settings(max_examples=30, deadline=None)
@given(GRANTS, MODES)
def test_without_any_role_nothing_is_permitted_whatever_is_granted(grants: list[Grant], mode: str) -> None:
    assert not any(answers(mode, grants, has_roles=False))
    assert holdings(Permissions.granted(mode, grants, has_roles=False)) == {}


@settings(max_examples=30, deadline=None)
@given(GRANTS, MODES, st.sampled_from([ALLOW, DENY]))
def test_the_resourceless_wildcard_says_nothing_about_things(
    grants: list[Grant], mode: str, effect: str
) -> None:
    wild = Grant(102, "r102", "linked", 104, "wild", {
        "w": {"actions": list(ACTIONS), "resources": ["*:*:*"], "effect": effect}
    })  # fmt: skip
    with_it = zip(QUESTIONS, answers(mode, grants), answers(mode, [*grants, wild]), strict=True)
    assert all(before == after for (_, names), before, after in with_it if names[0] != RESOURCELESS)


@settings(max_examples=50, deadline=None)
@given(GRANTS, MODES)
def test_decide_allows_and_scope_give_one_answer_to_every_question(grants: list[Grant], mode: str) -> None:
    permissions = Permissions.granted(mode, grants)
    for action, names in QUESTIONS:
        if action not in ASKED:
            continue
        decided = permissions.decide(action, *names).allowed
        groups = [name.value for name in names[1:]]
        assert permissions.allows(action, *names) is decided
        assert permissions.scope(action, names[0].kind).covers(names[0].value, groups) is decided


@settings(max_examples=50, deadline=None)
@given(GRANTS, MODES)
def test_the_entries_that_decided_are_what_the_decision_rests_on(grants: list[Grant], mode: str) -> None:
    """Without them the answer is that of the others: the overridden ones, or the mode."""
    permissions = Permissions.granted(mode, grants)
    for decision in decisions(permissions):
        effects = {entry.effect for entry in decision.because}
        assert effects <= {ALLOW if decision.allowed else DENY}
        rest = [entry for entry in permissions.entries if entry not in decision.because]
        without = decide(rest, mode, decision.action, decision.resources)
        by_others = bool(decision.overridden) or mode == BLACK
        assert without.allowed is by_others
        assert decision.allowed is (mode == BLACK if decision.default else bool(effects == {ALLOW}))


@settings(max_examples=50, deadline=None)
@given(GRANTS, MODES)
def test_what_is_said_to_be_near_does_not_count(grants: list[Grant], mode: str) -> None:
    permissions = Permissions.granted(mode, grants)
    for decision in decisions(permissions):
        near = {miss.entry for miss in decision.near_misses}
        rest = [entry for entry in permissions.entries if entry not in near]
        without = decide(rest, mode, decision.action, decision.resources)
        assert (without.allowed, without.because) == (decision.allowed, decision.because)
        assert all(miss.why for miss in decision.near_misses)
