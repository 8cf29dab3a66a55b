"""Who holds what at one moment: the access of everybody, read at once to be compared with that of another moment.

Rules: permissions are made from stored policies when they are first asked for; nothing here judges or refuses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.delegation import NOBODY
from mgmtctl.domain.grants import ALLOW, Grant, Permissions
from mgmtctl.domain.users import WEB_INTERFACE_ID, is_reserved

if TYPE_CHECKING:
    from mgmtctl.store.store import Store

Roles = frozenset[int]
Row = tuple[int, str, int, str, str]
Blocks = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Holder:
    """One user as far as access goes."""

    allow_run_as: bool
    has_password: bool
    roles: Roles


@dataclass(frozen=True, slots=True)
class RuleLink:
    """One rule that leads to roles: what it asks of a context, and the roles."""

    document: str
    roles: Roles


@dataclass(slots=True)
class Access:
    """Who holds what at one moment. `policies`: the rows of each role's policies; permissions are made on demand."""

    mode: str
    policies: dict[int, tuple[Row, ...]]
    users: dict[int, Holder]
    rules: dict[int, RuleLink]
    _made: dict[tuple[Roles, bool], Permissions] = field(default_factory=dict)
    _parsed: dict[str, Blocks] = field(default_factory=dict)

    @classmethod
    def read(cls, store: Store) -> Access:
        """The present access of everybody."""
        policies: dict[int, list[Row]] = {number: [] for number in store.roles.names()}
        for row in store.roles.grants(None):
            policies[row[0]].append(row)
        return cls(
            mode=str(store.settings.get("rbac_mode")),
            policies={number: tuple(rows) for number, rows in policies.items()},
            users={
                number: Holder(run_as, password, roles)
                for number, run_as, password, roles in store.roles.holders()
            },
            rules={number: RuleLink(document, roles) for number, document, roles in store.rules.leading()},
        )

    def of(self, roles: Roles, *, accompanied: bool = False) -> Permissions:
        """What these roles permit together; `accompanied`: with all that the roles of any rule allow beside them."""
        key = (roles, accompanied)
        if key not in self._made:
            self._made[key] = self._make(roles, self._led_to() if accompanied else frozenset())
        return self._made[key]

    def of_user(self, user_id: int) -> Permissions:
        """What a basic session of the user permits; nothing for a user that is not there."""
        holder = self.users.get(user_id)
        return self.of(holder.roles) if holder else NOBODY

    def of_contexts(self, user_id: int) -> Iterator[Permissions]:
        """What each rule that is evaluated for the user would give him; ids 1-99 are for user 2 only (D 3)."""
        for rule_id, rule in self.rules.items():
            if user_id == WEB_INTERFACE_ID or not is_reserved(rule_id):
                yield self.of(rule.roles)

    def content(self, roles: Roles) -> frozenset[tuple[int, str]]:
        """All that the permissions of these roles depend on, to see whether a change touched them."""
        return frozenset((row[2], row[4]) for number in roles for row in self.policies.get(number, ()))

    def _led_to(self) -> Roles:
        return frozenset[int]().union(*(rule.roles for rule in self.rules.values()))

    def _make(self, roles: Roles, company: Roles) -> Permissions:
        grants = [self._grant(row) for number in sorted(roles) for row in self.policies.get(number, ())]
        beside = [_allowing(self._grant(row)) for number in sorted(company) for row in self.policies[number]]
        return Permissions.granted(self.mode, grants + beside, has_roles=bool(roles or company))

    def _grant(self, row: Row) -> Grant:
        role_id, role, policy_id, policy, text = row
        return Grant(role_id, role, "linked", policy_id, policy, self.blocks(text))

    def blocks(self, text: str) -> Blocks:
        """The blocks that a row of `policies` holds as text."""
        if text not in self._parsed:
            self._parsed[text] = json.loads(text)
        return self._parsed[text]


def _allowing(grant: Grant) -> Grant:
    return grant._replace(
        blocks={name: block for name, block in grant.blocks.items() if block["effect"] == ALLOW}
    )
