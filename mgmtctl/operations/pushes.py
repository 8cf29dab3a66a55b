"""Pushing to many agents, in this process or in several at once. Nothing here is an operation.

Rules (D 8): one agent's failure stops nobody else. Forks touch only agent folders and tell what came of it; announcing
and recording is left to this process. What a fork that was killed had in hand is a failure, not recorded, and found by
the next run. Once the watch has stopped, every process finishes the agent in hand.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mgmtctl.domain.errors import InvalidError, MgmtctlError, UnavailableError
from mgmtctl.domain.sync import Change
from mgmtctl.folders.agents import Place, PushReport
from mgmtctl.folders.beside import PATIENCE, Beside, Lost, waiting
from mgmtctl.folders.looks import Look
from mgmtctl.operations.restarts import applied

if TYPE_CHECKING:
    from mmap import mmap

    from mgmtctl.folders.agents import AgentFolders
    from mgmtctl.folders.pushing import Manifest
    from mgmtctl.operations.sync_targets import Target
    from mgmtctl.store.sync_state import Member

MOST_AT_ONCE = 200  # agents that one fork is given
LEAST_AT_ONCE = 16
WORTH_FORKS = 64  # agents below which one process does it
_WAIT_SECONDS = 0.1
_MOST_BYTES = 32 << 20  # of files that forks have in hand

_DONE, _FAILED, _UNSURE, _STOPPED = range(4)
_FAILURES: Mapping[str, Callable[..., MgmtctlError]] = {
    "io": lambda problem, **more: UnavailableError(problem, "io", **more),
    "invalid": InvalidError,
}


class Stoppable(Protocol):
    """What may end a run early: once `stopped` is true the agents in hand are the last."""

    stopped: bool


class Part(NamedTuple):
    """Agents that are given the same."""

    target: Target
    files: Mapping[str, bytes]
    members: list[Member]


class Pushed(NamedTuple):
    """What came of an agent: a report, a failure, or None when it was not reached; `applied`: see restarts."""

    member: Member
    target: Target
    outcome: PushReport | MgmtctlError | None
    applied: bool = True


class _UnknownError(Exception):
    """A manifest that a fork was not given."""


@dataclass(frozen=True, slots=True)
class Pushes:
    """Pushing into the open `folders`, with so many `processes`; `known` gives manifests by digest."""

    folders: AgentFolders
    known: Callable[[str], Manifest | None]
    processes: int

    def results(self, parts: Iterable[Part], pending: int, watch: Stoppable) -> Generator[Pushed, None, None]:
        """Push to all members of the parts, `pending` in number; each comes once, in no order."""
        if self.processes < 2 or pending < WORTH_FORKS:
            return self._here(parts, watch)
        size = max(LEAST_AT_ONCE, min(MOST_AT_ONCE, pending // (2 * self.processes)))
        return self._beside(_shares(parts, size), watch)

    def _here(self, parts: Iterable[Part], watch: Stoppable) -> Generator[Pushed, None, None]:
        for part in parts:
            for member in part.members:
                if watch.stopped:
                    yield Pushed(member, part.target, None)
                else:
                    yield self.push(member, part, self.known)

    def push(self, member: Member, part: Part, known: Callable[[str], Manifest | None]) -> Pushed:
        """Push to one agent."""
        place = Place(member.agent_id, member.folder)
        target = known(part.target.digest) or {}
        last = known(member.pushed_digest) or {}
        try:
            report = self.folders.push(place, part.files, target, last, known)
        except MgmtctlError as error:
            return Pushed(member, part.target, error)
        return Pushed(member, part.target, report, applied(self.folders, place))

    def _beside(self, shares: Iterable[list[Part]], watch: Stoppable) -> Generator[Pushed, None, None]:
        with _Crew(self, watch) as crew:
            for parts in shares:
                while crew.is_full():
                    yield from crew.gather()
                if watch.stopped or not crew.sent(parts):
                    yield from self._here(parts, watch)
            while crew.shares:
                yield from crew.gather()

    def manifests(self, parts: Iterable[Part]) -> dict[str, Manifest | None]:
        """What a fork may have to know, since it cannot ask the store."""
        digests = {part.target.digest for part in parts}
        digests.update(member.pushed_digest for part in parts for member in part.members)
        return {digest: self.known(digest) for digest in digests}


class _Share(NamedTuple):
    """What one fork has in hand; `left`: the numbers of those that it did not tell of yet."""

    agents: list[tuple[Member, Part]]
    left: set[int]
    bytes: int


class _Crew:
    """The forks of one run, and what each has in hand."""

    def __init__(self, pushes: Pushes, watch: Stoppable) -> None:
        import mmap

        self.shares: dict[Beside, _Share] = {}
        self._pushes = pushes
        self._watch = watch
        self._stop = mmap.mmap(-1, 1)
        self._seen: dict[Any, Any] = {}

    def __enter__(self) -> _Crew:
        return self

    def __exit__(self, *caught: object) -> None:
        self._stop[0] = 1
        for fork in self.shares:
            fork.close(PATIENCE)
        self._stop.close()

    def is_full(self) -> bool:
        """Whether nobody is free, or what they have in hand is enough for the memory."""
        in_hand = sum(share.bytes for share in self.shares.values())
        return len(self.shares) >= self._pushes.processes or in_hand > _MOST_BYTES

    def sent(self, parts: Sequence[Part]) -> bool:
        """Give a fork something to do; False when there can be none."""
        work = partial(_work, self._pushes, parts, self._pushes.manifests(parts), self._stop)
        try:
            fork = Beside(work)
        except OSError:  # no process, or no memory for one
            return False
        agents = [(member, part) for part in parts for member in part.members]
        size = sum(sum(map(len, part.files.values())) for part in parts)
        self.shares[fork] = _Share(agents, set(range(len(agents))), size)
        return True

    def gather(self) -> Iterator[Pushed]:
        """What the forks tell within a moment."""
        if self._watch.stopped:
            self._stop[0] = 1
        for fork in waiting(list(self.shares), _WAIT_SECONDS):
            share = self.shares[fork]
            try:
                for number, *facts in fork.read():
                    share.left.discard(number)
                    yield self._pushed(*share.agents[number], *facts)
            except Lost as error:
                del self.shares[fork]
                yield from _lost(share, error)
            else:
                if fork.ended:
                    del self.shares[fork]
                    yield from _lost(share, Lost("it told nothing of this one"))

    def _pushed(self, member: Member, part: Part, what: int, *facts: Any) -> Pushed:
        if what == _UNSURE:
            return self._pushes.push(member, part, self._pushes.known)
        if what == _STOPPED:
            return Pushed(member, part.target, None)
        if what == _FAILED:
            kind, problem, why, fix = facts
            return Pushed(member, part.target, _FAILURES[kind](problem, why=why, fix=fix))
        kept, newest, restarts, changes = facts
        if changes not in self._seen:  # most agents are changed alike
            self._seen[changes] = tuple(Change(*change) for change in changes)
        return Pushed(member, part.target, PushReport(self._seen[changes], Look(kept, newest)), restarts)


def _work(
    pushes: Pushes,
    parts: Sequence[Part],
    manifests: Mapping[str, Manifest | None],
    stop: mmap,
    tell: Callable[[tuple[Any, ...]], None],
) -> None:
    """A fork's work: number by number what came of its agents."""

    def known(digest: str) -> Manifest | None:
        if digest not in manifests:
            raise _UnknownError
        return manifests[digest]

    agents = [(member, part) for part in parts for member in part.members]
    for number, (member, part) in enumerate(agents):
        if stop[0]:
            tell((number, _STOPPED))
            continue
        try:
            tell((number, *_facts(pushes.push(member, part, known))))
        except _UnknownError:  # raised before anything is written
            tell((number, _UNSURE))


