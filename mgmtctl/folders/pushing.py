"""Inside the `shared/` of one agent: comparing what is there with what shall be, and swapping it in.

Rules (D 8): every new file is staged under a random hidden name; a marker is written, what left is removed, the rest is
renamed into place, merged.mg last, and the marker is taken away. A marker says that the set is mixed and of which
merged files it may hold something. Only regular files are read, and none larger than what was once written.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mgmtctl.domain import sync
from mgmtctl.domain.files import MERGED
from mgmtctl.folders import paths

MARKER = paths.STAGING_PREFIX + "sync"
FOLDER_THERE = "a folder stands where a file shall be"
NO_FOLDER_THERE = "a file or a symlink stands where a folder shall be"
LARGEST_UNKNOWN = 64 << 20  # bytes of a merged file that is neither the one it shall be nor the one it was
_DIGEST_LENGTH = 64
_MOST_BEGUN = 16
_LARGEST_MARKER = _MOST_BEGUN * (_DIGEST_LENGTH + 1)

# Relative file name -> (SHA-256, size): what one merged file puts into an agent folder.
Manifest = Mapping[str, tuple[str, int]]
_NOTHING: Manifest = {}


@dataclass(frozen=True, slots=True)
class Examined:
    """What a push would do, and whether earlier ones were cut short there, which had `begun` to write these digests.

    `absent`: there is no folder to look into; `obstacle`: why these changes cannot be made, in words, with the name of
    what is in the way (empty: they can).
    """

    changes: tuple[sync.Change, ...]
    unfinished: bool
    begun: tuple[str, ...] = ()
    absent: bool = False
    obstacle: str = ""


def examine(
    shared: int, target: Manifest, last: Manifest, known: Callable[[str], Manifest | None]
) -> Examined:
    """What has to change in the open folder; `last` was recorded there, `known` gives older manifests by digest."""
    there = os.listdir(shared)
    tops = set(there)
    left = any(name.startswith(paths.STAGING_PREFIX) for name in there)
    begun = _marked(shared) if MARKER in tops else ()
    actual: dict[str, str] = {}
    merged = _digest(shared, MERGED, (target, last), LARGEST_UNKNOWN) if MERGED in tops else None
    if merged is not None:
        actual[MERGED] = merged
    # A push that ended and was never recorded left no marker: then the merged file tells what came with it.
    earlier = [_known(digest, target, last, known) for digest in (*begun, merged) if digest]
    sets = (target, last, *earlier)
    for name in {name: None for manifest in sets for name in manifest if name != MERGED}:
        if name in tops or ("/" in name and name.partition("/")[0] in tops):
            found = _digest(shared, name, sets)
            if found is not None:
                actual[name] = found
    written = digests_of(last)
    for manifest in earlier:
        written = sync.written_by_us(written, digests_of(manifest), actual)
    changes = _without_theirs(shared, sync.plan(digests_of(target), actual, written), actual)
    return Examined(changes, left, begun, obstacle=_obstacle(shared, changes, actual, tops))


def obstacle(shared: int, target: Manifest, last: Manifest, known: Callable[[str], Manifest | None]) -> str:
    """The obstacle that `examine` would find, seen without reading a file that was pushed."""
    tops = os.listdir(shared)
    ours = {*last}
    for digest in _marked(shared) if MARKER in tops else ():
        ours.update(known(digest) or _NOTHING)
    changes = [sync.Change(sync.REMOVE, name) for name in ours.difference(target)]
    changes += [sync.Change(sync.CREATE, name) for name in target]
    return _obstacle(shared, _without_theirs(shared, changes, {}), {}, tops)


def _without_theirs(
    shared: int, changes: Iterable[sync.Change], actual: Mapping[str, str]
) -> tuple[sync.Change, ...]:
    """The changes as they are where others put folders: theirs are not removed, and our own are no edit of a file."""
    found = [
        change
        for change in changes
        if change.kind != sync.REMOVE or actual.get(change.name) or not _is_theirs(shared, change.name)
    ]
    removed = {change.name for change in found if change.kind == sync.REMOVE}
    return tuple(
        sync.Change(sync.CREATE, change.name)
        if change.kind == sync.OVERWRITE
        and not actual.get(change.name)
        and _is_folder(shared, change.name)
        and _empties(shared, change.name, removed)
        else change
        for change in found
    )


def _is_theirs(shared: int, name: str) -> bool:
    """Whether a folder stands where a file was put, or no folder above it: nothing of ours is left to remove."""
    return bool(_is_folder(shared, name)) or any(
        _is_folder(shared, parent) is False for parent in _parents(name)
    )


def _obstacle(
    shared: int, changes: Sequence[sync.Change], actual: Mapping[str, str], tops: Collection[str]
) -> str:
    """Why these changes cannot be made; what goes before the first file comes is in nobody's way."""
    if MARKER in tops and _is_folder(shared, MARKER):
        return _met(FOLDER_THERE, MARKER)
    removed = {change.name for change in changes if change.kind == sync.REMOVE}
    for name, there in ((change.name, actual.get(change.name)) for change in changes):
        if there or name.partition("/")[0] not in tops:  # a regular file, or nothing
            continue
        for parent in _parents(name):
            if _is_folder(shared, parent) is False and parent not in removed:
                return _met(NO_FOLDER_THERE, parent)
        if _is_folder(shared, name) and not _empties(shared, name, removed):
            return _met(FOLDER_THERE, name)
    return ""


def _met(words: str, name: str) -> str:
    return f"{words}: `{name}`"


def unnamed(text: str) -> str:
    """The text of an obstacle without the name of what is in the way."""
    for words in (FOLDER_THERE, NO_FOLDER_THERE):
        before, found, _ = text.partition(words)
        if found:
            return before + words
    return text


