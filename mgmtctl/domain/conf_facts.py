"""What is known of one entry of the vocabulary, as a record and in words: `options list` and `options show`.

Rules: the record has the facts as they are, inherited ones filled in; the words say the same to a reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mgmtctl.domain import options
from mgmtctl.domain.conf_names import nearest_path
from mgmtctl.domain.conf_words import in_words
from mgmtctl.domain.errors import NotFoundError
from mgmtctl.domain.fields import NAMES, TEXT, VERSION, Fields
from mgmtctl.domain.groups import quoted
from mgmtctl.domain.options import ALLOWED, ATTRIBUTE, LOCAL_ONLY, OPTION, Entry

Words = str | list[str]
FIELDS: Fields = {
    **dict.fromkeys(("path", "kind", "type", "values", "default", "repeat", "key", "agent_conf"), TEXT),
    **dict.fromkeys(("required", "deprecated", "instead", "runs_command", "certain"), TEXT),
    **dict.fromkeys(("systems", "attributes", "options"), NAMES),
    "since": VERSION,
    **dict.fromkeys(("gate.file", "gate.setting", "gate.value", "gate.default"), TEXT),
    **dict.fromkeys(("stock_check", "rules", "facts"), TEXT),
}


@dataclass(frozen=True, slots=True)
class OptionFacts:
    """One entry of the vocabulary."""

    entry: Entry

    def record(self) -> dict[str, Any]:
        """The facts, inherited ones filled in: `systems`, `since`, `agent_conf`, `stock_check`, `certain`."""
        entry = self.entry
        return {
            "path": entry.path,
            "kind": entry.kind,
            "type": entry.type,
            "values": in_words(entry).replace("`", ""),
            "default": entry.default,
            "required": entry.required,
            "repeat": entry.repeat if entry.kind != ATTRIBUTE else None,
            "key": entry.key,
            "systems": _systems(entry),
            "since": _version(entry.since),
            "agent_conf": entry.agent_conf,
            "deprecated": entry.facts.get("deprecated", False),
            "instead": entry.facts.get("superseded_by") or entry.facts.get("moved_to"),
            "runs_command": entry.facts.get("runs_command", False),
            "gate": _gate(entry),
            "certain": entry.certain,
            "stock_check": dict(entry.ref),
            "attributes": list(entry.attributes),
            "options": list(entry.options),
            "rules": [dict(rule) for rule in entry.rules],
            "facts": {key: value for key, value in entry.facts.items() if key not in _STRUCTURE},
        }

    def row(self) -> dict[str, Any]:
        """The record for a row: what does not fit a cell in a word or two."""
        entry, record = self.entry, self.record()
        inside = len(entry.options)
        values = _ROW_PLACES.get(entry.agent_conf, f"{inside} option{'s' * (inside != 1)}")
        groups = options.data()["os_groups"]
        systems = next((name for name in groups if options.systems(name) == entry.os), record["systems"])
        default = _default(entry.default)
        told = {"values": values} if entry.type == "block" else {}
        return {**record, **told, "default": default, "systems": _ROW_SYSTEMS.get(str(systems), systems)}

    def pairs(self) -> list[tuple[str, Words]]:
        """What is worth saying, by name, in words."""
        entry = self.entry
        said: list[tuple[str, Words | None]] = [
            ("option" if entry.kind == OPTION else entry.kind, entry.path),
            ("values", None if entry.type == "block" else in_words(entry).replace("`", "")),
            ("some only", _limited(entry)),
            ("default", _default(entry.default)),
            ("required", "yes" if entry.required else None),
            ("repeated", _repeat(entry)),
            ("systems", _systems_words(entry)),
            ("since", _version(entry.since)),
            ("agent.conf", _PLACES[entry.agent_conf]),
            ("deprecated", _deprecated(entry)),
            ("runs", _runs(entry)),
            ("stock check", [_effect(key, entry.ref[key]) for key in _shown_effects(entry)]),
            ("attributes", [_line(inner) for inner in entry.attributes.values()]),
            ("options", [_line(inner) for inner in entry.options.values()]),
            ("together", [rule_words(rule) for rule in entry.rules]),
            ("in doubt", None if entry.certain else "some of this was not examined"),
        ]
        return [(name, _wrapped(words)) for name, words in said if words]


def facts_of(path: str) -> OptionFacts:
    """The entry that people call so; NotFoundError with a suggestion."""
    entry = options.find(path)
    if entry is None:
        near = nearest_path(path)
        fix = f"did you mean `{near}`?" if near else "`mgmtctl options list` shows the sections"
        raise NotFoundError("option", quoted(path)[1:-1], fix=fix)
    return OptionFacts(entry)


def listed(path: str | None, all_of_them: bool = False) -> list[OptionFacts]:
    """The sections and modules; or with a path what is below it; or everything. NotFoundError."""
    if path is not None:
        return [OptionFacts(entry) for entry in options.walk(facts_of(path).entry)]
    if all_of_them:
        return [OptionFacts(entry) for entry in options.every()]
    return [OptionFacts(entry) for entry in options.every() if entry.kind not in (OPTION, ATTRIBUTE)]


def rule_words(rule: Mapping[str, Any]) -> str:
    """A relation between options in words."""
    return _RULES[rule["kind"]](rule)


def _if(rule: Mapping[str, Any], key: str = "if") -> str:
    return " and ".join(f"{name} {' or '.join(values)}" for name, values in rule[key].items())


def _names(rule: Mapping[str, Any], between: str = ", ") -> str:
    return between.join(rule["options"])


_WIDTH = 66
_UNITS = {"M": "months", "w": "weeks", "d": "days"}
_RULES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "excludes": lambda rule: f"{_names(rule, ' and ')} exclude each other",
    "multiple_of": lambda rule: f"with {rule['if_set']}, {rule['option']} is in whole {_UNITS[rule['unit']]}",
    "requires_any": lambda rule: (
        f"needs {_names(rule, ' or ')}" + (f", unless {_if(rule, 'unless')}" if "unless" in rule else "")
    ),
    "requires_if": lambda rule: f"needs {rule['option']} with {_if(rule)}",
    "requires_if_set": lambda rule: f"{rule['if_set']} needs {rule['option']}",
    "requires_if_block": lambda rule: f"each {rule['block']} needs {rule['option']}",
    "requires_exactly_one": lambda rule: f"needs one of {_names(rule)}, not both",
    "requires_one_set": lambda rule: f"needs {', or '.join(' with '.join(names) for names in rule['sets'])}",
    "only_if": lambda rule: f"{rule['option']} counts only with {_if(rule)}",
    "only_if_attribute": lambda rule: f"{_names(rule)} only with the attribute {_if(rule)}",
    "not_with_attribute": lambda rule: f"{_names(rule)} not with the attribute {_if(rule)}",
    "no_effect": lambda rule: f"{_names(rule)} without effect with {_if(rule)}",
    "fixed_value": lambda rule: f"{rule['option']} is {' or '.join(rule['values'])} with {_if(rule)}",
    "at_least": lambda rule: f"{rule['option']} is at least {rule['other']}",
}
_STRUCTURE = frozenset(("options", "attributes", "rules", "ref", "modules"))
_PLACES = {
    ALLOWED: "read from it",
    LOCAL_ONLY: "not read from it, only from the local configuration",
    options.MANAGER_ONLY: "not read from it, belongs to managers",
}
_ROW_PLACES = {LOCAL_ONLY: "local only", options.MANAGER_ONLY: "managers only"}
_ROW_SYSTEMS = {"any": "all", "unix": "not windows", "api": "linux,windows,macos"}
_FAULTS = {
    "unknown_option": "an unknown option",
    "bad_value": "a wrong value",
    "empty": "without options",
    "unknown_attribute": "an unknown attribute",
    "bad_attribute": "a wrong attribute",
    "missing_attribute": "an attribute missing",
    "missing": "missing",
    "missing_file": "a file missing",
    "wrong_os": "another system",
    "in_agent_conf": "in agent.conf",
    "on_agent": "on agents",
    "on_windows": "on Windows",
    "unknown_module": "an unknown module",
    "missing_name": "without a name",
    "unknown_section": "an unknown section",
}
_EFFECTS = {
    "rejected": "refused",
    "warned": "logged, and without effect",
    "ignored": "passed, and without effect",
    "unchecked": "passed, and refused by agents of its system",
    "ok": "fine",
}


def _shown_effects(entry: Entry) -> Iterator[str]:
    """The faults that the entry can have."""
    holds = bool(entry.options)
    wanted = {
        "unknown_option": holds,
        "empty": holds,
        "bad_value": entry.type != "none" and entry.kind != ATTRIBUTE,
        "unknown_attribute": bool(entry.attributes),
        "bad_attribute": bool(entry.attributes) or entry.kind == ATTRIBUTE,
        "wrong_os": len(entry.os) < len(options.systems("any")),
        "missing": entry.required,
    }
    return (key for key in _FAULTS if key in entry.ref and wanted.get(key, key in entry.facts.get("ref", ())))


def _effect(key: str, effect: str) -> str:
    return f"{_FAULTS[key]}: {_EFFECTS[effect]}"


def _line(entry: Entry) -> str:
    """An entry inside another one, in a line."""
    values = "" if entry.type == "block" else f"  {in_words(entry)}".replace("`", "")
    limits = [
        *([_default_of(entry.default)] if entry.default is not None else []),
        *(["required"] if entry.required else []),
        *([_systems_words(entry)] if "os" in entry.facts else []),
        *([f"since {entry.facts['since']}"] if entry.facts.get("since") else []),
        *(["deprecated"] if entry.facts.get("deprecated") else []),
        *([_ROW_PLACES[entry.agent_conf]] if entry.facts.get("agent_conf", ALLOWED) != ALLOWED else []),
    ]
    more = f"  ({'; '.join(limits)})" if limits else ""
    return f"{entry.name}{values}{more}"


def _limited(entry: Entry) -> list[str]:
    """The values that some systems or releases do not know."""
    systems, since = entry.facts.get("value_os", {}), entry.facts.get("value_since", {})
    return [
        f"{value}  "
        + "; ".join(
            [
                *([", ".join(_named_systems(systems[value]))] if value in systems else []),
                *([f"since {since[value]}"] if value in since else []),
            ]
        )
        for value in dict.fromkeys((*systems, *since))
    ]


def _named_systems(names: str | list[str]) -> list[str]:
    return ["all but windows"] if names == "unix" else [names] if isinstance(names, str) else names


def _wrapped(words: Words) -> Words:
    """A long text in lines, each as wide as what stands beside the names on a terminal."""
    if isinstance(words, list) or len(words) <= _WIDTH:
        return words
    from textwrap import wrap

    return wrap(words, _WIDTH, break_on_hyphens=False)


def _default_of(default: Any) -> str:
    return f"default {_default(default)}"


def _default(default: Any) -> str | None:
    if isinstance(default, dict):
        return ", ".join(f"{value} ({system})" for system, value in default.items())
    return None if default is None else str(default)


def _repeat(entry: Entry) -> str | None:
    if entry.kind == ATTRIBUTE:
        return None
    words = str(options.data()["repeat_values"][entry.repeat]).rpartition(") ")[2]
    return words.replace("the same `key`", f"the same {entry.key}")


def _systems(entry: Entry) -> list[str]:
    return [name for name in options.data()["os_names"] if name in entry.os]


def _systems_words(entry: Entry) -> str:
    names = _systems(entry)
    missing = [name for name in options.data()["os_names"] if name not in entry.os]
    if not missing:
        return "all"
    return f"all but {', '.join(missing)}" if len(missing) < len(names) else ", ".join(names)


def _version(version: options.Version | None) -> str | None:
    return ".".join(map(str, version)) if version else None


def _deprecated(entry: Entry) -> str | None:
    facts = entry.facts
    newer = facts.get("superseded_by") or facts.get("moved_to")
    instead = f"use {newer}" if newer else None
    if facts.get("no_effect"):
        return "without effect"
    if facts.get("deprecated"):
        since = facts["deprecated"] if isinstance(facts["deprecated"], str) else None
        return ", ".join(filter(None, ("yes" if since is None else f"since {since}", instead)))
    return f"no, but it has a newer place: {newer}" if newer else None


def _gate(entry: Entry) -> dict[str, Any] | None:
    found = options.data()["gates"].get(entry.facts.get("gate"))
    return dict(found) if found else None


def _runs(entry: Entry) -> str | None:
    runs, gate = entry.facts.get("runs_command"), _gate(entry)
    if not runs:
        return None
    what = "a program of the agent" if runs == "bundled" else "a program"
    if not gate:
        return f"{what}, without any switch"
    return f"{what}, only with {gate['setting']}={gate['value']} on the agent (default {gate['default']})"
