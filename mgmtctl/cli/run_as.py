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
    from collections.abc import Sequence

    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.operations.context import Context
    from mgmtctl.operations.login import RuleVerdict
    from mgmtctl.operations.proof import Login, TriedLogin

ROOT = Noun("", "")

Explain = typer.Option(
    "--explain",
    help="Show rule by rule what was true, where, and which roles would come of it; no session is made.",
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
    command, that one command line runs under the session, in this process; the session ends with it. An explanation
    proves the password too, but makes no session; it shows the rules that the stored session may read, or without one
    the roles of the context.

    --doctor walks the chain user, password, right to contexts, rules, roles, policies, rights as far as you may read
    it, with --context-file for that context, and stops at the first broken link. It logs nobody in.

    The web interface's user `wui` may use contexts, but has no password until `mgmtctl users set-password wui`.
    """
    from mgmtctl.cli.documents import read_context
    from mgmtctl.operations import login as operations
    from mgmtctl.operations.resuming import in_place_of

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
    if explain and not command:
        tried = operations.try_run_as(ctx, name, password, context)
        _warn_of_no_role(session, tried.roles)
        return _explain(session, in_place_of(ctx, tried), context, tried, aside=False)
    given = operations.run_as(ctx, name, password, context)
    _warn_of_no_role(session, given.roles)
    if command:
        acting = operations.resume(ctx, given.token, False)
        return _run(session, acting, command, given, context if explain else None)
    keep(session, given, print_token)
    return session.done(summary(given), None if print_token else given)


def _warn_of_no_role(session: CliSession, roles: Sequence[object]) -> None:
    if not roles:
        session.warn("no rule is true for this context: the session has no role and may do nothing")


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


def _run(
    session: CliSession, acting: Context, command: list[str], given: Login, explained: AuthContext | None
) -> None:
    """Run one command line under the session, which ends with it however it ends; the exit code is the command's."""
    from mgmtctl.cli.app import run
    from mgmtctl.cli.session import acting_as, end_quietly

    try:
        if explained is not None:
            _explain(session, acting, explained, given, aside=True)
        with acting_as(acting):
            code = run(command)
    finally:
        end_quietly(acting)
    session.exit(code)


def _explain(
    session: CliSession, acting: Context, context: AuthContext, given: Login | TriedLogin, *, aside: bool
) -> None:
    """Show the verdicts of the rules that somebody may read; `aside`: on stderr, since stdout is a command's."""
    from mgmtctl.operations import login as operations

    verdicts = operations.explain_context(_reader(session, acting), context, given.user_id).affected
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


def _reader(session: CliSession, acting: Context) -> Context:
    """Who reads the explanation: whoever is acting here, else whoever the context stands for."""
    try:
        return session.context
    except UnauthenticatedError:
        return acting


def _verdict_lines(verdict: RuleVerdict) -> list[str]:
    from mgmtctl.cli.verdicts import tree

    title = f"rule {verdict.rule_id} {verdict.rule}"
    return tree(title, verdict.verdict, verdict.trace, verdict.roles, verdict.why or "")
