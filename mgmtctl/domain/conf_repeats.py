"""What a second value, entry or section does to the first inside one block (agent_options.md: repeat).

Rules: sections of one name that are merged count as one; only what the same agents read is compared, so each block by
itself. The finding stands at the later one and names the line of the earlier.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mgmtctl.domain.agent_conf import Element
from mgmtctl.domain.conf_findings import at, gravest
from mgmtctl.domain.conf_tree import option_of
from mgmtctl.domain.findings import NOTE, WARNING, Finding
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.options import MODULE_SECTION, Entry

_MERGE, _REPLACE = "merge", "replace"
_LAST, _FIRST, _KEYED = "last_wins", "first_wins", "append_by_key"
_ADDED = frozenset(
    ("command", "full_command", "journald")
)  # log formats whose blocks never replace one another


class _Earlier(NamedTuple):
    line: int
    same: object  # what must be equal for the two to say the same


class Repeats:
    """What one block held so far."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A block begins."""
        self._start = 0
        self._seen: dict[tuple[str, str], _Earlier] = {}
        self._scopes: list[str] = []
        self._types: list[str | None] = []

    def section(self, section: Element, entry: Entry) -> Iterator[Finding]:
        """A section begins; a finding when it replaces one."""
        self._start = section.start
        self._scopes = [_scope(section, entry, "")]
        self._types = [None]
        if entry.repeat == _REPLACE:
            earlier = self._put("", entry.path, section, None)
            if earlier is not None:
                message = f"this `{_short(entry)}` replaces the one on line {earlier.line} as a whole"
                yield at(section, "replaced-section", WARNING, message, "put their options into one")
        elif entry.repeat == _KEYED:
            yield from self._keyed(section, entry, "")

    def option(self, element: Element, entry: Entry, inside: Entry) -> Iterator[Finding]:
        """An option; a finding when it or an earlier one does not count. A block must be left again."""
        scope = self._scopes[-1]
        if entry.repeat == _LAST:
            yield from self._single(element, entry, scope, "this value counts")
        elif entry.repeat == _FIRST:
            yield from self._single(element, entry, scope, "this one is ignored")
        elif entry.repeat == _KEYED:
            yield from self._keyed(element, entry, scope)
        elif entry.facts.get("across_sections") == _REPLACE:
            yield from self._across(element, entry, scope)
        if entry.type == "block":
            self._scopes.append(_scope(element, entry, scope))
            self._types.append(element.attribute("type"))

    def leave(self) -> None:
        """The block that was entered last ends."""
        self._scopes.pop()
        self._types.pop()

    def type_above(self) -> str | None:
        """The attribute `type` of the innermost block that is open."""
        return self._types[-1]

    def _put(self, scope: str, key: str, element: Element, same: object) -> _Earlier | None:
        earlier = self._seen.get((scope, key))
        self._seen[(scope, key)] = _Earlier(element.line, same)
        return earlier

    def _single(self, element: Element, entry: Entry, scope: str, counts: str) -> Iterator[Finding]:
        earlier = self._put(scope, entry.name, element, element.text)
        if earlier is None:
            return
        message = f"`{entry.name}` stands on line {earlier.line} too; {counts}"
        lost = gravest(entry) if entry.repeat == _FIRST else WARNING
        severity = NOTE if earlier.same == element.text else lost
        yield at(element, "repeated-option", severity, message, "leave one of them out")

    def _keyed(self, element: Element, entry: Entry, scope: str) -> Iterator[Finding]:
        content = (tuple((a.name, a.value) for a in element.attributes), element.text, _content(element))
        lines: dict[int, list[str]] = {}
        same = True
        for key in _keys(element, entry):
            earlier = self._put(scope, f"{entry.path} {key}", element, content)
            if earlier is not None and earlier.same is not content:
                lines.setdefault(earlier.line, []).append(key)
                same = same and earlier.same == content
        for line, keys in lines.items():
            shown = ", ".join(quoted(key) for key in keys[:3])
            message = f"{shown} stands on line {line} too, and this `{entry.name}` replaces that one"
            yield at(element, "repeated-entry", NOTE if same else WARNING, message)

    def _across(self, element: Element, entry: Entry, scope: str) -> Iterator[Finding]:
        """A list whose second section drops what the first one's held."""
        key = f"all of {entry.name}"
        started = self._seen.get((scope, key))
        if started is not None and started.same == self._start:
            return
        self._put(scope, key, element, self._start)
        if started is not None:
            message = f"this `{entry.name}` drops those of the section before, on line {started.line}"
            yield at(element, "replaced-section", WARNING, message, "put them into one section")


def _scope(element: Element, entry: Entry, outer: str) -> str:
    own = "" if entry.repeat == _MERGE else f"#{element.start}"
    return f"{outer}/{entry.path}{own}"


def _keys(element: Element, entry: Entry) -> Iterator[str]:
    """What tells the element apart from others of its name; nothing when it is always added."""
    key = entry.key or ""
    if key in entry.attributes:
        yield from filter(None, (element.attribute(key),))
    elif key in entry.options:
        inside = {found.name: child.text for child in element.children if (found := option_of(child, entry))}
        added = inside.get("log_format") in _ADDED
        yield from filter(None, ("" if added else inside.get(key),))
    else:
        separator = entry.facts.get("separator")
        items = element.text.split(separator) if separator else [element.text]
        arch = element.attribute("arch") if "arch" in entry.attributes else None
        for item in filter(None, (item.strip() for item in items)):
            yield f"{item} ({arch})" if arch else item


def _content(element: Element) -> tuple[tuple[str, str], ...]:
    return tuple((child.name, child.text) for child in element.children)


def _short(entry: Entry) -> str:
    return entry.path.removeprefix(f"{MODULE_SECTION}.")
