"""`mgmtctl files history`, `diff`, `rollback`, `edit`: the revisions of a group's files, and working on them.

Rules: a diff on stdout is one that `patch` reads, whatever bytes the files hold; talk goes to stderr; what was shown
before a question is what is done after it, or it is a conflict; an edited text is never lost.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli.commands import CliSession
from mgmtctl.cli.drafts import draft, going_on, last_revision
from mgmtctl.cli.files import AcceptRisk, IfMatch, concerned, group_file, in_group, noun, numbered, would
from mgmtctl.cli.output import is_terminal, wants_color
from mgmtctl.cli.risks import accepted

if TYPE_CHECKING:
    from mgmtctl.domain.file_diff import FileDiff
    from mgmtctl.operations.context import Context
    from mgmtctl.operations.group_files import FileChange

Target = typer.Argument(metavar="GROUP[/FILE]", help="A group, or a file in it.", show_default=False)
From = typer.Option(
    "--revision",
    metavar="REVISION",
    help="What this revision changed; with --to: from it.",
    show_default=False,
)
To = typer.Option("--to", metavar="REVISION", help="Compare with this revision.", show_default=False)
BackTo = typer.Option(
    "--to",
    metavar="REVISION",
    help="The revision to go back to; without it, undo the last change.",
    show_default=False,
)
RISKS = ("no-validate",)
_COLORS = {"@": 36, "-": 31, "+": 32}
_MOST_LINES = 60  # of a diff beside a question


@noun.list(
    "history",
    examples=[
        "mgmtctl files history web",
        "mgmtctl files history web/agent.conf --limit 5",
        "mgmtctl files history web --where 'author=ann' -o json",
    ],
    columns=("revision", "time", "author", "how", "agents", "changes", "reason"),
    exits={5: "no such group, or no revision changed the file"},
)
def history(session: CliSession, target: Annotated[str, Target]) -> None:
    """List the revisions of a group's files, the last first; or those that changed one file.

    Every change made here is a revision, and so is every change that somebody made on disk: it has no author, and is
    recorded when it is noticed, by a sync or by this command. `agents` is how many were last given each revision. On a
    terminal `changes` names a single file only; `-o wide` names all, and `mgmtctl files diff` shows them.
    Numbers are never given twice, not even when the group is deleted and created again.
    """
    from mgmtctl.domain.files import split_target
    from mgmtctl.operations import history

    found = history.list_revisions(session.context, *split_target(target), query=session.query)
    if session.output.format in ("table", "wide", "tsv", "csv") and not session.common.envelope:
        rows: list[Any] = [_row(session, row.record()) for row in found.affected]
        session.show(replace(found, affected=rows))
    else:
        session.show(found)


@noun.read(
    "diff",
    examples=[
        "mgmtctl files diff web",
        "mgmtctl files diff web/agent.conf --revision 1 --to 2",
    ],
    exits={0: "nothing differs", 1: "something differs"},
)
def diff(
    session: CliSession,
    target: Annotated[str, Target],
    revision: Annotated[str | None, From] = None,
    to: Annotated[str | None, To] = None,
) -> None:
    """Show what the last revision changed, or another one, or what differs between two.

    The diff can be given to `patch`. Files that hold a NUL byte, are large, or differ in too many lines are only named.
    """
    from mgmtctl.domain.files import split_target
    from mgmtctl.operations import history

    found = history.diff_revisions(session.context, *split_target(target), revision=revision, to=to)
    if session.output.asked is not None:
        session.show(found)
    elif found.files:
        _write(session, _lines(found.group, found.files))
    if found.files:
        session.code = 1
    else:
        session.say(f"r{found.before} and r{found.after} of `{target}` are the same")


@noun.write(
    "rollback",
    asks=True,
    examples=["mgmtctl files rollback web", "mgmtctl files rollback web/agent.conf --to 1 --dry-run"],
    exits={7: "an agent.conf of then has errors", 9: "it was changed meanwhile"},
)
def rollback(
    session: CliSession,
    target: Annotated[str, Target],
    to: Annotated[str | None, BackTo] = None,
    if_match: Annotated[str | None, IfMatch] = None,
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Bring the files of a group, or one of them, back to a revision.

    That is a new revision, so it can be undone in the same way. Without `--to`, a group that was deleted and created
    again goes back to the files it had before that. An agent.conf is checked as when it is put. The agents
    get the files of then, byte for byte, at the next `mgmtctl sync run`. `--if-match` for a whole group is `rN`: only
    if that is its last revision.
    """
    from mgmtctl.cli.conf_lint import tell
    from mgmtctl.domain.files import split_target
    from mgmtctl.domain.groups import quoted
    from mgmtctl.operations import history

    group, name = split_target(target)
    risks = accepted(accept_risk, RISKS)
    if not (session.yes or session.dry_run):
        with _trying(session) as context:
            tried = history.rollback_files(context, group, name, to, if_match, risks)
        if tried.files:
            _show_diff(session, group, tried.files)
            tell(session, tried.findings)
            session.confirm(f"bring `{target}` back to r{tried.to}; {in_group(tried.agents)}")
        to, if_match = str(tried.to), f"r{tried.before}"
    found = history.rollback_files(session.context, group, name, to, if_match, risks)
    if session.yes or session.dry_run:
        tell(session, found.findings)
    for left in found.left:
        session.warn(f"{quoted(f'{group}/{left}')} is left as it is: agents never get a file of that name")
    if not found.files:
        but = ", but for that" if found.left else ""
        session.done(f"`{target}` is as in r{found.to} already{but}", found)
        return
    if session.dry_run:
        _show_diff(session, group, found.files)
    what = f"`{target}` back to r{found.to}{numbered(found.revision)}"
    after = f"; {concerned(group, found.agents)}"
    session.done(f"brought {what}{after}", found, f"would bring {what}{after}")


