"""Filters, search and sorting of agents in SQL say what they say in memory."""

# ruff: noqa: S608

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.agents import FIELDS, OS_FIELDS, Reports
from mgmtctl.domain.fields import DATE, ID, NAMES, NUMBER, TEXT, VERSION, OneOf
from mgmtctl.domain.queries import ListQuery, apply_query
from mgmtctl.domain.scopes import EVERYTHING, Scope
from mgmtctl.store.agents import AgentStore, NewAgent
from mgmtctl.store.database import Database

NOW = 1_700_000_000
COLUMNS = (
    "id", "name", "name_key", "ip", "register_ip", "key", "folder", "status_code", "started", "date_add",
    "last_keep_alive", "disconnection_time", "groups", "group_config_status", "merged_sum", "config_sum",
    *(f"os_{name}" for name in OS_FIELDS), "version", "manager", "node_name",
)  # fmt: skip

texts = st.sampled_from(["Ubuntu", "ubuntu 22", "Ä", "ä", "10.0.19045", "4.9", "v4.10", "4.9.0-rc1", "x", ""])
times = st.none() | st.sampled_from([NOW - 5, NOW - 600, NOW - 601, NOW - 86_400, 0])
rows = st.fixed_dictionaries(
    {
        "ip": st.none() | st.sampled_from(["10.0.0.7", "2001:DB8::1"]),
        "register_ip": st.sampled_from(["any", "10.0.0.0/8"]),
        "status_code": st.integers(0, 5),
        "started": times,
        "date_add": st.sampled_from([0, NOW - 5, NOW - 86_400]),
        "last_keep_alive": times,
        "disconnection_time": times,
        "groups": st.lists(st.sampled_from(["web", "Web", "pci", "db"]), max_size=3, unique=True).map(
            ",".join
        ),
        "group_config_status": st.sampled_from(["synced", "not synced"]),
        "merged_sum": st.none() | st.sampled_from(["AB" * 16, "x"]),
        "config_sum": st.none() | st.just("ab" * 16),
        **{f"os_{name}": st.none() | texts for name in OS_FIELDS},
        "version": st.none() | texts,
        "manager": st.none() | texts,
        "node_name": texts,
    }
)


def value_of(kind: str) -> st.SearchStrategy[str]:
    if isinstance(kind, OneOf):
        return st.sampled_from([f'"{value}"' for value in kind.values])
    quoted = texts.map(lambda text: f'"{text}"')
    if kind in (ID, NUMBER):
        return st.integers(-1, 6).map(str)
    if kind == DATE:
        return st.sampled_from(["1d", "5s", "600s", "2023-11-14", "1970-01-01T00:00:00Z"])
    return st.sampled_from(["web", "WEB", "pci"]) if kind == NAMES else quoted


def comparison_of(field: str) -> st.SearchStrategy[str]:
    kind = FIELDS[field]
    operators = ["=", "!=", "~"] if kind == NAMES else ["=", "!=", "<", ">", "~"]
    compared = st.builds("{}{}{}".format, st.just(field), st.sampled_from(operators), value_of(kind))
    special = st.sampled_from([f"{field}=null", f"{field}!=null", f"{field}~0", f'{field}~"a"'])
    return compared | special


comparisons = st.sampled_from(sorted(FIELDS)).flatmap(comparison_of)
filters = st.recursive(
    comparisons,
    lambda inner: st.lists(inner, min_size=2, max_size=3).flatmap(
        lambda parts: st.sampled_from([f"({mark.join(parts)})" for mark in ";,"])
    ),
    max_leaves=5,
)
searches = st.none() | st.sampled_from(
    ["ubuntu", "-ubuntu", "Ä", "00", "2023", "web", "-", "db8", "synced", "disconn"]
)
sorts = st.none() | st.lists(
    st.builds("{}{}".format, st.sampled_from(["", "-"]), st.sampled_from(sorted(FIELDS))),
    min_size=1,
    max_size=2,
).map(",".join)


