"""Worlds that differ in a neighbour only, and an answer written out with all that is in it.

What somebody may not know must not change what he sees. So the same call is made in a world with a neighbour (another
tenant, whose every name is a canary) and in one without him, and both answers, every field of every value, must be the
same text: no name, count, file or reason can hide from that. The calls are those of `attack_calls`.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import itertools
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mgmtctl import bootstrap
from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import MgmtctlError
from mgmtctl.domain.matching import needed_keys
from mgmtctl.domain.policies import parse_policy
from mgmtctl.logs import RequestLog
from mgmtctl.operations import login
from mgmtctl.operations.context import Context, Door
from mgmtctl.settings import Settings
from mgmtctl.store.agents import NewAgent
from tests.operations.access_world import acting, add_role

PASSWORD = "Correct-Horse-7"
NOW = int(time.time())
CANARY = "canary"

# Everything the attacker has is called own-..., everything of the neighbour canary-...; ids follow from the order in
# which `build` makes them.
OWN_RULE = {"FIND": {"team": "own"}}
CANARY_RULE = {"FIND": {"team": "canary-team"}}
OWN_CONTEXT = parse_context(b'{"name": "own", "auth": {"team": "own"}}')
CANARY_CONTEXT = parse_context(b'{"name": "canary-person", "auth": {"team": "canary-team"}}')
AGENT_ACTIONS = ["agent:read", "agent:delete", "agent:modify_group", "agent:reconnect", "syscheck:read"]
GROUP_ACTIONS = ["group:read", "group:delete", "group:update_config", "group:modify_assignments"]
SECURITY_ACTIONS = ["security:read", "security:update", "security:delete"]
NEW_ACTIONS = [
    *("security:create", "security:create_user", "security:edit_run_as", "security:revoke", "agent:create"),
    *("security:read_config", "security:update_config"),
]
CONF = (
    b"<agent_config>\n  <client_buffer>\n    <disabled>no</disabled>\n  </client_buffer>\n</agent_config>\n"
)


def tenant_blocks(group: str, ids: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """The rights of the administrator of one tenant: all of his own group and of his own objects, nothing else."""
    own = [f"{kind}:id:{number}" for kind, numbers in ids.items() for number in numbers]
    return {
        "agents": {"actions": AGENT_ACTIONS, "resources": [f"agent:group:{group}"], "effect": "allow"},
        "groups": {"actions": GROUP_ACTIONS, "resources": [f"group:id:{group}"], "effect": "allow"},
        "access": {"actions": SECURITY_ACTIONS, "resources": own, "effect": "allow"},
        "new": {
            "actions": NEW_ACTIONS,
            "resources": ["*:*:*"],
            "effect": "allow",
        },
    }


def _add_user(ctx: Context, name: str, hashed: str, *roles: int, run_as: bool = False) -> int:
    number = ctx.store.users.add(name, hashed, allow_run_as=run_as)
    for role in roles:
        ctx.store.users.link_role(number, role)
    return number


def add_tenant(ctx: Context, name: str, hashed: str, rule: object) -> int:
    """Users, roles, policies, rules, a group with files and two agents, all called NAME-...; the id of NAME-user."""
    store = ctx.store
    # The next ids are known, so that the policy can name the very objects it is made with.
    first = {
        kind: 1 + max(99, *getattr(store, plural).names()) for kind, plural in
        (("user", "users"), ("role", "roles"), ("policy", "policies"), ("rule", "rules"))
    }  # fmt: skip
    ids = {kind: [number, number + 1] for kind, number in first.items()}
    blocks = tenant_blocks(f"{name}-group", ids)
    policies = [
        store.policies.add(f"{name}-policy", parse_policy({"blocks": blocks}, name)),
        store.policies.add(
            f"{name}-extra", parse_policy({"blocks": {f"{name}-block": blocks["agents"]}}, name)
        ),
    ]
    roles = [store.roles.add(f"{name}-role"), store.roles.add(f"{name}-team")]
    for role, policy in zip(roles, policies, strict=True):
        store.roles.link_policy(role, policy)
    expressions = [rule]
    for title in (f"{name}-rule", f"{name}-idle"):
        number = store.rules.add(title, expressions, needed_keys(expressions))
        if title.endswith("rule"):
            store.roles.link_rule(roles[1], number)
    user = _add_user(ctx, f"{name}-user", hashed, roles[0], run_as=True)
    _add_user(ctx, f"{name}-friend", hashed, roles[1])
    add_group(ctx, f"{name}-group", name)
    add_agents(ctx, f"{name}-group", f"{name}-agent1", f"{name}-agent2")
    return user


def add_group(ctx: Context, group: str, name: str) -> None:
    ctx.folders.create_group(group)
    ctx.folders.write_file(group, "agent.conf", CONF)
    ctx.folders.write_file(group, f"{name}.txt", f"{name} content\n".encode())
    for path in (ctx.folders.shared / group).iterdir():
        os.utime(path, (NOW, NOW))  # a revision tells when what it found was written


def add_agents(ctx: Context, group: str, *names: str) -> None:
    numbers = [ctx.store.agents.claim(1) for _ in names]
    ctx.store.agents.add(
        [
            NewAgent(number, name, f"10.0.0.{number}", f"{number:064x}", group, None)
            for number, name in zip(numbers, names, strict=True)
        ],
        NOW,
    )


def visit(ctx: Context, user: str, context: Any) -> None:
    """Traces of a tenant's work: sessions of both kinds, a failed login, lines in the request log, a sync."""
    CHANCES.start(f"{user} basic")
    basic = login.log_in(ctx, user, PASSWORD)
    CHANCES.start(f"{user} context")
    login.run_as(ctx, user, PASSWORD, context)
    with pytest.raises(MgmtctlError):
        login.log_in(ctx, user.replace("user", "friend"), "Wrong-Horse-77")
    mine = login.resume(ctx, basic.token, False)
    module("agents.list_agents")(mine)
    module("sync.run_sync")(mine)


