"""Questions: whether somebody may do something, and why (S 2.3; D 2, D 9).

Rules: a question about oneself is open to every session; about a user, roles or a context it needs security:read on
each of them, and agent:read on the agent that it is about. What the caller may not read is left out of the reasons,
never out of the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mgmtctl.domain.actions import action as catalogued
from mgmtctl.domain.actions import require_kind
from mgmtctl.domain.errors import InvalidError, NotFoundError, QuestionError
from mgmtctl.domain.grants import Decision, Grant, Permissions
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.users import WEB_INTERFACE_ID
from mgmtctl.operations import access, explanations
from mgmtctl.operations.access_entries import grants_of, permissions_of
from mgmtctl.operations.context import Context
from mgmtctl.operations.contexts import decided_rules
from mgmtctl.operations.registry import operation

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext


_NUMBERED = ("agent:id", "user:id", "role:id", "policy:id", "rule:id")


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose permissions a question is about, in words, and what there is to know about them."""

    name: str
    permissions: Permissions
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision as far as the caller may see its reasons; `holders`: roles that alone would allow it."""

    decision: Decision
    subject: str
    holders: tuple[str, ...]
    notes: tuple[str, ...]
    whole: bool

    @property
    def allowed(self) -> bool:
        return self.decision.allowed

    def record(self) -> dict[str, object]:
        """The decision record, with the subject, the roles that hold it, and notes."""
        found = self.decision.record()
        if not self.whole:
            found["fix"] = None
        return {
            **found,
            "subject": self.subject,
            "roles_that_hold": list(self.holders),
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """The reasons, readable: the decision's lines, then what else is to know."""
        lines = self.decision.lines() if self.whole else self._partly()
        lines.insert(1, f"  for {self.subject}")
        if self.holders and not self.allowed:
            lines.append(f"  held by     {', '.join(self.holders)}")
        return [*lines, *(f"  note        {note}" for note in self.notes)]

    def _partly(self) -> list[str]:
        """The decision's lines without advice that would rest on what is hidden."""
        return [line for line in self.decision.lines() if not line.startswith("  to allow")]


@operation(http="GET /security/decisions", open_to="session")
def can_i(
    ctx: Context,
    action: str,
    resource: str,
    user: str | None = None,
    roles: Sequence[str] | None = None,
    context: AuthContext | None = None,
) -> Answer:
    """Decide whether the caller, a user, some roles or a context login may do an action on a resource.

    QuestionError for what cannot be asked, unknown users and roles included; NotFoundError for an unknown agent.
    """
    catalogued(action)
    asked = _resource(ctx, resource)
    require_kind(action, asked.kind)
    subject = _subject(ctx, user, roles, context)
    about_self = user is None and roles is None and context is None
    if asked.kind == "agent:id" and asked.value != "*" and not about_self:
        access.demand(ctx, "agent:read", "agent:id", _split(resource)[2])
    names = (asked,) if asked.value == "*" else access.names_of(ctx, asked.kind, asked.value)
    answer = _visible(ctx, subject, subject.permissions.decide(action, *names))
    return replace(answer, notes=(*answer.notes, *_absent(ctx, asked)))


def _absent(ctx: Context, asked: Resource) -> Iterator[str]:
    """A note that a question is about something that is not there, to those who may know: policies name such things."""
    kind, value = asked.kind, asked.value
    if value == "*":
        return
    if kind in ("agent:group", "group:id") and _may_read(ctx, "group:id", value):
        if not ctx.folders.group_exists(value):
            yield f"group `{value}` does not exist"
        elif kind == "agent:group" and _is_empty(ctx, asked):
            yield f"no agent is in group `{value}`"
    elif kind in _NUMBERED and _may_read(ctx, kind, value) and not access.exists(ctx, kind, value):
        yield f"{kind.partition(':')[0]} `{value}` does not exist"


def _is_empty(ctx: Context, group: Resource) -> bool:
    """Whether a group of agents, all of which the caller may read, has none."""
    permissions = access.current_actor(ctx).permissions
    return permissions.allows("agent:read", group) and not ctx.store.agents.members(group.value)


