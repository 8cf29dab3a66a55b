"""The world of a table of cases: agents, policies, roles, users and rules that exist in the table only.

Rules: a world decides as the service would that holds the same, shipped users, roles, policies and rules included;
what the service refuses on write is a fault of the table. A name that the service ships cannot be defined anew.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from mgmtctl.domain.auth_context import json_type
from mgmtctl.domain.defaults import POLICIES, ROLES, RULES, USERS
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.findings import ERROR, Finding
from mgmtctl.domain.grants import DENY, Entry, Grant
from mgmtctl.domain.matching import ContextIndex, judge_rules, needed_keys
from mgmtctl.domain.policies import blocks_record, check_policy, parse_policy
from mgmtctl.domain.resources import Resource, agent_names, closest, shown
from mgmtctl.domain.rules import check_rules, join, parse_rules
from mgmtctl.domain.users import FIRST_OWN_ID, check_name, name_key

if TYPE_CHECKING:
    from mgmtctl.domain.case_tables import Subject

WORLD_KEYS = ("agents", "policies", "roles", "users", "rules")
USER_KEYS = ("roles", "allow_run_as")
WEB_INTERFACE = USERS[1].name
TOO_COSTLY = "a rule that leads to a role with a deny is undecided: the login is refused"

Blocks = Mapping[str, Mapping[str, Any]]
StoredRule = tuple[int, str, str | None]


class Held(NamedTuple):
    """What a subject holds: its policies by its roles, and whether it has any role at all."""

    grants: tuple[Grant, ...]
    has_roles: bool


class KnownRule(NamedTuple):
    """A rule as a run needs it; `roles`: names of the roles that it leads to."""

    id: int
    name: str
    expressions: Sequence[object]
    roles: tuple[str, ...]


class WorldUser(NamedTuple):
    """A user of a world."""

    roles: tuple[str, ...]
    allow_run_as: bool = False


class Faults:
    """What is wrong with a document, found piece by piece."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def add(self, rule: str, path: str, message: str, suggestion: str | None = None) -> None:
        """One more fault."""
        self.findings.append(Finding(rule, ERROR, message, path, suggestion=suggestion))

    def keyed(self, value: object, known: Sequence[str], path: str, required: Sequence[str] = ()) -> bool:
        """Whether `value` is an object; its unknown and missing keys are faults."""
        if not isinstance(value, dict):
            self.add("wrong-type", path, f"expected an object, got {json_type(value)}")
            return False
        for key in value:
            if key not in known:
                near = closest(key, known)
                hint = f"did you mean `{near}`?" if near else f"keys are {', '.join(known)}"
                self.add("unknown-key", join(key, path), f"key {shown(key)} is unknown", hint)
        for key in required:
            if key not in value:
                self.add("missing-key", path, f"`{key}` is missing", f"write `{key}`")
        return True

    def text(self, record: Mapping[str, Any], key: str, path: str) -> str | None:
        """The text under a key, None when it is not there or wrong."""
        if key not in record:
            return None
        value = record[key]
        if isinstance(value, str) and value:
            return value
        got = "nothing" if value == "" else json_type(value)
        self.add("wrong-type", join(key, path), f"expected text, got {got}")
        return None

    def word(self, record: Mapping[str, Any], key: str, path: str, words: Collection[str]) -> str | None:
        """As `text`, one of some words."""
        if key in record and record[key] not in tuple(words):
            got = shown(record[key]) if isinstance(record[key], str) else json_type(record[key])
            self.add("unknown-word", join(key, path), f"expected {' or '.join(words)}, got {got}")
            return None
        return record.get(key)

    def names(self, record: Mapping[str, Any], key: str, path: str) -> frozenset[str] | None:
        """The names under a key, None when it is not there."""
        return frozenset(self.name_list(record[key], join(key, path))) if key in record else None

    def name_list(self, value: object, path: str) -> tuple[str, ...]:
        """A list of texts."""
        if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
            return tuple(value)
        self.add("wrong-type", path, f"expected a list of names, got {_listed_type(value)}")
        return ()

    def known(self, names: Iterable[str], kind: str, known: Collection[str], path: str) -> None:
        """Each name must be one of the `known` ones."""
        for name in sorted(set(names).difference(known)):
            near = closest(name, known)
            hint = f"did you mean `{near}`?" if near else f"define it under `{_PLURALS[kind]}`"
            self.add(f"unknown-{kind}", path, f"{kind} {shown(name)} is not in the table", hint)


_PLURALS = {"agent": "agents", "policy": "policies", "role": "roles", "user": "users", "rule": "rules"}


