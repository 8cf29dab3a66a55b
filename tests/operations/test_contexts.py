"""Facts about context logins whose rules a limit leaves undecided: nobody gains by it, not even by losing a deny."""

from __future__ import annotations

from typing import Any

import pytest

from mgmtctl.domain.auth_context import AuthContext, context_id
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.matching import needed_keys
from mgmtctl.operations import login
from mgmtctl.operations.context import Context
from tests.operations.access_world import add_role, allow, deny
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith

COSTLY = {"FIND": {"groups": "r'(ext|contr)(.{0,60}){1,12}[0-9]'"}}
SMALL = {"name": "c", "auth": {"groups": ["ext7"]}}
HUGE = {"name": "c", "auth": {"groups": ["extaaaaaaaaa"] * 19_000 + ["ext7"]}}


def _service(ctx: Context, actor_with: ActorWith, *blocks: dict[str, Any]) -> Context:
    """One rule allows by the name; a costly one leads to a role with these blocks."""
    actor_with(name="portal", allow_run_as=True)
    for name, rule, role in (
        ("cheap", {"MATCH": {"name": "c"}}, add_role(ctx, "reader", allow("agent:read", "agent:id:*"))),
        ("costly", COSTLY, add_role(ctx, "other", *blocks)),
    ):
        rule_id = ctx.store.rules.add(name, [rule], needed_keys([rule]))
        ctx.store.roles.link_rule(role, rule_id)
    return ctx


def _roles(ctx: Context, document: dict[str, Any]) -> list[str]:
    context = AuthContext(document, context_id(document))
    token = login.run_as(ctx, "portal", ADMIN_PASSWORD, context).token
    actor = login.resume(ctx, token, False).actor
    assert actor is not None
    return [name for _, name in actor.roles]


def test_an_undecided_rule_that_leads_to_a_deny_refuses_the_login(
    anonymous: Context, actor_with: ActorWith
) -> None:
    ctx = _service(anonymous, actor_with, deny("agent:read", "agent:group:secret"))
    assert _roles(ctx, SMALL) == ["reader", "other"]
    with pytest.raises(InvalidError, match="too costly"):
        _roles(ctx, HUGE)


def test_an_undecided_rule_that_could_only_allow_grants_nothing(
    anonymous: Context, actor_with: ActorWith
) -> None:
    ctx = _service(anonymous, actor_with, allow("agent:delete", "agent:id:*"))
    assert _roles(ctx, SMALL) == ["reader", "other"]
    assert _roles(ctx, HUGE) == ["reader"]
