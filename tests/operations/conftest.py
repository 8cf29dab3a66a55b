"""A real service in a temporary folder for the tests of operations, and factories for who acts on it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest
from argon2 import PasswordHasher

from mgmtctl import bootstrap
from mgmtctl.domain.policies import parse_policy
from mgmtctl.operations import login, setup
from mgmtctl.operations.context import Context
from mgmtctl.settings import Settings

ADMIN_PASSWORD = "Correct-Horse-7"


@pytest.fixture(scope="session")
def service_template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A data folder as `init` leaves it, to be copied for each test, and a hash of ADMIN_PASSWORD.

    The hash is a real one with the least work, so that the many logins of the tests take no time.
    """
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(ADMIN_PASSWORD)
    home = tmp_path_factory.mktemp("template") / "service"
    with bootstrap.create_service(Settings({"MGMTCTL_HOME": str(home)})) as ctx:
        setup.initialise(ctx, ADMIN_PASSWORD)
        ctx.store.database.execute("UPDATE users SET password = ? WHERE id = 1", (cheap,))
    return home, cheap


@pytest.fixture
def home(tmp_path: Path, service_template: tuple[Path, str]) -> Path:
    """MGMTCTL_HOME of a new service."""
    return Path(shutil.copytree(service_template[0], tmp_path / "service", symlinks=True))


@pytest.fixture
def settings(home: Path) -> Settings:
    """The settings of that service."""
    return Settings({"MGMTCTL_HOME": str(home)})


@pytest.fixture
def anonymous(settings: Settings) -> Iterator[Context]:
    """The open service, nobody logged in."""
    ctx = bootstrap.open_context(settings)
    yield ctx
    ctx.store.close()


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The open service for its administrator (user 1), really logged in."""
    return login.resume(anonymous, login.log_in(anonymous, "admin", ADMIN_PASSWORD).token, False)


class ActorWith(Protocol):
    """Makes a user and logs in as it; see `actor_with`."""

    def __call__(
        self,
        policies: Sequence[dict[str, Any]] = (),
        *,
        name: str = ...,
        roles: Sequence[str] = (),
        allow_run_as: bool = False,
    ) -> Context: ...


@pytest.fixture
def actor_with(anonymous: Context, service_template: tuple[Path, str]) -> ActorWith:
    """Make a user with ADMIN_PASSWORD and give back the service for a new session of it.

    `policies` are documents ({"actions", "resources", "effect"}), all linked to one new role of the user's name;
    `roles` are names of existing roles. Without either the user has no role.
    """

    def make(
        policies: Sequence[dict[str, Any]] = (),
        *,
        name: str = "ada",
        roles: Sequence[str] = (),
        allow_run_as: bool = False,
    ) -> Context:
        store = anonymous.store
        with store.atomic():
            user_id = store.users.add(name, service_template[1], allow_run_as=allow_run_as)
            if policies:
                role_id = store.roles.add(name)
                for number, document in enumerate(policies):
                    title = f"{name}_{number}"
                    store.roles.link_policy(role_id, store.policies.add(title, parse_policy(document, title)))
                store.users.link_role(user_id, role_id)
            for role in roles:
                found = store.roles.find(role)
                assert found is not None, role
                store.users.link_role(user_id, found)
        return login.resume(anonymous, login.log_in(anonymous, name, ADMIN_PASSWORD).token, False)

    return make


@pytest.fixture
def acting_again(anonymous: Context) -> Callable[[str], Context]:
    """Log in anew by user name, as after a change that ended the sessions."""
    return lambda name: login.resume(anonymous, login.log_in(anonymous, name, ADMIN_PASSWORD).token, False)
