"""Every place that the reader of agent.conf names is one where the text stands, in any bytes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mgmtctl.domain.agent_conf import Document, Element, read

TOKENS = st.sampled_from(
    [
        *(b"<a>", b"</a>", b"</A>", b"</a >", b"</b>", b"<b ", b"<b/>", b"<a", b"<a c='1' d=\"2\">", b"c='", b"'"),
        *(b">", b"/>", b"<!--", b"-->", b"!>", b"\\", b"<", b"</", b"<?", b"<![CDATA[", b"<!DOCTYPE", b"\n", b"\r\n"),
        *(b"x", b"\xe9", "é".encode(), "\U0001f600".encode(), b"\0", b" ", b"=", b"\t", "”".encode(), b"yes"),
    ]
)  # fmt: skip
BYTES = st.lists(TOKENS, max_size=25).map(b"".join) | st.binary(max_size=60)
MARKED = BYTES | BYTES.map(lambda data: b"\xef\xbb\xbf" + data)

# what stands where a finding points; a fault of an attribute may stand anywhere in its tag
BEGINS = {
    "bare-less-than": "<",
    "bad-tag": "</",
    "cdata": "<![CDATA[",
    "closing-tag-blank": "</",
    "closing-tag-case": "</",
    "comment-ends-early": "!>",
    "doctype": "<!",
    "escaped-closing-tag": "\\</",
    "nul-byte": "\0",
    "stray-closing-tag": "</",
    "unclosed-comment": "<!",
    "unclosed-element": "<",
    "xml-declaration": "<?",
}


def standing(document: Document, line: int, column: int) -> str:
    """What stands from there on, to the end of the line."""
    lines = document.source.removeprefix("\ufeff").split("\n")
    assert 1 <= line <= len(lines)
    assert 1 <= column <= len(lines[line - 1]) + 1
    return lines[line - 1][column - 1 :] + ("\n" if line < len(lines) else "")


def every(elements: tuple[Element, ...]) -> Iterator[Element]:
    for element in elements:
        yield element
        yield from every(element.children)


@given(MARKED)
@example(b"<a>\n<!-- x -->\n1</a>")
@example(b"\xef\xbb\xbf<a>\0</a>")
@example(b"<b c='1'\nd= '2'></b>")
def test_elements_and_attributes_stand_where_they_say(data: bytes) -> None:
    document = read(data)
    for element in every(document.elements):
        assert standing(document, element.line, element.column).startswith(f"<{element.name}")
        assert document.source[element.start :].startswith(f"<{element.name}")
        for attribute in element.attributes:
            assert standing(document, attribute.line, attribute.column).startswith(f"{attribute.name}=")


@given(MARKED)
@example(b"<a><b/>\n  1<!-- 2 -->3</a>")
def test_a_value_stands_where_it_says(data: bytes) -> None:
    document = read(data)
    for element in every(document.elements):
        place = element.value_place()
        if element.text:
            assert standing(document, *place)[0] == element.text[0]
        else:
            assert place == (element.line, element.column)


@given(MARKED)
@example(b"<a>C:\\</a>")
@example(b"<a x=1>\n<b></B>\n</c>\n<d></d ></a>")
def test_findings_stand_where_they_say(data: bytes) -> None:
    document = read(data)
    for finding in document.findings:
        there = standing(document, finding.line, finding.column)
        assert there.startswith(BEGINS.get(finding.rule, "")), (finding, there)
        assert finding.message.isprintable()
        assert finding.path == ""


@given(MARKED)
@settings(max_examples=300)
def test_any_bytes_are_read_and_given_back(data: bytes) -> None:
    document = read(data)
    assert document.encode() == data
    whole = data.removeprefix(b"\xef\xbb\xbf")
    for element in every(document.elements):
        assert document.encode(element) in whole


@given(BYTES)
def test_reading_the_bytes_of_an_element_alone_gives_the_same_element(data: bytes) -> None:
    document = read(data)
    if document.findings:
        return  # an element that was never closed has no bytes of its own
    for element in every(document.elements):
        (alone,) = read(document.encode(element)).elements
        assert [(e.name, e.text) for e in every((alone,))] == [(e.name, e.text) for e in every((element,))]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        pytest.param(b"<a>yes</a>", (1, 4), id="right after the tag"),
        pytest.param(b"<a\n b='1'>yes</a>", (2, 8), id="after a tag of two lines"),
        pytest.param(b"<a>\n yes</a>", (1, 4), id="blanks are part of a value"),
        pytest.param(b"<a><!-- x -->yes</a>", (1, 14), id="after a comment"),
        pytest.param(b"<a><b/>yes</a>", (1, 8), id="after an element"),
        pytest.param(b" <a></a>", (1, 2), id="no value: where the element stands"),
        pytest.param(b" <a/>", (1, 2), id="self-closing: where the element stands"),
    ],
)
def test_the_place_of_a_value(data: bytes, place: tuple[int, int]) -> None:
    assert read(data).elements[0].value_place() == place
