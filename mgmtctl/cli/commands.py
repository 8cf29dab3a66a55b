"""How a noun declares its commands, and how a declaration becomes a Typer command.

    noun = Noun("groups", "Groups of agents and who belongs to them.")

    @noun.list(examples=["mgmtctl groups list -o json"], columns=("name", "count"))
    def list_(session: CliSession) -> None:
        '''List the groups you may read.'''

Rules: a declaration is data that help, docs, man pages, completion and tests read; the Typer command of a declaration
is built when it is asked for, so that one call builds one command. The signature of a command is its own parameters
without `session`, plus the common options of its kind (`options.COMMON`). Names a function takes itself are not added.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from mgmtctl.cli import exit_codes, help_text
from mgmtctl.cli.exit_codes import (
    CONFLICT,
    DENIED,
    MEANINGS,
    NO,
    NOT_FOUND,
    REFUSED,
    UNAUTHENTICATED,
    USAGE,
)
from mgmtctl.cli.options import COMMON, LIST, READ, WRITE, Common
from mgmtctl.cli.session import CliSession
from mgmtctl.domain.errors import MgmtctlError

__all__ = ("CliSession", "Command", "Group", "Noun")

HELP_NAMES = {"help_option_names": ["-h", "--help"]}
ALIASES = {"ls": "list", "get": "show", "rm": "delete"}
_EXITS = {
    READ: (0, USAGE, UNAUTHENTICATED, NOT_FOUND, DENIED),
    LIST: (0, USAGE, UNAUTHENTICATED, DENIED),
    WRITE: (0, USAGE, UNAUTHENTICATED, NOT_FOUND, DENIED, REFUSED, CONFLICT),
}
F = TypeVar("F", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class Command:
    """One declared command; `path` is its words after the program's name.

    `exits`: what an exit code means here; None: the command never ends with this one, though its like do.
    """

    path: tuple[str, ...]
    kind: str
    function: Callable[..., None]
    examples: tuple[str, ...]
    columns: tuple[str, ...] = ()
    asks: bool = False
    hidden: bool = False
    exits: Mapping[int, str | None] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last word."""
        return self.path[-1]

    @property
    def description(self) -> str:
        """The whole docstring."""
        return inspect.getdoc(self.function) or ""

    @property
    def summary(self) -> str:
        """The first sentence of the docstring, in one line."""
        first = " ".join(self.description.partition("\n\n")[0].split())
        return first.partition(". ")[0].rstrip(".") + "."

    @property
    def exit_codes(self) -> tuple[int, ...]:
        """The codes this command is known to end with, beside those of the machine."""
        known = {*_EXITS[self.kind], *((NO,) if self.asks else ()), *self.exits}
        return tuple(sorted(code for code in known if self.exits.get(code, "") is not None))

    def meaning(self, code: int) -> str:
        """What an exit code means here."""
        if code == NO and self.asks:
            return "; ".join(filter(None, (self.exits.get(code), "the answer to the question was not yes")))
        return self.exits.get(code) or MEANINGS[code]

    def build(self) -> TyperCommand:
        """The Typer command."""
        app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        app.command(
            self.name,
            cls=HelpfulCommand,
            help=self.summary,
            hidden=self.hidden,
            context_settings=HELP_NAMES,
        )(self._callback())
        command = cast(HelpfulCommand, typer.main.get_command(app))
        command.declared = self
        return command

    def _callback(self) -> Callable[..., None]:
        own = self._own_parameters()
        common = {name: row for name, row in COMMON.items() if self.kind in row[1] and name not in own}

        def call(**given: Any) -> None:
            values = Common(**{name: given.pop(name) for name in common})
            session = CliSession(values, self.columns, self.kind == LIST)
            self._perform(session, given)
            if session.code:
                session.exit(session.code)

        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=Common._field_defaults[name],
                annotation=annotation,
            )
            for name, (annotation, _) in common.items()
        ]
        call.__signature__ = inspect.Signature([*own.values(), *added])  # type: ignore[attr-defined]
        call.__annotations__ = {}
        call.__doc__ = None
        return call

    def _perform(self, session: CliSession, given: dict[str, Any]) -> None:
        """Call the function; failures are told as JSON when the exit code is known, whichever way it ends."""
        code = exit_codes.BUG
        try:
            self.function(session, **given)
            code = session.code
        except typer.Exit as end:
            code = end.exit_code
            raise
        except MgmtctlError as error:
            code = exit_codes.exit_code(error)
            raise
        finally:
            session.finish(code)

    def _own_parameters(self) -> dict[str, inspect.Parameter]:
        hints = get_type_hints(self.function, include_extras=True)
        parameters = list(inspect.signature(self.function).parameters.values())[1:]
        return {
            parameter.name: parameter.replace(
                kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[parameter.name]
            )
            for parameter in parameters
        }


