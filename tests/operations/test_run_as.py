"""Context logins: roles of true rules only, whoever the user is, and never by an odd context (S 4.1, 5.2; D 3)."""

from __future__ import annotations

from typing import Any

import pytest

from mgmtctl.domain.auth_context import AuthContext, context_id, parse_context
from mgmtctl.domain.errors import DeniedError, InvalidError, UnauthenticatedError
from mgmtctl.domain.matching import needed_keys
from mgmtctl.operations import login
from mgmtctl.operations.context import Context
from mgmtctl.operations.proof import Login
from tests.operations.conftest import ADMIN_PASSWORD, ActorWith
from tests.operations.test_login_tokens import claims_of

CONTEXT = parse_context(
    b'{"name": "portal", "auth": {"team": "ops", "username": "elastic", "user_name": "admin"}}'
)


@pytest.fixture
def portal(anonymous: Context, actor_with: ActorWith) -> Context:
    """A user `portal` that may use contexts and holds `readonly` itself; a rule leads from team ops to agents_admin."""
    actor_with(name="portal", roles=["readonly"], allow_run_as=True)
    add_rule(anonymous, "ops_people", {"FIND": {"team": "ops"}}, "agents_admin")
    return anonymous


def add_rule(ctx: Context, name: str, expression: dict[str, Any], *roles: str) -> int:
    rule_id = ctx.store.rules.add(name, [expression], needed_keys([expression]))
    for role in roles:
        role_id = ctx.store.roles.find(role)
        assert role_id is not None
        ctx.store.roles.link_rule(role_id, rule_id)
    return rule_id


def raw(document: dict[str, Any]) -> AuthContext:
    return AuthContext(document, context_id(document))


def run_as(ctx: Context, context: AuthContext = CONTEXT, user: str = "portal") -> Login:
    return login.run_as(ctx, user, ADMIN_PASSWORD, context)


def roles(given: Login) -> list[str]:
    return [name for _, name in given.roles]


def test_the_roles_are_those_of_true_rules_and_not_the_users_own(portal: Context) -> None:
    assert roles(run_as(portal)) == ["agents_admin"]
    assert roles(run_as(portal, parse_context(b'{"name": "portal", "auth": {"team": "dev"}}'))) == []


def test_a_role_of_several_true_rules_comes_once_and_in_order(portal: Context) -> None:
    add_rule(portal, "b", {"FIND": {"team": "ops"}}, "readonly", "agents_admin")
    add_rule(portal, "c", {"MATCH": {"name": "portal"}}, "agents_readonly")
    assert roles(run_as(portal)) == ["agents_admin", "agents_readonly", "readonly"]


def test_default_rules_count_for_the_web_interfaces_user_only(portal: Context) -> None:
    assert "administrator" not in roles(run_as(portal))
    own = portal.store.users.credentials("portal")
    assert own is not None
    portal.store.users.set_password(2, str(own.password))
    assert roles(run_as(portal, user="wui")) == ["administrator", "agents_admin"]


def test_a_rule_that_leads_to_no_role_is_not_evaluated(portal: Context, service: Context) -> None:
    add_rule(portal, "lost", {"FIND": {"team": "ops"}})
    verdicts = {verdict.rule: verdict for verdict in login.explain_context(service, CONTEXT, 100).affected}
    assert (verdicts["lost"].verdict, verdicts["lost"].why) == ("not evaluated", "it leads to no role")


@pytest.mark.parametrize(
    "document",
    [{"name": "x", "auth": {}}, {"name": "", "auth": {}, "username": None}],
    ids=["empty auth", "odd keys"],
)
def test_a_context_that_says_nothing_grants_nothing_and_still_needs_the_right(
    portal: Context, document: dict[str, Any]
) -> None:
    given = run_as(portal, raw(document))
    assert given.roles == ()
    session = login.resume(portal, given.token)
    assert session.actor is not None
    assert (session.actor.run_as, session.actor.roles) == (True, ())
    with pytest.raises(DeniedError):
        run_as(portal, raw(document), user="admin")


def test_an_empty_context_never_means_the_users_own_roles(portal: Context) -> None:
    with pytest.raises(InvalidError):
        run_as(portal, raw({}))
    portal.store.settings.set("accept_raw_contexts", True)
    assert run_as(portal, raw({})).roles == ()
    with pytest.raises(DeniedError) as raised:
        run_as(portal, raw({}), user="admin")
    assert raised.value.code == 6004


