"""Setting up a service: what it holds, who may, and what a killed or second `init` leaves (D 1, S 2.6-2.8)."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mgmtctl import bootstrap, passwords
from mgmtctl.domain import defaults
from mgmtctl.domain.errors import (
    ConflictError,
    DeniedError,
    InvalidError,
    UnauthenticatedError,
    UnavailableError,
)
from mgmtctl.operations import login, setup
from mgmtctl.operations.context import Context, Door
from mgmtctl.settings import Settings
from mgmtctl.store.login_failures import Limits, user_bucket
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in [folder, *folder.rglob("*")]
        if "shared/" not in str(path)
    }


def test_init_makes_every_default_object(anonymous: Context) -> None:
    store = anonymous.store
    assert store.policies.names() == {policy.id: policy.name for policy in defaults.POLICIES}
    assert store.roles.names() == {role.id: role.name for role in defaults.ROLES}
    assert store.rules.names() == {rule.id: rule.name for rule in defaults.RULES}
    for role in defaults.ROLES:
        kept = store.roles.get(role.id)
        assert [store.policies.names()[number] for number in kept.policies] == list(role.policies)
        assert [store.rules.names()[number] for number in kept.rules] == sorted(role.rules)
    assert [rule.expressions for rule in store.rules.list()] == [rule.rules for rule in defaults.RULES]


def test_init_makes_an_administrator_and_a_user_without_password(anonymous: Context) -> None:
    admin, web = anonymous.store.users.list()
    assert (admin.id, admin.name, admin.roles, admin.has_password) == (1, "admin", (1,), True)
    assert (web.id, web.name, web.roles, web.has_password) == (2, "wui", (1,), False)
    assert (admin.allow_run_as, web.allow_run_as) == (False, True)


@pytest.mark.parametrize("password", ["", " ", "wui", "None", ADMIN_PASSWORD])
def test_the_user_without_password_cannot_log_in(anonymous: Context, password: str) -> None:
    with pytest.raises(UnauthenticatedError):
        login.log_in(anonymous, "wui", password)


def test_init_makes_the_default_group_and_an_empty_ar_conf(anonymous: Context) -> None:
    assert anonymous.folders.group_names() == ["default"]
    assert (anonymous.folders.shared / "default").is_dir()
    assert anonymous.folders.ar_conf() == b""


def test_own_objects_start_at_100(anonymous: Context) -> None:
    assert anonymous.store.users.add("ada", None) == 100
    assert anonymous.store.roles.add("ada") == 100


def test_everything_is_private(home: Path) -> None:
    found = modes(home)
    assert {name: mode for name, mode in found.items() if mode & 0o077 and name != "shared"} == {}
    assert found["."] == 0o700
    assert found["store.db"] == found["key"] == found["log/requests.log"] == 0o600
    assert found["log"] == found["agents"] == found["revisions"] == 0o700


def test_no_password_and_no_key_is_in_the_log(home: Path) -> None:
    text = (home / "log" / "requests.log").read_bytes()
    assert b'"POST /service" with parameters {"password": "****"}' in text
    assert ADMIN_PASSWORD.encode() not in text


def test_a_second_init_is_a_conflict_and_changes_nothing(settings: Settings, home: Path) -> None:
    before = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    with pytest.raises(ConflictError), bootstrap.create_service(settings):
        pytest.fail("unreachable")
    assert {path: path.read_bytes() for path in home.rglob("*") if path.is_file()} == before


def test_a_bad_password_names_every_rule_and_leaves_no_service(tmp_path: Path) -> None:
    settings = Settings({"MGMTCTL_HOME": str(tmp_path / "new")})
    with pytest.raises(InvalidError) as raised, bootstrap.create_service(settings) as ctx:
        setup.initialise(ctx, "short")
    assert "at least 8 characters, an upper-case letter, a digit, a symbol" in raised.value.problem
    assert not settings.initialised
    assert not list((tmp_path / "new").glob(".store*"))
    with bootstrap.create_service(settings) as ctx:
        setup.initialise(ctx, ADMIN_PASSWORD)
    assert settings.initialised


def test_of_two_inits_at_once_one_is_refused(tmp_path: Path) -> None:
    settings = Settings({"MGMTCTL_HOME": str(tmp_path / "new")})
    with bootstrap.create_service(settings) as ctx:
        with pytest.raises(ConflictError, match="another init"), bootstrap.create_service(settings):
            pytest.fail("unreachable")
        setup.initialise(ctx, ADMIN_PASSWORD)
    assert settings.initialised


def test_an_init_closes_a_folder_that_was_readable_and_refuses_one_that_others_may_write(
    tmp_path: Path,
) -> None:
    settings = Settings({"MGMTCTL_HOME": str(tmp_path)})
    tmp_path.chmod(0o775)
    with pytest.raises(UnavailableError, match="open to others"), bootstrap.create_service(settings):
        pytest.fail("unreachable")
    assert list(tmp_path.iterdir()) == []
    tmp_path.chmod(0o755)
    with bootstrap.create_service(settings) as ctx:
        setup.initialise(ctx, ADMIN_PASSWORD)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_an_init_in_a_folder_with_a_config_file_keeps_it(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('logs.format = "json"\n')
    tmp_path.chmod(0o700)
    with bootstrap.create_service(Settings({"MGMTCTL_HOME": str(tmp_path)})) as ctx:
        setup.initialise(ctx, ADMIN_PASSWORD)
    assert (tmp_path / "log" / "requests.jsonl").exists()


KILLED = """
import os, signal, sys
from mgmtctl import bootstrap
from mgmtctl.operations import setup
from mgmtctl.settings import Settings
from mgmtctl.store.login_failures import Limits, user_bucket
point = int(sys.argv[1])
seen = 0
def trace(frame, event, argument):
    global seen
    if event == "call" and "mgmtctl" in frame.f_code.co_filename:
        seen += 1
        if seen == point:
            os.kill(os.getpid(), signal.SIGKILL)
