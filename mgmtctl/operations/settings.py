"""Settings of files and environment: which hold, where they come from, and changing the user's file (D 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, operation

if TYPE_CHECKING:
    from mgmtctl.settings import Settings, Value


@operation(needs("manager:read_api_config"), http="GET /manager/api/config")
def list_settings(ctx: Context, settings: Settings) -> list[Value]:
    """List the settings that hold, each with its origin."""
    return settings.values()


@operation(needs("manager:read_api_config"), http="GET /manager/api/config/{name}")
def show_setting(ctx: Context, settings: Settings, name: str) -> Value:
    """Show one setting with its origin. InvalidError for a name that is no setting of files."""
    return settings.value(name)


@operation(needs("manager:update_config"), http="PUT /manager/api/config/{name}")
def set_setting(ctx: Context, settings: Settings, name: str, value: str) -> Value:
    """Set one setting in the user's file; a dry run checks the same and writes nothing."""
    from mgmtctl.settings import write_setting

    return write_setting(settings, name, value, keep=not ctx.dry_run)
