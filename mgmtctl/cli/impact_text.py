"""The impact of a change of access, readable: who, then what they gain or lose and on how much (80 columns)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mgmtctl.cli.text import folded
from mgmtctl.domain.impact import GAINS, LOSES, Consequence, Effect, Impact, Subject
from mgmtctl.domain.resources import RESOURCELESS, Resource

_MOST_NAMED = 5
_MOST_ACTIONS = 8
_HANG = 11
# A page that is longer begins with what matters most of it, and has this many groups of subjects in full.
_LONG_PAGE = 20
_MOST_CONSEQUENCES = 3
_CHANGE_NO_ACCESS = ("security:read", "security:read_config", "security:revoke")
PARTIAL = "as far as you may read users, roles, rules, groups and agents"
UNCOUNTED = "too much changes to count all of it: some numbers are missing"
_PLURALS = {"policy": "policies"}
# What the things of a kind are called.
_NOUNS = {
    "agent:id": "agent",
    "agent:group": "group",
    "group:id": "group",
    "node:id": "node",
    "decoder:file": "decoder file",
    "list:file": "list file",
    "rule:file": "rule file",
    "user:id": "user",
    "role:id": "role",
    "policy:id": "policy",
    "rule:id": "rule",
}
# Whose permissions a subject's are, by its kind and by which contexts of a rule are meant.
_WHO = {
    ("role", None): "role",
    ("user", None): "user",
    ("rule", None): "contexts of rule",
    ("rule", "before"): "contexts that satisfied rule",
    ("rule", "after"): "contexts that will satisfy rule",
}


def lines(impact: Impact, width: int = 0) -> list[str]:
    """The impact: each group of subjects with what it gains and loses, then how many sessions end.

    A long one begins with a summary and is cut. No line is wider than `width`, if words allow it; 0: as long as they
    are.
    """
    whole = _folded([*_details(impact, impact.consequences), *_end(impact)], width)
    if len(whole) <= _LONG_PAGE:
        return whole
    shown, rest = impact.consequences[:_MOST_CONSEQUENCES], impact.consequences[_MOST_CONSEQUENCES:]
    cut = sum(len(consequence.subjects) for consequence in rest)
    more = [(f"  and {cut} more; -o json shows all of them", 4)] if cut else []
    end = [(f"  {line}", 4) for line in (partial(impact),) if line]
    return _folded([*_summary(impact), *_details(impact, shown), *more, *end], width)


def partial(impact: Impact) -> str:
    """That there may be more than is told; empty when there is none."""
    limits = _limits(impact)
    return f"({limits})" if limits else ""


def _limits(impact: Impact) -> str:
    told = ("" if impact.complete else PARTIAL, "" if impact.counted else UNCOUNTED)
    return "; ".join(filter(None, told))


def _summary(impact: Impact) -> Iterator[tuple[str, int]]:
    """How many gain and lose, who becomes able to change access, and where the rest is."""
    touched = {
        change: [one for one in impact.consequences if any(effect.change == change for effect in one.effects)]
        for change in (GAINS, LOSES)
    }
    counts = [
        f"{_numbers(found)} {change if subjects == 1 else change.removesuffix('s')}"
        for change, found in touched.items()
        for subjects in (sum(len(one.subjects) for one in found),)
        if subjects
    ]
    yield f"  in short: {'; '.join(counts)}; {sessions(impact)}", 4
    masters = [
        subject
        for one in touched[GAINS]
        if any(effect.change == GAINS and _changes_access(effect.actions) for effect in one.effects)
        for subject in one.subjects
    ]
    yield f"  gain the power to change access (security:*): {_subjects(masters) if masters else 'nobody'}", 4
    yield "  -o json has every action and resource", 4


def _numbers(found: Sequence[Consequence]) -> str:
    """How many subjects of each kind."""
    kinds = [subject.kind for one in found for subject in one.subjects]
    return ", ".join(
        f"{kinds.count(kind)} {_plural(kind, kinds.count(kind))}" for kind in dict.fromkeys(kinds)
    )


def _changes_access(actions: Sequence[str]) -> bool:
    return any(action.startswith("security:") and action not in _CHANGE_NO_ACCESS for action in actions)


def _details(impact: Impact, consequences: Sequence[Consequence]) -> list[tuple[str, int]]:
    found = []
    for consequence in consequences:
        found.append((f"  {_subjects(consequence.subjects)}", 4))
        alone = len(consequence.subjects) == 1 and consequence.subjects[0].kind != "rule"
        for change, text in _effects(consequence.effects, impact.names):
            verb = change if alone else change.removesuffix("s")
            found.append((f"    {verb:5}  {text}", _HANG))
    return found


def _end(impact: Impact) -> list[tuple[str, int]]:
    """How many sessions end, and that there may be more than is told."""
    if not impact.consequences:
        limits = _limits(impact)
        known = f", {limits}" if limits else ""
        return [(f"  nobody gains or loses anything{known}; {sessions(impact)}", 4)]
    return [(f"  {line}", 4) for line in (partial(impact), sessions(impact)) if line]


def _folded(found: Sequence[tuple[str, int]], width: int) -> list[str]:
    """The lines, each with what its further ones are indented by, in lines that fit."""
    return [part for line, hang in found for part in folded(line, width, hang).split("\n")]


def sessions(impact: Impact) -> str:
    """How many sessions end."""
    if not impact.sessions:
        return "no session ends"
    return f"{impact.sessions} session{'s end' if impact.sessions > 1 else ' ends'}"


def rows(impact: Impact) -> Iterator[dict[str, Any]]:
    """A row for each thing that each subject gains or loses."""
    for consequence in impact.consequences:
        for subject in consequence.subjects:
            for effect in consequence.effects:
                record = effect.record()
                yield {"who": _who(subject), "name": subject.name, **record}


def _subjects(subjects: Sequence[Subject]) -> str:
    by_kind: dict[str, list[str]] = {}
    for subject in subjects:
        name = subject.name if subject.by is None else f"{subject.name} brought by {subject.by}"
        by_kind.setdefault(_who(subject), []).append(name)
    return "; ".join(
        f"{_plural(who, len(names))} {_some(names, _MOST_NAMED)}" for who, names in by_kind.items()
    )


def _who(subject: Subject) -> str:
    return _WHO[subject.kind, subject.part]


def _plural(words: str, count: int) -> str:
    *before, last = words.split(" ")
    return words if count == 1 else " ".join([*before, _PLURALS.get(last, f"{last}s")])


def _some(names: Sequence[str], most: int) -> str:
    shown, more = names[:most], len(names) - most
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _effects(effects: Sequence[Effect], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The effects of the same actions in one text each, those on access first."""
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for effect in sorted(effects, key=lambda effect: (effect.change, not _changes_access(effect.actions))):
        alike.setdefault((effect.change, effect.actions), []).append(_where(effect, names))
    for (change, said), places in alike.items():
        where = ", ".join(filter(None, places))
        actions = sorted(said, key=lambda action: not _changes_access((action,)))
        yield change, _some(actions, _MOST_ACTIONS) + (f"  on {where}" if where else "")


