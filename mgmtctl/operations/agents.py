"""Agents: list, create, import, change and delete them, their keys, and the groups they are in (D 5, D 8, D 9).

Rules: what a caller may not read he does not see, count or learn the name of; an import is one transaction, refused
whole with every fault; a key is shown by the operation that makes it and by its own, nowhere else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.agents import (
    ANY_ADDRESS,
    BAD_ADDRESS,
    ID_TAKEN,
    NAME_TAKEN,
    STATUSES,
    Agent,
    FolderClaims,
    check_address,
    check_agent_id,
    check_agent_name,
    padded_id,
)
from mgmtctl.domain.errors import ConflictError, InvalidError, MgmtctlError, QuestionError
from mgmtctl.domain.memberships import FALLBACK, Groups, check_groups, with_group, without_group
from mgmtctl.domain.queries import ListQuery
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import access
from mgmtctl.operations.context import Context
from mgmtctl.operations.memberships import Assignment, Conflicts, enter, regroup
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items, grouped
from mgmtctl.store.agents import NewAgent

if TYPE_CHECKING:
    from mgmtctl.domain import fleet_import
    from mgmtctl.domain.merging import Conflict

_CREATE = "agent:create"
_MODIFY_GROUP = needs("agent:modify_group", one("agent:id", "agent_id"))
_MODIFY_GROUP_OF_EACH = needs("agent:modify_group", each("agent:id", "agents_list"))
_ASSIGN = needs("group:modify_assignments", one("group:id", "group_id"))


@dataclass(frozen=True, slots=True)
class CreatedAgent:
    """A new agent with its key (64 hex digits), and the file names that its groups disagree on."""

    agent: Agent
    key: str
    conflicts: tuple[Conflict, ...] = ()

    def record(self) -> dict[str, Any]:
        """The agent's record with `key`."""
        return {**self.agent.record(), "key": self.key}


@dataclass(frozen=True, slots=True)
class AgentKey:
    """The key of an agent."""

    id: str
    key: str

    def record(self) -> dict[str, str]:
        """`{"id", "key"}`."""
        return {"id": self.id, "key": self.key}


@dataclass(frozen=True, slots=True)
class Summary:
    """How many agents there are, by status of connection and of group configuration (reference/security.md 10.3)."""

    connection: dict[str, int]
    configuration: dict[str, int]

    def record(self) -> dict[str, dict[str, int]]:
        """`{"connection": {STATUS: count}, "configuration": {"synced", "not_synced", "total"}}`."""
        return {"connection": self.connection, "configuration": self.configuration}


@dataclass(frozen=True, slots=True)
class Imported:
    """The ids of the agents that a file brought, in its order, and what the groups they came into disagree on."""

    ids: tuple[str, ...]
    conflicts: tuple[Conflict, ...] = ()

    def record(self) -> dict[str, Any]:
        """`{"imported", "ids"}`."""
        return {"imported": len(self.ids), "ids": list(self.ids)}


@operation(needs("agent:read", each("agent:id", "agents_list")), http="GET /agents")
def list_agents(ctx: Context, agents_list: Selection = None, query: ListQuery | None = None) -> Items[Agent]:
    """List agents: those that are named, or all that the caller may read."""
    agents, total = ctx.store.agents.list(agents_list or (), query or ListQuery(), ctx.now())
    return Items(agents, total=total)


@operation(needs("agent:read", each("agent:id", "agents_list")), http="GET /agents/summary/status")
def summarise(ctx: Context, agents_list: Selection = None) -> Items[Summary]:
    """Count the agents that the caller may read, by connection and by configuration; one item."""
    rows = ctx.store.agents.tally(agents_list or (), ctx.now())
    connection = dict.fromkeys((*STATUSES, "total"), 0)
    configuration = {"synced": 0, "not_synced": 0, "total": 0}
    for status, configured, count in rows:
        for counts, name in ((connection, status), (configuration, configured.replace(" ", "_"))):
            counts[name] += count
            counts["total"] += count
    return Items([Summary(connection, configuration)])


