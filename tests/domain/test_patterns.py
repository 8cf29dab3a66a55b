"""Patterns that are read without the engine mean what the engine says they mean."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mgmtctl.domain.patterns import Pattern, compiled, read_pattern

ALPHABET = "ab\\.^$|?*+()[]{}0Q\n-é_"
SIMPLE = st.lists(
    st.sampled_from(["a", "b", "é", r"\.", r"\*", r"\\", ".*", ".+", "-", "@"]), min_size=1, max_size=6
).map("".join)


def engine_says(source: str, text: str) -> bool | None:
    try:
        return compiled(source).fullmatch(text.encode()) is not None
    except ValueError:
        return None


@settings(max_examples=400)
@given(source=st.text(ALPHABET, min_size=1, max_size=8), text=st.text("ab.*0\n\\é|$^-", max_size=5))
@example(source=r"ab\Q\E*", text="a")
@example(source="a(?i)*", text="")
@example(source="a|b.*", text="a")
@example(source="a(b|c)|d", text="d")
@example(source="a[(]|b", text="b")
@example(source=r"ab\Q(\E|c", text="c")
@example(source=r"a\(|b", text="b")
@example(source="ab{0}", text="a")
@example(source="a$*", text="a")
@example(source="a.*?b", text="ab")
@example(source="^$", text="")
@example(source="a$", text="a\n")
@example(source="a.*b", text="a\nb")
@example(source="a.*\n", text="ab\n")
def test_the_quick_verdict_is_the_engines(source: str, text: str) -> None:
    pattern = Pattern(source)
    said = engine_says(source, text)
    if said is None:
        assert not pattern.is_simple
    else:
        assert pattern.quick(text) in (None, said)


@settings(max_examples=300)
@given(source=SIMPLE, text=st.lists(st.sampled_from(["a", "b", "é", ".", "*", "\\", "-", "@"])).map("".join))
def test_literals_with_gaps_never_need_the_engine(source: str, text: str) -> None:
    pattern = Pattern(source)
    assert pattern.is_simple
    assert pattern.quick(text) is engine_says(source, text)


@pytest.mark.parametrize(
    ("source", "literal"),
    [
        ("admin", "admin"),
        ("^admin$", "admin"),
        (r"jane\.doe@x\.org", "jane.doe@x.org"),
        (r"a\$", "a$"),
        ("cn=a,ou=b", "cn=a,ou=b"),
        ("^$", ""),
        (".*", None),
        ("a.", None),
        ("a|b", None),
        (r"\d", None),
        ("(a)", None),
    ],
)
def test_a_pattern_for_one_text_is_known_as_that_text(source: str, literal: str | None) -> None:
    assert Pattern(source).literal == literal


@pytest.mark.parametrize("text", ["r'", "r''", "r'a", "r'a'b"])
def test_what_is_not_closed_or_empty_is_no_pattern(text: str) -> None:
    assert read_pattern(text) is None


def test_a_pattern_is_everything_between_the_quotes() -> None:
    pattern = read_pattern("r'a'b'")
    assert pattern is not None
    assert pattern.source == "a'b"


def test_a_pattern_whose_beginning_differs_does_not_load_the_engine() -> None:
    code = (
        "import sys\n"
        "from mgmtctl.domain.matching import ContextIndex, holds\n"
        "index = ContextIndex({'a': 'admin', 'b': ['x', 'y']})\n"
        "rule = [{'FIND': {'a': \"r'operator[0-9]'\"}}, {'FIND': {'b': \"r'.*z.*'\"}}, {'FIND': {'c': \"r'[a]'\"}}]\n"
        "assert holds(rule, index) is False and 're2' not in sys.modules\n"
        "assert holds([{'FIND': {'a': \"r'adm[ij]n'\"}}], index) is True and 're2' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_refused_pattern_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert engine_says("(a", "a") is None
    assert capfd.readouterr() == ("", "")
