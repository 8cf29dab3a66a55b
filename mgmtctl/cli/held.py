"""How all that a user or a role may do is shown: a row for each action, on a terminal a page of what is alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mgmtctl.cli import single
from mgmtctl.cli.text import clean

if TYPE_CHECKING:
    from mgmtctl.cli.session import CliSession
    from mgmtctl.domain.reach import Held
    from mgmtctl.operations.reach import RoleReach
    from mgmtctl.operations.results import Items

COLUMNS = ("action", "resources", "except", "by")
ROLE_COLUMNS = ("role", *COLUMNS)
_DOCUMENTS = ("json", "ndjson", "yaml")
_Reach = tuple[tuple[str, ...], tuple[str, ...], bool]


def is_page(session: CliSession) -> bool:
    """Whether somebody reads it: a terminal, and no other form was asked for."""
    output = session.output
    return output.format == "table" and not (output.asked or output.select or session.common.envelope)


def page(held: Iterable[Held]) -> Iterator[str]:
    """Where it comes from, below that each reach once with its actions."""
    by_source: dict[tuple[str, ...], dict[_Reach, list[str]]] = {}
    for one in held:
        reach = (tuple(map(str, one.resources)), tuple(map(str, one.but)), one.whole)
        by_source.setdefault(one.by, {}).setdefault(reach, []).append(one.action)
    for source, reaches in by_source.items():
        yield clean(f"by {', '.join(source) or 'what you may not read'}")
        for reach, actions in reaches.items():
            yield clean(f"  on {_reach(*reach)}: {', '.join(actions)}")


def _reach(resources: tuple[str, ...], but: tuple[str, ...], whole: bool) -> str:
    shown = [*resources, *(() if whole else ("what you may not read",))]
    return ", ".join(shown) + (f", except {', '.join(but)}" if but else "")


def in_short(session: CliSession, items: Items[Any]) -> Items[Any]:
    """The items; as rows without `because`, unless that is selected: no cell holds a chain that can be read."""
    if not single.in_rows(session):
        return items
    return replace(items, affected=[_short(session, item.record()) for item in items.affected])


def _short(session: CliSession, record: dict[str, Any]) -> dict[str, Any]:
    kept = session.output.select
    return {name: value for name, value in record.items() if name != "because" or name in kept}


def show_roles(session: CliSession, references: list[str]) -> None:
    """What each of the named roles allows by itself, and who gets it."""
    from mgmtctl.operations import reach

    found = reach.role_permissions(session.context, references)
    if is_page(session):
        return session.output.page(line for number, one in enumerate(found) for line in _role(one, number))
    if session.output.asked in _DOCUMENTS:
        session.show(found[0] if len(found) == 1 else found)
    else:
        _show_rows(session, found)
    if any(reach.is_hidden(held) for one in found for held in one.held):
        session.say(reach.PARTLY_HIDDEN)
    return None


def _show_rows(session: CliSession, found: list[RoleReach]) -> None:
    for one in found:
        session.say("\n".join(_head(one)))
    rows = [{"role": one.name, **_short(session, held.record())} for one in found for held in one.held]
    replace(session.output, columns=ROLE_COLUMNS).many(rows)


def _role(role: RoleReach, number: int) -> Iterator[str]:
    """A role and who gets it, and below that what it allows."""
    yield from ("",) * bool(number)
    yield from _head(role)
    yield ""
    yield from page(role.held) if role.held else ("nothing is allowed",)


def _head(role: RoleReach) -> list[str]:
    """Which role it is, and who gets it."""
    return [
        clean(line)
        for line in (
            f"role   {role.name}, mode {role.mode}",
            f"users  {', '.join(role.users.values()) or '-'}",
            f"rules  {', '.join(role.rules.values()) or '-'}",
        )
    ]
