"""Fixes hold: for services made at random, the command lines of a fix are carried out, and the question asked again."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.fix_search import find_fix
from mgmtctl.domain.fixes import Fix, Named, Subject, View, as_word, free_name
from mgmtctl.domain.grants import BLACK, WHITE, Grant, Permissions, covers
from mgmtctl.domain.policies import Block, blocks_record, stored_blocks
from mgmtctl.domain.policy_entries import Entries, with_entries, without_entries
from mgmtctl.domain.resources import Resource, agent_names

ACTIONS = ["agent:read", "agent:restart"]
IDS, GROUPS = ["001", "002"], ["db", "web"]
AGENTS = [
    agent_names(number, groups)
    for number in IDS
    for size in range(3)
    for groups in itertools.combinations(GROUPS, size)
]
PLACES = [f"agent:id:{v}" for v in ["*", *IDS]] + [f"agent:group:{v}" for v in ["*", *GROUPS]]
USER = (100, "ann")


@dataclass
class World:
    """Policies and roles by name, with ids below 100 for those that came with the service; and one user's roles."""

    policies: dict[str, tuple[int, tuple[Block, ...]]]
    roles: dict[str, tuple[int, list[str]]]
    held: list[str]
    mode: str

    def grants(self, roles: list[str]) -> Iterator[Grant]:
        for role in roles:
            number, policies = self.roles[role]
            for policy in policies:
                policy_id, blocks = self.policies[policy]
                yield Grant(number, role, "linked", policy_id, policy, blocks_record(blocks))

    def permissions(self, roles: list[str]) -> Permissions:
        return Permissions.granted(self.mode, list(self.grants(roles)), has_roles=bool(roles))

    def allowed(self) -> set[tuple[str, tuple[Resource, ...]]]:
        permissions = self.permissions(self.held)
        return {
            (action, names) for action in ACTIONS for names in AGENTS if permissions.allows(action, *names)
        }

    def subject(self) -> Subject:
        return Subject(
            self.permissions(self.held), tuple((self.roles[role][0], role) for role in self.held), USER
        )

    def view(self) -> View:
        names: dict[str, dict[str, Any]] = {"role": self.roles, "policy": self.policies}
        return View(
            shows=lambda one: True,
            reads=lambda kind, number: True,
            names=lambda kind: list(names[kind]),
            own_roles=lambda: [
                ((number, role), self.permissions([role]))
                for role, (number, _) in self.roles.items()
                if number > 99
            ],
            roles_of=lambda policy_id: [
                (number, role)
                for role, (number, policies) in self.roles.items()
                if any(self.policies[policy][0] == policy_id for policy in policies)
            ],
            members=lambda group: None,
            beyond=lambda wide, narrow, within: None,
        )

    def run(self, command: str) -> None:
        """Carry out one command line of a fix; anything else is a KeyError."""
        program, noun, verb, name, *rest = shlex.split(command)
        assert program == "mgmtctl"
        {
            "users add-role": lambda: self.held.append(rest[0]),
            "users remove-role": lambda: self.held.remove(rest[0]),
            "roles create": lambda: self.roles.__setitem__(name, (500, [])),
            "roles add-policy": lambda: self._own_role(name)[1].append(rest[0]),
            "roles remove-policy": lambda: self._own_role(name)[1].remove(rest[0]),
            "policies create": lambda: self._set(name, 500, with_entries((), _entries(rest))),
            "policies add-entry": lambda: self._set(name, *self._changed(with_entries, name, rest)),
            "policies remove-entry": lambda: self._set(name, *self._changed(without_entries, name, rest)),
        }[f"{noun} {verb}"]()

    def _own_role(self, name: str) -> tuple[int, list[str]]:
        assert self.roles[name][0] > 99, "a reserved role keeps its policies"
        return self.roles[name]

    def _changed(self, change: Any, name: str, rest: list[str]) -> tuple[int, tuple[Block, ...]]:
        number, blocks = self.policies[name]
        assert number > 99, "a reserved policy never changes"
        return number, change(blocks, _entries(rest))

    def _set(self, name: str, number: int, blocks: tuple[Block, ...]) -> None:
        assert blocks, "a policy keeps an entry"
        self.policies[name] = (number, blocks)


def _entries(rest: list[str]) -> Entries:
    effect, action, on, resources = rest
    assert on == "--on"
    return Entries((action,), tuple(map(Resource.parse, resources.split(","))), effect.removeprefix("--"))


