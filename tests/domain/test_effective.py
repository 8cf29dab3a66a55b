"""Facts about the effective configuration (domain/effective.py)."""

from __future__ import annotations

import pytest

from mgmtctl.domain.agent_conf import read
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.effective import effective
from mgmtctl.domain.effective_values import Effective
from mgmtctl.domain.local_files import read_local

FACTS = AgentFacts("042", "web-1", "linux", "Linux [Ubuntu|ubuntu: 24.04] - v4.9.2", (4, 9, 2), ("debian",))


def of(
    *groups: str,
    local: str | None = None,
    internal: str | None = None,
    facts: AgentFacts = FACTS,
) -> Effective:
    """The effective configuration of an agent whose groups `g1`, `g2`... have these sections in one open block."""
    named = [
        (f"g{number}", f"g{number}/agent.conf", read(f"<agent_config>{text}</agent_config>".encode()))
        for number, text in enumerate(groups, 1)
    ]
    conf = None if local is None else f"<root>{local}</root>".encode()
    files = read_local(conf, None if internal is None else internal.encode())
    return effective(files, named, facts)


def shown(found: Effective) -> list[str]:
    """`path value` with attributes, and where it stands."""
    return [
        " ".join(
            [
                v.path,
                v.value,
                *(f"{k}={x}" for k, x in v.attributes.items()),
                f"<{v.origin.source or 'local'}",
            ]
        )
        for v in found.values
    ]


def ignored(found: Effective) -> list[tuple[str, str]]:
    return [(one.reason, one.path) for one in found.ignored]


SYSCHECK = "<syscheck>{}</syscheck>"


