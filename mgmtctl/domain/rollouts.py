"""Rollouts: a sample of agents (canaries) gets what its groups give, the others are held back until it is promoted.

Rules: the sample is spread over the combinations of groups and the systems, prefers agents that report, and follows
from its input alone, so that the same question has the same answer. A rollout is about combinations of groups, and
about the groups whose files it brings (`changed`): every agent of these that is no canary is held, in whichever
combination it is by now, unless that gives again what it gave before or the agent was given it already. Every choice
and every verdict comes with its reason.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mgmtctl.domain.errors import QuestionError

OPEN, PROMOTED, WITHDRAWN, CANCELLED = "open", "promoted", "withdrawn", "cancelled"
STATES = (OPEN, PROMOTED, WITHDRAWN, CANCELLED)

_COUNT = re.compile(r"([0-9]{1,9})(%?)")


class Candidate(NamedTuple):
    """An agent that has to be written to: its combination of groups, its system ('' unknown), whether it reports."""

    id: int
    groups: str
    system: str
    reports: bool = False


class Chosen(NamedTuple):
    """A canary, and why it is one."""

    id: int
    why: str


@dataclass(frozen=True, slots=True)
class Sample:
    """How many canaries: a number, or per cent of the agents that have to be written to."""

    number: int
    percent: bool = False

    def of(self, count: int) -> int:
        """How many of `count`: at least one, when there is any, and never more than there are."""
        wanted = -(-count * self.number // 100) if self.percent else self.number
        return min(count, max(1, wanted))

    def __str__(self) -> str:
        return f"{self.number}{'%' * self.percent}"


def read_sample(text: str) -> Sample:
    """`N` or `P%` as a Sample; QuestionError."""
    found = _COUNT.fullmatch(text)
    if found is None or int(found[1]) == 0 or (found[2] and int(found[1]) > 100):
        raise QuestionError(f"expected a number of canaries or per cent, as 5 or 2%, got `{text}`")
    return Sample(int(found[1]), bool(found[2]))


def choose(pending: Iterable[Candidate], count: int, seeds: Mapping[str, str]) -> list[Chosen]:
    """`count` canaries among the pending agents, by id, each with its reason.

    One of each combination first, then one of each system of it, the large ones first, then in proportion. Which agent
    of these is told by the seed of its combination (the digest that it shall get) alone.
    """
    drawn = [_Bucket(*key, members) for key, members in _by_kind(pending).items()]
    firsts = sorted(drawn, key=lambda bucket: (-len(bucket.members), bucket.groups, bucket.system))
    leading: dict[str, _Bucket] = {}
    for bucket in firsts:
        leading.setdefault(bucket.groups, bucket)
    order = sorted(firsts, key=lambda bucket: leading[bucket.groups] is not bucket)
    chosen = [Chosen(bucket.draw(seeds), bucket.why()) for bucket in order[:count]]
    chosen += _in_proportion(order, count - len(chosen), seeds)
    return sorted(chosen)


class _Bucket:
    """The pending agents of one combination and system."""

    def __init__(self, groups: str, system: str, members: list[Candidate]) -> None:
        self.groups, self.system, self.members = groups, system, members
        self.taken = 0
        self._order: list[int] | None = None

    def draw(self, seeds: Mapping[str, str]) -> int:
        """The next one."""
        if self._order is None:
            seed = seeds.get(self.groups, "")
            self._order = [found.id for found in sorted(self.members, key=lambda found: _rank(found, seed))]
        self.taken += 1
        return self._order[self.taken - 1]

    def why(self) -> str:
        """What the last one drawn stands for."""
        of = f"{len(self.members)} agent{'s' * (len(self.members) != 1)} of {self.groups}"
        return f"{self.taken} of {of} on {self.system or 'an unknown system'}"


def _rank(found: Candidate, seed: str) -> tuple[bool, bytes, int]:
    """Those that report first, for the others say nothing of how they take it; else as by lot."""
    lot = hashlib.blake2b(f"{seed} {found.id}".encode(), digest_size=8).digest()
    return (not found.reports, lot, found.id)


def _by_kind(pending: Iterable[Candidate]) -> dict[tuple[str, str], list[Candidate]]:
    found: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in pending:
        found.setdefault((candidate.groups, candidate.system), []).append(candidate)
    return found


def _in_proportion(buckets: Sequence[_Bucket], count: int, seeds: Mapping[str, str]) -> list[Chosen]:
    """So many more, each from where the smallest part was taken."""
    import heapq

    heap = [
        (bucket.taken / len(bucket.members), place)
        for place, bucket in enumerate(buckets)
        if bucket.taken < len(bucket.members)
    ]
    heapq.heapify(heap)
    chosen = []
    for _ in range(min(count, sum(len(bucket.members) - bucket.taken for bucket in buckets))):
        _, place = heap[0]
        bucket = buckets[place]
        chosen.append(Chosen(bucket.draw(seeds), bucket.why()))
        if bucket.taken < len(bucket.members):
            heapq.heapreplace(heap, (bucket.taken / len(bucket.members), place))
        else:
            heapq.heappop(heap)
    return chosen


class Aim(NamedTuple):
    """What a rollout brings to a combination: `digest` of the merged file that its canaries were given, and `before`:
    of the one that most of its other agents had ('' when they had none)."""

    digest: str
    before: str


class Canary(NamedTuple):
    """An agent of the sample: why it was chosen, and why it could not be written to the last time (None: it could)."""

    why: str
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Rollout:
    """One rollout: by whom, when (seconds), of what (`selection` in words), `aims` by combination, canaries by id.

    `changed`: the groups of the aims whose files it brings.
    """

    id: int
    state: str
    started: int
    user: str
    context_id: str | None
    reason: str | None
    selection: str
    abort_if: str | None
    aims: Mapping[str, Aim] = field(default_factory=dict)
    canaries: Mapping[int, Canary] = field(default_factory=dict)
    changed: frozenset[str] = frozenset()

    def touches(self, groups: str) -> bool:
        """Whether agents of this combination get what the rollout brings, when their groups give it still."""
        return groups in self.aims or not self.changed.isdisjoint(groups.split(","))

    def holds(self, groups: str, target: str | None) -> bool:
        """Whether it keeps agents of this combination back whose groups give `target` now (None: nothing)."""
        aim = self.aims.get(groups)
        return aim is not None and not is_withdrawn(aim, target)


def is_withdrawn(aim: Aim, target: str | None) -> bool:
    """Whether the groups give again what they gave before the rollout."""
    return bool(target) and target == aim.before
