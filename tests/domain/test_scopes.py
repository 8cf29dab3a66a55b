"""Scopes: what blocks compile to, and what a scope covers."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mgmtctl.domain.scopes import EVERYTHING, NOTHING, Scope, compile_scope


def block(effect: str, actions: str, resources: str) -> dict[str, object]:
    return {"actions": actions.split(), "resources": resources.split(), "effect": effect}


WEB = frozenset({"web"})
DB = frozenset({"db"})

COMPILED = [
    pytest.param([], False, NOTHING, id="no block gives nothing in white mode"),
    pytest.param([], True, EVERYTHING, id="no block gives everything in black mode"),
    pytest.param(
        [block("allow", "agent:read", "agent:id:*")], False, EVERYTHING, id="a wildcard is everything"
    ),
    pytest.param(
        [block("allow", "agent:delete", "agent:id:*")], False, NOTHING, id="another action gives nothing"
    ),
    pytest.param([block("allow", "agent:read", "*:*:*")], False, NOTHING, id="resourceless covers no agent"),
    pytest.param(
        [block("allow", "agent:read", "group:id:web")], False, NOTHING, id="another kind gives nothing"
    ),
    pytest.param(
        [block("allow", "agent:read", "agent:id:001 agent:group:web")],
        False,
        Scope(values=frozenset({"001"}), groups=WEB),
        id="ids and groups add up",
    ),
    pytest.param(
        [block("allow", "agent:read", "agent:group:*"), block("allow", "agent:read", "agent:group:web")],
        False,
        Scope(grouped=True),
        id="every group includes a group",
    ),
    pytest.param(
        [block("deny", "agent:read", "agent:group:db"), block("allow", "agent:read", "agent:id:*")],
        False,
        Scope(everything=True, denied_groups=DB),
        id="a deny before a wildcard allow stays",
    ),
    pytest.param(
        [block("allow", "agent:read", "agent:id:*"), block("deny", "agent:read", "agent:group:db")],
        False,
        Scope(everything=True, denied_groups=DB),
        id="a deny after a wildcard allow gives the same",
    ),
    pytest.param(
        [block("deny", "agent:read", "agent:id:*")], True, NOTHING, id="a wildcard deny leaves nothing"
    ),
    pytest.param(
        [block("deny", "agent:read", "agent:group:*")],
        True,
        Scope(everything=True, denied_grouped=True),
        id="denying every group leaves agents in none",
    ),
    pytest.param(
        [block("allow", "agent:read", "agent:id:001"), block("deny", "agent:read", "agent:id:001")],
        False,
        NOTHING,
        id="an id both allowed and denied is nothing",
    ),
    pytest.param(
        [
            block("allow", "agent:read", "agent:id:001 agent:id:002"),
            block("deny", "agent:read", "agent:id:002"),
        ],
        False,
        Scope(values=frozenset({"001"}), denied_values=frozenset({"002"})),
        id="a denied id is no longer among the values",
    ),
    pytest.param(
        [block("allow", "agent:read", "agent:group:web"), block("deny", "agent:read", "agent:group:*")],
        False,
        NOTHING,
        id="a group both allowed and denied is nothing",
    ),
    pytest.param(
        [block("Allow", "agent:read", "agent:id:*")], True, NOTHING, id="an effect that is not allow denies"
    ),
]


@pytest.mark.parametrize(("blocks", "black", "expected"), COMPILED)
def test_blocks_compile_to_a_scope(blocks: list[dict[str, object]], black: bool, expected: Scope) -> None:
    assert compile_scope(blocks, "agent:read", "agent:id", black) == expected
    assert compile_scope(blocks, "agent:read", "agent:group", black) == expected
    assert compile_scope(reversed(blocks), "agent:read", "agent:id", black) == expected


COVERED = [
    pytest.param(NOTHING, "001", ("web",), False, id="nothing covers nobody"),
    pytest.param(EVERYTHING, "001", (), True, id="everything covers an agent without groups"),
    pytest.param(Scope(values=frozenset({"001"})), "001", (), True, id="an id covers that id"),
    pytest.param(Scope(values=frozenset({"001"})), "002", (), False, id="an id covers no other"),
    pytest.param(Scope(groups=WEB), "001", ("default", "web"), True, id="a group covers its members"),
    pytest.param(Scope(groups=WEB), "001", ("default",), False, id="a group covers nobody outside"),
    pytest.param(Scope(grouped=True), "001", ("any",), True, id="every group covers any member"),
    pytest.param(Scope(grouped=True), "001", (), False, id="every group covers no agent without groups"),
    pytest.param(
        Scope(everything=True, denied_values=frozenset({"001"})), "001", (), False, id="a denied id is out"
    ),
    pytest.param(
        Scope(values=frozenset({"001"}), denied_groups=DB),
        "001",
        ("db",),
        False,
        id="a denied group beats an id",
    ),
    pytest.param(
        Scope(groups=WEB, denied_groups=DB), "001", ("db", "web"), False, id="a denied group beats a group"
    ),
    pytest.param(Scope(everything=True, denied_grouped=True), "001", ("x",), False, id="any group is denied"),
    pytest.param(Scope(everything=True, denied_grouped=True), "001", (), True, id="no group is not denied"),
]


@pytest.mark.parametrize(("scope", "agent", "groups", "expected"), COVERED)
def test_a_scope_covers_what_it_says(
    scope: Scope, agent: str, groups: tuple[str, ...], expected: bool
) -> None:
    assert scope.covers(agent, groups) is expected
    assert scope.covers(agent, frozenset(groups)) is expected


def test_resourceless_is_everything_or_nothing() -> None:
    blocks = [block("allow", "agent:create", "*:*:*")]
    assert compile_scope(blocks, "agent:create", "*:*", False) == EVERYTHING
    assert compile_scope(blocks, "group:create", "*:*", False) == NOTHING


def test_a_scope_shows_what_it_holds() -> None:
    assert repr(Scope(groups=WEB)) == "Scope(groups=frozenset({'web'}))"
    assert (NOTHING.is_nothing, EVERYTHING.is_everything) == (True, True)
    assert not Scope(everything=True, denied_groups=DB).is_everything
    assert len({NOTHING, EVERYTHING, Scope()}) == 2


def test_the_module_loads_no_other_module() -> None:
    program = (
        "import sys, __future__, mgmtctl.domain; before = set(sys.modules)\n"
        "import mgmtctl.domain.scopes\n"
        "print(sorted(set(sys.modules) - before))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['mgmtctl.domain.scopes']"
