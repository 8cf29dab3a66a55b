"""Facts about asking and comparing effective configurations, and about their text (domain/effective_*.py)."""

from __future__ import annotations

import pytest

from mgmtctl.domain.agent_conf import read
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.conf_tree import blocks
from mgmtctl.domain.effective import effective
from mgmtctl.domain.effective_diff import difference
from mgmtctl.domain.effective_lookup import answer
from mgmtctl.domain.effective_source import source
from mgmtctl.domain.effective_values import Effective, Selected
from mgmtctl.domain.errors import QuestionError

FACTS = AgentFacts("1", "n")


def of(text: str) -> Effective:
    return effective(
        None, [("g", "g/agent.conf", read(f"<agent_config>{text}</agent_config>".encode()))], FACTS
    )


CONF = """
<syscheck><frequency>1</frequency><nodiff>/n</nodiff>
<directories realtime="yes">/a,/b</directories><directories>/c</directories></syscheck>
<client_buffer><length>7</length></client_buffer>
<localfile><location>/x</location><log_format>syslog</log_format></localfile>
<localfile><location>/y</location><log_format>json</log_format></localfile>
<wodle name="syscollector"><interval>2h</interval></wodle>
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("syscheck.frequency", ["1"], id="an option"),
        pytest.param("syscheck", ["1", "/n", "/a", "/b", "/c"], id="a section"),
        pytest.param("syscheck.directories", ["/a", "/b", "/c"], id="a list"),
        pytest.param("syscheck.directories@realtime", ["yes", "yes"], id="an attribute"),
        pytest.param("syscheck.nodiff", ["/n"], id="an old place"),
        pytest.param("syscheck.diff.nodiff", ["/n"], id="the new place"),
        pytest.param("client_buffer.length", ["7"], id="an old name"),
        pytest.param("client_buffer.queue_size", ["7"], id="the new name"),
        pytest.param("localfile.log_format", ["syslog", "json"], id="an option of several blocks"),
        pytest.param("localfile[/y].log_format", ["json"], id="an option of one of them"),
        pytest.param("localfile[/y]", ["/y", "json"], id="one of them"),
        pytest.param("syscollector.interval", ["2h"], id="a module by its name"),
        pytest.param("rootcheck.frequency", [], id="set nowhere"),
    ],
)
def test_what_is_asked(path: str, expected: list[str]) -> None:
    assert sorted(value.value for value in answer(of(CONF), path, None).values) == sorted(expected)


@pytest.mark.parametrize(
    ("path", "system", "expected"),
    [
        pytest.param("syscheck.frequency", None, "43200", id="one for all"),
        pytest.param("osquery.config_path", "linux", "/etc/osquery/osquery.conf", id="one for these systems"),
        pytest.param("osquery.config_path", None, None, id="a system that is not known"),
        pytest.param("syscheck.ignore", "linux", None, id="none"),
        pytest.param("syscheck.directories@realtime", None, "no", id="of an attribute"),
    ],
)
def test_defaults(path: str, system: str | None, expected: str | None) -> None:
    assert answer(of(CONF), path, system).default == expected


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        pytest.param("syscheck.frequencyy", "syscheck.frequency", id="a slip"),
        pytest.param("syscheck.scan-on-start", "syscheck.scan_on_start", id="the other dash"),
        pytest.param("syscollector.intervall", "wodle.syscollector.interval", id="in a module"),
        pytest.param("Syscheck.Frequency", "syscheck.frequency", id="letter case"),
        pytest.param("[", None, id="nothing near"),
    ],
)
def test_an_unknown_path_is_told_with_the_nearest(path: str, meant: str | None) -> None:
    with pytest.raises(QuestionError) as refused:
        answer(of(CONF), path, None)
    assert refused.value.fix is not None
    assert (f"`{meant}`" in refused.value.fix) if meant else "mgmtctl options list" in refused.value.fix


def changes(left: str, right: str) -> list[tuple[str, str | None, str | None]]:
    found = difference(of(left), of(right))
    return [(c.path, c.left.value if c.left else None, c.right.value if c.right else None) for c in found]


COMMAND = "<localfile><log_format>command</log_format><command>{}</command></localfile>"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param(CONF, CONF, [], id="nothing"),
        pytest.param(
            "<syscheck><frequency>1</frequency></syscheck>",
            "<syscheck><frequency>2</frequency></syscheck>",
            [("syscheck.frequency", "1", "2")],
            id="another value",
        ),
        pytest.param(
            "<syscheck><ignore>/a</ignore><ignore>/b</ignore></syscheck>",
            "<syscheck><ignore>/b</ignore><ignore>/c</ignore></syscheck>",
            [("syscheck.ignore", "/a", None), ("syscheck.ignore", None, "/c")],
            id="entries of a list are compared one by one",
        ),
        pytest.param(
            "<syscheck><directories>/a</directories></syscheck>",
            "<syscheck><directories realtime='yes'>/a</directories></syscheck>",
            [("syscheck.directories", "/a", "/a")],
            id="other attributes",
        ),
        pytest.param(
            COMMAND.format("a") + COMMAND.format("b"),
            COMMAND.format("b"),
            [("localfile[1].log_format", "command", None), ("localfile[1].command", "a", None)],
            id="a block without a key that both have, under another number",
        ),
    ],
)
def test_differences(left: str, right: str, expected: list[tuple[str, str | None, str | None]]) -> None:
    assert changes(left, right) == expected


SECRET = b"""<agent_config><!-- once <password>hunter2</password> -->
  <fluent-forward>
    <user>u</user><password>hunter2</password>
    <my_api_token>hunter2</my_api_token>
  </fluent-forward>
  <nonsense><deep><pass>hunter2</pass></deep></nonsense>
</agent_config>
"""


def test_secrets_are_hidden_in_the_text_also_under_names_that_nobody_knows() -> None:
    document = read(SECRET)
    (block,) = blocks(document.elements)
    hidden = source(document, block, block.children, hide=True)
    assert "hunter2" not in hidden
    assert "<user>u</user><password>******</password>" in hidden
    assert source(document, block, block.children, hide=False) == SECRET.decode().rstrip()


@pytest.mark.parametrize(
    ("value", "subject", "verdict", "text"),
    [
        pytest.param("nginx", ("ubuntu", "nginx"), "yes", 'matches "nginx"', id="the one that matched"),
        pytest.param(
            "!nginx", ("ubuntu", "nginx"), "no", 'does not match "nginx"', id="the one that hindered"
        ),
        pytest.param("web", ("a", "b"), "no", 'does not match "a", "b"', id="all, when none matched"),
        pytest.param("!web", ("a", "b"), "yes", 'matches "a", "b"', id="all, when none hindered"),
        pytest.param("web", (), "no", "does not match: the agent has no profile", id="none"),
        pytest.param("web", None, "unknown", "cannot be judged: the agent's is not known", id="not known"),
    ],
)
def test_a_selector_says_what_decided(
    value: str, subject: tuple[str, ...] | None, verdict: str, text: str
) -> None:
    assert Selected("profile", value, verdict, subject).text() == f'profile "{value}" {text}'
