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
    HELD,
    IGNORED,
    NEVER_SYNCED,
    NO_FOLDER,
    OTHER,
    OVERWRITE,
    PENDING_RESTART,
    REMOVE,
    STAGES,
    STALE,
    SYNCED,
    UPDATE,
    Change,
    Standing,
    differences,
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


T, S = "cd" * 32, "ab" * 32


def standing(**facts: Any) -> Standing:
    given_facts: dict[str, Any] = {"agent": "001", "target": T, "pushed": T, "running": T}
    return Standing(**{**given_facts, **facts})


@pytest.mark.parametrize(
    ("facts", "name", "next_step"),
    [
        pytest.param({}, SYNCED, None, id="synced_needs_nothing"),
        pytest.param(
            {"pushed": None, "diverged": "x", "running": ""},
            NEVER_SYNCED,
            "mgmtctl sync run 001",
            id="never_synced",
        ),
        pytest.param(
            {
                "pushed": None,
                "blocked_by": ["group `web` is invalid"],
                "target": None,
                "repair": "repair web",
            },
            NEVER_SYNCED,
            "repair web, then mgmtctl sync run 001",
            id="never_synced_and_blocked_has_to_be_repaired_first",
        ),
        pytest.param({"pushed": S, "running": S}, STALE, "mgmtctl sync run 001", id="stale"),
        pytest.param({"diverged": "changed there: `a`"}, DIVERGED, "mgmtctl sync run 001", id="diverged"),
        pytest.param(
            {"pushed": S, "obstacle": "a folder stands there: `a`", "diverged": "changed there: `a`"},
            DIVERGED,
            "move it away, then mgmtctl sync run 001",
            id="what_is_in_the_way_comes_before_stale",
        ),
        pytest.param(
            {"pushed": None, "obstacle": "a folder stands there: `a`"},
            NEVER_SYNCED,
            "move it away, then mgmtctl sync run 001",
            id="something_is_in_the_way_of_the_first_push",
        ),
        pytest.param(
            {"pushed": S, "obstacle": "a folder stands there: `a`", "held": "kept back"},
            HELD,
            "mgmtctl sync promote",
            id="what_is_held_meets_nothing_yet",
        ),
        pytest.param({"ignores_shared": True}, IGNORED, "set agent.remote_conf=1", id="ignored"),
        pytest.param(
            {"ignores_shared": True, "running": S, "restarts": False},
            IGNORED,
            "set agent.remote_conf=1",
            id="a_restart_does_not_help_an_agent_that_ignores_what_it_gets",
        ),
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
        pytest.param(
            {"running": S, "restarts": False},
            PENDING_RESTART,
            "mgmtctl agents restart 001",
            id="pushed_but_not_restarted",
        ),
        pytest.param(
            {"running": "", "restarts": False},
            PENDING_RESTART,
            "mgmtctl agents restart 001",
            id="given_its_first_files_but_not_restarted",
        ),
        pytest.param(
            {"running": "", "restarts": True},
            PENDING_RESTART,
            "mgmtctl agents restart 001",
            id="auto_restart_was_set_after_the_push",
        ),
        pytest.param(
            {"pushed": S, "running": T, "restarts": False},
            STALE,
            "mgmtctl sync run 001",
            id="what_has_to_be_written_comes_before_a_restart",
        ),
        pytest.param({"running": S}, STALE, "mgmtctl agents restart 001", id="reports_an_older_file"),
        pytest.param(
            {"running": "9" * 32, "unknown": True}, DIVERGED, "see which folder", id="reports_an_unknown_file"
        ),
        pytest.param({"running": "x", "unknown": True}, DIVERGED, "see which folder", id="reports_no_file"),
        pytest.param(
            {"pushed": S, "held": "kept back by rollout 3"}, HELD, "mgmtctl sync promote", id="held"
        ),
        pytest.param(
            {"pushed": None, "held": "kept back by rollout 3"},
            HELD,
            "mgmtctl sync promote",
            id="held_and_new",
        ),
        pytest.param(
            {
                "pushed": S,
                "held": "kept back",
                "promote": "mgmtctl sync run 002, then mgmtctl sync promote 3",
            },
            HELD,
            "mgmtctl sync run 002, then mgmtctl sync promote 3",
            id="held_by_a_rollout_whose_canaries_are_behind",
        ),
        pytest.param(
            {"held": "kept back by rollout 3", "diverged": "changed there: `a`"},
            DIVERGED,
            "mgmtctl sync run 001",
            id="one_that_has_the_target_is_repaired_not_held",
        ),
        pytest.param(
            {"pushed": S, "held": "kept back", "blocked_by": ["group `web` is invalid"], "target": None},
            BLOCKED,
            "repair that",
            id="blocked_comes_before_held",
        ),
    ],
)
def test_the_first_thing_that_stops_an_agent_is_its_stage(
    facts: dict[str, Any], name: str, next_step: str | None
) -> None:
    found = stage(standing(**facts))
    assert found.name == name
    assert found.next_step == next_step or str(found.next_step).startswith(str(next_step))


