"""A fresh service for a benchmark, with an administrator logged in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PASSWORD = "Bench-pass1!"
MGMTCTL = str(Path(sys.executable).parent / "mgmtctl")


def fresh(folder: Path) -> dict[str, str]:
    """A data folder below `folder` with one agent, and the environment that uses it."""
    environment = {"MGMTCTL_HOME": str(folder / "home"), "MGMTCTL_STATE": str(folder / "state")}
    secret = folder / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o600)
    by_file = ["--password-file", str(secret)]
    for words in (["init", *by_file], ["login", "-u", "admin", *by_file], ["agents", "create", "host"]):
        subprocess.run([MGMTCTL, *words], env={**os.environ, **environment}, check=True, capture_output=True)
    return environment
