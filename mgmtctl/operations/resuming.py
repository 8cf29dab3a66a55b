"""Sessions as values: turning a token into an actor (S 5.1, D 1).

Rules: a session is judged in one place (`_end_of`), wherever its token comes from; permissions come from the
store at each use, never from the token. Every command loads this module: what a login needs is in `proof`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import UnauthenticatedError
from mgmtctl.operations.access_entries import permissions_of
from mgmtctl.operations.context import Actor, Context

if TYPE_CHECKING:
    from mgmtctl.operations.proof import TriedLogin
    from mgmtctl.store.sessions import Session

# A clock may be set back by so many seconds before its sessions count as begun in the future.
CLOCK_TOLERANCE = 60


def resume(ctx: Context, token: str, verify_signature: bool = True) -> Context:
    """The same service for the actor of this token. UnauthenticatedError when its session does not live.

    Tokens that come from outside are verified first; that of the own session file is known by its digest (D 1).
    """
    from mgmtctl.tokens import digest, invalid_token, looks_like_token

    if not looks_like_token(token):
        raise invalid_token()
    claims = ctx.keys.verify(token) if verify_signature else None
    with ctx.store.snapshot():
        session = ctx.store.sessions.find(digest(token))
        if session is None or (claims is not None and not _is_of(claims, session)):
            raise invalid_token()
        _require_alive(ctx, session)
        return ctx.acting_as(_actor(ctx, session))


def end(ctx: Context) -> None:
    """End the session that is acting, as its time would have; in a dry run too, whose session was real."""
    if ctx.actor is not None:
        with ctx.store.database.atomic():
            ctx.store.sessions.revoke(ctx.actor.session)


def in_place_of(ctx: Context, tried: TriedLogin) -> Context:
    """The same service for who would act after a login that was only tried, with what its roles permit now."""
    permissions = permissions_of(ctx.store, tuple(role_id for role_id, _ in tried.roles))
    actor = Actor(
        tried.user_id, tried.user, True, tried.context_id, tried.roles, permissions, "", int(ctx.now())
    )
    return ctx.acting_as(actor)


def living(ctx: Context, user_id: int | None = None) -> list[Session]:
    """Every session that lives now, or those of a user, in the order of issue."""
    now, counters = ctx.now(), ctx.store.sessions.counters()
    return [
        session
        for session in ctx.store.sessions.list(user_id)
        if not _end_of(
            session,
            counters.of(session.user_id, session.roles, context=session.context_id is not None),
            now,
        )
    ]


def _actor(ctx: Context, session: Session) -> Actor:
    names = ctx.store.roles.names()
    return Actor(
        user_id=session.user_id,
        user=ctx.store.users.name_of(session.user_id),
        run_as=session.context_id is not None,
        context_id=session.context_id,
        roles=tuple((role_id, names[role_id]) for role_id in session.roles),
        permissions=permissions_of(ctx.store, session.roles),
        session=session.digest,
        expires=session.expires,
    )


def _require_alive(ctx: Context, session: Session) -> None:
    present = ctx.store.sessions.generations(
        session.user_id, session.roles, context=session.context_id is not None
    )
    ended = _end_of(session, present, ctx.now())
    if ended is not None:
        raise ended


def _end_of(session: Session, present: str | None, now: float) -> UnauthenticatedError | None:
    """Why a session does not live any more, by the present counters of its like and the time; None: it lives."""
    if session.expires <= now:
        return _ended("the session has expired")
    if session.issued > now + CLOCK_TOLERANCE:
        return _ended("the session begins in the future", why="the clock was set back")
    if session.revoked or present != session.generations:
        return _ended("the session has ended", why="by logout, or a change of its user, roles or rules")
    return None


def _ended(problem: str, why: str | None = None) -> UnauthenticatedError:
    return UnauthenticatedError(problem, why=why, fix="mgmtctl login")


def _is_of(claims: dict[str, Any], session: Session) -> bool:
    return (claims["jti"], claims["uid"], tuple(claims["rbac_roles"])) == (
        session.jti,
        session.user_id,
        session.roles,
    )
