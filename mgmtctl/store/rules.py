"""Rules: a list of expressions as JSON text, with the keys that let the evaluator skip it unread (D 3)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mgmtctl.domain.users import FIRST_OWN_ID, name_key
from mgmtctl.store.named import NamedStore


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its expressions (any is enough) and the ids of the roles it leads to."""

    id: int
    name: str
    expressions: tuple[object, ...]
    roles: tuple[int, ...] = ()

    def record(self) -> dict[str, object]:
        """Plain form; ids are strings; `rule` is shown beside `rules` when there is one expression (D 2)."""
        found: dict[str, object] = {
            "id": str(self.id),
            "name": self.name,
            "rules": list(self.expressions),
            "roles": [str(role_id) for role_id in self.roles],
        }
        if len(self.expressions) == 1:
            found["rule"] = self.expressions[0]
        return found


class RuleStore(NamedStore[Rule]):
    """The table rules."""

    kind = "rule"
    table = "rules"
    unknown_code = 4022
    taken_code = 4005

    def get(self, rule_id: int) -> Rule:
        """One rule; NotFoundError."""
        name, document = self._row("SELECT name, document FROM rules WHERE id = ?", rule_id)
        return Rule(rule_id, name, tuple(json.loads(document)), self.roles_of(rule_id))

    def list(self) -> list[Rule]:
        """Every rule, by id."""
        rows = self._database.rows(
            """SELECT id, name, document, (SELECT group_concat(role_id) FROM
                   (SELECT role_id FROM role_rules WHERE rule_id = rules.id ORDER BY role_id))
               FROM rules ORDER BY id"""
        )
        return [
            Rule(number, name, tuple(json.loads(document)), _ids(roles))
            for number, name, document, roles in rows
        ]

    def evaluable(self, *, defaults: bool) -> Iterable[tuple[int, str, str | None]]:
        """(id, document, needed keys) of each rule that leads to a role; those with ids 1-99 only for `defaults`."""
        first = 1 if defaults else FIRST_OWN_ID
        return self._database.rows(
            """SELECT id, document, needed_keys FROM rules
               WHERE id >= ? AND EXISTS (SELECT 1 FROM role_rules WHERE rule_id = rules.id) ORDER BY id""",
            (first,),
        )

    def roles_granted(self, rule_ids: Sequence[int]) -> tuple[int, ...]:
        """The ids of the roles that these rules lead to, each once, by id."""
        marks = ",".join("?" * len(rule_ids))
        rows = self._database.rows(
            f"SELECT DISTINCT role_id FROM role_rules WHERE rule_id IN ({marks}) ORDER BY role_id",  # noqa: S608
            tuple(rule_ids),
        )
        return tuple(row[0] for row in rows)

    def leading(self) -> Iterable[tuple[int, str, frozenset[int]]]:
        """(id, document, role ids) of every rule that leads to a role."""
        return [
            (number, document, frozenset(_ids(roles)))
            for number, document, roles in self._database.rows(
                """SELECT r.id, r.document, group_concat(l.role_id)
                   FROM rules r JOIN role_rules l ON l.rule_id = r.id GROUP BY r.id"""
            )
        ]

    def add(
        self, name: str, expressions: Sequence[object], needed_keys: str | None, *, rule_id: int | None = None
    ) -> int:
        """A new rule; returns its id. `needed_keys` comes from `matching`. ConflictError when the name is taken."""
        with self._unique(name):
            number = self._new_id(rule_id)
            self._database.execute(
                "INSERT INTO rules (id, name, name_key, document, needed_keys) VALUES (?, ?, ?, ?, ?)",
                (number, name, name_key(name), _text(expressions), needed_keys),
            )
        return number

    def set_expressions(self, rule_id: int, expressions: Sequence[object], needed_keys: str | None) -> None:
        """Replace what the rule asks of a context."""
        self._database.execute(
            "UPDATE rules SET document = ?, needed_keys = ? WHERE id = ?",
            (_text(expressions), needed_keys, rule_id),
        )

    def roles_of(self, rule_id: int) -> tuple[int, ...]:
        """The ids of the roles that the rule leads to."""
        rows = self._database.rows(
            "SELECT role_id FROM role_rules WHERE rule_id = ? ORDER BY role_id", (rule_id,)
        )
        return tuple(row[0] for row in rows)


def _text(expressions: Sequence[object]) -> str:
    return json.dumps(list(expressions), ensure_ascii=False, separators=(",", ":"))


def _ids(joined: str | None) -> tuple[int, ...]:
    return tuple(int(number) for number in joined.split(",")) if joined else ()
