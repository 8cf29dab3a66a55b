"""`mgmtctl policies test`: tables of cases of what somebody may do."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mgmtctl.cli.case_tables import COLUMNS, EXITS, Files, Junit, run_tables
from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.policies import noun

Coverage = typer.Option(
    "--coverage", help="Say which policies, blocks and entries no case exercised.", show_default=False
)


@noun.read(
    "test",
    examples=[
        "mgmtctl policies test access.yml",
        "mgmtctl policies test access.yml team.yml --coverage",
        "mgmtctl policies test access.yml --junit results.xml",
    ],
    columns=COLUMNS,
    exits=EXITS,
)
def run(
    session: CliSession,
    files: Annotated[list[str], Files],
    junit: Annotated[str | None, Junit] = None,
    coverage: Annotated[bool, Coverage] = False,
) -> None:
    """Run tables of cases of who may do what, and show those that fail, with the reasons of the decision.

    A table with a world of its own (agents, policies, roles, users, rules; what is shipped is there too) needs no login
    and no data folder. One without asks the stored service, and each case needs the rights of its question. -o json
    gives every result; with --coverage an object of `results` and `coverage`.

      mode: both             # white (as shipped), black or both; a case may say it
      agents: {"001": [default, web]}
      policies:
        web: {actions: [agent:read], resources: [agent:group:web], effect: allow}
      roles: {team: [web]}
      users: {ada: [team]}
      cases:
        - {user: ada, action: agent:read, resource: agent:id:001, expected: allow,
           because: [web]}   # the policies that decide; [] is none
        - {role: team, action: agent:delete, resource: agent:id:001,
           expected: {white: deny, black: allow}, note: reading only}

    A case is about `user`, `role`, `roles`, or a login by `context` or `context_file` (with `user`: of that user). A
    context file lies beside the table; `wrap: NAME` takes a raw account document.
    """

    def ask(cases: Any, covered: bool) -> Any:
        from mgmtctl.operations import case_tables

        return case_tables.decide_policy_cases(session.context, cases, covered)

    run_tables(session, files, "policies", ask, junit, coverage)
