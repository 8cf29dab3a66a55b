"""What operations return beside plain values: items with their failures, and the service's one envelope (D 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from mgmtctl.domain.errors import (
    ConflictError,
    DeniedError,
    InvalidError,
    MgmtctlError,
    NotFoundError,
    UnauthenticatedError,
    UnavailableError,
)

# The status of a refused call, in the request log and over HTTP (reference/security.md 5.2).
STATUSES: dict[type[MgmtctlError], int] = {
    InvalidError: 400,
    UnauthenticatedError: 401,
    DeniedError: 403,
    NotFoundError: 404,
    ConflictError: 409,
    UnavailableError: 503,
}


class Recordable(Protocol):
    """A value with one plain record form, the same for JSON output, HTTP and the log."""

    def record(self) -> dict[str, Any]: ...


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """Items that could not be handled for one reason."""

    error: MgmtctlError
    ids: tuple[str, ...]

    def record(self) -> dict[str, object]:
        """An entry of `failed_items`: `{"error": {"code", "message", "remediation"?}, "id": [...]}`."""
        error: dict[str, object] = {"code": self.error.code, "message": self.error.problem}
        if self.error.fix:
            error["remediation"] = self.error.fix
        return {"error": error, "id": list(self.ids)}


@dataclass(frozen=True, slots=True)
class Items(Generic[T]):
    """What was handled and what was not. `total` counts the matches before a limit; None: as many as `affected`."""

    affected: Sequence[T]
    failed: tuple[Failure, ...] = ()
    total: int | None = None

    def with_failures(self, failures: Iterable[Failure]) -> Items[T]:
        """The same items with more failures in front (the guard adds those it refused)."""
        return replace(self, failed=(*failures, *self.failed))

    @property
    def error(self) -> int:
        """0 nothing failed, 1 nothing worked and something failed, 2 both."""
        if not self.failed:
            return 0
        return 2 if self.affected else 1


def envelope(result: Items[Any], message: str = "") -> dict[str, object]:
    """The service's envelope of a list (D 4, reference/security.md 5.1)."""
    return {
        "data": {
            "affected_items": [record(item) for item in result.affected],
            "total_affected_items": len(result.affected) if result.total is None else result.total,
            "total_failed_items": sum(len(failure.ids) for failure in result.failed),
            "failed_items": [failure.record() for failure in _by_code(result.failed)],
        },
        "message": message,
        "error": result.error,
    }


def record(value: Any) -> Any:
    """The plain form of a value: its record, or the value itself."""
    return value.record() if hasattr(value, "record") else value


def status_of(error: BaseException) -> int:
    """The status that the request log shows for a refused call; 500 for a bug."""
    for kind, status in STATUSES.items():
        if isinstance(error, kind):
            return status
    return 500


def grouped(failures: Iterable[tuple[str, MgmtctlError]]) -> tuple[Failure, ...]:
    """One Failure per distinct reason, ids in the order they came; a text for several names none of them."""
    by_reason: dict[tuple[type[MgmtctlError], int, str], tuple[MgmtctlError, list[str]]] = {}
    differ = set()
    for item, error in failures:
        # Failures that only name their own item differently are one reason.
        key = (type(error), error.code, error.problem.replace(item, ""))
        first, ids = by_reason.setdefault(key, (error, []))
        ids.append(item)
        if error.problem != first.problem:
            differ.add(key)
    return tuple(
        Failure(_unnamed(error, ids[0]) if key in differ else error, tuple(ids))
        for key, (error, ids) in by_reason.items()
    )


def _unnamed(error: MgmtctlError, item: str) -> MgmtctlError:
    """The same failure without the name of its item."""
    kind = type(error)
    found = kind.__new__(kind, *error.args)
    found.__dict__.update(vars(error))
    found.problem = re.sub(rf"(?<!\w){re.escape(item)}(?!\w)", "...", error.problem)
    return found


def _by_code(failures: Iterable[Failure]) -> list[Failure]:
    """The service groups by code, whatever the texts name; a failure without a code stands for itself."""
    merged: dict[object, Failure] = {}
    for number, failure in enumerate(failures):
        key = failure.error.code or f"no code {number}"
        ids = merged[key].ids if key in merged else ()
        merged[key] = Failure(merged[key].error if key in merged else failure.error, (*ids, *failure.ids))
    return sorted(merged.values(), key=lambda failure: failure.error.code)
