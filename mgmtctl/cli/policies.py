"""`mgmtctl policies`: which actions on which resources are allowed or denied."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mgmtctl.cli import single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import PARTLY
from mgmtctl.cli.options import NewName, PolicyRef, PolicyRefs
from mgmtctl.cli.risks import AcceptRisk, accepted
from mgmtctl.domain.errors import QuestionError

noun = Noun("policies", "Policies: which actions on which resources.")

SOME = {PARTLY: "some failed (they are listed)"}
COLUMNS = ("id", "name", "roles")
NewNameOption = typer.Option("--name", metavar="NAME", help="The new name.", show_default=False)
PolicyFile = typer.Option(
    "-f", "--file", metavar="FILE", help="The policy as JSON or YAML; `-` is stdin.", show_default=False
)
ACTIONS_METAVAR = "ACTION[,ACTION]"
Allow = typer.Option("--allow", metavar=ACTIONS_METAVAR, help="Allow these actions.", show_default=False)
Deny = typer.Option("--deny", metavar=ACTIONS_METAVAR, help="Deny these actions.", show_default=False)
On = typer.Option(
    "--on", metavar="RESOURCE[,RESOURCE]", help="The resources of the actions.", show_default=False
)
BlockName = typer.Option(
    "--block", metavar="NAME", help="Into this block, instead of one of its own.", show_default=False
)


@noun.list(
    examples=["mgmtctl policies list", "mgmtctl policies list --search agent:group -o json"], columns=COLUMNS
)
def list_(session: CliSession) -> None:
    """List the policies you may read."""
    from mgmtctl.operations import policies

    session.show(single.readable(session, policies.list_policies(session.context, query=session.query)))


@noun.read("show", examples=["mgmtctl policies show agents_read -o yaml"], columns=COLUMNS, exits=SOME)
def show(session: CliSession, policy: Annotated[list[str], PolicyRefs]) -> None:
    """Show policies with all their blocks, and the roles that have them (as ids in JSON)."""
    from mgmtctl.operations import policies

    found = policies.list_policies(session.context, session.refs(policy))
    session.show(single.unwrapped(single.readable(session, found, _page), policy))


@noun.write(
    "create",
    examples=[
        "mgmtctl policies create web-read --allow agent:read --on agent:group:web",
        "mgmtctl policies create calm --deny agent:restart --on agent:group:db",
        "mgmtctl policies create web-team -f web-team.yaml",
    ],
)
def create(
    session: CliSession,
    name: Annotated[str, NewName],
    file: Annotated[str | None, PolicyFile] = None,
    allow: Annotated[str | None, Allow] = None,
    deny: Annotated[str | None, Deny] = None,
    on: Annotated[str | None, On] = None,
) -> None:
    """Create a policy from a file, or with one block from the command line.

    A file holds {"blocks": {NAME: BLOCK}}, {"policy": BLOCK}, one BLOCK, or BLOCKs by name, where BLOCK is
    {"actions": [...], "resources": [...], "effect": "allow" or "deny"}.
    """
    from mgmtctl.operations import policies

    context = session.context
    if file is None:
        policy = policies.create_policy(context, name, _block(allow, deny, on, "`-f FILE`, or "))
    else:
        if allow is not None or deny is not None or on is not None:
            raise QuestionError("`--file` excludes `--allow`, `--deny` and `--on`")
        from mgmtctl.cli.documents import read_document

        document = read_document(session, file, yaml=True)
        policy = document.given_to(lambda value: policies.create_policy(context, name, value))
    text = f"policy `{policy.name}` with id {policy.policy.id}"
    session.done(f"created {text}", policy, would=f"would create {text}")


@noun.write(
    "set",
    examples=["mgmtctl policies set web-team -f web-team.yaml", "mgmtctl policies set web-team --name web"],
)
def set_(
    session: CliSession,
    policy: Annotated[str, PolicyRef],
    name: Annotated[str | None, NewNameOption] = None,
    file: Annotated[str | None, PolicyFile] = None,
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Rename a policy, or replace all its blocks by those of a file.

    Of the file, the blocks count; its id, name and roles do not.
    """
    from mgmtctl.operations import policies

    others = "`mgmtctl roles add-policy` and `remove-policy` change which roles have it"
    single.require_some(name is not None or file is not None, others)
    context, risks = session.context, accepted(accept_risk)
    if file is None:
        changed = policies.update_policy(context, policy, name, accept_risk=risks)
    else:
        from mgmtctl.cli.documents import read_document

        document = read_document(session, file, yaml=True)
        changed = document.given_to(
            lambda value: policies.update_policy(context, policy, name, value, accept_risk=risks)
        )
    single.tell_changed(session, f"policy `{changed.value.name}`", changed)


