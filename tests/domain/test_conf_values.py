"""Facts about values: what each type takes, what it refuses, and what was meant."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain import options
from mgmtctl.domain.conf_values import balanced, value_fault
from mgmtctl.domain.options import Entry


def entry(path: str) -> Entry:
    found = options.find(path)
    assert found is not None
    return found


TAKEN = [
    ("syscheck.disabled", "yes no"),
    ("syscheck.frequency", "0 1 43200 999999999999"),
    ("syscheck.process_priority", "-20 0 19"),
    ("localfile.frequency", "60 hourly daily"),
    ("sca.interval", "1 60s 10m 2h 1d 1w 1M"),
    ("office365.interval", "0 1d 24h 86400"),
    ("localfile.reconnect_time", "5s 1h"),
    ("syscheck.diff.file_size.limit", "1KB 50MB 1TB 100"),
    ("localfile.only-future-events@max-size", "10M 2G 2048M 100"),
    ("localfile.log_format", "syslog multi-line:3 multi-line:12 journald"),
    ("localfile.ignore@type", "pcre2 PCRE2 OSMatch"),
    ("localfile.query@type", "activity,log TRACE"),
    ("wodle.command.verify_md5", "d41d8cd98f00b204e9800998ecf8427e D41D8CD98F00B204E9800998ECF8427E"),
    ("wodle.aws-s3.bucket.only_logs_after", "2018-AUG-15 2026-jan-01"),
    ("sca.time", "04:30 23:59 4:30"),
    ("syscheck.scan_time", "4 04:30 9pm 8:30am 23"),
    ("sca.wday", "monday Sun"),
    ("syscheck.scan_day", "monday,thu weekends sunday"),
    ("sca.day", "1 31"),
    ("fluent-forward.address", "localhost 10.0.0.1 ::1"),
    ("socket.name", "custom"),
    ("labels.label@key", "aws.instance"),
]
REFUSED = [
    ("syscheck.disabled", "true", "yes"),
    ("syscheck.disabled", " yes ", "yes"),
    ("syscheck.disabled", "Yes", "yes"),
    ("syscheck.disabled", "0", "no"),
    ("syscheck.disabled", "", None),
    ("syscheck.disabled", "\n      yes\n    ", "yes"),
    ("syscheck.frequency", "-1", None),
    ("syscheck.frequency", "", None),
    ("syscheck.frequency", "12h", "43200"),
    ("syscheck.frequency", "٣", None),
    ("syscheck.frequency", "9" * 5000, None),
    ("syscheck.process_priority", "20", None),
    ("localfile.frequency", "weekly", None),
    ("sca.interval", "10minutes", "10m"),
    ("sca.interval", "5 min", "5m"),
    ("sca.interval", "12H", "12h"),
    ("sca.interval", "0", None),
    ("sca.interval", "1y", None),
    ("office365.interval", "2d", None),
    ("localfile.reconnect_time", "5", None),
    ("syscheck.diff.file_size.limit", "50mb", "50MB"),
    ("syscheck.diff.file_size.limit", "0KB", None),
    ("localfile.only-future-events@max-size", "3G", None),
    ("localfile.only-future-events@max-size", "10MB", "10M"),
    ("localfile.log_format", "Syslog", "syslog"),
    ("localfile.log_format", "event_channel", "eventchannel"),
    ("localfile.log_format", "multi-line:0", None),
    ("localfile.log_format", "multi_line_regex", "multi-line-regex"),
    ("localfile.query@type", "activity,logs", "activity,log"),
    ("localfile.query@type", "activity,qqq", None),
    ("wodle.command.verify_md5", "d41d8cd98f00b204", None),
    ("wodle.aws-s3.bucket.only_logs_after", "2018-08-15", None),
    ("sca.time", "24:00", None),
    ("sca.time", "4pm", None),
    ("syscheck.scan_time", "13pm", None),
    ("syscheck.scan_time", "4:60", None),
    ("sca.wday", "weekdays", None),
    ("syscheck.scan_day", ",", None),
    ("syscheck.scan_day", "mondays", None),
    ("sca.day", "32", None),
    ("fluent-forward.address", "http://x", None),
    ("socket.name", "agent", None),
    ("labels.label@key", "", None),
    ("wodle.command.command", "  ", None),
    ("syscheck.directories", ",".join(f"/{number}" for number in range(65)), None),
    ("localfile.ignore", "(a", None),
    ("wodle.aws-s3.bucket.only_logs_after", " 2018-AUG-15", "2018-AUG-15"),
]


@pytest.mark.parametrize(("path", "values"), TAKEN)
def test_a_value_of_its_type_is_taken(path: str, values: str) -> None:
    assert [value for value in values.split() if value_fault(entry(path), value)] == []


@pytest.mark.parametrize(("path", "value", "meant"), REFUSED)
def test_any_other_value_is_refused_with_what_was_meant(path: str, value: str, meant: str | None) -> None:
    fault = value_fault(entry(path), value)
    assert fault is not None
    assert fault.meant == meant
    assert fault.problem.startswith("expected ")
    assert "\n" not in fault.problem
    assert len(fault.problem) < 400


@settings(max_examples=300, deadline=None)
@given(st.sampled_from([entry for entry in options.every() if entry.type != "block"]), st.text(max_size=30))
def test_what_was_meant_would_be_taken(known: Entry, value: str) -> None:
    fault = value_fault(known, value)
    if fault is not None and fault.meant is not None:
        assert value_fault(known, fault.meant) is None


@pytest.mark.parametrize(
    "value", ["10 minutes" + " " * 30, "y" * 20_000, "9" * 20_000 + "m", "monday," * 3000, "(" * 20_000]
)
def test_a_long_value_is_judged_at_once(value: str) -> None:
    for known in options.every():
        fault = value_fault(known, value)
        assert fault is None or len(fault.problem) < 400


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        ("", True),
        ("a(b)c", True),
        ("[)(]", True),
        ("[]x]", True),
        ("[^]]", True),
        ("\\(", True),
        ("(?i)x", True),
        ("a{2,3}", True),
        ("(", False),
        (")", False),
        (")(", False),
        ("[a", False),
        ("a\\", False),
        ("(?# ( )", True),
        ("[[:alpha:](]", True),
    ],
)
def test_brackets_of_an_expression_close(pattern: str, verdict: bool) -> None:
    assert balanced(pattern) is verdict
