"""Checks of one agent id, and all ids a user may read, against three policy engines on the same load.

    python bench/checks.py [--agents 100000] [--policies 10 100 1000] [--rounds 11]

Peers are used when they can be imported (casbin, cedarpy, vakt). Each round runs every engine in turn; figures are
medians over the rounds. All engines must give the same verdicts, or the run stops.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mgmtctl.domain.grants import WHITE, AgentAccess, Grant, Permissions
from mgmtctl.domain.scopes import Scope

Check = Callable[[str], bool]
NO_IDS: frozenset[str] = frozenset()
READ = "agent:read"
SAMPLE = 10_000  # ids that are asked about
JUDGED = 100  # of them, those on which the engines are compared
SECONDS_A_ROUND = 0.05

SCHEMA = """
    CREATE TABLE agents (id INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE memberships (
        agent_id INTEGER, position INTEGER, group_name TEXT, PRIMARY KEY (agent_id, position)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX members ON memberships (group_name, agent_id);
    CREATE TABLE policies (id INTEGER PRIMARY KEY, name TEXT, blocks TEXT) STRICT;
"""


def group_of(agent_id: int, groups: int) -> str:
    """Each agent is in one of as many groups as there are policies, so that their number changes nothing else."""
    return f"g{agent_id % groups}"


def policies(number: int) -> list[dict[str, Any]]:
    """Blocks that each speak of one group: nine in ten allow, one in ten denies."""
    return [
        {
            "actions": [READ, "agent:restart"],
            "resources": [f"agent:group:g{k}"],
            "effect": "deny" if k % 10 == 9 else "allow",
        }
        for k in range(number)
    ]


def store(path: Path, agents: int, number: int) -> sqlite3.Connection:
    """A store with the agents, each in `default` and one more group, and the policies as JSON."""
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    ids = range(1, agents + 1)
    connection.executemany("INSERT INTO agents VALUES (?)", ((i,) for i in ids))
    members = (
        (i, position, name) for i in ids for position, name in enumerate(("default", group_of(i, number)))
    )
    connection.executemany("INSERT INTO memberships VALUES (?, ?, ?)", members)
    rows = ((k, f"p{k}", json.dumps({"b": block})) for k, block in enumerate(policies(number), start=100))
    connection.executemany("INSERT INTO policies VALUES (?, ?, ?)", rows)
    connection.commit()
    return connection


def permissions(connection: sqlite3.Connection) -> Permissions:
    """What the session may do, read from the store as at its start; the JSON of all policies is parsed in one go."""
    rows = connection.execute("SELECT id, name, blocks FROM policies").fetchall()
    parsed = json.loads(f"[{','.join(blocks for _, _, blocks in rows)}]")
    grants = (
        Grant(100, "team", "", row[0], row[1], blocks) for row, blocks in zip(rows, parsed, strict=True)
    )
    return Permissions.granted(WHITE, grants)


PADDED = "CASE WHEN {0} > 99 THEN {0} ELSE printf('%03d', {0}) END"
EVERY_ID = "SELECT group_concat(" + PADDED.format("id") + ") FROM agents"
MEMBERS = (
    "SELECT group_concat(" + PADDED.format("agent_id") + ") FROM memberships WHERE group_name IN (:groups)"
)


def ids_in(connection: sqlite3.Connection) -> Callable[[Scope], Collection[str]]:
    """The ids that a scope holds now: one aggregate query for what is given, one for what is denied.

    One long text costs a fraction of a row for each agent, and a dict is filled faster than a set.
    """

    def ids(query: str, groups: frozenset[str] = NO_IDS) -> list[str]:
        statement = query.replace(":groups", ", ".join("?" * len(groups)))
        text = connection.execute(statement, tuple(groups)).fetchone()[0]
        return text.split(",") if text else []

    def found(scope: Scope) -> Collection[str]:
        held = dict.fromkeys(ids(EVERY_ID) if scope.everything else ids(MEMBERS, scope.groups))
        held.update(dict.fromkeys(scope.values))
        for denied in (ids(MEMBERS, scope.denied_groups), scope.denied_values):
            for agent_id in denied:
                held.pop(agent_id, None)
        return held

    return found


def ours(connection: sqlite3.Connection) -> Check:
    access = AgentAccess(permissions(connection), ids_in(connection))
    return lambda agent_id: access.allows(READ, agent_id)


CASBIN_MODEL = """
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act, eft
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = r.act == p.act && r.sub == p.sub && g(r.obj, p.obj)
"""


def casbin_check(agents: int, number: int) -> Check:
    casbin = importlib.import_module("casbin")

    model = casbin.Model()
    model.load_model_from_text(CASBIN_MODEL)
    enforcer = casbin.Enforcer(model, None)
    for block in policies(number):
        for action in block["actions"]:
            enforcer.add_policy("ada", block["resources"][0].rpartition(":")[2], action, block["effect"])
    links = ([f"{i:03}", name] for i in range(1, agents + 1) for name in ("default", group_of(i, number)))
    enforcer.add_named_grouping_policies("g", list(links))
    return lambda agent_id: bool(enforcer.enforce("ada", agent_id, READ))


def cedar_check(agents: int, number: int) -> Check:
    cedarpy = importlib.import_module("cedarpy")

    said = (
        f'{"permit" if block["effect"] == "allow" else "forbid"} (principal == User::"ada", '
        f'action in [Action::"agent:read", Action::"agent:restart"], '
        f'resource in Group::"{block["resources"][0].rpartition(":")[2]}");'
        for block in policies(number)
    )
    handle = cedarpy.PolicySet.from_str("\n".join(said))

    def entity(agent_id: str) -> list[dict[str, Any]]:
        parents = [{"type": "Group", "id": name} for name in ("default", group_of(int(agent_id), number))]
        return [{"uid": {"type": "Agent", "id": agent_id}, "attrs": {}, "parents": parents}]

    known: dict[str, Any] = {}

    def check(agent_id: str) -> bool:
        if agent_id not in known:
            known[agent_id] = cedarpy.Entities.from_json_str(json.dumps(entity(agent_id)))
        request = {
            "principal": 'User::"ada"',
            "action": 'Action::"agent:read"',
            "resource": f'Agent::"{agent_id}"',
            "context": {},
        }
        return bool(cedarpy.is_authorized(request, handle, known[agent_id]).allowed)

    return check


def vakt_check(agents: int, number: int) -> Check:
    vakt = importlib.import_module("vakt")
    rules = importlib.import_module("vakt.rules")

    storage = vakt.MemoryStorage()
    for k, block in enumerate(policies(number)):
        storage.add(
            vakt.Policy(
                str(k),
                subjects=[rules.Eq("ada")],
                actions=[rules.Eq(action) for action in block["actions"]],
                resources=[{"groups": rules.AnyIn(block["resources"][0].rpartition(":")[2])}],
                effect=vakt.ALLOW_ACCESS if block["effect"] == "allow" else vakt.DENY_ACCESS,
            )
        )
    guard = vakt.Guard(storage, vakt.RulesChecker())

    def check(agent_id: str) -> bool:
        resource = {"id": agent_id, "groups": ["default", group_of(int(agent_id), number)]}
        return bool(guard.is_allowed(vakt.Inquiry(subject="ada", action=READ, resource=resource)))

    return check


PEERS: dict[str, Callable[[int, int], Check]] = {
    "casbin": casbin_check,
    "cedarpy": cedar_check,
    "vakt": vakt_check,
}


def rate(check: Check, ids: Sequence[str], calls: int) -> float:
    """Checks per second over about `calls` calls, warm."""
    turns = max(1, calls // len(ids))
    if turns > 1:
        list(map(check, ids))  # what other engines did since has pushed ours out of the caches
    begin = time.perf_counter()
    for _ in range(turns):
        for agent_id in ids:
            check(agent_id)
    return turns * len(ids) / (time.perf_counter() - begin)


def calls_a_round(check: Check, ids: Sequence[str]) -> int:
    begin = time.perf_counter()
    for agent_id in ids:
        check(agent_id)
    return int(len(ids) * SECONDS_A_ROUND / (time.perf_counter() - begin))


def sample(agents: int, size: int) -> list[str]:
    """Ids all over the fleet."""
    return [f"{number:03}" for number in Random(1).sample(range(1, agents + 1), size)]


@dataclass
class Load:
    """One number of policies: its store, an engine's check each, and what was measured."""

    number: int
    store: Path
    checks: dict[str, Check]
    ids: list[str]
    rates: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    cold: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """One round: every engine in turn, then the ids from cold."""
        for name, check in self.checks.items():
            calls = calls_a_round(check, self.ids[:JUDGED])
            self.rates[name].append(rate(check, self.ids[: max(1, calls)], calls))
        self.cold.append(all_ids_from_cold(self.store))

    def median(self, name: str) -> float:
        return statistics.median(self.rates[name])

    def report(self) -> None:
        """Medians and spreads, and how many times as fast ours is."""
        print(f"\n{self.number} policies, {len(self.cold)} rounds")
        for name, rates in self.rates.items():
            ratio = self.median("mgmtctl") / self.median(name)
            spread = f"({min(rates):12,.0f} to {max(rates):12,.0f})"
            print(f"  {name:8} {self.median(name):12,.0f} checks/s  {spread} {ratio:10,.1f} x")
        middle, least = statistics.median(self.cold) * 1000, min(self.cold) * 1000
        print(f"  all ids a user may read, from cold: {middle:.1f} ms (least {least:.1f})")


def load(agents: int, number: int, folder: Path) -> Load:
    """A store and every engine that is there, warm and of one opinion."""
    path = folder / f"store-{number}.db"
    checks = {"mgmtctl": ours(store(path, agents, number))}
    checks |= {name: make(agents, number) for name, make in PEERS.items() if importlib.util.find_spec(name)}
    ids = sample(agents, min(SAMPLE, agents))
    verdicts = {name: [check(agent_id) for agent_id in ids[:JUDGED]] for name, check in checks.items()}
    if any(found != verdicts["mgmtctl"] for found in verdicts.values()):
        raise SystemExit(f"verdicts differ at {number} policies: {verdicts}")
    return Load(number, path, checks, ids)


def all_ids_from_cold(path: Path) -> float:
    """Seconds to open the store, read and compile the policies, and have every id that may be read."""
    begin = time.perf_counter()
    connection = sqlite3.connect(path)
    ids = AgentAccess(permissions(connection), ids_in(connection)).ids(READ)
    taken = time.perf_counter() - begin
    connection.close()
    if not ids:
        raise SystemExit("nobody may be read")
    return taken


def main() -> None:
    """Measure all numbers of policies round by round; say how flat the rate is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--agents", type=int, default=100_000)
    parser.add_argument("--policies", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--rounds", type=int, default=11)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        loads = [load(arguments.agents, number, Path(name)) for number in arguments.policies]
        gc.freeze()  # what one engine keeps in memory must not slow the collector for another
        for _ in range(arguments.rounds):
            for one in loads:
                one.measure()
    print(f"{arguments.agents} agents, nine in ten readable")
    for one in loads:
        one.report()
    found = [one.median("mgmtctl") for one in loads]
    print(f"\nslowest over fastest number of policies: {min(found) / max(found):.2f}")


if __name__ == "__main__":
    main()
