"""Two tenants: nothing that one does shows him anything of the other, whatever operation and arguments he tries (D 2).

For every operation of the registry, with the arguments of `attack_world`: the answer in a world with the neighbour and
in one without him is the same, every field of it. What two tenants share tells of a neighbour, and is left out: names
and ids that are taken (no call creates what the neighbour has), and rules, which are evaluated for whoever may use
contexts (so `allow_run_as` needs the rights of the neighbour's rules too; D 1).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgmtctl.cli.complete import complete
from mgmtctl.operations import login
from mgmtctl.operations.registry import OPERATIONS
from tests.operations import attack_world as attack
from tests.operations.attack_calls import ALL, calls
from tests.operations.attack_world import CANARY, World, same

COMPLETED = (
    *("agents", "groups", "files", "users", "roles", "policies", "rules"),
    *("actions", "resources", "settings", "topics"),
)
PREFIXES = ("", "c", "canary-", "own-", "0", "1", "canary-group/", "own-group/", "agent:id:", "group:id:c")


@pytest.fixture(scope="module")
def worlds(
    service_template: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, World]]:
    """A world with a neighbour, and the same one without him."""
    folder = tmp_path_factory.mktemp("tenants")
    crowded, alone = (
        World(
            attack.make(service_template, folder / f"{name}-made", attack.two_tenants(neighbour)),
            folder / name,
        )
        for name, neighbour in (("crowded", True), ("alone", False))
    )
    yield crowded, alone
    crowded.close()
    alone.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize("operation", ALL)
def test_a_neighbour_changes_nothing_that_a_tenant_sees_and_nothing_of_his_is_touched(
    operation: str, worlds: tuple[World, World], monkeypatch: pytest.MonkeyPatch
) -> None:
    attack.CHANCES.arrange(monkeypatch)
    crowded, alone = worlds
    tenant = attack.a_user("own-user")
    for arguments in calls(OPERATIONS[operation]):
        for dry in (False,) if OPERATIONS[operation].method == "GET" else (False, True):
            seen = crowded.call(operation, tenant, arguments, dry)
            if crowded.changed():
                assert crowded.rows_about(CANARY) == crowded.rows_at_first, (arguments, dry)
            if CANARY not in repr(arguments):
                assert CANARY not in seen, (arguments, dry)
            if not arguments.get("allow_run_as"):
                same(seen, alone.call(operation, tenant, arguments, dry), (arguments, dry))


@pytest.mark.parametrize("kind", COMPLETED)
def test_completion_offers_the_same_with_a_neighbour(
    kind: str,
    worlds: tuple[World, World],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    offered = [_completed(kind, world, monkeypatch, capsys) for world in worlds]
    assert offered[0] == offered[1]
    assert CANARY not in repr(offered)
    assert any(offered[0]), "nothing was completed at all"


def _completed(
    kind: str, world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    token = login.log_in(world.fresh(), "own-user", attack.PASSWORD).token
    monkeypatch.setenv("MGMTCTL_HOME", str(world.place))
    monkeypatch.setenv("MGMTCTL_TOKEN", token)
    monkeypatch.delenv("MGMTCTL_DATA_DIR", raising=False)
    found = []
    for prefix in PREFIXES:
        assert complete([kind, prefix]) == 0
        found.append(capsys.readouterr().out)
    return found
