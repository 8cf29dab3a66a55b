"""Lint and effective configuration read one document the same way: what one calls an error the other does not use."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Element, read
from mgmtctl.domain.agent_conf_check import check_agent_conf
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.effective import effective
from mgmtctl.domain.effective_values import (
    BAD_VALUE,
    LOCAL_ONLY,
    MANAGER_ONLY,
    NO_EFFECT,
    SECOND,
    STOPPED,
    UNKNOWN,
    UNREADABLE,
    Effective,
    Ignored,
)
from mgmtctl.domain.findings import ERROR, NOTE, Finding
from mgmtctl.domain.options import Entry
from tests.domain.test_agent_conf_places import every

NOBODY = AgentFacts("001", "nobody")  # of whom nothing is known: what is ignored is the fault of the document
FAULTS = (UNREADABLE, UNKNOWN, MANAGER_ONLY, LOCAL_ONLY, BAD_VALUE)
# a stop follows from a fault that is told by itself
ODDITIES = (NO_EFFECT, SECOND)  # it does not count, and nothing is lost: lint warns at least


def reading(data: bytes) -> Effective:
    """What an agent of which nothing is known makes of the document alone."""
    return effective(None, [("web", "web/agent.conf", read(data))], NOBODY)


def unsaid(data: bytes) -> list[Ignored]:
    """What is ignored for a reason of the document, and lint has nothing grave enough to say about it."""
    findings = check_agent_conf(data)
    lines = {(element.line, element.column): _lines(element, data) for element in every(read(data).elements)}
    return [
        one
        for one in reading(data).ignored
        if not _said(one, findings, lines.get(one.origin[2:], range(one.origin.line, one.origin.line + 1)))
    ]


def _lines(element: Element, data: bytes) -> range:
    """Those that it stands on: a block may be ignored for what it holds."""
    source = data.decode(errors="surrogateescape")
    return range(element.line, element.line + source.count("\n", element.start, element.end) + 1)


def _said(one: Ignored, findings: list[Finding], lines: range) -> bool:
    severities = {finding.severity for finding in findings if finding.line in lines}
    if one.reason in FAULTS:
        return ERROR in severities or (_in_doubt(one.path) and bool(severities - {NOTE}))
    return one.reason not in ODDITIES or bool(severities - {NOTE})


def _in_doubt(path: str) -> bool:
    """Whether the vocabulary is not sure of the entry, or of the nearest one around a name that it does not know."""
    entry = options.find(path)
    while entry is None and (cut := max(path.rfind("."), path.rfind("@"))) > 0:
        path = path[:cut]
        entry = options.find(path)
    return entry is not None and not entry.certain


SECTIONS = [name for name in options.sections() if name != options.MODULE_SECTION]
WORDS = st.sampled_from(
    ["yes", "no", "", " yes ", "YES", "10", "-1", "99999999", "1d", "10minutes", "/etc", "/a,/b", "syslog", "monday"]
)  # fmt: skip


def spelled(name: str) -> st.SearchStrategy[str]:
    """The name, and now and then another spelling of it."""
    others = [name.upper(), name.replace("-", "_"), name.replace("_", "-"), f"{name}x", "nonsense"]
    return st.just(name) | st.just(name) | st.sampled_from(others)


def attributes(entry: Entry) -> st.SearchStrategy[str]:
    if not entry.attributes:
        return st.sampled_from(["", "", "", ' odd="1"'])
    names = st.lists(st.sampled_from(sorted(entry.attributes)).flatmap(spelled), max_size=2, unique=True)
    written = names.flatmap(lambda chosen: st.tuples(*(st.tuples(st.just(name), WORDS) for name in chosen)))
    return written.map(lambda pairs: "".join(f' {name}="{value}"' for name, value in pairs))


def content(entry: Entry) -> st.SearchStrategy[str]:
    """What may stand in a block: some of its options, each on a line of its own, or a word."""
    if not entry.options:
        return WORDS
    one = st.sampled_from(sorted(entry.options)).flatmap(lambda name: written(entry.options[name]))
    return st.lists(one, max_size=4).map(lambda lines: "".join(f"\n{line}" for line in lines) + "\n")


def written(entry: Entry, name: str | None = None, first: str = "") -> st.SearchStrategy[str]:
    def form(parts: tuple[str, str, str]) -> str:
        spelling, told, inner = parts
        return f"<{spelling}{first}{told}>{inner}</{spelling}>"

    return st.tuples(spelled(name or entry.name), attributes(entry), content(entry)).map(form)


def section(name: str) -> st.SearchStrategy[str]:
    entry = options.section(name)
    assert entry is not None
    return written(entry)


def module(name: str) -> st.SearchStrategy[str]:
    entry = options.module(name)
    assert entry is not None
    return spelled(name).flatmap(lambda said: written(entry, options.MODULE_SECTION, f' name="{said}"'))


ONE = st.sampled_from(SECTIONS).flatmap(section) | st.sampled_from(list(options.modules())).flatmap(module)
DOCUMENTS = st.lists(ONE, min_size=1, max_size=3).map(
    lambda parts: "<agent_config>\n{}\n</agent_config>\n".format("\n".join(parts)).encode()
)
SLOW = settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(DOCUMENTS)
def test_what_is_ignored_for_a_reason_of_the_document_is_an_error_of_lint(data: bytes) -> None:
    assert unsaid(data) == []
    reasons = {one.reason for one in reading(data).ignored}
    assert STOPPED not in reasons or reasons & set(FAULTS)


@SLOW
@given(DOCUMENTS)
def test_a_document_without_findings_is_used_whole(data: bytes) -> None:
    if any(finding.severity != NOTE for finding in check_agent_conf(data)):
        return
    assert [one for one in reading(data).ignored if one.reason in (*FAULTS, *ODDITIES, STOPPED)] == []


@pytest.mark.parametrize(
    ("inside", "reason"),
    [
        pytest.param("<syscheck>\n<scan-on-start>no</scan-on-start></syscheck>", UNKNOWN, id="an unknown option"),
        pytest.param("\n<nonsense/>", UNKNOWN, id="an unknown section"),
        pytest.param('\n<wodle name="oscap"></wodle>', UNKNOWN, id="an unknown module"),
        pytest.param("\n<global></global>", MANAGER_ONLY, id="a section of managers"),
        pytest.param("\n<active-response></active-response>", LOCAL_ONLY, id="a section of the local file"),
        pytest.param("<client>\n<notify_time>5</notify_time></client>", LOCAL_ONLY, id="an option of the local file"),
        pytest.param("<sca>\n<enabled>no</sca>", UNREADABLE, id="an element that is not closed"),
    ],
)  # fmt: skip
def test_both_find_the_same_fault_on_its_line(inside: str, reason: str) -> None:
    data = f"<agent_config>{inside}</agent_config>".encode()
    assert [(one.reason, one.origin.line) for one in reading(data).ignored if one.reason == reason] == [
        (reason, 2)
    ]
    assert ERROR in {f.severity for f in check_agent_conf(data) if f.line == 2}
    assert unsaid(data) == []


@pytest.mark.parametrize("name", SECTIONS)
def test_every_section_alone_is_judged_alike(name: str) -> None:
    assert unsaid(f"<agent_config>\n<{name}>\n</{name}>\n</agent_config>".encode()) == []


@pytest.mark.parametrize("path", sorted(entry.path for entry in options.every() if "@" not in entry.path))
def test_every_option_with_an_odd_value_is_judged_alike(path: str) -> None:
    entry = options.find(path)
    assert entry is not None
    if entry.kind != options.OPTION:
        return
    head, *rest = path.removeprefix("wodle.").split(".")
    named = path.startswith("wodle.") or options.section(head) is None
    opening = f'<wodle name="{head}">' if named else f"<{head}>"
    inner = (
        "".join(f"\n<{step}>" for step in rest) + "\u00bf" + "".join(f"</{step}>" for step in reversed(rest))
    )
    data = f"<agent_config>{opening}{inner}</{'wodle' if named else head}></agent_config>".encode()
    assert unsaid(data) == []
