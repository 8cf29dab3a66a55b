"""The dialect of agent.conf, every row of its table (groups.md 4.3), read inside a block as files hold it."""

from __future__ import annotations

import pytest

from mgmtctl.domain.agent_conf import MAX_DEPTH, MAX_LENGTH, Element, read

BLOCK = b"<agent_config>%s</agent_config>"
LOCALFILE = "<localfile><location>%s</location></localfile>"


def value(data: bytes) -> str:
    """The text of the first `location`."""
    return next(element.text for element in _every(read(data).elements) if element.name == "location")


def _every(elements: tuple[Element, ...]) -> list[Element]:
    return [inner for element in elements for inner in [element, *_every(element.children)]]


def rules(data: bytes) -> list[str]:
    return [finding.rule for finding in read(data).findings]


OK = [
    pytest.param(b"<agent_config/><agent_config/>", id="several roots"),
    pytest.param(BLOCK % b"text <labels/> text", id="mixed content"),
    pytest.param(b"\xef\xbb\xbf" + BLOCK % b"", id="a byte order mark"),
    pytest.param(b"<agent_config>\r\n  <sca>\r\n  </sca>\r\n</agent_config>\r\n", id="CRLF"),
    pytest.param(BLOCK % b"<!-- a -- b --- c -->", id="two dashes inside a comment"),
    pytest.param(BLOCK % b"<! a <sca> !>", id="a comment without dashes"),
    pytest.param(BLOCK % b"a & b > c", id="a bare ampersand and greater-than"),
    pytest.param(b"<agent_config os='Linux'/>", id="single quotes"),
    pytest.param(b'<agent_config os="Linux"/>', id="double quotes"),
    pytest.param(b"<agent_config os= \n 'Linux'/>", id="a blank after the equals sign"),
    pytest.param(b'<agent_config os="it\'s"/>', id="the other quote inside quotes"),
    pytest.param(b"<agent_config />", id="self-closing with a blank"),
    pytest.param(BLOCK % b"<sca/>", id="self-closing"),
    pytest.param(BLOCK % (b"x" * MAX_LENGTH), id="20479 bytes of content"),
    pytest.param(b'<agent_config os="%s"/>' % (b"x" * MAX_LENGTH), id="20479 bytes of an attribute value"),
    pytest.param(b"<%s/>" % (b"x" * MAX_LENGTH), id="20479 bytes of a name"),
    pytest.param(b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH, id="1024 levels"),
]


@pytest.mark.parametrize("data", OK)
def test_what_the_table_calls_fine_is_read_without_a_finding(data: bytes) -> None:
    assert rules(data) == []
    assert read(data).encode() == data


ERROR_ROWS = [
    pytest.param(b'<?xml version="1.0" encoding="UTF-8"?>' + BLOCK % b"", "xml-declaration", id="XML declaration"),
    pytest.param(b"<!DOCTYPE agent_config>" + BLOCK % b"", "doctype", id="DOCTYPE"),
    pytest.param(b"<!doctype agent_config>" + BLOCK % b"", "doctype", id="DOCTYPE in small letters"),
    pytest.param(BLOCK % b"<![CDATA[ a < b ]]>", "cdata", id="CDATA"),
    pytest.param(BLOCK % b"<!-- a", "unclosed-comment", id="a comment without an end"),
    pytest.param(BLOCK % b"<a>C:\\</a>", "escaped-closing-tag", id="one backslash before the closing tag"),
    pytest.param(BLOCK % b"<a>C:\\\\\\</a>", "escaped-closing-tag", id="three backslashes before it"),
    pytest.param(b"<agent_config os ='x'/>", "bad-attribute", id="a blank before the equals sign"),
    pytest.param(b"<agent_config os=x/>", "bad-attribute", id="no quotes"),
    pytest.param("<agent_config os=“x”/>".encode(), "bad-attribute", id="typographic quotes"),
    pytest.param(b"<agent_config os='a>b'/>", "bad-attribute", id="a greater-than in an attribute"),
    pytest.param(b"<agent_config os='a' os='a'/>", "duplicate-attribute", id="an attribute twice"),
    pytest.param(b"<agent_config></Agent_config>", "closing-tag-case", id="a closing tag in other case"),
    pytest.param(b"<agent_config></agent_config >", "closing-tag-blank", id="a blank after the name"),
    pytest.param(b"<agent_config></agent_config\n>", "closing-tag-blank", id="a line break after the name"),
    pytest.param(b"<agent_config></ agent_config>", "bare-less-than", id="a blank before the name"),
    pytest.param(BLOCK % b"1 < 2", "bare-less-than", id="a less-than without a backslash"),
    pytest.param(BLOCK % (b"x" * (MAX_LENGTH + 1)), "too-long", id="20480 bytes of content"),
    pytest.param(b"<a b='%s'/>" % (b"x" * (MAX_LENGTH + 1)), "too-long", id="20480 bytes of an attribute value"),
    pytest.param(b"<a %s=''/>" % (b"x" * (MAX_LENGTH + 1)), "too-long", id="20480 bytes of an attribute name"),
    pytest.param(b"<%s/>" % (b"x" * (MAX_LENGTH + 1)), "too-long", id="20480 bytes of a name"),
    pytest.param(b"<a>" * (MAX_DEPTH + 1), "too-deep", id="1025 levels"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "rule"), ERROR_ROWS)
