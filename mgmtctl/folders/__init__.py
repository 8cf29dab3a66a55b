"""The disk: group folders, agent folders, locks. Only this package and the store write below the data folder.

`Folders` is what the service holds; agent folders are opened for one piece of work (`agent_folders`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mgmtctl.folders.groups import FileInfo, GroupContent, GroupFolders

if TYPE_CHECKING:
    from mgmtctl.folders.agents import AgentFolders
    from mgmtctl.folders.revisions import Blobs

__all__ = ["FileInfo", "Folders", "GroupContent", "GroupFolders"]


class Folders(GroupFolders):
    """The folders of one service: `shared` holds the groups, `agents` the agents; `data` holds store, key and locks."""

    def __init__(self, shared: Path, agents: Path, data: Path | None = None) -> None:
        super().__init__(shared)
        self.agents = agents
        self.data = data or agents.parent

    def agent_folders(self, roots: Sequence[str] = ()) -> AgentFolders:
        """Agent folders for one piece of work, a context manager; `roots` is the setting agents.folder_roots."""
        from mgmtctl.folders.agents import AgentFolders

        return AgentFolders(self.agents, (self.data, self.shared), roots)

    @cached_property
    def revisions(self) -> Blobs:
        """What the files of revisions held."""
        from mgmtctl.folders.revisions import Blobs

        return Blobs(self.data)

    def lock(
        self, name: str, holder: str, *, if_locked: str = "fail", timeout: float = 0.0
    ) -> AbstractContextManager[bool]:
        """Keep others out of the work called `name`; yields False when it is held and `if_locked` is skip (D 8)."""
        from mgmtctl.folders.locks import lock

        return lock(self.data / f"{name}.lock", holder, if_locked=if_locked, timeout=timeout)
