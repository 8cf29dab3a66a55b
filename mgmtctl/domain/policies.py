"""Policies: named blocks of actions, resources and an effect (S 2.3, D 2).

Rules: a document is read in each form that the service shows, and refused with every fault at once: unknown
names, malformed resources, effects other than exactly `allow` or `deny`, and pairs that can never match. Checking
is total: any JSON gives findings, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from mgmtctl.domain.actions import ACTIONS, Action, mismatch
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.findings import ERROR, Finding
from mgmtctl.domain.resources import DIGITS, LETTERS, Resource, closest, one_line, shown

ALLOW = "allow"
DENY = "deny"
BLOCK_KEYS = ("actions", "resources", "effect")
RECORD_KEYS = frozenset({"id", "name", "roles"})
BLOCK_NAME_CHARACTERS = LETTERS | DIGITS | frozenset("_.%-")
MAX_BLOCK_NAME = 64

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Block:
    """One block: each of its `actions` on each of its `resources` that fits, with `effect` allow or deny."""

    name: str
    actions: tuple[str, ...]
    resources: tuple[Resource, ...]
    effect: str

    def record(self) -> dict[str, object]:
        """Plain form without the name, as it is stored and shown."""
        return {
            "actions": list(self.actions),
            "resources": [str(resource) for resource in self.resources],
            "effect": self.effect,
        }


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy with its blocks in order."""

    id: int
    name: str
    blocks: tuple[Block, ...]


def policy_record(policy: Policy, role_ids: Iterable[int]) -> dict[str, object]:
    """The fixed JSON form (design: command line, fixed forms); ids are strings."""
    return {
        "id": str(policy.id),
        "name": policy.name,
        "blocks": blocks_record(policy.blocks),
        "roles": [str(role_id) for role_id in role_ids],
    }


def blocks_record(blocks: Iterable[Block]) -> dict[str, dict[str, object]]:
    """Blocks by name, as a store keeps them and as every record shows them."""
    return {block.name: block.record() for block in blocks}


def block_changes(before: Iterable[Block], after: Iterable[Block]) -> tuple[str, ...]:
    """Which blocks were added, changed and removed, in words."""
    old, new = ({block.name: block for block in blocks} for blocks in (before, after))
    return (
        *(f"block `{name}` added" for name in new if name not in old),
        *(f"block `{name}` changed" for name, block in new.items() if name in old and old[name] != block),
        *(f"block `{name}` removed" for name in old if name not in new),
    )


def parse_policy(document: object, name: str) -> tuple[Block, ...]:
    """The blocks of a policy document; a block without a name is called `name`. InvalidError with findings.

    Forms: {"blocks": {NAME: block}}, {"policy": block}, a block by itself, a mapping of blocks; the first two
    may be records that also hold id, name and roles.
    """
    findings = check_policy(document)
    if findings:
        first = findings[0]
        raise InvalidError(
            f"policy `{name}` is refused: {first.path or 'document'}: {first.message}",
            fix=first.suggestion,
            findings=findings,
        )
    named, _ = _named_blocks(document, "")
    return tuple(_block(key or name, value, Resource.parse) for key, value, _ in named)


def check_policy(document: object, path: str = "") -> list[Finding]:
    """Every fault of a policy document, each at its JSON path below `path`; none: it can be stored."""
    named, findings = _named_blocks(document, path)
    for key, value, place in named:
        findings += _check_block_name(key, place)
        findings += _check_block(value, place)
    return findings


def stored_blocks(plain: Mapping[str, Mapping[str, Any]]) -> tuple[Block, ...]:
    """The blocks of what `blocks_record` made, unchecked: they were checked before they were stored."""
    return tuple(_block(name, block, Resource.stored) for name, block in plain.items())


def _block(name: str, plain: Mapping[str, Any], read: Callable[[str], Resource]) -> Block:
    return Block(
        name, _once(plain["actions"]), _once(read(text) for text in plain["resources"]), plain["effect"]
    )


def _once(items: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(items))


def _named_blocks(document: object, path: str) -> tuple[list[tuple[str, Any, str]], list[Finding]]:
    """(block name or "", block, its path) for each block of the document, and the faults around them."""
    if not isinstance(document, dict):
        return [], [_wrong_type(path, "an object with blocks", document)]
    if "blocks" in document:
        return _from_blocks(document["blocks"], _join(path, "blocks")), _record_faults(
            document, "blocks", path
        )
    if "policy" in document:
        return [("", document["policy"], _join(path, "policy"))], _record_faults(document, "policy", path)
    if any(key in document and not isinstance(document[key], dict) for key in BLOCK_KEYS):
        return [("", document, path)], []
    if not document:
        return [], [_fault("empty-policy", path, "no blocks", "write at least one block")]
    return _from_blocks(document, path), []


def _from_blocks(blocks: object, path: str) -> list[tuple[str, Any, str]]:
    if not isinstance(blocks, dict):
        return []
    return [(str(name), block, _join(path, str(name))) for name, block in blocks.items()]


