"""Facts about what an agent leaves in its folder (domain/local_files.py)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.local_files import LOCAL_CONF, read_internal_options, read_local

CONF = b"""<any_root>
  <client>
    <config-profile>debian, debian12</config-profile>
    <auto_restart>no</auto_restart>
  </client>
</any_root>
<other_root>
  <syscheck><frequency>60</frequency></syscheck>
</other_root>
"""


def test_nothing_is_known_without_files() -> None:
    local = read_local(None, None)
    assert (local.document, local.profiles, local.auto_restart) == (None, None, True)
    assert list(local.sections) == []
    assert not local.ignores_shared
    assert local.gate_open("logcollector") is None
    assert local.gate_open("prefilter") is None


def test_sections_of_every_root_are_read_whatever_it_is_called() -> None:
    assert [section.name for section in read_local(CONF, None).sections] == ["client", "syscheck"]


def test_profiles_are_split_at_commas_and_trimmed() -> None:
    assert read_local(CONF, None).profiles == ("debian", "debian12")


def test_a_local_configuration_without_profiles_is_known_to_have_none() -> None:
    assert read_local(b"<r><client></client></r>", None).profiles == ()


@pytest.mark.parametrize(
    ("text", "restarts"),
    [
        pytest.param("", True, id="yes is the default"),
        pytest.param("<auto_restart>no</auto_restart>", False, id="no"),
        pytest.param("<auto_restart>no</auto_restart><auto_restart>yes</auto_restart>", True, id="last wins"),
        pytest.param("<auto_restart> no </auto_restart>", True, id="a value is compared untrimmed"),
        pytest.param("<auto_restart>no</auto_restart><auto_restart>x</auto_restart>", False, id="no value"),
    ],
)
def test_auto_restart(text: str, restarts: bool) -> None:
    assert read_local(f"<r><client>{text}</client></r>".encode(), None).auto_restart is restarts


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(b"a.b=1\n", {"a.b": "1"}, id="a line"),
        pytest.param(
            b"a=1\r\na = 2 # why\n", {"a": "2"}, id="the last line counts, blanks and comments do not"
        ),
        pytest.param(b"# a=1\nnothing\n=2\n", {}, id="comments and lines that set nothing"),
        pytest.param(b"a=\xff\n", {"a": "\\xff"}, id="bytes that are no text"),
    ],
)
def test_internal_options(text: bytes, found: dict[str, str]) -> None:
    assert read_internal_options(text) == found


def test_remote_conf_0_ignores_what_is_shared() -> None:
    assert read_local(None, b"agent.remote_conf=0").ignores_shared
    assert not read_local(None, b"agent.remote_conf=0\nagent.remote_conf=1").ignores_shared


@pytest.mark.parametrize(
    ("gate", "conf", "internal", "opens"),
    [
        pytest.param("logcollector", None, b"logcollector.remote_commands=1", True, id="switched on"),
        pytest.param("logcollector", None, b"", False, id="off is the default"),
        pytest.param("wodle_command", None, b"logcollector.remote_commands=1", False, id="another switch"),
        pytest.param("none", None, None, True, id="no switch"),
        pytest.param("unheard-of", None, None, False, id="an unknown gate is shut"),
        pytest.param(
            "prefilter",
            b"<r><syscheck><allow_remote_prefilter_cmd>yes</allow_remote_prefilter_cmd></syscheck></r>",
            None,
            True,
            id="a switch in the local configuration",
        ),
        pytest.param("prefilter", b"<r/>", None, False, id="which is off by default"),
    ],
)
def test_gates(gate: str, conf: bytes | None, internal: bytes | None, opens: bool) -> None:
    assert read_local(conf, internal).gate_open(gate) is opens


def test_a_configuration_that_is_too_large_tells_no_profiles() -> None:
    local = read_local(CONF + b" " * (10 << 20), None)
    assert local.profiles is None
    assert list(local.sections) == []


@pytest.mark.parametrize(
    ("conf", "problem"),
    [
        pytest.param(
            b"garbage <<<< not xml",
            "local.conf:1 cannot be read: `<` begins no element here",
            id="what is no document",
        ),
        pytest.param(
            CONF[: CONF.index(b"<config-profile>")],
            "local.conf:1 cannot be read: `any_root` is not closed at the end of the file",
            id="one that was cut",
        ),
        pytest.param(b"", "local.conf:1 cannot be read: no section stands in it", id="one that was emptied"),
    ],
)
def test_a_configuration_that_cannot_be_read_tells_no_profiles(conf: bytes, problem: str) -> None:
    local = read_local(conf, None)
    assert [found.text() for found in local.problems] == [problem]
    assert local.profiles is None
    assert local.auto_restart


def test_what_was_read_before_the_fault_counts_for_restarts() -> None:
    local = read_local(CONF[: CONF.index(b"</client>")], None)
    assert (local.profiles, local.auto_restart) == (None, False)
    assert local.problems


@pytest.mark.parametrize(
    ("internal", "problems"),
    [
        pytest.param(b"agent.remote_conf=1\n", [], id="on"),
        pytest.param(
            b"a=1\nagent.remote_conf=maybe\n",
            [
                "local_internal_options.conf:2 agent.remote_conf is `maybe`, neither 0 nor 1, and taken for 1",
            ],
            id="neither",
        ),
        pytest.param(b"agent.remote_conf=maybe\nagent.remote_conf=0\n", [], id="the last line counts"),
    ],
)
def test_a_switch_that_is_neither_on_nor_off_is_told(internal: bytes, problems: list[str]) -> None:
    assert [found.text() for found in read_local(CONF, internal).problems] == problems


@given(st.binary(max_size=300), st.binary(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read(conf: bytes, internal: bytes) -> None:
    local = read_local(conf, internal)
    assert isinstance(local.ignores_shared, bool)
    assert (local.profiles is None) == any(problem.file == LOCAL_CONF for problem in local.problems)
    list(local.sections)
