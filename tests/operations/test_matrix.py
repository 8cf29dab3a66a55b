"""The grid over a real service: whose it is, which columns it has, what it counts."""

from __future__ import annotations

from typing import Any

import pytest

from mgmtctl.domain.errors import DeniedError, NotFoundError, QuestionError
from mgmtctl.domain.matrix import ALLOWED, DENIED, NO, PARTLY, Cell
from mgmtctl.operations import agents, groups, matrix
from mgmtctl.operations.context import Context
from tests.operations.access_world import acting, add_role, add_user, allow, deny


@pytest.fixture
def service(anonymous: Context) -> Context:
    """Agents 001 and 002 in web, 002 in db too; the role web reads those of web but not those of db."""
    ctx = acting(anonymous, 1)
    for name in ("web", "db", "pci"):
        groups.create_group(ctx, name)
    agents.create_agent(ctx, "web-1", groups=["web"])
    agents.create_agent(ctx, "db-1", groups=["web", "db"])
    web = add_role(
        ctx,
        "web",
        allow("agent:read", "agent:group:web"),
        deny("agent:read", "agent:group:db"),
        allow("group:read", "group:id:web"),
        allow("agent:delete", "agent:id:001", "agent:id:002"),
    )
    add_user(ctx, "ann", web)
    return ctx


def cells(found: matrix.Matrix, action: str) -> dict[str, Cell]:
    return dict(next(row.cells for row in found.rows if row.action == action))


def test_by_group_there_is_a_column_for_each_group(service: Context) -> None:
    found = matrix.access_matrix(service, role="web", by="group")
    assert (found.subject, found.mode, found.columns) == (
        "role web",
        "white",
        ("db", "default", "pci", "web"),
    )
    assert cells(found, "agent:read") == {
        "db": Cell(DENIED, 0, 1),
        "default": Cell(NO, 0, 0),
        "pci": Cell(NO, 0, 0),
        "web": Cell(PARTLY, 1, 2),
    }
    assert cells(found, "group:read")["web"] == Cell(ALLOWED)


def test_the_user_has_what_the_roles_give(service: Context) -> None:
    by_user = matrix.access_matrix(service, user="ann", by="group")
    by_role = matrix.access_matrix(service, role="web", by="group")
    assert (by_user.subject, by_user.rows) == ("user ann", by_role.rows)


def test_actions_that_are_nowhere_allowed_are_left_out_and_counted(service: Context) -> None:
    found = matrix.access_matrix(service, role="web", by="group")
    every = matrix.access_matrix(service, role="web", by="group", every=True)
    assert [row.action for row in found.rows] == ["agent:delete", "agent:read", "group:read"]
    assert (found.left_out, every.left_out) == (len(every.rows) - 3, 0)


def test_groups_may_be_named(service: Context) -> None:
    assert matrix.access_matrix(service, role="web", by="group", groups=["web", "db"]).columns == (
        "web",
        "db",
    )
    with pytest.raises(NotFoundError):
        matrix.access_matrix(service, role="web", by="group", groups=["absent"])


def test_by_resource_there_is_a_column_for_what_policies_name(service: Context) -> None:
    found = matrix.access_matrix(service, role="web")
    assert found.columns == (
        *("agent:id:*", "agent:group:db", "agent:group:web", "agent:id:001", "agent:id:002"),
        *("group:id:*", "group:id:web"),
    )
    assert cells(found, "agent:read")["agent:id:001"] == Cell(ALLOWED)
    assert cells(found, "agent:read")["agent:id:002"] == Cell(DENIED)
    assert cells(found, "agent:delete")["agent:group:web"] == Cell(PARTLY, 2, 2)


def test_only_readable_groups_and_agents_count(service: Context) -> None:
    role = add_role(
        service,
        "reader",
        allow("security:read", "role:id:*", "policy:id:*"),
        allow("group:read", "group:id:web"),
        allow("agent:read", "agent:id:001"),
    )
    reader = acting(service, add_user(service, "reader", role))
    found = matrix.access_matrix(reader, role="web", by="group")
    assert (found.columns, cells(found, "agent:read")["web"]) == (("web",), Cell(ALLOWED, 1, 1))
    assert found.notes == ("only agents that you may read are counted",)
    everything = (matrix.access_matrix(service, role="web", by=by).complete for by in ("group", "resource"))
    assert (found.complete, all(everything)) == (False, True)
    assert "agent:id:002" not in matrix.access_matrix(reader, role="web").columns
    with pytest.raises(NotFoundError, match="group `db` does not exist"):
        matrix.access_matrix(reader, role="web", by="group", groups=["db"])


def test_what_a_hidden_policy_names_makes_no_column(service: Context) -> None:
    role = add_role(service, "reader", allow("security:read", "role:id:*"), allow("agent:read", "agent:id:*"))
    reader = acting(service, add_user(service, "reader", role))
    assert matrix.access_matrix(reader, role="web").columns == ()


def test_the_role_or_user_must_be_readable(service: Context) -> None:
    ann = acting(service, 100)
    with pytest.raises(DeniedError):
        matrix.access_matrix(ann, role="100")
    with pytest.raises(NotFoundError):
        matrix.access_matrix(ann, user="admin")


def test_one_sees_the_grid_of_oneself_without_a_right(service: Context) -> None:
    ann = acting(service, 100)
    for me in ("ann", "100"):
        found = matrix.access_matrix(ann, user=me)
        assert (found.subject, "agent:group:db" in found.columns) == ("user ann", True)
        assert "agent:id:002" not in found.columns
    with pytest.raises(NotFoundError):
        matrix.access_matrix(acting(service, 100, roles=(100,)), user="ann")


@pytest.mark.parametrize(
    "question",
    [{}, {"role": "web", "user": "ann"}, {"role": "web", "by": "agent"}],
    ids=["none", "both", "axis"],
)
def test_a_question_names_one_subject_and_a_known_axis(service: Context, question: dict[str, Any]) -> None:
    with pytest.raises(QuestionError):
        matrix.access_matrix(service, **question)


def test_a_user_without_roles_may_do_nothing(service: Context) -> None:
    add_user(service, "eve")
    service.store.settings.set("rbac_mode", "black")
    found = matrix.access_matrix(service, user="eve", by="group")
    assert (found.rows, found.notes) == ((), ("no role: everything is denied in both modes",))


def test_a_reader_of_users_alone_is_told_that_columns_are_left_out(service: Context) -> None:
    role = add_role(service, "users", allow("security:read", "user:id:*"))
    found = matrix.access_matrix(acting(service, add_user(service, "users", role)), user="ann")
    assert "left out are columns that only roles and policies name that you may not read" in found.notes
