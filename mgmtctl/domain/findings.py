"""A finding: one place in a document, what is wrong there, and what would be right."""

from __future__ import annotations

from dataclasses import dataclass

ERROR = "error"
WARNING = "warning"
NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem: `path` is a file name or a JSON path, `line` and `column` count from 1 (0: not known)."""

    rule: str
    severity: str
    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    suggestion: str | None = None

    def record(self) -> dict[str, object]:
        """The fixed JSON form (design: command line, fixed forms)."""
        return {
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "severity": self.severity,
            "rule": self.rule,
            "message": self.message,
            "suggestion": self.suggestion,
        }

    def text(self) -> str:
        """`path:line:col: severity: message [rule]`, as compilers print it; a JSON path has no line.

        One line, whatever stands in names: what does not print as itself is an escape.
        """
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        hint = f"; {self.suggestion}" if self.suggestion else ""
        line = f"{place}: {self.severity}: {self.message}{hint} [{self.rule}]"
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)


def blocks(findings: tuple[Finding, ...] | list[Finding]) -> bool:
    """True when a finding is an error, so the document must not be used."""
    return any(finding.severity == ERROR for finding in findings)
