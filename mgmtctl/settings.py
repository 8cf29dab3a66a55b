"""Where things are: folders and log forms, from environment, files and defaults, each with its origin.

Rules: `MGMTCTL_*`, else the user's config.toml, else /etc/mgmtctl/config.toml, else the default; `MGMTCTL_HOME` puts
everything into one folder and knows only the config.toml in it. Nothing is read from the working directory. A file that
names a setting of the store, or an unknown one, is an error that says so. Design: command line, Settings.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mgmtctl.domain.errors import InvalidError, MgmtctlError, QuestionError, UnavailableError

SYSTEM_FILE = Path("/etc/mgmtctl/config.toml")
LOG_FORMS = ("plain", "json")
DEFAULT = "default"
LARGEST_FILE = 1 << 20


class FileSetting(NamedTuple):
    """A setting of files and environment: its variable, what it means, and the reader of its text."""

    variable: str
    summary: str
    read: Callable[[str], str]


class Value(NamedTuple):
    """A setting with the value that holds and where it comes from: a variable, a file, or `default`."""

    name: str
    value: str
    origin: str

    def record(self) -> dict[str, object]:
        """Plain form."""
        return {"name": self.name, "value": self.value, "origin": self.origin}


def _folder(text: str) -> str:
    path = os.path.expanduser(text)
    if not os.path.isabs(path):
        raise InvalidError(f"expected an absolute path, got `{text}`")
    return os.path.normpath(path)


def _log_forms(text: str) -> str:
    forms = [form.strip() for form in text.split(",")]
    if not set(forms) <= set(LOG_FORMS) or len(set(forms)) != len(forms):
        raise InvalidError(f"expected `plain`, `json` or `plain,json`, got `{text}`")
    return ",".join(sorted(forms, reverse=True))


SETTINGS: dict[str, FileSetting] = {
    "data_dir": FileSetting("MGMTCTL_DATA_DIR", "the data folder: store, key, agents, revisions", _folder),
    "shared_dir": FileSetting("MGMTCTL_SHARED_DIR", "the folder of the groups' shared files", _folder),
    "log_dir": FileSetting("MGMTCTL_LOG_DIR", "the folder of the request log", _folder),
    "logs.format": FileSetting(
        "MGMTCTL_LOGS_FORMAT", "forms of the request log: plain, json or both", _log_forms
    ),
}


class Settings:
    """The settings for one process; `environ` is read once. UnavailableError (configuration) for a wrong file."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = dict(os.environ if environ is None else environ)
        home = self._environ.get("MGMTCTL_HOME")
        self.home = Path(os.path.abspath(os.path.expanduser(home))) if home else None
        self._is_root = self.home is None and os.geteuid() == 0

    @property
    def user_file(self) -> Path:
        """The file that `config set` writes."""
        if self.home is not None:
            return self.home / "config.toml"
        return SYSTEM_FILE if self._is_root else self._xdg("XDG_CONFIG_HOME", ".config") / "config.toml"

    @property
    def data(self) -> Path:
        """The data folder."""
        return Path(self.value("data_dir").value)

    @property
    def shared(self) -> Path:
        """The folder with one folder per group ({shared_dir})."""
        return Path(self.value("shared_dir").value)

    @property
    def logs(self) -> Path:
        """The folder of the request log."""
        return Path(self.value("log_dir").value)

    @property
    def log_forms(self) -> tuple[str, ...]:
        """`plain`, `json` or both."""
        return tuple(self.value("logs.format").value.split(","))

    @property
    def store(self) -> Path:
        """The store's file."""
        return self.data / "store.db"

    @property
    def key(self) -> Path:
        """The key that tokens are signed with."""
        return self.data / "key"

    @property
    def agents(self) -> Path:
        """The folder of the agent folders."""
        return self.data / "agents"

    @property
    def revisions(self) -> Path:
        """The folder of old contents of shared files."""
        return self.data / "revisions"

    @property
    def state(self) -> Path:
        """What belongs to the system user and not to the service: session files."""
        if self.home is not None:
            return self.home / "state"
        return self._xdg("XDG_STATE_HOME", ".local/state")

    @property
    def initialised(self) -> bool:
        """Whether `init` has run here."""
        return os.path.exists(self.store)

    def values(self) -> list[Value]:
        """Every setting as it holds."""
        return [self.value(name) for name in SETTINGS]

    def value(self, name: str) -> Value:
        """One setting as it holds; InvalidError for an unknown name or one of the store."""
        setting = SETTINGS.get(name)
        if setting is None:
            raise unknown(name)
        text = self._environ.get(setting.variable)
        if text:
            return Value(
                name, self._read(name, os.path.abspath(text) if _is_path(name) else text), setting.variable
            )
        for path, found in self._files:
            if name in found:
                return Value(name, found[name], str(path))
        by_home = self.home is not None and _is_path(name)
        return Value(name, self._default(name), "MGMTCTL_HOME" if by_home else DEFAULT)

    @cached_property
    def _files(self) -> list[tuple[Path, dict[str, str]]]:
        paths = [self.user_file] if self.home is not None else [self.user_file, SYSTEM_FILE]
        return [(path, read_file(path)) for path in dict.fromkeys(paths)]

    def _read(self, name: str, text: str) -> str:
        try:
            return SETTINGS[name].read(text)
        except InvalidError as error:
            raise _wrong(f"{SETTINGS[name].variable}: {error.problem}") from None

    def _default(self, name: str) -> str:
        if name == "logs.format":
            return "plain"
        if name == "data_dir":
            return str(self._standard_data)
        if name == "log_dir" and self.home is None and self.data == self._standard_data:
            return (
                "/var/log/mgmtctl"
                if self._is_root
                else str(self._xdg("XDG_STATE_HOME", ".local/state") / "log")
            )
        return str(self.data / {"shared_dir": "shared", "log_dir": "log"}[name])

    @property
    def _standard_data(self) -> Path:
        if self.home is not None:
            return self.home
        return Path("/var/lib/mgmtctl") if self._is_root else self._xdg("XDG_DATA_HOME", ".local/share")

    def _xdg(self, variable: str, default: str) -> Path:
        base = self._environ.get(variable, "")
        if not os.path.isabs(base):
            base = os.path.join(self._environ.get("HOME") or os.path.expanduser("~"), default)
        return Path(base, "mgmtctl")


