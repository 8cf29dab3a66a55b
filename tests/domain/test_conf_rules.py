"""Facts about the table of lint rules of agent.conf: each rule has a document that yields it, and one that does not."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from mgmtctl.domain import options
from mgmtctl.domain.agent_conf import MAX_DEPTH, MAX_ELEMENTS, MAX_LENGTH, MAX_SIZE
from mgmtctl.domain.agent_conf_check import MAX_TOLD, check_agent_conf
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.conf_rules import CONF_RULES, explained, summaries
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.findings import ERROR, NOTE, WARNING
from tests.conftest import ROOT

LINUX = AgentFacts("001", "db1", "linux", "Linux [Debian|debian: 12] - v3.0.0", (3, 0, 0), ())


def block(inside: str, attributes: str = "") -> bytes:
    return f"<agent_config{attributes}>{inside}</agent_config>".encode()


def syscheck(inside: str) -> bytes:
    return block(f"<syscheck>{inside}</syscheck>")


def localfile(inside: str, log_format: str = "syslog") -> bytes:
    return block(f"<localfile><log_format>{log_format}</log_format>{inside}</localfile>")


def module(name: str, inside: str) -> bytes:
    return block(f'<wodle name="{name}">{inside}</wodle>')


LOCATION = "<location>/var/log/x</location>"
CLEAN = syscheck("<frequency>3600</frequency>")
# rule, a document with it (bytes, or bytes and agents), one without
EXAMPLES: dict[str, tuple[Any, Any]] = {
    "empty-document": (b"", b"<agent_config/>"),
    "no-agent-config": (b"some text", b"<agent_config></agent_config>"),
    "merged-file": (b"#web\n!15 agent.conf\n<agent_config/>\n", b"#web\n! 15 agent.conf\n<agent_config/>\n"),
    "unknown-element": (b"<agent_config/><syscheck/>", b"<agent_config/><var name='x'>1</var>"),
    "nested-block": (block("<agent_config/>"), b"<agent_config/><agent_config/>"),
    "nul-byte": (b"<agent_config/>\0", b"<agent_config/>\x01"),
    "xml-declaration": (b'<?xml version="1.0"?><agent_config/>', block("<!-- <?xml ?> -->")),
    "doctype": (b"<!DOCTYPE x><agent_config/>", b"<!-- DOCTYPE --><agent_config/>"),
    "cdata": (b"<![CDATA[x]]><agent_config/>", b"<agent_config/>"),
    "unclosed-comment": (b"<agent_config/><!-- x", b"<agent_config/><!-- x -->"),
    "comment-ends-early": (b"<agent_config/><!-- a !> b", b"<agent_config/><!-- a ! > b -->"),
    "unclosed-element": (b"<agent_config>", b"<agent_config/>"),
    "escaped-closing-tag": (
        localfile("<location>C:\\logs\\</location>"),
        localfile("<location>C:\\logs\\\\</location>"),
    ),
    "stray-closing-tag": (b"<agent_config/></syscheck>", b"<agent_config/>"),
    "closing-tag-case": (b"<agent_config></Agent_Config>", b"<agent_config></agent_config>"),
    "closing-tag-blank": (b"<agent_config></agent_config >", b"<agent_config></agent_config>"),
    "bad-tag": (b"<agent_config></agent_config", b"<agent_config></agent_config>"),
    "bad-attribute": (block("", " name=web"), block("", " name= 'web'")),
    "duplicate-attribute": (block("", " name='a' name='b'"), block("", " name='a' os='b'")),
    "bare-less-than": (
        localfile("<location>/var/< x</location>"),
        localfile("<location>/var/\\< x</location>"),
    ),
    "too-long": (
        localfile(f"<location>{'x' * (MAX_LENGTH + 1)}</location>"),
        localfile(f"<location>{'x' * MAX_LENGTH}</location>"),
    ),
    "too-deep": ("<a>" * (MAX_DEPTH + 1), "<a>" * MAX_DEPTH),
    "too-large": (b" " * (MAX_SIZE + 1), b" " * MAX_LENGTH),
    "too-many-elements": ("<var/>" * (MAX_ELEMENTS + 1), "<var/>" * 1000),
    "too-many-faults": (b"</x>" * 200, b"</x>" * 20),
    "more-findings": (block("<x/>" * (MAX_TOLD + 1)), block("<x/>" * MAX_TOLD)),
    "unknown-selector": (block("", " profiles='x'"), block("", " profile='x'")),
    "unknown-section": (block("<syschek/>"), block("<syscheck/>")),
    "unknown-module": (module("oscap", ""), module("open-scap", "")),
    "module-without-name": (block("<wodle/>"), module("osquery", "")),
    "unknown-option": (
        syscheck("<scan-on-start>yes</scan-on-start>"),
        module("cis-cat", "<scan-on-start>yes</scan-on-start>"),
    ),
    "unknown-attribute": (
        syscheck("<directories real_time='yes'>/etc</directories>"),
        syscheck("<directories realtime='yes'>/etc</directories>"),
    ),
    "manager-only": (block("<global/>"), block("<rootcheck/>")),
    "local-only": (block("<active-response><disabled>no</disabled></active-response>"), block("<sca/>")),
    "misplaced-element": (
        syscheck("<directories>/etc<frequency>5</frequency></directories>"),
        syscheck("<directories>/etc</directories><frequency>5</frequency>"),
    ),
    "deprecated": (
        block("<client_buffer><disable>no</disable></client_buffer>"),
        block("<client_buffer><disabled>no</disabled></client_buffer>"),
    ),
    "moved-option": (
        syscheck("<nodiff>/etc/shadow</nodiff>"),
        syscheck("<diff><nodiff>/etc/shadow</nodiff></diff>"),
    ),
    "bad-value": (syscheck("<disabled>true</disabled>"), syscheck("<disabled>yes</disabled>")),
    "empty-value": (syscheck("<directories></directories>"), syscheck("<directories>/etc</directories>")),
    "blanks-around-value": (
        localfile("<location> /var/log/x </location>"),
        localfile("<location>/var/log/x y</location>"),
    ),
    "undecoded-entity": (
        localfile("<command>a &amp;&amp; b</command>", "command"),
        localfile("<command>a && b > c</command>", "command"),
    ),
    "stray-text": (syscheck("disabled no"), syscheck("<!-- disabled no -->")),
    "unknown-value": (
        block(
            "<office365><api_auth><tenant_id>a</tenant_id><client_id>b</client_id>"
            "<client_secret_path>/c</client_secret_path></api_auth>"
            "<subscriptions><subscription>Audit.Other</subscription></subscriptions></office365>"
        ),
        block(
            "<office365><api_auth><tenant_id>a</tenant_id><client_id>b</client_id>"
            "<client_secret_path>/c</client_secret_path></api_auth>"
            "<subscriptions><subscription>DLP.All</subscription></subscriptions></office365>"
        ),
    ),
    "skipped-label": (
        block("<labels><label key='_a'>x</label></labels>"),
        block("<labels><label key='a'>x</label></labels>"),
    ),
    "missing-option": (localfile("", "command"), localfile("<command>id</command>", "command")),
    "missing-attribute": (
        block("<labels><label>x</label></labels>"),
        block("<labels><label key='a'>x</label></labels>"),
    ),
    "empty-section": (block("<localfile/>"), block("<syscheck/>")),
    "excluding-options": (
        block("<sca><day>1</day><wday>monday</wday></sca>"),
        block("<sca><day>1</day><interval>1M</interval></sca>"),
    ),
    "option-without-effect": (
        localfile(LOCATION + "<query>x</query>"),
        localfile("<location>Security</location><query>x</query>", "eventchannel"),
    ),
    "fixed-value": (
        localfile("<location>Sysmon</location>", "eventlog"),
        localfile("<location>Security</location>", "eventlog"),
    ),
    "wrong-interval": (
        block("<sca><time>04:00</time><interval>12h</interval></sca>"),
        block("<sca><time>04:00</time><interval>48h</interval></sca>"),
    ),
    "too-small": (
        syscheck(
            "<synchronization><interval>1h</interval><max_interval>30m</max_interval></synchronization>"
        ),
        syscheck(
            "<synchronization><interval>1h</interval><max_interval>60m</max_interval></synchronization>"
        ),
    ),
    "repeated-option": (
        syscheck("<frequency>5</frequency><frequency>6</frequency>"),
        block("<syscheck><frequency>5</frequency></syscheck><rootcheck><frequency>6</frequency></rootcheck>"),
    ),
    "repeated-entry": (
        syscheck("<directories>/etc,/bin</directories><directories realtime='yes'>/bin</directories>"),
        syscheck("<directories>/etc,/bin</directories><directories realtime='yes'>/sbin</directories>"),
    ),
    "replaced-section": (
        block('<wodle name="osquery"/><wodle name="osquery"/>'),
        block('<wodle name="syscollector"/><wodle name="syscollector"/>'),
    ),
    "plain-secret": (
        block(
            "<fluent-forward><tag>a</tag><socket_path>/s</socket_path><shared_key>k</shared_key></fluent-forward>"
        ),
        block("<fluent-forward><tag>a</tag><socket_path>/s</socket_path></fluent-forward>"),
    ),
    "remote-command": (localfile("<command>id</command>", "full_command"), localfile(LOCATION)),
    "wrong-system": (
        block("<syscheck><windows_registry>HKEY_X</windows_registry></syscheck>", " os='linux'"),
        block("<syscheck><windows_registry>HKEY_X</windows_registry></syscheck>", " os='windows'"),
    ),
    "too-new": (
        (block("<labels><label key='a'>x</label></labels><sca/>"), [LINUX]),
        (block("<labels><label key='a'>x</label></labels>"), [LINUX]),
    ),
    "needs-release": (
        module("syscollector", "<users>yes</users>"),
        module("syscollector", "<packages>yes</packages>"),
    ),
    "bad-selector": (block("", " name='(?=web)'"), block("", " name='web'")),
    "read-as-list": (block("", " name='^web.*'"), block("", " name='^web'")),
    "no-known-profile": (
        (block("", " profile='web'"), [AgentFacts("001", "db1")]),
        (block("", " profile='web'"), [LINUX]),
    ),
    "no-agent-matches": ((block("<sca/>", " name='web'"), [LINUX]), (block("", " name='db'"), [LINUX])),
}


def rules(example: Any) -> set[str]:
    return {finding.rule for finding in findings(example)}


def findings(example: Any) -> list[Any]:
    data, agents = example if isinstance(example, tuple) else (example, None)
    return check_agent_conf(data.encode() if isinstance(data, str) else data, "agent.conf", agents)


def test_every_rule_has_an_example() -> None:
    assert EXAMPLES.keys() == CONF_RULES.keys()


@pytest.mark.parametrize("rule", EXAMPLES)
def test_a_rule_is_yielded_by_its_example_and_not_by_the_other(rule: str) -> None:
    with_it, without = EXAMPLES[rule]
    found = [finding for finding in findings(with_it) if finding.rule == rule]
    assert found
    assert {finding.severity for finding in found} <= set(CONF_RULES[rule].severities)
    assert rule not in rules(without)


def test_every_rule_that_a_finding_may_name_is_in_the_table() -> None:
    named = set()
    modules = [path for path in (ROOT / "mgmtctl" / "domain").glob("conf_*.py") if path.stem != "conf_rules"]
    for path in (*modules, *(ROOT / "mgmtctl" / "domain" / f"agent_conf{end}.py" for end in ("", "_check"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                named |= {text for argument in node.args for text in _rule_name(argument)}
            elif isinstance(node, ast.Assign):
                named |= {text for part in ast.walk(node.value) for text in _rule_name(part)} & set(
                    CONF_RULES
                )
    assert named == set(CONF_RULES)


def _rule_name(argument: ast.AST) -> set[str]:
    """The text of an argument that looks like the name of a rule: words with dashes between."""
    text = argument.value if isinstance(argument, ast.Constant) else None
    if not isinstance(text, str):
        return set()
    is_name = "-" in text and text.replace("-", "").isalpha()
    return {text} if is_name or text in CONF_RULES else set()


def test_a_row_says_what_happens_and_what_to_do() -> None:
    for name, rule in CONF_RULES.items():
        assert name == rule.name == name.lower()
        assert set(rule.severities) <= {ERROR, WARNING, NOTE}
        assert rule.why.endswith(".")
        assert rule.fix.endswith(".")
        assert not rule.summary.endswith(".")
        assert rule.text().count("\n") == 2


def test_explaining_what_does_not_exist_suggests_the_nearest() -> None:
    assert [rule.name for rule in explained("bad-value")] == ["bad-value"]
    assert explained("all") == list(CONF_RULES.values())
    with pytest.raises(QuestionError) as caught:
        explained("bad-vlaue")
    assert caught.value.fix == "did you mean `bad-value`?"
    assert list(summaries(["bad-value", "too-long", "nothing"])) == ["too-long", "bad-value"]


def test_every_kind_of_relation_in_the_vocabulary_is_judged() -> None:
    from mgmtctl.domain import conf_relations

    kinds = {rule["kind"] for entry in options.every() for rule in entry.rules}
    assert kinds == set(conf_relations._KINDS)
