"""`mgmtctl actions`: the actions there are, and what they apply to."""

from __future__ import annotations

from typing import Annotated

import typer

from mgmtctl.cli import single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import DENIED, NOT_FOUND, USAGE
from mgmtctl.cli.options import ActionName

noun = Noun("actions", "The actions there are, and what they apply to.")

COLUMNS = ("name", "resources", "deprecated", "description")


@noun.list(
    examples=["mgmtctl actions list", "mgmtctl actions list --endpoint 'GET /agents'"],
    columns=COLUMNS,
    exits={USAGE: "usage; unknown endpoint", DENIED: None},
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
    exits={USAGE: "usage; unknown action", NOT_FOUND: None, DENIED: None},
)
def show(session: CliSession, action: Annotated[str, ActionName]) -> None:
    """Show an action: what it is asked on, and the endpoints that ask for it."""
    from mgmtctl.operations import catalogue

    found = catalogue.show_action(session.context, action)
    session.show(single.paged(session, found.record(), _page))


@noun.read(
    "resources",
    examples=["mgmtctl actions resources", "mgmtctl actions resources agent:group"],
    columns=("name", "value", "description"),
    exits={USAGE: "usage; unknown kind", NOT_FOUND: None, DENIED: None},
)
def resources(
    session: CliSession,
    kind: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="Only this kind.", show_default=False)
    ] = None,
) -> None:
    """List the kinds of resources that policies may name, and what a value of each is."""
    from mgmtctl.operations import catalogue

    session.show(catalogue.list_resources(session.context, kind))


def _page(action: single.Row) -> str:
    """The action on a terminal, each endpoint on a line."""
    names = ("name", "description", "deprecated", "resources", "endpoints")
    return single.sheet([(name, action[name]) for name in names if action[name]])
