"""Policies: their blocks are kept as JSON text, as `policies.blocks_record` makes it (S 2.3)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mgmtctl.domain.policies import Block, Policy, blocks_record, stored_blocks
from mgmtctl.domain.users import name_key
from mgmtctl.store.named import NamedStore


class PolicyStore(NamedStore[Policy]):
    """The table policies."""

    kind = "policy"
    table = "policies"
    unknown_code = 4007
    taken_code = 4009

    def get(self, policy_id: int) -> Policy:
        """One policy; NotFoundError."""
        name, blocks = self._row("SELECT name, blocks FROM policies WHERE id = ?", policy_id)
        return Policy(policy_id, name, stored_blocks(json.loads(blocks)))

    def list(self) -> list[Policy]:
        """Every policy, by id."""
        rows = self._database.rows("SELECT id, name, blocks FROM policies ORDER BY id")
        return [Policy(number, name, stored_blocks(json.loads(blocks))) for number, name, blocks in rows]

    def add(self, name: str, blocks: Sequence[Block], *, policy_id: int | None = None) -> int:
        """A new policy; returns its id. ConflictError when the name is taken."""
        with self._unique(name):
            number = self._new_id(policy_id)
            self._database.execute(
                "INSERT INTO policies (id, name, name_key, blocks) VALUES (?, ?, ?, ?)",
                (number, name, name_key(name), _text(blocks)),
            )
        return number

    def set_blocks(self, policy_id: int, blocks: Sequence[Block]) -> None:
        """Replace what the policy says."""
        self._database.execute("UPDATE policies SET blocks = ? WHERE id = ?", (_text(blocks), policy_id))

    def roles_of(self, policy_id: int) -> tuple[int, ...]:
        """The ids of the roles that have the policy."""
        rows = self._database.rows(
            "SELECT role_id FROM role_policies WHERE policy_id = ? ORDER BY role_id", (policy_id,)
        )
        return tuple(row[0] for row in rows)


def _text(blocks: Sequence[Block]) -> str:
    return json.dumps(blocks_record(blocks), ensure_ascii=False, separators=(",", ":"))
