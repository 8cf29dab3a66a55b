"""What a line of the request log shows, hides and cannot be made to say (S 5.4, D 4)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.request_lines import LogEntry, merged_entries, read_line
from mgmtctl.domain.request_log import (
    MASK,
    MAX_ITEMS,
    RequestRecord,
    is_secret,
    json_line,
    masked,
    plain_line,
)

STAMP = "2026/11/21 09:41:10"


@dataclass(frozen=True)
class Account:
    """An authorization context by shape."""

    document: dict[str, Any]
    id: str = "d8466023fdec3f1310679989d8827eee"


def record(**changes: Any) -> RequestRecord:
    facts: dict[str, Any] = {
        "time": 0.0,
        "user": "ada",
        "context_id": None,
        "address": "127.0.0.1",
        "method": "GET",
        "path": "/agents",
        "parameters": {},
        "seconds": 0.0514,
        "status": 200,
        **changes,
    }
    return RequestRecord(**facts)


def payload(line: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(line)["data"]["payload"]
    return found


def test_the_plain_line_has_the_shape_of_the_description() -> None:
    line = plain_line(record(parameters={"raw": "true"}), STAMP)
    assert line == (
        f'{STAMP} INFO: ada 127.0.0.1 "GET /agents" with parameters {{"raw": "true"}} and body {{}} done in 0.051s: 200'
    )


def test_the_context_id_follows_the_user_in_brackets() -> None:
    line = plain_line(record(context_id="66a28efb5f8db2e93da2b5fb107bec35"), STAMP)
    assert line.startswith(f"{STAMP} INFO: ada (66a28efb5f8db2e93da2b5fb107bec35) 127.0.0.1 ")


def test_the_json_line_has_the_fields_of_the_description() -> None:
    entry = json.loads(json_line(record(context_id="ab" * 16, uid=1000), STAMP))
    assert entry == {
        "timestamp": STAMP,
        "levelname": "INFO",
        "data": {
            "type": "request",
            "payload": {
                "user": "ada",
                "hash_auth_context": "ab" * 16,
                "ip": "127.0.0.1",
                "http_method": "GET",
                "uri": "GET /agents",
                "parameters": {},
                "body": {},
                "time": "0.051s",
                "status_code": 200,
                "uid": 1000,
            },
        },
    }


def test_a_basic_session_has_no_context_field() -> None:
    assert "hash_auth_context" not in payload(json_line(record(), STAMP))


def test_a_context_login_shows_the_id_also_when_it_fails_and_only_key_names_of_the_body() -> None:
    account = Account({"name": "portal", "auth": {"user": "ann", "password": "pw"}, "groups": ["a"]})
    call = record(
        path="/security/user/authenticate/run_as", parameters={"context": account}, status=403, user="wui"
    )
    line = plain_line(call, STAMP)
    assert f"wui ({account.id}) " in line
    assert '"name": "portal", "auth": {"user": "****", "password": "****"}, "groups": "****"' in line
    assert "ann" not in line


def test_a_question_about_a_context_does_not_look_like_a_session_of_it() -> None:
    call = record(path="/security/decisions", parameters={"context": Account({"name": "x"})})
    assert "hash_auth_context" not in payload(json_line(call, STAMP))


def test_a_dry_run_and_its_reason_are_logged_as_such() -> None:
    shown = payload(json_line(record(dry_run=True, reason="JIRA-1"), STAMP))["parameters"]
    assert shown == {"dry_run": True, "reason": "JIRA-1"}


@pytest.mark.parametrize(
    "key",
    [
        "password", "Password", "new_password", "passwd", "pwd", "passphrase", "key", "api_key", "apiKey", "API-KEY",
        "x.api.key", "keys", "private_key", "PrivateKey", "token", "access_token", "tokenValue", "clientSecret",
        "secret", "credentials", "Authorization", "proxy-authorization", "Set-Cookie", "otp", "jwt",
    ],
)  # fmt: skip
def test_secrets_are_known_by_their_key(key: str) -> None:
    assert is_secret(key)


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("user_name", id="user_name"),
        pytest.param("keepalive", id="keepalive is no key"),
        pytest.param("keyword", id="keyword is no key"),
        pytest.param("monkey", id="monkey is no key"),
        pytest.param("auth_token_exp_timeout", id="the life of tokens is no token"),
        pytest.param("password_file", id="the place of a password is none"),
        pytest.param("author", id="author"),
    ],
)
def test_other_keys_are_shown(key: str) -> None:
    assert not is_secret(key)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "list", "b"]), max_size=8),
    st.sampled_from(["password", "apiKey", "token"]),
)
def test_a_secret_is_masked_at_any_depth(way: list[str], key: str) -> None:
    value: Any = {key: "hunter2", "plain": 1}
    for step in way:
        value = [value] if step == "list" else {step: value}
    text = json.dumps(masked(value))
    assert "hunter2" not in text
    assert MASK in text


@settings(max_examples=150, deadline=None)
@given(st.text(), st.text(), st.dictionaries(st.text(), JSON, max_size=4), st.text())
def test_no_value_can_forge_a_line_or_reach_a_terminal(
    user: str, path: str, parameters: dict[str, Any], reason: str
) -> None:
    call = record(user=user, path="/" + path, parameters=parameters, reason=reason)
    for line in (plain_line(call, STAMP), json_line(call, STAMP)):
        assert line.isascii()
        assert line.isprintable()
    match = re.fullmatch(
        r'\S+ \S+ INFO: (\S+) 127\.0\.0\.1 "GET /([^" ]*)" with parameters .* done in 0\.051s: 200',
        plain_line(call, STAMP),
    )
    assert match is not None


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_what_is_written_can_be_read_back_alike_from_both_forms(parameters: dict[str, Any]) -> None:
    call = record(parameters=parameters)
    plain, structured = read_line(plain_line(call, STAMP)), read_line(json_line(call, STAMP))
    assert plain is not None
    assert plain == structured


def test_an_attempted_name_cannot_pass_for_a_context_id() -> None:
    entry = read_line(plain_line(record(user=f"admin ({'a' * 32})"), STAMP))
    assert entry is not None
    assert (entry.user, entry.hash_auth_context) == (f"admin\\x20\\x28{'a' * 32}\\x29", None)


def test_file_content_is_its_size_and_digest() -> None:
    assert masked({"data": b"hello"}) == {
        "data": {"size": 5, "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        pytest.param("x" * 2000, "x" * 1000 + "... 2000 characters", id="a long text is cut"),
        pytest.param(10**5000, "a very large number", id="a number nobody can print"),
        pytest.param(float("nan"), "nan", id="what JSON has no word for"),
        pytest.param([object(), 1], [1], id="what has no plain form is left out"),
        pytest.param({3, 1}, [1, 3], id="a set"),
    ],
)
def test_odd_values_have_a_plain_form(value: object, shown: object) -> None:
    assert masked(value) == shown


def test_many_items_are_counted_and_not_listed() -> None:
    shown = masked([str(number) for number in range(100_000)])
    assert len(shown) == MAX_ITEMS + 1
    assert shown[-1] == "... 99900 more"


def test_a_line_stays_small_whatever_is_passed() -> None:
    wide = {f"k{n}": ["x" * 900] * 90 for n in range(90)}
    line = json_line(record(parameters={"document": wide}), STAMP)
    assert len(line) < 2_000
    assert set(payload(line)["parameters"]) == {"size", "sha256"}


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("", id="empty"),
        pytest.param("2026/11/21 09:41:10 INFO: starting", id="another message"),
        pytest.param("{", id="broken json"),
        pytest.param('{"data": []}', id="another object"),
        pytest.param('{"data": {"type": "informative", "payload": "x"}}', id="another type"),
        pytest.param("[" * 100_000, id="deep"),
        pytest.param(f'{STAMP} INFO: a 1.2.3.4 "GET /" with parameters {{"a": and', id="cut"),
    ],
)
def test_other_lines_are_none(line: str) -> None:
    assert read_line(line) is None


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_reading_is_total(line: str) -> None:
    assert read_line(line) is None or isinstance(read_line(line), LogEntry)


def test_a_call_that_stands_in_both_files_comes_once_and_both_orders_interleave() -> None:
    def entry(second: int, status: int = 200) -> LogEntry:
        found = read_line(plain_line(record(status=status), f"2026/11/21 09:41:{second:02}"))
        assert found is not None
        return found

    only_plain, both, only_json = entry(1), entry(2), entry(3)
    found = list(merged_entries([both, both, only_json], [only_plain, None, both, both, both]))
    assert found == [only_plain, both, both, both, only_json]
