"""Every operation with the arguments that an attacker would try, by parameter name.

An operation that is added tomorrow is attacked too: a parameter without values fails the tests and says where to add
them. The worlds in which the calls are made are those of `attack_world`: what is the attacker's own is called own-...,
the neighbour's canary-..., and ids follow from the order in which they are made there.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

import mgmtctl.operations
from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.case_tables import PolicyCase, RuleCase, Subject
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations.registry import OPERATIONS, Operation
from mgmtctl.settings import Settings
from tests.operations.attack_world import (
    CANARY,
    CANARY_CONTEXT,
    CANARY_RULE,
    CHANCES,
    CONF,
    OWN_CONTEXT,
    OWN_RULE,
    PASSWORD,
)

# Every module of the package, whether it is listed anywhere or not.
_MODULES = {module.name for module in pkgutil.iter_modules(mgmtctl.operations.__path__)}
for _name in sorted(_MODULES):
    importlib.import_module(f"mgmtctl.operations.{_name}")
ALL = sorted(name for name in OPERATIONS if name.partition(".")[0] in _MODULES)

# What an attacker writes for each parameter: his own things, the neighbour's by name and by id, a near miss of a name.
# The first value is harmless and valid: it stands while another parameter is tried.
USERS = ("own-friend", "canary-user", "102", "canary-usr", "canary-", "999")
ROLES = ("own-team", "canary-role", "102", "canary-rol", "999")
POLICIES = ("own-extra", "canary-policy", "102", "canary-polic", "999")
RULES = ("own-idle", "canary-rule", "102", "canary-rul", "999")
AGENTS = ("001", "canary-agent1", "003", "canary-agent", "999")
GROUPS = ("own-group", "canary-group", "canary-grou", "no-such-group")


def _lists(names: Sequence[str]) -> list[Any]:
    several = [[name] for name in names]
    return [several[0], *several[1:], [names[0], names[1], names[2]], list(names), []]


def _policy(action: str, *resources: str) -> dict[str, Any]:
    return {"actions": [action], "resources": list(resources), "effect": "allow"}


QUERIES = (
    None,
    ListQuery(search=CANARY),
    ListQuery(where='name~"canary"'),
    ListQuery(where="roles=canary-role"),
    ListQuery(where="users=canary-user,policies=canary-policy"),
    ListQuery(where="group=canary-group"),
    ListQuery(where="count>0", sort="-name", limit=1),
)
POLICY_DOCUMENTS = (
    _policy("agent:read", "agent:group:own-group"),
    _policy("agent:read", "agent:group:canary-group"),
    _policy("agent:read", "agent:id:003"),
    _policy("security:read", "user:id:102"),
    _policy("agent:read", "agent:id:*"),
    {"actions": ["agent:red"], "resources": ["agent:group:canary-group"], "effect": "allow"},
)
CAN_I_RESOURCES = (
    *("agent:id:001", "agent:id:003", "agent:id:canary-agent1", "agent:id:canary-agent", "agent:id:999"),
    *("agent:group:canary-group", "group:id:canary-group", "group:id:no-such-group"),
    *("user:id:canary-user", "role:id:102", "policy:id:102", "agent:id:*", "*:*:*"),
)
SUBJECTS = (
    *(Subject(user=user) for user in ("own-friend", "canary-user", "102", "canary-usr")),
    *(Subject(roles=names) for names in (("own-team",), ("canary-role",), ("102",), ())),
    *(Subject(user="own-user", context=context) for context in (OWN_CONTEXT, CANARY_CONTEXT)),
)
POLICY_CASES = [
    [PolicyCase("cases[0]", subject, action="agent:read", resource=resource, because=because)]
    for subject in SUBJECTS
    for resource in ("agent:id:001", "agent:id:003", "agent:id:canary-agent1", "agent:group:canary-group")
    for because in (None, frozenset({"own-extra"}), frozenset({"canary-extra"}))
]
RULE_CASES = [
    [RuleCase("cases[0]", Subject(user=user, context=context), rules=rules)]
    for user in (None, "own-user", "canary-user", "102")
    for context in (OWN_CONTEXT, CANARY_CONTEXT)
    for rules in (None, frozenset({"own-rule"}), frozenset({"canary-rule"}))
]
VALUES: dict[str, Sequence[Any]] = {
    "user_id": USERS,
    "user": (None, *USERS),
    "user_ids": _lists(USERS),
    "role_id": ROLES,
    "role_ids": _lists(ROLES),
    "policy_id": POLICIES,
    "policy_ids": _lists(POLICIES),
    "rule_id": RULES,
    "rule_ids": _lists(RULES),
    "agent_id": AGENTS,
    "other_id": AGENTS,
    "path": ("syscheck.frequency", "syscheck", "canary"),
    "agents_list": _lists(AGENTS),
    "group_id": GROUPS,
    "group": (None, *GROUPS),
    "groups_list": _lists(GROUPS),
    "groups": _lists(GROUPS),
    "roles": (["own-team"], ["canary-role"], ["102"], ["own-team", "canary-role"], []),
    "policies": (["own-extra"], ["canary-policy"], ["102"], []),
    "rules": (["own-idle"], ["canary-rule"], ["102"], []),
    "query": QUERIES,
    "context": (OWN_CONTEXT, CANARY_CONTEXT, parse_context(b'{"name": "", "auth": {}}')),
    "name": ("own-new",),
    "user_name": ("own-new",),
    "password": ("Another-Horse-8", "weak"),
    "allow_run_as": (False, True),
    "accept_risk": ((), ("lockout",)),
    "agent_ip": ("any",),
    "ip": ("any",),
    "folder": (None, "/srv/canary-folder"),
    "position": (None, 1),
    "force": (False, True),
    "purge": (False, True),
    "push": (False, True),
    "hash": ("sha256", "md5", "canary"),
    "file_name": ("own.txt", "canary.txt", "agent.conf", "../canary-group/canary.txt"),
    "content": (CONF, b"text\n", b"<agent_config><canary/></agent_config>"),
    "source": (None,),
    "if_match": (None, "r1", "none", "0" * 64),
    "edited": (False, True),
    "revision": ("1", "r1", "99", "canary"),
    "to": (None, "1", "99", "canary"),
    "data": (
        b"name,groups\nown-agent9,own-group\n",
        b"name,groups\nown-agent9,canary-group\n",
        b"id,name,groups\n700,own-agent9,own-group\n",
        b"name,groups\nown-agent9,own-group;canary-group\nown-agent9,no-such-group\n",
    ),
    "verify": (False, True),
    "max_affected": (None, 0),
    "if_locked": ("fail",),
    "lock_timeout": (0.0,),
    "watch": (None,),
    "sample": ("1", "50%"),
    "abort_if": (None, "disconnected>0"),
    "rollout": (None, "1", "2", "x"),
    "resource": CAN_I_RESOURCES,
    "action": ("agent:read", "security:read", "group:read", "agent:raed"),
    "value": ("x",),
    "last": (0, 5),
    "show": (None,),
    "actions": (["agent:read"], ["security:read"], ["agent:raed"]),
    "resources": (["agent:group:own-group"], ["agent:group:canary-group"], ["user:id:102"], ["agent:id:003"]),
    "effect": ("allow", "deny"),
    "block": (None, "agents", "canary-block"),
    "every": (False, True),
    "by": ("group", "resource"),
    "document": POLICY_DOCUMENTS,
    "role": (None, *ROLES),
    "values": (
        {"auth_token_exp_timeout": 900},
        {"auth_token_exp_timeout": 600, "max_login_attempts": 9},
        {"rbac_mode": "black"},
        {"rbac_mode": "canary"},
        {"canary": 1},
        {},
    ),
    "address": (None, "local:4242", "127.0.0.1"),
    "context_id": (OWN_CONTEXT.id, CANARY_CONTEXT.id, CANARY_CONTEXT.id[:8], "0" * 32),
    "context_ids": ([], [OWN_CONTEXT.id], [CANARY_CONTEXT.id], [CANARY_CONTEXT.id[:8]], ["0" * 32]),
    "session_ids": ([], [CHANCES.first("own-user basic")], [CHANCES.first("canary-user basic")], ["0" * 32]),
}
# Where one operation means something else by a name.
SPECIAL: dict[str, Sequence[Any]] = {
    "agents.create_agent.groups": (["own-group"], ["canary-group"], ["own-group", "canary-group"], []),
    "agents.create_agent.agent_id": (None, "001", "77"),
    "agents.set_agent.name": (None, "own-renamed"),
    "agents.set_agent.groups": (None, ["own-group"], ["canary-group"]),
    "agents.import_agents.file_name": ("fleet.csv",),
    "case_tables.decide_policy_cases.cases": POLICY_CASES,
    "case_tables.decide_policy_cases.coverage": (True,),
    "case_tables.judge_rule_cases.cases": RULE_CASES,
    "case_tables.judge_rule_cases.coverage": (True,),
    "catalogue.list_actions.endpoint": (None, "GET /agents", "GET /canary"),
    "catalogue.list_resources.resource": (None, "agent:id", "canary:id"),
    "catalogue.show_action.name": ("agent:read", "canary:read"),
    "decisions.can_i.roles": (None, ["own-team"], ["canary-role"], ["102"], ["own-team", "canary-role"]),
    "decisions.can_i.context": (None, OWN_CONTEXT, CANARY_CONTEXT),
    "group_files.validate_group_files.file_name": (None, "own.txt", "canary.txt"),
    "group_files.put_file.accept_risk": ((), ("no-validate",)),
    "group_files.validate_document.source": ("agent.conf",),
    "group_files.validate_document.content": (
        b'<agent_config name="canary.*"><wodle name="syscollector"><users>yes</users></wodle></agent_config>',
        b'<agent_config name="!canary.*t1$"></agent_config>',
    ),
    "keepalives.record_keepalive.content": (
        b"{}",
        b'{"event": "startup", "mergedSum": "x"}',
        b'{"id": "003"}',
        b'{"name": "canary-agent1"}',
        b'{"groups": ["canary-group"], "canary": 1}',
    ),
    "login.log_in.password": (PASSWORD, "Wrong-Horse-77"),
    "login.run_as.password": (PASSWORD, "Wrong-Horse-77"),
    "login.try_run_as.password": (PASSWORD, "Wrong-Horse-77"),
    "login.log_in.user_name": ("own-user",),
    "login.run_as.user_name": ("own-user",),
    "login.try_run_as.user_name": ("own-user",),
    # Rules lead whoever brings a fitting context to their roles, of whatever tenant they are.
    "login.run_as.context": (OWN_CONTEXT, parse_context(b'{"name": "", "auth": {}}')),
    "login.try_run_as.context": (OWN_CONTEXT, parse_context(b'{"name": "", "auth": {}}')),
    "login.explain_context.user_id": (100, 102, 2, 999),
    "matrix.access_matrix.role": (None, "own-team", "canary-role", "102"),
    "matrix.access_matrix.user": (None, "own-friend", "canary-user", "102"),
    "matrix.access_matrix.groups": ([], ["canary-group"]),
    "matrix.access_matrix.every": (True,),
    "policies.update_policy.document": (None, *POLICY_DOCUMENTS),
    "rules.create_rule.document": (OWN_RULE, CANARY_RULE, {"FIND": {}}),
    "rules.update_rule.document": (None, CANARY_RULE, {"FIND": {}}),
    "settings.list_settings.settings": (Settings({"MGMTCTL_HOME": "/nonexistent"}),),
    "settings.show_setting.settings": (Settings({"MGMTCTL_HOME": "/nonexistent"}),),
    "settings.set_setting.settings": (Settings({"MGMTCTL_HOME": "/nonexistent"}),),
    "settings.show_setting.name": ("limits.rows", "rbac_mode"),
    "settings.set_setting.name": ("limits.rows", "rbac_mode"),
}
_FULL_PRODUCT = 80  # as many combinations are all tried


def calls(operation: Operation) -> Iterator[dict[str, Any]]:
    """Arguments to try: every combination when they are few; else each value of each parameter beside harmless ones
    and beside the neighbour's, or for a look every combination of two."""
    values = {name: list(_values(operation, name)) for name in list(operation.signature.parameters)[1:]}
    size = 1
    for found in values.values():
        size *= len(found)
    if size <= _FULL_PRODUCT:
        yield from (dict(zip(values, some, strict=True)) for some in itertools.product(*values.values()))
        return
    if operation.method == "GET":
        yield from _pairwise(values)
        return
    for base in (0, 1):
        others = {name: found[min(base, len(found) - 1)] for name, found in values.items()}
        for name, found in values.items():
            yield from ({**others, name: value} for value in found)


def _pairwise(values: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Every two parameters in every combination, beside harmless ones."""
    harmless = {name: found[0] for name, found in values.items()}
    for one, other in itertools.combinations(values, 2):
        for first, second in itertools.product(values[one], values[other]):
            yield {**harmless, one: first, other: second}


def _values(operation: Operation, parameter: str) -> Iterator[Any]:
    table = SPECIAL.get(f"{operation.name}.{parameter}", VALUES.get(parameter))
    if table is None:
        pytest.fail(
            f"nothing to try for the parameter `{parameter}` of {operation.name}: add it to VALUES (or"
            f' SPECIAL["{operation.name}.{parameter}"]) of tests/operations/attack_calls.py:'
            " a harmless value first, then the neighbour's by name, by id, and nearly"
        )
    table = list(table)
    yield from table
    # What may be left out is left out too.
    default = operation.signature.parameters[parameter].default
    if default is None and None not in table:
        yield None
