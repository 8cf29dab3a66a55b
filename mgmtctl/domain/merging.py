"""The merged file: many shared files in one, for one group or a combination of groups (S 2.9, D 5, groups.md 2).

Rules: bytes are never changed, a reader counts them and never splits lines; names are ordered level by level in byte
order; the later group wins, agent.conf alone is concatenated; what is left out is reported, never dropped in silence.
A name that may not be joined to a folder never enters a merged file and never leaves one (D 5).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.files import AGENT_CONF, AR_CONF, MERGED, file_name_problem
from mgmtctl.domain.findings import ERROR, WARNING, Finding, blocks
from mgmtctl.domain.groups import quoted

if TYPE_CHECKING:
    from mgmtctl.domain.scopes import Scope

_CONFLICTS_SHOWN = 3
MAX_PATH = 200  # bytes of a shared file's path from the installation root (groups.md 2.3)
HOLDS_NUL = "it holds a NUL byte, which agents cannot receive"


class MergedPart(NamedTuple):
    """One file of a merged file; `group` gave it (several, joined by commas, for a concatenated agent.conf)."""

    name: str
    content: bytes
    group: str


class Conflict(NamedTuple):
    """The same file name in several groups: the file of `winner` is sent, those of `losers` are not (D 5)."""

    name: str
    winner: str
    losers: tuple[str, ...]


class LeftOut(NamedTuple):
    """A file of a group that is not sent, and why (a phrase)."""

    group: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Combination:
    """What agents of these groups get: `parts` in merge order, and what they do not get."""

    tag: str
    parts: tuple[MergedPart, ...]
    conflicts: tuple[Conflict, ...]
    left_out: tuple[LeftOut, ...]


class MergedEntry(NamedTuple):
    """One file inside a merged file: where its content lies (bytes) and the line (from 1) of its header."""

    name: str
    offset: int
    size: int
    line: int


@dataclass(frozen=True, slots=True)
class MergedFile:
    """What a merged file holds, in order; with an `error` among `findings` it must not be used."""

    entries: tuple[MergedEntry, ...]
    findings: tuple[Finding, ...]


def combination_tag(groups: Sequence[str]) -> str:
    """What the first line names: the one group, or 8 hex digits of SHA-256 over the names in order (groups.md 1.4)."""
    if len(groups) == 1:
        return groups[0]
    import hashlib

    return hashlib.sha256(",".join(groups).encode()).hexdigest()[:8]


def left_out(name: str, groups: Sequence[str], content: bytes = b"") -> str | None:
    """Why the file is not part of the merged file of these groups, as a phrase, or None (groups.md 2.3, D 5)."""
    for part in name.split("/"):
        if part.startswith("."):
            return "a name with a leading dot is never sent"
        if part.startswith(MERGED):
            return "a name that begins with `merged.mg` is never sent"
    problem = file_name_problem(name)
    if problem is not None:
        return problem
    length = len(f"{_source_folder(groups)}/{name}".encode())
    if length > MAX_PATH:
        return f"its path has {length} bytes, at most {MAX_PATH} are sent"
    return HOLDS_NUL if b"\0" in content else None


def merge_order(names: Iterable[str]) -> list[str]:
    """The names level by level in byte order, so that folder `packs` comes before `packs.txt` (groups.md 2.2)."""
    return sorted(names, key=_levels)


def combine(groups: Sequence[tuple[str, Mapping[str, bytes]]]) -> Combination:
    """The files of an agent's groups, given in its order, as one set: the later group wins (S 2.9, groups.md 2.4)."""
    names = [group for group, _ in groups]
    givers: dict[str, list[str]] = {}
    folders: set[str] = set()
    refused: list[LeftOut] = []
    for group, files in groups:
        for name in merge_order(files):
            reason = left_out(name, names, files[name]) or _clash(name, givers, folders)
            if reason is None:
                givers.setdefault(name, []).append(group)
                folders.update(_folders_above(name))
            elif name != MERGED:
                refused.append(LeftOut(group, name, reason))
    contents = dict(groups)
    parts = tuple(_part(name, givers[name], contents, len(groups) > 1) for name in merge_order(givers))
    return Combination(combination_tag(names), parts, tuple(_conflicts(givers)), tuple(refused))


