"""What an operation works with: the open parts of the service, who is acting, and through which door."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mgmtctl.domain.grants import Permissions
    from mgmtctl.domain.impact import Impact
    from mgmtctl.folders import Folders
    from mgmtctl.logs import RequestLog
    from mgmtctl.store.store import Store
    from mgmtctl.tokens import SigningKey


@dataclass(frozen=True, slots=True)
class Door:
    """Where a call comes from: the address that the log shows, the system user, and whether he owns the data folder."""

    address: str = "127.0.0.1"
    uid: int | None = None
    owner: bool = False

    @property
    def login_address(self) -> str:
        """The address that failed logins are counted under: `local:` and the system user id for the CLI (D 1)."""
        return f"local:{self.uid}" if self.uid is not None else self.address


@dataclass(frozen=True, slots=True)
class Actor:
    """Who is acting: a user with the roles of one session, and the permissions these give now (never from a token)."""

    user_id: int
    user: str
    run_as: bool
    context_id: str | None
    roles: tuple[tuple[int, str], ...]
    permissions: Permissions
    session: str
    expires: int

    def owns(self, user_id: int, context_id: str | None) -> bool:
        """Whether a session is the actor's own: one of his user, but to a context's session its context's only."""
        return user_id == self.user_id and (not self.run_as or context_id == self.context_id)


@dataclass(slots=True)
class Context:
    """The open service for one caller. `now` gives seconds since 1970; `actor` is None before a login.

    `warnings` are for whoever called, beside the result; `impacts`: what changes of access would mean, for who asked
    for a dry run or a preview.
    """

    store: Store
    folders: Folders
    keys: SigningKey
    log: RequestLog
    now: Callable[[], float]
    door: Door = field(default_factory=Door)
    actor: Actor | None = None
    dry_run: bool = False
    reason: str | None = None
    warnings: list[str] = field(default_factory=list)
    impacts: list[Callable[[], Impact]] = field(default_factory=list)

    def atomic(self) -> AbstractContextManager[None]:
        """One store transaction, undone at its end in a dry run."""
        return self.store.atomic()

    def acting_as(self, actor: Actor | None) -> Context:
        """The same service for another actor."""
        return replace(self, actor=actor)
