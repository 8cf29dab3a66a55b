"""Agents: their names, ids, addresses and states, and the record that lists show (D 8, reference/groups.md 6).

Rules: a status is never stored, it follows from the last report and the present time; an absent value has no key in a
record; the key of an agent is no field of it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mgmtctl.domain.errors import ConflictError, InvalidError
from mgmtctl.domain.fields import DATE, ID, NAMES, NUMBER, TEXT, VERSION, Fields, OneOf
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.resources import DIGITS, NAME_CHARACTERS

MANAGER_ID = 0
MAX_TYPED_ID_DIGITS = 8
MAX_LEAP = 1_000_000  # how far above the highest id ever given an explicit one may be
ANY_ADDRESS = "any"
SYNCED, NOT_SYNCED = "synced", "not synced"
NEVER_CONNECTED, PENDING, ACTIVE, DISCONNECTED = "never_connected", "pending", "active", "disconnected"
STATUSES = (ACTIVE, PENDING, DISCONNECTED, NEVER_CONNECTED)
SILENT_SECONDS = 600  # an agent that reported longer ago is disconnected
SILENT_CODE = 4
NAME_TAKEN, BAD_ADDRESS, ID_TAKEN, NO_KEY, IS_MANAGER, NAME_TOO_LONG = 1705, 1706, 1708, 1709, 1703, 1738

MIN_NAME, MAX_NAME = 2, 128

OS_FIELDS = ("name", "version", "major", "minor", "codename", "platform", "build", "uname", "arch")
FIELDS: Fields = {
    "id": ID,
    "name": TEXT,
    "ip": TEXT,
    "registerIP": TEXT,
    "status": OneOf(*STATUSES),
    "status_code": NUMBER,
    "group": NAMES,
    "group_config_status": OneOf(SYNCED, NOT_SYNCED),
    "mergedSum": TEXT,
    "configSum": TEXT,
    **{f"os.{name}": VERSION if name in ("version", "major", "minor") else TEXT for name in OS_FIELDS},
    "version": VERSION,
    "manager": TEXT,
    "node_name": TEXT,
    "dateAdd": DATE,
    "lastKeepAlive": DATE,
    "disconnection_time": DATE,
    "folder": TEXT,
}
# What a record has only when it is known.
_OPTIONAL = (
    *("mergedSum", "configSum", "os", "version", "manager", "lastKeepAlive", "disconnection_time", "folder"),
)


class Reports(NamedTuple):
    """What is known from an agent's reports; times in seconds since 1970.

    `started` is the time of a start-up report that no keepalive has followed yet; `disconnection_time` of a shutdown
    report, or of a reset by the manager, that nothing has followed yet.
    """

    last_keep_alive: int | None = None
    started: int | None = None
    disconnection_time: int | None = None
    status_code: int = 0

    def at(self, now: float) -> State:
        """The state at a time (reference/groups.md 6.2)."""
        if self.disconnection_time is not None:
            return State(DISCONNECTED, self.status_code, self.disconnection_time)
        if self.last_keep_alive is None:
            return State(NEVER_CONNECTED if self.started is None else PENDING, self.status_code, None)
        silent_since = self.last_keep_alive + SILENT_SECONDS
        if now > silent_since:
            return State(DISCONNECTED, SILENT_CODE, silent_since)
        return State(ACTIVE if self.started is None else PENDING, self.status_code, None)


class State(NamedTuple):
    """One of STATUSES with its code, and since when the agent is disconnected."""

    status: str
    code: int
    disconnected_since: int | None


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent at one time. `id` has three digits or more; `folder` is None for the default one."""

    id: str
    name: str
    groups: tuple[str, ...]
    state: State
    register_ip: str = ANY_ADDRESS
    ip: str | None = None
    group_config_status: str = NOT_SYNCED
    merged_sum: str | None = None
    config_sum: str | None = None
    os: Mapping[str, str] = field(default_factory=dict)
    version: str | None = None
    manager: str | None = None
    node_name: str = "unknown"
    date_add: int = 0
    last_keep_alive: int | None = None
    folder: str | None = None

    def record(self) -> dict[str, Any]:
        """The fixed form (reference/groups.md 6.1); absent values have no key, times are RFC 3339 in UTC."""
        found: dict[str, Any] = {
            "id": self.id,
            "name": self.name,
            "ip": self.ip or self.register_ip,
            "registerIP": self.register_ip,
            "status": self.state.status,
            "status_code": self.state.code,
            "group": list(self.groups),
            "group_config_status": self.group_config_status,
            "mergedSum": self.merged_sum,
            "configSum": self.config_sum,
            "os": dict(self.os) or None,
            "version": self.version,
            "manager": self.manager,
            "node_name": self.node_name,
            "dateAdd": timestamp(self.date_add),
            "lastKeepAlive": timestamp(self.last_keep_alive),
            "disconnection_time": timestamp(self.state.disconnected_since),
            "folder": self.folder,
        }
        for name in _OPTIONAL:
            if found[name] is None:
                del found[name]
        return found


