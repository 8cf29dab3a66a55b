"""`mgmtctl files`: the shared files of a group, agent.conf among them."""

from __future__ import annotations

from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.options import GroupFile, GroupName
from mgmtctl.cli.risks import accepted
from mgmtctl.cli.sarif import Form as OutputForm
from mgmtctl.cli.sarif import set_form

noun = Noun("files", "The shared files of a group, agent.conf among them.")

Source = typer.Argument(metavar="SRC|-", help="The file to put; `-` is stdin.", show_default=False)
ToValidate = typer.Argument(
    metavar="GROUP[/FILE]|PATH...",
    help="A group, a file in it, or a path that begins with `/`, `./`, `../` (or `-`).",
    show_default=False,
)
Form = typer.Option(
    "--as", metavar="FORM", help="What a PATH is: agent.conf or merged.mg.", show_default=False
)
ForGroup = typer.Option(
    "--group", metavar="GROUP", help="Check the files for the agents of this group.", show_default=False
)
Strict = typer.Option("--strict", help="End with 1 for warnings too.", show_default=False)
Explain = typer.Option(
    "--explain",
    metavar="RULE-NAME",
    help="Say what a lint rule means, and check nothing; `all`: each of them.",
    show_default=False,
)
AcceptRisk = typer.Option(
    "--accept-risk",
    metavar="RISK",
    help="Put it although it has this risk: no-validate (its errors are accepted; needs --reason).",
    show_default=False,
)
Revision = typer.Option(
    "--revision", metavar="REVISION", help="As it was at this revision (7 or r7).", show_default=False
)
IfMatch = typer.Option(
    "--if-match",
    metavar="SHA256|rN|none",
    help="Only if the file still has this SHA-256, or is as in this revision, or is not there.",
    show_default=False,
)


@noun.list(
    examples=["mgmtctl files list web", "mgmtctl files list web --where sent=false"],
    columns=("name", "size", "sent", "why_not"),
    exits={5: "no such group"},
)
def list_(session: CliSession, group: Annotated[str, GroupName]) -> None:
    """List the files of a group, and whether agents get each.

    A file that is not sent says why: its name, a NUL byte, a symlink. `-o json` has the SHA-256 of each.
    """
    from mgmtctl.operations import group_files

    session.show(group_files.list_files(session.context, group, query=session.query))


@noun.read(
    "show",
    examples=[
        "mgmtctl files show web/agent.conf > agent.conf",
        "mgmtctl files show web/agent.conf --revision 1",
    ],
)
def show(
    session: CliSession,
    target: Annotated[str, GroupFile],
    revision: Annotated[str | None, Revision] = None,
) -> None:
    """Print a file of a group, byte for byte, as it is or as it was at a revision."""
    from mgmtctl.operations import group_files, history

    found: group_files.FileContent | history.RevisionFile
    if revision is None:
        found = group_files.show_file(session.context, *group_file(target))
    else:
        found = history.show_revision_file(session.context, *group_file(target), revision)
    if session.output.asked is None:
        session.write(found.content)
    else:
        session.show(found)


@noun.write(
    "put",
    examples=[
        "mgmtctl files put web/agent.conf ./agent.conf",
        "mgmtctl files put web/rules.txt - < rules.txt",
        "mgmtctl files put db/agent.conf a.conf --accept-risk no-validate --reason ok",
    ],
    exits={7: "the content is refused; what is wrong stands on stderr as path:line:col"},
)
def put(
    session: CliSession,
    target: Annotated[str, GroupFile],
    source: Annotated[str, Source],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
    if_match: Annotated[str | None, IfMatch] = None,
) -> None:
    """Put a file into a group, checked and then stored byte for byte.

    An agent.conf with errors is refused, and so is one in a sub-folder. At most 10 MiB, and no NUL byte, which agents
    cannot receive. The agents of the group get the file at the next `mgmtctl sync run`.

    `--accept-risk no-validate` accepts the errors of exactly these bytes: it is put and sent, and every report says who
    accepted that and why. A document that cannot be read, or has no `agent_config`, is refused all the same.
    """
    from mgmtctl.cli.conf_lint import tell
    from mgmtctl.operations import group_files

    group, name = group_file(target)
    content, shown = session.read_input(source)
    put_as = target if source == "-" else shown
    risks = accepted(accept_risk, ("no-validate",))
    changed = group_files.put_file(
        session.context, group, name, content, source=put_as, if_match=if_match, accept_risk=risks
    )
    tell(session, changed.findings)
    if changed.change == "unchanged":
        session.done(f"`{target}` is so already", changed)
    else:
        what = f"`{target}` ({changed.size} bytes){numbered(changed.revision)}"
        after = f"; {concerned(group, changed.agents)}"
        session.done(f"{changed.change} {what}{after}", changed, f"{would(changed.change)} {what}{after}")


