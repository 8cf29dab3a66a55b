"""`policies impact`, and what a dry run of a change of access says (S 2.6; design: command line)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl.cli import impact_text
from mgmtctl.domain.impact import GAINS, LOSES, Effect, Impact, Subject, grouped
from mgmtctl.domain.resources import Resource
from tests.cli.conftest import Result

Cli = Callable[..., Result]
WIDER = (
    "blocks:\n  b: {actions: [agent:read], resources: ['agent:group:web', 'agent:group:db'], effect: allow}\n"
)


READABLE = "user:id:*,role:id:*,policy:id:100"


@pytest.fixture
def team(admin: Cli, tmp_path: Path) -> Cli:
    """Role `team` with policy `team` (agent:read on group web), users ann and bob, agents in web and db."""
    (tmp_path / "password").write_text("Secret-phrase-1\n")
    (tmp_path / "password").chmod(0o600)
    (tmp_path / "wider.yaml").write_text(WIDER)
    for line in (
        ["groups", "create", "web"],
        ["groups", "create", "db"],
        ["agents", "create", "web-1", "--group", "web"],
        ["agents", "create", "db-1", "--group", "db"],
        ["agents", "create", "db-2", "--group", "db"],
        ["roles", "create", "team"],
        ["policies", "create", "team", "--allow", "agent:read", "--on", "agent:group:web"],
        ["roles", "add-policy", "team", "team"],
        *(
            ["users", "create", name, "--password-file", str(tmp_path / "password")]
            for name in ("ann", "bob")
        ),
        *(["users", "add-role", name, "team"] for name in ("ann", "bob")),
    ):
        assert admin(*line).code == 0, line
    return admin


GAIN = "  role team; users ann, bob\n    gain   agent:read  on 2 agents (group db)\n  no session ends\n"


def test_a_dry_run_says_who_gains_what_and_how_much(team: Cli, tmp_path: Path) -> None:
    done = team("policies", "set", "team", "-f", str(tmp_path / "wider.yaml"), "-n")
    assert (done.code, done.out) == (0, "")
    assert done.err == "dry run: would change policy `team`: block `b` added, block `team` removed\n" + GAIN


@pytest.mark.parametrize(
    ("arguments", "first", "told"),
    [
        pytest.param(
            ["users", "remove-role", "ann", "team"],
            "would change user `ann`: role `team` removed",
            "  user ann\n    loses  agent:read  on 1 agent (group web)\n  no session ends\n",
            id="a role is taken",
        ),
        pytest.param(
            ["roles", "delete", "team"],
            "would delete role `team`",
            "  role team; users ann, bob\n    lose   agent:read  on 1 agent (group web)\n  no session ends\n",
            id="a role is deleted",
        ),
        pytest.param(
            ["users", "set", "ann", "--name", "anna"],
            "would change user `anna`: name `ann` -> `anna`",
            "  nobody gains or loses anything; no session ends\n",
            id="a name is no access",
        ),
    ],
)
def test_every_change_of_access_says_it(team: Cli, arguments: list[str], first: str, told: str) -> None:
    assert team(*arguments, "-n").err == f"dry run: {first}\n{told}"
    assert team(*arguments, "-n", "-q").err == ""
    assert "impact" not in team(*arguments, "-y", "-o", "json").out


def test_as_json_the_impact_stands_beside_what_a_real_run_would_print(team: Cli, tmp_path: Path) -> None:
    one = team("policies", "set", "team", "-f", str(tmp_path / "wider.yaml"), "-n", "-o", "json")
    assert one.err.count("\n") == 1
    assert (list(one.json()), one.json()["result"]["name"]) == (["result", "impact"], "team")
    (change,) = one.json()["impact"]["changes"]
    assert [subject["name"] for subject in change["subjects"]] == ["team", "ann", "bob"]
    several = team("users", "delete", "ann", "bob", "admin", "-n", "-o", "json")
    assert several.code == 3
    assert [user["username"] for user in several.json()["result"]] == ["ann", "bob"]
    assert several.json()["impact"]["changes"][0]["effects"][0]["count"] == 1
    assert "result:\n" in team("users", "delete", "ann", "-n", "-o", "yaml").out


def test_sessions_that_end_are_told_before_they_do(team: Cli) -> None:
    for _ in range(2):
        assert team("login", "-u", "ann", "--password-stdin", "-q", stdin="Secret-phrase-1").code == 0
    assert team("login", "-u", "admin", "--password-stdin", "-q", stdin="Adm1n-of-tests!").code == 0
    assert team("users", "remove-role", "ann", "team", "-n").err.endswith("  2 sessions end\n")


def test_impact_reads_well_on_a_terminal_and_is_rows_in_a_pipe(team: Cli, tmp_path: Path) -> None:
    asked = ("policies", "impact", "-f", str(tmp_path / "wider.yaml"), "team")
    assert team(*asked, terminal=True).out == GAIN
    rows = team(*asked)
    assert rows.out.splitlines()[:2] == [
        "who\tname\tchange\tactions\tresources\texcept\tcount",
        "role\tteam\tgains\tagent:read\tagent:group:db\t\t2",
    ]
    assert (len(rows.out.splitlines()), rows.err) == (4, "no session ends\n")
    assert team(*asked, "-o", "json").json()["changes"][0]["effects"][0]["resources"] == ["agent:group:db"]
    assert team(*asked, "--no-headers", "--select", "name").out == "team\nann\nbob\n"


def test_a_new_policy_is_linked_to_nothing_unless_a_role_is_named(team: Cli, tmp_path: Path) -> None:
    (tmp_path / "new.json").write_text(
        '{"name": "new", "policy": {"actions": ["agent:delete"], "resources": ["agent:id:*"], "effect": "allow"}}'
    )
    asked = ("policies", "impact", "-f", str(tmp_path / "new.json"))
    new = team(*asked, terminal=True)
    assert (new.code, new.out) == (0, "  nobody gains or loses anything; no session ends\n")
    assert "there is no policy `new`: a new one is linked to no role" in new.err
    role = team(*asked, "--role", "team", terminal=True)
    assert role.out.splitlines()[1] == "    gain   agent:delete  on every agent (3 now)"
    assert team("policies", "show", "new").code == 5


@pytest.mark.parametrize(
    ("arguments", "content", "code", "says"),
    [
        pytest.param(["nothing"], WIDER, 5, "policy `nothing` does not exist", id="no such policy"),
        pytest.param(["--role", "nobody"], WIDER, 5, "role `nobody` does not exist", id="no such role"),
        pytest.param(["agents_read"], WIDER, 9, "is reserved", id="a reserved one"),
        pytest.param(["team", "--role", "administrator"], WIDER, 9, "role `administrator` is reserved", id="its role"),
        pytest.param(["--role", "administrator"], WIDER, 9, "role `administrator` is reserved", id="a new one's"),
        pytest.param(["team"], WIDER.replace("agent:read", "agent:raed"), 7, "agent:raed", id="a wrong document"),
        pytest.param([], WIDER.replace("agent:read", "agent:raed"), 7, "agent:raed", id="a wrong one of a new policy"),
    ],
)  # fmt: skip
def test_what_impact_refuses(
    team: Cli, tmp_path: Path, arguments: list[str], content: str, code: int, says: str
) -> None:
    (tmp_path / "p.yaml").write_text(content)
    refused = team("policies", "impact", "-f", str(tmp_path / "p.yaml"), *arguments)
    assert (refused.code, refused.out) == (code, "")
    assert says in refused.err


ANN = Subject("user", "100", "ann")


def effect(
    *resources: str, change: str = GAINS, count: int | None = None, but: tuple[str, ...] = ()
) -> Effect:
    found = [Resource.parse(text) for text in resources]
    kind = found[0].kind.replace("agent:group", "agent:id")
    return Effect(change, ("a:b",), kind, tuple(found), tuple(map(Resource.parse, but)), count)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        pytest.param(effect("agent:group:web", count=7), "on 7 agents (group web)", id="a group"),
        pytest.param(effect("agent:group:web", count=0), "on no agent now (group web)", id="an empty group"),
        pytest.param(effect("agent:group:web"), "on group web", id="a count that is not known"),
        pytest.param(
            effect("agent:group:web", "agent:id:042", count=8), "on 8 agents (group web, agent 042)", id="both"
        ),
        pytest.param(effect("agent:id:042", "agent:id:043", count=2), "on agents 042, 043", id="agents by id"),
        pytest.param(effect("agent:id:042", count=0), "on agent 042 (reached on none now)", id="one that is not there"),
        pytest.param(effect("agent:id:*", count=0), "on every agent (none now)", id="none there"),
        pytest.param(effect("agent:id:*", count=9), "on every agent (9 now)", id="every agent"),
        pytest.param(
            effect("agent:id:*", count=9, but=("agent:group:db",)), "on every agent but group db (9 now)", id="but some"
        ),
        pytest.param(
            effect("agent:group:web", count=6, but=("agent:id:001",)),
            "on 6 agents (group web; not agent 001)", id="a group but one",
        ),
        pytest.param(effect("agent:group:*", count=3), "on agents in any group (3 now)", id="any group"),
        pytest.param(effect("user:id:100", count=1), "on user ann", id="a user by name"),
        pytest.param(effect("policy:id:1", "policy:id:2", count=2), "on policies 1, 2", id="a plural"),
        pytest.param(effect("decoder:file:*"), "on every decoder file", id="files"),
    ],
)  # fmt: skip
def test_how_much_is_said_in_words(said: Effect, text: str) -> None:
    impact = Impact(grouped([(ANN, (said,))]), 0, True, {"user:id:100": "ann"})
    assert impact_text.lines(impact)[1] == f"    gains  a:b  {text}"


def test_long_lists_are_cut_and_lines_fit_the_terminal() -> None:
    many = [Subject("user", str(number), f"user-{number:04}") for number in range(1000)]
    actions = tuple(f"agent:action-{number}" for number in range(20))
    said = (Effect(LOSES, actions, "agent:id", (Resource("agent:group", "web"),), count=7),)
    contexts = Subject("rule", "100", "staff", "before"), Subject("rule", "101", "all", None, "portal")
    impact = Impact(grouped((s, said) for s in (*many, *contexts)), 1, False, {})
    lines = impact_text.lines(impact, 80)
    assert max(map(len, lines)) <= 80
    text = " ".join(" ".join(lines).split())
    assert (
        "user-0004 and 995 more; contexts that satisfied rule staff; contexts of rule all brought by portal"
        in text
    )
    assert "and 12 more on 7 agents (group web)" in text
    assert text.endswith("(as far as you may read users, roles, rules, groups and agents) 1 session ends")


def test_a_loss_of_what_nobody_held_says_so() -> None:
    lost = effect("agent:id:002", change=LOSES, count=0)
    impact = Impact(grouped([(ANN, (lost,))]), 0, True, {})
    assert impact_text.lines(impact)[1] == "    loses  a:b  on agent 002 (held on none now)"


def test_that_numbers_are_missing_is_said() -> None:
    gained = Effect("gains", ("agent:read",), "agent:id", (Resource("agent:id", "*"),), count=None)
    some = grouped([(ANN, (gained,))])
    missing = "too much changes to count all of it: some numbers are missing"
    limited = "as far as you may read users, roles, rules, groups and agents"
    assert f"  ({missing})" in impact_text.lines(Impact(some, 0, True, {}, counted=False))
    assert f"  ({limited}; {missing})" in impact_text.lines(Impact(some, 0, False, {}, counted=False))
    nobody = "  nobody gains or loses anything"
    (line,) = impact_text.lines(Impact((), 0, False, {}, counted=False))
    assert line == f"{nobody}, {limited}; {missing}; no session ends"


def test_a_long_impact_begins_with_what_matters_most() -> None:
    kinds = ("agent:id", "node:id", "decoder:file", "list:file", "rule:file", "group:id")
    plain = tuple(Effect(GAINS, ("a:b", "a:c"), kind, (Resource(kind, "*"),)) for kind in kinds)
    access = Effect(
        GAINS, ("a:b", "security:read", "security:update"), "user:id", (Resource("user:id", "*"),)
    )
    lost = Effect(LOSES, ("a:b",), "role:id", (Resource("role:id", "*"),))
    said = [
        (Subject("user", str(number), f"user-{number}"), (*plain, *((access, lost) if number == 3 else ())))
        for number in range(5)
    ]
    told = [(subject, (Effect(LOSES, (subject.name,), "*:*", ()), *effects)) for subject, effects in said]
    lines = impact_text.lines(Impact(grouped(told), 2, True, {}), 80)
    assert lines[:3] == [
        "  in short: 5 users gain; 5 users lose; 2 sessions end",
        "  gain the power to change access (security:*): user user-3",
        "  -o json has every action and resource",
    ]
    assert lines[3] == "  user user-0"
    assert lines[-1] == "  and 2 more; -o json shows all of them"
    (short,) = [part for part in grouped(told) if part.subjects[0].name == "user-3"]
    first = impact_text.lines(Impact((short,), 0, True, {}))[1]
    assert first == "    gains  security:update, a:b, security:read  on every user"


def test_what_a_limited_reader_is_told_is_never_all_there_is(
    team: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "less.yaml").write_text(WIDER.replace("agent:read", "agent:restart"))
    password = tmp_path / "password"
    for line in (
        ["users", "create", "lea", "--password-file", str(password)],
        ["policies", "create", "lim", "--allow", "security:read", "--on", READABLE],
        ["roles", "create", "lim"],
        ["roles", "add-policy", "lim", "lim"],
        ["users", "add-role", "lea", "lim"],
    ):
        assert team(*line).code == 0, line
    monkeypatch.setenv("MGMTCTL_USER", "lea")
    monkeypatch.setenv("MGMTCTL_PASSWORD_FILE", str(password))
    partly = "(as far as you may read users, roles, rules, groups and agents)"
    asked = ("policies", "impact", "-f", str(tmp_path / "less.yaml"), "team")
    assert "    lose   agent:read  on group web\n" in team(*asked, terminal=True).out
    rows = team(*asked)
    assert "user\tann\tloses\tagent:read\tagent:group:web\t\t\n" in rows.out
    assert rows.err == f"{partly}\nno session ends\n"


@pytest.mark.parametrize("name", ["agents_read", "absent"])
def test_a_policy_that_may_not_be_read_is_like_none(
    team: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "p.yaml").write_text(f"name: {name}\n{WIDER}")
    monkeypatch.setenv("MGMTCTL_USER", "ann")
    monkeypatch.setenv("MGMTCTL_PASSWORD_FILE", str(tmp_path / "password"))
    refused = team("policies", "impact", "-f", str(tmp_path / "p.yaml"))
    assert (refused.code, refused.out) == (5, "")
    assert refused.err.splitlines()[:2] == [
        f"error: policy `{name}` does not exist",
        "  why: there is none of this name that you may read",
    ]


def test_a_move_between_groups_says_who_gains_and_who_loses(team: Cli) -> None:
    gain = "  role team; users ann, bob\n    gain   agent:read  on agent 002\n  no session ends\n"
    lose = "  role team; users ann, bob\n    lose   agent:read  on agent 001\n  no session ends\n"
    assert (
        team("agents", "add-group", "db-1", "web", "-n").err
        == f"dry run: agent `db-1` would be in db, web\n{gain}"
    )
    assert team("groups", "add-agents", "web", "db-1", "-n").err.endswith(f"group `web`\n{gain}")
    for line in (["agents", "remove-group", "web-1", "web"], ["groups", "remove-agents", "web", "web-1"]):
        assert team(*line, "-n").err.endswith(lose)
    deleted = team("groups", "delete", "web", "--force", "-n")
    assert lose in deleted.err
    assert "no session ends" not in team("agents", "set", "web-1", "--name", "w", "-n").err
    assert list(team("agents", "add-group", "web-1", "web", "-n", "-o", "json").json()) == [
        "result",
        "impact",
    ]
    assert "impact" not in team("agents", "add-group", "db-1", "web", "-o", "json").out