def two_tenants(neighbour: bool) -> Callable[[Context, str], None]:
    """Makes the world of a tenant, with a neighbour or alone."""

    def populate(ctx: Context, hashed: str) -> None:
        add_tenant(ctx, "own", hashed, OWN_RULE)
        visit(ctx, "own-user", OWN_CONTEXT)
        if neighbour:
            add_tenant(ctx, "canary", hashed, CANARY_RULE)
            visit(ctx, "canary-user", CANARY_CONTEXT)

    return populate


class Chances:
    """In place of chance: the same keys and session ids for the same name, however often a world is made."""

    def __init__(self) -> None:
        self.start("")

    def start(self, name: str) -> None:
        """Begin anew, with the values of this name."""
        self._name, self._count = name, 0

    def token_hex(self, size: int = 32) -> str:
        self._count += 1
        seed = f"{self._name} {self._count}".encode()
        return (hashlib.shake_256(seed)).hexdigest(size)

    def first(self, name: str) -> str:
        """The id of the session of a login that began with this name."""
        return hashlib.shake_256(f"{name} 1".encode()).hexdigest(16)

    def arrange(self, patch: pytest.MonkeyPatch) -> None:
        """Take the place of chance, and hash passwords without the work."""
        patch.setattr(secrets, "token_hex", self.token_hex)
        patch.setattr(secrets, "token_bytes", lambda size=32: bytes.fromhex(self.token_hex(size)))
        patch.setattr(secrets, "choice", lambda found: found[0])
        patch.setattr("mgmtctl.passwords.hash_password", lambda password: f"hash of {password}")


CHANCES = Chances()


def module(name: str) -> Callable[..., Any]:
    """The guarded function of an operation."""
    noun, _, function = name.partition(".")
    found: Callable[..., Any] = getattr(importlib.import_module(f"mgmtctl.operations.{noun}"), function)
    return found


def make(template: tuple[Path, str], place: Path, populate: Callable[[Context, str], None]) -> Path:
    """A data folder like the template (a folder and a password hash), with more in it."""
    shutil.copytree(template[0], place, symlinks=True)
    opened = bootstrap.open_context(Settings({"MGMTCTL_HOME": str(place)}))
    ctx = dataclasses.replace(opened, now=lambda: NOW)
    with pytest.MonkeyPatch.context() as patch:
        CHANCES.arrange(patch)
        populate(ctx, template[1])
    # New ids are one above the highest that anybody ever had: they tell how much there was, and nothing else.
    ctx.store.database.execute("UPDATE identifiers SET highest = 500")
    ctx.store.close()
    return place


