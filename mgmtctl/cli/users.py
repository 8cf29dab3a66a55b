"""`mgmtctl users`: users, their roles, passwords and the right to use authorization contexts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mgmtctl.cli import held, single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import NOT_FOUND, PARTLY
from mgmtctl.cli.new_password import hand_over, new_password
from mgmtctl.cli.options import NewName, PasswordFile, PasswordStdin, RoleRefs, UserRef, UserRefs
from mgmtctl.cli.risks import AcceptRisk, accepted
from mgmtctl.domain.errors import QuestionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mgmtctl.store.users import User

noun = Noun("users", "Users, their roles and passwords.")

SOME = {PARTLY: "some failed (they are listed)"}
COLUMNS = ("id", "username", "allow_run_as", "roles")
FIELDS = {"allow_run_as": bool, "roles": list}
Generate = typer.Option(
    "--generate", help="Make up a password and show it once, on stdout.", show_default=False
)
NewNameOption = typer.Option("--name", metavar="NAME", help="The new name.", show_default=False)
RecordFile = typer.Option(
    "-f",
    "--file",
    metavar="FILE",
    help="JSON with `allow_run_as` and `roles` to have; `-` is stdin.",
    show_default=False,
)


@noun.list(
    examples=["mgmtctl users list", "mgmtctl users list --where allow_run_as=true -o json"], columns=COLUMNS
)
def list_(session: CliSession) -> None:
    """List the users you may read."""
    from mgmtctl.operations import users

    session.show(single.readable(session, users.list_users(session.context, query=session.query)))


@noun.read(
    "show",
    examples=["mgmtctl users show admin", "mgmtctl users show 1 2 -o json"],
    columns=COLUMNS,
    exits=SOME,
)
def show(session: CliSession, user: Annotated[list[str], UserRefs]) -> None:
    """Show users with their roles (as ids in JSON); never a password."""
    from mgmtctl.operations import users

    found = users.list_users(session.context, session.refs(user))
    session.show(single.unwrapped(single.readable(session, found), user))


@noun.list(
    "permissions",
    examples=[
        "mgmtctl users permissions ann",
        "mgmtctl users permissions ann --where action~security -o json",
    ],
    columns=held.COLUMNS,
    exits={NOT_FOUND: "no such user"},
)
def permissions(session: CliSession, user: Annotated[str, UserRef]) -> None:
    """List every action that a user may do after a login of his own: on what, except what, by which role and policy.

    On a terminal what comes from the same policies stands together; JSON has each entry that allows or denies as
    `because`. You may always ask about yourself.
    """
    from mgmtctl.operations import reach

    found = reach.user_permissions(session.context, user, query=session.query)
    if held.is_page(session):
        session.output.page(held.page(found.affected))
    else:
        session.show(held.in_short(session, found))
    for note in found.notes:
        session.say(note)


@noun.write(
    "create",
    examples=[
        "mgmtctl users create ann --role readonly",
        "mgmtctl users create ann --generate",
        "mgmtctl users create ci --password-file ci.password --role agents_readonly",
    ],
)
def create(
    session: CliSession,
    name: Annotated[str, NewName],
    role: Annotated[
        list[str] | None,
        typer.Option(
            "--role", metavar="ROLE", help="Give it this role; may be repeated.", show_default=False
        ),
    ] = None,
    allow_run_as: Annotated[
        bool,
        typer.Option("--allow-run-as", help="Allow it to use authorization contexts.", show_default=False),
    ] = False,
    password_file: Annotated[Path | None, PasswordFile] = None,
    password_stdin: Annotated[bool, PasswordStdin] = False,
    generate: Annotated[bool, Generate] = False,
) -> None:
    """Create a user. The password is asked for at a terminal, read from a file or stdin, or generated.

    A password has 8 to 64 characters, among them a lower-case letter, an upper-case letter, a digit and a symbol.
    """
    from mgmtctl.operations import users

    context = session.context
    password = _password(session, password_file, password_stdin, generate)
    show = _showing(session, password, generate)
    user = users.create_user(context, name, password, role or (), allow_run_as, show)
    text = f"user `{user.name}` with id {user.id}"
    session.done(f"created {text}", None if show else user, would=f"would create {text}")


@noun.write("set", examples=["mgmtctl users set ann --name anna", "mgmtctl users set ann -f ann.json"])
def set_(
    session: CliSession,
    user: Annotated[str, UserRef],
    name: Annotated[str | None, NewNameOption] = None,
    file: Annotated[str | None, RecordFile] = None,
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Rename a user, or give it exactly the roles and the run-as right of a file.

    Of the file, `allow_run_as` and `roles` count; its id and username do not.
    """
    from mgmtctl.operations import users

    others = "`mgmtctl users add-role`, `remove-role`, `allow-run-as` and `set-password` change the rest"
    single.require_some(name is not None or file is not None, others)
    given: dict[str, Any] = {}
    if file is not None:
        from mgmtctl.cli.documents import fields, read_document

        given = fields(read_document(session, file), FIELDS, ("id", "username"))
    changed = users.update_user(session.context, user, name=name, **given, accept_risk=accepted(accept_risk))
    single.tell_changed(session, f"user `{changed.value.name}`", changed)


