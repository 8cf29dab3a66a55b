"""Spans of time as people write them: `30s`, `5m`, `1h`, `2d`, also one after another as `1h30m`."""

from __future__ import annotations

import re

from mgmtctl.domain.errors import QuestionError

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PART = re.compile(r"([0-9]{1,7})([smhd])")
_WHOLE = re.compile(r"(?:[0-9]{1,7}[smhd]){1,4}")


def read_duration(text: str, what: str) -> int:
    """The seconds that a text says; `what` is how the question calls it. QuestionError."""
    if not _WHOLE.fullmatch(text):
        raise QuestionError(f"{what}: expected a duration such as 30s, 5m or 1h, got `{text}`")
    return sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(text))
