"""Facts about names, values and repetition inside sections: the finding, its place, message and suggestion."""

from __future__ import annotations

import pytest

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf_check import check_agent_conf
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding

EFFECT = "it has no effect, and the stock check passes it"
REFUSE = "agents refuse the file"


def found(inside: str) -> list[Finding]:
    """The findings in a block of these sections, which begin on line 2."""
    return check_agent_conf(f"<agent_config>\n{inside}\n</agent_config>\n".encode())


def told(inside: str) -> list[str]:
    return [finding.text().removeprefix("agent.conf:") for finding in found(inside)]


def module(name: str, inside: str) -> str:
    return f'<wodle name="{name}">{inside}</wodle>'


NAMES = [
    pytest.param(
        "<syscheck><scan-on-start>yes</scan-on-start></syscheck>",
        f"2:11: error: `syscheck` has no option `scan-on-start`; {EFFECT}; `scan-on-start` belongs to `open-scap` and "
        "`cis-cat`; here it is `scan_on_start` [unknown-option]",
        id="scan-on-start in syscheck",
    ),
    pytest.param(
        module("syscollector", "<scan-on-start>yes</scan-on-start>"),
        f"2:28: error: `syscollector` has no option `scan-on-start`; {REFUSE}; `scan-on-start` belongs to `open-scap` "
        "and `cis-cat`; here it is `scan_on_start` [unknown-option]",
        id="scan-on-start in syscollector",
    ),
    pytest.param(
        module("cis-cat", "<scan_on_start>yes</scan_on_start>"),
        f"2:23: error: `cis-cat` has no option `scan_on_start`; {REFUSE}; `scan_on_start` belongs to `syscheck`, `sca` "
        "and `syscollector`; here it is `scan-on-start` [unknown-option]",
        id="the other way round in cis-cat",
    ),
    pytest.param(
        "<github><only-future-events>yes</only-future-events><api_auth><org_name>a</org_name><api_token>$x</api_token>"
        "</api_auth></github>",
        f"2:9: error: `github` has no option `only-future-events`; {REFUSE}; `only-future-events` belongs to "
        "`localfile`; here it is `only_future_events` [unknown-option]",
        id="a name that is right elsewhere",
    ),
    pytest.param(
        "<sca><policies><policy enabled='off'>ruleset/sca/a.yml</policy></policies></sca>",
        "2:24: warning: `enabled` of `sca.policies.policy`: expected `yes` or `no`, got `off`; it counts as `yes`; "
        "write `no` [bad-value]",
        id="a switch of a policy that is not `no`",
    ),
    pytest.param(
        "<syscheck><Directories>/etc</Directories></syscheck>",
        f"2:11: error: `syscheck` has no option `Directories`; {EFFECT}; did you mean `directories`? [unknown-option]",
        id="letter case",
    ),
    pytest.param(
        "<syscheck><enabled>yes</enabled></syscheck>",
        f"2:11: error: `syscheck` has no option `enabled`; {EFFECT}; here it is `disabled`, with the opposite value "
        "[unknown-option]",
        id="the opposite",
    ),
    pytest.param(
        "<syscheck><audit_key>a</audit_key></syscheck>",
        f"2:11: error: `syscheck` has no option `audit_key`; {EFFECT}; put `audit_key` inside a `whodata` "
        "[unknown-option]",
        id="outside of its block",
    ),
    pytest.param(
        "<syscheck><whodata><frequency>5</frequency></whodata></syscheck>",
        f"2:20: error: `syscheck.whodata` has no option `frequency`; {REFUSE}; `frequency` belongs to `syscheck`, "
        "outside of `whodata` [unknown-option]",
        id="inside of a block",
    ),
    pytest.param(
        "<rootcheck><directories>/etc</directories></rootcheck>",
        f"2:12: error: `rootcheck` has no option `directories`; {REFUSE}; `directories` is an option of `syscheck` "
        "[unknown-option]",
        id="in another section",
    ),
    pytest.param(
        "<syscheck><localfile/></syscheck>",
        f"2:11: error: `syscheck` has no option `localfile`; {EFFECT}; `localfile` is a section: close `syscheck` "
        "before it [unknown-option]",
        id="a section in a section",
    ),
    pytest.param(
        "<directories>/etc</directories>",
        f"2:1: error: no section is called `directories`; {REFUSE}; `directories` is an option of `syscheck` "
        "[unknown-section]",
        id="an option without its section",
    ),
    pytest.param(
        "<syscheck><directories real_time='yes'>/etc</directories></syscheck>",
        f"2:24: error: `syscheck.directories` has no attribute `real_time`; {EFFECT}; did you mean `realtime`? "
        "[unknown-attribute]",
        id="an attribute",
    ),
    pytest.param(
        "<syscheck disabled='yes'/>",
        "2:11: error: `syscheck` has no attribute `disabled`; it has no effect; `disabled` is an option: write "
        "`<disabled>...</disabled>` inside [unknown-attribute]",
        id="an option as an attribute",
    ),
    pytest.param(
        "<command><name>x</name></command>",
        f'2:1: error: `command` belongs to managers; {EFFECT}; did you mean `<wodle name="command">`? [manager-only]',
        id="a manager's section that is meant otherwise",
    ),
    pytest.param(
        "<reports/>",
        f"2:1: error: `reports` belongs to managers; {EFFECT}, and Windows agents refuse the file; leave it out "
        "[manager-only]",
        id="a manager's section that Windows refuses",
    ),
    pytest.param(
        "<indexer/>",
        f"2:1: warning: `indexer` belongs to managers; {EFFECT}; leave it out [manager-only]",
        id="a manager's section that is in doubt",
    ),
    pytest.param(
        "<client><auto_restart>no</auto_restart></client>",
        f"2:9: error: `client.auto_restart` is read from the local configuration only; {REFUSE}; set it on the agents "
        "themselves [local-only]",
        id="a local option",
    ),
    pytest.param(
        "<syscheck><allow_remote_prefilter_cmd>yes</allow_remote_prefilter_cmd></syscheck>",
        f"2:11: error: `syscheck.allow_remote_prefilter_cmd` is read from the local configuration only; {EFFECT}, and "
        "the reader skips the option after it; set it on the agents themselves [local-only]",
        id="a switch that must be set on the agent",
    ),
    pytest.param(
        module("aws-cloudtrail", "<bucket type='cloudtrail'><name>a</name></bucket>"),
        "2:8: warning: `aws-cloudtrail` is an old name of the module `aws-s3`; write `aws-s3` [deprecated]",
        id="an old name of a module",
    ),
    pytest.param(
        "<wodle name='osquery' interval='5'/>",
        "2:23: error: `osquery` has no attribute `interval`; it has no effect [unknown-attribute]",
        id="a second attribute of a module",
    ),
]