class World:
    """A store that is filled anew for each example."""

    def __init__(self) -> None:
        self.database = Database(":memory:")
        self.agents = AgentStore(self.database)

    def fill(self, found: list[dict[str, Any]]) -> None:
        self.database.execute("DELETE FROM agents")
        for number, row in enumerate(found, 1):
            name = f"Agent-{number}"
            row = {**row, "id": number, "name": name, "name_key": name.lower(), "key": "k", "folder": None}
            marks = ",".join("?" * len(COLUMNS))
            self.database.execute(
                f"INSERT INTO agents ({','.join(COLUMNS)}) VALUES ({marks})",
                [row[name] for name in COLUMNS],
            )
            for position, group in enumerate(row["groups"].split(",") if row["groups"] else ()):
                self.database.execute("INSERT INTO memberships VALUES (?, ?, ?)", (group, number, position))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    made = World()
    yield made
    made.database.close()


def fixed_rows() -> list[dict[str, Any]]:
    """Agents in which every field is present, absent, equal in another letter case, and on both sides of a value."""
    found = []
    for number, text in enumerate(
        ["Ubuntu", "ubuntu 22", "Ä", "ä", "10.0.19045", "4.9", "v4.10", "4.9.0-rc1", "", None]
    ):
        time = None if text is None else NOW - 600 - number
        found.append(
            {
                "ip": None if number % 2 else "2001:DB8::1",
                "register_ip": "any" if number % 3 else "10.0.0.0/8",
                "status_code": number % 6,
                "started": time if number % 4 == 0 else None,
                "date_add": NOW - number * 86_400,
                "last_keep_alive": None if number == 7 else time,
                "disconnection_time": time if number == 2 else None,
                "groups": ["", "web", "Web", "web,pci", "pci,Web"][number % 5],
                "group_config_status": "synced" if number % 2 else "not synced",
                "merged_sum": None if number % 3 else "AB" * 16,
                "config_sum": "ab" * 16 if number % 3 else None,
                **{f"os_{name}": text for name in OS_FIELDS},
                "version": text,
                "manager": text,
                "node_name": text or "unknown",
            }
        )
    return found


VALUES = {
    TEXT: ['"UBUNTU"', '"Ä"', '"ä"', '"4.9"', "any", "active", "synced", '"not synced"', '""', "abab"],
    VERSION: ["4.9", "4.9.0", "4.10", "10", '"4.9-rc1"', '"ä"', '""'],
    NAMES: ["WEB", "pci", "e", "none"],
    ID: ["3", "03", "0"],
    NUMBER: ["3", "4", "-1"],
    DATE: ["1d", "600s", "607s", "2023-11-14", "2023-11-10", "2023-11-14T22:03:20Z"],
}


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_every_field_and_operator_says_the_same_in_sql_and_in_memory(world: World, field: str) -> None:
    world.fill(fixed_rows())
    everything, _ = world.agents.list(EVERYTHING, ListQuery(), NOW)
    kind = FIELDS[field]
    wheres = [f"{field}{operator}null" for operator in ("=", "!=")]
    for operator in ("=", "!=", "~") if kind == NAMES else ("=", "!=", "<", ">", "~"):
        values = [f'"{value.upper()}"' for value in kind.values] if isinstance(kind, OneOf) else VALUES[kind]
        wheres += [f"{field}{operator}{value}" for value in values]
    for where in wheres:
        query = ListQuery(where=where)
        assert world.agents.list(EVERYTHING, query, NOW) == apply_query(everything, query, FIELDS, NOW), where
    for sign in ("", "-"):
        query = ListQuery(sort=sign + field)
        assert world.agents.list(EVERYTHING, query, NOW) == apply_query(everything, query, FIELDS, NOW), sign


