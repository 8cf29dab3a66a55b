"""The history of a group's files: its revisions, what changed between two, and going back to one (D 5).

Rules: what others changed with their own tools is noticed and recorded before anything is told or compared. Going back
is a new revision, checked like any other change. Agents are counted as far as the caller may read them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from mgmtctl.domain import revisions
from mgmtctl.domain.errors import InvalidError, NotFoundError, QuestionError, UnavailableError
from mgmtctl.domain.file_diff import FileDiff, unified
from mgmtctl.domain.files import check_file_name, file_name_problem
from mgmtctl.domain.queries import DATE, NAMES, NUMBER, TEXT, Fields, ListQuery, apply_query
from mgmtctl.operations import access, recording, restoring
from mgmtctl.operations.conf_checks import NO_VALIDATE, Checked, check_content, is_agent_conf
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, one, operation
from mgmtctl.operations.results import Items

if TYPE_CHECKING:
    from mgmtctl.domain.findings import Finding
    from mgmtctl.domain.revisions import Revision, Tree

REVISION_FIELDS: Fields = {
    "revision": NUMBER,
    "time": DATE,
    "author": TEXT,
    "how": TEXT,
    "reason": TEXT,
    "file": NAMES,
    "agents": NUMBER,
}
NO_GROUP = 1710


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """One revision; `agents` were last given it, as far as the caller may read them."""

    revision: Revision
    agents: int

    def record(self) -> dict[str, Any]:
        """{"revision", "group", "time", "author", "context_id", "how", "reason", "changes", "file", "written",
        "agents"}; "author" null: found on disk, where files were "written" (from, to); "file": names in "changes".
        """
        found = self.revision
        return {
            "revision": found.number,
            "group": found.group,
            "time": _timestamp(found.time),
            "author": found.author.user if found.author else None,
            "context_id": found.author.context_id if found.author else None,
            "how": found.how,
            "reason": found.reason,
            "changes": revisions.plain_changes(found.changes),
            "file": [changed.file for changed in found.changes],
            "written": [_timestamp(time) for time in found.written] if found.written else None,
            "agents": self.agents,
        }


@dataclass(frozen=True, slots=True)
class GroupDiff:
    """What differs between two revisions of a group (0: the empty folder before the first)."""

    group: str
    before: int
    after: int
    files: tuple[FileDiff, ...]

    def record(self) -> dict[str, Any]:
        """{"group", "from", "to", "files": [...]} with records of FileDiff."""
        return {
            "group": self.group,
            "from": self.before,
            "to": self.after,
            "files": [found.record() for found in self.files],
        }


@dataclass(frozen=True, slots=True)
class RevisionFile:
    """The bytes of one file as it was at a revision."""

    group: str
    name: str
    revision: int
    content: bytes

    def record(self) -> dict[str, Any]:
        """{"name", "group", "revision", "size", "sha256", "content"}."""
        return {
            "name": self.name,
            "group": self.group,
            "revision": self.revision,
            "size": len(self.content),
            "sha256": hashlib.sha256(self.content).hexdigest(),
            "content": self.content.decode("utf-8", "replace"),
        }


@dataclass(frozen=True, slots=True)
class Rollback:
    """A group, or one file of it, brought back from revision `before` to `to`; `revision` is the new one, None when
    nothing changed.

    `files` differ as from now to then, without their lines for who may not read the group; `left` differ too and were
    left alone: agents never get a file that is called so.
    """

    group: str
    file: str | None
    before: int
    to: int
    revision: int | None
    files: tuple[FileDiff, ...]
    agents: int
    findings: tuple[Finding, ...] = ()
    left: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """{"group", "file", "from", "to", "revision", "files", "agents", "findings", "left"}."""
        return {
            "group": self.group,
            "file": self.file,
            "from": self.before,
            "to": self.to,
            "revision": self.revision,
            "files": [found.record() for found in self.files],
            "agents": self.agents,
            "findings": [finding.record() for finding in self.findings],
            "left": list(self.left),
        }


@operation(needs("group:read", one("group:id", "group_id")), http="GET /groups/{group_id}/revisions")
def list_revisions(
    ctx: Context, group_id: str, file_name: str | None = None, query: ListQuery | None = None
) -> Items[RevisionRow]:
    """List the revisions of a group, the last first; or those that changed one file."""
    if file_name is not None:
        check_file_name(file_name)
    _look(ctx, group_id)
    readable = access.scope(ctx, "agent:read", "agent:id")
    agents = ctx.store.revisions.agents(group_id, readable)
    rows = [
        RevisionRow(found, agents.get(found.number, 0))
        for found in ctx.store.revisions.list(group_id)
        if file_name is None or any(changed.file == file_name for changed in found.changes)
    ]
    if file_name is not None and not rows:
        raise NotFoundError("file", f"{group_id}/{file_name}", why="no revision that is kept changed it")
    asked, total = apply_query(rows, query or ListQuery(), REVISION_FIELDS, ctx.now())
    return Items(asked, total=total)


@operation(needs("group:read", one("group:id", "group_id")), http="GET /groups/{group_id}/diff")
def diff_revisions(
    ctx: Context,
    group_id: str,
    file_name: str | None = None,
    revision: str | None = None,
    to: str | None = None,
) -> GroupDiff:
    """Show what a revision changed (the last, unless one is named), or what differs between two (`revision`, `to`)."""
    if file_name is not None:
        check_file_name(file_name)
    last = _look(ctx, group_id)
    named = None if revision is None else revisions.parse_number(revision)
    first = named or _last_change(ctx, group_id, file_name, last)
    before, after = (first - 1, first) if to is None else (first, revisions.parse_number(to))
    old, new = recording.tree_at(ctx, group_id, before), recording.tree_at(ctx, group_id, after)
    if file_name is not None and file_name not in old and file_name not in new:
        raise NotFoundError("file", f"{group_id}/{file_name}", why=f"neither r{before} nor r{after} has it")
    labels = (f"r{before}", f"r{after}")
    return GroupDiff(group_id, before, after, _differences(ctx, group_id, old, new, labels, file_name))


@operation(
    needs("group:read", one("group:id", "group_id")),
    http="GET /groups/{group_id}/revisions/{revision}/files/{file_name}",
)
def show_revision_file(ctx: Context, group_id: str, file_name: str, revision: str) -> RevisionFile:
    """Give one file of a group as it was at a revision, byte for byte."""
    check_file_name(file_name)
    number = revisions.parse_number(revision)
    _look(ctx, group_id)
    entry = recording.tree_at(ctx, group_id, number).get(file_name)
    if entry is None:
        raise NotFoundError("file", f"{group_id}/{file_name}", why=f"r{number} does not have it")
    return RevisionFile(group_id, file_name, number, ctx.folders.revisions.read(*entry))


@operation(needs("group:update_config", one("group:id", "group_id")), http="POST /groups/{group_id}/rollback")
def rollback_files(
    ctx: Context,
    group_id: str,
    file_name: str | None = None,
    to: str | None = None,
    if_match: str | None = None,
    accept_risk: Sequence[str] = (),
) -> Rollback:
    """Bring a group, or one file of it, back to revision `to`; without one, undo what changed it last.

    What changed a group that came again is that it was gone: it goes back to the last files it had before.
    An agent.conf with errors is refused; `accept_risk` and `if_match` as for putting a file, but for a whole group
    `if_match` is `rN`: only if that is its last revision.
    """
    if file_name is not None:
        check_file_name(file_name)
    if not ctx.folders.group_exists(group_id):
        raise NotFoundError("group", group_id, code=NO_GROUP, fix=restoring.commands(ctx.store, group_id))
    wanted = None if to is None else revisions.parse_number(to)
    with recording.alone(ctx, "files rollback"):
        now = _present(ctx, group_id)
        _require_match(ctx, now, file_name, if_match)
        number = wanted or _before_last_change(ctx, now, file_name)
        then = recording.tree_at(ctx, group_id, number)
        differ = [
            changed.file for changed in revisions.changes(now.tree, then) if file_name in (None, changed.file)
        ]
        names = [name for name in differ if file_name_problem(name) is None]
        if file_name is not None and file_name not in now.tree and file_name not in then:
            why = f"neither r{number} nor the group has it"
            raise NotFoundError("file", f"{group_id}/{file_name}", why=why)
        contents = {name: _bytes(ctx, then.get(name)) for name in names}
        accept = NO_VALIDATE in accept_risk
        checked = [_checked(ctx, group_id, name, data, accept) for name, data in contents.items()]
        shown = _shown(ctx, now, then, number, names)
        made = _go_back(ctx, group_id, contents, checked)
    agents = ctx.store.agents.counts(access.scope(ctx, "agent:read", "agent:id")).get(group_id, 0)
    findings = tuple(finding for found in checked for finding in found.findings)
    findings += tuple(restoring.emptied(group_id, contents, number, agents))
    left = tuple(name for name in differ if name not in contents)
    return Rollback(group_id, file_name, now.number, number, made, shown, agents, findings, left)


class _Present(NamedTuple):
    """The files of a group now, and the number they have, or would have in a dry run."""

    group: str
    number: int
    tree: Tree
    files: Mapping[str, bytes]  # in a dry run: what is not recorded can be read nowhere else


def _present(ctx: Context, group: str) -> _Present:
    recording.notice(ctx, group, alone=True)
    head = ctx.store.revisions.head(group)
    tree = ctx.store.revisions.tree(head.tree) if head else {}
    if not ctx.dry_run:
        return _Present(group, head.number if head else 0, tree, {})
    files = recording.content_now(ctx, group)
    actual = revisions.tree_of(files)
    return _Present(group, (head.number if head else 0) + (actual != tree), actual, files)


def _require_match(ctx: Context, now: _Present, file_name: str | None, if_match: str | None) -> None:
    if if_match is None:
        return
    if file_name is not None:
        entry = now.tree.get(file_name)
        recording.require_match(ctx, now.group, file_name, entry[0] if entry else None, if_match)
        return
    if not revisions.is_number(if_match):
        raise QuestionError("a whole group is compared by its last revision", fix="--if-match rN")
    if revisions.parse_number(if_match) != now.number:
        asked = revisions.parse_number(if_match)
        raise revisions.changed_meanwhile(now.group, f"expected r{asked}, it is r{now.number}")


def _before_last_change(ctx: Context, now: _Present, file_name: str | None) -> int:
    if file_name is None or file_name in {
        changed.file for changed in revisions.changes(_recorded(ctx, now.group), now.tree)
    }:
        last = now.number
    else:
        last = _last_change(ctx, now.group, file_name, now.number)
    numbers = ctx.store.revisions.numbers(now.group)
    revisions.require_known(now.group, last - 1, numbers)
    return restoring.before(ctx.store, now.group, last) if last in numbers else last - 1


def _recorded(ctx: Context, group: str) -> Tree:
    head = ctx.store.revisions.head(group)
    return ctx.store.revisions.tree(head.tree) if head else {}


def _checked(ctx: Context, group: str, name: str, content: bytes | None, accept: bool) -> Checked:
    """As `files put` checks it; what is not agents' configuration was there before and may come back as it was."""
    if content is None or not is_agent_conf(name):
        return Checked()
    try:
        return check_content(ctx, group, name, content, accept=accept)
    except InvalidError as error:
        if not _may_read(ctx, group):
            error.findings = ()
        raise


