"""What an agent leaves in its folder about itself: its local configuration and its internal options (D 8).

Rules: total on any bytes, linear; read by the reader of agent.conf, so the two cannot disagree. The root of a local
configuration may have any name, and there may be several: the sections are what stands directly inside each of them.
What stands here says something about that agent only. A file that is not there says nothing: profiles are then not
known, and every switch of the internal options is not known rather than off. Of one that cannot be read whole, profiles
are not known either: they may stand in what was not read; other settings are as far as they could be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Document, Element, read
from mgmtctl.domain.agent_facts import config_profiles
from mgmtctl.domain.findings import ERROR
from mgmtctl.domain.groups import quoted

LOCAL_CONF = "local.conf"
INTERNAL_OPTIONS = "local_internal_options.conf"
_ON_OFF = ("0", "1")


class LocalProblem(NamedTuple):
    """Why one of the files must not be taken at its word: the place, and what is wrong there."""

    file: str
    line: int
    why: str

    def text(self) -> str:
        """`local.conf:12 cannot be read: ...` in words."""
        return f"{self.file}:{self.line} {self.why}"

    def record(self) -> dict[str, object]:
        """{"file", "line", "why"}."""
        return self._asdict()


@dataclass(frozen=True, slots=True, eq=False)
class LocalFiles:
    """What was read; `document` is None without a local configuration, `internal` (name -> value) without the other.

    `profiles` are None when the local configuration is not known; `auto_restart` is the default, yes, then. `problems`:
    what in the files cannot be read, or means nothing.
    """

    document: Document | None = None
    profiles: tuple[str, ...] | None = None
    auto_restart: bool = True
    internal: Mapping[str, str] = field(default_factory=dict)
    internal_known: bool = False
    problems: tuple[LocalProblem, ...] = ()

    @property
    def sections(self) -> Iterator[Element]:
        """The sections of the local configuration in file order, whatever the roots are called."""
        roots = self.document.elements if self.document is not None else ()
        return (section for root in roots if root.name != options.VARIABLE for section in root.children)

    @property
    def ignores_shared(self) -> bool:
        """Whether the agent reads no agent.conf at all: `agent.remote_conf=0` (S 3.2)."""
        switch = options.data()["ignore_all"]
        return bool(self.internal.get(switch["setting"], switch["default"]) == switch["value"])

    def gate_open(self, gate: str) -> bool | None:
        """Whether commands that came with agent.conf run: by one of the `gates` of the vocabulary.

        None: the file that says so is not known. A gate that is not in the vocabulary is shut.
        """
        switch = options.data()["gates"].get(gate)
        if switch is None:
            return False
        if not switch:
            return True
        if switch["file"] == "local_internal_options":
            if not self.internal_known:
                return None
            return bool(self.internal.get(switch["setting"], switch["default"]) == switch["value"])
        if self.document is None:
            return None
        found = last_value(self.sections, *switch["setting"].split("/"))
        return bool((switch["default"] if found is None else found) == switch["value"])


def read_local(conf: bytes | None, internal_options: bytes | None) -> LocalFiles:
    """What the two files say; None for a file that is not there or cannot be read."""
    internal = {} if internal_options is None else read_internal_options(internal_options)
    known = internal_options is not None
    problems = () if internal_options is None else tuple(_switch_problems(internal_options))
    if conf is None:
        return LocalFiles(internal=internal, internal_known=known, problems=problems)
    document = read(conf)
    unread = _unread(document)
    sections = [section for root in document.elements for section in root.children]
    profiles = last_value(sections, "client", "config-profile")
    restart = last_value(sections, "client", "auto_restart", known=("yes", "no"))
    return LocalFiles(
        document,
        config_profiles(profiles or "") if unread is None else None,
        restart != "no",
        internal,
        known,
        problems if unread is None else (unread, *problems),
    )


def read_internal_options(data: bytes) -> dict[str, str]:
    """The lines `name=value`; what follows a `#` is a comment, the last line that sets a name counts."""
    return {name: value for _, name, value in _internal_lines(data)}


def _internal_lines(data: bytes) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(data.splitlines(), 1):
        name, equals, value = line.partition(b"#")[0].partition(b"=")
        if equals and name.strip():
            yield number, _text(name), _text(value)


def _unread(document: Document) -> LocalProblem | None:
    """The first place where the local configuration cannot be read; None when all of it can."""
    fault = next((found for found in document.findings if found.severity == ERROR), None)
    if fault is not None:
        return LocalProblem(LOCAL_CONF, fault.line, f"cannot be read: {fault.message}")
    if not any(root.children for root in document.elements):
        return LocalProblem(LOCAL_CONF, 1, "cannot be read: no section stands in it")
    return None


def _switch_problems(data: bytes) -> Iterator[LocalProblem]:
    """The switch that has agents read no agent.conf at all, when the line that counts is neither on nor off."""
    setting = options.data()["ignore_all"]["setting"]
    last = [(line, value) for line, name, value in _internal_lines(data) if name == setting][-1:]
    for line, value in last:
        if value not in _ON_OFF:
            why = f"{setting} is {quoted(value)}, neither 0 nor 1, and taken for 1"
            yield LocalProblem(INTERNAL_OPTIONS, line, why)


def last_value(
    sections: Iterator[Element] | list[Element], *path: str, known: tuple[str, ...] = ()
) -> str | None:
    """The last value of an option by the names that lead to it; with `known` only these count."""
    found = None
    section, name = path
    for element in sections:
        if element.name == section:
            for option in element.children:
                if option.name == name and (not known or option.text in known):
                    found = option.text
    return found


def _text(raw: bytes) -> str:
    return raw.strip().decode(errors="backslashreplace")