def _facts(pushed: Pushed) -> tuple[Any, ...]:
    """What came of an agent, as a pipe can carry it."""
    if isinstance(pushed.outcome, PushReport):
        changes = tuple((change.kind, change.name, change.edited_there) for change in pushed.outcome.changes)
        return (_DONE, *pushed.outcome.look, pushed.applied, changes)
    error = pushed.outcome
    kind = "invalid" if isinstance(error, InvalidError) else "io"
    return (_FAILED, kind, error.problem, error.why, error.fix) if error else (_STOPPED,)


def _lost(share: _Share, error: Lost) -> Iterator[Pushed]:
    for number in sorted(share.left):
        member, part = share.agents[number]
        yield Pushed(
            member,
            part.target,
            UnavailableError(
                "the process that writes to agents ended early", "io", why=str(error), fix="run it again"
            ),
        )


def _shares(parts: Iterable[Part], size: int) -> Iterator[list[Part]]:
    """The same agents, `size` of them at a time, or fewer when what they are given is large."""
    share: list[Part] = []
    count = held = 0
    for part in parts:
        for start in range(0, len(part.members), size):
            members = part.members[start : start + size]
            share.append(part._replace(members=members))
            count += len(members)
            held += sum(map(len, part.files.values()))
            if count >= size or held > _MOST_BYTES:
                yield share
                share, count, held = [], 0, 0
    if share:
        yield share
