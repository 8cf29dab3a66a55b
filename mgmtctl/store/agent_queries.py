"""From what a caller may and wants to see of the agents to SQL: scopes, filters, search and sorting.

Rules: values are parameters only, SQL text comes from the tables here; a filter says the same as `domain.queries` says
in memory (a property test holds them together); a scope goes into the query, agents are never walked in Python (D 2).
"""

# ruff: noqa: S608 - SQL text is put together from constants, values are parameters
from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mgmtctl.domain.agents import (
    ACTIVE,
    DISCONNECTED,
    NEVER_CONNECTED,
    OS_FIELDS,
    PENDING,
    SILENT_CODE,
    SILENT_SECONDS,
)
from mgmtctl.domain.fields import DATE, ID, NAMES, NUMBER, TEXT, VERSION
from mgmtctl.domain.queries import search_term
from mgmtctl.domain.scopes import Scope

if TYPE_CHECKING:
    from mgmtctl.domain.filters import Comparison, Tree
    from mgmtctl.domain.queries import SortKey

# Between the values that a search looks through, so that it finds nothing across two of them.
_SEPARATOR = "char(31)"


class Condition(NamedTuple):
    """Something a WHERE can hold."""

    sql: str
    parameters: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """Where permitted agents come from: tables that hold `agents`, tables enough to count them, and their condition."""

    tables: str
    counted: str
    identifier: str
    condition: Condition


class Column(NamedTuple):
    """A field in SQL: as a reader sees it (NULL when absent), and in the form that operands have."""

    shown: str
    compared: str


# Every group name that occurs, each found by one jump in the index instead of a look at every membership.
_GROUP_NAMES = (
    "WITH RECURSIVE names (name) AS (SELECT min(group_name) FROM memberships UNION ALL"
    " SELECT (SELECT min(group_name) FROM memberships WHERE group_name > name) FROM names WHERE name IS NOT NULL)"
    " SELECT name FROM names"
)
EVERY = Condition("1")
NONE = Condition("0")
_AGENTS = ("agents", "agents", "agents.id")


def source(selection: Sequence[str] | Scope, group: str | None = None) -> Source:
    """The agents of a Scope, or those with these ids; of one group only when it is given."""
    if group is not None:
        if isinstance(selection, Scope) and selection.is_everything:
            return source(Scope(groups=frozenset((group,))))
        found = source(selection)
        inside = Condition("agents.id IN (SELECT agent_id FROM memberships WHERE group_name = ?)", (group,))
        return Source(found.tables, found.tables, found.identifier, all_of((found.condition, inside)))
    if not isinstance(selection, Scope):
        return Source(*_AGENTS, _with_ids(selection))
    if selection.is_nothing:
        return Source(*_AGENTS, NONE)
    denied = _denied(selection)
    if len(selection.groups) == 1 and not (selection.everything or selection.values or selection.grouped):
        # One group: its memberships stand in the order of ids already, so a limit ends the query early.
        tables = "memberships AS reach CROSS JOIN agents ON agents.id = reach.agent_id"
        counted = "memberships AS reach" if denied == EVERY else tables
        inside = Condition("reach.group_name = ?", tuple(selection.groups))
        return Source(tables, counted, "reach.agent_id", all_of((inside, denied)))
    return Source(*_AGENTS, all_of((_allowed(selection), denied)))


def all_of(conditions: Iterable[Condition]) -> Condition:
    """True when every one is; the tree stays shallow, as SQLite bounds its depth."""
    return _joined([found for found in conditions if found != EVERY], "AND") or EVERY


def where(tree: Tree, now: float) -> Condition:
    """A filter as a condition."""
    from mgmtctl.domain.filters import And, Comparison

    if isinstance(tree, Comparison):
        return _names(tree) if tree.kind == NAMES else _comparison(tree, columns(now)[tree.field])
    if isinstance(tree, And):
        return _joined([where(part, now) for part in tree.parts], "AND") or EVERY
    parts, listed = _listed(tree.parts, now)
    return _joined([*listed, *(where(part, now) for part in parts)], "OR") or NONE


