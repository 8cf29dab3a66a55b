"""Proving who somebody is, and issuing a token for it (S 5.1, D 1).

Rules: an attempt is counted before its password is verified, and a refusal never says which part was wrong; the write
of a login is never undone, not by a dry run either. No operation is declared here.

A name that nobody has is never told that it is blocked: it hears what a wrong password hears, after the same work,
until its whole address is blocked. All such names share one count (D 1), so if that count answered, fifty failures
would turn every further attempt, which nothing counts, into an answer to "is there a user of this name?". As it is,
telling one name from a user takes as many failures as block a user, each counted against the address: it ends at ten
names. To say nothing of any block would tell no name at all, but would leave those who know their password without
the reason.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from mgmtctl import passwords
from mgmtctl.domain.errors import DeniedError, UnauthenticatedError
from mgmtctl.domain.sessions import remembered
from mgmtctl.domain.times import rfc3339
from mgmtctl.operations.context import Context
from mgmtctl.store.login_failures import Limits, address_bucket, user_bucket
from mgmtctl.store.sessions import Session
from mgmtctl.tokens import digest

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.store.contexts import ContextLogin
    from mgmtctl.store.users import Credentials

# One address may fail this many times as often as one user at it (D 1).
ADDRESS_FACTOR = 10
BLOCKED_CODE = 6000


@dataclass(frozen=True, slots=True)
class Login:
    """What a login gave. The token is shown on request only, and never by repr."""

    token: str = field(repr=False)
    user_id: int
    user: str
    context_id: str | None
    roles: tuple[tuple[int, str], ...]
    expires: int

    def record(self) -> dict[str, Any]:
        """Plain form, without the token."""
        return {
            "user": self.user,
            "context_id": self.context_id,
            "roles": [{"id": str(role_id), "name": name} for role_id, name in self.roles],
            "expires": rfc3339(self.expires),
        }


@dataclass(frozen=True, slots=True)
class TriedLogin:
    """What a context login would give; there is no token."""

    user_id: int
    user: str
    context_id: str
    roles: tuple[tuple[int, str], ...]

    def record(self) -> dict[str, Any]:
        """Plain form, as of a login: `expires` is null, for there is no session."""
        roles = [{"id": str(role_id), "name": name} for role_id, name in self.roles]
        return {"user": self.user, "context_id": self.context_id, "roles": roles, "expires": None}


class Granted(NamedTuple):
    """What a login gives: role ids in order and, by a context, the ids of the rules that were true."""

    roles: tuple[int, ...]
    rules: tuple[int, ...] = ()


def prove(ctx: Context, user_name: str, password: str) -> Credentials:
    """The user whose name and password these are. UnauthenticatedError, or DeniedError (6000) while blocked."""
    user = ctx.store.users.credentials(user_name)
    buckets = _buckets(ctx, user)
    _count_attempt(ctx, buckets, user_name, known=user is not None)
    if user is not None and passwords.verify(user.password, password):
        _settle(ctx, buckets)
        return user
    if user is None:
        passwords.verify(None, password)
    with ctx.store.database.atomic():
        for bucket, limits in buckets:
            ctx.store.login_failures.block_if_spent(bucket, limits, int(ctx.now()))
    raise wrong_credentials()


def issue(
    ctx: Context, user: Credentials, granted: Callable[[], Granted], context: AuthContext | None = None
) -> Login:
    """A token for a proven user with the roles that `granted` finds (with a context: those of its rules).

    Roles and generations are read from one state of the store: if that changes before the session is kept, the
    session is dead when it is first used, never alive with roles that were just taken away.
    """
    with ctx.store.snapshot():
        _require_unchanged(ctx, user)
        given = granted()
        session = _session(ctx, user.user_id, given.roles, context)
        names = ctx.store.roles.names()
        noted = None if context is None else _noted(ctx, user, context, given, session.issued)
        mode = ctx.store.settings.get("rbac_mode")
    token = ctx.keys.issue(_claims(user.name, session, mode))
    with ctx.store.database.atomic():
        ctx.store.sessions.purge(session.issued)
        ctx.store.sessions.add(replace(session, digest=digest(token)))
        if noted is not None:
            ctx.store.contexts.note(noted)
    named = tuple((role_id, names[role_id]) for role_id in session.roles)
    return Login(token, user.user_id, user.name, session.context_id, named, session.expires)


def tried(
    ctx: Context, user: Credentials, granted: Callable[[], Granted], context: AuthContext
) -> TriedLogin:
    """What `issue` would give a proven user now; no session is made, and nothing is noted."""
    with ctx.store.snapshot():
        _require_unchanged(ctx, user)
        names = ctx.store.roles.names()
        roles = tuple((role_id, names[role_id]) for role_id in granted().roles)
    return TriedLogin(user.user_id, user.name, context.id, roles)


def _require_unchanged(ctx: Context, user: Credentials) -> None:
    if ctx.store.users.credentials(user.name) != user:
        # Changed while the password was looked at: what was proven does not hold any more.
        raise wrong_credentials()


def _noted(ctx: Context, user: Credentials, context: AuthContext, given: Granted, now: int) -> ContextLogin:
    """What the register of contexts keeps of a login: names as they are now, of the context no value."""
    from mgmtctl.store.contexts import ContextLogin

    rules, roles = ctx.store.rules.names(), ctx.store.roles.names()
    return ContextLogin(
        context.id,
        user.user_id,
        user.name,
        tuple((rule_id, rules[rule_id]) for rule_id in given.rules),
        tuple((role_id, roles[role_id]) for role_id in given.roles),
        remembered(context.document),
        now,
        now,
    )


def _session(ctx: Context, user_id: int, roles: tuple[int, ...], context: AuthContext | None) -> Session:
    """A session that begins now; its digest is that of a token that is still to be signed."""
    generations = ctx.store.sessions.generations(user_id, roles, context=context is not None)
    if generations is None:
        raise wrong_credentials()
    now, jti = int(ctx.now()), secrets.token_hex(16)
    expires = now + int(ctx.store.settings.get("auth_token_exp_timeout"))
    if context is None:
        return Session("", jti, user_id, None, None, roles, generations, now, expires)
    name = remembered(context.document).get("name")
    return Session("", jti, user_id, context.id, name, roles, generations, now, expires)


def _claims(user: str, session: Session, mode: str) -> dict[str, Any]:
    """What the token of a session says (D 1); nothing of it is needed to judge the session."""
    claims = {
        "iat": session.issued,
        "nbf": session.issued,
        "exp": session.expires,
        "jti": session.jti,
        "sub": user,
        "uid": session.user_id,
        "run_as": session.context_id is not None,
        "rbac_roles": list(session.roles),
        "rbac_mode": mode,
        "gen": [int(number) for number in session.generations.split(",")],
    }
    return claims if session.context_id is None else {**claims, "hash_auth_context": session.context_id}


def wrong_credentials() -> UnauthenticatedError:
    """The one text for every way of not being who one says."""
    return UnauthenticatedError("wrong user name or password")


Buckets = tuple[tuple[str, Limits], tuple[str, Limits]]


def _buckets(ctx: Context, user: Credentials | None) -> Buckets:
    """Where this attempt counts: the user at the address, and the address alone."""
    settings = ctx.store.settings
    limits = Limits(
        settings.get("max_login_attempts"), settings.get("login_window"), settings.get("block_time")
    )
    address = ctx.door.login_address
    return (
        (user_bucket(user.user_id if user else None, address), limits),
        (address_bucket(address), limits.wider(ADDRESS_FACTOR)),
    )


def _count_attempt(ctx: Context, buckets: Buckets, user_name: str, *, known: bool) -> None:
    """Count the attempt in both buckets, or refuse it when one that may refuse is blocked or spent."""
    failures = ctx.store.login_failures
    refusing = buckets if known else buckets[1:]
    with ctx.store.database.atomic():
        now = int(ctx.now())
        failures.purge(buckets[0][1], now)
        blocked = [failures.blocked_for(bucket, limits, now) for bucket, limits in refusing]
        if any(blocked):
            # Of a blocked address every name hears the same, whether somebody has it or not.
            raise _blocked(ctx, max(blocked), user_name if not blocked[-1] else None)
        for bucket, limits in buckets:
            if not failures.count(bucket, limits, now) and (bucket, limits) in refusing:
                raise _blocked(ctx, limits.block, None)


def _settle(ctx: Context, buckets: Buckets) -> None:
    """A success: the user's count begins anew, the address gets back this one attempt only."""
    with ctx.store.database.atomic():
        ctx.store.login_failures.forget(buckets[0][0])
        ctx.store.login_failures.take_back(buckets[1][0])


def _blocked(ctx: Context, seconds: int, user_name: str | None) -> DeniedError:
    """The refusal of an attempt; `user_name`: of a user who is blocked alone, None when the address is."""
    whose = f"--user {user_name}" if user_name is not None else f"--address {ctx.door.login_address}"
    return DeniedError(
        "login",
        ctx.door.login_address,
        problem=f"too many failed logins, try again in {seconds} s",
        fix=f"ask an administrator: mgmtctl security login-limit lift {whose}",
        code=BLOCKED_CODE,
    )
