"""Contexts are read strictly, judged against their limits, and known by what they hold."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.auth_context import (
    MAX_BYTES,
    MAX_LEVELS,
    MAX_NODES,
    NOT_JSON,
    TOO_LARGE,
    context_id,
    load_json,
    parse_context,
    wrap,
)
from mgmtctl.domain.errors import InvalidError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def nested(levels: int) -> bytes:
    """A context with as many levels, the root and `auth` included."""
    return b'{"name":"x","auth":' + b'{"a":' * (levels - 2) + b"{}" + b"}" * (levels - 1)


def wide(nodes: int) -> bytes:
    """A context with as many values: root, name, auth, the list, its items."""
    return b'{"name":"x","auth":{"a":[' + b",".join([b"0"] * (nodes - 4)) + b"]}}"


def sized(size: int) -> bytes:
    """A context of as many bytes."""
    start = b'{"name":"x","auth":{"a":"'
    return start + b"a" * (size - len(start) - 3) + b'"}}'


def refused(data: bytes, *, accept_raw: bool = True) -> InvalidError:
    with pytest.raises(InvalidError) as error:
        parse_context(data, accept_raw=accept_raw)
    return error.value


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        pytest.param(b"", "line 1 column 1: not JSON: the document is empty", id="empty"),
        pytest.param(b" \n", "not JSON: the document is empty", id="blank"),
        pytest.param(b"null", "expected an object, got null", id="null"),
        pytest.param(b"[]", "expected an object, got a list", id="list"),
        pytest.param(b'"x"', "expected an object, got text", id="text"),
        pytest.param(b"0", "expected an object, got a number", id="number"),
        pytest.param(b"false", "expected an object, got true or false", id="false"),
        pytest.param(b"{", "line 1 column 2: not JSON: expected property name", id="cut"),
        pytest.param(b'{"a": 1}\nx', "line 2 column 1: not JSON: extra data", id="something after it"),
        pytest.param(b'{"a": 1,}', "not JSON", id="comma at the end"),
        pytest.param(b"{'a': 1}", "not JSON", id="single quotes"),
        pytest.param(b'{"a": "\n"}', "not JSON: invalid control character", id="newline in a text"),
        pytest.param(b'{"a": NaN}', "`NaN` is not a JSON number", id="nan"),
        pytest.param(b'{"a": -Infinity}', "`-Infinity` is not a JSON number", id="infinity"),
        pytest.param(b'{"a": 1e999}', "number `1e999` is out of range", id="float out of range"),
        pytest.param(
            b'{"a": ' + b"9" * 5000 + b"}", "too many digits: at most 1000, got 5000", id="huge integer"
        ),
        pytest.param(b'{"a": 1, "b": 2, "a": 1}', "given twice in one object: `a`", id="key twice"),
        pytest.param(b'{"a": [{"b": 1, "b": 2}], "c": 1, "c": 1}', "`b`, `c`", id="all keys given twice"),
        pytest.param(b'{"a": "\xff"}', "byte 8 is not valid UTF-8", id="not UTF-8"),
        pytest.param('{"a": 1}'.encode("utf-16"), "is not valid UTF-8", id="UTF-16"),
        pytest.param(b'{"a": "\xed\xa0\x80"}', "is not valid UTF-8", id="surrogate as bytes"),
        pytest.param(rb'{"a": "\ud800"}', "half of a surrogate pair", id="half a pair, high"),
        pytest.param(rb'{"a": {"\uDC00x": 1}}', "half of a surrogate pair", id="half a pair, low, in a key"),
    ],
)
def test_what_is_not_strict_json_is_refused(data: bytes, problem: str) -> None:
    error = refused(data)
    assert error.problem.startswith("authorization context: ")
    assert problem in error.problem
    assert error.code == NOT_JSON
    assert "\n" not in error.problem


@pytest.mark.parametrize(
    ("good", "bad", "problem", "code"),
    [
        pytest.param(
            sized(MAX_BYTES), sized(MAX_BYTES + 1), "at most 262144 bytes, got 262145", TOO_LARGE, id="bytes"
        ),
        pytest.param(
            nested(MAX_LEVELS), nested(MAX_LEVELS + 1), "at most 64 levels, got 65", NOT_JSON, id="levels"
        ),
        pytest.param(
            wide(MAX_NODES), wide(MAX_NODES + 1), "at most 20000 values, got 20001", NOT_JSON, id="values"
        ),
    ],
)
def test_a_limit_is_exact_and_named(good: bytes, bad: bytes, problem: str, code: int) -> None:
    assert parse_context(good).document["name"] == "x"
    error = refused(bad)
    assert problem in error.problem
    assert error.code == code


@pytest.mark.parametrize("bracket", [b"[", b'{"a":', b'"\\"[', b"[]["])
def test_deep_input_never_reaches_the_parser(bracket: bytes) -> None:
    data = (bracket * 100_000)[:MAX_BYTES]
    assert refused(data).code == NOT_JSON
    assert refused(b"[" * 100_000).problem.endswith("at most 64 levels, got 100000")


def test_brackets_in_texts_are_no_levels() -> None:
    document = {"name": "[" * 500 + '"\\' + "{" * 500, "auth": {'"[{\\': "]"}}
    assert parse_context(json.dumps(document).encode()).document == document


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        pytest.param(b"{}", "`name` is missing and `auth` is missing", id="empty object"),
        pytest.param(b'{"name": "x"}', "`auth` is missing", id="no auth"),
        pytest.param(b'{"auth": {}}', "`name` is missing", id="no name"),
        pytest.param(b'{"name": 1, "auth": {}}', "`name` is a number", id="name no text"),
        pytest.param(b'{"name": null, "auth": {}}', "`name` is null", id="name null"),
        pytest.param(b'{"name": "x", "auth": []}', "`auth` is a list", id="auth no object"),
        pytest.param(b'{"name": "x", "auth": null}', "`auth` is null", id="auth null"),
    ],
)
def test_name_and_auth_are_required_unless_raw_ones_are_accepted(data: bytes, problem: str) -> None:
    error = refused(data, accept_raw=False)
    assert problem in error.problem
    assert "`--wrap NAME`" in str(error.fix)
    assert parse_context(data, accept_raw=True).document == json.loads(data)


def test_further_keys_are_part_of_a_context() -> None:
    context = parse_context(b'{"name": "x", "auth": {}, "roles": ["a"], "__class__": "os.system"}')
    assert context.name == "x"
    assert context.document["roles"] == ["a"]
    assert context.document["__class__"] == "os.system"


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse_context(b'\xef\xbb\xbf{"name": "x", "auth": {}}').name == "x"


def test_wrap_puts_an_account_document_under_auth() -> None:
    context = wrap("opensearch", b'{"user_name": "admin"}')
    assert context.document == {"name": "opensearch", "auth": {"user_name": "admin"}}
    assert context == parse_context(json.dumps(context.document).encode())


@pytest.mark.parametrize("data", [b"[]", b"null", b"", b'{"a":' * 64 + b"1" + b"}" * 64, wide(MAX_NODES)])
def test_wrap_makes_only_what_would_be_accepted(data: bytes) -> None:
    with pytest.raises(InvalidError):
        wrap("x", data)


def test_wrap_refuses_a_name_that_is_not_unicode() -> None:
    with pytest.raises(InvalidError):
        wrap("\udcff", b"{}")


def test_a_raw_context_may_be_without_a_name() -> None:
    assert parse_context(b'{"name": 5}', accept_raw=True).name == ""


def test_the_id_is_blake2b_over_sorted_json_without_blanks() -> None:
    from hashlib import blake2b

    expected = blake2b('{"auth":{"a":[1,"ü"],"b":null},"name":"x"}'.encode(), digest_size=16).hexdigest()
    context = parse_context(b'{ "name": "x", "auth": {"b": null, "a": [1, "\\u00fc"]} }')
    assert context.id == expected
    assert len(context.id) == 32


def test_the_order_of_a_list_makes_another_id() -> None:
    assert context_id({"a": [1, 2]}) != context_id({"a": [2, 1]})


@settings(max_examples=60)
@given(document=st.dictionaries(st.text(), JSON, max_size=4))
def test_what_json_writes_is_read_and_keeps_its_id(document: dict[str, Any]) -> None:
    compact = parse_context(json.dumps(document).encode(), accept_raw=True)
    spaced = json.dumps(dict(reversed(document.items())), indent=2, ensure_ascii=False).encode()
    assert compact.document == document
    assert compact.id == parse_context(spaced, accept_raw=True).id


@settings(max_examples=80)
@given(data=st.binary(max_size=60) | st.text('{}[]",:\\ua0d81 ', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_on_one_line(data: bytes) -> None:
    problem = ""
    try:
        assert isinstance(parse_context(data, accept_raw=True).document, dict)
    except InvalidError as error:
        problem = error.problem
    assert problem.isprintable()


def test_the_reader_names_the_document_and_takes_its_limits() -> None:
    assert load_json(b"[[1]]", "policy", max_bytes=5, max_levels=2) == [[1]]
    with pytest.raises(InvalidError, match="policy is too large: at most 4 bytes, got 5"):
        load_json(b"[[1]]", "policy", max_bytes=4, max_levels=2)
    with pytest.raises(InvalidError, match="policy is nested too deep: at most 1 levels, got 2"):
        load_json(b"[[1]]", "policy", max_bytes=5, max_levels=1)
    with pytest.raises(InvalidError, match="policy holds too much: at most 2 values, got 3"):
        load_json(b"[[1]]", "policy", max_bytes=5, max_levels=2, max_nodes=2)
