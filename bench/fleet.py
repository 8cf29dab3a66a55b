"""A fleet of agents: importing it beside one bare executemany, and listing it for an administrator and a narrow reader.

    python bench/fleet.py [--agents 10 1000 100000] [--runs 11]

`import` is the operation on a new service, from the bytes of a CSV file to the commit; `executemany` inserts the same
finished rows into the same tables of a new store, in one transaction: into `agents` only, and with `memberships`. The
list is `agents list --limit 100` for an administrator and for a user who may read one group in fifty, as an operation
in a warm process and as a whole command. Medians; what is compared alternates.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from timing import report, side_by_side

from mgmtctl import bootstrap, passwords
from mgmtctl.cli.session_file import session_path, write_token
from mgmtctl.domain.policies import parse_policy
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import agents, groups, login, setup
from mgmtctl.operations.context import Context
from mgmtctl.settings import Settings
from mgmtctl.store.store import Store

ROOT = Path(__file__).resolve().parent.parent
PASSWORD = "Correct-Horse-7"
GROUPS = 50
FILTERS = (
    "name=host-7",
    "name~77",
    "group=group7",
    "status=active;os.version>10",
    "dateAdd>7d;(id<500,group!=group3)",
)


def main() -> None:
    """Run everything for each size and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, nargs="+", default=[10, 1000, 100_000])
    parser.add_argument("--runs", type=int, default=11)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template = _template(folder)
        for size in arguments.agents:
            print(f"\n# {size} agents")
            importing(folder, template, size, arguments.runs)
            listing(folder, template, size, arguments.runs)


def importing(folder: Path, template: Path, size: int, runs: int) -> None:
    """The import operation beside executemany, each on new files."""
    data = _csv(size)
    found: dict[str, list[float]] = {"executemany, agents": [], "executemany, both tables": [], "import": []}
    for turn in range(runs + 1):
        home = Path(shutil.copytree(template, folder / f"import-{turn}"))
        ctx = _opened(home)
        began = time.perf_counter()
        agents.import_agents(ctx, "fleet.csv", data)
        seconds = {"import": time.perf_counter() - began}
        rows = ctx.store.database.rows(
            "SELECT id, name, name_key, register_ip, key, groups, folder, date_add FROM agents ORDER BY id"
        )
        members = ctx.store.database.rows("SELECT * FROM memberships ORDER BY group_name, agent_id")
        ctx.store.close()
        seconds["executemany, agents"] = _inserted(home / "bare.db", rows, ())
        seconds["executemany, both tables"] = _inserted(home / "both.db", rows, members)
        shutil.rmtree(home)
        for name, value in seconds.items():
            found[name] += [value] if turn else []
    report(found, "executemany, agents")
    print(f"import: {size / statistics.median(found['import']):,.0f} agents a second")


def listing(folder: Path, template: Path, size: int, runs: int) -> None:
    """`agents list` for an administrator and a reader of one group, filters among them."""
    home = Path(shutil.copytree(template, folder / f"list-{size}"))
    admin = _opened(home)
    agents.import_agents(admin, "fleet.csv", _csv(size))
    reader = login.resume(admin, login.log_in(admin, "reader", PASSWORD).token, False)
    calls: dict[str, Callable[[], object]] = {}
    for who, ctx in (("administrator", admin), ("reader of one group", reader)):
        for query in (ListQuery(limit=100), *(ListQuery(where=text, limit=100) for text in FILTERS)):
            name = f"{who}: {query.where or 'all'}"
            calls[name] = lambda ctx=ctx, query=query: agents.list_agents(ctx, query=query)  # type: ignore[misc]
    print("## in a warm process")
    report(_called(calls, runs), "administrator: all")
    print("## whole commands")
    states = {"administrator": admin, "reader of one group": reader}
    for who in states:
        state = folder / f"{size}-{who}"
        os.environ.update(MGMTCTL_HOME=str(home), MGMTCTL_STATE=str(state))
        user = "admin" if who == "administrator" else "reader"
        write_token(session_path(Settings()), login.log_in(admin, user, PASSWORD).token)
    command = [sys.executable, "-m", "mgmtctl", "agents", "list", "--limit", "100", "-o", "json"]
    report(
        side_by_side(
            {
                who: ["env", f"MGMTCTL_STATE={folder / f'{size}-{who}'}", f"PYTHONPATH={ROOT}", *command]
                for who in states
            },
            {"MGMTCTL_HOME": str(home)},
            runs,
        ),
        "administrator",
    )
    admin.store.close()


def _called(calls: Mapping[str, Callable[[], object]], runs: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(runs + 1):
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            found[name] += [time.perf_counter() - began] if turn else []
    return found


def _inserted(path: Path, rows: Sequence[Sequence[object]], members: Sequence[Sequence[object]]) -> float:
    """Seconds for one transaction with an executemany for each table, on a new store."""
    store = Store(str(path), create=True)
    began = time.perf_counter()
    with store.atomic():
        store.database.executemany(
            "INSERT INTO agents (id, name, name_key, register_ip, key, groups, folder, date_add)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        if members:
            store.database.executemany("INSERT INTO memberships VALUES (?, ?, ?)", members)
    seconds = time.perf_counter() - began
    store.close()
    return seconds


def _csv(size: int) -> bytes:
    """Agents with an address and a group; each third in two groups."""
    lines = ["name,ip,groups"]
    for number in range(size):
        address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        names = f"group{number % GROUPS}" + (f",group{(number + 1) % GROUPS}" if number % 3 == 0 else "")
        lines.append(f'host-{number},{address},"{names}"')
    return "\n".join(lines).encode()


def _template(folder: Path) -> Path:
    """A data folder with the groups, and a user who may read one of them."""
    home = folder / "template"
    with bootstrap.create_service(Settings({"MGMTCTL_HOME": str(home)})) as ctx:
        setup.initialise(ctx, PASSWORD)
    ctx = _opened(home)
    for number in range(GROUPS):
        groups.create_group(ctx, f"group{number}")
    document = {"actions": ["agent:read"], "resources": ["agent:group:group7"], "effect": "allow"}
    store = ctx.store
    with store.atomic():
        store.settings.set("auth_token_exp_timeout", 86_400)
        role = store.roles.add("reader")
        store.roles.link_policy(role, store.policies.add("reader", parse_policy(document, "reader")))
        password = passwords.hash_password(PASSWORD)
        store.users.link_role(store.users.add("reader", password, allow_run_as=False), role)
    store.close()
    return home


def _opened(home: Path) -> Context:
    """The service for its administrator."""
    ctx = bootstrap.open_context(Settings({"MGMTCTL_HOME": str(home)}))
    return login.resume(ctx, login.log_in(ctx, "admin", PASSWORD).token, False)


if __name__ == "__main__":
    main()
