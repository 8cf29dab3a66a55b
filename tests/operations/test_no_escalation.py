"""A limited administrator tries everything: nobody ends with more than he had or that one holds (D 1).

`test_delegation_property` judges each step by itself over links and rules. Here the whole run is judged against how it
began, over every way to change access: create, import, edit, set, passwords, the mode, contexts, entries; and whoever's
password the administrator knows counts as him. The same steps by one who holds everything are never refused as rights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mgmtctl.domain.delegation import covers_right
from mgmtctl.domain.errors import DeniedError, MgmtctlError
from mgmtctl.domain.grants import Permissions
from mgmtctl.domain.resources import RESOURCELESS, Resource, agent_names
from mgmtctl.operations import policies, roles, rules, security, users
from mgmtctl.operations.access_entries import permissions_of
from mgmtctl.operations.context import Context
from tests.operations.access_world import (
    DELEGATE,
    acting,
    add_policy,
    add_role,
    add_rule,
    add_user,
    allow,
    deny,
    everything,
)

GROUPS = ("web", "db")
ASKED: list[tuple[str, tuple[Resource, ...]]] = [
    *(
        (action, agent_names(number, groups))
        for action in ("agent:read", "agent:delete")
        for number in ("001", "002", "003")
        for groups in ((), ("web",), ("db",), ("web", "db"), ("other",))
    ),
    *(("group:read", (Resource("group:id", name),)) for name in (*GROUPS, "other")),
    *((action, (RESOURCELESS,)) for action in ("agent:create", "security:update_config", "manager:read")),
]
Held = frozenset[int]

blocks = st.builds(
    lambda effect, right: effect(right[0], right[1]),
    st.sampled_from([allow, deny]),
    st.sampled_from(
        [
            *(
                (action, f"agent:id:{value}")
                for action in ("agent:read", "agent:delete")
                for value in ("*", "001")
            ),
            *(("agent:read", f"agent:group:{value}") for value in ("*", *GROUPS)),
            ("group:read", "group:id:*"),
            ("group:read", "group:id:web"),
            ("agent:create", "*:*:*"),
            ("security:update_config", "*:*:*"),
        ]
    ),
)
documents = st.lists(blocks, min_size=1, max_size=3).map(
    lambda found: {"blocks": {f"b{number}": block for number, block in enumerate(found)}}
)
some_role = st.sampled_from(["r1", "r2", "r3", "mine", "new-role", "readonly"])
some_policy = st.sampled_from(["p1", "p2", "p3", "mine", "new-policy", "agents_all"])
some_user = st.sampled_from(["ann", "bob", "me", "new-user", "admin"])
some_rule = st.sampled_from(["u1", "u2", "new-rule"])
roles_of = st.lists(some_role, max_size=2, unique=True)
Step = tuple[Callable[..., object], tuple[Any, ...]]


def step(function: Callable[..., object], *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.tuples(st.just(function), st.tuples(*arguments))


PASSWORDS = ["Another-phrase-3"]
STEPS = st.one_of(
    step(lambda ctx, document: policies.create_policy(ctx, "new-policy", document), documents),
    step(
        lambda ctx, policy, document: policies.update_policy(ctx, policy, document=document),
        some_policy,
        documents,
    ),
    step(
        lambda ctx, policy, block: policies.add_entries(
            ctx, policy, block["actions"], block["resources"], block["effect"]
        ),
        some_policy,
        blocks,
    ),
    step(
        lambda ctx, policy, block: policies.remove_entries(
            ctx, policy, block["actions"], block["resources"], block["effect"]
        ),
        some_policy,
        blocks,
    ),
    step(lambda ctx, policy: policies.delete_policies(ctx, [policy]), some_policy),
    step(lambda ctx: roles.create_role(ctx, "new-role")),
    step(lambda ctx, role, policy: roles.link_policies(ctx, role, [policy]), some_role, some_policy),
    step(lambda ctx, role, policy: roles.unlink_policies(ctx, role, [policy]), some_role, some_policy),
    step(
        lambda ctx, role, given, led: roles.update_role(ctx, role, policies=given, rules=led),
        some_role,
        st.lists(some_policy, max_size=2, unique=True),
        st.none() | st.lists(some_rule, max_size=1),
    ),
    step(lambda ctx, role: roles.delete_roles(ctx, [role]), some_role),
    step(lambda ctx: rules.create_rule(ctx, "new-rule", {"FIND": {"a": "new"}})),
    step(lambda ctx, role, rule: roles.link_rules(ctx, role, [rule]), some_role, some_rule),
    step(lambda ctx, role, rule: roles.unlink_rules(ctx, role, [rule]), some_role, some_rule),
    step(lambda ctx, rule: rules.delete_rules(ctx, [rule]), some_rule),
    step(
        lambda ctx, given, run_as: users.create_user(
            ctx, "new-user", PASSWORDS[0], roles=given, allow_run_as=run_as
        ),
        roles_of,
        st.booleans(),
    ),
    step(lambda ctx, user, role: users.link_roles(ctx, user, [role]), some_user, some_role),
    step(lambda ctx, user, role: users.unlink_roles(ctx, user, [role]), some_user, some_role),
    step(lambda ctx, user, run_as: users.set_run_as(ctx, user, run_as), some_user, st.booleans()),
    step(
        lambda ctx, user, given, run_as: users.update_user(ctx, user, roles=given, allow_run_as=run_as),
        some_user,
        roles_of,
        st.none() | st.booleans(),
    ),
    step(lambda ctx, user: users.update_user(ctx, user, password=PASSWORDS[0]), some_user),
    step(lambda ctx, user: users.delete_users(ctx, [user]), some_user),
    step(
        lambda ctx, mode: security.update_config(ctx, {"rbac_mode": mode}),
        st.sampled_from(["white", "black"]),
    ),
)


def held(permissions: Permissions) -> Held:
    """Which of the questions are answered with yes."""
    return frozenset(
        number for number, (action, names) in enumerate(ASKED) if permissions.allows(action, *names)
    )


def by_basic_login(ctx: Context) -> dict[int, Held]:
    return {user.id: held(permissions_of(ctx.store, user.roles)) for user in ctx.store.users.list()}


def by_contexts(ctx: Context) -> Held:
    """All that a context may give to somebody who may bring any: by each set of own rules that can be true at once."""
    leading = [granted for number, _, granted in ctx.store.rules.leading() if number >= 100]
    sets = chain.from_iterable(combinations(leading, size) for size in range(1, len(leading) + 1))
    return frozenset[int]().union(
        *(held(permissions_of(ctx.store, sorted(frozenset[int]().union(*some)))) for some in sets)
    )


def reach(ctx: Context) -> dict[int, Held]:
    """All that each user can come to hold, by his own login and by contexts."""
    contexts = by_contexts(ctx)
    users_by_id = {user.id: user for user in ctx.store.users.list()}
    return {
        number: found | (contexts if users_by_id[number].allow_run_as else frozenset())
        for number, found in by_basic_login(ctx).items()
    }


def set_up(ctx: Context, mode: str, made: list[dict[str, Any]], own: dict[str, Any]) -> int:
    """Two roles with policies, a rule for each, users with and without them; the administrator `me`."""
    ctx.store.settings.set("rbac_mode", mode)
    for number, document in enumerate(made, start=1):
        add_policy(ctx, f"p{number}", *document["blocks"].values())
    names = [add_role(ctx, f"r{number}") for number in (1, 2, 3)]
    for number in (1, 2):
        ctx.store.roles.link_policy(names[number - 1], ctx.store.policies.find(f"p{number}") or 0)
        add_rule(ctx, f"u{number}", names[number - 1])
    add_user(ctx, "ann", names[0], names[1])
    ctx.store.users.set_allow_run_as(add_user(ctx, "bob", names[1]), True)
    return add_user(ctx, "me", add_role(ctx, "mine", *DELEGATE.values(), *own["blocks"].values()))


@pytest.fixture(autouse=True)
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mgmtctl.passwords.hash_password", lambda password: f"hash of {password}")


@contextmanager
def undone(ctx: Context) -> Iterator[None]:
    database = ctx.store.database
    database.execute("BEGIN")
    try:
        yield
    finally:
        database.execute("ROLLBACK")


bounded = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


@pytest.mark.parametrize("mode", ["white", "black"])
@bounded
@given(
    made=st.lists(documents, min_size=3, max_size=3),
    own=documents,
    tried=st.lists(STEPS, min_size=1, max_size=8),
)
def test_no_run_of_steps_gives_anybody_more_than_the_administrator_held(
    anonymous: Context, mode: str, made: list[dict[str, Any]], own: dict[str, Any], tried: list[Step]
) -> None:
    with undone(anonymous):
        me = set_up(anonymous, mode, made, own)
        mine, first = by_basic_login(anonymous)[me], reach(anonymous)
        first_contexts = by_contexts(anonymous)
        controlled = {me}
        for one in tried:
            controlled |= take(anonymous, me, one)
        now, contexts = reach(anonymous), by_contexts(anonymous)
        for user, has in now.items():
            assert has <= first.get(user, frozenset()) | mine, (user, tried)
            assert user not in controlled or has <= mine, (user, tried)
        assert contexts <= first_contexts | mine, tried


def take(ctx: Context, me: int, one: Step) -> set[int]:
    """Take one step, undone when it is refused; the users whose password the administrator knows by it."""
    function, arguments = one
    database = ctx.store.database
    database.execute("SAVEPOINT step")
    before = everything(ctx)
    try:
        function(acting(ctx, me), *arguments)
    except MgmtctlError:
        database.execute("ROLLBACK TO step")
        assert everything(ctx) == before
        return set()
    rows = database.rows("SELECT id FROM users WHERE password = ?", (f"hash of {PASSWORDS[0]}",))
    return {row[0] for row in rows}


@bounded
@given(
    made=st.lists(documents, min_size=3, max_size=3),
    own=documents,
    tried=st.lists(STEPS, min_size=1, max_size=6),
)
def test_one_who_holds_everything_is_never_refused_a_right(
    anonymous: Context, made: list[dict[str, Any]], own: dict[str, Any], tried: list[Step]
) -> None:
    with undone(anonymous):
        set_up(anonymous, "white", made, own)
        for function, arguments in tried:
            anonymous.store.database.execute("SAVEPOINT step")
            try:
                function(acting(anonymous, 1), *arguments)
            except DeniedError as error:
                pytest.fail(f"{error.problem}: {error.why}")
            except MgmtctlError:  # it is not there, it is reserved, nobody would administer any more
                anonymous.store.database.execute("ROLLBACK TO step")


allows = st.lists(blocks.filter(lambda block: block["effect"] == "allow"), min_size=1, max_size=3)


@bounded
@given(own=allows, handed=allows)
def test_exactly_what_the_administrator_holds_may_be_handed_on(
    anonymous: Context, own: list[dict[str, Any]], handed: list[dict[str, Any]]
) -> None:
    """Without denies, in white mode: a policy may be given when each of its entries is covered, and only then."""
    with undone(anonymous):
        me = add_user(anonymous, "me", add_role(anonymous, "mine", *DELEGATE.values(), *own))
        friend_role = add_role(anonymous, "friends")
        add_user(anonymous, "friend", friend_role)
        policy = add_policy(anonymous, "handed", *handed)
        ctx = acting(anonymous, me)
        assert ctx.actor is not None
        covered = all(
            covers_right(ctx.actor.permissions, action, Resource.parse(resource))
            for block in handed
            for action in block["actions"]
            for resource in block["resources"]
        )
        try:
            roles.link_policies(ctx, "friends", [str(policy)])
            given_on = True
        except DeniedError:
            given_on = False
        assert given_on is covered
