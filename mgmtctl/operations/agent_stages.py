"""Where agents stand, each as a value with its facts: what status, explain, wait and promote show. No operation.

Rules (D 8): the verdict is `domain.sync.stage`; here its facts are gathered, from the store and from the folder. The
caller may read the agents; names of files, reasons and revisions of a group are only told to who may read the group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mgmtctl.domain import sync as standing
from mgmtctl.domain.agents import timestamp
from mgmtctl.domain.errors import MgmtctlError
from mgmtctl.folders.looks import Looker
from mgmtctl.folders.pushing import unnamed
from mgmtctl.operations import access, holds, restarts
from mgmtctl.operations.sync_run import latest, place
from mgmtctl.operations.sync_targets import Blocked

if TYPE_CHECKING:
    from mgmtctl.domain.sync import Stage
    from mgmtctl.folders.pushing import Examined
    from mgmtctl.operations.context import Context
    from mgmtctl.operations.sync_run import Latest, Sync, Work
    from mgmtctl.operations.sync_targets import Target
    from mgmtctl.store.sync_state import Member


@dataclass(frozen=True, slots=True)
class AgentStage:
    """Where one agent stands.

    `has` and `uses` are the revisions of its groups that were written into its folder and that it uses, as far as they
    are known and may be told; `running` is the digest of what it uses (None: not known).
    """

    id: str
    name: str
    groups: tuple[str, ...]
    status: str
    stage: Stage
    has: Mapping[str, int]
    running: str | None = None
    uses: Mapping[str, int] | None = None
    reported: str | None = None
    reported_at: int | None = None

    def record(self) -> dict[str, Any]:
        """The record of the agent's stage.

        {"id", "name", "group", "group_config_status", "stage", "why", "next", "has": {group: revision}, "running",
        "uses": {group: revision}, "reported": {"mergedSum", "time"}}; null where nothing is known.
        """
        report = {"mergedSum": self.reported, "time": timestamp(self.reported_at)}
        return {
            "id": self.id,
            "name": self.name,
            "group": list(self.groups),
            "group_config_status": self.status,
            "stage": self.stage.name,
            "why": self.stage.why,
            "next": self.stage.next_step,
            "has": dict(self.has),
            "running": self.running,
            "uses": None if self.uses is None else dict(self.uses),
            "reported": None if self.reported_at is None else report,
        }


class Stages:
    """The stages of agents that were sorted out into `work`."""

    def __init__(self, ctx: Context, run: Sync, work: Work) -> None:
        self._run = run
        self._work = work
        self._pending = work.pending_ids() | work.held.keys()
        self._readable = access.scope(ctx, "group:read", "group:id")
        self._revisions: dict[str, dict[str, int]] = {}
        self._latest: dict[str, Latest | None] = {}
        self._promote: dict[str, str] = {}
        self._known: dict[str, bool] = {}
        self._lookers: dict[str, Looker] = {}

    def of(self, member: Member) -> AgentStage:
        """Where an agent stands."""
        uses = self.revisions(member.running) if member.running else None
        return AgentStage(
            member.agent_id,
            member.name,
            tuple(member.groups.split(",")),
            member.status,
            standing.stage(self._standing(member)),
            self.revisions(member.pushed_digest),
            member.running or None,
            uses,
            member.reported,
            member.reported_at,
        )

    def revisions(self, digest: str) -> dict[str, int]:
        """The revisions that a merged file stands for, of groups that may be read."""
        found = self._revisions.get(digest)
        if found is None:
            numbers = self._run.ctx.store.sync_state.revisions(digest) if digest else {}
            found = {group: number for group, number in numbers.items() if self._readable.covers(group)}
            self._revisions[digest] = found
        return found

    def gives(self, groups: str, target: Target) -> tuple[dict[str, int], dict[str, int]]:
        """The revisions that the groups are at now, and the last ones of groups that were changed on disk since.

        Of groups that may be read; those whose files are in no revision are in neither.
        """
        known, numbers, on_disk = self.revisions(target.digest), {}, {}
        for group in filter(self._readable.covers, groups.split(",")):
            if group not in self._latest:
                self._latest[group] = latest(self._run.ctx, group)
            found = self._latest[group]
            if found is not None and not found.changed:
                numbers[group] = found.number
            elif group in known:
                numbers[group] = known[group]
            elif found is not None:
                on_disk[group] = found.number
        return numbers, on_disk

    def promote(self, groups: str) -> str:
        """What ends the hold of a rollout on agents of these groups."""
        if groups not in self._promote:
            rollouts = self._run.ctx.store.rollouts.open()
            found = [
                holds.next_step(self._run, one) for one in rollouts if holds.keeps(self._run, one, groups)
            ]
            self._promote[groups] = found[0] if found else ""
        return self._promote[groups]

    def may_read(self, member: Member) -> bool:
        """Whether the caller may read every group of the agent, and so what is in its files."""
        return all(map(self._readable.covers, member.groups.split(",")))

    def blocked_by(self, member: Member) -> list[str]:
        """One line for each group that cannot be sent; no reason where the group may not be read."""
        problems = ((group, self._run.targets.problem(group)) for group in member.groups.split(","))
        return [
            error.problem if self._readable.covers(group) else f"group `{group}` cannot be sent"
            for group, error in problems
            if error is not None
        ]

    def _standing(self, member: Member) -> standing.Standing:
        """The facts that decide; what nothing hangs on is not looked for."""
        run, where = self._run, place(member)
        target = run.targets.of(member.groups)
        pending = member.id in self._pending
        blocked = isinstance(target, Blocked)
        behind = not pending and not blocked and member.running != member.pushed_digest
        revisions = {
            digest: self.revisions(digest) for digest in (member.pushed_digest, member.running) if digest
        }
        on_disk: Mapping[str, int] = {}
        if not isinstance(target, Blocked) and target.digest != member.pushed_digest:
            revisions[target.digest], on_disk = self.gives(member.groups, target)
        held = self._work.held.get(member.id)
        met = self._obstacle(member, target) if pending and not isinstance(target, Blocked) else ""
        return standing.Standing(
            agent=member.agent_id,
            target=_digest(target),
            pushed=member.pushed_digest or None,
            running=member.running,
            diverged=(self._edited(member) if held else self._difference(member)) if pending else None,
            obstacle=met or None,
            blocked_by=self.blocked_by(member) if blocked else (),
            repair=next(iter(target.errors.values())).fix if isinstance(target, Blocked) else None,
            folder_problem=run.folders.problem(where) if pending or blocked else None,
            ignores_shared=not pending and not blocked and restarts.ignores_shared(run.folders, where),
            restarts=not behind or restarts.applied(run.folders, where),
            held=held,
            promote=self.promote(member.groups) if held else "",
            unknown=behind and not self._is_known(member.running),
            revisions=revisions,
            on_disk=on_disk,
        )

    def _is_known(self, checksum: str) -> bool:
        """Whether this is no checksum at all, or that of a merged file that was made here."""
        if not checksum:
            return True
        if checksum not in self._known:
            self._known[checksum] = self._run.ctx.store.sync_state.known_digest(checksum) is not None
        return self._known[checksum]

    def _obstacle(self, member: Member, target: Target) -> str:
        """What is in the way in its folder, in words, with its name for who may read the agent's groups."""
        examined = self._work.examined.get(member.id)
        met = self._run.obstacle(member, target) if examined is None else examined.obstacle
        return met if self.may_read(member) else unnamed(met)

    def _edited(self, member: Member) -> str | None:
        """How the folder of an agent that is held differs from what was last written there, in words."""
        run, digest = self._run, member.pushed_digest
        last = run.targets.manifest(digest) if digest else None
        if not last:
            return None
        looker = self._lookers.setdefault(digest, Looker(digest, last))
        look = run.folders.look(place(member), looker)
        if look is not None and look.kept == member.look:
            return None
        try:
            examined = run.folders.examine(place(member), last, last, run.targets.manifest)
        except MgmtctlError:
            return None
        return standing.differences(examined.changes, named=self.may_read(member)) or None

    def _difference(self, member: Member) -> str:
        """How a folder differs from what was last written there, in words."""
        examined: Examined | None = self._work.examined.get(member.id)
        if examined is None:
            return "its files cannot be read"
        if examined.absent:
            return "its folder is missing"
        words = standing.differences(examined.changes, named=self.may_read(member))
        return words or "a push was cut short there"


def _digest(target: Target | Blocked) -> str | None:
    return None if isinstance(target, Blocked) else target.digest


def stages(ctx: Context, run: Sync, work: Work, members: Sequence[Member]) -> list[AgentStage]:
    """Where these agents stand, by id."""
    found = Stages(ctx, run, work)
    return [found.of(member) for member in sorted(members, key=lambda member: member.id)]
