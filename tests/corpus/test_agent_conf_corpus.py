"""Every real agent.conf through reader, lint and effective configuration; what lint finds in it is what the tables in
docs/agent-conf-corpus.md say, where each row was judged by reading the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from mgmtctl.domain.agent_conf import Element, read
from mgmtctl.domain.agent_conf_check import check_agent_conf
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.effective import effective
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding
from tests.conftest import CORPUS, ROOT
from tests.domain.test_agent_conf_consistency import NOBODY, unsaid
from tests.domain.test_agent_conf_places import every, standing

FOLDER = CORPUS / "agent_conf"
PAGE = ROOT / "docs" / "agent-conf-corpus.md"
WORKS, PARTLY = "works", "works, but not all of it"
SEVERITIES = (ERROR, WARNING, NOTE)
Row = tuple[str, str, str]  # rule, severity, lines

# works for agents, and is no XML: `&` and `>` stand for themselves, dashes may stand in comments
NO_XML = {"009", "013", "081", "152", "154"}
Tree = tuple[str, list["Tree"]]

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="corpus not here")


def rows(columns: int) -> Iterator[list[str]]:
    """Those of the table with so many columns."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == columns and cells[0].isdigit():
            yield cells


FILES = {cells[0]: cells for cells in rows(6)}
PATHS = {path.name[:3]: path for path in sorted(FOLDER.iterdir())} if FOLDER.is_dir() else {}
NUMBERS = sorted(PATHS)
READABLE = [number for number in NUMBERS if FILES.get(number, [""])[-1] in (WORKS, PARTLY)]


def found(number: str) -> list[Finding]:
    return check_agent_conf(PATHS[number].read_bytes(), PATHS[number].name)


def spans(lines: set[int]) -> str:
    """`3, 5-7`."""
    firsts = [line for line in sorted(lines) if line - 1 not in lines]
    lasts = [line for line in sorted(lines) if line + 1 not in lines]
    return ", ".join(f"{a}-{b}" if b > a else str(a) for a, b in zip(firsts, lasts, strict=True))


def counted(findings: list[Finding]) -> set[Row]:
    kinds = {(finding.rule, finding.severity) for finding in findings}
    return {
        (rule, severity, spans({f.line for f in findings if (f.rule, f.severity) == (rule, severity)}))
        for rule, severity in kinds
    }


def test_the_tables_have_every_file() -> None:
    assert sorted(FILES) == NUMBERS
    assert len(NUMBERS) == 86
    assert all(cells[-1] for cells in rows(5)), "a row without a verdict"


@pytest.mark.parametrize("number", NUMBERS)
def test_lint_finds_what_the_tables_say(number: str) -> None:
    findings = found(number)
    assert counted(findings) == {(c[1], c[2], c[3]) for c in rows(5) if c[0] == number}
    told = [str(sum(finding.severity == severity for finding in findings)) for severity in SEVERITIES]
    assert FILES[number][2:5] == told


@pytest.mark.parametrize("number", NUMBERS)
def test_no_file_that_works_has_an_error_and_every_other_has_one(number: str) -> None:
    errors = [finding for finding in found(number) if finding.severity == ERROR]
    assert (not errors) == (FILES[number][-1] == WORKS)


def test_the_sums_are_those_of_the_tables() -> None:
    sums = [sum(int(cells[column]) for cells in FILES.values()) for column in (2, 3, 4)]
    clean = [number for number, cells in FILES.items() if cells[2] == "0"]
    silent = [number for number in clean if FILES[number][3:5] == ["0", "0"]]
    said = (
        f"86 files: {len(clean)} without an error ({len(silent)} without any finding), {86 - len(clean)} with "
        f"{sums[0]} errors; {sums[1]} warnings and {sums[2]} notes in all."
    )
    assert said in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_real_file_keeps_its_bytes_and_its_places(number: str) -> None:
    data = PATHS[number].read_bytes()
    document = read(data)
    assert document.encode() == data
    for element in every(document.elements):
        assert standing(document, element.line, element.column).startswith(f"<{element.name}")
    for finding in found(number):
        standing(document, finding.line, finding.column)


@pytest.mark.parametrize("number", NUMBERS)
def test_effective_configuration_and_lint_agree_on_a_real_file(number: str) -> None:
    assert unsaid(PATHS[number].read_bytes()) == []


@pytest.mark.parametrize("system", ["linux", "windows", "macos", "solaris"])
@pytest.mark.parametrize("number", NUMBERS)
def test_every_agent_gets_something_out_of_every_file(number: str, system: str) -> None:
    document = read(PATHS[number].read_bytes())
    for version in ((4, 0, 0), (4, 14, 0)):
        agent = AgentFacts(
            "001", "agent1", system, f"{system} - v{version[0]}.{version[1]}", version, ("web",)
        )
        result = effective(None, [("a", "a/agent.conf", document), ("b", "b/agent.conf", document)], agent)
        lines = document.source.count("\n") + 1
        assert all(1 <= value.origin.line <= lines for value in result.values)


@pytest.mark.parametrize("number", READABLE)
def test_nothing_is_ignored_in_a_file_that_works(number: str) -> None:
    result = effective(None, [("web", "web/agent.conf", read(PATHS[number].read_bytes()))], NOBODY)
    ignored = {one.reason for one in result.ignored} - {"replaced", "no-effect"}
    assert not ignored or FILES[number][-1] == PARTLY


def _tree(element: Element) -> Tree:
    return element.name, [_tree(child) for child in element.children]


def _strict_tree(element: ElementTree.Element) -> Tree:
    return element.tag, [_strict_tree(child) for child in element]


@pytest.mark.parametrize("number", READABLE)
def test_a_strict_reader_sees_the_same_elements_where_it_can_read(number: str) -> None:
    data = PATHS[number].read_bytes()
    wrapped = b"<all>" + data + b"</all>"
    if number in NO_XML:
        with pytest.raises(ElementTree.ParseError):
            ElementTree.fromstring(wrapped)  # noqa: S314  real files, read by a test
        return
    strict = ElementTree.fromstring(wrapped)  # noqa: S314
    assert [_tree(element) for element in read(data).elements] == [
        _strict_tree(element) for element in strict
    ]