def search(text: str, now: float) -> Condition:
    """Contains over all shown values; a leading `-` negates."""
    wanted, without = search_term(text)
    values = [f"replace(agents.groups, ',', {_SEPARATOR})"]
    values += [f"coalesce({column.shown}, '')" for column in columns(now).values()]
    joined = f" || {_SEPARATOR} || ".join(values)
    return Condition(f"{'NOT ' if without else ''}instr(fold({joined}), ?) > 0", (wanted,))


def order(keys: Sequence[SortKey], identifier: str, now: float) -> str:
    """The ORDER BY of a list: absent values last, ties by id."""
    terms = []
    for key in keys:
        value = "nullif(lower(agents.groups), '')" if key.kind == NAMES else columns(now)[key.field].compared
        terms += [f"{value} IS NULL", f"{value}{' DESC' if key.descending else ''}"]
    return ", ".join([*terms, identifier])


def columns(now: float) -> dict[str, Column]:
    """Every field but `group` in SQL at one time; `now` in seconds since 1970."""
    return _columns(int(now))


@functools.lru_cache(maxsize=1)
def _columns(now: int) -> dict[str, Column]:
    silent = f"(agents.last_keep_alive + {SILENT_SECONDS} < {now})"
    gone = "agents.disconnection_time"
    status = (
        f"CASE WHEN {gone} IS NOT NULL THEN '{DISCONNECTED}'"
        f" WHEN agents.last_keep_alive IS NULL AND agents.started IS NULL THEN '{NEVER_CONNECTED}'"
        f" WHEN {silent} THEN '{DISCONNECTED}'"
        f" WHEN agents.started IS NULL THEN '{ACTIVE}' ELSE '{PENDING}' END"
    )
    code = f"CASE WHEN {gone} IS NULL AND {silent} THEN {SILENT_CODE} ELSE agents.status_code END"
    since = f"coalesce({gone}, CASE WHEN {silent} THEN agents.last_keep_alive + {SILENT_SECONDS} END)"
    address = "coalesce(agents.ip, agents.register_ip)"
    return {
        "id": Column("printf('%03d', agents.id)", "agents.id"),
        "name": Column("agents.name", "agents.name_key"),
        "ip": Column(address, f"lower({address})"),
        "registerIP": Column("agents.register_ip", "lower(agents.register_ip)"),
        "status": Column(status, status),
        "status_code": Column(f"CAST({code} AS TEXT)", code),
        "group_config_status": Column("agents.group_config_status", "agents.group_config_status"),
        "mergedSum": Column("agents.merged_sum", "lower(agents.merged_sum)"),
        "configSum": Column("agents.config_sum", "lower(agents.config_sum)"),
        **{f"os.{name}": _reported(f"agents.os_{name}", name) for name in OS_FIELDS},
        "version": _reported("agents.version", "version"),
        "manager": _reported("agents.manager"),
        "node_name": _reported("agents.node_name"),
        "dateAdd": _date("agents.date_add"),
        "lastKeepAlive": _date("agents.last_keep_alive"),
        "disconnection_time": _date(since),
        "folder": _reported("agents.folder"),
    }


def id_list(ids: Iterable[str | int]) -> str:
    """Ids as one parameter for json_each."""
    return json.dumps([int(number) for number in ids])


def _reported(column: str, name: str = "") -> Column:
    """Free text, which may hold any letter, so that SQL's own ASCII lower() would not do."""
    function = "version_key" if name in ("version", "major", "minor") else "fold"
    return Column(column, f"{function}({column})")


def _date(column: str) -> Column:
    return Column(f"strftime('%Y-%m-%dT%H:%M:%SZ', {column}, 'unixepoch')", column)


def _with_ids(ids: Iterable[str]) -> Condition:
    return Condition("agents.id IN (SELECT value FROM json_each(?))", (id_list(ids),))


def _allowed(scope: Scope) -> Condition:
    if scope.everything:
        return EVERY
    found = []
    if scope.values:
        found.append(_with_ids(scope.values))
    if scope.grouped:
        found.append(Condition("agents.groups <> ''"))
    elif scope.groups:
        inside = f"SELECT agent_id FROM memberships WHERE group_name IN ({_marks(scope.groups)})"
        found.append(Condition(f"agents.id IN ({inside})", tuple(sorted(scope.groups))))
    return _joined(found, "OR") or NONE


