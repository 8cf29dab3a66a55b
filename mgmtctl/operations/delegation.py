"""Nobody gives what he does not hold, and nobody locks everybody out: every change of access, before and after (D 1).

Rules: a change runs inside `judged`, in the transaction that it is part of. Whatever it did, the access of everybody
is compared: each role by itself, each user with all his roles, each rule by itself and, because a context may satisfy
several rules, in the company of all that other rules allow (a deny that goes away gives something to such a session). A
rule that asks something else of a context is a new rule. `allow_run_as` gives what any rule with id 100 or higher leads
to. What somebody gains, the caller must hold.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mgmtctl.domain.delegation import NOBODY, Right, covers_right, missing_rights
from mgmtctl.domain.errors import ConflictError, DeniedError
from mgmtctl.domain.grants import ALLOW, Grant, Permissions
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved
from mgmtctl.operations.access import current_actor

if TYPE_CHECKING:
    from mgmtctl.operations.context import Actor, Context
    from mgmtctl.store.store import Store

LOCKOUT = "lockout"
# What it takes to administer access: with less, somebody might be unable to give the rest back.
ADMINISTRATION: tuple[Right, ...] = (
    *(
        (f"security:{verb}", Resource(kind, "*"))
        for verb in ("read", "update", "delete")
        for kind in ("user:id", "role:id", "policy:id", "rule:id")
    ),
    *((f"security:{verb}", Resource("*:*", "*")) for verb in ("create", "create_user", "edit_run_as")),
)

Roles = frozenset[int]
Row = tuple[int, str, int, str, str]


@dataclass(frozen=True, slots=True)
class Holder:
    """One user as far as access goes."""

    allow_run_as: bool
    has_password: bool
    roles: Roles


@dataclass(frozen=True, slots=True)
class RuleLink:
    """One rule that leads to roles: what it asks of a context, and the roles."""

    document: str
    roles: Roles


@dataclass(slots=True)
class Access:
    """Who holds what at one moment. `policies`: the rows of each role's policies; permissions are made on demand."""

    mode: str
    policies: dict[int, tuple[Row, ...]]
    users: dict[int, Holder]
    rules: dict[int, RuleLink]
    _made: dict[tuple[Roles, bool], Permissions] = field(default_factory=dict)

    @classmethod
    def read(cls, store: Store) -> Access:
        """The present access of everybody."""
        policies: dict[int, list[Row]] = {number: [] for number in store.roles.names()}
        for row in store.roles.grants(None):
            policies[row[0]].append(row)
        return cls(
            mode=str(store.settings.get("rbac_mode")),
            policies={number: tuple(rows) for number, rows in policies.items()},
            users={
                number: Holder(run_as, password, roles)
                for number, run_as, password, roles in store.roles.holders()
            },
            rules={number: RuleLink(document, roles) for number, document, roles in store.rules.leading()},
        )

    def of(self, roles: Roles, *, accompanied: bool = False) -> Permissions:
        """What these roles permit together; `accompanied`: with all that the roles of any rule allow beside them."""
        key = (roles, accompanied)
        if key not in self._made:
            self._made[key] = self._make(roles, self._led_to() if accompanied else frozenset())
        return self._made[key]

    def of_user(self, user_id: int) -> Permissions:
        """What a basic session of the user permits; nothing for a user that is not there."""
        holder = self.users.get(user_id)
        return self.of(holder.roles) if holder else NOBODY

    def of_contexts(self, user_id: int) -> Iterator[Permissions]:
        """What each rule that is evaluated for the user would give him; ids 1-99 are for user 2 only (D 3)."""
        for rule_id, rule in self.rules.items():
            if user_id == WEB_INTERFACE_ID or not is_reserved(rule_id):
                yield self.of(rule.roles)

    def content(self, roles: Roles) -> frozenset[tuple[int, str]]:
        """All that the permissions of these roles depend on, to see whether a change touched them."""
        return frozenset((row[2], row[4]) for number in roles for row in self.policies.get(number, ()))

    def _led_to(self) -> Roles:
        return frozenset[int]().union(*(rule.roles for rule in self.rules.values()))

    def _make(self, roles: Roles, company: Roles) -> Permissions:
        grants = [_grant(row) for number in sorted(roles) for row in self.policies.get(number, ())]
        beside = [_allowing(_grant(row)) for number in sorted(company) for row in self.policies[number]]
        return Permissions.granted(self.mode, grants + beside, has_roles=bool(roles or company))


@contextmanager
def judged(ctx: Context, accept_risk: Collection[str] = ()) -> Iterator[None]:
    """Refuse what the enclosed change gives away or locks out: DeniedError, ConflictError (D 1).

    Must be inside the transaction of the change, which the refusal undoes.
    """
    actor = current_actor(ctx)
    before = Access.read(ctx.store)
    yield
    after = Access.read(ctx.store)
    lacking = _lacking(actor.permissions, gains(before, after))
    if lacking:
        raise _escalation(actor, lacking)
    if LOCKOUT not in accept_risk and locks_out(before, after):
        raise ConflictError(
            "nobody could administer the service any more",
            why="this takes the rights or the login from the last user with a password who can administer access",
            fix="give another user a role such as `administrator` and a password first, or `--accept-risk lockout`",
            code=4008,
        )


