"""Editing a document in the editor of the user: $VISUAL, else $EDITOR, else vi.

Rules: only at a terminal; the text lies in a file that only its owner may read, and is removed at the end; nothing is
saved before it was checked, and what was changed by somebody else meanwhile is a conflict. An editor is any program:
what it leaves may be no text, no file, or nothing at all.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mgmtctl.cli import errors, prompts
from mgmtctl.cli.documents import MAX_BYTES, Document, parse_document
from mgmtctl.domain.errors import ConflictError, InvalidError, QuestionError, UnavailableError

if TYPE_CHECKING:
    from mgmtctl.cli.session import CliSession


def edit(
    session: CliSession,
    noun: str,
    what: str,
    read: Callable[[], dict[str, Any]],
    save: Callable[[Document], None],
) -> None:
    """Let the user change what `read` gives, as JSON, and hand it to `save`, again after each refusal he wants to mend.

    `what` names it in messages, `noun` in the file's name and the next step. QuestionError without a terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise QuestionError(
            f"editing {what} needs a terminal", fix=f"without one: mgmtctl {noun} set ... -f FILE"
        )
    before = read()
    text = json.dumps(before, indent=2, ensure_ascii=False) + "\n"
    with tempfile.TemporaryDirectory(prefix="mgmtctl-") as folder:
        path = Path(folder, f"{noun}.json")
        path.write_text(text, encoding="utf-8")
        while True:
            run_editor(path)
            try:
                data = read_edited(path, MAX_BYTES, path.name)
                if data is None:
                    session.say("nothing to save: the editor left no file")
                    return
                document = parse_document(data, path.name)
                if document.value == before:
                    session.say("nothing changed")
                    return
                _require_unchanged(what, before, read)
                save(document)
                return
            except InvalidError as error:
                errors.say_error(error)
                prompts.confirm("edit it again")


def _require_unchanged(what: str, before: dict[str, Any], read: Callable[[], dict[str, Any]]) -> None:
    if read() != before:
        raise ConflictError(f"{what} was changed meanwhile", fix="edit it again")


def run_editor(path: Path) -> None:
    """Let the user change a file in his editor; UnavailableError when it cannot be started or fails."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        ended = subprocess.run([*shlex.split(command), str(path)], check=False)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UnavailableError(
            f"cannot start the editor `{command}`", "io", why=reason, fix="set EDITOR"
        ) from None
    if ended.returncode:
        raise UnavailableError(
            f"the editor `{command}` ended with {ended.returncode}", "io", why="nothing was saved"
        )


def read_edited(path: Path, limit: int, name: str) -> bytes | None:
    """What the editor left in a file, None when it left none; `name` is what is called too large.

    InvalidError for more than `limit` bytes, UnavailableError (io) for what is no regular file or cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, "it is a symlink" if path.is_symlink() else error.strerror) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(
                path, f"it is {'a folder' if stat.S_ISDIR(status.st_mode) else 'no regular file'}"
            )
        if status.st_size > limit:
            raise InvalidError(f"{name}: {status.st_size} bytes are too many, at most {limit} are taken")
        with open(handle, "rb", closefd=False) as file:
            return file.read(limit + 1)
    except OSError as error:
        raise _unreadable(path, error.strerror) from None
    finally:
        os.close(handle)


def _unreadable(path: Path, why: str | None) -> UnavailableError:
    return UnavailableError(f"cannot read what the editor left: `{path}`", "io", why=why)
