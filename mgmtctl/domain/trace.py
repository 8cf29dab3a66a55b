"""Traces: why a rule is true or false of an authorization context, node by node (D 3).

Rules: the verdict of the whole rule comes from the same evaluation that decides a login; the nodes are then evaluated
each by itself, so that a trace also says what the login did not need to look at. A true search names where in the
context it was satisfied, a false one the nearest miss. Explaining has a work limit too; beyond it, nodes are undecided.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from mgmtctl.domain.auth_context import cut, json_type
from mgmtctl.domain.evaluation import RULE_STEPS, Evaluation, UndecidedError, operation
from mgmtctl.domain.patterns import is_pattern, read_pattern
from mgmtctl.domain.rules import MAX_LEVELS, SEARCHES, join

if TYPE_CHECKING:
    from mgmtctl.domain.matching import ContextIndex

WIDTH = 80
EXPLAIN_STEPS = 4 * RULE_STEPS
_MAX_PATHS = 8
_MAX_ITEMS = 5  # of a list, where none is the right one
_MAX_ITEM = 24  # characters of each
_MAX_DEPTH = 64  # levels of a context in which places are named
_MAX_INDENT = 32
_NEAREST = "nearest: "
_WORDS = {True: "true", False: "false", None: "undecided"}


@dataclass(frozen=True, slots=True)
class Node:
    """One expression: its verdict by itself; of a search, where it was satisfied, or what came nearest, or a note."""

    operator: str
    verdict: bool | None
    wanted: object = None
    paths: tuple[str, ...] = ()
    nearest: str = ""
    note: str = ""
    children: tuple[Node, ...] = ()

    def record(self) -> dict[str, object]:
        """Plain JSON; only what there is."""
        found: dict[str, object] = {"operator": self.operator, "verdict": _WORDS[self.verdict]}
        if self.wanted is not None:
            found["wanted"] = self.wanted
        if self.paths:
            found["paths"] = list(self.paths)
        if self.nearest:
            found["nearest"] = self.nearest
        if self.note:
            found["note"] = self.note
        if self.children:
            found["expressions"] = [child.record() for child in self.children]
        return found

    def lines(self, level: int = 0, width: int = WIDTH) -> Iterator[str]:
        """The node and what is below it, in lines of at most `width` characters; its detail beside it if that fits."""
        indent = min(2 * level, _MAX_INDENT)
        head, *rest = self._heads(width - 13 - indent)
        detail = self._detail()
        beside = detail and not rest and len(head) + len(detail) + indent + 12 <= width
        yield f"{_WORDS[self.verdict]:<10}{' ' * indent}{head}{f'  {detail}' if beside else ''}"
        yield from (f"{'':10}{' ' * indent}{line}" for line in rest)
        if not beside:
            yield from _wrapped(detail, indent + 12, width)
        for child in self.children:
            yield from child.lines(level + 1, width)

    def because(self) -> str:
        """What decided, in one line: of each search that settled the verdict, where it was satisfied or what it met."""
        if not self.children:
            return self._detail().removeprefix(_NEAREST)
        decisive = self.operator == "OR"
        settling = [child for child in self.children if self.operator == "NOT" or child.verdict is decisive]
        told = settling[:1] or self.children  # nothing settled it: all of them together did
        return ", and ".join(child.because() for child in told)

    def _heads(self, width: int) -> Iterator[str]:
        """The operator with what it asks for: on one line, or each condition on its own."""
        asked = list(_asked(self.wanted)) if isinstance(self.wanted, dict) else []
        whole = f"{self.operator} {', '.join(asked)}".rstrip()
        if len(whole) <= width or not asked:
            yield cut(whole, width)
            return
        yield cut(f"{self.operator} {asked[0]}", width)
        yield from (cut(f"{' ' * len(self.operator)} {condition}", width) for condition in asked[1:])

    def _detail(self) -> str:
        if self.paths:
            return f"at {', '.join(self.paths)}"
        return f"{_NEAREST}{self.nearest}" if self.nearest else self.note


@dataclass(frozen=True, slots=True)
class Trace:
    """Why a rule is what it is: `verdict` is that of `holds`, `reason` says why it is undecided."""

    verdict: bool | None
    expressions: tuple[Node, ...]
    reason: str = ""

    @property
    def nearest(self) -> Node:
        """The expression that came nearest to being true: by searches that are true, then by keys that are there."""
        return max(self.expressions, key=_nearness)

    @property
    def nearness(self) -> tuple[float, float]:
        """How near the rule came to being true, to compare rules by."""
        return _nearness(self.nearest)

    def record(self) -> dict[str, object]:
        """Plain JSON: verdict (true, false, undecided), reason if any, and a tree for each expression."""
        found: dict[str, object] = {"verdict": _WORDS[self.verdict]}
        if self.reason:
            found["reason"] = self.reason
        found["expressions"] = [node.record() for node in self.expressions]
        return found

    def lines(self, width: int = WIDTH) -> list[str]:
        """A readable tree, each line at most `width` characters."""
        several = len(self.expressions) != 1
        found: list[str] = []
        if self.verdict is None:
            found += [f"{_WORDS[None]:<10}rule, so it grants nothing", *_wrapped(self.reason, 12, width)]
        elif several:
            found.append(f"{_WORDS[self.verdict]:<10}any of {len(self.expressions)} expressions")
        level = 1 if found else 0
        return found + [line for node in self.expressions for line in node.lines(level, width)]


def explain(rules: Sequence[object], index: ContextIndex) -> Trace:
    """The trace of a list of expressions; its verdict is that of `matching.holds`. Total, as `holds` is."""
    whole = Evaluation(index)
    verdict = whole.rule(rules)
    explainer = _Explainer(index)
    nodes = tuple(explainer.node(expression, MAX_LEVELS) for expression in rules)
    return Trace(verdict, nodes, whole.reason)


class _Explainer:
    def __init__(self, index: ContextIndex) -> None:
        self._index = index
        self._left = EXPLAIN_STEPS
        self._evaluation = Evaluation(index, 0)
        self._places: dict[int, str] = {}

    def node(self, expression: object, levels: int) -> Node:
        try:
            operator, operand = operation(expression)
        except UndecidedError as error:
            return Node("?", None, note=str(error))
        if operator in SEARCHES and isinstance(operand, dict):
            return self._search(operator, operand)
        operands = operand if operator in ("AND", "OR") and isinstance(operand, list) else [operand]
        if operator not in ("AND", "OR", "NOT") or not operands or levels <= 0:
            return Node(operator, None, note="not an expression, or too deep")
        children = tuple(self.node(item, levels - 1) for item in operands)
        return Node(operator, _combined(operator, children), children=children)

    def _search(self, operator: str, wanted: dict[str, Any]) -> Node:
        self._evaluation = Evaluation(self._index, min(RULE_STEPS, self._left))
        try:
            place = self._evaluation.place(operator, wanted)
        except (UndecidedError, RecursionError) as error:
            return Node(operator, None, wanted, note=str(error))
        else:
            return self._explained(operator, wanted, place)
        finally:
            self._left -= self._evaluation.spent

    def _explained(self, operator: str, wanted: dict[str, Any], place: dict[str, Any] | None) -> Node:
        """The decided node with what there is to say, as far as the work limit allows."""
        strict = operator.endswith("$")
        paths: list[str] = []
        nearest = note = ""
        try:
            if place is None:
                nearest, note = self._miss(operator, wanted, strict)
            else:
                paths.extend(islice(self._witnesses(wanted, place, self._path(place), strict), _MAX_PATHS))
        except (UndecidedError, RecursionError):
            note = "too much work to say more"
        return Node(operator, place is not None, wanted, tuple(paths), nearest, note)

    def _path(self, place: dict[str, Any]) -> str:
        if not self._places:
            self._places = {id(value): path for path, value in _objects(self._index.document)}
        return self._places.get(id(place), "$...")

    def _witnesses(
        self, wanted: dict[str, Any], value: dict[str, Any], path: str, strict: bool
    ) -> Iterator[str]:
        """The path of what satisfied each key."""
        for key, item in wanted.items():
            name = next(name for name in self._names(key, value) if self._fits(item, value[name], strict))
            below = join(name, path)
            if isinstance(item, dict):
                yield from self._witnesses(item, value[name], below, strict)
            elif isinstance(value[name], list) and not isinstance(item, list):
                yield f"{below}[{self._first(item, value[name])}]"
            else:
                yield below

    def _names(self, key: str, value: dict[str, Any]) -> list[str]:
        """The keys of `value` that `key` stands for."""
        if is_pattern(key):
            return [name for name in value if self._evaluation.equals(key, name)]
        return [key] if key in value else []

    def _fits(self, item: object, value: object, strict: bool) -> bool:
        return self._evaluation.fits(item, value, strict)

    def _first(self, item: object, values: list[Any]) -> int:
        return next(number for number, value in enumerate(values) if self._fits(item, value, False))

    def _miss(self, operator: str, wanted: dict[str, Any], strict: bool) -> tuple[str, str]:
        """(what came nearest, nothing), or (nothing, what there is none of)."""
        best = self._nearest_object(operator, wanted, strict)
        if best is None:
            keys = " or ".join(f"`{cut(key)}`" for key in list(wanted)[:3])
            return "", f"no key {keys} {'at the root' if operator.startswith('MATCH') else 'anywhere'}"
        return self._why_not(wanted, best, self._path(best), strict), ""

    def _nearest_object(self, operator: str, wanted: dict[str, Any], strict: bool) -> dict[str, Any] | None:
        """The object that satisfies most keys; of equal ones the first."""
        root = self._index.document
        places = (
            self._index.objects if operator.startswith("FIND") else [root] if isinstance(root, dict) else []
        )
        best, best_score = None, (0, 0)
        for place in places:
            self._evaluation.spend(len(wanted))
            present = [(item, self._names(key, place)) for key, item in wanted.items()]
            met = sum(any(self._fits(item, place[name], strict) for name in names) for item, names in present)
            score = (met, sum(bool(names) for _, names in present))
            if score > best_score:
                best, best_score = place, score
        return best

    def _why_not(self, wanted: dict[str, Any], value: dict[str, Any], path: str, strict: bool) -> str:
        """The first key that is not satisfied, and what stands there."""
        for key, item in wanted.items():
            names = self._names(key, value)
            if not names:
                return f"no key `{cut(key)}` in {path}"
            if not any(self._fits(item, value[name], strict) for name in names):
                return self._difference(item, value[names[0]], join(names[0], path), strict)
        return path

    def _difference(self, wanted: Any, value: Any, path: str, strict: bool) -> str:
        if isinstance(wanted, dict):
            if isinstance(value, dict):
                return self._why_not(wanted, value, path, strict)
            return f"{path} is {json_type(value)}, not an object"
        if isinstance(wanted, list):
            return self._list_difference(wanted, value, path, strict)
        if isinstance(value, list):
            if strict:
                return f"{path} is a list, and a strict search wants exactly {_said(wanted)}"
            return next(self._partly(wanted, value, path), _no_item(wanted, value, path))
        if isinstance(value, dict):
            return f"{path} is an object, not {_said(wanted)}"
        return f"{path} = {_said(value)}{self._reason(wanted, value)}"

    def _list_difference(self, wanted: list[Any], value: Any, path: str, strict: bool) -> str:
        if not isinstance(value, list):
            return f"{path} is {json_type(value)}, not a list"
        if strict and len(wanted) != len(value):
            return f"{path} has {len(value)} items, not {len(wanted)}"
        for item in wanted:
            if not self._fits([item], value, strict=False):
                return next(self._partly(item, value, path), _no_item(item, value, path))
        return f"{path} has items for each by itself, but not one for each"

    def _partly(self, wanted: Any, values: Iterable[Any], path: str) -> Iterator[str]:
        """The items that nearly satisfy `wanted`."""
        for number, value in enumerate(values):
            reason = self._reason(wanted, value)
            if reason:
                yield f"{path}[{number}] = {_said(value)}{reason}"

    def _reason(self, wanted: Any, value: Any) -> str:
        """Why one value is not another, when that is worth knowing."""
        if isinstance(value, (dict, list)) or isinstance(wanted, (dict, list)):
            return ""
        if is_pattern(wanted):
            if not isinstance(value, str):
                return f", which is {json_type(value)}: a pattern matches text only"
            pattern = read_pattern(wanted)
            part = pattern is not None and self._evaluation.finds(pattern, value)
            return ", of which the pattern matched only a part" if part else ""
        if isinstance(wanted, str) and isinstance(value, str):
            return ", which differs in letter case" if wanted.casefold() == value.casefold() else ""
        return f", which is {json_type(value)}" if str(wanted).lower() == str(value).lower() else ""


def _searches(node: Node) -> Iterator[Node]:
    if not node.children:
        yield node
    for child in node.children:
        yield from _searches(child)


def _nearness(expression: Node) -> tuple[float, float]:
    """The share of its searches that are true, and of those that met a key; one below NOT counts as it stands."""
    searches = list(_searches(expression))
    true = sum(node.verdict is True for node in searches)
    return true / len(searches), sum(bool(node.nearest) for node in searches) / len(searches)


def _combined(operator: str, children: tuple[Node, ...]) -> bool | None:
    """The verdict of a logical operator: the first that settles it, or that cannot be decided, as in a login."""
    if operator == "NOT":
        verdict = children[0].verdict
        return None if verdict is None else not verdict
    decisive = operator == "OR"
    settling = (child.verdict for child in children if child.verdict in (decisive, None))
    return next(settling, not decisive)


def _objects(document: object) -> Iterator[tuple[str, object]]:
    """(path, object) for each object of a context."""
    rest: list[tuple[str, object, int]] = [("$", document, 0)]
    while rest:
        path, value, level = rest.pop()
        if isinstance(value, dict):
            yield path, value
            inner = [(join(key, path), item, level + 1) for key, item in value.items()]
        elif isinstance(value, list):
            inner = [(f"{path}[{number}]", item, level + 1) for number, item in enumerate(value)]
        else:
            continue
        if level < _MAX_DEPTH:
            rest.extend(inner)


def _asked(wanted: dict[str, Any]) -> Iterator[str]:
    """The conditions of a search, readable: `auth.team = "web"`, `auth.level = 2`."""
    rest = [(join(key), item) for key, item in reversed(wanted.items())]
    for _ in range(_MAX_PATHS):
        if not rest:
            return
        path, item = rest.pop()
        while isinstance(item, dict) and item:
            (key, inner), *others = item.items()
            rest.extend((join(other, path), value) for other, value in reversed(others))
            path, item = join(key, path), inner
        yield f"{path} = {cut(item if is_pattern(item) else _plain(item))}"
    if rest:
        yield "..."


def _no_item(wanted: object, values: Sequence[object], path: str) -> str:
    """What a list does not have, and what it has instead."""
    if not values:
        return f"{path} has no item {_said(wanted)}: it is empty"
    items = [
        cut(value if isinstance(value, str) else _plain(value), _MAX_ITEM) for value in values[:_MAX_ITEMS]
    ]
    more = [f"{len(values) - len(items)} more"] if len(values) > len(items) else []
    return f"{path} has no item {_said(wanted)}; its items: {', '.join([*items, *more])}"


def _said(value: object) -> str:
    if isinstance(value, (dict, list)):
        return f"`{cut(_plain(value))}`"
    return f"`{cut(value if isinstance(value, str) else _plain(value))}`"


def _plain(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "..."


def _wrapped(text: str, indent: int, width: int) -> list[str]:
    from textwrap import wrap

    blank = " " * indent
    return wrap(text, width, initial_indent=blank, subsequent_indent=blank + "  ")