@pytest.mark.parametrize(("inside", "expected"), NAMES)
def test_a_wrong_name_says_what_happens_and_what_was_meant(inside: str, expected: str) -> None:
    assert [line for line in told(inside) if "plain-secret" not in line] == [expected]


RIGHT = [
    module("cis-cat", "<scan-on-start>yes</scan-on-start>"),
    module("open-scap", "<scan-on-start>no</scan-on-start>"),
    "<localfile><LOG_FORMAT>json</LOG_FORMAT><location>/a</location><Exclude>/b</Exclude></localfile>",
    "<client_buffer><disabled>no</disabled><queue_size>5</queue_size></client_buffer>",
    "<syscheck><registry_ignore type='sregex'>x|y</registry_ignore></syscheck>",
    module("aws-s3", "<service type='cloudwatchlogs'><aws_log_groups>a</aws_log_groups><discard_regex>x</discard_regex>"
           "</service>"),
    "<sca><policies><policy enabled='no'>etc/shared/a.yml</policy></policies><enabled>no</enabled></sca>",
    "<sca><policies><policy>ruleset/sca/cis.yml</policy></policies></sca>",
    module("osquery", "<disabled>yes</disabled><bin_path>/usr/bin/osqueryd</bin_path>"),
    "<var name='n'>5</var><syscheck><frequency>$n</frequency></syscheck>",
    "<localfile><location>/a</location><log_format>json</log_format></localfile>"
    "<localfile><location>/b</location><log_format>json</log_format></localfile>",
    "<localfile><log_format>command</log_format><command>$x</command></localfile>",
]  # fmt: skip


@pytest.mark.parametrize("inside", RIGHT)
def test_what_agents_read_has_no_error_and_no_warning(inside: str) -> None:
    assert [finding.text() for finding in found(inside) if finding.severity != NOTE] == []


