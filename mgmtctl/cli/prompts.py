"""Asking and reading: passwords, yes or no, input files and lists of names.

Rules (design: command line, safety): no secret on the command line; without a terminal nothing is ever asked, the
error names the missing flag; a password file is a regular file of one's own with mode 0600, and no link.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

from mgmtctl.domain.errors import InvalidError, MgmtctlError, QuestionError, UnavailableError

LARGEST_PASSWORD = 4096
LARGEST_INPUT = 64 * 1024 * 1024


def read_password(prompt: str, file: Path | None, stdin: bool, confirm: bool = False) -> str:
    """A password from the named source, else from the terminal without echo (twice to confirm). QuestionError (2)."""
    if file is not None and stdin:
        raise QuestionError("`--password-file` and `--password-stdin` exclude each other")
    if file is not None:
        return password_in(file)
    if stdin:
        return _without_newline(_from_stdin(LARGEST_PASSWORD + 1), "stdin")
    if not sys.stdin.isatty():
        raise QuestionError(
            "a password is needed and there is no terminal to ask at",
            fix="--password-stdin or --password-file",
        )
    import getpass

    password = getpass.getpass(f"{prompt}: ", stream=sys.stderr)
    if confirm and getpass.getpass(f"{prompt}, again: ", stream=sys.stderr) != password:
        raise InvalidError("the two passwords differ")
    return password


def password_in(path: Path) -> str:
    """The password in a file, its final newline dropped. UnavailableError when the file is not safe to use."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        why = "it is a link" if os.path.islink(path) else error.strerror
        raise UnavailableError(f"cannot use the password file `{path}`", "configuration", why=why) from None
    try:
        facts = os.fstat(handle)
        fault = _fault(facts)
        if fault:
            fix = (
                f"chmod 600 {path}" if facts.st_uid == os.geteuid() and stat.S_ISREG(facts.st_mode) else None
            )
            raise UnavailableError(
                f"the password file `{path}` is refused", "configuration", why=fault, fix=fix
            )
        return _without_newline(os.read(handle, LARGEST_PASSWORD + 1), str(path))
    finally:
        os.close(handle)


def _fault(facts: os.stat_result) -> str | None:
    if not stat.S_ISREG(facts.st_mode):
        return "it is no regular file"
    if facts.st_uid != os.geteuid():
        return f"it belongs to system user {facts.st_uid}"
    mode = stat.S_IMODE(facts.st_mode)
    return f"mode {mode:04o} opens it to others, expected 0600" if mode & 0o077 else None


def _without_newline(data: bytes, place: str) -> str:
    if len(data) > LARGEST_PASSWORD:
        raise InvalidError(f"{place}: more than {LARGEST_PASSWORD} bytes is no password")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidError(f"{place}: the password is not UTF-8") from None
    return text.removesuffix("\n").removesuffix("\r")


def confirm(question: str) -> None:
    """Return when the user says yes at the terminal; QuestionError (2) without a terminal, else MgmtctlError (1)."""
    asked = question.rstrip("? ")
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        statement = asked.removesuffix("go on").rstrip(", ") or asked
        raise QuestionError(f"{statement}: there is no terminal to ask at", fix="--yes")
    sys.stderr.write(f"{asked}? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise MgmtctlError("nothing was changed", why="the answer was not yes")


def read_input(path: str, limit: int = LARGEST_INPUT) -> tuple[bytes, str]:
    """The bytes of a file, or of stdin for `-`, and the name to show. UnavailableError (io), InvalidError (too big)."""
    name = "stdin" if path == "-" else path
    try:
        if path == "-":
            data = _from_stdin(limit + 1)
        else:
            with open(path, "rb") as file:
                data = file.read(limit + 1)
    except OSError as error:
        if isinstance(error, (FileNotFoundError, IsADirectoryError, PermissionError)):
            raise InvalidError(f"{name}: cannot be read", why=error.strerror) from None
        raise UnavailableError(f"{name}: cannot be read", "io", why=error.strerror) from None
    except ValueError:  # a NUL in the name
        raise InvalidError("the path holds a NUL character") from None
    if len(data) > limit:
        raise InvalidError(f"{name}: larger than {limit} bytes")
    return data, name


def _from_stdin(most: int) -> bytes:
    """So many bytes of stdin, or fewer; UnavailableError (io) when it is closed or fails: that is no empty file."""
    try:
        return sys.stdin.buffer.read(most)
    except OSError as error:
        raise UnavailableError("stdin: cannot be read", "io", why=error.strerror or str(error)) from None


def expand(references: list[str]) -> list[str]:
    """References as given; a single `-` is replaced by the lines of stdin. QuestionError for bytes that are no text."""
    if references != ["-"]:
        return references
    try:
        lines = _from_stdin(LARGEST_INPUT).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise QuestionError("stdin: expected one name or id per line, got bytes that are no UTF-8") from None
    return [line.strip() for line in lines if line.strip()]
