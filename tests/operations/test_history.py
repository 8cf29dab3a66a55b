"""Revisions through the operations: what is recorded, by whom, what differs, and the way back."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from mgmtctl.domain.errors import ConflictError, DeniedError, InvalidError, NotFoundError, QuestionError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import group_files, groups, history, sync
from mgmtctl.operations.context import Context
from mgmtctl.operations.history import RevisionRow
from tests.operations.conftest import ActorWith
from tests.operations.sync_fleet import BAD, GOOD, make_fleet, shared, status

OTHER = GOOD.replace(b"no", b"yes")


@pytest.fixture
def fleet(service: Context) -> Context:
    """Agents 001 of default, 002 of default and web, 003 of web; synced."""
    make_fleet(service)
    sync.run_sync(service)
    return service


def rows(ctx: Context, group: str = "web", file: str | None = None) -> list[RevisionRow]:
    return list(history.list_revisions(ctx, group, file).affected)


def told(ctx: Context, group: str = "web") -> list[tuple[int, str, str | None, list[str]]]:
    """Number, how, author and changes of each revision, the last first."""
    return [
        (
            row.revision.number,
            row.revision.how,
            row.revision.author.user if row.revision.author else None,
            [f"{change} {file}" for change, file in row.revision.changes],
        )
        for row in rows(ctx, group)
    ]


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def agents_trees(ctx: Context) -> dict[str, dict[str, bytes]]:
    return {agent: tree(shared(ctx, agent)) for agent in ("001", "002", "003")}


def test_each_change_made_here_is_a_revision_with_author_and_reason(service: Context) -> None:
    ctx = replace(service, reason="ticket 7")
    groups.create_group(ctx, "web")
    group_files.put_file(ctx, "web", "a.txt", b"1")
    group_files.put_file(ctx, "web", "a.txt", b"2")
    group_files.remove_file(ctx, "web", "a.txt")
    assert told(ctx) == [
        (4, "rm", "admin", ["removed a.txt"]),
        (3, "put", "admin", ["updated a.txt"]),
        (2, "put", "admin", ["created a.txt"]),
        (1, "create", "admin", ["created agent.conf"]),
    ]
    assert {row.revision.reason for row in rows(ctx)} == {"ticket 7"}


def test_a_put_that_changes_nothing_is_no_revision(fleet: Context) -> None:
    before = told(fleet)
    assert group_files.put_file(fleet, "web", "agent.conf", GOOD).revision is None
    assert told(fleet) == before


def test_a_put_tells_its_revision(fleet: Context) -> None:
    number = group_files.put_file(fleet, "web", "a.txt", b"1").revision
    assert number == rows(fleet)[0].revision.number


def test_what_is_found_on_disk_has_no_author_and_the_time_of_writing(fleet: Context) -> None:
    path = fleet.folders.shared / "web" / "agent.conf"
    path.write_bytes(OTHER)
    import os

    os.utime(path, (1_700_000_000, 1_700_000_000))
    sync.run_sync(fleet)
    row = rows(fleet)[0]
    assert told(fleet)[0][1:] == ("found", None, ["updated agent.conf"])
    assert row.revision.written == (1_700_000_000, 1_700_000_000)
    assert row.record()["written"] == ["2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z"]


def test_history_itself_notices_what_others_changed_and_agents_are_not_synced(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "new.txt").write_bytes(b"x")
    assert told(fleet)[0][1:] == ("found", None, ["created new.txt"])
    assert [status(fleet, agent) for agent in ("001", "002", "003")] == ["synced", "not synced", "not synced"]
    assert len(told(fleet)) == 2


def test_a_run_for_one_agent_that_finds_a_change_says_it_of_the_others_too(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(OTHER)
    sync.run_sync(fleet, ["003"])
    assert [status(fleet, agent) for agent in ("001", "002", "003")] == ["synced", "not synced", "synced"]


def test_a_change_of_what_is_never_sent_leaves_agents_synced(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "late.txt").write_bytes(b"\0")
    sync.run_sync(fleet)
    assert told(fleet)[0][1:] == ("found", None, ["created late.txt"])
    assert [status(fleet, agent) for agent in ("001", "002", "003")] == ["synced"] * 3


def test_what_others_changed_before_a_put_is_recorded_as_theirs(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "new.txt").write_bytes(b"x")
    group_files.put_file(fleet, "web", "a.txt", b"1")
    assert [entry[1:] for entry in told(fleet)[:2]] == [
        ("put", "admin", ["created a.txt"]),
        ("found", None, ["created new.txt"]),
    ]


def test_an_edit_on_disk_of_an_invalid_group_is_recorded_by_the_run_that_refuses_it(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(BAD)
    assert sync.run_sync(fleet).failed
    assert fleet.store.revisions.list("web")[0].how == "found"
    again = len(fleet.store.revisions.list("web"))
    sync.run_sync(fleet)
    assert len(fleet.store.revisions.list("web")) == again


def test_an_idle_run_records_nothing_and_reads_nothing(
    fleet: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    time.sleep(0.2)
    sync.run_sync(fleet)
    before = fleet.store.database.rows("SELECT * FROM revisions")

    def unexpected(*_: object) -> None:
        raise AssertionError("a group was read")

    monkeypatch.setattr(type(fleet.folders), "load_group", unexpected)
    sync.run_sync(fleet)
    history.list_revisions(fleet, "web")
    assert fleet.store.database.rows("SELECT * FROM revisions") == before


@pytest.mark.parametrize(
    "look",
    [
        pytest.param(lambda ctx: sync.plan_sync(ctx), id="plan"),
        pytest.param(lambda ctx: sync.sync_status(ctx), id="status"),
        pytest.param(lambda ctx: sync.explain_sync(ctx, "003"), id="explain"),
    ],
)
def test_a_look_leaves_every_byte_of_the_history_as_it_is(
    fleet: Context, look: Callable[[Context], object]
) -> None:
    (fleet.folders.shared / "web" / "new.txt").write_bytes(b"x")
    before = kept(fleet)
    look(fleet)
    assert kept(fleet) == before


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda ctx: sync.run_sync(ctx), id="run"),
        pytest.param(lambda ctx: group_files.put_file(ctx, "web", "b.txt", b"1"), id="put"),
        pytest.param(lambda ctx: group_files.remove_file(ctx, "web", "agent.conf"), id="rm"),
        pytest.param(lambda ctx: history.rollback_files(ctx, "web"), id="rollback"),
        pytest.param(lambda ctx: groups.delete_groups(ctx, ["web"]), id="delete"),
    ],
)
def test_a_dry_run_leaves_every_byte_of_the_history_as_it_is(
    fleet: Context, call: Callable[[Context], object]
) -> None:
    group_files.put_file(fleet, "web", "a.txt", b"1")
    (fleet.folders.shared / "web" / "new.txt").write_bytes(b"x")
    before = kept(fleet)
    fleet.store.dry_run = True
    call(replace(fleet, dry_run=True))
    fleet.store.dry_run = False
    assert kept(fleet) == before


def kept(ctx: Context) -> tuple[object, ...]:
    """Every row and every byte of the history."""
    tables = ("revisions", "revision_heads", "trees", "blobs", "intents")
    data = [ctx.store.database.rows(f"SELECT * FROM {table}") for table in tables]  # noqa: S608
    return (*data, tree(ctx.folders.data / "revisions"), tree(ctx.folders.shared))


def test_rolling_back_brings_every_agent_folder_back_byte_for_byte(fleet: Context) -> None:
    good = agents_trees(fleet)
    group_files.put_file(fleet, "web", "agent.conf", OTHER)
    group_files.put_file(fleet, "web", "packs/b.conf", b"b")
    group_files.remove_file(fleet, "web", "packs/a.conf")
    sync.run_sync(fleet)
    assert agents_trees(fleet) != good
    back = history.rollback_files(fleet, "web", to="r1")
    assert (back.to, back.revision, back.agents) == (1, 5, 2)
    assert [found.change for found in back.files] == ["updated", "created", "removed"]
    sync.run_sync(fleet)
    assert agents_trees(fleet) == good
    assert told(fleet)[0][:3] == (5, "rollback", "admin")


def test_rolling_back_without_a_number_undoes_the_last_change(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "a.txt", b"1")
    group_files.put_file(fleet, "web", "b.txt", b"1")
    history.rollback_files(fleet, "web")
    assert not (fleet.folders.shared / "web" / "b.txt").exists()
    history.rollback_files(fleet, "web", "a.txt")
    assert sorted(tree(fleet.folders.shared / "web")) == ["agent.conf", "merged.mg", "packs/a.conf"]


def test_rolling_back_one_file_leaves_the_others(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "a.txt", b"1")
    group_files.put_file(fleet, "web", "agent.conf", OTHER)
    group_files.put_file(fleet, "web", "a.txt", b"2")
    back = history.rollback_files(fleet, "web", "agent.conf", to="1")
    assert [found.file for found in back.files] == ["agent.conf"]
    assert group_files.show_file(fleet, "web", "a.txt").content == b"2"
    assert history.rollback_files(fleet, "web", "agent.conf", to="1").revision is None


@pytest.mark.parametrize("name", ["notes .txt ", "a\\b", "\u202emoc", "AGENT.CONF", "*"])
def test_rolling_back_leaves_alone_what_is_never_sent(fleet: Context, name: str) -> None:
    web = fleet.folders.shared / "web"
    (web / "agent.conf").write_bytes(OTHER)
    (web / name).write_bytes(b"mine")
    sync.run_sync(fleet)
    back = history.rollback_files(fleet, "web")
    assert ([found.file for found in back.files], back.left) == (["agent.conf"], (name,))
    assert back.record()["left"] == [name]
    assert ((web / "agent.conf").read_bytes(), (web / name).read_bytes()) == (GOOD, b"mine")
    (web / name).unlink()
    assert history.rollback_files(fleet, "web", to="2").left == (name,)
    assert ((web / "agent.conf").read_bytes(), (web / name).exists()) == (OTHER, False)


def test_rolling_back_to_a_wrong_agent_conf_is_refused(fleet: Context) -> None:
    path = fleet.folders.shared / "web" / "agent.conf"
    path.write_bytes(BAD)
    assert told(fleet)[0][0] == 2
    group_files.put_file(fleet, "web", "agent.conf", GOOD)
    before = told(fleet)
    with pytest.raises(InvalidError) as caught:
        history.rollback_files(fleet, "web", to="2")
    assert caught.value.findings
    assert path.read_bytes() == GOOD
    assert told(fleet) == before


def test_rolling_back_undoes_also_what_others_just_did(fleet: Context) -> None:
    path = fleet.folders.shared / "web" / "agent.conf"
    path.write_bytes(BAD)
    back = history.rollback_files(fleet, "web")
    assert path.read_bytes() == GOOD
    assert [entry[1] for entry in told(fleet)] == ["rollback", "found", "found"]
    assert back.to == 1


def test_a_dry_run_of_a_rollback_shows_the_diff_of_the_real_one(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "agent.conf").write_bytes(OTHER)
    fleet.store.dry_run = True
    dry = history.rollback_files(replace(fleet, dry_run=True), "web")
    fleet.store.dry_run = False
    real = history.rollback_files(fleet, "web")
    assert dry.revision is None
    assert dry.files == real.files
    assert "+    <disabled>no</disabled>" in dry.files[0].lines
    assert (dry.to, dry.agents) == (real.to, real.agents)


def test_a_file_can_become_a_folder_and_back(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "x", b"file")
    group_files.remove_file(fleet, "web", "x")
    group_files.put_file(fleet, "web", "x/y", b"below")
    history.rollback_files(fleet, "web", to="2")
    assert group_files.show_file(fleet, "web", "x").content == b"file"
    history.rollback_files(fleet, "web", to="4")
    assert group_files.show_file(fleet, "web", "x/y").content == b"below"


def test_numbers_go_on_when_a_group_comes_again(fleet: Context) -> None:
    groups.delete_groups(fleet, ["web"])
    assert told(fleet)[0][:3] == (2, "delete", "admin")
    assert sorted(told(fleet)[0][3]) == ["removed agent.conf", "removed packs/a.conf"]
    groups.create_group(fleet, "web")
    assert told(fleet)[0][:3] == (3, "create", "admin")
    history.rollback_files(fleet, "web", to="1")
    assert group_files.show_file(fleet, "web", "packs/a.conf").content == b"a"


def test_the_history_of_a_deleted_group_can_be_read(fleet: Context) -> None:
    groups.delete_groups(fleet, ["web"])
    assert history.show_revision_file(fleet, "web", "agent.conf", "1").content == GOOD
    with pytest.raises(NotFoundError) as caught:
        history.rollback_files(fleet, "web")
    assert caught.value.fix == "mgmtctl groups create web, then mgmtctl files rollback web --to 1"


def test_a_diff_shows_the_last_change_one_change_or_two_revisions(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "a.txt", b"1\n2\n3\n")
    group_files.put_file(fleet, "web", "a.txt", b"1\ntwo\n3\n")
    last = history.diff_revisions(fleet, "web")
    assert (last.before, last.after) == (2, 3)
    assert last.files[0].lines == (
        *("--- web/a.txt\tr2", "+++ web/a.txt\tr3"),
        *("@@ -1,3 +1,3 @@", " 1", "-2", "+two", " 3"),
    )
    one = history.diff_revisions(fleet, "web", revision="2")
    assert one.files[0].lines[:3] == ("--- /dev/null", "+++ web/a.txt\tr2", "@@ -0,0 +1,3 @@")
    both = history.diff_revisions(fleet, "web", "a.txt", revision="r3", to="r1")
    assert [(found.change, found.after) for found in both.files] == [("removed", None)]
    first = history.diff_revisions(fleet, "web", revision="1")
    assert [(found.file, found.change) for found in first.files] == [
        ("agent.conf", "created"),
        ("packs/a.conf", "created"),
    ]


def test_a_file_as_it_was_comes_back_byte_for_byte(fleet: Context) -> None:
    data = b"\xff\r\n no end"
    number = group_files.put_file(fleet, "web", "a.txt", data).revision
    group_files.put_file(fleet, "web", "a.txt", b"2")
    assert history.show_revision_file(fleet, "web", "a.txt", f"r{number}").content == data
    with pytest.raises(NotFoundError):
        history.show_revision_file(fleet, "web", "a.txt", "1")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("0", QuestionError),
        ("x", QuestionError),
        ("r", QuestionError),
        ("-1", QuestionError),
        ("99999999999999999999", QuestionError),
        ("99", NotFoundError),
    ],
)
def test_what_is_no_revision_is_refused(fleet: Context, text: str, error: type[Exception]) -> None:
    for call in (
        lambda: history.show_revision_file(fleet, "web", "agent.conf", text),
        lambda: history.diff_revisions(fleet, "web", revision=text),
        lambda: history.rollback_files(fleet, "web", to=text),
    ):
        with pytest.raises(error):
            call()


def test_agents_are_counted_by_the_revision_that_they_were_last_given(fleet: Context) -> None:
    assert {row.revision.number: row.agents for row in rows(fleet)} == {1: 2}
    group_files.put_file(fleet, "web", "a.txt", b"1")
    sync.run_sync(fleet, ["003"])
    assert {row.revision.number: row.agents for row in rows(fleet)} == {2: 1, 1: 1}
    sync.run_sync(fleet)
    assert {row.revision.number: row.agents for row in rows(fleet)} == {2: 2, 1: 0}


def test_history_of_a_file_has_only_what_changed_it(fleet: Context) -> None:
    group_files.put_file(fleet, "web", "a.txt", b"1")
    group_files.put_file(fleet, "web", "agent.conf", OTHER)
    assert [row.revision.number for row in rows(fleet, "web", "agent.conf")] == [3, 1]
    asked = history.list_revisions(fleet, "web", query=ListQuery(where="how=put;file=a.txt"))
    assert [row.revision.number for row in asked.affected] == [2]
    with pytest.raises(NotFoundError):
        rows(fleet, "web", "no.txt")


def test_a_change_that_rests_on_another_state_is_a_conflict(fleet: Context) -> None:
    digest = str(group_files.show_file(fleet, "web", "agent.conf").record()["sha256"])
    group_files.put_file(fleet, "web", "agent.conf", OTHER, if_match=digest)
    group_files.put_file(fleet, "web", "a.txt", b"1", if_match="none")
    for call in (
        lambda: group_files.put_file(fleet, "web", "agent.conf", GOOD, if_match=digest),
        lambda: group_files.put_file(fleet, "web", "agent.conf", GOOD, if_match="r1"),
        lambda: group_files.put_file(fleet, "web", "a.txt", b"2", if_match="none"),
        lambda: group_files.remove_file(fleet, "web", "a.txt", if_match=digest),
        lambda: history.rollback_files(fleet, "web", if_match="r2"),
        lambda: history.rollback_files(fleet, "web", "agent.conf", if_match=digest),
    ):
        with pytest.raises(ConflictError) as caught:
            call()
        assert "was changed meanwhile" in caught.value.problem
    group_files.put_file(fleet, "web", "agent.conf", GOOD, if_match="r2")
    history.rollback_files(fleet, "web", if_match="r4")
    assert group_files.show_file(fleet, "web", "agent.conf").content == OTHER


@pytest.mark.parametrize("text", ["", "abc", "r0", "zzzzzzzzzz", "r", "a" * 65])
def test_what_cannot_be_compared_is_refused(fleet: Context, text: str) -> None:
    with pytest.raises(QuestionError):
        group_files.put_file(fleet, "web", "a.txt", b"1", if_match=text)


READER = {"actions": ["group:read"], "resources": ["group:id:web"], "effect": "allow"}
WRITER = {"actions": ["group:update_config"], "resources": ["group:id:web"], "effect": "allow"}


def test_a_reader_reads_the_history_and_goes_nowhere(fleet: Context, actor_with: ActorWith) -> None:
    reader = actor_with([READER])
    assert [row.agents for row in rows(reader)] == [0]
    assert history.diff_revisions(reader, "web").files
    with pytest.raises(DeniedError):
        history.rollback_files(reader, "web")
    for group in ("default", "nothing"):
        with pytest.raises(NotFoundError):
            rows(reader, group)


def test_who_may_write_and_not_read_goes_back_without_seeing_content(
    fleet: Context, actor_with: ActorWith
) -> None:
    group_files.put_file(fleet, "web", "agent.conf", OTHER)
    writer = actor_with([WRITER])
    back = history.rollback_files(writer, "web")
    assert [(found.file, found.lines, found.before) for found in back.files] == [("agent.conf", (), None)]
    assert told(fleet)[0][:3] == (3, "rollback", "ada")


def test_history_can_be_read_when_nothing_can_be_recorded(fleet: Context) -> None:
    (fleet.folders.shared / "web" / "new.txt").write_bytes(b"x")
    folder = fleet.folders.data / "revisions"
    folder.rename(folder.with_name("aside"))
    folder.write_bytes(b"")
    assert [entry[0] for entry in told(fleet)] == [1]
    assert any("present files of group `web` are not recorded" in warning for warning in fleet.warnings)


def test_a_context_session_is_named_with_its_context(fleet: Context) -> None:
    assert fleet.actor is not None
    acting = fleet.acting_as(replace(fleet.actor, run_as=True, context_id="c" * 32))
    group_files.put_file(acting, "web", "a.txt", b"1")
    assert rows(fleet)[0].record()["context_id"] == "c" * 32
