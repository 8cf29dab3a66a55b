"""Names and passwords of users, and the record of a role."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.roles import Role
from mgmtctl.domain.users import check_name, check_password, is_reserved, name_key, require_password

GOOD_NAMES = [
    pytest.param("a", id="one character"),
    pytest.param("a" * 64, id="sixty-four characters"),
    pytest.param("ada.l_o-v%40", id="every kind of character"),
    pytest.param("1a", id="a leading digit"),
    pytest.param("%", id="a symbol alone"),
]

BAD_NAMES = [
    pytest.param("", "needs a name", id="empty"),
    pytest.param("a" * 65, "at most 64 characters, got 65", id="too long"),
    pytest.param("42", "cannot name", id="digits only"),
    pytest.param("a b", "cannot name", id="a blank"),
    pytest.param("abc\n", "cannot name", id="a trailing newline"),
    pytest.param("ädä", "cannot name", id="letters outside ASCII"),
    pytest.param("a/b", "cannot name", id="a slash"),
    pytest.param("a:b", "cannot name", id="a colon"),
]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_good_name_is_kept_as_it_is(name: str) -> None:
    assert check_name("user", name) == name


@pytest.mark.parametrize(("name", "problem"), BAD_NAMES)
def test_a_bad_name_is_refused(name: str, problem: str) -> None:
    with pytest.raises(InvalidError, match=problem):
        check_name("role", name)


def test_names_that_differ_in_letter_case_are_the_same() -> None:
    assert name_key("Alice") == name_key("ALICE")


UNMET = [
    pytest.param("Abcdef1!", [], id="eight characters of all kinds"),
    pytest.param("Aa1!" * 16, [], id="sixty-four characters"),
    pytest.param("Abcde1!", ["at least 8 characters"], id="seven characters"),
    pytest.param("Aa1!" * 16 + "x", ["at most 64 characters"], id="sixty-five characters"),
    pytest.param("ABCDEF1!", ["a lower-case letter"], id="no lower case"),
    pytest.param("abcdef1!", ["an upper-case letter"], id="no upper case"),
    pytest.param("Abcdefg!", ["a digit"], id="no digit"),
    pytest.param("Abcdefg1", ["a symbol"], id="no symbol"),
    pytest.param("Abcdef1 ", ["a symbol"], id="a blank is no symbol"),
    pytest.param("Abcdef1\x00", ["a symbol"], id="a control character is no symbol"),
    pytest.param(
        "",
        ["at least 8 characters", "a lower-case letter", "an upper-case letter", "a digit", "a symbol"],
        id="empty breaks every rule but one",
    ),
]


@pytest.mark.parametrize(("password", "unmet"), UNMET)
def test_each_unmet_rule_is_named(password: str, unmet: list[str]) -> None:
    assert check_password(password) == unmet


@given(st.text(max_size=80))
def test_a_refusal_never_repeats_the_password(password: str) -> None:
    unmet = check_password(password)
    if not unmet:
        assert require_password(password) == password
        return
    with pytest.raises(InvalidError) as caught:
        require_password(password)
    assert caught.value.problem == f"the password needs {', '.join(unmet)}"


def test_a_role_is_shown_with_its_links() -> None:
    record = Role(100, "team", policies=(7, 3), users=(1,), rules=(2,)).record()
    assert record == {"id": "100", "name": "team", "policies": ["7", "3"], "users": ["1"], "rules": ["2"]}


def test_ids_up_to_99_are_reserved() -> None:
    assert [is_reserved(number) for number in (1, 99, 100)] == [True, True, False]
