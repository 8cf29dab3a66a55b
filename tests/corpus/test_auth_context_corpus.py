"""Real statements about persons: read as contexts, wrapped, and put to the two default rules.

Each file has a row, judged by reading it. Few are contexts as they stand (`name` and `auth`): the others are what web
interfaces send raw, and what `--wrap` is for. The default rules look for `username` = `elastic` and `user_name` =
`admin` at any depth, so the account documents of an `admin` meet the second one, and nobody else does.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from mgmtctl.domain.auth_context import AuthContext, parse_context, wrap
from mgmtctl.domain.defaults import RULES
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.matching import ContextIndex, holds
from mgmtctl.domain.trace import explain
from tests.conftest import CORPUS

FOLDER = CORPUS / "auth_context"
NEITHER = "`name` is missing and `auth` is missing"
NO_AUTH = "`auth` is missing"


@dataclass(frozen=True)
class Verdict:
    """`refusal`: part of the message of the file as it stands (empty: a context); `is_json`: wrapping helps."""

    refusal: str
    is_json: bool = True
    true_rules: tuple[str, ...] = ()
    why: str = ""


CONTEXT = Verdict("", why="name and auth are there, and no user name")
RAW = Verdict(NEITHER, why="claims or an account without name and auth")
NAMED = Verdict(NO_AUTH, why="has a name of its own, and no auth")

VERDICTS = {
    "002-docs-initial-auth.json": CONTEXT,
    "003-docs-eleventh-auth.json": CONTEXT,
    "004-docs-first-example.json": CONTEXT,
    "005-docs-login-bill.json": CONTEXT,
    "008-issue11449.json": Verdict(NEITHER, why="user_name is test1"),
    "009-issue27703-ldap-cut.json": Verdict(
        "line 1 column 566: not JSON: expected value", is_json=False, why="ends in the middle"
    ),
    "011-splunk-username.json": Verdict(
        NEITHER, why="username is admin: the rule for username wants another name"
    ),
    "013-pr38810-empty.json": Verdict(NEITHER, why="the empty object satisfies no search"),
    "016-opensearch-account.json": Verdict(
        NEITHER, true_rules=("wui_stackb_admin",), why="user_name is admin"
    ),
    "018-opensearch-ml-owner.json": Verdict(NO_AUTH, why="the owner's name is admin, under the key name"),
    "019-opensearch-modelgroup-hit.json": Verdict(NEITHER, why="a search hit, the owner under name"),
    "022-opensearch-authinfo-comment.json": Verdict(
        NEITHER, true_rules=("wui_stackb_admin",), why="user_name is admin"
    ),
    "026-elastic-gettoken.json": Verdict(NEITHER, why="username is test_admin, inside authentication"),
    "028-elastic-query-user.json": Verdict(NEITHER, why="username is jacknich, in a list"),
    "031-orcid-userinfo.json": NAMED,
    "032-gitlab-userinfo.json": RAW,
    "033-dex-comment-claims.json": Verdict(
        "line 5 column 5: not JSON: expected property name", is_json=False, why="holds a comment"
    ),
    "034-azure-app-roles-ellipsis.json": Verdict(
        "line 6 column 3: not JSON: expected property name", is_json=False, why="holds an ellipsis"
    ),
    "036-okta-id-token-amr.json": NAMED,
    "040-okta-federated-claims.json": RAW,
    "041-okta-idv-verified-claims.json": RAW,
    "043-dex-id-token.json": NAMED,
    "047-pomerium-jwt.json": NAMED,
    "048-pomerium-empty-groups.json": NAMED,
    "049-pomerium-authorize-log.json": Verdict(NEITHER, why="a log entry; the claims lie one level down"),
    "050-ory-session.json": Verdict(NEITHER, why="username is empty"),
    "052-dex-oidc-claims.json": NAMED,
    "054-ldap-realm-es.json": Verdict(NEITHER, why="username is ldap_user"),
}

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="corpus not here")


def test_every_file_has_a_verdict() -> None:
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(VERDICTS)


@pytest.mark.parametrize("name", VERDICTS)
def test_as_it_stands(name: str) -> None:
    verdict, data = VERDICTS[name], (FOLDER / name).read_bytes()
    if not verdict.refusal:
        assert parse_context(data).name
        return
    with pytest.raises(InvalidError) as refused:
        parse_context(data)
    assert verdict.refusal in refused.value.problem
    assert ("--wrap NAME" in str(refused.value.fix)) is verdict.is_json


@pytest.mark.parametrize("name", VERDICTS)
def test_raw_and_wrapped(name: str) -> None:
    verdict, data = VERDICTS[name], (FOLDER / name).read_bytes()
    if not verdict.is_json:
        with pytest.raises(InvalidError):
            parse_context(data, accept_raw=True)
        with pytest.raises(InvalidError):
            wrap("corp", data)
        return
    raw, wrapped = parse_context(data, accept_raw=True), wrap("corp", data)
    assert wrapped.document == {"name": "corp", "auth": raw.document}
    assert wrapped.id != raw.id
    assert default_rules(raw) == default_rules(wrapped) == verdict.true_rules


def default_rules(context: AuthContext) -> tuple[str, ...]:
    index = ContextIndex(context.document)
    for rule in RULES:
        assert explain(rule.rules, index).verdict is holds(rule.rules, index)
    return tuple(rule.name for rule in RULES if holds(rule.rules, index))


def test_contexts_of_the_corpus_have_ids_of_their_own() -> None:
    ids = [
        parse_context((FOLDER / name).read_bytes(), accept_raw=True).id
        for name, verdict in VERDICTS.items()
        if verdict.is_json
    ]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("name", "expression", "paths"),
    [
        pytest.param(
            "016-opensearch-account.json", {"FIND": {"backend_roles": "admin"}}, 1, id="role in a list"
        ),
        pytest.param("008-issue11449.json", {"FIND$": {"backend_roles": [""]}}, 1, id="one empty role"),
        pytest.param(
            "019-opensearch-modelgroup-hit.json", {"FIND": {"roles": "test-ml"}}, 1, id="seven levels down"
        ),
        pytest.param(
            "041-okta-idv-verified-claims.json", {"FIND": {"value": None}}, 1, id="null deep inside"
        ),
        pytest.param("048-pomerium-empty-groups.json", {"MATCH$": {"groups": []}}, 1, id="exactly no groups"),
        pytest.param("048-pomerium-empty-groups.json", {"FIND": {"groups": "r'.*'"}}, 0, id="not some group"),
        pytest.param(
            "049-pomerium-authorize-log.json", {"FIND": {"pomerium.io/groups": "admin"}}, 1, id="odd key"
        ),
        pytest.param(
            "054-ldap-realm-es.json",
            {"FIND": {"ldap_groups": "r'cn=developers,.*'"}},
            1,
            id="distinguished name",
        ),
        pytest.param(
            "043-dex-id-token.json", {"MATCH": {"groups": ["developers", "admins"]}}, 1, id="both groups"
        ),
        pytest.param(
            "018-opensearch-ml-owner.json", {"FIND": {"user_requested_tenant": None}}, 0, id='"null" is text'
        ),
    ],
)
def test_rules_find_what_a_reader_finds(name: str, expression: dict[str, object], paths: int) -> None:
    context = parse_context((FOLDER / name).read_bytes(), accept_raw=True)
    (node,) = explain([expression], ContextIndex(context.document)).expressions
    assert len(node.paths) == paths
    assert node.verdict is bool(paths)
