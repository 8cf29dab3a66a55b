"""Files that bring many agents: CSV or NDJSON, read into rows, every fault a finding with line and column.

Rules: the columns are name (required), id, ip, groups (in order, separated by `,`) and folder; a file with one fault is
refused whole; whether a name, id, address or folder is free is judged here against what is given as taken, so that all
findings come at once, equal ones as one. Total on any bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from mgmtctl.domain.agents import (
    ANY_ADDRESS,
    check_address,
    check_agent_id,
    check_agent_name,
    padded_id,
)
from mgmtctl.domain.errors import ConflictError, InvalidError, NotFoundError
from mgmtctl.domain.findings import ERROR, Finding
from mgmtctl.domain.memberships import Groups, split_groups
from mgmtctl.domain.resources import NAME_CHARACTERS, closest

COLUMNS = ("name", "id", "ip", "groups", "folder")
MAX_SHOWN = 20
T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z0-9._-]{2,128}")
_PLACE = attrgetter("line", "column")
_DELIMITERS = (",", ";", "\t")
_BOMS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class Row(NamedTuple):
    """One agent of a file, as text: `line` counts from 1; what is missing or blank is empty."""

    line: int
    name: str
    id: str = ""
    ip: str = ""
    groups: str = ""
    folder: str = ""


class Agent(NamedTuple):
    """One agent to add: `number` is None for the next free id; `groups` comma-joined, empty for none."""

    name: str
    number: int | None
    ip: str
    groups: str
    folder: str | None


@dataclass(slots=True)
class Taken:
    """What a new agent must not have: folded names, numbers, addresses (`any` never counts)."""

    names: set[str] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    addresses: set[str] = field(default_factory=set)


class Findings:
    """The faults of one file: equal ones counted at their first place, the first few of each rule kept."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.column_of: Callable[[int, str], int] = lambda line, name: 1
        self.missing_groups: dict[str, None] = {}
        self._kept: dict[str, dict[str, Finding]] = {}
        self._rows: Counter[tuple[str, str]] = Counter()

    def __bool__(self) -> bool:
        return bool(self._rows)

    def of(self, row: Row, name: str, rule: str, message: str, suggestion: str | None = None) -> None:
        """One more error in one column of a row."""
        if self._is_new(rule, message):
            self.add(rule, message, row.line, self.column_of(row.line, name), suggestion)
        else:
            self._rows[rule, message] += 1

    def add(self, rule: str, message: str, line: int, column: int = 1, suggestion: str | None = None) -> None:
        """One more error at a place."""
        if self._is_new(rule, message):
            finding = Finding(rule, ERROR, message, self.path, line, column, suggestion)
            self._kept.setdefault(rule, {})[message] = finding
        self._rows[rule, message] += 1

    def _is_new(self, rule: str, message: str) -> bool:
        kept = self._kept.get(rule, {})
        return message not in kept and len(kept) < MAX_SHOWN

    def shown(self) -> list[Finding]:
        """Of each rule the first fault, then others up to MAX_SHOWN in all, in the order of lines."""
        of_rules = [list(kept.values()) for kept in self._kept.values()]
        firsts = [found[0] for found in of_rules]
        others = sorted((finding for found in of_rules for finding in found[1:]), key=_PLACE)
        chosen = [*firsts, *others[: max(0, MAX_SHOWN - len(firsts))]]
        return [self._counted(finding) for finding in sorted(chosen, key=_PLACE)]

    def _counted(self, finding: Finding) -> Finding:
        rows = self._rows[finding.rule, finding.message]
        if rows == 1:
            return finding
        return replace(finding, message=f"{finding.message} ({rows} rows, first at line {finding.line})")

    def refuse(self) -> None:
        """Raise InvalidError with the findings to show, when there are any."""
        if not self:
            return
        shown, different, count = self.shown(), len(self._rows), self._rows.total()
        why = f"{len(shown)} of {different} different ones are shown" if len(shown) < different else None
        problem = f"`{self.path}` has {count} fault{'' if count == 1 else 's'}, no agent was added"
        named = filter(NAME_CHARACTERS.issuperset, self.missing_groups)  # others are no word of a shell
        fixes = [f"mgmtctl groups create {name}" for name in named]
        fixes[MAX_SHOWN:] = [f"and {len(fixes) - MAX_SHOWN} more"] * (len(fixes) > MAX_SHOWN)
        raise InvalidError(problem, why=why, fix="; ".join(fixes) or None, findings=shown)


