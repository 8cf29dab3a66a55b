"""`--accept-risk`: the named risks that a change of access may have to accept (design: command line, safety)."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from mgmtctl.domain.errors import QuestionError

KNOWN = ("lockout",)

AcceptRisk = typer.Option(
    "--accept-risk",
    metavar="RISK",
    help="Do it although it has this risk: lockout (nobody could administer any more).",
    show_default=False,
)


def accepted(risks: Sequence[str] | None, known: Sequence[str] = KNOWN) -> tuple[str, ...]:
    """The risks that were accepted by name; QuestionError for one that there is not."""
    for risk in risks or ():
        if risk not in known:
            raise QuestionError(f"no risk `{risk}` to accept here", fix=f"risks are {', '.join(known)}")
    return tuple(risks or ())
