"""Facts about diffs: they can be applied, they are those of `diff`, and they are bounded."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.file_diff import LARGEST, MOST_LINES, FileDiff, unified

LABELS = ("a.txt\tr1", "a.txt\tr2")
NO_END = "\\ No newline at end of file"
lines = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\xff\n", b"\n", b"--- x\n", b"@@\n"]), max_size=40
)
contents = st.builds(lambda found, end: b"".join(found) + end, lines, st.sampled_from([b"", b"end", b"\x85"]))


def applied(before: bytes, diff: tuple[str, ...]) -> bytes:
    """What `patch` would make of it; AssertionError when a line that shall go is not there."""
    old = re.findall(r"[^\n]*\n|[^\n]+", before.decode(errors="surrogateescape"))
    result: list[str] = []
    at, last = 0, ""
    for line in diff[2:]:
        head = re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", line)
        if head:
            start = int(head[1]) - (head[2] != "0")
            result += old[at:start]
            at = start
        elif line == NO_END:
            if last == "-":
                continue
            result[-1] = result[-1].removesuffix("\n")
        else:
            last, text = line[0], line[1:] + "\n"
            if last in " -":
                assert old[at].removesuffix("\n") == line[1:]
                at += 1
            if last in " +":
                result.append(text)
    return "".join(result + old[at:]).encode(errors="surrogateescape")


@settings(max_examples=300)
@given(before=contents, after=contents)
def test_a_diff_makes_the_one_of_the_other(before: bytes, after: bytes) -> None:
    diff, why = unified(before, after, LABELS)
    assert why is None
    assert applied(before, diff) == after
    assert (len(diff) == 2) == (before == after)


@pytest.mark.skipif(shutil.which("patch") is None, reason="no patch here")
def test_the_program_patch_takes_it(tmp_path: Path) -> None:
    before = b"".join(b"line %d\n" % number for number in range(200))
    after = before.replace(b"line 5\n", b"").replace(b"line 100\n", b"\xff\nx\n") + b"no end"
    path = tmp_path / "a.txt"
    path.write_bytes(before)
    diff, _ = unified(before, after, LABELS)
    text = "".join(f"{line}\n" for line in diff).encode(errors="surrogateescape")
    subprocess.run(["patch", "-p0"], cwd=tmp_path, input=text, check=True, capture_output=True)
    assert path.read_bytes() == after


def test_a_file_that_comes_or_goes_is_compared_with_nothing() -> None:
    assert unified(None, b"a\nb", LABELS)[0] == (
        *("--- /dev/null", "+++ a.txt\tr2", "@@ -0,0 +1,2 @@"),
        *("+a", "+b", NO_END),
    )
    assert unified(b"a\n", None, LABELS)[0] == ("--- a.txt\tr1", "+++ /dev/null", "@@ -1 +0,0 @@", "-a")


def test_the_places_of_hunks_are_right_far_inside_a_file() -> None:
    before = b"".join(b"%d\n" % number for number in range(50_000))
    diff, _ = unified(before, before.replace(b"\n40000\n", b"\nx\n"), LABELS)
    assert diff[2:] == (
        "@@ -39998,7 +39998,7 @@",
        *(" 39997", " 39998", " 39999", "-40000", "+x", " 40001", " 40002", " 40003"),
    )


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        pytest.param(b"a\0", b"b", "NUL", id="a NUL"),
        pytest.param(b"b", b"x" * (LARGEST + 1), "more than", id="large"),
        pytest.param(b"a\n" * (MOST_LINES + 1), b"", "too many lines", id="many lines"),
    ],
)
def test_what_cannot_be_shown_says_why(before: bytes, after: bytes, words: str) -> None:
    diff, why = unified(before, after, LABELS)
    assert diff == ()
    assert words in str(why)


def test_a_record_can_be_written_as_json_whatever_the_bytes() -> None:
    diff, why = unified(b"\xff\n", b"\xfe\n", LABELS)
    found = FileDiff("a.txt", "updated", ("1" * 64, 2), None, diff, why).record()
    assert found["diff"].encode()
    assert (found["before"], found["after"]) == ({"sha256": "1" * 64, "size": 2}, None)
