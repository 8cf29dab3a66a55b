"""Groups: list, create and delete them, and who belongs to them (S 2.9, D 5).

Rules: a group exists exactly when its folder does; a count tells only of members that the caller may read; deleting a
group moves its members in the same transaction, and refuses while policies name it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mgmtctl.domain import revisions
from mgmtctl.domain.errors import ConflictError, MgmtctlError, NotFoundError, QuestionError
from mgmtctl.domain.groups import DEFAULT_GROUP, check_group_name
from mgmtctl.domain.memberships import FALLBACK, Groups
from mgmtctl.domain.queries import NUMBER, TEXT, Fields, ListQuery, apply_query
from mgmtctl.domain.scopes import Scope
from mgmtctl.folders.groups import EMPTY_AGENT_CONF
from mgmtctl.operations import access, recording, restoring
from mgmtctl.operations.context import Context
from mgmtctl.operations.memberships import preview
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items, grouped

if TYPE_CHECKING:
    from mgmtctl.domain.agents import Agent

FIELDS: Fields = {"name": TEXT, "count": NUMBER, "mergedSum": TEXT, "configSum": TEXT}
ALGORITHMS = (
    *("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "blake2s"),
    *("sha3_224", "sha3_256", "sha3_384", "sha3_512"),
)
EXISTS, IS_DEFAULT, IS_FILE, UNKNOWN_ALGORITHM = 1711, 1712, 1713, 1723
_MERGED, _CONFIG = "merged.mg", "agent.conf"


@dataclass(frozen=True, slots=True)
class Group:
    """A group; `count` of the members that the caller may read, checksums of its merged file and its agent.conf.

    Of one that was created anew, `earlier` is the revision of the files that it had.
    """

    name: str
    count: int
    merged_sum: str | None = None
    config_sum: str | None = None
    earlier: int | None = None

    def record(self) -> dict[str, Any]:
        """The fixed form (reference/groups.md 1.6); a checksum has no key when its file is missing.

        `earlier` is there when it is known.
        """
        found = {"name": self.name, "count": self.count}
        sums = {"mergedSum": self.merged_sum, "configSum": self.config_sum, "earlier": self.earlier}
        return {**found, **{name: value for name, value in sums.items() if value is not None}}


@dataclass(frozen=True, slots=True)
class DeletedGroup:
    """A group that was deleted: members that left it, those among them that fell back to `default`, and policies that
    still name it; each as far as the caller may read them."""

    name: str
    members: int
    fallen: int = 0
    policies: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """`{"name", "members", "fallen", "policies"}`."""
        found = {"name": self.name, "members": self.members, "fallen": self.fallen}
        return {**found, "policies": list(self.policies)}


@operation(needs("group:read", each("group:id", "groups_list")), http="GET /groups")
def list_groups(
    ctx: Context,
    groups_list: Selection = None,
    query: ListQuery | None = None,
    hash: str = "sha256",  # noqa: A002 - the parameter of the API
) -> Items[Group]:
    """List groups: those that are named, or all that the caller may read; `hash` is the algorithm of checksums."""
    if hash not in ALGORITHMS:
        fix = f"one of {', '.join(ALGORITHMS)}"
        raise QuestionError(f"unknown hash `{hash}`", fix=fix, code=UNKNOWN_ALGORITHM)
    names, missing = _chosen(ctx, groups_list)
    counts = ctx.store.agents.counts(access.scope(ctx, "agent:read", "agent:id"))
    groups = [_group(ctx, name, counts.get(name, 0), hash) for name in names]
    found, total = apply_query(groups, query or ListQuery(), FIELDS, ctx.now())
    return Items(found, grouped(missing), total)


@operation(needs("group:create"), http="POST /groups")
def create_group(ctx: Context, name: str) -> Group:
    """Create a group: its folder with an agent.conf that holds one empty block."""
    check_group_name(name)
    if name.casefold() == DEFAULT_GROUP or ctx.folders.group_exists(name):
        raise ConflictError(f"group `{name}` exists already", code=EXISTS)
    if ctx.folders.taken_by_file(name):
        raise ConflictError(f"`{name}` cannot name a group, a shared file is called so", code=IS_FILE)
    if ctx.dry_run:
        return Group(name, 0)
    earlier = restoring.last_files(ctx.store, name)
    with recording.alone(ctx, "groups create"):
        files = {_CONFIG: EMPTY_AGENT_CONF}
        recording.change(ctx, name, revisions.CREATE, files, make=lambda: ctx.folders.create_group(name))
    return replace(_group(ctx, name, 0, "sha256"), earlier=earlier)


@operation(needs("group:delete", each("group:id", "groups_list")), http="DELETE /groups")
def delete_groups(ctx: Context, groups_list: Selection, force: bool = False) -> Items[DeletedGroup]:
    """Delete the named groups with their files; members without another group fall back to `default`.

    A group that policies name fails with ConflictError unless `force`.
    """
    if groups_list is None or isinstance(groups_list, Scope):
        raise QuestionError("no groups to delete", fix="name them")
    done: list[DeletedGroup] = []
    failed: list[tuple[str, MgmtctlError]] = []
    for name in groups_list:
        try:
            done.append(_delete(ctx, name, force))
        except (ConflictError, NotFoundError) as error:
            failed.append((name, error))
    if ctx.dry_run:
        preview(ctx, _moves(ctx, {group.name for group in done}))
    return Items(done, grouped(failed))


@operation(
    needs("group:read", one("group:id", "group_id")),
    needs("agent:read", each("agent:id", "agents_list")),
    http="GET /groups/{group_id}/agents",
)
def list_group_agents(
    ctx: Context, group_id: str, agents_list: Selection = None, query: ListQuery | None = None
) -> Items[Agent]:
    """List the members of a group, as far as the caller may read them."""
    if not ctx.folders.group_exists(group_id):
        raise access.not_found("group:id", group_id)
    agents, total = ctx.store.agents.list(agents_list or (), query or ListQuery(), ctx.now(), group=group_id)
    return Items(agents, total=total)


def _chosen(ctx: Context, groups_list: Selection) -> tuple[list[str], list[tuple[str, MgmtctlError]]]:
    """The names of existing groups that are meant, sorted, and those that do not exist."""
    if isinstance(groups_list, Scope):
        return [name for name in ctx.folders.group_names() if groups_list.covers(name)], []
    known = set(ctx.folders.group_names())
    named = groups_list or ()
    missing = [(name, access.not_found("group:id", name)) for name in named if name not in known]
    return sorted(known.intersection(named)), list(missing)


def _group(ctx: Context, name: str, count: int, algorithm: str) -> Group:
    """A group with its checksums, read from its folder."""

    def digest(file: str) -> str | None:
        try:
            return hashlib.new(
                algorithm, ctx.folders.read_file(name, file), usedforsecurity=False
            ).hexdigest()
        except MgmtctlError:  # missing, or not readable: `files list` says which
            return None

    return Group(name, count, digest(_MERGED), digest(_CONFIG))


def _delete(ctx: Context, name: str, force: bool) -> DeletedGroup:
    """Delete one group in one transaction; its folder is only put aside until the transaction is committed."""
    if name == DEFAULT_GROUP:
        raise ConflictError(f"group `{DEFAULT_GROUP}` cannot be deleted", code=IS_DEFAULT)
    if not ctx.folders.group_exists(name):
        raise access.not_found("group:id", name)
    named, visible = _policies_naming(ctx, name)
    if named and not force:
        listed = f": {', '.join(f'`{policy}`' for policy in visible)}" if visible else ""
        raise ConflictError(
            f"group `{name}` is named by policies{listed}", fix="change them first, or use --force"
        )
    readable = access.scope(ctx, "agent:read", "agent:id")
    members = ctx.store.agents.counts(readable).get(name, 0)
    fallen = ctx.store.agents.alone_in(name, readable)

    def leave() -> None:
        folder = nullcontext() if ctx.dry_run else ctx.folders.deleting_group(name, ctx.warnings)
        with folder, ctx.atomic():
            ctx.store.agents.leave_group(name)
            ctx.store.accepted.forget(name)
            ctx.store.accepted.distrust([DEFAULT_GROUP])  # agents may have come to it

    with recording.alone(ctx, "groups delete"):
        if ctx.dry_run:
            leave()
        recording.change(ctx, name, revisions.DELETE, {}, make=leave)
    return DeletedGroup(name, members, fallen, visible)


def _moves(ctx: Context, gone: Collection[str]) -> dict[tuple[Groups, Groups], frozenset[str]]:
    """The members of groups that go, by the groups that they have and will have."""
    members = dict.fromkeys(member for name in gone for member in ctx.store.agents.members(name))
    found: dict[tuple[Groups, Groups], set[str]] = {}
    for member, before in ctx.store.agents.groups_of_each(members).items():
        after = tuple(name for name in before if name not in gone) or FALLBACK
        found.setdefault((before, after), set()).add(member)
    return {move: frozenset(ids) for move, ids in found.items()}


def _policies_naming(ctx: Context, group: str) -> tuple[bool, tuple[str, ...]]:
    """Whether any policy names the group, and the names of those that the caller may read."""
    resources = {f"agent:group:{group}", f"group:id:{group}"}
    naming = [
        policy
        for policy in ctx.store.policies.list()
        if any(str(resource) in resources for block in policy.blocks for resource in block.resources)
    ]
    readable = access.scope(ctx, "security:read", "policy:id")
    return bool(naming), tuple(policy.name for policy in naming if readable.covers(str(policy.id)))
