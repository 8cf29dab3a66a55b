"""`mgmtctl agents` as it is called: forms, exit codes, what goes to which stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]


@pytest.fixture
def fleet(admin: Cli) -> Cli:
    """Groups web and pci; 001 web-1 in web, 002 db-1 in default."""
    for line in (
        "groups create web",
        "groups create pci",
        "agents create web-1 --group web",
        "agents create db-1",
    ):
        assert admin(*line.split()).code == 0
    return admin


def test_create_gives_id_and_key_as_data_and_talks_beside(admin: Cli) -> None:
    result = admin("agents", "create", "web-1", "--ip", "10.0.0.7", "--id", "42")
    key = admin("agents", "key", "web-1", "--select", "key", "-o", "value").out.strip()
    assert (result.code, result.out) == (0, f"id\t042\nkey\t{key}\n")
    assert result.err == "created agent `web-1` with id 042\n"


def test_quiet_create_still_gives_the_key(admin: Cli) -> None:
    result = admin("agents", "create", "web-1", "-q")
    assert (result.out, result.err) == (admin("agents", "key", "web-1").out, "")


def test_create_gives_no_key_that_is_nobodys(admin: Cli) -> None:
    assert admin("agents", "create", "web-1", "-n").out == ""


def test_created_record_holds_the_key_once(admin: Cli) -> None:
    result = admin("agents", "create", "web-1", "-o", "json")
    record = result.json()
    assert len(record["key"]) == 64
    assert record["key"] not in result.err


def test_list_in_a_pipe_is_rows_and_json_is_the_record(fleet: Cli) -> None:
    assert fleet("agents", "list").out == (
        "id\tname\tgroup\tgroup_config_status\n001\tweb-1\tweb\tnot synced\n002\tdb-1\tdefault\tnot synced\n"
    )
    first, second = fleet("agents", "list", "-o", "json").json()
    assert (first["id"], first["group"], second["name"]) == ("001", ["web"], "db-1")
    assert "key" not in first


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        pytest.param(["--where", "group=web"], "001", id="a filter"),
        pytest.param(["--where", "group!=web,id<1"], "002", id="alternatives"),
        pytest.param(["--search", "DB"], "002", id="a search"),
        pytest.param(["--search=-db"], "001", id="a search for what is not there"),
        pytest.param(["--sort", "name"], "002 001", id="an order"),
        pytest.param(["--sort", "-id", "--limit", "1"], "002", id="a limit"),
        pytest.param(["--limit", "0"], "001 002", id="limit 0 is all"),
        pytest.param(["--where", "name~nothing"], "", id="nothing is no failure"),
    ],
)
def test_list_is_narrowed(fleet: Cli, options: list[str], ids: str) -> None:
    result = fleet("agents", "list", "-o", "id", *options)
    assert (result.code, result.out.split()) == (0, ids.split())


def test_envelope_counts_before_the_limit(fleet: Cli) -> None:
    data = fleet("agents", "list", "--envelope", "--limit", "1", "--select", "id").json()["data"]
    assert (data["affected_items"], data["total_affected_items"]) == ([{"id": "001"}], 2)


@pytest.mark.parametrize(
    ("options", "problem", "more"),
    [
        pytest.param(
            ["--where", "id=1;nam=x"], "column 6: no field `nam`", "did you mean `name`?", id="field"
        ),
        pytest.param(["--where", "name= =x"], "column 7: expected a value, got `=`", "^", id="value"),
        pytest.param(
            ["--where", "status_code>=4"], "no operator `>=`", "(status_code>4,status_code=4)", id="operator"
        ),
        pytest.param(
            ["--where", "group_config_status=not synced"], "got `s`", 'quotes: "not synced"', id="blank"
        ),
        pytest.param(
            ["--where", "status='active'"], "not quoted by `'`", 'use double quotes: "active"', id="quotes"
        ),
        pytest.param(["--where", "status=up"], "expected one of active, pending, ", "got `up`", id="status"),
        pytest.param(
            ["--where", "group_config_status=no"],
            'expected one of synced, "not synced"',
            "got `no`",
            id="sync",
        ),
        pytest.param(["--sort", "nam"], "cannot sort by `nam`", "did you mean `name`?", id="order"),
        pytest.param(["--select", "nam"], "no field `nam` to select", "did you mean `name`?", id="select"),
        pytest.param(["--limit", "-1"], "limit `-1` is below zero", "0 shows all", id="limit"),
        pytest.param(["--sort", "key"], "cannot sort by `key`", "", id="the key is no field"),
    ],
)
def test_query_that_cannot_be_is_a_usage_error(
    fleet: Cli, options: list[str], problem: str, more: str
) -> None:
    result = fleet("agents", "list", *options)
    assert (result.code, result.out) == (2, "")
    assert problem in result.err
    assert more in result.err


def test_column_of_a_filter_is_a_fact_of_the_json_error(fleet: Cli) -> None:
    error = json.loads(fleet("agents", "list", "--where", "id=1;nam=x", "-o", "json").err)
    assert (error["column"], error["code"], error["exit"]) == (6, 1408, 2)


def test_odd_bytes_in_a_question_are_no_bug(fleet: Cli) -> None:
    for words in (
        ["list", "--where", "name=\udcff"],
        ["list", "--search", "\udcff"],
        ["show", "\udcff"],
        ["create", "\udcff"],
    ):
        assert fleet("agents", *words).code in (0, 2, 5, 7)


def test_show_takes_names_ids_and_stdin(fleet: Cli) -> None:
    assert fleet("agents", "show", "web-1", "-o", "json").json()["id"] == "001"
    assert fleet("agents", "show", "2", "WEB-1", "-o", "id").out.split() == ["001", "002"]
    assert fleet("agents", "show", "-", "-o", "id", stdin="db-1\n001\n").out.split() == ["001", "002"]


@pytest.mark.parametrize(
    ("references", "code"),
    [
        pytest.param(["nix"], 5, id="unknown"),
        pytest.param(["077", "078"], 5, id="several unknown"),
        pytest.param(["001", "nix"], 3, id="partly"),
        pytest.param(["000"], 7, id="the manager"),
    ],
)
def test_show_of_what_does_not_exist(fleet: Cli, references: list[str], code: int) -> None:
    assert fleet("agents", "show", *references).code == code


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param("create web-1", 9, id="exists"),
        pytest.param("create new --id 1", 9, id="id taken"),
        pytest.param("create new --id 0", 7, id="id of the manager"),
        pytest.param("create 007", 7, id="digits only"),
        pytest.param("create new --group nix", 5, id="unknown group"),
        pytest.param("create new --folder /etc", 7, id="a folder outside the roots"),
        pytest.param("set nix --name x1", 5, id="unknown agent"),
        pytest.param("set web-1", 2, id="nothing to set"),
        pytest.param("set web-1 --groups ,", 7, id="no groups"),
        pytest.param("remove-group db-1 default", 9, id="only default"),
        pytest.param("add-group web-1 pci --position 0", 7, id="position"),
        pytest.param("key nix", 5, id="key of nobody"),
        pytest.param("delete web-1", 2, id="delete asks, and nobody can answer"),
        pytest.param("show", 2, id="an argument is missing"),
    ],
)
def test_refusal_has_its_exit_code(fleet: Cli, words: str, code: int) -> None:
    before = fleet("agents", "list", "-o", "json").out
    result = fleet("agents", *words.split())
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("error: ")
    assert fleet("agents", "list", "-o", "json").out == before


def test_groups_are_added_in_order_and_removed(fleet: Cli) -> None:
    assert fleet("agents", "add-group", "web-1", "pci").err == "agent `web-1` is now in web, pci\n"
    assert fleet("agents", "add-group", "web-1", "pci").err == "agent `web-1` stays in web, pci\n"
    assert (
        fleet("agents", "add-group", "web-1", "pci", "--position", "1").err
        == "agent `web-1` is now in pci, web\n"
    )
    assert fleet("agents", "remove-group", "web-1", "web").err == "agent `web-1` is now in pci\n"
    assert fleet("agents", "remove-group", "1", "pci", "-o", "json").json()["group"] == ["default"]


def test_set_groups_sets_the_order(fleet: Cli) -> None:
    assert fleet("agents", "set", "web-1", "--groups", "pci, web").code == 0
    assert fleet("agents", "set", "web-1", "--groups", "web,pci", "--name", "web-9", "-o", "json").json()["group"] == [
        "web", "pci",
    ]  # fmt: skip


def test_files_of_the_same_name_are_a_warning(fleet: Cli, service_home: Path) -> None:
    for group in ("web", "pci"):
        (service_home / "shared" / group / "audit.rules").write_bytes(b"x")
    result = fleet("agents", "add-group", "web-1", "pci", "-q")
    assert result.err == "warning: file `audit.rules` of group `pci` wins over that of `web`\n"


def test_delete_says_what_is_gone(fleet: Cli) -> None:
    assert fleet("agents", "delete", "web-1", "nix", "-y").code == 3
    assert fleet("agents", "delete", "-", "-y", stdin="db-1\n").err == "deleted agent `db-1`\n"
    assert fleet("agents", "list", "-o", "json").out == "[]\n"


def test_dry_run_says_so_and_changes_nothing(fleet: Cli) -> None:
    assert fleet("agents", "delete", "web-1", "-n").err == "dry run: would delete agent `web-1`\n"
    assert fleet("agents", "create", "new", "-n").err == "dry run: would create agent `new` with id 003\n"
    assert (
        fleet("agents", "set", "web-1", "--name", "web-9", "-n").err
        == "dry run: would change agent `web-9`\n"
    )
    imported = fleet("agents", "import", "-", "-n", stdin="name\naa\nbb\n")
    assert imported.err == "dry run: would import 2 agents\n"
    for group, verb in (("pci", "be in web, pci"), ("web", "stay in web")):
        told = fleet("agents", "add-group", "web-1", group, "-n").err
        nobody = "  nobody gains or loses anything; no session ends\n"
        assert told == f"dry run: agent `web-1` would {verb}\n{nobody}"
    assert fleet("agents", "list", "-o", "id").out.split() == ["001", "002"]


def test_import_from_a_file_and_stdin(fleet: Cli, tmp_path: Path) -> None:
    file = tmp_path / "fleet.csv"
    file.write_bytes(b'name,groups\naa,"web,pci"\nbb,\n')
    assert fleet("agents", "import", str(file)).err == "imported 2 agents\n"
    result = fleet("agents", "import", "-", "-o", "json", stdin='{"name": "cc", "groups": ["web"]}\n')
    assert result.json() == {"imported": 1, "ids": ["005"]}


def test_import_lists_every_fault_with_its_place(fleet: Cli, tmp_path: Path) -> None:
    file = tmp_path / "fleet.csv"
    file.write_bytes(b"name,groups\naa,nix\nWEB-1,\n")
    result = fleet("agents", "import", str(file))
    assert result.code == 7
    assert result.err.splitlines() == [
        f"{file}:2:4: error: group `nix` does not exist [groups]",
        f"{file}:3:1: error: agent `WEB-1` exists already [name-taken]",
        f"error: `{file}` has 2 faults, no agent was added",
        "  fix: mgmtctl groups create nix",
    ]


def test_import_of_the_same_file_again_is_one_fault_for_each_row(fleet: Cli, tmp_path: Path) -> None:
    file = tmp_path / "fleet.csv"
    file.write_bytes(b"name,id,ip\naa,50,10.0.0.50\nbb,51,10.0.0.51\n")
    assert fleet("agents", "import", str(file)).code == 0
    assert fleet("agents", "import", str(file)).err.splitlines() == [
        f"{file}:2:1: error: agent `aa` exists already [name-taken]",
        f"{file}:3:1: error: agent `bb` exists already [name-taken]",
        f"error: `{file}` has 2 faults, no agent was added",
    ]


def test_import_of_a_file_that_cannot_be_read(fleet: Cli, tmp_path: Path) -> None:
    assert fleet("agents", "import", str(tmp_path / "nix.csv")).code in (7, 74)


@pytest.mark.parametrize("words", ["agents list", "groups agents web"])
def test_id_and_name_are_whole_on_a_narrow_terminal(
    fleet: Cli, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    name = "ip-10-20-30-40.eu-central-1.internal"
    assert fleet("agents", "create", name, "--id", "123456", "--group", "web").code == 0
    assert f"\n123456  {name} " in fleet(*words.split(), terminal=True).out


def test_failures_of_one_reason_are_in_the_order_of_ids(fleet: Cli) -> None:
    fleet("agents", "create", "web-2", "--group", "web")
    result = fleet("groups", "add-agents", "pci", "003", "web-1", "db-1", "--position", "0")
    assert result.err.splitlines()[0] == "error: 001, 002, 003: position `0` is below 1"


def test_single_unknown_agent_is_named_once(fleet: Cli) -> None:
    assert fleet("agents", "show", "999").err.splitlines()[0] == "error: agent `999` does not exist"


def test_aliases_work(fleet: Cli) -> None:
    assert fleet("agents", "ls", "-o", "id").out.split() == ["001", "002"]
    assert fleet("agents", "get", "web-1", "-o", "id").out.split() == ["001"]
    assert fleet("agents", "rm", "web-1", "-y").code == 0


def test_nobody_logged_in(cli: Cli, service_home: Path) -> None:
    assert cli("agents", "list").code == 4


def _bytes_of(home: Path) -> dict[str, bytes]:
    """Every file of the service but the log, which a dry run is written to as well."""
    files = (path for path in home.rglob("*") if path.is_file() and "log" not in path.relative_to(home).parts)
    return {str(path): path.read_bytes() for path in files if path.suffix != ".db-shm"}


@pytest.mark.parametrize(
    "words",
    [
        "agents create new --group web --id 77",
        "agents import FILE",
        "agents set web-1 --name web-9 --groups pci",
        "agents add-group web-1 pci --position 1",
        "agents remove-group web-1 web",
        "agents delete web-1 db-1 --purge",
        "groups create db",
        "groups delete web pci --force",
        "groups add-agents pci web-1 db-1",
        "groups remove-agents web web-1",
    ],
)
def test_dry_run_leaves_every_byte(fleet: Cli, service_home: Path, tmp_path: Path, words: str) -> None:
    file = tmp_path / "fleet.csv"
    file.write_bytes(b"name,groups\nnew,web\n")
    before = _bytes_of(service_home)
    result = fleet(*words.replace("FILE", str(file)).split(), "-n")
    assert (result.code, result.err[:9]) == (0, "dry run: ")
    assert _bytes_of(service_home) == before


def test_a_limit_beyond_every_number_of_rows_is_none(fleet: Cli) -> None:
    assert (
        fleet("agents", "list", "--limit", "9" * 30, "-o", "id").out
        == fleet("agents", "list", "-o", "id").out
    )
