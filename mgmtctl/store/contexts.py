"""The register of authorization contexts: what leads from a context id back to a name and to what a login gave (S 5.4).

Rules: a row is one outcome of logins with a context (user, rules and roles, with the names they had then); the same
outcome again counts on in its row. Values of a context are never kept, only its key names. The latest `MOST` outcomes
are kept; older ones are forgotten as new ones come.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mgmtctl.store.database import Database, Row

MOST = 10_000
Named = tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class ContextLogin:
    """One outcome of logins with a context: `rules` that were true and `roles` they led to, as (id, name at the time);
    `keys` the context's name and key names with values masked; `first` and `last` in seconds since 1970."""

    context_id: str
    user_id: int
    user: str
    rules: Named
    roles: Named
    keys: dict[str, Any]
    first: int
    last: int
    logins: int = 1


class ContextStore:
    """The table contexts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, login: ContextLogin) -> None:
        """Count this login, and forget the oldest outcomes beyond `MOST`."""
        granted = {"rules": login.rules, "roles": login.roles}
        self._database.execute(
            """INSERT INTO contexts (context_id, user_id, user, granted, keys, first_seen, last_seen)
               VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (context_id, user_id, user, granted)
               DO UPDATE SET last_seen = excluded.last_seen, logins = logins + 1""",
            (
                login.context_id,
                login.user_id,
                login.user,
                _text(granted),
                _text(login.keys),
                login.first,
                login.last,
            ),
        )
        self._database.execute(
            """DELETE FROM contexts WHERE id IN
               (SELECT id FROM contexts ORDER BY last_seen DESC, id DESC LIMIT -1 OFFSET ?)""",
            (MOST,),
        )

    def ids(self, prefix: str) -> Iterable[str]:
        """The context ids that begin so (hex digits)."""
        rows = self._database.rows(
            "SELECT DISTINCT context_id FROM contexts WHERE substr(context_id, 1, ?) = ?",
            (len(prefix), prefix),
        )
        return [row[0] for row in rows]

    def of(self, context_id: str) -> list[ContextLogin]:
        """Every outcome that logins with this context had, the oldest first."""
        rows = self._database.rows(
            """SELECT user_id, user, granted, keys, first_seen, last_seen, logins FROM contexts
               WHERE context_id = ? ORDER BY first_seen, id""",
            (context_id,),
        )
        return [_login(context_id, row) for row in rows]


def _login(context_id: str, row: Row) -> ContextLogin:
    user_id, user, granted, keys, first, last, logins = row
    found = json.loads(granted)
    rules, roles = (tuple((number, name) for number, name in found[part]) for part in ("rules", "roles"))
    return ContextLogin(context_id, user_id, user, rules, roles, json.loads(keys), first, last, logins)


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
