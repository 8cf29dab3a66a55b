"""What the effective configuration of an agent is told in: values with their origin, what was ignored, which blocks
matched.

Rules: plain frozen values with one record form each; a value is as written, nothing decoded, nothing masked here
(`Value.secret` says what must be masked before it is shown). The path of a value is that of its option in the
vocabulary, with `[key]` or `[number]` after a part of which there may be several: `localfile[/var/log/a].log_format`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mgmtctl.domain.selectors import compiled

LOCAL = ""  # the source of what the agent's own configuration says; no group is called so

# Why something in a file does not count.
(
    UNKNOWN, LOCAL_ONLY, MANAGER_ONLY, WRONG_SYSTEM, TOO_NEW, GATE, NO_EFFECT, STOPPED, REPLACED, SECOND,
    BAD_VALUE, REMOTE_CONF, UNREADABLE, TOO_MANY,
) = REASONS = (
    "unknown", "local-only", "manager-only", "wrong-system", "too-new", "gate", "no-effect", "stopped", "replaced",
    "second", "bad-value", "remote-conf", "unreadable", "too-many",
)  # fmt: skip


class Origin(NamedTuple):
    """Where something stands: `source` is a group, or LOCAL; line and column count from 1.

    The path of an earlier revision of a file is `web/agent.conf@r7`.
    """

    source: str
    path: str
    line: int
    column: int

    def text(self) -> str:
        """`web/agent.conf:12`."""
        return f"{self.path}:{self.line}"

    def record(self) -> dict[str, Any]:
        """{"group", "path", "line", "column"}; the group is null in the agent's own file."""
        return {"group": self.source or None, "path": self.path, "line": self.line, "column": self.column}


class Over(NamedTuple):
    """An earlier value that no longer counts, and where it stands."""

    value: str
    attributes: Mapping[str, str]
    origin: Origin

    def record(self) -> dict[str, Any]:
        """{"value", "attributes", "origin"}."""
        return {"value": self.value, "attributes": dict(self.attributes), "origin": self.origin.record()}


@dataclass(frozen=True, slots=True)
class Value:
    """One value that counts. `option` is its path in the vocabulary, `over` what it overrode, the latest first.

    `also` is where the same entry of a list stands again; `note` is what one should know of it, such as the switch
    that a command needs. `listed`: it is one entry of a list; `within`: the path of the numbered block that holds it.
    """

    path: str
    option: str
    value: str
    attributes: Mapping[str, str]
    origin: Origin
    over: tuple[Over, ...] = ()
    also: tuple[Origin, ...] = ()
    secret: bool = False
    note: str | None = None
    listed: bool = False
    within: str = ""

    def record(self) -> dict[str, Any]:
        """{"path", "option", "value", "attributes", "origin", "over", "also", "note"}."""
        return {
            "path": self.path,
            "option": self.option,
            "value": self.value,
            "attributes": dict(self.attributes),
            "origin": self.origin.record(),
            "over": [over.record() for over in self.over],
            "also": [origin.record() for origin in self.also],
            "note": self.note,
        }


class Ignored(NamedTuple):
    """Something in a file that does not count: `reason` is one of REASONS, `why` says it in words.

    `value` is None for a section or block, and where it may be a secret.
    """

    reason: str
    path: str
    value: str | None
    origin: Origin
    why: str

    def record(self) -> dict[str, Any]:
        """{"reason", "path", "value", "origin", "why"}."""
        return {**self._asdict(), "origin": self.origin.record()}


@dataclass(frozen=True, slots=True)
class Selected:
    """One selector of a block with its verdict; `subject` is what it was compared with (None: not known)."""

    attribute: str
    value: str
    verdict: str
    subject: tuple[str, ...] | None

    def text(self) -> str:
        """`os "windows" does not match "Ubuntu ..."` in words."""
        said = {"yes": "matches", "no": "does not match", "unknown": "cannot be judged"}[self.verdict]
        if self.subject is None:
            return f'{self.attribute} "{self.value}" {said}: the agent\'s is not known'
        if not self.subject:
            return f'{self.attribute} "{self.value}" {said}: the agent has no {self.attribute}'
        subject = ", ".join(f'"{text}"' for text in self._decisive(self.subject))
        return f'{self.attribute} "{self.value}" {said} {subject}'

    def _decisive(self, subject: tuple[str, ...]) -> tuple[str, ...]:
        """The texts that the pattern is found in, when that decided; else all of them."""
        pattern = compiled(self.value)
        if len(subject) == 1 or pattern is None:
            return subject
        return tuple(filter(pattern.search, subject)) or subject

    def record(self) -> dict[str, Any]:
        """{"attribute", "value", "verdict", "subject"}."""
        subject = None if self.subject is None else list(self.subject)
        return {
            "attribute": self.attribute,
            "value": self.value,
            "verdict": self.verdict,
            "subject": subject,
        }


@dataclass(frozen=True, slots=True)
class BlockUse:
    """One block of one group: `verdict` is whether it is for the agent, `selectors` what each attribute says."""

    group: str
    origin: Origin
    verdict: str
    selectors: tuple[Selected, ...]
    start: int
    end: int

    def record(self) -> dict[str, Any]:
        """{"group", "origin", "verdict", "selectors"}."""
        return {
            "group": self.group,
            "origin": self.origin.record(),
            "verdict": self.verdict,
            "selectors": [selector.record() for selector in self.selectors],
        }


@dataclass(frozen=True, slots=True)
class Effective:
    """What counts for one agent, every block that was looked at, and what does not count."""

    values: tuple[Value, ...] = ()
    blocks: tuple[BlockUse, ...] = ()
    ignored: tuple[Ignored, ...] = field(default=())

    def record(self) -> dict[str, Any]:
        """{"values", "blocks", "ignored"}."""
        return {
            "values": [value.record() for value in self.values],
            "blocks": [block.record() for block in self.blocks],
            "ignored": [ignored.record() for ignored in self.ignored],
        }
