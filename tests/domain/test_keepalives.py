"""Reports of agents: what is read, what is refused, and what each event does to a state (groups.md 6.2)."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.agents import OS_FIELDS, Reports
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.keepalives import (
    KEEPALIVE,
    LARGEST,
    SHUTDOWN,
    STARTUP,
    TRANSITIONS,
    Report,
    check_own,
    differs,
    parse_report,
    remarks,
    running_after,
)

MD5, SHA = "9c" * 16, "9c" * 32


def parsed(document: object) -> Report:
    return parse_report(json.dumps(document).encode())


def faults(document: object) -> list[str]:
    with pytest.raises(InvalidError) as caught:
        parsed(document)
    return [f"{finding.path}: {finding.message}" for finding in caught.value.findings]


def test_a_report_is_read_whole() -> None:
    document = {
        "event": "startup",
        "version": "Product v4.9.2",
        "os": {**dict.fromkeys(OS_FIELDS, "text"), "major": "22"},
        "ip": "10.0.0.7",
        "manager": "main",
        "node_name": "node01",
        "mergedSum": SHA.upper(),
        "configSum": MD5,
        "labels": {"any": ["thing", {"at": "all"}]},
        "id": "042",
        "name": "web-42",
        "time": "2026-11-21T09:56:10.5+01:00",
    }
    found = parsed(document)
    assert found == Report(
        event=STARTUP,
        time=1795251370.5,
        id="042",
        name="web-42",
        version="Product v4.9.2",
        ip="10.0.0.7",
        manager="main",
        node_name="node01",
        merged_sum=SHA,
        config_sum=MD5,
        os={**dict.fromkeys(OS_FIELDS, "text"), "major": "22"},
    )


@pytest.mark.parametrize(
    ("document", "report"),
    [
        pytest.param({}, Report(), id="nothing_said_is_a_sign_of_life"),
        pytest.param({"version": None, "os": None, "ip": ""}, Report(), id="null_and_empty_say_nothing"),
        pytest.param({"mergedSum": "x"}, Report(merged_sum="x"), id="x_is_no_merged_file"),
        pytest.param({"id": 42}, Report(id="42"), id="an_id_may_be_a_number"),
        pytest.param({"ip": "fe80::1%eth0"}, Report(ip="fe80::1"), id="a_zone_is_of_that_machine_only"),
        pytest.param(
            {"groups": ["web"], "os": {"kernel": "6"}},
            Report(ignored=("groups", "os.kernel")),
            id="unknown_keys_are_ignored_and_named",
        ),
    ],
)
def test_what_a_report_says(document: object, report: Report) -> None:
    assert parsed(document) == report


@pytest.mark.parametrize(
    ("document", "found"),
    [
        pytest.param(
            {"event": "reboot"},
            ["report: event: expected startup, keepalive, shutdown, got `reboot`"],
            id="an_unknown_event",
        ),
        pytest.param({"version": 4}, ["report: version: expected text, got a number"], id="a_number"),
        pytest.param({"os": ["linux"]}, ["report: os: expected an object, got a list"], id="a_list"),
        pytest.param(
            {"os": {"name": "a\x1b[2J"}},
            ["report: os.name: `a\\x1b[2J` holds characters that do not print"],
            id="control_characters",
        ),
        pytest.param(
            {"mergedSum": "9c1f"},
            ["report: mergedSum: expected 32 or 64 hex digits or `x`, got `9c1f`"],
            id="a_short_checksum",
        ),
        pytest.param(
            {"ip": "10.0.0.0/8"}, ["report: ip: expected an address, got `10.0.0.0/8`"], id="a_network"
        ),
        pytest.param(
            {"time": "yesterday"},
            ["report: time: expected a time as 2026-11-21T09:56:10Z, got `yesterday`"],
            id="no_time",
        ),
        pytest.param(
            {"time": "2026-02-30T00:00:00Z"},
            ["report: time: expected a time as 2026-11-21T09:56:10Z, got `2026-02-30T00:00:00Z`"],
            id="no_such_day",
        ),
        pytest.param(
            {"name": "a" * 2000}, ["report: name: at most 1024 characters, got 2000"], id="a_long_text"
        ),
        pytest.param({"id": True}, ["report: id: expected text, got true or false"], id="a_flag_for_an_id"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(document: object, found: list[str]) -> None:
    assert faults(document) == found


def test_every_fault_is_told_at_once() -> None:
    assert len(faults({"event": 1, "version": [], "os": {"name": 2, "uname": "\n"}, "ip": "x"})) == 5


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"[]", id="a_list"),
        pytest.param(b"\xff\xfe", id="no_text"),
        pytest.param(b'{"event": NaN}', id="nan"),
        pytest.param(b'{"a": 1, "a": 2}', id="a_key_twice"),
        pytest.param(b'{"a": ' * 10_000, id="deep"),
        pytest.param(b'{"a": ' + b"1" * 10_000 + b"}", id="a_long_number"),
        pytest.param(b" " * (LARGEST + 1), id="too_large"),
        pytest.param(b'{"name": "\\ud800"}', id="half_a_pair"),
        pytest.param(b"[" + b"1," * 30_000 + b"1]", id="too_many_values"),
    ],
)
def test_what_is_no_report_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidError):
        parse_report(data)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["event", "time", "id", "name", "os", "labels", "version", "ip", "mergedSum", "odd"])


@settings(max_examples=200)
@given(document=st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_document_is_a_report_or_refused(document: dict[str, Any]) -> None:
    try:
        found = parsed(document)
    except InvalidError:
        return
    texts = [found.version, found.ip, found.name, found.id, *found.os.values()]
    assert all(text is None or (text and text.isprintable()) for text in texts)


@settings(max_examples=200)
@given(data=st.binary(max_size=60))
def test_any_bytes_are_a_report_or_refused(data: bytes) -> None:
    with contextlib.suppress(InvalidError):
        assert isinstance(parse_report(data), Report)


@pytest.mark.parametrize(
    ("report", "accepted"),
    [
        pytest.param(Report(), True, id="it_need_not_say_whose_it_is"),
        pytest.param(Report(id="042", name="Web-42"), True, id="its_own_id_and_name_in_any_case"),
        pytest.param(Report(id="42"), True, id="its_id_without_zeros"),
        pytest.param(Report(id="043"), False, id="another_id"),
        pytest.param(Report(name="web-43"), False, id="another_name"),
    ],
)
def test_a_report_is_of_its_own_agent(report: Report, accepted: bool) -> None:
    if accepted:
        check_own(report, "042", "web-42")
        return
    with pytest.raises(InvalidError) as caught:
        check_own(report, "042", "web-42")
    assert caught.value.problem == "report is of another agent than 042 web-42"
    assert caught.value.findings


NEW = Reports()
ACTIVE = Reports(last_keep_alive=100)
PENDING = Reports(last_keep_alive=100, started=100)
GONE = Reports(last_keep_alive=100, disconnection_time=200, status_code=3)
RESET = Reports(last_keep_alive=100, disconnection_time=200, status_code=5)
LATER = 1_000_000  # our clock was there once


@pytest.mark.parametrize(
    ("before", "event", "at", "now", "state"),
    [
        pytest.param(NEW, STARTUP, 1000, 1000, ("pending", 0, None), id="startup_new"),
        pytest.param(ACTIVE, STARTUP, 1000, 1000, ("pending", 0, None), id="startup_active"),
        pytest.param(GONE, STARTUP, 1000, 1000, ("pending", 0, None), id="startup_after_shutdown"),
        pytest.param(RESET, STARTUP, 1000, 1000, ("pending", 0, None), id="startup_after_reset"),
        pytest.param(NEW, KEEPALIVE, 1000, 1000, ("active", 0, None), id="keepalive_new"),
        pytest.param(PENDING, KEEPALIVE, 1000, 1000, ("active", 0, None), id="keepalive_pending"),
        pytest.param(ACTIVE, KEEPALIVE, 1000, 1000, ("active", 0, None), id="keepalive_active"),
        pytest.param(GONE, KEEPALIVE, 1000, 1000, ("active", 0, None), id="keepalive_after_shutdown"),
        pytest.param(RESET, KEEPALIVE, 1000, 1000, ("active", 0, None), id="keepalive_after_reset"),
        pytest.param(NEW, SHUTDOWN, 1000, 1000, ("disconnected", 3, 1000), id="shutdown_new"),
        pytest.param(PENDING, SHUTDOWN, 1000, 1000, ("disconnected", 3, 1000), id="shutdown_pending"),
        pytest.param(ACTIVE, SHUTDOWN, 1000, 1000, ("disconnected", 3, 1000), id="shutdown_active"),
        pytest.param(RESET, SHUTDOWN, 1000, 1000, ("disconnected", 3, 1000), id="shutdown_after_reset"),
        pytest.param(ACTIVE, KEEPALIVE, 1000, 1600, ("active", 0, None), id="silent_for_600_s"),
        pytest.param(ACTIVE, KEEPALIVE, 1000, 1601, ("disconnected", 4, 1600), id="silent_for_longer"),
        pytest.param(PENDING, STARTUP, 1000, 1601, ("disconnected", 4, 1600), id="pending_and_silent"),
        pytest.param(GONE, SHUTDOWN, 1000, 9999, ("disconnected", 3, 1000), id="a_shutdown_stays_one"),
        pytest.param(ACTIVE, KEEPALIVE, 1000, 400, ("active", 0, None), id="our_clock_went_back"),
        pytest.param(
            Reports(last_keep_alive=LATER), KEEPALIVE, 1000, 1000, ("active", 0, None), id="after_a_jump_back"
        ),
        pytest.param(
            Reports(last_keep_alive=LATER),
            KEEPALIVE,
            1000,
            1601,
            ("disconnected", 4, 1600),
            id="a_time_from_the_future_does_not_outlive_a_report",
        ),
    ],
)
def test_every_row_of_the_transitions(
    before: Reports, event: str, at: int, now: int, state: tuple[str, int, int | None]
) -> None:
    assert TRANSITIONS[event](before, at).at(now) == state


@pytest.mark.parametrize(
    ("checksum", "other"),
    [(None, False), (MD5, False), (SHA, False), ("x", True), ("ab" * 16, True), ("ab" * 32, True)],
)
def test_a_checksum_is_compared_in_both_kinds(checksum: str | None, other: bool) -> None:
    assert differs(checksum, SHA, MD5) is other


@pytest.mark.parametrize(
    ("report", "running"),
    [
        pytest.param(Report(), None, id="a_sign_of_life_says_nothing_of_files"),
        pytest.param(Report(event=STARTUP), "pushed", id="an_agent_that_started_uses_what_was_pushed"),
        pytest.param(Report(merged_sum=MD5), "known", id="a_known_checksum"),
        pytest.param(Report(event=STARTUP, merged_sum=MD5), "known", id="a_checksum_says_more_than_a_start"),
        pytest.param(Report(merged_sum="ab" * 16), "ab" * 16, id="an_unknown_checksum_is_kept"),
        pytest.param(Report(merged_sum="x"), "x", id="no_merged_file"),
        pytest.param(Report(event=SHUTDOWN), None, id="a_shutdown"),
    ],
)
def test_what_an_agent_uses_after_a_report(report: Report, running: str | None) -> None:
    assert running_after(report, "pushed", lambda checksum: "known" if checksum == MD5 else None) == running


def test_a_start_of_an_agent_that_was_never_given_anything_says_nothing() -> None:
    assert running_after(Report(event=STARTUP), "", lambda _: None) is None


def test_remarks_name_what_was_ignored_and_a_clock_that_is_ahead() -> None:
    report = Report(time=1100.0, ignored=("a", "b\n", "c", "d"))
    assert list(remarks(report, 1000.0)) == [
        "ignored: `a`, `b\\n`, `c` and 1 more; a report does not say that",
        "the agent's clock is 100 s ahead of ours",
    ]
    assert list(remarks(Report(time=1060.0), 1000.0)) == []


@pytest.mark.parametrize(
    ("document", "refused"),
    [
        pytest.param({"data": {}, "message": "x", "error": 0}, True, id="no_known_key"),
        pytest.param({"mergedsum": "x"}, True, id="a_misspelt_key_alone"),
        pytest.param({}, False, id="an_empty_one_says_that_it_is_there"),
        pytest.param({"labels": {}, "data": 1}, False, id="one_known_key"),
    ],
)
def test_what_has_no_key_of_a_report_is_none(document: dict[str, Any], refused: bool) -> None:
    if not refused:
        assert parsed(document)
        return
    with pytest.raises(InvalidError, match="is no report of an agent") as caught:
        parsed(document)
    assert str(caught.value.why).endswith(", ".join(f"`{key}`" for key in document))