def require_rights_of(store: Store, actor: Actor, user_id: int) -> None:
    """DeniedError unless the caller holds every right of the user, those of authorization contexts included (D 1)."""
    present = Access.read(store)
    held = [(NOBODY, present.of_user(user_id))]
    if present.users[user_id].allow_run_as:
        held += [(NOBODY, permissions) for permissions in present.of_contexts(user_id)]
    lacking = _lacking(actor.permissions, held)
    if lacking:
        raise _escalation(actor, lacking, "the user holds")


def gains(before: Access, after: Access) -> Iterator[tuple[Permissions, Permissions]]:
    """Each pair of permissions, before and after, of a role, a user or a rule that the change touched."""
    seen: set[tuple[object, ...]] = set()
    for old, new, accompanied in _changes(before, after):
        key = (old, new, accompanied)
        if key not in seen:
            seen.add(key)
            yield (
                NOBODY if old is None else before.of(old, accompanied=accompanied),
                NOBODY if new is None else after.of(new, accompanied=accompanied),
            )
    for user_id, holder in after.users.items():
        earlier = before.users.get(user_id)
        if holder.allow_run_as and not (earlier and earlier.allow_run_as):
            yield from ((NOBODY, permissions) for permissions in after.of_contexts(user_id))


def locks_out(before: Access, after: Access) -> bool:
    """Whether somebody could administer before, and nobody can after."""
    lost = [
        user_id
        for user_id, holder in before.users.items()
        if _differs(before, after, holder, after.users.get(user_id))
        and administers(before, user_id)
        and not administers(after, user_id)
    ]
    return bool(lost) and not any(administers(after, user_id) for user_id in after.users)


def administers(present: Access, user_id: int) -> bool:
    """Whether the user can log in and change anybody's access."""
    holder = present.users.get(user_id)
    if holder is None or not holder.has_password:
        return False
    permissions = present.of(holder.roles)
    return all(covers_right(permissions, action, resource) for action, resource in ADMINISTRATION)


def _changes(before: Access, after: Access) -> Iterator[tuple[Roles | None, Roles | None, bool]]:
    """Role sets that mean something else than before; None: there is nothing to compare with."""
    for role_id, policies in after.policies.items():
        role = frozenset({role_id})
        earlier_role = role if before.policies.get(role_id) else None
        # A role without policies gives nobody anything by itself; those it is linked to are compared.
        if policies and _touched(before, after, earlier_role, role):
            yield earlier_role, role, False
    for user_id, holder in after.users.items():
        earlier = before.users.get(user_id)
        old = earlier.roles if earlier else None
        if _touched(before, after, old, holder.roles):
            yield old, holder.roles, False
    yield from _rule_changes(before, after)


def _rule_changes(before: Access, after: Access) -> Iterator[tuple[Roles | None, Roles | None, bool]]:
    nothing = RuleLink("", frozenset())
    for rule_id in {**before.rules, **after.rules}:
        old, new = before.rules.get(rule_id, nothing), after.rules.get(rule_id, nothing)
        if old.document == new.document and not _touched(before, after, old.roles, new.roles):
            continue
        same = old.document == new.document
        yield (old.roles if same else None), new.roles, False
        yield old.roles, (new.roles if same else frozenset()), True


def _touched(before: Access, after: Access, old: Roles | None, new: Roles) -> bool:
    """Whether the permissions of a subject may have changed."""
    if old is None or before.mode != after.mode or bool(old) != bool(new):
        return True
    return before.content(old) != after.content(new)


def _differs(before: Access, after: Access, old: Holder, new: Holder | None) -> bool:
    return new is None or old != new or _touched(before, after, old.roles, new.roles)


def _lacking(caller: Permissions, pairs: Iterable[tuple[Permissions, Permissions]]) -> list[Right]:
    return list(dict.fromkeys(right for pair in pairs for right in missing_rights(caller, *pair)))


def _escalation(actor: Actor, lacking: list[Right], who: str = "this change gives") -> DeniedError:
    """The refusal: the first right in full, all of them for JSON; resources by name for readers of all policies."""
    open_book = actor.permissions.scope("security:read", "policy:id").is_everything
    rights = [(action, str(resource) if open_book else resource.kind) for action, resource in lacking]
    (action, resource), rest = rights[0], len(rights) - 1
    more = f", and {rest} more rights that you lack" if rest else ", which you lack"
    return DeniedError(
        action,
        resource,
        why=f"nobody gives what he does not hold: {who} {action} on {resource}{more}",
        fix="ask somebody who holds it",
        explanation={"lacking": [{"action": action, "resource": resource} for action, resource in rights]},
    )


def _grant(row: Row) -> Grant:
    role_id, role, policy_id, policy, blocks = row
    return Grant(role_id, role, "linked", policy_id, policy, json.loads(blocks))


def _allowing(grant: Grant) -> Grant:
    return grant._replace(
        blocks={name: block for name, block in grant.blocks.items() if block["effect"] == ALLOW}
    )
