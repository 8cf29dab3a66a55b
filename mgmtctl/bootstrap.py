"""From settings to the open service: store, folders, key, log and clock in one Context.

Rules: a data folder, store or key that somebody else owns or may write is refused before anything is read (D 1).
`create_service` builds the store aside and links it into place whole, so that an `init` that was killed leaves nothing
that counts, and of two at once one wins.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import ConflictError, UnavailableError
from mgmtctl.operations.context import Context, Door

if TYPE_CHECKING:
    from mgmtctl.settings import Settings

FOLDER_MODE = 0o700
OTHERS_MAY_WRITE = 0o022
OTHERS_MAY_READ = 0o077


def open_context(
    settings: Settings, *, dry_run: bool = False, reason: str | None = None, door: Door | None = None
) -> Context:
    """The service of these settings for one caller, nobody logged in. UnavailableError (configuration, io)."""
    if not settings.initialised:
        if settings.data.is_dir():
            # Somebody else's folder is closed to us and only looks empty.
            require_own(settings.data, OTHERS_MAY_WRITE)
        raise UnavailableError(
            f"`{settings.data}` holds no service",
            "configuration",
            fix="run `mgmtctl init`, or set MGMTCTL_HOME",
        )
    require_own(settings.data, OTHERS_MAY_WRITE)
    require_own(settings.store, OTHERS_MAY_WRITE)
    require_own(settings.key, OTHERS_MAY_READ)
    return _context(settings, settings.store, dry_run=dry_run, reason=reason, door=door)


@contextmanager
def create_service(settings: Settings, *, reason: str | None = None) -> Iterator[Context]:
    """A new service with an empty store; it comes into being when the block ends well.

    ConflictError when there is one already, or when another `init` is at work.
    """
    require_new(settings)
    _make_folder(settings.data)
    require_own(settings.data, OTHERS_MAY_WRITE)
    settings.data.chmod(FOLDER_MODE)
    with _alone(settings.data):
        require_new(settings)
        _make_parts(settings)
        staged = settings.data / ".store.db.new"
        _remove_store(staged)
        try:
            context = _context(settings, staged, reason=reason, create=True)
            try:
                yield context
            finally:
                context.store.close()
            _publish(staged, settings.store)
        finally:
            _remove_store(staged)


def require_new(settings: Settings) -> None:
    """ConflictError when `init` has run here already."""
    if settings.initialised:
        raise ConflictError(
            f"`{settings.data}` holds a service already",
            fix="mgmtctl login, or mgmtctl recover for a lost password",
        )


def require_own(path: Path, forbidden: int) -> None:
    """UnavailableError (configuration) unless `path` is this system user's and grants others none of `forbidden`."""
    try:
        facts = os.stat(path)
    except OSError as error:
        raise UnavailableError(f"cannot use `{path}`", "configuration", why=error.strerror) from None
    if facts.st_uid != os.geteuid():
        raise UnavailableError(
            f"`{path}` belongs to another system user",
            "configuration",
            why=f"owner {facts.st_uid}, you are {os.geteuid()}",
            fix="work as that user, or set MGMTCTL_HOME",
        )
    mode = stat.S_IMODE(facts.st_mode)
    if mode & forbidden:
        verb = "read" if mode & OTHERS_MAY_READ & ~OTHERS_MAY_WRITE & forbidden else "write"
        raise UnavailableError(
            f"`{path}` is open to others",
            "configuration",
            why=f"mode {mode:04o} lets them {verb} it",
            fix=f"chmod go-{'rwx' if forbidden == OTHERS_MAY_READ else 'w'} {path}",
        )


def _context(
    settings: Settings,
    store: Path,
    *,
    dry_run: bool = False,
    reason: str | None = None,
    door: Door | None = None,
    create: bool = False,
) -> Context:
    import time

    from mgmtctl.folders import Folders
    from mgmtctl.logs import RequestLog
    from mgmtctl.store.store import Store
    from mgmtctl.tokens import SigningKey

    opened = Store(str(store), create=create)
    opened.dry_run = dry_run
    return Context(
        store=opened,
        folders=Folders(settings.shared, settings.agents, settings.data),
        keys=SigningKey.load(settings.key),
        log=RequestLog(settings.logs, settings.log_forms),
        now=time.time,
        # Whoever may open the data folder owns it: `require_own` has seen to that.
        door=door or Door(uid=os.getuid(), owner=True),
        dry_run=dry_run,
        reason=reason,
    )


def _make_parts(settings: Settings) -> None:
    """Folders and key. What an init that was killed has left is used, or made anew."""
    from mgmtctl.tokens import SigningKey

    for folder in (settings.agents, settings.revisions, settings.logs):
        _make_folder(folder)
    if not settings.key.exists():
        SigningKey.create(settings.key)
    require_own(settings.key, OTHERS_MAY_READ)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=FOLDER_MODE, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"cannot make the folder `{path}`", "io", why=error.strerror) from None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep a second init out, by a lock on the folder itself: nothing is left behind."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConflictError(f"another init is at work in `{folder}`") from None
        yield
    finally:
        os.close(handle)


def _publish(staged: Path, store: Path) -> None:
    os.chmod(staged, 0o600)
    for path in (staged, staged.parent):
        handle = os.open(path, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)
    try:
        os.link(staged, store)
    except FileExistsError:
        raise ConflictError(f"`{store}` exists") from None


def _remove_store(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
