"""Findings: their one line."""

from __future__ import annotations

from mgmtctl.domain.findings import WARNING, Finding


def test_a_finding_is_one_line_whatever_stands_in_names() -> None:
    finding = Finding("broad-find", WARNING, "key `a\nb`", "./h/pol\n1\x1b\udcff.yml", 1, 2, "say é")
    assert finding.text() == "./h/pol\\n1\\x1b\\udcff.yml:1:2: warning: key `a\\nb`; say é [broad-find]"
    assert finding.record()["path"] == "./h/pol\n1\x1b\udcff.yml"
