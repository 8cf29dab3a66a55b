"""What one command works with: who is acting, how to ask, how to show.

Rules: who is acting is MGMTCTL_TOKEN, else MGMTCTL_USER with MGMTCTL_PASSWORD_FILE, else the session file (D 1); an
empty token stands for nobody; a login for this one command ends with it; stdout gets data only; items that failed are
listed on stderr and make the exit code (3, or that of their kind when nothing succeeded). `acting_as` lets a command
line run under a session of its own, without a session file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from mgmtctl.cli import errors, exit_codes, prompts
from mgmtctl.cli.options import Common
from mgmtctl.cli.output import COLORS, FORMATS, Output, is_terminal, width_of
from mgmtctl.cli.records import narrowed, plain
from mgmtctl.cli.text import clean_lines, folded
from mgmtctl.domain.errors import MgmtctlError, QuestionError, UnauthenticatedError

if TYPE_CHECKING:
    from mgmtctl.cli.progress import Bar
    from mgmtctl.domain.impact import Impact
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.operations.context import Context
    from mgmtctl.settings import Settings

# Formats that have a form of their own for a text, and those that an envelope can be written in.
_DOCUMENTS = ("json", "ndjson", "yaml")
_ENVELOPES = ("json", "yaml")
_ACTING: ContextVar[Context | None] = ContextVar("acting", default=None)


@contextmanager
def acting_as(context: Context) -> Iterator[None]:
    """Let the command lines that run inside act in this context, whatever session is stored."""
    mark = _ACTING.set(context)
    try:
        yield
    finally:
        _ACTING.reset(mark)


def token_of_environment() -> str | None:
    """MGMTCTL_TOKEN, None when it is not set; UnauthenticatedError when it is empty, as after a login that failed."""
    token = os.environ.get("MGMTCTL_TOKEN")
    if token is None or token.strip():
        return token
    raise UnauthenticatedError("MGMTCTL_TOKEN is set and empty", fix="set it to a token, or unset it")


def end_quietly(context: Context) -> None:
    """End the session that is acting here; what its command did stands, whether or not that works."""
    from mgmtctl.operations.resuming import end

    with suppress(MgmtctlError):
        end(context)


class CliSession:
    """One call of one command. `columns` are those of its table; the rest are the values of the common options.

    `lists`: a list is what the command is asked for, so one is written even when nothing of it could be had.
    """

    def __init__(self, common: Common, columns: tuple[str, ...] = (), lists: bool = False) -> None:
        _require(common.output, FORMATS, "format")
        _require(common.color, COLORS, "colour")
        if common.envelope and common.output not in (None, *_ENVELOPES):
            raise QuestionError(
                f"--envelope is written as {' or '.join(_ENVELOPES)}, not as {common.output}",
                fix=f"-o {_ENVELOPES[0]}",
            )
        select = (
            tuple(field.strip() for field in common.select.split(",") if field.strip())
            if common.select
            else ()
        )
        self.common = common
        self.output = Output(common.output, common.color, not common.no_headers, select, columns)
        self.code = 0
        # What the JSON object about what failed says too, which would be talk beside it otherwise.
        self.beside: dict[str, Any] = {}
        self._lists = lists
        self._untold: tuple[Any, ...] = ()
        self._brief: Context | None = None

    dry_run = property(lambda self: self.common.dry_run)
    yes = property(lambda self: self.common.yes)
    reason = property(lambda self: self.common.reason)
    quiet = property(lambda self: self.common.quiet)

    @cached_property
    def settings(self) -> Settings:
        """Where things are."""
        from mgmtctl.settings import Settings

        return Settings()

    @cached_property
    def query(self) -> ListQuery:
        """What the list options ask for; `limit` None: all."""
        from mgmtctl.domain.queries import ListQuery

        common = self.common
        return ListQuery(
            where=common.where,
            search=common.search,
            sort=common.sort,
            limit=min(common.limit or 0, sys.maxsize) or None,
            select=self.output.select,
        )

    def open(self) -> Context:
        """The open service with nobody logged in (init, login, recover)."""
        from mgmtctl.bootstrap import open_context

        return open_context(self.settings, dry_run=self.dry_run, reason=self.reason)

    @cached_property
    def context(self) -> Context:
        """The open service with who is acting; UnauthenticatedError when nobody is."""
        preset = _ACTING.get()
        if preset is not None:
            from dataclasses import replace

            preset.store.dry_run = self.dry_run
            return replace(preset, dry_run=self.dry_run, reason=self.reason or preset.reason)
        return self._logged_in()

    def _logged_in(self) -> Context:
        from mgmtctl.operations import login

        context = self.open()
        token = token_of_environment()
        if token is not None:
            return login.resume(context, token, verify_signature=True)
        if os.environ.get("MGMTCTL_USER"):
            return self.log_in_for_now(context)
        token = self.stored_token()
        if token is None:
            raise UnauthenticatedError("not logged in", fix="mgmtctl login")
        return login.resume(context, token, verify_signature=False)

    def log_in_for_now(self, context: Context) -> Context:
        """Log in as MGMTCTL_USER, in place of the login of this command before; the session ends with the command."""
        from mgmtctl.operations import login

        given = login.log_in(context, os.environ["MGMTCTL_USER"], self.password_of_environment())
        self._end_brief()
        self._brief = login.resume(context, given.token, verify_signature=False)
        return self._brief

    def _end_brief(self) -> None:
        if self._brief is not None:
            end_quietly(self._brief)
            self._brief = None

    def password_of_environment(self) -> str:
        """The password in the file that MGMTCTL_PASSWORD_FILE names; UnauthenticatedError when it names none."""
        path = os.environ.get("MGMTCTL_PASSWORD_FILE")
        if not path:
            raise UnauthenticatedError(
                "MGMTCTL_USER is set without MGMTCTL_PASSWORD_FILE",
                fix="set both, or neither and `mgmtctl login`",
            )
        return prompts.password_in(Path(path))

    def stored_token(self) -> str | None:
        """The token of the session file, None when there is none."""
        from mgmtctl.cli.session_file import read_token, session_path

        return read_token(session_path(self.settings))

    def store_token(self, token: str) -> None:
        """Make this the stored session."""
        from mgmtctl.cli.session_file import session_path, write_token

        write_token(session_path(self.settings), token)

    def drop_token(self) -> bool:
        """Forget the stored session; False when there was none."""
        from mgmtctl.cli.session_file import remove_token, session_path

        return remove_token(session_path(self.settings))

    def show(self, result: Any) -> None:
        """Show a value, a list, or Items; a value with `text()` shows that unless a format was asked for."""
        if hasattr(result, "affected") and hasattr(result, "failed"):
            self._show_items(result)
        elif isinstance(result, (list, tuple)):
            self._show_list(result)
        elif self.output.asked is None and hasattr(result, "text"):
            self.output.page(result.text().rstrip("\n").split("\n"))
        else:
            self.output.one(plain(result))

    def _show_list(self, values: Any) -> None:
        if self.common.envelope:
            from mgmtctl.operations.results import Items

            return self._show_items(Items(values))
        if self.output.asked is None and values and all(hasattr(value, "text") for value in values):
            return self.output.page(value.text() for value in values)
        return self.output.many(values)

    def _show_items(self, items: Any) -> None:
        if self.common.envelope:
            from mgmtctl.operations.results import envelope

            record = envelope(items)
            data: Any = record["data"]
            data["affected_items"] = [narrowed(item, self.output.select) for item in data["affected_items"]]
            Output("yaml" if self.output.asked == "yaml" else "json").one(record)
        elif items.affected or not items.failed or self._shows_none(items):
            self._show_list(items.affected)
        self._tell_cut(items)
        self._fail(items)

    def _shows_none(self, items: Any) -> bool:
        """Whether an empty list says that nothing could be had: to a program, unless it asked for one thing alone."""
        is_document = self.output.asked in ("json", "yaml")
        return is_document and (self._lists or not errors.is_one(items.failed))

    def _tell_cut(self, items: Any) -> None:
        if items.total is not None and items.total > len(items.affected) and is_terminal(sys.stdout):
            self.say(f"{len(items.affected)} of {items.total} shown; --limit 0 shows all")

    def _fail(self, items: Any) -> None:
        if not items.failed:
            return
        code = exit_codes.PARTLY
        if not items.affected:
            code = exit_codes.common_exit_code(failure.error for failure in items.failed)
        self.code = code
        if self._json_errors:
            self._untold = (*self._untold, *items.failed)
        else:
            errors.say_failures(items.failed, code, color=self.output.color)

    def finish(self, code: int) -> None:
        """Tell as JSON what failed, now that the exit code of the process is known, and what operations warn of.

        A login for this command alone ends here.
        """
        self._end_brief()
        opened: Context | None = self.__dict__.get("context")
        for warning in opened.warnings if opened is not None else ():
            self.warn(warning)
        if self._untold:
            errors.say_failures(self._untold, code, as_json=True, beside=self.beside)
            self._untold = ()

    def done(self, text: str, value: Any = None, would: str | None = None) -> None:
        """Tell what was done, in a dry run what `would` be; with a format asked for, its value goes to stdout.

        A dry run of a change of access tells its impact too: as lines, or as {"result": ..., "impact": ...} where
        documents are asked for.
        """
        items = value if hasattr(value, "affected") and hasattr(value, "failed") else None
        impact = self._impact()
        if items is None or items.affected or not items.failed:
            self.say(f"dry run: {would or text}" if self.dry_run else text)
            if impact is not None and self.output.asked not in _DOCUMENTS:
                self.say_impact(impact)
        if impact is not None and self.output.asked in _DOCUMENTS:
            result = value if items is None else list(items.affected)
            self.output.one({"result": plain(result), "impact": impact.record()})
            if items is not None:
                self._fail(items)
        elif self.output.asked is not None and value is not None:
            self.show(value)
        elif items is not None:
            self._fail(items)

    def say_impact(self, impact: Impact) -> None:
        """Tell who gains and who loses what."""
        from mgmtctl.cli.impact_text import lines

        for line in lines(impact, width_of(sys.stderr)):
            self.say(line)

    def _impact(self) -> Impact | None:
        """What the change would mean that was just tried."""
        opened: Context | None = self.__dict__.get("context")
        found = opened.impacts[-1]() if opened is not None and opened.impacts else None
        if opened is not None:
            opened.impacts.clear()
        return found

    def say(self, text: str) -> None:
        """Talk on stderr, unless -q."""
        if not self.quiet:
            self._tell(text)

    def warn(self, text: str) -> None:
        """A warning on stderr."""
        self._tell(f"warning: {text}")

    def _tell(self, text: str) -> None:
        width = width_of(sys.stderr)
        lines = clean_lines(text).split("\n")
        sys.stderr.write("".join(folded(line, width) + "\n" for line in lines))

    def print(self, text: str) -> None:
        """Text and a line end on stdout; as one value of the format that was asked for."""
        if self.output.asked in _DOCUMENTS:
            self.output.one(text)
        else:
            self.output.text(text + "\n")

    def write(self, data: bytes) -> None:
        """The bytes of a file on stdout: as they are in a pipe, made safe on a terminal."""
        if is_terminal(sys.stdout):
            self.output.text(data.decode("utf-8", "replace"))
            return
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def confirm(self, question: str) -> None:
        """Go on when --yes was given, the user says yes, or nothing will be changed anyway; QuestionError otherwise."""
        if not (self.yes or self.dry_run):
            prompts.confirm(question)

    def read_password(self, prompt: str, file: Path | None, stdin: bool, confirm: bool = False) -> str:
        """A password, from the named source or the terminal."""
        return prompts.read_password(prompt, file, stdin, confirm)

    def read_input(self, path: str, limit: int = prompts.LARGEST_INPUT) -> tuple[bytes, str]:
        """The bytes of a file, or of stdin for `-`, and the name to show."""
        return prompts.read_input(path, limit)

    def refs(self, references: list[str]) -> list[str]:
        """Names or ids as given; a single `-` reads them from stdin."""
        return prompts.expand(references)

    def progress(self, total: int, label: str) -> AbstractContextManager[Bar]:
        """A bar on stderr for work on `total` items: on a terminal, after a second, gone at the end."""
        from mgmtctl.cli.progress import progress

        return progress(total, label, shown=not self.quiet and is_terminal(sys.stderr))

    def exit(self, code: int) -> NoReturn:
        """End the command with this exit code."""
        raise typer.Exit(code)

    @property
    def _json_errors(self) -> bool:
        return self.output.asked in ("json", "ndjson")


def _require(given: str | None, known: tuple[str, ...], what: str) -> None:
    if given is None or given in known:
        return
    from mgmtctl.domain.resources import closest

    near = closest(given, known)
    raise QuestionError(
        f"no {what} `{given}`", fix=f"did you mean `{near}`?" if near else f"one of {', '.join(known)}"
    )
