"""Rules: list, create, change and delete them (S 2.2, 5.3; D 1, D 3; reference/security.md 2).

Rules: a document is checked whole before anything is stored; reserved rules never change; a change ends the context
sessions of each role that the rule leads to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mgmtctl.domain.errors import InvalidError, MgmtctlError
from mgmtctl.domain.fields import ID, TEXT
from mgmtctl.domain.links import Changed, renamed
from mgmtctl.domain.users import check_name, is_reserved
from mgmtctl.operations import delegation, links
from mgmtctl.operations.context import Context
from mgmtctl.operations.links import LinkedItems
from mgmtctl.operations.registry import Selection, each, needs, one, operation
from mgmtctl.operations.results import Items, grouped

if TYPE_CHECKING:
    from mgmtctl.domain.queries import ListQuery
    from mgmtctl.store.rules import Rule
    from mgmtctl.store.store import Store


@operation(needs("security:read", each("rule:id", "rule_ids")), http="GET /security/rules")
def list_rules(ctx: Context, rule_ids: Selection = None, query: ListQuery | None = None) -> LinkedItems[Rule]:
    """List rules: those that are named, or all that the caller may read."""
    found = ctx.store.rules.chosen(rule_ids or ())
    fields = {"id": ID, "name": TEXT, "rules": TEXT, "rule": TEXT}
    return links.listed(ctx, found, query, fields, "roles")


@operation(needs("security:create"), http="POST /security/rules")
def create_rule(ctx: Context, name: str, document: object) -> Rule:
    """Create a rule from an expression, a list of them, or a record; InvalidError with every fault of it."""
    check_name("rule", name)
    expressions, needed = _checked(document)
    with ctx.atomic():
        return ctx.store.rules.get(ctx.store.rules.add(name, expressions, needed))


@operation(needs("security:update", one("rule:id", "rule_id")), http="PUT /security/rules/{rule_id}")
def update_rule(
    ctx: Context, rule_id: str, name: str | None = None, document: object = None
) -> Changed[Rule]:
    """Change the name of a rule, its expressions, or both; what was not given stays."""
    if name is None and document is None:
        raise InvalidError("nothing to change; expected a name or a document", code=4001)
    store, number = ctx.store, int(rule_id)
    with ctx.atomic(), delegation.judged(ctx):
        before = store.rules.get(number)
        if is_reserved(number):
            raise links.reserved("rule", before.name)
        if name is not None:
            store.rules.rename(number, check_name("rule", name))
        if document is not None:
            store.rules.set_expressions(number, *_checked(document))
        after = store.rules.get(number)
        if after != before:
            _end_sessions(store, after)
        replaced = ("expressions replaced",) if after.expressions != before.expressions else ()
        return Changed(links.visible(ctx, after), (*renamed(before.name, after.name), *replaced))


@operation(needs("security:delete", each("rule:id", "rule_ids")), http="DELETE /security/rules")
def delete_rules(ctx: Context, rule_ids: Selection) -> Items[Rule]:
    """Delete the named rules; reserved ones fail. They lead to no role any more."""
    store, failures = ctx.store, list[tuple[str, MgmtctlError]]()
    deleted = []
    with ctx.atomic(), delegation.judged(ctx):
        for rule in store.rules.chosen(links.named("rule_ids", rule_ids)):
            if is_reserved(rule.id):
                failures.append((str(rule.id), links.reserved("rule", rule.name)))
                continue
            deleted.append(links.visible(ctx, rule))
            _end_sessions(store, rule)
            store.rules.delete(rule.id)
    return Items(deleted, grouped(failures))


def _checked(document: object) -> tuple[Sequence[object], str | None]:
    """The expressions of a document and the keys that a context needs for them."""
    from mgmtctl.domain.matching import needed_keys
    from mgmtctl.domain.rules import parse_rules

    expressions = parse_rules(document)
    return expressions, needed_keys(expressions)


def _end_sessions(store: Store, rule: Rule) -> None:
    for role_id in rule.roles:
        store.roles.end_context_sessions(role_id)
