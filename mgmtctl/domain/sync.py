"""Comparing what an agent folder shall hold with what it holds, and saying where an agent stands.

Rules (D 8): three inputs, not two. `last_written` is what mgmtctl put there at the last push: it tells a hand-edited
file from a stale one, and a file that left the groups from one that was never ours and is left alone. Status, dry
run, `sync plan`, `--verify` and the push itself are views of one `plan`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CREATE = "create"
UPDATE = "update"
OVERWRITE = "overwrite"
REMOVE = "remove"

# The digest of something that is there and is certainly not what was or shall be written: another size, a symlink,
# a folder. It equals no real digest.
OTHER = ""

MERGED_NAME = "merged.mg"

# One word each, so that `stage=never-synced` is a filter; `why` tells the rest.
NO_FOLDER = "no-folder"
BLOCKED = "blocked"
NEVER_SYNCED = "never-synced"
STALE = "stale"
DIVERGED = "diverged"
IGNORED = "ignored"
SYNCED = "synced"

STAGES = (NO_FOLDER, BLOCKED, NEVER_SYNCED, STALE, DIVERGED, IGNORED, SYNCED)

_MOST_NAMED = 3
_DIFFERENCES = {
    OVERWRITE: "changed there",
    UPDATE: "older there",
    CREATE: "missing there",
    REMOVE: "left over there",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One file of an agent folder that has to change; `edited_there` when it is not as mgmtctl left it."""

    kind: str
    name: str
    edited_there: bool = False

    def record(self) -> dict[str, object]:
        """The plain form: {"change", "file", "edited_there"}."""
        return {"change": self.kind, "file": self.name, "edited_there": self.edited_there}


def plan(
    target: Mapping[str, str], actual: Mapping[str, str], last_written: Mapping[str, str]
) -> list[Change]:
    """Changes that make `actual` equal `target`, by file name; none when nothing has to change (D 8).

    Each mapping is relative file name -> digest. A file of the same name that mgmtctl did not leave so is overwritten
    and marked; one that left the target is removed if mgmtctl put it there; anything else there is not mentioned.
    merged.mg, which vouches for all others, comes last.
    """
    changes = [
        _change(name, digest, actual[name], last_written.get(name))
        if name in actual
        else Change(CREATE, name)
        for name, digest in target.items()
        if actual.get(name) != digest
    ]
    changes += [
        Change(REMOVE, name, edited_there=actual[name] != digest)
        for name, digest in last_written.items()
        if name not in target and name in actual
    ]
    return sorted(
        changes, key=lambda change: (change.name == MERGED_NAME, change.kind != REMOVE, change.name)
    )


def _change(name: str, digest: str, there: str, left: str | None) -> Change:
    """What to do with a file that differs from its target `digest`."""
    return Change(UPDATE, name) if there == left else Change(OVERWRITE, name, edited_there=True)


def written_by_us(
    last: Mapping[str, str], unfinished: Mapping[str, str], actual: Mapping[str, str]
) -> dict[str, str]:
    """What mgmtctl left in a folder where a push of `unfinished` was cut short after one of `last`.

    Each file is old or new; the one it equals counts, so that neither is taken for an edit of somebody else.
    """
    ours = dict(last)
    for name, digest in unfinished.items():
        if name not in ours or actual.get(name) == digest:
            ours[name] = digest
    return ours


def differences(changes: Sequence[Change]) -> str:
    """How a folder differs from what was written there, file by file: `changed there: ...; missing there: ...`."""
    parts = []
    for kind, words in _DIFFERENCES.items():
        names = [change.name for change in changes if change.kind == kind]
        if names:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            parts.append(f"{words}: `{'`, `'.join(names[:_MOST_NAMED])}`{more}")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Standing:
    """Facts about one agent: digests are of merged files, None where there is none.

    `target` what its groups give now, `pushed` what was last written, `diverged` how the folder differs from that in
    words (None: it does not), `blocked_by` one line per group that cannot be sent, `repair` what helps against it,
    `folder_problem` why its folder cannot be entered, `ignores_shared` when its internal options say
    `agent.remote_conf=0`.
    """

    agent: str
    target: str | None
    pushed: str | None
    diverged: str | None = None
    blocked_by: Sequence[str] = ()
    repair: str | None = None
    folder_problem: str | None = None
    ignores_shared: bool = False


@dataclass(frozen=True, slots=True)
class Stage:
    """Where an agent stands, why, and what to do next (None: nothing)."""

    name: str
    why: str
    next_step: str | None = None


def stage(standing: Standing) -> Stage:
    """The stage of one agent; the first that stops it counts (D 8)."""
    run = f"mgmtctl sync run {standing.agent}"
    if standing.folder_problem:
        return Stage(NO_FOLDER, standing.folder_problem, "make the folder reachable, then " + run)
    if standing.blocked_by or standing.target is None:
        why = "; ".join(standing.blocked_by) or "its groups give no merged file"
        return Stage(BLOCKED, why, f"{standing.repair or 'repair that'}, then {run}")
    if not standing.pushed:
        return Stage(NEVER_SYNCED, "nothing was ever written to its folder", run)
    if standing.pushed != standing.target:
        has, shall = standing.pushed[:12], standing.target[:12]
        return Stage(STALE, f"it has merged file {has}, its groups give {shall}", run)
    if standing.diverged:
        return Stage(DIVERGED, standing.diverged, run)
    if standing.ignores_shared:
        return Stage(
            IGNORED,
            "delivered, but its internal options say agent.remote_conf=0",
            "set agent.remote_conf=1 in local_internal_options.conf of the agent",
        )
    return Stage(SYNCED, "its folder holds what its groups give")


def ignores_shared(internal_options: bytes) -> bool:
    """Whether local_internal_options.conf sets `agent.remote_conf` to 0; the last line that sets it counts (S 3.2)."""
    ignored = False
    for line in internal_options.splitlines():
        name, _, value = line.partition(b"#")[0].partition(b"=")
        if name.strip() == b"agent.remote_conf":
            ignored = value.strip() == b"0"
    return ignored
