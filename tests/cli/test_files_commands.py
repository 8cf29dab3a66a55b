"""`mgmtctl files`: what is printed, where findings go, and the exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]
GOOD = b"<agent_config>\n</agent_config>\n"
BAD = b"<agent_config>\n  <no_such_section/>\n</agent_config>\n"


@pytest.fixture
def web(admin: Cli, home: Path) -> Path:
    """The folder of the group web; the administrator is logged in."""
    from mgmtctl.folders import Folders

    Folders(home / "shared", home / "agents").create_group("web")
    return home / "shared" / "web"


def test_put_stores_the_bytes_and_says_what_to_do_next(admin: Cli, web: Path, tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_bytes(b"\xff\r\n")
    put = admin("files", "put", "web/a.txt", str(tmp_path / "a.conf"))
    assert (put.code, put.out) == (0, "")
    assert put.err == "created `web/a.txt` (3 bytes) as r2; no agent is concerned\n"
    assert (web / "a.txt").read_bytes() == b"\xff\r\n"
    assert admin("files", "show", "web/a.txt").raw == b"\xff\r\n"


def test_put_reads_stdin(admin: Cli, web: Path) -> None:
    assert admin("files", "put", "web/a.txt", "-", stdin=b"x").code == 0
    again = admin("files", "put", "web/a.txt", "-", stdin=b"x")
    assert again.err == "`web/a.txt` is so already\n"


def test_a_wrong_agent_conf_is_refused_with_its_place(admin: Cli, web: Path, tmp_path: Path) -> None:
    source = tmp_path / "mine.conf"
    source.write_bytes(BAD)
    put = admin("files", "put", "web/agent.conf", str(source))
    assert put.code == 7
    assert put.err.splitlines()[0].startswith(f"{source}:2:3: error: ")
    assert put.err.splitlines()[1].startswith(f"error: {source}: refused")
    assert (web / "agent.conf").read_bytes() == GOOD


def test_a_refusal_from_stdin_names_the_target(admin: Cli, web: Path) -> None:
    put = admin("files", "put", "web/agent.conf", "-", stdin=BAD)
    assert put.err.startswith("web/agent.conf:2:3: error: ")


def test_a_refusal_can_be_json(admin: Cli, web: Path) -> None:
    import json

    put = admin("files", "put", "web/agent.conf", "-", "-o", "json", stdin=BAD)
    (finding,) = json.loads(put.err)["findings"]
    assert sorted(finding) == ["column", "line", "message", "path", "rule", "severity", "suggestion"]


def test_a_dry_run_says_so_and_writes_nothing(admin: Cli, web: Path) -> None:
    put = admin("files", "put", "web/a.txt", "-", "-n", stdin=b"x")
    assert put.err.startswith("dry run: would create `web/a.txt`")
    assert not (web / "a.txt").exists()


def test_list_says_what_is_sent(admin: Cli, web: Path) -> None:
    (web / "bin").write_bytes(b"\0")
    found = admin("files", "list", "web")
    assert found.out.splitlines() == [
        "name\tsize\tsent\twhy_not",
        "agent.conf\t31\ttrue\t",
        "bin\t1\tfalse\tit holds a NUL byte, which agents cannot receive",
    ]
    assert [row["name"] for row in admin("files", "list", "web", "-o", "json").json()] == [
        "agent.conf",
        "bin",
    ]
    assert admin("files", "ls", "web", "--where", "sent=false", "-o", "id").out == "bin\n"


def test_show_of_binary_on_a_terminal_is_made_safe(admin: Cli, web: Path) -> None:
    (web / "a.txt").write_bytes(b"a\x1b[31m\n")
    assert "\x1b" not in admin("files", "show", "web/a.txt", terminal=True).out
    assert admin("files", "show", "web/a.txt", "-o", "json").json()["size"] == 7


def test_rm_asks_and_never_without_a_terminal(admin: Cli, web: Path) -> None:
    refused = admin("files", "rm", "web/agent.conf")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert admin("files", "rm", "web/agent.conf", stdin=b"n\n", terminal=True).code != 0
    assert (web / "agent.conf").exists()
    assert admin("files", "rm", "web/agent.conf", "-n").code == 0
    assert (web / "agent.conf").exists()
    assert admin("files", "rm", "web/agent.conf", "--yes").code == 0
    assert not (web / "agent.conf").exists()
    assert admin("files", "rm", "web/agent.conf", "--yes").code == 5


@pytest.mark.parametrize(
    ("words", "code"),
    [
        pytest.param(("put", "web", "-"), 2, id="no_file_named"),
        pytest.param(("put", "web/../x", "-"), 7, id="a_name_that_climbs"),
        pytest.param(("put", "web/merged.mg", "-"), 7, id="a_reserved_name"),
        pytest.param(("put", "nothing/a.txt", "-"), 5, id="no_such_group"),
        pytest.param(("put", "web/a.txt", "/no/such/file"), 7, id="no_such_source"),
        pytest.param(("show", "web/nothing"), 5, id="no_such_file"),
        pytest.param(("list", "nothing"), 5, id="no_such_group_to_list"),
        pytest.param(("validate", "nothing"), 5, id="no_such_group_to_validate"),
        pytest.param(("validate", "web", "--as", "agent.conf"), 2, id="as_without_a_path"),
        pytest.param(("validate", "-", "--as", "rubbish"), 2, id="an_unknown_form"),
        pytest.param(("validate", "./no-such-file"), 7, id="a_path_that_is_not_there"),
    ],
)
def test_exit_codes(admin: Cli, web: Path, words: tuple[str, ...], code: int) -> None:
    result = admin("files", *words, stdin=b"x")
    assert result.code == code
    assert result.err.startswith("error: ")


def test_validate_of_a_path_needs_neither_login_nor_data_folder(cli: Cli, home: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(GOOD)
    bad.write_bytes(BAD)
    assert cli("files", "validate", str(good)).code == 0
    found = cli("files", "validate", str(bad))
    assert found.code == 1
    assert found.out.startswith(f"{bad}:2:3: error: ")
    assert cli("files", "validate", "-", stdin=BAD).out.startswith("stdin:2:3: ")
    assert cli("files", "validate", str(bad), "-o", "json").json()[0]["line"] == 2
    assert cli("files", "validate", str(good), "-o", "json").json() == []
    assert not home.exists()


def test_a_finding_is_one_line_whatever_the_name_of_the_file(cli: Cli, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "agent\n1\x1b.conf"
    path.write_bytes(BAD)
    out = cli("files", "validate", str(path)).out
    assert out.startswith(f"{tmp_path}/agent\\n1\\x1b.conf:2:3: error: ")


def test_validate_of_a_group_needs_a_login(cli: Cli, service_home: Path) -> None:
    assert cli("files", "validate", "default").code == 4


def test_validate_reads_a_merged_file(cli: Cli, tmp_path: Path) -> None:
    merged = tmp_path / "x"
    merged.write_bytes(b"#web\n!1 a\nx")
    assert cli("files", "validate", str(merged), "--as", "merged.mg").code == 0
    merged.write_bytes(b"#web\n!9 a\nx")
    found = cli("files", "validate", str(merged), "--as", "merged.mg")
    assert (found.code, found.out.startswith(f"{merged}:2:1: error: ")) == (1, True)


def test_validate_of_a_group_ends_with_0_for_warnings(admin: Cli, web: Path) -> None:
    clean = admin("files", "validate", "web")
    assert (clean.code, clean.out, clean.err) == (0, "", "web: no findings\n")
    (web / "bin").write_bytes(b"\0")
    warned = admin("files", "validate", "web")
    assert warned.code == 0
    assert "web/bin: warning: agents do not get this file" in warned.out
    (web / "agent.conf").write_bytes(BAD)
    assert admin("files", "validate", "web").code == 1
    assert admin("files", "validate", "web/bin").code == 0


def test_a_file_that_was_taken_for_a_group_is_shown_as_a_path(
    admin: Cli, web: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "./agent.conf" not in admin("files", "validate", "agent.conf").err
    (tmp_path / "web").mkdir()
    for name in ("agent.conf", "web/x.txt"):
        (tmp_path / name).write_bytes(GOOD)
        missed = admin("files", "validate", name)
        assert missed.code == 5
        assert f"mgmtctl files validate ./{name}\n" in missed.err
    assert admin("files", "validate", "./agent.conf").err == "./agent.conf: no findings\n"
