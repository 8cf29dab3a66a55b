"""Contexts, rules and policies of any depth and size end, with a limit that is named (CVE-2026-74039; D 3).

A clock stands by only so that a hang is a failure and no endless run; what is asserted is which limit was named.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest

from mgmtctl.domain.auth_context import MAX_BYTES, MAX_LEVELS, MAX_NODES, parse_context, wrap
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.matching import ContextIndex, judge_rules
from mgmtctl.domain.policies import parse_policy
from mgmtctl.domain.rules import MAX_BYTES as MAX_RULE_BYTES
from mgmtctl.domain.rules import MAX_LEVELS as MAX_RULE_LEVELS
from mgmtctl.domain.rules import parse_rules
from mgmtctl.domain.trace import explain

AT_MOST_SECONDS = 20


@pytest.fixture(autouse=True)
def ends() -> Iterator[None]:
    def give_up(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {AT_MOST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(AT_MOST_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def context(auth: bytes) -> bytes:
    return b'{"name": "x", "auth": ' + auth + b"}"


def deep(levels: int, opening: bytes = b'{"a":', closing: bytes = b"}") -> bytes:
    return context(opening * levels + b"{}" + closing * levels)


READERS: list[Any] = [
    pytest.param(lambda data: parse_context(data), id="with name and auth"),
    pytest.param(lambda data: parse_context(data, accept_raw=True), id="raw"),
    pytest.param(lambda data: wrap("somebody", data), id="wrapped"),
]
TOO_MUCH = [
    pytest.param(deep(100), "at most 6", id="100 objects deep"),
    pytest.param(deep(100, b"[", b"]"), "at most 6", id="100 lists deep"),
    pytest.param(deep(40_000), "at most 6", id="40,000 deep within the size"),
    pytest.param(deep(100_000), "at most 262144 bytes, got ", id="100,000 deep, too large as well"),
    pytest.param(b"[" * 100_000, "at most 6", id="100,000 brackets that never close"),
    pytest.param(context(b"[" + b"1," * 30_000 + b"1]"), "at most 20000 values, got 3000", id="a wide list"),
    pytest.param(
        context(b"{" + b",".join(b'"%d":1' % n for n in range(22_000)) + b"}"),
        "at most 20000 values, got 2200",
        id="a wide object",
    ),
    pytest.param(
        context(b'"' + b"x" * 10_000_000 + b'"'), "at most 262144 bytes, got 10000", id="10 MB of text"
    ),
    pytest.param(
        b'{"name": "x", "auth": {}, "' + b"k" * 10_000_000 + b'": 1}',
        "at most 262144 bytes",
        id="a 10 MB key",
    ),
    pytest.param(context(b'{"a": 1, "a": 2}'), "given twice in one object: `a`", id="a key twice"),
    pytest.param(
        context(b"{" + b",".join([b'"a":1'] * 15_000) + b"}"),
        "given twice in one object: `a`",
        id="15,000 times",
    ),
    pytest.param(context(b"9" * 200_000), "at most 1000, got 200000", id="a huge whole number"),
    pytest.param(context(b'{"n": 1e400}'), "out of range", id="a huge float"),
    pytest.param(context(b'{"n": -1e400}'), "out of range", id="a huge negative float"),
    pytest.param(context(b'{"n": NaN}'), "`NaN`", id="NaN"),
    pytest.param(context(b'{"n": Infinity}'), "`Infinity`", id="infinity"),
    pytest.param(context(rb'{"s": "\ud83d"}'), "half of a surrogate pair", id="a lone high surrogate"),
    pytest.param(context(rb'{"\ude00": 1}'), "half of a surrogate pair", id="a lone low surrogate as a key"),
    pytest.param(context(b'{"s": "\xed\xa0\xbd"}'), "not valid UTF-8", id="a surrogate as bytes"),
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(("data", "limit"), TOO_MUCH)
def test_what_is_too_much_is_refused_with_the_limit(
    read: Callable[[bytes], object], data: bytes, limit: str
) -> None:
    with pytest.raises(InvalidError) as raised:
        read(data)
    assert limit in raised.value.problem
    assert len(raised.value.problem) < 400
    assert raised.value.problem.isprintable()


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(deep(8), id="8 deep"),
        pytest.param(deep(60), id="60 deep"),
        pytest.param(
            context(b'"' + b"x" * 200_000 + b'"').replace(b'"auth": "', b'"auth": {"a": "') + b"}",
            id="200 kB",
        ),
        pytest.param(context(b'{"n": ' + b"9" * 1000 + b"}"), id="1000 digits"),
        pytest.param(context(b'{"s": "\\ud83d\\ude00"}'), id="a whole surrogate pair"),
    ],
)
def test_what_is_large_and_within_the_limits_is_read(read: Callable[[bytes], object], data: bytes) -> None:
    assert read(data) is not None


def legal_contexts() -> dict[str, bytes]:
    """The largest contexts there may be, each of another shape."""
    wide = context(b"{" + b",".join(b'"%d":1' % n for n in range(MAX_NODES - 10)) + b"}")
    listed = context(b'{"a": [' + b",".join([b'"ab"'] * (MAX_NODES - 10)) + b"]}")
    long_text = context(b'{"a": "' + b"a" * (MAX_BYTES - 100) + b'"}')
    return {"deep": deep(MAX_LEVELS - 3), "wide": wide, "listed": listed, "text": long_text}


COSTLY: dict[str, Any] = {
    "patterns on keys": {"FIND": {"r'(a|b|ab)*c?'": "r'(a*)*b?'"}},
    "strict pairing": {"FIND$": {"a": ["ab"] * 5_000}},
    "partial pairing": {"FIND": {"a": ["ab", "no such"] * 2_000}},
    "many searches": {"OR": [{"FIND": {"a": f"r'(a|aa)*{n}'"}} for n in range(500)]},
    "deep logic": json.loads('{"NOT":' * 99 + '{"FIND":{"a":"r\'(a|b)*z\'"}}' + "}" * 99),
}


@pytest.mark.parametrize("rule", COSTLY)
@pytest.mark.parametrize("shape", legal_contexts())
def test_the_costliest_rules_end_on_the_largest_contexts_and_grant_only_what_is_decided(
    shape: str, rule: str
) -> None:
    """Turned around by NOT, what was not true is true only if it was decided: never both, and never by a limit."""
    document = parse_context(legal_contexts()[shape]).document
    plain, turned = ([(1, json.dumps([rule_]), None)] for rule_ in (COSTLY[rule], {"NOT": COSTLY[rule]}))
    true, undecided = judge_rules(plain, ContextIndex(document))
    not_true, not_undecided = judge_rules(turned, ContextIndex(document))
    assert bool(undecided) == bool(not_undecided)
    assert len(true) + len(not_true) + bool(undecided) == 1
    assert explain([COSTLY[rule]], ContextIndex(document)).verdict in (True, False, None)


def nested(operator: str, levels: int) -> Any:
    expression: Any = {"FIND": {"a": "b"}}
    for _ in range(levels):
        expression = {operator: [expression] if operator != "NOT" else expression}
    return expression


BAD_RULES = [
    pytest.param(nested("NOT", 250), f"at most {MAX_RULE_LEVELS} levels", id="250 NOT"),
    pytest.param(nested("NOT", 100_000), f"at most {MAX_RULE_LEVELS} levels", id="100,000 NOT"),
    pytest.param(nested("AND", 100_000), f"at most {MAX_RULE_LEVELS} levels", id="100,000 AND"),
    pytest.param(
        {"OR": [{"FIND": {"a": "x" * 20}}] * 20_000}, f"at most {MAX_RULE_BYTES} bytes", id="20,000 branches"
    ),
    pytest.param({"FIND": {"a": "x" * 10_000_000}}, f"at most {MAX_RULE_BYTES} bytes", id="10 MB of text"),
    pytest.param(
        {"FIND": {f"k{n}": n for n in range(100_000)}}, f"at most {MAX_RULE_BYTES} bytes", id="100,000 keys"
    ),
    pytest.param({"FIND": {"a": "r'(((a{1,1000}){1,1000}){1,1000})'"}}, "`", id="a pattern that explodes"),
    pytest.param({"FIND": {"a": "\ud800"}}, "not valid Unicode", id="a lone surrogate"),
    pytest.param({"FIND": {"a": float("nan")}}, "FIND", id="NaN"),
]


@pytest.mark.parametrize(("document", "limit"), BAD_RULES)
def test_a_rule_that_is_too_much_is_refused_with_the_limit(document: Any, limit: str) -> None:
    with pytest.raises(InvalidError) as raised:
        parse_rules(document)
    assert limit in " ".join(f"{f.path} {f.message} {f.suggestion}" for f in raised.value.findings)
    assert len(raised.value.problem) < 1_000


def deep_list(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(deep_list(100_000), id="100,000 lists deep"),
        pytest.param(nested("NOT", 100_000), id="100,000 objects deep"),
        pytest.param("x" * 10_000_000, id="10 MB of text"),
        pytest.param(["agent:read"] * 20_000 + [""], id="20,000 items and a bad one"),
        pytest.param(10**1000, id="a huge number"),
        pytest.param(float("nan"), id="NaN"),
        pytest.param("\ud800", id="a lone surrogate"),
    ],
)
@pytest.mark.parametrize("field", ["actions", "resources", "effect", "blocks", "policy"])
def test_a_policy_with_any_such_part_is_refused(field: str, part: Any) -> None:
    block = {"actions": ["agent:read"], "resources": ["agent:id:*"], "effect": "allow"}
    document = {field: part} if field in ("blocks", "policy") else {**block, field: part}
    with pytest.raises(InvalidError) as raised:
        parse_policy(document, "p")
    assert len(raised.value.problem) < 1_000
    assert raised.value.problem.isprintable()
