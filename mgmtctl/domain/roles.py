"""Roles: sets of policies, linked to users and to rules (S 2.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Role:
    """A role with the ids of its policies in order, and of the users and rules that lead to it."""

    id: int
    name: str
    policies: tuple[int, ...] = ()
    users: tuple[int, ...] = ()
    rules: tuple[int, ...] = ()

    def record(self) -> dict[str, object]:
        """Plain form; ids are strings."""
        return {
            "id": str(self.id),
            "name": self.name,
            "policies": _texts(self.policies),
            "users": _texts(self.users),
            "rules": _texts(self.rules),
        }


def _texts(ids: Iterable[int]) -> list[str]:
    return [str(number) for number in ids]