@noun.write("rm", asks=True, examples=["mgmtctl files rm web/old.txt --yes"])
def rm(
    session: CliSession,
    target: Annotated[str, GroupFile],
    if_match: Annotated[str | None, IfMatch] = None,
) -> None:
    """Remove a file from a group; agents lose it at the next sync."""
    from mgmtctl.operations import group_files

    group, name = group_file(target)
    session.confirm(f"remove `{target}`?")
    removed = group_files.remove_file(session.context, group, name, if_match)
    what = f"`{target}`{numbered(removed.revision)}; {concerned(group, removed.agents)}"
    session.done(f"removed {what}", removed, f"would remove {what}")


@noun.read(
    "validate",
    examples=[
        "mgmtctl files validate web",
        "mgmtctl files validate ./agent.conf",
        "mgmtctl files validate ./agent.conf --group web --strict",
        "mgmtctl files validate --explain wrong-system",
    ],
    exits={
        1: "an error was found, or with --strict a warning",
        3: "some could not be read (they are named)",
        7: "the file cannot be read",
    },
)
def validate(
    session: CliSession,
    target: Annotated[list[str] | None, ToValidate] = None,
    group: Annotated[str | None, ForGroup] = None,
    form: Annotated[str | None, Form] = None,
    strict: Annotated[bool, Strict] = False,
    explain: Annotated[str | None, Explain] = None,
    output: Annotated[str | None, OutputForm] = None,
) -> None:
    """Check the files of a group as they are on disk, or files anywhere.

    A PATH is read as an agent.conf whatever its name, unless --as says otherwise; that needs no login and no data
    folder. With --group it is checked for the agents of that group: their systems, releases and names decide which
    blocks they read. A group's own files are checked so too. Only agents that you may read are judged here; a sync
    judges all.

    Findings are `path:line:col: severity: message [rule]`; warnings and notes alone end with 0. An error that somebody
    accepted (`files put --accept-risk no-validate`) is a warning that says who.
    """
    from mgmtctl.cli import conf_lint

    set_form(session, output)
    if explain is not None:
        return conf_lint.explain(session, explain)
    targets = target or []
    findings = conf_lint.validate(session, targets, form, group)
    return conf_lint.show(session, findings, output, strict, ", ".join(targets))


def group_file(target: str) -> tuple[str, str]:
    """The group and the file that `GROUP/FILE` names; QuestionError without a file."""
    from mgmtctl.domain.errors import QuestionError
    from mgmtctl.domain.files import split_target

    group, name = split_target(target)
    if name is None:
        raise QuestionError(
            f"`{target}` names no file", fix=f"write it as GROUP/FILE, e.g. {group}/agent.conf"
        )
    return group, name


def numbered(revision: int | None) -> str:
    """What a message says of the revision that a change made."""
    return "" if revision is None else f" as r{revision}"


def concerned(group: str, agents: int) -> str:
    """How many agents a change may concern, and what brings it to those of them that need it."""
    if agents == 0:
        return "no agent is concerned"
    return f"{in_group(agents)}; to those that need it: mgmtctl sync run --group {group}"


def in_group(agents: int) -> str:
    """How many agents are in the group of a file; how many lack it a sync finds out."""
    return f"{agents} agent{'s' * (agents != 1)} in the group"


def would(change: str) -> str:
    """What a dry run says of a change: `created` -> `would create`."""
    return f"would {change.removesuffix('d')}"
