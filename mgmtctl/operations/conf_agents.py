"""The facts of a group's agents that decide which blocks of its agent.conf they read. No operation is here.

Rules: one query for a group; profiles are read from the agents' folders only for a document that asks for them. An
agent that may not be named has facts without an id: findings rest on it and do not show it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mgmtctl.domain.scopes import Scope

if TYPE_CHECKING:
    from mgmtctl.domain.agent_facts import AgentFacts
    from mgmtctl.folders import Folders
    from mgmtctl.folders.agents import AgentFolders
    from mgmtctl.store.accepted import Reported
    from mgmtctl.store.store import Store

EVERYBODY = Scope(everything=True)
Profiles = tuple[str, ...] | None


def facts_of_group(
    store: Store, folders: Folders, group: str, data: bytes, readable: Scope | None
) -> list[AgentFacts]:
    """The agents of a group as the document `data` needs them: those that are readable; None: all, and none named."""
    scope = EVERYBODY if readable is None else readable
    found = store.accepted.reported(group, scope)
    if b"profile" not in data:
        return list(_facts(found, lambda agent: None, named=readable is not None))
    roots = store.settings.get("agents.folder_roots")
    with folders.agent_folders(roots) as agent_folders:
        return list(_facts(found, _profiles(agent_folders), named=readable is not None))


def _facts(
    found: Iterator[Reported], profiles: Callable[[Reported], Profiles], *, named: bool
) -> Iterator[AgentFacts]:
    """Agents report much the same: what is made of a text is made once."""
    from mgmtctl.domain.agent_facts import AgentFacts, agent_version, os_family, os_text
    from mgmtctl.domain.agents import padded_id

    @functools.lru_cache(maxsize=4096)
    def family(platform: str | None, name: str | None, uname: str) -> str | None:
        return os_family({"platform": platform or "", "name": name or "", "uname": uname})

    version_of = functools.lru_cache(maxsize=4096)(agent_version)
    for agent in found:
        system = {
            "platform": agent.platform or "",
            "name": agent.os_name or "",
            "version": agent.os_version or "",
            "uname": agent.uname or "",
        }
        yield AgentFacts(
            padded_id(agent.id) if named else "",
            agent.name,
            # What follows a bar is the host and its kernel.
            family(agent.platform, agent.os_name, system["uname"].partition("|")[0]),
            os_text(system, agent.version),
            version_of(agent.version),
            profiles(agent),
        )


def _profiles(folders: AgentFolders) -> Callable[[Reported], Profiles]:
    """What gives the profiles of an agent from its local configuration; None when it has none that can be read."""
    from mgmtctl.domain.agents import padded_id
    from mgmtctl.domain.local_files import LOCAL_CONF, read_local
    from mgmtctl.folders.agents import Place

    @functools.lru_cache(maxsize=256)
    def profiles_in(conf: bytes) -> Profiles:
        return read_local(conf, None).profiles

    def profiles(agent: Reported) -> Profiles:
        conf = folders.read_report(Place(padded_id(agent.id), agent.folder), LOCAL_CONF)
        return None if conf is None else profiles_in(conf)

    return profiles
