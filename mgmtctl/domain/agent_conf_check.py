"""Whether an agent.conf may enter a group and be pushed (S 2.10, 3.2 rule 6; D 6).

Rules: every fault at once, each with its place and rule name (domain/conf_rules.py explains them); letter case hides
nothing; severity as D 6 says. What is judged inside a section stands in domain/conf_options.py, and what rests on the
agents that would get the document in domain/conf_targets.py. Work is linear, and so many findings are told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Element, place, read
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.conf_findings import at
from mgmtctl.domain.conf_options import Judge, section_findings, stray_text
from mgmtctl.domain.conf_targets import target_findings
from mgmtctl.domain.conf_tree import section_of
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.options import MODULE_SECTION, ROOT, VARIABLE
from mgmtctl.domain.selectors import SELECTORS

MAX_TOLD = 1000  # findings; one more says what the others are
_GRAVITY = (ERROR, WARNING, NOTE)
# The tag that a merged file may begin with, and the size and name of its first file.
_MERGED = re.compile(rb"(?:#[^\n]*\n)?![0-9]+ [^\n]+\n")
_WRITE_A_BLOCK = f"write one `<{ROOT}>` block"


def check_agent_conf(
    data: bytes, path: str = "agent.conf", agents: Sequence[AgentFacts] | None = None
) -> list[Finding]:
    """What is wrong with the document, in the order of its lines; `path` is what the findings call it.

    `agents` are those that would get it; None: they are not known, and what rests on them is not judged.
    """
    if not data:
        return [Finding("empty-document", ERROR, "the file is empty", path, 1, 1, _WRITE_A_BLOCK)]
    document = read(data)
    faults = document.findings
    if _MERGED.match(data):
        faults = (_merged(), *(found for found in faults if found.rule != "stray-text"))
    found = [*faults, *_blocks(document.elements), *target_findings(document.elements, agents)]
    return [replace(finding, path=path) for finding in _told(sorted(found, key=place))]


def _merged() -> Finding:
    problem = "the file begins as a merged file, and not as an agent.conf"
    return Finding("merged-file", WARNING, problem, "", 1, 1, "mgmtctl files validate --as merged.mg")


def _told(findings: list[Finding]) -> list[Finding]:
    """The findings, the gravest first kept when there are too many; one at the end stands for the rest."""
    if len(findings) <= MAX_TOLD:
        return findings
    by_gravity = sorted(findings, key=lambda finding: _GRAVITY.index(finding.severity))
    kept, rest = sorted(by_gravity[:MAX_TOLD], key=place), by_gravity[MAX_TOLD:]
    first = min(rest, key=place)
    message = f"{len(rest)} more findings are not told"
    return [*kept, Finding("more-findings", rest[0].severity, message, "", first.line, first.column)]


def _blocks(roots: Iterable[Element]) -> Iterator[Finding]:
    roots = list(roots)
    judge = Judge(variables=any(_variables(roots)))
    blocks = 0
    for element in roots:
        if element.name == ROOT:
            blocks += 1
            judge.repeats.begin()
            yield from _selectors(element, judge)
            yield from stray_text(element)
            for section in element.children:
                yield from _section(section, judge)
        elif element.name != VARIABLE:
            yield _unknown_root(element, judge)
    if not blocks:
        yield Finding("no-agent-config", ERROR, f"no `{ROOT}` stands in the file", "", 1, 1, _WRITE_A_BLOCK)


def _variables(roots: Iterable[Element]) -> Iterator[bool]:
    for root in roots:
        yield root.name == VARIABLE
        yield any(child.name == VARIABLE for child in root.children)


def _unknown_root(element: Element, judge: Judge) -> Finding:
    suggestion = judge.suggestions.root(element.name) or f"put sections inside an `{ROOT}`"
    problem = f"only `{ROOT}` may stand at the top, got {quoted(element.name)}"
    return at(element, "unknown-element", ERROR, problem, suggestion)


def _selectors(block: Element, judge: Judge) -> Iterator[Finding]:
    """An attribute that is no selector selects nothing: the block applies to agents it was not meant for."""
    for attribute in block.attributes:
        known = options.block_attributes().get(attribute.name)
        if known is None:
            suggestion = judge.suggestions.attribute(attribute.name, SELECTORS, "selectors")
            problem = (
                f"{quoted(attribute.name)} selects nothing, so the block applies to agents it does not name"
            )
            yield at(attribute, "unknown-selector", ERROR, problem, suggestion)
        elif known.facts.get("no_effect"):
            problem = f"{quoted(attribute.name)} has no effect any more"
            yield at(attribute, "deprecated", WARNING, problem, "leave it out")


def _section(section: Element, judge: Judge) -> Iterator[Finding]:
    if section.name == VARIABLE:
        return
    if section.name == ROOT:
        problem = f"`{ROOT}` stands inside another one"
        yield at(section, "nested-block", ERROR, problem, "close the block before this one opens")
        return
    entry = section_of(section)
    if entry is not None:
        yield from section_findings(section, entry, judge)
    elif section.name == MODULE_SECTION:
        yield _unknown_module(section, judge)
    else:
        problem = f"no section is called {quoted(section.name)}; agents refuse the file"
        suggestion = judge.suggestions.section(section.name)
        yield at(section, "unknown-section", ERROR, problem, suggestion)


def _unknown_module(section: Element, judge: Judge) -> Finding:
    """The first attribute must be `name`, and name a module (agent_options: wodle)."""
    if not section.attributes or section.attributes[0].name != "name":
        known = [name for name, where in options.modules().items() if where == options.ALLOWED]
        problem = f"expected `name` as the first attribute of `{MODULE_SECTION}`; agents refuse the file"
        suggestion = f'write `<{MODULE_SECTION} name="...">` with one of {", ".join(known)}'
        return at(section, "module-without-name", ERROR, problem, suggestion)
    name = section.attributes[0]
    problem = f"no module is called {quoted(name.value)}, so the section has no effect"
    return at(name, "unknown-module", ERROR, problem, judge.suggestions.module(name.value))
