"""Authorization contexts: what a login says about a person, read strictly and identified (S 2.1, D 3).

Rules: a context is a JSON object of its own, never a stand-in for anything; `name` (text) and `auth` (object) are
required unless raw ones are accepted; what two readers could understand differently (a key given twice, NaN, broken
Unicode) is refused, and so is what is too large to judge, each with the limit and what was found. `load_json` is that
strict reader; rules and policies from files come through it too. Nothing here recurses over input.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from mgmtctl.domain.errors import InvalidError

MAX_BYTES = 256 * 1024
MAX_LEVELS = 64
MAX_NODES = 20_000
MAX_DIGITS = 1_000
CONTEXT = "authorization context"
MAX_SAID = 40  # characters of a refused text that a message repeats

TOO_LARGE = 413  # error code of a document with too many bytes, as the HTTP status for it
NOT_JSON = 1018

_TEXTS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NO_BRACKET = re.compile(r"[^\[\]{}]+")
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class AuthContext:
    """A context: its JSON object, and the id under which logs and sessions know it."""

    document: dict[str, object]
    id: str

    @property
    def name(self) -> str:
        """Its `name`, or nothing for a raw one without."""
        name = self.document.get("name")
        return name if isinstance(name, str) else ""


def parse_context(data: bytes, what: str = CONTEXT, *, accept_raw: bool = False) -> AuthContext:
    """The context that `data` (UTF-8 JSON, at most 256 KiB) holds; `accept_raw` lifts the need of `name` and `auth`.

    `what` names it in messages, as a file does. InvalidError: not strict JSON (code 1018), too many bytes (413), levels
    or values, or not of the required form.
    """
    document = _context_object(data, what, MAX_LEVELS)
    if not accept_raw:
        _check_form(document, what)
    return AuthContext(document, context_id(document))


def wrap(name: str, data: bytes, what: str = CONTEXT) -> AuthContext:
    """The raw account document `data` as a context: `{"name": name, "auth": document}`. InvalidError likewise."""
    if not _is_unicode(name):
        raise InvalidError("the name of a context is not valid Unicode", code=NOT_JSON)
    document: dict[str, object] = {"name": name, "auth": _context_object(data, what, MAX_LEVELS - 1)}
    _check_nodes(document, what, MAX_NODES)
    return AuthContext(document, context_id(document))


def context_id(document: object) -> str:
    """32 hex digits: BLAKE2b, 16 bytes, over the canonical JSON, so order of keys and blanks do not matter (D 3)."""
    from hashlib import blake2b

    return blake2b(canonical(document), digest_size=16).hexdigest()


def canonical(document: object) -> bytes:
    """JSON with sorted keys and without blanks, as UTF-8."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def load_json(
    data: bytes, what: str, *, max_bytes: int, max_levels: int, max_nodes: int | None = None
) -> object:
    """The one JSON value in `data`, read strictly; `what` names it in messages ("policy", "rule" ...).

    A byte order mark is skipped. InvalidError: more than `max_bytes` (code 413), `max_levels` (objects and lists inside
    each other) or `max_nodes` values, not UTF-8, not JSON, a key given twice, NaN, infinities, half a surrogate pair.
    """
    if len(data) > max_bytes:
        raise InvalidError(f"{what} is too large: at most {max_bytes} bytes, got {len(data)}", code=TOO_LARGE)
    text = _decoded(data, what)
    _check_levels(text, what, max_levels)
    document = _parsed(text, what)
    if _HALF_PAIR.search(text) and not _is_unicode(json.dumps(document, ensure_ascii=False)):
        raise _unreadable(what, "a `\\u` escape is half of a surrogate pair, which is not valid Unicode")
    if max_nodes is not None:
        _check_nodes(document, what, max_nodes)
    return document


def _context_object(data: bytes, what: str, max_levels: int) -> dict[str, object]:
    document = load_json(data, what, max_bytes=MAX_BYTES, max_levels=max_levels, max_nodes=MAX_NODES)
    if not isinstance(document, dict):
        raise InvalidError(f"{what}: expected an object, got {json_type(document)}", code=NOT_JSON)
    return document


def _check_form(document: dict[str, object], what: str) -> None:
    faults = [
        f"`{key}` is missing" if key not in document else f"`{key}` is {json_type(document[key])}"
        for key, kind in (("name", str), ("auth", dict))
        if not isinstance(document.get(key), kind)
    ]
    if faults:
        raise InvalidError(
            f"{what}: {' and '.join(faults)}; a context has `name` (text) and `auth` (an object)",
            fix="for an account document as another system shows it, `--wrap NAME` puts it under `auth`",
        )


def json_type(value: object) -> str:
    """What a JSON value is, in the words of messages."""
    return _TYPES.get(type(value), "no JSON value")


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _unreadable(what, f"byte {error.start + 1} is not valid UTF-8") from None


def _check_levels(text: str, what: str, limit: int) -> None:
    """Before the parser sees it: the parser recurses. Counts brackets outside of texts."""
    if text.count("{") + text.count("[") <= limit:
        return
    deepest = level = 0
    for bracket in _NO_BRACKET.sub("", _TEXTS.sub("", text)):
        level += 1 if bracket in "{[" else -1
        deepest = max(deepest, level)
    if deepest > limit:
        raise InvalidError(f"{what} is nested too deep: at most {limit} levels, got {deepest}", code=NOT_JSON)


def _check_nodes(document: object, what: str, limit: int) -> None:
    count, rest = 0, [document]
    while rest:
        value = rest.pop()
        count += 1
        if isinstance(value, dict):
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)
    if count > limit:
        raise InvalidError(f"{what} holds too much: at most {limit} values, got {count}", code=NOT_JSON)


class _RefusedError(ValueError):
    """A value that Python's reader takes and strict JSON does not."""


def _parsed(text: str, what: str) -> object:
    doubled: list[str] = []

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            doubled.extend(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return found

    try:
        document = json.loads(
            text,
            object_pairs_hook=once,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_whole,
        )
    except json.JSONDecodeError as error:
        raise _unreadable(
            what, f"line {error.lineno} column {error.colno}: not JSON: {_reason(error)}"
        ) from None
    except _RefusedError as error:
        raise _unreadable(what, str(error)) from None
    if doubled:
        keys = ", ".join(f"`{cut(key)}`" for key in dict.fromkeys(doubled))
        raise _unreadable(what, f"given twice in one object: {cut(keys, 5 * MAX_SAID)}")
    return document


def _reason(error: json.JSONDecodeError) -> str:
    if not error.doc.strip():
        return "the document is empty"
    return f"{error.msg[0].lower()}{error.msg[1:]}".replace("expecting", "expected").removesuffix(" at")


def _no_constant(name: str) -> object:
    raise _RefusedError(f"`{name}` is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise _RefusedError(f"number `{cut(digits)}` is out of range")
    return number


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _RefusedError(f"a number has too many digits: at most {MAX_DIGITS}, got {len(digits)}")
    return int(digits)


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def cut(text: str, limit: int = MAX_SAID) -> str:
    """`text` for a message: short, and printable on one line whatever it holds."""
    shown = text.encode("unicode_escape").decode() if not text.isprintable() else text
    return shown if len(shown) <= limit else f"{shown[:limit]}..."


def _unreadable(what: str, problem: str) -> InvalidError:
    return InvalidError(f"{what}: {problem}", code=NOT_JSON)


_TYPES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}
