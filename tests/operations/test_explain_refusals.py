"""Every refusal names the change that mends it: its command lines are run, and exactly that action passes.

Two tenants, `acme` and `beta`, each with a group, a team and agents; for each case what the subject has, what is asked,
and that what else becomes possible or impossible is only what the fix says.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from mgmtctl import bootstrap
from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.delegation import GRANT_NOTHING
from mgmtctl.domain.grants import covers
from mgmtctl.domain.resources import RESOURCELESS, Resource, agent_names
from mgmtctl.operations import decisions
from mgmtctl.operations.context import Context
from mgmtctl.operations.explanations import Answer
from mgmtctl.settings import Settings
from mgmtctl.store.agents import NewAgent
from tests.cli.conftest import Result, admin, home, made_service, service_home
from tests.operations.access_world import add_policy, add_role, add_user, allow, deny

__all__ = ["admin", "home", "made_service", "service_home"]  # fixtures of command lines

AGENTS = {"001": ["acme"], "002": ["acme", "web"], "003": ["beta"], "004": ["default"]}
CONTEXT = parse_context(json.dumps({"name": "someone", "auth": {"office": "north"}}).encode())
NORTH = {"FIND": {"office": "north"}}
Right = tuple[str, tuple[Resource, ...]]


class Case(NamedTuple):
    """A refusal: `make` gives the subject of it, as arguments of the question; `kinds` of the steps of its fix."""

    make: Callable[[Context], dict[str, Any]]
    action: str
    resource: str
    kinds: tuple[str, ...]
    mode: str = "white"


@pytest.fixture
def world(admin: Callable[..., Result]) -> Iterator[Context]:
    """The service for its administrator, with the two tenants in it."""
    ctx = bootstrap.open_context(Settings())
    for group in ("acme", "beta", "web"):
        ctx.folders.create_group(group)
    with ctx.atomic():
        new = [NewAgent(int(i), f"host-{i}", "any", "0" * 64, ",".join(g)) for i, g in AGENTS.items()]
        ctx.store.agents.add(new, now=0)
        for tenant in ("acme", "beta"):
            add_role(
                ctx,
                tenant,
                allow("agent:read", f"agent:group:{tenant}"),
                allow("group:read", f"group:id:{tenant}"),
            )
    yield ctx
    ctx.store.close()


def user(*roles: str) -> Callable[[Context], dict[str, Any]]:
    """A user with these stored roles."""

    def make(ctx: Context) -> dict[str, Any]:
        add_user(ctx, "ann", *(_role(ctx, role) for role in roles))
        return {"user": "ann"}

    return make


def holder(*policies: list[dict[str, Any]], name: str = "mixed", roles: tuple[str, ...] = ()) -> Any:
    """A user with a role that has these policies, and more roles."""

    def make(ctx: Context) -> dict[str, Any]:
        role = ctx.store.roles.add("team")
        for number, blocks in enumerate(policies):
            ctx.store.roles.link_policy(role, add_policy(ctx, f"{name}-{number}", *blocks))
        add_user(ctx, "ann", role, *(_role(ctx, one) for one in roles))
        return {"user": "ann"}

    return make


def visitor(*roles: str, run_as: bool = True, with_user: bool = True) -> Callable[[Context], dict[str, Any]]:
    """A login by a context for which a rule is true that leads to these roles."""

    def make(ctx: Context) -> dict[str, Any]:
        rule = ctx.store.rules.add("north", [NORTH], None)
        for role in roles:
            ctx.store.roles.link_rule(_role(ctx, role), rule)
        ctx.store.users.set_allow_run_as(add_user(ctx, "portal"), run_as)
        return {"context": CONTEXT, **({"user": "portal"} if with_user else {})}

    return make


def reserved_policy(*roles: str, own_role: bool) -> Callable[[Context], dict[str, Any]]:
    """A policy that came with the service and denies, by a role of one's own or by one that came with it too."""

    def make(ctx: Context) -> dict[str, Any]:
        policy = ctx.store.policies.find("agents_read")
        assert policy is not None
        before = ctx.store.policies.get(policy).blocks
        denying = add_policy(ctx, "pattern", deny("agent:restart", "agent:id:001"))
        named = ctx.store.policies.get(denying).blocks[0]
        ctx.store.policies.delete(denying)
        ctx.store.policies.set_blocks(
            policy,
            [*before, type(named)("calm", *[getattr(named, f) for f in ("actions", "resources", "effect")])],
        )
        role = ctx.store.roles.add("team") if own_role else _role(ctx, "agents_readonly")
        if own_role:
            ctx.store.roles.link_policy(role, policy)
        add_user(ctx, "ann", role, *(_role(ctx, one) for one in roles))
        return {"user": "ann"}

    return make


