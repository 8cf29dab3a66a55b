"""The story that `mgmtctl demo` tells, as data: what is said, the files it needs, and real command lines."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Step:
    """One step: says a line, writes files (name to content), runs one command line that ends with `code`."""

    says: str
    command: tuple[str, ...] = ()
    code: int = 0
    files: dict[str, str] = field(default_factory=dict)


FLEET = """\
name,ip,groups
web-01,10.0.1.11,web
web-02,10.0.1.12,"default,web"
db-01,10.0.2.21,db
db-02,10.0.2.22,"web,db"
desk-01,any,default
"""

# What a search stack answers about the person who is logged in there: no `name` and no `auth`, so it has to be wrapped.
ACCOUNT = """\
{
  "user_name": "ada",
  "is_reserved": false,
  "is_hidden": false,
  "backend_roles": ["staff", "web-operators"],
  "custom_attribute_names": ["attr.internal.site"],
  "tenants": {"global_tenant": true, "ada": true},
  "roles": ["own_index", "kibana_user"]
}
"""

RULE = """\
{"FIND": {"backend_roles": "r'web-.*'"}}
"""

MISTAKE = """\
<agent_config>
  <localfile>
    <location>/var/log/nginx/access.log</location>
    <log_format>apache</log_format>
  </localfile>
  <sysccheck>
    <frequency>3600</frequency>
  </sysccheck>
</agent_config>
"""

CORRECTED = MISTAKE.replace("sysccheck", "syscheck")

WRAPPED = ("--context-file", "account.json", "--wrap", "opensearch")
AS_PORTAL = ("run-as", "-u", "portal", "--password-file", "portal.password", *WRAPPED)

STORY: tuple[Step, ...] = (
    Step("A data folder with one administrator.", ("init", "--password-file", "admin.password")),
    Step("Log in.", ("login", "-u", "admin", "--password-file", "admin.password")),
    Step("Three groups: `default` exists, two are new.", ("groups", "create", "web")),
    Step("", ("groups", "create", "db")),
    Step("Five agents, in one transaction.", ("agents", "import", "fleet.csv"), files={"fleet.csv": FLEET}),
    Step("", ("agents", "list", "--select", "id,name,ip,group,group_config_status")),
    Step(
        "A policy for one group, a role that has it, and a rule that maps people of another system to the role.",
        (
            "policies",
            "create",
            "web_operate",
            "--allow",
            "agent:read,agent:restart,agent:reconnect",
            "--on",
            "agent:group:web",
        ),
    ),
    Step("", ("roles", "create", "web_operator")),
    Step("", ("roles", "add-policy", "web_operator", "web_operate")),
    Step("", ("rules", "create", "web_people", "-f", "rule.json"), files={"rule.json": RULE}),
    Step("", ("roles", "add-rule", "web_operator", "web_people")),
    Step(
        "The portal may log in on behalf of people.",
        ("users", "create", "portal", "--password-file", "portal.password", "--allow-run-as"),
    ),
    Step(
        "Ada comes with the account document of her search stack. Which rule maps her, and to what?",
        (*AS_PORTAL, "--explain"),
        files={"account.json": ACCOUNT},
    ),
    Step(
        "What may she see? Her agents, and no others.",
        (*AS_PORTAL, "--", "agents", "list", "--select", "id,name,group"),
    ),
    Step(
        "May she restart db-02, which is in web too? And db-01?",
        ("can-i", "agent:restart", "agent:id:004", *WRAPPED, "--explain"),
    ),
    Step("", ("can-i", "agent:restart", "agent:id:003", *WRAPPED, "--explain"), code=1),
    Step(
        "What she may not do is refused, with the right that is missing.",
        (*AS_PORTAL, "--", "groups", "create", "mine"),
        code=6,
    ),
    Step(
        "A configuration with a mistake never enters a group.",
        ("files", "put", "web/agent.conf", "agent.conf"),
        code=7,
        files={"agent.conf": MISTAKE},
    ),
    Step(
        "Corrected, it does.",
        ("files", "put", "web/agent.conf", "agent.conf"),
        files={"agent.conf": CORRECTED},
    ),
    Step("What would a sync change?", ("sync", "run", "--all", "-n")),
    Step("Sync every agent folder.", ("sync", "run", "--all")),
    Step("", ("sync", "status")),
    Step("What does db-02 have, from which groups, and is it in force?", ("sync", "explain", "db-02")),
    Step(
        "Every call is in the log; context logins with the id of their context.",
        ("log", "list", "--limit", "5"),
    ),
)

NEXT = (
    "mgmtctl run-as --help             log in with a context of your own",
    "mgmtctl can-i --help              ask who may do what, and why",
    "mgmtctl sync plan --all           what a sync would change, agent by agent",
    "mgmtctl help rules                the rule language",
)
