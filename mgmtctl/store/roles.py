"""Roles, and their links to policies and rules. Links keep an order; a role's sessions end by generations (D 1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mgmtctl.domain.roles import Role
from mgmtctl.domain.users import name_key
from mgmtctl.store.named import NamedStore

_GRANTS = """SELECT r.id, r.name, p.id, p.name, p.blocks
    FROM roles r JOIN role_policies l ON l.role_id = r.id JOIN policies p ON p.id = l.policy_id"""


class RoleStore(NamedStore[Role]):
    """The tables roles, role_policies and role_rules. Linking twice and unlinking nothing is no error: False."""

    kind = "role"
    table = "roles"
    unknown_code = 4002
    taken_code = 4005

    def get(self, role_id: int) -> Role:
        """One role with its links; NotFoundError."""
        name = str(self._row("SELECT name FROM roles WHERE id = ?", role_id)[0])
        return Role(role_id, name, self.policies_of(role_id), self.users_of(role_id), self.rules_of(role_id))

    def list(self) -> list[Role]:
        """Every role, by id."""
        policies = self._links("SELECT role_id, policy_id FROM role_policies ORDER BY role_id, position")
        users = self._links("SELECT role_id, user_id FROM user_roles ORDER BY role_id, user_id")
        rules = self._links("SELECT role_id, rule_id FROM role_rules ORDER BY role_id, rule_id")
        return [
            Role(number, name, policies.get(number, ()), users.get(number, ()), rules.get(number, ()))
            for number, name in self.names().items()
        ]

    def add(self, name: str, *, role_id: int | None = None) -> int:
        """A new role without links; returns its id. ConflictError when the name is taken."""
        with self._unique(name):
            number = self._new_id(role_id)
            self._database.execute(
                "INSERT INTO roles (id, name, name_key) VALUES (?, ?, ?)", (number, name, name_key(name))
            )
        return number

    def grants(self, role_ids: Sequence[int] | None) -> Iterable[tuple[int, str, int, str, str]]:
        """(role id, role, policy id, policy, blocks as JSON) of these roles (None: all), in role and link order."""
        order = " ORDER BY r.id, l.position"
        if role_ids is None:
            return self._database.rows(_GRANTS + order)
        marks = ",".join("?" * len(role_ids))
        return self._database.rows(f"{_GRANTS} WHERE r.id IN ({marks}){order}", tuple(role_ids))

    def grants_naming(self, action: str) -> Iterable[tuple[int, str, int, str, str]]:
        """As `grants`, of all roles; policies that do not name the action are left out, some of them at least."""
        condition = f"{_GRANTS} WHERE instr(p.blocks, ?) > 0 ORDER BY r.id, l.position"
        return self._database.rows(condition, (f'"{action}"',))

    def led_to(self) -> dict[int, frozenset[int]]:
        """The ids of the roles that each rule leads to, by the id of the rule."""
        found = self._links("SELECT rule_id, role_id FROM role_rules ORDER BY rule_id")
        return {rule_id: frozenset(roles) for rule_id, roles in found.items()}

    def policies_of(self, role_id: int) -> tuple[int, ...]:
        """The ids of the role's policies, in link order."""
        return self._ids("SELECT policy_id FROM role_policies WHERE role_id = ? ORDER BY position", role_id)

    def rules_of(self, role_id: int) -> tuple[int, ...]:
        """The ids of the rules that lead to the role."""
        return self._ids("SELECT rule_id FROM role_rules WHERE role_id = ? ORDER BY rule_id", role_id)

    def users_of(self, role_id: int) -> tuple[int, ...]:
        """The ids of the users that hold the role by link."""
        return self._ids("SELECT user_id FROM user_roles WHERE role_id = ? ORDER BY user_id", role_id)

    def link_policy(self, role_id: int, policy_id: int) -> bool:
        """Put the policy after those the role has; False when it has it already."""
        return self._changed(
            """INSERT INTO role_policies (role_id, policy_id, position)
               VALUES (?, ?, (SELECT coalesce(max(position) + 1, 0) FROM role_policies WHERE role_id = ?))
               ON CONFLICT DO NOTHING""",
            (role_id, policy_id, role_id),
        )

    def unlink_policy(self, role_id: int, policy_id: int) -> bool:
        """Take the policy from the role; False when it has not got it."""
        return self._changed(
            "DELETE FROM role_policies WHERE role_id = ? AND policy_id = ?", (role_id, policy_id)
        )

    def link_rule(self, role_id: int, rule_id: int) -> bool:
        """Let the rule lead to the role; False when it does already."""
        return self._changed(
            "INSERT INTO role_rules (role_id, rule_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
            (role_id, rule_id),
        )

    def unlink_rule(self, role_id: int, rule_id: int) -> bool:
        """Let the rule lead to the role no more; False when it does not."""
        return self._changed("DELETE FROM role_rules WHERE role_id = ? AND rule_id = ?", (role_id, rule_id))

    def holders(self) -> Iterable[tuple[int, bool, bool, frozenset[int]]]:
        """(user id, may use contexts, has a password, role ids) of every user."""
        roles: dict[int, set[int]] = {}
        for user_id, role_id in self._database.rows("SELECT user_id, role_id FROM user_roles"):
            roles.setdefault(user_id, set()).add(role_id)
        rows = self._database.rows("SELECT id, allow_run_as, password IS NOT NULL FROM users ORDER BY id")
        return [
            (number, bool(run_as), bool(password), frozenset(roles.get(number, ())))
            for number, run_as, password in rows
        ]

    def end_sessions(self, role_id: int) -> None:
        """End every session that holds the role, by link or by context."""
        self._database.execute("UPDATE roles SET generation = generation + 1 WHERE id = ?", (role_id,))

    def end_context_sessions(self, role_id: int) -> None:
        """End every context session that holds the role."""
        self._database.execute(
            "UPDATE roles SET context_generation = context_generation + 1 WHERE id = ?", (role_id,)
        )

    def _changed(self, sql: str, parameters: tuple[int, ...]) -> bool:
        return self._database.execute(sql, parameters).rowcount > 0

    def _ids(self, sql: str, role_id: int) -> tuple[int, ...]:
        return tuple(row[0] for row in self._database.rows(sql, (role_id,)))

    def _links(self, sql: str) -> dict[int, tuple[int, ...]]:
        found: dict[int, tuple[int, ...]] = {}
        for one, other in self._database.rows(sql):
            found[one] = (*found.get(one, ()), other)
        return found
