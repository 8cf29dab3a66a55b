"""`mgmtctl demo`: the main job as a story, by real commands on a real store in a temporary folder."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.demo_story import NEXT, STORY, Step

ROOT = Noun("", "")


@ROOT.read("demo", examples=["mgmtctl demo", "mgmtctl demo --keep ./story"])
def demo(
    session: CliSession,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="Leave the folder here; it must not exist.")
    ] = None,
) -> None:
    """Tell the main job as a story, with real output, in a temporary folder.

    Nothing outside that folder is read or changed.
    """
    with _stage(keep) as folder, _own_service(folder):
        for step in STORY:
            _tell(session, step)
    session.print("\n# Where to go next")
    for line in NEXT:
        session.print(f"  {line}")
    if keep is not None:
        session.print(f"\n# The folder is kept: MGMTCTL_HOME={shlex.quote(str(keep.resolve() / 'service'))}")


@contextlib.contextmanager
def _stage(keep: Path | None) -> Iterator[Path]:
    """The folder of the story: made new, and gone at the end unless it is to be kept."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="mgmtctl-demo-") as name:
            yield Path(name)
        return
    from mgmtctl.domain.errors import ConflictError

    try:
        keep.mkdir(mode=0o700)
    except FileExistsError:
        raise ConflictError(f"`{keep}` exists", fix="name a folder that does not exist") from None
    yield keep.resolve()


@contextlib.contextmanager
def _own_service(folder: Path) -> Iterator[None]:
    """Let every command of the story work on `folder` alone, whatever service and session the user has."""
    before, here = dict(os.environ), Path.cwd()
    for name in [name for name in os.environ if name.startswith("MGMTCTL_")]:
        del os.environ[name]
    os.environ["MGMTCTL_HOME"] = str(folder / "service")
    os.environ["MGMTCTL_STATE"] = str(folder / "state")
    for user in ("admin", "portal"):
        _write_password(folder / f"{user}.password")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


def _write_password(path: Path) -> None:
    from mgmtctl.passwords import generate

    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(generate() + "\n")


def _tell(session: CliSession, step: Step) -> None:
    from mgmtctl.cli.app import run

    if step.says:
        session.print(f"\n# {step.says}")
    for name, content in step.files.items():
        Path(name).write_text(content, encoding="utf-8")
        session.print(f"$ cat {name}\n{content.rstrip()}")
    session.print(f"$ mgmtctl {shlex.join(step.command)}")
    code = run(list(step.command))
    if code:
        session.print(f"[exit {code}]")
    if code != step.code:
        session.warn(f"this step should have ended with {step.code}; the story stops here")
        session.exit(1)
