"""Failed logins, counted per bucket in fixed windows (D 1).

Rules: an attempt is counted before its password is looked at, inside the write transaction of the caller, so that a
parallel burst cannot get more attempts than the limit; what turns out right is taken back. A block lasts from the
moment it begins. A clock that went back shortens a block or a window, never lengthens it. The table is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mgmtctl.store.database import Database

MOST_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class Limits:
    """`attempts` failures in `window` seconds block a bucket for `block` seconds."""

    attempts: int
    window: int
    block: int

    def wider(self, times: int) -> Limits:
        """The same with `times` as many attempts."""
        return Limits(self.attempts * times, self.window, self.block)


class Bucket(NamedTuple):
    """Failed logins that count now: of a user (None: of names that nobody has), or of an address alone.

    `until`: when they stop to count, or the block ends.
    """

    name: str
    of_address: bool
    user_id: int | None
    address: str
    failures: int
    blocked: bool
    until: int


class LoginFailureStore:
    """The table login_failures. Times are whole seconds since 1970."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def blocked_for(self, bucket: str, limits: Limits, now: int) -> int:
        """For how many more seconds the bucket is blocked; 0: it is not."""
        until = self._database.value("SELECT blocked_until FROM login_failures WHERE bucket = ?", (bucket,))
        return 0 if until is None else max(0, min(int(until) - now, limits.block))

    def counted(self, limits: Limits, now: int) -> list[Bucket]:
        """Every bucket that counts something now."""
        rows = self._database.rows(
            "SELECT bucket, failures, window_start, blocked_until FROM login_failures"
            " WHERE failures > 0 ORDER BY bucket"
        )
        return [
            _bucket(name, failures, start, until, limits)
            for name, failures, start, until in rows
            if not _is_over((failures, start, until), limits, now)
        ]

    def count(self, bucket: str, limits: Limits, now: int) -> bool:
        """Count one attempt; False when the bucket has had all its attempts, and then nothing is counted."""
        row = self._database.row(
            "SELECT failures, window_start, blocked_until FROM login_failures WHERE bucket = ?", (bucket,)
        )
        failures = 0 if row is None or _is_over(row, limits, now) else int(row[0])
        if failures >= limits.attempts:
            return False
        start = now if row is None or failures == 0 else min(int(row[1]), now)
        self._database.execute(
            "INSERT INTO login_failures (bucket, failures, window_start) VALUES (?, ?, ?) ON CONFLICT (bucket)"
            " DO UPDATE SET failures = excluded.failures, window_start = excluded.window_start, blocked_until = NULL",
            (bucket, failures + 1, start),
        )
        return True

    def block_if_spent(self, bucket: str, limits: Limits, now: int) -> None:
        """After a failure: block the bucket from now on when it has had all its attempts."""
        self._database.execute(
            "UPDATE login_failures SET blocked_until = ? WHERE bucket = ? AND failures >= ? AND blocked_until IS NULL",
            (now + limits.block, bucket, limits.attempts),
        )

    def take_back(self, bucket: str) -> None:
        """After a success: this one attempt was no failure."""
        self._database.execute(
            "UPDATE login_failures SET failures = max(failures - 1, 0) WHERE bucket = ?", (bucket,)
        )

    def forget(self, bucket: str) -> None:
        """Begin this bucket anew."""
        self._database.execute("DELETE FROM login_failures WHERE bucket = ?", (bucket,))

    def forget_user(self, user_id: int) -> None:
        """Begin every bucket of a user anew, from whatever address."""
        self._database.execute(
            "DELETE FROM login_failures WHERE substr(bucket, 1, ?) = ?", _prefix(user_bucket(user_id, ""))
        )

    def purge(self, limits: Limits, now: int) -> None:
        """Drop what no longer counts, and the oldest buckets beyond the bound (blocked ones last)."""
        self._database.execute(
            "DELETE FROM login_failures WHERE coalesce(blocked_until, window_start + ?) <= ?",
            (limits.window, now),
        )
        self._database.execute(
            "DELETE FROM login_failures WHERE bucket IN (SELECT bucket FROM login_failures"
            " ORDER BY blocked_until IS NOT NULL DESC, window_start DESC LIMIT -1 OFFSET ?)",
            (MOST_BUCKETS,),
        )


def user_bucket(user_id: int | None, address: str) -> str:
    """The bucket of a user (None: of every name that nobody has) at an address."""
    return f"user {'unknown' if user_id is None else user_id} {address}"


def address_bucket(address: str) -> str:
    """The bucket of all logins from an address."""
    return f"address {address}"


def _bucket(name: str, failures: int, start: int, until: int | None, limits: Limits) -> Bucket:
    kind, _, rest = name.partition(" ")
    user, _, address = rest.partition(" ") if kind == "user" else ("", "", rest)
    number = int(user) if user.isdecimal() else None
    ends = start + limits.window if until is None else until
    return Bucket(name, kind != "user", number, address, failures, until is not None, ends)


def _prefix(text: str) -> tuple[int, str]:
    return len(text), text


def _is_over(row: tuple[int, int, int | None], limits: Limits, now: int) -> bool:
    """Whether a bucket's block, or else its window, has ended."""
    _, start, until = row
    if until is not None:
        return until <= now
    return now - start >= limits.window or start > now + limits.window
