"""What is gone from the disk and can be brought back: a group's folder, its agent.conf. No operation is here.

Rules: nobody is told to do what would empty the configuration of agents without being told how to get it back (D 6);
what is removed with a command is meant, and is told only as long as agents have it.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING

from mgmtctl.domain import revisions
from mgmtctl.domain.files import AGENT_CONF
from mgmtctl.domain.findings import WARNING, Finding
from mgmtctl.domain.groups import quoted

if TYPE_CHECKING:
    from mgmtctl.domain.scopes import Scope
    from mgmtctl.store.store import Store


def last_files(store: Store, group: str) -> int | None:
    """The last revision with files that agents of the group have; else the last one with files; None without one."""
    empty = revisions.tree_digest({})
    full = [found.number for found in store.revisions.list(group) if found.tree != empty]
    held = store.revisions.held(group).intersection(full)
    return max(held or full, default=None)


def commands(store: Store, group: str) -> str:
    """The commands that bring back a group whose folder is gone: a new folder alone would empty its agents."""
    number = last_files(store, group)
    back = "" if number is None else f", then {_back(group, number)}"
    return f"mgmtctl groups create {group}{back}"


def before(store: Store, group: str, number: int) -> int:
    """The revision that undoing this one leads to: when the group came again by it, the last one before with files."""
    empty, found = revisions.tree_digest({}), store.revisions.get(group, number)
    if found.how != revisions.CREATE:
        return number - 1
    full = [one.number for one in store.revisions.list(group) if one.number < number and one.tree != empty]
    return max(full, default=number - 1)


def emptied(group: str, files: Mapping[str, bytes | None], number: int, agents: int) -> Iterator[Finding]:
    """That bringing these files (None: removed) back takes the agent.conf from so many agents."""
    if AGENT_CONF in files and files[AGENT_CONF] is None:
        who = {0: "agents get", 1: "1 agent gets"}.get(agents, f"{agents} agents get")
        problem = f"r{number} has no such file; {who} none from this group"
        yield Finding("agent-conf-gone", WARNING, problem, f"{group}/{AGENT_CONF}")


class Losses:
    """The groups of which agents lose their agent.conf, noted before any of them is written to."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._noted: dict[str, int | None] = {}
        self._without: set[str] | None = None

    def note(self, group: str, names: Container[str] | None) -> None:
        """Look at a group that has these files; None: those of its last revision."""
        if group in self._noted:
            return
        if self._without is None:
            self._without = self._store.revisions.without_file(AGENT_CONF)
        gone = group in self._without if names is None else AGENT_CONF not in names
        self._noted[group] = _lost(self._store, group) if gone else None

    def lines(self, readable: Scope, agents: Scope | None = None) -> Iterator[str]:
        """One line for each that is readable; with how many of these agents it has."""
        shown = [(group, number) for group, number in sorted(self._noted.items()) if number is not None]
        counts = self._store.agents.counts(agents) if shown and agents is not None else {}
        for group, number in shown:
            if readable.covers(group):
                path, count = f"{group}/{AGENT_CONF}", counts.get(group, 0)
                who = {0: "its agents lose", 1: "its 1 agent loses"}.get(count, f"its {count} agents lose")
                yield f"{quoted(path)} of r{number} is gone, {who} what it said ({_back(path, number)})"


def _lost(store: Store, group: str) -> int | None:
    """The last revision with an agent.conf, of a group that has none now, when agents still have one."""
    having = store.revisions.with_file(group, AGENT_CONF)
    return having[-1] if having and store.revisions.held(group).intersection(having) else None


def gone_findings(store: Store, group: str, names: Container[str]) -> Iterator[Finding]:
    """That a group with these files has no agent.conf any more; not when a command took it and no agent has it."""
    having = () if AGENT_CONF in names else store.revisions.with_file(group, AGENT_CONF)
    if not having:
        return
    after = [found for found in store.revisions.list(group) if found.number > having[-1]]
    if not after or after[-1].how == revisions.FOUND or _lost(store, group) is not None:
        path = f"{group}/{AGENT_CONF}"
        problem = f"the file of r{having[-1]} is gone; agents lose what it said"
        yield Finding("agent-conf-gone", WARNING, problem, path, suggestion=_back(path, having[-1]))


def _back(what: str, number: int) -> str:
    return f"mgmtctl files rollback {what} --to {number}"
