"""Defaults: the users, roles, policies and rules that an empty store starts with (S 2.6-2.8, D 1, D 2).

Rules: ids follow the order of the tables, from 1; default objects are reserved; no password ships. The block tables
lie in `data/default_policies.py`. Only `init` and the tools that compare with the defaults load this.
"""

from __future__ import annotations

from dataclasses import dataclass

from mgmtctl.domain.data.default_policies import BLOCKS, READONLY_POLICIES, WHOLE_POLICIES
from mgmtctl.domain.policies import ALLOW, Block, Policy
from mgmtctl.domain.resources import Resource


@dataclass(frozen=True, slots=True)
class DefaultRole:
    """A role with its purpose, the names of its policies in order, and of the rules that grant it."""

    id: int
    name: str
    purpose: str
    policies: tuple[str, ...]
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DefaultRule:
    """A rule with its expressions (S 5.3)."""

    id: int
    name: str
    rules: tuple[dict[str, object], ...]


@dataclass(frozen=True, slots=True)
class DefaultUser:
    """A user with the names of its roles; none has a password until one is set (D 1)."""

    id: int
    name: str
    allow_run_as: bool
    roles: tuple[str, ...]


def _policy(number: int, name: str) -> Policy:
    blocks = (
        Block(block, actions, tuple(map(Resource.parse, resources)), ALLOW)
        for block, actions, resources in BLOCKS[name]
    )
    return Policy(number, name, tuple(blocks))


POLICIES: tuple[Policy, ...] = tuple(_policy(number, name) for number, name in enumerate(BLOCKS, start=1))

RULES: tuple[DefaultRule, ...] = (
    DefaultRule(1, "wui_stacka_admin", ({"FIND": {"username": "elastic"}},)),
    DefaultRule(2, "wui_stackb_admin", ({"FIND": {"user_name": "admin"}},)),
)

ROLES: tuple[DefaultRole, ...] = (
    DefaultRole(
        1,
        "administrator",
        "Full access to the system.",
        WHOLE_POLICIES,
        ("wui_stacka_admin", "wui_stackb_admin"),
    ),
    DefaultRole(2, "agents_admin", "Full access to all agent-related functions.", ("agents_all",)),
    DefaultRole(3, "agents_readonly", "Read-only access to agent-related functions.", ("agents_read",)),
    DefaultRole(4, "cluster_admin", "Full access to all manager-related functions.", ("cluster_all",)),
    DefaultRole(5, "cluster_readonly", "Read-only access to manager-related functions.", ("cluster_read",)),
    DefaultRole(6, "readonly", "Can read all information of the system.", READONLY_POLICIES),
    DefaultRole(7, "users_admin", "Full access to all user-related functions.", ("users_all",)),
)

USERS: tuple[DefaultUser, ...] = (
    DefaultUser(1, "admin", False, ("administrator",)),
    DefaultUser(2, "wui", True, ("administrator",)),
)