def conflicts_among(conflicts: Iterable[Conflict], readable: Scope) -> Iterator[Conflict]:
    """The conflicts between groups that may be read; the names of the others are nobody's business (D 2)."""
    for conflict in conflicts:
        losers = tuple(group for group in conflict.losers if readable.covers(group))
        if losers and readable.covers(conflict.winner):
            yield conflict._replace(losers=losers)


def conflict_lines(conflicts: Iterable[Conflict]) -> Iterator[str]:
    """One line for each file name that several groups of an agent hold."""
    by_name: dict[str, dict[str, None]] = {}
    for conflict in conflicts:
        words = f"`{conflict.winner}` wins over `{'`, `'.join(conflict.losers)}`"
        by_name.setdefault(conflict.name, {})[words] = None
    for name, found in sorted(by_name.items()):
        more = len(found) - _CONFLICTS_SHOWN
        shown = "; ".join(list(found)[:_CONFLICTS_SHOWN])
        yield f"{quoted(name)} in several groups: {shown}" + (f"; and {more} more" if more > 0 else "")


def merged_chunks(tag: str, parts: Iterable[MergedPart], ar_conf: bytes | None) -> Iterator[bytes]:
    """The bytes of `merged_file` piece by piece, for files too large to hold twice."""
    yield b"#%s\n" % tag.encode()
    for name, content in _contents(parts, ar_conf):
        yield b"!%d %s\n" % (len(content), name.encode())
        yield content


def merged_file(tag: str, parts: Iterable[MergedPart], ar_conf: bytes | None) -> bytes:
    """The merged file: the tag, the shared folder's own ar.conf (None: removed), the parts in order (groups.md 2.1).

    An ar.conf that holds a NUL is not written; ask `left_out` to report it.
    """
    return b"".join(merged_chunks(tag, parts, ar_conf))


def target_files(parts: Sequence[MergedPart], ar_conf: bytes | None, tag: str) -> dict[str, bytes]:
    """What `shared/` of an agent's folder shall hold, by name, merged.mg itself last (D 8); a group's ar.conf wins."""
    files = dict(_contents(parts, ar_conf))
    files[MERGED] = merged_file(tag, parts, ar_conf)
    return files


def read_merged(data: bytes, path: str = MERGED) -> MergedFile:
    """What a merged file from outside holds; total on any bytes, every fault is a finding (groups.md 2.6, D 5).

    Reading ends at the first header that cannot be read: where the next one begins is not known any more.
    """
    entries: list[MergedEntry] = []
    findings: list[Finding] = []
    seen: dict[str, int] = {}
    folders: set[str] = set()
    offset, line = 0, 1
    while offset < len(data):
        end = data.find(b"\n", offset)
        content = len(data) if end < 0 else end + 1
        size = 0
        if data[offset : offset + 1] != b"#":
            entry = _entry(data, offset, content, line, path)
            if isinstance(entry, Finding):
                findings.append(entry)
                break
            entries.append(entry)
            findings += _entry_findings(entry, data, path, seen, folders)
            size = entry.size
        line += data.count(b"\n", offset, content + size)
        offset = content + size
    return MergedFile(tuple(entries), tuple(findings))


