"""Rollouts: give a sample of agents what their groups give, look at it, then give it to the others (or do not).

Rules: a rollout is about the combinations of groups of the agents that are meant, and of the groups that changed there
about all other combinations that get something new; it holds these back as a whole, so whoever starts, promotes or
cancels one may reconnect every agent of them. Promoting asks the canaries first: each was given what its groups give
now and uses it, and the abort condition is false of them; what is pushed then is what the canaries have, and in
combinations without a canary, which are told, what their groups gave when it began; or nothing. While groups of it
cannot be sent it stays open: what they give later was never tried. D 8, D 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from mgmtctl.domain import rollouts
from mgmtctl.domain.abort_conditions import read_abort_if
from mgmtctl.domain.agents import SILENT_SECONDS
from mgmtctl.domain.errors import ConflictError, DeniedError, MgmtctlError, NotFoundError, QuestionError
from mgmtctl.domain.rollouts import Aim, Chosen, Rollout, Sample
from mgmtctl.domain.scopes import Scope
from mgmtctl.domain.times import rfc3339
from mgmtctl.operations import access, holds
from mgmtctl.operations.canaries import NotReadyError, require_same, require_well
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import Selection, each, needs, operation
from mgmtctl.operations.sync_run import Sync, Watch, Work
from mgmtctl.operations.sync_targets import Blocked, Target, Targets
from mgmtctl.operations.sync_work import (
    AffectedError,
    AgentChanges,
    How,
    StoppedError,
    SyncItems,
    carry_out,
    guard_number,
    opened,
    refusal,
    rehearsed,
    sorted_out,
    writing,
)

__all__ = (
    "AffectedError",
    "NotReadyError",
    "cancel_rollout",
    "promote_rollout",
    "require_well",
    "start_rollout",
)

_RECONNECT = "agent:reconnect"


@dataclass(frozen=True, slots=True)
class CanaryChanges(AgentChanges):
    """What was, or would be, changed in the folder of a canary: of which rollout (None: of a dry run), and why it is
    one."""

    rollout: str | None = None
    why: str = ""

    def record(self) -> dict[str, Any]:
        """The record of AgentChanges, and "rollout", "chosen": why it is a canary."""
        return {**AgentChanges.record(self), "rollout": self.rollout, "chosen": self.why}


@dataclass(frozen=True, slots=True)
class RolloutItems(SyncItems):
    """A run for a rollout; `rollout` is its id (None: there is none, or it is a dry run), `canaries` ids of agents,
    `back` the commands that undo what it brings (none: nobody had anything before), `state` as it is afterwards."""

    rollout: str | None = None
    canaries: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    state: str = rollouts.OPEN


class Pinned(Targets):
    """Targets of which some are agreed on: what these groups give now is only given when it is that."""

    __slots__ = ("pins",)

    def files(self, groups: str) -> tuple[Target | Blocked, dict[str, bytes]]:
        """As in the base class; Blocked when the groups changed since they were agreed on."""
        target, files = Targets.files(self, groups)
        pins: Mapping[str, str] = getattr(self, "pins", {})
        if isinstance(target, Target) and pins.get(groups, target.digest) != target.digest:
            changed = ConflictError(f"groups `{groups}` changed since the canaries were looked at")
            return Blocked(groups, {groups.partition(",")[0]: changed}), {}
        return target, files


@operation(needs(_RECONNECT, each("agent:id", "agents_list")), http="POST /sync/rollouts")
def start_rollout(
    ctx: Context,
    agents_list: Selection = None,
    group: str | None = None,
    sample: str = "1",
    abort_if: str | None = None,
    verify: bool = False,
    max_affected: int | None = None,
    if_locked: str = "fail",
    lock_timeout: float = 0.0,
    watch: Watch | None = None,
) -> RolloutItems:
    """Push to a sample of the agents that need it, and hold the others of their groups back until it is promoted.

    `sample` is a number of canaries or per cent. ConflictError when all of them are held back already; DeniedError when
    the caller may not reconnect every agent that would be held.
    """
    size = rollouts.read_sample(sample)
    condition = None if abort_if is None else read_abort_if(abort_if).text
    how = How(verify, max_affected, if_locked, lock_timeout, watch)
    with _working(ctx, "mgmtctl sync run --canary", how) as run:
        if run is None:
            return RolloutItems((), skipped=True)
        work = sorted_out(ctx, run, _RECONNECT, agents_list, group)
        started = _drawn(ctx, run, work, size, condition, _in_words(agents_list, group))
        if started is None:
            if work.held:
                raise _all_held(ctx, run)
            return _with_rollout(_done(ctx, run, work, how, "no rollout begins"), None, ())
        rollout, chosen = started
        _hold_the_others(work, rollout, run)
        guard_number(work, how.max_affected)
        untried = holds.uncovered(run, rollout)
        number = None
        if not ctx.dry_run:
            with ctx.atomic():
                number = str(ctx.store.rollouts.add(rollout, chosen))
        after = f"rollout {number} is open: the next run writes to the canaries that are left"
        report = _with_rollout(_done(ctx, run, work, how, after, untried), number, chosen)
        numbers = (
            () if number is None else (*report.held_by, number)
        )  # a dry run has none to tell beside others
        held_by = numbers if holds.why(rollout) in work.held.values() else report.held_by
        return replace(report, held_by=held_by, back=holds.way_back(run, rollout))


@operation(needs(_RECONNECT, each("agent:id", "agents_list")), http="PUT /sync/rollouts")
def promote_rollout(
    ctx: Context,
    rollout: str | None = None,
    agents_list: Selection = None,
    verify: bool = False,
    max_affected: int | None = None,
    if_locked: str = "fail",
    lock_timeout: float = 0.0,
    watch: Watch | None = None,
) -> RolloutItems:
    """Give what the canaries have to the others of their groups, if the canaries are well with it; then it is over.

    `rollout` None: the only one that is open. NotReadyError names the canaries that are not, ConflictError tells of
    groups that changed; nothing is pushed then.
    """
    how = How(verify, max_affected, if_locked, lock_timeout, watch)
    with _working(ctx, "mgmtctl sync promote", how, Pinned) as run:
        if run is None:
            return RolloutItems((), skipped=True)
        found = _open_rollout(ctx, rollout, agents_list)
        if holds.is_withdrawn(run, found):
            return _closed(ctx, found, rollouts.WITHDRAWN, SyncItems(()))
        found = require_same(ctx, run, found)
        require_well(ctx, run, found)
        members = ctx.store.rollouts.members(found.aims)
        work = run.sort_out(ctx.store.sync_state.seen(_padded(members)))
        run.targets.pins = {groups: aim.digest for groups, aim in found.aims.items()}  # type: ignore[attr-defined]
        after = f"rollout {found.id} is still open: promote it again to go on"
        untried = holds.uncovered(run, found)
        report = _done(ctx, run, work, how, after, untried)
        blocked = any(isinstance(error, Blocked) for _, error in work.failed)
        return _closed(ctx, found, rollouts.OPEN if blocked else rollouts.PROMOTED, report)


@operation(needs(_RECONNECT, each("agent:id", "agents_list")), http="DELETE /sync/rollouts")
def cancel_rollout(
    ctx: Context,
    rollout: str | None = None,
    agents_list: Selection = None,
    if_locked: str = "fail",
    lock_timeout: float = 0.0,
) -> RolloutItems:
    """End a rollout without pushing: the next run gives the others what the canaries have.

    Not while a push goes on, which it would not end.
    """
    command = "mgmtctl sync promote --cancel"
    lock = ctx.folders.lock("sync", command, if_locked=if_locked, timeout=lock_timeout)
    with nullcontext(True) if ctx.dry_run else lock as ours:
        if not ours:
            return RolloutItems((), skipped=True)
        found = _open_rollout(ctx, rollout, agents_list)
        return _closed(ctx, found, rollouts.CANCELLED, SyncItems(()))


@contextmanager
def _working(ctx: Context, command: str, how: How, targets: type[Targets] = Targets) -> Iterator[Sync | None]:
    """The folders, open to write, or to look only in a dry run."""
    if ctx.dry_run:
        with opened(ctx, keep=False, verify=how.verify, targets=targets) as run:
            yield run
    else:
        with writing(ctx, command, how, targets) as found:
            yield found


def _done(
    ctx: Context, run: Sync, work: Work, how: How, after: str = "", notes: Sequence[str] = ()
) -> SyncItems:
    """The work, done or rehearsed, with the notes; `after` says what follows when it was stopped before its end."""
    try:
        report = rehearsed(ctx, run, work, how) if ctx.dry_run else carry_out(ctx, run, work, how)
    except StoppedError as stopped:
        report = stopped.report
        raise StoppedError(replace(report, warnings=(*report.warnings, *notes, after))) from None
    return replace(report, warnings=(*report.warnings, *notes))


# --- starting one -------------------------------------------------------------------------------------------------


def _drawn(
    ctx: Context, run: Sync, work: Work, sample: Sample, condition: str | None, selection: str
) -> tuple[Rollout, list[Chosen]] | None:
    """The rollout that begins and its canaries; None when nobody is left to draw from."""
    store, others = ctx.store.rollouts, ctx.store.rollouts.open()
    pending = {groups: members for groups, members in work.todo.items() if _is_free(run, others, groups)}
    if not pending:
        return None
    changed = holds.changed_groups(run, pending)
    digests = {groups: str(holds.digest_of(run.targets, groups)) for groups in pending}
    digests.update(_concerned(run, others, changed, pending))
    _demand_all(ctx, digests, f"a rollout holds back every agent of `{min(changed or pending)}`")
    ids = [member.id for members in pending.values() for member in members]
    chosen = rollouts.choose(store.candidates(ids, ctx.now() - SILENT_SECONDS), sample.of(len(ids)), digests)
    actor = access.current_actor(ctx)
    rollout = Rollout(
        0,
        rollouts.OPEN,
        int(ctx.now()),
        actor.user,
        actor.context_id,
        ctx.reason,
        selection,
        condition,
        {groups: Aim(digest, store.most_had(groups, digest)) for groups, digest in digests.items()},
        {one.id: rollouts.Canary(one.why) for one in chosen},
        changed,
    )
    return rollout, chosen


def _is_free(run: Sync, others: Sequence[Rollout], groups: str) -> bool:
    """Whether no other rollout is about the combination."""
    return not any(groups in one.aims or holds.keeps(run, one, groups) for one in others)


def _concerned(
    run: Sync, others: Sequence[Rollout], changed: frozenset[str], pending: Mapping[str, object]
) -> Iterator[tuple[str, str]]:
    """The further combinations with a changed group, and what they give, that have agents without it."""
    store = run.ctx.store.rollouts
    for groups in store.combinations():
        if groups in pending or changed.isdisjoint(groups.split(",")) or not _is_free(run, others, groups):
            continue
        digest = holds.digest_of(run.targets, groups)
        if digest is not None and store.lacking(groups, digest):
            yield groups, digest


def _hold_the_others(work: Work, rollout: Rollout, run: Sync) -> None:
    """Leave of the rollout's agents the canaries only, and those to finish."""
    for groups in work.todo.keys() & rollout.aims.keys():
        others = [member for member in work.todo[groups] if member.id not in rollout.canaries]
        begun = holds.half_done(run, others)
        work.held.update((member.id, holds.why(rollout)) for member in others if member.id not in begun)
        work.todo[groups] = [member for member in work.todo[groups] if member.id not in work.held]
        if not work.todo[groups]:
            del work.todo[groups]


