"""The kinds of failure the service knows; everything else is a bug and keeps its traceback.

    MgmtctlError
      InvalidError          content or a value is refused            (usage in a question: QuestionError)
      UnauthenticatedError  nobody, or nobody any more, is logged in
      DeniedError           the actor lacks the right
      NotFoundError         nothing has that name or id (or the actor may not know of it)
      ConflictError         it exists, is in use, is reserved, or changed meanwhile
      UnavailableError      the machine, a file, a lock or the network does not let us (see Reason)

Each interface maps the kinds in one table (`cli/exit_codes.py`). Subclasses add fields, never kinds. Errors carry facts
as fields; the text is `problem`, with `why` and `fix` as what an interface may show beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mgmtctl.domain.findings import Finding


class MgmtctlError(Exception):
    """A failure the user can act on: `problem` (one line), `why`, `fix`, and the service's `code` (0: none)."""

    def __init__(
        self, problem: str, *, why: str | None = None, fix: str | None = None, code: int = 0
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.why = why
        self.fix = fix
        self.code = code

    def facts(self) -> dict[str, object]:
        """The fields that a JSON error shows beside problem, why and fix."""
        return {}


class InvalidError(MgmtctlError):
    """A value or a document is refused; `findings` lists every place that is wrong."""

    def __init__(
        self,
        problem: str,
        *,
        why: str | None = None,
        fix: str | None = None,
        code: int = 0,
        findings: Sequence[Finding] = (),
    ) -> None:
        super().__init__(problem, why=why, fix=fix, code=code)
        self.findings = tuple(findings)

    def facts(self) -> dict[str, object]:
        return {"findings": [finding.record() for finding in self.findings]} if self.findings else {}


class QuestionError(InvalidError):
    """A question or a command line names something that cannot be asked: unknown action, kind, field, flag value."""


class UnauthenticatedError(MgmtctlError):
    """No session, an ended one, or wrong credentials. The text never says which part was wrong."""


class DeniedError(MgmtctlError):
    """The actor lacks `action` on `resource` (as the caller wrote it); `explanation`: facts that he may know."""

    def __init__(
        self,
        action: str,
        resource: str,
        *,
        problem: str | None = None,
        why: str | None = None,
        fix: str | None = None,
        code: int = 4000,
        explanation: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(problem or f"permission denied: {action} on {resource}", why=why, fix=fix, code=code)
        self.action = action
        self.resource = resource
        self.explanation = dict(explanation or {})

    def facts(self) -> dict[str, object]:
        return {"action": self.action, "resource": self.resource, **self.explanation}


class NotFoundError(MgmtctlError):
    """No `kind` (agent, group, role ...) has the name or id `name`."""

    def __init__(
        self, kind: str, name: str, *, why: str | None = None, fix: str | None = None, code: int = 0
    ) -> None:
        super().__init__(f"{kind} `{name}` does not exist", why=why, fix=fix, code=code)
        self.kind = kind
        self.name = name

    def facts(self) -> dict[str, object]:
        return {"kind": self.kind, "name": self.name}


class ConflictError(MgmtctlError):
    """It exists already, is in use, is reserved, or was changed meanwhile."""


class UnavailableError(MgmtctlError):
    """The machine does not let us: `reason` is one of io, busy, configuration, network, timeout."""

    def __init__(
        self, problem: str, reason: str, *, why: str | None = None, fix: str | None = None, code: int = 0
    ) -> None:
        super().__init__(problem, why=why, fix=fix, code=code)
        self.reason = reason
