"""Commands on revisions: what they print, where, with which exit code; editing as in a terminal and without one."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]

CONF = "<agent_config>\n  <client_buffer>\n    <queue_size>{}</queue_size>\n  </client_buffer>\n</agent_config>\n"


@pytest.fixture(autouse=True)
def _drafts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of an edit lies in the folder of the test."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def web(admin: Cli, home: Path, tmp_path: Path) -> Path:
    """The folder of group web: r1 created, r2 agent.conf put with size 5000; two agents of it."""
    admin("groups", "create", "web")
    for name in ("web-1", "web-2"):
        admin("agents", "create", name, "--group", "web")
    put(admin, tmp_path, "5000", "--reason", "ticket 4")
    return home / "shared" / "web"


def put(admin: Cli, folder: Path, size: str, *more: str) -> Result:
    (folder / "c.conf").write_text(CONF.format(size))
    return admin("files", "put", "web/agent.conf", str(folder / "c.conf"), *more)


def editor(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    path = folder / "editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(path))


def draft(result: Result) -> Path:
    found = re.search(r"what you edited is kept in\s+(\S+)", result.err)
    assert found, result.err
    return Path(found[1])


def test_history_is_rows_with_author_reason_and_changes(admin: Cli, web: Path) -> None:
    (web / "packs").mkdir()
    (web / "packs" / "a.conf").write_text("a")
    (web / "agent.conf").write_text(CONF.format("6000"))
    admin("sync", "run", "--all")
    rows = [line.split("\t") for line in admin("files", "history", "web").out.splitlines()]
    assert rows[0] == ["revision", "time", "author", "how", "agents", "changes", "reason"]
    assert [[row[0], *row[2:]] for row in rows[1:]] == [
        ["3", "", "found", "2", "agent.conf, +packs/a.conf", ""],
        ["2", "admin", "put", "0", "agent.conf", "ticket 4"],
        ["1", "admin", "create", "0", "+agent.conf", ""],
    ]


def test_history_as_json_has_every_fact(admin: Cli, web: Path) -> None:
    first = admin(
        "files", "history", "web/agent.conf", "-o", "json", "--where", "author=admin;how=put"
    ).json()[0]
    assert {name: first[name] for name in ("revision", "group", "author", "how", "reason", "changes")} == {
        "revision": 2,
        "group": "web",
        "author": "admin",
        "how": "put",
        "reason": "ticket 4",
        "changes": [{"change": "updated", "file": "agent.conf"}],
    }


def test_a_diff_ends_with_1_and_can_be_patched(admin: Cli, web: Path, tmp_path: Path) -> None:
    shown = admin("files", "diff", "web")
    assert shown.code == 1
    assert shown.out.splitlines()[:3] == [
        "--- web/agent.conf\tr1",
        "+++ web/agent.conf\tr2",
        "@@ -1,2 +1,5 @@",
    ]
    admin("files", "put", "web/a.txt", "-", stdin=b"\xff\n")
    assert admin("files", "diff", "web").raw.splitlines()[-1] == b"+\xff"
    assert admin("files", "diff", "web/agent.conf").out == shown.out
    same = admin("files", "diff", "web", "--revision", "2", "--to", "r2")
    assert (same.code, same.out, same.err) == (0, "", "r2 and r2 of `web` are the same\n")


def test_a_diff_on_a_terminal_has_colours_and_no_odd_bytes(admin: Cli, web: Path) -> None:
    admin("files", "put", "web/a.txt", "-", stdin=b"\x1b[2Jx\ty\n")
    shown = admin("files", "diff", "web", terminal=True)
    assert "\x1b[32m" in shown.out
    assert "\x1b[2J" not in shown.out
    assert "\x1b" not in admin("files", "diff", "web", "--color", "never", terminal=True).out


def test_a_diff_as_json_names_sizes_and_what_is_left_out(admin: Cli, web: Path) -> None:
    (web / "bin").write_bytes(b"a\0")
    (found,) = admin("files", "diff", "web", "-o", "json").json()["files"]
    assert (found["file"], found["change"], found["before"], found["diff"]) == ("bin", "created", None, None)
    assert "NUL" in found["omitted"]
    assert admin("files", "diff", "web").out == "web/bin is created (2 bytes); it holds a NUL byte\n"


def test_a_file_as_it_was(admin: Cli, web: Path) -> None:
    assert (
        admin("files", "show", "web/agent.conf", "--revision", "r1").out
        == "<agent_config>\n</agent_config>\n"
    )
    record = admin("files", "show", "web/agent.conf", "--revision", "2", "-o", "json").json()
    assert (record["revision"], record["content"]) == (2, CONF.format("5000"))
    missing = admin("files", "show", "web/agent.conf", "--revision", "9")
    assert (missing.code, "the last is r2" in missing.err) == (5, True)
    assert missing.err.startswith("error: revision `r9` of `web` does not exist\n")


def test_rolling_back_shows_what_changes_and_asks(admin: Cli, web: Path, tmp_path: Path) -> None:
    put(admin, tmp_path, "7000")
    refused = admin("files", "rollback", "web", terminal=True, stdin="n\n")
    assert refused.code == 1
    assert "+    <queue_size>5000</queue_size>" in refused.err
    assert "bring `web` back to r2; 2 agents in the group? [y/N]" in refused.err
    assert CONF.format("7000") == (web / "agent.conf").read_text()
    done = admin("files", "rollback", "web", terminal=True, stdin="y\n")
    assert done.code == 0
    assert "brought `web` back to r2 as r4; 2 agents in the group; to those that need it: " in done.err
    assert CONF.format("5000") == (web / "agent.conf").read_text()


def test_rolling_back_without_a_terminal_needs_a_yes(admin: Cli, web: Path) -> None:
    refused = admin("files", "rollback", "web")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    done = admin("files", "rollback", "web/agent.conf", "--to", "1", "--yes", "-o", "json")
    record = done.json()
    assert (record["from"], record["to"], record["revision"], record["agents"]) == (2, 1, 3, 2)
    again = admin("files", "rollback", "web", "--to", "1", "--yes")
    assert (again.code, again.err) == (0, "`web` is as in r1 already\n")


def test_a_dry_run_of_a_rollback_shows_the_diff_and_changes_nothing(admin: Cli, web: Path) -> None:
    tried = admin("files", "rollback", "web", "-n")
    assert tried.code == 0
    assert tried.err.splitlines()[0] == "--- web/agent.conf r2"
    assert tried.err.splitlines()[-1].startswith("dry run: would bring `web` back to r1;")
    assert len(admin("files", "history", "web").out.splitlines()) == 3


def test_what_changed_between_the_question_and_the_answer_is_a_conflict(
    admin: Cli, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mgmtctl.cli import prompts

    def slow(question: str) -> None:
        (web / "agent.conf").write_text(CONF.format("8000"))

    monkeypatch.setattr(prompts, "confirm", slow)
    conflict = admin("files", "rollback", "web", terminal=True)
    assert conflict.code == 9
    assert (web / "agent.conf").read_text() == CONF.format("8000")


def test_rolling_back_to_what_agents_would_refuse_is_refused(admin: Cli, web: Path, tmp_path: Path) -> None:
    (web / "agent.conf").write_text(CONF.format("many"))
    admin("files", "history", "web")
    put(admin, tmp_path, "7000")
    refused = admin("files", "rollback", "web", "--to", "3", "--yes")
    assert (refused.code, "web/agent.conf:3:" in refused.err) == (7, True)
    accepted = admin(
        *("files", "rollback", "web", "--to", "3", "--yes"),
        *("--accept-risk", "no-validate", "--reason", "a test"),
    )
    assert accepted.code == 0, accepted.err


def test_an_edit_is_shown_asked_and_put(
    admin: Cli, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch, 'sed -i s/5000/6000/ "$1"')
    done = admin("files", "edit", "web/agent.conf", terminal=True, stdin="y\n")
    assert done.code == 0, done.err
    assert "+    <queue_size>6000</queue_size>" in done.err
    assert "put `web/agent.conf`; 2 agents in the group? [y/N]" in done.err
    assert "updated `web/agent.conf` (" in done.err
    assert ") as r3; 2 agents in the group; to those that need it: mgmtctl" in done.err
    assert (web / "agent.conf").read_text() == CONF.format("6000")
    assert admin("files", "history", "web", "-o", "json").json()[0]["how"] == "edit"


def test_an_edit_works_without_a_terminal_when_nothing_is_asked(
    admin: Cli, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/5000/6000/")
    assert admin("files", "edit", "web/agent.conf", "--yes").code == 0
    assert (web / "agent.conf").read_text() == CONF.format("6000")
    refused = admin("files", "edit", "web/agent.conf")
    assert (refused.code, "--yes" in refused.err) == (2, True)
    monkeypatch.delenv("EDITOR")
    nothing = admin("files", "edit", "web/agent.conf", "--yes")
    assert (nothing.code, "needs a terminal" in nothing.err) == (2, True)


def test_an_edit_that_changes_nothing_says_so(admin: Cli, web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "true")
    same = admin("files", "edit", "web/agent.conf", "--yes")
    assert (same.code, same.err) == (0, "nothing changed\n")


def test_an_edit_with_errors_can_be_mended_or_left_and_is_kept(
    admin: Cli, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(
        tmp_path,
        monkeypatch,
        'if grep -q many "$1"; then sed -i s/many/6000/ "$1"; else sed -i s/5000/many/ "$1"; fi',
    )
    left = admin("files", "edit", "web/agent.conf", terminal=True, stdin="n\n")
    assert left.code == 1
    assert re.search(r"web/agent\.conf:3:\d+: error", left.err)
    assert draft(left).read_text() == CONF.format("many")
    assert stat.S_IMODE(draft(left).parent.stat().st_mode) == 0o700
    mended = admin("files", "edit", "web/agent.conf", terminal=True, stdin="y\ny\n")
    assert mended.code == 0, mended.err
    assert (web / "agent.conf").read_text() == CONF.format("6000")
    monkeypatch.setenv("EDITOR", "sed -i s/6000/many/")
    refused = admin("files", "edit", "web/agent.conf", "--yes")
    assert refused.code == 7
    assert draft(refused).read_text() == CONF.format("many")


def test_an_edit_that_somebody_overtook_is_a_conflict_and_kept(
    admin: Cli, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch, f'sed -i s/5000/6000/ "$1"; sed -i s/5000/9000/ {web}/agent.conf')
    conflict = admin("files", "edit", "web/agent.conf", "--yes")
    assert conflict.code == 9
    assert draft(conflict).read_text() == CONF.format("6000")
    assert (web / "agent.conf").read_text() == CONF.format("9000")
    kept = draft(conflict)
    steps = [
        "  why: you began with r2, it is r3\n",
        "mgmtctl files diff web/agent.conf --revision 2 --to 3, ",
        f"mgmtctl files put web/agent.conf {kept} --if-match r3\n",
    ]
    assert [step in conflict.err for step in steps] == [True] * 3
    assert admin("files", "diff", "web/agent.conf", "--revision", "2", "--to", "3").code == 1
    assert admin("files", "put", "web/agent.conf", str(kept), "--if-match", "r3").code == 0


def test_an_editor_that_fails_puts_nothing(admin: Cli, web: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "false")
    failed = admin("files", "edit", "web/agent.conf", "--yes")
    assert (failed.code, "kept" in failed.err) == (74, False)


def test_a_missing_agent_conf_is_created_and_nothing_else(
    admin: Cli, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin("files", "rm", "web/agent.conf", "--yes")
    monkeypatch.setenv("EDITOR", "true")
    done = admin("files", "edit", "web/agent.conf", "--yes")
    assert (done.code, "created `web/agent.conf`" in done.err) == (0, True)
    assert stat.S_IMODE((web / "agent.conf").stat().st_mode) == 0o660
    missing = admin("files", "edit", "web/other.txt", "--yes")
    assert (missing.code, "mgmtctl files put web/other.txt" in missing.err) == (5, True)


def test_editing_an_ar_conf_that_is_the_common_one_gives_the_group_its_own(
    admin: Cli, web: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "shared" / "ar.conf").write_text("common\n")
    monkeypatch.setenv("EDITOR", "sed -i s/common/own/")
    assert admin("files", "edit", "web/ar.conf", "--yes").code == 0
    assert ((web / "ar.conf").read_text(), (home / "shared" / "ar.conf").read_text()) == ("own\n", "common\n")


def test_a_dry_run_of_an_edit_puts_nothing_and_keeps_the_text(
    admin: Cli, web: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "sed -i s/5000/6000/")
    tried = admin("files", "edit", "web/agent.conf", "-n")
    assert (tried.code, "dry run: would update `web/agent.conf`" in tried.err) == (0, True)
    assert (web / "agent.conf").read_text() == CONF.format("5000")
    assert draft(tried).read_text() == CONF.format("6000")


def test_a_script_can_say_what_it_rests_on(
    admin: Cli, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = admin("files", "show", "web/agent.conf", "-o", "json").json()["sha256"]
    assert put(admin, tmp_path, "6000", "--if-match", digest).code == 0
    late = put(admin, tmp_path, "7000", "--if-match", digest, "-o", "json")
    assert late.code == 9
    assert json.loads(late.err)["error"] == "`web/agent.conf` was changed meanwhile"
    by_number = admin("files", "rm", "web/agent.conf", "--if-match", "r2", "--yes")
    assert (by_number.code, "  why: expected r2, it is r3\n" in by_number.err) == (9, True)
    group = admin("files", "rollback", "web", "--to", "1", "--if-match", "r2", "--yes")
    assert (group.code, "  why: expected r2, it is r3\n" in group.err) == (9, True)
    monkeypatch.setenv("EDITOR", "true")
    edited = admin("files", "edit", "web/agent.conf", "--if-match", "r2", "--yes")
    assert (edited.code, "  why: expected r2, it is r3\n" in edited.err) == (9, True)
    noticed = (web / "agent.conf").read_bytes()
    (web / "agent.conf").write_bytes(noticed + b"\n")
    on_disk = admin("files", "rm", "web/agent.conf", "--if-match", "r3", "--yes")
    assert (on_disk.code, "  why: expected r3, it was changed on disk since\n" in on_disk.err) == (9, True)
    (web / "agent.conf").write_bytes(noticed)
    assert admin("files", "rm", "web/agent.conf", "--if-match", "r3", "--yes").code == 0


def test_the_whole_story_brings_agents_back_byte_for_byte(
    admin: Cli, web: Path, home: Path, tmp_path: Path
) -> None:
    def tree() -> dict[str, bytes]:
        folder = home / "agents"
        return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    admin("sync", "run", "--all")
    good = tree()
    put(admin, tmp_path, "100")
    admin("sync", "run", "--all")
    assert tree() != good
    assert admin("files", "rollback", "web", "--yes").code == 0
    admin("sync", "run", "--all")
    assert tree() == good


@pytest.mark.skipif(os.system("command -v patch > /dev/null") != 0, reason="no patch here")
def test_what_diff_prints_is_taken_by_patch(admin: Cli, web: Path, tmp_path: Path) -> None:
    folder = tmp_path / "old" / "web"
    folder.mkdir(parents=True)
    folder.joinpath("agent.conf").write_bytes(admin("files", "show", "web/agent.conf", "--revision", "1").raw)
    text = admin("files", "diff", "web").raw
    subprocess.run(["patch", "-p0"], cwd=tmp_path / "old", input=text, check=True, capture_output=True)
    assert folder.joinpath("agent.conf").read_text() == CONF.format("5000")


def test_rolling_back_tells_what_it_leaves_alone(admin: Cli, web: Path) -> None:
    (web / "agent.conf").write_text(CONF.format("many"))
    (web / "notes\n.txt ").touch()
    done = admin("files", "rollback", "web", "-y")
    assert done.code == 0, done.err
    assert done.err.startswith(
        "warning: `web/notes\\n.txt ` is left as it is: agents never get a file of that"
    )
    assert "brought `web` back to r2 as r4" in done.err
    same = admin("files", "rollback", "web", "--to", "2", "-y")
    assert same.err.endswith("`web` is as in r2 already, but for that\n")
