"""Two tenants at a terminal and in a pipe: what a command prints is the same with a neighbour and without (D 2).

`test_two_tenants` compares what operations answer; here it is what commands make of it: tables, JSON, errors, reasons,
previews of dry runs, and the counts beside them.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mgmtctl.operations import login
from tests.cli.conftest import VARIABLES, run_here
from tests.operations import attack_world as attack
from tests.operations.attack_world import CANARY, World, same

COMMANDS = """
users list
users show own-friend
users show canary-user
users show 102
users permissions own-friend
users permissions canary-user
users allow-run-as canary-user --dry-run
users remove-role own-friend own-team --dry-run
users add-role own-friend canary-role --dry-run
users delete canary-user --yes
roles list
roles show own-team --effective
roles show canary-role --effective
roles add-policy own-team canary-policy --dry-run
roles remove-policy own-team own-extra --dry-run
policies list
policies show own-extra canary-extra
policies matrix --role own-team --by group
policies matrix --user canary-user
policies lint
policies delete own-extra --dry-run
rules list
rules lint
rules show own-rule canary-rule
sessions list
security show
security login-limit show
security set rbac_mode black --dry-run
can-i agent:read agent:id:003 --explain
can-i agent:read agent:id:canary-agent1 --explain
can-i agent:delete agent:group:canary-group --explain
can-i agent:read agent:id:003 --as canary-user
can-i group:read group:id:canary-group --as own-friend --explain
who-can agent:read agent:id:001
who-can agent:read agent:id:003
who-can group:read group:id:canary-group
who-can security:read user:id:102
run-as --doctor canary-user
run-as --doctor own-user
agents list
agents list --where group=canary-group
agents show canary-agent1
agents show 003
agents summary
agents key 003
groups list
groups agents canary-group
files list canary-group
files show canary-group/canary.txt
sync status
sync plan --all
sync plan --group canary-group
sync explain 003
log list
whoami --permissions
"""


@pytest.fixture(scope="module")
def tokens(
    service_template: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Path, str]]:
    """A session of the tenant in each of the two worlds, by the folder of the world."""
    folder = tmp_path_factory.mktemp("commands")
    worlds = [
        World(
            attack.make(service_template, folder / f"{name}-made", attack.two_tenants(neighbour)),
            folder / name,
        )
        for name, neighbour in (("crowded", True), ("alone", False))
    ]
    with pytest.MonkeyPatch.context() as patch:
        attack.CHANCES.arrange(patch)
        found = {}
        for world in worlds:
            attack.CHANCES.start("at the terminal")
            found[world.place] = login.log_in(world.ctx, "own-user", attack.PASSWORD).token
    yield found
    for world in worlds:
        world.close()
    shutil.rmtree(folder)


@pytest.mark.parametrize("form", ["table", "json"])
@pytest.mark.parametrize("command", COMMANDS.strip().split("\n"))
def test_a_command_prints_the_same_with_a_neighbour(
    command: str,
    form: str,
    tokens: dict[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MGMTCTL_STATE", str(tmp_path))
    monkeypatch.setattr("time.time", lambda: float(attack.NOW))
    printed = []
    for home, token in tokens.items():
        monkeypatch.setenv("MGMTCTL_HOME", str(home))
        monkeypatch.setenv("MGMTCTL_TOKEN", token)
        result = run_here(*shlex.split(command), "-o", form, terminal=form == "table")
        assert result.code != 2 or "does not exist" in result.err, result.err
        said = f"{result.code}\n{result.out}\n{result.err}"
        printed.append(said.replace(str(home), "HOME").replace(f"/{home.name}", "/HOME"))
    same(printed[0], printed[1], command)
    if CANARY not in command:
        assert CANARY not in printed[0]
