"""Runs of tables of cases: each case decided, compared with what was expected, and explained when it differs.

Rules: a case is decided by what decides a request or a login (`Permissions.decide`, `judge_rules`); one that cannot be
decided fails and says why; what the caller may not read is not in the reasons, and a comparison that would rest on it
is refused, not passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from mgmtctl.domain.case_tables import POLICIES
from mgmtctl.domain.errors import DeniedError, InvalidError, MgmtctlError, NotFoundError
from mgmtctl.domain.grants import Decision, Permissions
from mgmtctl.domain.matching import ContextIndex, judge_rules
from mgmtctl.domain.trace import explain

if TYPE_CHECKING:
    from mgmtctl.domain.case_tables import Case, PolicyCase, RuleCase, Subject, Table
    from mgmtctl.domain.case_worlds import Blocks, Held, KnownRule, StoredRule
    from mgmtctl.domain.coverage import PolicyCoverage, RuleCoverage
    from mgmtctl.domain.grants import Entry
    from mgmtctl.domain.resources import Resource

_ALLOW, _DENY = "allow", "deny"
_NONE = "none"
_TREE_WIDTH = 74  # what is left of a line of 80 inside the indents of a failure
# What makes one case impossible to decide; anything else ends the run.
CASE_FAULTS = (InvalidError, DeniedError, NotFoundError)


class Source(Protocol):
    """Where cases are decided: a world of a table, or the stored service. Methods raise MgmtctlError."""

    @property
    def mode(self) -> str: ...

    def held(self, subject: Subject) -> Held: ...

    def names(self, action: str, resource: str) -> tuple[Resource, ...]: ...

    def shows(self, entry: Entry) -> bool: ...

    def own_policies(self) -> list[tuple[int, str, Blocks]]: ...

    def may_use_contexts(self, user: str) -> bool: ...

    def rows(self, user: str | None) -> list[StoredRule]: ...

    def rule(self, rule_id: int) -> KnownRule: ...

    def rule_id(self, name: str) -> int: ...

    def shows_roles(self, rule_ids: Sequence[int]) -> bool: ...


@dataclass(frozen=True, slots=True)
class Result:
    """How one case ended; `error`: it could not be decided. `lines`: the reasons, when it did not pass."""

    path: str
    title: str
    expected: str
    got: str
    passed: bool
    mode: str | None = None
    note: str = ""
    error: bool = False
    lines: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, object]:
        """Plain form: the reasons as lines, and as the facts of the decision or the traces."""
        return {
            "case": self.title,
            "mode": self.mode,
            "note": self.note,
            "passed": self.passed,
            "error": self.error,
            "expected": self.expected,
            "got": self.got,
            "reasons": list(self.lines),
            **self.facts,
        }


@dataclass(frozen=True, slots=True)
class Run:
    """The results of a table, in its order, and what its cases exercised (None: not asked)."""

    results: tuple[Result, ...]
    coverage: PolicyCoverage | RuleCoverage | None = None


def run_policies(cases: Iterable[PolicyCase], source: Source, *, coverage: bool = False) -> Run:
    """Decide each case about what somebody may do."""
    from mgmtctl.domain.coverage import PolicyCoverage

    seen = PolicyCoverage(source.own_policies()) if coverage else None
    asked = _Permissions(source)
    results = []
    for case in cases:
        mode = case.mode or source.mode
        try:
            permissions = asked.of(case.subject, mode)
            decision = permissions.decide(case.action, *source.names(case.action, case.resource))
        except CASE_FAULTS as error:
            results.append(_undecided(case, _expected(case), error, mode))
            continue
        if seen is not None:
            seen.add(decision)
        results.append(_judged(case, source, decision))
    return Run(tuple(results), seen)


class _Permissions:
    """The permissions of each subject in each mode, made once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._known: dict[tuple[object, ...], Permissions] = {}

    def of(self, subject: Subject, mode: str) -> Permissions:
        """What the subject may do; contexts are told apart by their content."""
        by = subject.context.id if subject.context else None
        key = (subject.user, subject.roles, by, mode)
        if key not in self._known:
            held = self._source.held(subject)
            self._known[key] = Permissions.granted(mode, held.grants, has_roles=held.has_roles)
        return self._known[key]


def run_rules(cases: Iterable[RuleCase], source: Source, *, coverage: bool = False) -> Run:
    """Judge each case about which rules a context makes true, and which roles they lead to."""
    from mgmtctl.domain.coverage import RuleCoverage

    seen = RuleCoverage() if coverage else None
    results = []
    for case in cases:
        index = ContextIndex(case.subject.document)
        try:
            rows = source.rows(case.subject.user)
            true, undecided = judge_rules(rows, index)
            if seen is not None:
                seen.add([source.rule(row[0]) for row in rows], index)
            results.append(_compared(case, source, index, true, undecided))
        except CASE_FAULTS as error:
            results.append(_undecided(case, _wanted(case), error))
    return Run(tuple(results), seen)


def run_table(table: Table, world: Source, *, coverage: bool = False) -> Run:
    """Decide the cases of a table in a world."""
    run: Any = run_policies if table.kind == POLICIES else run_rules
    found: Run = run(table.cases, world, coverage=coverage)
    return found