def _all_held(ctx: Context, run: Sync) -> ConflictError:
    numbers = [str(one.id) for one in ctx.store.rollouts.open()]
    return ConflictError(
        f"these agents are held back by rollout {', '.join(numbers)}",
        why="one rollout at a time is about a combination of groups",
        fix=f"mgmtctl sync promote {numbers[0]}, or with --cancel",
    )


def _in_words(agents_list: Selection, group: str | None) -> str:
    if group is not None:
        return f"group {group}"
    return f"{len(agents_list)} named agents" if isinstance(agents_list, Sequence) else "all agents"


def _with_rollout(report: SyncItems, number: str | None, chosen: Sequence[Chosen]) -> RolloutItems:
    """The report of a run with the rollout it is for."""
    reasons = {f"{one.id:03}": one.why for one in chosen}
    affected = [
        CanaryChanges(**_fields(one, AgentChanges), rollout=number, why=reasons[one.id])
        if one.id in reasons
        else one
        for one in report.affected
    ]
    return RolloutItems(
        **_fields(replace(report, affected=affected), SyncItems),
        rollout=number,
        canaries=tuple(reasons),
    )


def _fields(value: Any, kind: type[Any]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in kind.__dataclass_fields__}


# --- ending one ---------------------------------------------------------------------------------------------------