_LINKS = (
    ("user_roles", "users", "roles"),
    ("role_policies", "roles", "policies"),
    ("role_rules", "roles", "rules"),
    ("memberships", "", "agents"),
    ("sync_state", "agents", ""),
    ("(SELECT user_id, digest, revoked FROM sessions)", "users", ""),
)


_TOPS = ("shared", "agents")


def _look(path: str) -> tuple[int, int, int] | None:
    """How a file, or a folder with its entries, looks from outside; None: it is not there."""
    try:
        fact = os.lstat(path)
    except FileNotFoundError:
        return None
    return fact.st_ino, fact.st_size, fact.st_mtime_ns


class World:
    """A service that each call finds as it was made."""

    def __init__(self, template: Path, place: Path) -> None:
        self._template, self.place = template, place
        self._files: dict[str, tuple[int, int, int] | None] = {}
        self._changed: bool | None = False
        self._open()
        self.rows_at_first = self.rows_about(CANARY)

    def fresh(self) -> Context:
        """The service as it was made, nobody logged in."""
        self._settle()
        return self.ctx

    def rows_about(self, name: str) -> list[tuple[Any, ...]]:
        """The rows of everything called so, those that hang on them, and the files of its groups and agents."""
        database = self.ctx.store.database
        rows: list[tuple[Any, ...]] = []
        for table in ("users", "roles", "policies", "rules", "agents"):
            found = [tuple(row) for row in database.rows(f"SELECT * FROM {table} ORDER BY 1")]  # noqa: S608
            rows += [(table, *row) for row in found if row[1].startswith(name)]
        ids = {(row[0], row[1]) for row in rows}
        folders = [f"/{name}-", *(f"/{number:03}/" for table, number in ids if table == "agents")]
        for table, one, other in _LINKS:
            for row in map(tuple, database.rows(f"SELECT * FROM {table} ORDER BY 1, 2")):  # noqa: S608
                if (one, row[0]) in ids or (other, row[1]) in ids:
                    rows.append((table, *row))
        files = sorted(self._tree().items())
        return rows + [file for file in files if any(folder in file[0] for folder in folders)]

    def everything(self) -> tuple[list[list[tuple[Any, ...]]], dict[str, bytes]]:
        """All that an operation may change, sessions and failed logins apart."""
        database = self.ctx.store.database
        tables = (
            "users",
            "roles",
            "policies",
            "rules",
            "agents",
            "settings",
            "generations",
            *(row[0] for row in _LINKS),
        )
        queries = [f"SELECT * FROM {table} ORDER BY 1" for table in tables]  # noqa: S608
        rows = [[tuple(row) for row in database.rows(query)] for query in queries]
        return rows, self._tree()

    def call(
        self, operation: str, actor: Callable[[Context], Context], arguments: dict[str, Any], dry: bool
    ) -> str:
        """What an operation answers, written out."""
        self._settle()
        # Not the owner of the data folder: what is open to him is no question of rights.
        ctx = actor(dataclasses.replace(self.ctx, **_nothing_beside(), door=Door(uid=4242)))
        ctx.dry_run = self.ctx.store.dry_run = dry
        self._changes = self._connection.total_changes
        self._changed = None
        CHANCES.start("call")
        try:
            answer = {"result": dump(module(operation)(ctx, **arguments))}
        except MgmtctlError as error:
            answer = {"error": dump_error(error)}
        answer["beside"] = beside(ctx)
        return repr(answer).replace(str(self.place), "HOME")

    @property
    def _connection(self) -> Any:
        return self.ctx.store.database._connection

    def _open(self) -> None:
        if not self.place.exists():
            shutil.copytree(self._template, self.place, symlinks=True)
            for path in self.place.rglob("*"):
                os.utime(path, (NOW, NOW), follow_symlinks=False)
            tops = [str(self.place / top) for top in _TOPS]
            self._files = {path: _look(path) for path in (*tops, *self._paths())}
        opened = bootstrap.open_context(Settings({"MGMTCTL_HOME": str(self.place)}))
        # No line of the log and no flush to the disk is needed here, and there are many thousand calls.
        self.ctx = dataclasses.replace(opened, now=lambda: NOW, log=RequestLog(self.place / "logs", ()))
        opened.store.database.execute("PRAGMA synchronous=OFF")
        self._changes = self._connection.total_changes
        self._changed = False

    def _paths(self) -> Iterator[str]:
        """Each file and folder below the shared folder and the agents' folders."""
        for top in _TOPS:
            for folder, folders, files in os.walk(self.place / top):
                yield from (os.path.join(folder, name) for name in (*folders, *files))

    def _tree(self) -> dict[str, bytes]:
        """Each of them with its content."""
        return {path: Path(path).read_bytes() if os.path.isfile(path) else b"" for path in self._paths()}

    def _files_changed(self) -> bool:
        """Whether a file or folder looks different: they were made long enough ago for any write to show."""
        return any(_look(path) != before for path, before in self._files.items())

    def changed(self) -> bool:
        """Whether anything may be different from how it was made (a transaction that was undone counts too)."""
        if self._changed is None:
            self._changed = self._connection.total_changes != self._changes or self._files_changed()
        return bool(self._changed)

    def _settle(self) -> None:
        if not self.changed():
            return
        self.ctx.store.close()
        if self._files_changed():
            shutil.rmtree(self.place)
        else:
            for suffix in ("-wal", "-shm"):
                (self.place / f"store.db{suffix}").unlink(missing_ok=True)
            shutil.copyfile(self._template / "store.db", self.place / "store.db")
        self._open()

    def close(self) -> None:
        self.ctx.store.close()
        shutil.rmtree(self.place)


