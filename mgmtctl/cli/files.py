"""`mgmtctl files`: the shared files of a group, agent.conf among them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.options import GroupFile, GroupName
from mgmtctl.cli.sarif import SARIF, set_form, write_sarif
from mgmtctl.cli.sarif import Form as OutputForm

if TYPE_CHECKING:
    from mgmtctl.domain.findings import Finding

noun = Noun("files", "The shared files of a group, agent.conf among them.")

_PATH_BEGINNINGS = ("/", "./", "../")
_FORMS = ("agent.conf", "merged.mg")
Source = typer.Argument(metavar="SRC|-", help="The file to put; `-` is stdin.", show_default=False)
ToValidate = typer.Argument(
    metavar="GROUP[/FILE]|PATH",
    help="A group, a file in it, or a path that begins with `/`, `./`, `../` (or `-`).",
    show_default=False,
)
Form = typer.Option(
    "--as", metavar="FORM", help=f"What a PATH is: {' or '.join(_FORMS)}.", show_default=False
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


@noun.read("show", examples=["mgmtctl files show web/agent.conf > agent.conf"])
def show(session: CliSession, target: Annotated[str, GroupFile]) -> None:
    """Print a file of a group, byte for byte."""
    from mgmtctl.operations import group_files

    found = group_files.show_file(session.context, *_group_file(target))
    if session.output.asked is None:
        session.write(found.content)
    else:
        session.show(found)


@noun.write(
    "put",
    examples=[
        "mgmtctl files put web/agent.conf ./agent.conf",
        "mgmtctl files put web/rules.txt - < rules.txt",
    ],
    exits={7: "the content is refused; what is wrong stands on stderr as path:line:col"},
)
def put(session: CliSession, target: Annotated[str, GroupFile], source: Annotated[str, Source]) -> None:
    """Put a file into a group, checked and then stored byte for byte.

    An agent.conf with errors is refused. At most 10 MiB, and no NUL byte, which agents cannot receive. The agents of
    the group get the file at the next `mgmtctl sync run`.
    """
    from mgmtctl.operations import group_files

    group, name = _group_file(target)
    content, shown = session.read_input(source)
    put_as = target if source == "-" else shown
    changed = group_files.put_file(session.context, group, name, content, source=put_as)
    for finding in changed.findings:
        session.warn(finding.text())
    if changed.change == "unchanged":
        session.done(f"`{target}` is so already", changed)
    else:
        session.done(
            f"{changed.change} `{target}` ({changed.size} bytes); {_concerned(group, changed.agents)}",
            changed,
        )


@noun.write("rm", asks=True, examples=["mgmtctl files rm web/old.txt --yes"])
def rm(session: CliSession, target: Annotated[str, GroupFile]) -> None:
    """Remove a file from a group; agents lose it at the next sync."""
    from mgmtctl.operations import group_files

    group, name = _group_file(target)
    session.confirm(f"remove `{target}`?")
    removed = group_files.remove_file(session.context, group, name)
    session.done(f"removed `{target}`; {_concerned(group, removed.agents)}", removed)


@noun.read(
    "validate",
    examples=["mgmtctl files validate web", "mgmtctl files validate ./agent.conf"],
    exits={1: "an error was found", 7: "the file cannot be read"},
)
def validate(
    session: CliSession,
    target: Annotated[str, ToValidate],
    form: Annotated[str | None, Form] = None,
    output: Annotated[str | None, OutputForm] = None,
) -> None:
    """Check the files of a group as they are on disk, or a file anywhere.

    A PATH is read as an agent.conf whatever its name, unless --as says otherwise; that needs no login and no data
    folder. Findings are `path:line:col: severity: message [rule]`; warnings and notes alone end with 0.
    """
    from mgmtctl.domain.findings import blocks

    set_form(session, output)
    findings = _findings(session, target, form)
    if output == SARIF:
        write_sarif(findings)
    else:
        session.show(findings)
    if not findings:
        session.say(f"{target}: no findings")
    if blocks(findings):
        session.code = 1


def _findings(session: CliSession, target: str, form: str | None) -> list[Finding]:
    from mgmtctl.domain.errors import MgmtctlError, QuestionError

    if target == "-" or target.startswith(_PATH_BEGINNINGS):
        content, name = session.read_input(target)
        return check_document(content, name, form or _FORMS[0])
    if form is not None:
        raise QuestionError("--as says what a PATH is", fix=f"./{target} is a path")
    from mgmtctl.domain.files import split_target
    from mgmtctl.operations import group_files

    try:
        return group_files.validate_group_files(session.context, *split_target(target))
    except MgmtctlError as error:
        if os.path.isfile(target):
            meant = f"mgmtctl files validate ./{target}"
            error.fix = f"{error.fix}; or for the file here: {meant}" if error.fix else meant
        raise


def check_document(content: bytes, name: str, form: str) -> list[Finding]:
    """What is wrong with a document of this form, wherever it came from; QuestionError for an unknown form."""
    if form == "merged.mg":
        from mgmtctl.domain.merging import read_merged

        return list(read_merged(content, name).findings)
    if form != "agent.conf":
        from mgmtctl.domain.errors import QuestionError

        raise QuestionError(f"no form `{form}`", fix=f"one of {', '.join(_FORMS)}")
    from mgmtctl.domain.agent_conf_check import check_agent_conf

    return check_agent_conf(content, name)


def _group_file(target: str) -> tuple[str, str]:
    from mgmtctl.domain.errors import QuestionError
    from mgmtctl.domain.files import split_target

    group, name = split_target(target)
    if name is None:
        raise QuestionError(
            f"`{target}` names no file", fix=f"write it as GROUP/FILE, e.g. {group}/agent.conf"
        )
    return group, name


def _concerned(group: str, agents: int) -> str:
    if agents == 0:
        return "no agent is concerned"
    return f"{agents} agent{'s' * (agents > 1)} to sync: mgmtctl sync run --group {group}"