class Noun:
    """A noun and its commands. The nameless noun `Noun("", "")` holds commands that stand by themselves (login).

    `above`: the words before its name, when it is part of another noun (`part`).
    """

    def __init__(self, name: str, summary: str, above: tuple[str, ...] = ()) -> None:
        self.name = name
        self.summary = summary
        self.path = (*above, name) if name else ()
        self.commands: dict[str, Command] = {}
        self.parts: dict[str, Noun] = {}

    def part(self, name: str, summary: str) -> Noun:
        """A noun below this one: `mgmtctl NOUN PART VERB`."""
        self.parts[name] = Noun(name, summary, self.path)
        return self.parts[name]

    @property
    def table(self) -> dict[str, str]:
        """What can follow its name, with summaries."""
        commands = {name: command.summary for name, command in self.commands.items() if not command.hidden}
        return {**commands, **{name: part.summary for name, part in self.parts.items()}}

    def nouns(self) -> Sequence[Noun]:
        """This noun and all below it."""
        return [self, *(noun for part in self.parts.values() for noun in part.nouns())]

    def list(
        self,
        name: str = "list",
        *,
        examples: Sequence[str],
        columns: Sequence[str] = (),
        hidden: bool = False,
        exits: Mapping[int, str | None] | None = None,
    ) -> Callable[[F], F]:
        """Declare a command that lists: with selection, order, filter, search and limit."""
        return self._declare(name, LIST, examples, columns, False, hidden, exits)

    def read(
        self,
        name: str,
        *,
        examples: Sequence[str],
        columns: Sequence[str] = (),
        hidden: bool = False,
        exits: Mapping[int, str | None] | None = None,
    ) -> Callable[[F], F]:
        """Declare a command that shows and changes nothing."""
        return self._declare(name, READ, examples, columns, False, hidden, exits)

    def write(
        self,
        name: str,
        *,
        examples: Sequence[str],
        columns: Sequence[str] = (),
        asks: bool = False,
        hidden: bool = False,
        exits: Mapping[int, str | None] | None = None,
    ) -> Callable[[F], F]:
        """Declare a command that changes something; `asks`: it wants a yes before it does."""
        return self._declare(name, WRITE, examples, columns, asks, hidden, exits)

    def _declare(
        self,
        name: str,
        kind: str,
        examples: Sequence[str],
        columns: Sequence[str],
        asks: bool,
        hidden: bool,
        exits: Mapping[int, str | None] | None,
    ) -> Callable[[F], F]:
        if not examples:
            raise TypeError(f"command `{' '.join((*self.path, name))}` has no example")

        def declare(function: F) -> F:
            path = (*self.path, name)
            if name in self.commands or not function.__doc__:
                raise TypeError(f"command `{' '.join(path)}` is declared twice or has no docstring")
            self.commands[name] = Command(
                path, kind, function, tuple(examples), tuple(columns), asks, hidden, exits or {}
            )
            return function

        return declare

    @property
    def app(self) -> Group:
        """The Typer group of this noun."""
        return Group(
            name=self.name,
            help=self.summary,
            table=self.table,
            find=self._find,
            examples=tuple(command.examples[0] for command in self.commands.values())[:2],
        )

    def _find(self, name: str) -> TyperCommand | Group | None:
        if name in self.parts:
            return self.parts[name].app
        declared = self.commands.get(name) or self.commands.get(ALIASES.get(name, ""))
        return declared.build() if declared else None


class HelpfulCommand(TyperCommand):
    """A command whose help starts with examples and ends with exit codes."""

    declared: Command

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        help_text.write_command(self, ctx, formatter)


class Group(TyperGroup):
    """Commands that are found by name when they are needed; `table` holds the names to show with their summaries."""

    def __init__(
        self,
        *,
        name: str,
        help: str,  # noqa: A002
        table: Mapping[str, str],
        find: Callable[[str], Any],
        examples: tuple[str, ...] = (),
    ) -> None:
        super().__init__(
            name=name,
            help=help,
            options_metavar="",
            rich_markup_mode=None,
            invoke_without_command=True,
            context_settings=HELP_NAMES,
        )
        self.table = table
        self.examples = examples
        self._find_command = find

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        return self._find_command(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As the base class; an unknown name is answered with the nearest one."""
        from mgmtctl.domain.errors import QuestionError
        from mgmtctl.domain.resources import closest

        found = None if args[0].startswith("-") else self.get_command(ctx, args[0])
        if found is not None:
            return args[0], found, args[1:]
        near = closest(args[0], self.table)
        hint = f"did you mean `{ctx.command_path} {near}`?" if near else f"{ctx.command_path} --help"
        raise QuestionError(f"no command `{ctx.command_path} {args[0]}`", fix=hint)

    def invoke(self, ctx: Any) -> Any:
        """Run the named command; without a name show the help."""
        if not ctx._protected_args:
            typer.echo(ctx.get_help())
            return None
        return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        help_text.write_group(self, ctx, formatter)
