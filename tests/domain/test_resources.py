"""Resource expressions: what is read, what is refused, and what is suggested instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.resources import KINDS, RESOURCELESS, Resource, agent_names
from tests.conftest import SPECIFICATION

READ = [
    pytest.param("*:*:*", "*:*:*", id="resourceless"),
    pytest.param("agent:id:042", "agent:id:042", id="an agent id of three digits"),
    pytest.param("agent:id:42", "agent:id:042", id="a short agent id is padded"),
    pytest.param("agent:id:00042", "agent:id:042", id="a long agent id loses its padding"),
    pytest.param("agent:id:100000", "agent:id:100000", id="an agent id above 999"),
    pytest.param("agent:id:*", "agent:id:*", id="every agent"),
    pytest.param(
        "agent:group:CAPS_name-1.2", "agent:group:CAPS_name-1.2", id="a group keeps its letter case"
    ),
    pytest.param("group:id:default", "group:id:default", id="a group"),
    pytest.param("node:id:worker-1", "node:id:worker-1", id="a node"),
    pytest.param("rule:file:0010-rules.xml", "rule:file:0010-rules.xml", id="a rule file"),
    pytest.param(
        "list:file:etc/lists/audit-keys", "list:file:etc/lists/audit-keys", id="a list file in a folder"
    ),
    pytest.param("policy:id:007", "policy:id:7", id="a numeric id loses its padding"),
    pytest.param("user:id:*", "user:id:*", id="every user"),
]


@pytest.mark.parametrize(("text", "expected"), READ)
def test_a_resource_is_read(text: str, expected: str) -> None:
    assert str(Resource.parse(text)) == expected
    assert Resource.parse(expected) == Resource.parse(text) == Resource.stored(expected)


REFUSED = [
    pytest.param("", "malformed", "kinds are", id="empty"),
    pytest.param("*", "incomplete", "`*:*:*`", id="a lone star"),
    pytest.param("*:*", "incomplete", "`*:*:*`", id="two stars"),
    pytest.param("agent:001", "malformed", "`agent:id:001`", id="two parts"),
    pytest.param("agent", "malformed", "`agent:id:*`", id="one part"),
    pytest.param("AGENT:ID:001", "unknown", "`agent:id:001`", id="upper case"),
    pytest.param("agents:id:001", "unknown", "`agent:id:001`", id="plural noun"),
    pytest.param("agent:name:web", "unknown", None, id="unknown attribute"),
    pytest.param("rules:file:x.xml", "unknown", "`rule:file:x.xml`", id="plural of a file kind"),
    pytest.param("*:*:x", "`x` is no wildcard", "`*:*:*`", id="resourceless with a value"),
    pytest.param("agent:id:00*", "whole value", "`agent:id:*`", id="a prefix wildcard"),
    pytest.param("agent:id:**", "whole value", "`agent:id:*`", id="two stars as value"),
    pytest.param("agent:id:", "is no agent id", "digits", id="no value"),
    pytest.param("agent:id:web", "is no agent id", "digits", id="a name as agent id"),
    pytest.param("agent:id:٠٠١", "is no agent id", "digits", id="foreign digits"),
    pytest.param("agent:id:-1", "is no agent id", "digits", id="a negative id"),
    pytest.param("agent:id:" + "9" * 19, "is no agent id", "digits", id="an id beyond 64 bits"),
    pytest.param("agent:id:001\n", "is no agent id", "digits", id="a trailing newline"),
    pytest.param("x\ny" * 99, "malformed", "kinds are", id="many lines of nothing"),
    pytest.param("agent:id:001:x", "more than three", None, id="four parts"),
    pytest.param("agent:id:001&group:id:web", "joins two", "by itself", id="a pair"),
    pytest.param("agent:group:all", "is no group name", "letters", id="the reserved group name"),
    pytest.param("agent:group:..", "is no group name", "letters", id="a parent folder"),
    pytest.param("group:id:.hidden", "is no group name", "letters", id="a leading dot"),
    pytest.param("group:id:wéb", "is no group name", "letters", id="a letter outside ASCII"),
    pytest.param("group:id:" + "g" * 129, "is no group name", "letters", id="a group name too long"),
    pytest.param("list:file:../shadow", "is no file name", "letters", id="a path that climbs"),
    pytest.param("list:file:/etc/passwd", "is no file name", "letters", id="an absolute path"),
    pytest.param("list:file:a/", "is no file name", "letters", id="a trailing slash"),
    pytest.param("rule:file:a b.xml", "is no file name", "letters", id="a blank"),
    pytest.param("role:id:administrator", "is no number", "digits", id="a role by name"),
    pytest.param("role:id:1e3", "is no number", "digits", id="an exponent"),
]


@pytest.mark.parametrize(("text", "problem", "fix"), REFUSED)
def test_a_malformed_resource_is_refused_with_a_suggestion(text: str, problem: str, fix: str | None) -> None:
    with pytest.raises(InvalidError) as caught:
        Resource.parse(text)
    assert problem in caught.value.problem
    assert caught.value.fix
    assert fix is None or fix in caught.value.fix


@settings(max_examples=200)
@given(st.one_of(st.text(), st.builds("{}:{}".format, st.sampled_from(sorted(KINDS)), st.text(max_size=20))))
def test_any_text_is_read_or_refused_and_reading_is_stable(text: str) -> None:
    try:
        resource = Resource.parse(text)
    except InvalidError as error:
        refusal = f"{error.problem}; {error.fix}"
    else:
        refusal = ""
        assert Resource.parse(str(resource)) == resource
        assert resource.kind in KINDS
    assert refusal.isprintable()
    assert len(refusal) < 500


def test_the_kinds_are_those_of_the_description() -> None:
    rows = table_rows(SPECIFICATION / "service.md", "### 2.4 ")
    kinds = [row[0].split("`")[1] if "`" in row[0] else row[0] for row in rows]
    assert kinds == list(KINDS)
    assert all(kind.description for kind in KINDS.values())
    assert KINDS["agent:id"].record()["value"] == "agent id"


def table_rows(path: Path, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its two head lines."""
    section = path.read_text(encoding="utf-8").split(heading, 1)[1].split("\n#", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_an_agent_goes_by_its_id_and_its_groups() -> None:
    names = agent_names("042", ["db", "default"])
    assert [str(name) for name in names] == ["agent:id:042", "agent:group:db", "agent:group:default"]
    assert str(RESOURCELESS) == "*:*:*"