@noun.write(
    "add-entry",
    examples=[
        "mgmtctl policies add-entry web-team --allow agent:read --on agent:group:web",
        "mgmtctl policies add-entry web-team --deny agent:restart --on agent:id:1",
    ],
)
def add_entry(
    session: CliSession,
    policy: Annotated[str, PolicyRef],
    allow: Annotated[str | None, Allow] = None,
    deny: Annotated[str | None, Deny] = None,
    on: Annotated[str | None, On] = None,
    block: Annotated[str | None, BlockName] = None,
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Let a policy allow or deny each of some actions on each of some resources, beside what it says.

    Entries that it has already are left as they are. `-n` shows who gains or loses by it.
    """
    from mgmtctl.operations import policies

    said = _block(allow, deny, on)
    changed = policies.add_entries(
        session.context, policy, **said, block=block, accept_risk=accepted(accept_risk)
    )
    single.tell_changed(session, f"policy `{changed.value.name}`", changed)


@noun.write(
    "remove-entry",
    examples=["mgmtctl policies remove-entry web-files --allow agent:read --on agent:id:1"],
)
def remove_entry(
    session: CliSession,
    policy: Annotated[str, PolicyRef],
    allow: Annotated[str | None, Allow] = None,
    deny: Annotated[str | None, Deny] = None,
    on: Annotated[str | None, On] = None,
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Let a policy no longer allow, or no longer deny, these actions on exactly these resources.

    Whatever else its blocks say stays; a block is split where it must. Wildcards are not: `agent:id:042` cannot be
    taken out of `agent:id:*`. Entries that it does not have are no error.
    """
    from mgmtctl.operations import policies

    said = _block(allow, deny, on)
    changed = policies.remove_entries(session.context, policy, **said, accept_risk=accepted(accept_risk))
    single.tell_changed(session, f"policy `{changed.value.name}`", changed)


@noun.write("edit", examples=["mgmtctl policies edit web-team"])
def edit(
    session: CliSession,
    policy: Annotated[str, PolicyRef],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Edit name and blocks of a policy as JSON in $VISUAL or $EDITOR; it is checked before it is saved."""
    from mgmtctl.cli import documents, editor
    from mgmtctl.operations import policies

    context, risks = session.context, accepted(accept_risk)

    def read() -> dict[str, Any]:
        record = single.only(policies.list_policies(context, [policy])).record()
        return {key: record[key] for key in ("name", "blocks")}

    def save(document: documents.Document) -> None:
        name = documents.text_field(document, "name")
        changed = document.given_to(
            lambda value: policies.update_policy(context, policy, name, value, accept_risk=risks)
        )
        single.tell_changed(session, f"policy `{changed.value.name}`", changed)

    editor.edit(session, "policies", f"policy `{policy}`", read, save)


@noun.write(
    "delete",
    asks=True,
    examples=["mgmtctl policies delete web-team", "mgmtctl policies delete 101 --yes"],
    exits=SOME,
)
def delete(
    session: CliSession,
    policy: Annotated[list[str], PolicyRefs],
    accept_risk: Annotated[list[str] | None, AcceptRisk] = None,
) -> None:
    """Delete policies; roles that have them lose them."""
    from mgmtctl.operations import policies

    references, context = session.refs(policy), session.context
    session.confirm(f"delete {single.several('policy', 'policies', references)}")
    deleted = policies.delete_policies(context, references, accepted(accept_risk))
    single.tell_deleted(session, "policy", "policies", deleted)


def _page(policy: single.Row) -> str:
    """The policy on a terminal: each action and each resource of its blocks on a line."""
    parts = [single.sheet([("id", policy["id"]), ("name", policy["name"]), ("roles", policy["roles"])])]
    for name, block in policy["blocks"].items():
        rows = [(key, block[key]) for key in ("effect", "actions", "resources")]
        parts += [f"block {name}", single.sheet(rows, "  ")]
    return "\n".join(parts)


def _block(allow: str | None, deny: str | None, on: str | None, file: str = "") -> dict[str, Any]:
    """The one block that the options describe; QuestionError, naming `file` beside, when they describe none."""
    if (allow is None) == (deny is None) or on is None:
        either = "a file, or " if file else ""
        raise QuestionError(
            f"expected {either}actions with resources",
            fix=f"{file}one of `--allow` and `--deny` together with `--on`",
        )
    return {
        "actions": _parts(allow or deny or ""),
        "resources": _parts(on),
        "effect": "deny" if allow is None else "allow",
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
