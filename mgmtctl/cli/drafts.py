"""The text that `mgmtctl files edit` works on: a file of its own, never lost, and how to go on after a conflict."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mgmtctl.cli.commands import CliSession

_HUNG_UP = 129
_NEW_CONF = b"<agent_config>\n</agent_config>\n"


def last_revision(session: CliSession, group: str) -> int | None:
    """The last revision of a group; None while it has none."""
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.operations import history

    found = history.list_revisions(session.context, group, query=ListQuery(limit=1)).affected
    return found[0].revision.number if found else None


@contextmanager
def going_on(session: CliSession, target: str, path: Path, began: int | None) -> Iterator[None]:
    """When the file was changed since revision `began`, say how to go on with the text that is kept."""
    from mgmtctl.domain.errors import ConflictError

    try:
        yield
    except ConflictError as error:
        number = last_revision(session, target.partition("/")[0])
        if began is not None and number is not None and number != began:
            error.why = f"you began with r{began}, it is r{number}"
            error.fix = (
                f"mgmtctl files diff {target} --revision {began} --to {number}, bring that into what is kept,"
                f" then mgmtctl files put {target} {path} --if-match r{number}"
            )
        raise


@contextmanager
def draft(session: CliSession, name: str, before: bytes | None) -> Iterator[Path]:
    """A file that only its owner may read, with the text to edit; kept when it was changed and is not put."""
    folder = Path(tempfile.mkdtemp(prefix="mgmtctl-"))
    path = folder / name.rpartition("/")[2]
    start = _NEW_CONF if before is None else before
    path.write_bytes(start)
    try:
        with _hung_up():
            yield path
    except BaseException:
        with contextlib.suppress(OSError):  # nobody is there to be told
            _leave(path, start, session.warn)
        raise
    if session.dry_run:
        _leave(path, start, session.say)
    else:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _hung_up() -> Iterator[None]:
    """Inside, a terminal that goes away (SIGHUP) ends this as an exception does, unless it is to be ignored (nohup)."""

    def ended(number: int, frame: object) -> None:
        raise SystemExit(_HUNG_UP)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGHUP)
    if before != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, ended)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


def _leave(path: Path, start: bytes, tell: Callable[[str], None]) -> None:
    """Tell where the text is that was edited, or the editor's own copy of it; take it all away when nothing was."""
    names = os.listdir(path.parent) if path.parent.is_dir() else []
    if os.path.lexists(path) and not _holds(path, start):
        tell(f"what you edited is kept in {path}")
    elif set(names) - {path.name}:
        tell(f"what you edited is kept in {path.parent}")
    else:
        shutil.rmtree(path.parent, ignore_errors=True)


def _holds(path: Path, start: bytes) -> bool:
    """Whether a file has these bytes; False for what is no file, or cannot be read."""
    from mgmtctl.cli.editor import read_edited
    from mgmtctl.domain.errors import MgmtctlError

    try:
        return read_edited(path, len(start), path.name) == start
    except MgmtctlError:
        return False
