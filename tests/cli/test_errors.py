"""Errors as a user sees them: text that scripts can cut, JSON that scripts can read."""

from __future__ import annotations

import json

import pytest

from mgmtctl.cli import errors
from mgmtctl.domain.errors import (
    ConflictError,
    DeniedError,
    InvalidError,
    MgmtctlError,
    NotFoundError,
    QuestionError,
)
from mgmtctl.domain.findings import Finding
from mgmtctl.operations.results import Failure
from tests.cli.conftest import _bytes, streams


def said(error: MgmtctlError, *, as_json: bool = False, terminal: bool = False, color: str = "auto") -> str:
    with streams(b"", terminal) as (_, err):
        errors.say_error(error, as_json=as_json, color=color)
        return _bytes(err).decode()


def test_an_error_is_one_line_with_why_and_fix_below() -> None:
    error = NotFoundError("role", "x", why="no role has that name", fix="mgmtctl roles list")
    assert (
        said(error)
        == "error: role `x` does not exist\n  why: no role has that name\n  fix: mgmtctl roles list\n"
    )


def test_a_reason_of_several_lines_keeps_its_columns() -> None:
    assert (
        said(QuestionError("column 3: x", why="a b\n  ^")) == "error: column 3: x\n  why: a b\n         ^\n"
    )


def test_findings_come_first_one_line_each() -> None:
    finding = Finding("unknown-section", "error", "no section `x`", "a.conf", 3, 5, "did you mean `y`?")
    lines = said(InvalidError("a.conf is refused", findings=[finding])).splitlines()
    assert lines[0] == "a.conf:3:5: error: no section `x`; did you mean `y`? [unknown-section]"
    assert lines[1] == "error: a.conf is refused"


def test_user_input_with_control_characters_stays_one_line() -> None:
    assert said(NotFoundError("role", "a\nerror: fake\x1b[2J"), terminal=True, color="never").count("\n") == 1
    assert "\x1b" not in said(NotFoundError("role", "\x1b[2J"), color="never")


def test_an_error_fits_the_terminal_and_stays_one_line_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    finding = Finding("x", "error", "no section `x` in the whole file", "a.conf", 3, 5)
    error = InvalidError("a.conf is refused by the group", why="it has one finding", findings=[finding])
    assert said(error, terminal=True, color="never").splitlines() == [
        "a.conf:3:5: error: no",
        "  section `x` in the",
        "  whole file [x]",
        "error: a.conf is refused",
        "  by the group",
        "  why: it has one",
        "       finding",
    ]
    assert len(said(error).splitlines()) == 3
    coloured = said(error, terminal=True, color="always")
    assert "\x1b[31merror:\x1b[0m a.conf is refused\n  by the group\n" in coloured


def test_json_has_every_fact() -> None:
    record = json.loads(said(DeniedError("agent:read", "agent:id:001", why="w", fix="f"), as_json=True))
    assert record == {
        "error": "permission denied: agent:read on agent:id:001",
        "type": "denied",
        "exit": 6,
        "why": "w",
        "fix": "f",
        "code": 4000,
        "action": "agent:read",
        "resource": "agent:id:001",
    }


def test_the_label_is_red_on_a_terminal_only() -> None:
    assert said(InvalidError("x"), terminal=True, color="always").startswith("\x1b[31merror:\x1b[0m x")
    assert said(InvalidError("x")) == "error: x\n"


@pytest.mark.parametrize(
    ("failures", "text"),
    [
        pytest.param(
            [Failure(NotFoundError("agent", "9"), ("9",))],
            "error: agent `9` does not exist\n",
            id="one item, named",
        ),
        pytest.param(
            [Failure(DeniedError("agent:read", "agent:id:1"), ("1", "2"))],
            "error: 1, 2: permission denied: agent:read on agent:id:1\n",
            id="several items with one reason",
        ),
        pytest.param(
            [
                Failure(ConflictError("user `wui` is reserved"), ("2",)),
                Failure(ConflictError("user `admin` is reserved"), ("1",)),
            ],
            "error: user `wui` is reserved\nerror: user `admin` is reserved\n",
            id="items that their reasons name",
        ),
        pytest.param(
            [Failure(InvalidError("no"), ("5",))], "error: 5: no\n", id="an item that no reason names"
        ),
        pytest.param(
            [Failure(InvalidError("no"), tuple(map(str, range(25))))],
            "error: 0, 1 and 23 more: no\n",
            id="many items are counted",
        ),
    ],
)
def test_items_that_failed_are_listed(failures: list[Failure], text: str) -> None:
    with streams(b"", False) as (_, err):
        errors.say_failures(failures, 3)
        assert _bytes(err).decode() == text


def test_items_that_failed_as_json_are_one_object() -> None:
    with streams(b"", False) as (_, err):
        errors.say_failures([Failure(InvalidError("no", code=7), ("1", "2"))], 3, as_json=True)
        record = json.loads(_bytes(err))
    assert record["failed_items"] == [{"error": {"code": 7, "message": "no"}, "id": ["1", "2"]}]
    assert (record["error"], record["exit"]) == ("2 failed", 3)


def test_the_reasons_of_a_refusal_fit_the_terminal_and_commands_stay_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    why = "an entry denies it\nbecause     deny agent:read on agent:group:web\n            role a, policy b, block c"
    fix = "take the deny out\nmgmtctl policies remove-entry b --deny agent:read --on agent:group:web"
    assert said(
        DeniedError("agent:read", "x", why=why, fix=fix), terminal=True, color="never"
    ).splitlines() == [
        "error: permission denied: agent:read on x",
        "  why: an entry denies it",
        "       because     deny agent:read on",
        "                   agent:group:web",
        "                   role a, policy b, block c",
        "  fix: take the deny out",
        "       mgmtctl policies remove-entry b --deny agent:read --on agent:group:web",
    ]
