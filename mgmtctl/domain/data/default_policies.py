"""The blocks of the 27 default policies (S 2.6), and which policies the two wide roles hold (D 2).

A block is (name, actions, resources); the effect of every default block is allow.
"""

from __future__ import annotations

NEW = ("*:*:*",)
AGENTS = ("agent:id:*",)
AGENTS_BY_GROUP = ("agent:id:*", "agent:group:*")
GROUPS = ("group:id:*",)
NODES = ("node:id:*",)
DECODERS = ("decoder:file:*",)
LISTS = ("list:file:*",)
RULES = ("rule:file:*",)
USERS = ("user:id:*",)
SECURITY = ("role:id:*", "policy:id:*", "user:id:*", "rule:id:*")

BLOCKS: dict[str, tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = {
    "agents_all": (
        ("resourceless", ("agent:create", "group:create"), NEW),
        (
            "agents",
            (
                "agent:read",
                "agent:delete",
                "agent:modify_group",
                "agent:reconnect",
                "agent:restart",
                "agent:upgrade",
            ),
            AGENTS_BY_GROUP,
        ),
        (
            "groups",
            ("group:read", "group:delete", "group:update_config", "group:modify_assignments"),
            GROUPS,
        ),
    ),
    "agents_commands": (("agents", ("active-response:command",), AGENTS),),
    "agents_read": (
        ("agents", ("agent:read",), AGENTS_BY_GROUP),
        ("groups", ("group:read",), GROUPS),
    ),
    "ciscat_read": (("ciscat", ("ciscat:read",), AGENTS),),
    "cluster_all": (
        (
            "resourceless",
            (
                "cluster:status",
                "manager:read",
                "manager:read_api_config",
                "manager:update_config",
                "manager:restart",
            ),
            NEW,
        ),
        (
            "nodes",
            ("cluster:read_api_config", "cluster:read", "cluster:restart", "cluster:update_config"),
            NODES,
        ),
    ),
    "cluster_read": (
        ("resourceless", ("cluster:status", "manager:read", "manager:read_api_config"), NEW),
        ("nodes", ("cluster:read_api_config", "cluster:read"), NODES),
    ),
    "decoders_all": (
        ("files", ("decoders:read", "decoders:delete"), DECODERS),
        ("resourceless", ("decoders:update",), NEW),
    ),
    "decoders_read": (("decoders", ("decoders:read",), DECODERS),),
    "events_ingest": (("resourceless", ("event:ingest",), NEW),),
    "lists_all": (
        ("files", ("lists:read", "lists:delete"), LISTS),
        ("resourceless", ("lists:update",), NEW),
    ),
    "lists_read": (("lists", ("lists:read",), LISTS),),
    "logtest_all": (("logtest", ("logtest:run",), NEW),),
    "mitre_read": (("mitre", ("mitre:read",), NEW),),
    "rootcheck_all": (("rootcheck", ("rootcheck:clear", "rootcheck:read", "rootcheck:run"), AGENTS),),
    "rootcheck_read": (("rootcheck", ("rootcheck:read",), AGENTS),),
    "rules_all": (
        ("files", ("rules:read", "rules:delete"), RULES),
        ("resourceless", ("rules:update",), NEW),
    ),
    "rules_read": (("rules", ("rules:read",), RULES),),
    "sca_read": (("sca", ("sca:read",), AGENTS),),
    "security_all": (
        (
            "resourceless",
            (
                "security:create",
                "security:create_user",
                "security:edit_run_as",
                "security:read_config",
                "security:update_config",
                "security:revoke",
            ),
            NEW,
        ),
        ("security", ("security:read", "security:update", "security:delete"), SECURITY),
    ),
    "syscheck_all": (("syscheck", ("syscheck:clear", "syscheck:read", "syscheck:run"), AGENTS),),
    "syscheck_read": (("syscheck", ("syscheck:read",), AGENTS),),
    "syscollector_read": (("syscollector", ("syscollector:read",), AGENTS),),
    "task_status": (("task", ("task:status",), NEW),),
    "users_all": (
        ("resourceless", ("security:create_user", "security:edit_run_as", "security:revoke"), NEW),
        ("users", ("security:read", "security:update", "security:delete"), USERS),
    ),
    "users_modify_run_as": (("flag", ("security:edit_run_as",), NEW),),
    "vulnerability_read": (("vulnerability", ("vulnerability:read",), AGENTS),),
    "vulnerability_run": (("resourceless", ("vulnerability:run",), NEW),),
}

WHOLE_POLICIES = (
    "agents_all",
    "agents_commands",
    "security_all",
    "cluster_all",
    "ciscat_read",
    "decoders_all",
    "lists_all",
    "rootcheck_all",
    "rules_all",
    "mitre_read",
    "sca_read",
    "syscheck_all",
    "syscollector_read",
    "logtest_all",
    "task_status",
    "events_ingest",
    "vulnerability_read",
    "vulnerability_run",
)

READONLY_POLICIES = (
    "agents_read",
    "ciscat_read",
    "cluster_read",
    "decoders_read",
    "lists_read",
    "rootcheck_read",
    "rules_read",
    "mitre_read",
    "sca_read",
    "syscheck_read",
    "syscollector_read",
    "vulnerability_read",
)
