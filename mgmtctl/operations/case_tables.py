"""Tables of cases asked of the stored service (S 2.3, S 5.3; D 2, D 9).

Rules: a case needs the rights of its question: security:read on the user or the roles, agent:read on the agent, and for
contexts security:read on every rule, because a verdict from some of them would be another one. What lacks a right fails
by itself and says so. Nothing is changed and nobody is logged in.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from mgmtctl.domain.case_runs import Run, run_policies, run_rules
from mgmtctl.domain.case_worlds import Blocks, Held, KnownRule, StoredRule
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.policies import blocks_record
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import Scope
from mgmtctl.domain.users import FIRST_OWN_ID, WEB_INTERFACE_ID
from mgmtctl.operations import access, asked, explanations
from mgmtctl.operations.access_entries import grants_of
from mgmtctl.operations.context import Context
from mgmtctl.operations.contexts import decided_rules
from mgmtctl.operations.registry import operation

if TYPE_CHECKING:
    from mgmtctl.domain.case_tables import PolicyCase, RuleCase, Subject
    from mgmtctl.domain.grants import Grant
    from mgmtctl.store.users import User


@operation(http="POST /security/policies/test", open_to="session")
def decide_policy_cases(ctx: Context, cases: Sequence[PolicyCase], coverage: bool = False) -> Run:
    """Decide each case as `can_i` would, and say which of the policies that the caller may read no case exercised."""
    with ctx.store.snapshot():
        return run_policies(cases, _Stored(ctx), coverage=coverage)


@operation(http="POST /security/rules/test", open_to="session")
def judge_rule_cases(ctx: Context, cases: Sequence[RuleCase], coverage: bool = False) -> Run:
    """Judge the stored rules by the context of each case, and say which parts of them no case exercised.

    DeniedError without security:read on every rule.
    """
    stored = _Stored(ctx)
    stored.demand_rules()
    with ctx.store.snapshot():
        return run_rules(cases, stored, coverage=coverage)


class _Stored:
    """The stored service as a source of decisions, for one caller; see `case_runs.Source`."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self.shows = explanations.shown_to(access.current_actor(ctx))

    @property
    def mode(self) -> str:
        """The mode in force."""
        return str(self._ctx.store.settings.get("rbac_mode"))

    def held(self, subject: Subject) -> Held:
        """The policies of a subject, and how it got them."""
        store = self._ctx.store
        if subject.roles is not None:
            ids = [int(access.demand(self._ctx, "security:read", "role:id", role)) for role in subject.roles]
            return Held(tuple(grants_of(store, ids, via="asked")), bool(ids))
        user = None if subject.user is None else self._user(subject.user)
        if subject.context is not None:
            return self._held_by_context(user, subject)
        if user is None:
            raise QuestionError("the case is about nobody")
        return Held(tuple(grants_of(store, user.roles)), bool(user.roles))

    def names(self, action: str, resource: str) -> tuple[Resource, ...]:
        """All names of what a case asks about."""
        return asked.names_asked(self._ctx, action, resource)

    def own_policies(self) -> list[tuple[int, str, Blocks]]:
        """(id, name, blocks) of the policies that are not shipped, as far as the caller may read them."""
        readable = access.scope(self._ctx, "security:read", "policy:id")
        return [
            (policy.id, policy.name, blocks_record(policy.blocks))
            for policy in self._ctx.store.policies.list()
            if policy.id >= FIRST_OWN_ID and readable.covers(str(policy.id))
        ]

    def demand_rules(self) -> None:
        """DeniedError unless the caller may read every rule."""
        if not access.scope(self._ctx, "security:read", "rule:id").is_everything:
            actor, every = access.current_actor(self._ctx), Resource("rule:id", "*")
            raise access.refusal(self._ctx, actor, "security:read", every)

    def may_use_contexts(self, user: str) -> bool:
        """Whether a login of the user may bring a context."""
        return self._user(user).allow_run_as

    def rows(self, user: str | None) -> list[StoredRule]:
        """The rules that a context login of the user evaluates, and those that lead to no role yet."""
        found = None if user is None else self._user(user)
        if found is not None and not found.allow_run_as:
            return []
        first = 1 if found is not None and found.id == WEB_INTERFACE_ID else FIRST_OWN_ID
        return [
            (number, json.dumps(list(rule.expressions)), None)
            for number, rule in self._rules.items()
            if number >= first
        ]

    def rule(self, rule_id: int) -> KnownRule:
        """The rule of that id, with the roles that the caller may read."""
        return self._rules[rule_id]

    def rule_id(self, name: str) -> int:
        """The id of a rule; NotFoundError."""
        return int(access.demand(self._ctx, "security:read", "rule:id", name))

    def shows_roles(self, rule_ids: Sequence[int]) -> bool:
        """Whether the caller may read every role that these rules lead to."""
        granted = self._ctx.store.rules.roles_granted(rule_ids)
        return all(self._readable_roles.covers(str(number)) for number in granted)

    @cached_property
    def _readable_roles(self) -> Scope:
        return access.scope(self._ctx, "security:read", "role:id")

    @cached_property
    def _rules(self) -> dict[int, KnownRule]:
        names = self._ctx.store.roles.names()
        return {
            rule.id: KnownRule(
                rule.id,
                rule.name,
                rule.expressions,
                tuple(names[number] for number in rule.roles if self._readable_roles.covers(str(number))),
            )
            for rule in self._ctx.store.rules.list()
        }

    def _user(self, reference: str) -> User:
        return self._ctx.store.users.get(int(access.demand(self._ctx, "security:read", "user:id", reference)))

    def _held_by_context(self, user: User | None, subject: Subject) -> Held:
        self.demand_rules()
        if user is not None and not user.allow_run_as:
            return Held((), False)
        rules = self._ctx.store.rules
        stored = rules.evaluable(defaults=user is not None and user.id == WEB_INTERFACE_ID)
        true = decided_rules(self._ctx.store, stored, subject.document)
        names = {number: rules.get(number) for number in true}
        grants: list[Grant] = []
        for role_id in rules.roles_granted(true):
            leading = ", ".join(rule.name for rule in names.values() if role_id in rule.roles)
            grants += grants_of(self._ctx.store, [role_id], via=f"rule {leading}")
        return Held(tuple(grants), bool(true))
