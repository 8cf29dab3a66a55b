"""Tables of cases: what somebody may do, or which rules a context makes true, as it is expected (S 2.3, 5.3; D 2, 3).

A table is a plain document: a world of its own (agents, policies, roles, users, rules) or none, which means the stored
service, and cases. Rules: one format for policies and for rules; every fault is found at once, each at its JSON path;
names in a world are checked like those of the service; a table that can be read can be decided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mgmtctl.domain.actions import action as catalogued
from mgmtctl.domain.actions import require_kind
from mgmtctl.domain.auth_context import AuthContext, json_type, parse_context, wrap
from mgmtctl.domain.case_worlds import WORLD_KEYS, Faults, World, read_world
from mgmtctl.domain.errors import InvalidError, MgmtctlError
from mgmtctl.domain.findings import Finding
from mgmtctl.domain.grants import BLACK, WHITE
from mgmtctl.domain.resources import KINDS, Resource

MODES = (WHITE, BLACK)
BOTH = "both"
VERDICTS = {"allow": True, "deny": False}
POLICIES, RULES = "policies", "rules"
TABLE_KEYS = ("story", "mode", *WORLD_KEYS, "cases")
CONTEXT_KEYS = ("context", "context_file", "wrap")
CASE_KEYS = {
    POLICIES: (
        "user", "role", "roles", *CONTEXT_KEYS, "action", "resource", "expected", "because", "mode", "note",
    ),
    RULES: ("user", *CONTEXT_KEYS, "rules", "roles", "note"),
}  # fmt: skip

# What reads a context file: (path as the table writes it, name to wrap it in) -> context; MgmtctlError.
ContextReader = Callable[[str, str | None], AuthContext]


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a case is about: a user, some roles, or a login by a context (of `user`, or of any who may use contexts)."""

    user: str | None = None
    roles: tuple[str, ...] | None = None
    context: AuthContext | None = None
    source: str = ""

    @property
    def document(self) -> dict[str, object]:
        """What the context holds."""
        return {} if self.context is None else self.context.document

    def __str__(self) -> str:
        if self.roles is not None:
            return f"role {', '.join(self.roles) or '(none)'}"
        if self.context is None:
            return str(self.user)
        by = f"context {self.source or self.context.name}"
        return by if self.user is None else f"{self.user} with {by}"


@dataclass(frozen=True, slots=True)
class Case:
    """One case: `path` is its place in the table, `note` what its writer says of it."""

    path: str
    subject: Subject
    note: str = ""

    def record(self) -> dict[str, object]:
        """What a log may show of it: no content of a context."""
        return {"path": self.path, "subject": str(self.subject)}


@dataclass(frozen=True, slots=True)
class PolicyCase(Case):
    """Whether the subject may do `action` on `resource` in `mode` (None: that of the service).

    `because`: the policies whose entries decide; empty: none speaks and the mode decides; None: not asked.
    """

    action: str = ""
    resource: str = ""
    expected: bool = False
    because: frozenset[str] | None = None
    mode: str | None = None

    @property
    def title(self) -> str:
        """The question in one line."""
        return f"{self.subject} {self.action} {self.resource}"


