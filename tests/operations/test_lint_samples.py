"""Facts about the texts that patterns are shown with."""

from __future__ import annotations

import pytest

from mgmtctl.domain.patterns import Pattern
from mgmtctl.operations.samples import samples


@pytest.mark.parametrize(
    "source",
    [
        "admin.*",
        "^adm(in|inistrator)$",
        "[a-z]+@acme\\.com",
        "web-(team|ops)-\\d+",
        "(?P<n>a+)b",
        "[[:alpha:]]+\\z",
        "[^a]{3}",
        ".+",
    ],
)
def test_a_pattern_has_texts_that_it_matches(source: str) -> None:
    found = samples(source)
    assert 2 <= len(found) <= 3
    assert len(set(found)) == len(found)
    for text in found:
        assert Pattern(source).matches(text)
        assert text.isprintable()


def test_the_same_pattern_has_the_same_texts() -> None:
    samples.cache_clear()
    first = samples("a[0-9]+")
    samples.cache_clear()
    assert samples("a[0-9]+") == first


def test_few_texts_are_all_shown() -> None:
    assert samples("(a|b)") == ("a", "b")
    assert samples("x?") == ("", "x")


@pytest.mark.parametrize(
    "source",
    [
        "a^b",
        "\\pL+",
        "\\Qa.b\\E",
        "a{900}",
        "(((((a+)+)+)+)+)+b",
        "((((((((a{2}){2}){2}){2}){2}){2}){2}){2})",
    ],
)
def test_where_no_text_can_be_made_there_is_none(source: str) -> None:
    assert samples(source) in ((), *[(text,) for text in samples(source)])
    for text in samples(source):
        assert Pattern(source).matches(text)
