"""Users: who may log in, with which roles, and the counter that ends their sessions (D 1).

Rules: a change that must end the user's sessions (password, run-as right, roles) bumps the counter in the same method;
a password is kept as its argon2id hash only; ids never come back, so a deleted user's sessions stay dead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from mgmtctl.domain.users import name_key
from mgmtctl.store.named import NamedStore


@dataclass(frozen=True, slots=True)
class User:
    """A user with the ids of its roles in order; the password is never part of it."""

    id: int
    name: str
    allow_run_as: bool = False
    roles: tuple[int, ...] = ()
    has_password: bool = False

    def record(self) -> dict[str, object]:
        """Plain form (reference/security.md 2.1); ids are strings."""
        return {
            "id": str(self.id),
            "username": self.name,
            "allow_run_as": self.allow_run_as,
            "roles": [str(role_id) for role_id in self.roles],
        }


class Credentials(NamedTuple):
    """What a login needs of a user; `password` is the stored hash, None while none is set."""

    user_id: int
    name: str
    password: str | None
    allow_run_as: bool


class UserStore(NamedStore[User]):
    """The tables users and user_roles. Linking twice and unlinking nothing is no error: False."""

    kind = "user"
    table = "users"
    unknown_code = 5001
    taken_code = 5000

    def get(self, object_id: int) -> User:
        """One user; NotFoundError."""
        name, allow_run_as, has_password = self._row(
            "SELECT name, allow_run_as, password IS NOT NULL FROM users WHERE id = ?", object_id
        )
        return User(object_id, name, bool(allow_run_as), self.roles_of(object_id), bool(has_password))

    def name_of(self, user_id: int) -> str:
        """The user's name; NotFoundError."""
        return str(self._row("SELECT name FROM users WHERE id = ?", user_id)[0])

    def list(self) -> list[User]:
        """Every user, by id."""
        roles: dict[int, tuple[int, ...]] = {}
        for user_id, role_id in self._database.rows(
            "SELECT user_id, role_id FROM user_roles ORDER BY user_id, position"
        ):
            roles[user_id] = (*roles.get(user_id, ()), role_id)
        rows = self._database.rows(
            "SELECT id, name, allow_run_as, password IS NOT NULL FROM users ORDER BY id"
        )
        return [
            User(number, name, bool(flag), roles.get(number, ()), bool(has))
            for number, name, flag, has in rows
        ]

    def credentials(self, name: str) -> Credentials | None:
        """What a login by this name is judged by, in any letter case; None for a name nobody has."""
        row = self._database.row(
            "SELECT id, name, password, allow_run_as FROM users WHERE name_key = ?", (name_key(name),)
        )
        return None if row is None else Credentials(row[0], row[1], row[2], bool(row[3]))

    def add(
        self, name: str, password: str | None, *, allow_run_as: bool = False, user_id: int | None = None
    ) -> int:
        """A new user without roles; `password` is a hash. Returns its id; ConflictError when the name is taken."""
        with self._unique(name):
            number = self._new_id(user_id)
            self._database.execute(
                "INSERT INTO users (id, name, name_key, password, allow_run_as) VALUES (?, ?, ?, ?, ?)",
                (number, name, name_key(name), password, int(allow_run_as)),
            )
        return number

    def set_password(self, user_id: int, password: str) -> None:
        """Replace the hash, and end the user's sessions."""
        self._database.execute("UPDATE users SET password = ? WHERE id = ?", (password, user_id))
        self.end_sessions(user_id)

    def set_allow_run_as(self, user_id: int, allowed: bool) -> bool:
        """Allow or forbid context logins, and end the user's sessions; False when nothing changed."""
        return self._changed(
            user_id,
            "UPDATE users SET allow_run_as = ? WHERE id = ? AND allow_run_as <> ?",
            (int(allowed), user_id, int(allowed)),
        )

    def roles_of(self, user_id: int) -> tuple[int, ...]:
        """The ids of the user's roles, in link order."""
        rows = self._database.rows(
            "SELECT role_id FROM user_roles WHERE user_id = ? ORDER BY position", (user_id,)
        )
        return tuple(row[0] for row in rows)

    def link_role(self, user_id: int, role_id: int) -> bool:
        """Put the role after those the user has, and end the user's sessions; False when it is there already."""
        return self._changed(
            user_id,
            """INSERT INTO user_roles (user_id, role_id, position)
               VALUES (?, ?, (SELECT coalesce(max(position) + 1, 0) FROM user_roles WHERE user_id = ?))
               ON CONFLICT DO NOTHING""",
            (user_id, role_id, user_id),
        )

    def unlink_role(self, user_id: int, role_id: int) -> bool:
        """Take the role from the user, and end the user's sessions; False when it is not there."""
        return self._changed(
            user_id, "DELETE FROM user_roles WHERE user_id = ? AND role_id = ?", (user_id, role_id)
        )

    def end_sessions(self, user_id: int) -> None:
        """End every session of the user, basic and context."""
        self._database.execute("UPDATE users SET generation = generation + 1 WHERE id = ?", (user_id,))

    def _changed(self, user_id: int, sql: str, parameters: Iterable[int]) -> bool:
        changed = self._database.execute(sql, tuple(parameters)).rowcount > 0
        if changed:
            self.end_sessions(user_id)
        return changed
