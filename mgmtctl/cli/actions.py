"""`mgmtctl actions`: the actions there are, and what they apply to."""

from __future__ import annotations

from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.options import ActionName

noun = Noun("actions", "The actions there are, and what they apply to.")

COLUMNS = ("name", "resources", "deprecated", "description")


@noun.list(
    examples=["mgmtctl actions list", "mgmtctl actions list --endpoint 'GET /agents'"],
    columns=COLUMNS,
    exits={2: "usage; unknown endpoint"},
)
def list_(
    session: CliSession,
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            metavar="ENDPOINT",
            help="Only those that this endpoint asks for.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the actions that policies may name."""
    from mgmtctl.operations import catalogue

    session.show(catalogue.list_actions(session.context, endpoint, query=session.query))


@noun.read(
    "show",
    examples=["mgmtctl actions show agent:read", "mgmtctl actions show agent:read -o json"],
    columns=COLUMNS,
    exits={2: "usage; unknown action"},
)
def show(session: CliSession, action: Annotated[str, ActionName]) -> None:
    """Show an action: what it is asked on, and the endpoints that ask for it."""
    from mgmtctl.operations import catalogue

    session.show(catalogue.show_action(session.context, action))
