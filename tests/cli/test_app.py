"""The tree, and what becomes of a command line: exit codes, errors, help."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.cli import app
from mgmtctl.cli.commands import Command, Noun
from mgmtctl.cli.exit_codes import MEANINGS, common_exit_code, exit_code
from mgmtctl.cli.session import CliSession
from mgmtctl.domain import errors
from mgmtctl.operations.results import Failure, Items
from tests.cli.conftest import Result, run_here

Cli = Callable[..., Result]
COMMANDS = [command for word in app.TREE for command in app.commands_of(word)]


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch, home: Path) -> Callable[[Callable[[CliSession], None]], None]:
    """Put a command `mgmtctl probe run` into the tree that does what the test says."""

    def put(does: Callable[[CliSession], None]) -> None:
        noun = Noun("probe", "A probe.")

        def run(session: CliSession) -> None:
            does(session)

        run.__doc__ = "Run."
        noun.list("run", examples=["mgmtctl probe run"], columns=("id",))(run)
        noun.write("change", examples=["mgmtctl probe change"])(run)
        module = type(sys)("mgmtctl.cli.probe")
        module.noun = noun  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "mgmtctl.cli.probe", module)
        monkeypatch.setitem(app.TREE, "probe", app.Branch("probe", "A probe.", "Operate"))

    return put


def raising(error: BaseException) -> Callable[[CliSession], None]:
    def does(session: CliSession) -> None:
        raise error

    return does


def test_bare_program_shows_short_help_and_ends_with_0(cli: Cli) -> None:
    result = cli()
    assert result.code == 0
    assert result.out.startswith("Examples:\n  mgmtctl ")
    assert all(f"  {word}" in result.out for word in app.TREE)
    assert cli("--help") == result


def test_every_word_of_the_tree_exists_and_says_what_its_noun_says() -> None:
    for word, branch in app.TREE.items():
        importlib.import_module(f"mgmtctl.cli.{branch.module}")
        noun = app.noun_of(word)
        assert noun is None or noun.commands


@pytest.mark.parametrize(
    "command", [pytest.param(command, id=" ".join(command.path)) for command in COMMANDS]
)
def test_every_command_has_help_that_starts_with_examples_and_ends_with_exit_codes(
    command: Command, cli: Cli
) -> None:
    result = cli(*command.path, "--help")
    assert result.code == 0, result.err
    assert result.out.startswith(f"Examples:\n  {command.examples[0]}\n")
    assert f"\nUsage: mgmtctl {' '.join(command.path)} [OPTIONS]" in result.out
    assert result.out.rpartition("\n\n")[2].startswith("Exit codes:\n  0")
    assert all(code in MEANINGS for code in command.exit_codes)
    assert any(f"mgmtctl {' '.join(command.path)}" in example for example in command.examples)


@pytest.mark.parametrize(
    "command", [pytest.param(command, id=" ".join(command.path)) for command in COMMANDS]
)
def test_no_two_options_of_a_command_share_a_name(command: Command) -> None:
    names = [name for param in command.build().params for name in param.opts]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("word", [word for word in app.TREE if app.noun_of(word)])
def test_a_noun_alone_shows_its_commands(word: str, cli: Cli) -> None:
    result = cli(word)
    assert result.code == 0
    assert result.out.startswith("Examples:\n")
    assert result == cli(word, "--help")


def test_aliases_work_and_are_not_shown(admin: Cli) -> None:
    assert admin("roles", "ls").out == admin("roles", "list").out
    assert admin("roles", "get", "administrator").out == admin("roles", "show", "administrator").out
    assert "\n  ls" not in admin("roles").out


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        pytest.param(("agent",), "did you mean `mgmtctl agents`?", id="noun"),
        pytest.param(("agents", "lst"), "did you mean `mgmtctl agents list`?", id="verb"),
        pytest.param(("agents", "list", "--serch", "x"), "did you mean `--search`?", id="option"),
        pytest.param(("agents", "list", "-o", "jsn"), "did you mean `json`?", id="format"),
    ],
)
def test_a_near_miss_is_answered_with_what_was_meant(arguments: tuple[str, ...], hint: str, cli: Cli) -> None:
    result = cli(*arguments)
    assert result.code == 2
    assert hint in result.err
    assert result.out == ""


KINDS: list[tuple[errors.MgmtctlError, int]] = [
    (errors.QuestionError("x"), 2),
    (errors.InvalidError("x"), 7),
    (errors.UnauthenticatedError("x"), 4),
    (errors.NotFoundError("role", "x"), 5),
    (errors.DeniedError("agent:read", "agent:id:001"), 6),
    (errors.ConflictError("x"), 9),
    (errors.UnavailableError("x", "timeout"), 8),
    (errors.UnavailableError("x", "network"), 11),
    (errors.UnavailableError("x", "io"), 74),
    (errors.UnavailableError("x", "busy"), 75),
    (errors.UnavailableError("x", "configuration"), 78),
]


@pytest.mark.parametrize(
    ("error", "code"), [pytest.param(e, c, id=f"{type(e).__name__} {c}") for e, c in KINDS]
)
def test_each_kind_of_error_has_its_exit_code(
    error: errors.MgmtctlError, code: int, probe: Callable[..., None], cli: Cli
) -> None:
    probe(raising(error))
    result = cli("probe", "run")
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(f"error: {error.problem}\n")
    as_json = json.loads(cli("probe", "run", "-o", "json").err)
    assert (as_json["error"], as_json["exit"]) == (error.problem, code)
    assert code == exit_code(error)
    assert code in MEANINGS


def test_a_bug_is_one_line_and_its_traceback_is_saved(
    probe: Callable[..., None], cli: Cli, home: Path
) -> None:
    (home / "log").mkdir(parents=True)
    secret = "do-not-show"

    def does(session: CliSession) -> None:
        password = secret
        raise KeyError(len(password))

    probe(does)
    result = cli("probe", "run")
    assert result.code == 70
    assert result.err.startswith("error: this is a bug in mgmtctl: KeyError\n  fix: please report it with ")
    (saved,) = (home / "log").glob("bug-*.txt")
    assert "KeyError" in saved.read_text()
    assert secret not in saved.read_text()
    assert saved.stat().st_mode & 0o777 == 0o600
    assert "Traceback" in cli("probe", "run", "--debug").err


@pytest.mark.parametrize(
    ("failures", "affected", "code"),
    [
        pytest.param([errors.NotFoundError("agent", "9")], ["1"], 3, id="partly"),
        pytest.param([errors.NotFoundError("agent", "9")], [], 5, id="all of one kind"),
        pytest.param(
            [errors.NotFoundError("agent", "9"), errors.InvalidError("x")], [], 1, id="all, of two kinds"
        ),
        pytest.param([], [], 0, id="nothing to do"),
    ],
)
def test_items_that_fail_make_the_exit_code(
    failures: list[errors.MgmtctlError], affected: list[str], code: int, probe: Callable[..., None], cli: Cli
) -> None:
    items = Items([{"id": id_} for id_ in affected], tuple(Failure(error, ("9",)) for error in failures))
    probe(lambda session: session.show(items))
    result = cli("probe", "run")
    assert result.code == code
    assert result.err.count("error: ") == len(failures)
    assert result.out.count("\n") == (2 if affected or not failures else 0) - (not affected and not failures)
    assert not failures or common_exit_code(failures) in (code, 5)


def test_envelope_is_that_of_the_service(probe: Callable[..., None], cli: Cli) -> None:
    items = Items([{"id": "1"}], (Failure(errors.NotFoundError("agent", "9", code=1701), ("9",)),))
    probe(lambda session: session.show(items))
    found = cli("probe", "run", "--envelope").json()
    assert found["error"] == 2
    assert found["data"]["total_affected_items"] == 1
    assert found["data"]["failed_items"][0]["id"] == ["9"]
    refused = cli("probe", "run", "--envelope", "-o", "csv")
    assert (refused.code, refused.out) == (2, "")


LOST = Failure(errors.NotFoundError("agent", "9"), ("9",))


@pytest.mark.parametrize(
    ("items", "later", "code"),
    [
        pytest.param(Items([{"id": "1"}], (LOST,)), 0, 3, id="partly"),
        pytest.param(Items([], (LOST,)), 0, 5, id="all"),
        pytest.param(Items([], (LOST,)), 3, 3, id="the command knows better"),
        pytest.param(Items([], (LOST, Failure(errors.InvalidError("x"), ("8",)))), 0, 1, id="of two kinds"),
    ],
)
def test_a_json_error_says_the_exit_code_of_the_process(
    items: Items[object], later: int, code: int, probe: Callable[..., None], cli: Cli
) -> None:
    def does(session: CliSession) -> None:
        session.show(items)
        session.code = later or session.code

    probe(does)
    result = cli("probe", "run", "-o", "json")
    assert (result.code, json.loads(result.err)["exit"]) == (code, code)


@pytest.mark.parametrize(("form", "text"), [("json", "[]\n"), ("yaml", "[]\n"), ("ndjson", ""), ("tsv", "")])
def test_a_list_of_which_nothing_could_be_had_is_an_empty_document(
    form: str, text: str, probe: Callable[..., None], cli: Cli
) -> None:
    probe(lambda session: session.show(Items([], (LOST,))))
    assert cli("probe", "run", "-o", form).out == text
    assert cli("probe", "change", "-o", form).out == ""


@pytest.mark.parametrize(
    ("form", "text"),
    [
        pytest.param("json", '"a b"\n', id="json"),
        pytest.param("yaml", "a b\n", id="yaml"),
        pytest.param("tsv", "a b\n", id="rows"),
        pytest.param("value", "a b\n", id="value"),
    ],
)
def test_text_is_one_value_of_the_format_that_is_asked_for(
    form: str, text: str, probe: Callable[..., None], cli: Cli
) -> None:
    probe(lambda session: session.print("a b"))
    assert cli("probe", "run", "-o", form).out == text
    assert cli("probe", "run").out == "a b\n"


def test_a_cut_list_says_so_on_a_terminal_only(probe: Callable[..., None], cli: Cli) -> None:
    probe(lambda session: session.show(Items([{"id": "1"}], total=7)))
    assert "1 of 7 shown" in cli("probe", "run", terminal=True).err
    assert cli("probe", "run").err == ""
    assert "shown" not in cli("probe", "run", "-q", terminal=True).err


def test_done_talks_on_stderr_and_gives_the_record_when_asked(probe: Callable[..., None], cli: Cli) -> None:
    probe(lambda session: session.done("made it", {"id": "7"}))
    assert cli("probe", "change") == Result(0, "", "made it\n", b"")
    assert cli("probe", "change", "-q").err == ""
    assert cli("probe", "change", "-n").err == "dry run: made it\n"
    probe(lambda session: session.done("made it", {"id": "7"}, would="would make it"))
    assert cli("probe", "change", "-n").err == "dry run: would make it\n"
    assert cli("probe", "change").err == "made it\n"
    assert cli("probe", "change", "-o", "json").json() == {"id": "7"}
    assert cli("probe", "change", "-o", "id").out == "7\n"


def test_without_a_terminal_nothing_is_asked(probe: Callable[..., None], cli: Cli) -> None:
    probe(lambda session: session.confirm("delete it all"))
    result = cli("probe", "change", stdin="y\n")
    assert result.code == 2
    assert "--yes" in result.err
    assert cli("probe", "change", "-y").code == 0
    assert cli("probe", "change", "-n").code == 0
    assert cli("probe", "change", "-q", stdin="y\n").code == 2
    assert cli("probe", "change", stdin="y\n", terminal=True).code == 0


@pytest.mark.parametrize(
    "question", ["delete it all", "delete it all?", "3 agents would be written to, go on?"]
)
def test_a_question_ends_with_one_mark_and_a_no_ends_with_1(
    question: str, probe: Callable[..., None], cli: Cli
) -> None:
    probe(lambda session: session.confirm(question))
    result = cli("probe", "change", "--color", "never", stdin="\n", terminal=True)
    assert result.code == 1
    assert result.err.startswith(f"{question.removesuffix('?')}? [y/N] error: nothing was changed\n")
    alone = cli("probe", "change").err
    assert alone.startswith(
        f"error: {question.removesuffix('?').removesuffix(', go on')}: there is no terminal"
    )


def test_an_interrupt_ends_with_130(probe: Callable[..., None], cli: Cli) -> None:
    probe(raising(KeyboardInterrupt()))
    assert cli("probe", "run").code == 130


def test_version_is_served_without_the_command_line(cli: Cli) -> None:
    from mgmtctl import __version__

    assert cli("--version") == Result(0, f"mgmtctl {__version__}\n", "", f"mgmtctl {__version__}\n".encode())


def started(*arguments: str, home: Path, **options: object) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "MGMTCTL_HOME": str(home)}
    return subprocess.Popen([sys.executable, "-m", "mgmtctl", *arguments], env=environment, **options)  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_have_their_exit_codes(number: signal.Signals, code: int, service_home: Path) -> None:
    arguments = ("login", "-u", "admin", "--password-stdin")
    process = started(*arguments, home=service_home, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    # It waits for the password; until its handlers are in place a signal would end it Python's way.
    deadline = time.monotonic() + 20
    while not _reads_stdin(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"Traceback" not in err


def _reads_stdin(pid: int) -> bool:
    """Whether a process has opened the store, which it does right before it reads the password."""
    try:
        return any(b"store.db" in os.readlink(link).encode() for link in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def test_a_command_line_can_run_inside_another(admin: Cli) -> None:
    from mgmtctl.cli.app import run

    assert admin("whoami").code == 0
    assert run_here("help", "nothing").code == run(["help", "nothing"]) == 2
