"""A small fleet with one group of its own, and how to look at it."""

from __future__ import annotations

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


def make_fleet(service: Context) -> Context:
    """Agents 001 of default, 002 of default and web, 003 of web; never synced."""
    service.folders.create_group("web")
    service.folders.write_file("web", "agent.conf", GOOD)
    service.folders.write_file("web", "packs/a.conf", b"a")
    add(service, "default")
    add(service, "default", "web")
    add(service, "web")
    return service
