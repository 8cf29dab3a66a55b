"""Errors as text or as one JSON object on stderr, and the command line's own usage errors as ours.

Rules (design: command line, errors): one line, then `why:` and `fix:`; findings as `path:line:col: ...`; whatever the
error holds, a terminal sees no control character and a script one line per fact.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from mgmtctl.cli.exit_codes import exit_code, kind_name
from mgmtctl.cli.output import wants_color, width_of
from mgmtctl.cli.records import compact
from mgmtctl.cli.text import clean, clean_lines, few, folded
from mgmtctl.domain.errors import DeniedError, InvalidError, MgmtctlError, QuestionError

if TYPE_CHECKING:
    from mgmtctl.domain.findings import Finding

# Typer's base of all usage errors; it has no public name.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]
_RED, _PLAIN = "\x1b[31m", "\x1b[0m"
_LABEL = "error:"
_REASON = len("  why: ")
_MOST_IDS_SHOWN = 10


def say_error(
    error: MgmtctlError,
    *,
    as_json: bool = False,
    color: str = "auto",
    code: int | None = None,
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Write one error to stderr; `code`: the process ends with this instead of the error's own.

    `beside`: what its JSON object says too.
    """
    if as_json:
        sys.stderr.write(compact({**error_record(error, code), **(beside or {})}) + "\n")
        return
    width = width_of(sys.stderr)
    lines = [clean(finding.text()) for finding in error.findings] if isinstance(error, InvalidError) else []
    _write([*(folded(line, width) for line in lines), *_told(error, "", color)])


def say_failures(
    failures: Sequence[Any],
    code: int,
    *,
    as_json: bool = False,
    color: str = "auto",
    beside: Mapping[str, Any] | None = None,
) -> None:
    """Write the items that failed (`Failure` of the operations), with their reasons; `beside` as for an error."""
    if is_one(failures):
        return say_error(failures[0].error, as_json=as_json, color=color, code=code, beside=beside)
    if as_json:
        failed = [failure.record() for failure in failures]
        count = sum(len(failure.ids) for failure in failures)
        record = {"error": f"{count} failed", "type": "items", "exit": code, "failed_items": failed}
        findings = dict.fromkeys(found for failure in failures for found in _findings(failure.error))
        if findings:
            record["findings"] = [finding.record() for finding in findings]
        sys.stderr.write(compact({**record, **(beside or {})}) + "\n")
        return None
    for failure in failures:
        error: MgmtctlError = failure.error
        names = clean(few(failure.ids, _MOST_IDS_SHOWN))
        _write(_told(error, "" if _says_which(failure) else f"{names}: ", color))
    return None


def is_one(failures: Sequence[Any]) -> bool:
    """Whether it is a single item that failed, with a reason that names it: an error like any other."""
    return len(failures) == 1 and _says_which(failures[0])


def _says_which(failure: Any) -> bool:
    """Whether a reason of one item says which: by what was asked for, or by the name of a reserved thing."""
    problem = failure.error.problem
    return len(failure.ids) == 1 and (failure.ids[0] in problem or problem.endswith("` is reserved"))


def _findings(error: MgmtctlError) -> Sequence[Finding]:
    return error.findings if isinstance(error, InvalidError) else ()


def _write(lines: Iterable[str]) -> None:
    sys.stderr.write("\n".join(lines) + "\n")


def _told(error: MgmtctlError, place: str, color: str) -> list[str]:
    """An error with the lines under it, on a terminal no wider than it."""
    width = width_of(sys.stderr)
    first = folded(f"{_LABEL} {place}{clean(error.problem)}", width)
    if wants_color(sys.stderr, color):
        first = first.replace(_LABEL, f"{_RED}{_LABEL}{_PLAIN}", 1)
    return [first, *_reasons(error, width)]


def _reasons(error: MgmtctlError, width: int) -> list[str]:
    """The lines under an error; a reason of several lines (a filter with its caret) keeps them."""
    lines = []
    for name, text in (("why", error.why), ("fix", error.fix)):
        if text and isinstance(error, DeniedError):
            lines += _explained(name, text, width)
        elif text:
            first, *more = clean_lines(text).split("\n")
            lines.append(f"  {name}: {first}" if more else folded(f"  {name}: {first}", width, _REASON))
            lines += [f"{' ' * _REASON}{line}" for line in more]
    return lines


def _explained(name: str, text: str, width: int) -> list[str]:
    """The reasons of a refusal, which may be those of a decision, beside their name."""
    from mgmtctl.cli.explained import wrapped

    first, *more = wrapped(text.split("\n"), width, _REASON)
    return [f"  {name}: {first.lstrip()}", *more]


def error_record(error: MgmtctlError, code: int | None = None) -> dict[str, Any]:
    """The JSON form of an error: problem, type, the exit code of the process, and whatever facts it has."""
    ends_with = exit_code(error) if code is None else code
    record: dict[str, Any] = {"error": error.problem, "type": kind_name(error), "exit": ends_with}
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
        return QuestionError(f"no option `{option}`", fix=_instead(option, path, context))
    return QuestionError(_our_words(_message(error)), fix=f"{path} --help")


def _instead(option: str, path: str, context: Any) -> str:
    """What to write in place of an option that this command, or noun, does not have."""
    near = _nearest(option, context)
    if near:
        return f"did you mean `{near}`?  {path} --help"
    if hasattr(getattr(context, "command", None), "list_commands"):
        rest = "VERB" if context.parent else "NOUN VERB"
        return f"options go after the command: {path} {rest} {option}"
    return f"{path} --help"


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