class FolderClaims:
    """Which folders belong to agents: each to one only, none inside another (D 8)."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._folders: set[str] = set()
        self._above: set[str] = set()
        for folder in folders:
            self._add(folder)

    def claim(self, folder: str) -> str:
        """`folder`, now claimed; InvalidError for text that is no path, ConflictError when it overlaps another."""
        if not folder.isprintable():
            raise InvalidError(f"folder {quoted(folder)} holds characters that a path should not")
        if folder in self._folders or folder in self._above or self._folders.intersection(_above(folder)):
            raise ConflictError(
                f"folder `{folder}` belongs to another agent, or lies inside or above its folder"
            )
        self._add(folder)
        return folder

    def _add(self, folder: str) -> None:
        self._folders.add(folder)
        self._above.update(_above(folder))


def _above(folder: str) -> list[str]:
    """Every folder that this one lies in."""
    steps = folder.split("/")
    return ["/".join(steps[:count]) for count in range(2, len(steps))]


def padded_id(number: int) -> str:
    """The id of an agent as everybody writes it: at least three digits."""
    return f"{number:03}"


def check_agent_id(text: str) -> int:
    """The number of an id that is given to a new agent; InvalidError, 1703 for that of the manager."""
    if not text or not DIGITS.issuperset(text) or len(text) > MAX_TYPED_ID_DIGITS:
        raise InvalidError(f"{quoted(text)} is no agent id", fix=f"write 1 to {MAX_TYPED_ID_DIGITS} digits")
    if int(text) == MANAGER_ID:
        raise InvalidError(f"agent id `{text}` is the manager's", code=IS_MANAGER)
    return int(text)


def check_reach(wanted: int, highest: int, count: int) -> None:
    """Keep the range of ids, which never come back, from being used up by one id.

    InvalidError for `wanted` far above the `highest` ever given; ConflictError when `count` more do not fit.
    """
    if wanted > highest + MAX_LEAP:
        raise InvalidError(
            f"agent id `{padded_id(wanted)}` is too far above `{padded_id(highest)}`, the highest ever given",
            why=f"later ids are all above it, and an id has at most {MAX_TYPED_ID_DIGITS} digits",
            fix=f"choose one up to `{padded_id(highest + MAX_LEAP)}`",
        )
    if max(wanted, highest) + count > 10**MAX_TYPED_ID_DIGITS - 1:
        raise ConflictError("no agent ids are left", why=f"an id has at most {MAX_TYPED_ID_DIGITS} digits")


def check_agent_name(text: str, *, imported: bool = False) -> str:
    """`text`, when it can name an agent; InvalidError. Only an import may bring a name of digits."""
    if not text:
        raise InvalidError("an agent needs a name", fix="use 2 to 128 letters, digits, . _ -")
    if len(text) > MAX_NAME:
        raise InvalidError(
            f"the name of an agent has at most {MAX_NAME} characters, got {len(text)}", code=NAME_TOO_LONG
        )
    if len(text) < MIN_NAME or not NAME_CHARACTERS.issuperset(text):
        raise InvalidError(f"{quoted(text)} cannot name an agent", fix="use 2 to 128 letters, digits, . _ -")
    if not imported and DIGITS.issuperset(text):
        raise InvalidError(f"`{text}` cannot name an agent", why="digits only are an id", fix="add a letter")
    return text


def check_address(text: str) -> str:
    """The address or network an agent registers from, in its canonical form, or `any`; InvalidError 1706."""
    if text == ANY_ADDRESS or _ipv4().fullmatch(text):
        return text
    import ipaddress

    try:
        if "%" in text:
            raise ValueError("a zone belongs to one machine only")
        if "/" in text:
            return str(ipaddress.ip_network(text, strict=False))
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise InvalidError(
            f"{quoted(text)} is no address",
            fix="write an IPv4 or IPv6 address, a network such as 10.0.0.0/8, or any",
            code=BAD_ADDRESS,
        ) from None


@functools.cache
def _ipv4() -> re.Pattern[str]:
    """What most addresses look like: the library's own reader takes ten times as long."""
    return re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}")


@functools.lru_cache(maxsize=1024)  # agents of one import share their date
def timestamp(seconds: int | None) -> str | None:
    """RFC 3339 in UTC; None stays None."""
    if seconds is None:
        return None
    from datetime import datetime, timezone

    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")  # noqa: UP017
