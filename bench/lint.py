"""Lint of agent.conf: one file in process, the files of 1,000 groups from disk, and documents meant to be slow.

    python bench/lint.py [--files 1000] [--runs 11]

Without the corpus of real files a document of ordinary sections of the same size stands for it. The reader alone runs
beside each check, and the hostile documents are 100 KB and 1 MB, so that growth shows: ten times is linear.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import timing

from mgmtctl.domain.agent_conf import read
from mgmtctl.domain.agent_conf_check import check_agent_conf

REAL = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "agent_conf"
SECTION = b"""\
  <localfile>
    <log_format>syslog</log_format>
    <location>/var/log/%d.log</location>
  </localfile>
  <syscheck><directories realtime="yes" check_all="yes">/srv/%d</directories></syscheck>
"""


def documents() -> list[bytes]:
    """The real files, the largest first; without them one of ordinary sections."""
    if REAL.is_dir():
        return sorted((path.read_bytes() for path in REAL.iterdir()), key=len, reverse=True)
    return [ordinary(48_000)]


def ordinary(size: int) -> bytes:
    """A document of ordinary sections of about that size."""
    inside = b"".join(SECTION % (n, n) for n in range(size // len(SECTION)))
    return b"<agent_config>\n" + inside + b"</agent_config>\n"


def repeated(piece: bytes, size: int) -> bytes:
    """A block full of one piece."""
    return b"<agent_config>" + piece * (size // len(piece)) + b"</agent_config>"


def numbered(size: int) -> bytes:
    """A block full of sections that are all unknown and all different."""
    return b"<agent_config>" + b"".join(b"<frequenc%d/>" % n for n in range(size // 15)) + b"</agent_config>"


def in_syscheck(piece: bytes, size: int) -> bytes:
    """A section full of one piece."""
    inside = piece * (size // len(piece))
    return b"<agent_config><syscheck>" + inside + b"</syscheck></agent_config>"


LOCALFILE = b"<localfile><log_format>json</log_format><location>/a</location></localfile>"
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "ordinary sections": ordinary,
    "unknown sections, all different": numbered,
    "unknown options": partial(in_syscheck, b"<x/>"),
    "the same directory": partial(in_syscheck, b"<directories>/a</directories>"),
    "localfiles of one location": partial(repeated, LOCALFILE),
    "modules without a name": partial(repeated, b"<wodle/>"),
}


def folders(files: int, runs: int) -> None:
    """The files of so many groups, read from disk and judged."""
    real = documents()
    with tempfile.TemporaryDirectory() as place:
        paths = [Path(place) / f"g{number}" / "agent.conf" for number in range(files)]
        for number, path in enumerate(paths):
            path.parent.mkdir()
            path.write_bytes(real[number % len(real)])
        taken = []
        for _ in range(runs):
            began = time.perf_counter()
            findings = sum(len(check_agent_conf(path.read_bytes(), str(path))) for path in paths)
            taken.append(time.perf_counter() - began)
        seconds = statistics.median(taken)
        print(
            f"{files} group files: {seconds:.2f} s, {files / seconds:.0f} files per second, {findings} findings"
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=11)
    arguments = parser.parse_args()
    largest = documents()[0]
    timing.in_process(
        {
            f"largest file ({len(largest)} bytes): check": lambda: check_agent_conf(largest),
            f"largest file ({len(largest)} bytes): reader alone": lambda: read(largest),
        },
        arguments.runs,
    )
    folders(arguments.files, max(1, arguments.runs // 2))
    for name, make in HOSTILE.items():
        for size in (100_000, 1_000_000):
            data = make(size)
            began = time.perf_counter()
            check_agent_conf(data)
            print(f"{name:40} {len(data):>9} bytes {(time.perf_counter() - began) * 1000:10.1f} ms")


if __name__ == "__main__":
    main()