def unpack(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Each file with its content, in order; the later of two with one name wins. InvalidError with every finding."""
    merged = read_merged(data)
    if blocks(merged.findings):
        first = next(finding for finding in merged.findings if finding.severity == ERROR)
        raise InvalidError(f"{first.path}:{first.line}: {first.message}", findings=merged.findings)
    for entry in merged.entries:
        yield entry.name, data[entry.offset : entry.offset + entry.size]


def _source_folder(groups: Sequence[str]) -> str:
    return f"etc/shared/{groups[0]}" if len(groups) == 1 else f"var/multigroups/{combination_tag(groups)}"


def _levels(name: str) -> list[bytes]:
    return name.encode(errors="surrogateescape").split(b"/")


def _clash(name: str, files: Container[str], folders: Container[str]) -> str | None:
    """A name cannot be a file in one group and a folder in another; the earlier stays (groups.md 2.4)."""
    if name in folders or any(folder in files for folder in _folders_above(name)):
        return "the same name is a file in one place and a folder in another"
    return None


def _folders_above(name: str) -> Iterator[str]:
    end = name.find("/")
    while end >= 0:
        yield name[:end]
        end = name.find("/", end + 1)


def _is_agent_conf(name: str) -> bool:
    return name.rpartition("/")[2] == AGENT_CONF


def _part(
    name: str, givers: Sequence[str], contents: Mapping[str, Mapping[str, bytes]], several: bool
) -> MergedPart:
    if not (several and _is_agent_conf(name)):
        return MergedPart(name, contents[givers[-1]][name], givers[-1])
    pieces = (b"<!-- Source file: %s/agent.conf -->\n%s" % (g.encode(), contents[g][name]) for g in givers)
    return MergedPart(name, b"".join(pieces), ",".join(givers))


def _conflicts(givers: Mapping[str, Sequence[str]]) -> Iterator[Conflict]:
    for name in merge_order(givers):
        *losers, winner = givers[name]
        if losers and not _is_agent_conf(name):
            yield Conflict(name, winner, tuple(losers))


def _contents(parts: Iterable[MergedPart], ar_conf: bytes | None) -> Iterator[tuple[str, bytes]]:
    if ar_conf is not None and b"\0" not in ar_conf:
        yield AR_CONF, ar_conf
    for part in parts:
        yield part.name, part.content


def _entry(data: bytes, offset: int, content: int, line: int, path: str) -> MergedEntry | Finding:
    """The entry whose header is `data[offset:content]`, or what is wrong with the header."""
    header = data[offset : min(content, offset + _HEADER)]
    found = re.fullmatch(rb"!(\+?[0-9]{1,18}|) ([^\n]+?)\r?\n?", header)
    if found is None:
        message = f"expected a header `!SIZE NAME`, got {quoted(_text(header))}"
        return Finding("merged-header", ERROR, message, path, line, 1)
    size = int(found[1] or b"0")
    if size > len(data) - content:
        left = f"{len(data) - content} left in the file"
        return Finding(
            "merged-truncated", ERROR, f"expected {size} bytes of content, got {left}", path, line, 1
        )
    return MergedEntry(_name(found[2]), content, size, line)


def _entry_findings(
    entry: MergedEntry, data: bytes, path: str, seen: dict[str, int], folders: set[str]
) -> Iterator[Finding]:
    """Faults that do not hinder reading the next entry; `seen` (name to line) and `folders` grow."""

    def fault(rule: str, severity: str, problem: str) -> Finding:
        return Finding(rule, severity, f"{quoted(entry.name)} {problem}", path, entry.line, 1)

    problem = file_name_problem(entry.name)
    if problem is not None:
        yield fault("merged-name", ERROR, f"cannot name a shared file: {problem}")
        return
    clash = _clash(entry.name, seen, folders)
    if clash is not None:
        yield fault("merged-clash", ERROR, f"cannot be unpacked: {clash}")
    elif entry.name in seen and entry.name != AR_CONF:
        yield fault("merged-duplicate", WARNING, f"stood on line {seen[entry.name]} already; the later wins")
    if data.find(b"\0", entry.offset, entry.offset + entry.size) >= 0:
        yield fault("merged-nul", WARNING, f"cannot reach agents: {HOLDS_NUL}")
    seen.setdefault(entry.name, entry.line)
    folders.update(_folders_above(entry.name))


def _name(raw: bytes) -> str:
    return raw.decode(errors="surrogateescape")


def _text(raw: bytes) -> str:
    return raw.rstrip(b"\r\n").decode(errors="backslashreplace")


_HEADER = 2048  # bytes of a header line that the agents read (groups.md 8)
