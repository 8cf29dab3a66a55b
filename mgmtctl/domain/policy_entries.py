"""Single entries of a policy, put in and taken out: an action on a resource with an effect (S 2.3, D 2).

Rules: an entry is a pair that can match; what a block says beside (an action on a kind that it does not use) is no
entry. Putting in and taking out change exactly the entries that are named, and leave blocks that a policy may have.
Nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from mgmtctl.domain.actions import ACTIONS, mismatch
from mgmtctl.domain.errors import ConflictError
from mgmtctl.domain.grants import ALLOW, covers
from mgmtctl.domain.policies import MAX_BLOCK_NAME, Block
from mgmtctl.domain.resources import Resource

Pair = tuple[str, Resource]
Product = tuple[tuple[str, ...], tuple[Resource, ...]]


class Entries(NamedTuple):
    """Each of some actions on each of some resources that fits, with one effect."""

    actions: tuple[str, ...]
    resources: tuple[Resource, ...]
    effect: str

    def pairs(self) -> dict[Pair, None]:
        """The pairs that can match, in order."""
        return fitting(self.actions, self.resources)


def fitting(actions: Iterable[str], resources: Collection[Resource]) -> dict[Pair, None]:
    """Each action on each resource that it may be asked on."""
    return {
        (action, resource): None
        for action in actions
        for resource in resources
        if mismatch(ACTIONS[action], resource) is None
    }


def entries_of(blocks: Iterable[Block]) -> set[tuple[str, Resource, str]]:
    """All (action, resource, effect) that blocks say and that can match."""
    return {(*pair, block.effect) for block in blocks for pair in fitting(block.actions, block.resources)}


def with_entries(blocks: Sequence[Block], wanted: Entries, name: str | None = None) -> tuple[Block, ...]:
    """The blocks with these entries: those that are missing as a block of its own, or in the block of that name.

    The same blocks when none is missing. ConflictError when the named block would say more than is asked for.
    """
    present = entries_of(blocks)
    missing = [pair for pair in wanted.pairs() if (*pair, wanted.effect) not in present]
    if not missing:
        return tuple(blocks)
    lacking = _exactly(missing) or (wanted.actions, wanted.resources)
    added = Block(name or _free_name(_title(wanted), blocks), *lacking, wanted.effect)
    for number, block in enumerate(blocks):
        if block.name == added.name:
            return (*blocks[:number], _joined(block, added), *blocks[number + 1 :])
    return (*blocks, added)


def without_entries(blocks: Sequence[Block], unwanted: Entries) -> tuple[Block, ...]:
    """The blocks without these entries; a block that must keep others of its own is split, an empty one goes.

    Entries that are not there are none to take out. ConflictError when only a wider one says it: those are not split.
    """
    pairs, present = unwanted.pairs(), entries_of(blocks)
    for block in blocks:
        for pair in pairs:
            if (*pair, unwanted.effect) not in present:
                _require_no_wider(block, pair, unwanted.effect)
    left: list[Block] = []
    for block in blocks:
        if block.effect != unwanted.effect or pairs.keys().isdisjoint(
            fitting(block.actions, block.resources)
        ):
            left.append(block)
        else:
            left += _split(block, unwanted, [*blocks, *left])
    return tuple(left)


def _require_no_wider(block: Block, pair: Pair, effect: str) -> None:
    action, asked = pair
    wider = next((held for held in block.resources if held != asked and covers(held, asked)), None)
    if wider is None or block.effect != effect or action not in block.actions:
        return
    verb, other = ("allows", "deny") if effect == ALLOW else ("denies", "allow")
    why = f"the block {verb} {action} on {wider}, which covers {asked}; a wildcard is not split"
    fix = f"take {wider} out and put in what is to stay"
    raise ConflictError(
        f"block `{block.name}` has no entry {action} on {asked}",
        why=why,
        fix=f"{fix}, or add a {other} on {asked}" if effect == ALLOW else fix,
    )


def _split(block: Block, unwanted: Entries, others: Sequence[Block]) -> list[Block]:
    """What stays of a block: one block where that can be, else the untouched actions and the others apart."""
    gone = unwanted.pairs()
    kept = [pair for pair in fitting(block.actions, block.resources) if pair not in gone]
    touched = {action for action, _ in gone}
    parts = [[pair for pair in kept if (pair[0] in touched) is part] for part in (False, True)]
    whole = _exactly(kept)
    said = [whole] if whole else [one for part in parts for one in _products(part)]
    blocks: list[Block] = []
    for actions, resources in said:
        name = _free_name(block.name, [*others, *blocks]) if blocks else block.name
        blocks.append(Block(name, actions, resources, block.effect))
    return blocks


def _products(pairs: Sequence[Pair]) -> list[Product]:
    """Actions and resources whose fitting pairs are together exactly these: one if it can be, or one for each
    set of resources."""
    whole = _exactly(pairs)
    if whole:
        return [whole]
    resources: dict[str, list[Resource]] = {}
    for action, resource in pairs:
        resources.setdefault(action, []).append(resource)
    alike: dict[tuple[Resource, ...], list[str]] = {}
    for action, found in resources.items():
        alike.setdefault(tuple(found), []).append(action)
    return [(tuple(actions), found) for found, actions in alike.items()]


def _exactly(pairs: Iterable[Pair]) -> Product | None:
    """The actions and resources whose fitting pairs are exactly these, if there are such."""
    wanted = dict.fromkeys(pairs)
    actions = tuple(dict.fromkeys(action for action, _ in wanted))
    resources = tuple(dict.fromkeys(resource for _, resource in wanted))
    same = fitting(actions, resources).keys() == wanted.keys()
    return (actions, resources) if wanted and same else None


def _joined(block: Block, added: Block) -> Block:
    """The block with the actions and resources of another; ConflictError when that would say more than both do."""
    actions = tuple(dict.fromkeys((*block.actions, *added.actions)))
    resources = tuple(dict.fromkeys((*block.resources, *added.resources)))
    joined = Block(block.name, actions, resources, block.effect)
    more = entries_of([joined]) - entries_of([block, added])
    if block.effect != added.effect:
        why = f"its effect is {block.effect}"
    elif more:
        action, resource, _ = min(more)
        why = f"it would also {block.effect} {action} on {resource}"
    else:
        return joined
    raise ConflictError(
        f"block `{block.name}` cannot hold that beside what it says",
        why=why,
        fix="leave `--block` out for a block of its own, or name a new one",
    )


def _title(wanted: Entries) -> str:
    title = wanted.actions[0].replace(":", "_")
    return title if wanted.effect == ALLOW else f"{wanted.effect}_{title}"


def _free_name(name: str, blocks: Iterable[Block]) -> str:
    """`name`, with a number behind it when a block is called so already."""
    taken = {block.name for block in blocks}
    found, number = name, 1
    while found in taken:
        number += 1
        end = f"_{number}"
        found = f"{name[: MAX_BLOCK_NAME - len(end)]}{end}"
    return found