def read_fleet(data: bytes, path: str) -> tuple[list[Row], Findings]:
    """The rows of a CSV or NDJSON file, by its extension or its first character, and what cannot be read."""
    findings = Findings(path)
    text = _decoded(data, findings)
    if not text.strip():
        if not findings:
            findings.add("empty", "the file holds no agents", 1)
        return [], findings
    suffix = path.rpartition(".")[2].lower()
    lines = suffix in ("ndjson", "jsonl") or (suffix != "csv" and text.lstrip()[0] in "{[")
    rows = list(_ndjson(text, findings) if lines else _csv(text, findings))
    if not rows and not findings:
        findings.add("empty", "the file holds no agents", 1)
    return rows, findings


def judge(
    rows: Sequence[Row],
    findings: Findings,
    taken: Taken,
    check_groups: Callable[[Groups], object],
    check_folder: Callable[[str], str],
) -> list[Agent]:
    """The agents to add, in order; what is wrong with a row goes to `findings`. `taken` grows with every row.

    `check_groups` raises for groups that an agent cannot be put into (asked once per combination), `check_folder`
    gives a folder back in its normal form or raises.
    """
    judge_of = _Judge(findings, taken, check_groups, check_folder)
    return [judge_of.agent(row) for row in rows]


class _Judge:
    """Judges rows one after the other; what many rows have in common is judged once."""

    def __init__(
        self,
        findings: Findings,
        taken: Taken,
        check_groups: Callable[[Groups], object],
        check_folder: Callable[[str], str],
    ) -> None:
        self._findings = findings
        self._taken = taken
        self._check_groups = check_groups
        self._check_folder = check_folder
        self._groups: dict[str, tuple[str, str | None]] = {}
        self._here: dict[str, int] = {}

    def agent(self, row: Row) -> Agent:
        new = self._name(row)
        return Agent(
            row.name,
            self._number(row, new) if row.id else None,
            self._address(row, new) if row.ip else ANY_ADDRESS,
            self._combination(row) if row.groups else "",
            self._folder(row) if row.folder and new else None,
        )

    def _name(self, row: Row) -> bool:
        """Whether nobody has the name: an agent that is there has its id, address and folder as well."""
        name = row.name
        if not _NAME.fullmatch(name):
            self._checked(row, "name", partial(check_agent_name, imported=True), name)
            return True
        key = name.casefold()
        if key in self._here:
            first = f"first in line {self._here[key]}"
            self._findings.of(row, "name", "name-twice", f"agent `{name}` is named twice", first)
            return False
        self._here[key] = row.line
        if key in self._taken.names:
            self._findings.of(row, "name", "name-taken", f"agent `{name}` exists already")
            return False
        return True

    def _number(self, row: Row, new: bool) -> int | None:
        number = self._checked(row, "id", check_agent_id, row.id)
        if number is None:
            return None
        if new and number in self._taken.numbers:
            self._findings.of(row, "id", "id-taken", f"agent id `{padded_id(number)}` is taken")
        self._taken.numbers.add(number)
        return number

    def _address(self, row: Row, new: bool) -> str:
        address = self._checked(row, "ip", check_address, row.ip)
        if address is None or address == ANY_ADDRESS:
            return ANY_ADDRESS
        if new and address in self._taken.addresses:
            self._findings.of(row, "ip", "address-taken", f"another agent registered from `{address}`")
        self._taken.addresses.add(address)
        return address

    def _combination(self, row: Row) -> str:
        found = self._groups.get(row.groups)
        if found is None:
            found = self._groups[row.groups] = self._judged(row.groups)
        groups, problem = found
        if problem is not None:
            self._findings.of(row, "groups", "groups", problem)
        return groups

    def _judged(self, text: str) -> tuple[str, str | None]:
        try:
            groups = split_groups(text)
            self._check_groups(groups)
        except (InvalidError, ConflictError, NotFoundError) as error:
            if isinstance(error, NotFoundError):
                self._findings.missing_groups[error.name] = None
            return "", error.problem
        return ",".join(groups), None

    def _folder(self, row: Row) -> str | None:
        return self._checked(row, "folder", self._check_folder, row.folder)

    def _checked(self, row: Row, name: str, check: Callable[[str], T], text: str) -> T | None:
        try:
            return check(text)
        except (InvalidError, ConflictError, NotFoundError) as error:
            self._findings.of(row, name, name, error.problem, error.fix)
            return None


def _decoded(data: bytes, findings: Findings) -> str:
    encoding = _BOMS.get(data[:2])
    if encoding:
        findings.add("encoding", f"the file is {encoding}", 1, 1, "save it as UTF-8")
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        findings.add(
            "encoding", f"byte 0x{data[error.start]:02x} is not UTF-8", line, column, "save it as UTF-8"
        )
        return ""


