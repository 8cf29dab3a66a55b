"""Digests of what is large, beside other work."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

_WORTH_THREAD = 1 << 20


def md5_meanwhile(data: bytes) -> Callable[[], str]:
    """The MD5 of the data, worked out while the caller does something else when that is worth a thread."""
    found = hashlib.md5(usedforsecurity=False)
    if len(data) < _WORTH_THREAD:
        found.update(data)
        return found.hexdigest
    import threading

    thread = threading.Thread(target=found.update, args=(data,))
    thread.start()

    def ended() -> str:
        thread.join()
        return found.hexdigest()

    return ended
