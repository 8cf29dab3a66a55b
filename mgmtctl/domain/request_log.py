"""One call in the request log: what is recorded, what is masked, and the two line forms (S 5.4, D 4).

Rules: a secret is masked by the name of its key at any depth; file content is its size and digest; the body of a
context login is the context's name and key names; no value can forge a line, colour a terminal or make a line huge.
Nothing here writes: `logs` does, `request_lines` reads lines back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MASK = "****"
MAX_DEPTH = 20
MAX_ITEMS = 100
MAX_TEXT = 1_000  # characters of one string
MAX_DOCUMENT = 65_536  # characters of all parameters, or of the body
MAX_USER = 128
UNKNOWN_USER = "unknown_user"
RUN_AS_PATH = "/security/user/authenticate/run_as"

_SECRET_PARTS = (
    "passw", "passphrase", "pwd", "secret", "credential", "token", "authorization", "cookie", "apikey", "privatekey",
)  # fmt: skip
_SECRET_WORDS = frozenset({"key", "keys", "pin", "otp", "jwt"})
_NOT_SECRET = frozenset({"auth_token_exp_timeout", "password_file"})
_WORDS = r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])"
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_SAFE_IN_USER = _PLAIN | frozenset("%@+")
_SAFE_IN_PATH = _PLAIN | frozenset("~/:@!$&'()*+,;=")
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One call: `time` in seconds since 1970, `seconds` it took, `parameters` as the operation got them (raw)."""

    time: float
    user: str
    context_id: str | None
    address: str
    method: str
    path: str
    parameters: Mapping[str, Any]
    seconds: float
    status: int
    uid: int | None = None
    dry_run: bool = False
    reason: str | None = None


def plain_line(record: RequestRecord, timestamp: str) -> str:
    """The line of S 5.4, without its newline."""
    context_id = _context_id(record)
    user = escape_user(record.user) + (f" ({context_id})" if context_id else "")
    parameters, body = shown(record)
    return (
        f'{timestamp} INFO: {user} {record.address} "{record.method} {escape_path(record.path)}"'
        f" with parameters {printable_json(parameters)} and body {printable_json(body)}"
        f" done in {record.seconds:.3f}s: {record.status}"
    )


def json_line(record: RequestRecord, timestamp: str) -> str:
    """The object of S 5.4 on one line, without its newline; `uid` is the system user of a local call (D 4)."""
    context_id = _context_id(record)
    parameters, body = shown(record)
    payload: dict[str, Any] = {"user": record.user[:MAX_USER]}
    if context_id:
        payload["hash_auth_context"] = context_id
    payload |= {
        "ip": record.address,
        "http_method": record.method,
        "uri": f"{record.method} {escape_path(record.path)}",
        "parameters": parameters,
        "body": body,
        "time": f"{record.seconds:.3f}s",
        "status_code": record.status,
    }
    if record.uid is not None:
        payload["uid"] = record.uid
    entry = {"timestamp": timestamp, "levelname": "INFO", "data": {"type": "request", "payload": payload}}
    return printable_json(entry)


def shown(record: RequestRecord) -> tuple[dict[str, Any], dict[str, Any]]:
    """(parameters, body) as the log may show them: plain JSON, masked and bounded."""
    parameters: dict[str, Any] = {}
    body: dict[str, Any] = {}
    for name, value in record.parameters.items():
        if _is_context(value):
            body = context_summary(value.document)
            continue
        plain = MASK if is_secret(name) and value is not None else masked(value)
        if plain is not _NOTHING:
            parameters[name] = plain
    if record.dry_run:
        parameters["dry_run"] = True
    if record.reason:
        parameters["reason"] = _text(record.reason)
    return _bounded(parameters), _bounded(body)


def is_secret(key: str) -> bool:
    """Whether the value under a key of this name must not be shown."""
    if key in _NOT_SECRET:
        return False
    joined = key.casefold().replace("_", "").replace("-", "").replace(" ", "").replace(".", "")
    return any(part in joined for part in _SECRET_PARTS) or any(
        word.casefold() in _SECRET_WORDS for word in re.findall(_WORDS, key)
    )


