"""What changed between two states of a file, line by line, in the form that `patch` reads.

Rules: lines end at a line feed and nowhere else; bytes that are no UTF-8 come through unchanged. Bounded: a file with a
NUL, a large one, or one of which too much differs is only named, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

LARGEST = 2 << 20  # bytes
MOST_LINES = 10_000  # lines between the first and the last that differs: above it comparing takes too long
_CONTEXT = 3
_NO_END = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file that differs: `lines` without line ends, or why there are none (`omitted`).

    `before` and `after` are (SHA-256, size), None where the file does not exist.
    """

    file: str
    change: str
    before: tuple[str, int] | None
    after: tuple[str, int] | None
    lines: tuple[str, ...] = ()
    omitted: str | None = None

    def record(self) -> dict[str, Any]:
        """{"file", "change", "before", "after", "diff", "omitted"}; bytes that are no UTF-8 are replaced."""
        text = "".join(f"{line}\n" for line in self.lines)
        return {
            "file": self.file,
            "change": self.change,
            "before": _facts(self.before),
            "after": _facts(self.after),
            "diff": text.encode(errors="surrogateescape").decode(errors="replace") if self.lines else None,
            "omitted": self.omitted,
        }


def unified(
    before: bytes | None, after: bytes | None, labels: tuple[str, str]
) -> tuple[tuple[str, ...], str | None]:
    """The unified diff of two contents (None: no file) under `labels`, or no lines and why there are none."""
    why = _unshown(before) or _unshown(after)
    if why is not None:
        return (), why
    old, new = _lines(before), _lines(after)
    start = _common(old, new)
    end = min(_common(old[::-1], new[::-1]), len(old) - start, len(new) - start)
    if max(len(old), len(new)) - start - end > MOST_LINES:
        return (), "too many lines differ to be shown"
    heads = [f"--- {labels[0]}" if before is not None else "--- /dev/null"]
    heads += [f"+++ {labels[1]}" if after is not None else "+++ /dev/null"]
    return (*heads, *_hunks(old, new, max(start - _CONTEXT, 0), max(end - _CONTEXT, 0))), None


def _hunks(old: Sequence[str], new: Sequence[str], start: int, end: int) -> Iterator[str]:
    """The hunks of two files that are equal in `start` lines at their beginning and `end` lines at their end."""
    from difflib import SequenceMatcher

    a, b = old[start : len(old) - end], new[start : len(new) - end]
    for group in SequenceMatcher(None, a, b).get_grouped_opcodes(_CONTEXT):
        (_, a1, _, b1, _), (_, _, a2, _, b2) = group[0], group[-1]
        yield f"@@ -{_range(a1 + start, a2 + start)} +{_range(b1 + start, b2 + start)} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from _marked(" ", a[i1:i2])
                continue
            yield from _marked("-", a[i1:i2])
            yield from _marked("+", b[j1:j2])


def _marked(sign: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield _NO_END


def _range(first: int, last: int) -> str:
    length = last - first
    if length == 1:
        return str(first + 1)
    return f"{first + 1 if length else first},{length}"


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at the beginning are equal."""
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count


def _lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode(errors="surrogateescape")
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _unshown(content: bytes | None) -> str | None:
    if content is None:
        return None
    if b"\0" in content:
        return "it holds a NUL byte"
    return f"it has more than {LARGEST} bytes" if len(content) > LARGEST else None


def _facts(entry: tuple[str, int] | None) -> dict[str, Any] | None:
    return None if entry is None else {"sha256": entry[0], "size": entry[1]}
