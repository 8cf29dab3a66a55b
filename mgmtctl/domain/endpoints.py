"""Endpoints: the table of methods and paths that clients of the service know (D 9).

Rules: the table is package data and read once, when first asked for; which kind belongs to which action of
a row is said by the action (see `actions`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from mgmtctl.domain.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One row: `actions` it needs and the `resources` (kinds) they are asked on; both empty: open to all."""

    method: str
    path: str
    summary: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    tag: str
    deprecated: bool


@cache
def endpoints() -> tuple[Endpoint, ...]:
    """Every endpoint, in the order of the table."""
    import csv
    from importlib import resources

    text = resources.files("mgmtctl.domain.data").joinpath("endpoints.csv").read_text(encoding="utf-8")
    return tuple(_endpoint(row) for row in csv.DictReader(text.splitlines()))


def endpoint(method: str, path: str) -> Endpoint:
    """The endpoint of exactly this method and path; NotFoundError."""
    found = _by_name().get((method, path))
    if found is None:
        raise NotFoundError("endpoint", f"{method} {path}")
    return found


@cache
def _by_name() -> dict[tuple[str, str], Endpoint]:
    return {(row.method, row.path): row for row in endpoints()}


def _endpoint(row: dict[str, str]) -> Endpoint:
    return Endpoint(
        method=row["method"],
        path=row["path"],
        summary=row["summary"],
        actions=_list(row["actions"]),
        resources=_list(row["resources"]),
        tag=row["tag"],
        deprecated=row["deprecated"] == "yes",
    )


def _list(cell: str) -> tuple[str, ...]:
    return tuple(part for part in cell.split(";") if part)
