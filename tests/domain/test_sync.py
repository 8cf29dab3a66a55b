"""Plans, stages, and what the agents' internal options say."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.sync import (
    BLOCKED,
    CREATE,
    DIVERGED,
    IGNORED,
    NEVER_SYNCED,
    NO_FOLDER,
    OTHER,
    OVERWRITE,
    REMOVE,
    STAGES,
    STALE,
    SYNCED,
    UPDATE,
    Change,
    Standing,
    differences,
    ignores_shared,
    plan,
    stage,
    written_by_us,
)


@pytest.mark.parametrize(
    ("target", "actual", "last", "changes"),
    [
        pytest.param({"a": "1"}, {"a": "1"}, {"a": "1"}, [], id="what_is_equal_needs_nothing"),
        pytest.param({"a": "1"}, {}, {}, [Change(CREATE, "a")], id="what_is_missing_is_created"),
        pytest.param(
            {"a": "1"}, {}, {"a": "1"}, [Change(CREATE, "a")], id="what_was_deleted_there_is_created"
        ),
        pytest.param({"a": "2"}, {"a": "1"}, {"a": "1"}, [Change(UPDATE, "a")], id="a_stale_file_is_updated"),
        pytest.param(
            {"a": "2"},
            {"a": "9"},
            {"a": "1"},
            [Change(OVERWRITE, "a", True)],
            id="a_hand_edited_file_is_overwritten",
        ),
        pytest.param(
            {"a": "2"},
            {"a": "1"},
            {},
            [Change(OVERWRITE, "a", True)],
            id="a_foreign_file_of_the_name_is_overwritten",
        ),
        pytest.param(
            {"a": "2"},
            {"a": OTHER},
            {"a": "1"},
            [Change(OVERWRITE, "a", True)],
            id="a_symlink_there_is_overwritten",
        ),
        pytest.param({}, {"a": "1"}, {"a": "1"}, [Change(REMOVE, "a")], id="what_left_the_groups_is_removed"),
        pytest.param(
            {}, {"a": "9"}, {"a": "1"}, [Change(REMOVE, "a", True)], id="what_left_is_removed_although_edited"
        ),
        pytest.param({}, {}, {"a": "1"}, [], id="what_left_and_is_gone_needs_nothing"),
        pytest.param({}, {"a": "1"}, {}, [], id="what_was_never_ours_is_left_alone"),
        pytest.param(
            {"merged.mg": "2", "z": "2"},
            {"old": "1"},
            {"old": "1"},
            [Change(REMOVE, "old"), Change(CREATE, "z"), Change(CREATE, "merged.mg")],
            id="removals_first_merged_file_last",
        ),
    ],
)
def test_a_plan_names_every_change(
    target: dict[str, str], actual: dict[str, str], last: dict[str, str], changes: list[Change]
) -> None:
    assert plan(target, actual, last) == changes


FOLDERS = st.dictionaries(st.sampled_from(["a", "b", "c", "d/e", "merged.mg"]), st.sampled_from("123"))


@settings(max_examples=200)
@given(target=FOLDERS, actual=FOLDERS, last=FOLDERS)
def test_an_applied_plan_leaves_an_empty_plan(
    target: dict[str, str], actual: dict[str, str], last: dict[str, str]
) -> None:
    after = dict(actual)
    for change in plan(target, actual, last):
        if change.kind == REMOVE:
            del after[change.name]
        else:
            after[change.name] = target[change.name]
    assert plan(target, after, target) == []
    assert plan(target, after, last) == []


@settings(max_examples=200)
@given(target=FOLDERS, actual=FOLDERS, last=FOLDERS)
def test_a_plan_never_touches_what_is_neither_ours_nor_wanted(
    target: dict[str, str], actual: dict[str, str], last: dict[str, str]
) -> None:
    named = {change.name for change in plan(target, actual, last)}
    assert named <= set(target) | set(last)


@settings(max_examples=200)
@given(last=FOLDERS, unfinished=FOLDERS, foreign=FOLDERS, data=st.data())
def test_a_push_that_was_cut_short_is_never_taken_for_an_edit(
    last: dict[str, str], unfinished: dict[str, str], foreign: dict[str, str], data: st.DataObject
) -> None:
    mixed = dict(last)
    for name in data.draw(st.sets(st.sampled_from(sorted(set(last) | set(unfinished)) or ["a"]))):
        if name in unfinished:
            mixed[name] = unfinished[name]
        else:
            mixed.pop(name, None)
    ours = written_by_us(last, unfinished, mixed)
    assert not [change for change in plan(foreign, mixed, ours) if change.edited_there]


def standing(**facts: Any) -> Standing:
    given_facts: dict[str, Any] = {"agent": "001", "target": "t" * 64, "pushed": "t" * 64}
    return Standing(**{**given_facts, **facts})


@pytest.mark.parametrize(
    ("facts", "name", "next_step"),
    [
        pytest.param({}, SYNCED, None, id="synced_needs_nothing"),
        pytest.param(
            {"pushed": None, "diverged": "x"}, NEVER_SYNCED, "mgmtctl sync run 001", id="never_synced"
        ),
        pytest.param({"pushed": "s" * 64}, STALE, "mgmtctl sync run 001", id="stale"),
        pytest.param({"diverged": "changed there: `a`"}, DIVERGED, "mgmtctl sync run 001", id="diverged"),
        pytest.param({"ignores_shared": True}, IGNORED, "set agent.remote_conf=1", id="ignored"),
        pytest.param(
            {"blocked_by": ["group `web` is invalid"], "target": None},
            BLOCKED,
            "repair that, then mgmtctl sync run 001",
            id="blocked",
        ),
        pytest.param(
            {"folder_problem": "folder `/x`: it does not exist", "blocked_by": ["group `web` is invalid"]},
            NO_FOLDER,
            "make the folder reachable",
            id="without_a_folder_nothing_else_matters",
        ),
    ],
)
def test_the_first_thing_that_stops_an_agent_is_its_stage(
    facts: dict[str, Any], name: str, next_step: str | None
) -> None:
    found = stage(standing(**facts))
    assert found.name == name
    assert found.next_step == next_step or str(found.next_step).startswith(str(next_step))


def test_a_stale_agent_is_told_which_merged_file_it_has() -> None:
    found = stage(standing(pushed="ab" * 32, target="cd" * 32))
    assert found.why == "it has merged file abababababab, its groups give cdcdcdcdcdcd"


def test_a_stage_is_one_word_for_a_filter() -> None:
    assert not [name for name in STAGES if not re.fullmatch("[a-z-]+", name)]


def test_a_diverged_agent_is_told_how() -> None:
    assert stage(standing(diverged="missing there: `a`")).why == "missing there: `a`"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param([], "", id="none"),
        pytest.param([Change(OVERWRITE, "a", True)], "changed there: `a`", id="edited"),
        pytest.param(
            [Change(REMOVE, "old"), Change(CREATE, "a"), Change(UPDATE, "b"), Change(OVERWRITE, "c", True)],
            "changed there: `c`; older there: `b`; missing there: `a`; left over there: `old`",
            id="each_kind_with_its_files",
        ),
        pytest.param(
            [Change(CREATE, name) for name in "abcde"],
            "missing there: `a`, `b`, `c` and 2 more",
            id="three_are_named",
        ),
    ],
)
def test_differences_name_the_files(changes: list[Change], words: str) -> None:
    assert differences(changes) == words


@pytest.mark.parametrize(
    ("text", "ignored"),
    [
        pytest.param(b"", False, id="nothing_said"),
        pytest.param(b"agent.remote_conf=0\n", True, id="zero"),
        pytest.param(b" agent.remote_conf = 0 # off\r\n", True, id="blanks_comment_and_crlf"),
        pytest.param(b"# agent.remote_conf=0\n", False, id="commented_out"),
        pytest.param(b"agent.remote_conf=0\nagent.remote_conf=1\n", False, id="the_last_line_counts"),
        pytest.param(b"agent.remote_conf=1", False, id="one"),
        pytest.param(b"xagent.remote_conf=0", False, id="another_option"),
        pytest.param(b"\xff\x00=\x00", False, id="any_bytes"),
    ],
)
def test_internal_options_can_switch_shared_configuration_off(text: bytes, ignored: bool) -> None:
    assert ignores_shared(text) is ignored
