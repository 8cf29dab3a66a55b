"""`mgmtctl rules explain` and `suggest`: rules seen through authorization contexts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.exit_codes import DENIED, NO, NOT_FOUND, REFUSED, UNAUTHENTICATED, USAGE
from mgmtctl.cli.options import ContextFile, Wrap
from mgmtctl.cli.rules import noun
from mgmtctl.domain.errors import NotFoundError, QuestionError

if TYPE_CHECKING:
    from mgmtctl.domain.auth_context import AuthContext
    from mgmtctl.domain.rule_suggestions import Draft
    from mgmtctl.operations.rule_examples import ExplainedRule

_PATH_BEGINNINGS = ("/", "./", "../")

RuleOrPath = typer.Argument(
    metavar="RULE|FILE",
    help="Name or id of a rule, or a rule document: a path that begins with `/`, `./`, `../` (or `-`).",
    show_default=False,
)
From = typer.Option(
    "--from",
    metavar="FILE",
    help="A context that the rule shall be true of; may be repeated.",
    show_default=False,
)
NotLike = typer.Option(
    "--not-like",
    metavar="FILE",
    help="A context that it shall be false of; may be repeated.",
    show_default=False,
)
WrapAll = typer.Option(
    "--wrap",
    metavar="NAME",
    help="The files are raw account documents: put each under `auth` of a context of this name.",
    show_default=False,
)
As = typer.Option(
    "--as", metavar="USER", help="Say whether a login of this user gets the roles.", show_default=False
)


@noun.read(
    "explain",
    examples=[
        "mgmtctl rules explain staff-of-web --context-file context.json",
        "mgmtctl rules explain ./staff.json --context-file context.json",
        "mgmtctl rules explain staff-of-web --context-file context.json --as portal",
    ],
    exits={
        0: "the rule is true, and the user of --as gets its roles",
        NO: "it is false or undecided, or the user gets nothing by it",
        USAGE: "usage; unknown user",
        REFUSED: "the context or the rule document is refused",
    },
)
def explain(
    session: CliSession,
    rule: Annotated[str, RuleOrPath],
    context_file: Annotated[str, ContextFile],
    wrap: Annotated[str | None, Wrap] = None,
    as_: Annotated[str | None, As] = None,
) -> None:
    """Show what a rule makes of an authorization context: true or false, node by node.

    A true search names where in the context it was satisfied, a false one what came nearest. The rule itself is judged;
    whose logins evaluate it, and the roles they get, stand below. A FILE needs no login and no data folder.
    """
    if rule == "-" or rule.startswith(_PATH_BEGINNINGS):
        return _explain_document(session, rule, context_file, wrap, as_)
    from mgmtctl.cli.documents import read_context
    from mgmtctl.operations import rule_examples

    service = session.context
    context = read_context(session, context_file, wrap)
    try:
        found = rule_examples.explain_rule(service, rule, context, as_)
    except NotFoundError as error:
        if os.path.isfile(rule):
            meant = f"for the file here: mgmtctl rules explain ./{rule}"
            error.fix = f"{error.fix}; or {meant}" if error.fix else meant
        raise
    if session.output.asked is not None:
        session.show(found)
    else:
        session.print("\n".join(_lines(found)))
    session.code = 0 if found.yes else NO
    return None


def _explain_document(
    session: CliSession, path: str, context_file: str, wrap: str | None, user: str | None
) -> None:
    from mgmtctl.cli.documents import read_context, read_document
    from mgmtctl.cli.verdicts import tree
    from mgmtctl.domain.matching import ContextIndex
    from mgmtctl.domain.rules import parse_rules
    from mgmtctl.domain.trace import explain as traced

    if user is not None:
        raise QuestionError(
            "`--as` asks about a stored rule", why=f"`{path}` is a file that nobody's login knows"
        )
    if path == context_file == "-":
        raise QuestionError("rule and context cannot both come from stdin", fix="--context-file FILE")
    document = read_document(session, path, yaml=True)
    rules = document.given_to(parse_rules)
    context: AuthContext = read_context(session, context_file, wrap)
    trace = traced(rules, ContextIndex(context.document))
    record = trace.record()
    if session.output.asked is not None:
        session.show({"path": document.name, "verdict": record["verdict"], "trace": record})
    else:
        session.print("\n".join(tree(f"rule {document.name}", str(record["verdict"]), trace)))
    session.code = 0 if trace.verdict else NO


def _lines(found: ExplainedRule) -> list[str]:
    from mgmtctl.cli.verdicts import tree

    verdict = str(found.trace.record()["verdict"])
    lines = tree(f"rule {found.rule_id} {found.rule}", verdict, found.trace)
    hint = "" if found.roles else f" (mgmtctl roles add-rule ROLE {found.rule})"
    lines.append(f"evaluated for {found.evaluated_for}{hint}")
    if found.roles:
        lines.append(f"leads to      {', '.join(found.roles)}")
    if found.user is not None:
        gets = f"no roles by it: {found.hindrance}" if found.hindrance else "its roles"
        lines.append(f"user {found.user} gets {gets}")
    return lines


@noun.read(
    "suggest",
    examples=[
        "mgmtctl rules suggest --from one.json --not-like other.json",
        "mgmtctl rules suggest --from one.json --not-like other.json -q > rule.json",
        "mgmtctl rules suggest --from account.json --not-like visitor.json --wrap x",
    ],
    exits={
        0: "there is such an expression; it stands on stdout",
        NO: "no rule tells them apart; why stands on stderr",
        UNAUTHENTICATED: None,
        NOT_FOUND: None,
        DENIED: None,
        REFUSED: "a context is refused",
    },
)
def suggest(
    session: CliSession,
    from_: Annotated[list[str], From],
    not_like: Annotated[list[str], NotLike],
    wrap: Annotated[str | None, WrapAll] = None,
) -> None:
    """Draft the smallest expression that is true of some contexts and false of others, for `rules create`.

    Smallest: fewest operators and conditions. Of equals the one that lasts: groups and roles before other values, these
    before names, addresses and ids of one person. Times and token ids, and what only says by which application somebody
    came (aud, iss, azp, client_id), are used only when nothing else differs, NOT only when no condition is true of the
    one and false of the other. Which value tells them apart is said on stderr.

    A draft knows these files only: read it, and put files and draft into a table for `mgmtctl rules test`. Nothing is
    stored; no login is needed. `-o json` tells the same with the reasons, under `rule`.
    """
    from mgmtctl.domain.rule_suggestions import suggest as drafted

    wanted, unwanted = (_contexts(session, files, wrap) for files in (from_, not_like))
    draft = drafted(wanted, unwanted)
    record = _record(draft, wanted, unwanted)
    if session.output.asked is not None:
        session.show(record)
    elif draft.expression is not None:
        session.print(_json(draft.expression))
    _tell(session, draft, record)
    session.code = 0 if draft.expression is not None else NO


def _contexts(session: CliSession, files: list[str], wrap: str | None) -> list[tuple[str, object]]:
    from mgmtctl.cli.documents import read_context

    return [(file, read_context(session, file, wrap).document) for file in files]


def _record(
    draft: Draft, wanted: list[tuple[str, object]], unwanted: list[tuple[str, object]]
) -> dict[str, object]:
    from mgmtctl.domain.matching import ContextIndex
    from mgmtctl.domain.trace import explain as traced

    def because(contexts: list[tuple[str, object]]) -> list[dict[str, str]]:
        if draft.expression is None:
            return []
        traces = [(name, traced([draft.expression], ContextIndex(document))) for name, document in contexts]
        return [{"path": name, "because": trace.expressions[0].because()} for name, trace in traces]

    return {
        "rule": draft.expression,
        "why_not": draft.why_not or None,
        "denies": draft.denies,
        "client_wide": list(draft.client_wide),
        "true_of": because(wanted),
        "false_of": because(unwanted),
    }


def _tell(session: CliSession, draft: Draft, record: dict[str, Any]) -> None:
    if draft.expression is None:
        session.say(f"no rule: {draft.why_not}")
        return
    for word in ("true", "false"):
        for told in record[f"{word}_of"]:
            session.say(f"{word} of {told['path']}: {told['because']}")
    if draft.denies:
        session.say("it takes a NOT: whatever else is true of the one is true of the other too")
    if draft.client_wide:
        keys = ", ".join(f"`{key}`" for key in draft.client_wide)
        session.warn(
            f"{keys} says by which application somebody came: the rule may be true of everybody who comes so"
        )
    session.say("next: mgmtctl rules create NAME -f FILE")


def _json(expression: object) -> str:
    import json

    return json.dumps(expression, ensure_ascii=False, indent=2)
