"""Questions: whether somebody may do something, and why (S 2.3; D 2, D 9).

Rules: a question about oneself, by one's own name too, is open to every session; about another user, roles or a
context it needs security:read on each of them, and agent:read on the agent that it is about. What the caller may not
read is left out of the reasons, never out of the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mgmtctl.domain.actions import action as catalogued
from mgmtctl.domain.actions import require_kind
from mgmtctl.domain.errors import NotFoundError, QuestionError
from mgmtctl.domain.fixes import Subject
from mgmtctl.domain.grants import Decision, Grant, Permissions
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import NOTHING, Scope
from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved
from mgmtctl.operations import access, explanations
from mgmtctl.operations.access_entries import grants_of, permissions_of
from mgmtctl.operations.asked import resource_asked
from mgmtctl.operations.context import Context
from mgmtctl.operations.contexts import decided_rules
from mgmtctl.operations.explanations import Answer
from mgmtctl.operations.registry import operation
from mgmtctl.operations.suggestions import suggest

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.store.rules import Rule


_NUMBERED = ("agent:id", "user:id", "role:id", "policy:id", "rule:id")
_MOST_MEMBERS_ASKED = 1000
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """Whom a question is about, in words and as the subject of a decision, and what there is to know about them.

    `options`: how a command line asks about them; None: it is oneself, not named, or as a user that one may not read.
    """

    title: str
    subject: Subject
    options: tuple[str, ...] | None
    notes: tuple[str, ...] = ()


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
    asked = resource_asked(ctx, resource)
    require_kind(action, asked.kind)
    about = _asked(ctx, user, roles, context)
    about_self = roles is None and context is None and (user is None or access.is_oneself(ctx, user))
    if asked.kind == "agent:id" and asked.value != "*" and not about_self:
        access.demand(ctx, "agent:read", "agent:id", resource.split(":", 2)[2])
    names = (asked,) if asked.value == "*" else access.names_of(ctx, asked.kind, asked.value)
    decision = about.subject.permissions.decide(action, *names)
    actor = access.current_actor(ctx)
    options = about.options
    answer = explanations.answer(
        ctx.store,
        actor,
        decision,
        None if options is None else lambda: about.subject,
        about.title,
        explanations.questions(actor, action, resource)
        if options is None
        else (explanations.question(action, resource, *options),),
    )
    partly = _partly(ctx, decision, about.subject.permissions)
    return replace(answer, notes=(*about.notes, *partly, *_absent(ctx, asked)))


def _partly(ctx: Context, decision: Decision, permissions: Permissions) -> Iterator[str]:
    """A note that a group may be acted on, but some of its agents may not; agents that the caller may read count."""
    group = decision.resources[0]
    if not decision.allowed or group.kind != "agent:group" or group.value == "*":
        return
    held, readable = (
        permissions.scope(decision.action, "agent:id"),
        access.scope(ctx, "agent:read", "agent:id"),
    )
    if not (held.denied_values or held.denied_groups or held.denied_grouped):
        return
    of_group, agents = Scope(groups=frozenset({group.value})), ctx.store.agents
    denied = agents.count_beyond(of_group, held, readable)
    if denied:
        every = agents.count_beyond(of_group, NOTHING, readable)
        whose = "" if readable.is_everything else " that you may read"
        are = "is" if denied == 1 else "are"
        yield f"{denied} of its {every} agents{whose} {are} denied{_some_beyond(ctx, group.value, held, readable)}"


def _some_beyond(ctx: Context, group: str, held: Scope, readable: Scope) -> str:
    """The first few readable agents of a group that are not in `held`; nothing where that takes long to find."""
    members = ctx.store.agents.members(group)
    if len(members) > _MOST_MEMBERS_ASKED:
        return ""
    groups = ctx.store.agents.groups_of_each(members)
    found = [
        one for one, names in groups.items() if readable.covers(one, names) and not held.covers(one, names)
    ]
    return f": {', '.join(found[:_MOST_NAMED])}{' ...' if len(found) > _MOST_NAMED else ''}"


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
    """Whether a group has no agents, for those who may read all that it could have: no deny keeps any from them."""
    permissions = access.current_actor(ctx).permissions
    scope = permissions.scope("agent:read", "agent:id")
    kept = scope.denied_values or scope.denied_groups or scope.denied_grouped
    return permissions.allows("agent:read", group) and not kept and not ctx.store.agents.members(group.value)


def _may_read(ctx: Context, kind: str, identifier: str) -> bool:
    names = access.names_of(ctx, kind, identifier)
    return access.current_actor(ctx).permissions.allows(access.READ_ACTIONS[kind], *names)


def _asked(ctx: Context, user: str | None, roles: Sequence[str] | None, context: AuthContext | None) -> Asked:
    if roles is not None:
        if user is not None or context is not None:
            raise QuestionError(
                "a question is about roles, or about a user or a context, not both", fix="leave one out"
            )
        held = _named(ctx, [int(_readable(ctx, "role:id", reference)) for reference in roles])
        permissions = permissions_of(ctx.store, [number for number, _ in held], via="asked")
        options = tuple(word for _, name in held for word in ("--role", name))
        return Asked(f"role {', '.join(name for _, name in held)}", Subject(permissions, held), options)
    user_id = None if user is None else int(_readable(ctx, "user:id", user))
    if context is not None:
        return _asked_by_context(ctx, user_id, context)
    if user_id is not None:
        found = ctx.store.users.get(user_id)
        permissions = permissions_of(ctx.store, found.roles)
        subject = Subject(permissions, _named(ctx, found.roles), (found.id, found.name))
        may_read = explanations.reads(access.current_actor(ctx), "user", found.id)
        return Asked(f"user {found.name}", subject, ("--as", found.name) if may_read else None)
    actor = access.current_actor(ctx)
    return Asked(f"you ({actor.user})", Subject(actor.permissions, actor.roles), None)


def _named(ctx: Context, roles: Sequence[int]) -> tuple[tuple[int, str], ...]:
    return tuple((number, ctx.store.roles.get(number).name) for number in roles)


def _readable(ctx: Context, kind: str, reference: str) -> str:
    try:
        if kind == "user:id":
            return access.demand_user(ctx, reference)
        return access.demand(ctx, "security:read", kind, reference)
    except NotFoundError as error:
        suggest(ctx, error)
        raise QuestionError(error.problem, why=error.why, fix=error.fix, code=error.code) from None


def _asked_by_context(ctx: Context, user_id: int | None, context: AuthContext) -> Asked:
    """The roles that the readable rules give to this context; without a user, to one who may use contexts."""
    scope = access.scope(ctx, "security:read", "rule:id")
    if scope.is_nothing:
        raise access.refusal(ctx, access.current_actor(ctx), "security:read", Resource("rule:id", "*"))
    notes = [] if scope.is_everything else ["only the rules that you may read were evaluated"]
    user = None if user_id is None else ctx.store.users.get(user_id)
    name = f"user {user.name} with context {context.id}" if user else f"context {context.id}"
    stored = [
        row
        for row in ctx.store.rules.evaluable(defaults=user_id == WEB_INTERFACE_ID)
        if scope.covers(str(row[0]))
    ]
    if user and not user.allow_run_as:
        notes.append(f"user {user.name} may not use authorization contexts")
    true = decided_rules(ctx.store, stored, context.document)
    subject = _context_subject(ctx, None if user is None else (user.id, user.name), true, context)
    if not subject.roles:
        names = ", ".join(name for (_, name), _ in subject.rules or ())
        nowhere = f"rule {names} is true for this context, but leads to no role"
        notes.append(nowhere if names else "no rule is true for this context")
    if user and not user.allow_run_as:
        nothing = permissions_of(ctx.store, ())
        subject = replace(subject, permissions=nothing, may_use_contexts=False, led_to=subject.permissions)
    options = ("--context-file", "FILE", *(("--as", user.name) if user else ()))
    return Asked(name, subject, options, tuple(notes))


def _context_subject(
    ctx: Context, user: tuple[int, str] | None, true: Sequence[int], context: AuthContext
) -> Subject:
    """Who logs in with a context, by the rules that are true; when none leads to a role, by those that lead nowhere."""
    rules = [ctx.store.rules.get(number) for number in true] or list(_leading_nowhere(ctx, context))
    roles = ctx.store.rules.roles_granted(true)
    mode = str(ctx.store.settings.get("rbac_mode"))
    permissions = Permissions.granted(mode, list(_grants_by_rule(ctx, rules, roles)), has_roles=bool(roles))
    leading = tuple(((rule.id, rule.name), frozenset(rule.roles)) for rule in rules)
    return Subject(permissions, _named(ctx, roles), user, leading)


def _leading_nowhere(ctx: Context, context: AuthContext) -> Iterator[Rule]:
    from mgmtctl.domain.matching import ContextIndex, holds

    index, scope = ContextIndex(context.document), access.scope(ctx, "security:read", "rule:id")
    for rule in ctx.store.rules.list():
        own = not is_reserved(rule.id) and scope.covers(str(rule.id))
        if own and not rule.roles and holds(rule.expressions, index):
            yield rule


def _grants_by_rule(ctx: Context, rules: Sequence[Rule], roles: Sequence[int]) -> Iterator[Grant]:
    for role_id in roles:
        leading = ", ".join(rule.name for rule in rules if role_id in rule.roles)
        yield from grants_of(ctx.store, [role_id], via=f"rule {leading}")
