"""What `files validate` checks: files of groups, and files anywhere; and what its rules mean.

Rules: an argument that begins as a path (`/`, `./`, `../`, or `-` for stdin) is a file and needs neither login nor data
folder, unless it is checked for the agents of a group: then every argument is a file.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mgmtctl.cli.exit_codes import PARTLY
from mgmtctl.cli.output import width_of
from mgmtctl.cli.sarif import SARIF, write_sarif
from mgmtctl.cli.text import clean, folded
from mgmtctl.domain.errors import MgmtctlError, QuestionError
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding

if TYPE_CHECKING:
    from mgmtctl.cli.session import CliSession
    from mgmtctl.domain.conf_rules import ConfRule

PATH_BEGINNINGS = ("/", "./", "../")
FORMS = ("agent.conf", "merged.mg")


@dataclass(frozen=True, slots=True)
class Explanation:
    """A lint rule that is explained; as a page on request of no other form."""

    rule: ConfRule

    def record(self) -> dict[str, object]:
        """That of the rule."""
        return self.rule.record()

    def text(self) -> str:
        """The page."""
        return self.rule.text() + "\n"


def explain(session: CliSession, name: str) -> None:
    """Show what a lint rule means; `all`: each."""
    from mgmtctl.domain.file_rules import explained

    rules = [Explanation(rule) for rule in explained(name)]
    session.show(rules if name == "all" else rules[0])


def validate(
    session: CliSession, targets: Sequence[str], form: str | None, group: str | None
) -> list[Finding]:
    """What is wrong with all of these; one that cannot be read is told, and the others are checked.

    The error is raised when it is the only one; else `session.code` says that not all was checked.
    """
    if not targets:
        raise QuestionError(
            "nothing to check", fix="name a group, GROUP/FILE, or a path, e.g. ./agent.conf or `-`"
        )
    if list(targets).count("-") > 1:
        raise QuestionError("`-` is stdin, which can be read once")
    if group is not None and form not in (None, FORMS[0]):
        raise QuestionError(f"--group checks an agent.conf, not a {form}", fix="leave one of them out")
    found: list[Finding] = []
    for target in dict.fromkeys(targets):
        try:
            found += _findings(session, target, form, group)
        except QuestionError:
            raise
        except MgmtctlError as error:
            if len(targets) == 1:
                raise
            named = error.problem if target in error.problem else f"{target}: {error.problem}"
            session.warn(f"not checked: {named}")
            session.code = PARTLY
    return found


def show(session: CliSession, findings: Sequence[Finding], form: str | None, strict: bool, what: str) -> None:
    """Show findings in the form that was asked for, and end with 1 for an error (`strict`: or a warning)."""
    if form == SARIF:
        from mgmtctl.domain.file_rules import ALL_RULES

        write_sarif(findings, ALL_RULES)
    else:
        session.show(list(findings))
    if not findings and not session.code:
        session.say(f"{what}: no findings")
    files = len({finding.path for finding in findings})
    if files > 1:
        session.say(f"{_counted(findings)} in {files} files")
    wrong = [
        finding for finding in findings if finding.severity != NOTE and (strict or finding.severity == ERROR)
    ]
    if wrong:
        session.code = session.code or 1


def tell(session: CliSession, findings: Sequence[Finding]) -> None:
    """Say on stderr what was found in a file that was taken all the same, as `files validate` does; a note is talk."""
    width = width_of(sys.stderr)
    for finding in findings:
        if finding.severity != NOTE or not session.quiet:
            sys.stderr.write(folded(clean(finding.text()), width) + "\n")


def _counted(findings: Sequence[Finding]) -> str:
    """`1 error, 12 warnings`."""
    found = Counter(finding.severity for finding in findings)
    return ", ".join(
        f"{found[severity]} {severity}{'s' * (found[severity] != 1)}"
        for severity in (ERROR, WARNING, NOTE)
        if found[severity]
    )


def check_document(content: bytes, name: str, form: str) -> list[Finding]:
    """What is wrong with a document of this form, wherever it came from; QuestionError for an unknown form."""
    if form == "merged.mg":
        from mgmtctl.domain.merging import read_merged

        return list(read_merged(content, name).findings)
    if form != "agent.conf":
        raise QuestionError(f"no form `{form}`", fix=f"one of {', '.join(FORMS)}")
    from mgmtctl.domain.agent_conf_check import check_agent_conf

    return check_agent_conf(content, name)


def _findings(session: CliSession, target: str, form: str | None, group: str | None) -> list[Finding]:
    if group is not None:
        from mgmtctl.operations import group_files

        content, name = session.read_input(target)
        return group_files.validate_document(session.context, group, content, source=name)
    if target == "-" or target.startswith(PATH_BEGINNINGS):
        content, name = session.read_input(target)
        return check_document(content, name, form or FORMS[0])
    if form is not None:
        raise QuestionError("--as says what a PATH is", fix=f"./{target} is a path")
    from mgmtctl.domain.files import split_target
    from mgmtctl.operations import group_files

    try:
        return group_files.validate_group_files(session.context, *split_target(target))
    except MgmtctlError as error:
        if os.path.isfile(target):
            meant = f"mgmtctl files validate ./{target}"
            error.fix = f"{error.fix}; or for the file here: {meant}" if error.fix else meant
        raise