@operation(
    needs(_CREATE), needs("group:modify_assignments", one("group:id", "groups")), http="POST /agents/insert"
)
def create_agent(
    ctx: Context,
    name: str,
    agent_id: str | None = None,
    ip: str = ANY_ADDRESS,
    groups: Sequence[str] = (),
    folder: str | None = None,
) -> CreatedAgent:
    """Register an agent, in `default` unless groups are given; its key is generated and shown here."""
    import secrets

    check_agent_name(name)
    number = None if agent_id is None else check_agent_id(agent_id)
    address, wanted, key = check_address(ip), check_groups(groups), secrets.token_hex(32)
    enter(ctx, wanted)
    with ctx.atomic():
        _refuse_name(ctx, name)
        _refuse_address(ctx, address)
        if number is not None and ctx.store.agents.exists(number):
            raise ConflictError(f"agent id `{padded_id(number)}` is taken", code=ID_TAKEN)
        place = _checked_folder(ctx, folder) if folder else None
        number = _claimed(ctx, number)
        new = NewAgent(number, name, address, key, ",".join(wanted or FALLBACK), place)
        ctx.store.agents.add([new], ctx.now())
        agent = ctx.store.agents.get(number, ctx.now())
    return CreatedAgent(agent, key, Conflicts(ctx).among(wanted))


@operation(needs(_CREATE), http="POST /agents/import")
def import_agents(ctx: Context, file_name: str, data: bytes) -> Imported:
    """Register the agents of a CSV or NDJSON file in one transaction, or none: InvalidError with every fault."""
    from mgmtctl.domain.fleet_import import Taken, judge, read_fleet

    rows, findings = read_fleet(data, file_name)
    enter_once = functools.cache(lambda group: enter(ctx, (group,)))  # many combinations share few groups
    with ctx.atomic():
        with _folder_check(ctx) as check_folder:
            taken = Taken(*ctx.store.agents.taken())
            agents = judge(rows, findings, taken, lambda groups: [*map(enter_once, groups)], check_folder)
        findings.refuse()
        new = _numbered(ctx, agents)
        ctx.store.agents.add(new, ctx.now())
    found = Conflicts(ctx)
    conflicts = [found.among(tuple(text.split(","))) for text in sorted({agent.groups for agent in new})]
    return Imported(
        tuple(padded_id(agent.id) for agent in new),
        tuple(dict.fromkeys(conflict for some in conflicts for conflict in some)),
    )


@operation(needs(_CREATE), needs("agent:read", one("agent:id", "agent_id")), http="PUT /agents/{agent_id}")
def set_agent(
    ctx: Context,
    agent_id: str,
    name: str | None = None,
    ip: str | None = None,
    folder: str | None = None,
    groups: Sequence[str] | None = None,
) -> Assignment:
    """Change an agent's name, registered address, folder (empty: the default one) or groups; all or nothing."""
    if name is None and ip is None and folder is None and groups is None:
        raise QuestionError("nothing to change", fix="give a name, an address, a folder or groups")
    number = int(agent_id)
    with ctx.atomic():
        before = ctx.store.agents.get(number, ctx.now())
        if name is not None and check_agent_name(name).casefold() != before.name.casefold():
            _refuse_name(ctx, name)
        address = before.register_ip if ip is None else check_address(ip)
        if address != before.register_ip:
            _refuse_address(ctx, address)
        place = (
            before.folder if folder is None else _checked_folder(ctx, folder, agent_id) if folder else None
        )
        ctx.store.agents.set(number, name=name or before.name, register_ip=address, folder=place)
        if name is not None and name != before.name:
            ctx.store.accepted.distrust(before.groups)
        if place != before.folder:
            ctx.store.sync_state.begin([number])
        if groups is not None:
            access.demand(ctx, "agent:modify_group", "agent:id", agent_id)
        return _only(*regroup(ctx, [agent_id], _exactly(groups), told=groups is not None))


