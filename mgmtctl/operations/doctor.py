"""Why context logins of a user work or do not: the chain from the user to rights (S 5.2; D 1, D 3, D 9).

Rules: it needs security:read on the user, about oneself nothing; only what the caller may read is looked at, and it
says so; nobody is logged in and no password is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mgmtctl.domain.doctor import Chain, Link, RoleLink, RuleLink, diagnose
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.grants import DENY, Permissions
from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved
from mgmtctl.operations import access
from mgmtctl.operations.access_entries import grants_of
from mgmtctl.operations.context import Context
from mgmtctl.operations.contexts import decided_rules
from mgmtctl.operations.registry import operation

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.store.rules import Rule


_MOST_COMPARED = 16  # rules that are explained to find the one to name


@operation(http="POST /security/users/{user_id}/run_as/check", open_to="session")
def check_run_as(ctx: Context, user_id: str, context: AuthContext | None = None) -> list[Link]:
    """Walk the chain of a context login of this user, or of oneself, up to the first broken link; logs nobody in."""
    number = int(access.demand_user(ctx, user_id))
    with ctx.store.snapshot():
        return diagnose(_chain(_Seen.by(ctx), number, context))


@dataclass(frozen=True, slots=True)
class _Seen:
    """The service as the caller may read it."""

    ctx: Context
    rules: Scope
    roles: Scope
    policies: Scope

    @classmethod
    def by(cls, ctx: Context) -> _Seen:
        return cls(
            ctx, *(access.scope(ctx, "security:read", f"{noun}:id") for noun in ("rule", "role", "policy"))
        )

    @property
    def is_whole(self) -> bool:
        return all(scope.is_everything for scope in (self.rules, self.roles, self.policies))

    def permissions(self, role_ids: Iterable[int]) -> Permissions:
        """What the readable policies of these roles say together."""
        ids = list(role_ids)
        grants = [
            grant for grant in grants_of(self.ctx.store, ids) if self.policies.covers(str(grant.policy_id))
        ]
        mode = str(self.ctx.store.settings.get("rbac_mode"))
        return Permissions.granted(mode, grants, has_roles=bool(ids))


def _chain(seen: _Seen, user_id: int, context: AuthContext | None) -> Chain:
    ctx = seen.ctx
    user = ctx.store.users.get(user_id)
    rules = [rule for rule in ctx.store.rules.list() if seen.rules.covers(str(rule.id))]
    names = {
        number: name for number, name in ctx.store.roles.names().items() if seen.roles.covers(str(number))
    }
    led = sorted({number for rule in rules for number in rule.roles if number in names})
    chain = Chain(
        user.id,
        user.name,
        user.has_password,
        user.allow_run_as,
        str(ctx.store.settings.get("rbac_mode")),
        tuple(
            RuleLink(rule.id, rule.name, tuple(names[number] for number in rule.roles if number in names))
            for rule in rules
        ),
        tuple(_role(seen, number, names[number]) for number in led),
        whole=seen.is_whole,
    )
    return chain if context is None else _with_context(seen, chain, rules, context, names)


def _role(seen: _Seen, role_id: int, name: str) -> RoleLink:
    permissions = seen.permissions([role_id])
    entries = permissions.entries
    policies = tuple(dict.fromkeys(entry.policy for entry in entries))
    denying = tuple(dict.fromkeys(entry.policy for entry in entries if entry.effect == DENY))
    allows = any(entry.effect != DENY for entry in entries)
    return RoleLink(name, policies, denying, allows, _actions(permissions))


def _actions(permissions: Permissions) -> int:
    from mgmtctl.domain.delegation import holdings

    return len({action for action, _ in holdings(permissions)})


def _with_context(
    seen: _Seen, chain: Chain, rules: list[Rule], context: AuthContext, names: dict[int, str]
) -> Chain:
    """The chain with what the context makes true, judged as a login judges it."""
    from dataclasses import replace

    from mgmtctl.domain.matching import ContextIndex, holds, judge_rules
    from mgmtctl.domain.trace import explain

    store, index = seen.ctx.store, ContextIndex(context.document)
    evaluated = [
        row
        for row in store.rules.evaluable(defaults=chain.user_id == WEB_INTERFACE_ID)
        if seen.rules.covers(str(row[0]))
    ]
    try:
        true = decided_rules(store, evaluated, context.document)
    except InvalidError as error:
        undecided = judge_rules(evaluated, index)[1][0]
        named = store.rules.get(undecided).name
        return replace(chain, true=frozenset(), refused=error.why or error.problem, nearest=(named, ""))
    if true:
        roles = [number for number in store.rules.roles_granted(true) if number in names]
        return replace(chain, true=frozenset(true), together=_actions(seen.permissions(roles)))
    linked = {row[0] for row in evaluated}
    lost = [rule.id for rule in rules if not rule.roles and holds(rule.expressions, index)]
    told = [rule for rule in rules if rule.id in linked]
    if lost or not told:
        return replace(chain, true=frozenset(lost))
    # Nobody looks for the mistake in a default rule while there are own ones.
    own = [rule for rule in told if not is_reserved(rule.id)][:_MOST_COMPARED] or told[:1]
    traces = [(explain(list(rule.expressions), index), rule.name) for rule in own]
    trace, name = max(traces, key=lambda pair: pair[0].nearness)
    return replace(chain, true=frozenset(), nearest=(name, trace.reason or trace.nearest.because()))
