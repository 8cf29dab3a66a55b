"""Who may do something, and all that a user or a role may do (S 2.3; D 2, D 9).

Rules: verdicts are those of the decision on each of them; users, rules, roles and policies that the caller may not read
are left out, the last two of the reasons only. A rule stands for the login by a context that makes it alone true.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mgmtctl.domain.fields import ID, NAMES, TEXT, OneOf
from mgmtctl.domain.grants import Entry, Grant
from mgmtctl.domain.queries import ListQuery, apply_query
from mgmtctl.domain.reach import Held, Said, able, everything_held, said_by_roles
from mgmtctl.domain.scopes import Scope
from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved
from mgmtctl.operations import access, links
from mgmtctl.operations.access_entries import permissions_of
from mgmtctl.operations.asked import names_asked
from mgmtctl.operations.context import Context
from mgmtctl.operations.explanations import shown_to
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items

if TYPE_CHECKING:
    from mgmtctl.domain.roles import Role
    from mgmtctl.store.store import Store

T = TypeVar("T")
USER, RULE = "user", "rule"
ABLE_FIELDS = {
    "kind": OneOf(USER, RULE),
    "id": ID,
    "name": TEXT,
    "user": TEXT,
    "via": TEXT,
    **dict.fromkeys(("role", "policy", "block", "on"), NAMES),
    **dict.fromkeys(("by_mode", "because"), TEXT),
}
HELD_FIELDS = {
    "action": TEXT,
    **dict.fromkeys(("resources", "except", "by"), NAMES),
    "whole": TEXT,
    "because": TEXT,
}


PARTLY_HIDDEN = "`resources` and `by` leave out what only roles and policies say that you may not read"


class Chain(NamedTuple):
    """How something is allowed: the entries that the caller may read, and their plain form, made once for all who have
    the same roles; `by_mode`: no entry allows it."""

    entries: tuple[Entry, ...]
    told: dict[str, Any]
    by_mode: bool

    @classmethod
    def of(cls, entries: tuple[Entry, ...], by_mode: bool) -> Chain:
        """The chain of these entries."""
        told: dict[str, Any] = {
            "role": _once(entry.role for entry in entries),
            "policy": _once(entry.policy for entry in entries),
            "block": _once(entry.block for entry in entries),
            "on": _once(str(entry.resource) for entry in entries),
            "by_mode": by_mode,
            "because": [entry.record() for entry in entries],
        }
        return cls(entries, told, by_mode)


@dataclass(frozen=True, slots=True)
class Able:
    """Somebody who may do what was asked: a user, or whoever logs in by a context for which a rule is true."""

    kind: str
    id: int
    name: str
    user: str
    via: str
    chain: Chain

    def record(self) -> dict[str, Any]:
        """Plain form: who, and how in short; the whole chain in `because`."""
        who = {"kind": self.kind, "id": str(self.id), "name": self.name, "user": self.user, "via": self.via}
        return {**who, **self.chain.told}


@dataclass(frozen=True, slots=True)
class NotedItems(Items[T]):
    """Items of an answer, with what is to be said beside it."""

    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RoleReach:
    """A role with all that it allows by itself, and those who get it as far as the caller may read them."""

    role: Role
    mode: str
    held: tuple[Held, ...]
    users: dict[str, str]
    rules: dict[str, str]

    @property
    def name(self) -> str:
        """That of the role."""
        return self.role.name

    def record(self) -> dict[str, Any]:
        """The role's record with the mode, what it allows, and who has it."""
        return {
            **self.role.record(),
            "mode": self.mode,
            "permissions": [held.record() for held in self.held],
            "held_by": {"users": _named(self.users), "rules": _named(self.rules)},
        }


@operation(needs("security:read", each("user:id", "user_ids")), http="GET /security/who-can")
def who_can(
    ctx: Context,
    action: str,
    resource: str,
    user_ids: Selection = None,
    query: ListQuery | None = None,
) -> NotedItems[Able]:
    """List who may do an action on a resource: users, and, when none are named, logins by the rules that lead there.

    QuestionError for what cannot be asked; NotFoundError for an unknown agent.
    """
    names = names_asked(ctx, action, resource)
    with ctx.store.snapshot():
        mode = str(ctx.store.settings.get("rbac_mode"))
        said = said_by_roles(_grants(ctx.store, action), action, names)
        found = [*_users_able(ctx, said, mode, user_ids), *_rules_able(ctx, said, mode, user_ids)]
    seen, total = apply_query(found, query or ListQuery(), ABLE_FIELDS, ctx.now())
    return NotedItems(seen, total=total, notes=tuple(_notes_of(ctx, found, mode, user_ids)))


@operation(http="GET /security/users/{user_id}/permissions", open_to="session")
def user_permissions(ctx: Context, user_id: str, query: ListQuery | None = None) -> NotedItems[Held]:
    """List every action that a user may do after a login of his own; about oneself without a right to read users."""
    actor = access.current_actor(ctx)
    number, _by_name = access.resolve(ctx, "user:id", user_id)
    own = number == str(actor.user_id) and not actor.run_as
    if not own:
        number = access.demand(ctx, "security:read", "user:id", user_id)
    with ctx.store.snapshot():
        user = ctx.store.users.get(int(str(number)))
        permissions = permissions_of(ctx.store, user.roles)
        held = everything_held(permissions, shown_to(actor), own=own)
        notes = [f"mode {permissions.mode}"]
        notes += [] if user.roles else [f"user `{user.name}` has no role: everything is denied in both modes"]
        notes += _run_as_notes(ctx, user.id) if user.allow_run_as else []
        notes += [PARTLY_HIDDEN] if any(map(is_hidden, held)) else []
    found, total = apply_query(held, query or ListQuery(), HELD_FIELDS, ctx.now())
    return NotedItems(found, total=total, notes=tuple(notes))


