"""Recording revisions: every change made here, and every change found on disk. Nothing here is an operation.

Rules (D 5): a change is announced in the store (a journal row), made, and recorded under its author; one that was cut
short is found by the next look and finished under the author it was meant for. What is found on disk without a journal
row has no author. Contents are kept before the row that needs them; rows go before the contents that none needs.
Changes of one at a time: the lock `files`, taken before any transaction, never inside one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mgmtctl.domain import revisions
from mgmtctl.domain.errors import MgmtctlError, NotFoundError, UnavailableError
from mgmtctl.domain.revisions import Author, Intent, Tree

if TYPE_CHECKING:
    from mgmtctl.folders import Folders
    from mgmtctl.operations.context import Context
    from mgmtctl.store.store import Store

LOCK = "files"
LOCK_SECONDS = 10.0
TIDY_SECONDS = 86_400
_ALWAYS = (revisions.CREATE, revisions.DELETE)  # revisions of their own, even of a folder that is empty


class Service(Protocol):
    """What recording works with: a Context, or whatever else has these three."""

    @property
    def store(self) -> Store: ...
    @property
    def folders(self) -> Folders: ...
    @property
    def now(self) -> Callable[[], float]: ...


class Looked(NamedTuple):
    """A group's folder as it was looked at: how it looked (`state`, read before the files), and what it held."""

    group: str
    state: str
    newest: int
    tree: Tree
    digest: str


def looked(group: str, state: tuple[str, int], files: Mapping[str, bytes]) -> Looked:
    """What was seen of a group's folder."""
    tree = revisions.tree_of(files)
    return Looked(group, *state, tree, revisions.tree_digest(tree))


def stage(service: Service, found: Looked, files: Mapping[str, bytes]) -> None:
    """Keep the contents that the last revision does not have, before `settle` records them. Outside transactions."""
    head = service.store.revisions.head(found.group)
    if head is not None and head.tree == found.digest:
        return
    known = service.store.revisions.tree(head.tree) if head else {}
    new = {entry[0]: files[name] for name, entry in found.tree.items() if known.get(name) != entry}
    service.folders.revisions.add(new)


def settle(service: Service, found: Looked, *, alone: bool = False) -> int | None:
    """The revision that a group's folder has as it was looked at, recorded now if it is new; None: not known.

    In the caller's transaction; `alone`: he holds the lock.
    """
    store = service.store
    if not _finished(service, found.group, alone):
        return store.revisions.with_tree(found.group, found.digest)
    head = store.revisions.head(found.group)
    if head is not None and head.tree == found.digest:
        if not _looks_so(head.state, found):
            store.revisions.set_state(found.group, _lasting(found))
        return head.number
    if _state(service, found.group)[0] != found.state or not _is_kept(service, found, head and head.tree):
        return store.revisions.with_tree(found.group, found.digest)
    number = store.revisions.add(
        found.group,
        found.tree,
        how=revisions.FOUND,
        time=int(service.now()),
        state=_lasting(found),
        written=_written(service, found, head and head.tree),
    )
    _prune(store, found.group)
    return number


def notice(service: Service, group: str, *, alone: bool = False) -> int | None:
    """Look at a group's folder, record what differs from its last revision, and say which it has now.

    Nothing is read when the folder looks as it was left. A group without a folder has an empty one. Its agents are not
    synced any more when something new was found. Outside transactions; in a dry run nothing is recorded.
    """
    store = service.store
    head, state = store.revisions.head(group), _state(service, group)
    if store.dry_run or (
        head is not None and head.state == _text(state) and group not in store.revisions.announced()
    ):
        return head.number if head else None
    content = content_now(service, group)
    found = looked(group, state, content)
    if head is None and not found.tree and group not in store.revisions.announced():
        return None
    stage(service, found, content)
    with store.atomic():
        number = settle(service, found, alone=alone)
        if number != (head.number if head else None):
            store.sync_state.mark_not_synced([group])
    sweep(service)
    return number


@contextlib.contextmanager
def alone(ctx: Context, command: str) -> Iterator[None]:
    """Let nobody else change files of groups through mgmtctl meanwhile; UnavailableError (busy). Outside transactions.

    What must hold when a change is made is to be checked in here. A dry run keeps nobody out.
    """
    if ctx.dry_run:
        yield
        return
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(ctx.folders.lock(LOCK, f"mgmtctl {command}", timeout=LOCK_SECONDS))
        except UnavailableError as error:
            if error.reason == "busy":
                error.fix = "try again when that has ended"
            raise
        yield


