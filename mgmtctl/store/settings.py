"""Settings that live in the store: JSON values, with the defaults of `domain/settings.py` (D 1)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.settings import STORE_SETTINGS, check_store_setting

if TYPE_CHECKING:
    from mgmtctl.store.database import Database


class SettingStore:
    """The table settings; only what differs from the default has a row."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, name: str) -> Any:
        """The value that holds now; KeyError for a name that is no setting (a bug)."""
        default = STORE_SETTINGS[name].default
        text = self._database.value("SELECT value FROM settings WHERE name = ?", (name,))
        return default if text is None else json.loads(text)

    def set(self, name: str, value: Any) -> None:
        """Store a value; InvalidError when the setting cannot have it. Ending sessions is the operation's part."""
        check_store_setting(name, value)
        self._database.execute(
            "INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, json.dumps(value)),
        )

    def all(self) -> dict[str, Any]:
        """Every setting with the value that holds now."""
        stored: dict[str, str] = dict(self._database.rows("SELECT name, value FROM settings"))
        return {
            name: json.loads(stored[name]) if name in stored else setting.default
            for name, setting in STORE_SETTINGS.items()
        }
