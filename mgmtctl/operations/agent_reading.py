"""What is read of one agent, for whoever may: its own files, the agent.conf of its groups, and where it stands.

Rules (D 8, D 9): it takes group:read on each group of the agent; secrets are masked without group:update_config on the
group they come from, those of the agent's own file without it on all its groups. Nothing here is an operation.

The seam for groups that will be given by an expression, and for tenants: which groups an agent has, in which order and
why, is asked of `memberships` alone; nothing below it looks at how it came about, and whatever a tenant may not see is
kept out by the rights on these groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from mgmtctl.domain.errors import MgmtctlError, NotFoundError
from mgmtctl.domain.files import AGENT_CONF
from mgmtctl.domain.findings import ERROR, Finding
from mgmtctl.domain.resources import Resource
from mgmtctl.operations import access, holds
from mgmtctl.operations.agent_stages import Stages
from mgmtctl.operations.context import Context
from mgmtctl.operations.sync_targets import Blocked

if TYPE_CHECKING:
    from mgmtctl.domain.agent_conf import Document, Element
    from mgmtctl.domain.agent_facts import AgentFacts
    from mgmtctl.domain.agents import Agent
    from mgmtctl.domain.effective_diff import Difference
    from mgmtctl.domain.effective_values import Effective, Value
    from mgmtctl.domain.local_files import LocalFiles
    from mgmtctl.domain.sync import Stage
    from mgmtctl.operations.sync_run import Sync

BY_HAND = "by hand"
READ, UPDATE = "group:read", "group:update_config"
Documents = Sequence[tuple[str, str, "Document"]]


class Membership(NamedTuple):
    """A group of an agent, and why it is in it."""

    group: str
    why: str

    def record(self) -> dict[str, str]:
        """{"group", "why"}."""
        return self._asdict()


class Part(NamedTuple):
    """A piece of what an agent reads, as it stands in a file: `where` it begins."""

    where: str
    text: str


def memberships(agent: Agent) -> tuple[Membership, ...]:
    """The groups of an agent in order, the last with the highest priority, and why it is in each."""
    return tuple(Membership(group, BY_HAND) for group in agent.groups)


def readable_agent(ctx: Context, agent_id: str) -> Agent:
    """The agent, when the caller may read its groups; that it is in them is no secret to who may read the agent."""
    agent = ctx.store.agents.get(int(agent_id), ctx.now())
    actor = access.current_actor(ctx)
    for group in agent.groups:
        resource = Resource("group:id", group)
        if not actor.permissions.allows(READ, resource):
            raise access.refusal(ctx, actor, READ, resource)
    return agent


def stage_of(ctx: Context, run: Sync, agent: Agent) -> Stage:
    """Where the agent stands, as `sync explain` says it."""
    (member,) = ctx.store.sync_state.members([agent.id])
    work = run.sort_out(ctx.store.sync_state.seen([agent.id]))
    holds.hold_back(run, work)
    return Stages(ctx, run, work).of(member).stage


class Reading:
    """What is read of one agent: its own files, the agent.conf of each of its groups, and what the caller may see.

    An agent whose groups cannot be sent keeps what it was last given: then that is read, and `keeps` are its revisions.
    """

    def __init__(self, ctx: Context, run: Sync, agent: Agent) -> None:
        from mgmtctl.domain.agent_facts import agent_facts

        self.groups = [one.group for one in memberships(agent)]
        self.local = _local_files(run, agent)
        self.facts: AgentFacts = agent_facts(
            agent.id, agent.name, agent.os, agent.version, self.local.profiles
        )
        self.keeps, kept = _kept(ctx, run, agent)
        self.documents = _present(ctx, self.groups) if kept is None else kept
        scope = access.scope(ctx, UPDATE, "group:id")
        self._updates = scope.covers

    def effective(self, documents: Documents | None = None) -> Effective:
        """What counts, with what the groups give now or with other documents."""
        from mgmtctl.domain.effective import effective

        return effective(self.local, self.documents if documents is None else documents, self.facts)

    def masked(self, found: Effective) -> Effective:
        """The same, secrets masked that the caller may not see."""
        return replace(found, values=tuple(map(self.masked_value, found.values)))

    def masked_value(self, value: Value) -> Value:
        """A value, masked if it is a secret that the caller may not see; what it overrode likewise."""
        from mgmtctl.domain.effective_source import MASK

        if not value.secret:
            return value
        over = tuple(
            one if self._may_see(one.origin.source) else one._replace(value=MASK) for one in value.over
        )
        return replace(value, value=value.value if self._may_see(value.origin.source) else MASK, over=over)

    def masked_side(self, value: Value | None) -> Value | None:
        """The same for a side of a difference."""
        return None if value is None else self.masked_value(value)

    def masked_difference(self, one: Difference) -> Difference:
        """A difference with both sides masked."""
        return one._replace(left=self.masked_side(one.left), right=self.masked_side(one.right))

    def source(self) -> Iterator[Part]:
        """The text of what the agent reads, its own configuration first."""
        from mgmtctl.domain.effective_source import source
        from mgmtctl.domain.effective_values import LOCAL
        from mgmtctl.domain.local_files import LOCAL_CONF

        if self.local.document is not None:
            for root in self.local.document.elements:
                text = source(self.local.document, root, root.children, hide=not self._may_see(LOCAL))
                yield Part(f"{LOCAL_CONF}:{root.line}", text)
        for group, path, document in self.documents if not self.local.ignores_shared else ():
            for block in self._blocks(document):
                text = source(document, block, block.children, hide=not self._may_see(group))
                yield Part(f"{path}:{block.line}", text)

    def _blocks(self, document: Document) -> Iterator[Element]:
        from mgmtctl.domain.conf_tree import blocks
        from mgmtctl.domain.selectors import YES, block_match

        return (one for one in blocks(document.elements) if block_match(one, self.facts).verdict == YES)

    def _may_see(self, source: str) -> bool:
        """Whether secrets of a group, or of the agent itself, are this caller's to read."""
        from mgmtctl.domain.effective_values import LOCAL

        return all(map(self._updates, self.groups if source == LOCAL else [source]))