def change(
    ctx: Context,
    group: str,
    how: str,
    files: Mapping[str, bytes | None],
    *,
    make: Callable[[], None] | None = None,
    also: Callable[[], None] | None = None,
) -> int | None:
    """Bring these files (None: remove it) into a group and record that under the actor; its number, None in a dry run.

    Within `alone`, outside transactions; `how` DELETE: all files go. `make` does it in another way; `also` is written
    down with the announcement. What others changed before is recorded as theirs. When `make` fails, what of the change
    is in place is recorded.
    """
    if ctx.dry_run:
        return None
    notice(ctx, group, alone=True)
    ctx.folders.revisions.add(_contents(files))
    intent = _intent(ctx, group, how, files)
    with ctx.atomic():
        ctx.store.revisions.announce(intent)
        if also is not None:
            also()
    try:
        if make is None:
            _write(ctx, group, files, intent.after)
        else:
            make()
    except BaseException:
        with contextlib.suppress(MgmtctlError), ctx.atomic():
            _finish(ctx, intent, complete=False)
        raise
    with ctx.atomic():
        number = _record(ctx, intent, intent.after)
    sweep(ctx)
    return number


def require_match(ctx: Context, group: str, name: str, there: str | None, if_match: str | None) -> None:
    """ConflictError unless a file that has the digest `there` (None: it is not there) is as `if_match` says."""
    if if_match is None:
        return
    expected = revisions.check_match(if_match)
    asked = now = None
    if revisions.is_number(expected):
        asked, now = revisions.parse_number(expected), revision_now(ctx, group)
        entry = tree_at(ctx, group, asked).get(name)
        expected = entry[0] if entry else revisions.NO_FILE
        if now is not None and (tree_at(ctx, group, now).get(name) or (None,))[0] != there:
            now = None
    revisions.require_file(f"{group}/{name}", expected, there, asked=asked, now=now)


def revision_now(service: Service, group: str) -> int | None:
    """The last revision of a group, None when it has none."""
    head = service.store.revisions.head(group)
    return head.number if head else None


def tree_at(ctx: Context, group: str, number: int) -> dict[str, tuple[str, int]]:
    """The state of a group's folder at a revision; 0 is the empty one before the first. NotFoundError."""
    if number == 0 and 1 in ctx.store.revisions.numbers(group):
        return {}
    return ctx.store.revisions.tree(ctx.store.revisions.get(group, number).tree)


def content_of(ctx: Context, group: str, number: int) -> dict[str, bytes]:
    """The files of a group at a revision. NotFoundError, UnavailableError (io) for damage."""
    return {name: ctx.folders.revisions.read(*entry) for name, entry in tree_at(ctx, group, number).items()}


def content_now(service: Service, group: str) -> dict[str, bytes]:
    """The files of a group now; none when it has no folder."""
    try:
        return service.folders.load_group(group).files
    except NotFoundError:
        return {}


def finish_all(service: Service) -> None:
    """Finish the changes that were cut short, before a run reads the groups. Outside transactions.

    A group where that cannot be done now stays as it is announced (`is_changing`).
    """
    for group in service.store.revisions.announced():
        with contextlib.suppress(MgmtctlError), service.store.atomic():
            _finished(service, group, False)


def is_changing(service: Service, group: str) -> bool:
    """Whether a change of the group was announced that is not recorded yet: its files may be a mixture."""
    return group in service.store.revisions.announced()


def sweep(service: Service) -> None:
    """Take away contents that no revision needs any more; what cannot go now goes later. Outside transactions."""
    if service.store.dry_run or not service.store.revisions.unused_blobs():
        return
    with contextlib.suppress(UnavailableError), service.store.atomic():
        unused = service.store.revisions.unused_blobs()
        service.folders.revisions.remove(unused)
        service.store.revisions.forget_blobs(unused)


def tidy(service: Service) -> None:
    """Take away, once a day, what killed commands left among the contents, if that can be. Outside transactions."""
    blobs = service.folders.revisions
    if service.now() - blobs.tidied() < TIDY_SECONDS:
        return
    with (
        contextlib.suppress(UnavailableError),
        service.folders.lock(LOCK, "mgmtctl sync run", if_locked="skip") as held,
    ):
        if held:
            with service.store.atomic():
                blobs.tidy(service.store.revisions.needed_blobs())


def _intent(ctx: Context, group: str, how: str, files: Mapping[str, bytes | None]) -> Intent:
    head = ctx.store.revisions.head(group)
    before = ctx.store.revisions.tree(head.tree) if head else {}
    new = revisions.tree_of({name: data for name, data in files.items() if data is not None})
    after = {**{name: entry for name, entry in before.items() if name not in files}, **new}
    if how == revisions.DELETE:
        after = {}
    return Intent(group, how, _author(ctx), ctx.reason, int(ctx.now()), before, after)


