"""The reasons of a decision, and what would change it, as far as an actor may know them.

Rules (D 2): an entry is shown to those who may read its role and its policy; the groups of an agent, and everything
that tells them, only to those who may read the agent. Who may not read what a fix rests on is told whom to ask; so is
whoever is refused himself, because nobody gives himself what he does not hold (D 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mgmtctl.domain.grants import BLACK, WHITE, Decision, Entry, Grant, Permissions
from mgmtctl.operations.access_entries import grants_naming, permissions_of

if TYPE_CHECKING:
    from mgmtctl.domain.fixes import Fix, Named, Subject, View
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.operations.context import Actor
    from mgmtctl.store.store import Store

_MOST_ASKED_ONE_BY_ONE = 1000
_SHOWN_OF_CONTEXT_ID = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision about `subject` as the caller may see it; `holders`: roles that alone would allow it."""

    decision: Decision
    subject: str
    holders: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """The verdict."""
        return self.decision.allowed

    def record(self) -> dict[str, object]:
        """The decision record, with the subject, the roles that hold it, and notes."""
        return {
            **self.decision.record(),
            "subject": self.subject,
            "roles_that_hold": list(self.holders),
            "notes": list(self.notes),
        }

    def lines(self) -> list[str]:
        """The answer, readable: the verdict, whom it is about, why, what would allow it, and what else is to know."""
        verdict, *reasons = self.decision.lines()
        fix = self.advice()
        return [
            verdict,
            f"  for {self.subject}",
            *reasons,
            *([f"  to allow    {fix[0]}", *(f"    {line}" for line in fix[1:])] if fix else []),
            *([f"  held by     {', '.join(self.holders)}"] if self.holders and not self.allowed else []),
            *(f"  note        {note}" for note in self.notes),
        ]

    def reasons(self) -> list[str]:
        """Why, without the verdict, and the roles that would do."""
        lines = [line.removeprefix("  ") for line in self.decision.lines()[1:]]
        return [*lines, f"held by     {', '.join(self.holders)}"] if self.holders else lines

    def advice(self) -> list[str]:
        """What would allow it: in words, then the command lines."""
        return self.decision.fix.lines() if self.decision.fix else []


def answer(
    store: Store,
    actor: Actor,
    decision: Decision,
    subject: Callable[[], Subject] | None,
    title: str,
    ask: tuple[str, ...],
) -> Answer:
    """What the actor may know of a decision; `ask`: the commands that tell it to those who may know more.

    Without a `subject` nothing is told of what would allow it but whom to ask.
    """
    shown = visible_to(actor, decision)
    if decision.allowed:
        return Answer(shown, title)
    return Answer(
        shown._replace(fix=_fix(store, actor, shown, decision, subject) or asking(ask)),
        title,
        tuple(_holders(store, actor, decision)),
    )


def visible_to(actor: Actor, decision: Decision) -> Decision:
    """The same decision without the entries, near misses and names of the resource that the actor may not know of."""
    shows = shown_to(actor)
    if not _knows(actor, decision):
        return _unknown(decision, shows)
    return decision._replace(
        because=tuple(filter(shows, decision.because)),
        overridden=tuple(filter(shows, decision.overridden)),
        near_misses=tuple(miss for miss in decision.near_misses if shows(miss.entry)),
    )


def shown_to(actor: Actor) -> Callable[[Entry | Grant], bool]:
    """Which entries and policies of roles an actor may know of: those whose role and policy he may read (D 2)."""
    roles, policies = (actor.permissions.scope("security:read", kind) for kind in ("role:id", "policy:id"))
    if roles.is_everything and policies.is_everything:
        return lambda one: True
    return lambda one: roles.covers(str(one.role_id)) and policies.covers(str(one.policy_id))


def question(action: str, asked: str, *options: str) -> str:
    """The command that says whether and why, for somebody who may read everything."""
    import shlex

    return shlex.join(["mgmtctl", "can-i", action, asked, *options, "--explain"])


def questions(actor: Actor, action: str, asked: str) -> tuple[str, ...]:
    """The commands that tell it of this session; of one by a context, what its roles say and what the context is."""
    if not actor.run_as:
        return (question(action, asked, "--as", actor.user),)
    roles = [word for _, name in actor.roles for word in ("--role", name)]
    by_roles = (question(action, asked, *roles),) if roles else ()
    return (*by_roles, f"mgmtctl log show --context {(actor.context_id or '')[:_SHOWN_OF_CONTEXT_ID]}")