@pytest.mark.parametrize(
    ("groups", "local", "expected"),
    [
        pytest.param(
            [SYSCHECK.format("<frequency>1</frequency>"), SYSCHECK.format("<frequency>2</frequency>")],
            SYSCHECK.format("<frequency>3</frequency><disabled>no</disabled>"),
            ["syscheck.frequency 2 <g2", "syscheck.disabled no <local"],
            id="the last group wins over the first, and that over the local file",
        ),
        pytest.param(
            [
                SYSCHECK.format("<directories realtime='yes'>/etc,/usr</directories>"),
                SYSCHECK.format("<directories>/etc</directories>"),
            ],
            None,
            ["syscheck.directories /etc <g2", "syscheck.directories /usr realtime=yes <g1"],
            id="directories are kept path by path",
        ),
        pytest.param(
            [SYSCHECK.format("<ignore>/a</ignore><ignore>/b</ignore>"), SYSCHECK.format("<ignore>/a</ignore>")],
            None,
            ["syscheck.ignore /a <g1", "syscheck.ignore /b <g1"],
            id="a list adds up, the same entry counts once",
        ),
        pytest.param(
            [
                SYSCHECK.format("<ignore type='sregex'>/a</ignore>"),
                SYSCHECK.format("<ignore>/a</ignore>"),
            ],
            None,
            ["syscheck.ignore /a type=sregex <g1", "syscheck.ignore /a <g2"],
            id="an entry with other attributes is another one",
        ),
        pytest.param(
            [SYSCHECK.format("<nodiff>/a</nodiff><restart_audit>no</restart_audit>")],
            None,
            ["syscheck.diff.nodiff /a <g1", "syscheck.whodata.restart_audit no <g1"],
            id="an old place of a setting is the same setting",
        ),
        pytest.param(
            ["<client_buffer><length>5</length></client_buffer>"],
            "<client_buffer><queue_size>6</queue_size><disable>yes</disable></client_buffer>",
            ["client_buffer.queue_size 5 <g1", "client_buffer.disabled yes <local"],
            id="an old name of a setting is the same setting",
        ),
        pytest.param(
            [
                SYSCHECK.format("<synchronization><enabled>no</enabled><interval>1</interval></synchronization>"),
                SYSCHECK.format("<synchronization><interval>2</interval></synchronization>"),
            ],
            None,
            ["syscheck.synchronization.enabled no <g1", "syscheck.synchronization.interval 2 <g2"],
            id="a block is merged option by option",
        ),
        pytest.param(
            [
                "<localfile><location>/a</location><log_format>syslog</log_format><age>1d</age></localfile>",
                "<localfile><location>/a</location><log_format>json</log_format></localfile>"
                "<localfile><location>/b</location><log_format>json</log_format></localfile>",
            ],
            None,
            [
                "localfile[/a].location /a <g2",
                "localfile[/a].log_format json <g2",
                "localfile[/b].location /b <g2",
                "localfile[/b].log_format json <g2",
            ],
            id="a localfile with a location already seen replaces the earlier one",
        ),
        pytest.param(
            ["<localfile><log_format>command</log_format><command>df</command></localfile>"] * 2,
            None,
            [
                "localfile[1].log_format command <g1",
                "localfile[1].command df <g1",
                "localfile[2].log_format command <g2",
                "localfile[2].command df <g2",
            ],
            id="command blocks always add",
        ),
        pytest.param(
            [
                "<localfile><location>journald</location><log_format>journald</log_format>"
                f"<filter field='f'>{name}</filter></localfile>"
                for name in "ab"
            ],
            None,
            [
                "localfile[journald].location journald <g2",
                "localfile[journald].log_format journald <g2",
                "localfile[journald].filter a field=f <g1",
                "localfile[journald].filter b field=f <g2",
            ],
            id="journald blocks merge their filters",
        ),
        pytest.param(
            [
                "<labels><label key='a'>1</label><label key='b'>1</label></labels>",
                "<labels><label key='a' hidden='yes'>2</label></labels>",
            ],
            None,
            ["labels.label[a] 2 key=a hidden=yes <g2", "labels.label[b] 1 key=b <g1"],
            id="labels are kept by key",
        ),
        pytest.param(
            [
                "<wodle name='osquery'><log_path>/l</log_path><config_path>/c</config_path></wodle>",
                "<wodle name='osquery'><log_path>/m</log_path></wodle>",
            ],
            None,
            ["wodle.osquery.log_path /m <g2"],
            id="a module that is replaced loses what is not set again",
        ),
        pytest.param(
            [
                "<wodle name='command'><tag>t</tag><command>a</command><timeout>1</timeout></wodle>",
                "<wodle name='command'><tag>t</tag><command>b</command></wodle>"
                "<wodle name='command'><command>c</command></wodle>",
            ],
            None,
            [
                "wodle.command[t].tag t <g2",
                "wodle.command[t].command b <g2",
                "wodle.command[1].command c <g2",
            ],
            id="command modules are kept by tag",
        ),
        pytest.param(
            ["<wodle name='syscollector'><interval>1h</interval></wodle>"],
            "<wodle name='syscollector'><interval>2h</interval><os>no</os></wodle>",
            ["wodle.syscollector.interval 1h <g1", "wodle.syscollector.os no <local"],
            id="a module is merged option by option",
        ),
        pytest.param(
            [
                "<github><api_auth><org_name>a</org_name></api_auth>"
                "<api_auth><org_name>b</org_name></api_auth><interval>1</interval></github>",
                "<github><api_auth><org_name>c</org_name></api_auth></github>",
                "<github><interval>2</interval></github>",
            ],
            None,
            ["github.interval 2 <g3", "github.api_auth[1].org_name c <g2"],
            id="a list of logins adds up in one section and is dropped by a later one that has any",
        ),
        pytest.param(
            ["<localfile><location>/a</location><log_format>multi-line-regex</log_format>"
             "<multiline_regex>x</multiline_regex><multiline_regex>y</multiline_regex></localfile>"],
            None,
            [
                "localfile[/a].location /a <g1",
                "localfile[/a].log_format multi-line-regex <g1",
                "localfile[/a].multiline_regex x <g1",
            ],
            id="of two values the first counts where the vocabulary says so",
        ),
        pytest.param(
            ["<wodle name='aws-cloudtrail'><bucket type='waf'><name>n</name></bucket></wodle>"],
            None,
            ["wodle.aws-s3.bucket[1]@type waf <g1", "wodle.aws-s3.bucket[1].name n <g1"],
            id="an attribute of a block is a value, an old name of a module the module",
        ),
    ],
)  # fmt: skip
def test_what_counts(groups: list[str], local: str | None, expected: list[str]) -> None:
    assert shown(of(*groups, local=local)) == expected


def test_a_value_tells_all_it_overrode_the_latest_first() -> None:
    found = of(
        SYSCHECK.format("<frequency>1</frequency>"),
        SYSCHECK.format("\n<frequency>2</frequency>"),
        local=SYSCHECK.format("<frequency>3</frequency>"),
    )
    (value,) = found.values
    assert value.origin.text() == "g2/agent.conf:2"
    assert [(over.value, over.origin.text()) for over in value.over] == [
        ("1", "g1/agent.conf:1"),
        ("3", "local.conf:1"),
    ]


def test_an_entry_given_twice_tells_both_places() -> None:
    found = of(SYSCHECK.format("<ignore>/a</ignore>"), SYSCHECK.format("<ignore>/a</ignore>"))
    assert [origin.text() for origin in found.values[0].also] == ["g2/agent.conf:1"]


def test_what_a_block_that_replaces_drops_is_told() -> None:
    found = of(
        "<wodle name='osquery'><log_path>/l</log_path><config_path>/c</config_path></wodle>",
        "<wodle name='osquery'><log_path>/m</log_path></wodle>",
    )
    assert ignored(found) == [("replaced", "wodle.osquery.config_path")]
    assert [over.value for over in found.values[0].over] == ["/l"]


