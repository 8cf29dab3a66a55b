"""Whether an agent uses by itself what it was given: what its folder says about restarts. Nothing here is an operation.

Rules (D 8): with `auto_restart`, the default, an agent uses new files at once, else after the next restart; what it
left in its folder is never trusted for anything but itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgmtctl.domain.local_files import INTERNAL_OPTIONS, LOCAL_CONF, LocalProblem, read_local

if TYPE_CHECKING:
    from mgmtctl.folders.agents import AgentFolders, Place


def applied(folders: AgentFolders, place: Place) -> bool:
    """Whether the agent restarts by itself after a push (`auto_restart` of its local configuration)."""
    conf = folders.read_report(place, LOCAL_CONF)
    return conf is None or read_local(conf, None).auto_restart


def ignores_shared(folders: AgentFolders, place: Place) -> bool:
    """Whether the agent uses no shared files at all (`agent.remote_conf=0` of its internal options)."""
    options = folders.read_report(place, INTERNAL_OPTIONS)
    return options is not None and read_local(None, options).ignores_shared


def problems(folders: AgentFolders, place: Place) -> tuple[LocalProblem, ...]:
    """What in the agent's own files cannot be read, or means nothing."""
    conf, options = (folders.read_report(place, name) for name in (LOCAL_CONF, INTERNAL_OPTIONS))
    return read_local(conf, options).problems
