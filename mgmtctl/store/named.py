"""What the stores of roles, policies and rules have in common: rows with an id and a name.

Rules: names are unique without regard to case, the UNIQUE column decides; ids are the highest ever given plus one and
never come back (D 1). Nothing here checks rights.
"""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from mgmtctl.domain.errors import ConflictError, NotFoundError
from mgmtctl.domain.scopes import Scope
from mgmtctl.domain.users import FIRST_OWN_ID, name_key

if TYPE_CHECKING:
    from mgmtctl.store.database import Database, Row


class Numbered(Protocol):
    """A value with its id."""

    @property
    def id(self) -> int: ...


T = TypeVar("T", bound=Numbered)


class NamedStore(ABC, Generic[T]):
    """Rows of `table`, each a `kind` of thing read as T; codes as in reference/security.md 6."""

    kind: ClassVar[str]
    table: ClassVar[str]
    unknown_code: ClassVar[int]
    taken_code: ClassVar[int]

    def __init__(self, database: Database) -> None:
        self._database = database

    @abstractmethod
    def get(self, object_id: int) -> T:
        """One of them; NotFoundError."""

    @abstractmethod
    def list(self) -> list[T]:
        """All of them, by id."""

    def chosen(self, selection: Scope | Sequence[str]) -> Sequence[T]:
        """Those with these ids, in that order, or those that a scope holds, by id."""
        if isinstance(selection, Scope):
            return [value for value in self.list() if selection.covers(str(value.id))]
        return [self.get(int(number)) for number in selection]

    def find(self, name: str) -> int | None:
        """The id of what has this name, in any letter case."""
        sql = f"SELECT id FROM {self.table} WHERE name_key = ?"  # noqa: S608 - the table is a constant
        found: int | None = self._database.value(sql, (name_key(name),))
        return found

    def exists(self, object_id: int) -> bool:
        """Whether something has this id."""
        sql = f"SELECT 1 FROM {self.table} WHERE id = ?"  # noqa: S608
        return self._database.value(sql, (object_id,)) is not None

    def names(self) -> dict[int, str]:
        """Every name by id."""
        return dict(self._database.rows(f"SELECT id, name FROM {self.table} ORDER BY id"))  # noqa: S608

    def rename(self, object_id: int, name: str) -> None:
        """Give it another name; ConflictError when that is taken."""
        with self._unique(name):
            self._database.execute(
                f"UPDATE {self.table} SET name = ?, name_key = ? WHERE id = ?",  # noqa: S608
                (name, name_key(name), object_id),
            )

    def delete(self, object_id: int) -> None:
        """Remove it and its links; its id never comes back."""
        self._database.execute(f"DELETE FROM {self.table} WHERE id = ?", (object_id,))  # noqa: S608

    def _row(self, sql: str, object_id: int) -> Row:
        found = self._database.row(sql, (object_id,))
        if found is None:
            raise NotFoundError(self.kind, str(object_id), code=self.unknown_code)
        return found

    def _new_id(self, wanted: int | None) -> int:
        """The next free id, or `wanted` (defaults only), and remember it as given."""
        sql = (
            "INSERT INTO identifiers (kind, highest) VALUES (?, ?) ON CONFLICT (kind) "
            "DO UPDATE SET highest = max(highest + ?, excluded.highest) RETURNING highest"
        )
        if wanted is not None:
            self._database.execute(sql, (self.kind, wanted, 0))
            return wanted
        number: int = self._database.value(sql, (self.kind, FIRST_OWN_ID, 1))
        return number

    @contextmanager
    def _unique(self, name: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError as error:
            if "name_key" not in str(error):
                raise
            raise ConflictError(
                f"{self.kind} `{name}` exists",
                why="names are compared without regard to letter case",
                code=self.taken_code,
            ) from None
