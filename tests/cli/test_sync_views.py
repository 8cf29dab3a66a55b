"""The pictures of a sync: bars that say what the list says, at any width, with and without colour."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl import bootstrap
from mgmtctl.cli.sync_views import (
    MOST_LINES,
    fitting,
    in_bytes,
    late,
    picture,
    problem,
    rows,
    shares,
    total_lines,
)
from mgmtctl.domain.sync import STAGES, Stage
from mgmtctl.operations.agent_stages import AgentStage
from mgmtctl.operations.context import Context
from mgmtctl.operations.sync_work import Total
from mgmtctl.settings import Settings
from mgmtctl.store.agents import NewAgent
from tests.cli.conftest import Result

Cli = Callable[..., Result]
COUNTS = st.dictionaries(st.sampled_from(STAGES), st.integers(1, 100_000), min_size=1)
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def test_a_picture_has_a_bar_for_each_stage_and_each_group() -> None:
    counts = {
        "all": Counter(synced=60, held=30, stale=10),
        "web": Counter(synced=10, held=30),
        "db": Counter(synced=50, stale=10),
    }
    assert picture(counts, 40, False) == [
        "# synced   60  ###############",
        "s stale    10  ss",
        "h held     30  hhhhhhhh",
        "",
        "web        40  ######hhhhhhhhhhhhhhhhhhh",
        "db         60  #####################ssss",
    ]


@given(COUNTS, st.integers(9, 200))
def test_a_bar_is_as_long_as_its_room_and_shows_every_stage(counts: dict[str, int], room: int) -> None:
    cells = shares(counts, room)
    assert sum(cells.values()) == room
    assert set(cells) == set(counts)
    assert min(cells.values()) >= 1


@given(
    st.dictionaries(st.text(min_size=1, max_size=130), COUNTS, max_size=30),
    st.integers(60, 200),
    st.booleans(),
)
def test_a_picture_is_never_wider_or_longer_than_it_may(
    groups: dict[str, dict[str, int]], width: int, color: bool
) -> None:
    every: Counter[str] = Counter()
    for found in groups.values():
        every.update(found)
    lines = picture({**groups, "all": every}, width, color)
    assert len(lines) <= MOST_LINES
    assert all(len(ESCAPES.sub("", line)) <= width for line in lines)
    assert all(ESCAPES.sub("", line).isprintable() for line in lines)


def test_nobody_is_no_picture() -> None:
    assert picture({"all": {}}, 80, False) == []


def test_totals_count_all_agents_first() -> None:
    found = rows({"web": {"synced": 2}, "all": {"synced": 2, "stale": 1}, "db": {"stale": 1}})
    assert [(row["group"], row["agents"], row["synced"], row["stale"]) for row in found] == [
        ("all", 3, 2, 1),
        ("db", 1, 0, 1),
        ("web", 2, 2, 0),
    ]
    assert all(set(row) == {"group", "agents", *STAGES} for row in found)


@pytest.mark.parametrize(
    ("total", "line"),
    [
        pytest.param(
            Total(("web",), {"web": 7}, 812, 2, 16384),
            "web r7: 812 agents, 2 files change, 16 KiB each",
            id="many",
        ),
        pytest.param(Total(("web",), {}, 1, 1, 90), "web: 1 agent, 1 file changes, 90 bytes", id="one"),
        pytest.param(
            Total(("default", "web"), {"web": 3}, 2, 2, None),
            "default, web r3: 2 agents, 2 files change",
            id="hidden",
        ),
    ],
)
def test_a_plan_comes_to_a_line_for_each_combination(total: Total, line: str) -> None:
    assert total_lines([total]) == [line]


def test_a_plan_of_many_combinations_is_cut() -> None:
    lines = total_lines([Total((f"g{n}",), {}, 2, 1, 1) for n in range(20)])
    assert (len(lines), lines[-1]) == (9, "and 24 agents of 12 more combinations")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1536, "1.5 KiB"),
        (16384, "16 KiB"),
        (5 << 20, "5.0 MiB"),
        (3 << 30, "3.0 GiB"),
    ],
)
def test_sizes_are_short(size: int, text: str) -> None:
    assert in_bytes(size) == text


@pytest.fixture
def fleet(admin: Cli) -> Iterator[Context]:
    """Agents 001 to 012 of web and 013 of default; all but the first were synced."""
    ctx = bootstrap.open_context(Settings())
    ctx.folders.create_group("web")
    with ctx.store.atomic():
        ctx.store.agents.claim(13)
        rows = [NewAgent(n, f"host-{n}", "any", "k" * 64, "web") for n in range(1, 13)]
        ctx.store.agents.add([*rows, NewAgent(13, "host-13", "any", "k" * 64, "default")], 0)
    yield ctx
    ctx.store.close()


def test_a_terminal_gets_a_picture_and_those_that_are_late(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "013")
    shown = admin("sync", "status", "--color", "never", terminal=True)
    lines = shown.out.splitlines()
    assert (
        lines[0].startswith("# synced         1  ###"),
        lines[1].startswith("n never-synced  12  nnn"),
    ) == (True, True)
    assert [line.split()[:2] for line in lines[3:5]] == [["web", "12"], ["default", "1"]]
    assert lines[6].split() == ["agents", "stage", "why"]
    assert lines[7].startswith("001, 002 and 10 more  never-synced  nothing was ever written to its folder")
    assert len(lines) == 8
    assert "mgmtctl sync explain 001 says what to do about one\n" in shown.err
    assert shown.err.endswith("12 never-synced, 1 synced\n")
    assert max(map(len, lines)) <= 100


def test_a_picture_and_its_rows_fit_a_terminal_of_24_lines(
    admin: Cli, fleet: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        fleet.folders.create_group(f"g{number}")
        assert admin("agents", "create", f"more-{number}", "--group", f"g{number}").code == 0
        assert admin("sync", "run", f"more-{number}").code == 0
        fleet.folders.write_file(f"g{number}", "agent.conf", b"<no_such_block/>" + b" " * number)
    monkeypatch.setenv("COLUMNS", "80")
    shown = admin("sync", "status", "--color", "never", terminal=True)
    lines = (shown.out + shown.err).splitlines()
    assert len(lines) <= 23, lines
    assert [line[0] for line in lines[:2]] == ["b", "n"]
    assert sum(line.startswith("001, 002 and 11 more") for line in lines) == 1
    assert re.search(r"^and \d+ more groups: mgmtctl sync status --totals$", shown.out, re.MULTILINE)
    assert re.search(r"^and \d+ more: mgmtctl sync status --where", shown.err, re.MULTILINE)
    assert shown.err.endswith("12 blocked, 13 never-synced\n")


@given(
    st.sets(st.sampled_from(STAGES), min_size=1), st.integers(0, 30), st.integers(0, 30), st.integers(24, 60)
)
def test_what_is_shown_is_no_longer_than_the_terminal(
    stages: set[str], groups: int, problems: int, height: int
) -> None:
    every = Counter(dict.fromkeys(stages, 1))
    counts = {"all": every, **{f"g{number}": every for number in range(groups)}}
    shown, rows = fitting(counts, problems, height)
    picture_lines = len(picture(counts, 80, False, shown))
    said = 3  # how many more there are, what to do, and the counts
    assert picture_lines + 2 + rows + said + 1 <= height
    assert (rows > 0) == (problems > 0)
    assert shown or not groups or problems


def test_agents_with_the_same_trouble_are_one_row() -> None:
    def where(number: int, name: str, why: str) -> AgentStage:
        return AgentStage(f"{number:03}", f"host-{number}", ("web",), "not synced", Stage(name, why), {})

    found = [
        *(where(number, "blocked", "group `web` is invalid") for number in range(1, 6)),
        *(where(number, "no-folder", f"folder `agents/{number:03}`: gone") for number in (6, 7)),
        where(8, "stale", "has web r1"),
        where(9, "synced", ""),
        where(10, "held", "kept back"),
        where(11, "blocked", "group `db` is invalid"),
    ]
    assert [(row["agents"], row["stage"]) for row in map(problem, late(found))] == [
        ("008 host-8", "stale"),
        ("006, 007", "no-folder"),
        ("001, 002 and 3 more", "blocked"),
        ("011 host-11", "blocked"),
        ("010 host-10", "held"),
    ]


def test_all_in_order_is_a_picture_alone(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "--all")
    shown = admin("sync", "status", "--color", "never", terminal=True)
    assert len(shown.out.splitlines()) == 4
    assert shown.err == "13 synced\n"


@pytest.mark.parametrize(
    "words", [("--limit", "0"), ("--where", "id>0"), ("--sort", "name"), ("-o", "table"), ("001",)]
)
def test_who_asks_for_a_list_gets_one(admin: Cli, fleet: Context, words: tuple[str, ...]) -> None:
    shown = admin("sync", "status", *words, terminal=True)
    assert "host-1 " in shown.out
    assert "nnn" not in shown.out


def test_colours_are_for_terminals_that_want_them(
    admin: Cli, fleet: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b[33mnnn" in admin("sync", "status", terminal=True).out
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert "\x1b" not in admin("sync", "status", terminal=True).out


def test_totals_are_rows(admin: Cli, fleet: Context) -> None:
    admin("sync", "run", "013")
    found = admin("sync", "status", "--totals")
    assert [line.split("\t")[:3] for line in found.out.splitlines()] == [
        ["group", "agents", "synced"],
        ["all", "13", "1"],
        ["default", "1", "1"],
        ["web", "12", "0"],
    ]
    shown = admin("sync", "status", "--totals", "--color", "never", terminal=True).out
    assert shown.splitlines()[0].split() == ["group", "agents", "synced", "never-synced"]
    named = admin(
        "sync", "status", "--totals", "--select", "group", "--sort", "-agents", "-o", "json", "-q"
    ).json()
    assert named == [{"group": "all"}, {"group": "web"}, {"group": "default"}]
    assert admin("sync", "status", "--totals", "--exit-code").code == 1
    filtered = admin("sync", "status", "--totals", "--where", "group=web", "-o", "json").json()
    assert [row["agents"] for row in filtered] == [12, 12]


def test_totals_of_nobody(admin: Cli) -> None:
    assert admin("sync", "status", "--totals", "-o", "json").json()[0]["agents"] == 0
    assert admin("sync", "status", terminal=True).err == "no agents\n"
