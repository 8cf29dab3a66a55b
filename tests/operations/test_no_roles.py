"""Whoever has no right sees and does nothing: every operation, both modes (D 2).

Three actors without a right: a user without any role (in both modes), one whose only policies deny (white mode), and a
context session that no rule gave a role. Each is asked with every argument of `attack_world`, in a world full of
things and in one that holds nothing but himself; the answers must be the same, so they tell nothing but what he wrote
and who he is, and nothing may be changed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import OPERATIONS
from tests.operations import attack_world as attack
from tests.operations.access_world import acting, deny
from tests.operations.attack_calls import ALL, calls
from tests.operations.attack_world import CANARY, World, same

Actor = Callable[[Context], Context]
# What a session may always do: change its own standing.
OWN_AFFAIRS = {"login.log_out", "login.log_out_everywhere"}
LOGINS = {"login.log_in", "login.run_as", "login.try_run_as"}  # they make a session, and ask for none
NOTHING = (
    *("'affected': [None]", "{'result': [None], "),
    "('configuration', [('synced', 0), ('not_synced', 0), ('total', 0)])",
)
DENIES = (deny("agent:read", "agent:id:*"), deny("security:read", "user:id:*"), deny("manager:read", "*:*:*"))


def _populate(full: bool, mode: str) -> Any:
    def populate(ctx: Context, hashed: str) -> None:
        ctx.store.settings.set("rbac_mode", mode)
        attack.add_stranger(ctx, "nobody", hashed)
        attack.add_stranger(ctx, "denied", hashed, *DENIES)
        if full:
            attack.add_tenant(ctx, "own", hashed, attack.OWN_RULE)
            attack.add_tenant(ctx, "canary", hashed, attack.CANARY_RULE)
            attack.visit(ctx, "canary-user", attack.CANARY_CONTEXT)

    return populate


@pytest.fixture(scope="module")
def worlds(
    service_template: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[World, World]]]:
    """For each mode a full world and an empty one."""
    folder = tmp_path_factory.mktemp("strangers")

    def made(name: str, full: bool, mode: str) -> World:
        template = attack.make(service_template, folder / f"{mode}-{name}-made", _populate(full, mode))
        return World(template, folder / f"{mode}-{name}")

    found = {mode: (made("full", True, mode), made("empty", False, mode)) for mode in ("white", "black")}
    yield found
    for both in found.values():
        for world in both:
            world.close()
    shutil.rmtree(folder)


def no_role(ctx: Context) -> Context:
    return acting(ctx, ctx.store.users.find("nobody") or 0)


def only_denies(ctx: Context) -> Context:
    return acting(ctx, ctx.store.users.find("denied") or 0)


def empty_context(ctx: Context) -> Context:
    """The administrator's own session of a context that no rule is true for."""
    return acting(ctx, 1, roles=())


ACTORS = [
    pytest.param("white", no_role, id="no role, white"),
    pytest.param("black", no_role, id="no role, black"),
    pytest.param("white", empty_context, id="context without a rule, white"),
    pytest.param("white", only_denies, id="only denies, white"),
]


@pytest.mark.parametrize(("mode", "actor"), ACTORS)
@pytest.mark.parametrize("operation", [name for name in ALL if name not in LOGINS])
def test_whoever_holds_nothing_is_refused_or_sees_nothing(
    operation: str, mode: str, actor: Actor, worlds: dict[str, tuple[World, World]]
) -> None:
    full, empty = worlds[mode]
    declared = OPERATIONS[operation]
    full.fresh()
    before = full.everything()
    for arguments in calls(declared):
        answer = full.call(operation, actor, arguments, False)
        same(answer, empty.call(operation, actor, arguments, False), arguments)
        if CANARY not in repr(arguments):
            assert CANARY not in answer, arguments
        if declared.needs:
            assert refused_or_empty(answer), (arguments, answer)
        if operation not in OWN_AFFAIRS and full.changed():
            assert full.everything() == before, arguments


def refused_or_empty(answer: str) -> bool:
    return answer.startswith("{'error': ") or any(nothing in answer for nothing in NOTHING)
