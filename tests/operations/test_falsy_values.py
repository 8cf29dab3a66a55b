"""Nothing is taken for something: every falsy value, for every parameter and every field of every document.

`""`, blanks, `null`, 0, false, [], {} and a missing field are each refused with a clear error that changes nothing, or
mean what MEANT says; they are never the same as "not given" unless they are the declared default, and never a crash.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mgmtctl.domain.auth_context import parse_context
from mgmtctl.domain.errors import InvalidError, MgmtctlError, NotFoundError
from mgmtctl.domain.matching import ContextIndex, judge_rules
from mgmtctl.domain.settings import STORE_SETTINGS
from mgmtctl.operations import agents, decisions, login, policies, roles, rules, security, users
from mgmtctl.operations.context import Context
from mgmtctl.operations.registry import OPERATIONS
from tests.operations import attack_world as attack
from tests.operations.access_world import everything
from tests.operations.attack_calls import ALL, calls
from tests.operations.attack_world import World

FALSY: tuple[Any, ...] = ("", " ", "\t", None, 0, 0.0, False, [], {})
MISSING = object()
# By the annotation of a parameter: what is falsy and still of its type. What is no value of it never comes so far.
TYPED: dict[str, tuple[Any, ...]] = {
    "str": ("", " ", "\t\n"),
    "bool": (False,),
    "int": (0,),
    "float": (0.0,),
    "bytes": (b"", b" ", b"\n", b"null", b"[]"),
    "Sequence[str]": ([], [""], [" "]),
    "Selection": ([], [""], [" "]),
    "object": FALSY,
    "Mapping[str, Any]": ({}, {"": 1}, {" ": 1}),
    "None": (None,),
}
# Falsy values that are no default and are not refused, and what they mean.
MEANT: dict[tuple[str, str, str], str] = {
    ("agents.set_agent", "folder", "''"): "the folder by default",
    ("agents.create_agent", "folder", "''"): "the folder by default",
    ("decisions.can_i", "roles", "[]"): "no role at all",
    ("login.explain_context", "user_id", "0"): "nobody in particular",
    ("request_log.show_context", "last", "0"): "no requests",
    ("roles.update_role", "policies", "[]"): "exactly no policies",
    ("roles.update_role", "rules", "[]"): "exactly no rules",
    ("sync.run_sync", "max_affected", "0"): "nothing may be written to",
    ("users.update_user", "allow_run_as", "False"): "the right is taken",
    ("users.update_user", "roles", "[]"): "exactly no roles",
    ("users.set_run_as", "allow_run_as", "False"): "the right is taken",
}
# Text that is free, or judged by what else is given; the content of files is judged by `files` tests.
FREE_TEXT = {
    *(
        ("group_files.put_file", "source"),
        ("group_files.put_file", "content"),
        ("group_files.validate_document", "source"),
        ("group_files.validate_document", "content"),
        ("sync.run_sync", "if_locked"),
    ),
    ("agents.import_agents", "file_name"),
}
# What else is given beside the falsy value, where the harmless values would do something by themselves.
BESIDE: dict[str, dict[str, Any]] = {
    "policies.add_entries": {"actions": ["syscollector:read"]},
    "sessions.revoke_sessions": {"user_ids": []},
}
NOTHING = ("'affected': [None]", "'result': [None]", "'record': [('connection', [('active', 0), ")


@pytest.fixture(scope="module")
def world(service_template: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("falsy")
    template = attack.make(service_template, folder / "made", attack.two_tenants(neighbour=False))
    made = World(template, folder / "service")
    yield made
    made.close()
    shutil.rmtree(folder)


def typed(operation: str, parameter: str) -> Iterator[Any]:
    """The falsy values of a parameter's type that are not its default."""
    declared = OPERATIONS[operation].signature.parameters[parameter]
    for part in str(declared.annotation).split(" | "):
        for value in TYPED.get(part, ()):
            if not _is_default(value, declared.default):
                yield value


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(default, tuple):
        return bool(value == list(default))
    return type(value) is type(default) and bool(value == default)


PARAMETERS = [
    (name, parameter)
    for name in ALL
    for parameter in list(OPERATIONS[name].signature.parameters)[1:]
    if parameter != "accept_risk" and list(typed(name, parameter)) and (name, parameter) not in FREE_TEXT
]


