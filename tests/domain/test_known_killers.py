"""The files that are known to have stopped whole fleets: each is an error with the right suggestion."""

from __future__ import annotations

import pytest

from mgmtctl.domain.agent_conf_check import check_agent_conf
from mgmtctl.domain.agent_facts import AgentFacts
from mgmtctl.domain.findings import ERROR

UBUNTU = AgentFacts(
    "001", "web-01", "linux", "Linux |web-01 [Ubuntu|ubuntu: 22.04] - Product v4.9.2", (4, 9, 2)
)
OLD = AgentFacts("002", "web-02", "linux", "Linux |web-02 [Debian|debian: 10] - Product v4.2.0", (4, 2, 0))

KILLERS = [
    pytest.param(
        "<syscheck><scan-on-start>yes</scan-on-start></syscheck>", "", "unknown-option", "`scan_on_start`",
        id="scan-on-start in syscheck",
    ),
    pytest.param(
        '<wodle name="syscollector"><scan-on-start>yes</scan-on-start></wodle>', "", "unknown-option",
        "`scan_on_start`", id="scan-on-start in syscollector",
    ),
    pytest.param(
        "<syscheck><disabled>no</disabled></syscheck>", ' nmae="web"', "unknown-selector", "`name`",
        id="a misspelt selector hits every agent",
    ),
    pytest.param("<global><email_notification>yes</email_notification></global>", "", "manager-only", "leave it out",
                 id="a section of managers"),
    pytest.param(
        "<localfile><location>System</location><log_format>eventchannel</log_format></localfile>", ' os="Linux"',
        "wrong-system", 'os="windows"', id="a Windows value in a Linux block",
    ),
    pytest.param(
        "<localfile><location>journald</location><log_format>journald</log_format></localfile>", "", "too-new",
        "selector", id="a value that an agent of the group is too old for",
    ),
    pytest.param("", None, "no-agent-config", "<agent_config>", id="text without a tag"),
]  # fmt: skip


@pytest.mark.parametrize(("inside", "selector", "rule", "suggestion"), KILLERS)
def test_what_stops_a_fleet_is_an_error_with_the_right_suggestion(
    inside: str, selector: str | None, rule: str, suggestion: str
) -> None:
    text = "only words" if selector is None else f"<agent_config{selector}>\n{inside}\n</agent_config>\n"
    findings = [
        f for f in check_agent_conf(text.encode(), "web/agent.conf", [UBUNTU, OLD]) if f.severity == ERROR
    ]
    assert [finding.rule for finding in findings] == [rule]
    assert suggestion in findings[0].text()
    assert findings[0].line == (1 if selector is None or "selector" in rule else 2)


@pytest.mark.parametrize("module", ["cis-cat", "open-scap"])
def test_scan_on_start_with_hyphens_is_right_in_two_modules(module: str) -> None:
    text = f'<agent_config><wodle name="{module}"><scan-on-start>yes</scan-on-start></wodle></agent_config>'
    assert [f for f in check_agent_conf(text.encode()) if f.severity == ERROR] == []