def _csv(text: str, findings: Findings) -> Iterator[Row]:
    import csv
    import io

    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    places: list[int] | None = None
    width = 0
    line = 1
    while True:
        try:
            values = next(reader, None)
        except csv.Error as error:
            findings.add("csv", str(error), line)
            return
        if values is None:
            return
        if any(values):
            if places is None:
                places, width = _header(values, line, findings), len(values)
                if places is None:
                    return
                findings.column_of = _csv_columns(text, delimiter, dict(zip(COLUMNS, places, strict=True)))
            elif len(values) != width:
                findings.add("columns", f"expected {width} columns, got {len(values)}", line)
            else:
                values.append("")
                yield Row(line, *[values[place].strip() for place in places])
        line = reader.line_num + 1


def _header(values: Sequence[str], line: int, findings: Findings) -> list[int] | None:
    """Where each of COLUMNS stands in a row (-1: nowhere), or None when the first line does not say."""
    names = [value.strip().lower() for value in values]
    if "name" not in names:
        hint = f"columns are {', '.join(COLUMNS)}"
        findings.add("header", "the first line names no column `name`", line, 1, hint)
        return None
    for place, name in enumerate(names):
        column = sum(len(value) + 1 for value in values[:place]) + 1
        if name not in COLUMNS:
            _unknown(name, line, column, findings)
        elif name in names[:place]:
            findings.add("header", f"column `{name}` is there twice", line, column)
    return [names.index(name) if name in names else -1 for name in COLUMNS]


def _unknown(name: str, line: int, column: int, findings: Findings) -> None:
    near = closest(name, COLUMNS)
    hint = f"did you mean `{near}`?" if near else f"columns are {', '.join(COLUMNS)}"
    findings.add("header", f"unknown column `{name}`", line, column, hint)


def _csv_columns(text: str, delimiter: str, places: Mapping[str, int]) -> Callable[[int, str], int]:
    """Finds the column at which a field of a row begins; rows are looked at only when something is wrong there."""
    lines: list[str] = []

    def column_of(line: int, name: str) -> int:
        if not lines:
            lines.extend(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
        left, quoted = places[name], False
        for offset, character in enumerate(lines[line - 1] if left > 0 else ""):
            if character == '"':
                quoted = not quoted
            elif character == delimiter and not quoted:
                left -= 1
                if left == 0:
                    return offset + 2
        return 1

    return column_of


def _ndjson(text: str, findings: Findings) -> Iterator[Row]:
    lines = text.split("\n")
    findings.column_of = lambda line, name: max(lines[line - 1].find(f'"{name}"'), 0) + 1
    for number, line in enumerate(lines, 1):
        if line and not line.isspace():
            row = _object(line, number, findings)
            if row is not None:
                yield row


def _object(line: str, number: int, findings: Findings) -> Row | None:
    import json

    try:
        pairs = json.loads(line, object_pairs_hook=tuple)
    except json.JSONDecodeError as error:
        findings.add("json", error.msg[:1].lower() + error.msg[1:], number, error.colno)
        return None
    except (ValueError, RecursionError):
        findings.add("json", "a value is too long or too deep", number)
        return None
    if not isinstance(pairs, tuple):
        findings.add("json", "expected one object a line", number)
        return None
    return _row(pairs, number, findings)


def _row(pairs: Sequence[tuple[str, Any]], number: int, findings: Findings) -> Row | None:
    """The row of an object, given as its pairs; None when a value is of the wrong kind."""
    found: dict[str, str] = {}
    usable = True
    for name, value in pairs:
        column = findings.column_of(number, name) if name not in COLUMNS or name in found else 0
        if name not in COLUMNS:
            _unknown(name, number, column, findings)
            continue
        if name in found:
            findings.add("header", f"`{name}` is there twice", number, column)
        text = _text(name, value)
        if text is None:
            expected = "text or a list of texts" if name == "groups" else "text"
            place = findings.column_of(number, name)
            findings.add(name, f"`{name}`: expected {expected}", number, place)
            usable = False
        found[name] = (text or "").strip()
    if not usable:
        return None
    return Row(number, found.get("name", ""), *[found.get(name, "") for name in COLUMNS[1:]])


def _text(name: str, value: Any) -> str | None:
    """A JSON value as the text that CSV would have; None when it is of the wrong kind."""
    if isinstance(value, str) or value is None:
        return value or ""
    if name == "id" and type(value) is int:
        return str(value)
    if name == "groups" and isinstance(value, list) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    return None
