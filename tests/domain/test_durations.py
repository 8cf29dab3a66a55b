"""Spans of time as people write them."""

from __future__ import annotations

import pytest

from mgmtctl.domain.durations import read_duration
from mgmtctl.domain.errors import QuestionError


@pytest.mark.parametrize(
    ("text", "seconds"), [("0s", 0), ("30s", 30), ("5m", 300), ("1h", 3600), ("2d", 172_800), ("1h30m", 5400)]
)
def test_a_duration_has_units(text: str, seconds: int) -> None:
    assert read_duration(text, "--timeout") == seconds


@pytest.mark.parametrize(
    "text", ["", "5", "-5s", "5 m", "5x", "m", "1.5h", "5M", "99999999s", "\u0663s", "5s\n"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(QuestionError, match="--timeout: expected a duration such as 30s, 5m or 1h"):
        read_duration(text, "--timeout")
