"""Which of many agents a block of agent.conf is for: `selectors.block_match` for a whole group at once.

Rules: the verdicts are those of `selectors`, found in one pass over all names (systems, profiles) for each different
selector; work is bounded, and what was not looked at is unknown. A set of agents is a `Mask`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.options import Version
from mgmtctl.domain.selectors import compiled, listed_subject, read_as_list, subjects

# Agents as a number: byte n is 1 when the agent at place n belongs to them.
Mask = int
MAX_VALUES = 1000  # different selectors that are tried
# What all of them may cost: characters looked at, times the square of how much larger than common ones the program of
# a pattern is, or times the parts of a list.
MAX_COST = 1_500_000_000
_COMMON = 50
_FEWEST = 100  # texts that each is tried on
# Nothing but letters, `|`, and anchors at the ends.
PLAIN = re.compile(r"\^?[^][\\.*+?(){}|^$]*\$?")
# What means something else in the middle of many texts than at the only one.
_TIED = re.compile(r"\\[AzZCQEn]|\(\?|\n|\[:")
_NO, _YES, _UNKNOWN = 0, 1, 2
_NEGATED = bytes([_YES, _NO, _UNKNOWN]) + bytes(253)


class Hit(NamedTuple):
    """The agents that a block is for, and those of which that is not known."""

    yes: Mask
    unknown: Mask


class Crowd:
    """Agents to be asked about many selectors; `tried` counts texts that were compared, `cost` what that took."""

    def __init__(self, agents: Sequence[AgentFacts]) -> None:
        self.agents = agents
        self.tried = 0
        self.cost = 0
        self.all = int.from_bytes(b"\1" * len(agents), "little")
        self.named = self.where(lambda agent: bool(agent.id))
        self._columns: dict[tuple[str, bool], _Column] = {}
        self._found: dict[tuple[str, str, bool], Hit] = {}
        self._systems: dict[str | None, Mask] = {}
        self._older: dict[Version, Mask] = {}

    def where(self, condition: Callable[[AgentFacts], bool]) -> Mask:
        """The agents that fulfil a condition."""
        return int.from_bytes(bytes(map(condition, self.agents)), "little")

    def hit(self, selectors: Mapping[str, str]) -> Hit:
        """The agents that a block with these selectors (attribute -> value) is for."""
        yes, possible = self.all, self.all
        for attribute, value in selectors.items():
            found = self.verdict(attribute, value)
            yes &= found.yes
            possible &= found.yes | found.unknown
        return Hit(yes, possible & ~yes)

    def verdict(self, attribute: str, value: str, listed: bool = False) -> Hit:
        """The agents that one selector is for; `listed`: as the public system reads it."""
        key = (attribute, value, listed)
        if key not in self._found:
            if len(self._found) >= MAX_VALUES:
                return Hit(0, self.all)
            self._found[key] = self._try(*key)
        return self._found[key]

    def of_system(self, system: str | None) -> Mask:
        """The agents of one system; None: those that did not report any."""
        if not self._systems:
            self._systems = {
                name: self.where(lambda agent, name=name: agent.os == name)  # type: ignore[misc]
                for name in {agent.os for agent in self.agents}
            }
        return self._systems.get(system, 0)

    def older(self, since: Version) -> Mask:
        """The agents that are known to be of an earlier release."""
        if since not in self._older:
            self._older[since] = self.where(lambda agent: agent.version is not None and agent.version < since)
        return self._older[since]

    def members(self, mask: Mask) -> Iterator[AgentFacts]:
        """The agents of a mask, in their order."""
        held = mask.to_bytes(len(self.agents), "little")
        place = held.find(1)
        while place >= 0:
            yield self.agents[place]
            place = held.find(1, place + 1)

    def _try(self, attribute: str, value: str, listed: bool) -> Hit:
        column = self._column(attribute, listed and attribute == "profile")
        negated, body = value.startswith("!"), value.removeprefix("!")
        if listed or is_plain(value):
            parts = body.lower().split("|")
            return column.spread(
                _by_letters(parts, column, self._affordable(column, len(parts)), listed), negated
            )
        pattern = compiled(value)
        if pattern is None:
            return column.spread(bytes(len(column.texts)), negated=False)
        weight = max(1, pattern.programsize // _COMMON) ** 2
        return column.spread(_by_pattern(pattern, column, self._affordable(column, weight)), negated)

    def _affordable(self, column: _Column, weight: int) -> int:
        """How many texts of a column may be compared with something of this weight for each character."""
        one = weight * column.longest
        texts: int = min(len(column.texts), max((MAX_COST - self.cost) // one, _FEWEST))
        self.cost += texts * one
        self.tried += texts
        return texts

    def _column(self, attribute: str, listed: bool) -> _Column:
        key = (attribute, listed)
        if key not in self._columns:
            find = _listed if listed else subjects
            self._columns[key] = _Column([find(attribute, agent) for agent in self.agents])
        return self._columns[key]


class _Column:
    """What one attribute is compared with, for all agents: each different text once, and who has which."""

    def __init__(self, of_agents: Sequence[tuple[str, ...] | None]) -> None:
        number = {subject: place for place, subject in enumerate(dict.fromkeys(of_agents))}
        self.texts = list(dict.fromkeys(text for subject in number if subject for text in subject))
        self.lowered = [text.lower() for text in self.texts]
        self.longest = max(map(len, self.texts), default=1) or 1
        self.odd = [place for place, text in enumerate(self.texts) if not text.isascii()]
        places = {text: place for place, text in enumerate(self.texts)}
        self._subjects = [
            None if subject is None else [places[text] for text in subject] for subject in number
        ]
        # An agent has one name and one system: then its verdict is that of the text, and an unknown one is the last.
        self._single = all(subject is None or len(subject) == 1 for subject in self._subjects)
        if self._single:
            last = len(self.texts)
            self._one = [last if subject is None else subject[0] for subject in self._subjects]
        self._of_agents = [number[subject] for subject in of_agents]
        self._lines: tuple[bytes, list[int]] | None = None

    def spread(self, flags: bytes | bytearray, negated: bool) -> Hit:
        """The agents to whom the verdicts on texts apply: of each text no, yes or unknown."""
        if self._single:
            known = flags.translate(_NEGATED) if negated else flags
            verdicts = bytes(map((bytes(known) + bytes([_UNKNOWN])).__getitem__, self._one))
        else:
            verdicts = bytes(_of_subject(subject, flags, negated) for subject in self._subjects)
        return Hit(self._agents(verdicts, _YES), self._agents(verdicts, _UNKNOWN))

    def _agents(self, verdicts: bytes, wanted: int) -> Mask:
        if wanted not in verdicts:
            return 0
        table = bytes(value == wanted for value in range(3)) + bytes(253)
        flags = verdicts.translate(table)
        return int.from_bytes(bytes(map(flags.__getitem__, self._of_agents)), "little")

    def lines(self) -> tuple[bytes, list[int]] | None:
        """All texts as lines, and where each begins; None when some cannot be a line."""
        if self.odd or not self.texts or not all(text and "\n" not in text for text in self.texts):
            return None
        if self._lines is None:
            starts, at = [], 0
            for text in self.texts:
                starts.append(at)
                at += len(text) + 1
            self._lines = "\n".join(self.texts).encode(), starts
        return self._lines


def is_plain(value: str) -> bool:
    """Whether a selector is a list of texts to be found, with no other sign of patterns than `|`, `^`, `$` and `!`."""
    parts = value.removeprefix("!").split("|")
    return value.isascii() and "^$" not in parts and all(map(PLAIN.fullmatch, parts))


def _of_subject(subject: Sequence[int] | None, flags: bytes | bytearray, negated: bool) -> int:
    if subject is None:
        return _UNKNOWN
    found = [flags[place] for place in subject]
    if _YES in found:
        return _NO if negated else _YES
    if _UNKNOWN in found:
        return _UNKNOWN
    return _YES if negated else _NO


def _by_letters(parts: Sequence[str], column: _Column, most: int, listed: bool) -> bytes:
    """Verdicts on the first `most` texts: whether one of the parts is found in each."""
    texts, found = column.lowered[:most], 0
    for test in map(_letters, parts):
        found |= int.from_bytes(bytes(map(test, texts)), "little")
    verdicts = bytearray(found.to_bytes(most, "little")) + bytes([_UNKNOWN]) * (len(column.texts) - most)
    body = "|".join(parts)
    for place in column.odd:
        if place < most:
            text = column.texts[place]
            verdicts[place] = read_as_list(body, text) if listed else _found_in(compiled(f"!{body}"), text)
    return bytes(verdicts)


def _letters(part: str) -> Callable[[str], bool]:
    start, end = part.startswith("^"), part.endswith("$") and part != "^"
    body = part[start : len(part) - end if end else None]
    if not body:
        return lambda text: True
    if start and end:
        return lambda text: text == body
    if start:
        return lambda text: text.startswith(body)
    return (lambda text: text.endswith(body)) if end else (lambda text: body in text)


def _by_pattern(pattern: Any, column: _Column, most: int) -> bytes:
    """Verdicts on the first `most` texts: whether the pattern is found in each."""
    source, lines = pattern.pattern, column.lines()
    line = None
    if lines is not None and not _TIED.search(source):
        line = _multiline(f"(?m)^.*(?:{source}).*$".encode())
    found = bytearray(most) + bytes([_UNKNOWN]) * (len(column.texts) - most)
    if line is None or lines is None:
        for place, text in enumerate(column.texts[:most]):
            found[place] = _found_in(pattern, text)
        return bytes(found)
    joined, starts = lines
    end = starts[most] - 1 if most < len(starts) else len(joined)
    for hit in line.finditer(joined, 0, end):
        found[bisect_right(starts, hit.start()) - 1] = _YES
    return bytes(found)


def _multiline(source: bytes) -> Any:
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.never_nl = True  # no text reaches into the next
    try:
        return re2.compile(source, options)
    except re2.error:
        return None


def _listed(attribute: str, agent: AgentFacts) -> tuple[str, ...] | None:
    text = listed_subject(attribute, agent)
    return None if text is None else (text,)


def _found_in(pattern: Any, text: str) -> bool:
    try:
        return bool(pattern.search(text))
    except UnicodeEncodeError:
        return False