def _listed_type(value: object) -> str:
    if not isinstance(value, list):
        return json_type(value)
    wrong = next(item for item in value if not (isinstance(item, str) and item))
    return f"{json_type(wrong) if wrong != '' else 'nothing'} in it"


class World:
    """A world, ready to be asked; see `case_runs.Source`."""

    mode = "white"
    whole = True

    def __init__(self) -> None:
        self.agents: dict[str, tuple[str, ...]] = {}
        self.policies: dict[str, Blocks] = {p.name: blocks_record(p.blocks) for p in POLICIES}
        self.roles: dict[str, tuple[str, ...]] = {role.name: role.policies for role in ROLES}
        self.users = {user.name: WorldUser(user.roles, user.allow_run_as) for user in USERS}
        leading = {rule.name: tuple(r.name for r in ROLES if rule.name in r.rules) for rule in RULES}
        self.rules: dict[str, KnownRule] = {
            rule.name: KnownRule(rule.id, rule.name, rule.rules, leading[rule.name]) for rule in RULES
        }

    def held(self, subject: Subject) -> Held:
        """The policies of a subject, and how it got them. InvalidError when the login would be refused."""
        if subject.roles is not None:
            via = dict.fromkeys(subject.roles, "asked")
        elif subject.context is not None:
            via = self._granted(subject.user, ContextIndex(subject.context.document))
        else:
            via = dict.fromkeys(self.users[str(subject.user)].roles, "linked")
        return Held(tuple(grant for role, how in via.items() for grant in self._grants(role, how)), bool(via))

    def names(self, action: str, resource: str) -> tuple[Resource, ...]:
        """All names of what a case asks about."""
        asked = Resource.parse(resource)
        if asked.kind == "agent:id" and asked.value != "*":
            return agent_names(asked.value, self.agents[asked.value])
        return (asked,)

    def shows(self, entry: Entry) -> bool:
        """A table has no secrets from whoever wrote it."""
        return True

    def own_policies(self) -> list[tuple[int, str, Blocks]]:
        """(id, name, blocks) of what the table defines."""
        return [
            (number, name, self.policies[name])
            for name, number in self._policy_ids.items()
            if number >= FIRST_OWN_ID
        ]

    def may_use_contexts(self, user: str) -> bool:
        """Whether a login of the user may bring a context."""
        return self.users[user].allow_run_as

    def rows(self, user: str | None) -> list[StoredRule]:
        """The rules that a context login of the user evaluates, as a login reads them; drafts without roles too."""
        if user is not None and not self.may_use_contexts(user):
            return []
        return [row for row in self._rows if row[0] >= FIRST_OWN_ID or user == WEB_INTERFACE]

    def rule(self, rule_id: int) -> KnownRule:
        """The rule of that id."""
        return self._rules_by_id[rule_id]

    def rule_id(self, name: str) -> int:
        """The id of a rule that is in the table."""
        return self.rules[name].id

    def shows_roles(self, rule_ids: Sequence[int]) -> bool:
        """As `shows`, of the roles that rules lead to."""
        return True

    def _granted(self, user: str | None, index: ContextIndex) -> dict[str, str]:
        """The roles of a context login, each with the rules that led to it."""
        rows = [row for row in self.rows(user) if self.rule(row[0]).roles]
        true, undecided = ([self.rule(number) for number in ids] for ids in judge_rules(rows, index))
        if any(self._may_take_away(role) for rule in undecided for role in rule.roles):
            raise InvalidError(TOO_COSTLY)
        roles = dict.fromkeys(role for rule in true for role in rule.roles)
        return {role: f"rule {', '.join(rule.name for rule in true if role in rule.roles)}" for role in roles}

    def _may_take_away(self, role: str) -> bool:
        held = (block for policy in self.roles[role] for block in self.policies[policy].values())
        return any(block["effect"] == DENY for block in held)

    def _grants(self, role: str, via: str) -> Iterable[Grant]:
        for policy in self.roles[role]:
            yield Grant(
                self._role_ids[role], role, via, self._policy_ids[policy], policy, self.policies[policy]
            )

    @cached_property
    def _role_ids(self) -> dict[str, int]:
        return _numbered(self.roles, len(ROLES))

    @cached_property
    def _policy_ids(self) -> dict[str, int]:
        return _numbered(self.policies, len(POLICIES))

    @cached_property
    def _rules_by_id(self) -> dict[int, KnownRule]:
        return {rule.id: rule for rule in self.rules.values()}

    @cached_property
    def _rows(self) -> list[StoredRule]:
        return [
            (rule.id, json.dumps(list(rule.expressions)), needed_keys(rule.expressions))
            for rule in self.rules.values()
        ]


