"""What keeps an agent.conf out of a group."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf_check import MAX_TOLD, check_agent_conf
from mgmtctl.domain.findings import ERROR, NOTE

ACCEPTED = [
    pytest.param(b"<agent_config/>", id="a block without sections"),
    pytest.param(b"<agent_config>\n\n  <!-- nothing yet -->\n\n</agent_config>\n", id="a comment alone"),
    pytest.param(b'<agent_config name="a" os="b" profile="c"/>', id="every selector"),
    pytest.param(b"<agent_config/>\n<agent_config/>", id="two blocks"),
    pytest.param(
        b"<agent_config></agent_config><!-- Source file: web/agent.conf -->\n<agent_config/>", id="merged"
    ),
    pytest.param(b'<agent_config><wodle name="osquery"/></agent_config>', id="a module"),
    pytest.param(b'<var name="x">1</var><agent_config><var name="y">2</var></agent_config>', id="variables"),
]


@pytest.mark.parametrize("data", ACCEPTED)
def test_a_document_that_agents_read_has_no_findings(data: bytes) -> None:
    assert check_agent_conf(data) == []


REFUSED = [
    pytest.param(b"", "empty-document", 1, 1, "write one `<agent_config>` block", id="no bytes"),
    pytest.param(b"\n \n", "no-agent-config", 1, 1, "write one `<agent_config>` block", id="only blanks"),
    pytest.param(b"just text", "no-agent-config", 1, 1, "write one `<agent_config>` block", id="no tag"),
    pytest.param(b"<!-- -->", "no-agent-config", 1, 1, "write one `<agent_config>` block", id="a comment"),
    pytest.param(
        b"<agent_config/>\n<Agent_Config/>",
        "unknown-element",
        2,
        1,
        "did you mean `agent_config`?",
        id="letter case",
    ),
    pytest.param(
        b"<agent-config/><agent_config/>",
        "unknown-element",
        1,
        1,
        "did you mean `agent_config`?",
        id="a dash",
    ),
    pytest.param(
        b"<agent_config/>\n <syscheck/>",
        "unknown-element",
        2,
        2,
        "put sections inside an `agent_config`",
        id="a section at the top",
    ),
    pytest.param(
        b"<agent_config>\n <agent_config/>\n</agent_config>",
        "nested-block",
        2,
        2,
        "close the block before this one opens",
        id="a block in a block",
    ),
    pytest.param(
        b"<agent_config>\n  <syschek/>\n</agent_config>",
        "unknown-section",
        2,
        3,
        "did you mean `syscheck`?",
        id="a misspelt section",
    ),
    pytest.param(
        b"<agent_config><LocalFile/></agent_config>",
        "unknown-section",
        1,
        15,
        "did you mean `localfile`?",
        id="other letter case of a section",
    ),
    pytest.param(
        b"<agent_config><client-buffer/></agent_config>",
        "unknown-section",
        1,
        15,
        "did you mean `client_buffer`?",
        id="a dash for an underscore",
    ),
    pytest.param(
        b"<agent_config><osquery/></agent_config>",
        "unknown-section",
        1,
        15,
        'write `<wodle name="osquery">`',
        id="a module as a section",
    ),
    pytest.param(
        b"<agent_config><aws_s3/></agent_config>",
        "unknown-section",
        1,
        15,
        'write `<wodle name="aws-s3">`',
        id="a misspelt module as a section",
    ),
    pytest.param(
        b"<agent_config><qqq/></agent_config>", "unknown-section", 1, 15, None, id="like nothing known"
    ),
    pytest.param(
        b'<agent_config>\n<wodle name="oscap"/></agent_config>',
        "unknown-module",
        2,
        8,
        "did you mean `open-scap`?",
        id="a misspelt module",
    ),
    pytest.param(
        b"<agent_config OS='Linux'/>",
        "unknown-selector",
        1,
        15,
        "did you mean `os`?",
        id="other letter case of a selector",
    ),
    pytest.param(
        b"<agent_config nmae='x'/>",
        "unknown-selector",
        1,
        15,
        "did you mean `name`?",
        id="a misspelt selector",
    ),
    pytest.param(
        b"<agent_config group='x'/>",
        "unknown-selector",
        1,
        15,
        "selectors are name, os, profile",
        id="no selector at all",
    ),
]


@pytest.mark.parametrize(("data", "rule", "line", "column", "suggestion"), REFUSED)
def test_each_fault_has_its_rule_place_and_suggestion(
    data: bytes, rule: str, line: int, column: int, suggestion: str | None
) -> None:
    (found,) = check_agent_conf(data, "web/agent.conf")
    assert (found.rule, found.line, found.column, found.suggestion) == (rule, line, column, suggestion)
    assert (found.path, found.severity) == ("web/agent.conf", ERROR)


@pytest.mark.parametrize("tag", [b"<wodle/>", b"<wodle x='1' name='osquery'/>", b"<wodle Name='osquery'/>"])
def test_a_module_is_named_by_its_first_attribute(tag: bytes) -> None:
    (found,) = check_agent_conf(b"<agent_config>" + tag + b"</agent_config>")
    assert found.rule == "module-without-name"
    assert found.severity == ERROR


def test_faults_of_structure_carry_the_path_and_stand_in_the_order_of_lines() -> None:
    found = check_agent_conf(
        b"<agent_config>\n<syscheck>\n<nonsense/>\n</agent_config>\n<x/>", "web/agent.conf"
    )
    assert [f.text() for f in found] == [
        "web/agent.conf:2:1: error: `syscheck` is not closed before `</agent_config>` on line 4;"
        " write `</syscheck>`, or `\\<` for a literal `<` [unclosed-element]",
        "web/agent.conf:3:1: error: `syscheck` has no option `nonsense`;"
        " it has no effect, and the stock check passes it [unknown-option]",
        "web/agent.conf:5:1: error: only `agent_config` may stand at the top, got `x`;"
        " put sections inside an `agent_config` [unknown-element]",
    ]


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        pytest.param(b"\0", 1, 1, id="alone"),
        pytest.param(b"<agent_config/>\n\0", 2, 1, id="at the beginning of a line"),
        pytest.param(b"<agent_config>\0</agent_config>\0", 1, 15, id="twice"),
        pytest.param("é\0".encode(), 1, 2, id="after a letter of two bytes"),
        pytest.param(b"\xef\xbb\xbf\0", 1, 1, id="after a byte order mark"),
        pytest.param(b"\xef\xbb\xbf\n \0", 2, 2, id="on the line after one with a byte order mark"),
    ],
)
def test_the_first_nul_is_a_fault_of_its_own(data: bytes, line: int, column: int) -> None:
    found = [finding for finding in check_agent_conf(data) if finding.rule == "nul-byte"]
    assert [(finding.line, finding.column) for finding in found] == [(line, column)]


SPELLINGS = st.sampled_from(
    ["localfile", "agent_config", "syscheck", "wodle", "name", "os", "x", "a_b"]
).flatmap(lambda word: st.sampled_from([word, word.upper(), word.title()]))


@given(
    st.lists(SPELLINGS, max_size=4)
    .flatmap(lambda words: st.permutations(words))
    .map(lambda words: "".join(f"<{word} {word}='{word}'>" for word in words) + "</agent_config>")
)
def test_any_document_gets_a_verdict(text: str) -> None:
    for finding in check_agent_conf(f"<agent_config>{text}".encode()):
        assert finding.message.isprintable()
        assert finding.line == 1
        assert finding.column >= 1


@given(st.sampled_from(sorted(options.sections())), st.data())
def test_letter_case_hides_no_section(name: str, data: st.DataObject) -> None:
    spelled = "".join(data.draw(st.sampled_from([letter, letter.upper()])) for letter in name)
    attributes = " name='osquery'" if spelled == "wodle" else ""
    found = check_agent_conf(f"<agent_config><{spelled}{attributes}/></agent_config>".encode())
    unknown = [(finding.rule, finding.suggestion) for finding in found if finding.rule == "unknown-section"]
    assert unknown == ([] if spelled == name else [("unknown-section", f"did you mean `{name}`?")])


def test_so_many_findings_are_told_and_the_gravest_are_never_dropped() -> None:
    command = b"<localfile><log_format>command</log_format><command>%d</command></localfile>\n"
    many = b"".join(command % number for number in range(MAX_TOLD + 5))
    found = check_agent_conf(b"<agent_config>\n" + many + b"<nonsense/></agent_config>")
    assert [finding.rule for finding in found].count("remote-command") == MAX_TOLD - 1
    assert [finding.rule for finding in found if finding.severity == ERROR] == ["unknown-section"]
    last = found[-1]
    assert (last.rule, last.severity, last.message) == ("more-findings", NOTE, "6 more findings are not told")


def test_suggestions_are_made_for_so_many_names_and_not_for_a_document_of_nothing_else() -> None:
    many = "".join(f"<frequency{number}/>" for number in range(900)).encode()
    found = check_agent_conf(b"<agent_config><syscheck>" + many + b"</syscheck></agent_config>")
    assert [finding.rule for finding in found] == ["unknown-option"] * 900
    assert sum(finding.suggestion is not None for finding in found) == 300
