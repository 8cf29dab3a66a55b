"""The reader of agent.conf: the dialect, the places of faults, and totality."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mgmtctl.domain.agent_conf import (
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_FINDINGS,
    MAX_LENGTH,
    MAX_SIZE,
    Document,
    Element,
    read,
)
from mgmtctl.domain.findings import WARNING

Tree = tuple[str, str, list["Tree"]]


def _tree(element: Element) -> Tree:
    return element.name, element.text, [_tree(child) for child in element.children]


def _trees(document: Document) -> list[Tree]:
    return [_tree(element) for element in document.elements]


def _rules(data: bytes) -> list[tuple[str, int, int]]:
    return [(finding.rule, finding.line, finding.column) for finding in read(data).findings]


ACCEPTED = [
    pytest.param(b"", [], id="nothing"),
    pytest.param(b"plain text & more >", [], id="text at the top, which is passed over"),
    pytest.param(b"<a>1</a> <!-- between --> <b>2</b>", [("a", "1", []), ("b", "2", [])], id="several roots"),
    pytest.param(b"<a>x<b>y</b>z</a>", [("a", "xz", [("b", "y", [])])], id="mixed content"),
    pytest.param(b"\xef\xbb\xbf<a/>", [("a", "", [])], id="a byte order mark"),
    pytest.param(b"<a>\r\n</a>\r\n", [("a", "\r\n", [])], id="CRLF is kept"),
    pytest.param(b"<a />", [("a", "", [])], id="self-closing with a blank"),
    pytest.param(b"<a b='1'/>", [("a", "", [])], id="self-closing with an attribute"),
    pytest.param(b"<a\n  b='1'\n></a>", [("a", "", [])], id="a tag over several lines"),
    pytest.param(b"<a>&amp; & &x; ></a>", [("a", "&amp; & &x; >", [])], id="entities are not decoded"),
    pytest.param(b"<a>\\<b> 1 \\< 2</a>", [("a", "\\<b> 1 \\< 2", [])], id="an escaped less-than"),
    pytest.param(b"<a>C:\\\\</a>", [("a", "C:\\\\", [])], id="two backslashes before a closing tag"),
    pytest.param(b"<a>\\\\\\<b</a>", [("a", "\\\\\\<b", [])], id="three backslashes escape"),
    pytest.param(b"<a>\\</a></a>", [("a", "\\</a>", [])], id="an escaped closing tag is text"),
    pytest.param(b"<a>1<!-- <b> -- & -->2</a>", [("a", "12", [])], id="a comment with two dashes inside"),
    pytest.param(b"<a><! <b> !></a>", [("a", "", [])], id="a comment without dashes"),
    pytest.param(b"<!-- x --><a/><!-- y -->", [("a", "", [])], id="comments at the top"),
    pytest.param(b"<A></A><a></a>", [("A", "", []), ("a", "", [])], id="names in two letter cases"),
    pytest.param(b"<a>caf\xe9</a>", [("a", "caf\udce9", [])], id="a byte that is not UTF-8"),
    pytest.param(
        b"<a_b-c.d:e1></a_b-c.d:e1>", [("a_b-c.d:e1", "", [])], id="every kind of character in a name"
    ),
]


@pytest.mark.parametrize(("data", "trees"), ACCEPTED)
def test_the_dialect_is_read_without_a_finding(data: bytes, trees: list[Tree]) -> None:
    document = read(data)
    assert document.findings == ()
    assert _trees(document) == trees
    assert document.encode() == data


REFUSED = [
    pytest.param(b'<?xml version="1.0"?>\n<a/>', [("xml-declaration", 1, 1)], id="an XML declaration"),
    pytest.param(b"<!DOCTYPE a>\n<a/>", [("doctype", 1, 1)], id="a DOCTYPE"),
    pytest.param(b"<a><![CDATA[<b>]]></a>", [("cdata", 1, 4)], id="CDATA"),
    pytest.param(b"<a>\n <!-- x", [("unclosed-comment", 2, 2)], id="a comment"),
    pytest.param(b"<a>\n <b>\n</a>", [("unclosed-element", 2, 2)], id="an element inside is not closed"),
    pytest.param(b"<a>\n <b>", [("unclosed-element", 1, 1), ("unclosed-element", 2, 2)], id="two at the end"),
    pytest.param(b"<a><b>1<b></a>", [("unclosed-element", 1, 8)], id="an opening tag where it should close"),
    pytest.param(b"<a></a></b>", [("stray-closing-tag", 1, 8)], id="a closing tag too many"),
    pytest.param(b"<a></A>", [("closing-tag-case", 1, 4)], id="a closing tag in other letter case"),
    pytest.param(b"<a></a >", [("closing-tag-blank", 1, 4)], id="a blank in a closing tag"),
    pytest.param(b"<a></a\n<b/>", [("bad-tag", 1, 4)], id="a closing tag without an end"),
    pytest.param(b"<a>if 1 < 2</a>", [("bare-less-than", 1, 9)], id="a less-than before a blank"),
    pytest.param(b"<a><%= x %></a>", [("bare-less-than", 1, 4)], id="a template tag"),
    pytest.param(b"<a>1</ a></a>", [("bare-less-than", 1, 5)], id="a blank before the name of a closing tag"),
    pytest.param(b"<a>\n<b>C:\\</b>\n</a>", [("escaped-closing-tag", 2, 6)], id="one backslash at the end"),
    pytest.param(b"<a b></a>", [("bad-attribute", 1, 4)], id="an attribute without a value"),
    pytest.param(b'<a b ="1"></a>', [("bad-attribute", 1, 4)], id="a blank before the equals sign"),
    pytest.param(b"<a b=1></a>", [("bad-attribute", 1, 6)], id="no quotes"),
    pytest.param("<a b=”1”></a>".encode(), [("bad-attribute", 1, 6)], id="typographic quotes"),
    pytest.param(b'<a b="1></a>', [("bad-attribute", 1, 6)], id="no closing quote"),
    pytest.param(b'<a b="1>\n<c d="2"></c></a>', [("bad-attribute", 1, 6)], id="no closing quote before the next"),
    pytest.param(b'<a b="1>2"></a>', [("bad-attribute", 1, 8)], id="a greater-than in an attribute"),
    pytest.param(b"<a b='1' b='2'/>", [("duplicate-attribute", 1, 10)], id="an attribute twice"),
    pytest.param(b"<a =''></a>", [("bad-attribute", 1, 4)], id="an attribute without a name"),
    pytest.param(b"<a / ></a>", [("bad-attribute", 1, 4)], id="a blank after the slash"),
    pytest.param(b"<a b", [("unclosed-element", 1, 1), ("bad-attribute", 1, 4)], id="the file ends in a tag"),
    pytest.param(b"<", [("bare-less-than", 1, 1)], id="a less-than alone"),
    pytest.param(b"</", [("bare-less-than", 1, 1)], id="the beginning of a closing tag alone"),
    pytest.param(b"<?", [("xml-declaration", 1, 1)], id="the beginning of a declaration alone"),
    pytest.param(b"<!", [("unclosed-comment", 1, 1)], id="the beginning of a comment alone"),
    pytest.param(
        b"<a x=1>\n<b></B>\n</c>\n<d></d ></a>",
        [("bad-attribute", 1, 6), ("closing-tag-case", 2, 4), ("stray-closing-tag", 3, 1), ("closing-tag-blank", 4, 4)],
        id="every fault at once",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("data", "findings"), REFUSED)
def test_each_fault_is_found_at_its_place(data: bytes, findings: list[tuple[str, int, int]]) -> None:
    assert _rules(data) == findings
    assert read(data).encode() == data


@pytest.mark.parametrize(
    ("data", "places"),
    [
        pytest.param(b"oops\n<a/>", [(1, 1)], id="before"),
        pytest.param(b"<a/> \n oops\n<b/>", [(2, 2)], id="between"),
        pytest.param(b"<a/>\noops", [(2, 1)], id="after"),
        pytest.param(b"<a/>x<b/>y<a/>", [(1, 5), (1, 10)], id="once for each stretch"),
        pytest.param(b"<a/>x\n<!-- y -->\nz\n<a/>", [(1, 5)], id="comments do not end a stretch"),
        pytest.param(b"\xef\xbb\xbf<a/>\r\n\t\r\n", [], id="blanks and a byte order mark are none"),
        pytest.param(b"oops", [], id="a document without an element has another fault"),
    ],
)
def test_text_outside_of_blocks_is_a_warning(data: bytes, places: list[tuple[int, int]]) -> None:
    found = read(data).findings
    assert [(f.line, f.column) for f in found] == places
    assert {(f.rule, f.severity) for f in found} <= {("stray-text", WARNING)}


def test_text_around_another_fault_is_not_told_again() -> None:
    assert _rules(b"<a/>\nif x < 1 do\n<b/>") == [("bare-less-than", 2, 6)]


def test_a_comment_that_ends_early_is_a_warning() -> None:
    found = read(b"<a><!-- wow!> <b/> --></a>").findings
    assert [(f.rule, f.severity, f.column) for f in found] == [("comment-ends-early", WARNING, 12)]


@pytest.mark.parametrize(
    ("data", "column"),
    [
        pytest.param("<a>é</a><".encode(), 9, id="a letter of two bytes is one column"),
        pytest.param(b"<a>\xe9</a><", 9, id="a byte that is not UTF-8 is one column"),
        pytest.param(b"\xef\xbb\xbf<", 1, id="a byte order mark is none"),
        pytest.param(b"\t<", 2, id="a tab is one"),
    ],
)
def test_columns_count_characters(data: bytes, column: int) -> None:
    assert _rules(data)[-1] == ("bare-less-than", 1, column)


def test_an_element_knows_its_place_its_attributes_and_its_bytes() -> None:
    data = b"<!-- x -->\r\n<a>\r\n  <b os=\"Linux\"\n name= 'we\xe9b' >1<!-- y --></b></a>"
    document = read(data)
    found = document.elements[0].children[0]
    assert (found.line, found.column) == (3, 3)
    places = [(a.name, a.value, a.line, a.column) for a in found.attributes]
    assert places == [("os", "Linux", 3, 6), ("name", "we\udce9b", 4, 2)]
    assert found.attribute("os") == "Linux"
    assert found.attribute("OS") is None
    assert document.encode(found) == b"<b os=\"Linux\"\n name= 'we\xe9b' >1<!-- y --></b>"


@pytest.mark.parametrize(
    "form",
    [b"<a>%s</a>", b'<a b="%s"/>', b"<%s/>", b"<a %s=''/>"],
    ids=["value", "attribute", "name", "attribute name"],
)
def test_an_item_has_at_most_20479_bytes(form: bytes) -> None:
    assert _rules(form % (b"x" * MAX_LENGTH)) == []
    assert [rule for rule, _, _ in _rules(form % (b"x" * (MAX_LENGTH + 1)))] == ["too-long"]


def test_the_length_of_a_value_is_counted_in_bytes_and_across_comments() -> None:
    assert [rule for rule, _, _ in _rules(b"<a>" + "é".encode() * 10240 + b"</a>")] == ["too-long"]
    assert [rule for rule, _, _ in _rules(b"<a>" + (b"x" * 5000 + b"<!---->") * 5 + b"</a>")] == ["too-long"]


def test_a_large_section_of_many_short_lines_is_no_fault() -> None:
    assert _rules(b"<a>" + b"\n      <b>1</b>" * 5000 + b"</a>") == []


def test_1024_levels_are_read_and_one_more_is_a_fault() -> None:
    assert _rules(b"<a>" * MAX_DEPTH + b"</a>" * MAX_DEPTH) == []
    rules = _rules(b"<a>" * (MAX_DEPTH + 1) + b"</a>" * (MAX_DEPTH + 1))
    assert rules == [("too-deep", 1, 3 * MAX_DEPTH + 1)]


def test_a_document_beyond_the_limits_is_refused_by_name() -> None:
    assert _rules(b" " * (MAX_SIZE + 1)) == [("too-large", 1, 1)]
    rules = [rule for rule, _, _ in _rules(b"<a/>" * (MAX_ELEMENTS + 1))]
    assert rules == ["too-many-elements"]


MILLION = 1_000_000
HOSTILE = [
    pytest.param(b"<" * MILLION, id="less-than"),
    pytest.param(b"<a>" * (MILLION // 3), id="unclosed"),
    pytest.param(b"</a>" * (MILLION // 4), id="closing tags"),
    pytest.param(b"<!" * (MILLION // 2), id="unclosed comments"),
    pytest.param(b"<a><!----></a>" * (MILLION // 14), id="comments"),
    pytest.param(b"<a>" + b"\\<" * (MILLION // 2), id="escapes"),
    pytest.param(b"<a>" + b"\\" * MILLION + b"<", id="backslashes"),
    pytest.param(b"<a>" + b"\\</a>" * (MILLION // 5), id="escaped closing tags"),
    pytest.param(b"<" + b"a" * 20000 + b">" + b"\\</" * (MILLION // 3), id="a long name and escapes"),
    pytest.param(b"<b>" * 1023 + b"<a></a>" * (MILLION // 7), id="pairs at the bottom"),
    pytest.param(b"<b>" * 1023 + b"<a></b>" * (MILLION // 7), id="crossed pairs at the bottom"),
    pytest.param(b'<a b="' * (MILLION // 6), id="quotes"),
    pytest.param(b"<a " + b"b='' " * (MILLION // 5), id="one attribute again and again"),
    pytest.param(b"<a" + b" " * MILLION, id="blanks in a tag"),
    pytest.param(b"<![CDATA[" * (MILLION // 9), id="CDATA"),
    pytest.param(b"\n" * MILLION + b"<", id="lines"),
]


@pytest.mark.parametrize("data", HOSTILE)
def test_a_megabyte_of_hostile_input_is_read_to_a_verdict(data: bytes) -> None:
    document = read(data)
    assert len(document.findings) <= MAX_FINDINGS + 1
    assert document.encode() == data


def test_too_many_faults_end_the_reading_and_say_so() -> None:
    found = read(b"</a>\n" * 1000).findings
    assert found[-1].rule == "too-many-faults"
    assert found[-1].line == MAX_FINDINGS


def _within(element: Element, document: Document) -> None:
    inner = element.start
    for child in element.children:
        assert inner <= child.start < child.end <= element.end
        inner = child.end
        _within(child, document)
    assert document.source[element.start :].startswith(f"<{element.name}")


TOKENS = st.sampled_from(
    [
        b"<a>",
        b"</a>",
        b"<b ",
        b"c='",
        b"'",
        b">",
        b"/>",
        b"<!--",
        b"-->",
        b"!>",
        b"\\",
        b"<",
        b"</",
        b"\n",
        b"x",
        b"\xe9",
    ]
)


@given(st.lists(TOKENS, max_size=25).map(b"".join) | st.binary(max_size=80))
@example(b"\xef\xbb\xbf")
@example(b"<a\xc2\xa0b='1'/>")
def test_any_bytes_are_read_and_kept(data: bytes) -> None:
    document = read(data)
    assert document.encode() == data
    for root in document.elements:
        _within(root, document)
    lines = data.count(b"\n") + 1
    assert all(1 <= f.line <= lines and f.column >= 1 and f.message.isprintable() for f in document.findings)
    assert [(f.line, f.column) for f in document.findings] == sorted(
        (f.line, f.column) for f in document.findings
    )


VALUE = st.text(st.characters(codec="utf-8", exclude_characters="<>\\\"'\0"), max_size=6)
NAME = st.sampled_from(["a", "b", "log_format", "agent_config"])
ELEMENTS: st.SearchStrategy[Tree] = st.recursive(
    st.tuples(NAME, VALUE, st.just([])),
    lambda inner: st.tuples(NAME, VALUE, st.lists(inner, max_size=3)),
    max_leaves=8,
)


def _written(tree: Tree) -> str:
    name, text, children = tree
    return f'<{name} k="{text}">{text}{"".join(map(_written, children))}</{name}>'


@given(st.lists(ELEMENTS, max_size=3))
def test_what_is_written_is_read_back(trees: list[Tree]) -> None:
    document = read("".join(map(_written, trees)).encode())
    assert document.findings == ()
    assert _trees(document) == trees
