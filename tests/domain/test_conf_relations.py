"""Facts about what options do to one another: repetition, and the relations of the vocabulary."""

from __future__ import annotations

import pytest

from mgmtctl.domain.agent_conf_check import check_agent_conf
from mgmtctl.domain.findings import ERROR, WARNING
from tests.domain.test_conf_options import found, module, told

REPEATS = [
    pytest.param(
        "<syscheck><frequency>5</frequency>\n<frequency>6</frequency></syscheck>",
        "3:1: warning: `frequency` stands on line 2 too; this value counts; leave one of them out [repeated-option]",
        id="the later counts",
    ),
    pytest.param(
        "<syscheck><frequency>5</frequency></syscheck>\n<syscheck><frequency>5</frequency></syscheck>",
        "3:11: note: `frequency` stands on line 2 too; this value counts; leave one of them out [repeated-option]",
        id="the same in a second section",
    ),
    pytest.param(
        "<localfile><log_format>multi-line-regex</log_format><location>/a</location>"
        "<multiline_regex>a</multiline_regex>\n<multiline_regex>b</multiline_regex></localfile>",
        "3:1: error: `multiline_regex` stands on line 2 too; this one is ignored; leave one of them out "
        "[repeated-option]",
        id="the first counts",
    ),
    pytest.param(
        "<syscheck><directories>/etc,/bin</directories>\n"
        "<directories realtime='yes'>/bin, /usr</directories></syscheck>",
        "3:1: warning: `/bin` stands on line 2 too, and this `directories` replaces that one [repeated-entry]",
        id="a path of a list",
    ),
    pytest.param(
        "<localfile><location>Security</location><log_format>eventchannel</log_format><query>a</query></localfile>\n"
        "<localfile><location>Security</location><log_format>eventchannel</log_format><query>b</query></localfile>",
        "3:1: warning: `Security` stands on line 2 too, and this `localfile` replaces that one [repeated-entry]",
        id="two queries of one channel",
    ),
    pytest.param(
        module("osquery", "") + "\n" + module("osquery", "<run_daemon>no</run_daemon>"),
        "3:1: warning: this `osquery` replaces the one on line 2 as a whole; put their options into one "
        "[replaced-section]",
        id="a section as a whole",
    ),
    pytest.param(
        "<gcp-bucket><bucket type='access_logs'><name>a</name><credentials_file>/c</credentials_file></bucket>"
        "</gcp-bucket>\n"
        "<gcp-bucket><bucket type='access_logs'><name>b</name><credentials_file>/c</credentials_file></bucket>"
        "<bucket type='access_logs'><name>c</name><credentials_file>/c</credentials_file></bucket></gcp-bucket>",
        "3:13: warning: this `bucket` drops those of the section before, on line 2; put them into one section "
        "[replaced-section]",
        id="a list that a second section drops",
    ),
]


@pytest.mark.parametrize(("inside", "expected"), REPEATS)
def test_what_a_second_one_does_to_the_first_is_told(inside: str, expected: str) -> None:
    assert told(inside) == [expected]


APART = [
    pytest.param(module("command", "<command>a</command>") * 2, id="commands without a tag"),
    pytest.param(
        "<localfile><log_format>command</log_format><location>x</location><command>a</command></localfile>"
        * 2,
        id="localfiles that run commands",
    ),
    pytest.param("<syscheck><ignore>/a</ignore><ignore>/a</ignore></syscheck>", id="lists that are added to"),
    pytest.param(
        "<syscheck><windows_registry arch='32bit'>HKEY_A</windows_registry>"
        "<windows_registry arch='64bit'>HKEY_A</windows_registry></syscheck>",
        id="keys of two architectures",
    ),
]


@pytest.mark.parametrize("inside", APART)
def test_what_is_told_apart_is_no_repetition(inside: str) -> None:
    assert [f.text() for f in found(inside) if f.rule.startswith(("repeated", "replaced"))] == []


def test_two_blocks_are_not_compared() -> None:
    block = b"<agent_config><syscheck><frequency>%d</frequency></syscheck></agent_config>"
    assert check_agent_conf(block % 5 + block % 6) == []