def _author(ctx: Context) -> Author | None:
    actor = ctx.actor
    return None if actor is None else Author(actor.user, actor.context_id if actor.run_as else None)


def _contents(files: Mapping[str, bytes | None]) -> dict[str, bytes]:
    kept = {name: data for name, data in files.items() if data is not None}
    return {digest: kept[name] for name, (digest, _) in revisions.tree_of(kept).items()}


def _write(service: Service, group: str, files: Mapping[str, bytes | None], after: Tree) -> None:
    for name in revisions.removals_first(files, after):
        data = files[name]
        if data is not None:
            service.folders.write_file(group, name, data)
        else:
            with contextlib.suppress(NotFoundError):
                service.folders.remove_file(group, name)


def _record(service: Service, intent: Intent, tree: Tree) -> int:
    """Record what an announced change made. No state: the next look reads the folder, others may have changed it.

    What left all files as they were (somebody's symlink was removed) makes no revision.
    """
    store = service.store
    head = store.revisions.head(intent.group)
    store.revisions.settle(intent.group)
    store.sync_state.mark_not_synced([intent.group])
    if head is not None and intent.how not in _ALWAYS and head.tree == revisions.tree_digest(tree):
        return head.number
    number = store.revisions.add(
        intent.group, tree, how=intent.how, time=intent.time, author=intent.author, reason=intent.reason
    )
    _prune(store, intent.group)
    return number


def _finished(service: Service, group: str, alone: bool) -> bool:
    """Finish what was announced for a group and cut short; False when it goes on now. In the caller's transaction."""
    intent = service.store.revisions.intent(group)
    if intent is None:
        return True
    if alone:
        _finish(service, intent, complete=True)
        return True
    # Whoever announced it holds the lock until it is recorded. Never waited for: this is inside a transaction.
    with service.folders.lock(LOCK, "mgmtctl", if_locked="skip") as held:
        if held:
            _finish(service, intent, complete=True)
        return held


def _finish(service: Service, intent: Intent, *, complete: bool) -> None:
    """Complete a change of several files that had begun, and record under its author what is in place.

    What cannot be completed (a folder is in the way, a content is damaged) must not hold everybody up for ever.
    """
    actual = revisions.tree_of(content_now(service, intent.group))
    if complete and (rest := revisions.outstanding(intent, actual)):
        with contextlib.suppress(MgmtctlError):
            read = service.folders.revisions.read
            files = {name: read(*intent.after[name]) if name in intent.after else None for name in rest}
            _write(service, intent.group, files, intent.after)
        actual = revisions.tree_of(content_now(service, intent.group))
    if revisions.in_place(intent, actual):
        _record(service, intent, revisions.reached(intent, actual))
    else:
        service.store.revisions.settle(intent.group)


def _prune(store: Store, group: str) -> None:
    keep = store.settings.get("files.revisions_kept")
    numbers = store.revisions.numbers(group)
    if keep and len(numbers) > keep:
        store.revisions.drop(group, revisions.superfluous(numbers, keep, store.revisions.held(group)))


def _state(service: Service, group: str) -> tuple[str, int]:
    try:
        return service.folders.state(group)
    except NotFoundError:
        return "absent", 0


def _text(state: tuple[str, int]) -> str:
    from mgmtctl.folders.groups import lasting

    return lasting(*state)


def _lasting(found: Looked) -> str:
    return _text((found.state, found.newest))


def _looks_so(state: str, found: Looked) -> bool:
    return state == _lasting(found)


def _is_kept(service: Service, found: Looked, before: str | None) -> bool:
    """Whether every content that is new since the tree `before` was kept, which another's tidying could undo."""
    known = service.store.revisions.tree(before) if before else {}
    new = {entry[0] for name, entry in found.tree.items() if known.get(name) != entry}
    return all(map(service.folders.revisions.has, new))


def _written(service: Service, found: Looked, before: str | None) -> tuple[int, int] | None:
    """When the files that differ from the tree `before` were written; None when all of them are gone."""
    known = service.store.revisions.tree(before) if before else {}
    differ = {changed.file for changed in revisions.changes(known, found.tree)}
    try:
        infos = service.folders.list_files(found.group)
    except NotFoundError:
        return None
    times: Sequence[int] = [int(info.modified) for info in infos if info.name in differ]
    return (min(times), max(times)) if times else None
