"""Times as text: RFC 3339 in UTC, as every output shows them (design: command line, output)."""

from __future__ import annotations


def rfc3339(seconds: float) -> str:
    """Seconds since 1970 as `2026-11-21T09:56:10Z`."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