@noun.write(
    "edit",
    asks=True,
    examples=["mgmtctl files edit web/agent.conf"],
    exits={7: "the text has errors", 9: "it was changed meanwhile"},
)
def edit(
    session: CliSession,
    target: Annotated[str, typer.Argument(metavar="GROUP/FILE", help="A group and a file in it.")],
    if_match: Annotated[str | None, IfMatch] = None,
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Edit a file of a group in $VISUAL or $EDITOR; a missing agent.conf is created.

    What you saved is checked; with errors you may edit it again. You are shown what changes and how many agents that
    concerns, and asked. When somebody changed the file meanwhile it is a conflict. A text that is not put is kept in a
    file, whose path is told.
    """
    from mgmtctl.cli import editor
    from mgmtctl.cli.conf_lint import tell
    from mgmtctl.domain.errors import InvalidError
    from mgmtctl.operations.conf_checks import LARGEST_FILE

    group, name = group_file(target)
    risks = accepted(accept_risk, RISKS)
    _require_terminal(session, target)
    began = last_revision(session, group)
    before, expected = _beginning(session, group, name, if_match, began)
    with draft(session, name, before) as path:
        while True:
            editor.run_editor(path)
            try:
                content = editor.read_edited(path, LARGEST_FILE, target)
                if content is None:
                    session.say("nothing to put: the editor left no file")
                    return
                if content == before:
                    session.say("nothing changed")
                    return
                with going_on(session, target, path, began):
                    tried = _put(session, group, name, content, expected, risks, trial=True)
                break
            except InvalidError as error:
                _offer_again(session, error)
        tell(session, tried.findings)
        _show_edit(session, target, before, content)
        session.confirm(f"put `{target}`; {in_group(tried.agents)}")
        with going_on(session, target, path, began):
            done = _put(session, group, name, content, expected, risks, trial=False)
        text = f"`{target}` ({done.size} bytes){numbered(done.revision)}; {concerned(group, done.agents)}"
        session.done(f"{done.change} {text}", done, f"{would(done.change)} {text}")


def _row(session: CliSession, record: dict[str, Any]) -> dict[str, Any]:
    """A revision as a row: changes in words, on a terminal the number of files when they are several."""
    from mgmtctl.domain.revisions import Changed, change_words

    changes = [Changed(entry["change"], entry["file"]) for entry in record["changes"]]
    several = session.output.format == "table" and len(changes) > 1
    told = f"{len(changes)} files" if several else change_words(changes)
    context = f" ({record['context_id'][:8]})" if record["context_id"] else ""
    author = f"{record['author']}{context}" if record["author"] else ""
    return {**record, "author": author, "changes": told}


def _lines(group: str, files: Sequence[FileDiff]) -> Iterator[str]:
    for found in files:
        yield from found.lines
        if not found.lines:
            sizes = " -> ".join(f"{entry[1]} bytes" for entry in (found.before, found.after) if entry)
            why = f"; {found.omitted}" if found.omitted else ""
            yield f"{group}/{found.file} is {found.change}{f' ({sizes})' if sizes else ''}{why}"


def _write(session: CliSession, lines: Iterator[str]) -> None:
    """Lines on stdout: coloured and made safe on a terminal, byte for byte in a pipe."""
    if is_terminal(sys.stdout):
        colored = wants_color(sys.stdout, session.output.color)
        sys.stdout.write("".join(f"{_colored(line, colored)}\n" for line in lines))
        return
    sys.stdout.flush()
    for line in lines:
        sys.stdout.buffer.write(f"{line}\n".encode(errors="surrogateescape"))
    sys.stdout.buffer.flush()


def _show_diff(session: CliSession, group: str, files: Sequence[FileDiff]) -> None:
    """The same on stderr, beside a question."""
    if session.quiet:
        return
    lines = list(_lines(group, files))
    colored = wants_color(sys.stderr, session.output.color)
    sys.stderr.write("".join(f"{_colored(line, colored)}\n" for line in lines[:_MOST_LINES]))
    if len(lines) > _MOST_LINES:
        sys.stderr.write(f"... and {len(lines) - _MOST_LINES} more lines\n")


def _colored(line: str, colored: bool) -> str:
    from mgmtctl.cli.text import clean

    shown = clean(line.replace("\t", "    ") if line[:3] not in ("---", "+++") else line.replace("\t", " "))
    color = _COLORS.get(line[:1]) if colored else None
    return shown if color is None else f"\x1b[{color}m{shown}\x1b[0m"


def _show_edit(session: CliSession, target: str, before: bytes | None, content: bytes) -> None:
    from mgmtctl.domain.file_diff import FileDiff, unified

    group, _, name = target.partition("/")
    lines, omitted = unified(before, content, (target, f"{target} as edited"))
    change = "created" if before is None else "updated"
    _show_diff(session, group, [FileDiff(name, change, None, ("", len(content)), lines, omitted)])


@contextmanager
def _trying(session: CliSession) -> Iterator[Context]:
    """The service for a dry run, to show what would be done before it is."""
    context = session.context
    context.store.dry_run = True
    try:
        yield replace(context, dry_run=True)
    finally:
        context.store.dry_run = session.dry_run


def _require_terminal(session: CliSession, target: str) -> None:
    """An editor is a program like any other: without a terminal it works when nothing has to be asked."""
    from mgmtctl.domain.errors import QuestionError

    if sys.stdin.isatty() and sys.stderr.isatty():
        return
    instead = f"or put it: mgmtctl files put {target} FILE"
    if not (os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise QuestionError(
            f"editing `{target}` needs a terminal", fix=f"set EDITOR to a program that needs none, {instead}"
        )
    if not (session.yes or session.dry_run):
        raise QuestionError(
            "there is no terminal to ask at, whether to put what was edited", fix=f"--yes, {instead}"
        )


def _beginning(
    session: CliSession, group: str, name: str, if_match: str | None, began: int | None
) -> tuple[bytes | None, str]:
    """The file as it is, None when it is to be created, and what it must still be when it is put."""
    import hashlib

    from mgmtctl.domain import revisions
    from mgmtctl.domain.errors import NotFoundError
    from mgmtctl.domain.files import AR_CONF
    from mgmtctl.operations import group_files, history

    try:
        before: bytes | None = group_files.show_file(session.context, group, name).content
    except NotFoundError as error:
        if error.kind != "file" or name.rpartition("/")[2] != "agent.conf":
            error.fix = error.fix or f"mgmtctl files put {group}/{name} FILE"
            raise
        before = None
    if name == AR_CONF and all(
        row.name != name for row in group_files.list_files(session.context, group).affected
    ):
        return before, revisions.NO_FILE  # what was shown is the one of the shared folder
    digest = None if before is None else hashlib.sha256(before).hexdigest()
    if if_match is not None:
        wanted, asked = revisions.check_match(if_match), None
        if revisions.is_number(wanted):
            asked = revisions.parse_number(wanted)
            then = history.show_revision_file(session.context, group, name, wanted).content
            wanted = hashlib.sha256(then).hexdigest()
        revisions.require_file(f"{group}/{name}", wanted, digest, asked=asked, now=began)
    return before, digest or revisions.NO_FILE


def _offer_again(session: CliSession, error: Exception) -> None:
    """Show what is wrong and ask whether to edit again; the error itself where nobody can be asked."""
    from mgmtctl.cli import errors, prompts
    from mgmtctl.domain.errors import InvalidError, QuestionError

    if not isinstance(error, InvalidError) or isinstance(error, QuestionError):
        raise error
    if session.yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise error
    errors.say_error(error, color=session.output.color)
    prompts.confirm("edit it again")


def _put(
    session: CliSession,
    group: str,
    name: str,
    content: bytes,
    expected: str,
    risks: Sequence[str],
    *,
    trial: bool,
) -> FileChange:
    from mgmtctl.operations import group_files

    def put(context: Context) -> FileChange:
        return group_files.put_file(
            context, group, name, content, None, if_match=expected, edited=True, accept_risk=risks
        )

    if not trial:
        return put(session.context)
    with _trying(session) as context:
        return put(context)
