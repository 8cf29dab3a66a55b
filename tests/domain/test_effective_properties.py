"""Properties of the effective configuration: what holds for any groups and blocks (domain/effective.py)."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import Document, read
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.effective import effective
from mgmtctl.domain.effective_diff import difference
from mgmtctl.domain.effective_values import Effective
from mgmtctl.domain.local_files import read_local

FACTS = AgentFacts("042", "web-1")
SCALARS = {
    ("syscheck", "syscheck"): ("frequency", "max_eps", "process_priority"),
    ("rootcheck", "rootcheck"): ("frequency",),
    ("client_buffer", "client_buffer"): ("queue_size", "events_per_second"),
    ('wodle name="syscollector"', "wodle"): ("interval",),
}
LISTS = {
    ("syscheck", "syscheck"): ("ignore", "directories", "nodiff"),
    ("rootcheck", "rootcheck"): ("ignore", "system_audit"),
}
numbers = st.integers(1, 19).map(str)
paths = st.sampled_from(["/a", "/b", "/c"])


@st.composite
def sections(
    draw: st.DrawFn, kinds: dict[tuple[str, str], tuple[str, ...]], values: st.SearchStrategy[str]
) -> str:
    """A section with some options, one a line."""
    opening, closing = draw(st.sampled_from(sorted(kinds)))
    names = draw(st.lists(st.sampled_from(kinds[opening, closing]), min_size=1, max_size=3))
    lines = [f"<{name}>{draw(values)}</{name}>" for name in names]
    return "\n".join([f"<{opening}>", *lines, f"</{closing}>"])


def block(texts: list[str]) -> str:
    return "\n".join(["<agent_config>", *texts, "</agent_config>", ""])


scalars = sections(SCALARS, numbers)
mixed = st.one_of(scalars, sections(LISTS, paths))


def groups_of(some: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(some, max_size=4), min_size=1, max_size=4)


def documents(texts: list[str]) -> list[tuple[str, str, Document]]:
    return [(f"g{n}", f"g{n}/agent.conf", read(text.encode())) for n, text in enumerate(texts)]


def content(found: Effective) -> Counter[tuple[str, str, tuple[tuple[str, str], ...]]]:
    return Counter((v.path, v.value, tuple(sorted(v.attributes.items()))) for v in found.values)


@given(groups_of(scalars), st.lists(scalars, max_size=3))
@settings(max_examples=120, deadline=None)
def test_single_values_are_those_that_come_last(groups: list[list[str]], own: list[str]) -> None:
    expected: dict[str, str] = {}
    for section in (*own, *(section for group in groups for section in group)):
        opening, *lines, _ = section.split("\n")
        name = "wodle.syscollector" if opening.startswith("<wodle") else opening.strip("<>")
        for line in lines:
            option, value = line.strip("<").split(">")[0], line.split(">")[1].split("<")[0]
            expected[f"{name}.{option}"] = value
    local = read_local(("<r>" + "\n".join(own) + "</r>").encode(), None)
    found = effective(local, documents([block(group) for group in groups]), FACTS)
    assert {value.path: value.value for value in found.values} == expected
    assert found.ignored == ()


@given(groups_of(mixed))
@settings(max_examples=120, deadline=None)
def test_every_origin_is_a_line_that_holds_the_value(groups: list[list[str]]) -> None:
    texts = [block(group) for group in groups]
    lines = {f"g{n}/agent.conf": text.split("\n") for n, text in enumerate(texts)}
    for value in effective(None, documents(texts), FACTS).values:
        for text, origin in (
            (value.value, value.origin),
            *((over.value, over.origin) for over in value.over),
            *((value.value, origin) for origin in value.also),
        ):
            assert f">{text}<" in lines[origin.path][origin.line - 1]
            assert lines[origin.path][origin.line - 1][origin.column - 1] == "<"


@given(groups_of(mixed))
@settings(max_examples=80, deadline=None)
def test_a_group_given_twice_counts_once(groups: list[list[str]]) -> None:
    once = [block(group) for group in groups]
    found = effective(None, documents(once), FACTS)
    assert content(effective(None, documents([*once, *once]), FACTS)) == content(found)


@given(groups_of(mixed))
@settings(max_examples=80, deadline=None)
def test_where_blocks_end_and_groups_begin_is_no_matter(groups: list[list[str]]) -> None:
    apart = effective(None, documents([block(group) for group in groups]), FACTS)
    joined = effective(None, documents([block([s for group in groups for s in group])]), FACTS)
    assert content(apart) == content(joined)


@given(groups_of(mixed), st.randoms(use_true_random=False))
@settings(max_examples=80, deadline=None)
def test_the_order_of_blocks_about_different_sections_is_no_matter(
    groups: list[list[str]], random: object
) -> None:
    by_section: dict[str, list[str]] = {}
    for section in (section for group in groups for section in group):
        by_section.setdefault(section.split("\n")[0], []).append(section)
    blocks = [block(some) for some in by_section.values()]
    found = effective(None, documents(blocks), FACTS)
    random.shuffle(blocks)  # type: ignore[attr-defined]
    assert content(effective(None, documents(blocks), FACTS)) == content(found)


@given(groups_of(mixed), groups_of(mixed))
@settings(max_examples=80, deadline=None)
def test_a_difference_turns_one_side_into_the_other(left: list[list[str]], right: list[list[str]]) -> None:
    one, other = (effective(None, documents([block(g) for g in side]), FACTS) for side in (left, right))
    assert difference(one, one) == ()
    assert bool(difference(one, other)) is (content(one) != content(other))
    turned = content(one)
    for change in difference(one, other):
        for side, sign in ((change.left, -1), (change.right, 1)):
            if side is not None:
                turned[side.path, side.value, tuple(sorted(side.attributes.items()))] += sign
    assert +turned == content(other)
    assert min(turned.values(), default=0) >= 0


NAMES = sorted({entry.name for entry in options.every()})
elements = st.recursive(
    st.builds(
        lambda name, text: f"<{name}>{text}</{name}>", st.sampled_from(NAMES), st.sampled_from("ab,/ $")
    ),
    lambda inner: st.builds(
        lambda name, attribute, value, children: (
            f'<{name} {attribute}="{value}">{"".join(children)}</{name}>'
        ),
        st.sampled_from(NAMES),
        st.sampled_from(["name", "type", "path", "key", "x"]),
        st.sampled_from(["command", "osquery", "x", ""]),
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)
facts = st.builds(
    AgentFacts,
    st.just("1"),
    st.just("n"),
    st.sampled_from([None, "linux", "windows"]),
    st.sampled_from([None, "Linux"]),
    st.sampled_from([None, (3, 0, 0), (4, 9, 2)]),
    st.sampled_from([None, (), ("a",)]),
)


@given(st.lists(elements, max_size=6), st.lists(elements, max_size=4), facts)
@settings(max_examples=200, deadline=None)
def test_any_tree_of_known_names_gives_an_answer(
    shared: list[str], own: list[str], agent: AgentFacts
) -> None:
    local = read_local(("<r>" + "".join(own) + "</r>").encode(), b"")
    found = effective(local, documents([block(shared), block(shared[::-1])]), agent)
    assert found.record()
    assert difference(found, found) == ()


@given(st.binary(max_size=200), facts)
@settings(max_examples=100, deadline=None)
def test_any_bytes_give_an_answer(data: bytes, agent: AgentFacts) -> None:
    whole = b"<agent_config><syscheck>" + data
    found = effective(read_local(data, data), [("g", "g/agent.conf", read(whole))], agent)
    assert found.record()


def test_the_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mgmtctl.domain.effective.MAX_ELEMENTS", 2000)
    many = "<syscheck>" + "<frequency>1</frequency>" * 1_100 + "</syscheck>"
    found = effective(None, documents([block([many]), block([many])]), FACTS)
    assert [one.reason for one in found.ignored] == ["too-many"]
    assert len(found.values) == 1
    assert len(found.values[0].over) <= 256
