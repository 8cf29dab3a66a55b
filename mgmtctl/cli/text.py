"""Text that is safe to show: control characters in data never reach a terminal (design: command line, output)."""

from __future__ import annotations

from collections.abc import Sequence

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# Only what would break a row: a pipe gets the data as it is.
_ROW_BREAKERS = str.maketrans(_SHORT)


def clean(text: str) -> str:
    """`text` in one line; each character that does not print as itself (controls, bidi marks) as an escape."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def clean_lines(text: str) -> str:
    """As `clean`, line ends and tabs kept."""
    if text.replace("\n", "").isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escape(c) for c in text)


def row_cell(text: str) -> str:
    """`text` as one cell of a tab-separated row: tabs and line ends escaped, everything else as it is."""
    return text if text.isprintable() else text.translate(_ROW_BREAKERS)


def few(names: Sequence[str], most: int) -> str:
    """`a, b, c`, or when there are more than `most` the first two and how many more: `a, b and 977 more`."""
    shown = names if len(names) <= most else names[:2]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def folded(line: str, width: int, hang: int | None = None) -> str:
    """`line` in lines of at most `width` characters, broken at blanks only; 0 leaves it as it is.

    What goes on below is indented by `hang`; None: by two more than the line itself.
    """
    if not 0 < width < len(line):
        return line
    import textwrap

    begin = line[: len(line) - len(line.lstrip())]
    after = " " * (len(begin) + 2 if hang is None else hang)
    parts = textwrap.wrap(
        line.lstrip(), width, initial_indent=begin, subsequent_indent=after, break_long_words=False,
        break_on_hyphens=False, drop_whitespace=True,
    )  # fmt: skip
    return "\n".join(parts)


def _escape(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    number = ord(character)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
