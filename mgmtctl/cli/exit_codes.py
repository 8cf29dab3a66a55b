"""Exit codes: what each means, and which kind of error ends with which (design: command line, exit codes)."""

from __future__ import annotations

from collections.abc import Iterable

from mgmtctl.domain.errors import (
    ConflictError,
    DeniedError,
    InvalidError,
    MgmtctlError,
    NotFoundError,
    QuestionError,
    UnauthenticatedError,
    UnavailableError,
)

NO, USAGE, PARTLY, UNAUTHENTICATED, NOT_FOUND, DENIED, REFUSED = 1, 2, 3, 4, 5, 6, 7
TIMEOUT, CONFLICT, NETWORK, BUG, IO, BUSY, CONFIGURATION = 8, 9, 11, 70, 74, 75, 78
INTERRUPTED, TERMINATED = 130, 143

MEANINGS: dict[int, str] = {
    0: "done, nothing to do, or an empty list",
    NO: "the answer is no; findings of validate, check, lint or test; or failed without a better code",
    USAGE: "usage; unknown action, kind or user in a question; a prompt would be needed",
    PARTLY: "partly done: some items failed (they are listed)",
    UNAUTHENTICATED: "not logged in, session expired or ended, bad credentials",
    NOT_FOUND: "not found",
    DENIED: "denied",
    REFUSED: "content refused by a command that had to use it, or not readable at all",
    TIMEOUT: "timed out, or still pending",
    CONFLICT: "conflict: exists, in use, reserved, or changed meanwhile",
    NETWORK: "a download or the network failed",
    BUG: "a bug in mgmtctl",
    IO: "local input or output failed",
    BUSY: "locked or busy",
    CONFIGURATION: "bad configuration",
    INTERRUPTED: "interrupted (SIGINT)",
    TERMINATED: "terminated (SIGTERM)",
}

# In this order: a subclass stands before its base.
_KINDS: tuple[tuple[type[MgmtctlError], str, int], ...] = (
    (QuestionError, "usage", USAGE),
    (InvalidError, "invalid", REFUSED),
    (UnauthenticatedError, "unauthenticated", UNAUTHENTICATED),
    (NotFoundError, "not found", NOT_FOUND),
    (DeniedError, "denied", DENIED),
    (ConflictError, "conflict", CONFLICT),
)
_REASONS = {
    "io": IO,
    "busy": BUSY,
    "configuration": CONFIGURATION,
    "timeout": TIMEOUT,
    "network": NETWORK,
    "bug": BUG,
}


def exit_code(error: MgmtctlError) -> int:
    """The exit code of an error, by its kind and, when something is unavailable, by its reason."""
    if isinstance(error, UnavailableError):
        return _REASONS.get(error.reason, NO)
    return next((code for kind, _, code in _KINDS if isinstance(error, kind)), NO)


def kind_name(error: MgmtctlError) -> str:
    """The word for the kind of an error, `type` in its JSON form."""
    if isinstance(error, UnavailableError):
        return error.reason
    return next((name for kind, name, _ in _KINDS if isinstance(error, kind)), "failed")


def common_exit_code(errors: Iterable[MgmtctlError]) -> int:
    """The exit code when every item failed: that of their kind when they agree, else 1."""
    codes = {exit_code(error) for error in errors}
    return codes.pop() if len(codes) == 1 else NO
