"""The groups of an agent: order, limits, fallback, and which of them a change touches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.domain.errors import ConflictError, InvalidError
from mgmtctl.domain.groups import MAX_GROUPS
from mgmtctl.domain.memberships import (
    check_groups,
    disagreement,
    split_groups,
    touched,
    with_group,
    without_group,
)
from mgmtctl.domain.merging import Conflict

ABC = ("a", "b", "c")


@pytest.mark.parametrize(
    ("group", "position", "after"),
    [
        pytest.param("d", None, ("a", "b", "c", "d"), id="last without a position"),
        pytest.param("d", 1, ("d", "a", "b", "c"), id="first at position 1"),
        pytest.param("d", 3, ("a", "b", "d", "c"), id="in between"),
        pytest.param("d", 99, ("a", "b", "c", "d"), id="beyond the end is last"),
        pytest.param("a", None, ABC, id="a member stays where it is"),
        pytest.param("a", 3, ("b", "c", "a"), id="a member moves to a position"),
        pytest.param("c", 3, ABC, id="a member at its position stays"),
    ],
)
def test_group_is_added(group: str, position: int | None, after: tuple[str, ...]) -> None:
    assert with_group(ABC, group, position) == after


def test_default_stays_when_another_group_is_added() -> None:
    assert with_group(("default",), "web") == ("default", "web")


@pytest.mark.parametrize("position", [0, -1])
def test_position_below_one_is_refused(position: int) -> None:
    with pytest.raises(InvalidError):
        with_group(ABC, "d", position)


def test_the_129th_group_is_refused_and_a_member_of_128_can_move() -> None:
    full = tuple(f"g{number}" for number in range(MAX_GROUPS))
    with pytest.raises(ConflictError) as caught:
        with_group(full, "one-more")
    assert caught.value.code == 1737
    assert with_group(full, "g0", 128)[-1] == "g0"


def test_last_group_may_leave_nothing() -> None:
    assert without_group(("web",), "web") == ()


def test_agent_that_is_only_in_default_cannot_leave_it() -> None:
    with pytest.raises(ConflictError) as caught:
        without_group(("default",), "default")
    assert caught.value.code == 1745


def test_leaving_a_group_keeps_the_order_of_the_rest() -> None:
    assert without_group(ABC, "b") == ("a", "c")
    assert without_group(ABC, "x") == ABC


def test_group_named_twice_is_refused() -> None:
    with pytest.raises(InvalidError, match="`a` is named twice"):
        check_groups(["a", "b", "a"])


def test_groups_are_split_at_commas() -> None:
    assert split_groups(" b, a,,") == ("b", "a")


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        pytest.param("abc", "abc", "", id="nothing"),
        pytest.param("abc", "abcd", "d", id="entered"),
        pytest.param("abc", "dabc", "d", id="entered in front, the others did not move"),
        pytest.param("abc", "ac", "b", id="left"),
        pytest.param("abc", "acb", "cb", id="moved: each whose place among those that stay is another"),
        pytest.param("ab", "cd", "cdab", id="all"),
        pytest.param("a", "", "a", id="left without another: falling back is no entering"),
    ],
)
def test_touched_groups(before: str, after: str, names: str) -> None:
    assert touched(tuple(before), tuple(after)) == tuple(names)


groups = st.lists(st.sampled_from("abcdef"), unique=True).map(tuple)


@given(groups, groups)
def test_nothing_is_touched_exactly_when_nothing_changes(
    before: tuple[str, ...], after: tuple[str, ...]
) -> None:
    assert (not touched(before, after)) is (before == after)


@given(groups, st.sampled_from("abcdef"), st.none() | st.integers(1, 9))
def test_adding_touches_the_added_group_at_most_among_those_that_enter(
    before: tuple[str, ...], group: str, position: int | None
) -> None:
    after = with_group(before, group, position)
    assert group in after
    assert set(after) == {*before, group}
    assert without_group((*after, "z"), group) == (*[name for name in before if name != group], "z")


def test_disagreement_names_the_winner_first() -> None:
    text = disagreement(Conflict("audit.rules", "pci", ("default", "web")))
    assert text == "file `audit.rules` of group `pci` wins over that of `default`, `web`"
