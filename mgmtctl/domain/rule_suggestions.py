"""Rules by example: the smallest expression that is true of some contexts and false of others (S 5.3, D 3).

Smallest: fewest operators and conditions together. Of equals the one that lasts: groups and roles before other values,
these before names, addresses and ids of one person; by whole path before any depth; partial before strict. What is true
of one login only (times, hashes, token ids), or of everybody who comes by one application (audience, issuer), is used
when nothing else tells the contexts apart. A draft has a positive condition always, so it is never true of an empty
context, and denies something (NOT) only when nothing else will do.

Why a draft is found whenever there is one: of all searches that are true of a context, those that ask everything of
one object at once, partially or strictly, say most; whatever else is true follows from them. By paths they fall apart
into single facts; for objects inside lists they are tried whole and then made smaller. What no fact tells apart,
nothing does. A draft is judged by the evaluator that decides logins before anybody sees it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, NamedTuple

from mgmtctl.domain.auth_context import canonical
from mgmtctl.domain.evaluation import RULE_STEPS, Evaluation, UndecidedError
from mgmtctl.domain.matching import LOGIN_STEPS, ContextIndex
from mgmtctl.domain.rule_facts import (
    CLIENT,
    Fact,
    Values,
    facts_of,
    is_client_wide,
    lasting,
    leaves,
    object_facts,
    search,
    text,
)
from mgmtctl.domain.rules import check_rules

MOST_CONTEXTS = 32
MOST_FACTS = 500_000  # of all contexts; one of the largest possible has some 80,000
_MOST_STATES = 5_000
_MOST_ATOMS = 300
_OPERATORS = ("MATCH", "FIND", "MATCH$", "FIND$")
_SAME = ": at most the order of lists, or empty objects, differ"
_MERGED = ("MATCH", "MATCH$")  # several searches at the root are one search that asks it all

Cost = tuple[
    int, int, int, int, int
]  # fleeting or client-wide facts, operators and conditions, how lasting, which operators, keys


@dataclass(frozen=True, slots=True)
class Draft:
    """The expression, or None and why there is none; `denies`: it rests on what the wanted contexts do not have;
    `client_wide`: it rests on these keys, which say the same of everybody who comes by one application."""

    expression: dict[str, Any] | None
    why_not: str = ""
    denies: bool = False
    client_wide: tuple[str, ...] = ()


class _Atom(NamedTuple):
    """A search that is true of all wanted contexts (negated: of none), and the unwanted ones it excludes, as bits."""

    facts: tuple[Fact, ...]
    negated: bool
    mask: int
    leaves: int
    fleeting: int
    lasting: int
    order: str

    @property
    def operator(self) -> str:
        return self.facts[0].operator

    @property
    def cost(self) -> Cost:
        """What it costs by itself, without the operators around it."""
        keys = sum(len(fact.path) for fact in self.facts)
        order = 2 * _OPERATORS.index(self.operator) + self.facts[0].listed
        return (self.fleeting, self.leaves, self.lasting, order, keys)


def suggest(wanted: Sequence[tuple[str, object]], unwanted: Sequence[tuple[str, object]]) -> Draft:
    """The smallest expression that is true of every wanted and false of every unwanted (name, context).

    Contexts are JSON objects within the limits of `auth_context`; ends in bounded time, and says when it gave up.
    """
    if len(wanted) + len(unwanted) > MOST_CONTEXTS:
        return Draft(
            None, f"at most {MOST_CONTEXTS} contexts can be told apart, got {len(wanted) + len(unwanted)}"
        )
    search_for = _Search(wanted, unwanted)
    if search_for.size > MOST_FACTS:
        return Draft(None, f"gave up: at most {MOST_FACTS} conditions can be compared, got {search_for.size}")
    everybody = range(len(wanted))
    for denies in (False, True):
        draft = search_for.draft(everybody, denies) or search_for.alternatives(denies)
        if draft is not None:
            return search_for.judged(draft, denies)
    return Draft(None, search_for.why_not())


class _Search:
    """One search for a draft; contexts by number: the wanted ones first."""

    def __init__(self, wanted: Sequence[tuple[str, object]], unwanted: Sequence[tuple[str, object]]) -> None:
        both = (*wanted, *unwanted)
        self._names = [name for name, _ in both]
        self._documents = [document for _, document in both]
        self._indexes = [ContextIndex(document) for document in self._documents]
        self._wanted = len(wanted)
        self._values = Values()
        self._facts = [facts_of(document, self._values) for document in self._documents]
        self._left = LOGIN_STEPS

    @property
    def size(self) -> int:
        """The conditions that the contexts satisfy."""
        return sum(map(len, self._facts))

    @cached_property
    def _all(self) -> int:
        return (1 << (len(self._names) - self._wanted)) - 1

    def draft(self, group: Sequence[int], denies: bool) -> dict[str, Any] | None:
        """The smallest expression that is true of a group of wanted contexts and of no unwanted one."""
        atoms = list(self._atoms(self._common(group), group, False))
        atoms += self._compounds(group, self._all & ~_union(atoms), False)
        if denies:
            denied = list(self._atoms(self._foreign(group), group, True))
            missing = self._all & ~_union(atoms) & ~_union(denied)
            atoms += [*denied, *self._compounds(group, missing, True)]
        chosen = _cover(atoms, self._all)
        return None if chosen is None else self._expression(chosen)

    def alternatives(self, denies: bool) -> dict[str, Any] | None:
        """An OR of expressions of single contexts, those first that are true of most."""
        if self._wanted == 1:
            return None
        found: list[dict[str, Any]] = []
        for number in range(self._wanted):
            if any(self._verdict(draft, number) for draft in found):
                continue
            draft = self.draft([number], denies)
            if draft is None:
                return None
            found.append(draft)
        return {"OR": found} if len(found) > 1 else found[0]

    def judged(self, expression: dict[str, Any], denies: bool) -> Draft:
        """The draft, when it can be stored and logins will decide it as meant."""
        findings = check_rules(expression)
        if findings:
            return Draft(None, f"the smallest expression cannot be stored: {findings[0].message}")
        for number, name in enumerate(self._names):
            if self._verdict(expression, number) is not (number < self._wanted):
                return Draft(
                    None, f"what tells them apart is too much work for one rule to look for in {name}"
                )
        return Draft(expression, denies=denies, client_wide=tuple(dict.fromkeys(_client_wide(expression))))

    def why_not(self) -> str:
        """Why there is no draft, by the first pair of contexts that nothing tells apart."""
        wanted, unwanted = self._documents[: self._wanted], self._documents[self._wanted :]
        known = {canonical(document): number for number, document in enumerate(wanted)}
        for number, document in enumerate(unwanted):
            if canonical(document) in known:
                pair = self._names[known[canonical(document)]], self._names[self._wanted + number]
                return f"{pair[0]} and {pair[1]} are the same"
        if self._left <= 0:
            return f"gave up after {LOGIN_STEPS} steps; smaller contexts need fewer"
        for number in range(self._wanted):
            name = self._names[number]
            if not self._facts[number]:
                return f"{name} holds nothing that a condition could ask for: a rule true of it is true of everybody"
            for other in range(self._wanted, len(self._names)):
                if self._same(number, other):
                    return f"{name} and {self._names[other]} are the same to every condition{_SAME}"
        return "no expression tells them apart"

    def _same(self, number: int, other: int) -> bool:
        alone = _Search(
            [(self._names[number], self._documents[number])], [(self._names[other], self._documents[other])]
        )
        return alone.draft([0], True) is None

    def _verdict(self, expression: dict[str, Any], number: int) -> bool | None:
        return Evaluation(self._indexes[number]).rule([expression])

    def _common(self, group: Sequence[int]) -> set[Fact]:
        return set.intersection(*(self._facts[number] for number in group))

    def _foreign(self, group: Sequence[int]) -> set[Fact]:
        """What is true of some unwanted context and of none of the group."""
        there = set[Fact]().union(*self._facts[self._wanted :])
        return there.difference(*(self._facts[number] for number in group))

    def _atoms(self, facts: Iterable[Fact], group: Sequence[int], negated: bool) -> Iterator[_Atom]:
        """The best atom of each operator for each set of unwanted contexts that one fact excludes."""
        best: dict[tuple[str, int], _Atom] = {}
        for fact in facts:
            has = (fact in known for known in self._facts[self._wanted :])
            mask = sum(1 << number for number, there in enumerate(has) if there is negated)
            if negated and not mask:
                continue
            key = (fact.operator, mask)
            known = best.get(key)
            if known is None or self._roughly(fact) <= (known.fleeting, known.leaves, known.lasting):
                atom = self._atom((fact,), mask, negated)
                if known is None or (atom.cost, atom.order) < (known.cost, known.order):
                    best[key] = atom
        yield from best.values()

    def _roughly(self, fact: Fact) -> tuple[int, int, int]:
        value = self._values[fact.value]
        rank = lasting(fact.path, value)
        return int(rank >= CLIENT), leaves(value), rank

    def _atom(self, facts: tuple[Fact, ...], mask: int, negated: bool) -> _Atom:
        parts = [self._roughly(fact) for fact in facts]
        fleeting, conditions, rank = (sum(part[place] for part in parts) for place in range(3))
        return _Atom(facts, negated, mask, conditions, fleeting, rank, text(search(facts, self._values)))

    def _compounds(self, group: Sequence[int], missing: int, negated: bool) -> Iterator[_Atom]:
        """Searches of one object inside a list, for the unwanted contexts that no single fact excludes."""
        for number in range(self._wanted, len(self._names)):
            if not missing >> (number - self._wanted) & 1:
                continue
            true_of, false_of = ([number], list(group)) if negated else (list(group), [number])
            facts = self._together(true_of, false_of)
            if facts:
                atom = self._atom(facts, self._excluded(facts, negated), negated)
                missing &= ~atom.mask
                yield atom

    def _excluded(self, facts: Sequence[Fact], negated: bool) -> int:
        """The unwanted contexts that a search excludes, as bits."""
        ((operator, wanted),) = search(facts, self._values).items()
        verdicts = [self._holds(operator, wanted, number) for number in range(self._wanted, len(self._names))]
        return sum(1 << number for number, verdict in enumerate(verdicts) if verdict is negated)

    def _together(self, true_of: list[int], false_of: list[int]) -> tuple[Fact, ...]:
        """The smallest part of an object that all of one group have and none of the other."""
        for facts in object_facts(self._documents[true_of[0]], self._values):
            if self._left <= 0:
                break
            if facts and self._tells(facts, true_of, false_of):
                return tuple(self._smaller(facts, true_of, false_of))
        return ()

    def _smaller(self, facts: list[Fact], true_of: list[int], false_of: list[int]) -> list[Fact]:
        """The same without what is not needed, the least lasting facts first."""
        facts = sorted(facts, key=lambda fact: (*self._roughly(fact), fact.path, fact.value), reverse=True)
        size = len(facts)
        while size:
            start = 0
            while start < len(facts):
                fewer = facts[:start] + facts[start + size :]
                if fewer and self._tells(fewer, true_of, false_of):
                    facts = fewer
                else:
                    start += size
            size //= 2
        return facts

    def _tells(self, facts: Sequence[Fact], true_of: list[int], false_of: list[int]) -> bool:
        ((operator, wanted),) = search(facts, self._values).items()
        return all(self._holds(operator, wanted, number) is True for number in true_of) and all(
            self._holds(operator, wanted, number) is False for number in false_of
        )

    def _holds(self, operator: str, wanted: dict[str, Any], number: int) -> bool | None:
        if self._left <= 0:
            return None
        evaluation = Evaluation(self._indexes[number], min(RULE_STEPS, self._left))
        try:
            return evaluation.place(operator, wanted) is not None
        except (UndecidedError, RecursionError):
            return None
        finally:
            self._left -= evaluation.spent + len(wanted)

    def _expression(self, chosen: Sequence[_Atom]) -> dict[str, Any]:
        """The atoms as one expression: searches at the root become one."""
        parts: list[dict[str, Any]] = []
        for operator in _MERGED:
            facts = [
                fact
                for atom in chosen
                if atom.operator == operator and not atom.negated
                for fact in atom.facts
            ]
            if facts:
                parts.append(search(sorted(facts, key=lambda fact: fact.path), self._values))
        parts += [
            search(atom.facts, self._values)
            for atom in chosen
            if atom.operator not in _MERGED and not atom.negated
        ]
        parts += [{"NOT": search(atom.facts, self._values)} for atom in chosen if atom.negated]
        return parts[0] if len(parts) == 1 else {"AND": parts}


def _client_wide(value: Any) -> Iterator[str]:
    """The client-wide keys of an expression that a value stands under."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        if isinstance(key, str) and is_client_wide(key) and not isinstance(item, dict):
            yield key
        yield from _client_wide(item)