def _go_back(
    ctx: Context, group: str, contents: Mapping[str, bytes | None], checked: Sequence[Checked]
) -> int | None:
    def accept() -> None:
        for found in checked:
            if found.acceptance is not None:
                ctx.store.accepted.add(found.acceptance)

    if not contents:
        return None
    return recording.change(ctx, group, revisions.ROLLBACK, contents, also=accept)


def _shown(
    ctx: Context, now: _Present, then: Tree, number: int, names: Sequence[str]
) -> tuple[FileDiff, ...]:
    """How the files will differ; nothing of their content for who may not read the group."""
    changed = [found for found in revisions.changes(now.tree, then) if found.file in names]
    if not _may_read(ctx, now.group):
        return tuple(FileDiff(found.file, found.change, None, None) for found in changed)
    labels = (f"r{now.number}", f"r{number}")
    return tuple(_difference(ctx, now.group, found, now.tree, then, labels, now.files) for found in changed)


def _may_read(ctx: Context, group: str) -> bool:
    return access.scope(ctx, "group:read", "group:id").covers(group)


def _look(ctx: Context, group: str) -> int:
    """The last revision of a group as it is on disk now; NotFoundError when there is no group and never was."""
    number: int | None = None
    if ctx.folders.group_exists(group) or ctx.store.revisions.head(group) is not None:
        try:
            number = recording.notice(ctx, group)
        except UnavailableError as error:
            # What is recorded can be read all the same.
            number = recording.revision_now(ctx, group)
            ctx.warnings.append(f"the present files of group `{group}` are not recorded: {error.problem}")
    elif not ctx.folders.group_exists(group):
        raise NotFoundError("group", group, code=NO_GROUP)
    return number or 0


