"""Facts about asking a whole group at once: the verdicts are those of one agent by itself, and work is bounded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.agent_conf import read
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.conf_crowd import MAX_COST, MAX_VALUES, Crowd, is_plain
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

NAMES = ("web-01", "WEB-2", "db.x", "d")
SYSTEMS = (
    "Linux |web |5.8 [Ubuntu|ubuntu: 20.04]",
    "Windows 10 [Ver: 10.0] - Agent v4",
    "É \u017f|k",
    "two\nlines",
)
agents = st.builds(
    AgentFacts,
    id=st.sampled_from(("001", "")),
    name=st.sampled_from(NAMES),
    os_text=st.none() | st.sampled_from(SYSTEMS),
    profiles=st.none() | st.lists(st.sampled_from(("web", "db", "webserver")), max_size=2).map(tuple),
)
PARTS = (
    "web",
    "^web",
    "web$",
    "",
    "^",
    "$",
    "^d$",
    "|",
    "!",
    ".",
    "w.b",
    "[^x]",
    r"\s",
    r"\D*",
    "(?i:D)",
    r"\Aweb",
    "(?:",
    "a{2}",
)
values = st.lists(
    st.sampled_from((*PARTS, "Linux", "k", "s", "é", r"\n", r"\Qweb", "-", "5.8", r"\|")), max_size=4
).map("".join)
selectors = st.dictionaries(st.sampled_from(("name", "os", "profile")), values, max_size=3)


def verdicts(crowd: Crowd, held: dict[str, str]) -> list[str]:
    hit = crowd.hit(held)
    yes = [agent in list(crowd.members(hit.yes)) for agent in crowd.agents]
    places = range(len(crowd.agents))
    flags = [(hit.yes >> 8 * place & 1, hit.unknown >> 8 * place & 1) for place in places]
    assert len(yes) == len(flags)
    return [YES if found else UNKNOWN if perhaps else NO for found, perhaps in flags]


@settings(max_examples=300, deadline=None)
@given(st.lists(agents, max_size=6), selectors)
def test_a_crowd_says_of_each_agent_what_selectors_say(some: list[AgentFacts], held: dict[str, str]) -> None:
    assert verdicts(Crowd(some), held) == [selected(held, agent).verdict for agent in some]


def test_only_the_empty_text_is_empty() -> None:
    held, agent = {"name": "^$"}, AgentFacts("001", "web", None, None, None, None)
    assert verdicts(Crowd([agent]), held) == [selected(held, agent).verdict] == [NO]


def test_a_sign_after_the_negation_is_a_letter() -> None:
    held, odd = {"name": "!!"}, AgentFacts("001", "w\u00e9b", None, None, None, None)
    assert verdicts(Crowd([odd]), held) == [selected(held, odd).verdict] == [YES]


@settings(max_examples=300, deadline=None)
@given(st.lists(agents, max_size=6), st.sampled_from(("name", "os", "profile")), values)
def test_a_crowd_reads_lists_as_one_agent_by_itself(
    some: list[AgentFacts], attribute: str, value: str
) -> None:
    hit = Crowd(some).verdict(attribute, value, listed=True)
    for place, agent in enumerate(some):
        subject = listed_subject(attribute, agent)
        expected = (0, 1) if subject is None else (int(read_as_list(value, subject)), 0)
        assert (hit.yes >> 8 * place & 1, hit.unknown >> 8 * place & 1) == expected


@settings(max_examples=300, deadline=None)
@given(values, st.sampled_from(NAMES))
def test_both_readings_of_a_plain_selector_are_one(value: str, name: str) -> None:
    if is_plain(value):
        assert pattern_problem(value) is None
        assert (selected({"name": value}, AgentFacts("", name)).verdict == YES) == read_as_list(value, name)


def test_agents_with_the_same_system_are_asked_once() -> None:
    crowd = Crowd([AgentFacts(str(number), "x", os_text="Linux") for number in range(1000)])
    crowd.hit({"os": "linux"})
    crowd.hit({"os": "linux"})
    assert crowd.tried == 1


def test_a_name_is_compared_once_for_each_different_selector() -> None:
    crowd = Crowd([AgentFacts(str(number), f"web-{number}") for number in range(1000)])
    for _ in range(20):
        crowd.hit({"name": r"web-\d+"})
        crowd.hit({"name": "db"})
    assert crowd.tried == 2000


@pytest.mark.parametrize(
    "bomb",
    [
        pytest.param("(?:.{0,30}.{0,30}){30}zzz", id="repetitions inside of repetitions"),
        pytest.param("(" + "a?" * 300 + "){3}zzz", id="a thousand that may be there"),
        pytest.param(r"(\pL|.){1,200}z", id="classes of letters"),
        pytest.param("|".join(map(str, range(4000))), id="a list of thousands"),
    ],
)
def test_a_costly_pattern_is_tried_on_few_and_unknown_for_the_rest(bomb: str) -> None:
    crowd = Crowd([AgentFacts(str(number), f"{number:05}" + "a" * 80) for number in range(20_000)])
    hit = crowd.hit({"name": bomb})
    assert crowd.cost <= MAX_COST * 1.5
    assert hit.unknown.bit_count() + crowd.tried == 20_000


def test_so_many_different_selectors_are_judged_and_no_more() -> None:
    crowd = Crowd([AgentFacts("001", "web")])
    for number in range(MAX_VALUES):
        assert crowd.hit({"name": f"x{number}"}).unknown == 0
    assert crowd.hit({"name": "web"}).unknown == 1
    assert crowd.hit({"name": "x1"}).unknown == 0


def test_a_block_and_its_selectors_are_the_same_question() -> None:
    (block,) = read(b'<agent_config name="web" os="linux"></agent_config>').elements
    agent = AgentFacts("001", "web", os_text="Linux")
    assert block_match(block, agent).verdict == YES
    assert verdicts(Crowd([agent]), {"name": "web", "os": "linux"}) == [YES]
