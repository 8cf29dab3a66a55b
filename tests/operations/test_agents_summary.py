"""Facts about the summary of the fleet: it counts what the caller may read, and never refuses."""

from __future__ import annotations

from mgmtctl.operations import agents
from mgmtctl.operations.context import Context
from mgmtctl.store.agents import NewAgent
from tests.operations.access_world import acting, add_role, add_user, allow


def _fleet(ctx: Context) -> None:
    names = (("web-01", "web"), ("web-02", "web"), ("db-01", "db"))
    with ctx.atomic():
        ctx.store.agents.add(
            [NewAgent(n, name, "any", "0" * 64, group) for n, (name, group) in enumerate(names, 1)], now=0
        )
        ctx.store.database.execute(
            "UPDATE agents SET last_keep_alive = ?, group_config_status = 'synced' WHERE id = 1",
            (int(ctx.now()),),
        )


def test_agents_are_counted_by_connection_and_configuration(service: Context) -> None:
    _fleet(service)
    assert agents.summarise(service).affected[0].record() == {
        "connection": {"active": 1, "pending": 0, "disconnected": 0, "never_connected": 2, "total": 3},
        "configuration": {"synced": 1, "not_synced": 2, "total": 3},
    }


def test_hidden_agents_are_not_counted_and_nobody_is_refused(service: Context) -> None:
    _fleet(service)
    web = acting(
        service, add_user(service, "ada", add_role(service, "web", allow("agent:read", "agent:group:web")))
    )
    nothing = acting(service, add_user(service, "bob"))
    assert agents.summarise(web).affected[0].connection["total"] == 2
    assert agents.summarise(nothing).affected[0].connection["total"] == 0
