"""Pictures of a sync: bars by stage and by group, totals as rows, what a plan comes to.

Rules: everything here is made of counts, so that it says nothing that the list does not; a picture has at most
MOST_LINES lines, is readable without colour (each stage has a letter of its own) and as wide as the terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mgmtctl.cli.text import clean, few
from mgmtctl.domain.sync import FINE, HELD, PENDING_RESTART, STAGES, SYNCED

if TYPE_CHECKING:
    from mgmtctl.operations.agent_stages import AgentStage
    from mgmtctl.operations.sync_work import Total

EVERY = "all"  # the row of all agents; no group is called so
MOST_LINES = 20
_MOST_GROUPS = 8
_MOST_PROBLEMS = 10
# Of the height of a terminal: two empty lines, the title, three lines that are said after it, and the prompt.
_AROUND = 7
_MOST_NAMED = 3
# What nobody has to do anything about at once comes last.
_PATIENT = (HELD, PENDING_RESTART)
_MOST_TOTALS = 8
_WIDEST_NAME = 24
_LETTERS = {
    "no-folder": "x",
    "never-synced": "n",
    "blocked": "b",
    "held": "h",
    "stale": "s",
    "diverged": "d",
    "ignored": "i",
    "pending-restart": "r",
    SYNCED: "#",
}
_GREEN, _YELLOW, _RED, _PLAIN = "\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"
_COLORS = {SYNCED: _GREEN, "ignored": _GREEN, "no-folder": _RED, "blocked": _RED, "diverged": _RED}

Counts = Mapping[str, int]


def counted(found: Iterable[AgentStage]) -> dict[str, Counter[str]]:
    """How many agents of each group are in each stage; the row EVERY counts each agent once."""
    counts: dict[str, Counter[str]] = {EVERY: Counter()}
    for where in found:
        counts[EVERY][where.stage.name] += 1
        for group in where.groups:
            counts.setdefault(group, Counter())[where.stage.name] += 1
    return counts


def rows(counts: Mapping[str, Counts]) -> list[dict[str, Any]]:
    """The counts as records {"group", "agents", STAGE: count...}, all agents first, then the groups by name."""
    order = sorted(counts, key=lambda group: (group != EVERY, group))
    return [
        {
            "group": group,
            "agents": sum(counts[group].values()),
            **{stage: counts[group].get(stage, 0) for stage in reversed(STAGES)},
        }
        for group in order
    ]


def late(found: Iterable[AgentStage]) -> list[list[AgentStage]]:
    """The agents that are not fine, those of one stage and one reason together.

    First of each stage what most agents have, of a rare stage before that of a frequent one; then the rest.
    """
    alike: dict[tuple[str, str], list[AgentStage]] = {}
    for where in found:
        if where.stage.name not in FINE:
            # Reasons that only name their own agent differently are one.
            alike.setdefault((where.stage.name, where.stage.why.replace(where.id, "")), []).append(where)
    often: Counter[str] = Counter()
    ranks: Counter[str] = Counter()
    ranked = []
    for (stage, _), same in sorted(alike.items(), key=lambda item: -len(item[1])):
        often[stage] += len(same)
        ranked.append((ranks[stage], stage, same))
        ranks[stage] += 1
    ranked.sort(key=lambda entry: (entry[1] in _PATIENT, entry[0], often[entry[1]]))
    return [same for _, _, same in ranked]


def problem(same: Sequence[AgentStage]) -> dict[str, str]:
    """Agents of one stage and reason as a row {"agents", "stage", "why"}."""
    one = same[0]
    named = f"{one.id} {one.name}" if len(same) == 1 else few([where.id for where in same], _MOST_NAMED)
    return {"agents": named, "stage": one.stage.name, "why": one.stage.why}


def fitting(counts: Mapping[str, Counts], problems: int, height: int) -> tuple[int, int]:
    """How many groups and how many rows of problems to show so that all of it fits a terminal of this height."""
    room = height - _AROUND - len(counts[EVERY])
    groups = min(len(counts) - 1, _MOST_GROUPS)
    rows = min(problems, _MOST_PROBLEMS, max(room - groups, room // 2, 1))
    left = room - rows
    if groups > left or groups < len(counts) - 1:
        groups = max(min(groups, left - 1), 0)  # a line says how many more there are
    return groups, rows


def picture(
    counts: Mapping[str, Counts], width: int, color: bool, most_groups: int = _MOST_GROUPS
) -> list[str]:
    """Bars: one for each stage that occurs, then one for each group, those with most to do first."""
    every = counts[EVERY]
    total = sum(every.values())
    if not total:
        return []
    stages = [stage for stage in reversed(STAGES) if every.get(stage)]
    groups = sorted(
        (group for group in counts if group != EVERY),
        key=lambda group: (-_late(counts[group]), -sum(counts[group].values()), group),
    )
    shown = groups[:most_groups]
    names = [*(f"{_LETTERS[stage]} {stage}" for stage in stages), *map(_short, shown)]
    label, digits = max(map(len, names)), len(str(total))
    room = max(10, width - label - digits - 4)
    lines = [
        _line(
            name,
            every[stage],
            {stage: every[stage]},
            (label, digits, _part(every[stage], total, room)),
            color,
        )
        for name, stage in zip(names, stages, strict=False)
    ]
    lines.append("")
    for name, group in zip(names[len(stages) :], shown, strict=True):
        size = sum(counts[group].values())
        lines.append(_line(name, size, counts[group], (label, digits, room), color))
    if len(groups) > len(shown):
        lines.append(f"and {len(groups) - len(shown)} more groups: mgmtctl sync status --totals")
    return lines


def _late(counts: Counts) -> int:
    return sum(count for stage, count in counts.items() if stage not in FINE)


def _short(name: str) -> str:
    name = clean(name)
    return name if len(name) <= _WIDEST_NAME else name[: _WIDEST_NAME - 1] + "\u2026"


def _part(count: int, total: int, room: int) -> int:
    """How many of `room` characters stand for a part; at least one for anything."""
    return max(1, round(room * count / total))


def _line(name: str, size: int, counts: Counts, widths: tuple[int, int, int], color: bool) -> str:
    label, digits, room = widths
    bar = "".join(
        _painted(_LETTERS[stage] * cells, stage, color)
        for stage, cells in shares(counts, room).items()
        if cells
    )
    return f"{name:{label}}  {size:>{digits}}  {bar}"


def _painted(text: str, stage: str, color: bool) -> str:
    return f"{_COLORS.get(stage, _YELLOW)}{text}{_PLAIN}" if color else text


def shares(counts: Counts, room: int) -> dict[str, int]:
    """How many of `room` characters each stage gets: in proportion, at least one, together no more than `room`."""
    order = [stage for stage in reversed(STAGES) if counts.get(stage)]
    total = sum(counts[stage] for stage in order)
    cells = {stage: max(1, room * counts[stage] // total) for stage in order}
    while (left := room - sum(cells.values())) and order:
        # What is over goes to who lacks most of his part, what is too much is taken from the largest.
        if left > 0:
            cells[max(order, key=lambda stage: counts[stage] * room / total - cells[stage])] += 1
        else:
            largest = max(order, key=lambda stage: cells[stage])
            if cells[largest] <= 1:
                break
            cells[largest] -= 1
    return cells


def total_lines(totals: Sequence[Total]) -> list[str]:
    """What a plan comes to: `web r7: 812 agents, 2 files change, 16 KiB each`."""
    lines = [_total_line(total) for total in totals[:_MOST_TOTALS]]
    if len(totals) > _MOST_TOTALS:
        agents = sum(total.agents for total in totals[_MOST_TOTALS:])
        lines.append(
            f"and {counted_words(agents, 'agent')} of {len(totals) - _MOST_TOTALS} more combinations"
        )
    return lines


def _total_line(total: Total) -> str:
    groups = ", ".join(
        f"{group} r{total.revisions[group]}" if group in total.revisions else group for group in total.groups
    )
    files = f"{counted_words(total.files, 'file')} change{'s' * (total.files == 1)}"
    size = "" if total.size is None else f", {in_bytes(total.size)}{' each' * (total.agents != 1)}"
    return f"{groups}: {counted_words(total.agents, 'agent')}, {files}{size}"


def counted_words(count: int, noun: str) -> str:
    """`1 agent`, `2 agents`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def in_bytes(size: int) -> str:
    """A size as people read it."""
    if size < 1024:
        return f"{size} bytes" if size != 1 else "1 byte"
    for unit in ("KiB", "MiB"):
        size_in = size / 1024
        if size_in < 1024:
            return f"{size_in:.0f} {unit}" if size_in >= 10 else f"{size_in:.1f} {unit}"
        size //= 1024
    return f"{size / 1024:.1f} GiB"
