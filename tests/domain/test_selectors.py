"""Whom a block is for, and where the two readings of a selector differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.domain.agent_conf import read
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.selectors import (
    NO,
    UNKNOWN,
    YES,
    block_match,
    listed_subject,
    pattern_problem,
    read_as_list,
    selected,
)

WEB = AgentFacts(
    "001",
    "web-01",
    "linux",
    "Linux |h [Ubuntu|ubuntu: 22.04] - Product v4.9.2",
    (4, 9, 2),
    ("debian", "web-front"),
)
SILENT = AgentFacts("002", "web-02")


@pytest.mark.parametrize(
    ("selectors", "verdict"),
    [
        pytest.param({}, YES, id="no attribute is every agent"),
        pytest.param({"name": "web"}, YES, id="searched, not matched whole"),
        pytest.param({"name": "^WEB-\\d+$"}, YES, id="a regular expression without regard to case"),
        pytest.param({"name": "^eb"}, NO, id="tied to the beginning"),
        pytest.param({"name": "!web"}, NO, id="negated"),
        pytest.param({"name": "!db"}, YES, id="negated and not there"),
        pytest.param({"name": "db|web"}, YES, id="alternatives"),
        pytest.param({"name": ""}, YES, id="the empty pattern is found in everything"),
        pytest.param({"name": "("}, NO, id="no pattern at all matches nobody"),
        pytest.param({"name": "!("}, NO, id="not even negated"),
        pytest.param({"os": "ubuntu: 2[02]"}, YES, id="the system as reported"),
        pytest.param({"os": "v4\\.9"}, YES, id="with the release"),
        pytest.param({"profile": "^web-front$"}, YES, id="each profile by itself"),
        pytest.param({"profile": "debian, web"}, NO, id="never the list"),
        pytest.param({"profile": "!web"}, NO, id="negated: no profile may match"),
        pytest.param({"profile": "!windows"}, YES, id="negated and none matches"),
        pytest.param({"name": "web", "os": "windows"}, NO, id="all given ones must match"),
        pytest.param({"overwrite": "yes"}, YES, id="what is no selector selects nothing"),
    ],
)
def test_a_block_is_for_whom_its_selectors_say(selectors: dict[str, str], verdict: str) -> None:
    tag = "".join(f" {name}='{value}'" for name, value in selectors.items())
    (block,) = read(f"<agent_config{tag}></agent_config>".encode()).elements
    assert block_match(block, WEB).verdict == verdict


@pytest.mark.parametrize(
    ("selectors", "verdict"),
    [
        pytest.param({"os": "ubuntu"}, UNKNOWN, id="what is not known matches nothing"),
        pytest.param({"os": "!ubuntu"}, UNKNOWN, id="not even a negation"),
        pytest.param({"profile": "x"}, UNKNOWN, id="nor a profile"),
        pytest.param({"name": "web", "os": "x"}, UNKNOWN, id="a yes does not make it known"),
        pytest.param({"name": "db", "os": "x"}, NO, id="a no does"),
    ],
)
def test_what_is_not_known_is_unknown_and_never_no(selectors: dict[str, str], verdict: str) -> None:
    assert selected(selectors, SILENT).verdict == verdict


def test_an_agent_known_to_have_no_profile_is_known() -> None:
    bare = AgentFacts("003", "db", profiles=())
    assert selected({"profile": "web"}, bare).verdict == NO
    assert selected({"profile": "!web"}, bare).verdict == YES


def test_the_reasons_name_each_selector_and_what_it_was_compared_with() -> None:
    found = selected({"name": "web", "os": "windows"}, WEB)
    assert [(match.attribute, match.verdict, match.subject) for match in found.matches] == [
        ("name", YES, ("web-01",)),
        ("os", NO, (WEB.os_text,)),
    ]


@pytest.mark.parametrize(
    ("value", "subject", "matches"),
    [
        ("web", "web01", True),
        ("web", "myweb", True),
        ("web", "WEB", True),
        ("^web", "myweb", False),
        ("web$", "myweb", True),
        ("^web01$|^db01$", "DB01", True),
        ("web.*", "web01", False),
        ("web\\d+", "web01", False),
        ("!web", "db01", True),
        ("!web|db", "db01", False),
        ("", "anything", True),
        ("a|", "anything", True),
        ("^", "anything", True),
        ("$", "anything", True),
        ("^$", "anything", True),
        ("x" * 20_481, "x" * 20_481, False),
    ],
)
def test_the_other_reading_is_a_list_of_substrings(value: str, subject: str, matches: bool) -> None:
    assert read_as_list(value, subject) is matches


def test_the_other_reading_sees_profiles_as_one_text() -> None:
    assert listed_subject("profile", WEB) == "debian, web-front"
    assert listed_subject("profile", AgentFacts("1", "x", profiles=())) == "-"
    assert listed_subject("profile", SILENT) is None


def test_a_value_that_is_no_pattern_says_why() -> None:
    assert pattern_problem("web|db") is None
    assert "missing )" in str(pattern_problem("!(web"))
    assert pattern_problem("\udcff") is not None


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_value_and_any_name_give_a_verdict(value: str, name: str) -> None:
    agent = AgentFacts("001", name, None, name, None, (name,))
    for attribute in ("name", "os", "profile"):
        assert selected({attribute: value}, agent).verdict in (YES, NO)
    assert read_as_list(value, name) in (True, False)


@given(st.sampled_from(["web", "db-1", "x_y", "Debian12"]), st.sampled_from(["web", "DB-1", "a x_y b", ""]))
def test_both_readings_agree_on_plain_words(word: str, subject: str) -> None:
    agent = AgentFacts("001", subject)
    for value in (word, "!" + word, f"^{word}", f"{word}$"):
        assert (selected({"name": value}, agent).verdict == YES) == read_as_list(value, subject)
