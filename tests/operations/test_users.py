"""Users through their operations: what comes back, what is protected, what a name or an id means."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mgmtctl import passwords
from mgmtctl.domain.errors import ConflictError, DeniedError, InvalidError, MgmtctlError, NotFoundError
from mgmtctl.domain.queries import ListQuery
from mgmtctl.operations import users
from mgmtctl.operations.context import Context
from mgmtctl.operations.results import Items
from tests.operations.access_world import (
    PASSWORD,
    acting,
    add_role,
    add_user,
    allow,
    delegate,
    deny,
    everything,
)


@pytest.fixture
def service(anonymous: Context) -> Context:
    """The administrator, without the work of a login."""
    return acting(anonymous, 1)


def stored_password(ctx: Context, name: str) -> str | None:
    found = ctx.store.users.credentials(name)
    assert found is not None
    return found.password


def codes(items: Items[Any]) -> list[tuple[int, tuple[str, ...]]]:
    return [(failure.error.code, failure.ids) for failure in items.failed]


def test_a_created_user_can_log_in_with_its_password_only(service: Context) -> None:
    created = users.create_user(service, "ann", PASSWORD)
    assert created.record() == {"id": "100", "username": "ann", "allow_run_as": False, "roles": []}
    assert passwords.verify(stored_password(service, "ann"), PASSWORD)
    assert not passwords.verify(stored_password(service, "ann"), PASSWORD.lower())


def test_a_user_is_created_with_roles_and_the_run_as_right(service: Context) -> None:
    created = users.create_user(
        service, "ann", PASSWORD, roles=["readonly", "agents_admin"], allow_run_as=True
    )
    assert created.allow_run_as
    assert [service.store.roles.names()[number] for number in created.roles] == ["readonly", "agents_admin"]


@pytest.mark.parametrize(
    "password",
    [
        pytest.param("", id="empty"),
        pytest.param("        ", id="blanks"),
        pytest.param("Short-1", id="seven characters"),
        pytest.param("A-1" + "a" * 62, id="65 characters"),
        pytest.param("no-upper-case-1", id="no upper case"),
        pytest.param("NO-LOWER-CASE-1", id="no lower case"),
        pytest.param("No-digit-at-all", id="no digit"),
        pytest.param("NoSymbolAtAll1", id="no symbol"),
    ],
)
def test_a_weak_password_is_refused_for_new_and_old_users(service: Context, password: str) -> None:
    before = everything(service)
    with pytest.raises(InvalidError) as refused:
        users.create_user(service, "ann", password)
    assert refused.value.code == 5007
    with pytest.raises(InvalidError):
        users.update_user(service, "admin", password=password)
    assert everything(service) == before


@pytest.mark.parametrize(
    "name",
    ["", "42", "a b", "a" * 65, "ann\n", "ännchen", "../ann"],
)
def test_a_bad_name_is_refused(service: Context, name: str) -> None:
    with pytest.raises(InvalidError):
        users.create_user(service, name, PASSWORD)


def test_a_taken_name_is_a_conflict_in_any_letter_case(service: Context) -> None:
    with pytest.raises(ConflictError) as refused:
        users.create_user(service, "ADMIN", PASSWORD)
    assert refused.value.code == 5000


def test_creating_needs_the_right_to_create_users(service: Context) -> None:
    me = acting(service, add_user(service, "me", add_role(service, "me", allow("agent:create", "*:*:*"))))
    with pytest.raises(DeniedError) as refused:
        users.create_user(me, "new", PASSWORD)
    assert (refused.value.action, refused.value.resource) == ("security:create_user", "*:*:*")


@pytest.mark.parametrize(
    ("blocks", "missing"),
    [
        pytest.param((allow("security:update", "role:id:*"),), "user:id", id="no right on the user"),
        pytest.param((allow("security:update", "user:id:*"),), "role", id="no right on the role"),
    ],
)
def test_creating_with_a_role_needs_both_ends(
    service: Context, blocks: tuple[dict[str, object], ...], missing: str
) -> None:
    role = add_role(service, "me", allow("security:create_user", "*:*:*"), *blocks)
    me = acting(service, add_user(service, "me", role))
    given = str(add_role(service, "empty"))
    with pytest.raises(DeniedError, match=missing):
        users.create_user(me, "new", PASSWORD, roles=[given])
    assert service.store.users.find("new") is None


def test_creating_with_run_as_needs_the_right_to_edit_it(service: Context) -> None:
    me = acting(
        service, add_user(service, "me", add_role(service, "me", allow("security:create_user", "*:*:*")))
    )
    with pytest.raises(DeniedError) as refused:
        users.create_user(me, "new", PASSWORD, allow_run_as=True)
    assert refused.value.action == "security:edit_run_as"
    assert service.store.users.find("new") is None
    assert users.create_user(me, "new", PASSWORD).name == "new"


def test_a_list_holds_what_the_caller_may_read(service: Context) -> None:
    ann, bob = add_user(service, "ann"), add_user(service, "bob")
    role = add_role(service, "me", allow("security:read", f"user:id:{ann}"))
    me = acting(service, add_user(service, "me", role))
    assert [user.name for user in users.list_users(me).affected] == ["ann"]
    shown = users.list_users(me, [str(ann), str(bob)])
    assert [user.name for user in shown.affected] == ["ann"]
    assert codes(shown) == [(4000, (str(bob),))]


def test_a_list_takes_deny_over_allow(service: Context) -> None:
    role = add_role(service, "me", allow("security:read", "user:id:*"), deny("security:read", "user:id:1"))
    me = acting(service, add_user(service, "me", role))
    assert [user.name for user in users.list_users(me).affected] == ["wui", "me"]


def test_a_list_can_be_asked(service: Context) -> None:
    add_user(service, "ann")
    found = users.list_users(
        service, query=ListQuery(where="allow_run_as=true,username~ANN", sort="-username")
    )
    assert [user.name for user in found.affected] == ["wui", "ann"]
    limited = users.list_users(service, query=ListQuery(limit=1))
    assert ([user.name for user in limited.affected], limited.total) == (["admin"], 3)


def test_names_and_ids_are_both_understood_and_told_apart(service: Context) -> None:
    ann = add_user(service, "Ann")
    for reference in ("ann", "ANN", str(ann), f"0{ann}", "name:ann"):
        assert [user.id for user in users.list_users(service, [reference]).affected] == [ann]
    missing = users.list_users(service, ["999", "nobody"])
    assert codes(missing) == [(5001, ("999", "nobody"))]


def test_a_name_that_may_not_be_read_is_as_unknown_as_one_that_nobody_has(service: Context) -> None:
    add_user(service, "hidden")
    me = acting(
        service, add_user(service, "me", add_role(service, "me", allow("security:delete", "user:id:7")))
    )
    said = []
    for name in ("hidden", "absent"):
        with pytest.raises(NotFoundError) as missing:
            users.set_run_as(delegate_of_run_as(service), name, True)
        said.append(missing.value.problem.replace(name, "X"))
        failed = users.delete_users(me, [name]).failed
        said.append(failed[0].error.problem.replace(name, "X"))
    assert set(said) == {"user `X` does not exist"}


def delegate_of_run_as(service: Context) -> Context:
    found = service.store.users.find("flagger")
    if found is None:
        role = add_role(service, "flagger", allow("security:edit_run_as", "*:*:*"))
        found = add_user(service, "flagger", role)
    return acting(service, found)


def test_run_as_of_a_user_that_may_not_be_read_is_denied_whether_he_exists_or_not(service: Context) -> None:
    """D 2; a record or another exit code would tell who is there."""
    ann, runner = add_user(service, "ann"), delegate_of_run_as(service)
    for reference in (str(ann), "999"):
        with pytest.raises(DeniedError) as refused:
            users.set_run_as(runner, reference, True)
        assert refused.value.problem == f"permission denied: security:read on user:id:{reference}"
    assert not service.store.users.get(ann).allow_run_as


PROTECTED = [
    pytest.param(lambda c: users.set_run_as(c, "2", False), id="run-as of the web interface"),
    pytest.param(lambda c: users.set_run_as(c, "admin", True), id="run-as of the administrator"),
    pytest.param(lambda c: users.update_user(c, "2", allow_run_as=False), id="run-as by an edit"),
    pytest.param(lambda c: users.update_user(c, "1", name="root"), id="name"),
    pytest.param(lambda c: users.update_user(c, "1", roles=[]), id="roles replaced"),
    pytest.param(lambda c: users.update_user(c, "1", roles=["1", "readonly"]), id="a role more"),
    pytest.param(lambda c: users.link_roles(c, "1", ["readonly"]), id="link"),
    pytest.param(lambda c: users.unlink_roles(c, "2", ["administrator"]), id="unlink"),
]


@pytest.mark.parametrize("step", PROTECTED)
def test_reserved_users_are_protected_from_everybody(service: Context, step: object) -> None:
    assert callable(step)
    before = everything(service)
    with pytest.raises(ConflictError) as refused:
        step(service)
    assert (refused.value.code, "is reserved" in refused.value.problem) == (4008, True)
    assert everything(service) == before


def test_the_password_of_a_reserved_user_may_be_changed_by_an_administrator(service: Context) -> None:
    other = acting(service, add_user(service, "root2", 1))
    users.update_user(other, "admin", password=PASSWORD)
    users.update_user(service, "wui", password=PASSWORD)
    assert passwords.verify(stored_password(service, "admin"), PASSWORD)
    assert passwords.verify(stored_password(service, "wui"), PASSWORD)


def test_reserved_users_and_oneself_are_never_deleted(service: Context) -> None:
    ann, root2 = add_user(service, "ann"), add_user(service, "root2", 1)
    result = users.delete_users(acting(service, root2), ["1", "wui", "ann", "root2"])
    assert [user.id for user in result.affected] == [ann]
    assert codes(result) == [(5004, ("1",)), (5004, ("2",)), (5008, (str(root2),))]
    assert [service.store.users.exists(number) for number in (1, 2, root2, ann)] == [True, True, True, False]


def test_a_stronger_user_cannot_be_deleted_and_the_others_are(service: Context) -> None:
    me = delegate(service, allow("agent:read", "agent:group:web"))
    strong = add_user(service, "strong", add_role(service, "strong", allow("agent:read", "agent:id:*")))
    weak = add_user(service, "weak")
    result = users.delete_users(me, ["strong", "weak"])
    assert [user.id for user in result.affected] == [weak]
    assert codes(result) == [(4000, (str(strong),))]
    assert service.store.users.exists(strong)


def test_naming_nobody_deletes_nobody(service: Context) -> None:
    add_user(service, "ann")
    with pytest.raises(InvalidError, match="`user_ids` is required"):
        users.delete_users(service, None)
    assert users.delete_users(service, []).affected == []
    assert service.store.users.find("ann") is not None


def test_linking_is_idempotent_and_keeps_the_order(service: Context) -> None:
    ann = str(add_user(service, "ann"))
    a, b = add_role(service, "a"), add_role(service, "b")
    users.link_roles(service, ann, ["b", "a"])
    again = users.link_roles(service, ann, ["a", "b"])
    assert [(changed.value.roles, changed.changes, changed.kept) for changed in again.affected] == [
        ((b, a), (), ("a", "b"))
    ]
    users.unlink_roles(service, ann, ["b"])
    gone = users.unlink_roles(service, ann, ["b"])
    assert ([changed.value.roles for changed in gone.affected], gone.error) == ([(a,)], 0)


def test_unknown_roles_fail_and_the_others_are_linked(service: Context) -> None:
    ann, a = str(add_user(service, "ann")), add_role(service, "a")
    result = users.link_roles(service, ann, ["a", "absent"])
    assert [changed.value.roles for changed in result.affected] == [(a,)]
    assert codes(result) == [(4002, ("absent",))]
    nothing = users.link_roles(service, ann, ["absent"])
    assert (nothing.affected, nothing.error) == ([], 1)


def test_an_edit_changes_everything_it_names_at_once(service: Context) -> None:
    ann = str(add_user(service, "ann", add_role(service, "a")))
    b = add_role(service, "b")
    changed = users.update_user(service, ann, name="anna", allow_run_as=True, roles=["b"])
    user = changed.value
    assert (user.name, user.allow_run_as, user.roles) == ("anna", True, (b,))
    assert changed.changes == (
        "name `ann` -> `anna`",
        "may use authorization contexts",
        "role `b` added",
        "role `a` removed",
    )


def test_an_edit_that_fails_changes_nothing(service: Context) -> None:
    ann = str(add_user(service, "ann", add_role(service, "a")))
    before = everything(service)
    with pytest.raises(NotFoundError):
        users.update_user(service, ann, name="anna", allow_run_as=True, roles=["absent"])
    with pytest.raises(ConflictError):
        users.update_user(service, ann, roles=[], name="admin")
    assert everything(service) == before


def test_an_edit_of_nothing_says_so(service: Context) -> None:
    with pytest.raises(InvalidError, match="nothing to change") as refused:
        users.update_user(service, "1")
    assert refused.value.code == 4001


@pytest.mark.parametrize(
    ("blocks", "roles_wanted", "action"),
    [
        pytest.param((), ["a", "b"], "security:update", id="adding needs update on the role"),
        pytest.param((), [], "security:delete", id="removing needs delete on the user"),
        pytest.param(
            (allow("security:delete", "user:id:*"),), [], "security:delete", id="and delete on the role"
        ),
    ],
)
def test_replacing_roles_needs_the_rights_of_linking_and_unlinking(
    service: Context, blocks: tuple[dict[str, object], ...], roles_wanted: list[str], action: str
) -> None:
    a, b = add_role(service, "a"), add_role(service, "b")
    ann = str(add_user(service, "ann", a))
    ids = {"a": str(a), "b": str(b)}
    readable = allow("security:read", "role:id:*")
    role = add_role(service, "me", allow("security:update", "user:id:*"), readable, *blocks)
    me = acting(service, add_user(service, "me", role))
    with pytest.raises(DeniedError) as refused:
        users.update_user(me, ann, roles=[ids[name] for name in roles_wanted])
    assert refused.value.action == action
    assert users.update_user(me, ann, roles=[str(a)]).value.roles == (a,)


def test_a_role_that_the_caller_may_not_read_is_not_shown_and_stays(service: Context) -> None:
    hidden, known = add_role(service, "hidden"), add_role(service, "known")
    ann = add_user(service, "ann", hidden, known)
    rights = allow("security:update", "user:id:*"), allow("security:delete", "user:id:*", "role:id:*")
    role = add_role(service, "me", *rights, allow("security:read", "user:id:*", f"role:id:{known}"))
    me = acting(service, add_user(service, "me", role))
    assert users.list_users(me, [str(ann)]).affected[0].roles == (known,)
    assert users.update_user(me, str(ann), roles=[]).value.roles == ()
    assert service.store.users.roles_of(ann) == (hidden,)


def test_a_failure_never_shows_a_password(service: Context) -> None:
    steps: list[Callable[[], object]] = [
        lambda: users.create_user(service, "admin", PASSWORD),
        lambda: users.update_user(service, "999", password=PASSWORD),
        lambda: users.create_user(service, "ann", "weak-secret"),
    ]
    for step in steps:
        with pytest.raises(MgmtctlError) as refused:
            step()
        said = f"{refused.value} {refused.value.why} {refused.value.fix} {refused.value.facts()}"
        assert PASSWORD not in said
        assert "weak-secret" not in said
