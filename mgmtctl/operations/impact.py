"""What a policy would mean with another document: who would gain and who would lose what (D 9).

Rules: the change is made in a transaction that is undone; reading is enough for the question, and nobody is refused
for what only somebody else may give; what could never be (a reserved policy or role, a wrong document) is refused as
ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgmtctl.domain.policies import parse_policy
from mgmtctl.domain.users import check_name, is_reserved
from mgmtctl.operations import access, delegation, links
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, one, operation

if TYPE_CHECKING:
    from mgmtctl.domain.impact import Impact


@operation(
    needs("security:read", one("policy:id", "policy_id")), http="POST /security/policies/{policy_id}/impact"
)
def policy_impact(ctx: Context, policy_id: str, document: object, role: str | None = None) -> Impact:
    """Tell what would change if a policy had this document; `role`: and if it were linked to this role as well."""
    store, number = ctx.store, int(policy_id)
    role_id = None if role is None else int(access.demand(ctx, "security:read", "role:id", role))
    if role_id is not None:
        _require_own(ctx, role_id)
    with store.database.atomic(keep=False), delegation.previewed(ctx):
        before = store.policies.get(number)
        if is_reserved(number) and role_id is None:
            raise links.reserved("policy", before.name)
        blocks = parse_policy(document, before.name)
        if blocks != before.blocks:
            if is_reserved(number):
                raise links.reserved("policy", before.name)
            store.policies.set_blocks(number, blocks)
            _end_sessions(ctx, store.policies.roles_of(number))
        if role_id is not None and store.roles.link_policy(role_id, number):
            _end_sessions(ctx, (role_id,))
    return ctx.impacts.pop()()


@operation(
    needs("security:read", one("role:id", "role_id")), http="POST /security/roles/{role_id}/policies/impact"
)
def new_policy_impact(ctx: Context, role_id: str, name: str, document: object) -> Impact:
    """Tell what would change if a new policy with this document were linked to a role."""
    store, blocks = ctx.store, parse_policy(document, check_name("policy", name))
    _require_own(ctx, int(role_id))
    with store.database.atomic(keep=False), delegation.previewed(ctx):
        store.roles.link_policy(int(role_id), store.policies.add(_free(ctx, name), blocks))
        _end_sessions(ctx, (int(role_id),))
    return ctx.impacts.pop()()


def _require_own(ctx: Context, role_id: int) -> None:
    if is_reserved(role_id):
        raise links.reserved("role", ctx.store.roles.get(role_id).name)


def _end_sessions(ctx: Context, role_ids: tuple[int, ...]) -> None:
    for role_id in role_ids:
        ctx.store.roles.end_sessions(role_id)


def _free(ctx: Context, name: str) -> str:
    """A name for the question alone: one that the caller may not read may be taken, and he must not hear of it."""
    return name if ctx.store.policies.find(name) is None else f"{name[:30]}.{id(ctx):x}"
