"""agent.conf as agents read it: one tolerant reader that keeps line and column (S 2.10, D 6, groups.md 4.3).

Rules: total on any bytes, linear, iterative and bounded; every fault is a finding and reading goes on where that makes
sense. The dialect is not XML: several roots, `\\<` for a literal `<`, `&` and `>` are ordinary characters, a comment
ends at `-->` or `!>`, no declaration, no DOCTYPE, no CDATA. What a name or value means is not decided here.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field

from mgmtctl.domain.conf_elements import Attribute, Document, Element
from mgmtctl.domain.findings import ERROR, WARNING, Finding
from mgmtctl.domain.groups import quoted

__all__ = ["Attribute", "Document", "Element", "place", "read"]

MAX_LENGTH = 20479  # bytes of a name, a value or an attribute value
MAX_DEPTH = 1024  # elements open at a time
MAX_SIZE = 10 * 1024 * 1024  # bytes of a document
MAX_ELEMENTS = 200_000  # with attributes
MAX_FINDINGS = 100  # then reading ends: the document is something else


def read(data: bytes) -> Document:
    """The document in `data`; faults of its structure are its findings, with an empty path."""
    source = data.decode(errors="surrogateescape")
    if len(data) > MAX_SIZE:
        problem = f"the document has {len(data)} bytes, at most {MAX_SIZE} are read"
        return Document(source, (), (Finding("too-large", ERROR, problem, "", 1, 1),))
    reader = _Reader(source)
    reader.run()
    # Without any element there is nothing that text is outside of.
    outside = reader.outside[: MAX_FINDINGS + 1 - len(reader.findings)] if reader.roots else ()
    findings = sorted([*reader.findings, *outside], key=place)
    return Document(reader.source, tuple(reader.roots), tuple(findings))


@dataclass(slots=True, eq=False)
class _Open:
    """An element whose closing tag was not met yet."""

    name: str
    attributes: tuple[Attribute, ...]
    start: int
    inside: int  # where its tag ends
    children: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    text_start: int = -1  # where the first of `text` stands
    escaped_close: int = -1  # where `\</name>` stands, which closes nothing


class _EndReadingError(Exception):
    """Nothing after this place can be judged."""


class _Reader:
    """One pass over `source`; `at` only grows."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 1 if source.startswith("\ufeff") else 0
        self.roots: list[Element] = []
        self.findings: list[Finding] = []
        self.open: list[_Open] = []
        self.open_names: Counter[str] = Counter()
        self.items = 0
        self.ended = False
        self.stray, self.stray_faults = -1, 0  # where text outside began, and the number of faults before
        self.outside: list[Finding] = []
        self.absent: set[str] = set()  # ends that do not come any more
        self.lines = array("I", (self.at,))  # where each begins; compact, as a document may hold nothing else
        self.lines.extend(found.end() for found in re.finditer("\n", source))
        self.name = re.compile(r"""[^\s<>/="'!?]+""", re.ASCII)
        self.blanks = re.compile(r"\s*", re.ASCII)
        self.text = re.compile(r"\S")
        self.comment_end = re.compile("-->|!>")
        self.tag_end = re.compile("/?>|<")

    def run(self) -> None:
        nul = self.source.find("\0")
        if nul >= 0:
            self._fault("nul-byte", nul, "a NUL byte stands here; agents cannot receive the file")
        try:
            while self.at < len(self.source):
                self._step()
            self._end_stray()
            while self.open:
                self._unclosed("at the end of the file")
        except _EndReadingError:
            self.ended = True
            while self.open:
                self._close(self.at)

    def _step(self) -> None:
        """The text up to the next `<`, then what begins there."""
        start = self.at
        mark = self._next_markup(start)
        self._text(start, mark)
        self.at = mark
        if mark == len(self.source):
            return
        following = self.source[mark + 1 : mark + 2]
        if following == "!":
            self._comment()
        elif following == "?":
            self._foreign("xml-declaration", "an XML declaration is not understood; leave it out", "?>")
        elif following == "/":
            self._closing_tag()
        else:
            self._opening_tag()

    def _next_markup(self, start: int) -> int:
        """Where the next `<` without a backslash of its own stands; two backslashes are none."""
        mark = start
        while True:
            mark = self.source.find("<", mark)
            if mark < 0:
                return len(self.source)
            first = mark
            while first > start and self.source[first - 1] == "\\":
                first -= 1
            if (mark - first) % 2 == 0:
                return mark
            self._note_escaped_close(mark)
            mark += 1

    def _note_escaped_close(self, mark: int) -> None:
        if self.open and self.open[-1].escaped_close < 0:
            name = self.open[-1].name
            after = mark + 2 + len(name)
            if self.source.startswith("</", mark) and self.source.startswith(name, mark + 2):
                self.open[-1].escaped_close = mark - 1 if self.source.startswith(">", after) else -1

    def _text(self, start: int, end: int) -> None:
        if start < end and not self.open:
            self._note_stray(start, end)
        elif start < end:
            element = self.open[-1]
            if not element.text:
                element.text_start = start
            element.text.append(self.source[start:end])

    def _note_stray(self, start: int, end: int) -> None:
        found = self.text.search(self.source, start, end) if self.stray < 0 else None
        if found is not None:
            self.stray, self.stray_faults = found.start(), len(self.findings)

    def _end_stray(self) -> None:
        """One finding for what stands outside up to here, unless a fault inside of it tells of it."""
        if self.stray >= 0 and self.stray_faults == len(self.findings):
            line, column = self._place(self.stray)
            self.outside.append(Finding("stray-text", WARNING, _OUTSIDE, "", line, column, _COMMENT_IT))
        self.stray = -1

    def _comment(self) -> None:
        start = self.at
        if self.source.startswith("<![CDATA[", start):
            return self._foreign("cdata", "CDATA is not understood; write `\\<` for a literal `<`", "]]>")
        if self.source[start : start + 9].upper() == "<!DOCTYPE":
            return self._foreign("doctype", "a DOCTYPE is not understood; leave it out", ">")
        proper = self.source.startswith("<!--", start)
        inside = start + (4 if proper else 2)
        end = self.comment_end.search(self.source, inside)
        if end is None:
            return self._end(
                "unclosed-comment", start, "the comment that begins here has no end; expected `-->`"
            )
        if proper and end[0] == "!>":
            problem = "`!>` ends the comment here, and what follows is read"
            self._fault("comment-ends-early", end.start(), problem, severity=WARNING)
        self.at = end.end()
        return None

    def _foreign(self, rule: str, problem: str, end: str) -> None:
        self._fault(rule, self.at, problem)
        found = -1 if end in self.absent else self.source.find(end, self.at)
        if found < 0:
            self.absent.add(end)
        self.at = found + len(end) if found >= 0 else self.at + 2

    def _closing_tag(self) -> None:
        start = self.at
        found = self.name.match(self.source, start + 2)
        if found is None:
            return self._bare(start)
        name, after = found[0], found.end()
        end = self._after_blanks(after)
        if not self.source.startswith(">", end):
            self._fault("bad-tag", start, f"the closing tag `</{_cut(name)}` has no `>`")
            self.at = after
        else:
            if end > after:
                self._fault(
                    "closing-tag-blank", start, f"the closing tag `</{_cut(name)}>` holds a blank before `>`"
                )
            self.at = end + 1
        return self._close_named(name, start)

    def _close_named(self, name: str, start: int) -> None:
        """Close the innermost element that the tag can mean; those inside it were never closed."""
        if self.open and self.open[-1].name == name:
            return self._close(self.at)
        if not self.open_names[name.casefold()]:
            return self._fault(
                "stray-closing-tag", start, f"`</{_cut(name)}>` closes nothing that is open here"
            )
        exact = any(element.name == name for element in self.open)
        wanted = name if exact else name.casefold()
        while (self.open[-1].name if exact else self.open[-1].name.casefold()) != wanted:
            self._unclosed(f"before `</{_cut(name)}>` on line {self._line(start)}")
        if not exact:
            problem = f"expected `</{_cut(self.open[-1].name)}>`, got `</{_cut(name)}>`; letter case counts"
            self._fault("closing-tag-case", start, problem)
        return self._close(self.at)

    def _unclosed(self, where: str) -> None:
        element = self.open[-1]
        name = _cut(element.name)
        if element.escaped_close >= 0:
            problem = f"the backslash hides `</{name}>`, so the element goes on"
            suggestion = "a value cannot end with one backslash: leave it out or write two"
            self._fault("escaped-closing-tag", element.escaped_close, problem, suggestion)
        elif len(self.open) > 1 and self.open[-2].name == element.name:
            problem = (
                f"`{name}` opens again on line {self._line(element.start)}, and neither is closed {where}"
            )
            self._fault("unclosed-element", element.start, problem, f"did you mean `</{name}>` here?")
            return self._close_twice()
        else:
            suggestion = f"write `</{name}>`, or `\\<` for a literal `<`"
            self._fault("unclosed-element", element.start, f"`{name}` is not closed {where}", suggestion)
        return self._close(self.at)

    def _close_twice(self) -> None:
        """Take the second of two opening tags for a closing one: what follows it lies beside the two, not inside."""
        second = self.open.pop()
        self.open_names[second.name.casefold()] -= 1
        self._close(second.inside)
        siblings = self.open[-1].children if self.open else self.roots
        siblings.extend(second.children)

    def _close(self, end: int) -> None:
        done = self.open.pop()
        self.open_names[done.name.casefold()] -= 1
        siblings = self.open[-1].children if self.open else self.roots
        text = "".join(done.text)
        if any(map(_too_long, done.text if done.children else [text])):
            problem = f"the value of {quoted(done.name)} has more than {MAX_LENGTH} bytes"
            self._fault("too-long", done.start, problem)
        place = self._place(done.start)
        value = self._place(done.text_start) if done.text else place
        children = tuple(done.children)
        siblings.append(Element(done.name, done.attributes, children, text, *place, done.start, end, *value))

    def _opening_tag(self) -> None:
        start = self.at
        found = self.name.match(self.source, start + 1)
        if found is None or not _begins_name(found[0]):
            return self._bare(start)
        self._end_stray()
        name, self.at = found[0], found.end()
        if _too_long(name):
            return self._end("too-long", start, f"the name {quoted(name)} has more than {MAX_LENGTH} bytes")
        attributes = self._attributes(name)
        if len(self.open) == MAX_DEPTH:
            return self._end("too-deep", start, f"more than {MAX_DEPTH} elements are open here")
        self._count(start)
        empty = self.source.startswith("/>", self.at)
        self.at += 2 if empty else self.source.startswith(">", self.at)
        self.open.append(_Open(name, attributes, start, self.at))
        self.open_names[name.casefold()] += 1
        if empty:
            self._close(self.at)
        return None

    def _count(self, offset: int) -> None:
        self.items += 1
        if self.items > MAX_ELEMENTS:
            problem = f"more than {MAX_ELEMENTS} elements and attributes stand before this one"
            self._end("too-many-elements", offset, problem)

    def _attributes(self, element: str) -> tuple[Attribute, ...]:
        """Those up to the end of the tag, where `at` then is; after a fault the rest of the tag is passed over."""
        attributes: dict[str, Attribute] = {}
        while True:
            self.at = self._after_blanks(self.at)
            if self.source.startswith((">", "/>"), self.at):
                break
            start = self.at
            self._count(start)
            attribute = self._attribute(element)
            if attribute is None:
                break
            if attribute.name in attributes:
                problem = f"the attribute {quoted(attribute.name)} of `{_cut(element)}` stands here twice"
                self._fault("duplicate-attribute", start, problem)
            attributes[attribute.name] = attribute
        return tuple(attributes.values())

    def _attribute(self, element: str) -> Attribute | None:
        start = self.at
        found = self.name.match(self.source, start)
        if found is None:
            self._bad_tag(start, f"expected an attribute or `>` in the tag of `{_cut(element)}`")
            return None
        name, after = found[0], found.end()
        where = f"the attribute {quoted(name)} of `{_cut(element)}`"
        if not self.source.startswith("=", after):
            spaced = self.source.startswith("=", self._after_blanks(after))
            self._bad_tag(start, f"{where} has a blank before `=`" if spaced else f"{where} has no value")
            return None
        begin = self._after_blanks(after + 1)
        quote = self.source[begin : begin + 1]
        if quote not in ('"', "'"):
            kind = "typographic quotes" if quote in _TYPOGRAPHIC else "no quotes"
            self._bad_tag(begin, f"the value of {where} has {kind}", 'write `name="value"`')
            return None
        return self._value(name, where, start, begin, quote)

    def _value(self, name: str, where: str, start: int, begin: int, quote: str) -> Attribute | None:
        end = self.source.find(quote, begin + 1)
        close = self.source.find(">", begin + 1, end if end >= 0 else len(self.source))
        if end < 0 or (close >= 0 and "\n" in self.source[begin:end]):
            self._bad_tag(begin, f"the value of {where} has no closing quote")
            return None
        value = self.source[begin + 1 : end]
        if close >= 0:
            self._fault("bad-attribute", close, f"the value of {where} holds `>`, which ends the tag")
        if _too_long(value) or _too_long(name):
            self._fault("too-long", start, f"{where} has more than {MAX_LENGTH} bytes")
        self.at = end + 1
        line, column = self._place(start)
        return Attribute(name, value, line, column)

    def _bad_tag(self, place: int, problem: str, suggestion: str | None = None) -> None:
        """Report, and pass over the rest of the tag, at most to the next `<`."""
        self._fault("bad-attribute", place, problem, suggestion)
        found = self.tag_end.search(self.source, place)
        self.at = found.start() if found else len(self.source)

    def _bare(self, start: int) -> None:
        self._text(start, start + 1)
        self.at = start + 1
        self._fault("bare-less-than", start, "`<` begins no element here", "write `\\<` for a literal `<`")

    def _after_blanks(self, offset: int) -> int:
        found = self.blanks.match(self.source, offset)
        return found.end() if found else offset

    def _line(self, offset: int) -> int:
        return bisect_right(self.lines, offset)

    def _place(self, offset: int) -> tuple[int, int]:
        line = self._line(offset)
        return line, offset - self.lines[line - 1] + 1

    def _end(self, rule: str, offset: int, problem: str) -> None:
        """A fault after which nothing can be judged."""
        self._fault(rule, offset, problem)
        raise _EndReadingError

    def _fault(
        self, rule: str, offset: int, problem: str, suggestion: str | None = None, severity: str = ERROR
    ) -> None:
        if len(self.findings) > MAX_FINDINGS:
            return
        line, column = self._place(offset)
        self.findings.append(Finding(rule, severity, problem, "", line, column, suggestion))
        if len(self.findings) >= MAX_FINDINGS and not self.ended:
            self.ended = True
            self._end("too-many-faults", offset, f"{MAX_FINDINGS} faults; what follows was not read")


def place(finding: Finding) -> tuple[int, int]:
    """What findings of one document are sorted by."""
    return finding.line, finding.column


def _too_long(text: str) -> bool:
    return len(text) * 4 > MAX_LENGTH and len(text.encode(errors="surrogateescape")) > MAX_LENGTH


def _begins_name(name: str) -> bool:
    return name[0].isalnum() or name[0] == "_"


def _cut(name: str) -> str:
    """A name for a message that has backticks of its own."""
    return quoted(name)[1:-1]


_OUTSIDE = "the text outside of all blocks is not read"
_COMMENT_IT = "write it as a comment, or leave it out"
_TYPOGRAPHIC = frozenset("“”„‟‘’‚‛«»″′")
