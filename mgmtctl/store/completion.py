"""What shell completion reads: the values that one session may see, as text, through a read-only connection.

Rules: a session is judged as everywhere (not revoked, not expired, its generations the present ones; D 1); its rights
become a Scope and the Scope becomes SQL, agents are never walked in Python; SQLite joins the lines, because a TAB has
milliseconds for 50,000 agents. Light: no dataclasses, no JSON, no other module of the store.
"""

# ruff: noqa: S608 - SQL text is put together from constants, values are parameters
from __future__ import annotations

import time
from _sqlite3 import connect  # the package around it would load datetime and more

from mgmtctl.domain.scopes import NOTHING, Scope, compile_scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_BUSY_MILLISECONDS = 100
_MAPPED_BYTES = 1 << 28
# Above so many nobody reads descriptions any more: then values alone are given, which is many times faster.
_MOST_DESCRIBED = 2_000
_LONGEST_ID = 9
_MOST_REVISIONS = 1_000
_BEYOND = "\U0010ffff"
_READ_ACTIONS = {
    "users": ("security:read", "user:id"),
    "roles": ("security:read", "role:id"),
    "policies": ("security:read", "policy:id"),
    "rules": ("security:read", "rule:id"),
}
_GENERATIONS = """
SELECT user_id, context_id IS NOT NULL, roles, generations,
    coalesce((SELECT value FROM generations WHERE name = 'service'), 1),
    coalesce((SELECT value FROM generations WHERE name = 'contexts'), 1),
    (SELECT generation FROM users WHERE id = user_id)
FROM sessions WHERE digest = ? AND revoked = 0 AND expires > ?
"""
_BLOCKS = """
SELECT DISTINCT json_extract(block.value, '$.effect'), resource.value
FROM role_policies JOIN policies ON policies.id = policy_id,
    json_each(policies.blocks) AS block,
    json_each(block.value, '$.actions') AS action,
    json_each(block.value, '$.resources') AS resource
WHERE action.value = ? AND role_id IN
"""
_STATUS = """
CASE WHEN disconnection_time IS NOT NULL THEN 'disconnected'
    WHEN last_keep_alive IS NULL AND started IS NULL THEN 'never_connected'
    WHEN last_keep_alive + 600 < ? THEN 'disconnected'
    WHEN started IS NULL THEN 'active' ELSE 'pending' END
"""


