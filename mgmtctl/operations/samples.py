"""Texts that a pattern matches, to be read by somebody who knows what it should match (D 3).

Rules: they are made by chance from the pattern and checked with the engine that evaluates rules; the same pattern
always gives the same texts; work is bounded, whatever the pattern repeats. Where no text can be made there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mgmtctl.domain.patterns import Pattern

WANTED = 3
_TRIES = 30
_MOST_PARTS = 400  # repetitions in one text
_LONGEST = 40
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORD = _LETTERS + "0123456789"
# What RE2 writes otherwise than the library reads it.
_SPELLINGS = ((r"\z", r"\Z"), ("[[:alpha:]]", "[a-z]"), ("[[:alnum:]]", "[a-z0-9]"), ("[[:digit:]]", "[0-9]"))


@lru_cache(maxsize=1024)
def samples(source: str) -> tuple[str, ...]:
    """Up to three texts that the pattern matches as a whole, the shortest first; none when none could be made."""
    import warnings

    maker, spelt = _maker(), source
    for theirs, ours in _SPELLINGS:
        spelt = spelt.replace(theirs, ours)
    found: dict[str, None] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(_TRIES):
            try:
                text = maker.xeger(spelt)
            except ValueError:
                continue  # it repeats too often this time
            except (re.error, LookupError, TypeError, OverflowError, RecursionError):
                return ()  # nothing that the library can read
            found[text] = None
    return _chosen(_verified(source, list(found)))


def _verified(source: str, texts: Sequence[str]) -> list[str]:
    pattern = Pattern(source)
    try:
        return [text for text in texts if text.isprintable() and pattern.matches(text)]
    except ValueError:
        return []


def _chosen(texts: list[str]) -> tuple[str, ...]:
    """The shortest text, the longest that is not too long, and one between."""
    fit = sorted((text for text in texts if len(text) <= _LONGEST), key=lambda text: (len(text), text))
    if len(fit) <= WANTED:
        return tuple(fit)
    return fit[0], fit[len(fit) // 2], fit[-1]


def _maker() -> Any:
    """A maker of texts with the same chance each time; it repeats little, and gives up when it repeats too often."""
    from random import Random

    import rstr

    class Maker(rstr.Rstr):
        left = _MOST_PARTS

        def xeger(self, string_or_regex: Any) -> str:
            self.left = _MOST_PARTS
            return super().xeger(string_or_regex)

        def _handle_repeat(self, start_range: int, end_range: int, value: Any) -> str:
            least, most = int(start_range), int(end_range)
            times = self._random.randint(least, min(most, least + 6))
            self.left -= 1 + times
            if self.left < 0:
                raise ValueError("the pattern repeats too much")
            return "".join(self._handle_state(part) for _ in range(times) for part in value)

    alphabets = {
        "printable": _WORD,
        "nondigits": _LETTERS,
        "nonwhitespace": _WORD,
        "word": _WORD,
        "nonword": " -.",
    }
    return Maker(Random(0), **alphabets)  # noqa: S311 - samples, no secrets
