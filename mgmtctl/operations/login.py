"""Logging in both ways, out, and asking who one is (S 4.1, 4.2, 5.1, 5.2; D 1).

Rules: a context login grants the roles of true rules and nothing else, whatever roles the user has; `{}` is a context;
the right to bring a context is judged after the password. Passwords and tokens: `proof`; sessions: `sessions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import DeniedError, InvalidError
from mgmtctl.domain.times import rfc3339
from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved
from mgmtctl.operations.access import current_actor, scope
from mgmtctl.operations.context import Actor, Context
from mgmtctl.operations.contexts import decided_rules
from mgmtctl.operations.registry import Selection, each, needs, operation
from mgmtctl.operations.results import Items
from mgmtctl.operations.resuming import resume

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.domain.trace import Trace
    from mgmtctl.operations.proof import Granted, Login, TriedLogin
    from mgmtctl.store.rules import Rule
    from mgmtctl.store.users import Credentials

__all__ = [
    "WhoAmI",
    "log_in",
    "log_out",
    "log_out_everywhere",
    "my_permissions",
    "resume",
    "run_as",
    "try_run_as",
    "who_am_i",
]

_VERDICTS = {True: "true", False: "false", None: "undecided"}


@dataclass(frozen=True, slots=True)
class WhoAmI:
    """The actor of a session; `run_as`: it came by an authorization context."""

    actor: Actor

    def record(self) -> dict[str, Any]:
        """The fixed form (design: command line, fixed forms)."""
        actor = self.actor
        return {
            "user": actor.user,
            "id": str(actor.user_id),
            "run_as": actor.run_as,
            "context_id": actor.context_id,
            "mode": actor.permissions.mode,
            "roles": [{"id": str(role_id), "name": name} for role_id, name in actor.roles],
            "expires": rfc3339(actor.expires),
        }


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """One rule and what came of it for a context: `verdict` true, false, undecided or not evaluated."""

    rule_id: int
    rule: str
    verdict: str
    roles: tuple[str, ...]
    why: str | None = None
    trace: Trace | None = None

    def record(self) -> dict[str, Any]:
        """Plain form; the trace tells where in the context the verdict was found."""
        found: dict[str, Any] = {
            "id": str(self.rule_id),
            "name": self.rule,
            "verdict": self.verdict,
            "roles": list(self.roles),
            "why": self.why,
        }
        if self.trace is not None:
            found["trace"] = self.trace.record()
        return found


@operation(http="POST /security/user/authenticate", open_to="anyone")
def log_in(ctx: Context, user_name: str, password: str) -> Login:
    """Log in with name and password; the session has the roles that are linked to the user.

    UnauthenticatedError, or DeniedError (6000) while logins are blocked.
    """
    from mgmtctl.operations.proof import Granted, issue, prove

    user = prove(ctx, user_name, password)
    return issue(ctx, user, lambda: Granted(ctx.store.users.roles_of(user.user_id)))


@operation(http="POST /security/user/authenticate/run_as", open_to="anyone")
def run_as(ctx: Context, user_name: str, password: str, context: AuthContext) -> Login:
    """Log in on behalf of an authorization context; the session has the roles of the rules that are true for it.

    DeniedError 6004 when the user may not use contexts. A context without a true rule gives a session without roles.
    """
    from mgmtctl.operations.proof import issue

    user = _proven_for(ctx, user_name, password, context)
    return issue(ctx, user, lambda: _granted(ctx, user, context), context)


@operation(http="POST /security/user/authenticate/run_as/try", open_to="anyone")
def try_run_as(ctx: Context, user_name: str, password: str, context: AuthContext) -> TriedLogin:
    """Say what `run_as` would give: password, limits and refusals are the same, but there is no session."""
    from mgmtctl.operations.proof import tried

    user = _proven_for(ctx, user_name, password, context)
    return tried(ctx, user, lambda: _granted(ctx, user, context), context)


@operation(
    needs("security:read", each("rule:id", "rule_ids")),
    http="POST /security/user/authenticate/run_as/explain",
)
def explain_context(
    ctx: Context, context: AuthContext, user_id: int, rule_ids: Selection = None
) -> Items[RuleVerdict]:
    """Say rule by rule what a context login of this user makes of the context, and where; logs nobody in."""
    with ctx.store.snapshot():
        return Items(_judged(ctx, context, user_id, ctx.store.rules.chosen(rule_ids or ())))


@operation(http="GET /security/users/me", open_to="session")
def who_am_i(ctx: Context) -> WhoAmI:
    """Who is acting, by which roles, until when."""
    return WhoAmI(current_actor(ctx))


@operation(http="GET /security/users/me/policies", open_to="session")
def my_permissions(ctx: Context) -> dict[str, Any]:
    """What the actor's policies say, action by action and resource by resource, and the mode."""
    permissions = current_actor(ctx).permissions
    found: dict[str, Any] = {}
    for entry in sorted(permissions.entries, key=lambda entry: (entry.action, str(entry.resource))):
        effects = found.setdefault(entry.action, {})
        if effects.get(str(entry.resource)) != "deny":
            effects[str(entry.resource)] = entry.effect
    return {**found, "rbac_mode": permissions.mode}


