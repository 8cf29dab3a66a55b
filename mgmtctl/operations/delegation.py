"""Nobody gives what he does not hold, and nobody locks everybody out: every change of access, before and after (D 1).

Rules: a change runs inside `judged`, in the transaction that it is part of. Whatever it did, the access of everybody
is compared: each role by itself, each user with all his roles, each rule by itself and, because a context may satisfy
several rules, in the company of all that other rules allow (a deny that goes away gives something to such a session). A
rule that asks something else of a context is a new rule. `allow_run_as` gives what any rule with id 100 or higher leads
to. What somebody gains, the caller must hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mgmtctl.domain.delegation import NOBODY, Right, covers_right, missing_rights
from mgmtctl.domain.errors import ConflictError, DeniedError
from mgmtctl.domain.resources import Resource
from mgmtctl.operations import consequences, explanations
from mgmtctl.operations.access import current_actor
from mgmtctl.operations.standing import Access, Holder, Roles, RuleLink

if TYPE_CHECKING:
    from mgmtctl.domain.grants import Permissions
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


@contextmanager
def judged(ctx: Context, accept_risk: Collection[str] = (), *, preview: bool = False) -> Iterator[None]:
    """Refuse what the enclosed change gives away or locks out: DeniedError, ConflictError (D 1).

    Must be inside the transaction of the change, which the refusal undoes. In a dry run, or when a `preview` is asked
    for, what the change would mean for everybody can be asked of `ctx.impacts`, when the transaction is over:
    comparing and counting take their time, and must not keep others from writing.
    """
    actor = current_actor(ctx)
    before = Access.read(ctx.store)
    seen = consequences.look(ctx, before) if preview or ctx.dry_run else None
    yield
    after = Access.read(ctx.store)
    lacking = _lacking(actor.permissions, gains(before, after))
    if lacking:
        raise _escalation(actor, lacking, told=_told(actor, before, after))
    if LOCKOUT not in accept_risk and locks_out(before, after):
        raise ConflictError(
            "nobody could administer the service any more",
            why="this takes the rights or the login from the last user with a password who can administer access",
            fix="give another user a role such as `administrator` and a password first, or `--accept-risk lockout`",
            code=4008,
        )
    if seen is not None:
        now = consequences.look(ctx, after)
        ctx.impacts.append(lambda: consequences.impact(ctx, seen, now))


@contextmanager
def previewed(ctx: Context) -> Iterator[None]:
    """Put what the enclosed change would mean into `ctx.impacts`, whether the caller may make it or not.

    Must be inside a transaction that is undone.
    """
    seen = consequences.look(ctx, Access.read(ctx.store))
    yield
    now = consequences.look(ctx, Access.read(ctx.store))
    ctx.impacts.append(lambda: consequences.impact(ctx, seen, now))


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


def _told(actor: Actor, before: Access, after: Access) -> set[Right]:
    """What the policies say that the change itself edits or links, when the caller may read all of those."""
    old, new = ({row for rows in one.policies.values() for row in rows} for one in (before, after))
    readable = actor.permissions.scope("security:read", "policy:id")
    if not all(readable.covers(str(row[2])) for row in old ^ new):
        return set()
    return {
        (action, Resource.stored(text))
        for row in new - old
        for block in after.blocks(row[4]).values()
        for action in block["actions"]
        for text in block["resources"]
    }


def _escalation(
    actor: Actor, lacking: list[Right], who: str = "this change gives", told: Collection[Right] = ()
) -> DeniedError:
    """The refusal: the first right in full, all of them for JSON; resources by name where the caller may know them."""
    open_book = actor.permissions.scope("security:read", "policy:id").is_everything
    known = frozenset(lacking if open_book else told)
    told_first = sorted(lacking, key=lambda right: right not in known)
    rights = [(right[0], str(right[1]) if right in known else right[1].kind) for right in told_first]
    (action, resource), rest = rights[0], len(rights) - 1
    ask = explanations.asking(explanations.questions(actor, action, resource)).lines()
    more = f", and {rest} more rights that you lack" if rest else ", which you lack"
    return DeniedError(
        action,
        resource,
        why=f"nobody gives what he does not hold: {who} {action} on {resource}{more}",
        fix="\n".join(ask) if told_first[0] in known else "ask somebody who holds it",
        explanation={"lacking": [{"action": action, "resource": resource} for action, resource in rights]},
    )
