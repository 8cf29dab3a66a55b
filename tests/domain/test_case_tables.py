"""Tables of cases: what is refused, what a run says, and what it says was not exercised."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mgmtctl.domain.auth_context import AuthContext, parse_context
from mgmtctl.domain.case_runs import Result, Run, run_table
from mgmtctl.domain.case_tables import POLICIES, RULES, read_table
from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.policies import parse_policy

CONTEXT = {"name": "ada", "auth": {"groups": ["web"]}}
WORLD: dict[str, Any] = {
    "agents": {"001": ["default", "web"], "002": ["db"]},
    "policies": {
        "web": {"actions": ["agent:read"], "resources": ["agent:group:web"], "effect": "allow"},
        "calm": {"actions": ["agent:restart"], "resources": ["agent:id:*"], "effect": "deny"},
    },
    "roles": {"team": ["web"], "quiet": ["calm"]},
    "users": {"ada": ["team"], "portal": {"roles": [], "allow_run_as": True}},
    "rules": {"staff": {"rule": {"FIND": {"groups": "web"}}, "roles": ["team"]}},
}
CASE = {"user": "ada", "action": "agent:read", "resource": "agent:id:001", "expected": "allow"}


def files(path: str, name: str | None) -> AuthContext:
    if path != "ada.json":
        raise InvalidError(f"{path}: cannot be read", why="No such file")
    return parse_context(json.dumps(CONTEXT).encode())


def run(*cases: dict[str, Any], kind: str = POLICIES, coverage: bool = False, **more: Any) -> Run:
    table = read_table({**WORLD, **more, "cases": list(cases)}, kind, files)
    assert table.world is not None
    return run_table(table, table.world, coverage=coverage)


def one(case: dict[str, Any], kind: str = POLICIES, **more: Any) -> Result:
    (result,) = run(case, kind=kind, **more).results
    return result


def faults(document: object, kind: str = POLICIES) -> dict[str, str]:
    with pytest.raises(InvalidError) as refused:
        read_table(document, kind, files)
    return {finding.path: finding.rule for finding in refused.value.findings}


def changed(path: str, value: object) -> dict[str, Any]:
    """A whole table with one value of it replaced; the path is written with blanks."""
    document: dict[str, Any] = copy.deepcopy({**WORLD, "cases": [dict(CASE)]})
    *way, last = path.split()
    place: Any = document
    for step in way:
        place = place[int(step) if isinstance(place, list) else step]
    place[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "place", "rule"),
    [
        pytest.param("polices", {}, "polices", "unknown-key", id="a key that no table has"),
        pytest.param("story", 7, "story", "wrong-type", id="a story that is no text"),
        pytest.param("mode", "grey", "mode", "unknown-word", id="a mode that is none"),
        pytest.param("agents", ["001"], "agents", "wrong-type", id="agents as a list"),
        pytest.param("agents 7", ["web"], "agents.7", "agent", id="an agent that is not written as an id"),
        pytest.param("agents 003", [], "agents.003", "agent", id="an agent without groups"),
        pytest.param("agents 003", ["a/b"], "agents.003", "agent", id="a group that cannot be one"),
        pytest.param("policies web effect", "maybe", "policies.web.effect", "unknown-effect", id="an effect"),
        pytest.param("policies agents_all", {}, "policies.agents_all", "name", id="a shipped policy anew"),
        pytest.param("policies WEB", {}, "policies.WEB", "name", id="a name in another letter case"),
        pytest.param("policies 12", {}, 'policies.12', "name", id="a name of digits"),
        pytest.param("roles team", ["wbe"], "roles.team", "unknown-policy", id="a policy that is nowhere"),
        pytest.param("roles team", "web", "roles.team", "wrong-type", id="policies that are no list"),
        pytest.param("users ada", ["tam"], "users.ada", "unknown-role", id="a role that is nowhere"),
        pytest.param("users ada", {"allow_run_as": 1}, "users.ada.allow_run_as", "wrong-type", id="1 is not true"),
        pytest.param("users admin", [], "users.admin", "name", id="a shipped user anew"),
        pytest.param("rules staff", {"FIN": {"a": 1}}, "rules.staff.FIN", "unknown-operator", id="an operator"),
        pytest.param("rules staff rule", [], "rules.staff.rule", "wrong-type", id="a rule that is no expression"),
        pytest.param("rules staff roles", ["x"], "rules.staff.roles", "unknown-role", id="a role of a rule"),
        pytest.param("cases", [], "cases", "empty-list", id="no cases"),
        pytest.param("cases", {"a": CASE}, "cases", "wrong-type", id="cases by name"),
        pytest.param("cases", [[]], "cases[0]", "wrong-type", id="a case that is no object"),
        pytest.param("cases 0 expect", "allow", "cases[0].expect", "unknown-key", id="a key that no case has"),
        pytest.param("cases 0 expected", True, "cases[0].expected", "unknown-word", id="yes is not allow"),
        pytest.param("cases 0 expected", "yes", "cases[0].expected", "unknown-word", id="nor is the text"),
        pytest.param("cases 0 expected", {"grey": "deny"}, "cases[0].expected.grey", "unknown-key", id="by mode"),
        pytest.param("cases 0 expected", {}, "cases[0].expected", "missing-key", id="in no mode"),
        pytest.param("cases 0 action", "agent:reed", "cases[0].action", "never-asked", id="an unknown action"),
        pytest.param("cases 0 action", "group:read", "cases[0].action", "never-asked", id="a pair that never is"),
        pytest.param("cases 0 resource", "agent:id:x", "cases[0].resource", "malformed-resource", id="no id"),
        pytest.param("cases 0 resource", "agnt:id:1", "cases[0].resource", "malformed-resource", id="no kind"),
        pytest.param("cases 0 resource", "agent:id:9", "cases[0].resource", "unknown-agent", id="no such agent"),
        pytest.param("cases 0 user", "bob", "cases[0].user", "unknown-user", id="no such user"),
        pytest.param("cases 0 user", "", "cases[0].user", "wrong-type", id="an empty name"),
        pytest.param("cases 0 role", "team", "cases[0]", "two-subjects", id="a user and a role"),
        pytest.param("cases 0 because", "web", "cases[0].because", "wrong-type", id="because is a list"),
        pytest.param("cases 0 because", ["wb"], "cases[0].because", "unknown-policy", id="no such policy"),
        pytest.param("cases 0 context", {"auth": {}}, "cases[0].context", "context", id="a context without name"),
        pytest.param("cases 0 context_file", "x.json", "cases[0].context_file", "context", id="no such file"),
        pytest.param("cases 0 wrap", "x", "cases[0]", "missing-key", id="wrap without a context"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place(path: str, value: object, place: str, rule: str) -> None:
    assert faults(changed(path, value))[place] == rule


def test_every_fault_is_told_at_once() -> None:
    cases = [{**CASE, "user": "bob"}, {"action": "agent:read"}, {**CASE, "expected": "no"}]
    found = faults({**WORLD, "mode": "grey", "cases": cases})
    assert set(found) == {"mode", "cases[0].user", "cases[1]", "cases[2].expected"}


@pytest.mark.parametrize("document", [None, [], "text", 7, {}, {"cases": None}])
def test_what_is_no_table_is_refused(document: object) -> None:
    assert faults(document)


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ("cases", "agents", "rules", "roles", "users", "policies", "user", "context", "x")
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ),
    st.sampled_from((POLICIES, RULES)),
)
def test_reading_is_total(document: object, kind: str) -> None:
    with contextlib.suppress(InvalidError):
        assert read_table(document, kind, files).cases


@pytest.mark.parametrize(
    ("case", "got"),
    [
        pytest.param({"user": "ada"}, "allow because of web", id="a user by its roles"),
        pytest.param({"role": "team"}, "allow because of web", id="a role by itself"),
        pytest.param({"roles": ["team", "quiet"]}, "allow because of web", id="several roles"),
        pytest.param({"roles": []}, "deny because of the mode alone", id="no role at all"),
        pytest.param({"role": "agents_readonly"}, "allow because of agents_read", id="a shipped role"),
        pytest.param({"user": "admin"}, "allow because of agents_all", id="a shipped user"),
        pytest.param({"context": CONTEXT}, "allow because of web", id="a context of anybody"),
        pytest.param({"context_file": "ada.json"}, "allow because of web", id="a context in a file"),
        pytest.param({"context_file": "ada.json", "user": "portal"}, "allow because of web", id="of a user"),
        pytest.param(
            {"context": CONTEXT, "user": "ada"},
            "deny because of the mode alone",
            id="who may not use contexts",
        ),
        pytest.param(
            {"context": {"groups": ["web"]}, "wrap": "x"}, "allow because of web", id="a raw account document"
        ),
    ],
)
def test_whom_a_case_is_about(case: dict[str, Any], got: str) -> None:
    asked = {key: value for key, value in CASE.items() if key != "user"}
    assert one({**asked, **case, "because": ["calm"]}).got == got


def test_shipped_rules_are_for_the_web_interface_only() -> None:
    case = {"context": {"name": "x", "auth": {"user_name": "admin"}}, "rules": []}
    assert one(case, RULES).got == "rules none"
    assert one({**case, "user": "portal"}, RULES).got == "rules none"
    assert one({**case, "user": "wui"}, RULES).got == "rules wui_stackb_admin"


def test_the_mode_is_white_unless_said() -> None:
    case = {**CASE, "action": "agent:delete", "expected": "deny"}
    assert [(r.mode, r.passed) for r in run(case).results] == [("white", True)]
    assert [(r.mode, r.passed) for r in run({**case, "mode": "black"}).results] == [("black", False)]
    assert [(r.mode, r.passed) for r in run(case, mode="black").results] == [("black", False)]
    both = [("white", True), ("black", False)]
    assert [(r.mode, r.passed) for r in run(case, mode="both").results] == both
    by_mode = {**case, "expected": {"black": "allow", "white": "deny"}}
    assert [(r.mode, r.passed) for r in run(by_mode).results] == [("white", True), ("black", True)]


def test_a_failure_says_why_it_was_so() -> None:
    result = one({**CASE, "resource": "agent:id:002", "note": "hers"})
    assert (result.passed, result.expected, result.got, result.note) == (False, "allow", "deny", "hers")
    assert result.lines[0] == "denied (mode white): agent:read on agent:id:002"
    assert any("002 is in db; this grants group web" in line for line in result.lines)
    assert result.facts["decision"]["allowed"] is False


def test_the_right_answer_for_another_reason_fails() -> None:
    result = one({**CASE, "because": ["calm"]})
    assert (result.passed, result.got) == (False, "allow because of web")
    assert one({**CASE, "because": ["web"]}).passed


@pytest.mark.parametrize(
    ("case", "got"),
    [
        ({"rules": ["staff"], "roles": ["team"]}, None),
        ({"rules": ["staff"]}, None),
        ({"roles": ["team"]}, None),
        ({"rules": []}, "rules staff"),
        ({"roles": []}, "roles team"),
        ({"rules": ["staff"], "roles": ["quiet"]}, "rules staff; roles team"),
    ],
)
def test_rules_and_roles_are_exactly_those_expected(case: dict[str, Any], got: str | None) -> None:
    result = one({"context": CONTEXT, **case}, RULES)
    assert result.passed is (got is None)
    assert got is None or (result.got == got and any("rule staff is true" in line for line in result.lines))


def test_a_rule_that_is_not_true_is_explained_node_by_node() -> None:
    result = one({"context": {"name": "x", "auth": {"group": "web"}}, "rules": ["staff"]}, RULES)
    assert result.lines[0] == "rule staff is false"
    assert "FIND groups" in result.lines[1]


def test_a_true_rule_that_a_user_does_not_get_says_so() -> None:
    result = one({"context": CONTEXT, "user": "ada", "rules": ["staff"]}, RULES)
    assert result.lines[:2] == (
        "user ada may not use authorization contexts, so no rule counts",
        "rule staff is true, but not evaluated for this user",
    )


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        pytest.param({"roles": ["team"]}, RULES, id="roles of rules"),
        pytest.param({**CASE}, POLICIES, id="a decision"),
    ],
)
def test_a_user_who_may_not_use_contexts_is_a_reason(case: dict[str, Any], kind: str) -> None:
    said = "user ada may not use authorization contexts, so no rule counts"
    assert one({**case, "user": "ada", "context": CONTEXT}, kind).lines[0] == said
    portal = one({**case, "user": "portal", "context": {"name": "x", "auth": {}}}, kind)
    assert not portal.passed
    assert said.replace("ada", "portal") not in portal.lines


def test_a_table_is_told_of_its_own_key_to_wrap_a_document() -> None:
    with pytest.raises(InvalidError) as refused:
        read_table({"cases": [{"context": {}, "rules": []}]}, RULES, files)
    (finding,) = refused.value.findings
    assert "`wrap: NAME`" in str(finding.suggestion)
    assert "--wrap" not in str(finding.suggestion)


def test_an_undecided_rule_is_no_true_one_and_a_deny_behind_it_ends_the_case() -> None:
    slow = {"NOT": {"FIND": {"a": "r'(.*a){1,50}b'"}}}
    context = {"name": "x", "auth": {"a": "a" * 200_000}}
    world: dict[str, Any] = {"rules": {"slow": {"rule": slow, "roles": ["quiet"]}}}
    asked = {**CASE, "context": context, "expected": "deny"}
    del asked["user"]
    result = one(asked, **world)
    assert result.error is True
    assert not result.passed
    assert "undecided" in result.got
    by_rule = one({"context": context, "rules": ["slow"]}, RULES, **world)
    assert "rule slow is undecided: a limit was reached" in by_rule.lines


def test_coverage_of_policies_names_what_never_spoke() -> None:
    more = {"actions": ["agent:delete", "agent:read"], "resources": ["agent:id:001"], "effect": "allow"}
    policies = {**WORLD["policies"], "two": {"blocks": {"used": more, "idle": {**more, "effect": "deny"}}}}
    seen = run(
        {"role": "both", "action": "agent:delete", "resource": "agent:id:001", "expected": "deny"},
        coverage=True,
        policies=policies,
        roles={**WORLD["roles"], "both": ["two"]},
    )
    assert seen.coverage is not None
    assert list(seen.coverage.lines()) == [
        "coverage: 1 of 3 policies, 2 of 4 blocks, 2 of 6 entries",
        "  no case: policy web",
        "  no case: policy calm",
        "  no case: policy two, block used: allow agent:read on agent:id:001",
        "  no case: policy two, block idle: deny agent:read on agent:id:001",
    ]


def test_coverage_of_rules_names_what_was_never_true_or_never_false() -> None:
    rules = {"r": {"AND": [{"FIND": {"a": 1}}, {"NOT": {"FIND": {"b": 1}}}]}}
    cases = [{"context": {"name": "x", "auth": auth}, "rules": []} for auth in ({"b": 1}, {"c": 1})]
    seen = run(*cases, kind=RULES, coverage=True, rules=rules)
    assert seen.coverage is not None
    assert list(seen.coverage.lines()) == [
        "coverage: 0 of 1 rules, 2 of 4 nodes were both true and false",
        "  never true: rule r, AND",
        '  never true: rule r, AND[0].FIND: FIND {"a": 1}',
    ]
    paths = [node["path"] for node in seen.coverage.record()["rules"][0]["nodes"]]
    assert paths == ["AND", "AND[0].FIND", "AND[1].NOT", "AND[1].NOT.FIND"]


def test_pairs_that_no_question_can_reach_do_not_count() -> None:
    block = {
        "actions": ["agent:read", "group:read"], "resources": ["agent:id:001", "group:id:web"], "effect": "allow",
    }  # fmt: skip
    assert parse_policy(block, "mixed")
    seen = run(CASE, coverage=True, policies={**WORLD["policies"], "mixed": block})
    assert seen.coverage is not None
    entries = {
        policy["name"]: policy["blocks"][0]["entries"] for policy in seen.coverage.record()["policies"]
    }
    assert entries["mixed"] == 2