@settings(max_examples=120)
@given(st.lists(rows, min_size=1, max_size=5), filters, searches, sorts, st.none() | st.integers(1, 4))
def test_sql_and_memory_agree(
    world: World,
    found: list[dict[str, Any]],
    where: str,
    search: str | None,
    sort: str | None,
    limit: int | None,
) -> None:
    world.fill(found)
    everything, _ = world.agents.list(EVERYTHING, ListQuery(), NOW)
    query = ListQuery(where=where, search=search, sort=sort, limit=limit)
    expected = apply_query(everything, query, FIELDS, NOW)
    assert world.agents.list(EVERYTHING, query, NOW) == expected


@settings(max_examples=120)
@given(st.lists(rows, min_size=1, max_size=4), comparisons)
def test_unequal_is_the_complement_in_sql_too(
    world: World, found: list[dict[str, Any]], comparison: str
) -> None:
    if "!=" not in comparison:
        return
    world.fill(found)
    equal, _ = world.agents.list(EVERYTHING, ListQuery(where=comparison.replace("!=", "=")), NOW)
    unequal, _ = world.agents.list(EVERYTHING, ListQuery(where=comparison), NOW)
    assert sorted([*(agent.id for agent in equal), *(agent.id for agent in unequal)]) == [
        f"{number:03}" for number in range(1, len(found) + 1)
    ]


scopes = st.builds(
    Scope,
    everything=st.booleans(),
    values=st.frozensets(st.sampled_from(["001", "002", "009"])),
    groups=st.frozensets(st.sampled_from(["web", "pci", "db"]), max_size=2),
    grouped=st.booleans(),
    denied_values=st.frozensets(st.sampled_from(["001", "003"])),
    denied_groups=st.frozensets(st.sampled_from(["web", "db"])),
    denied_grouped=st.booleans(),
)


@settings(max_examples=120)
@given(st.lists(rows, min_size=1, max_size=5), scopes)
def test_scope_in_sql_permits_what_the_scope_covers(
    world: World, found: list[dict[str, Any]], scope: Scope
) -> None:
    world.fill(found)
    everything, _ = world.agents.list(EVERYTHING, ListQuery(), NOW)
    expected = [agent.id for agent in everything if scope.covers(agent.id, agent.groups)]
    assert world.agents.ids(scope) == expected
    assert [agent.id for agent in world.agents.list(scope, ListQuery(), NOW)[0]] == expected


@settings(max_examples=100)
@given(st.lists(rows, min_size=1, max_size=4))
def test_status_in_sql_is_the_status_that_is_shown(world: World, found: list[dict[str, Any]]) -> None:
    world.fill(found)
    for number, row in enumerate(found, 1):
        state = Reports(
            row["last_keep_alive"], row["started"], row["disconnection_time"], row["status_code"]
        ).at(NOW)
        where = f"id={number};status={state.status};status_code={state.code}"
        assert world.agents.list(EVERYTHING, ListQuery(where=where), NOW)[1] == 1


def test_long_filter_does_not_reach_the_depth_limit_of_sqlite(world: World) -> None:
    world.fill([])
    world.agents.add([NewAgent(7, "web-1", "any", "k", "default")], NOW)
    where = ",".join(f"id={number}" for number in range(5000))
    assert world.agents.list(EVERYTHING, ListQuery(where=where), NOW)[1] == 1


def test_key_is_no_field(world: World) -> None:
    from mgmtctl.domain.errors import QuestionError

    for query in (ListQuery(where="key~a"), ListQuery(sort="key"), ListQuery(select=("key",))):
        with pytest.raises(QuestionError):
            world.agents.list(EVERYTHING, query, NOW)


def test_search_does_not_look_at_the_key(world: World) -> None:
    world.fill([])
    world.agents.add([NewAgent(1, "web-1", "any", "feed" * 16, "default")], NOW)
    assert world.agents.list(EVERYTHING, ListQuery(search="feed"), NOW) == ([], 0)


def test_version_fields_compare_as_versions() -> None:
    assert {name for name, kind in FIELDS.items() if kind == VERSION} == {
        "version",
        "os.version",
        "os.major",
        "os.minor",
    }
