"""`mgmtctl policies matrix`: a grid on a terminal, a table in words in a pipe."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]


@pytest.fixture
def web(admin: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Agents web-1 in web and db-1 in web and db; the role team restarts those of web that are not in db."""
    for arguments in (
        *(["groups", "create", name] for name in ("web", "db")),
        ["agents", "create", "web-1", "--group", "web"],
        ["agents", "create", "db-1", "--group", "db", "--group", "web"],
        ["policies", "create", "web", "--allow", "agent:read,agent:restart", "--on", "agent:group:web"],
        ["policies", "create", "calm", "--deny", "agent:restart", "--on", "agent:group:db"],
        ["roles", "create", "team"],
        ["roles", "add-policy", "team", "web", "calm"],
    ):
        assert admin(*arguments).code == 0, arguments
    monkeypatch.setenv("COLUMNS", "80")
    return admin


def test_the_grid_reads_at_a_glance(web: Cli) -> None:
    found = web("policies", "matrix", "--role", "team", "--by", "group", "--color", "never", terminal=True)
    assert found.out == (
        "role team, mode white\n"
        "\n"
        "                db   default  web\n"
        "agent  read     1/1  .        +\n"
        "       restart  x    .        1/2\n"
        "\n"
        "+ allowed   1/1 on so many of its agents   x denied by an entry   . not allowed\n"
    )
    assert re.fullmatch(
        r"note: left out: \d+ actions that are allowed nowhere; --every shows them\n", found.err
    )


def test_colour_says_nothing_that_the_marks_do_not(web: Cli) -> None:
    ask = ["policies", "matrix", "--role", "team", "--by", "group"]
    plain = web(*ask, "--color", "never", terminal=True).out
    colored = web(*ask, "--color", "always", terminal=True).out
    assert "\x1b[31mx" in colored
    assert re.sub(r"\x1b\[\d+m", "", colored) == plain


def test_without_an_axis_the_columns_are_what_policies_name(web: Cli) -> None:
    out = web("policies", "matrix", "--role", "team", "--color", "never", terminal=True).out
    assert (
        "                agent:id:*  agent:group:db  agent:group:web\n"
        "agent  read     ~           1/1             +\n"
        "       restart  ~           x               1/2\n"
    ) in out


def test_a_pipe_gets_one_table_in_words(web: Cli) -> None:
    found = web("policies", "matrix", "--role", "team", "--group", "web", "--group", "db", "-o", "csv")
    assert found.out == (
        "action/group,web,db\nagent:read,allowed,partly 1/1\nagent:restart,partly 1/2,denied\n"
    )
    piped = web("policies", "matrix", "--role", "team")
    assert piped.out.splitlines()[0] == "action\tagent:id:*\tagent:group:db\tagent:group:web"


def test_json_has_the_cells_with_their_numbers(web: Cli) -> None:
    found = web("policies", "matrix", "--role", "team", "--by", "group", "-o", "json").json()
    restart = next(row for row in found["rows"] if row["action"] == "agent:restart")
    assert restart["cells"]["web"] == {"answer": "partly", "agents": 1, "of": 2}
    assert (found["by"], found["columns"]) == ("group", ["db", "default", "web"])


@pytest.mark.parametrize("width", [100, 80, 60])
def test_a_grid_that_is_too_wide_goes_on_below(web: Cli, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        assert web("groups", "create", f"team-of-region-{number}").code == 0
    monkeypatch.setenv("COLUMNS", str(width))
    out = web(
        "policies", "matrix", "--role", "administrator", "--by", "group", "--color", "never", terminal=True
    ).out
    grids = out.split("\n\n")[1:-1]
    assert len(grids) > 1
    assert max(len(line) for grid in grids for line in grid.splitlines()) <= width
    heads = [name for grid in grids for name in grid.splitlines()[0].split()]
    assert heads == sorted(heads)
    assert len(heads) == 15
    assert len({tuple(line[:34] for line in grid.splitlines()[1:]) for grid in grids}) == 1


def test_a_group_with_the_name_of_the_first_column_takes_nothing_away(web: Cli) -> None:
    assert web("groups", "create", "action").code == 0
    found = web("policies", "matrix", "--role", "administrator", "--group", "action", "-o", "csv")
    assert found.out.splitlines()[:2] == ["action/group,action", "active-response:command,allowed"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["--role", "team", "--user", "admin"], 2),
        (["--role", "team", "--by", "agent"], 2),
        (["--role", "team", "--by", "resource", "--group", "web"], 2),
        (["--role", "absent"], 5),
        (["--role", "team", "--group", "absent"], 5),
        (["--user", "wui", "--by", "group"], 0),
    ],
)
def test_exit_codes(web: Cli, arguments: list[str], code: int) -> None:
    assert web("policies", "matrix", *arguments).code == code


def test_every_shows_what_is_allowed_nowhere(web: Cli) -> None:
    some, every = (
        web("policies", "matrix", "--role", "team", "--by", "group", *more) for more in ([], ["--every"])
    )
    assert (len(some.out.splitlines()), every.err) == (3, "")
    assert "agent:upgrade\tno\tno\tno" in every.out.splitlines()


def test_who_may_not_read_everything_is_not_told_that_nothing_else_is_allowed(
    web: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = tmp_path / "password"
    password.write_text("Secret-phrase-1\n")
    password.chmod(0o600)
    for arguments in (
        ["policies", "create", "lim", "--allow", "security:read", "--on", "role:id:*"],
        ["roles", "create", "lim"],
        ["roles", "add-policy", "lim", "lim"],
        ["users", "create", "lea", "--password-file", str(password), "--role", "lim"],
    ):
        assert web(*arguments).code == 0, arguments
    monkeypatch.setenv("MGMTCTL_USER", "lea")
    monkeypatch.setenv("MGMTCTL_PASSWORD_FILE", str(password))
    found = web("policies", "matrix", "--role", "team", "--by", "group")
    assert "actions that are allowed nowhere that you may read; --every" in found.err
    for form in ("tsv", "json"):
        held = web("roles", "show", "team", "--effective", "-o", form)
        assert held.err.endswith("leave out what only roles and policies say that you may not read\n")
