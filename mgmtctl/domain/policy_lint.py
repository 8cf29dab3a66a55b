"""Lint of policies: what is legal to store and yet says something else than its author believes (S 2.3, D 2).

Rules: what is refused on write is found by `policies.check_policy` and passed on; only blocks that can be read are
linted. A finding stands at the widest place that it is true of: the whole block, else a resource, else an action. An
allow inside of a deny never counts and is worth a warning; a deny inside of an allow is how exceptions are written, and
is told only when it stands in another policy. What each lint rule means stands in `lint_rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

from mgmtctl.domain.actions import ACTIONS, mismatch
from mgmtctl.domain.findings import ERROR, NOTE, WARNING, Finding
from mgmtctl.domain.policies import ALLOW, DENY, check_policy
from mgmtctl.domain.promises import changes_of, says_read_only, wider
from mgmtctl.domain.resources import RESOURCELESS, Resource, one_line

EVERY_AGENT = Resource("agent:id", "*")
_MOST_SAID = 3

T = TypeVar("T")
Pair = tuple[int, int]  # numbers of an action and of a resource in their lists


@dataclass(frozen=True, slots=True)
class Piece:
    """A block to be linted: whose it is (`policy`, empty for a document by itself), and its JSON path."""

    policy: str
    name: str
    path: str
    effect: str
    actions: tuple[str, ...]
    resources: tuple[Resource, ...]

    def pairs(self) -> Iterator[tuple[Pair, str, Resource]]:
        """Each action with each resource that it can be asked on; what is listed twice counts once."""
        resources = list(_once(self.resources))
        for first, action in _once(self.actions):
            for second, resource in resources:
                if mismatch(ACTIONS[action], resource) is None:
                    yield (first, second), action, resource

    def seen_from(self, other: Piece) -> str:
        """What a finding at another block calls this one."""
        if self is other:
            return ""
        block = f"block `{self.name}`" if self.name else "the block"
        return block if self.policy == other.policy else f"policy `{self.policy}`, {block}"


class Reason(NamedTuple):
    """Why an entry does not count: another one, on `resource` in a block."""

    piece: Piece
    resource: Resource


Said = dict[Pair, Reason]


class Place(NamedTuple):
    """A pair and the block it stands in."""

    piece: Piece
    pair: Pair


def lint_policy(document: object, path: str = "", name: str = "", description: str = "") -> list[Finding]:
    """Every finding in a policy document, each at its JSON path below `path`: first what is refused."""
    faults = _faults(document, path)
    pieces = pieces_of(document, path, faults)
    by_path = {piece.path: piece for piece in pieces}
    findings = [_star_or_fault(fault, by_path) for fault in faults]
    return [*findings, *lint_pieces(pieces), *_wider(pieces, name, description, path)]


def pieces_of(
    document: object, path: str = "", faults: Sequence[Finding] = (), policy: str = ""
) -> list[Piece]:
    """The blocks of a document that have no fault, or none but entries that never match."""
    return [
        Piece(policy, name, place, block["effect"], tuple(block["actions"]), _read(block["resources"]))
        for name, block, place in _blocks(document, path)
        if not any(fault.rule != "never-matches" and _within(fault.path, place) for fault in faults)
    ]


def lint_pieces(pieces: Sequence[Piece]) -> list[Finding]:
    """What is doubtful inside of one policy: deprecated actions, `*:*:*`, entries that never count or add nothing."""
    denies, said = _first(pieces, DENY), {**_first(pieces, ALLOW), **_first(pieces, DENY)}
    findings: list[Finding] = []
    for piece in pieces:
        findings += [*_deprecated(piece), *_stars(piece), *_twice(piece)]
        dead = _dead(piece, denies)
        findings += _told(piece, dead, WARNING, "contradictory-entries", _never_counts, _DENY_WINS)
        again = _found(piece, lambda place, action, resource: _covered(place, action, resource, said))
        left = {pair: by for pair, by in again.items() if pair not in dead}
        findings += _told(piece, left, NOTE, "shadowed-entry", _adds_nothing, "it can go", dead)
    return findings


def against(piece: Piece, others: Sequence[Piece], who: str) -> list[Finding]:
    """Where blocks of other policies take away what this one allows, for those who have both; `who`: these."""
    if piece.effect != ALLOW:
        return []
    denies = _first(others, DENY)
    dead = _dead(piece, denies)
    whole, part = partial(_not_for, who), partial(_not_all_for, who)
    findings = list(_told(piece, dead, WARNING, "contradictory-entries", whole, _DENY_WINS))
    parts = _parts_denied(piece, dead, denies)
    return findings + list(_told(piece, parts, NOTE, "contradictory-entries", part, _DENY_WINS))


# --- documents ----------------------------------------------------------------------------------------------------


def _faults(document: object, path: str) -> list[Finding]:
    if not isinstance(document, list):
        return check_policy(document, path)
    return [fault for _, block, place in _blocks(document, path) for fault in check_policy(block, place)]


def _blocks(document: object, path: str) -> Iterator[tuple[str, Any, str]]:
    """(name, block, path) of each block, in each form of a policy document; a list is one of blocks without names."""
    if isinstance(document, list):
        yield from ((f"[{number}]", block, f"{path}[{number}]") for number, block in enumerate(document))
    if not isinstance(document, dict):
        return
    if "blocks" in document:
        yield from _named(document["blocks"], f"{path}.blocks" if path else "blocks")
    elif "policy" in document:
        yield "", document["policy"], f"{path}.policy" if path else "policy"
    elif any(
        key in document and not isinstance(document[key], dict) for key in ("actions", "resources", "effect")
    ):
        yield "", document, path
    else:
        yield from _named(document, path)


def _named(blocks: object, path: str) -> Iterator[tuple[str, Any, str]]:
    if isinstance(blocks, dict):
        for name, block in blocks.items():
            yield str(name), block, f"{path}.{one_line(str(name))}" if path else one_line(str(name))


def _within(path: str, place: str) -> bool:
    return not place or path == place or path.startswith((f"{place}.", f"{place}["))


def _read(texts: Iterable[str]) -> tuple[Resource, ...]:
    return tuple(Resource.parse(text) for text in texts)


def _star_or_fault(fault: Finding, pieces: Mapping[str, Piece]) -> Finding:
    """The fault; one that comes of `*:*:*` beside actions on what exists gets the name and hint of that mistake."""
    spot, _, number = fault.path.rpartition("[")
    place, _, key = spot.rpartition(".")
    piece = pieces.get(place)
    if fault.rule != "never-matches" or piece is None or RESOURCELESS not in piece.resources:
        return fault
    at = int(number.rstrip("]"))
    if key == "resources" and piece.resources[at] != RESOURCELESS:
        return fault
    actions = piece.actions if key == "resources" else (piece.actions[at],)
    kinds = dict.fromkeys(kind for name in actions for kind in ACTIONS[name].kinds)
    if RESOURCELESS.kind in kinds:
        return fault
    hint = f"did you mean {' or '.join(f'`{kind}:*`' for kind in kinds)}?"
    message = f"`{RESOURCELESS}` never covers {_listed(actions)}"
    return Finding("star-misunderstood", ERROR, message, fault.path, suggestion=hint)


# --- one block ----------------------------------------------------------------------------------------------------


def _deprecated(piece: Piece) -> Iterator[Finding]:
    for number, name in enumerate(piece.actions):
        since = ACTIONS[name].deprecated
        if since:
            message = f"{name} is deprecated since {since}"
            yield Finding("deprecated-action", WARNING, message, _at(piece, "actions", number))


def _stars(piece: Piece) -> Iterator[Finding]:
    """`*:*:*` beside an action that has some resources of its own and not all of them."""
    used = any(RESOURCELESS.kind in ACTIONS[name].kinds for name in piece.actions)
    if RESOURCELESS not in piece.resources or not used:
        return
    for number, name in enumerate(piece.actions):
        kinds = ACTIONS[name].kinds
        own = [resource for resource in piece.resources if resource.kind in kinds]
        if RESOURCELESS.kind in kinds or not own or any(resource.value == "*" for resource in own):
            continue
        message = f"`{RESOURCELESS}` never covers {name}, which is on {_listed(map(str, own))} alone"
        hint = f"did you mean {' or '.join(f'`{kind}:*`' for kind in kinds)}?"
        yield Finding("star-misunderstood", WARNING, message, _at(piece, "actions", number), suggestion=hint)


def _twice(piece: Piece) -> Iterator[Finding]:
    """What stands twice in one list."""
    for key, items in (("actions", piece.actions), ("resources", piece.resources)):
        known = {number for number, _ in _once(items)}
        for number, item in enumerate(items):
            if number not in known:
                message = f"`{item}` stands there twice"
                place = _at(piece, key, number)
                yield Finding("shadowed-entry", NOTE, message, place, suggestion="it can go")


def _wider(pieces: Sequence[Piece], name: str, description: str, path: str) -> list[Finding]:
    allowed = (action for piece in pieces if piece.effect == ALLOW for _, action, _ in piece.pairs())
    actions = changes_of(allowed)
    if not actions:
        return []
    if says_read_only(name):
        return [wider(name, actions, path, "it allows")]
    return [wider("", actions, path, "it allows")] if says_read_only("", description) else []


# --- entries ------------------------------------------------------------------------------------------------------

Entries = frozenset[tuple[str, Resource]]
Index = Mapping[tuple[str, str, Resource], Place]


def _first(pieces: Iterable[Piece], effect: str) -> dict[tuple[str, str, Resource], Place]:
    """The first place of each (effect, action, resource) that blocks of an effect hold."""
    found: dict[tuple[str, str, Resource], Place] = {}
    for piece in pieces:
        if piece.effect == effect:
            for pair, action, resource in piece.pairs():
                found.setdefault((effect, action, resource), Place(piece, pair))
    return found


def entries_of(pieces: Iterable[Piece], effect: str) -> tuple[Entries, Entries]:
    """(the entries of an effect, those and all that would contain them), to see cheaply what may meet."""
    exact = {
        (action, resource)
        for piece in pieces
        if piece.effect == effect
        for _, action, resource in piece.pairs()
    }
    wider_ones = {(action, held) for action, resource in exact for held in _containing(resource)}
    return frozenset(exact), frozenset(exact | wider_ones)


def _once(items: Sequence[T]) -> Iterator[tuple[int, T]]:
    """Each item with the number at which it stands first."""
    first = {item: number for number, item in reversed(list(enumerate(items)))}
    return ((number, item) for number, item in enumerate(items) if first[item] == number)


def _containing(resource: Resource) -> Iterator[Resource]:
    """The expressions that hold more than this one and all of it."""
    if resource.value != "*":
        yield Resource(resource.kind, "*")
    if resource.kind == "agent:group":
        yield EVERY_AGENT


def _found(piece: Piece, ask: Callable[[Place, str, Resource], Reason | None]) -> Said:
    """The pairs of a block of which a question has an answer."""
    answers = {pair: ask(Place(piece, pair), action, resource) for pair, action, resource in piece.pairs()}
    return {pair: answer for pair, answer in answers.items() if answer is not None}


def _dead(piece: Piece, denies: Index) -> Said:
    """The pairs of an allow that a deny takes away."""
    if piece.effect != ALLOW:
        return {}
    return _found(piece, lambda place, action, resource: _denied(action, resource, denies))


def _denied(action: str, resource: Resource, denies: Index) -> Reason | None:
    for held in (resource, *_containing(resource)):
        place = denies.get((DENY, action, held))
        if place is not None:
            return Reason(place.piece, held)
    return None


def _covered(place: Place, action: str, resource: Resource, said: Index) -> Reason | None:
    effect = place.piece.effect
    for held in _containing(resource):
        found = said.get((effect, action, held))
        if found is not None:
            return Reason(found.piece, held)
    first = said[effect, action, resource]
    return None if first == place else Reason(first.piece, resource)


def _parts_denied(piece: Piece, dead: Said, denies: Index) -> Said:
    """Pairs of which a deny takes a part."""
    inside: dict[tuple[str, Resource], Reason] = {}
    for (_, action, resource), place in denies.items():
        for held in _containing(resource):
            inside.setdefault((action, held), Reason(place.piece, resource))
    pairs = {pair: inside.get((action, resource)) for pair, action, resource in piece.pairs()}
    return {pair: by for pair, by in pairs.items() if by is not None and pair not in dead}


# --- how it is told -----------------------------------------------------------------------------------------------

_DENY_WINS = "any deny wins over any allow, whatever their order"


def _told(
    piece: Piece,
    found: Said,
    severity: str,
    rule: str,
    words: Callable[[Piece, str, Sequence[Reason]], str],
    hint: str,
    beside: Container[Pair] = (),
) -> Iterator[Finding]:
    """Findings at the widest places of which all pairs are found, those `beside` it not counted."""
    if not found:
        return
    every = [pair for pair, _, _ in piece.pairs() if pair not in beside]
    if len(found) == len(every):
        yield Finding(
            rule, severity, words(piece, "this block", list(found.values())), piece.path, suggestion=hint
        )
        return
    rest = dict(found)
    sides: tuple[tuple[int, str, Sequence[object]], ...] = (
        (1, "resources", piece.resources),
        (0, "actions", piece.actions),
    )
    for side, key, items in sides:
        here: dict[int, list[Pair]] = {}
        for pair in every:
            here.setdefault(pair[side], []).append(pair)
        for number, pairs in sorted(here.items()):
            if all(pair in rest for pair in pairs):
                text = words(piece, f"`{items[number]}`", [rest.pop(pair) for pair in pairs])
                yield Finding(rule, severity, text, _at(piece, key, number), suggestion=hint)
    for (first, second), reason in rest.items():
        what = f"{piece.actions[first]} on `{piece.resources[second]}`"
        yield Finding(
            rule, severity, words(piece, what, [reason]), _at(piece, "actions", first), suggestion=hint
        )


def _never_counts(piece: Piece, what: str, reasons: Sequence[Reason]) -> str:
    return f"{what} never counts: {_reasons(piece, reasons, 'denies')}"


def _not_for(who: str, piece: Piece, what: str, reasons: Sequence[Reason]) -> str:
    return f"{what} does not count for {who}: {_reasons(piece, reasons, 'denies')}"


def _not_all_for(who: str, piece: Piece, what: str, reasons: Sequence[Reason]) -> str:
    return f"a part of {_not_for(who, piece, what, reasons)}"


def _adds_nothing(piece: Piece, what: str, reasons: Sequence[Reason]) -> str:
    return f"{what} adds nothing: {_reasons(piece, reasons, 'says')}"


def _reasons(piece: Piece, reasons: Sequence[Reason], verb: str) -> str:
    by_block: dict[str, list[str]] = {}
    for other, resource in reasons:
        named = by_block.setdefault(other.seen_from(piece), [])
        if f"`{resource}`" not in named:
            named.append(f"`{resource}`")
    texts = [
        f"{block} {verb} {_listed(names)}"
        if block
        else f"{_listed(names)} {'covers' if len(names) == 1 else 'cover'} it"
        for block, names in by_block.items()
    ]
    return ", ".join(texts[:_MOST_SAID])


def _listed(names: Iterable[str]) -> str:
    known = list(names)
    more = f" and {len(known) - _MOST_SAID} more" if len(known) > _MOST_SAID else ""
    return ", ".join(known[:_MOST_SAID]) + more


def _at(piece: Piece, key: str, number: int) -> str:
    return f"{piece.path}.{key}[{number}]" if piece.path else f"{key}[{number}]"