REVISIONS = {S: {"web": 6, "default": 3}, T: {"web": 7, "default": 3}}


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param(
            {"pushed": S}, "has merged file abababababab; its groups give cdcdcdcdcdcd", id="stale_by_digest"
        ),
        pytest.param(
            {"pushed": S, "revisions": REVISIONS},
            "has web r6, default r3; its groups give web r7, default r3",
            id="stale_by_revision_with_every_group",
        ),
        pytest.param(
            {"pushed": S, "revisions": {T: {"web": 7}}},
            "has merged file abababababab; its groups give web r7",
            id="a_revision_that_is_not_known_is_not_made_up",
        ),
        pytest.param(
            {"pushed": S, "revisions": {S: {"web": 7}, T: {"web": 7}}},
            "has web r7; its groups give cdcdcdcdcdcd",
            id="the_same_revisions_differ_by_something_else",
        ),
        pytest.param(
            {"pushed": S, "revisions": {S: {"web": 6, "db": 2}, T: {"web": 6, "pci": 4}}},
            "has web r6, db r2; groups changed: + pci, - db; its groups give web r6, pci r4",
            id="other_groups",
        ),
        pytest.param(
            {"pushed": S, "revisions": {S: {"web": 6, "db": 2}, T: {"db": 2, "web": 6}}},
            "has web r6, db r2; groups changed their order: db, web",
            id="the_same_groups_in_another_order",
        ),
        pytest.param(
            {"pushed": S, "revisions": {S: {"web": 13, "db": 2}, T: {"db": 2}}, "on_disk": {"web": 13}},
            "has web r13, db r2; web changed on disk since r13",
            id="changed_on_disk",
        ),
        pytest.param(
            {"pushed": S, "revisions": {S: {"web": 12, "db": 2}, T: {"db": 3}}, "on_disk": {"web": 13}},
            "has web r12, db r2; web changed on disk since r13; its groups give db r3",
            id="changed_on_disk_and_by_a_command",
        ),
        pytest.param(
            {"running": S, "restarts": False, "revisions": REVISIONS},
            "uses web r6, default r3; its folder holds web r7, default r3; auto_restart is no",
            id="pending_restart",
        ),
        pytest.param(
            {"running": "", "restarts": False, "revisions": REVISIONS},
            "uses none of its files; its folder holds web r7, default r3; auto_restart is no",
            id="pending_restart_from_nothing",
        ),
        pytest.param(
            {"running": S, "revisions": REVISIONS},
            "reports web r6, default r3; its groups give web r7, default r3",
            id="reports_an_older_revision",
        ),
        pytest.param(
            {"running": "9c1f" * 8, "unknown": True},
            "it reports merged file 9c1f9c1f9c1f, which matches no known revision; its folder is in order",
            id="reports_something_unknown",
        ),
        pytest.param(
            {"running": "x", "unknown": True},
            "it reports that it has no merged file; its folder is in order",
            id="reports_none",
        ),
        pytest.param(
            {"blocked_by": ["group `web` is invalid"], "target": None, "pushed": S, "revisions": REVISIONS},
            "group `web` is invalid; it keeps the last good files (web r6, default r3)",
            id="blocked_keeps_the_last_good_files",
        ),
        pytest.param(
            {"blocked_by": ["group `web` is invalid"], "target": None, "pushed": None},
            "nothing was ever written to its folder, and group `web` is invalid",
            id="never_synced_and_blocked",
        ),
        pytest.param({"diverged": "missing there: `a`"}, "missing there: `a`", id="diverged"),
        pytest.param({"pushed": S, "held": "kept back by rollout 3"}, "kept back by rollout 3", id="held"),
    ],
)
def test_a_stage_says_which_revisions_it_is_about(facts: dict[str, Any], why: str) -> None:
    assert stage(standing(**facts)).why == why


def test_a_stage_is_one_word_for_a_filter() -> None:
    assert not [name for name in STAGES if not re.fullmatch("[a-z-]+", name)]


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


def test_differences_count_files_for_who_may_not_read_their_names() -> None:
    changes = [Change(CREATE, "a"), Change(CREATE, "b"), Change(OVERWRITE, "c", True)]
    assert differences(changes, named=False) == "changed there: 1 file; missing there: 2 files"
