"""Findings as SARIF 2.1.0, the form in which code hosts and editors take them.

Rules: a finding in a file has a region there; one in something stored has a logical location, the path that it is told
by. Every rule that a finding names is described in the log, so that a reader needs nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import typer

from mgmtctl import __version__
from mgmtctl.cli.output import FORMATS, Output

if TYPE_CHECKING:
    from mgmtctl.cli.session import CliSession
    from mgmtctl.domain.findings import Finding

SARIF = "sarif"
# The option -o of commands that find something: the common one, and SARIF.
Form = typer.Option(
    "-o", "--output", metavar="FORMAT|sarif", help=f"{', '.join(FORMATS)}, {SARIF}.", show_default=False
)
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Rule(Protocol):
    """What a reader of the log is told of a rule."""

    @property
    def summary(self) -> str: ...
    @property
    def explanation(self) -> str: ...
    @property
    def severity(self) -> str: ...


def set_form(session: CliSession, form: str | None) -> None:
    """Take the form of output that a command has read itself; QuestionError for one that does not exist."""
    known = (*FORMATS, SARIF)
    if form is not None and form not in known:
        from mgmtctl.domain.errors import QuestionError
        from mgmtctl.domain.resources import closest

        near = closest(form, known)
        raise QuestionError(
            f"no format `{form}`", fix=f"did you mean `{near}`?" if near else f"one of {', '.join(known)}"
        )
    if form != SARIF:
        session.output = replace(session.output, asked=form)


def write_sarif(findings: Sequence[Finding], rules: Mapping[str, Rule] | None = None) -> None:
    """Write findings to stdout as a SARIF log; `rules` are what they can be of, those of access if not given."""
    Output("json").one(sarif(findings, rules))


def sarif(findings: Sequence[Finding], rules: Mapping[str, Rule] | None = None) -> dict[str, Any]:
    """A SARIF log with one run."""
    from mgmtctl.domain.lint_rules import LINT_RULES

    known = LINT_RULES if rules is None else rules
    names = list(dict.fromkeys(finding.rule for finding in findings))
    driver = {"name": "mgmtctl", "version": __version__, "rules": [_rule(name, known) for name in names]}
    results = [_result(finding, names.index(finding.rule)) for finding in findings]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str, rules: Mapping[str, Rule]) -> dict[str, Any]:
    known = rules.get(name)
    if known is None:
        return {"id": name}
    return {
        "id": name,
        "shortDescription": {"text": known.summary},
        "fullDescription": {"text": known.explanation},
        "defaultConfiguration": {"level": known.severity},
    }


def _result(finding: Finding, number: int) -> dict[str, Any]:
    hint = f"; {finding.suggestion}" if finding.suggestion else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": number,
        "level": finding.severity,
        "message": {"text": finding.message + hint},
        "locations": [_location(finding)],
    }


def _location(finding: Finding) -> dict[str, Any]:
    if _is_stored(finding):
        return {"logicalLocations": [{"fullyQualifiedName": finding.path, "kind": "object"}]}
    from urllib.parse import quote

    place: dict[str, Any] = {"artifactLocation": {"uri": quote(finding.path)}}
    if finding.line:
        place["region"] = {"startLine": finding.line, "startColumn": max(finding.column, 1)}
    return {"physicalLocation": place}


def _is_stored(finding: Finding) -> bool:
    """Whether the path leads to something in the service: these begin with what it is."""
    return finding.path.partition(" ")[0] in ("policy", "role", "rule", "user") and not finding.line
