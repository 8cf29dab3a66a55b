"""Agents: names, ids, addresses, states, folders and the record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mgmtctl.domain.agents import (
    Agent,
    FolderClaims,
    Reports,
    State,
    check_address,
    check_agent_id,
    check_agent_name,
    padded_id,
    timestamp,
)
from mgmtctl.domain.errors import ConflictError, InvalidError

NOW = 1_700_000_000


@pytest.mark.parametrize("name", ["ab", "Web-1", "db.example_1", "1a", "a" * 128, "..", "007-x"])
def test_name_is_accepted(name: str) -> None:
    assert check_agent_name(name) == name


@pytest.mark.parametrize(
    ("name", "code"),
    [
        pytest.param("", 0, id="empty"),
        pytest.param("a", 0, id="one character"),
        pytest.param("a" * 129, 1738, id="129 characters"),
        pytest.param("web 1", 0, id="a blank"),
        pytest.param("web-1\n", 0, id="a trailing newline"),
        pytest.param("wéb", 0, id="a letter beyond ASCII"),
        pytest.param("wEb\u212a", 0, id="the sign that folds to k"),
        pytest.param("a/b", 0, id="a slash"),
        pytest.param("042", 0, id="digits only are an id"),
        pytest.param("\udcff\udcff", 0, id="odd bytes"),
    ],
)
def test_name_is_refused(name: str, code: int) -> None:
    with pytest.raises(InvalidError) as caught:
        check_agent_name(name)
    assert caught.value.code == code
    assert caught.value.problem.isprintable()


def test_import_may_bring_a_name_of_digits() -> None:
    assert check_agent_name("042", imported=True) == "042"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        pytest.param("1", 1, id="one digit"),
        pytest.param("007", 7, id="padded"),
        pytest.param("12345678", 12345678, id="8 digits"),
    ],
)
def test_id_is_read(text: str, number: int) -> None:
    assert check_agent_id(text) == number


@pytest.mark.parametrize("text", ["", "x", "-1", "1.0", "123456789", "٣", " 1"])
def test_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidError):
        check_agent_id(text)


@pytest.mark.parametrize("text", ["0", "000"])
def test_id_of_the_manager_is_refused(text: str) -> None:
    with pytest.raises(InvalidError) as caught:
        check_agent_id(text)
    assert caught.value.code == 1703


def test_ids_have_three_digits_at_least() -> None:
    assert [padded_id(number) for number in (7, 42, 1234)] == ["007", "042", "1234"]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        pytest.param("any", "any", id="any"),
        pytest.param("10.0.0.7", "10.0.0.7", id="an address"),
        pytest.param("255.255.255.255", "255.255.255.255", id="the last address"),
        pytest.param("10.0.0.0/8", "10.0.0.0/8", id="a network"),
        pytest.param("10.1.2.3/8", "10.0.0.0/8", id="a network is named by its first address"),
        pytest.param("2001:DB8::0:1", "2001:db8::1", id="IPv6 in its short form"),
        pytest.param("2001:db8::/32", "2001:db8::/32", id="an IPv6 network"),
    ],
)
def test_address_is_read(text: str, address: str) -> None:
    assert check_address(text) == address


@pytest.mark.parametrize(
    "text",
    ["", "ANY", "10.0.0", "10.0.0.256", "10.0.0.1.", "01.2.3.4", "10.0.0.0/33", "host", "fe80::%eth0/1"],
)
def test_address_is_refused(text: str) -> None:
    with pytest.raises(InvalidError) as caught:
        check_address(text)
    assert caught.value.code == 1706


@pytest.mark.parametrize(
    ("reports", "state"),
    [
        pytest.param(Reports(), State("never_connected", 0, None), id="nothing was ever reported"),
        pytest.param(Reports(NOW, NOW), State("pending", 0, None), id="started and no keepalive yet"),
        pytest.param(Reports(None, NOW), State("pending", 0, None), id="started only"),
        pytest.param(Reports(NOW - 5), State("active", 0, None), id="a recent keepalive"),
        pytest.param(Reports(NOW - 600), State("active", 0, None), id="600 seconds ago is recent"),
        pytest.param(Reports(NOW - 601), State("disconnected", 4, NOW - 1), id="601 seconds ago is silent"),
        pytest.param(
            Reports(NOW - 601, NOW - 601), State("disconnected", 4, NOW - 1), id="pending is silent too"
        ),
        pytest.param(Reports(NOW - 5, None, NOW - 1, 3), State("disconnected", 3, NOW - 1), id="shut down"),
        pytest.param(
            Reports(NOW - 5, None, None, 1), State("active", 1, None), id="a version that is too high"
        ),
    ],
)
def test_state_follows_from_the_last_report(reports: Reports, state: State) -> None:
    assert reports.at(NOW) == state


def test_record_has_no_key_for_what_is_absent() -> None:
    agent = Agent("007", "web-1", ("default",), Reports().at(NOW), date_add=NOW)
    assert agent.record() == {
        "id": "007",
        "name": "web-1",
        "ip": "any",
        "registerIP": "any",
        "status": "never_connected",
        "status_code": 0,
        "group": ["default"],
        "group_config_status": "not synced",
        "node_name": "unknown",
        "dateAdd": "2023-11-14T22:13:20Z",
    }


def test_record_nests_the_operating_system_and_prefers_the_reported_address() -> None:
    agent = Agent(
        "007", "web-1", ("a", "b"), Reports(NOW - 700).at(NOW),
        register_ip="any", ip="10.0.0.7", os={"name": "Ubuntu"}, last_keep_alive=NOW - 700,
    )  # fmt: skip
    record = agent.record()
    assert (record["os"], record["ip"], record["registerIP"]) == ({"name": "Ubuntu"}, "10.0.0.7", "any")
    assert (record["status"], record["status_code"]) == ("disconnected", 4)
    assert record["disconnection_time"] == timestamp(NOW - 100)


def test_absent_time_has_no_timestamp() -> None:
    assert timestamp(None) is None


@pytest.mark.parametrize(
    "folder",
    [
        pytest.param("/srv/a", id="the same"),
        pytest.param("/srv/a/b", id="inside"),
        pytest.param("/srv", id="above"),
        pytest.param("/srv/a/b/c/d", id="deep inside"),
    ],
)
def test_folder_of_another_agent_is_refused(folder: str) -> None:
    with pytest.raises(ConflictError):
        FolderClaims(["/srv/a"]).claim(folder)


def test_folder_beside_another_is_free_once() -> None:
    claims = FolderClaims(["/srv/a"])
    assert claims.claim("/srv/ab") == "/srv/ab"
    with pytest.raises(ConflictError):
        claims.claim("/srv/ab")


@pytest.mark.parametrize("folder", ["/srv/\udcff", "/srv/a\nb"])
def test_folder_with_odd_characters_is_refused(folder: str) -> None:
    with pytest.raises(InvalidError):
        FolderClaims([]).claim(folder)


@given(st.text(max_size=20))
def test_any_text_is_an_address_in_its_canonical_form_or_refused(text: str) -> None:
    try:
        address = check_address(text)
    except InvalidError:
        return
    assert check_address(address) == address
