"""A merged file of 1,000 files and 100 MB beside the bare work: read every file, write the bytes, hash them.

    python bench/merge.py [--files 1000] [--size 100000] [--rounds 11]

`as a sync` is what a run does with that group: load it, merge it, hash each file and the whole (SHA-256 and MD5), write
merged.mg. Each round runs every row in turn on the same folder; figures are medians over the rounds, after one warm-up.
The last rows read one merged file of that size, and check agent.conf documents: 1 MB of ordinary sections, and the
largest real file where the corpus is.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mgmtctl import bootstrap
from mgmtctl.domain.agent_conf_check import check_agent_conf
from mgmtctl.domain.merging import combine, merged_chunks, read_merged
from mgmtctl.operations import setup
from mgmtctl.operations.context import Context
from mgmtctl.operations.sync_targets import Targets
from mgmtctl.settings import Settings

SECTION = b"""\
  <localfile>
    <log_format>syslog</log_format>
    <location>/var/log/a.log</location>
  </localfile>
"""
REAL = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "agent_conf"


def fill(folder: Path, files: int, size: int) -> None:
    """Files of text lines, spread over ten sub-folders."""
    text = b"0123456789abcdef\n" * (size // 17 + 1)
    for number in range(files):
        path = folder / f"packs{number % 10}" / f"file{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text[:size])


def write(path: Path, chunks: Iterable[bytes]) -> str:
    """Write and hash in one pass."""
    digest = hashlib.sha256()
    with path.open("wb") as stream:
        for chunk in chunks:
            stream.write(chunk)
            digest.update(chunk)
    return digest.hexdigest()


def read_folder(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.txt")}


def bare(folder: Path, target: Path) -> None:
    write(target, read_folder(folder).values())


def merge(folder: Path, target: Path) -> None:
    made = combine([("web", read_folder(folder))])
    write(target, merged_chunks(made.tag, made.parts, b""))


def service(home: Path) -> Context:
    """A new service with the group web."""
    settings = Settings({"MGMTCTL_HOME": str(home)})
    with bootstrap.create_service(settings) as made:
        setup.initialise(made, "Correct-Horse-7")
    ctx = bootstrap.open_context(settings)
    ctx.folders.create_group("web")
    return ctx


def as_a_sync(ctx: Context) -> None:
    """Build the merged file and put it into the group's folder, where it is missing."""
    (ctx.folders.shared / "web" / "merged.mg").unlink(missing_ok=True)
    targets = Targets(ctx.store, ctx.folders, ctx.now, keep=False)
    targets.files("web")
    targets.refresh_group("web")


def document(size: int) -> bytes:
    return b"<agent_config>\n" + SECTION * (size // len(SECTION)) + b"</agent_config>\n"


def largest_real() -> bytes | None:
    """The largest real agent.conf, or None where the corpus is not."""
    return max((path.read_bytes() for path in REAL.iterdir()), key=len) if REAL.is_dir() else None


def measure(rows: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median milliseconds of each row."""
    found: dict[str, list[float]] = {name: [] for name in rows}
    for turn in range(rounds + 1):
        for name, work in rows.items():
            began = time.perf_counter()
            work()
            if turn:
                found[name].append(time.perf_counter() - began)
    return {name: statistics.median(seconds) * 1000 for name, seconds in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        ctx, target = service(Path(name, "service")), Path(name, "out")
        folder = ctx.folders.shared / "web"
        fill(folder, options.files, options.size)
        merge(folder, target)
        merged, megabyte, real = target.read_bytes(), document(1_000_000), largest_real()
        rows: dict[str, Callable[[], object]] = {
            "bare: read, write, hash": lambda: bare(folder, target),
            "merge: read, combine, write, hash": lambda: merge(folder, target),
            "as a sync: load, merge, hash, write": lambda: as_a_sync(ctx),
            "read_merged": lambda: read_merged(merged),
            "check 1 MB agent.conf": lambda: check_agent_conf(megabyte),
        }
        if real is not None:
            rows[f"check largest real agent.conf, {len(real)} bytes"] = lambda: check_agent_conf(real)
        for row, milliseconds in measure(rows, options.rounds).items():
            print(f"{row:50} {milliseconds:10.1f} ms")


if __name__ == "__main__":
    main()
