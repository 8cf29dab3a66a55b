"""Who may do something, and all that somebody may do: decisions turned round (S 2.3, D 2).

Rules: they say what `grants.decide` says, for many at once: a role is asked once, and those who have it are judged by
what their roles said together (any deny wins, else any allow, else the mode; nobody without a role). What the asker may
not know of is left out of the reasons, never out of the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from mgmtctl.domain.delegation import holdings
from mgmtctl.domain.grants import ALLOW, BLACK, WHITE, Entry, Grant, Permissions, decide
from mgmtctl.domain.resources import Resource
from mgmtctl.domain.scopes import Scope, base_kind

Visible = Callable[[Entry], bool]


class Said(NamedTuple):
    """What one role says to one question: whether it denies it, and the entries that allow it."""

    denies: bool
    allows: tuple[Entry, ...]


def said_by_roles(grants: Iterable[Grant], action: str, names: tuple[Resource, ...]) -> dict[int, Said]:
    """What each role says to `action` on the thing that goes by `names`; roles that say nothing are left out."""
    by_role: dict[int, list[Entry]] = {}
    for grant in grants:
        by_role.setdefault(grant.role_id, []).extend(_asked_entries(grant, action))
    decided = ((role_id, decide(entries, WHITE, action, names)) for role_id, entries in by_role.items())
    return {
        role_id: Said(not decision.allowed, decision.because if decision.allowed else ())
        for role_id, decision in decided
        if not decision.default
    }


def _asked_entries(grant: Grant, action: str) -> Iterator[Entry]:
    """The entries of one action, the others not unfolded."""
    blocks = {
        name: {**block, "actions": (action,)}
        for name, block in grant.blocks.items()
        if action in block["actions"]
    }
    return grant._replace(blocks=blocks).entries()


def able(roles: Collection[int], said: Mapping[int, Said], mode: str) -> tuple[Entry, ...] | None:
    """The entries by which somebody with these roles may do it: none when the mode allows it; None: he may not."""
    spoken = [said[role_id] for role_id in roles if role_id in said]
    if not roles or any(one.denies for one in spoken):
        return None
    allowing = tuple(entry for one in spoken for entry in one.allows)
    return allowing if allowing or mode == BLACK else None


@dataclass(frozen=True, slots=True)
class Held:
    """One action that somebody may do: on `resources` without `but`; `whole`: nothing of it is left out."""

    action: str
    resources: tuple[Resource, ...]
    but: tuple[Resource, ...]
    because: tuple[Entry, ...]
    by_mode: bool
    whole: bool

    @property
    def by(self) -> tuple[str, ...]:
        """Where it comes from, each as `role/policy`; the mode when that allows it."""
        named = dict.fromkeys(f"{entry.role}/{entry.policy}" for entry in self.because)
        return (*named, *(("mode black",) if self.by_mode else ()))

    def record(self) -> dict[str, object]:
        """Plain form; `because` has the entries that allow or deny something of it."""
        return {
            "action": self.action,
            "resources": [str(resource) for resource in self.resources],
            "except": [str(resource) for resource in self.but],
            "by": list(self.by),
            "whole": self.whole,
            "because": [entry.record() for entry in self.because],
        }


def everything_held(permissions: Permissions, visible: Visible, *, own: bool = False) -> list[Held]:
    """Each action that is held on anything, in the order of the catalogue.

    `visible` tells which entries the asker may know of. Of resources he sees what those name, and `*`; all of them
    when the permissions are his `own`.
    """
    by_action: dict[str, list[Entry]] = {}
    for entry in permissions.entries:
        by_action.setdefault(entry.action, []).append(entry)
    scopes: dict[str, dict[str, Scope]] = {}
    for (action, kind), scope in holdings(permissions).items():
        scopes.setdefault(action, {})[kind] = scope
    black = permissions.mode == BLACK
    return [
        _held(action, found, by_action.get(action, ()), visible, own, black)
        for action, found in scopes.items()
    ]


def _held(
    action: str,
    scopes: Mapping[str, Scope],
    entries: Iterable[Entry],
    visible: Visible,
    own: bool,
    black: bool,
) -> Held:
    spoken = sorted({entry for entry in entries if base_kind(entry.resource.kind) in scopes})
    because = tuple(entry for entry in spoken if visible(entry))
    named = {entry.resource for entry in because}
    given = [resource for kind, scope in scopes.items() for resource in allowed_of(kind, scope)]
    taken = [resource for kind, scope in scopes.items() for resource in denied_of(kind, scope)]
    seen, but = ([r for r in part if own or r.value == "*" or r in named] for part in (given, taken))
    allowed_whole = {entry.resource for entry in spoken if entry.effect == ALLOW}
    by_mode = black and any(Resource(kind, "*") not in allowed_whole for kind in scopes)
    return Held(
        action, tuple(seen), tuple(but), because, by_mode, len(seen) + len(but) == len(given) + len(taken)
    )


def allowed_of(kind: str, scope: Scope) -> list[Resource]:
    """What a scope gives, as expressions, before what it takes away."""
    if scope.everything:
        return [Resource(kind, "*")]
    groups = {"*"} if scope.grouped else scope.groups
    return _expressions(kind, scope.values, groups)


def denied_of(kind: str, scope: Scope) -> list[Resource]:
    """What a scope takes away again, as expressions."""
    groups = {"*"} if scope.denied_grouped else scope.denied_groups
    return _expressions(kind, scope.denied_values, groups)


def _expressions(kind: str, values: Collection[str], groups: Collection[str]) -> list[Resource]:
    named = [Resource(kind, value) for value in sorted(values, key=_by_number)]
    return [*(Resource("agent:group", group) for group in sorted(groups)), *named]


def _by_number(value: str) -> tuple[int, str]:
    return (int(value), "") if value.isdigit() else (0, value)
