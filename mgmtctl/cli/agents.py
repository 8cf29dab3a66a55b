"""`mgmtctl agents`: the fleet, and the groups each agent is in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.options import AgentRef, AgentRefs, GroupName, NewName

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mgmtctl.domain.merging import Conflict
    from mgmtctl.operations.memberships import Assignment

noun = Noun("agents", "Agents and the groups they are in.")

# What fits 80 characters beside a long name; `-o wide` shows every field.
_COLUMNS = ("id", "name", "group", "group_config_status")
_PARTLY = {3: "some agents failed (they are listed)"}
_Ip = typer.Option(
    "--ip", metavar="ADDRESS", help="Address or network it registers from, or `any`.", show_default=False
)
_Folder = typer.Option(
    "--folder",
    metavar="PATH",
    help="Its folder, below one of the folder roots; without it one named by its id.",
    show_default=False,
)
_Position = typer.Option(
    "--position", metavar="N", help="Its place among the agent's groups, from 1; without it the last.",
    show_default=False,
)  # fmt: skip


@noun.list(
    examples=[
        "mgmtctl agents list --where 'group=web;name~web-' --sort -dateAdd",
        "mgmtctl agents list --select id,name,ip,status -o json",
    ],
    columns=_COLUMNS,
)
def list_(session: CliSession) -> None:
    """List the agents you may read.

    Fields for --where, --sort and --select are those of `agents show -o json`; `7d` is a date seven days ago.
    """
    from mgmtctl.operations import agents

    session.show(agents.list_agents(session.context, query=session.query))


@noun.read(
    "show",
    examples=["mgmtctl agents show web-1", "mgmtctl agents show 001 002 -o json"],
    columns=_COLUMNS,
    exits=_PARTLY,
)
def show(session: CliSession, references: Annotated[list[str], AgentRefs]) -> None:
    """Show agents by name or id."""
    from mgmtctl.operations import agents

    found = agents.list_agents(session.context, session.refs(references))
    one = len(found.affected) == 1 and len(references) == 1 and not found.failed and references != ["-"]
    session.show(found.affected[0] if one else found)


@noun.write(
    "create",
    examples=[
        "mgmtctl agents create web-1 --group web",
        "mgmtctl agents create db-1 --id 42 --ip 10.0.0.7 --group default --group db",
    ],
)
def create(
    session: CliSession,
    name: Annotated[str, NewName],
    agent_id: Annotated[
        str | None,
        typer.Option("--id", metavar="N", help="Its id; without it the next free one.", show_default=False),
    ] = None,
    ip: Annotated[str, _Ip] = "any",
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", metavar="GROUP", help="A group; more than one in order.", show_default=False),
    ] = None,
    folder: Annotated[str | None, _Folder] = None,
) -> None:
    """Register an agent and show its id and key.

    Without a group it belongs to `default`. When two groups hold a file of the same name, the last one wins.
    """
    from mgmtctl.operations import agents

    created = agents.create_agent(session.context, name, agent_id, ip, groups or (), folder)
    verb = _verb(session, "created", "create")
    session.done(f"{verb} agent `{created.agent.name}` with id {created.agent.id}", created)
    if session.output.asked is None and not session.dry_run:
        session.show(agents.AgentKey(created.agent.id, created.key))
    _warn(session, created.conflicts)


@noun.write(
    "import",
    examples=["mgmtctl agents import fleet.csv -n", "mgmtctl agents import fleet.ndjson"],
)
def import_(
    session: CliSession,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="CSV or NDJSON; `-` reads stdin.", show_default=False)
    ],
) -> None:
    """Register the agents of a file, all or none.

    Columns: name (required), id, ip, groups (in order, separated by `,`) and folder. CSV names them in its first line.
    """
    from mgmtctl.operations import agents

    data, shown = session.read_input(file)
    imported = agents.import_agents(session.context, shown, data)
    count = len(imported.ids)
    verb = _verb(session, "imported", "import")
    session.done(f"{verb} {count} agent{'' if count == 1 else 's'}", imported)
    _warn(session, imported.conflicts)


@noun.write(
    "set",
    examples=["mgmtctl agents set web-1 --groups default,web,pci", "mgmtctl agents set web-1 --name web-01"],
)
def set_(
    session: CliSession,
    reference: Annotated[str, AgentRef],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Another name.", show_default=False)
    ] = None,
    ip: Annotated[str | None, _Ip] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            metavar="GROUPS",
            help="Exactly these groups, separated by commas; the last one wins.",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[str | None, _Folder] = None,
) -> None:
    """Change an agent's name, address, folder or groups."""
    from mgmtctl.operations import agents

    wanted = None if groups is None else [part.strip() for part in groups.split(",") if part.strip()]
    if wanted is not None and name is None and ip is None and folder is None:
        changed = agents.set_agent_groups(session.context, reference, wanted)
    else:
        changed = agents.set_agent(session.context, reference, name, ip, folder, wanted)
    session.done(f"{_verb(session, 'changed', 'change')} agent `{changed.agent.name}`", changed)
    _warn(session, changed.conflicts)