def _numbered(names: Iterable[str], shipped: int) -> dict[str, int]:
    """Ids as the service gives them: shipped names come first."""
    return {
        name: number if number <= shipped else FIRST_OWN_ID + number - shipped - 1
        for number, name in enumerate(names, start=1)
    }


def read_world(document: Mapping[str, Any], faults: Faults) -> World:
    """The world that a table defines; what is wrong with it goes to `faults`, and is left out."""
    world = World()
    for group, read in (("agents", _agent), ("policies", _policy), ("roles", _role), ("users", _user)):
        for name, value in _named(document, group, getattr(world, group), faults):
            read(world, name, value, join(name, group), faults)
    for number, (name, value) in enumerate(
        _named(document, "rules", world.rules, faults), start=FIRST_OWN_ID
    ):
        _rule(world, name, value, number, faults)
    return world


def _named(
    document: Mapping[str, Any], group: str, shipped: Collection[str], faults: Faults
) -> Iterable[tuple[str, Any]]:
    """(name, value) of a part of the world, with faults for names that the service would refuse."""
    values = document.get(group, {})
    if not isinstance(values, dict):
        faults.add("wrong-type", group, f"expected an object by name, got {json_type(values)}")
        return []
    kind = next(kind for kind, plural in _PLURALS.items() if plural == group)
    taken = {name_key(name): f"`{name}` is shipped with the service" for name in shipped}
    good = []
    for name, value in values.items():
        try:
            if kind != "agent":
                check_name(kind, name)
            if name_key(name) in taken:
                raise InvalidError(f"{kind} {taken[name_key(name)]}", fix="take another name")
        except InvalidError as error:
            faults.add("name", join(name, group), error.problem, error.fix)
            continue
        taken[name_key(name)] = f"`{name}` is there already: letter case does not count"
        good.append((name, value))
    return good


def _agent(world: World, name: str, value: object, path: str, faults: Faults) -> None:
    groups = faults.name_list(value, path)
    try:
        number = Resource.parse(f"agent:id:{name}").value
        if number != name or name == "*":
            raise InvalidError(
                f"agent {shown(name)} is not written as an id", fix=f"write `{number.zfill(3)}`"
            )
        for group in groups:
            Resource.parse(f"agent:group:{group}")
        if not groups or "*" in groups:
            raise InvalidError("an agent is in at least one group", fix="write `[default]`")
    except InvalidError as error:
        faults.add("agent", path, error.problem, error.fix)
    world.agents[name] = groups


def _policy(world: World, name: str, value: object, path: str, faults: Faults) -> None:
    found = check_policy(value, path)
    faults.findings += found
    world.policies[name] = {} if found else blocks_record(parse_policy(value, name))


def _role(world: World, name: str, value: object, path: str, faults: Faults) -> None:
    policies = faults.name_list(value, path)
    faults.known(policies, "policy", world.policies, path)
    world.roles[name] = tuple(dict.fromkeys(policies))


def _user(world: World, name: str, value: object, path: str, faults: Faults) -> None:
    record = value if isinstance(value, dict) else {"roles": value}
    faults.keyed(record, USER_KEYS, path)
    listed = f"{path}.roles" if isinstance(value, dict) else path
    roles = faults.name_list(record.get("roles", []), listed)
    faults.known(roles, "role", world.roles, listed)
    allowed = record.get("allow_run_as", False)
    if not isinstance(allowed, bool):
        faults.add("wrong-type", f"{path}.allow_run_as", f"expected true or false, got {json_type(allowed)}")
    world.users[name] = WorldUser(tuple(dict.fromkeys(roles)), allowed is True)


def _rule(world: World, name: str, value: object, number: int, faults: Faults) -> None:
    path = join(name, "rules")
    found = check_rules(value)
    for fault in found:
        inner = fault.path
        joined = f"{path}{inner}" if inner.startswith("[") or not inner else f"{path}.{inner}"
        faults.add(fault.rule, joined, fault.message, fault.suggestion)
    roles: tuple[str, ...] = ()
    if isinstance(value, dict) and ("rule" in value or "rules" in value) and "roles" in value:
        roles = faults.name_list(value["roles"], f"{path}.roles")
        faults.known(roles, "role", world.roles, f"{path}.roles")
    world.rules[name] = KnownRule(number, name, [] if found else parse_rules(value), roles)
