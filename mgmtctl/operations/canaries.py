"""How the canaries of a rollout take it, and whether that is well enough to go on. Nothing here is an operation.

Rules: a canary is well when it was given what its groups give now and uses it; one that left the rollout's groups or
was deleted is none any more; without any canary nobody can say that it is well. A combination without a canary is
promoted with what its groups gave when the rollout began, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mgmtctl.domain import sync as standing
from mgmtctl.domain.abort_conditions import read_abort_if
from mgmtctl.domain.errors import ConflictError
from mgmtctl.domain.rollouts import Rollout
from mgmtctl.operations import holds
from mgmtctl.operations.agent_stages import AgentStage, stages

if TYPE_CHECKING:
    from mgmtctl.operations.context import Context
    from mgmtctl.operations.sync_run import Sync

_GIVEN = (*standing.FINE, standing.PENDING_RESTART)  # it holds what its groups give
_NAMED = 10


@dataclass(frozen=True, slots=True)
class CanaryState:
    """How one canary takes it; `problem` None: well."""

    where: AgentStage
    disconnected: bool
    failure: str | None
    problem: str | None

    def record(self) -> dict[str, Any]:
        """{"id", "name", "stage", "why", "disconnected", "failure", "problem"}."""
        return {
            "id": self.where.id,
            "name": self.where.name,
            "stage": self.where.stage.name,
            "why": self.where.stage.why,
            "disconnected": self.disconnected,
            "failure": self.failure,
            "problem": self.problem,
        }


class NotReadyError(ConflictError):
    """A rollout whose canaries say no: `canaries` are those that do, `abort` what of its condition is true."""

    def __init__(
        self, rollout: Rollout, canaries: Sequence[CanaryState], abort: Sequence[str], back: Sequence[str]
    ) -> None:
        lines = [f"abort: {reason}" for reason in abort]
        lines += [f"{one.where.id} {one.where.name}: {one.problem}" for one in canaries[:_NAMED]]
        if len(canaries) > _NAMED:
            lines.append(f"and {len(canaries) - _NAMED} more canaries")
        super().__init__(
            f"rollout {rollout.id} is not ready: nothing was pushed",
            why="\n".join(lines) or "none of its canaries is left in its groups",
            fix=_way_out(rollout, canaries, abort, back),
        )
        self.rollout, self.canaries, self.abort = rollout, tuple(canaries), tuple(abort)

    def facts(self) -> dict[str, object]:
        return {
            "rollout": str(self.rollout.id),
            "abort": list(self.abort),
            "canaries": [one.record() for one in self.canaries],
        }


def _way_out(
    rollout: Rollout, canaries: Sequence[CanaryState], abort: Sequence[str], back: Sequence[str]
) -> str:
    promote = f"mgmtctl sync promote {rollout.id}"
    if not (abort or canaries):
        return f"{promote} --cancel"
    if abort:
        own = _in_short([f"{number:03}" for number in rollout.canaries])
        change = f"change the groups, then mgmtctl sync run {own}"
        way = f"{' and '.join(back)}, then mgmtctl sync run --all" if back else change
        return f"{way}, or {promote} --cancel"
    return f"{', then '.join(_remedies(canaries))}, then {promote}"


def _remedies(canaries: Sequence[CanaryState]) -> Iterator[str]:
    """What makes these canaries well: waiting only helps those that restart."""
    steps = {one.where.id: one.where.stage.next_step for one in canaries}
    behind = [agent for agent, step in steps.items() if step == f"mgmtctl sync run {agent}"]
    if behind:
        yield f"mgmtctl sync run {_in_short(behind)}"
    others = [one for one in canaries if one.where.id not in behind]
    stuck = [one for one in others if one.where.stage.name != standing.PENDING_RESTART]
    if stuck:
        yield str(stuck[0].where.stage.next_step)
    if others:
        yield f"mgmtctl sync wait {_in_short([*steps])}"


def _in_short(agents: Sequence[str]) -> str:
    return " ".join(agents) if len(agents) <= _NAMED else "--all"


def require_same(ctx: Context, run: Sync, rollout: Rollout) -> Rollout:
    """The rollout with what its canaries have; ConflictError when its groups give something else by now.

    Without a canary a combination has to give what it gave when the rollout began, or again what it gave before.
    """
    aims = dict(holds.tried_aims(run, rollout))
    changed: dict[str, str] = {}
    for groups in ctx.store.rollouts.members(aims):
        digest = holds.digest_of(run.targets, groups)
        if digest not in (None, aims[groups].digest):
            changed[groups] = str(digest)
    behind = [member.agent_id for member in holds.canaries(run, rollout) if member.groups in changed]
    if behind:
        raise ConflictError(
            f"the groups of rollout {rollout.id} changed since its canaries were written to",
            fix=f"mgmtctl sync run {' '.join(behind[:_NAMED])} gives them what is there now",
        )
    untried = [groups for groups, digest in changed.items() if rollout.holds(groups, digest)]
    if untried:
        raise _untried(run, rollout, untried)
    aims.update((groups, aims[groups]._replace(digest=digest)) for groups, digest in changed.items())
    return replace(rollout, aims=aims)


def _untried(run: Sync, rollout: Rollout, untried: Sequence[str]) -> ConflictError:
    lines = []
    for groups, agents in list(run.ctx.store.rollouts.members(sorted(untried)).items())[:_NAMED]:
        lines.append(f"`{groups}`: {len(agents)} agent{'s' * (len(agents) != 1)}")
    if len(untried) > _NAMED:
        lines.append(f"and {len(untried) - _NAMED} more combinations of groups")
    return ConflictError(
        f"groups changed since rollout {rollout.id} began, without a canary that has what they give now",
        why="\n".join(lines),
        fix=f"{_way_back(run, rollout, untried)}, or mgmtctl sync promote {rollout.id} --cancel"
        " and mgmtctl sync run --all --canary N",
    )


def _way_back(run: Sync, rollout: Rollout, untried: Sequence[str]) -> str:
    """What gives the groups again what they gave when the rollout began, as far as the caller may know it."""
    then = run.ctx.store.sync_state.revisions
    found = {item for groups in untried for item in then(rollout.aims[groups].digest).items()}
    return " and ".join(holds.rollback(run, found))


def require_well(ctx: Context, run: Sync, rollout: Rollout) -> None:
    """NotReadyError unless every canary is well and the condition is false."""
    found = canary_states(ctx, run, rollout)
    abort: tuple[str, ...] = ()
    if rollout.abort_if is not None:
        abort = read_abort_if(rollout.abort_if).reasons(_counts(found), len(found))
    told = [replace(one, problem="disconnected") if _only_silent(one) and abort else one for one in found]
    ill = [one for one in told if one.problem is not None]
    if ill or abort or not found:
        raise NotReadyError(rollout, ill, abort, holds.way_back(run, rollout))


def _only_silent(one: CanaryState) -> bool:
    return one.disconnected and one.problem is None


def canary_states(ctx: Context, run: Sync, rollout: Rollout) -> list[CanaryState]:
    """How the canaries take it that still are in the rollout's groups."""
    members = holds.canaries(run, rollout)
    work = run.sort_out(ctx.store.sync_state.seen([member.agent_id for member in members]))
    silent = set(ctx.store.rollouts.disconnected([member.id for member in members], ctx.now()))
    return [
        _state(where, int(where.id) in silent, rollout.canaries[int(where.id)].failure)
        for where in stages(ctx, run, work, members)
    ]


def _state(where: AgentStage, disconnected: bool, failure: str | None) -> CanaryState:
    failed = None if where.stage.name in _GIVEN else failure
    problem = None if where.stage.name in standing.FINE else f"{where.stage.name}: {where.stage.why}"
    return CanaryState(where, disconnected, failed, problem)


def _counts(found: Sequence[CanaryState]) -> dict[str, int]:
    names = [one.where.stage.name for one in found]
    return {
        "not-synced": sum(name not in _GIVEN for name in names),
        "disconnected": sum(one.disconnected for one in found),
        "diverged": names.count(standing.DIVERGED),
        "failed": sum(one.failure is not None for one in found),
        "pending-restart": names.count(standing.PENDING_RESTART),
    }
