"""Reports of agents: reading one, and what it changes (D 8, reference/groups.md 5 and 6).

Rules: total and bounded; what an agent says is believed of that agent only, and never its id, name, groups or folder;
a field that is missing says nothing. When a report came is told by our clock; the agent's is only looked at to say that
it is wrong. `TRANSITIONS` is the whole of what the three events do to an agent's state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mgmtctl.domain.agents import OS_FIELDS, Reports
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.findings import ERROR, Finding
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.sync import NONE_THERE

STARTUP, KEEPALIVE, SHUTDOWN = "startup", "keepalive", "shutdown"
REPORT_FILE = "keepalive.json"
LARGEST = 1 << 20  # bytes
AHEAD_SECONDS = 60  # how far in our future a report may be dated: clocks of a mount differ
SHUTDOWN_CODE = 3

_MAX_LEVELS = 16
_MAX_NODES = 20_000
_MAX_TEXT = 1024
_MAX_NAMED = 3
_RULE = "report"
# What a report may hold beside `os`; the record of an agent calls them so too (reference/groups.md 6.1).
_TEXTS = {"version": "version", "ip": "ip", "manager": "manager", "node_name": "node_name"}
_SUMS = {"mergedSum": "merged_sum", "configSum": "config_sum"}
_OWN = ("event", "time", "id", "name", "os", "labels")
_KNOWN = frozenset((*_OWN, *_TEXTS, *_SUMS))
_CHECKSUM = re.compile(r"[0-9a-fA-F]{32}(?:[0-9a-fA-F]{32})?")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)")


@dataclass(frozen=True, slots=True)
class Report:
    """One report; None is what it does not say. `time` is by the agent's clock, in seconds since 1970.

    `merged_sum` is MD5 or SHA-256 in lower case, or NONE_THERE. `ignored`: keys that mean nothing here.
    """

    event: str = KEEPALIVE
    time: float | None = None
    id: str | None = None
    name: str | None = None
    version: str | None = None
    ip: str | None = None
    manager: str | None = None
    node_name: str | None = None
    merged_sum: str | None = None
    config_sum: str | None = None
    os: Mapping[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()


def parse_report(data: bytes, what: str = "report") -> Report:
    """The report in `data`, a JSON object of at most 1 MiB; InvalidError with every finding. Unknown keys are ignored.

    `what` names it in messages, as a file does.
    """
    from mgmtctl.domain.auth_context import NOT_JSON, json_type, load_json

    document = load_json(data, what, max_bytes=LARGEST, max_levels=_MAX_LEVELS, max_nodes=_MAX_NODES)
    if not isinstance(document, dict):
        raise InvalidError(f"{what}: expected an object, got {json_type(document)}", code=NOT_JSON)
    if document and _KNOWN.isdisjoint(document):
        raise InvalidError(
            f"{what} is no report of an agent",
            why=f"none of its keys is one of a report: {_named(tuple(document))}",
            fix=f"give an object with any of {', '.join(('event', 'version', 'os', *_SUMS))}",
        )
    reader = _Reader(document)
    report = reader.read()
    if reader.findings:
        findings = [Finding(_RULE, ERROR, message, f"{what}: {path}") for path, message in reader.findings]
        raise InvalidError(f"{what} is no report of an agent", findings=findings)
    return report


class _Reader:
    """Takes a report apart; what is wrong with it goes to `findings` (path, message)."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._document = document
        self.findings: list[tuple[str, str]] = []

    def read(self) -> Report:
        values: dict[str, Any] = {
            **{name: self._text(key) for key, name in _TEXTS.items() if key != "ip"},
            **{name: self._sum(key) for key, name in _SUMS.items()},
        }
        system = self._os()
        ignored = [key for key in self._document if key not in _KNOWN]
        ignored += [f"os.{key}" for key in system if key not in OS_FIELDS]
        return Report(
            event=self._event(),
            time=self._time(),
            id=self._id(),
            name=self._text("name"),
            ip=self._address(),
            os={key: value for key in OS_FIELDS if (value := self._os_text(system, key)) is not None},
            ignored=tuple(ignored),
            **values,
        )

    def _fault(self, path: str, message: str) -> None:
        self.findings.append((path, message))

    def _text(self, key: str) -> str | None:
        return self._checked(key, self._document.get(key))

    def _os_text(self, system: Mapping[str, Any], key: str) -> str | None:
        return self._checked(f"os.{key}", system.get(key))

    def _checked(self, path: str, value: Any) -> str | None:
        """A text that lists can show; null and the empty text say nothing."""
        from mgmtctl.domain.auth_context import json_type

        if value is None:
            return None
        if not isinstance(value, str):
            self._fault(path, f"expected text, got {json_type(value)}")
        elif len(value) > _MAX_TEXT:
            self._fault(path, f"at most {_MAX_TEXT} characters, got {len(value)}")
        elif not value.isprintable():
            self._fault(path, f"{quoted(value)} holds characters that do not print")
        else:
            return value.strip() or None
        return None

    def _os(self) -> Mapping[str, Any]:
        from mgmtctl.domain.auth_context import json_type

        value = self._document.get("os")
        if isinstance(value, dict):
            return value
        if value is not None:
            self._fault("os", f"expected an object, got {json_type(value)}")
        return {}

    def _event(self) -> str:
        event = self._text("event")
        if event is not None and event not in TRANSITIONS:
            self._fault("event", f"expected {', '.join(TRANSITIONS)}, got {quoted(event)}")
        return event or KEEPALIVE

    def _id(self) -> str | None:
        value = self._document.get("id")
        if type(value) is int:  # not a bool
            return str(value)
        return self._checked("id", value)

    def _sum(self, key: str) -> str | None:
        text = self._text(key)
        if text is None or text == NONE_THERE or _CHECKSUM.fullmatch(text):
            return None if text is None else text.lower()
        self._fault(key, f"expected 32 or 64 hex digits or `{NONE_THERE}`, got {quoted(text)}")
        return None

    def _address(self) -> str | None:
        import ipaddress

        text = self._text("ip")
        if text is None:
            return None
        try:
            return str(ipaddress.ip_address(text.partition("%")[0]))
        except ValueError:
            self._fault("ip", f"expected an address, got {quoted(text)}")
            return None

    def _time(self) -> float | None:
        from datetime import datetime

        text = self._text("time")
        if text is None:
            return None
        try:
            if _TIME.fullmatch(text):
                return datetime.fromisoformat(text.upper()).timestamp()
        except (ValueError, OverflowError):
            pass
        self._fault("time", f"expected a time as 2026-11-21T09:56:10Z, got {quoted(text)}")
        return None