sys.setprofile(trace)
with bootstrap.create_service(Settings()) as ctx:
    setup.initialise(ctx, "Correct-Horse-7")
sys.setprofile(None)
print(seen)
"""


@pytest.mark.slow
def test_an_init_killed_at_any_moment_can_be_run_again(tmp_path: Path) -> None:
    def run(point: int, home: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", KILLED, str(point)],
            env={**os.environ, "MGMTCTL_HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    whole = run(-1, tmp_path / "whole")
    calls = int(whole.stdout)
    points = [calls * step // 7 for step in range(1, 7)] + list(range(calls - 4, calls + 1))
    for point in points:
        home = tmp_path / str(point)
        assert run(point, home).returncode == -signal.SIGKILL
        settings = Settings({"MGMTCTL_HOME": str(home)})
        if not settings.initialised:
            assert run(-1, home).returncode == 0
        ctx = bootstrap.open_context(settings)
        assert login.log_in(ctx, "admin", ADMIN_PASSWORD).roles == ((1, "administrator"),)
        ctx.store.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_the_folder_of_somebody_else_is_named_as_such_and_not_as_empty(tmp_path: Path) -> None:
    os.chown(tmp_path, 12345, -1)
    with pytest.raises(UnavailableError, match="belongs to another system user"):
        bootstrap.open_context(Settings({"MGMTCTL_HOME": str(tmp_path)}))


def test_without_init_the_next_step_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as raised:
        bootstrap.open_context(Settings({"MGMTCTL_HOME": str(tmp_path)}))
    assert raised.value.reason == "configuration"
    assert "mgmtctl init" in str(raised.value.fix)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        pytest.param(lambda home: home.chmod(0o770), "open to others", id="a folder that a group may write"),
        pytest.param(lambda home: home.chmod(0o702), "open to others", id="a folder that anybody may write"),
        pytest.param(
            lambda home: (home / "store.db").chmod(0o666), "open to others", id="a store open to all"
        ),
        pytest.param(
            lambda home: (home / "key").chmod(0o640), "open to others", id="a key that a group may read"
        ),
        pytest.param(lambda home: (home / "key").unlink(), "cannot use", id="no key"),
    ],
)
def test_a_data_folder_that_others_can_touch_is_refused(
    settings: Settings, home: Path, spoil: Callable[[Path], None], says: str
) -> None:
    spoil(home)
    with pytest.raises(UnavailableError, match=says) as raised:
        bootstrap.open_context(settings)
    assert raised.value.reason == "configuration"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("name", ["", "store.db", "key"])
def test_what_belongs_to_somebody_else_is_refused(settings: Settings, home: Path, name: str) -> None:
    os.chown(home / name, 12345, -1)
    with pytest.raises(UnavailableError, match="belongs to another system user"):
        bootstrap.open_context(settings)


def test_recover_sets_the_password_restores_the_role_and_ends_all_sessions(
    anonymous: Context, actor_with: ActorWith
) -> None:
    actor_with(name="ada")
    anonymous.store.users.unlink_role(1, 1)
    limits, bucket = Limits(1, 300, 300), user_bucket(1, anonymous.door.login_address)
    anonymous.store.login_failures.count(bucket, limits, int(anonymous.now()))
    anonymous.store.login_failures.block_if_spent(bucket, limits, int(anonymous.now()))
    setup.recover(anonymous, "Another-Horse-8")
    assert login.log_in(anonymous, "admin", "Another-Horse-8").roles == ((1, "administrator"),)
    with pytest.raises(UnauthenticatedError):
        login.log_in(anonymous, "admin", ADMIN_PASSWORD)
    assert anonymous.store.sessions.generations(100, (), context=False) == "2,1"


def test_only_the_owner_of_the_data_folder_may_recover(settings: Settings) -> None:
    ctx = bootstrap.open_context(settings, door=Door(address="10.0.0.7"))
    with pytest.raises(DeniedError):
        setup.recover(ctx, "Another-Horse-8")
    with pytest.raises(DeniedError):
        setup.initialise(ctx, "Another-Horse-8")
    ctx.store.close()


def test_a_recover_in_a_dry_run_changes_nothing(settings: Settings) -> None:
    ctx = bootstrap.open_context(settings, dry_run=True)
    setup.recover(ctx, "Another-Horse-8")
    assert login.log_in(ctx, "admin", ADMIN_PASSWORD).user == "admin"
    ctx.store.close()


def test_generated_passwords_meet_every_rule_and_differ() -> None:
    from mgmtctl.domain.users import check_password

    made = {passwords.generate() for _ in range(50)}
    assert len(made) == 50
    assert all(check_password(password) == [] for password in made)
