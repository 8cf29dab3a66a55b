"""What is wrong with the selectors of blocks themselves: no pattern, read otherwise by the public system, unused.

Rules: the two readings are compared on the agents of the group, or on texts made from the selector when these are not
known; only a text that both were really tried on is a reason for a finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from mgmtctl.domain.agent_conf import Attribute
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.conf_crowd import Crowd
from mgmtctl.domain.conf_systems import samples
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.selectors import (
    YES,
    listed_subject,
    pattern_problem,
    read_as_list,
    selected,
)

_LONGEST = 60  # characters of an example
_DRAWN = 40  # alternatives of a selector that examples are made of


def selector_findings(selectors: Iterable[Attribute], crowd: Crowd | None) -> Iterator[Finding]:
    """What is wrong with each of these selectors; `crowd`: the agents of the group, if it has any that are known."""
    for selector in selectors:
        problem = pattern_problem(selector.value)
        if problem is not None:
            text = f"{quoted(selector.value)} is no pattern and matches nobody: {quoted(problem)[1:-1]}"
            hint = "write a regular expression as RE2 knows it (no look-around, no back-reference)"
            yield _finding("bad-selector", ERROR, text, selector, hint)
            continue
        yield from _two_readings(selector, crowd)
        if selector.name == "profile" and crowd is not None:
            yield from _unknown_profiles(selector, crowd)


def _two_readings(selector: Attribute, crowd: Crowd | None) -> Iterator[Finding]:
    if _same(selector):
        return
    if crowd is None:
        example = next(filter(None, (_differs(selector, agent) for agent in _drawn(selector))), None)
    else:
        example = _among(selector, crowd)
    if example is not None:
        text = (
            f"{quoted(selector.value)} is a pattern here and a list of substrings to other readers: {example}"
        )
        yield _finding("read-as-list", WARNING, text, selector, _HINT)


def _among(selector: Attribute, crowd: Crowd) -> str | None:
    """An example among the agents of the group that may be named."""
    here = crowd.verdict(selector.name, selector.value)
    there = crowd.verdict(selector.name, selector.value, listed=True)
    differing = (here.yes ^ there.yes) & ~(here.unknown | there.unknown) & crowd.named
    for agent in crowd.members(differing):
        example = _differs(selector, agent)
        if example is not None:
            return f"agent {agent.id}, {example}"
    return None


def _differs(selector: Attribute, agent: AgentFacts) -> str | None:
    """How the two readings differ on an agent, in words; None when they do not."""
    listed = listed_subject(selector.name, agent)
    if listed is None:
        return None
    here = selected({selector.name: selector.value}, agent).verdict == YES
    if read_as_list(selector.value, listed) == here:
        return None
    subject = quoted(listed[:_LONGEST])
    return f"{subject} matches {'here' if here else 'there'} and not {'there' if here else 'here'}"


def _unknown_profiles(selector: Attribute, crowd: Crowd) -> Iterator[Finding]:
    if crowd.named and not crowd.named & ~crowd.verdict("profile", "").unknown:
        text = "`profile` selects, and the profiles of no agent of the group are known"
        hint = "agents tell theirs by a `local.conf` in their folder"
        yield _finding("no-known-profile", NOTE, text, selector, hint)


def _same(selector: Attribute) -> bool:
    """Whether the two readings cannot differ: nothing but letters, `|`, and anchors where both know them."""
    body = selector.value.removeprefix("!")
    if selector.name == "profile" and ("^" in body or "$" in body or "," in body or " " in body):
        return False
    parts = body.split("|")
    return body.isascii() and "^$" not in parts and all(map(_PLAIN.fullmatch, parts))


def _drawn(selector: Attribute) -> Iterator[AgentFacts]:
    """Agents that the selector may be meant for, made from its text."""
    texts = list(dict.fromkeys(_texts(selector.value.removeprefix("!"))))
    if selector.name == "os":
        texts += [text for listed in samples().values() for text in listed]
    for text in texts:
        if selector.name == "name":
            yield AgentFacts("", text)
        elif selector.name == "os":
            yield AgentFacts("", "", None, text)
        else:
            yield AgentFacts("", "", profiles=(text,))
            yield AgentFacts("", "", profiles=("other", text))


def _texts(body: str) -> Iterator[str]:
    """Texts that a simple pattern matches: classes, repetitions and groups replaced by the first thing they mean."""
    for pattern, text in _REPLACED:
        body = pattern.sub(text, body)
    for part in body.split("|")[:_DRAWN]:
        text = part.replace("\0", ".")
        if text:
            yield text
            yield f"x{text}x"


def _finding(rule: str, severity: str, problem: str, place: Attribute, hint: str) -> Finding:
    return Finding(rule, severity, problem, "", place.line, place.column, hint)


_HINT = "letters between `|`, with `^` first and `$` last, mean the same to both"
_PLAIN = re.compile(r"\^?[^][\\.*+?(){}|^$]*\$?")
_REPLACED = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"\\\.", "\0"),
        (r"\\d", "1"),
        (r"\\w", "a"),
        (r"\\s", " "),
        (r"\\[bBAzZ]", ""),
        (r"\\(.)", r"\1"),
        (r"\[\^[^]]*\]", "x"),
        (r"\[([^]])[^]]*\]", r"\1"),
        (r"\(\?[a-z:-]*", "("),
        (r"\.[*+?]", "a"),
        (r"\{[0-9,]*\}|[*+?(){}^$]", ""),
    )
)
