"""Values for shell completion: `mgmtctl --complete KIND [PREFIX [FORM [FIRST]]]` prints `value TAB description` lines.

FORM `bare` leaves the descriptions out; FIRST is the first argument on the line, which says whose revisions are meant.

Rules (design: command line, completion): what is offered is what the acting session may read; nothing is said and
nothing fails when the store is missing, locked or not ours, or when nobody is logged in. A TAB must answer in
milliseconds, so this path imports no Typer and reads the store through `store.completion` only. A login of its own
(MGMTCTL_USER) would cost a password hash: then nothing is offered.
"""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mgmtctl.store.completion import Reader

_VALUES_OF_KINDS = {"agent:id": "agents", "agent:group": "groups", "group:id": "groups"}
_OWN_STORE = ("agents", "users", "roles", "policies", "rules")
_SYSTEM_FILE = "/etc/mgmtctl/config.toml"
_MOST_FILES = 10_000
_SHOWN = bytes(range(32, 127)) + b"\t\n"


def complete(arguments: list[str]) -> int:
    """Print the values of `KIND [PREFIX [FORM [FIRST]]]`; always 0, silent about anything that goes wrong."""
    kind, prefix, form, first = [*arguments, "", "", "", ""][:4]
    try:
        text = _printable(_values(kind, prefix, first))
        if form == "bare" and "\t" in text:
            text = "\n".join([line.partition("\t")[0] for line in text.split("\n")])
        if text:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
    except (Exception, KeyboardInterrupt):
        return _quiet()
    return 0


def _quiet() -> int:
    """Leave without a word, also at the interpreter's end when the pipe is closed."""
    handle = os.open(os.devnull, os.O_WRONLY)
    os.dup2(handle, 1)
    return 0


def _values(kind: str, prefix: str, first: str = "") -> str:
    if kind == "actions":
        return _actions(prefix)
    if kind == "options":
        return _options(prefix)
    if kind == "topics":
        from mgmtctl.cli.topics import TOPICS

        return _lines([(name, topic.summary) for name, topic in TOPICS.items()], prefix)
    if kind == "settings":
        from mgmtctl.settings import SETTINGS

        return _lines([(name, setting.summary) for name, setting in SETTINGS.items()], prefix)
    if kind == "store-settings":
        from mgmtctl.domain.settings import STORE_SETTINGS

        return _lines([(name, setting.summary) for name, setting in STORE_SETTINGS.items()], prefix)
    if kind == "resources":
        return _resources(prefix)
    data, state = places()
    reader = _reader(data, state)
    if reader is None:
        return ""
    if kind == "agents":
        return reader.agents(prefix)
    if kind in _OWN_STORE:
        return reader.named(kind, prefix)
    if kind == "groups":
        return _lines([(name, "") for name in _groups(reader, _shared(data))], prefix)
    if kind == "files":
        return _files(reader, _shared(data), prefix)
    if kind == "revisions":
        return reader.revisions(first.partition("/")[0], prefix)
    return ""


def _reader(data: str, state: str) -> Reader | None:
    """The store as the acting session may read it, None when there is no session or a folder is not ours alone."""
    from mgmtctl.cli.session_file import path_in, read_token, sha256

    store = os.path.join(data, "store.db")
    if not (_ours(data) and _ours(store)):
        return None
    token = os.environ.get("MGMTCTL_TOKEN")
    if token is None:
        token = None if os.environ.get("MGMTCTL_USER") else read_token(path_in(state, data))
    if not token:
        return None
    from mgmtctl.store.completion import Reader

    reader = Reader(store)
    return reader if reader.admit(sha256(token.encode("ascii", "replace"))) else None


def _ours(path: str) -> bool:
    facts = os.stat(path)
    return facts.st_uid == os.geteuid() and not stat.S_IMODE(facts.st_mode) & 0o022


