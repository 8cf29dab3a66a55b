"""`mgmtctl rules lint`: what is doubtful in rules, stored or in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli import lint
from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.rules import noun
from mgmtctl.cli.sarif import Form, set_form

if TYPE_CHECKING:
    from mgmtctl.domain.findings import Finding

ToLint = typer.Argument(
    metavar="[RULE|FILE]...",
    help="Names or ids of rules, or files (`/`, `./`, `../`, or `-`); none: all that are stored.",
    show_default=False,
)


@noun.read(
    "lint",
    examples=[
        "mgmtctl rules lint ./staff.json",
        "mgmtctl rules lint -o json --exit-zero",
        "mgmtctl rules lint --explain broad-find",
    ],
    exits=lint.EXITS,
)
def lint_(
    session: CliSession,
    rule: Annotated[list[str] | None, ToLint] = None,
    exit_zero: Annotated[bool, lint.ExitZero] = False,
    explain: Annotated[str | None, lint.Explain] = None,
    output: Annotated[str | None, Form] = None,
) -> None:
    """Find what is legal in rules and true of more people, or of fewer, than it seems.

    Rules that are true for everyone, or never; text that reads like a pattern; a FIND on a key that people fill in
    themselves and that leads to an administrator role; rules that ask for the same or lead nowhere. Each pattern is
    shown with texts that it matches, as a note.

    A finding is `path:line:col: severity: message [rule]`, or begins with what is stored. Errors and warnings end with
    1, notes alone with 0. Files are linted without login, as JSON or YAML.
    """
    from mgmtctl.operations.results import Items

    set_form(session, output)
    if explain is not None:
        return lint.explain(session, explain, "rules")
    paths, references = lint.split(rule or [])
    found: list[Finding] = []
    for path in paths:
        found += _in_file(session, path)
    items: Items[Finding] = Items(found)
    if references or not paths:
        from mgmtctl.operations import lint as operations

        stored = lint.stored(references, lambda names: operations.lint_rules(session.context, names))
        items = Items([*found, *stored.affected], stored.failed)
    return lint.show(session, items, output, exit_zero, rule or (), "rules")


def _in_file(session: CliSession, path: str) -> list[Finding]:
    """The findings in a file, those between its rules included."""
    from mgmtctl.domain.rule_lint import duplicate, duplicates, expressions_of, lint_rule
    from mgmtctl.domain.rules import check_rules
    from mgmtctl.operations.samples import samples

    def lint_one(value: object, place: str, name: str, description: str) -> list[Finding]:
        found = lint_rule(value, place, sampler=samples)
        if place and not check_rules(value):
            sound[place] = [expression for expression, _ in expressions_of(value)]
            same = duplicates(sound).get(place)
            found += [duplicate(place, f"`{same}`")] if same else []
        return found

    sound: dict[str, list[object]] = {}
    return lint.in_file(session, path, "rules", lint_one)
