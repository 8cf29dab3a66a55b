"""Two tenants that an administrator has tied together: no link leads to the name of what may not be read (D 2).

The tenant's role has the neighbour as a holder, one of the neighbour's policies and a rule of his, and a policy of the
tenant is in a role of the neighbour's. So whatever the tenant asks or changes about his own things touches the
neighbour's, and everything that tells of it (records, reasons, grids, previews, findings) passes by his names.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import OPERATIONS
from tests.operations import attack_world as attack
from tests.operations.attack_calls import ALL, calls
from tests.operations.attack_world import CANARY, World


def _populate(ctx: Context, hashed: str) -> None:
    attack.add_tenant(ctx, "own", hashed, attack.OWN_RULE)
    attack.add_tenant(ctx, "canary", hashed, attack.CANARY_RULE)
    store = ctx.store
    team = store.roles.find("own-team") or 0
    store.users.link_role(store.users.find("canary-friend") or 0, team)
    store.roles.link_policy(team, store.policies.find("canary-extra") or 0)
    store.roles.link_rule(team, store.rules.find("canary-idle") or 0)
    store.roles.link_policy(store.roles.find("canary-role") or 0, store.policies.find("own-extra") or 0)
    attack.visit(ctx, "own-user", attack.OWN_CONTEXT)
    attack.visit(ctx, "canary-user", attack.CANARY_CONTEXT)


@pytest.fixture(scope="module")
def world(service_template: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("linked")
    made = World(attack.make(service_template, folder / "made", _populate), folder / "service")
    yield made
    made.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize("operation", ALL)
def test_no_link_leads_to_a_name_that_may_not_be_read(
    operation: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack.CHANCES.arrange(monkeypatch)
    for arguments in calls(OPERATIONS[operation]):
        if CANARY in repr(arguments):
            continue
        for dry in (False,) if OPERATIONS[operation].method == "GET" else (False, True):
            seen = world.call(operation, attack.a_user("own-user"), arguments, dry)
            at = seen.find(CANARY)
            assert at < 0, (arguments, dry, seen[max(0, at - 300) : at + 100])