def _role(ctx: Context, name: str) -> int:
    found = ctx.store.roles.find(name)
    return ctx.store.roles.add(name) if found is None else found


RESTART = allow("agent:restart", "agent:group:acme")
ADD, OUT = "add-entry", "remove-entry"
MADE = ("create-role", "create-policy", "add-policy", "add-role")
CASES = [
    pytest.param(Case(user("acme"), "agent:read", "agent:id:003", (ADD,)), id="another tenant's agent"),
    pytest.param(Case(user("acme"), "agent:read", "agent:id:004", (ADD,)), id="an agent in default"),
    pytest.param(Case(user("acme"), "agent:read", "agent:group:beta", (ADD,)), id="another tenant's group"),
    pytest.param(Case(user("acme"), "agent:read", "agent:id:*", (ADD,)), id="every agent"),
    pytest.param(Case(user("acme"), "agent:restart", "agent:id:001", (ADD,)), id="another action"),
    pytest.param(Case(user("acme"), "agent:create", "*:*:*", (ADD,)), id="resourceless"),
    pytest.param(Case(user("acme"), "group:read", "group:id:beta", (ADD,)), id="a group"),
    pytest.param(Case(user("acme"), "security:read", "role:id:100", (ADD,)), id="a role"),
    pytest.param(Case(user("acme", "beta"), "agent:delete", "agent:id:003", (ADD,)), id="two roles"),
    pytest.param(
        Case(holder([allow("agent:read", "agent:id:001")]), "agent:read", "agent:id:002", (ADD,)), id="another id"
    ),
    pytest.param(
        Case(
            holder([{**allow("agent:read", "agent:id:001", "*:*:*"), "actions": ["agent:read", "agent:create"]}]),
            "agent:read", "agent:id:003", (ADD,),
        ),
        id="the star that covers nothing",
    ),
    pytest.param(
        Case(holder([allow("agent:read", "agent:id:001")], name="-odd"), "agent:read", "agent:id:002", (ADD,)),
        id="a policy whose name looks like an option",
    ),
    pytest.param(
        Case(holder([RESTART, deny("agent:restart", "agent:id:002")]), "agent:restart", "agent:id:002", (OUT,)),
        id="a deny of this agent",
    ),
    pytest.param(
        Case(
            holder([allow("agent:restart", "agent:id:*"), deny("agent:restart", "agent:group:acme")]),
            "agent:restart", "agent:id:001", (OUT,),
        ),
        id="a deny that covers more",
    ),
    pytest.param(
        Case(holder([RESTART, deny("agent:restart", "agent:id:*")]), "agent:restart", "agent:id:001", (OUT,)),
        id="a deny of every agent",
    ),
    pytest.param(
        Case(
            holder([
                allow("agent:read", "agent:id:*"),
                {**deny("agent:read", "agent:id:001", "agent:id:002"), "actions": ["agent:read", "agent:restart"]},
            ]),
            "agent:read", "agent:id:001", (OUT,),
        ),
        id="a deny beside others in its block",
    ),
    pytest.param(
        Case(
            holder([RESTART], [deny("agent:restart", "agent:id:002")]),
            "agent:restart", "agent:id:002", ("remove-policy",),
        ),
        id="a deny that is all its policy says",
    ),
    pytest.param(
        Case(
            holder([allow("agent:read", "agent:id:*"), deny("agent:restart", "agent:group:acme")]),
            "agent:restart", "agent:id:002", (OUT, ADD),
        ),
        id="a deny and nothing that allows it",
    ),
    pytest.param(
        Case(
            holder(
                [RESTART, deny("agent:restart", "agent:id:002")],
                [deny("agent:restart", "agent:group:web"), allow("agent:read", "agent:id:001")],
            ),
            "agent:restart", "agent:id:002", (OUT, OUT),
        ),
        id="denies in two policies",
    ),
    pytest.param(Case(user(), "agent:read", "agent:id:003", ("add-role",)), id="no role, and one that does"),
    pytest.param(Case(user(), "agent:delete", "agent:id:003", MADE), id="no role, and none that does"),
    pytest.param(Case(user("agents_readonly"), "agent:restart", "agent:id:001", MADE), id="reserved roles only"),
    pytest.param(
        Case(user("agents_readonly", "empty"), "agent:restart", "agent:id:001", ("create-policy", "add-policy")),
        id="a role of one's own without policies",
    ),
    pytest.param(
        Case(reserved_policy("acme", own_role=True), "agent:restart", "agent:id:001", ("remove-policy", ADD)),
        id="a deny in a reserved policy",
    ),
    pytest.param(
        Case(reserved_policy("acme", own_role=False), "agent:restart", "agent:id:001", ("remove-role", ADD)),
        id="a deny in a reserved role",
    ),
    pytest.param(
        Case(holder([RESTART, deny("agent:read", "agent:id:002")]), "agent:read", "agent:id:002", (OUT,), "black"),
        id="a deny in black mode",
    ),
    pytest.param(Case(user(), "agent:read", "agent:id:001", ("add-role",), "black"), id="no role in black mode"),
    pytest.param(Case(visitor("acme"), "agent:read", "agent:id:003", (ADD,)), id="a context login"),
    pytest.param(Case(visitor("acme", with_user=False), "agent:read", "agent:id:003", (ADD,)), id="any context login"),
    pytest.param(Case(visitor(), "agent:read", "agent:id:003", ("add-rule",)), id="a context whose rule leads nowhere"),
    pytest.param(
        Case(visitor(), "agent:delete", "agent:id:003", (*MADE[:3], "add-rule")), id="and no role that does"
    ),
    pytest.param(
        Case(visitor("agents_readonly"), "agent:restart", "agent:id:003", (*MADE[:3], "add-rule")),
        id="a context with a reserved role",
    ),
    pytest.param(
        Case(visitor("acme", run_as=False), "agent:read", "agent:id:001", ("allow-run-as",)),
        id="a user who may not use contexts",
    ),
    pytest.param(
        Case(visitor("acme", run_as=False), "agent:read", "agent:id:003", ("allow-run-as", ADD)),
        id="who would lack it with contexts too",
    ),
    pytest.param(Case(lambda ctx: {"roles": ["acme"]}, "agent:read", "agent:id:003", (ADD,)), id="a role by itself"),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_fix_makes_exactly_that_action_pass(
    world: Context, admin: Callable[..., Result], case: Case
) -> None:
    with world.atomic():
        world.store.settings.set("rbac_mode", case.mode)
        who = case.make(world)
    before, answer = _allowed(world, who), _ask(world, who, case)
    fix: Any = answer.record()["fix"]
    assert (answer.allowed, tuple(step["kind"] for step in fix["steps"])) == (False, case.kinds)
    for step in fix["steps"]:
        program, *words = shlex.split(step["command"])
        done = admin(*words)
        assert (program, done.code) == ("mgmtctl", 0), (step["command"], done.err)
    after = _allowed(world, who)
    assert _ask(world, who, case).allowed
    told = [*fix["gives"], {"action": case.action, "resource": str(answer.decision.resources[0])}]
    assert [right for right in after - before if not _among(right, told)] == []
    assert [right for right in before - after if not _among(right, fix["takes"])] == []


@pytest.mark.parametrize("case", CASES[:10])
def test_the_wider_ways_hold_too(world: Context, admin: Callable[..., Result], case: Case) -> None:
    who = case.make(world)
    others: Any = _ask(world, who, case).record()["fix"]
    for other in others["alternatives"]:
        assert admin(*shlex.split(other["command"])[1:]).code == 0
        assert _ask(world, who, case).allowed
        group = other["resource"].rpartition(":")[2]
        assert other["agents"] == sum(group in groups for groups in AGENTS.values())


def _ask(ctx: Context, who: dict[str, Any], case: Case) -> Answer:
    return decisions.can_i(_administrator(ctx), case.action, case.resource, **who)


def _administrator(ctx: Context) -> Context:
    from tests.operations.access_world import acting

    return acting(ctx, 1)


def _allowed(ctx: Context, who: dict[str, Any]) -> set[Right]:
    """Every action on every concrete thing that the subject may do."""
    asked = decisions._asked(_administrator(ctx), who.get("user"), who.get("roles"), who.get("context"))
    permissions = asked.subject.permissions
    return {
        (action, names)
        for action, known in ACTIONS.items()
        if action not in GRANT_NOTHING
        for kind in known.kinds
        for names in _things(kind)
        if permissions.allows(action, *names)
    }


def _things(kind: str) -> list[tuple[Resource, ...]]:
    if kind == "agent:id":
        return [agent_names(number, groups) for number, groups in AGENTS.items()]
    if kind == "*:*":
        return [(RESOURCELESS,)]
    values = {"agent:group": ("acme", "beta", "web"), "group:id": ("acme", "beta", "web")}.get(
        kind, ("1", "100")
    )
    return [(Resource(kind, value),) for value in values]


def _among(right: Right, told: list[dict[str, str]]) -> bool:
    action, names = right
    return any(
        one["action"] == action and covers(Resource.parse(one["resource"]), name)
        for one in told
        for name in names
    )
