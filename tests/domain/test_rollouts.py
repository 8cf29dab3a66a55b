"""Choosing canaries: spread, deterministic, with reasons; and what a rollout holds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.rollouts import Aim, Candidate, Rollout, choose, read_sample


def candidates(groups: str, system: str, ids: range, *, reports: bool = False) -> list[Candidate]:
    return [Candidate(number, groups, system, reports) for number in ids]


MIXED = [
    *candidates("web", "ubuntu", range(1, 81)),
    *candidates("web", "windows", range(81, 91)),
    *candidates("default", "ubuntu", range(91, 101)),
    *candidates("default", "", range(101, 103)),
]
SEEDS = {"web": "aa", "default": "bb"}


def kinds(chosen: Any, pending: list[Candidate]) -> Counter[tuple[str, str]]:
    by_id = {found.id: found for found in pending}
    return Counter((by_id[one.id].groups, by_id[one.id].system) for one in chosen)


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        pytest.param(1, {("web", "ubuntu"): 1}, id="the largest part first"),
        pytest.param(2, {("web", "ubuntu"): 1, ("default", "ubuntu"): 1}, id="one of each combination"),
        pytest.param(
            4,
            {("web", "ubuntu"): 1, ("default", "ubuntu"): 1, ("web", "windows"): 1, ("default", ""): 1},
            id="one of each system",
        ),
        pytest.param(
            14,
            {("web", "ubuntu"): 9, ("default", "ubuntu"): 2, ("web", "windows"): 2, ("default", ""): 1},
            id="then in proportion",
        ),
        pytest.param(
            102,
            {("web", "ubuntu"): 80, ("default", "ubuntu"): 10, ("web", "windows"): 10, ("default", ""): 2},
            id="all",
        ),
        pytest.param(
            500,
            {("web", "ubuntu"): 80, ("default", "ubuntu"): 10, ("web", "windows"): 10, ("default", ""): 2},
            id="more than all",
        ),
    ],
)
def test_canaries_are_spread(count: int, expected: dict[tuple[str, str], int]) -> None:
    assert kinds(choose(MIXED, count, SEEDS), MIXED) == expected


def test_each_canary_has_a_reason() -> None:
    whys = {one.why for one in choose(MIXED, 4, SEEDS)}
    assert whys == {
        "1 of 80 agents of web on ubuntu",
        "1 of 10 agents of web on windows",
        "1 of 10 agents of default on ubuntu",
        "1 of 2 agents of default on an unknown system",
    }


def test_those_that_report_come_first() -> None:
    pending = [*candidates("web", "ubuntu", range(1, 50)), Candidate(50, "web", "ubuntu", True)]
    assert [one.id for one in choose(pending, 1, SEEDS)] == [50]


def test_another_target_draws_others() -> None:
    first, other = choose(MIXED, 10, SEEDS), choose(MIXED, 10, {"web": "cc", "default": "dd"})
    assert {one.id for one in first} != {one.id for one in other}


@settings(max_examples=60)
@given(
    pending=st.lists(
        st.builds(
            Candidate,
            st.integers(1, 200),
            st.sampled_from(["a", "b", "a,b"]),
            st.sampled_from(["", "x"]),
            st.booleans(),
        ),
        unique_by=lambda found: found.id,
        max_size=40,
    ),
    count=st.integers(1, 50),
    shuffled=st.randoms(use_true_random=False),
)
def test_a_repeat_chooses_the_same(pending: list[Candidate], count: int, shuffled: Any) -> None:
    chosen = choose(pending, count, SEEDS)
    again = list(pending)
    shuffled.shuffle(again)
    assert choose(again, count, SEEDS) == chosen
    assert len({one.id for one in chosen}) == len(chosen) == min(count, len(pending))
    combinations = {found.groups for found in pending}
    assert len({groups for groups, _ in kinds(chosen, pending)}) == min(count, len(combinations))


@pytest.mark.parametrize(
    ("text", "of", "expected"),
    [
        pytest.param("5", 100, 5, id="a number"),
        pytest.param("5", 3, 3, id="never more than there are"),
        pytest.param("5%", 100, 5, id="per cent"),
        pytest.param("1%", 101, 2, id="rounded up"),
        pytest.param("1%", 3, 1, id="at least one"),
        pytest.param("100%", 7, 7, id="all"),
    ],
)
def test_a_sample_is_a_number_or_per_cent(text: str, of: int, expected: int) -> None:
    assert read_sample(text).of(of) == expected


@pytest.mark.parametrize("text", ["", "0", "0%", "101%", "-1", "5 %", "5.5%", "all", "٣", "1" * 10])
def test_what_is_no_sample_is_refused(text: str) -> None:
    with pytest.raises(QuestionError):
        read_sample(text)


@pytest.mark.parametrize(
    ("groups", "target", "held"),
    [
        pytest.param("web", "new", True, id="the target of the canaries"),
        pytest.param("web", "newer", True, id="something else"),
        pytest.param("web", None, True, id="nothing that could be sent"),
        pytest.param("web", "old", False, id="what it gave before"),
        pytest.param("db", "new", False, id="another combination"),
        pytest.param("fresh", "", True, id="nothing before is never the same again"),
    ],
)
def test_what_a_rollout_holds(groups: str, target: str | None, held: bool) -> None:
    aims = {"web": Aim("new", "old"), "fresh": Aim("new", "")}
    rollout = Rollout(1, "open", 0, "ann", None, None, "all agents", None, aims)
    assert rollout.holds(groups, target) is held


@pytest.mark.parametrize(
    ("groups", "touched"),
    [
        pytest.param("db,web", True, id="what it began with"),
        pytest.param("x,web", True, id="another combination with a changed group"),
        pytest.param("db", False, id="a group that did not change"),
        pytest.param("web2", False, id="a longer name"),
        pytest.param("", False, id="no group"),
    ],
)
def test_which_combinations_a_rollout_is_about(groups: str, touched: bool) -> None:
    rollout = Rollout(
        1, "open", 0, "ann", None, None, "all", None, {"db,web": Aim("new", "old")}, {}, frozenset({"web"})
    )
    assert rollout.touches(groups) is touched
