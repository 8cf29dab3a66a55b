"""A small fleet with one group of its own, and how to look at it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from mgmtctl.operations import sync
from mgmtctl.operations.context import Context
from mgmtctl.store.agents import NewAgent

GOOD = (
    b"<agent_config>\n  <client_buffer>\n    <disabled>no</disabled>\n  </client_buffer>\n</agent_config>\n"
)
BAD = b"<agent_config>\n  <no_such_section/>\n</agent_config>\n"


def add(ctx: Context, *groups: str, folder: str | None = None) -> str:
    """A new agent of these groups."""
    with ctx.store.atomic():
        number = ctx.store.agents.claim(1)
        name = f"agent{number}"
        ctx.store.agents.add([NewAgent(number, name, "any", "k" * 64, ",".join(groups), folder)], 0)
    return f"{number:03}"


def shared(ctx: Context, agent: str) -> Path:
    return ctx.folders.agents / agent / "shared"


def status(ctx: Context, agent: str) -> str:
    return str(ctx.store.database.value("SELECT group_config_status FROM agents WHERE id = ?", (int(agent),)))


def stage(ctx: Context, agent: str) -> str:
    return sync.explain_sync(ctx, agent).where.stage.name


def settle(ctx: Context) -> None:
    """Sync, and wait until what was written is old enough for its look to be trusted."""
    sync.run_sync(ctx)
    time.sleep(0.05)
    sync.run_sync(ctx)
    assert ctx.store.database.value("SELECT min(length(look)) FROM sync_state") > 0


def views(ctx: Context, agent: str) -> tuple[str, int, int, int]:
    """The stage of an agent, and how many changes explain, plan and a dry run show for it."""
    (entry,) = sync.sync_status(ctx, [agent]).affected
    explained = sync.explain_sync(ctx, agent)
    assert explained.where == entry
    ctx.store.dry_run = True
    dry = sync.run_sync(replace(ctx, dry_run=True), [agent])
    ctx.store.dry_run = False
    counted = [
        sum(len(found.changes) for found in report.affected) for report in (sync.plan_sync(ctx, [agent]), dry)
    ]
    return entry.stage.name, len(explained.changes), counted[0], counted[1]


def make_fleet(service: Context) -> Context:
    """Agents 001 of default, 002 of default and web, 003 of web; never synced."""
    service.folders.create_group("web")
    service.folders.write_file("web", "agent.conf", GOOD)
    service.folders.write_file("web", "packs/a.conf", b"a")
    add(service, "default")
    add(service, "default", "web")
    add(service, "web")
    return service
