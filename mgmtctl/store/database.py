"""Opening the SQLite file, and the one way to write to it.

Transactions begin in operations, through `atomic()`; nothing in this package commits on its own. A store of a newer
program is refused, an older one is migrated (`migrations`). Requires SQLite 3.37 (STRICT tables).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.store.migrations import MIGRATIONS

BUSY_MILLISECONDS = 10_000
OLDEST_SQLITE = (3, 37, 0)
Row = tuple[Any, ...]


class Database:
    """One open connection. `path` may be `:memory:` (tests). Raises UnavailableError when the file cannot serve."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise UnavailableError(
                f"SQLite {sqlite3.sqlite_version} is too old",
                "configuration",
                fix="install SQLite 3.37 or newer",
            )
        self.path = path
        self._connection = _connect(path, create)
        with translated(path):
            self._prepare(create)

    def _prepare(self, create: bool) -> None:
        connection = self._connection
        connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
        connection.execute("PRAGMA foreign_keys=ON")
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(MIGRATIONS):
            raise UnavailableError(
                f"the store `{self.path}` has schema {version}, this program knows {len(MIGRATIONS)}",
                "configuration",
                why="a newer mgmtctl has written it",
                fix="install that version, or restore a backup made before it",
            )
        if version < len(MIGRATIONS):
            if version == 0 and not create and self.path != ":memory:":
                raise UnavailableError(
                    f"`{self.path}` is not a store of mgmtctl", "configuration", fix="run `mgmtctl init`"
                )
            if self.path != ":memory:":
                connection.execute("PRAGMA journal_mode=WAL")
            self._migrate(version)

    def _migrate(self, version: int) -> None:
        """Each step in its own transaction; a second process that waited finds the work done."""
        for number in range(version, len(MIGRATIONS)):
            with self.atomic():
                if int(self._connection.execute("PRAGMA user_version").fetchone()[0]) > number:
                    continue
                for statement in MIGRATIONS[number]:
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version={number + 1}")

    @contextmanager
    def atomic(self, *, keep: bool = True) -> Iterator[None]:
        """All or nothing, with the write lock from the start; `keep=False` rolls back at the end (a dry run).

        Inside another `atomic()` it is part of the outer one.
        """
        connection = self._connection
        if connection.in_transaction:
            yield
            return
        with translated(self.path):
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                # SQLite may have rolled back by itself (disk full), then there is nothing left to undo.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT" if keep else "ROLLBACK")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several reads that see one state of the store."""
        if self._connection.in_transaction:
            yield
            return
        with translated(self.path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement; values only as parameters."""
        with translated(self.path):
            return self._connection.execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]]) -> sqlite3.Cursor:
        """Run one statement for many rows."""
        with translated(self.path):
            return self._connection.executemany(sql, rows)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""
        with translated(self.path):
            return self._connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, parameters: Sequence[Any] = ()) -> Row | None:
        """The first row of a query, or None."""
        with translated(self.path):
            found: Row | None = self._connection.execute(sql, parameters).fetchone()
            return found

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        found = self.row(sql, parameters)
        return None if found is None else found[0]

    def create_function(self, name: str, arguments: int, function: Any) -> None:
        """Make a pure Python function callable from SQL."""
        self._connection.create_function(name, arguments, function, deterministic=True)

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()


def _connect(path: str, create: bool) -> sqlite3.Connection:
    mode = "rwc" if create else "rw"
    target = path if path == ":memory:" else f"file:{_quoted(path)}?mode={mode}"
    try:
        # isolation_level=None: this module, not the driver, decides where transactions begin.
        return sqlite3.connect(target, uri=path != ":memory:", isolation_level=None, cached_statements=256)
    except sqlite3.Error as error:
        raise UnavailableError(
            f"cannot open the store `{path}`", "configuration", why=str(error), fix="run `mgmtctl init`"
        ) from None


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Driver failures that a user can act on become UnavailableError; wrong SQL stays a bug."""
    try:
        yield
    except sqlite3.OperationalError as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise UnavailableError(
                "the store is busy", "busy", why="another mgmtctl is writing", fix="try again"
            ) from None
        if name.startswith(
            ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
        ):
            raise UnavailableError(f"cannot use the store `{path}`", "io", why=str(error)) from None
        raise
    except sqlite3.DatabaseError as error:
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            raise UnavailableError(
                f"the store `{path}` is damaged", "io", why=str(error), fix="restore it from a backup"
            ) from None
        raise