def _local_files(run: Sync, agent: Agent) -> LocalFiles:
    from mgmtctl.domain.local_files import INTERNAL_OPTIONS, LOCAL_CONF, read_local
    from mgmtctl.folders.agents import Place

    place = Place(agent.id, agent.folder)
    conf, internal = (run.folders.read_report(place, name) for name in (LOCAL_CONF, INTERNAL_OPTIONS))
    return read_local(conf, internal)


def _present(ctx: Context, groups: Sequence[str]) -> Documents:
    """The agent.conf of each group that has one, as they are on disk."""
    found = ((group, _document(ctx, group)) for group in groups)
    return [(group, f"{group}/{AGENT_CONF}", document) for group, document in found if document is not None]


def _document(ctx: Context, group: str) -> Document | None:
    """The agent.conf of a group as it is on disk; one that cannot be read is a document with that fault."""
    from mgmtctl.domain.agent_conf import Document, read

    try:
        return read(ctx.folders.read_file(group, AGENT_CONF))
    except NotFoundError:
        return None
    except MgmtctlError as error:
        return Document("", (), (Finding("unreadable", ERROR, error.problem, "", 1, 1),))


def in_use(ctx: Context, run: Sync, agent: Agent) -> tuple[Mapping[str, int], Documents | None]:
    """The revisions that the agent uses now, and their documents, where that is not what its groups give.

    None where that is not known any more, or was of groups that the caller may not read.
    """
    (member,) = ctx.store.sync_state.members([agent.id])
    target = run.targets.of(member.groups)
    if isinstance(target, Blocked) or not member.running or target.digest == member.running:
        return {}, None
    return _built_from(ctx, member.running)


def _kept(ctx: Context, run: Sync, agent: Agent) -> tuple[Mapping[str, int], Documents | None]:
    """The same for what an agent was last given whose groups cannot be sent now."""
    (member,) = ctx.store.sync_state.members([agent.id])
    if not member.pushed_digest or not isinstance(run.targets.of(member.groups), Blocked):
        return {}, None
    return _built_from(ctx, member.pushed_digest)


def _built_from(ctx: Context, digest: str) -> tuple[Mapping[str, int], Documents | None]:
    """The revisions that a merged file was built from, and their documents."""
    revisions = ctx.store.sync_state.revisions(digest)
    readable = access.scope(ctx, READ, "group:id")
    if not revisions or not all(map(readable.covers, revisions)):
        return {}, None
    documents = _documents_of(ctx, revisions)
    return ({}, None) if documents is None else (revisions, documents)


def _documents_of(ctx: Context, revisions: Mapping[str, int]) -> Documents | None:
    """The agent.conf of these revisions; None when one of them is no longer kept."""
    from mgmtctl.domain.agent_conf import read
    from mgmtctl.operations.recording import content_of

    found = []
    for group, number in revisions.items():
        try:
            content = content_of(ctx, group, number).get(AGENT_CONF)
        except MgmtctlError:
            return None
        if content is not None:
            # Its lines are those of that revision, not of the file as it is now.
            found.append((group, f"{group}/{AGENT_CONF}@r{number}", read(content)))
    return found
