"""Rules by example over real statements about persons: every ordered pair that any rule can tell apart gets a draft.

Whether a rule exists is decided here by brute force, with the evaluator alone: every single condition and every whole
object of both documents, by each operator. Documents are taken raw, and as `--wrap` puts them under `auth`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.evaluation import Evaluation
from mgmtctl.domain.matching import ContextIndex, holds
from mgmtctl.domain.rule_suggestions import suggest
from mgmtctl.domain.rules import check_rules
from tests.cli.conftest import run_here
from tests.conftest import CORPUS

FOLDER = CORPUS / "auth_context"
Context = dict[str, Any]

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="corpus not here")


def documents(*, wrapped: bool) -> dict[str, Context]:
    found = {}
    for path in sorted(FOLDER.iterdir()):
        try:
            document = parse_context(path.read_bytes(), accept_raw=True).document
        except InvalidError:
            continue
        is_context = isinstance(document.get("name"), str) and isinstance(document.get("auth"), dict)
        found[path.name] = {"name": "portal", "auth": document} if wrapped and not is_context else document
    return found


@pytest.mark.parametrize(("wrapped", "without"), [(False, 24), (True, 0)], ids=["raw", "wrapped"])
def test_every_pair_that_a_rule_can_tell_apart_is_told_apart(wrapped: bool, without: int) -> None:
    contexts = documents(wrapped=wrapped)
    assert len(contexts) == 25
    indexes = {name: ContextIndex(document) for name, document in contexts.items()}
    searches = {name: list(_searches(document)) for name, document in contexts.items()}
    true = {
        name: {
            (about, place)
            for about, asked in searches.items()
            for place, search in enumerate(asked)
            if Evaluation(index).rule([search])
        }
        for name, index in indexes.items()
    }
    denied, none = set(), set()
    for one, other in permutations(contexts, 2):
        draft = suggest([(one, contexts[one])], [(other, contexts[other])])
        exists = bool(true[one]) and true[one] != true[other]
        assert (draft.expression is not None) is exists, (one, other, draft)
        if draft.expression is None:
            none.add(one)
            assert draft.why_not.startswith(f"{one} holds nothing that a condition could ask for")
            continue
        assert holds([draft.expression], indexes[one]) is True
        assert holds([draft.expression], indexes[other]) is False
        assert holds([draft.expression], ContextIndex({})) is False
        assert draft.denies is (true[one] <= true[other])
        if draft.denies:
            denied.add(one)
    assert none == ({"013-pr38810-empty.json"} if without else set())
    assert denied == (set() if without else {"013-pr38810-empty.json"})


def test_the_draft_of_every_pair_passes_rules_test(tmp_path: Path) -> None:
    contexts = documents(wrapped=True)
    for name, document in contexts.items():
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    tables: list[str] = []
    for one, other in permutations(contexts, 2):
        draft = suggest([(one, contexts[one])], [(other, contexts[other])])
        cases = [{"context_file": one, "rules": ["draft"]}, {"context_file": other, "rules": []}]
        table = tmp_path / f"{len(tables)}.yml"
        table.write_text(json.dumps({"rules": {"draft": draft.expression}, "cases": cases}), encoding="utf-8")
        tables.append(str(table))
    tested = run_here("rules", "test", *tables)
    assert (tested.code, tested.err) == (0, f"{2 * len(tables)} cases: all passed\n")


def _searches(document: Context) -> Iterator[Context]:
    """Each condition by itself, and each object whole."""
    for value, path in _objects(document, ()):
        patterns: list[Any] = [value]
        for key, item in value.items():
            asked = [item, *item] if isinstance(item, list) else [item]
            patterns += [{key: one} for one in asked]
            patterns += [{key: [one]} for one in (item if isinstance(item, list) else ())]
        for pattern in patterns:
            whole = pattern
            for key in reversed(path):
                whole = {key: whole}
            for search in (
                {"MATCH": whole}, {"MATCH$": whole}, {"FIND": pattern}, {"FIND$": pattern},
            ):  # fmt: skip
                if not check_rules(search):
                    yield search


def _objects(value: Any, path: tuple[str, ...]) -> Iterator[tuple[Context, tuple[str, ...]]]:
    """(object, keys that lead to it from the root) of each object; inside a list the path means nothing."""
    if isinstance(value, dict):
        yield value, path
        for key, item in value.items():
            yield from _objects(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item, path)


@pytest.mark.parametrize(
    ("one", "other", "expression"),
    [
        pytest.param(
            "043-dex-id-token.json",
            "052-dex-oidc-claims.json",
            {"MATCH": {"groups": "admins"}},
            id="a group before a person and a token",
        ),
        pytest.param(
            "016-opensearch-account.json",
            "022-opensearch-authinfo-comment.json",
            {"MATCH": {"backend_roles": "admin"}},
            id="a role of the same administrator",
        ),
        pytest.param(
            "002-docs-initial-auth.json",
            "005-docs-login-bill.json",
            {"MATCH": {"auth": {"name": "Wazuh"}}},
            id="only the name differs",
        ),
        pytest.param(
            "028-elastic-query-user.json",
            "031-orcid-userinfo.json",
            {"FIND": {"roles": "admin"}},
            id="inside a list of objects",
        ),
    ],
)
def test_the_draft_is_what_an_administrator_would_write(one: str, other: str, expression: Context) -> None:
    contexts = documents(wrapped=False)
    assert suggest([(one, contexts[one])], [(other, contexts[other])]).expression == expression
