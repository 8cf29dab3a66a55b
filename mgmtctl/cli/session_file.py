"""The session file: the token of one system user for one data folder, mode 0600 (D 1).

Rules: it lies under the state folder, named by the SHA-256 of the data folder's path; it is refused when it is a link,
belongs to somebody else or is open to others, and so is its folder; it is replaced whole. Shell completion reads it,
so this module imports next to nothing.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mgmtctl.domain.errors import UnavailableError
    from mgmtctl.settings import Settings

LARGEST = 65_536


def sha256(data: bytes) -> str:
    """SHA-256 in hexadecimal digits, from the interpreter's own code: hashlib would load OpenSSL."""
    try:
        from _sha2 import sha256 as made  # type: ignore[import-not-found]  # Python 3.12 and newer
    except ImportError:
        try:
            from _sha256 import sha256 as made  # type: ignore[import-not-found]
        except ImportError:
            from hashlib import sha256 as made
    digest: str = made(data).hexdigest()
    return digest


def session_path(settings: Settings) -> str:
    """Where the session of these settings is kept, whether it exists or not."""
    return path_in(os.environ.get("MGMTCTL_STATE") or str(settings.state), str(settings.data))


def path_in(state: str, data: str) -> str:
    """The session file in a state folder for a data folder."""
    return os.path.join(os.path.abspath(state), "sessions", sha256(os.fsencode(data)))


def read_token(path: str) -> str | None:
    """The stored token, None when there is none. UnavailableError (configuration) for a file that is not safe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(path, error.strerror or "it cannot be opened") from None
    try:
        _require_private(os.path.dirname(path), os.stat(os.path.dirname(path)), 0o022)
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise _refused(path, "it is no regular file")
        _require_private(path, facts, 0o077)
        return os.read(handle, LARGEST).decode("ascii", "replace").strip() or None
    finally:
        os.close(handle)


def write_token(path: str, token: str) -> None:
    """Keep a token in place of the one before. UnavailableError (io, configuration)."""
    folder = os.path.dirname(path)
    staged = os.path.join(folder, f".new.{os.urandom(6).hex()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _require_private(folder, os.stat(folder), 0o022)
        handle = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, token.encode("ascii") + b"\n")
        finally:
            os.close(handle)
        os.replace(staged, path)
    except OSError as error:
        if os.path.exists(staged):
            os.unlink(staged)
        raise _failed("write", path, error) from None


def remove_token(path: str) -> bool:
    """Forget the stored token; False when there was none. UnavailableError (io)."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _failed("remove", path, error) from None
    return True


def _require_private(path: str, facts: os.stat_result, forbidden: int) -> None:
    if facts.st_uid != os.geteuid():
        raise _refused(path, f"it belongs to system user {facts.st_uid}")
    if stat.S_IMODE(facts.st_mode) & forbidden:
        raise _refused(path, f"mode {stat.S_IMODE(facts.st_mode):04o} opens it to others")


def _refused(path: str, why: str) -> UnavailableError:
    from mgmtctl.domain.errors import UnavailableError

    fix = "remove it and log in again"
    return UnavailableError(f"the session file `{path}` is refused", "configuration", why=why, fix=fix)


def _failed(verb: str, path: str, error: OSError) -> UnavailableError:
    from mgmtctl.domain.errors import UnavailableError

    if os.path.isdir(path):
        return _refused(path, "it is a folder")
    return UnavailableError(f"cannot {verb} the session file `{path}`", "io", why=error.strerror)
