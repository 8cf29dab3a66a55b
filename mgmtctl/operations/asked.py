"""What a question is about (D 2).

Rules: a resource is asked about as somebody wrote it, agents and security objects by name too; what the caller may not
read is not found by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mgmtctl.domain.actions import action as catalogued
from mgmtctl.domain.actions import require_kind
from mgmtctl.domain.errors import InvalidError, QuestionError
from mgmtctl.domain.resources import Resource
from mgmtctl.operations import access

if TYPE_CHECKING:
    from mgmtctl.operations.context import Context


def names_asked(ctx: Context, action: str, text: str) -> tuple[Resource, ...]:
    """All names of the resource that `text` writes, for a question about others: an agent must be readable.

    QuestionError for what cannot be asked; NotFoundError for an unknown name; DeniedError.
    """
    catalogued(action)
    asked = resource_asked(ctx, text)
    require_kind(action, asked.kind)
    if asked.value == "*":
        return (asked,)
    if asked.kind == "agent:id":
        access.demand(ctx, "agent:read", "agent:id", text.split(":", 2)[2])
    return access.names_of(ctx, asked.kind, asked.value)


def resource_asked(ctx: Context, text: str) -> Resource:
    """The resource that is meant; a name that the caller may not read is not found."""
    noun, _, rest = text.partition(":")
    attribute, _, value = rest.partition(":")
    kind = f"{noun}:{attribute}"
    if _is_name(kind, value):
        identifier, _by_name = access.resolve(ctx, kind, value)
        if identifier is None or not _may_read(ctx, kind, identifier):
            raise access.not_found(kind, value)
        return Resource(kind, identifier)
    try:
        return Resource.parse(text)
    except InvalidError as error:
        raise QuestionError(error.problem, why=error.why, fix=error.fix) from None


def _is_name(kind: str, value: str) -> bool:
    named = kind in access.NOT_FOUND_CODES and kind != "group:id"
    return named and bool(value) and not value.isdigit() and "*" not in value


def _may_read(ctx: Context, kind: str, identifier: str) -> bool:
    names = access.names_of(ctx, kind, identifier)
    return access.current_actor(ctx).permissions.allows(access.READ_ACTIONS[kind], *names)
