"""Names of groups."""

from __future__ import annotations

import pytest

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.groups import check_group_name, quoted

GOOD_NAMES = [
    pytest.param("default", id="the default group"),
    pytest.param("a" * 128, id="128 characters"),
    pytest.param("Web-servers_2.old", id="every kind of character"),
    pytest.param("42", id="digits only"),
    pytest.param("All", id="all in other letter case"),
    pytest.param("a..b", id="dots in the middle"),
]

BAD_NAMES = [
    pytest.param("", "a group needs a name", id="empty"),
    pytest.param("a" * 129, "at most 128 characters, got 129", id="too long"),
    pytest.param(".", "leading dot|cannot name", id="the folder itself"),
    pytest.param("..", "cannot name", id="the folder above"),
    pytest.param(".hidden", "cannot name", id="a leading dot"),
    pytest.param("all", "cannot name", id="the word for every group"),
    pytest.param("../etc", r"`\.\./etc` cannot name a group; use letters, digits, \. _ -", id="a path"),
    pytest.param("a/b", "cannot name", id="a slash"),
    pytest.param("a\\b", "cannot name", id="a backslash"),
    pytest.param("web,db", "cannot name", id="a comma, which joins groups"),
    pytest.param("web ", "cannot name", id="a trailing blank"),
    pytest.param("web\n", r"`web\\n` cannot name", id="a trailing newline"),
    pytest.param("web\0", "cannot name", id="a NUL"),
    pytest.param("wéb", "cannot name", id="a letter outside ASCII"),
    pytest.param("web\u0663", "cannot name", id="a digit outside ASCII"),
]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_good_name_is_kept_as_it_is(name: str) -> None:
    assert check_group_name(name) == name


@pytest.mark.parametrize(("name", "problem"), BAD_NAMES)
def test_a_bad_name_is_refused(name: str, problem: str) -> None:
    with pytest.raises(InvalidError, match=problem) as refused:
        check_group_name(name)
    assert refused.value.code == 1722


def test_input_in_a_message_stays_on_one_short_line() -> None:
    assert quoted("a\nb\x1b[2J\udce9") == "`a\\nb\\x1b[2J\\udce9`"
    assert len(quoted("x" * 5000)) < 100