@operation(needs("security:read", one("role:id", "role_ids")), http="GET /security/roles/permissions")
def role_permissions(ctx: Context, role_ids: Sequence[str]) -> list[RoleReach]:
    """List what each of the named roles allows by itself, and who gets it."""
    visible = shown_to(access.current_actor(ctx))
    users, rules = (links.readable_names(ctx, kind) for kind in ("user:id", "rule:id"))
    with ctx.store.snapshot():
        return [_role_reach(ctx, int(number), visible, users, rules) for number in role_ids]


def _role_reach(
    ctx: Context, role_id: int, visible: Callable[[Entry], bool], users: dict[str, str], rules: dict[str, str]
) -> RoleReach:
    role, permissions = ctx.store.roles.get(role_id), permissions_of(ctx.store, [role_id])
    return RoleReach(
        links.visible(ctx, role),
        permissions.mode,
        tuple(everything_held(permissions, visible)),
        {str(number): users[str(number)] for number in role.users if str(number) in users},
        {str(number): rules[str(number)] for number in role.rules if str(number) in rules},
    )


def _grants(store: Store, action: str) -> Iterator[Grant]:
    """The policies of every role that may speak of an action; a policy of many roles is read once."""
    read: dict[int, Any] = {}
    for role_id, role, policy_id, policy, blocks in store.roles.grants_naming(action):
        if policy_id not in read:
            read[policy_id] = json.loads(blocks)
        yield Grant(role_id, role, "linked", policy_id, policy, read[policy_id])


def _users_able(ctx: Context, said: dict[int, Said], mode: str, wanted: Selection) -> Iterator[Able]:
    scope = wanted if isinstance(wanted, Scope) else Scope(values=frozenset(wanted or ()))
    names, visible = ctx.store.users.names(), shown_to(access.current_actor(ctx))

    @cache
    def chain_of(roles: frozenset[int]) -> Chain | None:
        allowing = able(sorted(roles), said, mode)
        return None if allowing is None else Chain.of(tuple(filter(visible, allowing)), not allowing)

    for number, _run_as, _password, roles in ctx.store.roles.holders():
        chain = chain_of(roles) if scope.covers(str(number)) else None
        if chain is not None:
            via = f"mode {mode}" if chain.by_mode else "link"
            yield Able(USER, number, names[number], names[number], via, chain)


def _rules_able(ctx: Context, said: dict[int, Said], mode: str, wanted: Selection) -> Iterator[Able]:
    """The rules that, true by themselves, lead to it; ids 1-99 are for user 2 only (D 3)."""
    scope = access.scope(ctx, "security:read", "rule:id")
    if scope.is_nothing or not isinstance(wanted, Scope):
        return
    names, visible = ctx.store.rules.names(), shown_to(access.current_actor(ctx))
    special = f"context login of {ctx.store.users.name_of(WEB_INTERFACE_ID)}"
    if not wanted.covers(str(WEB_INTERFACE_ID)):
        special = "context login of one user"
    for number, roles in ctx.store.roles.led_to().items():
        allowing = able(sorted(roles), said, mode) if scope.covers(str(number)) else None
        if allowing is None:
            continue
        via = f"rule {names[number]}"
        entries = tuple(entry._replace(via=via) for entry in allowing if visible(entry))
        user = special if is_reserved(number) else "any context login"
        how = via if allowing else f"{via}, mode {mode}"
        yield Able(RULE, number, names[number], user, how, Chain.of(entries, not allowing))


def _notes_of(ctx: Context, found: Sequence[Able], mode: str, wanted: Selection) -> Iterator[str]:
    if any(one.chain.by_mode for one in found):
        yield f"mode {mode}: whoever has a role may do what no policy denies"
    if any(one.kind == RULE for one in found):
        yield "a rule stands for a login by a context that makes it true and no other rule beside it"
    scopes = [access.scope(ctx, "security:read", kind) for kind in ("user:id", "rule:id")]
    if isinstance(wanted, Scope) and not all(scope.is_everything for scope in scopes):
        yield "only users and rules that you may read are listed"


def _run_as_notes(ctx: Context, user_id: int) -> list[str]:
    """That contexts may give more, by which rules, as far as the caller may read them and where they lead."""
    rules, roles = (access.scope(ctx, "security:read", kind) for kind in ("rule:id", "role:id"))
    names = ctx.store.rules.names()
    leading = [
        names[number]
        for number in ctx.store.roles.led_to()
        if rules.covers(str(number))
        and any(roles.covers(str(role_id)) for role_id in ctx.store.rules.roles_of(number))
        and (user_id == WEB_INTERFACE_ID or not is_reserved(number))
    ]
    by = f", by rule {', '.join(leading)}" if leading else ""
    return [f"a login with an authorization context gives other roles instead{by}"]


def is_hidden(held: Held) -> bool:
    """Whether something of it, or all that gives it, is left out."""
    return not (held.whole and held.by)


def _once(words: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _named(names: dict[str, str]) -> list[dict[str, str]]:
    return [{"id": number, "name": name} for number, name in names.items()]
