"""Roles: list, create, rename and delete them, and link them to policies and rules (S 2.3; D 1; security.md 2).

Rules: roles 1-99 keep their names and policies, and rules 1-99 their roles; own rules may lead to any role. Linking
what is linked and unlinking what is not is no error. A change of its policies ends the sessions that hold the role, a
change of its rules every context session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import InvalidError, MgmtctlError
from mgmtctl.domain.fields import ID, TEXT
from mgmtctl.domain.links import Changed, differences, renamed
from mgmtctl.domain.roles import Role
from mgmtctl.domain.users import check_name, is_reserved
from mgmtctl.operations import access, delegation, links
from mgmtctl.operations.context import Context
from mgmtctl.operations.links import LinkedItems
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items, grouped

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.store.store import Store


@operation(needs("security:read", each("role:id", "role_ids")), http="GET /security/roles")
def list_roles(ctx: Context, role_ids: Selection = None, query: ListQuery | None = None) -> LinkedItems[Role]:
    """List roles: those that are named, or all that the caller may read."""
    found = ctx.store.roles.chosen(role_ids or ())
    return links.listed(ctx, found, query, {"id": ID, "name": TEXT}, "policies", "users", "rules")


@operation(needs("security:create"), http="POST /security/roles")
def create_role(ctx: Context, name: str) -> Role:
    """Create a role without policies."""
    check_name("role", name)
    with ctx.atomic():
        return ctx.store.roles.get(ctx.store.roles.add(name))


@operation(needs("security:update", one("role:id", "role_id")), http="PUT /security/roles/{role_id}")
def update_role(
    ctx: Context,
    role_id: str,
    name: str | None = None,
    policies: Sequence[str] | None = None,
    rules: Sequence[str] | None = None,
    accept_risk: Sequence[str] = (),
) -> Changed[Role]:
    """Rename a role, or give it exactly these policies or rules; what was not given stays.

    What is added needs security:update on it, what is taken away security:delete on it and on the role.
    """
    if name is None and policies is None and rules is None:
        raise InvalidError("nothing to change; expected a name, policies or rules", code=4001)
    store, number = ctx.store, int(role_id)
    with ctx.atomic(), delegation.judged(ctx, accept_risk):
        role = store.roles.get(number)
        if name is not None and name != role.name:
            _require_own(role)
            store.roles.rename(number, check_name("role", name))
            store.roles.end_sessions(number)
        if policies is not None:
            _replace(ctx, role, "policy:id", role.policies, policies)
        if rules is not None:
            _replace(ctx, role, "rule:id", role.rules, rules)
        return _changed(ctx, role)


@operation(needs("security:delete", each("role:id", "role_ids")), http="DELETE /security/roles")
def delete_roles(ctx: Context, role_ids: Selection, accept_risk: Sequence[str] = ()) -> Items[Role]:
    """Delete the named roles; reserved ones fail. Users and rules that lead to them lose them."""
    store, failures = ctx.store, list[tuple[str, MgmtctlError]]()
    deleted = []
    with ctx.atomic(), delegation.judged(ctx, accept_risk):
        for role in store.roles.chosen(links.named("role_ids", role_ids)):
            if is_reserved(role.id):
                failures.append((str(role.id), links.reserved("role", role.name)))
                continue
            deleted.append(links.visible(ctx, role))
            store.roles.end_sessions(role.id)
            store.roles.delete(role.id)
    return Items(deleted, grouped(failures))


@operation(
    needs("security:update", one("role:id", "role_id")),
    needs("security:update", each("policy:id", "policy_ids")),
    http="POST /security/roles/{role_id}/policies",
)
def link_policies(
    ctx: Context, role_id: str, policy_ids: Selection, accept_risk: Sequence[str] = ()
) -> Items[Changed[Role]]:
    """Give policies to a role, after those it has."""
    return _link(ctx, role_id, "policy", links.named("policy_ids", policy_ids), _add_policy, accept_risk)


@operation(
    needs("security:delete", one("role:id", "role_id")),
    needs("security:delete", each("policy:id", "policy_ids")),
    http="DELETE /security/roles/{role_id}/policies",
)
def unlink_policies(
    ctx: Context, role_id: str, policy_ids: Selection, accept_risk: Sequence[str] = ()
) -> Items[Changed[Role]]:
    """Take policies from a role."""
    return _link(ctx, role_id, "policy", links.named("policy_ids", policy_ids), _remove_policy, accept_risk)


@operation(
    needs("security:update", one("role:id", "role_id")),
    needs("security:update", each("rule:id", "rule_ids")),
    http="POST /security/roles/{role_id}/rules",
)
def link_rules(ctx: Context, role_id: str, rule_ids: Selection) -> Items[Changed[Role]]:
    """Let rules lead to a role."""
    return _link(ctx, role_id, "rule", links.named("rule_ids", rule_ids), _add_rule)


@operation(
    needs("security:delete", one("role:id", "role_id")),
    needs("security:delete", each("rule:id", "rule_ids")),
    http="DELETE /security/roles/{role_id}/rules",
)
def unlink_rules(ctx: Context, role_id: str, rule_ids: Selection) -> Items[Changed[Role]]:
    """Let rules lead to a role no more."""
    return _link(ctx, role_id, "rule", links.named("rule_ids", rule_ids), _remove_rule)


# Makes one change to a role; False when it was made before.
Change = Callable[["Store", Role, int], bool]


def _link(
    ctx: Context, role_id: str, kind: str, ids: Sequence[str], change: Change, accept_risk: Sequence[str] = ()
) -> Items[Changed[Role]]:
    """Make one change for each id; those that must not change are failures."""
    store, failures, kept = ctx.store, list[tuple[str, MgmtctlError]](), list[str]()
    with ctx.atomic(), delegation.judged(ctx, accept_risk):
        role = store.roles.get(int(role_id))
        for reference in ids:
            try:
                if not change(store, role, int(reference)):
                    kept.append(reference)
            except MgmtctlError as error:
                failures.append((reference, error))
        names = links.readable_names(ctx, f"{kind}:id")
        changed = _changed(ctx, role, [names.get(reference, reference) for reference in kept])
    return Items([changed] if len(failures) < len(ids) else [], grouped(failures))


def _changed(ctx: Context, before: Role, kept: Sequence[str] = ()) -> Changed[Role]:
    """The role as it is now, and what became different, in words."""
    after = ctx.store.roles.get(before.id)
    policies, rules = (links.readable_names(ctx, kind) for kind in ("policy:id", "rule:id"))
    changes = (
        *renamed(before.name, after.name),
        *differences("policy", before.policies, after.policies, policies),
        *differences("rule", before.rules, after.rules, rules),
    )
    return Changed(links.visible(ctx, after), changes, tuple(kept))


def _add_policy(store: Store, role: Role, policy_id: int) -> bool:
    _require_own(role)
    return _ending(store.roles.link_policy(role.id, policy_id), lambda: store.roles.end_sessions(role.id))


def _remove_policy(store: Store, role: Role, policy_id: int) -> bool:
    _require_own(role)
    return _ending(store.roles.unlink_policy(role.id, policy_id), lambda: store.roles.end_sessions(role.id))


def _add_rule(store: Store, role: Role, rule_id: int) -> bool:
    _require_own_rule(store, rule_id)
    return _ending(store.roles.link_rule(role.id, rule_id), store.sessions.end_context_sessions)


def _remove_rule(store: Store, role: Role, rule_id: int) -> bool:
    _require_own_rule(store, rule_id)
    return _ending(store.roles.unlink_rule(role.id, rule_id), store.sessions.end_context_sessions)


def _ending(changed: bool, end_sessions: Callable[[], None]) -> bool:
    """Pass on whether something changed, and end the sessions that rest on how it was."""
    if changed:
        end_sessions()
    return changed


_CHANGES: dict[str, tuple[Change, Change]] = {
    "policy:id": (_add_policy, _remove_policy),
    "rule:id": (_add_rule, _remove_rule),
}


def _replace(ctx: Context, role: Role, kind: str, present: Sequence[int], wanted: Sequence[str]) -> None:
    """Make exactly the wanted ones linked, under the rights that linking and unlinking each of them need.

    What the caller may not read stays linked: he could not have named it.
    """
    add, remove = _CHANGES[kind]
    kept = [_id_of(ctx, kind, present, reference) for reference in wanted]
    known = access.scope(ctx, "security:read", kind)
    for number in present:
        if number not in kept and known.covers(str(number)):
            access.demand(ctx, "security:delete", "role:id", str(role.id))
            remove(ctx.store, role, int(access.demand(ctx, "security:delete", kind, str(number))))
    for number in kept:
        if number not in present:
            add(ctx.store, role, number)


def _id_of(ctx: Context, kind: str, present: Sequence[int], reference: str) -> int:
    if reference.isascii() and reference.isdigit() and int(reference) in present:
        return int(reference)
    return int(access.demand(ctx, "security:update", kind, reference))


def _require_own(role: Role) -> None:
    if is_reserved(role.id):
        raise links.reserved("role", role.name)


def _require_own_rule(store: Store, rule_id: int) -> None:
    if is_reserved(rule_id):
        raise links.reserved("rule", store.rules.get(rule_id).name)
