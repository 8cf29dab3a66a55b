"""Users: list, create, change and delete them, and link them to roles (S 2.3; D 1; reference/security.md 2).

Rules: users 1-99 keep their names, roles and run-as right and stay; nobody deletes himself; changing the password, the
run-as right or the roles of a user, or deleting one, needs every right that the user holds (one's own password
excepted, in a session of one's own and not of a context). The store ends the sessions of a user that changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import ConflictError, InvalidError, MgmtctlError
from mgmtctl.domain.fields import ID, TEXT
from mgmtctl.domain.links import Changed, differences, renamed
from mgmtctl.domain.resources import RESOURCELESS
from mgmtctl.domain.users import check_name, is_reserved, require_password
from mgmtctl.operations import access, delegation, links
from mgmtctl.operations.context import Actor, Context
from mgmtctl.operations.links import LinkedItems
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items, grouped
from mgmtctl.operations.resuming import living

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.store.store import Store
    from mgmtctl.store.users import User


@dataclass(frozen=True, slots=True)
class ChangedUser(Changed["User"]):
    """A user after a change; `sessions`: how many a new password has ended, None where that is not to be told."""

    sessions: int | None = None


@operation(needs("security:read", each("user:id", "user_ids")), http="GET /security/users")
def list_users(ctx: Context, user_ids: Selection = None, query: ListQuery | None = None) -> LinkedItems[User]:
    """List users: those that are named, or all that the caller may read."""
    fields = {"id": ID, "username": TEXT, "allow_run_as": TEXT}
    found = ctx.store.users.chosen(user_ids or ())
    return links.listed(ctx, found, query, fields, "roles")


@operation(needs("security:create_user"), http="POST /security/users")
def create_user(
    ctx: Context,
    user_name: str,
    password: str,
    roles: Sequence[str] = (),
    allow_run_as: bool = False,
    show: Callable[[User], None] | None = None,
) -> User:
    """Create a user with a password; roles and the run-as right need the rights to give them.

    `show` tells a made-up password while the user can still be undone: when it fails, there is no user.
    """
    check_name("user", user_name)
    stored = _hash(password)
    with ctx.atomic():
        with delegation.judged(ctx):
            number = ctx.store.users.add(user_name, stored)
            if roles:
                access.demand(ctx, "security:update", "user:id", str(number))
            for reference in roles:
                role_id = access.demand(ctx, "security:update", "role:id", reference)
                ctx.store.users.link_role(number, int(role_id))
            if allow_run_as:
                _demand_edit_run_as(ctx)
                ctx.store.users.set_allow_run_as(number, True)
        return _shown(ctx.store.users.get(number), show)


@operation(needs("security:update", one("user:id", "user_id")), http="PUT /security/users/{user_id}")
def update_user(
    ctx: Context,
    user_id: str,
    password: str | None = None,
    name: str | None = None,
    allow_run_as: bool | None = None,
    roles: Sequence[str] | None = None,
    accept_risk: Sequence[str] = (),
    show: Callable[[User], None] | None = None,
) -> ChangedUser:
    """Change the password, the name, the run-as right or the roles of a user; what was not given stays.

    `show` tells a made-up password while the change can still be undone: when it fails, nothing was changed.
    """
    if password is None and name is None and allow_run_as is None and roles is None:
        raise InvalidError("nothing to change; expected a password, a name, roles or allow_run_as", code=4001)
    stored, ended = None if password is None else _hash(password), None
    with _changing(ctx, int(user_id), own_password=name is None and allow_run_as is None and roles is None):
        user = ctx.store.users.get(int(user_id))
        with delegation.judged(ctx, accept_risk):
            if name is not None and name != user.name:
                _rename(ctx.store, user, name)
            if allow_run_as is not None and allow_run_as != user.allow_run_as:
                _demand_edit_run_as(ctx)
                _set_run_as(ctx.store, user, allow_run_as)
            if roles is not None:
                _replace_roles(ctx, user, roles)
            if stored is not None:
                ended = _sessions_of(ctx, user.id)
                ctx.store.users.set_password(user.id, stored)
        _shown(ctx.store.users.get(user.id), show)
        changed = _changed(ctx, user, password=stored is not None)
        return ChangedUser(changed.value, changed.changes, changed.kept, ended)


@operation(needs("security:edit_run_as"), http="PUT /security/users/{user_id}/run_as")
def set_run_as(ctx: Context, user_id: str, allow_run_as: bool) -> Changed[User]:
    """Allow or forbid a user, whom the caller may read, to log in with authorization contexts."""
    number = int(access.demand(ctx, "security:read", "user:id", user_id))
    with _changing(ctx, number):
        user = ctx.store.users.get(number)
        with delegation.judged(ctx):
            if user.allow_run_as != allow_run_as:
                _set_run_as(ctx.store, user, allow_run_as)
        return _changed(ctx, user)


@operation(needs("security:delete", each("user:id", "user_ids")), http="DELETE /security/users")
def delete_users(ctx: Context, user_ids: Selection, accept_risk: Sequence[str] = ()) -> Items[User]:
    """Delete the named users; reserved ones, oneself and those who hold more than the caller fail."""
    store, actor = ctx.store, access.current_actor(ctx)
    failures, deleted = list[tuple[str, MgmtctlError]](), list["User"]()
    with ctx.atomic(), delegation.judged(ctx, accept_risk):
        for user in store.users.chosen(links.named("user_ids", user_ids)):
            try:
                _require_deletable(store, actor, user)
            except MgmtctlError as error:
                failures.append((str(user.id), error))
                continue
            deleted.append(links.visible(ctx, user))
            store.users.delete(user.id)
    return Items(deleted, grouped(failures))


@operation(
    needs("security:update", one("user:id", "user_id")),
    needs("security:update", each("role:id", "role_ids")),
    http="POST /security/users/{user_id}/roles",
)
def link_roles(
    ctx: Context, user_id: str, role_ids: Selection, accept_risk: Sequence[str] = ()
) -> Items[Changed[User]]:
    """Give roles to a user, after those he has."""
    return _link(ctx, user_id, links.named("role_ids", role_ids), ctx.store.users.link_role, accept_risk)


@operation(
    needs("security:delete", one("user:id", "user_id")),
    needs("security:delete", each("role:id", "role_ids")),
    http="DELETE /security/users/{user_id}/roles",
)
def unlink_roles(
    ctx: Context, user_id: str, role_ids: Selection, accept_risk: Sequence[str] = ()
) -> Items[Changed[User]]:
    """Take roles from a user."""
    return _link(ctx, user_id, links.named("role_ids", role_ids), ctx.store.users.unlink_role, accept_risk)


def _link(
    ctx: Context,
    user_id: str,
    ids: Sequence[str],
    change: Callable[[int, int], bool],
    accept_risk: Sequence[str],
) -> Items[Changed[User]]:
    with _changing(ctx, int(user_id)):
        user = ctx.store.users.get(int(user_id))
        _require_own(user)
        with delegation.judged(ctx, accept_risk):
            kept = [role_id for role_id in ids if not change(user.id, int(role_id))]
        return Items([_changed(ctx, user, kept=kept)] if ids else [])


def _sessions_of(ctx: Context, user_id: int) -> int | None:
    """How many sessions of the user live; None for a caller who may not know of them."""
    actor = access.current_actor(ctx)
    own = user_id == actor.user_id and not actor.run_as
    if not own and not access.scope(ctx, "security:read", "user:id").covers(str(user_id)):
        return None
    return len(living(ctx, user_id))


def _shown(user: User, show: Callable[[User], None] | None) -> User:
    """The user, whose made-up password has been told."""
    if show is not None:
        show(user)
    return user


def _changed(
    ctx: Context, before: User, *, password: bool = False, kept: Sequence[str] = ()
) -> Changed[User]:
    """The user as it is now, and what became different, in words."""
    after = ctx.store.users.get(before.id)
    names = links.readable_names(ctx, "role:id")
    run_as = "may use authorization contexts" if after.allow_run_as else "may not use authorization contexts"
    changes = (
        *renamed(before.name, after.name),
        *((run_as,) if after.allow_run_as != before.allow_run_as else ()),
        *differences("role", before.roles, after.roles, names),
        *(("password set",) if password else ()),
    )
    return Changed(links.visible(ctx, after), changes, tuple(names.get(role_id, role_id) for role_id in kept))


@contextmanager
def _changing(ctx: Context, user_id: int, *, own_password: bool = False) -> Iterator[None]:
    """The transaction of a change to one user, under every right that the user holds."""
    actor = access.current_actor(ctx)
    with ctx.atomic():
        if not (own_password and actor.user_id == user_id and not actor.run_as):
            delegation.require_rights_of(ctx.store, actor, user_id)
        yield


def _replace_roles(ctx: Context, user: User, wanted: Sequence[str]) -> None:
    """Make exactly the wanted roles linked, under the rights that linking and unlinking each of them need.

    A role that the caller may not read stays linked: he could not have named it.
    """
    kept = [_role_id(ctx, user, reference) for reference in wanted]
    known = access.scope(ctx, "security:read", "role:id")
    removed = [number for number in user.roles if number not in kept and known.covers(str(number))]
    if removed or not set(kept) <= set(user.roles):
        _require_own(user)
    for number in removed:
        access.demand(ctx, "security:delete", "user:id", str(user.id))
        access.demand(ctx, "security:delete", "role:id", str(number))
        ctx.store.users.unlink_role(user.id, number)
    for number in kept:
        ctx.store.users.link_role(user.id, number)


def _role_id(ctx: Context, user: User, reference: str) -> int:
    if reference.isascii() and reference.isdigit() and int(reference) in user.roles:
        return int(reference)
    return int(access.demand(ctx, "security:update", "role:id", reference))


def _rename(store: Store, user: User, name: str) -> None:
    _require_own(user)
    store.users.rename(user.id, check_name("user", name))
    store.users.end_sessions(user.id)


def _set_run_as(store: Store, user: User, allowed: bool) -> None:
    _require_own(user)
    store.users.set_allow_run_as(user.id, allowed)


def _demand_edit_run_as(ctx: Context) -> None:
    actor = access.current_actor(ctx)
    if not actor.permissions.allows("security:edit_run_as", RESOURCELESS):
        raise access.refusal(ctx, actor, "security:edit_run_as", RESOURCELESS)


def _require_own(user: User) -> None:
    if is_reserved(user.id):
        raise links.reserved("user", user.name)


def _require_deletable(store: Store, actor: Actor, user: User) -> None:
    if is_reserved(user.id):
        raise links.reserved("user", user.name, 5004)
    if user.id == actor.user_id:
        raise ConflictError("you cannot delete yourself", fix="ask another administrator", code=5008)
    delegation.require_rights_of(store, actor, user.id)


def _hash(password: str) -> str:
    from mgmtctl.passwords import hash_password

    return hash_password(require_password(password))
