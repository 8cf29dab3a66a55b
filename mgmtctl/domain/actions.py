"""Actions: the closed list of rights that policies may name (S 2.5, D 9).

Rules: an action belongs to the resource kinds of its own noun (D 9, pairing); what it is asked on stands
here once, and the endpoints that ask it are read from the endpoint table when somebody wants to see them.
Light: every command loads this.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.resources import KINDS, Resource, closest, shown

AGENTS = ("agent:id", "agent:group")
NEW = ("*:*",)
GROUPS = ("group:id",)
NODES = ("node:id",)
DECODERS = ("decoder:file",)
LISTS = ("list:file",)
RULES = ("rule:file",)
SECURITY = ("role:id", "policy:id", "user:id", "rule:id")


@dataclass(frozen=True, slots=True)
class Action:
    """A right: the resource `kinds` it may be asked on, and the release that deprecated it (or None)."""

    name: str
    description: str
    kinds: tuple[str, ...]
    deprecated: str | None = None

    def endpoints(self) -> list[str]:
        """The endpoints that ask for it, each as `<METHOD> <path> (<resource kinds>)` (S 2.5)."""
        from mgmtctl.domain.endpoints import endpoints

        return [
            f"{endpoint.method} {endpoint.path} ({', '.join(self.kinds_in(endpoint.resources))})"
            for endpoint in endpoints()
            if self.name in endpoint.actions
        ]

    def kinds_in(self, kinds: tuple[str, ...]) -> tuple[str, ...]:
        """Those of an endpoint's resource kinds that this action is paired with (D 9)."""
        return tuple(kind for kind in kinds if kind in self.kinds)

    def record(self) -> dict[str, object]:
        """The fixed JSON form (design: command line, fixed forms)."""
        return {
            "name": self.name,
            "description": self.description,
            "endpoints": self.endpoints(),
            "resources": list(self.kinds),
            "deprecated": self.deprecated,
        }


ACTIONS: dict[str, Action] = {
    action.name: action
    for action in (
        Action("active-response:command", "send active-response commands to agents", AGENTS),
        Action("agent:create", "register agents", NEW),
        Action("agent:delete", "delete agents", AGENTS),
        Action("agent:modify_group", "change the groups of agents", AGENTS),
        Action("agent:read", "read agents: records, keys, configuration, status", AGENTS),
        Action("agent:reconnect", "make agents reconnect, and sync their folders", AGENTS),
        Action("agent:restart", "restart agents", AGENTS),
        Action("agent:upgrade", "upgrade agents and read the outcome", AGENTS),
        Action("ciscat:read", "read CIS-CAT results of agents", AGENTS),
        Action("cluster:read_api_config", "read the API settings of cluster nodes", NODES),
        Action("cluster:read", "read status, configuration, statistics and logs of cluster nodes", NODES),
        Action("cluster:restart", "restart cluster nodes", NODES),
        Action("cluster:status", "read whether the cluster is enabled and running", NEW),
        Action("cluster:update_api_config", "change the API settings of cluster nodes", NODES, "4.0.4"),
        Action("cluster:update_config", "replace the configuration of cluster nodes", NODES),
        Action("decoders:read", "read decoder files", DECODERS),
        Action("decoders:update", "upload decoder files", NEW),
        Action("decoders:delete", "delete decoder files", DECODERS),
        Action("event:ingest", "submit events for analysis", NEW),
        Action("group:create", "create agent groups", NEW),
        Action("group:delete", "delete agent groups", GROUPS),
        Action("group:modify_assignments", "change which agents are in a group", GROUPS),
        Action("group:read", "read agent groups and their shared files", GROUPS),
        Action("group:update_config", "change the configuration and shared files of a group", GROUPS),
        Action("lists:read", "read lookup lists", LISTS),
        Action("lists:update", "upload lookup lists", NEW),
        Action("lists:delete", "delete lookup lists", LISTS),
        Action("logtest:run", "test logs against the ruleset", NEW),
        Action("manager:read_api_config", "read the API settings of the manager", NEW),
        Action("manager:read", "read status, configuration, statistics and logs of the manager", NEW),
        Action("manager:restart", "restart the manager", NEW),
        Action("manager:update_api_config", "change the API settings of the manager", NEW, "4.0.4"),
        Action("manager:update_config", "replace the configuration of the manager", NEW),
        Action("mitre:read", "read the ATT&CK database", NEW),
        Action("rootcheck:clear", "wipe rootcheck findings of agents", AGENTS),
        Action("rootcheck:read", "read rootcheck findings of agents", AGENTS),
        Action("rootcheck:run", "start rootcheck scans on agents", AGENTS),
        Action("rules:read", "read detection rule files", RULES),
        Action("rules:update", "upload detection rule files", NEW),
        Action("rules:delete", "delete detection rule files", RULES),
        Action("sca:read", "read configuration assessment results of agents", AGENTS),
        Action("security:create_user", "create users", NEW),
        Action("security:create", "create roles, policies and rules", NEW),
        Action("security:delete", "delete users, roles, policies and rules, and their links", SECURITY),
        Action("security:edit_run_as", "allow or forbid users to use authorization contexts", NEW),
        Action("security:read_config", "read the security settings", NEW),
        Action("security:read", "read users, roles, policies and rules", SECURITY),
        Action("security:revoke", "end sessions of others", NEW),
        Action("security:update_config", "change the security settings", NEW),
        Action("security:update", "change users, roles, policies and rules, and link them", SECURITY),
        Action("syscheck:clear", "wipe file integrity records of agents", AGENTS),
        Action("syscheck:read", "read file integrity records of agents", AGENTS),
        Action("syscheck:run", "start file integrity scans on agents", AGENTS),
        Action("syscollector:read", "read the inventory of agents", AGENTS),
        Action("task:status", "read the status of background tasks", NEW),
        Action("vulnerability:read", "read vulnerabilities of agents", AGENTS, "4.8.0"),
        Action("vulnerability:run", "start vulnerability scans", NEW, "4.8.0"),
    )
}


def action(name: str) -> Action:
    """The action of that name; QuestionError with what may have been meant."""
    if name in ACTIONS:
        return ACTIONS[name]
    near = closest(name, ACTIONS)
    raise QuestionError(
        f"action {shown(name)} does not exist",
        why=f"the catalogue has {len(ACTIONS)} actions",
        fix=f"did you mean `{near}`?" if near else "`mgmtctl actions list` shows them",
    )


def require_kind(name: str, kind: str) -> None:
    """Refuse what no endpoint can ask: an unknown action or kind, or a pair never asked (QuestionError)."""
    asked = action(name)
    if kind in asked.kinds:
        return
    if kind not in KINDS:
        raise QuestionError(
            f"resource kind {shown(kind)} does not exist", fix=f"kinds are {', '.join(KINDS)}"
        )
    raise QuestionError(
        f"`{name}` is never asked on {_spelled([kind])}", fix=f"ask it on {_spelled(asked.kinds)}"
    )


def mismatch(asked: Action, resource: Resource) -> str | None:
    """Why an entry for this resource can never match this action, or None when it can (D 2, D 9)."""
    if resource.kind in asked.kinds:
        return None
    needs = _spelled(asked.kinds)
    if resource.kind == "*:*":
        return f"`*:*:*` stands for actions that have no resource, and for nothing else; {asked.name} needs {needs}"
    return f"{asked.name} is never asked on {resource.kind}; it needs {needs}"


def _spelled(kinds: Iterable[str]) -> str:
    """Kinds in a sentence; the one that has a single resource as that resource is written."""
    return " or ".join("`*:*:*`" if kind == "*:*" else kind for kind in kinds)
