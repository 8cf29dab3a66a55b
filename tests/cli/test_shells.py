"""Completion in real shells, with the generated scripts and the program as it is installed."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import VARIABLES, run_here

ROOT = Path(__file__).resolve().parents[2]


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"{shell} is not here")


@pytest.fixture(scope="module")
def program(made_service: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder on PATH with `mgmtctl`; a service with two agents, somebody logged in; a folder with two files."""
    top = tmp_path_factory.mktemp("shells")
    shutil.copytree(made_service[0], top / "home", symlinks=True)
    for name in ("bin", "files"):
        (top / name).mkdir()
    script = top / "bin/mgmtctl"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m mgmtctl "$@"\n')
    script.chmod(0o755)
    for name in ("rule-one.json", "rule-two.json"):
        (top / "files" / name).write_text("{}")
    with pytest.MonkeyPatch.context() as patch:
        for name in VARIABLES:
            patch.delenv(name, raising=False)
        patch.setenv("HOME", str(top))
        patch.setenv("MGMTCTL_HOME", str(top / "home"))
        patch.setenv("MGMTCTL_TOKEN", made_service[1])
        patch.setenv("PATH", str(top / "bin"), prepend=os.pathsep)
        patch.chdir(top / "files")
        for name in ("web-01", "db-01"):
            assert run_here("agents", "create", name).code == 0
        assert run_here("files", "put", "default/words.txt", "-", stdin="x").code == 0
        yield top


# What is typed, and what is offered: all of it, in any order.
OFFERS = [
    pytest.param("mgmtctl whoa", ["whoami"], id="a word"),
    pytest.param(
        "mgmtctl agents ",
        [
            *(
                "list",
                "show",
                "create",
                "import",
                "set",
                "delete",
                "key",
                "add-group",
                "remove-group",
                "summary",
            ),
            *("config", "files", "keepalive", "restart"),
        ],
        id="verbs",
    ),
    pytest.param("mgmtctl roles add-", ["add-policy", "add-rule"], id="verbs by prefix"),
    pytest.param("mgmtctl roles list --s", ["--search", "--sort", "--select"], id="options"),
    pytest.param("mgmtctl roles list -o js", ["json"], id="words of an option"),
    pytest.param("mgmtctl agents show 00", ["001", "002"], id="ids of agents"),
    pytest.param("mgmtctl agents show 001 web", ["web-01"], id="names of agents, again"),
    pytest.param("mgmtctl agents show -o json web", ["web-01"], id="a value of an option is no argument"),
    pytest.param("mgmtctl agents add-group web-01 def", ["default"], id="the second argument"),
    pytest.param(
        "mgmtctl roles add-policy administrator agents_",
        ["agents_all", "agents_read", "agents_commands"],
        id="policies",
    ),
    pytest.param("mgmtctl can-i agent:rest", ["agent:restart"], id="actions"),
    pytest.param("mgmtctl files show default/ag", ["default/agent.conf"], id="files of a group"),
    pytest.param(
        "mgmtctl files show default/agent.conf --revision ", ["2", "1"], id="revisions of that group"
    ),
    pytest.param(
        "mgmtctl options show syscheck.scan_",
        [f"syscheck.scan_{it}" for it in ("day", "on_start", "time")],
        id="options of agent.conf",
    ),
    pytest.param("mgmtctl rules create x -f rule-", ["rule-one.json", "rule-two.json"], id="paths"),
    pytest.param(
        "mgmtctl run-as --context-file rule-one.json -- agents sh", ["show"], id="a command after --"
    ),
    pytest.param("mgmtctl sync run web", ["web-01"], id="optional arguments"),
    pytest.param("mgmtctl can-i group:read group:id:d", ["group:id:default"], id="resources"),
    pytest.param("mgmtctl files validate def", ["default/"], id="a group's file where a path may stand"),
    pytest.param(
        "mgmtctl files validate ./rule-",
        ["./rule-one.json", "./rule-two.json"],
        id="a path where a group may stand",
    ),
    pytest.param("mgmtctl sync run --if-locked s", ["skip"], id="words of an option of one command"),
    pytest.param("mgmtctl roles list --sort na", ["name"], id="fields"),
    pytest.param("mgmtctl help env", ["environment"], id="topics"),
]


LINES = [str(offer.values[0]) for offer in OFFERS]
MORE_LINES = ["mgmtctl roles list --output=nd", "mgmtctl help output "]


def answers(command: list[str], program: Path) -> dict[str, list[str]]:
    """What a shell script answers to each line: `command` gets the lines and prints values, a `%` line after each."""
    lines = [*LINES, *MORE_LINES]
    out = subprocess.run([*command, *lines], capture_output=True, text=True, check=True, timeout=60).stdout
    blocks = [block.split("\n") for block in out.split("%\n")]
    return {
        line: [value.partition("\t")[0] for value in block if value]
        for line, block in zip(lines, blocks, strict=False)
    }


@pytest.fixture(scope="module")
def bash_offers(program: Path) -> dict[str, list[str]]:
    script = (
        f"source {ROOT}/completions/mgmtctl.bash; for COMP_LINE; do COMP_POINT=${{#COMP_LINE}}; _mgmtctl;"
        " printf '%s\\n' \"${COMPREPLY[@]}\" %; done"
    )
    return answers(["bash", "--norc", "-c", script, "-"], program)


