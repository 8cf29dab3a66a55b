"""Facts about the store file: transactions, migrations, and files that are not ours."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from mgmtctl.domain.errors import UnavailableError
from mgmtctl.store.database import Database
from mgmtctl.store.migrations import MIGRATIONS


def _settings(database: Database) -> list[tuple[object, ...]]:
    return database.rows("SELECT name, value FROM settings ORDER BY name")


def test_what_fails_inside_atomic_leaves_nothing() -> None:
    database = Database(":memory:")
    with pytest.raises(KeyError), database.atomic():
        database.execute("INSERT INTO settings VALUES ('a', '1')")
        raise KeyError("anything")
    assert _settings(database) == []


def test_a_transaction_that_is_not_kept_is_undone() -> None:
    database = Database(":memory:")
    with database.atomic(keep=False):
        database.execute("INSERT INTO settings VALUES ('a', '1')")
        assert _settings(database) == [("a", "1")]
    assert _settings(database) == []


def test_atomic_inside_atomic_is_part_of_the_outer_one() -> None:
    database = Database(":memory:")
    with pytest.raises(KeyError), database.atomic():
        with database.atomic():
            database.execute("INSERT INTO settings VALUES ('a', '1')")
        raise KeyError("anything")
    assert _settings(database) == []


def test_an_absent_store_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as caught:
        Database(str(tmp_path / "store.db"))
    assert (caught.value.reason, caught.value.fix) == ("configuration", "run `mgmtctl init`")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"", "configuration", id="an empty file is no store"),
        pytest.param(b"not a database at all, only text" * 100, "io", id="text is a damaged store"),
    ],
)
def test_a_file_that_is_no_store_is_refused_and_kept(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(UnavailableError) as caught:
        Database(str(path))
    assert caught.value.reason == reason
    assert path.read_bytes() == content


def test_a_store_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    Database(path, create=True).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version={len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(UnavailableError, match="schema"):
        Database(path)


@pytest.mark.parametrize("released", range(len(MIGRATIONS)))
def test_each_released_schema_becomes_the_present_one(tmp_path: Path, released: int) -> None:
    path, fresh = str(tmp_path / "old.db"), str(tmp_path / "new.db")
    connection = sqlite3.connect(path, isolation_level=None)
    for step in MIGRATIONS[:released]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version={released}")
    connection.close()
    query = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
    assert Database(path, create=True).rows(query) == Database(fresh, create=True).rows(query)


def test_a_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    Database(path, create=True).close()
    entered = threading.Barrier(4)

    def count_up() -> None:
        database = Database(path)
        entered.wait()
        for _ in range(20):
            with database.atomic():
                seen = database.value("SELECT value FROM generations WHERE name = 'n'") or 0
                database.execute("INSERT OR REPLACE INTO generations VALUES ('n', ?)", (seen + 1,))
        database.close()

    threads = [threading.Thread(target=count_up) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Database(path).value("SELECT value FROM generations WHERE name = 'n'") == 80


def test_a_path_with_special_characters_is_opened_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=ro#100%.db"
    Database(str(path), create=True).close()
    assert path.exists()