BLOCKS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(ACTIONS), min_size=1, unique=True),
        st.lists(st.sampled_from(PLACES), min_size=1, max_size=3, unique=True),
        st.sampled_from(["allow", "deny"]),
    ),
    min_size=1,
    max_size=2,
)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Own and reserved policies, own and reserved roles that have some of them, a user with some of these."""
    policies = {}
    for number, name in ((1, "reserved"), (100, "one"), (101, "two")):
        plain = {
            f"b{n}": {"actions": actions, "resources": resources, "effect": effect}
            for n, (actions, resources, effect) in enumerate(draw(BLOCKS))
        }
        policies[name] = (number, stored_blocks(plain))
    some = st.lists(st.sampled_from(["reserved", "one", "two"]), max_size=2, unique=True)
    roles = {"team": (100, draw(some)), "staff": (101, draw(some)), "default": (1, ["reserved"])}
    held = draw(st.lists(st.sampled_from(sorted(roles)), max_size=2, unique=True))
    return World(policies, roles, held, draw(st.sampled_from([WHITE, BLACK])))


@settings(max_examples=300)
@given(worlds(), st.sampled_from(ACTIONS), st.sampled_from(AGENTS))
def test_a_fix_is_true_and_says_all_that_it_does(
    world: World, action: str, names: tuple[Resource, ...]
) -> None:
    before, subject = world.allowed(), world.subject()
    decision = subject.permissions.decide(action, *names)
    if decision.allowed:
        return
    fix = find_fix(decision, subject, world.view())
    assert fix is not None
    assert fix.steps
    for step in fix.steps:
        world.run(step.command)
    after = world.allowed()
    assert (action, names) in after
    told = [*fix.gives, (action, names[0])]
    assert [right for right in after - before if not _among(right, told)] == []
    assert [right for right in before - after if not _among(right, list(fix.takes))] == []


@settings(max_examples=100)
@given(worlds(), st.sampled_from(ACTIONS), st.sampled_from(AGENTS))
def test_an_alternative_is_true_too(world: World, action: str, names: tuple[Resource, ...]) -> None:
    subject = world.subject()
    decision = subject.permissions.decide(action, *names)
    fix = None if decision.allowed else find_fix(decision, subject, world.view())
    if fix is None or not fix.alternatives:
        return
    first = fix.alternatives[0]
    for step in fix.steps:
        world.run(first.command if step.facts.get("effect") == "allow" else step.command)
    assert (action, names) in world.allowed()


def _among(right: tuple[str, tuple[Resource, ...]], told: list[tuple[str, Resource]]) -> bool:
    action, names = right
    return any(action == said and covers(resource, name) for said, resource in told for name in names)


def test_a_hidden_deny_has_no_fix() -> None:
    deny = Block("b", ("agent:read",), (Resource("agent:id", "001"),), "deny")
    world = World({"one": (100, (deny,))}, {"team": (100, ["one"])}, ["team"], WHITE)
    subject, view = world.subject(), world.view()
    decision = subject.permissions.decide("agent:read", *agent_names("001", []))
    from dataclasses import replace

    assert find_fix(decision, subject, replace(view, shows=lambda one: False)) is None


@pytest.mark.parametrize(
    ("wanted", "taken", "name"),
    [
        pytest.param("ann", [], "ann", id="as wanted"),
        pytest.param("ann", ["Ann", "ann_2"], "ann_3", id="letter case does not matter"),
        pytest.param("--odd", [], "odd", id="never like an option"),
        pytest.param("a" * 70, ["a" * 64], "a" * 62 + "_2", id="never too long"),
        pytest.param("--", [], "new", id="never empty"),
    ],
)
def test_a_new_name_is_free_and_a_name(wanted: str, taken: list[str], name: str) -> None:
    assert free_name(wanted, taken) == name


@pytest.mark.parametrize(("item", "word"), [((100, "web"), "web"), ((100, "-web"), "100")])
def test_a_name_like_an_option_is_written_as_its_id(item: Named, word: str) -> None:
    assert as_word(item) == word


def test_long_lists_of_rights_are_cut_in_text_and_whole_in_the_record() -> None:
    rights = tuple(("agent:read", Resource("agent:id", f"{number:03}")) for number in range(7))
    fix = Fix("do it", gives=rights, takes=rights[:1], agents=0, shared=("others",))
    assert fix.lines() == [
        "do it",
        "this also allows agent:read on agent:id:000, agent:read on agent:id:001, agent:read on agent:id:002, "
        "agent:read on agent:id:003, agent:read on agent:id:004 and 2 more rights  (no other agent now)",
        "this also takes away agent:read on agent:id:000",
        "this counts for role others too",
    ]
    assert len(fix.record()["gives"]) == 7  # type: ignore[arg-type]
