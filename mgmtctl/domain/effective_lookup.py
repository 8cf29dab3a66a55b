"""Asking an effective configuration for one option: its values, or what it is when nobody sets it.

Rules: a path is that of the vocabulary (`syscheck.frequency`, `syscollector.interval`, `syscheck.directories@realtime`)
or one as values show it, with `[key]`; a section or block means everything in it; an old name or place of a setting is
the setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from mgmtctl.domain import options
from mgmtctl.domain.conf_names import nearest_path
from mgmtctl.domain.effective_values import Effective, Value
from mgmtctl.domain.errors import QuestionError
from mgmtctl.domain.options import Entry

_MARK = re.compile(r"\[[^\]]*\]")


class Answer(NamedTuple):
    """What an option is for an agent: the values that count, or its default (None: none is known)."""

    path: str
    values: tuple[Value, ...]
    default: str | None

    def record(self) -> dict[str, Any]:
        """{"path", "values", "default"}."""
        return {
            "path": self.path,
            "values": [value.record() for value in self.values],
            "default": self.default,
        }


def asked(path: str) -> Entry:
    """The entry that the path means; QuestionError, with the nearest path that there is."""
    plain = _MARK.sub("", path)
    entry = options.find(plain)
    if entry is not None:
        return entry
    near = nearest_path(plain)
    fix = f"did you mean `{near}`?" if near else "mgmtctl options list"
    raise QuestionError(f"no option is called `{path}`", fix=fix)


def answer(found: Effective, path: str, system: str | None) -> Answer:
    """What counts for the path; `system` is that of the agent, on which a default may depend. QuestionError."""
    entry = asked(path)
    name, _, attribute = entry.path.partition("@")
    if attribute:
        return Answer(entry.path, tuple(_attributes(found, path, name, attribute)), default(entry, system))
    wanted = _newest(entry).path
    if "[" in path:
        values = [value for value in found.values if _within(value.path, path)]
    else:
        values = [value for value in found.values if _within(value.option, wanted)]
    return Answer(wanted, tuple(values), default(entry, system))


def default(entry: Entry, system: str | None) -> str | None:
    """What the option is when nobody sets it; None when that is not known, or differs and the system is not known."""
    given = entry.default
    if not isinstance(given, dict):
        return None if given is None else str(given)
    for names, value in given.items():
        if system is not None and system in options.systems(names if names in _groups() else [names]):
            return str(value)
    return None


def _groups() -> Any:
    return options.data()["os_groups"]


def _attributes(found: Effective, path: str, option: str, attribute: str) -> Iterator[Value]:
    """The attribute of each value that has it; of a block it is a value by itself."""
    outer = path.partition("@")[0]
    for value in found.values:
        if value.option == f"{option}@{attribute}":
            if "[" not in path or value.path == path:
                yield value
        elif (
            value.option == option
            and attribute in value.attributes
            and ("[" not in outer or value.path == outer)
        ):
            shown = value.path if value.path.endswith("]") else f"{value.path}[{value.value}]"
            # What it overrode was the option's value, not its own.
            yield replace(
                value,
                path=f"{shown}@{attribute}",
                value=value.attributes[attribute],
                attributes={},
                over=(),
                also=(),
            )


def _within(path: str, outer: str) -> bool:
    return path == outer or path.startswith((f"{outer}.", f"{outer}[", f"{outer}@"))


def _newest(entry: Entry) -> Entry:
    """Where the setting stands now that this entry is an old name or place of."""
    section, _, name = entry.path.rpartition(".")
    moved = entry.facts.get("moved_to")
    if moved:
        return options.find(f"{section}.{moved.replace('/', '.')}") or entry
    inside = options.find(section) if section else None
    known = inside.options.values() if inside is not None else ()
    return next((one for one in known if name in one.facts.get("aliases", ())), entry)
