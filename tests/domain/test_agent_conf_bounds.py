"""Reading agent.conf costs work in proportion to its length, whatever it holds: characters looked at are counted."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Any

import pytest

from mgmtctl.domain.agent_conf import MAX_ELEMENTS, MAX_FINDINGS, _Reader, read

MOST = 8  # characters looked at for one of the document


class Counted(str):
    """A source that counts the characters that are looked at."""

    work = 0

    def find(self, sub: str, start: Any = 0, end: Any = None) -> int:
        found = super().find(sub, start, end)
        Counted.work += 1 + ((len(self) if end is None else end) if found < 0 else found) - start
        return found

    def startswith(self, prefix: Any, start: Any = 0, end: Any = None) -> bool:
        for one in prefix if isinstance(prefix, tuple) else (prefix,):
            there = super().__getitem__(slice(start, start + len(one)))
            Counted.work += 1 + sum(1 for _ in takewhile(bool, map(str.__eq__, one, there)))
        return super().startswith(prefix, start)

    def __getitem__(self, key: Any) -> str:
        found = super().__getitem__(key)
        Counted.work += 1 + len(found)
        return found


class Pattern:
    """A pattern that counts what it passes over; `re` gets at the characters by itself."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern

    def match(self, source: str, start: int) -> re.Match[str] | None:
        return self._counted(self.pattern.match(source, start), start, start)

    def search(self, source: str, start: int) -> re.Match[str] | None:
        return self._counted(self.pattern.search(source, start), start, len(source))

    def _counted(self, found: re.Match[str] | None, start: int, missed: int) -> re.Match[str] | None:
        Counted.work += 1 + (found.end() if found else missed) - start
        return found


def work(data: bytes) -> int:
    reader: Any = _Reader(Counted(data.decode(errors="surrogateescape")))
    for name in ("name", "blanks", "comment_end", "tag_end"):
        setattr(reader, name, Pattern(getattr(reader, name)))
    Counted.work = 0
    reader.run()
    return Counted.work


HOSTILE = [
    pytest.param(b"<a>%s</a>", b"x", id="one value"),
    pytest.param(b"%s", b"<a>1</a>\n", id="elements"),
    pytest.param(b"%s", b"<a>", id="never closed"),
    pytest.param(b"%s", b"</a>", id="closing tags"),
    pytest.param(b"%s", b"<", id="less-than"),
    pytest.param(b"%s", b"<!", id="comments without an end"),
    pytest.param(b"<!--%s", b"-", id="one comment without an end"),
    pytest.param(b"<!--%s-->", b"!", id="exclamation marks in a comment"),
    pytest.param(b"<a>%s</a>", b"<!---->", id="comments"),
    pytest.param(b"<a>%s</a>", b"\\<", id="escapes"),
    pytest.param(b"<a>%s<", b"\\", id="backslashes"),
    pytest.param(b"<a>%s", b"\\</a>", id="escaped closing tags"),
    pytest.param(b"<" + b"a" * 9000 + b">%s", b"\\</", id="escapes under a long name"),
    pytest.param(b"<" + b"a" * 9000 + b">%s", b"\\</a", id="escapes that begin like the long name"),
    pytest.param(b"<b>" * 1023 + b"%s", b"<a></a>", id="pairs at the bottom"),
    pytest.param(b"<b>" * 1023 + b"%s", b"<a></b>", id="crossed pairs at the bottom"),
    pytest.param(b"<b>" * 1023 + b"%s", b"<B></b><b>", id="crossed letter case at the bottom"),
    pytest.param(b"%s", b'<a b="', id="quotes"),
    pytest.param(b"<a %s", b"b='' ", id="one attribute again and again"),
    pytest.param(b"<a b='%s", b"\n", id="line ends in an open quote"),
    pytest.param(b"<a%s", b" ", id="blanks in a tag"),
    pytest.param(b"%s", b"<a b = ", id="blanks before equals signs"),
    pytest.param(b"%s", b"<![CDATA[", id="CDATA"),
    pytest.param(b"%s", b"<?", id="declarations"),
    pytest.param(b"%s<", b"\n", id="lines"),
    pytest.param(b"<a>%s</a>", b"&amp;&", id="entities"),
]


@pytest.mark.parametrize(("form", "piece"), HOSTILE)
def test_each_character_is_looked_at_a_few_times_however_long_the_document_is(
    form: bytes, piece: bytes
) -> None:
    small, large = (form % (piece * (size // len(piece))) for size in (10_000, 100_000))
    assert len(read(large).findings) <= MAX_FINDINGS + 1
    assert work(small) <= MOST * len(small)
    assert work(large) <= MOST * len(large)


def _attributes(count: int) -> bytes:
    return b"<a " + b" ".join(b"a%d=''" % number for number in range(count)) + b"/>"


def test_many_attributes_of_one_element_are_linear_work() -> None:
    assert work(_attributes(10_000)) <= MOST * len(_attributes(10_000))


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"<a/>" * (MAX_ELEMENTS + 1), id="elements"),
        pytest.param(_attributes(MAX_ELEMENTS + 1), id="attributes"),
        pytest.param(b"<a b=''/>" * (MAX_ELEMENTS // 2 + 1), id="both"),
    ],
)
def test_elements_and_attributes_are_counted_together(data: bytes) -> None:
    document = read(data)
    assert [finding.rule for finding in document.findings] == ["too-many-elements"]
    assert document.encode() == data


def test_as_many_as_are_allowed_are_read() -> None:
    document = read(b"<a b=''/>" * (MAX_ELEMENTS // 2))
    assert document.findings == ()
    assert len(document.elements) == MAX_ELEMENTS // 2
