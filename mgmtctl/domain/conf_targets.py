"""Whom the blocks of an agent.conf hit, and what of it these agents cannot use: their systems, their releases (D 6).

Rules: an error is what the system of the block, or an agent that the block is for, silently does not apply or rejects;
a block that nobody of the group reads is a warning; what is not known of agents is no fault. An agent without an id may
not be named or counted to whoever reads this: it counts for errors only. A group without agents is judged as one whose
agents are not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Attribute, Element
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.conf_crowd import MAX_VALUES, Crowd, Hit, Mask
from mgmtctl.domain.conf_needs import Need, needs
from mgmtctl.domain.conf_selectors import selector_findings
from mgmtctl.domain.conf_systems import systems_of
from mgmtctl.domain.conf_tree import blocks
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding
from mgmtctl.domain.selectors import SELECTORS, compiled

MAX_FINDINGS = 1000  # of each severity, of this kind, in one document
_SHOWN = 3  # agents that are named
_WIDESPREAD = frozenset(("linux", "windows", "macos"))


def target_findings(roots: Iterable[Element], agents: Sequence[AgentFacts] | None) -> Iterator[Finding]:
    """What is wrong with the blocks for the agents that would read them, and for the systems that they select."""
    crowd = Crowd(agents) if agents else None
    told: Counter[str] = Counter()
    for finding in _found(list(blocks(roots)), crowd):
        told[finding.severity] += 1
        # The one that is too many has the others told of (agent_conf_check).
        if told[finding.severity] <= MAX_FINDINGS + 1:
            yield finding
        elif finding.severity == ERROR:
            return


def _found(document: Sequence[Element], crowd: Crowd | None) -> Iterator[Finding]:
    newer: list[Need] = []
    values: dict[tuple[str, str], None] = {}
    for block in document:
        selectors = _selectors(block)
        fresh = [found for found in selectors.values() if (found.name, found.value) not in values]
        values.update(((found.name, found.value), None) for found in fresh)
        if len(values) <= MAX_VALUES:
            yield from selector_findings(fresh, crowd)
        target = _Target(block, {name: found.value for name, found in selectors.items()}, crowd)
        yield from target.findings()
        newer += target.newer
    if len(values) > MAX_VALUES:
        # An error: what was not judged must not be taken for right.
        problem = f"only the first {MAX_VALUES} of {len(values)} different selectors were judged"
        yield Finding("more-findings", ERROR, problem, "", document[0].line, document[0].column)
    yield from _releases_needed(newer)


def _selectors(block: Element) -> dict[str, Attribute]:
    return {found.name: found for found in block.attributes if found.name in SELECTORS}


class _Target:
    """One block and whom it is for; `newer` collects what needs a release that no agent is known to lack or have."""

    def __init__(self, block: Element, selectors: Mapping[str, str], crowd: Crowd | None) -> None:
        self.block = block
        self.selectors = selectors
        self.crowd = crowd
        self.newer: list[Need] = []
        self.systems = systems_of(selectors["os"]) if "os" in selectors else None
        self._hit: Hit | None = None

    def findings(self) -> Iterator[Finding]:
        if self.selectors and self.crowd is not None:
            yield from self._nobody(self.crowd)
        for need in needs(self.block):
            yield from self._system(need)
            if need.since is not None:
                yield from self._release(need, need.since)

    @property
    def hit(self) -> Hit:
        """The agents that the block is for; only when there are some in the group."""
        if self._hit is None:
            self._hit = self.crowd.hit(self.selectors) if self.crowd else Hit(0, 0)
        return self._hit

    def _nobody(self, crowd: Crowd) -> Iterator[Finding]:
        """A block with selectors that none of the agents fulfils; nobody to count, nothing to say."""
        total = crowd.named.bit_count()
        if self.hit.yes or self.hit.unknown == crowd.all or not total or self.hit.unknown & ~crowd.named:
            return
        if any(compiled(value) is None for value in self.selectors.values()):
            return  # told already
        unknown = self.hit.unknown.bit_count()
        problem = f"the block matches 0 of {_agents(total)}" + (f", {unknown} not known" if unknown else "")
        yield _finding("no-agent-matches", WARNING, problem, self.block)

    def _system(self, need: Need) -> Iterator[Finding]:
        if self.systems is not None and not need.around & self.systems:
            return  # told of what it lies in
        if not (self.systems is None or need.os & self.systems):
            problem = f"{need.what} is for {_listed(need.os)}, the block for {_listed(self.systems)}"
            yield need.finding("wrong-system", ERROR, f"{problem}: {need.foreign}", _for_systems(need.os))
        elif self.crowd is not None:
            yield from self._system_of_agents(need, self.crowd)
        elif need.refused_elsewhere:
            others = (_WIDESPREAD - need.os) & (self.systems or _WIDESPREAD)
            if others:
                problem = (
                    f"{need.what} is for {_listed(need.os)}; agents on {_listed(others)} refuse the file"
                )
                severity = NOTE if self.systems is None else WARNING
                yield need.finding("wrong-system", severity, problem, _for_systems(need.os))

    def _system_of_agents(self, need: Need, crowd: Crowd) -> Iterator[Finding]:
        if need.os >= need.around:
            return
        foreign = _union(crowd.of_system(system) for system in need.around - need.os) & self.hit.yes
        if need.refused_elsewhere and foreign:
            others = self._who(foreign, "on another system")
            problem = f"{need.what} is for {_listed(need.os)}; {others}: such an agent refuses the whole file"
            yield need.finding("wrong-system", ERROR, problem, _for_systems(need.os))
            return
        shown = foreign & crowd.named
        if shown and shown == (self.hit.yes | self.hit.unknown):
            problem = f"{need.what} is for {_listed(need.os)}, and {_none_of(shown)} that read the block is"
            yield need.finding("wrong-system", WARNING, problem, _for_systems(need.os))

    def _release(self, need: Need, since: options.Version) -> Iterator[Finding]:
        old = 0
        if self.crowd is not None:
            reading = self.hit.yes | self.hit.unknown if self.crowd.older(since) else 0
            old = reading & self.crowd.older(since)
        if old:
            problem = f"{need.what} needs {_release(since)}; {self._who(old, 'older')}: {need.too_new}"
            yield need.finding("too-new", ERROR, problem, "keep these agents out of the block by a selector")
        elif since > _BASE and not self._release_known():
            self.newer.append(need)

    def _release_known(self) -> bool:
        """Whether the release of an agent that reads the block is known, or none can read it."""
        if self.crowd is None:
            return False
        reading = self.hit.yes | self.hit.unknown
        return not reading or bool(self.crowd.older(_HIGHEST) & reading)

    def _who(self, mask: Mask, what: str) -> str:
        """`3 agents of the group are older (017 044 190)`, as far as they may be named and counted."""
        named = mask & self.crowd.named if self.crowd else 0
        count = named.bit_count()
        if not count or self.crowd is None:
            return f"agents of the group are {what}"
        ids = " ".join(agent.id for agent in islice(self.crowd.members(named), _SHOWN))
        more = " ..." if count > _SHOWN else ""
        hidden = mask != named
        verb = "is" if count == 1 and not hidden else "are"
        return f"{_agents(count)} of the group{' and others' * hidden} {verb} {what} ({ids}{more})"


def _releases_needed(needs: Sequence[Need]) -> Iterator[Finding]:
    """One note for all options of whose need no agent is known to be old or new enough."""
    if not needs:
        return
    newest = max(needs, key=lambda need: need.since or ())
    names = list(dict.fromkeys(need.what for need in needs if need.since == newest.since))
    listed = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    one = len(names) == 1
    problem = f"{listed} need{'s' * one} {_release(newest.since or ())}: {newest.too_new}"
    yield newest.finding("needs-release", NOTE, problem, None)


def _for_systems(systems: frozenset[str]) -> str:
    return f'put it into a block for {_listed(systems)}, e.g. `os="{_selector(systems)}"`'


def _selector(systems: frozenset[str]) -> str:
    if options.systems("any") - systems == {"windows"}:
        return "!windows"
    return "|".join(_SELECTS.get(name, name) for name in options.data()["os_names"] if name in systems)


def _listed(systems: frozenset[str]) -> str:
    """Systems in words: `linux`, `linux and macos`, `all but windows`."""
    missing = options.systems("any") - systems
    if len(missing) == 1:
        return f"all but {next(iter(missing))}"
    names = [name for name in options.data()["os_names"] if name in systems]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else "none"


def _none_of(mask: Mask) -> str:
    count = mask.bit_count()
    return "the only agent" if count == 1 else f"none of the {count} agents"


def _agents(count: int) -> str:
    return f"{count} agent{'s' * (count != 1)}"


def _union(masks: Iterable[Mask]) -> Mask:
    found = 0
    for mask in masks:
        found |= mask
    return found


def _release(version: options.Version) -> str:
    return ".".join(map(str, version))


def _finding(rule: str, severity: str, problem: str, element: Element) -> Finding:
    return Finding(rule, severity, problem, "", element.line, element.column)


_SELECTS = {"macos": "darwin", "solaris": "sunos", "hpux": "hp-ux"}
_BASE = options.read_version(options.releases()[0]) or ()
_HIGHEST: options.Version = (1_000_000,)
