"""`mgmtctl run-as`: log in on behalf of somebody, by an authorization context, or see why that does not work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.credentials import PrintToken, credentials, keep, summary
from mgmtctl.cli.exit_codes import CONFIGURATION, DENIED, NO, NOT_FOUND, REFUSED, UNAUTHENTICATED
from mgmtctl.cli.options import ContextFile, PasswordFile, PasswordStdin, UserOption, Wrap
from mgmtctl.domain.errors import QuestionError, UnauthenticatedError

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.operations.context import Context
    from mgmtctl.operations.login import RuleVerdict
    from mgmtctl.operations.proof import Login

ROOT = Noun("", "")

Explain = typer.Option(
    "--explain",
    help="Show rule by rule what was true, where, and which roles came of it; store no session.",
    show_default=False,
)
Doctor = typer.Option(
    "--doctor",
    metavar="USER",
    help="Log nobody in: say where the chain from this user to rights is broken, and what mends it.",
    show_default=False,
)
CommandLine = typer.Argument(
    metavar="[-- COMMAND]",
    help="A command line, without `mgmtctl`, to run under the session.",
    show_default=False,
)


@ROOT.read(
    "run-as",
    examples=[
        "mgmtctl run-as -u wui --context-file context.json",
        "mgmtctl run-as -u wui --context-file account.json --wrap portal --explain",
        "mgmtctl run-as -u wui --context-file context.json -- agents list",
        "mgmtctl run-as --doctor wui",
    ],
    columns=("link", "ok", "why", "fix"),
    exits={
        0: "done; with a COMMAND every code is that of the command",
        NO: "--doctor found a broken link",
        UNAUTHENTICATED: "wrong user name or password",
        NOT_FOUND: None,
        DENIED: "the user may not use contexts, or logins are blocked",
        REFUSED: "the context is refused",
        CONFIGURATION: "the password file is refused, or bad configuration",
    },
)
def run_as(
    session: CliSession,
    context_file: Annotated[str | None, ContextFile] = None,
    user: Annotated[str | None, UserOption] = None,
    password_file: Annotated[Path | None, PasswordFile] = None,
    password_stdin: Annotated[bool, PasswordStdin] = False,
    wrap: Annotated[str | None, Wrap] = None,
    explain: Annotated[bool, Explain] = False,
    print_token: Annotated[bool, PrintToken] = False,
    doctor: Annotated[str | None, Doctor] = None,
    command: Annotated[list[str] | None, CommandLine] = None,
) -> None:
    """Log in on behalf of somebody: the session has the roles of the rules that are true for the context.

    The user's own password is asked for, never the stored session used; the user's own roles do not count. With a
    command, that one command line runs under the session, in this process, and no session is stored. An explanation
    shows the rules that the stored session may read, or without one the new session.

    --doctor walks the chain user, password, right to contexts, rules, roles, policies, rights as far as you may read
    it, with --context-file for that context, and stops at the first broken link. It logs nobody in.

    The web interface's user `wui` may use contexts, but has no password until `mgmtctl users set-password wui`.
    """
    from mgmtctl.cli.documents import read_context
    from mgmtctl.operations import login as operations

    if doctor is not None:
        alone = (
            user is None
            and password_file is None
            and not (password_stdin or explain or print_token or command)
        )
        return _diagnose(session, doctor, context_file, wrap, alone=alone)
    if context_file is None:
        raise QuestionError("`--context-file` is missing", fix="--context-file PATH, or --doctor USER")
    if context_file == "-" and password_stdin:
        raise QuestionError("context and password cannot both come from stdin", fix="--password-file")
    if command and command[0] in _OUTSIDE:
        raise QuestionError(f"`{command[0]}` does not run under a context's session", fix="run it by itself")
    context = read_context(session, context_file, wrap)
    ctx = session.open()
    name, password = credentials(session, user, password_file, password_stdin)
    given = operations.run_as(ctx, name, password, context)
    if not given.roles:
        session.warn("no rule is true for this context: the session has no role and may do nothing")
    if explain:
        _explain(session, ctx, given, context, aside=bool(command))
    if command:
        _run(ctx, session, given, command)
    elif not explain:
        keep(session, given, print_token)
        session.done(summary(given), None if print_token else given)
    return None


def _diagnose(
    session: CliSession, user: str, context_file: str | None, wrap: str | None, *, alone: bool
) -> None:
    import shlex

    from mgmtctl.cli import run_as_doctor
    from mgmtctl.cli.documents import read_context

    if not alone:
        raise QuestionError("--doctor logs nobody in", fix="beside it only --context-file and --wrap")
    if wrap is not None and context_file is None:
        raise QuestionError("`--wrap` needs `--context-file`")
    if context_file is None:
        return run_as_doctor.show(session, user, None)
    named = shlex.join(["--context-file", context_file, *(["--wrap", wrap] if wrap is not None else [])])
    return run_as_doctor.show(session, user, read_context(session, context_file, wrap), named)


# What works without a session, or changes the stored one: it would not run under the context's rights (D 1).
_OUTSIDE = frozenset({"init", "recover", "demo", "login", "run-as", "completion"})


def _run(ctx: Context, session: CliSession, given: Login, command: list[str]) -> None:
    """Run one command line under the session and end with its exit code."""
    from mgmtctl.cli.app import run
    from mgmtctl.cli.session import acting_as
    from mgmtctl.operations import login as operations

    with acting_as(operations.resume(ctx, given.token, False)):
        session.exit(run(command))


def _explain(session: CliSession, ctx: Context, given: Login, context: AuthContext, *, aside: bool) -> None:
    """Show the verdicts of the rules that somebody may read; `aside`: on stderr, since stdout is a command's."""
    from mgmtctl.operations import login as operations

    verdicts = operations.explain_context(_reader(session, ctx, given), context, given.user_id).affected
    lines = [line for verdict in verdicts for line in _verdict_lines(verdict)] or [
        "no rule that you may read"
    ]
    roles = ", ".join(name for _, name in given.roles) or "none"
    text = "\n".join([*lines, f"roles: {roles}", f"context: {given.context_id}"])
    if aside:
        session.say(text)
    elif session.output.asked is None:
        session.print(text)
    else:
        session.show({**given.record(), "rules": [verdict.record() for verdict in verdicts]})


def _reader(session: CliSession, ctx: Context, given: Login) -> Context:
    """Who reads the explanation: whoever is acting here, else the new session itself."""
    from mgmtctl.operations import login as operations

    try:
        return session.context
    except UnauthenticatedError:
        return operations.resume(ctx, given.token, False)


def _verdict_lines(verdict: RuleVerdict) -> list[str]:
    from mgmtctl.cli.verdicts import tree

    title = f"rule {verdict.rule_id} {verdict.rule}"
    return tree(title, verdict.verdict, verdict.trace, verdict.roles, verdict.why or "")