def _open_rollout(ctx: Context, reference: str | None, agents_list: Selection) -> Rollout:
    """The open rollout that is meant. ConflictError when it has ended or none is open, QuestionError when several are.

    DeniedError for a caller who may not reconnect every agent of it.
    """
    if not isinstance(agents_list, Scope):
        raise QuestionError("a rollout is promoted as a whole", fix="leave out the agents")
    if agents_list.is_nothing:
        raise refusal(ctx, _RECONNECT)
    mine = [one for one in ctx.store.rollouts.open() if _may_all(ctx, one.aims)]
    if reference is None:
        if len(mine) != 1:
            raise _which(mine)
        return mine[0]
    found = next((one for one in mine if str(one.id) == reference), None)
    return found if found is not None else _not_open(ctx, reference)


def _which(mine: Sequence[Rollout]) -> MgmtctlError:
    if not mine:
        return ConflictError(
            "no rollout is open that you may promote", fix="mgmtctl sync run --help says how to begin one"
        )
    lines = [f"{one.id}: {one.selection}, by {one.user}, {rfc3339(one.started)}" for one in mine]
    return QuestionError(
        f"{len(mine)} rollouts are open", why="\n".join(lines), fix=f"mgmtctl sync promote {mine[0].id}"
    )


def _not_open(ctx: Context, reference: str) -> Rollout:
    """Refuse; who may not reconnect all agents is not told which rollouts there are."""
    if not access.scope(ctx, _RECONNECT, "agent:id").is_everything:
        raise _denied(f"you may not reconnect every agent of rollout `{reference}`")
    if not (reference.isascii() and reference.isdigit() and len(reference) < 18):
        raise NotFoundError("rollout", reference, fix="mgmtctl sync promote, without a number")
    ended = ctx.store.rollouts.get(int(reference))
    raise ConflictError(f"rollout {ended.id} is {ended.state} already")


