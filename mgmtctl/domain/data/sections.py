"""The names that may stand directly in agent.conf and in its blocks, and where each has an effect (D 6).

The same facts stand in `agent_options.yaml`, which is too large to read for a look at names; a test compares the two.
"""

from __future__ import annotations

ALLOWED = "allowed"
LOCAL_ONLY = "local_only"
MANAGER_ONLY = "manager_only"

ROOT = "agent_config"
SELECTORS = ("name", "os", "profile", "overwrite")  # attributes of a block; overwrite has no effect
VARIABLE = "var"  # defines a `$name` for the values that follow; neither a block nor a section
MODULE_SECTION = "wodle"

SECTIONS: dict[str, str] = {
    "syscheck": ALLOWED,
    "rootcheck": ALLOWED,
    "localfile": ALLOWED,
    "socket": ALLOWED,
    "labels": ALLOWED,
    "client_buffer": ALLOWED,
    "client": ALLOWED,
    "sca": ALLOWED,
    MODULE_SECTION: ALLOWED,
    "gcp-pubsub": ALLOWED,
    "gcp-bucket": ALLOWED,
    "github": ALLOWED,
    "office365": ALLOWED,
    "ms-graph": ALLOWED,
    "fluent-forward": ALLOWED,
    "active-response": LOCAL_ONLY,
    "agent-upgrade": LOCAL_ONLY,
    "logging": LOCAL_ONLY,
    "anti_tampering": LOCAL_ONLY,
    "global": MANAGER_ONLY,
    "ruleset": MANAGER_ONLY,
    "alerts": MANAGER_ONLY,
    "email_alerts": MANAGER_ONLY,
    "database_output": MANAGER_ONLY,
    "syslog_output": MANAGER_ONLY,
    "integration": MANAGER_ONLY,
    "agentless": MANAGER_ONLY,
    "remote": MANAGER_ONLY,
    "command": MANAGER_ONLY,
    "reports": MANAGER_ONLY,
    "cluster": MANAGER_ONLY,
    "auth": MANAGER_ONLY,
    "vulnerability-detection": MANAGER_ONLY,
    "vulnerability-detector": MANAGER_ONLY,
    "indexer": MANAGER_ONLY,
    "rule_test": MANAGER_ONLY,
    "task-manager": MANAGER_ONLY,
    "wdb": MANAGER_ONLY,
}

MODULES: dict[str, str] = {
    "syscollector": ALLOWED,
    "command": ALLOWED,
    "osquery": ALLOWED,
    "open-scap": ALLOWED,
    "cis-cat": ALLOWED,
    "aws-s3": ALLOWED,
    "azure-logs": ALLOWED,
    "docker-listener": ALLOWED,
    "vulnerability-detector": MANAGER_ONLY,
    "agent-key-polling": MANAGER_ONLY,
}
