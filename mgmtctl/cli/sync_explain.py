"""Where one agent stands, as a page of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mgmtctl.operations.sync import Explanation

_DIGITS = 12
_MOST_NAMED = 3
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


class Explained:
    """An explanation as a page of text, or as its record when a format is asked for."""

    def __init__(self, explanation: Explanation) -> None:
        self._explanation = explanation

    def record(self) -> dict[str, Any]:
        """The record of the explanation."""
        return self._explanation.record()

    def text(self) -> str:
        """One fact a line."""
        found = self._explanation
        where, stage = found.where, found.where.stage
        lines = [
            f"agent   {where.id} {where.name}, groups {', '.join(where.groups)}",
            f"stage   {stage.name}",
            f"why     {stage.why}",
            f"next    {stage.next_step or 'nothing'}",
            f"target  {self._target()}",
            f"has     {self._has()}",
            f"uses    {_file(where.running, where.uses) if found.remote_conf else 'no shared files'}",
            f"report  {self._report()}",
            f"local   auto_restart {_yes(found.auto_restart)}, agent.remote_conf {int(found.remote_conf)}",
            *(f"local   {problem.text()}" for problem in found.local_problems),
            *self._waiting(),
            *self._newer(),
            *self._changes(),
        ]
        lines += [f"finding {finding.text()}" for finding in found.findings]
        lines += [f"note    {line}" for line in found.warnings]
        lines += [
            f"note    `{conflict.name}`: group `{conflict.winner}` wins over `{'`, `'.join(conflict.losers)}`"
            for conflict in found.conflicts
        ]
        return "\n".join(lines)

    def _target(self) -> str:
        found = self._explanation
        if found.target is None or not found.on_disk:
            return _file(found.target.digest if found.target else None, found.gives)
        changed = [f"{group} changed on disk since r{number}" for group, number in found.on_disk.items()]
        known = [f"{group} r{number}" for group, number in found.gives.items()]
        return f"{', '.join(known + changed)} ({found.target.digest[:_DIGITS]})"

    def _has(self) -> str:
        found = self._explanation
        if not found.pushed_digest:
            return "-"
        when = f", written {_ago(found.now, found.pushed)}" if found.pushed else ""
        return _file(found.pushed_digest, found.where.has) + when

    def _report(self) -> str:
        """The last report: when it came, and what its checksum stands for."""
        found, where = self._explanation, self._explanation.where
        if where.reported_at is None:
            return "none"
        came = _ago(found.now, where.reported_at)
        if where.reported is None:
            return f"{came}, without a checksum"
        if where.reported == "x":
            return f"{came}: it has no merged file"
        if found.reports is None:
            return f"{came}: {where.reported[:_DIGITS]}, which matches no known revision"
        return f"{came}: {_file(where.reported, found.reports)}"

    def _waiting(self) -> Iterator[str]:
        waiting, agent = self._explanation.waiting, self._explanation.where.id
        if waiting is None:
            return
        if waiting.problem:
            yield f"waiting {waiting.problem}"
            return
        checksum = f", reports {waiting.merged_sum[:_DIGITS]}" if waiting.merged_sum else ""
        came = _ago(self._explanation.now, waiting.time)
        yield f"waiting {waiting.event} of {came}{checksum}: mgmtctl agents keepalive --collect {agent}"

    def _newer(self) -> Iterator[str]:
        for revision in self._explanation.newer:
            by = f"{revision.how} by {revision.author.user}" if revision.author else "found on disk"
            files = ", ".join(changed.file for changed in revision.changes[:_MOST_NAMED])
            more = len(revision.changes) - _MOST_NAMED
            changed = f": {files}" + (f" and {more} more" if more > 0 else "") if files else ""
            when = _ago(self._explanation.now, revision.time)
            yield f"newer   {revision.group} r{revision.number}, {by}, {when}{changed}"

    def _changes(self) -> Iterator[str]:
        found = self._explanation
        for change in found.changes:
            edited = " (was changed there)" if change.edited_there else ""
            yield f"change  {change.kind} {change.name}{edited}"
        if found.change_count > len(found.changes):
            yield f"change  {found.change_count} files, of groups that you may not read"


def _file(digest: str | None, revisions: Mapping[str, int] | None) -> str:
    """A merged file, by the revisions it was made of and the beginning of its digest."""
    from mgmtctl.domain.sync import revisions as in_words

    if digest is None:
        return "-"
    if digest == "x":
        return "no merged file"
    return f"{in_words(revisions)} ({digest[:_DIGITS]})" if revisions else digest[:_DIGITS]


def _ago(now: int, then: int | None) -> str:
    """How long ago, in the largest unit that fits."""
    seconds = max(0, now - (then or 0))
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
