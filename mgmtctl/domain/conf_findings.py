"""How a fault in an agent.conf becomes a finding: its place, how grave it is, and what follows from it (D 6).

Rules: what a reader rejects, or what silently does not apply, is an error; what rests on an uncertain fact is at most
a warning; the consequence is part of the message.
"""

from __future__ import annotations

from mgmtctl.domain.agent_conf import Attribute, Element
from mgmtctl.domain.findings import ERROR, WARNING, Finding
from mgmtctl.domain.options import Entry

_CONSEQUENCES = {
    "rejected": "agents refuse the file",
    "warned": "it has no effect, and the stock check passes it",
    "ignored": "it has no effect, and the stock check passes it",
    "unchecked": "the stock check passes it, and agents of its system refuse the file",
}
# Not certain is only on which systems they run, or what two of them do: how they are read is (agent_options.md).
_READ_FOR_SURE = ("wodle.open-scap", "wodle.cis-cat", "socket")


def consequence(effect: str | None) -> str:
    """What follows from a fault, after its message."""
    return f"; {_CONSEQUENCES[effect]}" if effect in _CONSEQUENCES else ""


def gravest(entry: Entry, certain: bool = True) -> str:
    """The severity of a fault of names or values that rests on the entry."""
    known = entry.certain or any(entry.path.startswith(f"{path}.") for path in _READ_FOR_SURE)
    return ERROR if certain and (known or entry.path in _READ_FOR_SURE) else WARNING


def at(
    place: Element | Attribute,
    rule: str,
    severity: str,
    message: str,
    suggestion: str | None = None,
) -> Finding:
    """A finding at an element or an attribute."""
    return Finding(rule, severity, message, "", place.line, place.column, suggestion)


def at_value(
    element: Element, rule: str, severity: str, message: str, suggestion: str | None = None
) -> Finding:
    """A finding at the value of an element, or at the element when it has none."""
    line, column = element.value_place()
    return Finding(rule, severity, message, "", line, column, suggestion)
