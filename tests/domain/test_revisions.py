"""Facts about revisions as values: what changed, what is kept, what of an announced change is done."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.domain import revisions
from mgmtctl.domain.errors import ConflictError, NotFoundError, QuestionError
from mgmtctl.domain.revisions import Changed, Intent, Tree

trees = st.dictionaries(st.sampled_from("abcd"), st.tuples(st.sampled_from(["1" * 64, "2" * 64]), st.just(1)))


def intent(before: Tree, after: Tree) -> Intent:
    return Intent("web", "rollback", None, None, 0, before, after)


@given(before=trees, after=trees)
def test_changes_are_exactly_what_differs(before: Tree, after: Tree) -> None:
    made = dict(before)
    for change, file in revisions.changes(before, after):
        assert change == (
            revisions.REMOVED
            if file not in after
            else revisions.UPDATED
            if file in before
            else revisions.CREATED
        )
        made.pop(file, None)
        if file in after:
            made[file] = after[file]
    assert made == after


@given(before=trees, after=trees, actual=trees)
def test_what_an_announced_change_reached_is_between_before_and_after(
    before: Tree, after: Tree, actual: Tree
) -> None:
    planned = intent(before, after)
    done = revisions.reached(planned, actual)
    for name in {*before, *after}:
        assert done.get(name) in (before.get(name), after.get(name))
        if done.get(name) != before.get(name):
            assert actual.get(name) == after.get(name)
    rest = revisions.outstanding(planned, actual)
    assert not set(rest) & set(revisions.in_place(planned, actual))
    assert all(actual.get(name) == before.get(name) for name in rest)


def test_a_change_that_has_not_begun_is_not_completed_and_one_that_has_is() -> None:
    before, after = {"a": ("1", 1), "b": ("1", 1)}, {"a": ("2", 1), "b": ("2", 1)}
    planned = intent(before, after)
    assert revisions.outstanding(planned, before) == ()
    assert revisions.outstanding(planned, {**before, "a": ("2", 1)}) == ("b",)
    assert revisions.outstanding(planned, {"a": ("2", 1), "b": ("3", 1)}) == ()  # somebody else's


@given(trees)
def test_a_tree_comes_back_and_its_digest_does_not_depend_on_order(tree: Tree) -> None:
    assert revisions.read_tree(revisions.tree_text(tree)) == tree
    assert revisions.tree_digest(dict(reversed(list(tree.items())))) == revisions.tree_digest(tree)


def test_a_name_that_is_no_utf_8_comes_back_too() -> None:
    tree = {"\udcff": ("1" * 64, 1)}
    assert revisions.read_tree(revisions.tree_text(tree)) == tree
    assert len(revisions.tree_digest(tree)) == 64


@pytest.mark.parametrize(
    ("numbers", "keep", "used", "dropped"),
    [
        ([1, 2, 3], 0, (), []),
        ([1, 2, 3], 3, (), []),
        ([1, 2, 3], 2, (), [1]),
        ([1, 2, 3, 4], 1, (), [1, 2, 3]),
        ([1, 2, 3, 4], 1, (2,), [1, 3]),
        ([2, 9, 10], 2, (2,), []),
    ],
)
def test_the_last_ones_and_those_in_use_are_kept(
    numbers: list[int], keep: int, used: tuple[int, ...], dropped: list[int]
) -> None:
    assert revisions.superfluous(numbers, keep, used) == dropped


@pytest.mark.parametrize(("text", "number"), [("7", 7), ("r7", 7), ("007", 7), ("r999999999", 999_999_999)])
def test_a_revision_is_named_with_or_without_its_letter(text: str, number: int) -> None:
    assert revisions.parse_number(text) == number


@pytest.mark.parametrize("text", ["", "0", "r0", "-1", "1.0", "rr1", "²", "1" * 10, "last"])
def test_what_is_no_number_of_a_revision_is_refused(text: str) -> None:
    with pytest.raises(QuestionError):
        revisions.parse_number(text)


@pytest.mark.parametrize(
    ("expected", "there", "fits"),
    [
        ("none", None, True),
        ("none", "a" * 64, False),
        ("a" * 64, "a" * 64, True),
        ("a" * 8, "a" * 64, True),
        ("b" * 64, "a" * 64, False),
        ("a" * 64, None, False),
    ],
)
def test_a_file_must_be_what_was_expected(expected: str, there: str | None, fits: bool) -> None:
    if fits:
        revisions.require_file("web/a", revisions.check_match(expected), there)
    else:
        with pytest.raises(ConflictError) as caught:
            revisions.require_file("web/a", revisions.check_match(expected), there)
        assert caught.value.why


@pytest.mark.parametrize(
    ("number", "numbers", "words"),
    [
        (3, [], "none yet"),
        (9, [4, 5], "the last is r5"),
        (1, [4, 5], "not kept any more"),
        (0, [1, 2], "r1 is the first"),
    ],
)
def test_a_revision_that_is_not_there_says_why(number: int, numbers: list[int], words: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        revisions.require_known("web", number, numbers)
    assert words in str(caught.value.why)


def test_changes_in_words() -> None:
    found = [Changed("updated", "agent.conf"), Changed("created", "a"), Changed("removed", "b")]
    assert revisions.change_words(found) == "agent.conf, +a, -b"


def test_what_goes_makes_room_before_anything_comes() -> None:
    assert revisions.removals_first(["x/y", "x", "z"], {"x": ("1", 1)}) == ["x/y", "z", "x"]
