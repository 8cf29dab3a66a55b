"""Facts that ship with the package: tables as Python, and documents that `read_data` gives."""

from __future__ import annotations

from typing import Any


def read_data(name: str) -> bytes:
    """The bytes of a document of this folder, from wherever the package was loaded (a folder, a zip file)."""
    loader: Any = __spec__.loader
    return bytes(loader.get_data(__file__.rpartition("__init__")[0] + name))
