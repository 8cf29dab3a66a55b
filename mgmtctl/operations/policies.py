"""Policies: list, create, change and delete them (S 2.3; D 1, D 2; reference/security.md 2).

Rules: a document is checked whole before anything is stored; reserved policies never change; a change ends the sessions
of each role that has the policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import InvalidError, MgmtctlError
from mgmtctl.domain.fields import ID, TEXT
from mgmtctl.domain.links import Changed, renamed
from mgmtctl.domain.policies import Policy, block_changes, parse_policy, policy_record
from mgmtctl.domain.users import check_name, is_reserved
from mgmtctl.operations import delegation, links
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
    found = [_linked(ctx.store, policy) for policy in ctx.store.policies.chosen(policy_ids or ())]
    fields = {"id": ID, "name": TEXT, "blocks": TEXT}
    return links.listed(ctx, found, query, fields, {"roles": "role:id"})


@operation(needs("security:create"), http="POST /security/policies")
def create_policy(ctx: Context, name: str, document: object) -> LinkedPolicy:
    """Create a policy from a document in any of the forms of a policy; InvalidError with every fault of it."""
    blocks = parse_policy(document, check_name("policy", name))
    with ctx.atomic():
        policy_id = ctx.store.policies.add(name, blocks)
        return _linked(ctx.store, ctx.store.policies.get(policy_id))


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
    store, number = ctx.store, int(policy_id)
    with ctx.atomic(), delegation.judged(ctx, accept_risk):
        before = store.policies.get(number)
        if is_reserved(number):
            raise links.reserved("policy", before.name)
        blocks = before.blocks if document is None else parse_policy(document, name or before.name)
        if name is not None:
            store.policies.rename(number, check_name("policy", name))
        store.policies.set_blocks(number, blocks)
        after = store.policies.get(number)
        if after != before:
            _end_sessions(store, number)
        changes = (*renamed(before.name, after.name), *block_changes(before.blocks, after.blocks))
        return Changed(_linked(store, after), changes)


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
            deleted.append(_linked(store, policy))
            _end_sessions(store, policy.id)
            store.policies.delete(policy.id)
    return Items(deleted, grouped(failures))


def _linked(store: Store, policy: Policy) -> LinkedPolicy:
    return LinkedPolicy(policy, store.policies.roles_of(policy.id))


def _end_sessions(store: Store, policy_id: int) -> None:
    for role_id in store.policies.roles_of(policy_id):
        store.roles.end_sessions(role_id)
