"""Which rules an authorization context makes true, and when that cannot be said.

Rule (D 3): a rule that a limit left undecided grants nothing. But a role may also take rights away, by a deny: then
leaving it out would grant, so nothing is decided at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.grants import DENY
from mgmtctl.operations.access_entries import grants_of

if TYPE_CHECKING:
    from mgmtctl.store.store import Store


def decided_rules(
    store: Store, stored: Iterable[tuple[int, str, str | None]], document: dict[str, object]
) -> list[int]:
    """The ids of the true ones among stored rules; InvalidError when an undecided one might take rights away."""
    from mgmtctl.domain.matching import ContextIndex, judge_rules

    true, undecided = judge_rules(stored, ContextIndex(document))
    if undecided and _may_take_away(store, store.rules.roles_granted(undecided)):
        raise InvalidError(
            "the authorization context is too costly to decide",
            why="a limit was reached in a rule that leads to a role with a deny",
            fix="simplify the patterns of the rule, or send a smaller context",
        )
    return true


def _may_take_away(store: Store, role_ids: tuple[int, ...]) -> bool:
    return any(
        block["effect"] == DENY for grant in grants_of(store, role_ids) for block in grant.blocks.values()
    )