OLD = AgentFacts("042", "web-1", "linux", "Linux", (4, 1, 0), ())
WINDOWS = AgentFacts("042", "web-1", "windows", "Windows", (4, 9, 2), ())


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        pytest.param("<nonsense/>", FACTS, [("unknown", "nonsense")], id="an unknown section"),
        pytest.param("<wodle name='x'/>", FACTS, [("unknown", "wodle.x")], id="an unknown module"),
        pytest.param("<localfile/>", FACTS, [("unknown", "localfile")], id="an empty section"),
        pytest.param(
            "<office365><subscriptions/></office365>",
            FACTS,
            [("unknown", "office365.subscriptions")],
            id="an empty block",
        ),
        pytest.param(
            SYSCHECK.format("<scan-on-start>no</scan-on-start>"),
            FACTS,
            [("unknown", "syscheck.scan-on-start")],
            id="an unknown option",
        ),
        pytest.param("<global/>", FACTS, [("manager-only", "global")], id="a section of managers"),
        pytest.param(
            "<active-response/>", FACTS, [("local-only", "active-response")], id="a section of the local file"
        ),
        pytest.param(
            "<client><auto_restart>no</auto_restart></client>",
            FACTS,
            [("local-only", "client.auto_restart")],
            id="an option of the local file",
        ),
        pytest.param(
            SYSCHECK.format("<windows_registry>HKLM</windows_registry>"),
            FACTS,
            [("wrong-system", "syscheck.windows_registry")],
            id="an option of another system",
        ),
        pytest.param(
            "<localfile><location>System</location><log_format>eventchannel</log_format></localfile>",
            FACTS,
            [("wrong-system", "localfile")],
            id="a value of another system that its block is nothing without",
        ),
        pytest.param(
            "<localfile><location>/a</location><log_format>multi-line-regex</log_format></localfile>",
            OLD,
            [("too-new", "localfile")],
            id="a value that is too new",
        ),
        pytest.param(
            SYSCHECK.format("<directories follow_symbolic_link='yes'>C:</directories>"),
            WINDOWS,
            [("wrong-system", "syscheck.directories@follow_symbolic_link")],
            id="an attribute of another system",
        ),
        pytest.param(
            SYSCHECK.format("<alert_new_files>yes</alert_new_files>"),
            FACTS,
            [("no-effect", "syscheck.alert_new_files")],
            id="an option that was managers' and is gone",
        ),
        pytest.param(
            SYSCHECK.format("<remove_old_diff/>"),
            FACTS,
            [("no-effect", "syscheck.remove_old_diff")],
            id="an option without effect",
        ),
    ],
)
def test_what_does_not_count_says_why(text: str, facts: AgentFacts, expected: list[tuple[str, str]]) -> None:
    found = of(text, facts=facts)
    assert ignored(found) == expected
    assert all(one.why for one in found.ignored)
    assert [v.path for v in found.values if v.path != "syscheck.directories"] == []


def test_what_the_local_file_alone_may_set_counts_there() -> None:
    assert shown(of(local="<client><auto_restart>no</auto_restart></client>")) == [
        "client.auto_restart no <local"
    ]


ROOTCHECK = "<rootcheck><disabled>no</disabled></rootcheck>"


def test_an_agent_stops_reading_at_an_option_that_it_rejects_for_that_daemon() -> None:
    found = of(
        "<rootcheck><nonsense/><frequency>1</frequency></rootcheck><syscheck><frequency>1</frequency></syscheck>"
        "<client_buffer><queue_size>1</queue_size></client_buffer>",
        SYSCHECK.format("<frequency>2</frequency>"),
        local=SYSCHECK.format("<frequency>3</frequency>"),
    )
    assert shown(found) == ["syscheck.frequency 3 <local", "client_buffer.queue_size 1 <g1"]
    assert ignored(found) == [
        ("unknown", "rootcheck.nonsense"),
        ("stopped", "syscheck"),
        ("stopped", "syscheck"),
    ]


def test_an_unknown_section_stops_every_daemon() -> None:
    found = of("<nonsense/><client_buffer><queue_size>1</queue_size></client_buffer>", ROOTCHECK)
    assert found.values == ()
    assert ignored(found) == [("unknown", "nonsense"), ("stopped", "client_buffer"), ("stopped", "rootcheck")]


@pytest.mark.parametrize(
    ("text", "stopped"),
    [
        pytest.param("<wodle name='x'/>", [], id="an unknown module stops nobody"),
        pytest.param(
            "<wodle><x/></wodle>", ["sca"], id="a module without a name stops the reader of modules"
        ),
        pytest.param("<localfile/>", ["rootcheck", "sca"], id="an empty section stops all"),
    ],
)
def test_what_is_no_section_stops(text: str, stopped: list[str]) -> None:
    found = of(text + ROOTCHECK + "<sca><enabled>no</enabled></sca>")
    assert [path for reason, path in ignored(found) if reason == "stopped"] == stopped