@operation(http="DELETE /security/user/authenticate/current", open_to="session")
def log_out(ctx: Context) -> None:
    """End this session."""
    with ctx.atomic():
        ctx.store.sessions.revoke(current_actor(ctx).session)


@operation(http="DELETE /security/user/authenticate", open_to="session")
def log_out_everywhere(ctx: Context) -> None:
    """End every session of the acting user."""
    with ctx.atomic():
        ctx.store.users.end_sessions(current_actor(ctx).user_id)


def _proven_for(ctx: Context, user_name: str, password: str, context: AuthContext) -> Credentials:
    """The user who may bring this context, after his password."""
    from mgmtctl.operations.proof import prove

    user = prove(ctx, user_name, password)
    _require_run_as(user)
    _require_named(ctx, context)
    return user


def _granted(ctx: Context, user: Credentials, context: AuthContext) -> Granted:
    from mgmtctl.operations.proof import Granted

    rules = _true_rules(ctx, context, user.user_id)
    return Granted(ctx.store.rules.roles_granted(rules), tuple(rules))


def _require_run_as(user: Credentials) -> None:
    if not user.allow_run_as:
        raise DeniedError(
            "run_as",
            f"user:id:{user.user_id}",
            problem=f"user `{user.name}` may not use authorization contexts",
            fix=None
            if is_reserved(user.user_id)
            else f"ask an administrator:\nmgmtctl users allow-run-as {user.name}",
            code=6004,
        )


def _require_named(ctx: Context, context: AuthContext) -> None:
    """`name` and `auth` are required, unless the store accepts raw account documents (S 2.1, D 3)."""
    document = context.document
    if isinstance(document.get("name"), str) and isinstance(document.get("auth"), dict):
        return
    if not ctx.store.settings.get("accept_raw_contexts"):
        raise InvalidError(
            "the authorization context needs `name` (a string) and `auth` (an object)",
            fix="`--wrap NAME` wraps a raw account document",
        )


def _evaluable(ctx: Context, user_id: int) -> Iterable[tuple[int, str, str | None]]:
    """The rules that count for a context login of this user: linked ones, default ones for the web interface only."""
    return ctx.store.rules.evaluable(defaults=user_id == WEB_INTERFACE_ID)


def _true_rules(ctx: Context, context: AuthContext, user_id: int) -> list[int]:
    return decided_rules(ctx.store, _evaluable(ctx, user_id), context.document)


def _judged(ctx: Context, context: AuthContext, user_id: int, rules: Iterable[Rule]) -> list[RuleVerdict]:
    """Each rule with its verdict, those that are not evaluated with the reason."""
    from mgmtctl.domain.matching import ContextIndex
    from mgmtctl.domain.trace import explain

    evaluated = {rule_id for rule_id, _, _ in _evaluable(ctx, user_id)}
    index = ContextIndex(context.document)
    readable, names = scope(ctx, "security:read", "role:id"), ctx.store.roles.names()
    verdicts = []
    for rule in rules:
        roles = tuple(names[role_id] for role_id in rule.roles if readable.covers(str(role_id)))
        if rule.id in evaluated:
            trace = explain(list(rule.expressions), index)
            verdicts.append(RuleVerdict(rule.id, rule.name, _VERDICTS[trace.verdict], roles, None, trace))
        else:
            why = (
                "a default rule is for the web interface's user only" if rule.roles else "it leads to no role"
            )
            verdicts.append(RuleVerdict(rule.id, rule.name, "not evaluated", roles, why))
    return verdicts