def _resource(ctx: Context, text: str) -> Resource:
    """The resource that is meant; agents and security objects by name too."""
    kind, _, value = _split(text)
    if (
        kind in access.NOT_FOUND_CODES
        and kind != "group:id"
        and value
        and not value.isdigit()
        and "*" not in value
    ):
        identifier, _by_name = access.resolve(ctx, kind, value)
        known = identifier is not None and _may_read(ctx, kind, identifier)
        if identifier is None or not known:
            raise access.not_found(kind, value)
        return Resource(kind, identifier)
    try:
        return Resource.parse(text)
    except InvalidError as error:
        raise QuestionError(error.problem, why=error.why, fix=error.fix) from None


def _split(text: str) -> tuple[str, str, str]:
    noun, _, rest = text.partition(":")
    attribute, colon, value = rest.partition(":")
    return f"{noun}:{attribute}", colon, value


def _may_read(ctx: Context, kind: str, identifier: str) -> bool:
    names = access.names_of(ctx, kind, identifier)
    return access.current_actor(ctx).permissions.allows(access.READ_ACTIONS[kind], *names)


def _subject(
    ctx: Context, user: str | None, roles: Sequence[str] | None, context: AuthContext | None
) -> Subject:
    if roles is not None:
        if user is not None or context is not None:
            raise QuestionError(
                "a question is about roles, or about a user or a context, not both", fix="leave one out"
            )
        ids = [int(_readable(ctx, "role:id", reference)) for reference in roles]
        names = ", ".join(ctx.store.roles.get(number).name for number in ids)
        return Subject(f"role {names}", permissions_of(ctx.store, ids, via="asked"))
    user_id = None if user is None else int(_readable(ctx, "user:id", user))
    if context is not None:
        return _context_subject(ctx, user_id, context)
    if user_id is not None:
        found = ctx.store.users.get(user_id)
        return Subject(f"user {found.name}", permissions_of(ctx.store, found.roles))
    actor = access.current_actor(ctx)
    return Subject(f"you ({actor.user})", actor.permissions)


def _readable(ctx: Context, kind: str, reference: str) -> str:
    try:
        return access.demand(ctx, "security:read", kind, reference)
    except NotFoundError as error:
        raise QuestionError(error.problem, why=error.why, fix=error.fix, code=error.code) from None


def _context_subject(ctx: Context, user_id: int | None, context: AuthContext) -> Subject:
    """The roles that the readable rules give to this context; without a user, to one who may use contexts."""
    scope = access.scope(ctx, "security:read", "rule:id")
    if scope.is_nothing:
        raise access.refusal(ctx, access.current_actor(ctx), "security:read", Resource("rule:id", "*"))
    notes = [] if scope.is_everything else ["only the rules that you may read were evaluated"]
    name = f"context {context.id}"
    stored = [
        row
        for row in ctx.store.rules.evaluable(defaults=user_id == WEB_INTERFACE_ID)
        if scope.covers(str(row[0]))
    ]
    if user_id is not None:
        user = ctx.store.users.get(user_id)
        name = f"user {user.name} with {name}"
        if not user.allow_run_as:
            stored = []
            notes.append(f"user {user.name} may not use authorization contexts")
    true = decided_rules(ctx.store, stored, context.document)
    grants = list(_grants_by_rule(ctx, true))
    if not true:
        notes.append("no rule is true for this context")
    mode = str(ctx.store.settings.get("rbac_mode"))
    return Subject(name, Permissions.granted(mode, grants, has_roles=bool(true)), tuple(notes))


def _grants_by_rule(ctx: Context, true: Sequence[int]) -> Iterator[Grant]:
    rules = [ctx.store.rules.get(number) for number in true]
    for role_id in ctx.store.rules.roles_granted(true):
        leading = ", ".join(rule.name for rule in rules if role_id in rule.roles)
        yield from grants_of(ctx.store, [role_id], via=f"rule {leading}")


def _visible(ctx: Context, subject: Subject, decision: Decision) -> Answer:
    """The answer without the entries, the groups and the holders that the caller may not know of."""
    actor = access.current_actor(ctx)
    shown = explanations.visible_to(actor, decision)
    hold = explanations.holders(ctx.store, actor, decision)
    return Answer(shown, subject.name, tuple(hold), subject.notes, shown == decision)