@pytest.mark.parametrize(
    "document",
    [{"user_name": "ada"}, {"name": 7, "auth": {}}, {"name": "x", "auth": []}, {"name": "x"}, {"auth": {}}],
)
def test_raw_documents_are_refused_at_the_lowest_layer_unless_the_store_accepts_them(
    portal: Context, document: dict[str, Any]
) -> None:
    with pytest.raises(InvalidError) as raised:
        run_as(portal, raw(document))
    assert "--wrap" in str(raised.value.fix)
    portal.store.settings.set("accept_raw_contexts", True)
    assert run_as(portal, raw(document)).context_id == context_id(document)


def test_the_right_to_contexts_is_judged_after_the_password(portal: Context) -> None:
    with pytest.raises(UnauthenticatedError):
        login.run_as(portal, "admin", "Wrong-Horse-77", CONTEXT)
    with pytest.raises(DeniedError) as raised:
        run_as(portal, user="admin")
    assert (raised.value.code, raised.value.problem) == (
        6004,
        "user `admin` may not use authorization contexts",
    )


def test_who_lacks_the_right_to_contexts_is_told_whom_to_ask(portal: Context, actor_with: ActorWith) -> None:
    actor_with(name="ann")
    with pytest.raises(DeniedError) as raised:
        run_as(portal, user="ann")
    assert raised.value.fix == "ask an administrator:\nmgmtctl users allow-run-as ann"


def test_a_context_token_names_the_context_and_the_session_shows_it(portal: Context) -> None:
    given = run_as(portal)
    claims = claims_of(given.token)
    assert claims["hash_auth_context"] == given.context_id == CONTEXT.id
    assert (claims["run_as"], claims["rbac_roles"]) == (True, [2])
    me = login.who_am_i(login.resume(portal, given.token)).record()
    assert (me["run_as"], me["context_id"], me["roles"]) == (
        True,
        CONTEXT.id,
        [{"id": "2", "name": "agents_admin"}],
    )


def test_without_roles_everything_is_denied_in_both_modes(portal: Context) -> None:
    given = run_as(portal, raw({"name": "x", "auth": {}}))
    portal.store.settings.set("rbac_mode", "black")
    session = login.resume(portal, given.token)
    assert session.actor is not None
    assert session.actor.permissions.scope("agent:read", "agent:id").is_nothing


def test_explaining_tells_every_rule_and_agrees_with_the_login(portal: Context, service: Context) -> None:
    add_rule(portal, "dev_people", {"FIND": {"team": "dev"}}, "readonly")
    found = login.explain_context(service, CONTEXT, run_as(portal).user_id).affected
    assert [(verdict.rule, verdict.verdict, verdict.roles) for verdict in found] == [
        ("wui_stacka_admin", "not evaluated", ("administrator",)),
        ("wui_stackb_admin", "not evaluated", ("administrator",)),
        ("ops_people", "true", ("agents_admin",)),
        ("dev_people", "false", ("readonly",)),
    ]
    assert "$.auth.team" in str(found[2].record()["trace"])
    assert [verdict.verdict for verdict in login.explain_context(service, CONTEXT, 2).affected][:2] == [
        "true",
        "true",
    ]


def test_an_explanation_shows_only_the_rules_and_roles_that_its_reader_may_read(
    portal: Context, actor_with: ActorWith
) -> None:
    rule_id = add_rule(portal, "both", {"FIND": {"team": "ops"}}, "readonly", "agents_admin")
    one = {"actions": ["security:read"], "resources": [f"rule:id:{rule_id}", "role:id:6"], "effect": "allow"}
    found = login.explain_context(actor_with([one], name="one"), CONTEXT, 100).affected
    assert [(verdict.rule, verdict.roles) for verdict in found] == [("both", ("readonly",))]
    assert login.explain_context(actor_with(name="none"), CONTEXT, 100).affected == []


def test_a_rule_that_changes_while_it_is_evaluated_leaves_a_dead_session(
    portal: Context, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    from mgmtctl import bootstrap

    other = bootstrap.open_context(settings)
    role_id = other.store.roles.find("agents_admin")
    assert role_id is not None
    issue = portal.keys.issue

    def changed_meanwhile(claims: dict[str, Any]) -> str:
        other.store.roles.end_context_sessions(role_id)
        return issue(claims)

    monkeypatch.setattr(portal.keys, "issue", changed_meanwhile)
    given = run_as(portal)
    other.store.close()
    with pytest.raises(UnauthenticatedError):
        login.resume(portal, given.token)


def test_keys_that_look_like_code_are_only_data(portal: Context) -> None:
    context = parse_context(
        b'{"name": "x", "auth": {"__class__": "os.system", "__unhandled_exc__": {"__args__": ["id"]}}}'
    )
    add_rule(portal, "odd", {"FIND": {"__class__": "os.system"}}, "readonly")
    assert roles(run_as(portal, context)) == ["readonly"]
