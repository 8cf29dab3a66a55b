"""Lint: what is doubtful in the stored policies, roles and rules (S 2.3, 5.3; D 2, D 3).

Rules: only what the caller may read is looked at, so a finding never names anything else: a role, user or policy that
is hidden takes part in no verdict. That a link is missing is told only to who may read all that it could be to. Named
policies are linted by themselves; without names so are roles and users.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeVar

from mgmtctl.domain.findings import WARNING, Finding
from mgmtctl.domain.scopes import Scope
from mgmtctl.domain.users import is_reserved
from mgmtctl.operations import access
from mgmtctl.operations.access_entries import permissions_of
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import Selection, each, needs, operation
from mgmtctl.operations.results import Items

if TYPE_CHECKING:
    from mgmtctl.domain.access_lint import Links
    from mgmtctl.store.rules import Rule


class Numbered(Protocol):
    """A stored value with its id."""

    @property
    def id(self) -> int: ...


T = TypeVar("T", bound=Numbered)
_ADMINISTERED = ("user:id", "role:id", "policy:id", "rule:id")


@operation(needs("security:read", each("policy:id", "policy_ids")), http="GET /security/policies/findings")
def lint_policies(ctx: Context, policy_ids: Selection = None) -> Items[Finding]:
    """Find what is doubtful in policies, and, when none is named, in roles and users."""
    from mgmtctl.domain.access_lint import lint_stored

    with ctx.store.snapshot():
        links, mode = _links(ctx), str(ctx.store.settings.get("rbac_mode"))
    return Items(lint_stored(links, mode, _numbers(policy_ids)))


@operation(needs("security:read", each("rule:id", "rule_ids")), http="GET /security/rules/findings")
def lint_rules(ctx: Context, rule_ids: Selection = None) -> Items[Finding]:
    """Find what is doubtful in rules."""
    from mgmtctl.domain.rule_lint import duplicate, duplicates, lint_rule
    from mgmtctl.operations.samples import samples

    wanted, administrators = _numbers(rule_ids), _administrator_roles(ctx)
    rules = _readable(ctx, "rule:id", ctx.store.rules.list())
    whole = access.scope(ctx, "security:read", "role:id").is_everything
    same = duplicates({rule.name: rule.expressions for rule in rules if not is_reserved(rule.id)})
    findings: list[Finding] = []
    for rule in rules:
        if wanted is not None and rule.id not in wanted:
            continue
        roles = [administrators[number] for number in rule.roles if number in administrators]
        found = lint_rule(
            {"rules": list(rule.expressions)},
            sampler=samples,
            roles=roles,
            reserved=is_reserved(rule.id),
        )
        findings += _placed(found, f"rule {rule.name}")
        if rule.name in same:
            findings.append(duplicate(f"rule {rule.name}", f"rule `{same[rule.name]}`"))
        if whole and not rule.roles and not is_reserved(rule.id):
            findings.append(_unlinked(rule))
    return Items(findings)


def _links(ctx: Context) -> Links:
    """What the caller may read of policies, roles and users."""
    from mgmtctl.domain.access_lint import READ_KINDS, Links

    return Links(
        policies={policy.id: policy for policy in _readable(ctx, "policy:id", ctx.store.policies.list())},
        roles={role.id: role for role in _readable(ctx, "role:id", ctx.store.roles.list())},
        users={user.name: user.roles for user in _readable(ctx, "user:id", ctx.store.users.list())},
        whole=frozenset(k for k in READ_KINDS if access.scope(ctx, "security:read", k).is_everything),
    )


def _administrator_roles(ctx: Context) -> Mapping[int, str]:
    """The roles that may change every user, role, policy or rule, for who may read all policies."""
    if not access.scope(ctx, "security:read", "policy:id").is_everything:
        return {}
    found = {}
    for role in _readable(ctx, "role:id", ctx.store.roles.list()):
        held = permissions_of(ctx.store, [role.id], "white")
        if any(held.scope("security:update", kind).is_everything for kind in _ADMINISTERED):
            found[role.id] = role.name
    return found


def _readable(ctx: Context, kind: str, values: Iterable[T]) -> list[T]:
    scope = access.scope(ctx, "security:read", kind)
    return [value for value in values if scope.covers(str(value.id))]


def _numbers(selection: Selection) -> frozenset[int] | None:
    """The ids that were named; None when whatever may be read is meant."""
    if selection is None or isinstance(selection, Scope):
        return None
    return frozenset(int(number) for number in selection)


def _placed(findings: Iterable[Finding], place: str) -> list[Finding]:
    from dataclasses import replace

    return [
        replace(finding, path=f"{place}: {finding.path}" if finding.path else place) for finding in findings
    ]


def _unlinked(rule: Rule) -> Finding:
    hint = f"mgmtctl roles add-rule ROLE {rule.name}"
    return Finding("unlinked-rule", WARNING, "it leads to no role", f"rule {rule.name}", suggestion=hint)
