"""Settings of files and environment: which hold, where they come from, and changing the user's file (D 9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.settings import STORE_SETTINGS
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, operation

if TYPE_CHECKING:
    from mgmtctl.settings import Settings, Value


@operation(needs("manager:read_api_config"), http="GET /manager/api/config")
def list_settings(ctx: Context, settings: Settings) -> list[Value]:
    """List the settings that hold, each with its origin."""
    return values(settings)


@operation(needs("manager:read_api_config"), http="GET /manager/api/config/{name}")
def show_setting(ctx: Context, settings: Settings, name: str) -> Value:
    """Show one setting with its origin. InvalidError for a name that is no setting of files."""
    return value(settings, name)


@operation(needs("manager:update_config"), http="PUT /manager/api/config/{name}")
def set_setting(ctx: Context, settings: Settings, name: str, value: str) -> Value:
    """Set one setting in the user's file; a dry run checks the same and writes nothing."""
    from mgmtctl.settings import write_setting

    _require_file_setting(name)
    return write_setting(settings, name, value, keep=not ctx.dry_run)


def values(settings: Settings) -> list[Value]:
    """Every setting as it holds; also where no service is yet, whose rights could be asked."""
    return settings.values()


def value(settings: Settings, name: str) -> Value:
    """One setting as it holds; QuestionError for a name that is no setting of files."""
    _require_file_setting(name)
    return settings.value(name)


def _require_file_setting(name: str) -> None:
    if name not in STORE_SETTINGS:
        return
    raise QuestionError(
        f"`{name}` lives in the store",
        why="it decides what is allowed, so no file and no variable sets it",
        fix=f"mgmtctl security show {name}, mgmtctl security set {name} VALUE",
    )
