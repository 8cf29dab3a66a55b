"""What the service can do: registered, guarded and logged operations, one module per noun.

This file imports no operation: a command imports the one noun it needs. `NOUNS` names the modules for those who must
see all of them (docs, tests, the router).
"""

from __future__ import annotations

NOUNS = (
    "agents",
    "catalogue",
    "decisions",
    "group_files",
    "groups",
    "login",
    "policies",
    "request_log",
    "roles",
    "rules",
    "settings",
    "setup",
    "sync",
    "users",
)
