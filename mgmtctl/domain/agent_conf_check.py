"""Whether an agent.conf may enter a group and be pushed (S 2.10, 3.2 rule 6; D 6).

Rules: every fault at once, each with its place and rule name; letter case hides nothing; severity as D 6 says. The
structure is looked at, the blocks with their selectors, and the names of sections; a section that only the manager
or the local configuration heeds is a known name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from mgmtctl.domain.agent_conf import Element, place, read
from mgmtctl.domain.data.sections import MODULE_SECTION, MODULES, ROOT, SECTIONS, SELECTORS, VARIABLE
from mgmtctl.domain.findings import ERROR, Finding
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.resources import closest


def check_agent_conf(data: bytes, path: str = "agent.conf") -> list[Finding]:
    """What is wrong with the document, in the order of its lines; `path` is what the findings call it."""
    if not data:
        return [Finding("empty-document", ERROR, "the file is empty", path, 1, 1, _WRITE_A_BLOCK)]
    document = read(data)
    findings = [*document.findings, *_blocks(document.elements)]
    return [replace(finding, path=path) for finding in sorted(findings, key=place)]


def _blocks(roots: Iterable[Element]) -> Iterator[Finding]:
    blocks = 0
    for element in roots:
        if element.name == ROOT:
            blocks += 1
            yield from _selectors(element)
            yield from _sections(element)
        elif element.name != VARIABLE:
            yield _unknown_root(element)
    if not blocks:
        yield Finding("no-agent-config", ERROR, f"no `{ROOT}` stands in the file", "", 1, 1, _WRITE_A_BLOCK)


def _unknown_root(element: Element) -> Finding:
    meant = _meant(element.name, (ROOT,))
    suggestion = meant or f"put sections inside an `{ROOT}`"
    problem = f"only `{ROOT}` may stand at the top, got {quoted(element.name)}"
    return Finding("unknown-element", ERROR, problem, "", element.line, element.column, suggestion)


def _selectors(block: Element) -> Iterator[Finding]:
    """An attribute that is no selector selects nothing: the block applies to agents it was not meant for."""
    for attribute in block.attributes:
        if attribute.name not in SELECTORS:
            known = SELECTORS[:3]
            suggestion = _meant(attribute.name, known) or f"selectors are {', '.join(known)}"
            problem = (
                f"{quoted(attribute.name)} selects nothing, so the block applies to agents it does not name"
            )
            yield Finding(
                "unknown-selector", ERROR, problem, "", attribute.line, attribute.column, suggestion
            )


def _sections(block: Element) -> Iterator[Finding]:
    for section in block.children:
        if section.name == MODULE_SECTION:
            yield from _module(section)
        elif section.name == ROOT:
            problem = f"`{ROOT}` stands inside another one"
            suggestion = "close the block before this one opens"
            yield Finding("nested-block", ERROR, problem, "", section.line, section.column, suggestion)
        elif section.name not in SECTIONS and section.name != VARIABLE:
            meant = _meant(section.name, SECTIONS) or _meant_module(section.name)
            problem = f"no section is called {quoted(section.name)}"
            yield Finding("unknown-section", ERROR, problem, "", section.line, section.column, meant)


def _module(section: Element) -> Iterator[Finding]:
    """The first attribute must be `name`, and name a module (agent_options: wodle)."""
    if not section.attributes or section.attributes[0].name != "name":
        problem = f"expected `name` as the first attribute of `{MODULE_SECTION}`"
        suggestion = f'write `<{MODULE_SECTION} name="...">` with one of {", ".join(MODULES)}'
        yield Finding("module-without-name", ERROR, problem, "", section.line, section.column, suggestion)
        return
    name = section.attributes[0]
    if name.value not in MODULES:
        problem = f"no module is called {quoted(name.value)}, so the section has no effect"
        yield Finding(
            "unknown-module", ERROR, problem, "", name.line, name.column, _meant(name.value, MODULES)
        )


def _meant(word: str, words: Iterable[str]) -> str | None:
    """A suggestion; `-` and `_` and letter case count as equal when looking for it."""
    by_folded = {_folded(known): known for known in words}
    near = closest(_folded(word)[:_LONGEST], by_folded)
    return f"did you mean `{by_folded[near]}`?" if near else None


def _meant_module(word: str) -> str | None:
    """A module written as a section of its own."""
    folded = {_folded(known): known for known in MODULES}
    module = folded.get(_folded(word))
    return f'write `<{MODULE_SECTION} name="{module}">`' if module else None


def _folded(word: str) -> str:
    return word.casefold().replace("_", "-")


_LONGEST = 64  # a longer word resembles none, and comparing costs
_WRITE_A_BLOCK = f"write one `<{ROOT}>` block"
