"""Facts about the agents that blocks hit: wrong systems, releases that are too old, selectors that select nobody."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.agent_conf import read
from mgmtctl.domain.agent_facts import AgentFacts, agent_facts
from mgmtctl.domain.conf_systems import samples, systems_of
from mgmtctl.domain.conf_targets import MAX_FINDINGS, target_findings
from mgmtctl.domain.findings import ERROR, Finding
from mgmtctl.domain.options import data

UBUNTU = {"uname": "Linux |web |5.8.0", "name": "Ubuntu", "platform": "ubuntu", "version": "20.04"}
WINDOWS = {"uname": "Microsoft Windows 10 Pro", "name": "Microsoft Windows 10 Pro", "platform": "windows"}


def linux(identifier: str = "001", version: str | None = "Agent v4.9.2", name: str = "web-01") -> AgentFacts:
    return agent_facts(identifier, name, UBUNTU, version)


def windows(identifier: str = "002", version: str | None = "Agent v4.9.2") -> AgentFacts:
    return agent_facts(identifier, "win-01", WINDOWS, version)


def unknown(identifier: str = "003") -> AgentFacts:
    return agent_facts(identifier, "new-01", {}, None)


def found(text: str, agents: Sequence[AgentFacts] | None = None) -> list[Finding]:
    return list(target_findings(read(text.encode()).elements, agents))


def told(text: str, agents: Sequence[AgentFacts] | None = None) -> list[tuple[str, str]]:
    return [(finding.rule, finding.severity) for finding in found(text, agents)]


def block(inside: str, attributes: str = "") -> str:
    return f"<agent_config{' ' if attributes else ''}{attributes}>\n{inside}\n</agent_config>\n"


EVENTCHANNEL = "<localfile><location>Security</location><log_format>eventchannel</log_format></localfile>"
REGISTRY = "<syscheck><windows_registry>HKEY_LOCAL_MACHINE\\Software</windows_registry></syscheck>"
FORWARD = "<fluent-forward><enabled>yes</enabled></fluent-forward>"
USERS = '<wodle name="syscollector"><users>yes</users></wodle>'
JOURNAL = "<localfile><location>journald</location><log_format>journald</log_format></localfile>"
WRONG, NOBODY, LISTED = "wrong-system", "no-agent-matches", "read-as-list"


@pytest.mark.parametrize(
    ("value", "systems"),
    [
        pytest.param("Linux", {"linux"}, id="linux"),
        pytest.param("^Linux", {"linux"}, id="with an anchor"),
        pytest.param("Windows", {"windows"}, id="windows"),
        pytest.param("Microsoft Windows Server 2012 R2", {"windows"}, id="a release of windows"),
        pytest.param("Windows Server 2042", {"windows"}, id="a release to come"),
        pytest.param("CentOS Linux 42", {"linux"}, id="a distribution to come"),
        pytest.param("Darwin", {"macos"}, id="macos by its kernel"),
        pytest.param("ubuntu|Windows", {"linux", "windows"}, id="two"),
        pytest.param("Linux.*(Ubuntu|Debian)", {"linux"}, id="a pattern"),
        pytest.param("SunOS", {"solaris"}, id="solaris"),
        pytest.param("my-own-host", None, id="what tells nothing"),
    ],
)
def test_a_selector_tells_for_which_systems_a_block_is(value: str, systems: set[str] | None) -> None:
    assert systems_of(value) == systems


def test_what_is_not_windows_is_all_the_others() -> None:
    assert systems_of("!Windows") == frozenset(data()["os_names"]) - {"windows"}
    assert systems_of("!ubuntu") == frozenset(data()["os_names"])


def test_there_are_samples_of_every_system() -> None:
    assert samples().keys() == set(data()["os_names"])


@pytest.mark.parametrize(
    ("text", "agents", "expected"),
    [
        pytest.param(
            block(EVENTCHANNEL, 'os="Linux"'), None, [(WRONG, "error")], id="a windows value, linux block"
        ),
        pytest.param(
            block(REGISTRY, 'os="ubuntu"'), None, [(WRONG, "error")], id="a windows option, linux block"
        ),
        pytest.param(
            block(FORWARD, 'os="windows"'), None, [(WRONG, "error")], id="a section that windows refuses"
        ),
        pytest.param(block(EVENTCHANNEL, 'os="Windows|Linux"'), None, [], id="a block for both systems"),
        pytest.param(block(EVENTCHANNEL), None, [], id="a block for all, agents not known"),
        pytest.param(block(EVENTCHANNEL), [], [], id="a block for all, no agents"),
        pytest.param(block(EVENTCHANNEL), [linux(), windows()], [], id="one of the agents has the system"),
        pytest.param(block(EVENTCHANNEL), [linux()], [(WRONG, "warning")], id="no agent has the system"),
        pytest.param(block(EVENTCHANNEL), [linux(), unknown()], [], id="an agent may have the system"),
        pytest.param(
            block(FORWARD), [linux(), windows()], [(WRONG, "error")], id="an agent refuses the file"
        ),
        pytest.param(block(FORWARD), [linux(), unknown()], [], id="an agent may refuse the file"),
        pytest.param(block(FORWARD), None, [(WRONG, "note")], id="windows would refuse the file"),
        pytest.param(
            block(FORWARD, 'os="Linux|Windows"'), None, [(WRONG, "warning")], id="named windows would refuse"
        ),
        pytest.param(
            block(FORWARD, 'os="Linux"'), [linux(), windows()], [], id="the others do not read the block"
        ),
        pytest.param(
            block(JOURNAL, 'os="Windows"'), None, [(WRONG, "error")], id="a linux value in a windows block"
        ),
        pytest.param(
            block("<syscheck><skip_nfs>yes</skip_nfs></syscheck>", 'os="Windows"'),
            None,
            [(WRONG, "warning")],
            id="a doubtful fact is a warning",
        ),
        pytest.param(
            block("<syscheck><whodata><queue_size>99</queue_size></whodata></syscheck>", 'os="Darwin"'),
            None,
            [(WRONG, "error")],
            id="what lies in something foreign is told once",
        ),
        pytest.param(
            block('<syscheck><directories check_attrs="yes">/etc</directories></syscheck>', 'os="Linux"'),
            None,
            [(WRONG, "error")],
            id="an attribute",
        ),
        pytest.param(
            block('<wodle name="syscollector"><hotfixes>no</hotfixes></wodle>', 'os="Linux"'),
            None,
            [],
            id="what is switched off does nothing elsewhere either",
        ),
    ],
)
def test_systems(text: str, agents: Sequence[AgentFacts] | None, expected: list[tuple[str, str]]) -> None:
    assert told(text, agents) == expected


def test_a_foreign_value_names_both_systems_and_where_it_belongs() -> None:
    (finding,) = found(block(EVENTCHANNEL, 'os="Linux"'))
    assert (finding.line, finding.message) == (
        2,
        "the value `eventchannel` of `log_format` is for windows, the block for linux: agents there skip it",
    )
    assert finding.suggestion == 'put it into a block for windows, e.g. `os="windows"`'


@pytest.mark.parametrize(
    ("text", "agents", "expected"),
    [
        pytest.param(block(USERS), [linux(version="Agent v4.14.0")], [], id="the release that brought it"),
        pytest.param(
            block(USERS), [linux(version="Agent v4.13.9")], [("too-new", "error")], id="the one before"
        ),
        pytest.param(
            block(USERS, 'name="db"'), [linux()], [(NOBODY, "warning")], id="the old one does not read it"
        ),
        pytest.param(
            block(USERS, 'profile="db"'),
            [linux()],
            [("no-known-profile", "note"), ("too-new", "error")],
            id="the old one may read it",
        ),
        pytest.param(block(USERS), [unknown()], [("needs-release", "note")], id="no release is known"),
        pytest.param(block(USERS), None, [("needs-release", "note")], id="no agents are known"),
        pytest.param(block(USERS), [], [("needs-release", "note")], id="a group without agents"),
        pytest.param(block(JOURNAL), None, [], id="nothing newer than the base, agents not known"),
        pytest.param(
            block(JOURNAL), [linux(version="Agent v4.8.1")], [("too-new", "error")], id="a new value"
        ),
        pytest.param(block(USERS), [linux(), unknown()], [("too-new", "error")], id="one of them is old"),
        pytest.param(
            block(USERS), [linux(version="no release")], [("needs-release", "note")], id="unreadable release"
        ),
    ],
)
def test_releases(text: str, agents: Sequence[AgentFacts] | None, expected: list[tuple[str, str]]) -> None:
    assert told(text, agents) == expected


def test_a_release_that_is_too_old_names_the_first_agents_and_counts_them() -> None:
    agents = [linux(f"{number:03}") for number in range(1, 6)]
    (finding,) = found(block(USERS), agents)
    assert finding.message == (
        "`users` needs 4.14.0; 5 agents of the group are older (001 002 003 ...):"
        " an older agent refuses the whole file"
    )


def test_agents_that_may_not_be_named_count_for_errors_and_are_not_shown() -> None:
    hidden = AgentFacts("", "secret-name", "linux", "Linux secret-text", (4, 5, 0), ())
    (finding,) = found(block(USERS), [hidden])
    assert finding.rule == "too-new"
    assert "; agents of the group are older: " in finding.message
    (both,) = found(block(USERS), [linux("007"), hidden])
    assert "; 1 agent of the group and others are older (007): " in both.message
    for text in (
        block(USERS, 'name="x.*y"'),
        block(USERS, 'name="^secret.*e$"'),
        block(EVENTCHANNEL, 'os="x"'),
    ):
        for each in found(text, [hidden]):
            assert "secret" not in each.text().replace("^secret.*e$", "")
            assert each.rule not in (NOBODY, LISTED)


def test_one_note_names_what_needs_the_newest_release() -> None:
    newer = block(USERS) + block("<ms-graph><page_size>9</page_size></ms-graph>")
    (finding,) = found(newer)
    assert finding.message == "`users` needs 4.14.0: an older agent refuses the whole file"


@pytest.mark.parametrize(
    ("attributes", "agents", "expected"),
    [
        pytest.param('name="(?!x)"', None, [("bad-selector", "error")], id="look-around"),
        pytest.param('name="*"', None, [("bad-selector", "error")], id="a star of nothing"),
        pytest.param('name="(?!x)"', [linux()], [("bad-selector", "error")], id="no pattern, told once"),
        pytest.param('name="db"', [linux()], [(NOBODY, "warning")], id="no agent is called so"),
        pytest.param('os="Darwin"', [linux(), unknown()], [(NOBODY, "warning")], id="no agent is known to"),
        pytest.param('name="web" os="win"', [linux(), windows()], [(NOBODY, "warning")], id="never both"),
        pytest.param('name="db"', [], [], id="a group without agents"),
        pytest.param('name="web.*"', None, [(LISTED, "warning")], id="a star, agents not known"),
        pytest.param('name="web.*"', [linux()], [(LISTED, "warning")], id="a star, an agent it means"),
        pytest.param('name="!web.*"', [linux(), windows()], [(LISTED, "warning")], id="a star, negated"),
        pytest.param(
            'name="web.01"', [linux()], [(LISTED, "warning")], id="a dot that an agent fills otherwise"
        ),
        pytest.param('name="web.example.com"', None, [], id="a dot that most likely is one"),
        pytest.param('name="web|db"', None, [], id="a list means the same to both"),
        pytest.param('os="^Linux"', None, [], id="an anchor means the same to both"),
        pytest.param('profile="^web$"', None, [(LISTED, "warning")], id="one profile of several"),
        pytest.param('profile="web"', None, [], id="a part of a profile"),
        pytest.param('profile="web"', [linux()], [("no-known-profile", "note")], id="profiles?"),
    ],
)
def test_selectors(
    attributes: str, agents: Sequence[AgentFacts] | None, expected: list[tuple[str, str]]
) -> None:
    assert told(block("", attributes), agents) == expected


def test_a_block_that_nobody_reads_counts_those_that_are_not_known_apart() -> None:
    agents = [linux(), linux("004"), unknown()]
    (finding,) = found(block("", 'os="Darwin"'), agents)
    assert finding.message == "the block matches 0 of 3 agents, 1 not known"


def test_a_selector_that_is_read_otherwise_has_an_example() -> None:
    (finding,) = found(block("", r'name="web-\d+"'), [linux("017")])
    assert "agent 017, `web-01` matches here and not there" in finding.message
    assert (finding.line, finding.column) == (1, 15)


def test_a_selector_for_the_empty_text_is_read_otherwise() -> None:
    findings = found(block("", 'name="^$"'), [linux("017")])
    assert "read-as-list" in [finding.rule for finding in findings]


def test_control_characters_do_not_reach_a_message() -> None:
    name = '<agent_config name="we\x1b[31m\x07(?!"><sys\x1bcheck/></agent_config>'
    for agents in (None, [linux()]):
        assert all(finding.text().isprintable() for finding in found(name, agents))


def test_many_faults_are_told_up_to_a_bound() -> None:
    assert len(found(block(EVENTCHANNEL * 3000, 'os="Linux"'))) == MAX_FINDINGS + 1


def test_an_error_after_many_warnings_is_told() -> None:
    nobody = "".join(block("", f'name="x{number % 100}"') for number in range(MAX_FINDINGS * 2))
    findings = found(nobody + block(EVENTCHANNEL, 'os="Linux"'), [linux()])
    assert [finding.rule for finding in findings if finding.severity == ERROR] == ["wrong-system"]


def test_many_selectors_are_judged_up_to_a_bound() -> None:
    text = "".join(block("", f'name="web|x{number}"') for number in range(1500))
    (finding,) = found(text, [linux()])
    assert finding.message == "only the first 1000 of 1500 different selectors were judged"
    assert finding.severity == ERROR  # what was not judged is not taken for right


PIECES = (
    *("<agent_config>", "</agent_config>", '<agent_config os="Lin', 'ux"', ' name="(', '"', ">", "</", "<"),
    *("<syscheck>", "<whodata>", "<queue_size>1", "</queue_size>", EVENTCHANNEL, REGISTRY, FORWARD, USERS),
    *('<wodle name="x">', '<wodle name="syscollector">', "</wodle>", 'profile="!"', "\udc80", "\0", "\x1b"),
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.none() | st.lists(st.sampled_from((linux(), windows(), unknown())), max_size=4),
)
def test_no_document_and_no_agents_are_too_strange(text: str, agents: list[AgentFacts] | None) -> None:
    roots = read(text.encode(errors="surrogateescape")).elements
    assert all(finding.line and finding.message for finding in target_findings(roots, agents))
