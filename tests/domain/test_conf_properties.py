"""Properties of lint: a document out of the vocabulary has no error, and each fault in it has one at its line."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgmtctl.domain.agent_conf_check import MAX_TOLD, check_agent_conf
from mgmtctl.domain.findings import ERROR, WARNING, Finding
from mgmtctl.domain.options import ATTRIBUTE
from tests.domain.conf_documents import CLOSED, Node, sections, written

few = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def found_at(nodes: list[Node], node: Node) -> list[Finding]:
    document = written(nodes)
    line = document.line_of[id(node)]
    return [finding for finding in check_agent_conf(document.text.encode()) if finding.line == line]


def inner(nodes: list[Node]) -> list[Node]:
    return [node for section in nodes for node in section.walk() if node is not section]


def faults(node: Node) -> set[str]:
    """The severities of a fault at a node: a warning where the vocabulary is not certain."""
    return {ERROR} if node.entry.certain else {ERROR, WARNING}


@few
@given(sections())
def test_a_document_out_of_the_vocabulary_has_no_error(nodes: list[Node]) -> None:
    document = written(nodes)
    errors = [found.text() for found in check_agent_conf(document.text.encode()) if found.severity == ERROR]
    assert errors == [], document.text


@few
@given(sections(), st.data())
def test_a_misspelt_option_has_an_error_at_its_line(nodes: list[Node], data: st.DataObject) -> None:
    if not inner(nodes):
        return
    node = data.draw(st.sampled_from(inner(nodes)))
    node.name += "_zz"
    found = [finding for finding in found_at(nodes, node) if finding.rule == "unknown-option"]
    assert {finding.severity for finding in found} & faults(node), written(nodes).text


@few
@given(sections(), st.data(), st.sampled_from(["@@", " ", "yes no", "-1x", "\n"]))
def test_a_broken_value_has_an_error_at_its_line(nodes: list[Node], data: st.DataObject, broken: str) -> None:
    closed = [node for node in inner(nodes) if node.entry.type in CLOSED]
    if not closed:
        return
    node = data.draw(st.sampled_from(closed))
    node.value = broken if broken != "\n" else " yes "
    found = [finding for finding in found_at(nodes, node) if finding.rule == "bad-value"]
    assert {finding.severity for finding in found} & faults(node), written(nodes).text


@few
@given(sections(), st.data())
def test_a_broken_attribute_has_an_error_at_its_line(nodes: list[Node], data: st.DataObject) -> None:
    given_ = [
        (node, name)
        for node in inner(nodes)
        for name in node.attributes
        # What is not `no` there counts as yes, which is a warning.
        if node.entry.attributes[name].type in CLOSED and node.entry.path != "sca.policies.policy"
    ]
    if not given_:
        return
    node, name = data.draw(st.sampled_from(given_))
    assert node.entry.attributes[name].kind == ATTRIBUTE
    node.attributes[name] = "@@"
    assert {f.severity for f in found_at(nodes, node) if f.rule == "bad-value"} & faults(node)
    del node.attributes[name]
    node.attributes[f"{name}_zz"] = "yes"
    assert {f.severity for f in found_at(nodes, node) if f.rule == "unknown-attribute"} & faults(node)


@few
@given(sections(), st.data())
def test_an_option_outside_of_its_section_has_an_error_at_its_line(
    nodes: list[Node], data: st.DataObject
) -> None:
    if not inner(nodes):
        return
    node = data.draw(st.sampled_from(inner(nodes)))
    assert ERROR in {finding.severity for finding in found_at([*nodes, node], node)}


@few
@given(sections(), st.data())
def test_a_section_inside_of_a_section_has_an_error_at_its_line(
    nodes: list[Node], data: st.DataObject
) -> None:
    inside = Node(data.draw(st.sampled_from(nodes)).entry, name="localfile")
    nodes[0].children.append(inside)
    found = [finding for finding in found_at(nodes, inside) if finding.rule == "unknown-option"]
    assert [finding.suggestion for finding in found] == [
        f"`localfile` is a section: close `{nodes[0].entry.name}` before it"
    ]


_PIECES = st.sampled_from(
    [
        *(
            "<agent_config>",
            "</agent_config>",
            "<syscheck>",
            "</syscheck>",
            "<wodle name='command'>",
            "</wodle>",
        ),
        *(
            "<localfile>",
            "</localfile>",
            "<location>",
            "</location>",
            "<log_format>",
            "macos",
            "</log_format>",
        ),
        *(
            "<command>",
            "</command>",
            "<filter field='x'>",
            "<diff/>",
            "<bucket type='x'>",
            "\0",
            "\xff",
            "$x",
            " ",
        ),
        *(
            "<var name='x'>",
            "</var>",
            "yes",
            "<!--",
            "-->",
            "<directories check_all='",
            "'>",
            "<wodle/>",
            "10m",
        ),
    ]
)


@few
@given(st.lists(_PIECES | st.text(max_size=5), max_size=30))
def test_any_text_gets_a_verdict(pieces: list[str]) -> None:
    for finding in check_agent_conf("".join(pieces).encode(errors="surrogatepass")):
        assert finding.line >= 1
        assert finding.column >= 1
        assert finding.text().isprintable()


@few
@given(st.binary(max_size=200))
def test_any_bytes_get_a_verdict(data: bytes) -> None:
    assert len(check_agent_conf(data)) <= MAX_TOLD + 1
