"""Which agents a block of agent.conf is for: its attributes name, os and profile, matched against an agent (S 2.10, D
6).

Rules: a value is an RE2 pattern searched without regard to case, a leading `!` negates it, all given ones must match,
no attribute is every agent. What is not known of an agent matches nothing, not even `!x`, and is `unknown`, never
`no`. The public system reads the same values as a list of substrings: `read_as_list` is that other reading, for lint.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from mgmtctl.domain.agent_conf import Element
from mgmtctl.domain.agent_facts import AgentFacts

SELECTORS = ("name", "os", "profile")
YES, NO, UNKNOWN = "yes", "no", "unknown"
_MAX_LISTED = 20480  # bytes of a value; the public system matches nothing with a longer one
_ENGINE_MEMORY = 1 << 20


class Match(NamedTuple):
    """What one attribute of a block says about an agent: `subject` is what its `value` was compared with."""

    attribute: str
    value: str
    verdict: str
    subject: tuple[str, ...] | None


class BlockMatch(NamedTuple):
    """Whether a block is for an agent, with the verdict of each of its selectors."""

    verdict: str
    matches: tuple[Match, ...]


def block_match(block: Element, agent: AgentFacts) -> BlockMatch:
    """Whether the block is for the agent; `unknown` when it may be and that is not known."""
    selectors = {found.name: found.value for found in block.attributes if found.name in SELECTORS}
    return selected(selectors, agent)


def selected(selectors: Mapping[str, str], agent: AgentFacts) -> BlockMatch:
    """The same for selectors by attribute name."""
    matches = tuple(_match(name, value, agent) for name, value in selectors.items())
    verdicts = {match.verdict for match in matches}
    return BlockMatch(NO if NO in verdicts else UNKNOWN if UNKNOWN in verdicts else YES, matches)


def subjects(attribute: str, agent: AgentFacts) -> tuple[str, ...] | None:
    """What the attribute is compared with: each text by itself; None when it is not known (D 6)."""
    if attribute == "name":
        return (agent.name,)
    if attribute == "os":
        return None if agent.os_text is None else (agent.os_text,)
    return agent.profiles


def _match(attribute: str, value: str, agent: AgentFacts) -> Match:
    found = subjects(attribute, agent)
    return Match(attribute, value, UNKNOWN if found is None else _verdict(value, found), found)


@functools.lru_cache(maxsize=1 << 16)  # agents of one system report the same text
def _verdict(value: str, texts: tuple[str, ...]) -> str:
    pattern = compiled(value)
    if pattern is None:
        return NO
    found = any(pattern.search(text) for text in texts)
    return YES if found != value.startswith("!") else NO


@functools.lru_cache(maxsize=4096)
def compiled(value: str) -> Any:
    """The RE2 pattern of a value, without its `!`; None when it is none."""
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _ENGINE_MEMORY
    try:
        return re2.compile(value.removeprefix("!"), options)
    except (re2.error, UnicodeEncodeError):
        return None


def pattern_problem(value: str) -> str | None:
    """Why a value is no pattern, as the engine says it; None when it is one."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _ENGINE_MEMORY
    try:
        re2.compile(value.removeprefix("!"), options)
    except re2.error as error:
        reason = error.args[0]
        return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    except UnicodeEncodeError:
        return "it is not valid UTF-8"
    return None


def listed_subject(attribute: str, agent: AgentFacts) -> str | None:
    """What the public system compares the attribute with: profiles as one text, `-` for none (groups.md 4.1)."""
    found = subjects(attribute, agent)
    if found is None:
        return None
    return ", ".join(found) or "-"


def read_as_list(value: str, subject: str) -> bool:
    """What the public system makes of a value: alternatives between `|`, each a substring unless `^` or `$` tie it to
    an end; a leading `!` negates all; ASCII letter case does not count (groups.md 4.1).
    """
    if len(value.encode(errors="surrogateescape")) > _MAX_LISTED:
        return False
    text = _folded(subject)
    found = any(_alternative(part, text) for part in _folded(value.removeprefix("!")).split("|"))
    return found != value.startswith("!")


def _alternative(part: str, text: str) -> bool:
    start, end = part.startswith("^"), part.endswith("$") and part != "^"
    body = part[start : len(part) - end if end else None]
    if start and end:
        return text == body or not body
    if start:
        return text.startswith(body)
    return text.endswith(body) if end else body in text


def _folded(text: str) -> str:
    return "".join(c.lower() if c.isascii() else c for c in text)
