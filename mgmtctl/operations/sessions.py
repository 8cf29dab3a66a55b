"""Sessions: list those that live, and end them (S 5.1; D 1, D 9; reference/security.md 1.5).

Rules: one's own sessions are one's own, those of others need security:read on the user to be seen and security:revoke
to be ended. What came by a context is the context's own: its session sees and ends those of this context, not the
others of the user that it logged in with. Neither a token nor its digest is ever shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import InvalidError, MgmtctlError
from mgmtctl.domain.fields import DATE, ID, NAMES, TEXT
from mgmtctl.domain.links import asked
from mgmtctl.domain.resources import RESOURCELESS
from mgmtctl.domain.sessions import the_one
from mgmtctl.domain.times import rfc3339
from mgmtctl.operations import access, links
from mgmtctl.operations.context import Context
from mgmtctl.operations.links import LinkedItems
from mgmtctl.operations.registry import needs, operation
from mgmtctl.operations.results import Items, grouped
from mgmtctl.operations.resuming import living

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.store.sessions import Session

_FIELDS = {
    "id": TEXT,
    "user": TEXT,
    "user_id": ID,
    "context_id": TEXT,
    "context_name": TEXT,
    "issued": DATE,
    "expires": DATE,
    "current": TEXT,
    "roles": NAMES,
}


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session that lives; `user` is the name of its user, `current` says that the caller acts in it, `own` that he
    needs no right to end it."""

    session: Session
    user: str
    current: bool
    own: bool

    def record(self) -> dict[str, Any]:
        """Plain form; the id is that of the token (jti), not the token."""
        session = self.session
        return {
            "id": session.jti,
            "user": self.user,
            "user_id": str(session.user_id),
            "context_id": session.context_id,
            "context_name": session.context_name,
            "roles": [str(role_id) for role_id in session.roles],
            "issued": rfc3339(session.issued),
            "expires": rfc3339(session.expires),
            "current": self.current,
        }


@operation(http="GET /security/sessions", open_to="session")
def list_sessions(ctx: Context, query: ListQuery | None = None) -> LinkedItems[LiveSession]:
    """List the sessions that live: one's own, and those of the users that the caller may read."""
    with ctx.store.snapshot():
        names = {"roles": _role_names(ctx)}
        found, total = asked(_visible(ctx), query, _FIELDS, names)
    return LinkedItems(found, total=total, names=names)


@operation(http="DELETE /security/sessions", open_to="session")
def revoke_sessions(
    ctx: Context,
    user_ids: Sequence[str] = (),
    context_ids: Sequence[str] = (),
    session_ids: Sequence[str] = (),
) -> Items[LiveSession]:
    """End every session of the named users, every one of the named contexts, and the named ones.

    Those of others need security:revoke. A context or a session that nobody has who is visible fails as not found.
    """
    if not (user_ids or context_ids or session_ids):
        raise InvalidError("nothing named; expected users, contexts or sessions")
    failures, ended = list[tuple[str, MgmtctlError]](), dict[str, LiveSession]()
    with ctx.atomic():
        visible = _visible(ctx)
        users = _users(ctx, user_ids, failures)
        by_context = _known("context", context_ids, {s.session.context_id or "" for s in visible}, failures)
        by_id = _known("session", session_ids, {s.session.jti for s in visible}, failures)
        for one in visible:
            session = one.session
            if session.user_id in users or session.context_id in by_context or session.jti in by_id:
                ended[session.digest] = one
        if not (users <= _own_users(ctx) and all(one.own for one in ended.values())):
            access.demand(ctx, "security:revoke", RESOURCELESS.kind, str(RESOURCELESS))
        for user_id in users:
            # By its counter: a login that is under way ends as well.
            ctx.store.users.end_sessions(user_id)
        for digest in ended:
            ctx.store.sessions.revoke(digest)
    return Items(list(ended.values()), grouped(failures))


@operation(needs("security:revoke"), http="PUT /security/user/revoke")
def revoke_all_sessions(ctx: Context) -> Items[LiveSession]:
    """End every session of everybody; gives back those of them that the caller could see."""
    with ctx.atomic():
        visible = _visible(ctx)
        ctx.store.sessions.end_all()
    return Items(visible)


def _visible(ctx: Context) -> list[LiveSession]:
    """The live sessions that the caller may know of, with those of their roles that he may."""
    actor, names, roles = access.current_actor(ctx), ctx.store.users.names(), _role_names(ctx)
    readable = access.scope(ctx, "security:read", "user:id")

    def told(session: Session) -> Session:
        return replace(session, roles=tuple(number for number in session.roles if str(number) in roles))

    return [
        LiveSession(told(session), names[session.user_id], session.digest == actor.session, own)
        for session in living(ctx)
        if (own := actor.owns(session.user_id, session.context_id)) or readable.covers(str(session.user_id))
    ]


def _own_users(ctx: Context) -> set[int]:
    """The user whose sessions are all the caller's own; nobody for a session of a context."""
    actor = access.current_actor(ctx)
    return set() if actor.run_as else {actor.user_id}


def _users(ctx: Context, references: Sequence[str], failures: list[tuple[str, MgmtctlError]]) -> set[int]:
    """The ids of the named users whom the caller may read, or is."""
    found, own = set[int](), {str(user_id) for user_id in _own_users(ctx)}
    for reference in references:
        try:
            identifier, _ = access.resolve(ctx, "user:id", reference)
            if identifier not in own:
                identifier = access.demand(ctx, "security:read", "user:id", reference)
            found.add(int(identifier or 0))
        except MgmtctlError as error:
            failures.append((reference, error))
    return found


def _known(
    kind: str, references: Sequence[str], known: set[str], failures: list[tuple[str, MgmtctlError]]
) -> set[str]:
    """The known ids that the references stand for."""
    found = set()
    for reference in references:
        try:
            found.add(the_one(kind, reference, known))
        except MgmtctlError as error:
            failures.append((reference, error))
    return found


def _role_names(ctx: Context) -> dict[str, str]:
    """The names of the roles that the caller may read, or holds."""
    held = {str(role_id): name for role_id, name in access.current_actor(ctx).roles}
    return {**links.readable_names(ctx, "role:id"), **held}
