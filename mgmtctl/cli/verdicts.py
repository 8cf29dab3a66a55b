"""How a rule and what it made of a context read: the same tree wherever rules are explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mgmtctl.domain.trace import Trace

_INDENT = "  "


def tree(
    title: str, verdict: str, trace: Trace | None, roles: Sequence[str] = (), why: str = ""
) -> list[str]:
    """The lines of one rule: its verdict, where a true one leads, or why it has none, and its nodes below."""
    from mgmtctl.domain.trace import WIDTH

    came = f" -> {', '.join(roles)}" if verdict == "true" and roles else ""
    nodes = trace.lines(WIDTH - len(_INDENT)) if trace is not None else []
    return [f"{title}  {verdict}{came}{f': {why}' if why else ''}", *(f"{_INDENT}{line}" for line in nodes)]
