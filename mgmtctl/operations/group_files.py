"""The files of a group: look at them, put and remove them, check them (S 2.9, 2.10; D 5, D 6).

Rules: bytes are stored as given; an agent.conf is checked before it enters; whatever changes a group's files makes its
agents `not synced` in the same step.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mgmtctl.domain import revisions
from mgmtctl.domain.errors import ConflictError, NotFoundError, UnavailableError
from mgmtctl.domain.files import AGENT_CONF, AR_CONF, MERGED, check_file_name
from mgmtctl.domain.findings import WARNING, Finding
from mgmtctl.domain.queries import DATE, NUMBER, TEXT, Fields, ListQuery, apply_query
from mgmtctl.folders import FileInfo
from mgmtctl.operations import access, conf_checks, recording, restoring
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import needs, one, operation
from mgmtctl.operations.results import Items

FILE_FIELDS: Fields = {
    "name": TEXT,
    "group": TEXT,
    "size": NUMBER,
    "sha256": TEXT,
    "modified": DATE,
    "sent": TEXT,
    "why_not": TEXT,
}
NO_GROUP = 1710


@dataclass(frozen=True, slots=True)
class GroupFile:
    """One file of a group; `why_not` says why agents do not get it (None: they do)."""

    group: str
    name: str
    size: int
    modified: float
    sha256: str | None
    why_not: str | None

    def record(self) -> dict[str, Any]:
        """{"name", "group", "size", "sha256", "modified", "sent", "why_not"}."""
        return {
            "name": self.name,
            "group": self.group,
            "size": self.size,
            "sha256": self.sha256,
            "modified": _timestamp(self.modified),
            "sent": self.why_not is None,
            "why_not": self.why_not,
        }


@dataclass(frozen=True, slots=True)
class FileContent:
    """The bytes of one file; the record shows them as text as far as they are."""

    group: str
    name: str
    content: bytes

    def record(self) -> dict[str, Any]:
        """{"name", "group", "size", "sha256", "content"}."""
        return {
            "name": self.name,
            "group": self.group,
            "size": len(self.content),
            "sha256": hashlib.sha256(self.content).hexdigest(),
            "content": self.content.decode("utf-8", "replace"),
        }


@dataclass(frozen=True, slots=True)
class FileChange:
    """What became of a file: `change` is created, updated, removed or unchanged; `agents` is how many it concerns.

    `revision` is the one that the change made (None: none).
    """

    group: str
    name: str
    change: str
    size: int
    sha256: str | None
    agents: int
    findings: tuple[Finding, ...] = ()
    revision: int | None = None

    def record(self) -> dict[str, Any]:
        """{"name", "group", "change", "size", "sha256", "agents", "findings", "revision"}."""
        return {
            "name": self.name,
            "group": self.group,
            "change": self.change,
            "size": self.size,
            "sha256": self.sha256,
            "agents": self.agents,
            "findings": [finding.record() for finding in self.findings],
            "revision": self.revision,
        }


@operation(needs("group:read", one("group:id", "group_id")), http="GET /groups/{group_id}/files")
def list_files(ctx: Context, group_id: str, query: ListQuery | None = None) -> Items[GroupFile]:
    """List the files of a group, and say of each whether agents get it."""
    _require_group(ctx, group_id)
    found = [_row(ctx, group_id, info) for info in ctx.folders.list_files(group_id)]
    asked, total = apply_query(found, query or ListQuery(), FILE_FIELDS, ctx.now())
    return Items(asked, total=total)


@operation(needs("group:read", one("group:id", "group_id")), http="GET /groups/{group_id}/files/{file_name}")
def show_file(ctx: Context, group_id: str, file_name: str) -> FileContent:
    """Give one file of a group, byte for byte; an ar.conf that the group lacks is that of the shared folder."""
    _require_group(ctx, group_id)
    try:
        content = ctx.folders.read_file(group_id, file_name)
    except NotFoundError:
        common = ctx.folders.ar_conf() if file_name == AR_CONF else None
        if common is None:
            raise
        content = common
    return FileContent(group_id, file_name, content)


@operation(
    needs("group:update_config", one("group:id", "group_id")), http="PUT /groups/{group_id}/files/{file_name}"
)
def put_file(
    ctx: Context,
    group_id: str,
    file_name: str,
    content: bytes,
    source: str | None = None,
    if_match: str | None = None,
    edited: bool = False,
    accept_risk: Sequence[str] = (),
) -> FileChange:
    """Put a file into a group as it is; an agent.conf with errors is refused, findings name it `source`.

    `accept_risk` with `no-validate` accepts the errors of exactly these bytes, for the reason of the call (D 6).
    `if_match`: only if the file still has this SHA-256 or is as in revision `rN` (`none`: is not there); ConflictError.
    """
    check_file_name(file_name)
    _require_group(ctx, group_id)
    place = f"{group_id}/{file_name}"
    accept = conf_checks.NO_VALIDATE in accept_risk
    checked = conf_checks.check_content(ctx, group_id, file_name, content, source or place, accept=accept)
    with recording.alone(ctx, "files put"):
        before = _bytes_there(ctx, group_id, file_name)
        recording.require_match(ctx, group_id, file_name, _digest(before), if_match)
        if before == content:
            _accept(ctx, checked)
            return _change(ctx, group_id, file_name, "unchanged", content, checked.findings)
        how = revisions.EDIT if edited else revisions.PUT
        number = recording.change(
            ctx, group_id, how, {file_name: content}, also=lambda: _store_acceptance(ctx, checked)
        )
    kind = "created" if before is None else "updated"
    return _change(ctx, group_id, file_name, kind, content, checked.findings, number)


@operation(
    needs("group:update_config", one("group:id", "group_id")),
    http="DELETE /groups/{group_id}/files/{file_name}",
)
def remove_file(ctx: Context, group_id: str, file_name: str, if_match: str | None = None) -> FileChange:
    """Remove a file from a group; agents lose it at the next sync. `if_match` as for `put_file`."""
    check_file_name(file_name)
    _require_group(ctx, group_id)
    with recording.alone(ctx, "files rm"):
        if all(info.name != file_name for info in ctx.folders.list_files(group_id)):
            raise NotFoundError("file", f"{group_id}/{file_name}", fix=f"mgmtctl files list {group_id}")
        there = _digest(_bytes_there(ctx, group_id, file_name))
        recording.require_match(ctx, group_id, file_name, there, if_match)
        number = recording.change(ctx, group_id, revisions.RM, {file_name: None})
    return _change(ctx, group_id, file_name, "removed", None, (), number)


@operation(needs("group:read", one("group:id", "group_id")), http="GET /groups/{group_id}/validation")
def validate_group_files(ctx: Context, group_id: str, file_name: str | None = None) -> list[Finding]:
    """Check the files of a group as they are on disk now, or one of them."""
    _require_group(ctx, group_id)
    if file_name is not None:
        check_file_name(file_name)
        content = ctx.folders.read_file(group_id, file_name)
        return list(_file_findings(ctx, group_id, file_name, content))
    loaded = ctx.folders.load_group(group_id)
    findings = [
        finding
        for name, content in sorted(loaded.files.items())
        for finding in _file_findings(ctx, group_id, name, content)
    ]
    findings += [_not_sent(group_id, name, why) for name, why in loaded.unreadable]
    findings += restoring.gone_findings(ctx.store, group_id, {*loaded.files, *dict(loaded.unreadable)})
    return findings


@operation(needs("group:read", one("group:id", "group_id")), http="POST /groups/{group_id}/validation")
def validate_document(ctx: Context, group_id: str, content: bytes, source: str = AGENT_CONF) -> list[Finding]:
    """Check a document as if it were the agent.conf of a group, for its agents; findings name it `source`."""
    _require_group(ctx, group_id)
    return conf_checks.document_findings(ctx, group_id, content, source)


def _file_findings(ctx: Context, group: str, name: str, content: bytes) -> Iterator[Finding]:
    if conf_checks.is_agent_conf(name):
        yield from conf_checks.group_findings(ctx, group, name, content)
    why = _why_left_out(group, name, content)
    if why is not None and name != AGENT_CONF:
        yield _not_sent(group, name, why)


def _accept(ctx: Context, checked: conf_checks.Checked) -> None:
    """Keep an acceptance of bytes that are there already; their agents are looked at again."""
    if checked.acceptance is not None:
        with ctx.atomic():
            _store_acceptance(ctx, checked)


def _store_acceptance(ctx: Context, checked: conf_checks.Checked) -> None:
    if checked.acceptance is not None:
        ctx.store.accepted.add(checked.acceptance)


def _not_sent(group: str, name: str, why: str) -> Finding:
    return Finding("not-sent", WARNING, f"agents do not get this file: {why}", f"{group}/{name}")


def _why_left_out(group: str, name: str, content: bytes) -> str | None:
    from mgmtctl.domain.merging import left_out

    return left_out(name, [group], content)


def _require_group(ctx: Context, group: str) -> None:
    if not ctx.folders.group_exists(group):
        raise NotFoundError("group", group, code=NO_GROUP)


def _row(ctx: Context, group: str, info: FileInfo) -> GroupFile:
    """A file with its digest; it is read, because whether it is sent depends on its bytes."""
    digest, why_not = None, info.problem
    if info.problem is None:
        try:
            content = ctx.folders.read_listed(group, info.name)
        except (NotFoundError, ConflictError, UnavailableError) as error:
            why_not = error.problem
        else:
            digest = hashlib.sha256(content).hexdigest()
            why_not = _why_left_out(group, info.name, content)
            if info.name == MERGED:
                why_not = "it is the merged file of this group alone, made from the others"
    return GroupFile(group, info.name, info.size, info.modified, digest, why_not)


def _bytes_there(ctx: Context, group: str, name: str) -> bytes | None:
    try:
        return ctx.folders.read_file(group, name)
    except (NotFoundError, UnavailableError):
        return None


def _change(
    ctx: Context,
    group: str,
    name: str,
    kind: str,
    content: bytes | None,
    findings: Sequence[Finding],
    revision: int | None = None,
) -> FileChange:
    # Only agents that the caller may know of are counted (D 2).
    agents = ctx.store.agents.counts(access.scope(ctx, "agent:read", "agent:id")).get(group, 0)
    return FileChange(
        group, name, kind, len(content or b""), _digest(content), agents, tuple(findings), revision
    )


def _digest(content: bytes | None) -> str | None:
    return None if content is None else hashlib.sha256(content).hexdigest()


def _timestamp(seconds: float) -> str:
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