def read_file(path: Path) -> dict[str, str]:
    """The settings in a file, {} when there is none. UnavailableError (configuration) that names every fault."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _wrong(f"cannot read `{path}`", error.strerror) from None
    try:
        _require_safe(path, os.fstat(handle))
        data = os.read(handle, LARGEST_FILE)
    finally:
        os.close(handle)
    return parse(data, str(path))


def _require_safe(path: Path, facts: os.stat_result) -> None:
    """A file that says where things lie is obeyed only when nobody but this user, or root, can have written it."""
    if not stat.S_ISREG(facts.st_mode):
        raise _wrong(f"`{path}` is no regular file")
    if facts.st_size > LARGEST_FILE:
        raise _wrong(f"`{path}` has more than {LARGEST_FILE} bytes")
    if facts.st_uid not in (0, os.geteuid()):
        raise _wrong(
            f"`{path}` belongs to another system user", f"owner {facts.st_uid}, you are {os.geteuid()}"
        )
    if stat.S_IMODE(facts.st_mode) & 0o022:
        raise _wrong(f"`{path}` is open to others", "they may write it", f"chmod go-w {path}")


def parse(data: bytes, place: str) -> dict[str, str]:
    """The settings in a TOML text; `place` names it in errors. UnavailableError (configuration)."""
    import tomli

    try:
        document = tomli.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        line = (
            f":{error.lineno}:{error.colno}" if hasattr(error, "lineno") and hasattr(error, "colno") else ""
        )
        raise _wrong(f"{place}{line}: not TOML", getattr(error, "msg", None) or str(error)) from None
    found: dict[str, str] = {}
    faults: list[MgmtctlError] = []
    for name, value in _flat(document):
        try:
            found[name] = _checked(name, value)
        except InvalidError as error:
            faults.append(error)
    if faults:
        rest = "; ".join(fault.problem for fault in faults[1:])
        raise _wrong(f"{place}: {faults[0].problem}", rest or faults[0].why, faults[0].fix)
    return found


def write_setting(settings: Settings, name: str, text: str, *, keep: bool = True) -> Value:
    """Set one setting in the user's file, every other line kept (`keep=False`: only check that it can be done)."""
    value = _checked(name, text)
    path = settings.user_file
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    after = _edited(before, name, value)
    if parse(after.encode(), str(path)) != {**parse(before.encode(), str(path)), name: value}:
        raise _wrong(
            f"cannot set `{name}` in `{path}`", "the file is written in an unusual form", "edit it by hand"
        )
    if keep:
        _replace(path, after)
    return Value(name, value, str(path))


