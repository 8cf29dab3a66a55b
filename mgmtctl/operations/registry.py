"""The registry: one decorated function is one use case, with the rights it needs and its endpoint.

    @operation(
        needs("agent:modify_group", each("agent:id", "agents_list")),
        needs("group:modify_assignments", one("group:id", "group_id")),
        http="PUT /agents/group",
    )
    def assign_group(ctx: Context, group_id: str, agents_list: Selection = None) -> Items[Agent]:
        '''Put agents into a group, after the groups they have.'''

The guard is in the decorator: there is no unguarded function to call. It demands `one` targets, sorts `each` targets
into permitted and refused, hands the function canonical ids, and writes one line to the request log for every call. An
`each` parameter that was not given becomes the `Scope` of what is permitted, which the store turns into SQL. Wrong
declarations are errors at import. Read by: the guard, the catalogue, the docs, the tests. D 2, D 9.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast

from mgmtctl.domain.actions import ACTIONS
from mgmtctl.domain.errors import UnavailableError
from mgmtctl.domain.request_log import RequestRecord
from mgmtctl.domain.scopes import Scope
from mgmtctl.operations import access
from mgmtctl.operations.access import Need, Target
from mgmtctl.operations.context import Context
from mgmtctl.operations.results import Failure, Items, status_of
from mgmtctl.operations.suggestions import suggest

P = ParamSpec("P")
R = TypeVar("R")
# What an `each` parameter is: ids as the caller wrote them, None for "whatever is permitted"; the function itself
# receives canonical ids or the Scope of what is permitted.
Selection = Sequence[str] | Scope | None

OPEN_TO = ("session", "anyone", "owner")
OPERATIONS: dict[str, Operation] = {}


@dataclass(frozen=True, slots=True)
class Operation:
    """One use case: `name` is `module.function`; `open_to` is set when it has no needs."""

    name: str
    summary: str
    needs: tuple[Need, ...]
    open_to: str | None
    method: str
    path: str
    signature: inspect.Signature

    def filled_path(self, arguments: dict[str, Any]) -> str:
        """The path of one call, its parameters filled in."""
        return re.sub(r"{(\w+)}", lambda match: str(arguments[match[1]]), self.path)


def needs(action: str, target: Target | None = None) -> Need:
    """The right to do `action` on a target; without a target the action is resourceless."""
    return Need(action, target or Target("*:*", None, every=False))


def one(kind: str, parameter: str) -> Target:
    """The resource that `parameter` names (each of them, for a list): refused as a whole when one is denied."""
    return Target(kind, parameter, every=False)


def each(kind: str, parameter: str) -> Target:
    """The resources that `parameter` lists: the permitted part is handled, the rest becomes `failed_items`."""
    return Target(kind, parameter, every=True)


def operation(
    *declared: Need, http: str, open_to: str | None = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Register a function as an operation under guard and log. Raises TypeError for a wrong declaration."""

    def register(function: Callable[P, R]) -> Callable[P, R]:
        registered = _checked(function, declared, http, open_to)
        OPERATIONS[registered.name] = registered

        @functools.wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = registered.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return cast(R, _call(registered, function, bound.arguments))

        guarded.operation = registered  # type: ignore[attr-defined]
        return guarded

    return register


def _call(registered: Operation, function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Admit, call, log: the guard around every operation."""
    ctx: Context = next(iter(arguments.values()))
    given = {name: value for name, value in arguments.items() if value is not ctx}
    began = time.perf_counter()
    ctx.log.require()
    try:
        refused = access.admit(ctx, registered.needs, registered.open_to, arguments)
        result = _with_refused(ctx, function(**arguments), refused)
    except BaseException as error:
        suggest(ctx, error)
        # The refusal matters more to the caller than a log that cannot be written.
        with contextlib.suppress(UnavailableError):
            ctx.log.write(_record(ctx, registered, given, time.perf_counter() - began, status_of(error)))
        raise
    try:
        ctx.log.write(_record(ctx, registered, given, time.perf_counter() - began, 200))
    except UnavailableError as error:
        # What is done is done: the caller gets the result, and hears that the log has no line of it.
        ctx.warnings.append(f"the request log has no line of this call: {error.problem}")
    return result


def _with_refused(ctx: Context, result: Any, refused: Sequence[Failure]) -> Any:
    if not isinstance(result, Items):
        return result
    for failure in (*refused, *result.failed):
        if len(failure.ids) == 1:
            suggest(ctx, failure.error)
    return result.with_failures(refused) if refused else result


def _record(
    ctx: Context, registered: Operation, given: dict[str, Any], seconds: float, status: int
) -> RequestRecord:
    actor = ctx.actor
    return RequestRecord(
        time=ctx.now(),
        user=actor.user if actor else _unauthenticated(registered, given),
        context_id=actor.context_id if actor else None,
        address=ctx.door.address,
        method=registered.method,
        path=registered.filled_path(given),
        parameters={name: value for name, value in given.items() if value is not None},
        seconds=seconds,
        status=status,
        uid=ctx.door.uid,
        dry_run=ctx.dry_run,
        reason=ctx.reason,
    )


def _unauthenticated(registered: Operation, given: dict[str, Any]) -> str:
    """Who the log names before a login: the owner of the data folder, or the name that somebody claimed."""
    return "owner" if registered.open_to == "owner" else str(given.get("user_name") or "unknown_user")


def _checked(
    function: Callable[..., Any], declared: tuple[Need, ...], http: str, open_to: str | None
) -> Operation:
    """The declaration as a value, or TypeError saying what is wrong with it."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
    signature = inspect.signature(function)
    method, _, path = http.partition(" ")
    summary = (function.__doc__ or "").strip().partition("\n")[0]
    if not summary:
        raise TypeError(f"{name}: an operation needs a docstring")
    if bool(declared) == (open_to is not None):
        raise TypeError(f"{name}: declare needs, or open_to, and not both")
    if open_to is not None and open_to not in OPEN_TO:
        raise TypeError(f"{name}: open_to is one of {', '.join(OPEN_TO)}")
    for parameter in re.findall(r"{(\w+)}", path):
        if parameter not in signature.parameters:
            raise TypeError(f"{name}: the path names `{parameter}`, the function has no such parameter")
    for need in declared:
        _check_need(name, need, signature)
    for other in OPERATIONS.values():
        if (other.method, other.path) == (method, path) and other.name != name:
            raise TypeError(f"{name}: `{http}` belongs to {other.name}")
    return Operation(name, summary, declared, open_to, method, path, signature)


def _check_need(name: str, need: Need, signature: inspect.Signature) -> None:
    action, target = ACTIONS.get(need.action), need.target
    if action is None:
        raise TypeError(f"{name}: unknown action `{need.action}`")
    if target.kind not in action.kinds:
        raise TypeError(f"{name}: `{need.action}` is never asked on `{target.kind}`")
    if target.parameter is not None and target.parameter not in signature.parameters:
        raise TypeError(f"{name}: no parameter `{target.parameter}`")
    if target.every and "Items" not in str(signature.return_annotation):
        raise TypeError(f"{name}: `each` needs an Items result")