def _where(effect: Effect, names: Mapping[str, str]) -> str:
    """On what: every one, some by name, or a number of them with the groups they are in."""
    if effect.kind == RESOURCELESS.kind:
        return ""
    noun = _NOUNS[effect.kind]
    but = f" but {_listed(effect.excepted, names)}" if effect.excepted else ""
    wide = [resource.kind for resource in effect.resources if resource.value == "*"]
    if wide:
        everyone = f"every {noun}" if effect.kind in wide else "agents in any group"
        return f"{everyone}{but}" + ("" if effect.count is None else f" ({effect.count or 'none'} now)")
    listed = _listed(effect.resources, names) + but.replace(" but ", "; not ", 1)
    if effect.count is None or _only_ids(effect):
        exact = effect.count in (None, len(effect.resources))
        return listed if exact else f"{listed}{_now(effect)}"
    number = f"{effect.count} {_plural(noun, effect.count)}" if effect.count else f"no {noun} now"
    return f"{number} ({listed})" if listed else number


def _only_ids(effect: Effect) -> bool:
    named = effect.resources
    return bool(named) and all(r.kind != "agent:group" for r in named) and len(named) <= _MOST_NAMED


def _now(effect: Effect) -> str:
    """On how many things it changes something today: what may come to be is gained and lost too."""
    if effect.count is None:
        return ""
    today = "reached on none" if effect.change == GAINS else "held on none"
    return f" ({effect.count} now)" if effect.count else f" ({today} now)"


def _listed(resources: Sequence[Resource], names: Mapping[str, str]) -> str:
    """Resources of one noun: groups first, each by name where it has one."""
    by_noun: dict[str, list[str]] = {}
    for resource in sorted(resources, key=lambda found: (found.kind != "agent:group", found.value)):
        by_noun.setdefault(_NOUNS[resource.kind], []).append(names.get(str(resource), resource.value))
    parts = [f"{_plural(noun, len(found))} {_some(found, _MOST_NAMED)}" for noun, found in by_noun.items()]
    return ", ".join("any group" if part == "group *" else part for part in parts)
