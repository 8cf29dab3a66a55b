"""`mgmtctl rules test`: tables of cases of which rules a context makes true."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mgmtctl.cli.case_tables import COLUMNS, EXITS, Files, Junit, run_tables
from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.rules import noun

Coverage = typer.Option(
    "--coverage", help="Say which parts of rules were never true, or never false.", show_default=False
)


@noun.read(
    "test",
    examples=["mgmtctl rules test staff.yml", "mgmtctl rules test staff.yml --coverage"],
    columns=[name for name in COLUMNS if name != "mode"],
    exits=EXITS,
)
def run(
    session: CliSession,
    files: Annotated[list[str], Files],
    junit: Annotated[str | None, Junit] = None,
    coverage: Annotated[bool, Coverage] = False,
) -> None:
    """Run tables of cases of which rules a context makes true, and show those that fail, with the tree of the rule.

    A table with `rules` (or roles and users) of its own needs no login and no data folder. One without judges the
    stored rules, which needs the right to read every rule. -o json gives every result; with --coverage an object of
    `results` and `coverage`.

      roles: {web-team: [agents_read]}
      rules:
        staff: {FIND: {groups: web}}          # a draft
        lead:                                 # and one that leads to a role
          {rule: {FIND: {title: lead}}, roles: [web-team]}
      cases:
        - {context_file: ada.json, rules: [staff]}      # exactly these are true
        - {context: {name: bob, auth: {title: lead}}, roles: [web-team]}
        - {context_file: account.json, wrap: portal, rules: []}

    A case is about a login by `context` or `context_file`, of `user` or of any who may use contexts; `rules`, `roles`
    or both say what comes of it. A context file lies beside the table; `wrap: NAME` takes a raw account document.
    """

    def ask(cases: Any, covered: bool) -> Any:
        from mgmtctl.operations import case_tables

        return case_tables.judge_rule_cases(session.context, cases, covered)

    run_tables(session, files, "rules", ask, junit, coverage)
