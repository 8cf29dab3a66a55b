"""YAML of plain values, written record by record.

Rules: the block style that YAML libraries write, so that their readers give back the same value; a text is plain only
when no reader can take it for anything else; lines are never folded. A library needs half a minute and most of a
gigabyte for a hundred thousand agents, which is why this is not left to one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mgmtctl.cli.text import clean

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+*,;='()-]*(?:[ :][A-Za-z0-9_./@+*,;='()-]+)*")
# What readers take for a truth value or for nothing (YAML 1.1).
_WORDS = frozenset(("y", "yes", "n", "no", "true", "false", "on", "off", "null", "nan", "inf"))
# A key of more characters than a reader looks ahead is written in the long form.
_LONGEST_KEY = 900


def yaml_lines(value: Any, margin: str = "") -> Iterator[str]:
    """The lines of a value (mappings, lists, scalars)."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _entry(_scalar(str(key)), inner, margin)
    elif isinstance(value, (list, tuple)) and value:
        for item in value:
            first, *more = yaml_lines(item, margin + "  ")
            yield f"{margin}- {first[len(margin) + 2 :]}"
            yield from more
    else:
        yield margin + _scalar(value)


def _entry(key: str, value: Any, margin: str) -> Iterator[str]:
    if len(key) > _LONGEST_KEY:
        yield f"{margin}? {key}"
        key = ""
    if isinstance(value, Mapping) and value:
        yield f"{margin}{key}:"
        yield from yaml_lines(value, margin + "  ")
    elif isinstance(value, (list, tuple)) and value:
        yield f"{margin}{key}:"
        yield from yaml_lines(value, margin)
    else:
        yield f"{margin}{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (Mapping, list, tuple)):
        return "{}" if isinstance(value, Mapping) else "[]"
    return _text(str(value))


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + clean(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _number(value: float) -> str:
    written = repr(value)
    if written.lstrip("-") in ("inf", "nan"):
        return written.replace("inf", ".inf").replace("nan", ".nan")
    return written if "." in written else written.replace("e", ".0e")