def unknown(name: str) -> QuestionError:
    """The error for a name that is no setting of files: of the store, misspelt, or nothing."""
    from mgmtctl.domain.resources import closest
    from mgmtctl.domain.settings import STORE_SETTINGS

    if name in STORE_SETTINGS:
        return QuestionError(f"`{name}` lives in the store", why="it decides what is allowed")
    near = closest(name, SETTINGS)
    hint = f"did you mean `{near}`?" if near else f"one of {', '.join(SETTINGS)}"
    return QuestionError(f"unknown setting `{name}`", fix=hint)


def _checked(name: str, value: object) -> str:
    if name not in SETTINGS:
        raise unknown(name)
    if not isinstance(value, str):
        raise InvalidError(f"{name}: expected text, got `{value}`")
    try:
        return SETTINGS[name].read(value)
    except InvalidError as error:
        raise InvalidError(f"{name}: {error.problem}") from None


def _flat(document: Mapping[str, Any], prefix: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for key, value in document.items():
        name = prefix + key
        if isinstance(value, dict) and (value or any(known.startswith(f"{name}.") for known in SETTINGS)):
            found += _flat(value, f"{name}.")
        else:
            found.append((name, value))
    return found


def _edited(text: str, name: str, value: str) -> str:
    """The text with one setting replaced in its line, or added where TOML allows it."""
    import json

    assigned = f"= {json.dumps(value, ensure_ascii=False)}"
    table, _, key = name.rpartition(".")
    lines = text.splitlines()
    headers = _tables(lines)
    for number, old in enumerate(lines):
        left = old.partition("=")[0].strip()
        if "=" in old and left == (
            key if headers[number] == table else name if not headers[number] else None
        ):
            lines[number] = f"{left} {assigned}"
            break
    else:
        inside = bool(table) and table in headers
        lines.insert(headers.index(table) + 1 if inside else 0, f"{key if inside else name} {assigned}")
    return "\n".join(lines) + "\n"


def _tables(lines: list[str]) -> list[str]:
    """For each line the table it stands in; a header line stands in its own table."""
    import re

    here, found = "", []
    for line in lines:
        header = re.match(r"\s*\[([^\[\]]+)\]", line)
        here = header[1].strip() if header else here
        found.append(here)
    return found


def _replace(path: Path, text: str) -> None:
    staged = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(
            os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(text)
        staged.replace(path)
    except OSError as error:
        staged.unlink(missing_ok=True)
        raise UnavailableError(f"cannot write `{path}`", "io", why=error.strerror) from None


def _is_path(name: str) -> bool:
    return SETTINGS[name].read is _folder


def _wrong(problem: str, why: str | None = None, fix: str | None = None) -> UnavailableError:
    return UnavailableError(problem, "configuration", why=why, fix=fix)
