"""`mgmtctl users ...` as command lines: fixed forms, passwords, exit codes."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import ADMIN_PASSWORD, Result

PASSWORD = "Secret-phrase-1"
Cli = Callable[..., Result]


def password_file(tmp_path: Path, text: str = PASSWORD) -> str:
    path = tmp_path / "password"
    path.write_text(text + "\n")
    path.chmod(0o600)
    return str(path)


def create(admin: Cli, name: str, *more: str) -> Result:
    return admin("users", "create", name, "--password-stdin", *more, stdin=PASSWORD)


def test_users_are_listed_in_rows_and_as_json(admin: Cli) -> None:
    listed = admin("users", "list")
    assert (listed.code, listed.out.splitlines()[:2]) == (
        0,
        ["id\tusername\tallow_run_as\troles", "1\tadmin\tfalse\tadministrator"],
    )
    records = admin("users", "list", "-o", "json", "--where", "allow_run_as=true").json()
    assert records == [{"id": "2", "username": "wui", "allow_run_as": True, "roles": ["1"]}]


def test_one_user_is_shown_as_one_record_and_several_as_a_list(admin: Cli) -> None:
    assert admin("users", "show", "ADMIN", "-o", "json").json()["id"] == "1"
    assert [user["id"] for user in admin("users", "show", "2", "admin", "-o", "json").json()] == ["2", "1"]
    assert [user["id"] for user in admin("users", "show", "-", "-o", "json", stdin="wui\n").json()] == ["2"]


def test_what_is_not_there_is_listed_beside_what_is(admin: Cli) -> None:
    partly = admin("users", "show", "admin", "absent", "-o", "id")
    assert (partly.code, partly.out) == (3, "1\n")
    assert "user `absent` does not exist" in partly.err
    assert admin("users", "show", "absent").code == 5


@pytest.mark.parametrize("source", ["stdin", "file"])
def test_a_created_user_can_log_in(admin: Cli, tmp_path: Path, source: str) -> None:
    flags = ["--password-stdin"] if source == "stdin" else ["--password-file", password_file(tmp_path)]
    made = admin(
        "users", "create", "ann", *flags, "--role", "readonly", "--allow-run-as", "-o", "json", stdin=PASSWORD
    )
    assert (made.code, made.json()["allow_run_as"], len(made.json()["roles"])) == (0, True, 1)
    assert admin("login", "-u", "ann", "--password-file", password_file(tmp_path)).code == 0
    assert admin("whoami", "-o", "json").json()["user"] == "ann"


def test_a_generated_password_is_shown_once_and_works(admin: Cli) -> None:
    made = admin("users", "create", "ann", "--generate")
    assert (made.code, made.err) == (0, "created user `ann` with id 100\n")
    assert admin("login", "-u", "ann", "--password-stdin", stdin=made.out).code == 0


def test_a_generated_password_is_part_of_the_record_that_was_asked_for(admin: Cli) -> None:
    made = admin("users", "create", "ann", "--generate", "-o", "json").json()
    assert made["username"] == "ann"
    assert admin("login", "-u", "ann", "--password-stdin", stdin=made["password"]).code == 0


def test_a_dry_run_creates_nobody_and_shows_no_password(admin: Cli) -> None:
    made = admin("users", "create", "ann", "--generate", "-n")
    assert (made.code, made.out) == (0, "")
    assert made.err == (
        "dry run: would create user `ann` with id 100\n  nobody gains or loses anything; no session ends\n"
    )
    assert admin("users", "show", "ann").code == 5


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "said"),
    [
        pytest.param(["create", "ann"], "", 2, "--password-stdin", id="no terminal to ask at"),
        pytest.param(["create", "ann", "--password-stdin"], "weak", 7, "at least 8 characters", id="weak"),
        pytest.param(["create", "7", "--password-stdin"], PASSWORD, 7, "add a letter", id="digits only"),
        pytest.param(["create", "Admin", "--password-stdin"], PASSWORD, 9, "exists", id="taken"),
        pytest.param(
            ["create", "ann", "--generate", "--password-stdin"], PASSWORD, 2, "excludes", id="two sources"
        ),
        pytest.param(
            ["create", "ann", "--password-stdin", "--role", "x"], PASSWORD, 5, "role `x`", id="no such role"
        ),
        pytest.param(["set", "admin"], "", 2, "`--name NAME` or `-f FILE`", id="set nothing"),
        pytest.param(["set", "admin", "--name", "root"], "", 9, "reserved", id="set a reserved name"),
        pytest.param(["set", "admin", "-f", "/nowhere.json"], "", 7, "/nowhere.json", id="no such file"),
        pytest.param(["delete", "admin"], "", 2, "--yes", id="delete asks"),
        pytest.param(["delete", "admin", "--yes"], "", 9, "reserved", id="delete a reserved user"),
        pytest.param(["allow-run-as", "admin"], "", 9, "reserved", id="run-as of a reserved user"),
        pytest.param(["add-role", "absent", "readonly"], "", 5, "user `absent`", id="add-role to nobody"),
        pytest.param(["delete", "admin", "-y", "--accept-risk", "x"], "", 2, "lockout", id="no such risk"),
        pytest.param(["edit", "admin"], "", 2, "users set", id="edit without a terminal"),
    ],
)
def test_refusals_have_their_exit_codes(
    admin: Cli, arguments: list[str], stdin: str, code: int, said: str
) -> None:
    refused = admin("users", *arguments, stdin=stdin)
    assert (refused.code, refused.out) == (code, "")
    assert said in refused.err


STEPS = (
    (["add-role", "ann", "readonly"], "changed user `ann`: role `readonly` added\n"),
    (
        ["add-role", "100", "readonly", "7"],
        "changed user `ann`: role `users_admin` added; user `ann` has role `readonly` already\n",
    ),
    (["add-role", "ann", "6", "7"], "user `ann` has roles `readonly`, `users_admin` already\n"),
    (["remove-role", "ann", "readonly", "-n"], "dry run: would change user `ann`: role `readonly` removed\n"),
    (["remove-role", "ann", "readonly"], "changed user `ann`: role `readonly` removed\n"),
    (["remove-role", "ann", "readonly"], "user `ann` does not have role `readonly`\n"),
    (["set", "ann", "--name", "Ann"], "changed user `Ann`: name `ann` -> `Ann`\n"),
    (["set", "ann", "--name", "Ann"], "nothing to change in user `Ann`\n"),
    (["allow-run-as", "ann", "-n"], "dry run: user `Ann` would be allowed to use authorization contexts\n"),
    (["allow-run-as", "ann"], "user `Ann` may use authorization contexts\n"),
    (["allow-run-as", "ann"], "nothing to change: user `Ann` may use authorization contexts\n"),
    (["delete", "ann", "-n"], "dry run: would delete user `Ann`\n"),
    (["delete", "ann", "-y"], "deleted user `Ann`\n"),
)


def test_each_step_says_what_it_changed_and_what_was_so_before(admin: Cli) -> None:
    create(admin, "ann")
    for arguments, said in STEPS:
        step = admin("users", *arguments)
        # A dry run goes on with what it would mean: tests of the impact have that.
        first = step.err.splitlines(keepends=True)[0] if "-n" in arguments else step.err
        assert (step.code, first) == (0, said), arguments


def test_a_user_is_set_from_what_show_prints(admin: Cli) -> None:
    create(admin, "ann", "--role", "readonly")
    record = admin("users", "show", "ann", "-o", "json").json()
    record["roles"], record["allow_run_as"] = ["users_admin"], True
    changed = admin(
        "users", "set", "ann", "--name", "anna", "-f", "-", "-o", "json", stdin=json.dumps(record)
    ).json()
    assert changed == {"id": "100", "username": "anna", "allow_run_as": True, "roles": ["7"]}


def test_a_wrong_record_is_refused_with_its_places(admin: Cli, tmp_path: Path) -> None:
    create(admin, "ann")
    path = tmp_path / "ann.json"
    path.write_text('{\n  "role": [],\n  "allow_run_as": "yes"\n}\n')
    refused = admin("users", "set", "ann", "-f", str(path))
    assert refused.code == 7
    assert refused.err.splitlines()[:2] == [
        f"{path}:2:11: error: role: key `role` is unknown; did you mean `roles`? [unknown-key]",
        f"{path}:3:19: error: allow_run_as: expected true or false, got text [wrong-type]",
    ]


def test_a_changed_password_is_the_only_one_that_works(admin: Cli) -> None:
    create(admin, "ann")
    new = "Another-phrase-2"
    assert admin("users", "set-password", "ann", "--password-stdin", stdin=new).code == 0
    assert admin("login", "-u", "ann", "--password-stdin", stdin=PASSWORD).code == 4
    assert admin("login", "-u", "ann", "--password-stdin", stdin=new).code == 0


def test_run_as_is_allowed_and_forbidden(admin: Cli) -> None:
    create(admin, "ann")
    assert admin("users", "allow-run-as", "ann").err == "user `ann` may use authorization contexts\n"
    assert (
        admin("users", "allow-run-as", "ann", "--off").err
        == "user `ann` may not use authorization contexts\n"
    )


def test_an_answer_deletes_and_a_no_does_not(admin: Cli) -> None:
    create(admin, "ann")
    assert admin("users", "delete", "ann", stdin="n\n", terminal=True).code == 1
    assert admin("users", "show", "ann").code == 0
    assert admin("users", "delete", "ann", stdin="y\n", terminal=True).code == 0
    assert admin("users", "show", "ann").code == 5


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """An $EDITOR that runs Python on the file; `text` is what it holds."""
    path = tmp_path / "editor"
    path.write_text(
        "#!/usr/bin/env python3\nimport sys, pathlib\n"
        "file = pathlib.Path(sys.argv[-1])\ntext = file.read_text()\n" + script
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("EDITOR", str(path))


def test_a_user_is_edited_as_json(admin: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create(admin, "ann")
    editor(
        tmp_path,
        monkeypatch,
        "file.write_text(text.replace('[]', '[\"readonly\"]').replace('ann', 'anna'))\n",
    )
    edited = admin("users", "edit", "ann", terminal=True)
    told = "changed user `anna`: name `ann` -> `anna`, role `readonly` added\n"
    assert (edited.code, edited.err) == (0, told)
    assert admin("users", "show", "anna", "-o", "json").json()["roles"] == ["6"]


def test_an_edit_that_changes_nothing_says_so(
    admin: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch, "")
    assert admin("users", "edit", "admin", terminal=True).err == "nothing changed\n"


def test_who_may_not_is_told_which_right_is_missing(admin: Cli) -> None:
    create(admin, "ann", "--role", "agents_readonly")
    assert admin("login", "-u", "ann", "--password-stdin", stdin=PASSWORD).code == 0
    assert admin("users", "list", "-o", "json").json() == []
    refused = create(admin, "bob")
    assert (refused.code, "security:create_user on *:*:*" in refused.err) == (6, True)
    denied = admin("users", "delete", "1", "--yes", "-o", "json")
    assert (denied.code, json.loads(denied.err)["action"]) == (6, "security:delete")


def test_no_output_ever_holds_a_password_or_a_hash(admin: Cli) -> None:
    said = create(admin, "ann", "-o", "json")
    shown = admin("users", "list", "-o", "yaml")
    for text in (said.out, said.err, shown.out):
        assert PASSWORD not in text
        assert ADMIN_PASSWORD not in text
        assert "argon2" not in text


def test_the_last_administrator_goes_only_when_the_risk_is_accepted_by_name(admin: Cli) -> None:
    from mgmtctl import bootstrap
    from mgmtctl.settings import Settings

    create(admin, "root2", "--role", "administrator")
    context = bootstrap.open_context(Settings())
    context.store.database.execute("UPDATE users SET password = NULL WHERE id = 1")
    context.store.close()
    refused = admin("users", "delete", "root2", "--yes")
    assert (refused.code, "--accept-risk lockout" in refused.err) == (9, True)
    assert admin("users", "delete", "root2", "--yes", "--accept-risk", "lockout").code == 0


def test_one_refusal_has_no_list_around_it(admin: Cli) -> None:
    assert admin("users", "delete", "admin", "-y").err.startswith("error: user `admin` is reserved\n")
    facts = json.loads(admin("users", "delete", "admin", "-y", "-o", "json").err)
    assert (facts["type"], facts["exit"]) == ("conflict", 9)


def test_a_list_can_be_asked_for_by_the_names_that_it_shows(admin: Cli) -> None:
    create(admin, "ann", "--role", "readonly")
    for wanted in ("roles=readonly", "roles=6"):
        assert admin("users", "list", "--where", wanted, "-o", "id").out == "100\n"
    assert admin("users", "show", "ann").out.splitlines()[-1] == "roles\treadonly"


def test_the_password_rule_is_told_before_the_question(admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    import getpass

    monkeypatch.setattr(getpass, "getpass", lambda *_, **__: PASSWORD)
    made = admin("users", "create", "ann", terminal=True)
    assert (made.code, made.err.splitlines()[0].startswith("a password has 8 to 64 characters")) == (0, True)
    assert "characters" not in create(admin, "bob").err


def test_an_empty_list_of_names_changes_nothing_and_says_so(admin: Cli) -> None:
    create(admin, "ann")
    assert admin("users", "add-role", "ann", "-").err == "nothing to change\n"
    assert admin("users", "delete", "-", "-y").err == "deleted no users\n"


def test_many_are_counted_and_few_are_named(admin: Cli) -> None:
    names = [f"u{number}" for number in range(6)]
    for name in names:
        create(admin, name)
    assert admin("users", "delete", *names, "-n").err.startswith("dry run: would delete 6 users\n")
    assert admin("users", "delete", "u0", "u1", "-y").err == "deleted users `u0`, `u1`\n"
    partly = admin("users", "delete", "u2", "admin", "-y")
    assert (partly.code, partly.err.splitlines()[0]) == (3, "deleted user `u2`")