def test_what_the_table_calls_an_error_is_one(data: bytes, rule: str) -> None:
    found = read(data).findings
    assert rule in {finding.rule for finding in found}
    assert {finding.severity for finding in found} == {"error"}
    assert read(data).encode() == data


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        pytest.param("a &lt; b &amp; c &#65; &nbsp;", "a &lt; b &amp; c &#65; &nbsp;", id="entities as they are"),
        pytest.param(r"a \< b", r"a \< b", id="the backslash of an escape stays"),
        pytest.param("C:\\\\", "C:\\\\", id="two backslashes stay two"),
        pytest.param("a<!-- x -->b", "ab", id="a comment leaves nothing behind"),
        pytest.param("a<!-- x !>b", "ab", id="a comment that ends early leaves nothing"),
        pytest.param("  a\r\n b ", "  a\r\n b ", id="blanks and line ends stay"),
        pytest.param("", "", id="nothing is nothing"),
    ],
)  # fmt: skip
def test_a_value_is_its_text_as_written_without_comments(written: str, kept: str) -> None:
    assert value(BLOCK % (LOCALFILE % written).encode()) == kept


def test_an_exclamation_mark_and_greater_than_end_a_comment_and_the_rest_is_text() -> None:
    document = read(b"<agent_config><!-- wow!> <sca/> --></agent_config>")
    (block,) = document.elements
    assert [section.name for section in block.children] == ["sca"]
    assert [(f.rule, f.severity) for f in document.findings] == [("comment-ends-early", "warning")]


@pytest.mark.parametrize("name", ["command", "Command", "COMMAND", "cOmMaNd"])
@pytest.mark.parametrize("inside", ["localfile", "LocalFile", "unknown", "a><b"], ids=str)
def test_no_letter_case_and_no_unknown_name_keeps_an_element_out_of_the_tree(name: str, inside: str) -> None:
    close = "".join(f"</{part}>" for part in reversed(inside.split("><")))
    document = read(BLOCK % f"<{inside}><{name}>id</{name}>{close}".encode())
    assert document.findings == ()
    assert [(e.name, e.text) for e in _every(document.elements) if e.text] == [(name, "id")]


def test_a_closing_tag_in_other_letter_case_still_ends_the_element() -> None:
    (block,) = read(BLOCK % b"<localfile><command>id</COMMAND></localfile><sca/>").elements
    assert [section.name for section in block.children] == ["localfile", "sca"]
    assert [option.text for option in block.children[0].children] == ["id"]


def test_an_opening_tag_where_the_closing_one_was_meant_hides_nothing_that_follows() -> None:
    inside = b"<syscheck><directories>a<directories>\n<windows_registry>b</windows_registry></syscheck><sca/>"
    document = read(BLOCK % inside)
    (block,) = document.elements
    assert [section.name for section in block.children] == ["syscheck", "sca"]
    options = [(option.name, option.text) for option in block.children[0].children]
    assert options == [("directories", "a"), ("windows_registry", "b")]
    assert [(f.rule, f.suggestion) for f in document.findings] == [
        ("unclosed-element", "did you mean `</directories>` here?")
    ]


def test_after_an_opening_tag_was_taken_for_a_closing_one_the_next_closing_tag_is_one_too_many() -> None:
    document = read(b"<x><a>1<a></x></a><x/>")
    assert [finding.rule for finding in document.findings] == ["unclosed-element", "stray-closing-tag"]
    assert [element.name for element in document.elements] == ["x", "x"]
