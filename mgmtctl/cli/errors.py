"""Errors as text or as one JSON object on stderr, and the command line's own usage errors as ours.

Rules (design: command line, errors): one line, then `why:` and `fix:`; findings as `path:line:col: ...`; whatever the
error holds, a terminal sees no control character and a script one line per fact.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import typer

from mgmtctl.cli.exit_codes import exit_code, kind_name
from mgmtctl.cli.output import wants_color
from mgmtctl.cli.records import compact
from mgmtctl.cli.text import clean, clean_lines
from mgmtctl.domain.errors import InvalidError, MgmtctlError, QuestionError

# Typer's base of all usage errors; it has no public name.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_MOST_IDS_SHOWN = 20


def say_error(error: MgmtctlError, *, as_json: bool = False, color: str = "auto") -> None:
    """Write one error to stderr."""
    if as_json:
        sys.stderr.write(compact(error_record(error)) + "\n")
        return
    lines = [clean(finding.text()) for finding in error.findings] if isinstance(error, InvalidError) else []
    lines.append(f"{_label('error', color)} {clean(error.problem)}")
    sys.stderr.write("\n".join([*lines, *_reasons(error)]) + "\n")


def say_failures(failures: Sequence[Any], code: int, *, as_json: bool = False, color: str = "auto") -> None:
    """Write the items that failed (`Failure` of the operations), with their reasons."""
    if len(failures) == 1 and len(failures[0].ids) == 1 and failures[0].ids[0] in failures[0].error.problem:
        return say_error(failures[0].error, as_json=as_json, color=color)
    if as_json:
        failed = [failure.record() for failure in failures]
        count = sum(len(failure.ids) for failure in failures)
        record = {"error": f"{count} failed", "type": "items", "exit": code, "failed_items": failed}
        sys.stderr.write(compact(record) + "\n")
        return None
    for failure in failures:
        error: MgmtctlError = failure.error
        shown = [clean(item) for item in failure.ids[:_MOST_IDS_SHOWN]]
        more = len(failure.ids) - len(shown)
        names = ", ".join(shown) + (f" and {more} more" if more else "")
        lines = [f"{_label('error', color)} {names}: {clean(error.problem)}", *_reasons(error)]
        sys.stderr.write("\n".join(lines) + "\n")
    return None


def _reasons(error: MgmtctlError) -> list[str]:
    """The lines under an error; a reason of several lines (a filter with its caret) keeps them."""
    lines = []
    for name, text in (("why", error.why), ("fix", error.fix)):
        if text:
            first, *more = clean_lines(text).split("\n")
            lines += [f"  {name}: {first}", *(f"       {line}" for line in more)]
    return lines


def error_record(error: MgmtctlError) -> dict[str, Any]:
    """The JSON form of an error: problem, type, exit code, and whatever facts it has."""
    record: dict[str, Any] = {"error": error.problem, "type": kind_name(error), "exit": exit_code(error)}
    for name, value in (("why", error.why), ("fix", error.fix), ("code", error.code)):
        if value:
            record[name] = value
    return {**record, **error.facts()}


def usage_error(error: Exception) -> QuestionError:
    """A usage error of the parser in our words."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "mgmtctl"
    option = getattr(error, "option_name", None)
    if option and type(error).__name__ == "NoSuchOption":
        near = _nearest(option, context)
        fix = f"did you mean `{near}`?  {path} --help" if near else f"{path} --help"
        return QuestionError(f"no option `{option}`", fix=fix)
    return QuestionError(_our_words(_message(error)), fix=f"{path} --help")


def _nearest(option: str, context: Any) -> str | None:
    from mgmtctl.domain.resources import closest

    params = context.command.get_params(context) if context is not None else ()
    names = [name for param in params if param.param_type_name == "option" for name in param.opts]
    return closest(option, names)


def _message(error: Exception) -> str:
    param = getattr(error, "param", None)
    if type(error).__name__ == "MissingParameter" and param is not None:
        name = param.human_readable_name if param.param_type_name == "argument" else "/".join(param.opts)
        return f"{param.param_type_name} {name} is missing"
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    return str(text)


def _our_words(message: str) -> str:
    text = " ".join(message.split()).rstrip(".").replace("'", "`")
    return text[:1].lower() + text[1:]


def _label(word: str, color: str) -> str:
    return f"{_RED}{word}:{_PLAIN}" if wants_color(sys.stderr, color) else f"{word}:"
