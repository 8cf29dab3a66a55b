"""Lint of what is stored: policies, the roles that have them, and the users that have those (S 2.3, D 2).

Rules: what came with the service cannot be changed and is not reported for being unused or deprecated. Who lints gives
what the caller may read. That something is not there is said only of kinds of which he may read everything (D 2): else
a finding would tell, by coming and going, of links to what is hidden. A place is written `policy NAME: JSON path of
the block`, `role NAME`, `user NAME`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mgmtctl.domain.findings import WARNING, Finding
from mgmtctl.domain.policies import ALLOW, DENY, Policy
from mgmtctl.domain.policy_lint import Entries, Piece, against, entries_of, lint_pieces
from mgmtctl.domain.promises import changes_of, says_read_only, wider
from mgmtctl.domain.roles import Role
from mgmtctl.domain.users import is_reserved

READ_KINDS = frozenset({"user:id", "role:id", "policy:id", "rule:id"})
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Links:
    """What the caller may read: policies and roles by id, users by name; `whole`: the kinds that he may read all of."""

    policies: Mapping[int, Policy]
    roles: Mapping[int, Role]
    users: Mapping[str, tuple[int, ...]]  # the roles of each user, by his name
    whole: frozenset[str] = READ_KINDS

    def knows(self, *kinds: str) -> bool:
        """Whether nothing of these kinds is hidden."""
        return self.whole.issuperset(kinds)


def lint_stored(links: Links, mode: str, only: frozenset[int] | None = None) -> list[Finding]:
    """Every finding in stored policies and, when `only` is None, in roles and users; else of these policies alone."""
    pieces = {number: pieces_of_stored(policy) for number, policy in links.policies.items()}
    findings: list[Finding] = []
    beside, used = _contradictions(links, pieces), {n for role in links.roles.values() for n in role.policies}
    for number, policy in links.policies.items():
        if only is None or number in only:
            unused = links.knows("role:id") and number not in used
            findings += [*_policy(policy, pieces[number], unused), *beside.get(number, ())]
    if only is None:
        findings += _roles(links, pieces)
        findings += _users(links, pieces, mode)
    return findings


def pieces_of_stored(policy: Policy) -> list[Piece]:
    """The blocks of a stored policy, each at its place."""
    return [
        Piece(
            policy.name,
            block.name,
            f"policy {policy.name}: blocks.{block.name}",
            block.effect,
            block.actions,
            block.resources,
        )
        for block in policy.blocks
    ]


def _policy(policy: Policy, pieces: Sequence[Piece], unused: bool) -> Iterator[Finding]:
    if is_reserved(policy.id):
        return
    yield from lint_pieces(pieces)
    place = f"policy {policy.name}"
    changes = _changes(pieces)
    if changes and says_read_only(policy.name):
        yield wider(policy.name, changes, place, "it allows")
    if unused:
        hint = f"mgmtctl roles add-policy ROLE {policy.name}"
        yield Finding("unused-policy", WARNING, "no role has it", place, suggestion=hint)


def _changes(pieces: Iterable[Piece]) -> list[str]:
    """The actions that pieces allow and that change something."""
    return changes_of(action for piece in pieces if piece.effect == ALLOW for action in piece.actions)


def _roles(links: Links, pieces: Mapping[int, Sequence[Piece]]) -> Iterator[Finding]:
    for role in links.roles.values():
        if is_reserved(role.id):
            continue
        place = f"role {role.name}"
        if links.knows("user:id", "rule:id") and not role.users and not role.rules:
            hint = f"mgmtctl users add-role USER {role.name}"
            yield Finding(
                "unused-role", WARNING, "no user has it and no rule leads to it", place, suggestion=hint
            )
        if links.knows("policy:id") and not role.policies:
            hint = f"mgmtctl roles add-policy {role.name} POLICY"
            yield Finding("role-without-policies", WARNING, "it has no policy", place, suggestion=hint)
        known = [piece for number in role.policies for piece in pieces.get(number, ())]
        changes = _changes(known)
        if changes and says_read_only(role.name):
            holders = [piece.policy for piece in known if _changes([piece])]
            verb = "allows" if len(set(holders)) == 1 else "allow"
            yield wider(role.name, changes, place, f"{_several('policy', 'policies', holders)} {verb}")


def _users(links: Links, pieces: Mapping[int, Sequence[Piece]], mode: str) -> Iterator[Finding]:
    if mode != "white" or not links.knows("role:id", "policy:id"):
        return
    for name, roles in links.users.items():
        blocks = [
            piece for role in roles for number in links.roles[role].policies for piece in pieces[number]
        ]
        if blocks and all(piece.effect != ALLOW for piece in blocks):
            said = _several("role", "roles", [links.roles[role].name for role in roles])
            verb = "denies" if len(roles) == 1 else "deny"
            message = f"{said} only {verb}, and mode white denies the rest: nothing is allowed"
            hint = "add a role that allows something"
            yield Finding("deny-only-user", WARNING, message, f"user {name}", suggestion=hint)


def _contradictions(links: Links, pieces: Mapping[int, Sequence[Piece]]) -> dict[int, list[Finding]]:
    """For each policy: what other policies take away from it, by roles that have both and users that get both."""
    denied = {number: entries_of(blocks, DENY) for number, blocks in pieces.items()}
    allowed = {number: entries_of(blocks, ALLOW) for number, blocks in pieces.items()}
    denying = [number for number, (entries, _) in denied.items() if entries]
    found: dict[int, list[Finding]] = {}
    for (number, other), who in _companies(links, denying).items():
        if number in pieces and _meet(allowed[number], denied[other]):
            for piece in pieces[number]:
                found.setdefault(number, []).extend(against(piece, pieces[other], who))
    return found


def _meet(one: tuple[Entries, Entries], other: tuple[Entries, Entries]) -> bool:
    return not (one[0].isdisjoint(other[1]) and one[1].isdisjoint(other[0]))


def _companies(links: Links, denying: Iterable[int]) -> dict[tuple[int, int], str]:
    """(policy, policy that denies) -> who has both, for pairs that meet in a role, else in a user."""
    wanted = frozenset(denying)
    by_role: dict[tuple[int, int], list[str]] = {}
    for role in links.roles.values():
        for other in wanted.intersection(role.policies):
            for number in role.policies:
                if number != other:
                    by_role.setdefault((number, other), []).append(role.name)
    by_user: dict[tuple[int, int], list[str]] = {}
    for user, roles in links.users.items():
        held = dict.fromkeys(
            number for role in roles if role in links.roles for number in links.roles[role].policies
        )
        for other in wanted.intersection(held):
            for number in held:
                if number != other and (number, other) not in by_role:
                    by_user.setdefault((number, other), []).append(user)
    return {
        **{pair: _several("role", "roles", names) for pair, names in by_role.items()},
        **{pair: _several("user", "users", names) for pair, names in by_user.items()},
    }


def _several(kind: str, plural: str, names: Iterable[str]) -> str:
    known = list(dict.fromkeys(names))
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    return f"{kind if len(known) == 1 else plural} {', '.join(f'`{name}`' for name in known[:_MOST_NAMED])}{more}"
