"""One thing that was asked for, out of the items that an operation gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from mgmtctl.operations.results import Items

T = TypeVar("T")


def only(items: Items[T]) -> T:
    """The one value that was asked for, or the reason why it is not there."""
    if items.failed:
        raise items.failed[0].error
    return items.affected[0]


def unwrapped(items: Items[T], references: Sequence[str]) -> T | Items[T]:
    """The value by itself when one reference gave it; for several, or `-`, whatever came of them."""
    alone = len(references) == 1 and references[0] != "-" and not items.failed
    return items.affected[0] if alone and len(items.affected) == 1 else items


def changed(items: Items[T]) -> T | Items[T]:
    """The one thing that was changed at several places, or with what failed."""
    return items if items.failed or len(items.affected) != 1 else items.affected[0]
