"""What another document of one policy would mean for many users: `mgmtctl policies impact` as a whole command.

    python bench/impact.py [--users 1000] [--agents 10000]

Uses the `mgmtctl` that is installed beside this Python. Two worlds: every user has the one role that has the policy, or
each has a role of his own, which has the policy and one of its own (nothing can be worked out twice).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from timing import report, side_by_side

from mgmtctl import bootstrap
from mgmtctl.domain.policies import Block, parse_policy
from mgmtctl.operations import login, setup
from mgmtctl.settings import Settings

PASSWORD = "Bench-pass1!"
WIDER = "actions: [agent:read, agent:restart]\nresources: [agent:group:group-1, agent:group:group-2]\neffect: allow\n"
GROUPS = 100


def main() -> None:
    """Make two services, time the command on them, print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--agents", type=int, default=10_000)
    arguments = parser.parse_args()
    mgmtctl = str(Path(sys.executable).parent / "mgmtctl")
    with tempfile.TemporaryDirectory() as name:
        document = Path(name, "wider.yaml")
        document.write_text(WIDER)
        for title, own in (("one role for all", False), ("a role for each", True)):
            home = Path(name, title.replace(" ", "-"))
            token = _service(home, arguments.users, arguments.agents, own=own)
            print(f"# {arguments.users} users, {arguments.agents} agents, {title}")
            impact = [mgmtctl, "policies", "impact", "-f", str(document), "shared", "-q"]
            report(
                side_by_side(
                    {
                        "mgmtctl whoami": [mgmtctl, "whoami"],
                        "policies impact": impact,
                        "policies impact -o json": [*impact, "-o", "json"],
                        "policies set -n": [
                            mgmtctl,
                            "policies",
                            "set",
                            "shared",
                            "-f",
                            str(document),
                            "-n",
                            "-q",
                        ],
                        "security set rbac_mode -n": [
                            mgmtctl,
                            "security",
                            "set",
                            "rbac_mode",
                            "black",
                            "-n",
                            "-q",
                        ],
                    },
                    {"MGMTCTL_HOME": str(home), "MGMTCTL_STATE": name, "MGMTCTL_TOKEN": token},
                ),
                "mgmtctl whoami",
            )


def _service(home: Path, users: int, agents: int, *, own: bool) -> str:
    """A data folder with these users and agents, and a token of its administrator."""
    settings = Settings({"MGMTCTL_HOME": str(home)})
    with bootstrap.create_service(settings) as ctx:
        setup.initialise(ctx, PASSWORD)
    ctx = bootstrap.open_context(settings)
    store = ctx.store
    with store.atomic():
        _add_agents(store.database, agents)
        shared = store.policies.add("shared", _blocks("group-1"))
        common = store.roles.add("common")
        store.roles.link_policy(common, shared)
        for number in range(users):
            user, role = store.users.add(f"user-{number}", "no hash"), common
            if own:
                role = store.roles.add(f"role-{number}")
                policy = store.policies.add(f"policy-{number}", _blocks(f"group-{number % GROUPS}"))
                store.roles.link_policy(role, shared)
                store.roles.link_policy(role, policy)
            store.users.link_role(user, role)
    token = login.log_in(ctx, "admin", PASSWORD).token
    store.close()
    return token


def _blocks(group: str) -> Sequence[Block]:
    document = {"actions": ["agent:read"], "resources": [f"agent:group:{group}"], "effect": "allow"}
    return parse_policy(document, group)


def _add_agents(database: object, count: int) -> None:
    rows = [(number, f"host-{number}", f"group-{number % GROUPS}") for number in range(1, count + 1)]
    insert = "INSERT INTO agents (id, name, name_key, key, date_add, groups) VALUES (?1, ?2, ?2, '', 0, ?3)"
    database.executemany(insert, rows)  # type: ignore[attr-defined]
    database.executemany(  # type: ignore[attr-defined]
        "INSERT INTO memberships VALUES (?1, ?2, 0)", [(group, number) for number, _, group in rows]
    )


if __name__ == "__main__":
    main()
