"""What the service can do: registered, guarded and logged operations, one module per noun.

This file imports no operation: a command imports the one noun it needs. `NOUNS` names the modules for those who must
see all of them (docs, tests, the router).
"""

from __future__ import annotations

NOUNS = (
    "agent_config",
    "agents",
    "case_tables",
    "catalogue",
    "decisions",
    "doctor",
    "group_files",
    "groups",
    "history",
    "impact",
    "keepalives",
    "lint",
    "login",
    "matrix",
    "policies",
    "reach",
    "request_log",
    "roles",
    "rollouts",
    "rule_examples",
    "rules",
    "security",
    "sessions",
    "settings",
    "setup",
    "sync",
    "users",
    "waiting",
)
