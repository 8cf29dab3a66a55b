"""What open rollouts hold back, and what a run tells them afterwards. Nothing here is an operation.

Rules: a rollout brings the files of some groups (`changed`): those that were not all given before what they hold when
it begins. Every agent of a combination with such a group is left alone by every run and counted, so that moving an
agent frees nobody; a canary is free in the combinations that the rollout began with (its aims). Whoever was given the
target before is repaired, not held, and a push that was cut short is finished. A combination that gives again what it
gave before is free, and with it the groups that are in no other aim; a rollout all of whose groups are back so, or
gone, is closed by the next run. An aim follows a later change of its groups once all its canaries were given that,
and never without a canary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mgmtctl.domain import rollouts
from mgmtctl.domain.errors import MgmtctlError, NotFoundError
from mgmtctl.domain.scopes import NOTHING
from mgmtctl.folders.agents import Place
from mgmtctl.folders.groups import lasting
from mgmtctl.operations import access, recording
from mgmtctl.operations.sync_targets import Blocked

if TYPE_CHECKING:
    from mgmtctl.domain.rollouts import Aim, Rollout
    from mgmtctl.operations.sync_run import Sync, Work
    from mgmtctl.operations.sync_targets import Targets
    from mgmtctl.store.sync_state import Member

_NAMED = 10
_UNKNOWN = ""  # in place of the digest of a tree


def hold_back(run: Sync, work: Work) -> None:
    """Move from `work.todo` to `work.held` whom an open rollout keeps back, each with the reason."""
    if not work.todo:
        return
    late = []
    for rollout in run.ctx.store.rollouts.open():
        for groups in [groups for groups in work.todo if keeps(run, rollout, groups)]:
            kept = _kept_back(run, rollout, groups, work.todo[groups])
            work.held.update((member.id, why(rollout)) for member in kept)
            late += [member.id for member in kept if member.status == "synced"]
            work.todo[groups] = [member for member in work.todo[groups] if member.id not in work.held]
            if not work.todo[groups]:
                del work.todo[groups]
    if late and not run.ctx.dry_run:
        with run.ctx.atomic():
            run.ctx.store.sync_state.set_not_synced(late)


def keeps(run: Sync, rollout: Rollout, groups: str) -> bool:
    """Whether the rollout keeps agents of this combination back, as its groups are now."""
    if groups in rollout.aims:
        return rollout.holds(groups, digest_of(run.targets, groups))
    shared = rollout.changed.intersection(groups.split(","))
    aims = (aim for aim in rollout.aims if not shared.isdisjoint(aim.split(",")))
    return any(rollout.holds(aim, digest_of(run.targets, aim)) for aim in aims)


def _kept_back(run: Sync, rollout: Rollout, groups: str, members: list[Member]) -> list[Member]:
    free = rollout.canaries if groups in rollout.aims else ()
    target = digest_of(run.targets, groups)
    kept = [member for member in members if member.id not in free and member.pushed_digest != target]
    begun = half_done(run, kept)
    return [member for member in kept if member.id not in begun]


def half_done(run: Sync, members: Sequence[Member]) -> set[int]:
    """Those of these agents whose folders a push that was cut short left mixed, or whole and not recorded.

    They are finished, whoever holds the others: no set of files that nobody made stays (D 8).
    """
    announced = run.ctx.store.rollouts.announced(member.id for member in members)
    return {member.id for member in members if member.id in announced and _has_part(run, member)}


def _has_part(run: Sync, member: Member) -> bool:
    known, target = run.targets.manifest, digest_of(run.targets, member.groups)
    shall, last = (known(digest or "") or {} for digest in (target, member.pushed_digest))
    try:
        examined = run.folders.examine(Place(member.agent_id, member.folder), shall, last, known)
    except MgmtctlError:
        return False
    return bool(examined.begun) or not examined.changes


def why(rollout: Rollout) -> str:
    return f"kept back by rollout {rollout.id} until it is promoted"


def next_step(run: Sync, rollout: Rollout) -> str:
    """What ends the hold: the canaries get what the groups give now, if they have not, then it is promoted."""
    promote = f"mgmtctl sync promote {rollout.id}"
    behind = [
        member.agent_id
        for member in canaries(run, rollout)
        if digest_of(run.targets, member.groups) not in (None, member.pushed_digest)
    ]
    scope = access.scope(run.ctx, "agent:read", "agent:id")
    if not scope.is_everything:
        behind = sorted(set(run.ctx.store.agents.ids(scope)).intersection(behind))
    return f"mgmtctl sync run {' '.join(behind[:_NAMED])}, then {promote}" if behind else promote


def digest_of(targets: Targets, groups: str) -> str | None:
    """What the groups give now; None when they cannot be sent."""
    target = targets.of(groups)
    return None if isinstance(target, Blocked) else target.digest


# --- what a rollout is about --------------------------------------------------------------------------------------


def changed_groups(run: Sync, combinations: Iterable[str]) -> frozenset[str]:
    """The groups of these combinations that hold something else than some agent was given of them, or all if none was.

    What comes from elsewhere (the shared ar.conf) is no group's: agents that move get it as all others do.
    """
    names = {name for groups in combinations for name in groups.split(",")}
    return frozenset(name for name in names if _given(run, name) != {_tree_now(run, name)})


def _given(run: Sync, group: str) -> set[str]:
    """The trees of the group that agents of it were last given."""
    store = run.ctx.store
    found = set()
    for digest in store.rollouts.given(group):
        known = store.sync_state.revisions(digest)
        if group in known or not known:
            found.add(_tree_of(run, group, known.get(group)))
    return found


def has_changed(run: Sync, group: str, number: int) -> bool:
    """Whether the group holds something else now than at this revision."""
    return _tree_of(run, group, number) != _tree_now(run, group)


def _tree_of(run: Sync, group: str, number: int | None) -> str:
    try:
        return _UNKNOWN if number is None else run.ctx.store.revisions.get(group, number).tree
    except NotFoundError:
        return _UNKNOWN


def _tree_now(run: Sync, group: str) -> str:
    folders, head = run.ctx.folders, run.ctx.store.revisions.head(group)
    state = folders.state(group)
    if head is not None and head.state == lasting(*state):
        return head.tree
    return recording.looked(group, state, folders.load_group(group).files).digest


def way_back(run: Sync, rollout: Rollout) -> tuple[str, ...]:
    """The commands that give the changed groups again what most of their agents had before; none: they had nothing."""
    if not rollout.changed or not any(aim.before for aim in rollout.aims.values()):
        return ()
    counts: dict[str, Counter[int]] = {}
    members = run.ctx.store.rollouts.members(rollout.aims)
    for groups, aim in rollout.aims.items():
        for group, number in run.ctx.store.sync_state.revisions(aim.before).items():
            if group in rollout.changed:
                counts.setdefault(group, Counter())[number] += len(members.get(groups, ()))
    return rollback(run, {(group, count.most_common(1)[0][0]) for group, count in counts.items()})


def rollback(run: Sync, revisions: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """The commands that bring groups back to these revisions, as far as the caller may know them."""
    found = sorted(item for item in revisions if _tree_of(run, *item) and has_changed(run, *item))
    seen = access.scope(run.ctx, "group:read", "group:id")
    if not found or len(found) > _NAMED or not all(seen.covers(group) for group, _ in found):
        return ("mgmtctl files rollback GROUP --to REVISION",)
    return tuple(f"mgmtctl files rollback {group} --to {number}" for group, number in found)


def uncovered(run: Sync, rollout: Rollout) -> list[str]:
    """A line about agents that get something in combinations without a canary; none when there are none."""
    covered = {member.groups for member in canaries(run, rollout)}
    store = run.ctx.store.rollouts
    counts = {groups: store.lacking(groups, aim.digest) for groups, aim in rollout.aims.items()}
    found = [(groups, count) for groups, count in sorted(counts.items()) if count and groups not in covered]
    if not found:
        return []
    words = [f"{count} of `{groups}`" for groups, count in found[:_NAMED]]
    if len(found) > _NAMED:
        words.append(
            f"{sum(count for _, count in found[_NAMED:])} of {len(found) - _NAMED} more combinations"
        )
    return [f"no canary has what these agents get: {', '.join(words)}"]


# --- after a run --------------------------------------------------------------------------------------------------


def settle(run: Sync, work: Work) -> list[str]:
    """Note what a run did for open rollouts, and close those that are withdrawn; a line for each of these."""
    return [line for rollout in run.ctx.store.rollouts.open() for line in _settle(run, work, rollout)]


def _settle(run: Sync, work: Work, rollout: Rollout) -> list[str]:
    ctx, store = run.ctx, run.ctx.store.rollouts
    given = {member.id: None for member, _, _ in work.changed if member.id in rollout.canaries}
    # Whoever looks at the rollout later may not read the groups: why they cannot be sent is not kept.
    errors = {int(agent): e.seen_by(NOTHING) if isinstance(e, Blocked) else e for agent, e in work.failed}
    failed = {agent: error.problem for agent, error in errors.items() if agent in rollout.canaries}
    tried = tried_aims(run, rollout)
    with ctx.atomic():
        store.set_failures(rollout.id, {**given, **failed})
        if is_withdrawn(run, rollout):
            store.end(rollout.id, rollouts.WITHDRAWN, int(ctx.now()), ctx.actor.user if ctx.actor else "")
            return [f"rollout {rollout.id} is withdrawn: it holds nobody back any more"]
        if tried != rollout.aims:
            store.set_aims(rollout.id, tried)
    return []


def is_withdrawn(run: Sync, rollout: Rollout) -> bool:
    """Whether it keeps nobody back, and would not if agents came back: its groups give what they gave, or are gone."""
    peopled = filter(rollout.touches, run.ctx.store.rollouts.combinations())
    if any(keeps(run, rollout, groups) for groups in peopled):
        return False
    back = {
        group
        for groups in rollout.aims
        if not rollout.holds(groups, digest_of(run.targets, groups))
        for group in groups.split(",")
    }
    brought = rollout.changed or {group for groups in rollout.aims for group in groups.split(",")}
    return not any(run.ctx.folders.group_exists(group) for group in brought - back)


def tried_aims(run: Sync, rollout: Rollout) -> Mapping[str, Aim]:
    """The aims, with what their groups give now where the combination has canaries, and all were given that."""
    given: dict[str, set[str]] = {}
    for member in canaries(run, rollout):
        given.setdefault(member.groups, set()).add(member.pushed_digest)
    return {
        groups: aim._replace(digest=digest)
        if (digest := digest_of(run.targets, groups)) and given.get(groups) == {digest}
        else aim
        for groups, aim in rollout.aims.items()
    }


def canaries(run: Sync, rollout: Rollout) -> list[Member]:
    """The canaries that still are in a combination of the rollout."""
    found = run.ctx.store.sync_state.members(list(rollout.canaries))
    return [member for member in found if member.groups in rollout.aims]