class Reader:
    """The store for one session; `admit` comes first. Raises sqlite3.Error when the store cannot be read."""

    def __init__(self, path: str) -> None:
        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        self._connection = connect(f"file:{quoted}?mode=ro", uri=True, isolation_level=None)
        self._connection.execute(f"PRAGMA busy_timeout={_BUSY_MILLISECONDS}")
        # Every agent's row is looked at: mapped pages are not copied first.
        self._connection.execute(f"PRAGMA mmap_size={_MAPPED_BYTES}")
        self._now = int(time.time())
        self._roles: tuple[int, ...] = ()

    def admit(self, digest: str) -> bool:
        """Whether the token with this SHA-256 is a living session."""
        row = self._connection.execute(_GENERATIONS, (digest, time.time())).fetchone()
        if row is None or row[6] is None:
            return False
        _, by_context, roles, generations, service, contexts, user = row
        self._roles = tuple(map(int, roles.split(","))) if roles else ()
        counters = [service, contexts, user] if by_context else [service, user]
        for role in self._roles:
            found = self._connection.execute(
                "SELECT generation, context_generation FROM roles WHERE id = ?", (role,)
            ).fetchone()
            if found is None:
                return False
            counters += found if by_context else found[:1]
        return bool(",".join(map(str, counters)) == generations)

    def scope(self, action: str, kind: str) -> Scope:
        """What the session may do `action` on."""
        if not self._roles:
            return NOTHING
        rows = self._connection.execute(f"{_BLOCKS} {_marks(self._roles)}", (action, *self._roles))
        blocks = [{"actions": (action,), "effect": effect, "resources": (name,)} for effect, name in rows]
        mode = self._connection.execute("SELECT value FROM settings WHERE name = 'rbac_mode'").fetchone()
        return compile_scope(blocks, action, kind, mode is not None and mode[0] == '"black"')

    def named(self, table: str, prefix: str) -> str:
        """Names of users, roles, policies or rules with their ids as descriptions; ids when the prefix is digits."""
        scope = self.scope(*_READ_ACTIONS[table])
        if scope.is_nothing:
            return ""
        by_id = prefix.isdigit()
        rows = self._connection.execute(f"SELECT id, name FROM {table} ORDER BY name_key")
        pairs = [(str(row[0]), row[1]) if by_id else (row[1], str(row[0])) for row in rows]
        key = 0 if by_id else 1
        return "\n".join("\t".join(p) for p in pairs if p[0].startswith(prefix) and scope.covers(p[key]))

    def agents(self, prefix: str) -> str:
        """Agents: ids with name and status for digits and for nothing, names with id and status for anything else."""
        scope = self.scope("agent:read", "agent:id")
        if scope.is_nothing:
            return ""
        allowed, parameters = _within(scope)
        if not prefix:
            return self._ids(allowed, parameters)
        lines = self._names(
            f"{allowed} AND name_key >= ? AND name_key < ?", [*parameters, *_span(prefix)], prefix
        )
        if prefix.isascii() and prefix.isdigit():
            ranges = _id_ranges(prefix)
            near = " OR ".join("id BETWEEN ? AND ?" for _ in ranges)
            if near:
                flat = [number for pair in ranges for number in pair]
                lines = "\n".join(
                    filter(None, (self._ids(f"{allowed} AND ({near})", [*parameters, *flat]), lines))
                )
        return lines

    def revisions(self, group: str, prefix: str) -> str:
        """The revisions of a group, the newest first, with how and why each came, when the group may be read."""
        if not self.scope("group:read", "group:id").covers(group):
            return ""
        rows = self._connection.execute(
            "SELECT number, how, coalesce(author, ''), coalesce(reason, '') FROM revisions WHERE group_name = ?"
            f" ORDER BY number DESC LIMIT {_MOST_REVISIONS}",
            (group,),
        )
        found = ((str(number), " ".join(" ".join(facts).split())) for number, *facts in rows)
        return "\n".join("\t".join(pair) for pair in found if pair[0].startswith(prefix))

    def _ids(self, where: str, parameters: list[object]) -> str:
        if self._few(where, parameters):
            value = "printf('%03d', id) || char(9) || name || ' ' || " + _STATUS
            return self._joined(value, where, [self._now, *parameters])
        # Padding each of 50,000 ids takes longer than reading them: the short ones are padded, and cut off the rest.
        padded = self._joined("printf('%03d', id)", f"id < 1000 AND {where}", parameters)
        short = self._joined("id", f"id < 1000 AND {where}", parameters)
        query = f"SELECT group_concat(id, '\n') FROM agents NOT INDEXED WHERE {where}"
        every: str = self._connection.execute(query, parameters).fetchone()[0] or ""
        return padded + every[len(short) :] if short else every

    def _names(self, where: str, parameters: list[object], prefix: str) -> str:
        exact = f"{where} AND substr(name, 1, ?) = ?"
        parameters = [*parameters, len(prefix), prefix]
        if self._few(where, parameters[:-2]):
            value = "name || char(9) || printf('%03d', id) || ' ' || " + _STATUS
            return self._joined(value, exact, [self._now, *parameters])
        return self._joined("name", exact, parameters)

    def _few(self, where: str, parameters: list[object]) -> bool:
        query = f"SELECT count(*) FROM (SELECT 1 FROM agents WHERE {where} LIMIT {_MOST_DESCRIBED + 1})"
        return int(self._connection.execute(query, parameters).fetchone()[0]) <= _MOST_DESCRIBED

    def _joined(self, value: str, where: str, parameters: list[object]) -> str:
        query = f"SELECT group_concat({value}, '\n') FROM agents WHERE {where}"
        joined: str = self._connection.execute(query, parameters).fetchone()[0] or ""
        return joined


def _within(scope: Scope) -> tuple[str, list[object]]:
    """A scope of agents as a condition with its parameters."""
    parameters: list[object] = []

    def among(values: Iterable[str]) -> str:
        ids = sorted(map(int, values))
        parameters.extend(ids)
        return f"id IN {_marks(ids)}"

    def members(groups: Iterable[str]) -> str:
        names = sorted(groups)
        parameters.extend(names)
        return f"id IN (SELECT agent_id FROM memberships WHERE group_name IN {_marks(names)})"

    permitted = ["1"] if scope.everything else []
    permitted += [among(scope.values)] if scope.values else []
    permitted += [members(scope.groups)] if scope.groups else []
    permitted += ["groups <> ''"] if scope.grouped else []
    denied = [f"NOT {among(scope.denied_values)}"] if scope.denied_values else []
    denied += [f"NOT {members(scope.denied_groups)}"] if scope.denied_groups else []
    denied += ["groups = ''"] if scope.denied_grouped else []
    return " AND ".join([f"({' OR '.join(permitted)})", *denied]), parameters


def _id_ranges(digits: str) -> list[tuple[int, int]]:
    """The ranges of ids whose written form (three digits at least) begins with these digits."""
    lengths = range(max(3, len(digits)), _LONGEST_ID + 1)
    fitting = [length for length in lengths if length == 3 or not digits.startswith("0")]
    return [(int(digits.ljust(length, "0")), int(digits.ljust(length, "9"))) for length in fitting]


def _span(prefix: str) -> tuple[str, str]:
    key = prefix.casefold()
    return key, key + _BEYOND


def _marks(values: Collection[object]) -> str:
    return f"({','.join('?' * len(values))})"