def places() -> tuple[str, str]:
    """The data folder and the state folder; as `mgmtctl.settings` says, which is asked only when a file has a say."""
    variables = os.environ
    state = variables.get("MGMTCTL_STATE")
    home = variables.get("MGMTCTL_HOME")
    if home:
        data = os.path.abspath(os.path.expanduser(home))
        files, own_state = [os.path.join(data, "config.toml")], os.path.join(data, "state")
    else:
        as_root = os.geteuid() == 0
        data = "/var/lib/mgmtctl" if as_root else _xdg("XDG_DATA_HOME", ".local/share")
        files = [_SYSTEM_FILE, os.path.join(_xdg("XDG_CONFIG_HOME", ".config"), "config.toml")]
        own_state = _xdg("XDG_STATE_HOME", ".local/state")
    if variables.get("MGMTCTL_DATA_DIR") or any(map(os.path.exists, files)):
        from mgmtctl.settings import Settings

        settings = Settings()
        return str(settings.data), state or str(settings.state)
    return data, state or own_state


def _xdg(variable: str, default: str) -> str:
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):
        base = os.path.join(os.environ.get("HOME") or os.path.expanduser("~"), default)
    return os.path.join(base, "mgmtctl")


def _shared(data: str) -> str:
    """The folder of the groups; groups are few, so the settings may be asked."""
    from mgmtctl.settings import Settings

    return str(Settings().shared) if _ours(data) else ""


def _groups(reader: Reader, shared: str) -> list[str]:
    """The groups that may be read: folders, no links, whose names are those of groups (D 5)."""
    from mgmtctl.domain.groups import is_group_name

    scope = reader.scope("group:read", "group:id")
    with os.scandir(shared) as entries:
        names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted(name for name in names if is_group_name(name) and scope.covers(name))


def _files(reader: Reader, shared: str, prefix: str) -> str:
    """`GROUP/` for each group, and the files of the group that is already written, by names that may be put."""
    from mgmtctl.domain.files import file_name_problem

    group, slash, _ = prefix.partition("/")
    groups = _groups(reader, shared)
    if not slash:
        return _lines([(f"{name}/", "") for name in groups], prefix)
    if group not in groups:
        return ""
    found: list[tuple[str, str]] = []
    top = os.path.join(shared, group)
    for folder, folders, files in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = os.path.relpath(folder, top)
        place = f"{group}/" if inside == "." else f"{group}/{inside}/"
        inner = place.partition("/")[2]
        found += [(place + name, "") for name in sorted(files) if not file_name_problem(inner + name)]
        if len(found) > _MOST_FILES:
            break
    return _lines(found, prefix)


def _actions(prefix: str) -> str:
    from mgmtctl.domain.actions import ACTIONS

    return _lines([(action.name, action.description) for action in ACTIONS.values()], prefix)


def _options(prefix: str) -> str:
    """Options of agent.conf by their paths, as deep as the prefix is."""
    from mgmtctl.domain.options import ATTRIBUTE, every

    depth = prefix.count(".")
    wanted = [entry for entry in every() if entry.path.count(".") == depth]
    if "@" not in prefix:
        wanted = [entry for entry in wanted if entry.kind != ATTRIBUTE]
    return _lines([(entry.path, "" if entry.options else entry.type) for entry in wanted], prefix)


def _resources(prefix: str) -> str:
    """The kinds of resources; after a whole kind the values that it can have."""
    from mgmtctl.domain.resources import KINDS

    kind, _, typed = prefix.rpartition(":")
    if kind not in KINDS:
        kinds = [f"{name}:" for name, known in KINDS.items() if known.value != "wildcard"]
        return _lines([(name, "") for name in (*kinds, "*:*:*")], prefix)
    found = _values(_VALUES_OF_KINDS.get(kind, ""), typed)
    return "\n".join(
        f"{kind}:{line}" for line in (*found.split("\n"), "*") if line.startswith(typed) and line
    )


def _lines(pairs: list[tuple[str, str]], prefix: str) -> str:
    return "\n".join(
        f"{value}\t{text}" if text else value for value, text in pairs if value.startswith(prefix)
    )


def _printable(text: str) -> str:
    """The lines without control characters: what is offered is typed into a shell."""
    if text.isascii() and not text.encode().translate(None, _SHOWN):
        return text
    return "\n".join(line for line in text.split("\n") if line.replace("\t", "").isprintable())
