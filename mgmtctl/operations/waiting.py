"""Waiting until agents use what their groups give: the same comparison as status, asked again and again.

Rules: one call judges the caller and the agents that are meant, what it gives back looks again without that. An
agent is settled when its stage is one of `domain.sync.FINE`. D 8, D 9.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mgmtctl.domain import sync as standing
from mgmtctl.operations.agent_stages import AgentStage, stages
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import Selection, each, needs, operation
from mgmtctl.operations.results import Items
from mgmtctl.operations.sync_work import chosen_ids, opened, sorted_out


@dataclass(frozen=True, slots=True)
class WaitItems(Items[AgentStage]):
    """The agents that are not settled yet, by id, of so many that are `meant`; `again` looks once more.

    `counts` are all of them by stage, `notes` a line for each reason why waiting alone will not help some. Agents that
    may not be waited for are `failed`, in the first answer.
    """

    meant: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    again: Callable[[], WaitItems] | None = None


@operation(needs("agent:reconnect", each("agent:id", "agents_list")), http="GET /sync/wait")
def wait_for_sync(ctx: Context, agents_list: Selection = None, group: str | None = None) -> WaitItems:
    """Say which agents do not use what their groups give yet, as often as it is asked."""
    return _look(ctx, agents_list, group)


def _look(ctx: Context, agents_list: Selection, group: str | None) -> WaitItems:
    with opened(ctx, keep=False) as run:
        work = sorted_out(ctx, run, "agent:reconnect", agents_list, group)
        ids = chosen_ids(ctx, "agent:reconnect", agents_list, group)
        members = ctx.store.sync_state.members(ids, group)
        found = stages(ctx, run, work, members)
    left = [where for where in found if where.stage.name not in standing.FINE]
    return WaitItems(
        left,
        meant=len(members),
        counts=Counter(where.stage.name for where in found),
        notes=_held_lines(found),
        again=lambda: _look(ctx, agents_list, group),
    )


def _held_lines(found: Sequence[AgentStage]) -> tuple[str, ...]:
    """How many are kept back by which rollout, and what ends that."""
    held = Counter(
        (one.stage.why.partition(";")[0], one.stage.next_step)
        for one in found
        if one.stage.name == standing.HELD
    )
    return tuple(
        f"{count} agent{'s are' if count > 1 else ' is'} {why}: {next_step}"
        for (why, next_step), count in held.items()
    )
