"""Start-up of the hot commands against a bare interpreter and a two-command Typer program.

    python bench/startup.py [--agents 50000]

Uses the `mgmtctl` that is installed beside this Python, as a user would.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from timing import report, side_by_side

TYPER_PROGRAM = """\
import typer

app = typer.Typer()


@app.command()
def one() -> None:
    print("one")


@app.command()
def two() -> None:
    print("two")


app()
"""


def main() -> None:
    """Make two stores, time the commands on them, print two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=50_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "two.py"
        program.write_text(TYPER_PROGRAM)
        many, few = _service(folder / "many", arguments.agents), _service(folder / "few", 100)
        mgmtctl = str(Path(sys.executable).parent / "mgmtctl")
        print(f"# {arguments.agents} agents")
        bare = {"python -c pass": [sys.executable, "-c", "pass"]}
        found = side_by_side(
            {
                **bare,
                "mgmtctl --version": [mgmtctl, "--version"],
                "one TAB, agent values": [mgmtctl, "--complete", "agents", ""],
                "one TAB, agent values, prefix": [mgmtctl, "--complete", "agents", "0421"],
            },
            many,
        )
        report(found, "python -c pass")
        print("# 100 agents")
        found = side_by_side(
            {
                "two-command Typer program": [sys.executable, str(program), "one"],
                "mgmtctl whoami": [mgmtctl, "whoami"],
                "mgmtctl agents list -o json": [mgmtctl, "agents", "list", "-o", "json"],
            },
            few,
        )
        report(found, "two-command Typer program")


def _service(home: Path, agents: int) -> dict[str, str]:
    """A data folder with that many agents and somebody logged in; the environment that uses it."""
    home.parent.mkdir(exist_ok=True)
    password = home.with_suffix(".password")
    password.write_text("Bench-pass1!\n")
    password.chmod(0o600)
    fleet = home.with_suffix(".csv")
    rows = (f"host-{number:06},group-{number % 10}" for number in range(1, agents + 1))
    fleet.write_text("name,groups\n" + "\n".join(rows) + "\n")
    environment = {"MGMTCTL_HOME": str(home), "MGMTCTL_STATE": str(home.with_suffix(".state"))}
    commands = [
        ["init", "--password-file", str(password)],
        ["login", "-u", "admin", "--password-file", str(password)],
        *(["groups", "create", f"group-{number}"] for number in range(10)),
        ["agents", "import", str(fleet)],
    ]
    for command in commands:
        subprocess.run(
            [sys.executable, "-m", "mgmtctl", *command],
            env={**os.environ, **environment},
            check=True,
            capture_output=True,
        )
    return environment


if __name__ == "__main__":
    main()
