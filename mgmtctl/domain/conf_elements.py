"""What a document of the agent.conf dialect was read to: its elements with their places (groups.md 4.3).

Rules: text and attribute values are as written, nothing decoded; lines and columns count from 1, columns in
characters; every element knows its span of the source, so that the original bytes of each can be given back.
"""

from __future__ import annotations

from dataclasses import dataclass

from mgmtctl.domain.findings import Finding


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """`name="value"` as written, nothing decoded; place of the name, from 1."""

    name: str
    value: str
    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """One element; `text` is its own text as written, comments left out; it spans `start` to `end` of the source."""

    name: str
    attributes: tuple[Attribute, ...]
    children: tuple[Element, ...]
    text: str
    line: int
    column: int
    start: int
    end: int
    value_line: int
    value_column: int

    def value_place(self) -> tuple[int, int]:
        """(line, column) of the first character of `text`; of the element when it has none."""
        return self.value_line, self.value_column

    def attribute(self, name: str) -> str | None:
        """The value of exactly that attribute, or None."""
        return next((found.value for found in self.attributes if found.name == name), None)


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """What was read; `source` has one character for each byte that is not UTF-8, `encode` gives the bytes back."""

    source: str
    elements: tuple[Element, ...]
    findings: tuple[Finding, ...]

    def encode(self, element: Element | None = None) -> bytes:
        """The original bytes, of one element or of all."""
        text = self.source if element is None else self.source[element.start : element.end]
        return text.encode(errors="surrogateescape")