RELATIONS = [
    (
        "<sca><day>1</day><wday>monday</wday></sca>",
        "excluding-options",
        "`day` and `wday` exclude each other",
    ),
    (
        "<sca><day>1</day><interval>4w</interval></sca>",
        "wrong-interval",
        "with `day` the interval must be in whole months",
    ),
    ("<sca><wday>monday</wday><interval>8d</interval></sca>", "wrong-interval", "in whole weeks, got `8d`"),
    ("<sca><time>04:00</time><interval>3600</interval></sca>", "wrong-interval", "in whole days, got `3600`"),
    (
        "<localfile><log_format>syslog</log_format></localfile>",
        "missing-option",
        "needs `location` or `command`",
    ),
    (
        "<localfile><log_format>full_command</log_format><location>x</location></localfile>",
        "missing-option",
        "`log_format` `full_command` needs `command`",
    ),
    (
        "<localfile><log_format>multi-line-regex</log_format><location>x</location></localfile>",
        "missing-option",
        "needs `multiline_regex`",
    ),
    (
        "<localfile><log_format>syslog</log_format><location>x</location><label key='a'>b</label></localfile>",
        "option-without-effect",
        "`label` counts only with `log_format` `json`, here it is `syslog`",
    ),
    (
        "<localfile><log_format>macos</log_format><location>system</location></localfile>",
        "fixed-value",
        "`location` with `log_format` `macos` is `macos`, got `system`",
    ),
    (
        "<localfile><log_format>eventlog</log_format><location>security</location></localfile>",
        "fixed-value",
        "got `security`",
    ),
    (
        "<localfile><log_format>journald</log_format><location>journald</location><age>1d</age></localfile>",
        "option-without-effect",
        "`age` does nothing with `log_format` `journald`",
    ),
    (
        "<syscheck><synchronization><max_interval>1m</max_interval></synchronization></syscheck>",
        "too-small",
        "`max_interval` must be at least `interval` (5m), got `1m`",
    ),
    (
        module("open-scap", "<content type='oval' path='a'><profile>b</profile></content>"),
        "option-without-effect",
        "`profile` goes only with the attribute `type` `xccdf`",
    ),
    (
        module(
            "aws-s3",
            "<subscriber type='security_lake'><discard_regex field='a'>b</discard_regex></subscriber>",
        ),
        "option-without-effect",
        "`discard_regex` does not go with the attribute `type` `security_lake`",
    ),
    (
        module("aws-s3", "<interval>1h</interval>"),
        "missing-option",
        "needs `bucket` or `service` or `subscriber`",
    ),
    (
        module(
            "azure-logs", "<graph><tenantdomain>a</tenantdomain><request><query>b</query></request></graph>"
        ),
        "missing-option",
        "needs `auth_path`, or `application_id` with `application_key`",
    ),
    (
        module(
            "azure-logs",
            "<log_analytics><auth_path>/a</auth_path><tenantdomain>a</tenantdomain><request><query>b</query></request>"
            "</log_analytics>",
        ),
        "missing-option",
        "a `request` of `log_analytics` needs `workspace`",
    ),
    (
        "<office365><subscriptions><subscription>DLP.All</subscription></subscriptions><api_auth>"
        "<tenant_id>a</tenant_id><client_id>b</client_id></api_auth></office365>",
        "missing-option",
        "needs one of `client_secret` and `client_secret_path`",
    ),
    (
        "<fluent-forward><tag>a</tag><socket_path>b</socket_path><user>c</user></fluent-forward>",
        "missing-option",
        "`user` needs `password`",
    ),
]


@pytest.mark.parametrize(("inside", "rule", "message"), RELATIONS)
def test_options_that_do_not_go_together_are_an_error(inside: str, rule: str, message: str) -> None:
    (finding,) = [finding for finding in found(inside) if finding.severity == ERROR]
    assert finding.rule == rule
    assert message in finding.message


def test_a_relation_that_is_not_certain_is_a_warning() -> None:
    inside = module("aws-s3", "<subscriber type='security_lake'><aws_profile>a</aws_profile></subscriber>")
    assert [(f.rule, f.severity) for f in found(inside)] == [("option-without-effect", WARNING)]


def test_a_relation_on_a_wrong_value_is_not_judged() -> None:
    inside = "<localfile><log_format>Macos</log_format><location>x</location><query>a</query></localfile>"
    assert [finding.rule for finding in found(inside)] == ["bad-value"]


def test_a_missing_option_of_a_merged_section_may_stand_elsewhere() -> None:
    (first, second) = found("<fluent-forward><user>a</user><password>$b</password></fluent-forward>")[:2]
    assert {first.severity, second.severity} == {WARNING}
    assert {first.rule, second.rule} == {"missing-option"}


def test_a_required_attribute_is_excused_by_the_type_of_the_block_around() -> None:
    inside = "<service type='{}'><aws_log_groups>a</aws_log_groups><discard_regex>x</discard_regex></service>"
    assert found(module("aws-s3", inside.format("cloudwatchlogs"))) == []
    assert [f.rule for f in found(module("aws-s3", inside.format("inspector")))] == ["missing-attribute"]
