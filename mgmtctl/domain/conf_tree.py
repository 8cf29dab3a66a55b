"""The tree of an agent.conf with what is known of each element: one way to look names up, for lint, effective and
guards.

Rules: a name is looked up where it stands (a section, a module by its `name`, an option of what it lies in), exactly
as the readers do; an alias leads to the option it stands for, and letter case counts unless the vocabulary says
otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Attribute, Element
from mgmtctl.domain.options import MODULE_SECTION, ROOT, Entry


class Placed(NamedTuple):
    """One element and its entry: None when no entry has its name there. `inside` is the entry of what it lies in."""

    element: Element
    entry: Entry | None
    inside: Entry | None


def blocks(roots: Iterable[Element]) -> Iterator[Element]:
    """The blocks (`agent_config`) of a document, in file order."""
    return (element for element in roots if element.name == ROOT)


def section_of(element: Element) -> Entry | None:
    """The entry of a section as it stands in a block; for a module section that of the module its first attribute
    names.
    """
    if element.name != MODULE_SECTION:
        return options.section(element.name)
    first = element.attributes[0] if element.attributes else None
    return options.module(first.value) if first is not None and first.name == "name" else None


def option_of(element: Element, inside: Entry) -> Entry | None:
    """The entry of an option by its name, or the one that its alias stands for."""
    found = inside.options.get(element.name)
    if found is None:
        lowered = element.name.casefold()
        if lowered in inside.facts.get("name_case", {}).get("any", ()):
            found = inside.options.get(lowered)
    return found


def attribute_of(attribute: Attribute, entry: Entry) -> Entry | None:
    """The entry of an attribute by its name."""
    return entry.attributes.get(attribute.name)


def placed(section: Element) -> Iterator[Placed]:
    """The section and every element inside it, in file order; what lies inside an unknown one is not looked into."""
    entry = section_of(section)
    yield Placed(section, entry, None)
    if entry is not None:
        yield from _inside(section, entry)


def _inside(element: Element, entry: Entry) -> Iterator[Placed]:
    if not entry.options:
        return
    for child in element.children:
        found = option_of(child, entry)
        yield Placed(child, found, entry)
        if found is not None:
            yield from _inside(child, found)
