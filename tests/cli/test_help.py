"""What help says and how it is called: topics, nouns and commands, exit codes, lines that fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from mgmtctl.cli import app
from mgmtctl.cli.commands import CliSession, Command, Noun
from mgmtctl.cli.topics import TOPICS, WIDEST, topic
from tests.cli.conftest import Result

Cli = Callable[..., Result]
COMMANDS = [
    pytest.param(command, id=" ".join(command.path)) for word in app.TREE for command in app.commands_of(word)
]


@pytest.mark.parametrize("words", [(), ("agents",), ("agents", "list"), ("whoami",)])
def test_short_names_and_the_help_command_show_the_same(words: tuple[str, ...], cli: Cli) -> None:
    shown = cli(*words, "--help")
    assert shown.code == 0
    assert cli(*words, "-h") == shown
    if words:
        assert cli("help", *words) == shown


def test_the_short_name_of_version_is_a_capital_v(cli: Cli) -> None:
    assert cli("-V") == cli("--version")


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        pytest.param(("help", "agnts"), "did you mean `agents`?", id="a word"),
        pytest.param(("help", "agents", "lst"), "did you mean `mgmtctl agents list`?", id="a verb"),
        pytest.param(("help", "whoami", "x"), "mgmtctl whoami --help", id="too many words"),
        pytest.param(
            ("-o", "json", "agents", "list"),
            "options go after the command: mgmtctl NOUN VERB -o",
            id="an option first",
        ),
        pytest.param(
            ("agents", "-q", "list"),
            "options go after the command: mgmtctl agents VERB -q",
            id="an option amid",
        ),
    ],
)
def test_what_is_not_there_is_answered_with_what_to_write(words: tuple[str, ...], fix: str, cli: Cli) -> None:
    result = cli(*words)
    assert result.code == 2
    assert fix in result.err


@pytest.mark.parametrize("command", COMMANDS)
def test_no_example_is_wider_than_a_terminal(command: Command) -> None:
    assert [example for example in command.examples if len(f"  {example}") > 78] == []


@pytest.mark.parametrize("name", TOPICS)
def test_no_line_of_a_topic_is_wider_than_a_terminal(name: str, cli: Cli) -> None:
    assert [line for line in cli("help", name).out.split("\n") if len(line) > WIDEST] == []
    assert topic(name).summary in cli("help").out


@pytest.mark.parametrize("words", [(), ("agents",), ("can-i",)])
def test_help_fits_the_terminal(words: tuple[str, ...], cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    text = cli(*words, "--help", terminal=True).out.partition("Usage:")[2]
    assert max(map(len, text.split("\n"))) <= 70


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_that_asks_lists_the_exit_code_of_a_no(command: Command) -> None:
    source = inspect.getsource(inspect.getmodule(command.function) or app)
    assert not command.asks or "session.confirm(" in source or "pushed(session" in source
    assert command.asks or "session.confirm(" not in inspect.getsource(command.function)
    assert (1 in command.exit_codes and "not yes" in command.meaning(1)) is command.asks or 1 in command.exits


def test_exit_codes_are_added_named_and_taken_away() -> None:
    noun = Noun("probe", "A probe.")

    @noun.write("x", examples=["mgmtctl probe x"], exits={5: None, 9: "there is one", 8: "too slow"})
    def x(session: CliSession) -> None:
        """Do it."""

    declared = noun.commands["x"]
    assert declared.exit_codes == (0, 2, 4, 6, 7, 8, 9)
    assert (declared.meaning(9), declared.meaning(6)) == ("there is one", "denied")