def asking(commands: tuple[str, ...]) -> Fix:
    """What is left to do for whoever may neither change nor read it."""
    from mgmtctl.domain.fixes import Fix

    return Fix("ask an administrator", ask=commands)


def reads(actor: Actor, kind: str, number: int) -> bool:
    """Whether the actor may read a user, role, policy or rule."""
    return actor.permissions.scope("security:read", f"{kind}:id").covers(str(number))


def _unknown(decision: Decision, shows: Callable[[Entry | Grant], bool]) -> Decision:
    """A decision about an agent that the actor may not read: the same whether it is there, and in whatever groups."""

    def told(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        return tuple(entry for entry in entries if entry.resource.kind == "agent:id")

    because = told(decision.because)
    return decision._replace(
        resources=decision.resources[:1],
        because=tuple(filter(shows, because)),
        overridden=tuple(filter(shows, told(decision.overridden))),
        near_misses=(),
        default=not because,
    )


def _fix(
    store: Store, actor: Actor, shown: Decision, decision: Decision, subject: Callable[[], Subject] | None
) -> Fix | None:
    """What would allow it; None when that rests on what the actor may not read."""
    hidden = shown.because != decision.because or not _knows(actor, decision)
    if subject is None or hidden or _reads_nothing(actor):
        return None
    from mgmtctl.domain.fix_search import find_fix

    return find_fix(shown, subject(), _view(store, actor, decision))


def _view(store: Store, actor: Actor, decision: Decision) -> View:
    """What a fix may rest on."""
    from mgmtctl.domain.fixes import View
    from mgmtctl.domain.scopes import NOTHING, Scope

    readable = actor.permissions.scope("agent:read", "agent:id")

    def names(kind: str) -> Iterator[str]:
        known = store.roles.names() if kind == "role" else store.policies.names()
        return (name for number, name in known.items() if reads(actor, kind, number))

    def roles_of(policy_id: int) -> Iterator[Named]:
        return ((number, store.roles.get(number).name) for number in store.policies.roles_of(policy_id))

    def beyond(wide: Scope, narrow: Scope, within: Scope) -> int:
        ids = [] if within.everything or within.grouped else store.agents.ids(within)
        if not 0 < len(ids) <= _MOST_ASKED_ONE_BY_ONE:
            return store.agents.count_beyond(wide, narrow, readable)
        groups = store.agents.groups_of_each(ids)
        return sum(
            wide.covers(number, named) and readable.covers(number, named) and not narrow.covers(number, named)
            for number, named in groups.items()
        )

    return View(
        shows=shown_to(actor),
        reads=lambda kind, number: reads(actor, kind, number),
        names=names,
        own_roles=lambda: _own_roles(store, actor, decision),
        roles_of=roles_of,
        members=lambda group: store.agents.count_beyond(Scope(groups=frozenset({group})), NOTHING, readable),
        beyond=beyond,
    )


def _own_roles(store: Store, actor: Actor, decision: Decision) -> Iterator[tuple[Named, Permissions]]:
    """The roles that did not come with the service, that the actor may read whole, and that may allow it alone."""
    from mgmtctl.domain.users import is_reserved

    naming = {grant.role_id for grant in grants_naming(store, decision.action)}
    for number, name in store.roles.names().items():
        if is_reserved(number) or not (number in naming or decision.mode == BLACK):
            continue
        if reads(actor, "role", number):
            permissions = permissions_of(store, (number,), decision.mode)
            if all(map(shown_to(actor), permissions.grants)):
                yield (number, name), permissions


def _holders(store: Store, actor: Actor, decision: Decision) -> list[str]:
    """The names of the roles, among those that the actor may read, that alone would allow what was decided."""
    if not _knows(actor, decision) or _reads_nothing(actor):
        return []
    by_role: dict[int, list[Grant]] = {}
    for grant in filter(shown_to(actor), grants_naming(store, decision.action)):
        by_role.setdefault(grant.role_id, []).append(grant)
    return [
        grants[0].role
        for grants in by_role.values()
        if Permissions.granted(WHITE, grants).allows(decision.action, *decision.resources)
    ]


def _knows(actor: Actor, decision: Decision) -> bool:
    if decision.resources[0].kind != "agent:id":
        return True
    return actor.permissions.allows("agent:read", *decision.resources)


def _reads_nothing(actor: Actor) -> bool:
    kinds = ("role:id", "policy:id")
    return any(actor.permissions.scope("security:read", kind).is_nothing for kind in kinds)