@needs("bash")
class TestBash:
    @pytest.mark.parametrize(("line", "expected"), OFFERS)
    def test_offers(self, line: str, expected: list[str], bash_offers: dict[str, list[str]]) -> None:
        # Readline replaces what follows a colon, so the script leaves away what stands before it.
        head = line.rpartition(" ")[2].rpartition(":")
        cut = len(head[0] + head[1])
        assert sorted(bash_offers[line]) == sorted(value[cut:] for value in expected)

    def test_after_an_equals_sign_and_after_the_last_argument(
        self, bash_offers: dict[str, list[str]]
    ) -> None:
        assert [bash_offers[line] for line in MORE_LINES] == [["ndjson"], []]

    def test_a_file_name_that_a_shell_would_obey_is_quoted(self, program: Path) -> None:
        group = program / "home" / "shared" / "default"
        hostile = group / "rules$(touch pwned)`touch pwned`;touch pwned"
        broken = group / "rules\ntouch pwned"
        hostile.touch()
        broken.touch()
        shell = Terminal(["bash", "--norc", "-i"])
        try:
            shell.type(f"source {ROOT}/completions/mgmtctl.bash; echo re''ady\n", "ready")
            shell.type("mgmtctl files show default/ru\t", "pwned")
            shell.type("\n echo do''ne\n", "done")
        finally:
            shell.close()
            hostile.unlink()
            broken.unlink()
        assert not (program / "files" / "pwned").exists()

    def test_it_is_used_by_an_interactive_shell(self, program: Path) -> None:
        shell = Terminal(["bash", "--norc", "-i"])
        shell.type(f"source {ROOT}/completions/mgmtctl.bash; echo re''ady\n", "ready")
        shell.type("mgmtctl can-i agent:resta\t", "agent:restart ")
        shell.close()


@pytest.fixture(scope="module")
def fish_offers(program: Path) -> dict[str, list[str]]:
    script = f"source {ROOT}/completions/mgmtctl.fish; for line in $argv; complete -C $line; echo %; end"
    return answers(["fish", "--no-config", "-c", script], program)


@needs("fish")
class TestFish:
    @pytest.mark.parametrize(("line", "expected"), OFFERS)
    def test_offers(self, line: str, expected: list[str], fish_offers: dict[str, list[str]]) -> None:
        assert sorted(fish_offers[line]) == sorted(expected)

    def test_after_an_equals_sign_and_after_the_last_argument(
        self, fish_offers: dict[str, list[str]]
    ) -> None:
        assert [fish_offers[line] for line in MORE_LINES] == [["--output=ndjson"], []]


@pytest.fixture(scope="module")
def zsh_shell(program: Path) -> Iterator[Terminal]:
    shell = zsh(f"autoload -U compinit; compinit -u -D; source {ROOT}/completions/_mgmtctl")
    yield shell
    shell.close()


@needs("zsh")
class TestZsh:
    @pytest.mark.parametrize(("line", "expected"), OFFERS)
    def test_offers(self, line: str, expected: list[str], zsh_shell: Terminal) -> None:
        """One value is put into the line; several are listed."""
        if len(expected) == 1:
            zsh_shell.type(f"{line}\t#", f"{line[: -len(line.rpartition(' ')[2])]}{expected[0]}")
        else:
            # It lists the files of `./` by their names alone.
            listed = [value.removeprefix("./") for value in expected]
            assert "not found" not in zsh_shell.type(f"{line}\t\t", *listed)
        zsh_shell.type("\x15")

    def test_values_have_descriptions(self, zsh_shell: Terminal) -> None:
        zsh_shell.type("mgmtctl agents show 00\t\t", "web-01 never_connected", "db-01 never_connected")
        zsh_shell.type("\x15")

    def test_it_is_found_in_a_folder_of_fpath(self, program: Path) -> None:
        shell = zsh(f"fpath=({ROOT}/completions $fpath); autoload -U compinit; compinit -u -D")
        shell.type("mgmtctl roles show administ\t#", "mgmtctl roles show administrator")
        shell.close()


def zsh(setup: str) -> Terminal:
    shell = Terminal(["zsh", "-f", "-i"])
    shell.type(f"unset zle_bracketed_paste; LISTMAX=0; {setup}; PS1='> '; echo re''ady\n", "ready\r\n")
    return shell


class Terminal:
    """A shell at a terminal of its own."""

    def __init__(self, command: list[str]) -> None:
        main, terminal = pty.openpty()
        environment = {**os.environ, "TERM": "dumb", "COLUMNS": "120", "LINES": "50", "PS1": "> "}
        self._process = subprocess.Popen(
            command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment, start_new_session=True
        )
        os.close(terminal)
        self._main = main

    def type(self, keys: str, *awaited: str) -> str:
        """Type `keys` and wait until all the texts are on the screen."""
        os.write(self._main, keys.encode())
        seen, deadline = "", time.monotonic() + 20
        while not all(text in seen for text in awaited):
            assert time.monotonic() < deadline, f"expected {awaited}, got {seen!r}"
            if select.select([self._main], [], [], 0.2)[0]:
                seen += os.read(self._main, 65_536).decode("utf-8", "replace")
                seen = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
        return seen

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._main)
