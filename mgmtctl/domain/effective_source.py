"""The text that an agent reads, as it stands in the files: the blocks that are for it, one after another.

Rules: nothing is reformatted; where secrets must not be shown, what holds one is replaced and comments, which may hold
one too, are left out. Under an unknown name everything that sounds like a secret counts as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mgmtctl.domain.agent_conf import Document, Element
from mgmtctl.domain.conf_tree import placed

MASK = "******"
_COMMENT = re.compile(r"<!.*?(?:-->|!>)\n?", re.DOTALL)
_SOUNDS_SECRET = re.compile("pass|secret|token|key|credential", re.IGNORECASE)


def source(document: Document, element: Element, sections: Iterable[Element], *, hide: bool) -> str:
    """The text of an element, which holds these sections; with `hide` without secrets."""
    if not hide:
        return document.source[element.start : element.end]
    parts, at = [], element.start
    for secret in (found for section in sections for found in _secrets(section)):
        parts += [document.source[at : secret.start], f"<{secret.name}>{MASK}</{secret.name}>"]
        at = secret.end
    parts.append(document.source[at : element.end])
    return _COMMENT.sub("", "".join(parts))


def _secrets(section: Element) -> Iterator[Element]:
    """The elements that hold a secret, in file order, none inside another."""
    for element, entry, _ in placed(section):
        if entry is None:
            yield from _sounding(element)
        elif entry.secret:
            yield element


def _sounding(element: Element) -> Iterator[Element]:
    # Deep nesting is bounded by the reader, and may be deeper than calls can go.
    waiting = [element]
    while waiting:
        found = waiting.pop()
        if _SOUNDS_SECRET.search(found.name):
            yield found
        else:
            waiting.extend(reversed(found.children))
