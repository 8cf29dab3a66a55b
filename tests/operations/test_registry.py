"""Facts about the registry: what a wrong declaration says, and that nothing is unguarded."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.domain.endpoints import endpoints
from mgmtctl.domain.errors import UnavailableError
from mgmtctl.logs import RequestLog
from mgmtctl.operations import NOUNS, roles
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import OPERATIONS, Selection, each, needs, one, operation
from mgmtctl.operations.results import Items


def _undocumented(ctx: Context, group_id: str) -> None: ...


def _documented(ctx: Context, group_id: str) -> None:
    """Do it."""


def _many(ctx: Context, groups_list: Selection = None) -> Items[str]:
    """Do it to many."""
    return Items([])


def _all_modules() -> list[Any]:
    return [importlib.import_module(f"mgmtctl.operations.{noun}") for noun in NOUNS]


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        pytest.param(
            lambda: operation(needs("group:fly", one("group:id", "group_id")), http="PUT /x")(_documented),
            "unknown action",
            id="an action outside the vocabulary",
        ),
        pytest.param(
            lambda: operation(needs("group:read", one("group:id", "name")), http="PUT /x")(_documented),
            "no parameter `name`",
            id="a target that no parameter names",
        ),
        pytest.param(
            lambda: operation(needs("group:read", one("agent:id", "group_id")), http="PUT /x")(_documented),
            "never asked on",
            id="an action on a kind that it is never asked on",
        ),
        pytest.param(
            lambda: operation(needs("group:read", one("group:id", "group_id")), http="PUT /x/{other}")(
                _documented
            ),
            "no such parameter",
            id="a path parameter that the function lacks",
        ),
        pytest.param(
            lambda: operation(needs("group:read", each("group:id", "group_id")), http="PUT /x")(_documented),
            "Items",
            id="each without items to report failures in",
        ),
        pytest.param(lambda: operation(http="PUT /x")(_documented), "needs", id="no need at all"),
        pytest.param(
            lambda: operation(needs("group:create"), http="PUT /x", open_to="session")(_documented),
            "not both",
            id="needs and open_to",
        ),
        pytest.param(
            lambda: operation(http="PUT /x", open_to="everybody")(_documented),
            "one of",
            id="open to nobody known",
        ),
        pytest.param(
            lambda: operation(needs("group:create"), http="PUT /x")(_undocumented),
            "docstring",
            id="no docstring",
        ),
    ],
)
def test_a_wrong_declaration_is_an_error_at_import(declare: Callable[[], object], said: str) -> None:
    before = set(OPERATIONS)
    with pytest.raises(TypeError, match=said):
        declare()
    assert set(OPERATIONS) == before


def test_an_endpoint_belongs_to_one_operation() -> None:
    _all_modules()
    taken = next(found for found in OPERATIONS.values() if "{" not in found.path)
    with pytest.raises(TypeError, match="belongs to"):
        operation(open_to="session", http=f"{taken.method} {taken.path}")(_many)


def test_every_public_function_that_takes_a_context_is_an_operation() -> None:
    unguarded = [
        f"{module.__name__}.{name}"
        for module in _all_modules()
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__
        and not name.startswith("_")
        and not hasattr(function, "operation")
        and next(iter(inspect.signature(function).parameters.values()), None) is not None
        and "Context" in str(next(iter(inspect.signature(function).parameters.values())).annotation)
    ]
    assert unguarded == []


# What an operation needs beyond its row, and why.
BEYOND_THE_ROW = {
    "agents.create_agent": {"group:modify_assignments"},  # D 5: creating an agent in a group
}


def test_an_operation_with_a_row_needs_what_its_row_says() -> None:
    """D 9: the endpoint table and the declaration cannot disagree about actions."""
    _all_modules()
    rows = {(row.method, row.path): row for row in endpoints()}
    wrong = []
    for registered in OPERATIONS.values():
        row = rows.get((registered.method, registered.path))
        if row is None:
            continue
        declared = {need.action for need in registered.needs}
        if declared != set(row.actions) | BEYOND_THE_ROW.get(registered.name, set()):
            wrong.append((registered.name, sorted(declared), row.actions))
    assert wrong == []


def test_nothing_is_done_when_the_log_cannot_take_a_line(service: Context) -> None:
    log = service.log._folder / "requests.log"
    log.unlink()
    log.mkdir()
    with pytest.raises(UnavailableError):
        roles.create_role(service, "unlogged")
    assert service.store.roles.find("unlogged") is None


def test_what_was_done_before_the_log_failed_is_told_with_the_result(
    service: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: RequestLog, path: Path, line: bytes) -> None:
        raise UnavailableError("no space left on device", "io")

    monkeypatch.setattr(RequestLog, "_append", full)
    assert roles.create_role(service, "made").name == "made"
    assert service.warnings == ["the request log has no line of this call: no space left on device"]
