"""Whatever is typed, a command line ends with a documented exit code and never with a traceback."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgmtctl.cli import app
from mgmtctl.cli.commands import Noun
from mgmtctl.cli.exit_codes import MEANINGS
from mgmtctl.cli.options import COMMON, Common
from mgmtctl.cli.session import CliSession
from tests.cli.conftest import Result, run_here

Cli = Callable[..., Result]

COMMANDS = [command for word in app.TREE if word != "demo" for command in app.commands_of(word)]
PARAMETERS: dict[tuple[str, ...], list[Any]] = {
    command.path: list(command.build().params) for command in COMMANDS
}
FLAGS = sorted({name for params in PARAMETERS.values() for param in params for name in param.opts})
VALUES = (
    "", "-", "--", "web", "001", "999999999999999999999", "admin", "*", "agent:read", "agent:id:001", "*:*:*", "=",
    "'", '"', "\n", "\x00", "\x1b[31m", "é", "\udce9", "../x", "/nonexistent/x", "default/agent.conf", "web/", "json",
    "a=b", "a=b;", "(", "-1", "0", "name", "-name", "no,such", "{}",
)  # fmt: skip


@pytest.fixture
def fresh(service_home: Path, made_service: tuple[Path, str], tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Makes the store new, the administrator logged in, for each of many command lines in an empty folder."""

    def again() -> None:
        for suffix in ("", "-wal", "-shm"):
            (service_home / f"store.db{suffix}").unlink(missing_ok=True)
        shutil.copy(made_service[0] / "store.db", service_home / "store.db")

    os.environ["MGMTCTL_TOKEN"] = made_service[1]
    before = Path.cwd()
    (tmp_path / "nowhere").mkdir()
    os.chdir(tmp_path / "nowhere")
    yield again
    os.chdir(before)
    os.environ.pop("MGMTCTL_TOKEN", None)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command with an odd value for each argument, some of its options with odd values, and rarely odd words more."""
    command = draw(st.sampled_from(COMMANDS))
    value = st.sampled_from(VALUES)
    words: list[str] = []
    for param in PARAMETERS[command.path]:
        if param.param_type_name == "argument":
            words += draw(
                st.lists(value, min_size=int(param.required), max_size=2 if param.nargs == -1 else 1)
            )
        elif draw(st.integers(0, 5)) == 0:
            words.append(draw(st.sampled_from(param.opts)))
            words += [] if param.is_flag else [draw(value)]
    words += (
        draw(st.lists(value | st.sampled_from(FLAGS), max_size=2)) if draw(st.integers(0, 5)) == 0 else []
    )
    return [*command.path, *words]


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=command_lines())
def test_no_arguments_give_a_traceback(words: list[str], fresh: Callable[[], None]) -> None:
    fresh()
    if words[:2] == ["log", "tail"] and {"-f", "--follow"} & set(words):
        return  # it stays, as it should
    result = run_here(*words, stdin=b"text\n")
    assert result.code in MEANINGS, result.err
    assert result.code != 70, f"{words}: {result.err}"
    assert "Traceback" not in result.err


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.text(max_size=8) | st.sampled_from(sorted(app.TREE)), max_size=3))
def test_no_words_give_a_traceback(words: list[str], home: Path) -> None:
    if "demo" in words or words[:1] == ["--complete"]:
        return
    result = run_here(*words)
    assert result.code in MEANINGS
    assert result.code != 70, result.err


def test_the_common_options_are_those_that_sessions_know() -> None:
    assert set(COMMON) == set(Common._fields)


@pytest.mark.parametrize(
    ("command", "absent"),
    [
        pytest.param(("roles", "list"), {"--dry-run", "--yes", "--reason"}, id="a list changes nothing"),
        pytest.param(
            ("roles", "create"), {"--where", "--sort", "--select", "--envelope"}, id="a change lists nothing"
        ),
        pytest.param(("whoami",), {"--where", "--dry-run"}, id="a read has neither"),
    ],
)
def test_each_kind_of_command_has_its_own_options(
    command: tuple[str, ...], absent: set[str], cli: Cli
) -> None:
    shown = cli(*command, "--help").out
    assert "--output" in shown
    assert not {flag for flag in absent if f" {flag} " in shown}


def test_a_parameter_of_a_command_replaces_the_common_option_of_that_name() -> None:
    noun = Noun("probe", "A probe.")

    @noun.list(examples=["mgmtctl probe list"])
    def list_(session: CliSession, limit: int = 7) -> None:
        """List."""

    built = noun.commands["list"].build()
    assert [param.default for param in built.params if param.name == "limit"] == [7]


def test_a_command_without_an_example_or_a_docstring_is_an_error_at_import() -> None:
    noun = Noun("probe", "A probe.")
    with pytest.raises(TypeError, match="no example"):
        noun.read("x", examples=[])
    with pytest.raises(TypeError, match="no docstring"):
        noun.read("x", examples=["mgmtctl probe x"])(lambda session: None)


def test_lists_ask_the_operation_for_what_the_options_say(cli: Cli) -> None:
    session = CliSession(Common(where="a=b", sort="-x", limit=0, select="id, name"))
    assert (session.query.where, session.query.sort, session.query.limit) == ("a=b", "-x", None)
    assert session.query.select == session.output.select == ("id", "name")
