"""Patterns: text `r'...'` in a rule, a key or a value, in RE2 syntax (S 5.3, D 3).

Rules: the pattern is everything between the quotes; it matches text only, and the whole text. The engine is loaded
when a pattern that needs it meets a candidate (docs/decisions/re2.md), because most logins need none.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, TypeGuard

PATTERN_START = "r'"
_ENGINE_MEMORY = 1 << 20  # bytes for each pattern; one that needs more is refused by the engine
_META = frozenset("\\.^$|?*+()[]{}")


def is_pattern(text: object) -> TypeGuard[str]:
    """True when a value or a key of a rule begins as a pattern does."""
    return isinstance(text, str) and text.startswith(PATTERN_START)


@lru_cache(maxsize=4096)
def read_pattern(text: str) -> Pattern | None:
    """The pattern that the text `r'...'` writes; None: not closed, or empty, which is refused on write."""
    return Pattern(text[2:-1]) if len(text) > 3 and text.endswith("'") else None


class Pattern:
    """What stands between the quotes: true of a text that it matches as a whole.

    Most patterns are literals with `.*` or `.+` between them: these are decided here (`quick`). For the others the
    literal beginning decides first, so the engine compiles a pattern only when a candidate text exists.
    """

    __slots__ = ("_engine", "_gaps", "_parts", "head", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self._parts, self._gaps, rest = _split(source)
        self.head = "" if rest and _alternates(source) else self._parts[0]
        if rest:
            # An operator takes the last character before it; a dot or a class stands for itself.
            if not self._gaps and rest[0] not in ".[":
                self.head = self.head[:-1]
            self._parts = []
        self._engine: Any = None

    @property
    def literal(self) -> str | None:
        """The one text that matches, if it is just one."""
        return self._parts[0] if len(self._parts) == 1 else None

    @property
    def is_simple(self) -> bool:
        """True when only a text of several lines ever needs the engine."""
        return bool(self._parts)

    @property
    def size(self) -> int:
        """RE2 instructions of the compiled pattern. ValueError as `engine`."""
        return int(self.engine().programsize)

    def quick(self, text: str) -> bool | None:
        """The verdict without the engine; None: it must be asked."""
        parts = self._parts
        if len(parts) == 1:
            return text == parts[0]
        if not text.startswith(self.head):
            return False
        if not parts or "\n" in text:  # a dot matches everything else
            return None
        position = len(self.head)
        for part, gap in zip(parts[1:-1], self._gaps, strict=False):
            position = text.find(part, position + gap)
            if position < 0:
                return False
            position += len(part)
        return text.endswith(parts[-1]) and len(text) - len(parts[-1]) - position >= self._gaps[-1]

    def matches(self, text: str) -> bool:
        """The engine's verdict on the whole of `text`. ValueError: nothing RE2 can take."""
        return self.engine().fullmatch(text.encode()) is not None

    def finds(self, text: str) -> bool:
        """The engine's verdict on any part of `text` (for traces). ValueError as `matches`."""
        return self.engine().search(text.encode()) is not None

    def engine(self) -> Any:
        """The compiled pattern, kept. ValueError with the reason when RE2 refuses it."""
        if self._engine is None:
            self._engine = compiled(self.source)
        return self._engine


def _split(source: str) -> tuple[list[str], list[int], str]:
    """(literals, characters that each gap between them takes at least, the rest that is neither).

    Whatever is in doubt is rest, and left to the engine.
    """
    literal, rest = _literal_start(source.removeprefix("^"))
    parts, gaps = [literal], []
    while rest[:2] in (".*", ".+"):
        gaps.append(int(rest[1] == "+"))
        literal, rest = _literal_start(rest[2:])
        parts.append(literal)
    return parts, gaps, "" if rest == "$" else rest


def _alternates(source: str) -> bool:
    """False when no `|` can stand outside of parentheses, so that every match begins alike."""
    level = position = 0
    while position < len(source):
        character = source[position]
        if character == "[" or source.startswith("\\Q", position):
            return "|" in source[position:]  # a bracket or a quotation may hold anything
        if character == "|" and level == 0:
            return True
        level += (character == "(") - (character == ")")
        position += 2 if character == "\\" else 1
    return False


def _literal_start(source: str) -> tuple[str, str]:
    """(the text that a pattern begins with literally, the rest of the pattern)."""
    found: list[str] = []
    position = 0
    while position < len(source):
        character = source[position]
        if character == "\\" and source[position + 1 : position + 2] in _META:
            position += 1
            character = source[position]
        elif character in _META:
            break
        found.append(character)
        position += 1
    return "".join(found), source[position:]


def compiled(source: str) -> Any:
    """The pattern as RE2 has it, with `programsize`. ValueError with the reason when RE2 refuses it."""
    import re2

    try:
        return re2.compile(source.encode(), _options())
    except re2.error as error:
        raise ValueError(_refusal(error)) from None


@lru_cache(maxsize=1)
def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = _ENGINE_MEMORY
    return options


def _refusal(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    said = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    kind, _, detail = said.partition(": ")
    if kind == "invalid perl operator" and detail in ("(?=", "(?!", "(?<=", "(?<!"):
        return f"look-around (`{detail}`) does not exist in RE2, which runs in linear time"
    if kind == "invalid escape sequence" and detail[1:2].isdigit():
        return f"back-references (`{detail}`) do not exist in RE2, which runs in linear time"
    return f"{kind}: `{detail}`" if detail else kind
