"""`mgmtctl rules`: rules that map authorization contexts to roles."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mgmtctl.cli import single
from mgmtctl.cli.commands import CliSession, Noun
from mgmtctl.cli.exit_codes import PARTLY
from mgmtctl.cli.options import NewName, RuleRef, RuleRefs

noun = Noun("rules", "Rules that map authorization contexts to roles.")

SOME = {PARTLY: "some failed (they are listed)"}
COLUMNS = ("id", "name", "roles")
NewNameOption = typer.Option("--name", metavar="NAME", help="The new name.", show_default=False)
RuleFile = typer.Option(
    "-f",
    "--file",
    metavar="FILE",
    help="JSON or YAML: an expression, a list of them, or a record with `rule` or `rules`; `-` is stdin.",
    show_default=False,
)


@noun.list(examples=["mgmtctl rules list", "mgmtctl rules list --search north -o json"], columns=COLUMNS)
def list_(session: CliSession) -> None:
    """List the rules you may read."""
    from mgmtctl.operations import rules

    session.show(single.readable(session, rules.list_rules(session.context, query=session.query)))


@noun.read("show", examples=["mgmtctl rules show wui_stacka_admin -o json"], columns=COLUMNS, exits=SOME)
def show(session: CliSession, rule: Annotated[list[str], RuleRefs]) -> None:
    """Show rules with their expressions, and the roles they lead to (as ids in JSON)."""
    from mgmtctl.operations import rules

    found = rules.list_rules(session.context, session.refs(rule))
    session.show(single.unwrapped(single.readable(session, found, _page, hidden="rule"), rule))


@noun.write("create", examples=["mgmtctl rules create staff-of-web -f staff.json"])
def create(session: CliSession, name: Annotated[str, NewName], file: Annotated[str, RuleFile]) -> None:
    """Create a rule from a file; then `mgmtctl roles add-rule ROLE RULE` lets it lead to a role.

    A rule is true for a context when any of its expressions is. `mgmtctl help rules` says how they are written.
    """
    from mgmtctl.cli.documents import read_document
    from mgmtctl.operations import rules

    context = session.context
    document = read_document(session, file, yaml=True)
    rule = document.given_to(lambda value: rules.create_rule(context, name, value))
    text = f"rule `{rule.name}` with id {rule.id}"
    session.done(f"created {text}", rule, would=f"would create {text}")


@noun.write(
    "set",
    examples=["mgmtctl rules set staff-of-web -f staff.json", "mgmtctl rules set staff-of-web --name staff"],
)
def set_(
    session: CliSession,
    rule: Annotated[str, RuleRef],
    name: Annotated[str | None, NewNameOption] = None,
    file: Annotated[str | None, RuleFile] = None,
) -> None:
    """Rename a rule, or replace all its expressions by those of a file.

    Of the file, the expressions count; its id, name and roles do not.
    """
    from mgmtctl.operations import rules

    others = "`mgmtctl roles add-rule` and `remove-rule` change where it leads"
    single.require_some(name is not None or file is not None, others)
    context = session.context
    if file is None:
        changed = rules.update_rule(context, rule, name)
    else:
        from mgmtctl.cli.documents import read_document

        document = read_document(session, file, yaml=True)
        changed = document.given_to(lambda value: rules.update_rule(context, rule, name, value))
    single.tell_changed(session, f"rule `{changed.value.name}`", changed)


@noun.write("edit", examples=["mgmtctl rules edit staff-of-web"])
def edit(session: CliSession, rule: Annotated[str, RuleRef]) -> None:
    """Edit name and expressions of a rule as JSON in $VISUAL or $EDITOR; it is checked before it is saved."""
    from mgmtctl.cli import documents, editor
    from mgmtctl.operations import rules

    context = session.context

    def read() -> dict[str, Any]:
        record = single.only(rules.list_rules(context, [rule])).record()
        return {key: record[key] for key in ("name", "rules")}

    def save(document: documents.Document) -> None:
        name = documents.text_field(document, "name")
        changed = document.given_to(lambda value: rules.update_rule(context, rule, name, value))
        single.tell_changed(session, f"rule `{changed.value.name}`", changed)

    editor.edit(session, "rules", f"rule `{rule}`", read, save)


@noun.write(
    "delete",
    asks=True,
    examples=["mgmtctl rules delete staff-of-web", "mgmtctl rules delete 101 --yes"],
    exits=SOME,
)
def delete(session: CliSession, rule: Annotated[list[str], RuleRefs]) -> None:
    """Delete rules; they lead to no role any more."""
    from mgmtctl.operations import rules

    references, context = session.refs(rule), session.context
    session.confirm(f"delete {single.several('rule', 'rules', references)}")
    single.tell_deleted(session, "rule", "rules", rules.delete_rules(context, references))


def _page(rule: single.Row) -> str:
    """The rule on a terminal, its expressions as JSON that can be read."""
    import json

    expressions = rule["rules"][0] if len(rule["rules"]) == 1 else rule["rules"]
    text = json.dumps(expressions, ensure_ascii=False, indent=2)
    head = single.sheet([("id", rule["id"]), ("name", rule["name"]), ("roles", rule["roles"])])
    return f"{head}\n{'rule' if len(rule['rules']) == 1 else 'rules'}\n" + "\n".join(
        f"  {line}" for line in text.split("\n")
    )