@operation(_MODIFY_GROUP, http="PUT /agents/{agent_id}/groups")
def set_agent_groups(ctx: Context, agent_id: str, groups: Sequence[str]) -> Assignment:
    """Give an agent exactly these groups, in this order."""
    return _only(*regroup(ctx, [agent_id], _exactly(groups)))


@operation(needs("agent:delete", each("agent:id", "agents_list")), http="DELETE /agents")
def delete_agents(ctx: Context, agents_list: Selection, purge: bool = False) -> Items[Agent]:
    """Delete the named agents; their folders stay, unless `purge` takes away what was put there."""
    if agents_list is None or isinstance(agents_list, Scope):
        raise QuestionError("no agents to delete", fix="name them")
    failed: list[tuple[str, MgmtctlError]] = []
    if purge and agents_list and not ctx.dry_run:
        with ctx.folders.lock("sync", "mgmtctl agents delete --purge"), ctx.atomic():
            failed = _purge(ctx, agents_list)
            return _deleted(ctx, [one for one in agents_list if one not in dict(failed)], failed)
    with ctx.atomic():
        return _deleted(ctx, agents_list, failed)


@operation(needs("agent:read", one("agent:id", "agent_id")), http="GET /agents/{agent_id}/key")
def show_key(ctx: Context, agent_id: str) -> AgentKey:
    """Show the key of an agent."""
    return AgentKey(agent_id, ctx.store.agents.key(int(agent_id)))


@operation(_MODIFY_GROUP, _ASSIGN, http="PUT /agents/{agent_id}/group/{group_id}")
def add_agent_to_group(ctx: Context, agent_id: str, group_id: str, position: int | None = None) -> Assignment:
    """Put an agent into a group, after the groups it has or at a position (from 1); a member stays one."""
    enter(ctx, [group_id])
    return _only(*regroup(ctx, [agent_id], lambda groups: with_group(groups, group_id, position)))


@operation(_MODIFY_GROUP, _ASSIGN, http="DELETE /agents/{agent_id}/group/{group_id}")
def remove_agent_from_group(ctx: Context, agent_id: str, group_id: str) -> Assignment:
    """Take an agent out of a group; without another it falls back to `default`."""
    _require_known(ctx, group_id, [agent_id])
    return _only(*regroup(ctx, [agent_id], lambda groups: without_group(groups, group_id)))


@operation(_MODIFY_GROUP_OF_EACH, _ASSIGN, http="PUT /agents/group")
def add_agents_to_group(
    ctx: Context, group_id: str, agents_list: Selection = None, position: int | None = None
) -> Items[Assignment]:
    """Put agents into a group, after the groups they have or at a position (from 1)."""
    enter(ctx, [group_id])
    done, failed = regroup(ctx, _ids(ctx, agents_list), lambda groups: with_group(groups, group_id, position))
    return Items(done, grouped(failed))


@operation(_MODIFY_GROUP_OF_EACH, _ASSIGN, http="DELETE /agents/group")
def remove_agents_from_group(ctx: Context, group_id: str, agents_list: Selection = None) -> Items[Assignment]:
    """Take agents out of a group; those without another fall back to `default`."""
    ids = _ids(ctx, agents_list)
    _require_known(ctx, group_id, ids)
    done, failed = regroup(ctx, ids, lambda groups: without_group(groups, group_id))
    return Items(done, grouped(failed))


def _only(done: Sequence[Assignment], failed: Sequence[tuple[str, MgmtctlError]]) -> Assignment:
    """What became of the one agent, or the error that it met."""
    for _, error in failed:
        raise error
    if not done:
        raise ConflictError("the agent was deleted meanwhile")
    return done[0]


def _exactly(groups: Sequence[str] | None) -> Callable[[Groups], Groups]:
    """A change to these groups; None changes nothing."""
    if groups is None:
        return lambda before: before
    if not groups:
        raise InvalidError(
            "an agent needs a group", fix=f"`{FALLBACK[0]}` is the one that every agent may have"
        )
    return lambda before: check_groups(groups)


