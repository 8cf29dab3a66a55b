"""What parts of agent.conf need of an agent: its system and its release.

Rules: as the vocabulary says; what lies inside something with the same need is not told again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Attribute, Element
from mgmtctl.domain.conf_tree import attribute_of, placed
from mgmtctl.domain.findings import ERROR, WARNING, Finding
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.options import Entry, Version

_EVERYWHERE = options.systems("any")
_NOTHING: Mapping[str, Any] = {}
_REFUSED = "agents there refuse the whole file"
_SKIPPED = "agents there skip it"


class Need(NamedTuple):
    """Something that not every agent can use: on which systems it works, from which release (None: told already).

    `around`: the systems that what it lies in works on. `refused_elsewhere`: agents of other systems refuse the whole
    file for it, `refused_before`: those of an earlier release; `certain` as in the vocabulary.
    """

    what: str
    place: Element | Attribute
    os: frozenset[str]
    around: frozenset[str]
    since: Version | None
    refused_elsewhere: bool
    refused_before: bool
    certain: bool

    @property
    def foreign(self) -> str:
        """What agents of another system make of it."""
        return _REFUSED if self.refused_elsewhere else _SKIPPED

    @property
    def too_new(self) -> str:
        """What older agents make of it."""
        return "an older agent refuses the whole file" if self.refused_before else "an older agent skips it"

    def finding(self, rule: str, severity: str, problem: str, suggestion: str | None) -> Finding:
        """A finding at its place; one that rests on a doubtful fact is at most a warning (D 6)."""
        if severity == ERROR and not self.certain:
            severity = WARNING
        return Finding(rule, severity, problem, "", self.place.line, self.place.column, suggestion)


def needs(block: Element) -> Iterator[Need]:
    """What the sections of a block need, in file order."""
    for section in block.children:
        yield from _section(section)


def _section(section: Element) -> Iterator[Need]:
    """What agents do not read from agent.conf at all is not judged: that is another fault."""
    told: dict[str, tuple[frozenset[str], Version]] = {}
    for element, entry, inside in placed(section):
        if entry is None or entry.agent_conf != options.ALLOWED:
            continue
        os, since = told.get(inside.path, (_EVERYWHERE, ())) if inside else (_EVERYWHERE, ())
        yield from _need(partial(_called, element, entry), element, entry, os, since)
        known = (entry.os & os, max(entry.since or (), since))
        told[entry.path] = known
        yield from _value(element, entry, element.text, *known)
        yield from _attributes(element, entry, *known)


def _attributes(element: Element, entry: Entry, os: frozenset[str], since: Version) -> Iterator[Need]:
    for attribute in element.attributes:
        found = attribute_of(attribute, entry)
        if found is not None:
            yield from _need(
                partial(_attribute_called, attribute, element, entry), attribute, found, os, since
            )
            known = (found.os & os, max(found.since or (), since))
            yield from _value(attribute, found, attribute.value, *known)


def _need(
    what: Callable[[], str], part: Element | Attribute, entry: Entry, os: frozenset[str], since: Version
) -> Iterator[Need]:
    """What a part needs beyond what it lies in (`os`, `since`), if anything."""
    value = part.text if isinstance(part, Element) else part.value
    refused = entry.ref.get("wrong_os") == "unchecked"
    # What is switched off does nothing elsewhere either.
    anywhere = os <= entry.os or (entry.type == "yes_no" and value == "no" and not refused)
    newer = entry.since if (entry.since or ()) > since else None
    if not anywhere or newer is not None:
        works = _EVERYWHERE if anywhere else entry.os
        yield Need(what(), part, works, os, newer, refused and not anywhere, _refused(entry), entry.certain)


def _value(
    place: Element | Attribute, entry: Entry, value: str, os: frozenset[str], since: Version
) -> Iterator[Need]:
    """What a value needs that not every system or release knows."""
    if "value_os" not in entry.facts and "value_since" not in entry.facts:
        return
    names = entry.facts.get("value_os", _NOTHING).get(value)
    release = entry.facts.get("value_since", _NOTHING).get(value)
    works = options.systems(names) if names else _EVERYWHERE
    needed = options.read_version(release) if release else None
    newer = needed if needed and needed > since else None
    if not os <= works or newer is not None:
        elsewhere = entry.ref.get("wrong_os") == "unchecked" and works != _EVERYWHERE
        before = entry.ref.get("bad_value") == "rejected"
        what = f"the value {quoted(value)} of `{entry.name}`"
        yield Need(what, place, works, os, newer, elsewhere, before, entry.certain)


def _refused(entry: Entry) -> bool:
    """Whether a release that does not know it refuses the file: always for a section, never for a module."""
    if entry.kind in (options.SECTION, options.MODULE):
        return entry.kind == options.SECTION
    return (
        entry.ref.get("unknown_attribute" if entry.kind == options.ATTRIBUTE else "unknown_option")
        == "rejected"
    )


def _attribute_called(attribute: Attribute, element: Element, entry: Entry) -> str:
    return f"{quoted(attribute.name)} of {_called(element, entry)}"


def _called(element: Element, entry: Entry) -> str:
    return f"`{entry.name}`" if entry.kind == options.MODULE else quoted(element.name)
