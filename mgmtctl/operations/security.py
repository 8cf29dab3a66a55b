"""Settings of the store that decide what is allowed, the signing key, and the login limits (D 1; S 2.5).

Rules: what is not named stays as it is; a new mode or token life ends every session, a value that was there already
none; a mode is judged like any change of access. Whom the caller may not read is not in the list of failed logins, nor
are the counts that add up everybody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.settings import STORE_SETTINGS, check_store_setting
from mgmtctl.domain.times import rfc3339
from mgmtctl.operations import access, delegation
from mgmtctl.operations.context import Context
from mgmtctl.operations.proof import ADDRESS_FACTOR
from mgmtctl.operations.registry import needs, operation
from mgmtctl.operations.resuming import living
from mgmtctl.store.login_failures import Limits

if TYPE_CHECKING:
    from mgmtctl.domain.impact import Impact
    from mgmtctl.store.login_failures import Bucket

# A token says its life and the mode: with another one it would say what is no longer so (reference 1.2, 1.5).
ENDS_SESSIONS = frozenset({"rbac_mode", "auth_token_exp_timeout"})


@dataclass(frozen=True, slots=True)
class SecuritySetting:
    """A setting of the store as it holds."""

    name: str
    value: Any

    def record(self) -> dict[str, Any]:
        """Plain form."""
        setting = STORE_SETTINGS[self.name]
        return {
            "name": self.name,
            "value": self.value,
            "default": setting.default,
            "meaning": setting.summary,
            "expected": setting.expected,
        }


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """What became of settings: each that was named as it is now, and (old, new) of those that are different."""

    settings: tuple[SecuritySetting, ...]
    changed: Mapping[str, tuple[Any, Any]]
    sessions_ended: bool

    def record(self) -> dict[str, Any]:
        """Plain form: the one setting, or all of them."""
        records = [setting.record() for setting in self.settings]
        return records[0] if len(records) == 1 else {"settings": records}


@dataclass(frozen=True, slots=True)
class FailedLogins:
    """Failed logins that count now; `who`: a user, the names that nobody has, or everybody at an address."""

    who: str
    user_id: int | None
    user: str | None
    address: str
    failures: int
    limit: int
    blocked: bool
    until: int

    def record(self) -> dict[str, Any]:
        """Plain form."""
        return {
            "who": self.who,
            "user": None if self.user is None else {"id": str(self.user_id), "name": self.user},
            "address": self.address,
            "failures": self.failures,
            "limit": self.limit,
            "blocked": self.blocked,
            "until": rfc3339(self.until),
        }


@operation(needs("security:read_config"), http="GET /security/config")
def show_config(ctx: Context) -> list[SecuritySetting]:
    """Show the settings that decide what is allowed."""
    return [SecuritySetting(name, value) for name, value in ctx.store.settings.all().items()]


@operation(needs("security:update_config"), http="PUT /security/config")
def update_config(ctx: Context, values: Mapping[str, Any], accept_risk: Sequence[str] = ()) -> SettingsChange:
    """Change settings; those that are not named stay. A new mode or token life ends every session."""
    checked = _checked(values)
    with ctx.atomic(), delegation.judged(ctx, accept_risk):
        return _change(ctx, checked)


@operation(needs("security:update_config"), http="POST /security/config/impact")
def preview_config(ctx: Context, values: Mapping[str, Any], accept_risk: Sequence[str] = ()) -> Impact:
    """Tell who would gain and lose what by these settings, under the same checks; changes nothing."""
    checked = _checked(values)
    with ctx.store.database.atomic(keep=False), delegation.judged(ctx, accept_risk, preview=True):
        _change(ctx, checked)
    return ctx.impacts.pop()()


@operation(http="PUT /security/key", open_to="owner")
def rotate_key(ctx: Context) -> int:
    """Put a new signing key in place and end every session; how many lived.

    Sessions end first and once more after: killed in between, a token is refused, never accepted (D 1).
    """
    with ctx.atomic():
        ended = len(living(ctx))
        ctx.store.sessions.end_all()
    if not ctx.dry_run:
        ctx.keys.rotate()
        with ctx.atomic():
            ctx.store.sessions.end_all()
    return ended


@operation(needs("security:revoke"), http="GET /security/login-limits")
def list_login_limits(ctx: Context) -> list[FailedLogins]:
    """List who is blocked after failed logins, or has some that count."""
    return [_told(ctx, bucket) for bucket in _known(ctx)]


@operation(needs("security:revoke"), http="DELETE /security/login-limits")
def lift_login_limits(
    ctx: Context, user: str | None = None, address: str | None = None
) -> list[FailedLogins]:
    """Forget failed logins: of a user, at an address, of a user at an address; of everybody when neither is named."""
    user_id = None if user is None else int(access.demand(ctx, "security:read", "user:id", user))
    with ctx.atomic():
        found = [
            bucket
            for bucket in _known(ctx)
            if address in (None, bucket.address) and (user_id is None or bucket.user_id == user_id)
        ]
        for bucket in found:
            ctx.store.login_failures.forget(bucket.name)
        return [_told(ctx, bucket) for bucket in found]


def _checked(values: Mapping[str, Any]) -> dict[str, Any]:
    if not values:
        raise InvalidError("nothing to change; expected a setting and its value", code=4001)
    return {name: check_store_setting(name, value) for name, value in values.items()}


def _change(ctx: Context, values: Mapping[str, Any]) -> SettingsChange:
    settings = ctx.store.settings
    present = settings.all()
    changed = {name: (present[name], value) for name, value in values.items() if present[name] != value}
    for name, (_, value) in changed.items():
        settings.set(name, value)
    ends = not ENDS_SESSIONS.isdisjoint(changed)
    if ends:
        ctx.store.sessions.end_all()
    now = tuple(SecuritySetting(name, settings.get(name)) for name in values)
    return SettingsChange(now, changed, ends)


def _limits(ctx: Context) -> Limits:
    settings = ctx.store.settings
    return Limits(
        settings.get("max_login_attempts"), settings.get("login_window"), settings.get("block_time")
    )


def _known(ctx: Context) -> list[Bucket]:
    """What counts now and the caller may know: of users that he may read; sums over everybody by a reader of all."""
    readable, names = access.scope(ctx, "security:read", "user:id"), ctx.store.users.names()
    return [
        bucket
        for bucket in ctx.store.login_failures.counted(_limits(ctx), int(ctx.now()))
        if readable.is_everything or (bucket.user_id in names and readable.covers(str(bucket.user_id)))
    ]


def _told(ctx: Context, bucket: Bucket) -> FailedLogins:
    attempts = _limits(ctx).attempts
    name = None if bucket.user_id is None else ctx.store.users.names().get(bucket.user_id)
    who = "address" if bucket.of_address else "unknown names" if bucket.user_id is None else "user"
    return FailedLogins(
        who=who,
        user_id=bucket.user_id,
        user=name,
        address=bucket.address,
        failures=bucket.failures,
        limit=attempts * ADDRESS_FACTOR if bucket.of_address else attempts,
        blocked=bucket.blocked,
        until=bucket.until,
    )
