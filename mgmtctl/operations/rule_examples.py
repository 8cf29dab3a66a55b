"""One rule and one authorization context: what the rule makes of it, where, and who gets anything by that (S 5.3, D 3).

Rules: the rule itself is judged, whoever evaluates it; who does is said beside the verdict. Roles that the caller may
not read are not named and take part in no answer. Nobody is logged in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import NotFoundError, QuestionError
from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved
from mgmtctl.operations import access
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, one, operation

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.domain.trace import Trace
    from mgmtctl.store.rules import Rule

EVERYBODY = "every user who may use contexts"
WEB_INTERFACE = "the web interface's user only: it is a default rule"
NOWHERE = "leads to no role"


@dataclass(frozen=True, slots=True)
class ExplainedRule:
    """A stored rule and a context: the trace, whose logins evaluate the rule, and, of one user, why he gets nothing.

    `roles`: those the caller may read. `hindrance`: empty when the user gets the roles, or when nobody was asked about.
    """

    rule_id: int
    rule: str
    roles: tuple[str, ...]
    evaluated_for: str
    trace: Trace
    user: str | None = None
    hindrance: str = ""

    @property
    def yes(self) -> bool:
        """True when the rule is true, and the user that was asked about gets its roles."""
        return self.trace.verdict is True and not self.hindrance

    def record(self) -> dict[str, Any]:
        """Plain form; ids are strings."""
        found: dict[str, Any] = {
            "id": str(self.rule_id),
            "name": self.rule,
            "verdict": self.trace.record()["verdict"],
            "roles": list(self.roles),
            "evaluated_for": self.evaluated_for,
            "trace": self.trace.record(),
        }
        if self.user is not None:
            found["user"] = {"name": self.user, "gets_roles": self.yes, "why_not": self.hindrance or None}
        return found


@operation(
    needs("security:read", one("rule:id", "rule_id")),
    http="POST /security/rules/{rule_id}/explain",
)
def explain_rule(ctx: Context, rule_id: str, context: AuthContext, user: str | None = None) -> ExplainedRule:
    """Say what one rule makes of a context, node by node, and whether a login of `user` would get its roles.

    QuestionError for a user whom nobody knows or the caller may not read.
    """
    from mgmtctl.domain.matching import ContextIndex
    from mgmtctl.domain.trace import explain

    user_id = None if user is None else int(_readable_user(ctx, user))
    with ctx.store.snapshot():
        rule = ctx.store.rules.get(int(rule_id))
        trace = explain(list(rule.expressions), ContextIndex(context.document))
        roles, nowhere = _roles(ctx, rule), _nowhere(ctx)
        found = ExplainedRule(rule.id, rule.name, roles, _evaluated_for(rule.id, roles, nowhere), trace)
        return found if user_id is None else _asked_about(ctx, found, user_id)


def _readable_user(ctx: Context, reference: str) -> str:
    try:
        return access.demand(ctx, "security:read", "user:id", reference)
    except NotFoundError as error:
        raise QuestionError(error.problem, why=error.why, fix=error.fix, code=error.code) from None


def _roles(ctx: Context, rule: Rule) -> tuple[str, ...]:
    readable, names = access.scope(ctx, "security:read", "role:id"), ctx.store.roles.names()
    return tuple(names[role_id] for role_id in rule.roles if readable.covers(str(role_id)))


def _nowhere(ctx: Context) -> str:
    """That no role which the caller may read is led to, in words that are true whether or not there is another."""
    whole = access.scope(ctx, "security:read", "role:id").is_everything
    return NOWHERE if whole else f"{NOWHERE} that you may read"


def _evaluated_for(rule_id: int, roles: tuple[str, ...], nowhere: str) -> str:
    if not roles:
        return f"nobody: it {nowhere}"
    return WEB_INTERFACE if is_reserved(rule_id) else EVERYBODY


def _asked_about(ctx: Context, found: ExplainedRule, user_id: int) -> ExplainedRule:
    from dataclasses import replace

    user = ctx.store.users.get(user_id)
    hindrance = _hindrance(found, user.id, user.allow_run_as, _nowhere(ctx))
    return replace(found, user=user.name, hindrance=hindrance)


def _hindrance(found: ExplainedRule, user_id: int, allowed: bool, nowhere: str) -> str:
    """Why a context login of the user does not get the roles of the rule; empty when it does."""
    if not allowed:
        return "the user may not use authorization contexts"
    if not found.roles:
        return f"the rule {nowhere}"
    if is_reserved(found.rule_id) and user_id != WEB_INTERFACE_ID:
        return "a default rule is for the web interface's user only"
    return "" if found.trace.verdict else f"the rule is {found.trace.record()['verdict']}"