def masked(value: Any, depth: int = 0) -> Any:
    """`value` as plain JSON with every secret masked; what has no plain form is left out of its container."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return _digest(bytes(value))
    if depth >= MAX_DEPTH:
        return "..."
    if hasattr(value, "record"):
        value = value.record()
    elif hasattr(value, "__dataclass_fields__"):
        fields = {name: getattr(value, name) for name in value.__dataclass_fields__}
        value = {name: found for name, found in fields.items() if found is not None and found != ()}
    elif hasattr(value, "__fspath__"):
        return _text(str(value))
    if isinstance(value, Mapping):
        return _masked_mapping(value, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return _masked_items(sorted(value, key=repr) if isinstance(value, set | frozenset) else value, depth)
    return _NOTHING


def context_summary(document: Mapping[str, Any]) -> dict[str, Any]:
    """An authorization context for the log: its name, and its key names with every value masked."""
    summary: dict[str, Any] = {}
    for key in list(document)[:MAX_ITEMS]:
        value = document[key]
        if key == "name" and isinstance(value, str):
            summary["name"] = _text(value)
        elif key == "auth" and isinstance(value, Mapping):
            summary["auth"] = {_text(inner): MASK for inner in list(value)[:MAX_ITEMS]}
        else:
            summary[_text(key)] = MASK
    return summary


def escape_user(name: str) -> str:
    """A user name, attempted ones included, as one word that no other part of the line can be mistaken for."""
    if not name:
        return UNKNOWN_USER
    return "".join(letter if letter in _SAFE_IN_USER else _escaped(ord(letter)) for letter in name[:MAX_USER])


def escape_path(path: str) -> str:
    """A filled path as a URL writes it: everything that is not plainly part of a path percent-encoded."""
    shown = path[:MAX_TEXT]
    if _SAFE_IN_PATH.issuperset(shown):
        return shown
    raw = shown.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if chr(byte) in _SAFE_IN_PATH else f"%{byte:02X}" for byte in raw)


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:x}}}"


def _context_id(record: RequestRecord) -> str | None:
    """That of the session; on the context login itself that of the context it brings, also when it fails."""
    if record.context_id or record.path != RUN_AS_PATH:
        return record.context_id
    brought = [value.id for value in record.parameters.values() if _is_context(value)]
    return str(brought[0]) if brought else None


def _is_context(value: Any) -> bool:
    """An AuthContext; asked by shape, so that a log line loads no rule language."""
    return hasattr(value, "document") and hasattr(value, "id")


def _masked_mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, (key, item) in enumerate(value.items()):
        if number == MAX_ITEMS:
            found["..."] = f"{len(value) - MAX_ITEMS} more"
            break
        plain = MASK if is_secret(str(key)) and item is not None else masked(item, depth + 1)
        if plain is not _NOTHING:
            found[_text(str(key))] = plain
    return found


def _masked_items(value: Iterable[Any], depth: int) -> list[Any]:
    items = list(value)
    found = [masked(item, depth + 1) for item in items[:MAX_ITEMS]]
    if len(items) > MAX_ITEMS:
        found.append(f"... {len(items) - MAX_ITEMS} more")
    return [item for item in found if item is not _NOTHING]


def _number(value: float) -> float | str:
    """The number, or text for what JSON cannot hold or nobody wants in full."""
    if isinstance(value, int):
        return value if abs(value) < 2**63 else "a very large number"
    return value if abs(value) < float("inf") else str(value)


def _text(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}... {len(text)} characters"


def _digest(data: bytes) -> dict[str, Any]:
    import hashlib

    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _bounded(document: dict[str, Any]) -> dict[str, Any]:
    text = printable_json(document)
    return document if len(text) <= MAX_DOCUMENT else _digest(text.encode())


def printable_json(document: object) -> str:
    """ASCII only, so that no character can end a line, turn the writing direction or colour a terminal."""
    return json.dumps(document, ensure_ascii=True, default=str).replace("\x7f", "\\u007f")