@dataclass(frozen=True, slots=True)
class RuleCase(Case):
    """Exactly these rules are true, and exactly these roles are granted; None: not asked."""

    rules: frozenset[str] | None = None
    roles: frozenset[str] | None = None

    @property
    def title(self) -> str:
        """The question in one line."""
        return str(self.subject)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of one kind; `world` None: the stored service is asked."""

    kind: str
    world: World | None
    cases: tuple[PolicyCase, ...] | tuple[RuleCase, ...]


def read_table(document: object, kind: str, read_context: ContextReader) -> Table:
    """The table of policies or of rules that a plain document holds; InvalidError with every fault."""
    table, findings = _Reader(kind, read_context).table(document)
    if findings:
        raise InvalidError("the table is refused", findings=findings)
    return table


class _Reader(Faults):
    """One pass over a table; faults are collected."""

    def __init__(self, kind: str, read_context: ContextReader) -> None:
        super().__init__()
        self._kind = kind
        self._read_context = read_context
        self._world: World | None = None
        self._mode: str | None = None

    def table(self, document: object) -> tuple[Table, list[Finding]]:
        cases: list[Any] = []
        if self.keyed(document, TABLE_KEYS, "", ("cases",)) and isinstance(document, dict):
            self.text(document, "story", "")
            self._mode = self.word(document, "mode", "", (*MODES, BOTH))
            if any(key in document for key in WORLD_KEYS):
                self._world = read_world(document, self)
            cases = self._cases(document.get("cases", []))
        return Table(self._kind, self._world, tuple(cases)), self.findings

    def _cases(self, cases: object) -> list[PolicyCase | RuleCase]:
        if not isinstance(cases, list):
            self.add("wrong-type", "cases", f"expected a list of cases, got {json_type(cases)}")
            return []
        if not cases:
            self.add("empty-list", "cases", "the list is empty, so nothing is tested", "write a case")
        found: list[PolicyCase | RuleCase] = []
        read = self._policy_cases if self._kind == POLICIES else self._rule_cases
        for number, case in enumerate(cases):
            path = f"cases[{number}]"
            if self.keyed(case, CASE_KEYS[self._kind], path, self._required):
                found += read(case, path)
        return found

    @property
    def _required(self) -> tuple[str, ...]:
        return ("action", "resource", "expected") if self._kind == POLICIES else ()

    # --- cases of policies ----------------------------------------------------------------------------------------

    def _policy_cases(self, case: Mapping[str, Any], path: str) -> Iterable[PolicyCase]:
        subject = self._subject(case, path)
        action, resource = (self.text(case, key, path) for key in ("action", "resource"))
        if action and resource:
            self._question(action, resource, path)
        because = self.names(case, "because", path)
        if because is not None and self._world is not None:
            self.known(because, "policy", self._world.policies, f"{path}.because")
        note = self.text(case, "note", path) or ""
        for mode, expected in self._expected(case, path):
            yield PolicyCase(path, subject, note, action or "", resource or "", expected, because, mode)

    def _question(self, action: str, text: str, path: str) -> None:
        """What can be said of a question without asking it."""
        kind = text.rpartition(":")[0]
        try:
            catalogued(action)
            if kind in KINDS:
                require_kind(action, kind)
        except MgmtctlError as error:
            self.add("never-asked", f"{path}.action", error.problem, error.fix)
            return
        if self._world is None and kind in KINDS:
            return  # its agents and security objects may be called by name
        try:
            resource = Resource.parse(text)
        except InvalidError as error:
            self.add("malformed-resource", f"{path}.resource", error.problem, error.fix)
            return
        if self._world is not None and resource.kind == "agent:id" and resource.value != "*":
            self.known([resource.value], "agent", self._world.agents, f"{path}.resource")

    def _expected(self, case: Mapping[str, Any], path: str) -> Iterable[tuple[str | None, bool]]:
        """(mode, verdict) for each mode that the case speaks of; None: the mode of the service."""
        mode = self.word(case, "mode", path, (*MODES, BOTH)) or self._mode
        expected = case.get("expected")
        if isinstance(expected, dict):
            if "mode" in case:
                self.add(
                    "mode-twice", f"{path}.mode", "`expected` names the modes already", "leave `mode` out"
                )
            if self.keyed(expected, MODES, f"{path}.expected") and not expected:
                self.add("missing-key", f"{path}.expected", "no mode is named", f"write {' or '.join(MODES)}")
            wanted = {name: self.word(expected, name, f"{path}.expected", VERDICTS) for name in MODES}
            return [(name, VERDICTS[word]) for name, word in wanted.items() if word]
        word = self.word(case, "expected", path, VERDICTS)
        if not word:
            return []
        return [(name, VERDICTS[word]) for name in (MODES if mode == BOTH else (mode,))]

    # --- cases of rules -------------------------------------------------------------------------------------------

    def _rule_cases(self, case: Mapping[str, Any], path: str) -> Iterable[RuleCase]:
        user = self._user(case, path)
        context, source = self._context(case, path)
        if not any(key in case for key in CONTEXT_KEYS):
            self.add("missing-key", path, "the case has no context", "write `context` or `context_file`")
        rules, roles = (self.names(case, key, path) for key in ("rules", "roles"))
        if "rules" not in case and "roles" not in case:
            self.add(
                "missing-key", path, "nothing is expected", "write `rules`, `roles` or both; `[]` is none"
            )
        if self._world is not None:
            self.known(rules or (), "rule", self._world.rules, f"{path}.rules")
            self.known(roles or (), "role", self._world.roles, f"{path}.roles")
        note = self.text(case, "note", path) or ""
        yield RuleCase(path, Subject(user, None, context, source), note, rules, roles)

    # --- whom a case is about -------------------------------------------------------------------------------------

    def _subject(self, case: Mapping[str, Any], path: str) -> Subject:
        user = self._user(case, path)
        context, source = self._context(case, path)
        roles = self._roles(case, path)
        by_context = any(key in case for key in CONTEXT_KEYS)
        by_role = "role" in case or "roles" in case
        if by_role and (by_context or "user" in case):
            self.add("two-subjects", path, "a case is about roles, or about a user or a context, not both")
        elif not by_role and not by_context and "user" not in case:
            self.add("missing-key", path, "the case is about nobody", "write `user`, `role` or `context`")
        return Subject(user, roles, context, source)

    def _user(self, case: Mapping[str, Any], path: str) -> str | None:
        user = self.text(case, "user", path)
        if user and self._world is not None:
            self.known([user], "user", self._world.users, f"{path}.user")
        return user

    def _roles(self, case: Mapping[str, Any], path: str) -> tuple[str, ...] | None:
        if "role" in case and "roles" in case:
            self.add("two-subjects", f"{path}.role", "`role` and `roles` say the same", "leave one out")
        named = case["roles"] if "roles" in case else [case["role"]] if "role" in case else None
        if named is None:
            return None
        key = "roles" if "roles" in case else "role"
        found = self.name_list(named, f"{path}.{key}")
        if self._world is not None:
            self.known(found, "role", self._world.roles, f"{path}.{key}")
        return tuple(dict.fromkeys(found))

    def _context(self, case: Mapping[str, Any], path: str) -> tuple[AuthContext | None, str]:
        name = self.text(case, "wrap", path)
        file = self.text(case, "context_file", path)
        if "context" in case and "context_file" in case:
            self.add("two-subjects", path, "`context` and `context_file` exclude each other", "leave one out")
        elif "wrap" in case and "context" not in case and "context_file" not in case:
            self.add("missing-key", path, "`wrap` needs a context", "write `context` or `context_file`")
        elif file:
            return self._read(lambda: self._read_context(file, name), f"{path}.context_file"), file
        elif "context" in case:
            return self._read(lambda: _inline(case["context"], name), f"{path}.context"), name or ""
        return None, ""

    def _read(self, read: Callable[[], AuthContext], path: str) -> AuthContext | None:
        try:
            return read()
        except MgmtctlError as error:
            hint = error.why or error.fix or None
            self.add("context", path, error.problem, hint and hint.replace("--wrap NAME", "wrap: NAME"))
            return None


def _inline(document: object, name: str | None) -> AuthContext:
    if not isinstance(document, dict):
        raise InvalidError(f"expected an object, got {json_type(document)}")
    data = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return parse_context(data, "context") if name is None else wrap(name, data, "context")
