"""The merged file: bytes, order, what wins and what is left out; and reading one from outside."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.files import check_file_name
from mgmtctl.domain.findings import ERROR, WARNING
from mgmtctl.domain.merging import (
    HOLDS_NUL,
    Conflict,
    LeftOut,
    MergedPart,
    combination_tag,
    combine,
    left_out,
    merge_order,
    merged_chunks,
    merged_file,
    read_merged,
    target_files,
    unpack,
)
from tests.conftest import SPECIFICATION

EXAMPLES = SPECIFICATION / "merged_examples"
EXPECTED = [
    pytest.param("ex1_single_group", ["web"], "expected_merged.mg", id="one group"),
    pytest.param("ex2_two_groups", ["default", "web"], "expected_default_web.mg", id="default then web"),
    pytest.param("ex2_two_groups", ["web", "default"], "expected_web_default.mg", id="web then default"),
]


def _folder(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


@pytest.mark.parametrize(("example", "groups", "expected"), EXPECTED)
def test_the_examples_come_out_byte_for_byte(example: str, groups: list[str], expected: str) -> None:
    shared = EXAMPLES / example / "shared"
    made = combine([(group, _folder(shared / group)) for group in groups])
    merged = merged_file(made.tag, made.parts, (shared / "ar.conf").read_bytes())
    assert merged == (EXAMPLES / example / expected).read_bytes()
    assert read_merged(merged).findings == ()


def test_the_tag_of_one_group_is_its_name() -> None:
    assert combination_tag(["web"]) == "web"


@pytest.mark.parametrize(
    ("groups", "tag"),
    [
        (["default", "test"], "2ce0beec"),
        (["default", "web"], "5288d400"),
        (["web", "default"], "4b323b42"),
    ],
)
def test_the_tag_of_several_groups_depends_on_their_order(groups: list[str], tag: str) -> None:
    assert combination_tag(groups) == tag == hashlib.sha256(",".join(groups).encode()).hexdigest()[:8]


def test_each_level_is_ordered_by_bytes() -> None:
    names = ["packs.txt", "a2", "packs/z", "é", "a10", "B", "packs/A/x", "packs/A.txt", "packs-1"]
    assert merge_order(names) == [
        "B", "a10", "a2", "packs/A/x", "packs/A.txt", "packs/z", "packs-1", "packs.txt", "é",
    ]  # fmt: skip


def test_a_group_without_files_gives_the_tag_line_alone() -> None:
    made = combine([("web", {})])
    assert merged_file(made.tag, made.parts, None) == b"#web\n"


def test_an_empty_ar_conf_has_a_header_and_a_removed_one_has_none() -> None:
    assert merged_file("web", (), b"") == b"#web\n!0 ar.conf\n"
    assert merged_file("web", (), None) == b"#web\n"


def test_an_ar_conf_with_a_nul_is_not_written() -> None:
    assert merged_file("web", (), b"a\0") == b"#web\n"


def test_a_groups_own_ar_conf_comes_again_and_wins() -> None:
    made = combine([("web", {"ar.conf": b"own"})])
    merged = merged_file(made.tag, made.parts, b"root")
    assert merged == b"#web\n!4 ar.conf\nroot!3 ar.conf\nown"
    assert read_merged(merged).findings == ()
    assert dict(unpack(merged))["ar.conf"] == b"own"
    assert target_files(made.parts, b"root", made.tag)["ar.conf"] == b"own"


def test_a_later_group_wins_and_the_conflict_is_reported() -> None:
    made = combine([("a", {"x": b"1"}), ("b", {"x": b"2"}), ("c", {"x": b"3", "y": b"4"})])
    assert made.parts == (MergedPart("x", b"3", "c"), MergedPart("y", b"4", "c"))
    assert made.conflicts == (Conflict("x", "c", ("a", "b")),)


def test_agent_conf_is_concatenated_at_any_level_and_is_no_conflict() -> None:
    files = {"agent.conf": b"1", "packs/agent.conf": b"2\n"}
    made = combine([("a", files), ("b", files)])
    assert [(part.name, part.content, part.group) for part in made.parts] == [
        ("agent.conf", b"<!-- Source file: a/agent.conf -->\n1<!-- Source file: b/agent.conf -->\n1", "a,b"),
        (
            "packs/agent.conf",
            b"<!-- Source file: a/agent.conf -->\n2\n<!-- Source file: b/agent.conf -->\n2\n",
            "a,b",
        ),
    ]
    assert made.conflicts == ()


def test_one_part_of_a_combination_gets_the_comment_line_too() -> None:
    made = combine([("a", {"agent.conf": b"1"}), ("b", {})])
    assert made.parts[0].content == b"<!-- Source file: a/agent.conf -->\n1"


def test_a_single_group_gets_no_comment_line() -> None:
    assert combine([("a", {"agent.conf": b"1"})]).parts == (MergedPart("agent.conf", b"1", "a"),)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        pytest.param("packs", "packs/x", "packs", id="a folder over a file"),
        pytest.param("packs/x/y", "packs/x", "packs/x/y", id="a file over a folder"),
        pytest.param("agent.txt/x", "agent.txt", "agent.txt/x", id="at the top"),
    ],
)
def test_a_name_cannot_be_both_file_and_folder_and_the_loss_is_reported(
    first: str, second: str, kept: str
) -> None:
    made = combine([("a", {first: b"1"}), ("b", {second: b"2"})])
    assert [part.name for part in made.parts] == [kept]
    assert [(lost.group, lost.name) for lost in made.left_out] == [("b", second)]


LEFT_OUT = [
    pytest.param(".notes", b"", "leading dot", id="a leading dot"),
    pytest.param("a/.b/c", b"", "leading dot", id="in a hidden folder"),
    pytest.param("merged.mg", b"", "merged.mg", id="the merged file"),
    pytest.param("a/merged.mgX", b"", "merged.mg", id="a name that begins with merged.mg"),
    pytest.param("merged.mg.d/a", b"", "merged.mg", id="in a folder that begins with merged.mg"),
    pytest.param("x" * 186, b"", "201 bytes, at most 200", id="a path too long"),
    pytest.param("a.txt", b"text\0", HOLDS_NUL, id="a NUL at the end"),
    pytest.param("a.txt", b"\0\n", HOLDS_NUL, id="a NUL in a line"),
    pytest.param("a\nb", b"", "control", id="a newline, which would forge a header"),
    pytest.param("caf\udce9", b"", "UTF-8", id="a name that is not UTF-8"),
    pytest.param("AGENT.conf", b"", "agent.conf", id="a name that passes for agent.conf"),
]


@pytest.mark.parametrize(("name", "content", "reason"), LEFT_OUT)
def test_what_is_left_out_is_reported(name: str, content: bytes, reason: str) -> None:
    found = left_out(name, ["web"], content)
    assert found is not None
    assert reason in found
    made = combine([("web", {name: content, "b": b""})])
    assert [part.name for part in made.parts] == ["b"]
    assert made.left_out == (() if name == "merged.mg" else (LeftOut("web", name, found),))


def test_a_path_of_exactly_200_bytes_is_sent() -> None:
    assert left_out("x" * 185, ["web"]) is None
    assert left_out("é" * 92 + "x", ["web"]) is None
    assert left_out("é" * 93, ["web"]) is not None


def test_the_path_of_a_combination_is_counted_from_its_own_folder() -> None:
    groups = ["g" * 128, "h"]
    assert left_out("x" * 61, groups[:1]) is not None
    assert left_out("x" * 61, groups) is None
    assert left_out("x" * 175, groups) is None
    assert left_out("x" * 176, groups) is not None  # var/multigroups/<8 digits>/ has 25 bytes


def test_bytes_that_are_not_text_pass_when_no_nul_is_among_them() -> None:
    assert left_out("a.bin", ["web"], bytes(range(1, 256))) is None


def test_an_agents_folder_holds_every_file_and_the_merged_file_last() -> None:
    made = combine([("a", {"x": b"1", "packs/y": b"2"}), ("b", {"x": b"3"})])
    files = target_files(made.parts, b"ar", made.tag)
    merged = merged_file(made.tag, made.parts, b"ar")
    assert files == {"ar.conf": b"ar", "packs/y": b"2", "x": b"3", "merged.mg": merged}
    assert list(files)[-1] == "merged.mg"
    assert dict(unpack(merged)) == {name: files[name] for name in files if name != "merged.mg"}


READ = [
    pytest.param(b"", [], [], id="an empty file"),
    pytest.param(b"#web\n#more\n", [], [], id="only comments"),
    pytest.param(b"#web", [], [], id="a comment without a newline"),
    pytest.param(b"!1 f\nx", [("f", b"x")], [], id="no comment"),
    pytest.param(b"!0 f", [("f", b"")], [], id="a header without a newline"),
    pytest.param(b"! f\n", [("f", b"")], [], id="no size"),
    pytest.param(b"!+1 f\nx", [("f", b"x")], [], id="a plus sign"),
    pytest.param(b"!1 f\r\nx", [("f", b"x")], [], id="a header with CRLF"),
    pytest.param(b"!1 a b.txt\nx", [("a b.txt", b"x")], [], id="a blank in a name"),
    pytest.param(b"!3 f\n!1 !2 g\n\n\n", [("f", b"!1 "), ("g", b"\n\n")], [], id="bytes counted, not lines"),
    pytest.param(b"!6 f\n!2 g\n\n!1 h\nx", [("f", b"!2 g\n\n"), ("h", b"x")], [], id="content like a header"),
    pytest.param(b"!1 ar.conf\n1!1 ar.conf\n2", [("ar.conf", b"1"), ("ar.conf", b"2")], [], id="two ar.conf"),
    pytest.param(b"!1 f\n\0", [("f", b"\0")], [("merged-nul", WARNING, 1)], id="a NUL"),
    pytest.param(
        b"!1 f\n1!1 f\n2",
        [("f", b"1"), ("f", b"2")],
        [("merged-duplicate", WARNING, 2)],
        id="the same name twice",
    ),
]


@pytest.mark.parametrize(("data", "files", "findings"), READ)
def test_a_merged_file_that_holds_is_read(
    data: bytes, files: list[tuple[str, bytes]], findings: list[tuple[str, str, int]]
) -> None:
    assert [(f.rule, f.severity, f.line) for f in read_merged(data).findings] == findings
    assert list(unpack(data)) == files


REFUSED = [
    pytest.param(b"\n", [("merged-header", 1)], id="a blank line"),
    pytest.param(b"<html>not found</html>\n", [("merged-header", 1)], id="an error page"),
    pytest.param(b"#web\n!1 f\nx\n!1 g\ny", [("merged-header", 3)], id="a newline after a content"),
    pytest.param(b"!2 f\nx", [("merged-truncated", 1)], id="a size beyond the end"),
    pytest.param(b"!999999999999999999 f\nx", [("merged-truncated", 1)], id="a huge size"),
    pytest.param(b"!" + b"9" * 6000 + b" f\nx", [("merged-header", 1)], id="a size of 6,000 digits"),
    pytest.param(b"!" + b"9" * 19 + b" f\nx", [("merged-header", 1)], id="a size of 19 digits"),
    pytest.param(b"!-1 f\nx", [("merged-header", 1)], id="a negative size"),
    pytest.param(b"!1x f\nx", [("merged-header", 1)], id="letters in a size"),
    pytest.param(b"!\xd9\xa3 f\nxxx", [("merged-header", 1)], id="digits of another script"),
    pytest.param(b"!1\nx", [("merged-header", 1)], id="no name"),
    pytest.param(b"!1 \nx", [("merged-header", 1)], id="a blank and no name"),
    pytest.param(b"!1f\nx", [("merged-header", 1)], id="no blank"),
    pytest.param(b"!1 ../f\nx", [("merged-name", 1)], id="up"),
    pytest.param(b"!1 /etc/f\nx", [("merged-name", 1)], id="absolute"),
    pytest.param(b"!1 a\0b\nx", [("merged-name", 1)], id="a NUL in a name"),
    pytest.param(b"!1 a\\b\nx", [("merged-name", 1)], id="a backslash"),
    pytest.param(b"!1 f/\nx", [("merged-name", 1)], id="a trailing slash"),
    pytest.param(b"!1 caf\xe9\nx", [("merged-name", 1)], id="a name that is not UTF-8"),
    pytest.param(b"!1 merged.mg\nx", [("merged-name", 1)], id="the merged file itself"),
    pytest.param(b"!1 AGENT.CONF\nx", [("merged-name", 1)], id="other letter case of agent.conf"),
    pytest.param(b"!1 " + b"x" * 5000 + b"\nx", [("merged-name", 1)], id="a name of 5,000 bytes"),
    pytest.param(b"!1 f\nx!1 f/g\ny", [("merged-clash", 2)], id="a file that is a folder later"),
    pytest.param(b"!1 f/g\nx!1 f\ny", [("merged-clash", 2)], id="a folder that is a file later"),
    pytest.param(
        b"#x\n!3 ../a\n1\n2!1 .b\nx!9 c\n",
        [("merged-name", 2), ("merged-name", 4), ("merged-truncated", 5)],
        id="every fault at once",
    ),
]


@pytest.mark.parametrize(("data", "findings"), REFUSED)
def test_a_merged_file_that_does_not_hold_is_refused(data: bytes, findings: list[tuple[str, int]]) -> None:
    found = read_merged(data, "web/merged.mg").findings
    assert [(finding.rule, finding.line) for finding in found] == findings
    assert {finding.severity for finding in found} == {ERROR}
    assert {finding.path for finding in found} == {"web/merged.mg"}
    with pytest.raises(InvalidError) as refused:
        list(unpack(data))
    assert len(refused.value.findings) == len(findings)


PART = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5) | st.sampled_from(["a", "b", "a.b", "B"])
NAMES = st.lists(PART, min_size=1, max_size=3).map("/".join)
CONTENTS = st.binary(max_size=12) | st.sampled_from([b"!1 a\nx", b"#x\n", b"\n", b"no newline"])
FOLDER = st.dictionaries(NAMES, CONTENTS, max_size=6)


@given(st.lists(FOLDER, min_size=1, max_size=3), st.none() | CONTENTS)
def test_unpacking_what_was_merged_gives_the_files_back(
    folders: list[dict[str, bytes]], ar_conf: bytes | None
) -> None:
    made = combine([(f"g{number}", folder) for number, folder in enumerate(folders)])
    merged = b"".join(merged_chunks(made.tag, made.parts, ar_conf))
    read = read_merged(merged)
    assert read.findings == ()
    assert [entry.line for entry in read.entries] == [
        merged.count(b"\n", 0, merged.rindex(b"!", 0, entry.offset)) + 1 for entry in read.entries
    ]
    assert {check_file_name(name): content for name, content in unpack(merged)} == {
        name: content
        for name, content in target_files(made.parts, ar_conf, made.tag).items()
        if name != "merged.mg"
    }


@given(st.lists(FOLDER, min_size=1, max_size=3))
def test_every_file_is_sent_or_reported(folders: list[dict[str, bytes]]) -> None:
    groups = [(f"g{number}", folder) for number, folder in enumerate(folders)]
    made = combine(groups)
    given_away = {
        (group, name) for part in made.parts for group in part.group.split(",") for name in [part.name]
    }
    lost = {(conflict_group, c.name) for c in made.conflicts for conflict_group in c.losers}
    refused = {(entry.group, entry.name) for entry in made.left_out}
    merged_files = {(group, "merged.mg") for group, folder in groups if "merged.mg" in folder}
    assert given_away | lost | refused | merged_files == {(g, n) for g, folder in groups for n in folder}


@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from([b"!1 a\n", b"!9 b\n", b"x", b"#\n", b"!"])).map(b"".join)
)
def test_any_bytes_are_read_without_an_exception(data: bytes) -> None:
    for entry in read_merged(data).entries:
        assert entry.offset + entry.size <= len(data)
