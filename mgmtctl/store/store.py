"""The open store: one attribute per noun, and the transaction they share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from mgmtctl.store.database import Database

if TYPE_CHECKING:
    from mgmtctl.store.accepted import AcceptedStore
    from mgmtctl.store.agents import AgentStore
    from mgmtctl.store.contexts import ContextStore
    from mgmtctl.store.login_failures import LoginFailureStore
    from mgmtctl.store.policies import PolicyStore
    from mgmtctl.store.reports import ReportStore
    from mgmtctl.store.revisions import RevisionStore
    from mgmtctl.store.roles import RoleStore
    from mgmtctl.store.rollouts import RolloutStore
    from mgmtctl.store.rules import RuleStore
    from mgmtctl.store.sessions import SessionStore
    from mgmtctl.store.settings import SettingStore
    from mgmtctl.store.sync_state import SyncStateStore
    from mgmtctl.store.users import UserStore


class Store:
    """Everything that is kept, by noun. The noun modules are imported when they are first used."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        self.database = Database(path, create=create)
        self.dry_run = False

    @contextmanager
    def atomic(self) -> Iterator[None]:
        """One transaction; in a dry run it is undone at its end, after the same work and the same checks."""
        with self.database.atomic(keep=not self.dry_run):
            yield

    def snapshot(self) -> AbstractContextManager[None]:
        """Several reads that see one state."""
        return self.database.snapshot()

    def close(self) -> None:
        """Give the file back."""
        self.database.close()

    @cached_property
    def settings(self) -> SettingStore:
        from mgmtctl.store.settings import SettingStore

        return SettingStore(self.database)

    @cached_property
    def users(self) -> UserStore:
        from mgmtctl.store.users import UserStore

        return UserStore(self.database)

    @cached_property
    def roles(self) -> RoleStore:
        from mgmtctl.store.roles import RoleStore

        return RoleStore(self.database)

    @cached_property
    def policies(self) -> PolicyStore:
        from mgmtctl.store.policies import PolicyStore

        return PolicyStore(self.database)

    @cached_property
    def rules(self) -> RuleStore:
        from mgmtctl.store.rules import RuleStore

        return RuleStore(self.database)

    @cached_property
    def sessions(self) -> SessionStore:
        from mgmtctl.store.sessions import SessionStore

        return SessionStore(self.database)

    @cached_property
    def contexts(self) -> ContextStore:
        from mgmtctl.store.contexts import ContextStore

        return ContextStore(self.database)

    @cached_property
    def login_failures(self) -> LoginFailureStore:
        from mgmtctl.store.login_failures import LoginFailureStore

        return LoginFailureStore(self.database)

    @cached_property
    def agents(self) -> AgentStore:
        from mgmtctl.store.agents import AgentStore

        return AgentStore(self.database)

    @cached_property
    def sync_state(self) -> SyncStateStore:
        from mgmtctl.store.sync_state import SyncStateStore

        return SyncStateStore(self.database)

    @cached_property
    def rollouts(self) -> RolloutStore:
        from mgmtctl.store.rollouts import RolloutStore

        return RolloutStore(self.database)

    @cached_property
    def reports(self) -> ReportStore:
        from mgmtctl.store.reports import ReportStore

        return ReportStore(self.database)

    @cached_property
    def revisions(self) -> RevisionStore:
        from mgmtctl.store.revisions import RevisionStore

        return RevisionStore(self.database)

    @cached_property
    def accepted(self) -> AcceptedStore:
        from mgmtctl.store.accepted import AcceptedStore

        return AcceptedStore(self.database)
