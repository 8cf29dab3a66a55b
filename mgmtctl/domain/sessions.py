"""Names of sessions and contexts that nobody types in full, and what is remembered of a context. Pure.

Rules: an id of 32 hexadecimal digits may be given by its first digits, at least `LEAST_DIGITS`, where they fit one
thing only; of a context its name and key names are remembered as the request log shows them, never a value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from mgmtctl.domain.errors import NotFoundError, QuestionError
from mgmtctl.domain.request_log import context_summary, printable_json

LEAST_DIGITS = 8
MAX_KEYS = 4_096  # characters of what is remembered of one context
_DIGITS = frozenset("0123456789abcdef")


def digits(kind: str, reference: str) -> str:
    """The first digits of an id as they are compared; QuestionError for what cannot be any."""
    found = reference.strip().casefold()
    if len(found) < LEAST_DIGITS or not _DIGITS.issuperset(found):
        raise QuestionError(
            f"`{reference}` is no id of a {kind}",
            why=f"expected its 32 hexadecimal digits, or at least the first {LEAST_DIGITS}",
        )
    return found


def the_one(kind: str, reference: str, known: Iterable[str]) -> str:
    """The known id that begins so. NotFoundError; QuestionError when several do, or when it is no id."""
    begin = digits(kind, reference)
    found = sorted({one for one in known if one.startswith(begin)})
    if begin in found:
        return begin
    if not found:
        raise NotFoundError(kind, reference)
    if len(found) > 1:
        raise QuestionError(f"`{reference}` fits {len(found)} ids of a {kind}", fix="give more digits")
    return found[0]


def remembered(document: Mapping[str, Any]) -> dict[str, Any]:
    """A context's name and key names, values masked; when that is long, its size and digest beside the name."""
    summary = context_summary(document)
    text = printable_json(summary)
    if len(text) <= MAX_KEYS:
        return summary
    cut = {"size": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    return {"name": summary["name"], **cut} if "name" in summary else cut
