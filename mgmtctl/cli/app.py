"""The command tree: one table of what there is, each noun imported only when it is named.

`run` is one command line from its words to its exit code: every error ends here, as text or JSON on stderr and one of
the documented exit codes. Adding a noun is one line of `TREE`.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import itertools
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, TextIO

import typer

from mgmtctl import __version__
from mgmtctl.cli import errors, exit_codes, help_text
from mgmtctl.cli.commands import Command, Group, Noun
from mgmtctl.cli.output import COLORS
from mgmtctl.domain.errors import MgmtctlError, QuestionError, UnavailableError


class Branch(NamedTuple):
    """A word after `mgmtctl`: the module in `cli` that holds it, its summary, and the heading it stands under.

    `more`: modules that declare further commands of the same noun.
    """

    module: str
    summary: str
    heading: str
    more: tuple[str, ...] = ()

    @property
    def modules(self) -> tuple[str, ...]:
        """All modules that declare its commands."""
        return (self.module, *self.more)


_SET_UP, _SESSION, _ACCESS, _FLEET, _OPERATE = "Set up", "Session", "Access", "Fleet", "Operate"

TREE: dict[str, Branch] = {
    "init": Branch("init", "Make a data folder with one administrator.", _SET_UP),
    "recover": Branch("recover", "Give the administrator a new password.", _SET_UP),
    "demo": Branch("demo", "Tell the main job as a story, in a temporary folder.", _SET_UP),
    "config": Branch("config", "Settings of places and forms.", _SET_UP),
    "completion": Branch("completion", "Completion scripts for bash, zsh and fish.", _SET_UP),
    "help": Branch("help", "Help on a topic.", _SET_UP),
    "login": Branch("login", "Log in with a user's own roles.", _SESSION),
    "run-as": Branch("run_as", "Log in on behalf of somebody, by an authorization context.", _SESSION),
    "logout": Branch("logout", "End this session, or every session of the user.", _SESSION),
    "whoami": Branch("whoami", "Show who is logged in, with which roles and rights.", _SESSION),
    "sessions": Branch("sessions", "Sessions that live, and ending them.", _SESSION),
    "users": Branch("users", "Users, their roles and passwords.", _ACCESS),
    "roles": Branch("roles", "Roles, and the policies and rules they are linked to.", _ACCESS),
    "policies": Branch(
        "policies",
        "Policies: which actions on which resources.",
        _ACCESS,
        ("lint_policies", "matrix", "impact", "policy_tests"),
    ),
    "rules": Branch(
        "rules",
        "Rules that map authorization contexts to roles.",
        _ACCESS,
        ("lint_rules", "rule_examples", "rule_tests"),
    ),
    "security": Branch(
        "security", "Settings that decide what is allowed, the key, and login limits.", _ACCESS
    ),
    "actions": Branch("actions", "The actions there are, and what they apply to.", _ACCESS),
    "can-i": Branch("can_i", "Ask whether an action is allowed, and why.", _ACCESS),
    "who-can": Branch("who_can", "Ask who may do an action, and by what.", _ACCESS),
    "agents": Branch("agents", "Agents and the groups they are in.", _FLEET, ("agent_config", "keepalives")),
    "groups": Branch("groups", "Groups of agents.", _FLEET),
    "files": Branch("files", "The shared files of a group, agent.conf among them.", _FLEET, ("history",)),
    "sync": Branch("sync", "Bring shared files into the agents' folders.", _FLEET, ("rollouts",)),
    "options": Branch("options_show", "What is known of the sections and options of agent.conf.", _FLEET),
    "log": Branch("log", "The request log.", _OPERATE),
}
# What a full, broken or closed stdout answers with.
_BROKEN = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EBADF)
_EXAMPLES = (
    "mgmtctl demo",
    "mgmtctl init && mgmtctl login -u admin",
    "mgmtctl agents list --where 'group=web'",
)


def noun_of(word: str) -> Noun | None:
    """The noun of a word of the tree, its module imported; None for a command that stands by itself."""
    module, *_ = (importlib.import_module(f"mgmtctl.cli.{name}") for name in TREE[word].modules)
    noun = getattr(module, "noun", None)
    return noun if isinstance(noun, Noun) and noun.name == word else None


def commands_of(word: str) -> list[Command]:
    """Every command below a word of the tree."""
    noun = noun_of(word)
    if noun is not None:
        return [command for part in noun.nouns() for command in part.commands.values()]
    module = importlib.import_module(f"mgmtctl.cli.{TREE[word].module}")
    return [module.ROOT.commands[word]]


def root() -> Group:
    """The whole tree; nothing below it is imported yet."""
    return RootGroup(
        name="mgmtctl",
        help="Administer a fleet of monitored agents: log in, decide, configure groups, sync agent folders.",
        table={word: branch.summary for word, branch in TREE.items()},
        find=_find,
        examples=_EXAMPLES,
    )


def _find(word: str) -> Any:
    if word not in TREE:
        return None
    noun = noun_of(word)
    return noun.app if noun is not None else commands_of(word)[0].build()


class RootGroup(Group):
    """The tree; its help is told by headings."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write("Examples:\n" + "".join(f"  {example}\n" for example in self.examples) + "\n")
        self.format_usage(ctx, formatter)
        formatter.write("\n")
        formatter.write_text(self.help or "")
        for heading in dict.fromkeys(branch.heading for branch in TREE.values()):
            with formatter.section(heading):
                formatter.write_dl(
                    [(w, branch.summary) for w, branch in TREE.items() if branch.heading == heading]
                )
        help_text.write_end(
            "`mgmtctl NOUN --help` and `mgmtctl NOUN VERB --help` say more, `mgmtctl help` has topics, "
            "`mgmtctl --version` says which release this is.",
            formatter,
        )


