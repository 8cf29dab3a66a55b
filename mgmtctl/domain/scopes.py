"""What a session may reach with one action: all, these values, these groups, minus those.

Rules: this module imports nothing, because the TAB-completion path loads it; it works on plain parsed JSON
blocks. A scope is a value: it is never changed after it was made. Any deny wins over any allow, whatever
their order (D 2).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

EMPTY: frozenset[str] = frozenset()


class Scope:
    """The part of one base kind that is permitted: (everything or values or groups) minus the denied ones.

    `groups` and `denied_groups` are names of agent groups (base kind `agent:id` only); `grouped` is every
    agent in any group (`agent:group:*`). A scope that holds nothing is always the constant NOTHING.
    """

    __slots__ = (
        "denied_grouped",
        "denied_groups",
        "denied_values",
        "everything",
        "grouped",
        "groups",
        "values",
    )

    def __init__(
        self,
        *,
        everything: bool = False,
        values: frozenset[str] = EMPTY,
        groups: frozenset[str] = EMPTY,
        grouped: bool = False,
        denied_values: frozenset[str] = EMPTY,
        denied_groups: frozenset[str] = EMPTY,
        denied_grouped: bool = False,
    ) -> None:
        self.everything = everything
        self.values = values
        self.groups = groups
        self.grouped = grouped
        self.denied_values = denied_values
        self.denied_groups = denied_groups
        self.denied_grouped = denied_grouped

    @property
    def is_nothing(self) -> bool:
        """True when no value at all is permitted, so that a query need not be asked."""
        return not (self.everything or self.values or self.groups or self.grouped)

    @property
    def is_everything(self) -> bool:
        """True when every value is permitted and nothing is taken away."""
        return self.everything and not (self.denied_values or self.denied_groups or self.denied_grouped)

    def covers(self, value: str, groups: Collection[str] = ()) -> bool:
        """Whether `value`, an agent in `groups` when the kind is `agent:id`, is permitted (D 2)."""
        if value in self.denied_values or (self.denied_grouped and groups):
            return False
        if self.denied_groups and not self.denied_groups.isdisjoint(groups):
            return False
        if self.everything or value in self.values or (self.grouped and groups):
            return True
        return not self.groups.isdisjoint(groups)

    def _fields(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        said = (f"{name}={getattr(self, name)!r}" for name in self.__slots__ if getattr(self, name))
        return f"Scope({', '.join(said)})"


NOTHING = Scope()
EVERYTHING = Scope(everything=True)


def base_kind(kind: str) -> str:
    """The kind whose values a scope holds: agents by group are agents (S 2.4)."""
    return "agent:id" if kind == "agent:group" else kind


def compile_scope(blocks: Iterable[Mapping[str, Any]], action: str, kind: str, black: bool) -> Scope:
    """The scope of `action` on `kind` under plain blocks {"actions", "resources", "effect"} in a mode.

    The blocks are those of all policies of all roles, in any order. A session without any role has the scope
    NOTHING in both modes (D 2); that is the caller's duty, an empty list of blocks does not say it.
    """
    base = base_kind(kind)
    allowed: set[str] = set()
    denied: set[str] = set()
    groups: set[str] = set()
    denied_groups: set[str] = set()
    for block in blocks:
        if action not in block["actions"]:
            continue
        allows = block["effect"] == "allow"
        for resource in block["resources"]:
            found, _, value = resource.rpartition(":")
            if found == base:
                (allowed if allows else denied).add(value)
            elif found == "agent:group" and base == "agent:id":
                (groups if allows else denied_groups).add(value)
    if "*" in denied:
        return NOTHING
    return _normal(black or "*" in allowed, allowed, groups, denied, denied_groups)


def _normal(
    everything: bool, values: set[str], groups: set[str], denied: set[str], denied_groups: set[str]
) -> Scope:
    grouped, denied_grouped = "*" in groups, "*" in denied_groups
    if everything:
        values = set()
    if everything or denied_grouped:
        groups, grouped = set(), False
    if not (everything or values - denied or grouped or groups - denied_groups):
        return NOTHING
    return Scope(
        everything=everything,
        values=frozenset(values - denied),
        groups=EMPTY if grouped else frozenset(groups - denied_groups),
        grouped=grouped,
        denied_values=frozenset(denied),
        denied_groups=EMPTY if denied_grouped else frozenset(denied_groups),
        denied_grouped=denied_grouped,
    )
