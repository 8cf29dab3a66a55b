"""Policies: list, create, change and delete them (S 2.3; D 1, D 2; reference/security.md 2).

Rules: a document is checked whole before anything is stored; reserved policies never change; a change ends the sessions
of each role that has the policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import ConflictError, InvalidError, MgmtctlError
from mgmtctl.domain.fields import ID, TEXT
from mgmtctl.domain.grants import ALLOW, covers
from mgmtctl.domain.links import Changed, renamed
from mgmtctl.domain.policies import Block, Policy, block_changes, check_policy, parse_policy, policy_record
from mgmtctl.domain.policy_entries import Entries, with_entries, without_entries
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.users import check_name, is_reserved
from mgmtctl.operations import access, delegation, links
from mgmtctl.operations.context import Context
from mgmtctl.operations.links import LinkedItems
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items, grouped

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.store.store import Store


@dataclass(frozen=True, slots=True)
class LinkedPolicy:
    """A policy with the ids of the roles that have it."""

    policy: Policy
    roles: tuple[int, ...]

    @property
    def name(self) -> str:
        return self.policy.name

    def record(self) -> dict[str, object]:
        """The fixed JSON form (design: command line, fixed forms)."""
        return policy_record(self.policy, self.roles)


@operation(needs("security:read", each("policy:id", "policy_ids")), http="GET /security/policies")
def list_policies(
    ctx: Context, policy_ids: Selection = None, query: ListQuery | None = None
) -> LinkedItems[LinkedPolicy]:
    """List policies: those that are named, or all that the caller may read."""
    chosen = ctx.store.policies.chosen(policy_ids or ())
    found = [LinkedPolicy(policy, ctx.store.policies.roles_of(policy.id)) for policy in chosen]
    fields = {"id": ID, "name": TEXT, "blocks": TEXT}
    return links.listed(ctx, found, query, fields, "roles")


@operation(needs("security:create"), http="POST /security/policies")
def create_policy(ctx: Context, name: str, document: object) -> LinkedPolicy:
    """Create a policy from a document in any of the forms of a policy; InvalidError with every fault of it."""
    blocks = parse_policy(document, check_name("policy", name))
    with ctx.atomic():
        policy_id = ctx.store.policies.add(name, blocks)
        return _linked(ctx, ctx.store.policies.get(policy_id))


@operation(needs("security:update", one("policy:id", "policy_id")), http="PUT /security/policies/{policy_id}")
def update_policy(
    ctx: Context,
    policy_id: str,
    name: str | None = None,
    document: object = None,
    accept_risk: Sequence[str] = (),
) -> Changed[LinkedPolicy]:
    """Change the name of a policy, its blocks, or both; what was not given stays."""
    if name is None and document is None:
        raise InvalidError("nothing to change; expected a name or a document", code=4001)

    def blocks(before: Policy) -> Sequence[Block]:
        return before.blocks if document is None else parse_policy(document, name or before.name)

    return _changed(ctx, int(policy_id), blocks, accept_risk, name)


@operation(
    needs("security:update", one("policy:id", "policy_id")),
    http="POST /security/policies/{policy_id}/entries",
)
def add_entries(
    ctx: Context,
    policy_id: str,
    actions: Sequence[str],
    resources: Sequence[str],
    effect: str,
    block: str | None = None,
    accept_risk: Sequence[str] = (),
) -> Changed[LinkedPolicy]:
    """Put each action on each resource into a policy, as a block of its own or into the named one."""
    wanted = _entries(actions, resources, effect, block)
    return _changed(
        ctx, int(policy_id), lambda before: with_entries(before.blocks, wanted, block), accept_risk
    )


@operation(
    needs("security:update", one("policy:id", "policy_id")),
    http="DELETE /security/policies/{policy_id}/entries",
)
def remove_entries(
    ctx: Context,
    policy_id: str,
    actions: Sequence[str],
    resources: Sequence[str],
    effect: str,
    accept_risk: Sequence[str] = (),
) -> Changed[LinkedPolicy]:
    """Take each action on each resource out of a policy, and nothing else; it must keep some.

    Warns of what other entries of the policy still say about those resources.
    """
    unwanted = _entries(actions, resources, effect)

    def blocks(before: Policy) -> Sequence[Block]:
        left = without_entries(before.blocks, unwanted)
        if not left:
            raise _emptied(before.name)
        return left

    changed = _changed(ctx, int(policy_id), blocks, accept_risk)
    ctx.warnings.extend(_still_said(ctx, changed.value.policy.blocks, unwanted))
    return changed


def _still_said(ctx: Context, blocks: Sequence[Block], unwanted: Entries) -> Iterator[str]:
    """What blocks say about resources of these entries by a wider one: all of a kind, or a group of an agent.

    The groups of an agent are looked at only for who may read it.
    """
    said = "allowed" if unwanted.effect == ALLOW else "denied"
    for action, resource in unwanted.pairs():
        names = _names_of(ctx, resource)
        for block in blocks:
            if block.effect != unwanted.effect or action not in block.actions:
                continue
            wider = next((held for held in block.resources if any(covers(held, one) for one in names)), None)
            if wider is not None:
                yield f"{action} on {resource} is still {said} by {wider} in block `{block.name}`"


def _names_of(ctx: Context, resource: Resource) -> list[Resource]:
    if resource.kind != "agent:id" or resource.value == "*":
        return [resource]
    groups = ctx.store.agents.groups_of(int(resource.value))
    known = access.scope(ctx, "agent:read", "agent:id").covers(resource.value, groups)
    return [resource, *(Resource("agent:group", group) for group in groups if known)]


@operation(needs("security:delete", each("policy:id", "policy_ids")), http="DELETE /security/policies")
def delete_policies(
    ctx: Context, policy_ids: Selection, accept_risk: Sequence[str] = ()
) -> Items[LinkedPolicy]:
    """Delete the named policies; reserved ones fail. Roles that have them lose them."""
    store, failures = ctx.store, list[tuple[str, MgmtctlError]]()
    deleted = []
    with ctx.atomic(), delegation.judged(ctx, accept_risk):
        for policy in store.policies.chosen(links.named("policy_ids", policy_ids)):
            if is_reserved(policy.id):
                failures.append((str(policy.id), links.reserved("policy", policy.name)))
                continue
            deleted.append(_linked(ctx, policy))
            _end_sessions(store, policy.id)
            store.policies.delete(policy.id)
    return Items(deleted, grouped(failures))


def _changed(
    ctx: Context,
    number: int,
    blocks: Callable[[Policy], Sequence[Block]],
    accept_risk: Sequence[str],
    name: str | None = None,
) -> Changed[LinkedPolicy]:
    """Make the blocks of an own policy what `blocks` makes of it, and its name `name`; None: as before."""
    store = ctx.store
    with ctx.atomic(), delegation.judged(ctx, accept_risk):
        before = store.policies.get(number)
        if is_reserved(number):
            raise links.reserved("policy", before.name)
        wanted = blocks(before)
        if name is not None:
            store.policies.rename(number, check_name("policy", name))
        store.policies.set_blocks(number, wanted)
        after = store.policies.get(number)
        if after != before:
            _end_sessions(store, number)
        changes = (*renamed(before.name, after.name), *block_changes(before.blocks, after.blocks))
        return Changed(_linked(ctx, after), changes)


def _entries(
    actions: Sequence[str], resources: Sequence[str], effect: str, block: str | None = None
) -> Entries:
    """What is asked for, read as a policy of one block; InvalidError with every fault of it."""
    if block is not None and not (isinstance(block, str) and block):
        raise InvalidError("`block` is the name of a block", fix="leave it out for a block of its own")
    plain = {"actions": list(actions), "resources": list(resources), "effect": effect}
    document, place = {"blocks": {block or "entries": plain}}, f"blocks.{block or 'entries'}."
    findings = [replace(found, path=found.path.removeprefix(place)) for found in check_policy(document)]
    if findings:
        # The document is not the caller's: what he wrote is told, and a single fault without a place in it.
        first = findings[0]
        if findings[1:]:
            raise InvalidError("the entries are refused", findings=findings)
        where = f"{first.path}: " if first.path in plain else ""
        raise InvalidError(f"{where}{first.message}", fix=first.suggestion)
    (read,) = parse_policy(document, "entries")
    return Entries(read.actions, read.resources, read.effect)


def _emptied(name: str) -> ConflictError:
    return ConflictError(
        f"policy `{name}` would be left without any entry",
        why="a policy has at least one block",
        fix=f"mgmtctl policies delete {name}, or `mgmtctl roles remove-policy` takes it from a role",
    )


def _linked(ctx: Context, policy: Policy) -> LinkedPolicy:
    """The policy with the roles that the caller may know of."""
    return links.visible(ctx, LinkedPolicy(policy, ctx.store.policies.roles_of(policy.id)))


def _end_sessions(store: Store, policy_id: int) -> None:
    for role_id in store.policies.roles_of(policy_id):
        store.roles.end_sessions(role_id)