@noun.write("edit", examples=["mgmtctl users edit ann"])
def edit(
    session: CliSession,
    user: Annotated[str, UserRef],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Edit name, run-as right and roles of a user as JSON in $VISUAL or $EDITOR."""
    from mgmtctl.cli import documents, editor
    from mgmtctl.operations import users

    context, risks = session.context, accepted(accept_risk)

    def read() -> dict[str, Any]:
        record = single.only(users.list_users(context, [user])).record()
        return {key: record[key] for key in ("username", *FIELDS)}

    def save(document: documents.Document) -> None:
        given = documents.fields(document, {"username": str, **FIELDS})
        name = given.pop("username", None)
        changed = users.update_user(context, user, name=name, **given, accept_risk=risks)
        single.tell_changed(session, f"user `{changed.value.name}`", changed)

    editor.edit(session, "users", f"user `{user}`", read, save)


@noun.write(
    "delete",
    asks=True,
    examples=["mgmtctl users delete ann", "mgmtctl users delete ann bob --yes"],
    exits=SOME,
)
def delete(
    session: CliSession,
    user: Annotated[list[str], UserRefs],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Delete users and end their sessions. You cannot delete yourself."""
    from mgmtctl.operations import users

    references, context = session.refs(user), session.context
    session.confirm(f"delete {single.several('user', 'users', references)}")
    single.tell_deleted(
        session, "user", "users", users.delete_users(context, references, accepted(accept_risk))
    )


@noun.write("add-role", examples=["mgmtctl users add-role ann readonly agents_admin"], exits=SOME)
def add_role(
    session: CliSession,
    user: Annotated[str, UserRef],
    role: Annotated[list[str], RoleRefs],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Give roles to a user; one it has already is no error."""
    from mgmtctl.operations import users

    changed = users.link_roles(session.context, user, session.refs(role), accepted(accept_risk))
    single.tell_linked(session, "user", "role", "roles", changed, "has {} already")


@noun.write("remove-role", examples=["mgmtctl users remove-role ann agents_admin"], exits=SOME)
def remove_role(
    session: CliSession,
    user: Annotated[str, UserRef],
    role: Annotated[list[str], RoleRefs],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Take roles from a user; one it has not is no error."""
    from mgmtctl.operations import users

    changed = users.unlink_roles(session.context, user, session.refs(role), accepted(accept_risk))
    single.tell_linked(session, "user", "role", "roles", changed, "does not have {}")


@noun.write(
    "set-password",
    examples=[
        "mgmtctl users set-password ann",
        "mgmtctl users set-password ann --generate",
        "mgmtctl users set-password ann --password-file new.password",
    ],
)
def set_password(
    session: CliSession,
    user: Annotated[str, UserRef],
    password_file: Annotated[Path | None, PasswordFile] = None,
    password_stdin: Annotated[bool, PasswordStdin] = False,
    generate: Annotated[bool, Generate] = False,
) -> None:
    """Change the password of a user and end its sessions.

    A generated password is on stdout before anything is changed; when it cannot be written there, nothing is.
    """
    from mgmtctl.operations import users

    context = session.context
    password = _password(session, password_file, password_stdin, generate)
    show = _showing(session, password, generate)
    changed = users.update_user(context, user, password=password, show=show)
    text = f"the password of user `{changed.value.name}`"
    done = f"changed {text}{_ended(changed.sessions)}"
    session.done(done, None if show else changed, would=f"would change {text}")


@noun.write(
    "allow-run-as", examples=["mgmtctl users allow-run-as portal", "mgmtctl users allow-run-as portal --off"]
)
def allow_run_as(
    session: CliSession,
    user: Annotated[str, UserRef],
    off: Annotated[bool, typer.Option("--off", help="Forbid it instead.", show_default=False)] = False,
) -> None:
    """Allow a user to log in with authorization contexts, on behalf of others.

    It counts as holding every role that a rule of your own leads to, so you must hold all of that.
    """
    from mgmtctl.operations import users

    changed = users.set_run_as(session.context, user, not off)
    who, negation = f"user `{changed.value.name}`", "not " if off else ""
    if changed.changes:
        rest = f"{negation}be allowed to use authorization contexts"
        session.done(f"{who} may {negation}use authorization contexts", changed, would=f"{who} would {rest}")
    else:
        session.done(f"nothing to change: {who} may {negation}use authorization contexts", changed)


def _password(session: CliSession, file: Path | None, stdin: bool, generate: bool) -> str:
    if generate and (file is not None or stdin):
        raise QuestionError("`--generate` excludes `--password-file` and `--password-stdin`")
    return new_password(session, file, stdin, generate)


def _showing(session: CliSession, password: str, generate: bool) -> Callable[[User], None] | None:
    """What tells a generated password: by itself on stdout, or in the record that was asked for."""
    if not generate or session.dry_run:
        return None
    return lambda user: hand_over(session, password, user.record())


def _ended(sessions: int | None) -> str:
    if sessions is None:
        return ""
    return f"; ended {sessions or 'no'} session{'' if sessions == 1 else 's'}"