def _undecided(case: Case, expected: str, error: MgmtctlError, mode: str | None = None) -> Result:
    said = []
    for name, text in (("why", error.why), ("fix", error.fix)):
        first, *more = (text or "").split("\n")
        said += [f"{name}: {first}", *(f"{' ' * len('why: ')}{line}" for line in more)] if text else []
    title: str = getattr(case, "title", case.path)
    got = f"cannot be decided: {error.problem}"
    return Result(case.path, title, expected, got, False, mode, case.note, error=True, lines=tuple(said))


def _barred(case: Case, source: Source) -> Iterator[str]:
    """Why the login by a context that a case is about would be refused, whatever the context holds."""
    user = case.subject.user
    if case.subject.context is not None and user is not None and not source.may_use_contexts(user):
        yield f"user {user} may not use authorization contexts, so no rule counts"


# --- policies -----------------------------------------------------------------------------------------------------


def _judged(case: PolicyCase, source: Source, decision: Decision) -> Result:
    because = frozenset(entry.policy for entry in decision.because)
    shown = _shown(decision, source)
    hidden = shown.because != decision.because
    if case.because is not None and hidden:
        refused = InvalidError("`because` rests on roles or policies that you may not read")
        return _undecided(case, _expected(case), refused, decision.mode)
    asked = case.because is not None
    passed = decision.allowed is case.expected and case.because in (None, because)
    return Result(
        case.path,
        case.title,
        _expected(case),
        _verdict(decision.allowed, because if asked else None),
        passed,
        decision.mode,
        case.note,
        lines=() if passed else (*_barred(case, source), *_reasons(shown, decision)),
        # Near misses explain a failure; of thousands of cases that pass they would fill the memory.
        facts={"decision": (shown._replace(near_misses=()) if passed else shown).record()},
    )


def _shown(decision: Decision, source: Source) -> Decision:
    """The decision without entries that the caller may not know of."""
    return decision._replace(
        because=tuple(entry for entry in decision.because if source.shows(entry)),
        overridden=tuple(entry for entry in decision.overridden if source.shows(entry)),
        near_misses=tuple(miss for miss in decision.near_misses if source.shows(miss.entry)),
    )


def _reasons(shown: Decision, decision: Decision) -> Iterator[str]:
    """The lines of a decision, as far as they may be known."""
    yield from shown.lines()
    if shown != decision:
        yield "  some of the reasons are hidden from you"


def _expected(case: PolicyCase) -> str:
    return _verdict(case.expected, case.because)


def _verdict(allowed: bool, because: frozenset[str] | None) -> str:
    word = _ALLOW if allowed else _DENY
    if because is None:
        return word
    return f"{word} because of {', '.join(sorted(because)) or 'the mode alone'}"


# --- rules --------------------------------------------------------------------------------------------------------


def _compared(
    case: RuleCase, source: Source, index: ContextIndex, true: Sequence[int], undecided: Sequence[int]
) -> Result:
    rules = {rule.name: rule for rule in map(source.rule, true)}
    roles = frozenset(role for rule in rules.values() for role in rule.roles)
    shown = source.shows_roles(true)
    if case.roles is not None and not shown:
        raise InvalidError("`roles` rests on roles that you may not read")
    got = _said(None if case.rules is None else frozenset(rules), None if case.roles is None else roles)
    passed = case.rules in (None, frozenset(rules)) and case.roles in (None, roles)
    facts: dict[str, Any] = {
        "rules": sorted(rules),
        "roles": sorted(roles) if shown else None,
    }
    lines: list[str] = [] if passed else list(_barred(case, source))
    for name in () if passed else _in_question(case, rules, source):
        lines += _rule_lines(source.rule(source.rule_id(name)), index, name in rules)
    names = [source.rule(number).name for number in undecided]
    lines += [] if passed else [f"rule {name} is undecided: a limit was reached" for name in names]
    return Result(
        case.path, case.title, _wanted(case), got, passed, None, case.note, lines=tuple(lines), facts=facts
    )


def _rule_lines(rule: KnownRule, index: ContextIndex, granted: bool) -> Iterator[str]:
    """What the context makes of a rule, node by node; a true one may still not be evaluated for a user."""
    trace = explain(rule.expressions, index)
    leads = f" and leads to {', '.join(rule.roles)}" if granted and rule.roles else ""
    aside = ", but not evaluated for this user" if trace.verdict and not granted else ""
    yield f"rule {rule.name} is {trace.record()['verdict']}{leads}{aside}"
    yield from (f"  {line}" for line in trace.lines(_TREE_WIDTH))


def _in_question(case: RuleCase, true: dict[str, KnownRule], source: Source) -> list[str]:
    """The names of the rules that explain a difference: in one of the two lists only, or of roles that are."""
    names = frozenset(true).symmetric_difference(case.rules) if case.rules is not None else frozenset[str]()
    if case.roles is None:
        return sorted(names)
    granted = frozenset(role for rule in true.values() for role in rule.roles)
    differing = granted.symmetric_difference(case.roles)
    leading = (source.rule(row[0]) for row in source.rows(case.subject.user))
    return sorted(names.union(rule.name for rule in leading if differing.intersection(rule.roles)))


def _wanted(case: RuleCase) -> str:
    return _said(case.rules, case.roles)


def _said(rules: frozenset[str] | None, roles: frozenset[str] | None) -> str:
    parts = (("rules", rules), ("roles", roles))
    return "; ".join(
        f"{name} {', '.join(sorted(found)) or _NONE}" for name, found in parts if found is not None
    )
