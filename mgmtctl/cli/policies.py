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
    allow: Annotated[
        str | None,
        typer.Option("--allow", metavar=ACTIONS_METAVAR, help="Allow these actions.", show_default=False),
    ] = None,
    deny: Annotated[
        str | None,
        typer.Option("--deny", metavar=ACTIONS_METAVAR, help="Deny these actions.", show_default=False),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option(
            "--on", metavar="RESOURCE[,RESOURCE]", help="The resources of the actions.", show_default=False
        ),
    ] = None,
) -> None:
    """Create a policy from a file, or with one block from the command line.

    A file holds {"blocks": {NAME: BLOCK}}, {"policy": BLOCK}, one BLOCK, or BLOCKs by name, where BLOCK is
    {"actions": [...], "resources": [...], "effect": "allow" or "deny"}.
    """
    from mgmtctl.operations import policies

    context = session.context
    if file is None:
        policy = policies.create_policy(context, name, _block(allow, deny, on))
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


def _block(allow: str | None, deny: str | None, on: str | None) -> dict[str, object]:
    """The one block that the options describe; QuestionError when they describe none."""
    if (allow is None) == (deny is None) or on is None:
        raise QuestionError(
            "expected a file, or actions with resources",
            fix="`-f FILE`, or one of `--allow` and `--deny` together with `--on`",
        )
    return {
        "actions": _parts(allow or deny or ""),
        "resources": _parts(on),
        "effect": "deny" if allow is None else "allow",
    }


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
