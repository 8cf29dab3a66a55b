"""What is known of every section, option and attribute of agent.conf: `data/agent_options.json`, ready to be asked.

Rules: facts only, no verdicts; an entry inherits `ref`, `os`, `since`, `agent_conf` and `certain` from what it lies
in, so that whoever asks looks at one entry. Names are per section and exact; `path` is how people name an entry:
`syscheck.directories`, `wodle.syscollector.interval`, `syscheck.directories@realtime` for an attribute. The meaning
of every key of `facts` stands in docs/agent-options.md.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mgmtctl.domain.data import read_data

ROOT = "agent_config"
MODULE_SECTION = "wodle"
VARIABLE = "var"  # defines a `$name` for the values that follow; neither a block nor a section
ALLOWED, LOCAL_ONLY, MANAGER_ONLY = "allowed", "local_only", "manager_only"
SECTION, MODULE, OPTION, ATTRIBUTE = "section", "module", "option", "attribute"

Version = tuple[int, ...]
_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One section, module, option or attribute.

    `facts` are as written in the data; `ref` says what the stock check does, `os` on which systems it works, `since`
    from which release (None: always), `agent_conf` whether agents read it from agent.conf, all as inherited.
    `certain` is False when a fact it rests on is in doubt: a finding about it is at most a warning (D 6).
    """

    kind: str
    name: str
    path: str
    facts: Mapping[str, Any]
    ref: Mapping[str, str]
    os: frozenset[str]
    since: Version | None
    agent_conf: str
    certain: bool
    options: Mapping[str, Entry]
    attributes: Mapping[str, Entry]
    rules: tuple[Mapping[str, Any], ...]

    @property
    def type(self) -> str:
        """The type of its value, one of `types`; `block` for what holds options (sections too)."""
        return str(self.facts.get("type", "block"))

    @property
    def repeat(self) -> str:
        """What a second one does to the first, one of `repeat_values`."""
        return str(self.facts.get("repeat", data()["defaults"]["repeat"]))

    @property
    def key(self) -> str | None:
        """What tells two of an `append_by_key` apart, as in the data."""
        return self.facts.get("key")

    @property
    def default(self) -> Any:
        """The value when none is given (None: not known); a mapping when it differs by system."""
        return self.facts.get("default")

    @property
    def retired(self) -> bool:
        """Whether it does nothing any more, anywhere, and does no harm in agent.conf either."""
        return bool(self.facts.get("no_effect")) and self.ref.get("in_agent_conf") == "ignored"

    @property
    def secret(self) -> bool:
        """Whether its value is one that nobody but the module should read."""
        return self.name in _SECRETS

    @property
    def required(self) -> bool:
        """Whether what holds it must have it."""
        return bool(self.facts.get("required"))


@functools.cache
def data() -> Mapping[str, Any]:
    """The whole document: format, releases, types, effects, gates, and `sections` as raw facts."""
    found: Mapping[str, Any] = json.loads(read_data("agent_options.json"))
    return found


def releases() -> tuple[str, str]:
    """(the release whose readers were examined, the last one that was looked at for newer options)."""
    return data()["base_release"], data()["horizon_release"]


def sections() -> Mapping[str, str]:
    """Every section that is known, and whether agents read it from agent.conf: `allowed`, `local_only`,
    `manager_only`.
    """
    return _kinds(data()["sections"])


def modules() -> Mapping[str, str]:
    """The same for what the attribute `name` of a module section chooses."""
    return _kinds(data()["sections"][MODULE_SECTION]["modules"])


def _kinds(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: facts.get("agent_conf", ALLOWED) for name, facts in entries.items()}


@functools.cache
def section(name: str) -> Entry | None:
    """What is known of a section; None for an unknown one. Modules have entries of their own: `module`."""
    facts = data()["sections"].get(name)
    return None if facts is None else _entry(SECTION, name, name, facts, _OUTSIDE)


@functools.cache
def module(name: str) -> Entry | None:
    """What is known of a module, by its name or an old one of it; None for an unknown one."""
    found = data()["sections"][MODULE_SECTION]["modules"]
    for known, facts in found.items():
        if name == known or name in facts.get("aliases", ()):
            return _entry(MODULE, known, f"{MODULE_SECTION}.{known}", facts, _OUTSIDE)
    return None


def block_attributes() -> Mapping[str, Entry]:
    """The attributes of a block (`agent_config`): its selectors, and one without effect."""
    return _block().attributes


@functools.cache
def _block() -> Entry:
    return _entry(SECTION, ROOT, ROOT, data()["document"], _OUTSIDE)


def find(path: str) -> Entry | None:
    """The entry that people call so; `syscollector.interval` is enough where no section has the module's name."""
    name, _, attribute = path.partition("@")
    head, *rest = name.split(".")
    outer = module if head == MODULE_SECTION and rest else section
    if outer is module:
        head, *rest = rest
    entry = _inside(_block() if head == ROOT else outer(head), rest) or _inside(module(head), rest)
    return entry.attributes.get(attribute) if entry and attribute else entry


def _inside(entry: Entry | None, steps: list[str]) -> Entry | None:
    for step in steps:
        entry = entry and entry.options.get(step)
    return entry


def walk(entry: Entry) -> Iterator[Entry]:
    """The entry, its attributes, and everything inside it, in the order of the data."""
    yield entry
    yield from entry.attributes.values()
    for option in entry.options.values():
        yield from walk(option)


def every() -> Iterator[Entry]:
    """Every entry that is known, sections and modules first to last."""
    for name in sections():
        if name == MODULE_SECTION:
            for known in modules():
                yield from walk(module(known) or _block())
        else:
            yield from walk(section(name) or _block())


def read_version(text: str) -> Version | None:
    """`4.9.2` as numbers, to be compared; None for something else."""
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) <= _MOST_DIGITS for part in parts):
        return None
    return tuple(map(int, parts))


def systems(names: str | list[str]) -> frozenset[str]:
    """The systems that `os` of an entry means: a group of them by its name, or a list."""
    return frozenset(data()["os_groups"][names] if isinstance(names, str) else names)


def _entry(kind: str, name: str, path: str, facts: Mapping[str, Any], inside: Entry) -> Entry:
    since = read_version(facts["since"]) if facts.get("since") else None
    entry = Entry(
        kind,
        name,
        path,
        facts,
        {**inside.ref, **facts.get("ref", _NOTHING)},
        inside.os & systems(facts.get("os", "any")),
        max((version for version in (since, inside.since) if version), default=None),
        facts.get("agent_conf", inside.agent_conf),
        inside.certain and facts.get("certain", True),
        {},
        {},
        tuple(facts.get("rules", ())),
    )
    # The two mappings are filled here and nowhere else.
    options: dict[str, Entry] = entry.options  # type: ignore[assignment]
    attributes: dict[str, Entry] = entry.attributes  # type: ignore[assignment]
    for key, inner in facts.get("options", _NOTHING).items():
        options[key] = _entry(OPTION, key, f"{path}.{key}", inner, entry)
    for key, inner in facts.get("attributes", _NOTHING).items():
        attributes[key] = _entry(ATTRIBUTE, key, f"{path}@{key}", inner, entry)
    return entry


_OUTSIDE = Entry(
    SECTION, "", "", {}, {}, systems("any"), None, ALLOWED, True, {}, {}, ()
)  # what nothing is inherited from
_MOST_DIGITS = 6
_SECRETS = frozenset(
    (
        *(
            "access_key",
            "account_key",
            "api_token",
            "application_key",
            "client_secret",
            "password",
            "secret_key",
        ),
        *("secret_value", "shared_key"),
    )
)
