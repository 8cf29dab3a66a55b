"""Agents in a real store: ids, uniqueness, groups in two places, and what a change of groups does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from mgmtctl.domain.errors import ConflictError, InvalidError, NotFoundError
from mgmtctl.domain.scopes import EVERYTHING, NOTHING, Scope
from mgmtctl.store.agents import AgentStore, NewAgent
from mgmtctl.store.database import Database

NOW = 1_700_000_000
KEY = "ab" * 32


@pytest.fixture
def database() -> Iterator[Database]:
    opened = Database(":memory:")
    yield opened
    opened.close()


@pytest.fixture
def agents(database: Database) -> AgentStore:
    return AgentStore(database)


def add(agents: AgentStore, name: str, groups: str = "default", number: int | None = None) -> int:
    if number is None:
        number = agents.claim(1)
    else:
        agents.claim(0, number)
    agents.add([NewAgent(number, name, "any", KEY, groups)], NOW)
    return number


def positions(database: Database) -> list[tuple[object, ...]]:
    return database.rows("SELECT agent_id, group_name FROM memberships ORDER BY agent_id, position")


def test_first_id_is_one_and_ids_never_come_back(agents: AgentStore) -> None:
    assert [add(agents, f"web-{number}") for number in range(3)] == [1, 2, 3]
    agents.delete(["003"])
    assert add(agents, "web-9") == 4


def test_explicit_id_moves_the_counter_only_upwards(agents: AgentStore) -> None:
    add(agents, "high", number=500)
    add(agents, "low", number=7)
    assert add(agents, "next") == 501


def test_many_ids_are_claimed_above_what_is_given_explicitly(agents: AgentStore) -> None:
    assert agents.claim(3) == 1
    assert agents.claim(2, 10) == 11
    assert agents.claim(1, 5) == 13


def test_name_is_found_in_any_letter_case_and_only_by_ascii(agents: AgentStore) -> None:
    number = add(agents, "Bank")
    assert agents.find("bANK") == number
    assert agents.find("Ban\u212a") is None
    assert agents.find("\udcff") is None


@pytest.mark.parametrize(
    ("name", "number", "code"),
    [pytest.param("WEB-1", 9, 1705, id="name"), pytest.param("web-2", 1, 1708, id="id")],
)
def test_name_and_id_are_unique(agents: AgentStore, name: str, number: int, code: int) -> None:
    add(agents, "web-1", number=1)
    with pytest.raises(ConflictError) as caught:
        add(agents, name, number=number)
    assert caught.value.code == code


def test_folder_is_unique(agents: AgentStore) -> None:
    agents.add([NewAgent(1, "aa", "any", KEY, "default", "/srv/a")], NOW)
    with pytest.raises(ConflictError, match="folder"):
        agents.add([NewAgent(2, "bb", "any", KEY, "default", "/srv/a")], NOW)


def test_manager_has_no_agent_record(agents: AgentStore) -> None:
    with pytest.raises(InvalidError) as caught:
        agents.exists(0)
    assert caught.value.code == 1703


def test_agent_that_does_not_exist(agents: AgentStore) -> None:
    assert not agents.exists(7)
    assert agents.groups_of(7) == []
    for ask in (lambda: agents.get(7, NOW), lambda: agents.key(7)):
        with pytest.raises(NotFoundError) as caught:
            ask()
        assert (caught.value.code, caught.value.name) == (1701, "007")


def test_new_agent_is_not_synced_and_was_never_connected(agents: AgentStore) -> None:
    agent = agents.get(add(agents, "web-1", "web,pci"), NOW)
    assert (agent.groups, agent.group_config_status) == (("web", "pci"), "not synced")
    assert (agent.state.status, agent.date_add) == ("never_connected", NOW)
    assert agents.key(1) == KEY


def test_groups_stand_in_order_in_both_places(agents: AgentStore, database: Database) -> None:
    add(agents, "web-1", "web,default,pci")
    assert agents.groups_of(1) == ["web", "default", "pci"]
    assert positions(database) == [(1, "web"), (1, "default"), (1, "pci")]


def test_change_of_groups_makes_not_synced_and_leaves_others_alone(
    agents: AgentStore, database: Database
) -> None:
    for name in ("aa", "bb", "cc"):
        add(agents, name)
    database.execute("UPDATE agents SET group_config_status = 'synced'")
    agents.set_groups(["001", "003"], ["web", "default"])
    assert positions(database) == [(1, "web"), (1, "default"), (2, "default"), (3, "web"), (3, "default")]
    found = [agents.get(number, NOW) for number in (1, 2, 3)]
    assert [agent.group_config_status for agent in found] == ["not synced", "synced", "not synced"]


def test_leaving_a_group_that_goes_away_falls_back_to_default(agents: AgentStore, database: Database) -> None:
    for name, groups in (
        ("aa", "web"),
        ("bb", "web,pci"),
        ("cc", "pci,web,default"),
        ("dd", "pci"),
        ("ee", "default"),
    ):
        add(agents, name, groups)
    database.execute("UPDATE agents SET group_config_status = 'synced'")
    agents.leave_group("web")
    assert [agents.groups_of(number) for number in range(1, 6)] == [
        ["default"], ["pci"], ["pci", "default"], ["pci"], ["default"],
    ]  # fmt: skip
    assert positions(database) == [
        (1, "default"),
        (2, "pci"),
        (3, "pci"),
        (3, "default"),
        (4, "pci"),
        (5, "default"),
    ]
    states = [agents.get(number, NOW).group_config_status for number in range(1, 6)]
    assert states == ["not synced"] * 3 + ["synced"] * 2


@pytest.mark.parametrize(
    ("permitted", "alone"),
    [
        pytest.param(EVERYTHING, 2, id="everything"),
        pytest.param(Scope(values=frozenset({"001", "003"})), 1, id="some ids"),
        pytest.param(Scope(groups=frozenset({"pci"})), 0, id="another group"),
        pytest.param(NOTHING, 0, id="nothing"),
    ],
)
def test_agents_without_another_group_are_counted_within_a_scope(
    agents: AgentStore, permitted: Scope, alone: int
) -> None:
    for number, groups in enumerate(("web", "web", "web,pci", "default", "web-2")):
        add(agents, f"agent-{number}", groups)
    assert agents.alone_in("web", permitted) == alone


def test_group_whose_name_begins_like_another_is_left_alone(agents: AgentStore) -> None:
    add(agents, "aa", "web,web2")
    agents.leave_group("web")
    assert agents.groups_of(1) == ["web2"]


def test_deleting_takes_memberships_with_it(agents: AgentStore, database: Database) -> None:
    add(agents, "aa", "web,pci")
    add(agents, "bb", "web")
    agents.delete(["001", "077"])
    assert positions(database) == [(2, "web")]
    assert not agents.exists(1)


def test_fields_are_set(agents: AgentStore) -> None:
    add(agents, "aa")
    add(agents, "bb")
    agents.set(1, name="AA", register_ip="10.0.0.7", folder="/srv/a")
    agent = agents.get(1, NOW)
    assert (agent.name, agent.register_ip, agent.folder) == ("AA", "10.0.0.7", "/srv/a")
    assert agents.folders() == {"/srv/a": "001"}
    assert (agents.address_taken("10.0.0.7"), agents.address_taken("10.0.0.7", but=1)) == (True, False)
    with pytest.raises(ConflictError):
        agents.set(1, name="BB", register_ip="any", folder=None)


def scope(**fields: Sequence[str] | bool) -> Scope:
    frozen = {name: value if isinstance(value, bool) else frozenset(value) for name, value in fields.items()}
    return Scope(**frozen)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("permitted", "ids"),
    [
        pytest.param(EVERYTHING, ["001", "002", "003"], id="everything"),
        pytest.param(NOTHING, [], id="nothing"),
        pytest.param(scope(values=["002", "077"]), ["002"], id="an id"),
        pytest.param(scope(groups=["web"]), ["001", "002"], id="one group"),
        pytest.param(scope(groups=["web", "db"]), ["001", "002", "003"], id="two groups"),
        pytest.param(scope(groups=["db"], values=["001"]), ["001", "003"], id="a group and an id"),
        pytest.param(scope(grouped=True), ["001", "002", "003"], id="agents of any group"),
        pytest.param(scope(groups=["web"], denied_groups=["pci"]), ["001"], id="a group without another"),
        pytest.param(scope(groups=["web"], denied_values=["001"]), ["002"], id="a group without an id"),
        pytest.param(scope(everything=True, denied_groups=["pci", "db"]), ["001"], id="all without groups"),
        pytest.param(scope(everything=True, denied_grouped=True), [], id="all without those of any group"),
    ],
)
def test_scope_becomes_ids_counts_and_lists(agents: AgentStore, permitted: Scope, ids: list[str]) -> None:
    from mgmtctl.domain.queries import ListQuery

    groups = {"001": "web", "002": "web,pci", "003": "db"}
    for number, names in groups.items():
        add(agents, f"agent-{number}", names)
    assert agents.ids(permitted) == ids
    found, total = agents.list(permitted, ListQuery(), NOW)
    assert ([agent.id for agent in found], total) == (ids, len(ids))
    if ids:
        assert agents.list(permitted, ListQuery(limit=1), NOW)[1] == len(ids)
    counts: dict[str, int] = {}
    for number in ids:
        for name in groups[number].split(","):
            counts[name] = counts.get(name, 0) + 1
    assert agents.counts(permitted) == counts


def test_ids_are_those_that_exist_once_and_in_order(agents: AgentStore) -> None:
    for name in ("aa", "bb", "cc"):
        add(agents, name)
    assert agents.ids(["003", "001", "099", "003"]) == ["001", "003"]
    assert agents.groups_of_each(["003", "099"]) == {"003": ("default",)}
    assert agents.members("default") == ["001", "002", "003"]


def test_members_of_one_group_within_a_scope(agents: AgentStore) -> None:
    from mgmtctl.domain.queries import ListQuery

    for name, groups in (("aa", "web"), ("bb", "web,pci"), ("cc", "pci")):
        add(agents, name, groups)
    for permitted, ids in ((EVERYTHING, ["002", "003"]), (scope(groups=["web"]), ["002"]), (NOTHING, [])):
        found, total = agents.list(permitted, ListQuery(limit=1), NOW, group="pci")
        assert ([agent.id for agent in found], total) == (ids[:1], len(ids))


def test_one_explicit_id_cannot_use_the_range_up(agents: AgentStore) -> None:
    agents.claim(7)
    with pytest.raises(InvalidError) as refused:
        agents.claim(0, 99_999_999)
    assert refused.value.fix == "choose one up to `1000007`"
    assert agents.claim(1) == 8


def test_ids_end_where_they_could_not_be_typed_any_more(agents: AgentStore, database: Database) -> None:
    database.execute("INSERT INTO identifiers VALUES ('agent', 99999998)")
    assert agents.claim(1) == 99_999_999
    with pytest.raises(ConflictError, match="no agent ids are left"):
        agents.claim(1)
