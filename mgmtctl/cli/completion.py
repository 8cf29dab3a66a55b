"""`mgmtctl completion`: print the script of a shell, or put it where that shell looks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.domain.errors import QuestionError, UnavailableError

noun = Noun("completion", "Completion scripts for bash, zsh and fish.")
SHELLS = ("bash", "zsh", "fish")


@noun.read("bash", examples=["source <(mgmtctl completion bash)"])
def bash(session: CliSession) -> None:
    """Print the script for bash."""
    session.print(_script("bash").rstrip("\n"))


@noun.read("zsh", examples=["source <(mgmtctl completion zsh)"])
def zsh(session: CliSession) -> None:
    """Print the script for zsh."""
    session.print(_script("zsh").rstrip("\n"))


@noun.read("fish", examples=["mgmtctl completion fish | source"])
def fish(session: CliSession) -> None:
    """Print the script for fish."""
    session.print(_script("fish").rstrip("\n"))


@noun.write("install", examples=["mgmtctl completion install", "mgmtctl completion install zsh -n"])
def install(
    session: CliSession,
    shell: Annotated[
        str | None,
        typer.Argument(
            metavar="[SHELL]", help="bash, zsh or fish; none: that of $SHELL.", show_default=False
        ),
    ] = None,
) -> None:
    """Put the script where the shell looks for it, in your home folder."""
    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    if name not in SHELLS:
        what = f"no completion for the shell `{name}`" if name else "which shell? $SHELL is not set"
        raise QuestionError(what, fix=f"name one of {', '.join(SHELLS)}")
    path = _place(name)
    if not session.dry_run:
        _write(path, _script(name))
    session.done(f"wrote `{path}`")
    if name == "zsh":
        session.say(f"~/.zshrc needs, before compinit:  fpath=({path.parent} $fpath)")


def _script(shell: str) -> str:
    from mgmtctl.cli.outline import outline
    from mgmtctl.cli.shells import SCRIPTS

    return SCRIPTS[shell][1](outline())


def _place(shell: str) -> Path:
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "bash": data / "bash-completion/completions/mgmtctl",
        "zsh": data / "zsh/site-functions/_mgmtctl",
        "fish": config / "fish/completions/mgmtctl.fish",
    }[shell]


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnavailableError(f"cannot write `{path}`", "io", why=error.strerror) from None
