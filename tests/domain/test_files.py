"""Names of shared files: the one check for every name from outside."""

from __future__ import annotations

import posixpath
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.files import check_file_name, split_target

GOOD_NAMES = [
    pytest.param("agent.conf", id="agent.conf"),
    pytest.param("ar.conf", id="ar.conf"),
    pytest.param("packs/agent.conf", id="agent.conf in a folder"),
    pytest.param("a/b/c/d.txt", id="folders in folders"),
    pytest.param("with blank.txt", id="a blank inside"),
    pytest.param("été.txt", id="composed letters"),
    pytest.param("日本.txt", id="letters outside Latin"),
    pytest.param("a..b", id="two dots inside a part"),
    pytest.param("ab:c", id="a colon that is no drive"),
    pytest.param("agent.conf.bak", id="a name that goes on after agent.conf"),
    pytest.param("old.merged.mg", id="merged.mg not at the beginning"),
    pytest.param("a*b", id="a star among letters"),
    pytest.param("x" * 255, id="the longest part"),
    pytest.param("/".join(["x" * 127] * 2), id="the longest name"),
    pytest.param("/".join(["x"] * 16), id="the deepest name"),
]

BAD_NAMES = [
    pytest.param("", "empty", id="empty"),
    pytest.param("/etc/passwd", "absolute", id="absolute"),
    pytest.param("../agent.conf", "part `..`", id="up"),
    pytest.param("a/../../b", "part `..`", id="up from inside"),
    pytest.param("a/..", "part `..`", id="up at the end"),
    pytest.param("./agent.conf", "part `.`", id="here"),
    pytest.param("a//b", "empty part", id="two slashes"),
    pytest.param("agent.conf/", "agent.conf", id="agent.conf with a slash"),
    pytest.param("packs/", "slash", id="a trailing slash"),
    pytest.param("agent.conf/x", "not a folder", id="agent.conf as a folder"),
    pytest.param("agent.conf ", "blank", id="a trailing blank"),
    pytest.param("a /b", "blank", id="a blank at the end of a folder"),
    pytest.param("a\u00a0", "blank", id="a no-break space at the end"),
    pytest.param("agent.conf\0.txt", "control character", id="a NUL"),
    pytest.param("a\nb", "control character", id="a newline"),
    pytest.param("a\x7f", "control character", id="delete"),
    pytest.param("é\x1b[2J", "control character", id="an escape beside a letter"),
    pytest.param("é\u0085", "control character", id="next line"),
    pytest.param("a\\b", "backslash", id="a backslash"),
    pytest.param("..\\agent.conf", "backslash", id="up, written the other way"),
    pytest.param("C:evil", "drive", id="a drive"),
    pytest.param("packs/c:x", "drive", id="a drive in a folder"),
    pytest.param("AGENT.CONF", "passes for `agent.conf`", id="upper case"),
    pytest.param("Agent.conf/x", "passes for `agent.conf`", id="other letter case as a folder"),
    pytest.param("packs/Agent.Conf", "passes for `agent.conf`", id="other letter case in a folder"),
    pytest.param("ａgent.conf", "passes for `agent.conf`", id="a full-width letter"),
    pytest.param("agent․conf", "passes for `agent.conf`", id="a one-dot leader"),
    pytest.param("agent.conf.", "passes for `agent.conf`", id="a dot at the end"),
    pytest.param("agent.conf::$DATA", "passes for `agent.conf`", id="a stream"),
    pytest.param("agent\u200b.conf", "invisible", id="an invisible space"),
    pytest.param("a\u202egnp.exe", "invisible", id="a change of direction"),
    pytest.param("a\u2028b", "invisible", id="a line separator"),
    pytest.param("e\u0301.txt", "composed", id="a decomposed letter"),
    pytest.param("caf\udce9", "UTF-8", id="a byte that is not UTF-8"),
    pytest.param("\ud800", "UTF-8", id="half a pair"),
    pytest.param(".notes", "leading dot", id="a leading dot"),
    pytest.param("a/.b/c", "leading dot", id="a hidden folder"),
    pytest.param("merged.mg", "kept for the merged file", id="the merged file"),
    pytest.param("merged.mg.bak", "kept for the merged file", id="beside the merged file"),
    pytest.param("packs/merged.mgX", "kept for the merged file", id="merged in a folder"),
    pytest.param("Merged.MG", "kept for the merged file", id="merged in other letter case"),
    pytest.param("*", "every file", id="a star alone"),
    pytest.param("x" * 256, "255 bytes", id="a part too long"),
    pytest.param("é" * 128, "255 bytes", id="a part too long in bytes"),
    pytest.param("/".join(["x" * 127] * 3), "255 bytes", id="a name too long"),
    pytest.param("/".join(["x"] * 17), "16 parts", id="a name too deep"),
    pytest.param("agеnt.conf", "passes for", id="agent.conf with a Cyrillic letter"),
]

TARGETS = [
    pytest.param("web", ("web", None), id="a group"),
    pytest.param("web/agent.conf", ("web", "agent.conf"), id="a file"),
    pytest.param("web/packs/a.txt", ("web", "packs/a.txt"), id="a file in a folder"),
]


@pytest.mark.parametrize("name", GOOD_NAMES)
def test_a_good_name_is_kept_as_it_is(name: str) -> None:
    assert check_file_name(name) == name


@pytest.mark.parametrize(("name", "problem"), BAD_NAMES)
def test_a_bad_name_is_refused_with_the_reason(name: str, problem: str) -> None:
    with pytest.raises(InvalidError) as refused:
        check_file_name(name)
    assert problem in refused.value.problem
    assert refused.value.problem.isprintable()


@pytest.mark.parametrize(("text", "parts"), TARGETS)
def test_a_target_is_a_group_and_perhaps_a_file(text: str, parts: tuple[str, str | None]) -> None:
    assert split_target(text) == parts


@pytest.mark.parametrize(
    "text", ["", "/web", "web/", "web//a", "../web/a", "web/../a", "all/a", "web/agent.conf/"]
)
def test_a_bad_target_is_refused(text: str) -> None:
    with pytest.raises(InvalidError):
        split_target(text)


ALPHABET = st.sampled_from("./\\ :*aA~\0\n-")
NAMES = st.text(ALPHABET, max_size=12) | st.text(max_size=12) | st.sampled_from(["agent.conf", "merged.mg"])


@given(st.lists(NAMES, max_size=4).map("/".join))
@example("..")
@example("a/..")
def test_what_is_let_through_stays_below_the_folder(name: str) -> None:
    try:
        checked = check_file_name(name)
    except InvalidError:
        return
    joined = posixpath.normpath(posixpath.join("/shared/web", checked))
    assert joined == f"/shared/web/{checked}"
    assert "\\" not in checked
    assert unicodedata.normalize("NFC", checked) == checked
    assert not any(ord(c) < 32 or c == "\x7f" for c in checked)
    assert checked.encode().decode() == checked


@given(st.sampled_from(["agent.conf", "merged.mg"]), st.data())
def test_no_other_spelling_of_a_reserved_name_is_let_through(name: str, data: st.DataObject) -> None:
    spelled = "".join(
        data.draw(st.sampled_from([letter, letter.upper(), _wide(letter), f"{letter}\u200d"]))
        for letter in name
    )
    if spelled == "agent.conf":
        assert check_file_name(spelled) == spelled
        return
    with pytest.raises(InvalidError):
        check_file_name(spelled)


def _wide(letter: str) -> str:
    wide = chr(ord(letter) + 0xFEE0)
    assert unicodedata.normalize("NFKC", wide) == letter
    return wide
