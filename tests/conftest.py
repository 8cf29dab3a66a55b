"""What every test may need: where real input lies, and the tables the project was built from."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus"
SPECIFICATION = Path(__file__).resolve().parent / "specification"


# Whoever runs the tests in the background of a script lets them ignore Ctrl-C; the programs they start must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-scripts", action="store_true", default=False, help="rewrite what transcripts expect"
    )


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real files; tests that need it are left out where it is not."""
    if not CORPUS.is_dir():
        pytest.skip("corpus not here")
    return CORPUS