def run(arguments: Sequence[str]) -> int:
    """Run one command line (without the program's name) in this process and return its exit code."""
    words = list(arguments)
    own = words[: words.index("--")] if "--" in words else words
    code = 0
    try:
        code = _perform(words)
        sys.stdout.flush()
    except MgmtctlError as error:
        return _refused(error, own)
    except errors.UsageError as error:
        return _refused(errors.usage_error(error), own)
    except (KeyboardInterrupt, typer.Abort, EOFError):
        sys.stderr.write("error: interrupted\n")
        return exit_codes.INTERRUPTED
    except BrokenPipeError:
        _drop_output()
    except Exception as error:
        return _output_failed(error, own) if _is_full(error) else _bug(error, own)
    return code


def _perform(words: list[str]) -> int:
    if words[:1] in (["--version"], ["-V"]):
        sys.stdout.write(f"mgmtctl {__version__}\n")
        return 0
    _require_text(words)
    try:
        with root().make_context("mgmtctl", words) as context:
            context.command.invoke(context)
    except typer.Exit as end:
        return end.exit_code
    return 0


def _require_text(words: Sequence[str]) -> None:
    """Refuse bytes that are no text: names are text, and so is what goes into store and log."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise QuestionError(f"argument `{word}` is not UTF-8") from None


def run_process(arguments: Sequence[str]) -> int:
    """As `run`, for a process of its own: signals become exit codes, odd bytes in names can be written."""
    import signal

    def terminated(number: int, frame: object) -> None:
        raise SystemExit(exit_codes.TERMINATED)

    signal.signal(signal.SIGTERM, terminated)
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    sys.stderr = Talk(sys.stderr)
    try:
        return run(arguments)
    finally:
        if _output_lost():
            _drop_output()


def _open_missing_streams() -> None:
    """Streams that the caller has closed: stdin cannot be read, talk is lost, and data cannot be written (`>&-`)."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            flags = os.O_WRONLY if name == "stderr" else os.O_RDONLY
            setattr(sys, name, open(os.open(os.devnull, flags), mode))  # noqa: SIM115 - for the whole process
            if name == "stdin":
                sys.stdin = io.TextIOWrapper(io.BufferedReader(_Closed(sys.stdin)))


class _Closed(io.RawIOBase):
    """A closed stdin: reading it is a failure, not an empty file; `holder` keeps its number from other files."""

    def __init__(self, holder: TextIO) -> None:
        super().__init__()
        self._holder = holder

    def readable(self) -> bool:
        """It is tried, and fails then."""
        return True

    def readinto(self, buffer: object) -> int:
        """Never any bytes."""
        raise OSError(errno.EBADF, "it is closed")


class Talk:
    """Stderr that never fails: what is said beside the data changes no exit code."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or let it be."""
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, or let it be."""
        with contextlib.suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _drop_output() -> None:
    """Nothing more is written, not at the interpreter's end either: the pipe is closed, or its end is full."""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _output_lost() -> bool:
    """Whether stdout still holds what it could not write."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return True
    return False


def _is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in _BROKEN


def _output_failed(error: Exception, words: Sequence[str]) -> int:
    """The disk is full or broken, or stdout is closed: no fault of the program."""
    _drop_output()
    what = "local input or output failed" if getattr(error, "filename", None) else "cannot write to stdout"
    failed = UnavailableError(what, "io", why=getattr(error, "strerror", None))
    errors.say_error(failed, as_json=_asks_for_json(words))
    return exit_codes.IO


def _refused(error: MgmtctlError, words: Sequence[str]) -> int:
    errors.say_error(error, as_json=_asks_for_json(words), color=_color(words))
    return exit_codes.exit_code(error)


def _asks_for_json(words: Sequence[str]) -> bool:
    """Whether these words ask for JSON; read from the words, because the error may lie in them."""
    joined = _joined(words)
    return any(
        f"{flag}{form}" in joined for flag in ("-o=", "--output=", "-o") for form in ("json", "ndjson")
    )


def _color(words: Sequence[str]) -> str:
    """What these words say of colours, read as `_asks_for_json` does."""
    joined = _joined(words)
    return next((choice for choice in COLORS if f"--color={choice}" in joined), COLORS[0])


def _joined(words: Sequence[str]) -> set[str]:
    """The words, and each with the one after it as if `=` stood between."""
    return {f"{first}={second}" for first, second in itertools.pairwise(words)} | set(words)


def _bug(error: BaseException, words: Sequence[str]) -> int:
    """One line, the traceback saved; `--debug` shows it. Values of variables are never shown."""
    import traceback

    text = "".join(traceback.format_exception(error))
    if "--debug" in words:
        sys.stderr.write(text)
    saved = _save(text)
    fix = f"please report it with {saved}" if saved else "run it again with --debug and report what it shows"
    problem = UnavailableError(f"this is a bug in mgmtctl: {type(error).__name__}", "bug", fix=fix)
    errors.say_error(problem, as_json=_asks_for_json(words))
    return exit_codes.BUG


def _save(text: str) -> str | None:
    """Keep a traceback in the log folder, for its owner only; None when that cannot be done."""
    import time

    try:
        from mgmtctl.settings import Settings

        path = Settings().logs / f"bug-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.txt"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, MgmtctlError):
        return None
    return str(path)
