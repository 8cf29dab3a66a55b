"""`mgmtctl who-can`, `users permissions` and `roles show --effective` as command lines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.conftest import Result

Cli = Callable[..., Result]
PASSWORD = "Secret-phrase-1"


@pytest.fixture
def web(admin: Cli) -> Cli:
    """Agents web-1 in web and db-1 in web and db; ann may read those of web and restart those that are not in db."""
    for arguments in (
        ["groups", "create", "web"],
        ["groups", "create", "db"],
        ["agents", "create", "web-1", "--group", "web"],
        ["agents", "create", "db-1", "--group", "db", "--group", "web"],
        ["policies", "create", "web", "--allow", "agent:read,agent:restart", "--on", "agent:group:web"],
        ["policies", "create", "calm", "--deny", "agent:restart", "--on", "agent:group:db"],
        ["roles", "create", "team"],
        ["roles", "add-policy", "team", "web", "calm"],
        ["users", "create", "ann", "--password-stdin", "--role", "team"],
        ["rules", "create", "staff", "-f", "-"],
        ["roles", "add-rule", "team", "staff"],
    ):
        stdin = '{"FIND": {"groups": "web"}}' if arguments[0] == "rules" else PASSWORD
        assert admin(*arguments, stdin=stdin).code == 0, arguments
    return admin


def test_rows_in_a_pipe_have_the_chain(web: Cli) -> None:
    found = web("who-can", "agent:restart", "agent:id:web-1", "--where", "role=team")
    assert (found.code, found.out) == (
        0,
        "user\tvia\trole\tpolicy\tblock\ton\n"
        "ann\tlink\tteam\tweb\tweb\tagent:group:web\n"
        "any context login\trule staff\tteam\tweb\tweb\tagent:group:web\n",
    )


def test_on_a_terminal_those_who_may_by_the_same_stand_together(web: Cli) -> None:
    page = web("who-can", "agent:restart", "agent:id:web-1", terminal=True).out
    assert (
        "users     ann\n"
        "contexts  any context login by rule staff\n"
        "  by role team, policy web, block web: agent:group:web\n"
    ) in page
    assert "contexts  context login of wui by rule wui_stacka_admin, wui_stackb_admin\n" in page


def test_json_has_the_whole_chain(web: Cli) -> None:
    found = web("who-can", "agent:restart", "agent:id:web-1", "--where", "name=ann", "-o", "json").json()
    entry = found[0]["because"][0]
    assert (found[0]["kind"], found[0]["id"], entry["role"]["name"], entry["policy"], entry["resource"]) == (
        "user",
        "100",
        "team",
        {"id": "100", "name": "web", "block": "web"},
        "agent:group:web",
    )


@pytest.mark.parametrize(
    "ask",
    [
        ["who-can", "agent:read", "agent:id:web-1"],
        ["users", "permissions", "ann"],
        ["roles", "show", "team", "--effective"],
    ],
)
def test_rows_leave_the_chain_as_json_to_those_who_select_it(web: Cli, ask: list[str]) -> None:
    assert "because" not in web(*ask, "-o", "csv").out
    assert "because" in web(*ask, "-o", "json").out


def test_ids_of_users_can_be_used_further(web: Cli) -> None:
    ids = web("who-can", "agent:restart", "agent:id:db-1", "--where", "kind=user", "-o", "id").out
    assert ids == "1\n2\n"
    assert web("users", "show", "-", "-o", "value", "--select", "username", stdin=ids).out == "admin\nwui\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["agent:restart", "agent:id:absent"], 5),
        (["agent:raed", "agent:id:web-1"], 2),
        (["agent:read", "*:*:*"], 2),
        (["agent:read"], 2),
        (["agent:read", "agent:id:*", "--where", "nme=ann"], 2),
        (["agent:read", "agent:id:*", "--where", "name=nobody"], 0),
    ],
)
def test_exit_codes(web: Cli, arguments: list[str], code: int) -> None:
    assert web("who-can", *arguments).code == code


def test_black_mode_is_said_to_be_the_reason(web: Cli) -> None:
    from mgmtctl import bootstrap
    from mgmtctl.settings import Settings

    context = bootstrap.open_context(Settings())
    context.store.settings.set("rbac_mode", "black")
    context.store.close()
    found = web("who-can", "group:create", "*:*:*", "--where", "name=ann")
    assert found.out.splitlines()[1] == "ann\tmode black\t\t\t\t"
    assert "note: mode black: whoever has a role may do what no policy denies" in found.err
    page = web("who-can", "group:create", "*:*:*", "--where", "name=ann", terminal=True).out
    assert page == "users     ann\n  by the mode: no policy denies it\n"


def test_what_a_user_may_do_is_a_row_for_each_action(web: Cli) -> None:
    found = web("users", "permissions", "ann")
    assert (found.code, found.out, found.err) == (
        0,
        "action\tresources\texcept\tby\n"
        "agent:read\tagent:group:web\t\tteam/web\n"
        "agent:restart\tagent:group:web\tagent:group:db\tteam/web,team/calm\n",
        "mode white\n",
    )
    only = web("users", "permissions", "ann", "--where", "except!=null", "--select", "action", "--no-headers")
    assert only.out == "agent:restart\n"


def test_on_a_terminal_what_comes_from_the_same_policies_stands_together(web: Cli) -> None:
    page = web("users", "permissions", "ann", terminal=True).out
    assert page == (
        "by team/web\n"
        "  on agent:group:web: agent:read\n"
        "by team/web, team/calm\n"
        "  on agent:group:web, except agent:group:db: agent:restart\n"
    )


def test_permissions_are_a_list_in_json(web: Cli) -> None:
    found = web("users", "permissions", "ann", "-o", "json").json()
    assert [(one["action"], one["resources"], one["except"]) for one in found] == [
        ("agent:read", ["agent:group:web"], []),
        ("agent:restart", ["agent:group:web"], ["agent:group:db"]),
    ]
    assert [entry["effect"] for entry in found[1]["because"]] == ["allow", "deny"]


def test_the_chain_can_be_selected_as_a_column(web: Cli) -> None:
    found = web("users", "permissions", "ann", "--select", "action,because", "-o", "tsv")
    assert '"effect":"deny"' in found.out


def test_one_sees_ones_own_permissions_and_not_those_of_others(web: Cli) -> None:
    assert web("login", "-u", "ann", "--password-stdin", stdin=PASSWORD).code == 0
    own = web("users", "permissions", "ann", "--select", "action,resources,by", "--no-headers")
    assert own.out == "agent:read\tagent:group:web\t\nagent:restart\tagent:group:web\t\n"
    assert web("users", "permissions", "admin").code == 5
    assert web("users", "permissions", "1").code == 6
    assert web("who-can", "agent:read", "agent:id:web-1").out == "user\tvia\trole\tpolicy\tblock\ton\n"


def test_a_role_is_shown_with_its_effect_and_who_gets_it(web: Cli) -> None:
    page = web("roles", "show", "team", "--effective", terminal=True).out
    assert page == (
        "role   team, mode white\n"
        "users  ann\n"
        "rules  staff\n"
        "\n"
        "by team/web\n"
        "  on agent:group:web: agent:read\n"
        "by team/web, team/calm\n"
        "  on agent:group:web, except agent:group:db: agent:restart\n"
    )
    piped = web("roles", "show", "team", "--effective")
    assert piped.out == (
        "role\taction\tresources\texcept\tby\n"
        "team\tagent:read\tagent:group:web\t\tteam/web\n"
        "team\tagent:restart\tagent:group:web\tagent:group:db\tteam/web,team/calm\n"
    )
    assert piped.err == "role   team, mode white\nusers  ann\nrules  staff\n"


def test_the_effect_of_roles_in_json_is_the_record_and_more(web: Cli) -> None:
    record = web("roles", "show", "team", "--effective", "-o", "json").json()
    plain = web("roles", "show", "team", "-o", "json").json()
    assert {name: record[name] for name in plain} == plain
    assert (record["mode"], record["held_by"]["users"]) == ("white", [{"id": "100", "name": "ann"}])
    several = web("roles", "show", "team", "agents_admin", "--effective", "-o", "json").json()
    assert [one["name"] for one in several] == ["team", "agents_admin"]
    assert web("roles", "show", "absent", "--effective").code == 5
