"""Transcripts: command lines with what they print, run in a folder of their own and compared line by line.

    # given: a service where admin is logged in
    $ cat > rule.json <<EOF
    {"MATCH": {"office": "20"}}
    EOF
    $ mgmtctl rules create office -f rule.json
    created rule `office` with id 100
    $ mgmtctl rules show nobody
    error: rule `nobody` does not exist
    [exit 5]

`# given:` is one of GIVEN and comes first; other `#` lines and empty lines are kept. Files are made with mode 0600.
`VARIABLE=value` before `mgmtctl` and `< FILE` or `> FILE` after its arguments work as in a shell. Stdout and stderr
stand in the order they came; what differs from run to run is shown as `<time>`, `<key>`, `<token>`, `<seconds>`,
`<age>`, and the folders as `/here` and `/service`. `cat > $MGMTCTL_HOME/...` stands for work with another tool.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from mgmtctl.__main__ import main
from tests.cli.conftest import _bytes, _signals_kept, _Stream

GIVEN = ("nothing", "a service where nobody is logged in", "a service where admin is logged in")
_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d"), "<time>"),
    (re.compile("<time> to <time>"), "<time>"),  # within a second or not
    (re.compile(r"\beyJ[\w-]+\.[\w-]+\.[\w-]+"), "<token>"),
    (re.compile(r"(?<=key)(\W+)[0-9a-f]{64}\b"), r"\1<key>"),
    (re.compile(r"\b\d+\.\d{3}s\b"), "<seconds>"),
    (re.compile(r"\b\d+ s ago\b"), "<age>"),
)


@dataclass
class Step:
    """One `$` line: what it is, the lines of its file, and what was expected of it."""

    line: str
    content: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    before: list[str] = field(default_factory=list)


def parse(text: str) -> tuple[list[Step], list[str]]:
    """The steps of a transcript with the comments before each, and the comments at its end."""
    steps: list[Step] = []
    comments: list[str] = []
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("$ "):
            step = Step(line[2:], before=comments)
            comments = []
            steps.append(step)
            if step.line.startswith("cat > "):
                step.content = list(_until(lines, "EOF"))
        elif line.startswith("#") or not line.strip():
            comments.append(line)
        elif steps:
            # An empty line or a `#` line inside an output belongs to it.
            steps[-1].expected += [*comments, line]
            comments = []
    return steps, comments


def _until(lines: Iterator[str], end: str) -> Iterator[str]:
    for line in lines:
        if line == end:
            return
        yield line


def replay(text: str, folder: Path) -> str:
    """The transcript as it comes out when it is run in `folder`."""
    steps, rest = parse(text)
    lines: list[str] = []
    for step in steps:
        lines += [*step.before, f"$ {step.line}"]
        if step.line.startswith("cat > "):
            name = step.line.split()[2].replace("$MGMTCTL_HOME", os.environ["MGMTCTL_HOME"])
            _create(folder / name, "".join(f"{line}\n" for line in step.content))
            lines += [*step.content, "EOF"]
        else:
            lines += _settled(_run(step.line, folder), folder)
    return "\n".join([*lines, *rest]).rstrip("\n") + "\n"


def given(text: str) -> str:
    """What a transcript begins with."""
    first = text.partition("\n")[0].removeprefix("# given: ")
    assert first in GIVEN, f"expected `# given: ` and one of {GIVEN}, got `{first}`"
    return first


def _create(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    path.chmod(0o600)


def _settled(output: str, folder: Path) -> list[str]:
    text = output.replace(str(folder), "/here").replace(os.environ["MGMTCTL_HOME"], "/service")
    for pattern, name in _VOLATILE:
        text = pattern.sub(name, text)
    return text.splitlines()


def _run(line: str, folder: Path) -> str:
    words = shlex.split(line)
    variables: dict[str, str] = {}
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    data, target = b"", None
    if len(words) > 2 and words[-2] in ("<", ">"):
        file = folder / words[-1]
        data, target = (file.read_bytes(), None) if words[-2] == "<" else (b"", file)
        words = words[:-2]
    assert words[0] == "mgmtctl", f"a transcript runs mgmtctl only, not `{line}`"
    output, code = _captured(words[1:], data, variables, folder, target)
    return output + (f"[exit {code}]\n" if code else "")


def _captured(
    words: list[str], data: bytes, variables: dict[str, str], folder: Path, target: Path | None
) -> tuple[str, int]:
    """What stands on the screen, and the exit code; stdout goes to the target when there is one."""
    before, place = (sys.stdin, sys.stdout, sys.stderr), Path.cwd()
    stream = _Stream()
    out = stream if target is None else _Stream()
    sys.stdin, sys.stdout, sys.stderr = _Stream(data), out, stream
    os.chdir(folder)
    try:
        with _variables(variables):
            code = _signals_kept(lambda: main(words))
        if target is not None:
            target.write_bytes(_bytes(out))
        output = _bytes(stream).decode("utf-8", "backslashreplace")
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        os.chdir(place)
    return (output if output.endswith("\n") or not output else output + "\n"), code


@contextmanager
def _variables(values: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