def _may_all(ctx: Context, combinations: Mapping[str, Any]) -> bool:
    """Whether the caller may reconnect every agent of these combinations."""
    scope = access.scope(ctx, _RECONNECT, "agent:id")
    if scope.is_everything or scope.is_nothing:
        return scope.is_everything
    permitted = set(ctx.store.agents.ids(scope))
    return permitted.issuperset(_padded(ctx.store.rollouts.members(combinations)))


def _demand_all(ctx: Context, combinations: Mapping[str, Any], because: str) -> None:
    if not _may_all(ctx, combinations):
        raise _denied(f"{because}, and you may not reconnect all of them")


def _denied(problem: str) -> DeniedError:
    return DeniedError(_RECONNECT, "agent:id:*", problem=f"permission denied: {_RECONNECT}: {problem}")


def _padded(members: Mapping[str, Sequence[int]]) -> list[str]:
    return [f"{number:03}" for numbers in members.values() for number in numbers]


def _closed(ctx: Context, rollout: Rollout, state: str, report: SyncItems) -> RolloutItems:
    """Close a rollout, unless it stays open, and give back what was done for it, with the state that is stored."""
    if not ctx.dry_run and state != rollouts.OPEN:
        with ctx.atomic():
            ctx.store.rollouts.end(rollout.id, state, int(ctx.now()), access.current_actor(ctx).user)
            state = ctx.store.rollouts.get(rollout.id).state
    return RolloutItems(
        **_fields(report, SyncItems),
        rollout=str(rollout.id),
        canaries=tuple(f"{number:03}" for number in rollout.canaries),
        state=state,
    )