def check_own(report: Report, identifier: str, name: str, what: str = "report") -> None:
    """Refuse a report that calls the agent by another id or name than the one it is for; InvalidError with findings."""
    faults = []
    if report.id is not None and report.id.lstrip("0") != identifier.lstrip("0"):
        faults.append(("id", f"expected `{identifier}`, got {quoted(report.id)}"))
    if report.name is not None and report.name.casefold() != name.casefold():
        faults.append(("name", f"expected `{name}`, got {quoted(report.name)}"))
    if faults:
        raise InvalidError(
            f"{what} is of another agent than {identifier} {name}",
            why="`id` and `name` must be left out or be this agent's",
            findings=[Finding(_RULE, ERROR, message, f"{what}: {path}") for path, message in faults],
        )


def remarks(report: Report, now: float) -> Iterator[str]:
    """What whoever sent the report should know, a line each."""
    if report.ignored:
        yield f"ignored: {_named(report.ignored)}; a report does not say that"
    if report.time is not None and report.time > now + AHEAD_SECONDS:
        yield f"the agent's clock is {int(report.time - now)} s ahead of ours"


def _named(keys: Sequence[str]) -> str:
    more = len(keys) - _MAX_NAMED
    return ", ".join(map(quoted, keys[:_MAX_NAMED])) + (f" and {more} more" if more > 0 else "")


def _started(before: Reports, at: int) -> Reports:
    return Reports(last_keep_alive=at, started=at)


def _alive(before: Reports, at: int) -> Reports:
    return Reports(last_keep_alive=at)


def _gone(before: Reports, at: int) -> Reports:
    return before._replace(started=None, disconnection_time=at, status_code=SHUTDOWN_CODE)


# What an event that came at a time makes of what was known (reference/groups.md 6.2). A keepalive after a shutdown that
# no start-up report preceded makes the agent active as any other, and nothing of the shutdown is left: an active agent
# with a time of disconnection would be a riddle.
TRANSITIONS: Mapping[str, Callable[[Reports, int], Reports]] = {
    STARTUP: _started,
    KEEPALIVE: _alive,
    SHUTDOWN: _gone,
}


def differs(checksum: str | None, digest: str, md5: str) -> bool:
    """Whether a reported checksum is of another merged file than this; a report without one does not say."""
    return checksum is not None and checksum not in (digest, md5)


def running_after(report: Report, pushed: str, known: Callable[[str], str | None]) -> str | None:
    """What the agent uses after this report; None: what was known of it stays.

    `pushed` is the digest that was last written into its folder (empty: none), which is what an agent that started
    uses. `known` gives the digest of a checksum; one that is of nothing known is kept as it was reported.
    """
    if report.merged_sum is not None:
        return known(report.merged_sum) or report.merged_sum
    return pushed or None if report.event == STARTUP else None