def _union(atoms: Iterable[_Atom]) -> int:
    found = 0
    for atom in atoms:
        found |= atom.mask
    return found


def _cover(atoms: Sequence[_Atom], everybody: int) -> list[_Atom] | None:
    """The cheapest atoms, one of them not negated, that together exclude everybody: uniform-cost search."""
    if _union(atoms) != everybody or all(atom.negated for atom in atoms):
        return None
    some = sorted(atoms, key=lambda atom: (-atom.mask.bit_count(), atom.cost, atom.order))[:_MOST_ATOMS]
    ticket = count()
    # cost, which atom came in first of equals, (excluded, searches at the root, searches up to two, a positive one)
    rest: list[Any] = [((0, 0, 0, 0, 0), next(ticket), (0, 0, 0, False), ())]
    seen: set[tuple[int, int, int, bool]] = set()
    while rest and len(seen) < _MOST_STATES:
        cost, _, state, chosen = heapq.heappop(rest)
        if state in seen:
            continue
        seen.add(state)
        if state[0] == everybody and state[3]:
            return list(chosen)
        for atom in some:
            if not chosen or atom.mask & ~state[0] or not state[3]:
                after, price = _with(state, cost, atom)
                if after not in seen:
                    heapq.heappush(rest, (price, next(ticket), after, (*chosen, atom)))
    return _greedy(atoms, everybody)


def _with(
    state: tuple[int, int, int, bool], cost: Cost, atom: _Atom
) -> tuple[tuple[int, int, int, bool], Cost]:
    mask, merged, searches, positive = state
    root = 0 if atom.negated or atom.operator not in _MERGED else 1 + _MERGED.index(atom.operator)
    new = not merged & root
    operators = int(new) + int(new and searches == 1) + int(atom.negated)
    own = atom.cost
    price = (cost[0] + own[0], cost[1] + own[1] + operators, *(cost[n] + own[n] for n in (2, 3, 4)))
    after = (mask | atom.mask, merged | root, min(2, searches + new), positive or not atom.negated)
    return after, price  # type: ignore[return-value]


def _greedy(atoms: Sequence[_Atom], everybody: int) -> list[_Atom]:
    """A cover that need not be the smallest: the positive atom that excludes most, then whatever excludes most."""
    chosen: list[_Atom] = []
    mask = 0
    while mask != everybody or not chosen:
        open_to = atoms if chosen else [atom for atom in atoms if not atom.negated]
        best = min(open_to, key=lambda atom: (-(atom.mask & ~mask).bit_count(), atom.cost, atom.order))
        chosen.append(best)
        mask |= best.mask
    return chosen
