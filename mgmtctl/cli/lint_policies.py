"""`mgmtctl policies lint`: what is doubtful in policies, roles and users, stored or in files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli import lint
from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.policies import noun
from mgmtctl.cli.sarif import Form, set_form

if TYPE_CHECKING:
    from mgmtctl.domain.findings import Finding

ToLint = typer.Argument(
    metavar="[POLICY|FILE]...",
    help="Names or ids of policies, or files (`/`, `./`, `../`, or `-`); none: all that is stored.",
    show_default=False,
)


@noun.read(
    "lint",
    examples=[
        "mgmtctl policies lint",
        "mgmtctl policies lint ./web-team.yaml -o sarif > lint.sarif",
        "mgmtctl policies lint --explain contradictory-entries",
    ],
    exits=lint.EXITS,
)
def lint_(
    session: CliSession,
    policy: Annotated[list[str] | None, ToLint] = None,
    exit_zero: Annotated[bool, lint.ExitZero] = False,
    explain: Annotated[str | None, lint.Explain] = None,
    output: Annotated[str | None, Form] = None,
) -> None:
    """Find what is legal in policies and says something else than it seems, and what would be refused.

    Entries that a deny takes away or another one makes redundant, `*:*:*` misunderstood, deprecated actions, unused
    policies and roles, users that are only denied, read-only names that are not.

    A finding is `path:line:col: severity: message [rule]`, or begins with what is stored. Errors and warnings end with
    1, notes alone with 0. Files are linted without login: one policy, a list of them, policies by name, or the answer
    of an API, as JSON or YAML.
    """
    from mgmtctl.operations.results import Items

    set_form(session, output)
    if explain is not None:
        return lint.explain(session, explain, "policies")
    paths, references = lint.split(policy or [])
    found: list[Finding] = []
    for path in paths:
        found += lint.in_file(session, path, "policies", _lint_one)
    items: Items[Finding] = Items(found)
    if references or not paths:
        from mgmtctl.operations import lint as operations

        stored = lint.stored(references, lambda names: operations.lint_policies(session.context, names))
        items = Items([*found, *stored.affected], stored.failed)
    return lint.show(session, items, output, exit_zero, policy or (), "policies")


def _lint_one(value: Any, path: str, name: str, description: str) -> list[Finding]:
    """One policy of a file; a list of blocks is read as the blocks of one policy."""
    from mgmtctl.domain.policy_lint import lint_policy

    return lint_policy(value, path, name, description)
