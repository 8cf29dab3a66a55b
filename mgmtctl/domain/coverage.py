"""Coverage: what the cases of a table exercised, and what they did not.

Rules: an entry is exercised when it spoke in a decision (it decided, or lost to what did); a block or a policy when one
of its entries is; a node of a rule when it was true of one context and false of another. What the service ships does
not count, nor do entries that no question can reach.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.actions import ACTIONS, mismatch
from mgmtctl.domain.auth_context import cut
from mgmtctl.domain.grants import Grant
from mgmtctl.domain.rules import join
from mgmtctl.domain.trace import explain
from mgmtctl.domain.users import is_reserved

if TYPE_CHECKING:
    from mgmtctl.domain.case_worlds import Blocks, KnownRule
    from mgmtctl.domain.grants import Decision, Entry
    from mgmtctl.domain.matching import ContextIndex
    from mgmtctl.domain.trace import Node

_LONGEST = 60
Spoken = tuple[str, str, str, str, str]  # policy, block, effect, action, resource


class PolicyCoverage:
    """Which entries of the policies spoke; `policies`: (id, name, blocks) of those that count."""

    def __init__(self, policies: Iterable[tuple[int, str, Blocks]]) -> None:
        grants = [Grant(0, "", "", number, name, blocks) for number, name, blocks in policies]
        self._entries: dict[Spoken, bool] = {
            _spoken(entry): False
            for grant in grants
            for entry in grant.entries()
            if mismatch(ACTIONS[entry.action], entry.resource) is None
        }

    def add(self, decision: Decision) -> None:
        """One more decision."""
        for entry in (*decision.because, *decision.overridden):
            if _spoken(entry) in self._entries:
                self._entries[_spoken(entry)] = True

    def record(self) -> dict[str, Any]:
        """Plain form: each policy with its blocks, and the entries that no case exercised."""
        policies: dict[str, dict[str, Any]] = {}
        for (policy, block, effect, action, resource), spoke in self._entries.items():
            blocks = policies.setdefault(policy, {})
            found = blocks.setdefault(
                block, {"name": block, "exercised": False, "entries": 0, "not_exercised": []}
            )
            found["entries"] += 1
            found["exercised"] = found["exercised"] or spoke
            if not spoke:
                found["not_exercised"].append({"effect": effect, "action": action, "resource": resource})
        return {
            "policies": [
                {
                    "name": name,
                    "exercised": any(block["exercised"] for block in blocks.values()),
                    "blocks": list(blocks.values()),
                }
                for name, blocks in policies.items()
            ]
        }

    def lines(self) -> Iterator[str]:
        """The counts, then the largest things that no case exercised."""
        policies = self.record()["policies"]
        if not policies:
            yield "coverage: there is no policy that is not shipped"
            return
        blocks = [block for policy in policies for block in policy["blocks"]]
        done = (sum(thing["exercised"] for thing in things) for things in (policies, blocks))
        counts = zip(("policies", "blocks"), done, (len(policies), len(blocks)), strict=True)
        said = [f"{of} of {all_} {name}" for name, of, all_ in counts]
        yield f"coverage: {', '.join(said)}, {sum(self._entries.values())} of {len(self._entries)} entries"
        for policy in policies:
            yield from _policy_lines(policy)


def _policy_lines(policy: dict[str, Any]) -> Iterator[str]:
    if not policy["exercised"]:
        yield f"  no case: policy {policy['name']}"
        return
    for block in policy["blocks"]:
        where = f"  no case: policy {policy['name']}, block {block['name']}"
        if not block["exercised"]:
            yield where
            continue
        for entry in block["not_exercised"]:
            yield f"{where}: {entry['effect']} {entry['action']} on {entry['resource']}"


def _spoken(entry: Entry) -> Spoken:
    return entry.policy, entry.block, entry.effect, entry.action, str(entry.resource)


@dataclass(slots=True)
class _Verdicts:
    """How often a node was true and false, and what it says."""

    says: str
    counts: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})

    @property
    def lacks(self) -> str:
        """What the node never was; empty when it was both."""
        return " or ".join(
            word for verdict, word in ((True, "true"), (False, "false")) if not self.counts[verdict]
        )


class RuleCoverage:
    """Which nodes of which rules were true of a context, and false of another."""

    def __init__(self) -> None:
        self._rules: dict[str, dict[str, _Verdicts]] = {}

    def add(self, rules: Iterable[KnownRule], index: ContextIndex) -> None:
        """One more context, and the rules that were judged by it."""
        for rule in rules:
            if is_reserved(rule.id):
                continue
            nodes = self._rules.setdefault(rule.name, {})
            several = len(rule.expressions) != 1
            for number, node in enumerate(explain(rule.expressions, index).expressions):
                for path, inner in _nodes(node, f"[{number}]" if several else ""):
                    verdicts = nodes.setdefault(path, _Verdicts(_says(inner)))
                    if inner.verdict is not None:
                        verdicts.counts[inner.verdict] += 1

    def record(self) -> dict[str, Any]:
        """Plain form: each rule with its nodes, and how often each was true and false."""
        return {
            "rules": [
                {
                    "name": name,
                    "exercised": not any(verdicts.lacks for verdicts in nodes.values()),
                    "nodes": [
                        {
                            "path": path,
                            "expression": verdicts.says,
                            "true": verdicts.counts[True],
                            "false": verdicts.counts[False],
                        }
                        for path, verdicts in nodes.items()
                    ],
                }
                for name, nodes in self._rules.items()
            ]
        }

    def lines(self) -> Iterator[str]:
        """The counts, then each node that was never true, or never false."""
        if not self._rules:
            yield "coverage: there is no rule that is not shipped"
            return
        nodes = [verdicts for rule in self._rules.values() for verdicts in rule.values()]
        done = sum(not any(v.lacks for v in rule.values()) for rule in self._rules.values())
        both = sum(not verdicts.lacks for verdicts in nodes)
        yield f"coverage: {done} of {len(self._rules)} rules, {both} of {len(nodes)} nodes were both true and false"
        for name, rule in self._rules.items():
            for path, verdicts in rule.items():
                if verdicts.lacks:
                    says = verdicts.says and f": {verdicts.says}"
                    yield f"  never {verdicts.lacks}: rule {name}, {path}{says}"


def _nodes(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """A node and those below it, each with its path in the rule."""
    rest = [(path, node)]
    while rest:
        above, found = rest.pop()
        here = join(found.operator, above)
        yield here, found
        listed = found.operator != "NOT"
        inner = [
            (f"{here}[{number}]" if listed else here, child) for number, child in enumerate(found.children)
        ]
        rest.extend(reversed(inner))


def _says(node: Node) -> str:
    if node.wanted is None:
        return ""
    return cut(f"{node.operator} {json.dumps(node.wanted, ensure_ascii=False, default=str)}", _LONGEST)
