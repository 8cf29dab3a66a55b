"""Which groups an agent is in: an ordered list of 1 to 128, the last with the highest priority (S 2.9, D 5).

Rules: order is the order of assignment unless a position is given; an agent left without groups falls back to
`default`; whoever changes a membership needs the right on every group that is entered, left or moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import ConflictError, InvalidError
from mgmtctl.domain.groups import DEFAULT_GROUP, MAX_GROUPS

if TYPE_CHECKING:
    from mgmtctl.domain.merging import Conflict

Groups = tuple[str, ...]
TOO_MANY, ONLY_DEFAULT = 1737, 1745
FALLBACK: Groups = (DEFAULT_GROUP,)


def with_group(groups: Groups, group: str, position: int | None = None) -> Groups:
    """The groups with one more: last, or at `position` (from 1); a member is moved only when a position is given.

    InvalidError for a position below 1, ConflictError 1737 for the 129th group.
    """
    if position is not None and position < 1:
        raise InvalidError(f"position `{position}` is below 1", why="the first group is at position 1")
    if group in groups and position is None:
        return groups
    others = [name for name in groups if name != group]
    place = len(others) if position is None else position - 1
    return check_groups((*others[:place], group, *others[place:]))


def without_group(groups: Groups, group: str) -> Groups:
    """The groups without one, perhaps none; ConflictError 1745 when that is `default` and nothing else is left."""
    if groups == FALLBACK and group == DEFAULT_GROUP:
        raise ConflictError(
            f"an agent that is only in `{DEFAULT_GROUP}` cannot leave it",
            fix="add it to another group first",
            code=ONLY_DEFAULT,
        )
    return tuple(name for name in groups if name != group)


def check_groups(groups: Sequence[str]) -> Groups:
    """`groups`, when an agent may have them in this order; InvalidError for one named twice, ConflictError 1737."""
    twice = (
        sorted({name for name in groups if groups.count(name) > 1}) if len(set(groups)) < len(groups) else ()
    )
    if twice:
        raise InvalidError(f"group `{twice[0]}` is named twice")
    if len(groups) > MAX_GROUPS:
        raise ConflictError(
            f"an agent has at most {MAX_GROUPS} groups, this would make {len(groups)}", code=TOO_MANY
        )
    return tuple(groups)


def split_groups(text: str) -> Groups:
    """Group names separated by commas, in order; InvalidError for one named twice. Empty: none."""
    return check_groups([name.strip() for name in text.split(",") if name.strip()])


def touched(before: Groups, after: Groups) -> Groups:
    """The groups that are entered, left, or moved among those that stay."""
    stay_before = [name for name in before if name in after]
    stay_after = [name for name in after if name in before]
    moved = {new for old, new in zip(stay_before, stay_after, strict=True) if old != new}
    return tuple(
        name
        for name in dict.fromkeys((*after, *before))
        if name in moved or name not in before or name not in after
    )


def disagreement(conflict: Conflict) -> str:
    """What it means that several groups of an agent hold a file of the same name, as one line."""
    losers = ", ".join(f"`{group}`" for group in conflict.losers)
    return f"file `{conflict.name}` of group `{conflict.winner}` wins over that of {losers}"
