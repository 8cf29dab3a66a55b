"""Comparing what an agent folder shall hold with what it holds, and saying where an agent stands.

Rules (D 8): three inputs, not two. `last_written` is what mgmtctl put there at the last push: it tells a hand-edited
file from a stale one, and a file that left the groups from one that was never ours and is left alone. Status, dry
run, `sync plan`, `--verify` and the push itself are views of one `plan`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
HELD = "held"
STALE = "stale"
DIVERGED = "diverged"
IGNORED = "ignored"
PENDING_RESTART = "pending-restart"
SYNCED = "synced"

# In the order in which they stop an agent; nothing is wrong with one that is in a stage of FINE.
STAGES = (NO_FOLDER, NEVER_SYNCED, BLOCKED, HELD, STALE, DIVERGED, IGNORED, PENDING_RESTART, SYNCED)
FINE = (SYNCED, IGNORED)

# The checksum that an agent without a merged file reports.
NONE_THERE = "x"

_MOST_NAMED = 3
_SHOWN_DIGITS = 12
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


def differences(changes: Sequence[Change], *, named: bool = True) -> str:
    """How a folder differs from what was written there: `changed there: ...; missing there: ...`, or how often only."""
    parts = []
    for kind, words in _DIFFERENCES.items():
        names = [change.name for change in changes if change.kind == kind]
        if names and named:
            more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
            parts.append(f"{words}: `{'`, `'.join(names[:_MOST_NAMED])}`{more}")
        elif names:
            parts.append(f"{words}: {len(names)} file{'s' * (len(names) != 1)}")
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Standing:
    """Facts about one agent: digests are of merged files, None where there is none.

    `target` what its groups give now, `pushed` what was last written, `running` what it uses (empty: nothing is known
    of that), each with its `revisions` (digest -> group -> number) as far as they may be told, `on_disk` the groups
    that somebody changed on disk since their last revision, which is in no target. `diverged` how the
    folder differs from what was written in words (None: it does not), `blocked_by` one line per group that cannot be
    sent, `repair` what helps against it, `folder_problem` why its folder cannot be entered, `obstacle` what is
    in the way of a push there, `ignores_shared` when its internal options say `agent.remote_conf=0`, `restarts` when it
    restarts by itself after a push, `held` why a push is kept back and `promote` what ends that. `unknown`: what it
    uses is no merged file that was ever made here.
    """

    agent: str
    target: str | None
    pushed: str | None
    running: str = ""
    diverged: str | None = None
    blocked_by: Sequence[str] = ()
    repair: str | None = None
    folder_problem: str | None = None
    obstacle: str | None = None
    ignores_shared: bool = False
    restarts: bool = True
    held: str | None = None
    promote: str = "mgmtctl sync promote"
    unknown: bool = False
    revisions: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    on_disk: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stage:
    """Where an agent stands, why, and what to do next (None: nothing)."""

    name: str
    why: str
    next_step: str | None = None


def stage(standing: Standing) -> Stage:
    """The stage of one agent; the first that stops it counts (D 8)."""
    run = f"mgmtctl sync run {standing.agent}"
    pushed, target = standing.pushed, standing.target
    blocked = "; ".join(standing.blocked_by) or ("its groups give no merged file" if target is None else "")
    repair = f"{standing.repair or 'repair that'}, then {run}" if blocked else run
    met = standing.obstacle
    move = f"move it away, then {run}"
    if standing.folder_problem:
        return Stage(NO_FOLDER, standing.folder_problem, "make the folder reachable, then " + run)
    if not pushed and not (standing.held and not blocked):
        nothing = "nothing was ever written to its folder"
        too = f", and {blocked or met}" if blocked or met else ""
        return Stage(NEVER_SYNCED, nothing + too, move if met and not blocked else repair)
    if blocked:
        return Stage(BLOCKED, f"{blocked}; it keeps the last good files{_named(standing, pushed)}", repair)
    if pushed != target and standing.held:
        return Stage(HELD, "; ".join(filter(None, (standing.held, standing.diverged))), standing.promote)
    if met:
        return Stage(DIVERGED, met, move)
    if pushed != target:
        return Stage(STALE, _between("has", standing, pushed, target), run)
    if standing.diverged:
        return Stage(DIVERGED, standing.diverged, run)
    return _in_place(standing)


def _in_place(standing: Standing) -> Stage:
    """The stage of an agent whose folder holds what its groups give: it hangs on what it does with that."""
    restart = f"mgmtctl agents restart {standing.agent}"
    if standing.ignores_shared:
        return Stage(
            IGNORED,
            "delivered, but its internal options say agent.remote_conf=0",
            "set agent.remote_conf=1 in local_internal_options.conf of the agent",
        )
    if standing.unknown:
        what = (
            "it reports that it has no merged file"
            if standing.running == NONE_THERE
            else f"it reports merged file {standing.running[:_SHOWN_DIGITS]}, which matches no known revision"
        )
        return Stage(
            DIVERGED, f"{what}; its folder is in order", f"see which folder it reads, then {restart}"
        )
    if standing.running != standing.pushed and standing.running and standing.restarts:
        return Stage(STALE, _between("reports", standing, standing.running, standing.pushed), restart)
    if standing.running != standing.pushed:
        why = _between("uses", standing, standing.running, standing.pushed, "its folder holds")
        return Stage(PENDING_RESTART, why if standing.restarts else f"{why}; auto_restart is no", restart)
    return Stage(SYNCED, "its folder holds what its groups give")


def _between(
    verb: str, standing: Standing, one: str | None, other: str | None, gives: str = "its groups give"
) -> str:
    """What an agent has and what it shall have: by revision, by what was done to its groups, or else by digest."""
    before, after = (standing.revisions.get(digest or "", {}) for digest in (one, other))
    on_disk = standing.on_disk if other == standing.target else {}
    changed = list(_changed(before, after, on_disk, gives)) if before else []
    if changed:
        return "; ".join([f"{verb} {revisions(before)}", *changed])
    shown = revisions(before) or (f"merged file {one[:_SHOWN_DIGITS]}" if one else "none of its files")
    digest = other[:_SHOWN_DIGITS] if other else "none"
    return f"{verb} {shown}; {gives} {digest if before or on_disk else revisions(after) or digest}"


def _changed(
    before: Mapping[str, int], after: Mapping[str, int], on_disk: Mapping[str, int], gives: str
) -> Iterator[str]:
    """What makes two merged files different: other groups, files on disk, other revisions."""
    now = {**after, **on_disk}
    moved = [f"+ {group}" for group in now if group not in before]
    moved += [f"- {group}" for group in before if group not in now]
    if moved:
        yield f"groups changed: {', '.join(moved)}"
    elif not on_disk and list(before) != list(after):
        yield f"groups changed their order: {', '.join(after)}"
    for group, number in on_disk.items():
        yield f"{group} changed on disk since r{number}"
    if any(before.get(group) != number for group, number in after.items()):
        yield f"{gives} {revisions(after)}"


def _named(standing: Standing, digest: str | None) -> str:
    found = standing.revisions.get(digest or "")
    return f" ({revisions(found)})" if found else ""


def revisions(numbers: Mapping[str, int]) -> str:
    """`web r6, default r3`."""
    return ", ".join(f"{group} r{number}" for group, number in numbers.items())
