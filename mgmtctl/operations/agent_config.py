"""What an agent really gets: its effective configuration with the origin of every value, and its shared files (S 3.2).

Rules (D 6, D 8, D 9): it takes agent:read on the agent and group:read on each of its groups; secrets are masked without
group:update_config on the group they come from, those of the agent's own file without it on all its groups. What the
agent leaves in its folder is read, never trusted for anything but this agent.

What is read, and by which rights, is in agent_reading.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.queries import NUMBER, TEXT, Fields, ListQuery, apply_query
from mgmtctl.domain.sync import BLOCKED
from mgmtctl.operations.agent_reading import (
    Membership,
    Part,
    Reading,
    in_use,
    memberships,
    readable_agent,
    stage_of,
)
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, one, operation
from mgmtctl.operations.results import Items
from mgmtctl.operations.sync_work import opened

if TYPE_CHECKING:
    from mgmtctl.domain.agents import Agent
    from mgmtctl.domain.effective_diff import Difference
    from mgmtctl.domain.effective_lookup import Answer
    from mgmtctl.domain.effective_values import Effective
    from mgmtctl.domain.local_files import LocalProblem
    from mgmtctl.domain.sync import Stage

SENT_FIELDS: Fields = {
    "name": TEXT,
    "size": NUMBER,
    "group": TEXT,
    "sha256": TEXT,
    "sent": TEXT,
    "why_not": TEXT,
}


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """The effective configuration of an agent, where the agent stands, and what is pending.

    `source` is the same as text. `keeps` are the revisions that it keeps because its groups cannot be sent now: then
    all is about these. `runs` are those that it uses now where its groups give something else, and `pending` how
    the values differ (None: that is not known). `problems`: what cannot be read of the agent's own files.
    """

    id: str
    name: str
    memberships: tuple[Membership, ...]
    stage: Stage
    effective: Effective
    source: tuple[Part, ...]
    keeps: Mapping[str, int]
    runs: Mapping[str, int]
    pending: tuple[Difference, ...] | None
    problems: tuple[LocalProblem, ...] = ()

    def record(self) -> dict[str, Any]:
        """{"id", "name", "groups", "stage", "why", "next", "values", "blocks", "ignored", "keeps", "runs", "pending",
        "local_problems"}; `pending` is null where it is not known.
        """
        return {
            **_identified(self.id, self.name, self.memberships, self.stage),
            **self.effective.record(),
            "keeps": dict(self.keeps),
            "runs": dict(self.runs),
            "pending": None if self.pending is None else [one.record() for one in self.pending],
            "local_problems": [problem.record() for problem in self.problems],
        }


@dataclass(frozen=True, slots=True)
class ConfigAnswer:
    """One option of an agent."""

    id: str
    name: str
    answer: Answer

    def record(self) -> dict[str, Any]:
        """{"id", "name", "path", "values", "default"}."""
        return {"id": self.id, "name": self.name, **self.answer.record()}


@dataclass(frozen=True, slots=True)
class ConfigDifference:
    """Where two agents, each as (id, name), differ."""

    left: tuple[str, str]
    right: tuple[str, str]
    differences: tuple[Difference, ...]

    def record(self) -> dict[str, Any]:
        """{"left": {"id", "name"}, "right": {"id", "name"}, "differences"}."""
        left, right = (dict(zip(("id", "name"), side, strict=True)) for side in (self.left, self.right))
        found = [difference.record() for difference in self.differences]
        return {"left": left, "right": right, "differences": found}


@dataclass(frozen=True, slots=True)
class SentFile:
    """A file that an agent is sent, or that a group holds and the agent does not get: `why_not`.

    `group` gave it: several, joined by commas, for an agent.conf; empty for what belongs to no group.
    """

    name: str
    size: int
    group: str
    sha256: str | None
    why_not: str | None = None

    def record(self) -> dict[str, Any]:
        """{"name", "size", "group", "sha256", "sent", "why_not"}."""
        return {
            "name": self.name,
            "size": self.size,
            "group": self.group,
            "sha256": self.sha256,
            "sent": self.why_not is None,
            "why_not": self.why_not,
        }


@dataclass(frozen=True, slots=True)
class SentFiles(Items[SentFile]):
    """The files of one agent; `stage` is where the agent stands."""

    stage: Stage | None = None


@operation(needs("agent:read", one("agent:id", "agent_id")), http="GET /agents/{agent_id}/effective")
def show_config(ctx: Context, agent_id: str) -> AgentConfig:
    """Show what counts for an agent in the end: every value, where it stands, and what it overrode."""
    from mgmtctl.domain.effective_diff import difference

    with opened(ctx, keep=False) as run:
        agent = readable_agent(ctx, agent_id)
        stage = stage_of(ctx, run, agent)
        found = Reading(ctx, run, agent)
        now = found.effective()
        runs, before = in_use(ctx, run, agent)
        pending = None if before is None else difference(found.effective(before), now)
        shown = found.masked(now)
        return AgentConfig(
            agent.id, agent.name, memberships(agent), stage, shown, tuple(found.source()), found.keeps, runs,
            None if pending is None else tuple(map(found.masked_difference, pending)), found.local.problems,
        )  # fmt: skip


@operation(needs("agent:read", one("agent:id", "agent_id")), http="GET /agents/{agent_id}/effective/{path}")
def show_config_value(ctx: Context, agent_id: str, path: str) -> ConfigAnswer:
    """Show what one option is for an agent, or a section, or one attribute."""
    from mgmtctl.domain.effective_lookup import answer, asked

    asked(path)
    with opened(ctx, keep=False) as run:
        agent = readable_agent(ctx, agent_id)
        found = Reading(ctx, run, agent)
        return ConfigAnswer(
            agent.id, agent.name, answer(found.masked(found.effective()), path, found.facts.os)
        )


@operation(
    needs("agent:read", one("agent:id", "agent_id")),
    needs("agent:read", one("agent:id", "other_id")),
    http="GET /agents/{agent_id}/effective-difference/{other_id}",
)
def diff_config(ctx: Context, agent_id: str, other_id: str) -> ConfigDifference:
    """Show where the effective configurations of two agents differ."""
    from mgmtctl.domain.effective_diff import difference

    with opened(ctx, keep=False) as run:
        agents = [readable_agent(ctx, identifier) for identifier in (agent_id, other_id)]
        mine, theirs = (Reading(ctx, run, agent) for agent in agents)
        found = [
            one._replace(left=mine.masked_side(one.left), right=theirs.masked_side(one.right))
            for one in difference(mine.effective(), theirs.effective())
        ]
    left, right = ((agent.id, agent.name) for agent in agents)
    return ConfigDifference(left, right, tuple(found))


@operation(needs("agent:read", one("agent:id", "agent_id")), http="GET /agents/{agent_id}/files")
def list_agent_files(ctx: Context, agent_id: str, query: ListQuery | None = None) -> SentFiles:
    """List the shared files that an agent is sent, from which group, and what it does not get and why."""
    with opened(ctx, keep=False) as run:
        agent = readable_agent(ctx, agent_id)
        stage = stage_of(ctx, run, agent)
        found = list(_sent_files(ctx, agent))
        if stage.name == BLOCKED:
            found = [replace(file, why_not=file.why_not or "its groups cannot be sent now") for file in found]
    asked, total = apply_query(found, query or ListQuery(), SENT_FIELDS, ctx.now())
    return SentFiles(asked, total=total, stage=stage)


def _identified(identifier: str, name: str, groups: Sequence[Membership], stage: Stage) -> dict[str, Any]:
    return {
        "id": identifier,
        "name": name,
        "groups": [group.record() for group in groups],
        "stage": stage.name,
        "why": stage.why,
        "next": stage.next_step,
    }


def _sent_files(ctx: Context, agent: Agent) -> Iterator[SentFile]:
    """Every file in merge order, each followed by those of the same name that it wins over, then what is left out."""
    from mgmtctl.domain.merging import combine, target_files

    loaded = [
        (group, ctx.folders.load_group(group)) for group in agent.groups if ctx.folders.group_exists(group)
    ]
    combined = combine([(group, content.files) for group, content in loaded])
    contents = {group: content.files for group, content in loaded}
    ar_conf = ctx.folders.ar_conf()
    files = target_files(combined.parts, ar_conf, combined.tag)
    # No group gave the merged file itself, nor the ar.conf of the shared folder.
    givers = {part.name: part.group for part in combined.parts}
    lost = {conflict.name: conflict for conflict in combined.conflicts}
    for name, content in files.items():
        yield _file(name, content, givers.get(name, ""))
        if name in lost:
            why = f"that of `{lost[name].winner}` is sent"
            yield from (_file(name, contents[group][name], group, why) for group in lost[name].losers)
    for left in combined.left_out:
        yield _file(left.name, contents[left.group][left.name], left.group, left.reason)
    for group, found in loaded:
        yield from (SentFile(name, 0, group, None, why) for name, why in found.unreadable)


def _file(name: str, content: bytes, group: str, why_not: str | None = None) -> SentFile:
    import hashlib

    return SentFile(name, len(content), group, hashlib.sha256(content).hexdigest(), why_not)