@noun.write(
    "delete",
    examples=["mgmtctl agents delete web-1", "mgmtctl agents delete 001 002 --purge -y"],
    asks=True,
    exits=_PARTLY,
)
def delete(
    session: CliSession,
    references: Annotated[list[str], AgentRefs],
    purge: Annotated[
        bool,
        typer.Option("--purge", help="Also remove what was put into their folders.", show_default=False),
    ] = False,
) -> None:
    """Delete agents; their folders stay."""
    from mgmtctl.operations import agents

    named = session.refs(references)
    session.confirm(f"delete {_several(named)}")
    deleted = agents.delete_agents(session.context, named, purge)
    gone = _several([agent.name for agent in deleted.affected])
    session.done(f"{_verb(session, 'deleted', 'delete')} {gone}", deleted)


@noun.read("summary", examples=["mgmtctl agents summary", "mgmtctl agents summary -o json"])
def summary(session: CliSession) -> None:
    """Count the agents you may read, by connection and by configuration."""
    from mgmtctl.operations import agents

    session.show(agents.summarise(session.context).affected[0])


@noun.read("key", examples=["mgmtctl agents key web-1", "mgmtctl agents key 001 --select key -o value"])
def key(session: CliSession, reference: Annotated[str, AgentRef]) -> None:
    """Show the key of an agent."""
    from mgmtctl.operations import agents

    session.show(agents.show_key(session.context, reference))


@noun.write(
    "add-group",
    examples=["mgmtctl agents add-group web-1 pci", "mgmtctl agents add-group web-1 base --position 1"],
)
def add_group(
    session: CliSession,
    reference: Annotated[str, AgentRef],
    group: Annotated[str, GroupName],
    position: Annotated[int | None, _Position] = None,
) -> None:
    """Put an agent into a group, after the groups it has: the last group wins."""
    from mgmtctl.operations import agents

    changed = agents.add_agent_to_group(session.context, reference, group, position)
    session.done(_membership(session, changed), changed)
    _warn(session, changed.conflicts)


@noun.write("remove-group", examples=["mgmtctl agents remove-group web-1 pci"])
def remove_group(
    session: CliSession, reference: Annotated[str, AgentRef], group: Annotated[str, GroupName]
) -> None:
    """Take an agent out of a group; without another it belongs to `default`."""
    from mgmtctl.operations import agents

    changed = agents.remove_agent_from_group(session.context, reference, group)
    session.done(_membership(session, changed), changed)
    _warn(session, changed.conflicts)


def _verb(session: CliSession, done: str, would: str) -> str:
    """What was done, or what a dry run says of it."""
    return f"would {would}" if session.dry_run else done


def _membership(session: CliSession, changed: Assignment) -> str:
    verb = _verb(session, "is now in", "be in") if changed.changed else _verb(session, "stays in", "stay in")
    return f"agent `{changed.agent.name}` {verb} {', '.join(changed.agent.groups)}"


def _several(names: list[str]) -> str:
    if len(names) == 1:
        return f"agent `{names[0]}`"
    return f"{len(names)} agents"


def _warn(session: CliSession, conflicts: Iterable[Conflict]) -> None:
    """Say which files of the same name several groups hold."""
    from mgmtctl.domain.memberships import disagreement

    for conflict in conflicts:
        session.warn(disagreement(conflict))