def test_a_value_is_shown_at_its_place_with_what_was_meant() -> None:
    (finding,) = found("<syscheck>\n  <disabled>true</disabled>\n</syscheck>")
    assert finding.text() == (
        f"agent.conf:3:13: error: `syscheck.disabled`: expected `yes` or `no`, got `true`; {REFUSE}; "
        "write `yes` [bad-value]"
    )


def test_a_value_that_is_not_certain_is_a_warning_at_most() -> None:
    assert told("<rootcheck><check_files>true</check_files></rootcheck>") == [
        f"2:25: warning: `rootcheck.check_files`: expected `yes` or `no`, got `true`; {REFUSE}; write `yes` [bad-value]"
    ]


def test_many_values_are_listed_by_another_command() -> None:
    (line,) = told("<localfile><location>/a</location><log_format>qqq</log_format></localfile>")
    assert line.endswith("`mgmtctl options show localfile.log_format` lists them [bad-value]")


def test_a_variable_is_not_judged_and_without_variables_a_dollar_is_a_value() -> None:
    assert told("<syscheck><frequency>$n</frequency></syscheck>")[0].endswith("[bad-value]")
    data = b"<var name='n'>5</var><agent_config><syscheck><frequency>$n</frequency></syscheck></agent_config>"
    assert check_agent_conf(data) == []


@pytest.mark.parametrize("path", [entry.path for entry in options.every() if entry.secret])
def test_no_secret_is_ever_shown(path: str) -> None:
    names = path.removeprefix("wodle.").split(".")
    section, *blocks, option = names
    inside = f"<{option}>hunter2 </{option}><{option}>hunter2\n</{option}>"
    for block in reversed(blocks):
        inside = f"<{block}>{inside}</{block}>"
    whole = module(section, inside) if path.startswith("wodle.") else f"<{section}>{inside}</{section}>"
    findings = found(whole)
    assert "hunter2" not in str([finding.record() for finding in findings])
    secrets = [finding for finding in findings if finding.rule == "plain-secret"]
    assert [finding.severity for finding in secrets] == [WARNING, WARNING]


COMMANDS = [
    pytest.param(
        "<localfile><log_format>command</log_format><command>df -P</command></localfile>",
        "`localfile.command`: agents run `df -P` only with `logcollector.remote_commands` set to `1` in their local "
        "internal options",
        id="localfile",
    ),
    pytest.param(
        module("command", "<command>x.sh</command>"),
        "`command.command`: agents run `x.sh` only with `wazuh_command.remote_commands` set to `1` in their local "
        "internal options",
        id="module",
    ),
    pytest.param(
        "<sca><policies><policy>etc/shared/a.yml</policy></policies></sca>",
        "`sca.policies.policy`: agents run the commands in `etc/shared/a.yml` only with `sca.remote_commands` set to "
        "`1` in their local internal options",
        id="policies under the shared folder",
    ),
    pytest.param(
        "<syscheck><prefilter_cmd>/usr/sbin/prelink -y</prefilter_cmd></syscheck>",
        "`syscheck.prefilter_cmd`: agents run `/usr/sbin/prelink -y` only with `syscheck/allow_remote_prefilter_cmd` "
        "set to `yes` in their local configuration",
        id="prefilter",
    ),
    pytest.param(
        module("osquery", "<bin_path>/opt</bin_path>"),
        "`osquery.bin_path`: agents run `/opt`, without any switch on the agent",
        id="no switch",
    ),
    pytest.param(
        module("osquery", "<run_daemon>yes</run_daemon>"),
        "`osquery.run_daemon`: agents run a program of their own, without any switch on the agent",
        id="a switch of its own",
    ),
]


@pytest.mark.parametrize(("inside", "message"), COMMANDS)
def test_a_program_that_agents_run_is_named_with_its_switch(inside: str, message: str) -> None:
    (note,) = [finding for finding in found(inside) if finding.rule == "remote-command"]
    assert (note.severity, note.message) == (NOTE, message)


@pytest.mark.parametrize("name", ["Command", "COMMAND", "cOmmand"])
def test_letter_case_hides_no_command(name: str) -> None:
    findings = found(f"<localfile><log_format>command</log_format><{name}>id</{name}></localfile>")
    rules = {finding.rule: finding.severity for finding in findings}
    assert rules == {"missing-option": ERROR, "unknown-option": ERROR, "remote-command": NOTE}
