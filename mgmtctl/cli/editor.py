"""Editing a document in the editor of the user: $VISUAL, else $EDITOR, else vi.

Rules: only at a terminal; the text lies in a file that only its owner may read, and is removed at the end; nothing is
saved before it was checked, and what was changed by somebody else meanwhile is a conflict.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mgmtctl.cli import errors, prompts
from mgmtctl.cli.documents import Document, parse_document
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
            _run_editor(path)
            try:
                document = parse_document(path.read_bytes(), path.name)
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


def _run_editor(path: Path) -> None:
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
