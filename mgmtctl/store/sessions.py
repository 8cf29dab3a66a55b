"""Sessions: one row for each issued token, and the counters that end them (D 1).

Rules: a session lives while its row is there, not revoked, not expired, and its generations equal the present ones;
never by comparing seconds. `generations` holds comma-joined counters: for a basic session service, user, then one per
role; for a context session service, contexts, user, then two per role (see migrations). The token is never stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mgmtctl.store.database import Database, Row

SERVICE = "service"
CONTEXTS = "contexts"
_MARKS_AT_ONCE = 500
_SELECT = """SELECT digest, jti, user_id, context_id, context_name, roles, generations, issued, expires, revoked
    FROM sessions"""


@dataclass(frozen=True, slots=True)
class Session:
    """One issued token: its SHA-256, whose it is, the context it came by, granted roles in order, times in seconds."""

    digest: str
    jti: str
    user_id: int
    context_id: str | None
    context_name: str | None
    roles: tuple[int, ...]
    generations: str
    issued: int
    expires: int
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class Counters:
    """The present counters: those of the service, of users, and (generation, context generation) of roles."""

    service: int
    contexts: int
    users: Mapping[int, int]
    roles: Mapping[int, tuple[int, int]]

    def of(self, user_id: int, role_ids: Sequence[int], *, context: bool) -> str | None:
        """Those of such a session, joined; None when its user or one of its roles is gone."""
        user = self.users.get(user_id)
        if user is None or any(role_id not in self.roles for role_id in role_ids):
            return None
        counters = [self.service, self.contexts, user] if context else [self.service, user]
        for role_id in role_ids:
            counters.extend(self.roles[role_id] if context else self.roles[role_id][:1])
        return ",".join(map(str, counters))


class SessionStore:
    """The tables sessions and generations."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, session: Session) -> None:
        """Keep a new session."""
        self._database.execute(
            "INSERT INTO sessions (digest, jti, user_id, context_id, context_name, roles, generations, issued, expires)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                session.digest,
                session.jti,
                session.user_id,
                session.context_id,
                session.context_name,
                ",".join(map(str, session.roles)),
                session.generations,
                session.issued,
                session.expires,
            ),
        )

    def find(self, digest: str) -> Session | None:
        """The session of the token with this SHA-256, alive or not."""
        row = self._database.row(f"{_SELECT} WHERE digest = ?", (digest,))
        return None if row is None else _session(row)

    def list(self, user_id: int | None = None) -> list[Session]:
        """Every session that is kept, or every one of a user, alive or not, in the order of issue."""
        where, parameters = ("", ()) if user_id is None else (" WHERE user_id = ?", (user_id,))
        return [
            _session(row) for row in self._database.rows(f"{_SELECT}{where} ORDER BY issued, jti", parameters)
        ]

    def generations(self, user_id: int, role_ids: Sequence[int], *, context: bool) -> str | None:
        """The present counters of such a session; None when its user or one of its roles is gone."""
        user = self._database.value("SELECT generation FROM users WHERE id = ?", (user_id,))
        users: dict[int, int] = {} if user is None else {user_id: user}
        return self._counters(users, self._role_counters(role_ids)).of(user_id, role_ids, context=context)

    def counters(self) -> Counters:
        """All present counters, to judge many sessions."""
        users: dict[int, int] = dict(self._database.rows("SELECT id, generation FROM users"))
        roles = self._database.rows("SELECT id, generation, context_generation FROM roles")
        return self._counters(users, {number: (basic, context) for number, basic, context in roles})

    def revoke(self, digest: str) -> None:
        """End this one session."""
        self._database.execute("UPDATE sessions SET revoked = 1 WHERE digest = ?", (digest,))

    def end_all(self) -> None:
        """End every session of everybody."""
        self._bump(SERVICE)

    def end_context_sessions(self) -> None:
        """End every session that came by an authorization context."""
        self._bump(CONTEXTS)

    def purge(self, now: int) -> None:
        """Forget the sessions that have expired; a token without a row is refused as well."""
        self._database.execute("DELETE FROM sessions WHERE expires <= ?", (now,))

    def _counters(self, users: Mapping[int, int], roles: Mapping[int, tuple[int, int]]) -> Counters:
        return Counters(self._counter(SERVICE), self._counter(CONTEXTS), users, roles)

    def _counter(self, name: str) -> int:
        return int(self._database.value("SELECT value FROM generations WHERE name = ?", (name,)) or 1)

    def _bump(self, name: str) -> None:
        self._database.execute(
            "INSERT INTO generations (name, value) VALUES (?, 2) ON CONFLICT (name) DO UPDATE SET value = value + 1",
            (name,),
        )

    def _role_counters(self, role_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
        found: dict[int, tuple[int, int]] = {}
        for start in range(0, len(role_ids), _MARKS_AT_ONCE):
            part = tuple(role_ids[start : start + _MARKS_AT_ONCE])
            marks = ",".join("?" * len(part))
            rows = self._database.rows(
                f"SELECT id, generation, context_generation FROM roles WHERE id IN ({marks})",  # noqa: S608
                part,
            )
            found.update({row[0]: (row[1], row[2]) for row in rows})
        return found


def _session(row: Row) -> Session:
    digest, jti, user_id, context_id, context_name, joined, generations, issued, expires, revoked = row
    roles = tuple(int(number) for number in joined.split(",")) if joined else ()
    return Session(
        digest, jti, user_id, context_id, context_name, roles, generations, issued, expires, bool(revoked)
    )