def _parents(name: str) -> list[str]:
    """The folders above a file, the uppermost first."""
    steps = name.split("/")
    return ["/".join(steps[:count]) for count in range(1, len(steps))]


def _empties(shared: int, folder: str, removed: Collection[str]) -> bool:
    """Whether nothing is left in a folder, which then goes too, once these files are removed."""
    if not any(name.startswith(f"{folder}/") for name in removed):
        return False
    try:
        with paths.parent_of(shared, f"{folder}/.") as (handle, _):
            names = [f"{folder}/{entry}" for entry in os.listdir(handle)]
    except OSError:
        return False
    return all(name in removed or _empties(shared, name, removed) for name in names)


def _is_folder(shared: int, name: str) -> bool | None:
    """Whether what stands there is a real folder; None: nothing does, or it cannot be seen."""
    try:
        with paths.parent_of(shared, name) as (parent, last):
            return stat.S_ISDIR(os.stat(last, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return None


def digests_of(manifest: Manifest) -> dict[str, str]:
    """File name -> digest."""
    return {name: digest for name, (digest, _) in manifest.items()}


def _known(
    digest: str, target: Manifest, last: Manifest, known: Callable[[str], Manifest | None]
) -> Manifest:
    """What a merged file that was met in the folder came with; nothing for one that we never made."""
    for manifest in (target, last):
        if manifest.get(MERGED, ("",))[0] == digest:
            return manifest
    return known(digest) or _NOTHING


def _marked(shared: int) -> tuple[str, ...]:
    """The merged files that pushes which were cut short were about to write, as the marker tells."""
    try:
        text = paths.read_regular(MARKER, shared, limit=_LARGEST_MARKER).decode("ascii")
    except (OSError, UnicodeDecodeError):
        return ()
    return tuple(line for line in text.split("\n") if len(line) == _DIGEST_LENGTH)


def _digest(shared: int, name: str, sets: Sequence[Manifest], largest: int = -1) -> str | None:
    """The SHA-256 of a file there; None for none; OTHER when it cannot be of the sets and has over `largest` bytes."""
    try:
        if "/" in name:
            with paths.parent_of(shared, name) as (parent, last):
                return _digest_here(parent, last, _sizes(name, sets), largest)
        return _digest_here(shared, name, _sizes(name, sets), largest)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return sync.OTHER


def _sizes(name: str, sets: Sequence[Manifest]) -> set[int]:
    return {manifest[name][1] for manifest in sets if name in manifest}


def _digest_here(parent: int, name: str, sizes: set[int], largest: int) -> str:
    handle = os.open(name, paths.READ_FLAGS, dir_fd=parent)
    try:
        status = os.fstat(handle)
        # The size decides first: nobody makes us read more than we once wrote.
        size = status.st_size
        if not stat.S_ISREG(status.st_mode) or (size not in sizes and size > largest):
            return sync.OTHER
        return hashlib.sha256(paths.read_all(handle, size, size)).hexdigest()
    finally:
        os.close(handle)


def apply(shared: int, examined: Examined, files: Mapping[str, bytes], digest: str) -> None:
    """Stage, mark, remove, rename, unmark: the changes come with removals first and merged.mg last."""
    changes = examined.changes
    for name in os.listdir(shared):
        if name.startswith(paths.STAGING_PREFIX) and name != MARKER:
            paths.remove_quietly(name, shared)
    if changes:
        staged = _stage(shared, changes, files)
        try:
            _mark(shared, (digest, *examined.begun), again=examined.unfinished)
            _swap(shared, changes, staged)
        except BaseException:
            for name in staged.values():
                paths.remove_quietly(name, shared)
            raise
    with contextlib.suppress(FileNotFoundError):
        os.unlink(MARKER, dir_fd=shared)


def _stage(shared: int, changes: Sequence[sync.Change], files: Mapping[str, bytes]) -> dict[str, str]:
    """Write every new file under a hidden name; returns real name -> hidden name."""
    prefix = paths.new_name()
    staged: dict[str, str] = {}
    try:
        for number, change in enumerate(changes):
            if change.kind != sync.REMOVE:
                hidden = f"{prefix}-{number}"
                staged[change.name] = hidden
                paths.write_new(hidden, files[change.name], shared, durable=False)
    except BaseException:
        for hidden in staged.values():
            paths.remove_quietly(hidden, shared)
        raise
    return staged


def _mark(shared: int, digests: Sequence[str], *, again: bool) -> None:
    """Say that the set is mixed from now on: of the last that was recorded, and of any of these.

    The marker of a push that was cut short is replaced: without one for a moment, a kill would leave a mixed set that
    does not say so.
    """
    text = "\n".join(digests[:_MOST_BEGUN]).encode()
    if again:
        paths.replace(MARKER, text, shared, durable=False)
    else:
        paths.write_new(MARKER, text, shared, durable=False)


def _swap(shared: int, changes: Sequence[sync.Change], staged: Mapping[str, str]) -> None:
    for change in changes:
        if change.kind == sync.REMOVE:
            with (
                contextlib.suppress(FileNotFoundError),
                paths.parent_of(shared, change.name) as (parent, last),
            ):
                os.unlink(last, dir_fd=parent)
            paths.remove_empty_parents(change.name, shared)
        elif "/" in change.name:
            with paths.parent_of(shared, change.name, create=True) as (parent, last):
                os.rename(staged[change.name], last, src_dir_fd=shared, dst_dir_fd=parent)
        else:
            os.rename(staged[change.name], change.name, src_dir_fd=shared, dst_dir_fd=shared)
