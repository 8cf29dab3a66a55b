"""Reading request log lines back: plain and JSON (S 5.4). A line that is neither is None, never an exception."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mgmtctl.domain.request_log import escape_user, printable_json

_PLAIN = re.compile(
    r"(?P<timestamp>\d{4}/\d\d/\d\d \d\d:\d\d:\d\d) (?P<level>[A-Z]+): "
    r"(?P<user>\S+)(?: \(?(?P<context>[0-9a-f]{32,128})\)?)? (?P<ip>\S+) "
    r'"(?P<method>[A-Z]+) (?P<path>[^"]*)"(?: with parameters (?P<rest>.*))?'
    r" done in (?P<time>\d+\.\d+)s: (?P<status>\d{3})"
)
_DECODER = json.JSONDecoder()
# The fields of a list of entries, for filters and sorting (see `filters`).
FIELDS = {
    "timestamp": "date",
    "levelname": "text",
    "user": "text",
    "hash_auth_context": "text",
    "ip": "text",
    "http_method": "text",
    "uri": "text",
    "time": "text",
    "status_code": "number",
    "uid": "id",
}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One logged call; `timestamp` as the line has it (UTC), `time` the duration as text (`0.363s`)."""

    timestamp: str
    level: str
    user: str
    hash_auth_context: str | None
    ip: str
    http_method: str
    uri: str
    parameters: dict[str, Any] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    time: str = ""
    status_code: int = 0
    uid: int | None = None

    @property
    def dry_run(self) -> bool:
        """Whether nothing was meant to be changed."""
        return self.parameters.get("dry_run") is True

    def record(self) -> dict[str, Any]:
        """The fields of S 5.4, flat; the time as RFC 3339; `dry_run` where it was one."""
        date, _, clock = self.timestamp.partition(" ")
        found: dict[str, Any] = {
            "timestamp": f"{date.replace('/', '-')}T{clock}Z",
            "levelname": self.level,
            "user": self.user,
            "hash_auth_context": self.hash_auth_context,
            "ip": self.ip,
            "http_method": self.http_method,
            "uri": self.uri,
            "parameters": self.parameters,
            "body": self.body,
            "time": self.time,
            "status_code": self.status_code,
        }
        if self.uid is not None:
            found["uid"] = str(self.uid)
        if self.dry_run:
            found["dry_run"] = True
        return found

    def line(self) -> str:
        """The plain line of S 5.4, whichever form it was read from."""
        user = escape_user(self.user) + (f" ({self.hash_auth_context})" if self.hash_auth_context else "")
        return (
            f'{self.timestamp} {self.level}: {user} {self.ip} "{self.uri}"'
            f" with parameters {printable_json(self.parameters)} and body {printable_json(self.body)}"
            f" done in {self.time}: {self.status_code}"
        )


def read_line(line: str) -> LogEntry | None:
    """The call that a line of either form tells of; None for any other line."""
    text = line.strip()
    try:
        return _from_json(text) if text.startswith("{") else _from_plain(text)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def merged_entries(first: Iterable[LogEntry | None], second: Iterable[LogEntry | None]) -> Iterator[LogEntry]:
    """The entries of both files by time; a call that both files tell of comes once, as the first tells it."""
    kept = [entry for entry in first if entry is not None]
    known = Counter(map(_identity, kept))
    for entry in second:
        if entry is None:
            continue
        if known[_identity(entry)] > 0:
            known[_identity(entry)] -= 1
        else:
            kept.append(entry)
    return iter(sorted(kept, key=lambda entry: entry.timestamp))


def _identity(entry: LogEntry) -> tuple[str, str, str, int, str | None]:
    """What both forms of one call share (the user is escaped in one of them only)."""
    return entry.timestamp, entry.uri, entry.time, entry.status_code, entry.hash_auth_context


def _from_plain(text: str) -> LogEntry | None:
    match = _PLAIN.fullmatch(text)
    if match is None:
        return None
    rest = match["rest"] or "{}"
    parameters, end = _DECODER.raw_decode(rest)
    separator, _, body = rest[end:].partition(" and body ")
    if separator:
        return None
    return LogEntry(
        match["timestamp"],
        match["level"],
        match["user"],
        match["context"],
        match["ip"],
        match["method"],
        f"{match['method']} {match['path']}",
        _object(parameters),
        _object(json.loads(body or "{}")),
        f"{match['time']}s",
        int(match["status"]),
    )


def _from_json(text: str) -> LogEntry | None:
    entry = json.loads(text)
    data = entry.get("data")
    payload = data.get("payload") if isinstance(data, dict) else None
    if not isinstance(payload, dict) or data["type"] != "request":
        return None
    uid = payload.get("uid")
    return LogEntry(
        str(entry["timestamp"]),
        str(entry["levelname"]),
        str(payload["user"]),
        None if payload.get("hash_auth_context") is None else str(payload["hash_auth_context"]),
        str(payload["ip"]),
        str(payload["http_method"]),
        str(payload["uri"]),
        _object(payload["parameters"]),
        _object(payload["body"]),
        str(payload["time"]),
        int(payload["status_code"]),
        uid if isinstance(uid, int) else None,
    )


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("not an object")
    return value