def _record_faults(document: Mapping[str, object], held: str, path: str) -> list[Finding]:
    faults = [
        _unknown_key(key, (held, *sorted(RECORD_KEYS)), path)
        for key in document
        if key not in {held, *RECORD_KEYS}
    ]
    if held == "policy":
        return faults
    place = _join(path, held)
    if not isinstance(document[held], dict):
        faults.append(_wrong_type(place, "an object of blocks by name", document[held]))
    elif not document[held]:
        faults.append(_fault("empty-policy", place, "no blocks", "write at least one block"))
    return faults


def _check_block_name(name: str, path: str) -> list[Finding]:
    if not name or (len(name) <= MAX_BLOCK_NAME and BLOCK_NAME_CHARACTERS.issuperset(name)):
        return []
    form = f"1 to {MAX_BLOCK_NAME} letters, digits, _ . % -"
    return [_fault("block-name", path, f"{shown(name)} cannot name a block", f"write {form}")]


def _check_block(block: object, path: str) -> list[Finding]:
    if not isinstance(block, dict):
        return [_wrong_type(path, "a block with actions, resources and effect", block)]
    findings = [_unknown_key(key, BLOCK_KEYS, path) for key in block if key not in BLOCK_KEYS]
    findings += [
        _fault("missing-key", path, f"`{key}` is missing", f"write `{key}`")
        for key in BLOCK_KEYS
        if key not in block
    ]
    findings += _check_list(block, "actions", path, _check_action)
    findings += _check_list(block, "resources", path, _check_resource)
    findings += _check_effect(block, path)
    return findings or _check_pairs(block, path)


def _check_list(
    block: Mapping[str, object], key: str, path: str, check: Callable[[str, str], list[Finding]]
) -> list[Finding]:
    if key not in block:
        return []
    items, place = block[key], _join(path, key)
    if not isinstance(items, list):
        return [_wrong_type(place, "a list of texts", items)]
    if not items:
        return [
            _fault(
                "empty-list",
                place,
                "the list is empty, so the block says nothing",
                f"name {key} or leave the block out",
            )
        ]
    findings = []
    for number, item in enumerate(items):
        spot = f"{place}[{number}]"
        findings += check(item, spot) if isinstance(item, str) else [_wrong_type(spot, "text", item)]
    return findings


def _check_action(name: str, path: str) -> list[Finding]:
    if name in ACTIONS:
        return []
    near = closest(name, ACTIONS)
    hint = f"did you mean `{near}`?" if near else "`mgmtctl actions list` shows all"
    return [_fault("unknown-action", path, f"action {shown(name)} does not exist", hint)]


def _check_resource(text: str, path: str) -> list[Finding]:
    try:
        Resource.parse(text)
    except InvalidError as error:
        return [_fault("malformed-resource", path, error.problem, error.fix)]
    return []


def _check_effect(block: Mapping[str, object], path: str) -> list[Finding]:
    effect, place = block.get("effect", ALLOW), _join(path, "effect")
    if not isinstance(effect, str):
        return [_wrong_type(place, "allow or deny", effect)]
    if effect in (ALLOW, DENY):
        return []
    near = closest(effect.strip(), (ALLOW, DENY))
    hint = f"write `{near}`" if near else "write `allow` or `deny`"
    return [
        _fault("unknown-effect", place, f"effect is {shown(effect)}; expected exactly allow or deny", hint)
    ]


def _check_pairs(block: Mapping[str, Any], path: str) -> list[Finding]:
    """Actions that no resource of the block fits, and resources that no action fits (D 2)."""
    actions = [ACTIONS[name] for name in block["actions"]]
    resources = [Resource.parse(text) for text in block["resources"]]
    findings = [
        _fault(
            "never-matches",
            f"{_join(path, 'actions')}[{number}]",
            _unmatched(asked, resources),
            _needs(asked),
        )
        for number, asked in enumerate(actions)
        if all(mismatch(asked, resource) for resource in resources)
    ]
    if len(findings) == len(actions):
        return findings  # that no resource is used follows
    return findings + [
        _fault(
            "never-matches",
            f"{_join(path, 'resources')}[{number}]",
            f"no action of the block is asked on {resource.kind}",
            "remove it, or name an action that is",
        )
        for number, resource in enumerate(resources)
        if all(mismatch(asked, resource) for asked in actions)
    ]


def _unmatched(asked: Action, resources: list[Resource]) -> str:
    reasons = dict.fromkeys(mismatch(asked, resource) for resource in resources)
    return "; ".join(reason for reason in reasons if reason)


def _needs(asked: Action) -> str:
    return "write a block for it on " + " or ".join(f"`{kind}:*`" for kind in asked.kinds)


def _unknown_key(key: object, known: Iterable[str], path: str) -> Finding:
    near = closest(str(key), known)
    hint = f"did you mean `{near}`?" if near else f"keys are {', '.join(known)}"
    return _fault("unknown-key", _join(path, str(key)), f"key {shown(str(key))} is unknown", hint)


def _wrong_type(path: str, expected: str, got: object) -> Finding:
    return _fault("wrong-type", path, f"expected {expected}, got {_TYPES.get(type(got), 'something else')}")


def _fault(rule: str, path: str, message: str, suggestion: str | None = None) -> Finding:
    return Finding(rule, ERROR, message, path, suggestion=suggestion)


def _join(path: str, key: str) -> str:
    return f"{path}.{one_line(key)}" if path else one_line(key)


_TYPES = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}