def _denied(scope: Scope) -> Condition:
    found = []
    if scope.denied_values:
        inside = _with_ids(scope.denied_values)
        found.append(Condition(f"NOT {inside.sql}", inside.parameters))
    if scope.denied_grouped:
        found.append(Condition("agents.groups = ''"))
    elif scope.denied_groups:
        inside_sql = (
            "SELECT 1 FROM memberships AS denied WHERE denied.agent_id = agents.id"
            f" AND denied.group_name IN ({_marks(scope.denied_groups)})"
        )
        found.append(Condition(f"NOT EXISTS ({inside_sql})", tuple(sorted(scope.denied_groups))))
    return all_of(found)


def _marks(values: Iterable[object]) -> str:
    return ",".join("?" for _ in values)


def _joined(conditions: Sequence[Condition], word: str) -> Condition | None:
    """All conditions joined by AND or OR as a balanced tree; None for none."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    middle = len(conditions) // 2
    left, right = _joined(conditions[:middle], word), _joined(conditions[middle:], word)
    if left is None or right is None:
        return left or right
    return Condition(f"({left.sql} {word} {right.sql})", left.parameters + right.parameters)


def _listed(parts: Sequence[Tree], now: float) -> tuple[list[Tree], list[Condition]]:
    """Alternatives `a=1,a=2` as one IN for each field, as SQLite plans thousands of ORs slowly; and the other parts."""
    from mgmtctl.domain.filters import Comparison

    others: list[Tree] = []
    values: dict[str, list[Any]] = {}
    for part in parts:
        if isinstance(part, Comparison) and part.kind in (ID, TEXT) and _is_plain_equality(part):
            values.setdefault(part.field, []).append(part.operand)
        else:
            others.append(part)
    found = columns(now)
    return others, [
        Condition(f"({found[field].compared}) IN ({_marks(operands)})", tuple(operands))
        for field, operands in values.items()
    ]


def _is_plain_equality(tree: Comparison) -> bool:
    return tree.operator == "=" and tree.operand is not None


def _names(tree: Comparison) -> Condition:
    """`group`: any of the agent's groups counts; the names are ASCII by rule."""
    if tree.operand is None:
        return Condition(f"agents.groups {'=' if tree.operator == '=' else '<>'} ''")
    test = "instr(lower(name), ?) > 0" if tree.operator == "~" else "lower(name) = ?"
    word = "NOT IN" if tree.operator == "!=" else "IN"
    members = f"SELECT agent_id FROM memberships WHERE group_name IN ({_GROUP_NAMES} WHERE {test})"
    return Condition(f"agents.id {word} ({members})", (tree.operand,))


def _comparison(tree: Comparison, column: Column) -> Condition:
    operand, value = tree.operand, column.compared
    if operand is None:
        return Condition(f"({value}) IS {'' if tree.operator == '=' else 'NOT '}NULL")
    if tree.operator == "~":
        return Condition(f"instr({_TEXT_OF[tree.kind](column)}, ?) > 0", (operand,))
    if isinstance(operand, tuple):
        return _within(tree.operator, value, operand)
    operator = {"=": "=", "!=": "IS NOT"}.get(tree.operator, tree.operator)
    return Condition(f"({value}) {operator} ?", (operand,))


def _within(operator: str, value: str, span: tuple[int, int]) -> Condition:
    inside = f"coalesce(({value}) >= ? AND ({value}) < ?, 0)"
    return {
        "=": Condition(inside, span),
        "!=": Condition(f"NOT {inside}", span),
        "<": Condition(f"({value}) < ?", span[:1]),
        ">": Condition(f"({value}) >= ?", span[1:]),
    }[operator]


# What `~` looks into, by kind: text as shown, folded.
_TEXT_OF: dict[str, Callable[[Column], str]] = {
    TEXT: lambda column: column.compared,
    VERSION: lambda column: f"fold({column.shown})",
    ID: lambda column: column.shown,
    NUMBER: lambda column: column.shown,
    DATE: lambda column: f"lower({column.shown})",
}