def _ids(ctx: Context, agents_list: Selection) -> list[str]:
    return ctx.store.agents.ids(agents_list) if isinstance(agents_list, Scope) else list(agents_list or ())


def _require_known(ctx: Context, group: str, ids: Sequence[str]) -> None:
    """NotFoundError for a group that neither exists nor is left over as a group of one of these agents."""
    if not ctx.folders.group_exists(group) and not any(
        group in groups for groups in ctx.store.agents.groups_of_each(ids).values()
    ):
        raise access.not_found("group:id", group)


def _refuse_name(ctx: Context, name: str) -> None:
    if ctx.store.agents.find(name) is not None:
        raise ConflictError(
            f"agent `{name}` exists already",
            why="names are compared without regard to letter case",
            code=NAME_TAKEN,
        )


def _refuse_address(ctx: Context, address: str) -> None:
    if address != ANY_ADDRESS and ctx.store.agents.address_taken(address):
        raise ConflictError(
            f"another agent registered from `{address}`",
            fix=f"agents that share an address register from `{ANY_ADDRESS}`",
            code=BAD_ADDRESS,
        )


def _claimed(ctx: Context, number: int | None) -> int:
    """A new id, or the wanted one, which later ones are all above."""
    if number is None:
        return ctx.store.agents.claim(1)
    ctx.store.agents.claim(0, number)
    return number


def _checked_folder(ctx: Context, folder: str, but: str = "") -> str:
    with _folder_check(ctx, but) as check:
        return check(folder)


def _numbered(ctx: Context, agents: Sequence[fleet_import.Agent]) -> list[NewAgent]:
    """The rows of imported agents: new ids above every given one, and a new key for each."""
    import secrets

    explicit = [agent.number for agent in agents if agent.number is not None]
    first = ctx.store.agents.claim(len(agents) - len(explicit), max(explicit, default=0))
    free = iter(range(first, first + len(agents)))
    keys = secrets.token_hex(32 * len(agents))
    return [
        NewAgent(
            next(free) if agent.number is None else agent.number,
            agent.name,
            agent.ip,
            keys[64 * place : 64 * place + 64],
            agent.groups or FALLBACK[0],
            agent.folder,
        )
        for place, agent in enumerate(agents)
    ]


@contextmanager
def _folder_check(ctx: Context, but: str = "") -> Iterator[Callable[[str], str]]:
    """Gives the normal form of a folder that an agent may be given (D 8), each only once; `but` owns its own."""
    claims = FolderClaims(path for path, owner in ctx.store.agents.folders().items() if owner != but)
    with ctx.folders.agent_folders(ctx.store.settings.get("agents.folder_roots")) as folders:
        yield lambda folder: claims.claim(folders.check(folder))


def _deleted(
    ctx: Context, ids: Sequence[str], failed: Sequence[tuple[str, MgmtctlError]] = ()
) -> Items[Agent]:
    agents, _ = ctx.store.agents.list(ids, ListQuery(), ctx.now())
    ctx.store.agents.delete(ids)
    return Items(agents, grouped(failed))


def _purge(ctx: Context, ids: Sequence[str]) -> list[tuple[str, MgmtctlError]]:
    """Take away what was put into the agents' folders; those where that failed, which are then kept."""
    from mgmtctl.folders.agents import Place

    failed: list[tuple[str, MgmtctlError]] = []
    manifest = ctx.store.sync_state.manifest
    with ctx.folders.agent_folders(ctx.store.settings.get("agents.folder_roots")) as folders:
        for member in ctx.store.sync_state.members(ids):
            try:
                folders.purge(
                    Place(member.agent_id, member.folder), manifest(member.pushed_digest) or {}, manifest
                )
            except MgmtctlError as error:
                failed.append((member.agent_id, error))
    return failed
