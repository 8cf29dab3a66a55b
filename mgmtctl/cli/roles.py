"""`mgmtctl roles`: roles, and the policies and rules they are linked to."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mgmtctl.cli import held, single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import PARTLY
from mgmtctl.cli.options import NewName, PolicyRefs, RoleRef, RoleRefs, RuleRefs
from mgmtctl.cli.risks import AcceptRisk, accepted

noun = Noun("roles", "Roles, and the policies and rules they are linked to.")

SOME = {PARTLY: "some failed (they are listed)"}
COLUMNS = ("id", "name", "users", "rules", "policies")
FIELDS = {"policies": list, "rules": list}
Effective = typer.Option("--effective", help="Show what they allow, and who gets it.", show_default=False)
NewNameOption = typer.Option("--name", metavar="NAME", help="The new name.", show_default=False)
RecordFile = typer.Option(
    "-f",
    "--file",
    metavar="FILE",
    help="JSON with `policies` and `rules` to have; `-` is stdin.",
    show_default=False,
)


@noun.list(
    examples=["mgmtctl roles list", "mgmtctl roles list --where 'name~agents' -o json"], columns=COLUMNS
)
def list_(session: CliSession) -> None:
    """List the roles you may read."""
    from mgmtctl.operations import roles

    session.show(single.readable(session, roles.list_roles(session.context, query=session.query)))


@noun.read(
    "show",
    examples=["mgmtctl roles show readonly -o yaml", "mgmtctl roles show agents_admin --effective"],
    columns=COLUMNS,
    exits=SOME,
)
def show(
    session: CliSession, role: Annotated[list[str], RoleRefs], effective: Annotated[bool, Effective] = False
) -> None:
    """Show roles with their policies, users and rules (as ids in JSON).

    With --effective, all that each role allows by itself: on what, except what, by which policy; and who gets it.
    """
    from mgmtctl.operations import roles

    if effective:
        return held.show_roles(session, session.refs(role))
    found = roles.list_roles(session.context, session.refs(role))
    return session.show(single.unwrapped(single.readable(session, found, _page), role))


@noun.write("create", examples=["mgmtctl roles create web-team"])
def create(session: CliSession, name: Annotated[str, NewName]) -> None:
    """Create a role; link policies to it afterwards."""
    from mgmtctl.operations import roles

    role = roles.create_role(session.context, name)
    text = f"role `{role.name}` with id {role.id}"
    session.done(f"created {text}", role, would=f"would create {text}")


@noun.write(
    "set", examples=["mgmtctl roles set web-team --name web", "mgmtctl roles set web-team -f web-team.json"]
)
def set_(
    session: CliSession,
    role: Annotated[str, RoleRef],
    name: Annotated[str | None, NewNameOption] = None,
    file: Annotated[str | None, RecordFile] = None,
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Rename a role, or give it exactly the policies and rules of a file.

    Of the file, `policies` and `rules` count; its id, name and users do not.
    """
    from mgmtctl.operations import roles

    others = "`mgmtctl roles add-policy`, `remove-policy`, `add-rule` and `remove-rule` change the rest"
    single.require_some(name is not None or file is not None, others)
    given: dict[str, Any] = {}
    if file is not None:
        from mgmtctl.cli.documents import fields, read_document

        given = fields(read_document(session, file), FIELDS, ("id", "name", "users"))
    changed = roles.update_role(session.context, role, name, **given, accept_risk=accepted(accept_risk))
    single.tell_changed(session, f"role `{changed.value.name}`", changed)


@noun.write("edit", examples=["mgmtctl roles edit web-team"])
def edit(
    session: CliSession,
    role: Annotated[str, RoleRef],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Edit name, policies and rules of a role as JSON in $VISUAL or $EDITOR."""
    from mgmtctl.cli import documents, editor
    from mgmtctl.operations import roles

    context, risks = session.context, accepted(accept_risk)

    def read() -> dict[str, Any]:
        record = single.only(roles.list_roles(context, [role])).record()
        return {key: record[key] for key in ("name", "policies", "rules")}

    def save(document: documents.Document) -> None:
        given = documents.fields(document, {"name": str, **FIELDS})
        changed = roles.update_role(context, role, **given, accept_risk=risks)
        single.tell_changed(session, f"role `{changed.value.name}`", changed)

    editor.edit(session, "roles", f"role `{role}`", read, save)


@noun.write(
    "delete",
    asks=True,
    examples=["mgmtctl roles delete web-team", "mgmtctl roles delete 101 102 --yes"],
    exits=SOME,
)
def delete(
    session: CliSession,
    role: Annotated[list[str], RoleRefs],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Delete roles; users and rules that have them lose them."""
    from mgmtctl.operations import roles

    references, context = session.refs(role), session.context
    session.confirm(f"delete {single.several('role', 'roles', references)}")
    single.tell_deleted(
        session, "role", "roles", roles.delete_roles(context, references, accepted(accept_risk))
    )


@noun.write("add-policy", examples=["mgmtctl roles add-policy web-team agents_read web-files"], exits=SOME)
def add_policy(
    session: CliSession,
    role: Annotated[str, RoleRef],
    policy: Annotated[list[str], PolicyRefs],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Give policies to a role; one it has already is no error."""
    from mgmtctl.operations import roles

    changed = roles.link_policies(session.context, role, session.refs(policy), accepted(accept_risk))
    single.tell_linked(session, "role", "policy", "policies", changed, "has {} already")


@noun.write("remove-policy", examples=["mgmtctl roles remove-policy web-team agents_read"], exits=SOME)
def remove_policy(
    session: CliSession,
    role: Annotated[str, RoleRef],
    policy: Annotated[list[str], PolicyRefs],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Take policies from a role; one it has not is no error."""
    from mgmtctl.operations import roles

    changed = roles.unlink_policies(session.context, role, session.refs(policy), accepted(accept_risk))
    single.tell_linked(session, "role", "policy", "policies", changed, "does not have {}")


@noun.write("add-rule", examples=["mgmtctl roles add-rule web-team staff-of-web"], exits=SOME)
def add_rule(
    session: CliSession, role: Annotated[str, RoleRef], rule: Annotated[list[str], RuleRefs]
) -> None:
    """Let rules lead to a role: a context login for which one is true gets the role."""
    from mgmtctl.operations import roles

    changed = roles.link_rules(session.context, role, session.refs(rule))
    single.tell_linked(session, "role", "rule", "rules", changed, "has {} already")


@noun.write("remove-rule", examples=["mgmtctl roles remove-rule web-team staff-of-web"], exits=SOME)
def remove_rule(
    session: CliSession, role: Annotated[str, RoleRef], rule: Annotated[list[str], RuleRefs]
) -> None:
    """Let rules lead to a role no more."""
    from mgmtctl.operations import roles

    changed = roles.unlink_rules(session.context, role, session.refs(rule))
    single.tell_linked(session, "role", "rule", "rules", changed, "does not have {}")


def _page(role: single.Row) -> str:
    """The role on a terminal: each policy, user and rule on a line."""
    return single.sheet([(name, role[name]) for name in COLUMNS])
