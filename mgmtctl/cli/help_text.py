"""The help of a command or a noun: examples first, exit codes last (design: command line, help)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mgmtctl.cli.options import COMMON

_OF_THE_MACHINE = ("*", "those that any command may have: `mgmtctl help exit-codes`")


def write_command(command: Any, context: Any, formatter: Any) -> None:
    """Write the help of a command into Typer's formatter."""
    declared = command.declared
    _write_examples(declared.examples, formatter)
    command.format_usage(context, formatter)
    _write_paragraphs(declared.description, formatter)
    arguments: list[tuple[str, str]] = []
    own: list[tuple[str, str]] = []
    common: list[tuple[str, str]] = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None:
            continue
        if parameter.param_type_name == "argument":
            arguments.append(record)
        else:
            (common if parameter.name in COMMON or parameter.name == "help" else own).append(record)
    for title, records in (("Arguments", arguments), ("Options", own), ("Common options", common)):
        _write_records(title, records, formatter)
    codes = [(str(code), declared.meaning(code)) for code in declared.exit_codes]
    _write_records("Exit codes", [*codes, _OF_THE_MACHINE], formatter)


def write_group(group: Any, context: Any, formatter: Any) -> None:
    """Write the help of a noun: its commands by their summaries, nothing of them is built."""
    _write_examples(group.examples, formatter)
    group.format_usage(context, formatter)
    _write_paragraphs(group.help or "", formatter)
    _write_records("Commands", list(group.table.items()), formatter)
    write_end("", formatter)


def write_end(text: str, formatter: Any) -> None:
    """Write what a noun's help and that of the tree end with."""
    for paragraph in filter(
        None, (text, "Exit codes: 0 done; every other one is in `mgmtctl help exit-codes`.")
    ):
        formatter.write("\n")
        formatter.write_text(paragraph)


def _write_examples(examples: Iterable[str], formatter: Any) -> None:
    formatter.write("Examples:\n")
    for example in examples:
        formatter.write(f"  {example}\n")
    formatter.write("\n")


def _write_paragraphs(text: str, formatter: Any) -> None:
    for paragraph in text.split("\n\n"):
        formatter.write("\n")
        if paragraph.startswith("  "):
            formatter.write(paragraph + "\n")
        else:
            formatter.write_text(" ".join(paragraph.split()))


def _write_records(title: str, records: list[tuple[str, str]], formatter: Any) -> None:
    if records:
        with formatter.section(title):
            formatter.write_dl(records)