@pytest.mark.parametrize(("operation", "parameter"), PARAMETERS)
def test_a_falsy_parameter_is_refused_or_names_nothing(
    operation: str, parameter: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    attack.CHANCES.arrange(monkeypatch)
    world.fresh()
    before = world.everything()
    base = {**next(iter(calls(OPERATIONS[operation]))), **BESIDE.get(operation, {})}
    for value in typed(operation, parameter):
        if (operation, parameter, repr(value)) in MEANT:
            continue
        answer = world.call(operation, attack.a_user("admin"), {**base, parameter: value}, False)
        refused = answer.startswith("{'error': ")
        assert refused or any(nothing in answer for nothing in NOTHING), (value, answer)
        assert not world.changed() or world.everything() == before, value


def test_every_meaning_is_of_a_falsy_value_that_can_be_given() -> None:
    unknown = [
        key for key in MEANT if key[0] in OPERATIONS and key[2] not in map(repr, typed(key[0], key[1]))
    ]
    assert unknown == []


def test_falsy_values_of_access_mean_what_they_say(
    service: Context, service_template: tuple[Path, str]
) -> None:
    """Exactly none, or the right taken: never "as it was"."""
    attack.add_tenant(service, "own", service_template[1], attack.OWN_RULE)
    store = service.store
    assert decisions.can_i(service, "agent:read", "agent:id:001", roles=[]).allowed is False
    roles.update_role(service, "own-team", policies=[])
    roles.update_role(service, "own-team", rules=[])
    team = store.roles.get(store.roles.find("own-team") or 0)
    assert (team.policies, team.rules) == ((), ())
    users.update_user(service, "own-friend", roles=[])
    assert store.users.get(store.users.find("own-friend") or 0).roles == ()
    store.users.set_allow_run_as(100, True)
    users.set_run_as(service, "own-user", False)
    assert store.users.get(100).allow_run_as is False
    store.users.set_allow_run_as(100, True)
    users.update_user(service, "own-user", allow_run_as=False)
    assert store.users.get(100).allow_run_as is False


def variants(document: Any) -> Iterator[tuple[str, Any]]:
    """The document with each of its parts replaced by each falsy value, or left out, and where that was."""
    for value in FALSY:
        yield "$", value
    for path in _paths(document):
        for value in (*FALSY, MISSING):
            changed = copy.deepcopy(document)
            inside = changed
            for key in path[:-1]:
                inside = inside[key]
            if value is MISSING:
                del inside[path[-1]]
            else:
                inside[path[-1]] = value
            yield (
                f"{'.'.join(map(str, path))} = {'missing' if value is MISSING else json.dumps(value)}",
                changed,
            )


def _paths(document: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in inside:
        yield (*here, key)
        if isinstance(value, dict | list):
            yield from _paths(value, (*here, key))


BLOCK = {"actions": ["agent:read"], "resources": ["agent:id:001"], "effect": "allow"}
POLICIES = [
    pytest.param(BLOCK, id="one block"),
    pytest.param({"blocks": {"b": BLOCK}}, id="blocks"),
    pytest.param({"policy": BLOCK}, id="the API's form"),
]


@pytest.mark.parametrize("document", POLICIES)
def test_a_policy_with_a_falsy_part_is_refused_and_changes_nothing(service: Context, document: Any) -> None:
    policies.create_policy(service, "whole", document)
    before = everything(service)
    for place, changed in variants(document):
        for call in (
            lambda doc=changed: policies.create_policy(service, "other", doc),
            lambda doc=changed: policies.update_policy(service, "whole", document=doc),
        ):
            with pytest.raises(InvalidError):
                call()
                pytest.fail(f"{place} was taken")
            assert everything(service) == before, place


EXPRESSION = {
    "AND": [{"MATCH": {"a": "b"}}, {"NOT": {"FIND$": {"c": ["d", {"e": "f"}]}}}, {"FIND": {"g": {"h": "i"}}}]
}
# Where a scalar stands in a pattern, a falsy one is a value to be found, and a strict empty list is the empty list.
PATTERN_PLACES = ("MATCH.a", "FIND$.c", "FIND$.c.0", "FIND$.c.1", "FIND$.c.1.e", "FIND.g", "FIND.g.h")


def test_a_rule_with_a_falsy_part_is_refused_or_finds_that_value_and_never_nothing(service: Context) -> None:
    rules.create_rule(service, "whole", EXPRESSION)
    first = everything(service)
    empty = ContextIndex(parse_context(b'{"name": "x", "auth": {}}').document)
    taken = set()
    for place, changed in variants(EXPRESSION):
        database = service.store.database
        database.execute("BEGIN")
        try:
            made = rules.create_rule(service, "other", changed)
        except InvalidError:
            assert everything(service) == first, place
        else:
            taken.add(place)
            expressions = json.dumps(list(made.expressions))
            assert judge_rules([(made.id, expressions, None)], empty)[0] == [], place
        finally:
            database.execute("ROLLBACK")
    outside = {place for place in taken if not any(f"{part} = " in place for part in PATTERN_PLACES)}
    # Items may be left out of a list that keeps one, and a key out of a pattern that keeps one.
    assert {place.partition(" = ")[2] for place in outside} <= {"missing"}
    assert {place.partition(" = ")[2] for place in taken} >= {'""', "null", "0", "false", "missing"}


@pytest.mark.parametrize("value", [b"", b" ", b"null", b"0", b"false", b"[]", b'""', b"0.0"])
def test_no_falsy_document_is_an_authorization_context(value: bytes) -> None:
    for accept_raw in (False, True):
        with pytest.raises(InvalidError):
            parse_context(value, accept_raw=accept_raw)


def test_a_context_with_a_falsy_name_or_auth_is_refused_unless_raw_ones_are_accepted() -> None:
    whole = {"name": "x", "auth": {"team": "own"}}
    for place, changed in variants(whole):
        if (
            not isinstance(changed, dict)
            or place.startswith("auth.team")
            or place in ('name = ""', 'name = " "')
        ):
            continue
        if place in ('name = "\\t"', "auth = {}"):
            continue  # a text and an object, that hold nothing
        with pytest.raises(InvalidError):
            parse_context(json.dumps(changed).encode())


def test_no_falsy_part_of_a_context_gives_a_role(
    anonymous: Context, service_template: tuple[Path, str]
) -> None:
    attack.add_tenant(anonymous, "own", service_template[1], attack.OWN_RULE)
    anonymous.store.settings.set("accept_raw_contexts", True)
    whole = parse_context(b'{"name": "x", "auth": {"team": "own"}}')
    assert login.run_as(anonymous, "own-user", attack.PASSWORD, whole).roles != ()
    for place, changed in variants(whole.document):
        if isinstance(changed, dict) and not place.startswith("name"):
            context = parse_context(json.dumps(changed).encode(), accept_raw=True)
            assert login.run_as(anonymous, "own-user", attack.PASSWORD, context).roles == (), place


@pytest.mark.parametrize("name", STORE_SETTINGS)
def test_a_setting_takes_a_falsy_value_only_where_it_is_one_of_its_values(
    service: Context, name: str
) -> None:
    before = service.store.settings.all()
    expected: dict[str, list[Any]] = {
        "bool": [False],
        "list": [[]],
    }
    mine = expected.get(type(STORE_SETTINGS[name].default).__name__, [])
    if name == "files.revisions_kept":
        mine = [0]  # all of them
    for value in FALSY:
        if any(type(value) is type(known) and value == known for known in mine):
            security.update_config(service, {name: value})
            assert service.store.settings.get(name) == value
            security.update_config(service, {name: before[name]})
            continue
        with pytest.raises(InvalidError):
            security.update_config(service, {name: value})
            pytest.fail(f"{name} took {value!r}")
        assert service.store.settings.all() == before


@pytest.mark.parametrize("field", ["id", "name", "ip", "groups", "folder"])
def test_an_import_takes_a_falsy_field_as_absent_or_refuses_the_file(service: Context, field: str) -> None:
    """An absent field has its default; an absent name is no agent."""
    whole = {"id": "7", "name": "plain", "ip": "any", "groups": "default", "folder": None}
    for value in FALSY:
        service.store.database.execute("BEGIN")
        line = json.dumps({**whole, field: value}).encode()
        try:
            made = agents.import_agents(service, "fleet.ndjson", line + b"\n")
        except (InvalidError, NotFoundError):
            assert agents.list_agents(service).affected == []
        else:
            assert field != "name", value
            assert value in ("", None, [], " ", "\t"), value
            (agent,) = agents.list_agents(service, list(made.ids)).affected
            assert (agent.name, agent.groups, agent.folder) == ("plain", ("default",), None), value
        finally:
            service.store.database.execute("ROLLBACK")


@pytest.mark.parametrize("password", ["", " ", "\t", "\n", "        "])
def test_a_blank_password_never_authenticates_and_never_means_unchanged(
    service: Context, password: str
) -> None:
    before = everything(service)
    with pytest.raises(MgmtctlError):
        login.log_in(service, "admin", password)
    for name in ("admin", "wui"):
        with pytest.raises(InvalidError):
            users.update_user(service, name, password=password)
        with pytest.raises(InvalidError):
            users.update_user(service, name, password=password, allow_run_as=True)
    with pytest.raises(InvalidError):
        users.create_user(service, "new", password)
    assert everything(service) == before