def test_an_unknown_section_in_the_local_file_stops_nothing() -> None:
    assert shown(of(ROOTCHECK, local="<nonsense/>")) == ["rootcheck.disabled no <g1"]


def test_a_section_newer_than_the_agent_stops_every_daemon() -> None:
    old = AgentFacts("042", "web-1", "linux", "Linux", (3, 0, 0), ())
    found = of("<sca><enabled>no</enabled></sca>" + ROOTCHECK, facts=old)
    assert ignored(found) == [("too-new", "sca"), ("stopped", "rootcheck")]


def test_a_file_that_cannot_be_read_gives_nothing_nor_do_the_groups_after_it() -> None:
    named = [("g1", "g1/agent.conf", read(b"<agent_config>" + ROOTCHECK.encode()))]
    named.append(("g2", "g2/agent.conf", read(b"<agent_config>" + ROOTCHECK.encode() + b"</agent_config>")))
    found = effective(None, named, FACTS)
    assert found.values == ()
    assert [one.reason for one in found.ignored] == ["unreadable", "stopped", "stopped"]


COMMAND = "<localfile><log_format>full_command</log_format><command>df</command></localfile>"


def test_a_command_whose_switch_is_off_does_not_count() -> None:
    found = of(COMMAND, internal="")
    assert found.values == ()
    assert ignored(found) == [("gate", "localfile")]
    assert "logcollector.remote_commands=1" in found.ignored[0].why


@pytest.mark.parametrize(
    ("internal", "note"),
    [
        pytest.param("logcollector.remote_commands=1", None, id="switched on"),
        pytest.param(
            None,
            "runs only with logcollector.remote_commands=1 on the agent, which is not known",
            id="not known",
        ),
    ],
)
def test_a_command_that_may_run_counts(internal: str | None, note: str | None) -> None:
    command = of(COMMAND, internal=internal).values[1]
    assert (command.path, command.note) == ("localfile[1].command", note)


def test_a_local_command_needs_no_switch() -> None:
    assert len(of(local=COMMAND, internal="").values) == 2


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        pytest.param("etc/shared/p.yml", True, id="one that came with the shared files"),
        pytest.param("ruleset/sca/p.yml", False, id="one of the agent's own"),
    ],
)
def test_a_policy_counts_though_commands_are_off(policy: str, told: bool) -> None:
    (found,) = of(f"<sca><policies><policy>{policy}</policy></policies></sca>", internal="").values
    assert ("sca.remote_commands=1" in (found.note or "")) is told


def test_an_agent_that_reads_no_agent_conf_ignores_its_blocks() -> None:
    found = of(ROOTCHECK, local=ROOTCHECK, internal="agent.remote_conf=0")
    assert shown(found) == ["rootcheck.disabled no <local"]
    assert ignored(found) == [("remote-conf", "agent_config")]


@pytest.mark.parametrize(
    ("attributes", "facts", "verdict"),
    [
        pytest.param("", FACTS, "yes", id="no selector"),
        pytest.param('name="^web"', FACTS, "yes", id="a name"),
        pytest.param('os="windows"', FACTS, "no", id="another system"),
        pytest.param('profile="debian"', AgentFacts("1", "a"), "unknown", id="a profile that is not known"),
        pytest.param(
            'profile="!x"', AgentFacts("1", "a"), "unknown", id="unknown matches not even a negation"
        ),
        pytest.param('OS="windows"', FACTS, "yes", id="a misspelt selector hits every agent"),
    ],
)
def test_only_blocks_that_match_count(attributes: str, facts: AgentFacts, verdict: str) -> None:
    text = f"<agent_config {attributes}>{ROOTCHECK}</agent_config>".encode()
    found = effective(None, [("g", "g/agent.conf", read(text))], facts)
    (block,) = found.blocks
    assert block.verdict == verdict
    assert bool(found.values) is (verdict == "yes")
    assert all(selector.text() for selector in block.selectors)


def test_variables_are_no_sections() -> None:
    assert of("<var name='a'>b</var>").ignored == ()


def test_a_secret_is_marked_and_never_among_what_is_ignored() -> None:
    text = (
        "<fluent-forward><tag>t</tag><socket_path>/s</socket_path><password>hunter2</password>"
        "<pasword>hunter2</pasword></fluent-forward>"
    )
    found = of(text)
    assert [value.path for value in found.values if value.secret] == ["fluent-forward.password"]
    assert "hunter2" not in str([one.record() for one in found.ignored])
