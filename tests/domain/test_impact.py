"""What is gained and lost when permissions change, as data (D 1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.delegation import NOBODY
from mgmtctl.domain.grants import BLACK, WHITE, Grant, Permissions
from mgmtctl.domain.impact import GAINS, LOSES, Effect, Impact, Subject, crossing, grouped, shifts
from mgmtctl.domain.resources import Resource

READ = "agent:read"


def holding(*said: str, mode: str = WHITE) -> Permissions:
    """Permissions of one role; each text is `+RESOURCE` or `-RESOURCE` for agent:read, or `+ACTION RESOURCE`."""
    blocks: dict[str, Any] = {}
    for number, text in enumerate(said):
        *action, resource = text[1:].split(" ")
        effect = "allow" if text[0] == "+" else "deny"
        blocks[str(number)] = {"actions": action or [READ], "resources": [resource], "effect": effect}
    return Permissions.granted(mode, [Grant(1, "r", "linked", 1, "p", blocks)])


def told(before: Permissions, after: Permissions) -> list[tuple[str, str, list[str], list[str]]]:
    return [
        (
            shift.change,
            ",".join(shift.actions),
            [str(r) for r in shift.resources],
            [str(r) for r in shift.excepted],
        )
        for shift in shifts(before, after)
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([], ["+agent:group:web"], [(GAINS, READ, ["agent:group:web"], [])], id="a group is gained"),
        pytest.param(["+agent:id:001"], [], [(LOSES, READ, ["agent:id:001"], [])], id="an agent is lost"),
        pytest.param(["+agent:id:*"], ["+agent:id:*", "+agent:group:web"], [], id="what all cover is no news"),
        pytest.param(["+agent:id:*", "+agent:group:web"], ["+agent:id:*"], [], id="nor its end"),
        pytest.param(
            ["+agent:group:web"],
            ["+agent:group:db"],
            [(GAINS, READ, ["agent:group:db"], []), (LOSES, READ, ["agent:group:web"], [])],
            id="one group for another",
        ),
        pytest.param(
            ["+agent:id:*"],
            ["+agent:id:*", "-agent:id:007"],
            [(LOSES, READ, ["agent:id:007"], [])],
            id="a deny takes one agent",
        ),
        pytest.param(
            ["+agent:id:*", "-agent:group:web"],
            ["+agent:id:*"],
            [(GAINS, READ, ["agent:group:web"], [])],
            id="a deny that goes gives its group back",
        ),
        pytest.param(
            ["+agent:group:web"],
            ["+agent:id:*", "-agent:id:007"],
            [
                (GAINS, READ, ["agent:id:*"], ["agent:id:007", "agent:group:web"]),
                (LOSES, READ, ["agent:id:007"], []),
            ],
            id="every agent but those held before",
        ),
        pytest.param(
            [], ["+agent:group:web", "-agent:id:007"],
            [(GAINS, READ, ["agent:group:web"], ["agent:id:007"])],
            id="a group but one of it",
        ),
        pytest.param([], ["+agent:id:001", "-agent:id:001"], [], id="what is denied at once is not gained"),
        pytest.param(
            [], ["+group:create *:*:*"], [(GAINS, "group:create", ["*:*:*"], [])], id="without a resource"
        ),
        pytest.param([], ["+manager:update_api_config *:*:*"], [], id="an action that grants nothing"),
        pytest.param(["-agent:id:001"], [], [], id="a deny of what nobody allowed"),
    ],
)  # fmt: skip
def test_what_is_gained_and_lost(before: list[str], after: list[str], expected: list[object]) -> None:
    assert told(holding(*before), holding(*after)) == expected


def test_actions_that_shift_alike_are_told_together() -> None:
    after = holding(
        "+agent:read agent:group:web", "+agent:restart agent:group:web", "+agent:delete agent:id:1"
    )
    assert [(shift.actions, len(shift.resources)) for shift in shifts(NOBODY, after)] == [
        (("agent:delete",), 1),
        (("agent:read", "agent:restart"), 1),
    ]


def test_a_mode_gives_all_that_nothing_denies() -> None:
    found = shifts(holding("-agent:group:web"), holding("-agent:group:web", mode=BLACK))
    kinds = {kind for shift in found for kind in [shift.kind]}
    assert {shift.change for shift in found} == {GAINS}
    assert {"agent:id", "group:id", "user:id", "*:*"} <= kinds
    (read,) = [shift for shift in found if shift.actions == (READ,)]
    assert [str(resource) for resource in read.excepted] == ["agent:group:web"]


def test_only_the_named_actions_are_looked_at() -> None:
    after = holding("+agent:read agent:id:*", "+agent:delete agent:id:*")
    assert [shift.actions for shift in shifts(NOBODY, after, {"agent:delete"})] == [("agent:delete",)]


TEXTS = st.sampled_from(
    [
        f"{sign}agent:{value}"
        for sign in "+-"
        for value in ("id:001", "id:002", "id:*", "group:a", "group:b", "group:*")
    ]
)
SAID = st.lists(TEXTS, max_size=4)
AGENTS = [
    (agent, groups) for agent in ("001", "002", "003") for groups in ((), ("a",), ("b",), ("a", "b"), ("c",))
]


@settings(max_examples=150, deadline=None)
@given(SAID, SAID, st.sampled_from([WHITE, BLACK]), st.sampled_from([WHITE, BLACK]))
def test_it_agrees_with_what_is_decided(old: list[str], new: list[str], mode: str, other: str) -> None:
    """Something is gained exactly when there can be an agent that is permitted after and was not before."""
    before, after = holding(*old, mode=mode), holding(*new, mode=other)
    found = {shift.change for shift in shifts(before, after, {READ})}
    held, holds = before.scope(READ, "agent:id"), after.scope(READ, "agent:id")
    expected = set()
    for agent, groups in AGENTS:
        was, now = held.covers(agent, groups), holds.covers(agent, groups)
        if was != now:
            expected.add(GAINS if now else LOSES)
    assert found == expected


def test_subjects_with_the_same_effects_stand_together() -> None:
    more = Effect(GAINS, (READ,), "agent:id", (Resource("agent:id", "001"),), count=1)
    less = Effect(LOSES, (READ,), "agent:id", (Resource("agent:id", "001"),), count=1)
    ann, bob, cy, dee = (
        Subject("user", str(number), name) for number, name in enumerate(("ann", "bob", "cy", "dee"))
    )
    found = grouped([(ann, (more,)), (bob, (less,)), (cy, (more,)), (dee, ())])
    assert [[subject.name for subject in part.subjects] for part in found] == [["ann", "cy"], ["bob"]]


def test_the_record_of_an_impact() -> None:
    effect = Effect(GAINS, (READ,), "agent:id", (Resource("agent:group", "web"),), count=7)
    subjects = (
        Subject("user", "100", "ann"),
        Subject("rule", "101", "staff", "after"),
        Subject("rule", "1", "x", by="b"),
    )
    assert Impact(grouped((s, (effect,)) for s in subjects), 3, True, {}).record() == {
        "changes": [
            {
                "subjects": [
                    {"kind": "user", "id": "100", "name": "ann"},
                    {"kind": "rule", "id": "101", "name": "staff", "contexts": "after"},
                    {"kind": "rule", "id": "1", "name": "x", "user": "b"},
                ],
                "effects": [
                    {
                        "change": "gains",
                        "actions": ["agent:read"],
                        "resources": ["agent:group:web"],
                        "except": [],
                        "kind": "agent:id",
                        "count": 7,
                    }
                ],
            }
        ],
        "sessions_ended": 3,
        "complete": True,
        "counted": True,
    }


GROUPS = st.sampled_from([("a",), ("b",), ("a", "b"), ("c",)])
MOVED = st.dictionaries(st.sampled_from(["001", "002", "003"]), st.tuples(GROUPS, GROUPS))


@settings(max_examples=150, deadline=None)
@given(SAID, st.sampled_from([WHITE, BLACK]), MOVED)
def test_agents_that_change_groups_cross_where_the_decision_changes(
    said: list[str], mode: str, moved: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
) -> None:
    scope = holding(*said, mode=mode).scope(READ, "agent:id")
    moves = {move: frozenset(one for one in moved if moved[one] == move) for move in moved.values()}
    decided = {one: (scope.covers(one, old), scope.covers(one, new)) for one, (old, new) in moved.items()}
    assert crossing(scope, moves) == (
        frozenset(one for one, (was, now) in decided.items() if now and not was),
        frozenset(one for one, (was, now) in decided.items() if was and not now),
    )