def _last_change(ctx: Context, group: str, file_name: str | None, last: int) -> int:
    """The last revision that changed the file, or the group."""
    if file_name is None:
        revisions.require_known(group, last, ctx.store.revisions.numbers(group))
        return last
    for found in ctx.store.revisions.list(group):
        if any(changed.file == file_name for changed in found.changes):
            return found.number
    raise NotFoundError("file", f"{group}/{file_name}", why="no revision that is kept changed it")


def _differences(
    ctx: Context, group: str, old: Tree, new: Tree, labels: tuple[str, str], file_name: str | None
) -> tuple[FileDiff, ...]:
    found = revisions.changes(old, new)
    return tuple(
        _difference(ctx, group, changed, old, new, labels)
        for changed in found
        if file_name in (None, changed.file)
    )


def _difference(
    ctx: Context,
    group: str,
    changed: revisions.Changed,
    old: Tree,
    new: Tree,
    labels: tuple[str, str],
    unrecorded: Mapping[str, bytes] | None = None,
) -> FileDiff:
    """One file that differs; `unrecorded`: contents of `old` that are in no revision yet."""
    name, change = changed.file, changed.change
    before, after = old.get(name), new.get(name)
    shown = (f"{group}/{name}\t{labels[0]}", f"{group}/{name}\t{labels[1]}")
    try:
        there = unrecorded[name] if unrecorded and name in unrecorded else _bytes(ctx, before)
        lines, omitted = unified(there, _bytes(ctx, after), shown)
    except UnavailableError as error:
        lines, omitted = (), error.problem
    return FileDiff(name, change, before, after, lines, omitted)


def _bytes(ctx: Context, entry: tuple[str, int] | None) -> bytes | None:
    return None if entry is None else ctx.folders.revisions.read(*entry)


def _timestamp(seconds: int) -> str:
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
