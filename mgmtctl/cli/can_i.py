"""`mgmtctl can-i`: ask whether an action is allowed, and why."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import NO, NOT_FOUND, REFUSED, USAGE
from mgmtctl.cli.options import ActionName, ContextFile, Wrap
from mgmtctl.domain.errors import QuestionError

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.operations.explanations import Answer

ROOT = Noun("", "")

Resource = typer.Argument(
    metavar="RESOURCE", help="As `agent:id:web-1`, `agent:group:web` or `*:*:*`.", show_default=False
)
As = typer.Option("--as", metavar="USER", help="Ask about this user.", show_default=False)
Role = typer.Option(
    "--role", metavar="ROLE", help="Ask about this role; may be repeated.", show_default=False
)
Explain = typer.Option(
    "--explain", help="Say why: who spoke, near misses, what would allow it.", show_default=False
)


@ROOT.read(
    "can-i",
    examples=[
        "mgmtctl can-i agent:read agent:id:web-1",
        "mgmtctl can-i agent:restart agent:group:web --as ann --explain",
        "mgmtctl can-i agent:create '*:*:*' --role agents_admin",
    ],
    exits={
        0: "yes",
        NO: "no",
        USAGE: "usage; unknown action, kind, user or role",
        NOT_FOUND: "unknown agent",
        REFUSED: "the context is refused",
    },
)
def can_i(
    session: CliSession,
    action: Annotated[str, ActionName],
    resource: Annotated[str, Resource],
    as_: Annotated[str | None, As] = None,
    role: Annotated[list[str] | None, Role] = None,
    context_file: Annotated[str | None, ContextFile] = None,
    wrap: Annotated[str | None, Wrap] = None,
    explain: Annotated[bool, Explain] = False,
) -> None:
    """Ask whether you, a user, a role or a context login may do an action on a resource.

    Prints yes or no. Asking about others needs the right to read them. With --context-file the question is about a
    login by that context, of the user that --as names or of any who may use contexts.
    """
    from mgmtctl.operations import decisions

    if role and (as_ is not None or context_file is not None):
        other = "--as" if as_ is not None else "--context-file"
        raise QuestionError(
            f"`--role` and `{other}` exclude each other",
            why="`--role` asks what the roles by themselves allow, `--as` and `--context-file` what a login may do",
        )
    service = session.context
    context = _context(session, context_file, wrap)
    answer = _with_file(
        decisions.can_i(service, action, resource, as_, role or None, context), context_file, wrap
    )
    if session.output.asked is not None:
        session.show(answer)
    else:
        session.print("yes" if answer.allowed else "no")
        if explain:
            _print_reasons(session, answer)
        elif answer.notes:
            session.say("\n".join(f"note: {note}" for note in answer.notes))
    session.code = 0 if answer.allowed else NO


def _with_file(answer: Answer, file: str | None, name: str | None) -> Answer:
    """The answer with the context's file in the command lines of its fix, where that can be read again."""
    import shlex
    from dataclasses import replace

    fix = answer.decision.fix
    if fix is None or file is None or file == "-":
        return answer
    asked = "--context-file FILE"
    named = shlex.join(["--context-file", file, *(["--wrap", name] if name is not None else [])])
    fix = replace(
        fix,
        summary=fix.summary.replace(asked, named),
        ask=tuple(command.replace(asked, named) for command in fix.ask),
    )
    return replace(answer, decision=answer.decision._replace(fix=fix))


def _print_reasons(session: CliSession, answer: Answer) -> None:
    from mgmtctl.cli.explained import wrapped
    from mgmtctl.cli.output import width_of

    session.print("\n".join(wrapped(answer.lines(), width_of(sys.stdout))))


def _context(session: CliSession, file: str | None, name: str | None) -> AuthContext | None:
    if file is None:
        if name is not None:
            raise QuestionError("`--wrap` needs `--context-file`")
        return None
    from mgmtctl.cli.documents import read_context

    return read_context(session, file, name)
