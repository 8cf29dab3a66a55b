"""The command tree as plain data, read off the declarations, for completion scripts, man pages and the reference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mgmtctl.cli.app import TREE, commands_of, noun_of
from mgmtctl.cli.commands import Command
from mgmtctl.cli.options import COMMON, VALUES

PATHS = "paths"
_PATH_METAVARS = frozenset({"PATH", "FILE", "SRC", "DIR", "SRC|-"})


@dataclass(frozen=True, slots=True)
class Option:
    """An option: its `metavar` is None for a flag; `values` is a kind of `--complete`, PATHS, fixed words, or None."""

    names: tuple[str, ...]
    metavar: str | None
    help: str
    values: str | tuple[str, ...] | None
    common: bool

    @property
    def flags(self) -> tuple[str, ...]:
        """The names with the short one first."""
        return tuple(sorted(self.names, key=len))


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional argument; `many`: it takes all that follow."""

    metavar: str
    help: str
    values: str | tuple[str, ...] | None
    many: bool
    required: bool


@dataclass(frozen=True, slots=True)
class CommandOutline:
    """One command as it is called."""

    declared: Command
    usage: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]

    @property
    def path(self) -> str:
        """Its words after the program's name."""
        return " ".join(self.declared.path)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the tree: a noun with its commands, or one command that stands by itself.

    `tables`: for the noun, and each noun below it, the words before and what can follow them, with summaries.
    """

    name: str
    summary: str
    heading: str
    is_noun: bool
    commands: tuple[CommandOutline, ...]
    tables: tuple[tuple[str, dict[str, str]], ...] = ()


def outline() -> Iterator[Word]:
    """Every word of the tree in its order; all nouns are imported."""
    for name, branch in TREE.items():
        commands = tuple(_command(command) for command in commands_of(name) if not command.hidden)
        noun = noun_of(name)
        tables = tuple((" ".join(part.path), part.table) for part in noun.nouns()) if noun else ()
        yield Word(name, branch.summary, branch.heading, noun is not None, commands, tables)


def _command(declared: Command) -> CommandOutline:
    built = declared.build()
    params: list[Any] = list(built.params)
    arguments = [param for param in params if param.param_type_name == "argument"]
    words = " ".join(["mgmtctl", *declared.path, "[OPTIONS]", *(_shown(param) for param in arguments)])
    shown = [param for param in params if param.param_type_name == "option" and not param.hidden]
    options = [_option(param, declared.columns) for param in shown]
    options.append(Option(("-h", "--help"), None, "Show the help.", None, True))
    return CommandOutline(declared, words, tuple(options), tuple(_argument(param) for param in arguments))


def _shown(param: Any) -> str:
    name = str(param.metavar or param.name.upper())
    return name if param.required or name.startswith("[") else f"[{name}]"


def _option(param: Any, columns: tuple[str, ...]) -> Option:
    metavar = None if param.is_flag else str(param.metavar or param.name.upper())
    names = (*param.opts, *param.secondary_opts)
    values = (columns or None) if metavar == "FIELDS" else _values(param, metavar)
    return Option(names, metavar, param.help or "", values, param.name in COMMON)


def _argument(param: Any) -> Argument:
    metavar = str(param.metavar or param.name.upper())
    many = param.nargs == -1
    return Argument(metavar, param.help or "", _values(param, metavar), many, param.required)


def _values(param: Any, metavar: str | None) -> str | tuple[str, ...] | None:
    if metavar is None:
        return None
    choices = getattr(param.type, "choices", None)
    if choices:
        return tuple(str(choice) for choice in choices)
    name = metavar.replace("...", "")
    for known in (name, name.strip("[]")):
        if known in VALUES:
            return VALUES[known]
    is_path = name in _PATH_METAVARS or "path" in type(param.type).__name__.lower()
    return PATHS if is_path else None
