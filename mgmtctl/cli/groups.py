"""`mgmtctl groups`: groups of agents and who belongs to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.options import AgentRefs, GroupName, GroupNames, NewName

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mgmtctl.operations.groups import DeletedGroup
    from mgmtctl.operations.memberships import Assignment
    from mgmtctl.operations.results import Items

noun = Noun("groups", "Groups of agents.")

_COLUMNS = ("name", "count")
_PARTLY = {3: "some items failed (they are listed)"}
_MOST_TOLD = 5
_Hash = typer.Option(
    "--hash", metavar="NAME", help="Algorithm of the checksums: sha256, md5, ...", show_default=False
)


@noun.list(
    examples=["mgmtctl groups list", "mgmtctl groups list --where 'count>0' -o json"], columns=_COLUMNS
)
def list_(session: CliSession, hash_name: Annotated[str, _Hash] = "sha256") -> None:
    """List the groups you may read, with the number of agents you may read in each.

    `-o wide` and `-o json` also show the checksums of merged.mg and agent.conf.
    """
    from mgmtctl.operations import groups

    session.show(groups.list_groups(session.context, query=session.query, hash=hash_name))


@noun.read(
    "show",
    examples=["mgmtctl groups show web", "mgmtctl groups show web db -o json"],
    columns=_COLUMNS,
    exits=_PARTLY,
)
def show(
    session: CliSession,
    names: Annotated[list[str], GroupNames],
    hash_name: Annotated[str, _Hash] = "sha256",
) -> None:
    """Show groups: their members counted, and the checksums of merged.mg and agent.conf."""
    from mgmtctl.operations import groups

    found = groups.list_groups(session.context, session.refs(names), hash=hash_name)
    one = len(found.affected) == 1 and len(names) == 1 and not found.failed and names != ["-"]
    session.show(found.affected[0] if one else found)


@noun.write("create", examples=["mgmtctl groups create web"])
def create(session: CliSession, name: Annotated[str, NewName]) -> None:
    """Create a group, with an agent.conf that holds one empty block."""
    from mgmtctl.operations import groups

    group = groups.create_group(session.context, name)
    session.done(f"{_verb(session, 'created', 'create')} group `{group.name}`", group)
    if group.earlier is not None:
        back = f"mgmtctl files rollback {group.name} --to {group.earlier}"
        session.say(f"its agent.conf is empty; the files that it had until r{group.earlier}: {back}")


@noun.write(
    "delete",
    examples=["mgmtctl groups delete web", "mgmtctl groups delete web --force -y"],
    asks=True,
    exits=_PARTLY,
)
def delete(
    session: CliSession,
    names: Annotated[list[str], GroupNames],
    force: Annotated[
        bool, typer.Option("--force", help="Also when policies name the group.", show_default=False)
    ] = False,
) -> None:
    """Delete groups with their files; members without another group fall back to `default`.

    It says how many agents leave, as far as you may read them, and asks with that.
    """
    from mgmtctl.operations import groups

    named = session.refs(names)
    if not (session.yes or session.dry_run):
        planned = _planned(session, named, force)
        if not planned.affected:
            session.done("", planned)
            return
        session.confirm(f"delete {_leaving(planned.affected, 'would leave')}, with all files")
    deleted = groups.delete_groups(session.context, named, force)
    told = _leaving(deleted.affected, _verb(session, "left", "leave"))
    session.done(f"{_verb(session, 'deleted', 'delete')} {told}", deleted)
    for group in deleted.affected:
        for policy in group.policies:
            session.warn(f"policy `{policy}` still names group `{group.name}`")


@noun.list(
    "agents",
    examples=["mgmtctl groups agents web", "mgmtctl groups agents web --where name~web -o id"],
    columns=("id", "name", "group", "group_config_status"),
    exits={5: "no such group"},
)
def agents_(session: CliSession, name: Annotated[str, GroupName]) -> None:
    """List the members of a group that you may read."""
    from mgmtctl.operations import groups

    session.show(groups.list_group_agents(session.context, name, query=session.query))


@noun.write(
    "add-agents",
    examples=[
        "mgmtctl groups add-agents web web-1 web-2",
        "mgmtctl agents list --where name~db -o id | mgmtctl groups add-agents db -",
    ],
    exits=_PARTLY,
)
def add_agents(
    session: CliSession,
    name: Annotated[str, GroupName],
    references: Annotated[list[str], AgentRefs],
    position: Annotated[
        int | None,
        typer.Option(
            "--position",
            metavar="N",
            help="Its place among each agent's groups, from 1; without it the last.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Put agents into a group, after the groups they have: the last group wins."""
    from mgmtctl.operations import agents

    done = agents.add_agents_to_group(session.context, name, session.refs(references), position)
    _told(session, f"{_verb(session, 'put', 'put')} {{}} into group `{name}`", done)


@noun.write("remove-agents", examples=["mgmtctl groups remove-agents web web-1"], exits=_PARTLY)
def remove_agents(
    session: CliSession, name: Annotated[str, GroupName], references: Annotated[list[str], AgentRefs]
) -> None:
    """Take agents out of a group; those without another belong to `default`."""
    from mgmtctl.operations import agents

    done = agents.remove_agents_from_group(session.context, name, session.refs(references))
    _told(session, f"{_verb(session, 'took', 'take')} {{}} out of group `{name}`", done)


def _planned(session: CliSession, names: list[str], force: bool) -> Items[DeletedGroup]:
    """What deleting the groups would do, by a dry run of it."""
    from mgmtctl.operations import groups

    context = session.context
    context.dry_run = context.store.dry_run = True
    try:
        return groups.delete_groups(context, names, force)
    finally:
        context.dry_run = context.store.dry_run = False
        context.impacts.clear()


def _leaving(deleted: Sequence[DeletedGroup], verb: str) -> str:
    """The groups, each with the agents that leave it."""
    told = []
    for group in deleted[:_MOST_TOLD]:
        fallen = "" if group.fallen == group.members else f"{group.fallen} of them "
        default = f", {fallen}for `default`" if group.fallen else ""
        told.append(f"`{group.name}` ({_counted(group.members)} {verb} it{default})")
    more = len(deleted) - len(told)
    told += [f"{more} more"] if more else []
    return f"group{'' if len(deleted) == 1 else 's'} {', '.join(told)}"


def _verb(session: CliSession, done: str, would: str) -> str:
    """What was done, or what a dry run says of it."""
    return f"would {would}" if session.dry_run else done


def _told(session: CliSession, text: str, done: Items[Assignment]) -> None:
    """Say how many agents changed, and once which files their groups disagree on."""
    from mgmtctl.domain.memberships import disagreement

    changed = sum(item.changed for item in done.affected)
    same = len(done.affected) - changed
    rest = f", {same} unchanged" if same else ""
    session.done(text.format(_counted(changed)) + rest, done)
    for conflict in dict.fromkeys(conflict for item in done.affected for conflict in item.conflicts):
        session.warn(disagreement(conflict))


def _counted(agents: int) -> str:
    return f"{agents} agent{'' if agents == 1 else 's'}"