_PLUMBING = {"store", "folders", "keys", "log", "now", "door", "actor", "dry_run", "reason"}
_BESIDE = [field for field in dataclasses.fields(Context) if field.name not in _PLUMBING]


def _nothing_beside() -> dict[str, Any]:
    return {
        field.name: field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
        for field in _BESIDE
    }


def beside(ctx: Context) -> Any:
    """What a context brings back beside the result: warnings, and whatever else is added to it."""
    told = {field.name: getattr(ctx, field.name) for field in _BESIDE}
    return dump({**told, "impacts": [impact() for impact in ctx.impacts]})


def dump_error(error: MgmtctlError) -> Any:
    return {name: dump(value) for name, value in {**vars(error), "facts": error.facts()}.items()} | {
        "kind": type(error).__name__,
        "text": str(error),
    }


def dump(value: Any, depth: int = 0) -> Any:
    """Every field of a value, and its record and lines, as plain text and containers."""
    assert depth < 30, type(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, MgmtctlError):
        return dump_error(value)
    if isinstance(value, Mapping):
        return [(dump(key, depth + 1), dump(one, depth + 1)) for key, one in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(repr(dump(one, depth + 1)) for one in value)
    found: dict[str, Any] = {"type": type(value).__name__}
    for method in ("record", "lines", "text", "summary"):
        if callable(getattr(value, method, None)):
            found[method] = dump(getattr(value, method)(), depth + 1)
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return found | {name: dump(one, depth + 1) for name, one in fields.items()}
    if isinstance(value, tuple | list | range) or hasattr(value, "__next__"):
        return [found.get("record"), *(dump(one, depth + 1) for one in itertools.islice(value, 1000))]
    if hasattr(value, "__dict__"):
        return found | {name: dump(one, depth + 1) for name, one in vars(value).items() if "__" not in name}
    return found | {"repr": repr(value)}


def a_user(name: str) -> Callable[[Context], Context]:
    """Makes the service act for the user of this name, in a basic session."""
    return lambda ctx: acting(ctx, ctx.store.users.find(name) or 0)


def add_stranger(ctx: Context, name: str, hashed: str, *blocks: dict[str, Any]) -> None:
    """A user with one role of these blocks, or without any role."""
    _add_user(ctx, name, hashed, *([add_role(ctx, name, *blocks)] if blocks else []))


def same(one: str, other: str, about: object) -> None:
    """Fail, showing where two answers part, unless they are the same."""
    if one == other:
        return
    at = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    begin = max(0, at - 150)
    pytest.fail(
        f"{about}\n  with:    ...{one[begin : at + 250]}\n  without: ...{other[begin : at + 250]}",
        pytrace=False,
    )


def lead(ctx: Context, expression: dict[str, Any], name: str, role: str) -> None:
    rule = ctx.store.rules.add(name, [expression], needed_keys([expression]))
    ctx.store.roles.link_rule(ctx.store.roles.find(role) or 0, rule)


def refused(call: Callable[[], object], *kinds: type[MgmtctlError]) -> MgmtctlError:
    with pytest.raises(kinds or MgmtctlError) as raised:
        call()
    return raised.value
