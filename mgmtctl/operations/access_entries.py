"""From the store's links to the grants and permissions that decisions are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mgmtctl.domain.grants import Grant, Permissions

if TYPE_CHECKING:
    from mgmtctl.store.store import Store


def grants_of(store: Store, role_ids: Sequence[int] | None, via: str = "linked") -> Iterator[Grant]:
    """Every policy of the roles (None: of all roles), with how the roles were got."""
    for role_id, role, policy_id, policy, blocks in store.roles.grants(role_ids):
        yield Grant(role_id, role, via, policy_id, policy, json.loads(blocks))


def grants_naming(store: Store, action: str) -> Iterator[Grant]:
    """Every policy of all roles that may name the action."""
    for role_id, role, policy_id, policy, blocks in store.roles.grants_naming(action):
        yield Grant(role_id, role, "linked", policy_id, policy, json.loads(blocks))


def permissions_of(
    store: Store, role_ids: Sequence[int], mode: str | None = None, via: str = "linked"
) -> Permissions:
    """What these roles together permit now; the mode is the store's unless given."""
    return Permissions.granted(
        mode or str(store.settings.get("rbac_mode")),
        grants_of(store, role_ids, via),
        has_roles=bool(role_ids),
    )
