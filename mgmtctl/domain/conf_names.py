"""What somebody meant who wrote a name that stands nowhere, or not there: sections, options and attributes.

Rules: the right name of the same place comes first (`-` and `_`, letter case and small slips aside), then the place
where the name is right; nothing is guessed for a document with very many unknown names.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mgmtctl.domain import options
from mgmtctl.domain.options import ALLOWED, MODULE_SECTION, ROOT, Entry
from mgmtctl.domain.resources import closest

_OPPOSITES = {"enabled": "disabled", "disabled": "enabled"}
_LONGEST = 64  # a longer word resembles none, and comparing costs
_MOST_PLACES = 3
_MOST_SUGGESTIONS = 300


class Suggestions:
    """The suggestions for one document; after so many of them there are no more."""

    def __init__(self) -> None:
        self.left = _MOST_SUGGESTIONS

    def section(self, name: str) -> str | None:
        """For a section that no block has."""
        return _section(name) if self._any(name) else None

    def module(self, name: str) -> str | None:
        """For a module that there is not."""
        return did_you_mean(name, options.modules()) if self._any(name) else None

    def root(self, name: str) -> str | None:
        """For an element at the top that is no block."""
        return did_you_mean(name, (ROOT,)) if self._any(name) else None

    def option(self, name: str, above: Sequence[Entry]) -> str | None:
        """For an option that the last of `above` does not have; the others are what that lies in."""
        return _option(name, tuple(entry.path for entry in above)) if self._any(name) else None

    def attribute(self, name: str, known: Iterable[str], called: str = "attributes") -> str | None:
        """For an attribute, where these are known."""
        names = list(known)
        listed = f"{called} are {', '.join(names)}" if 1 < len(names) <= _MOST_PLACES else None
        return (did_you_mean(name, names) if self._any(name) else None) or listed

    def _any(self, name: str) -> bool:
        self.left -= 1
        return self.left >= 0 and len(name) <= _LONGEST


def did_you_mean(word: str, words: Iterable[str]) -> str | None:
    """A question that names the nearest word; `-` and `_` and letter case count as equal when looking for it."""
    near = nearest(word, words)
    return f"did you mean `{near}`?" if near else None


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The nearest word; None when none is near."""
    by_folded = {folded(known): known for known in words}
    wanted = folded(word)
    near = wanted if wanted in by_folded else closest(wanted[:_LONGEST], by_folded)
    return by_folded[near] if near else None


def folded(word: str) -> str:
    """What names are compared by when one is looked for."""
    return word.casefold().replace("_", "-")


def nearest_path(path: str) -> str | None:
    """The path of an entry that somebody meant who wrote this one."""
    last = path.replace("@", ".").rpartition(".")[2]
    head = path.partition(".")[0]
    places = list(_places().get(folded(last), ()))
    beside = [found for found in places if found.rpartition(".")[0] == path.rpartition(".")[0]]
    inside = beside or [found for found in places if head in found.split(".")]
    if path != last and (inside or len(places) == 1):
        return (inside or places)[0]
    if path == last:
        return nearest(path, [*options.sections(), *options.modules()]) or (places[0] if places else None)
    return nearest(path, _paths())


@functools.lru_cache(maxsize=4096)
def _option(name: str, paths: tuple[str, ...]) -> str | None:
    above = [entry for path in paths if (entry := options.find(path))]
    here = above[-1]
    known = {folded(own): own for own in here.options}
    wanted = folded(name)
    places = _places().get(wanted, [])
    if wanted in known:
        return _right_here(name, known[wanted], here, places)
    opposite = _OPPOSITES.get(wanted)
    if opposite in here.options:
        return f"here it is `{opposite}`, with the opposite value"
    section = _known_section(wanted)
    if section:
        return f"`{section}` is a section: close `{above[0].name}` before it"
    return (
        _nearby(wanted, above)
        or did_you_mean(name, here.options)
        or (_elsewhere(name, places, above) if places else None)
    )


def _right_here(name: str, right: str, here: Entry, places: Iterable[str]) -> str:
    """The name is written another way here, and perhaps exactly so elsewhere."""
    other = [place.rpartition(".")[0] for place in places if place.rpartition(".")[2] == name]
    other = [place.removeprefix(f"{MODULE_SECTION}.") for place in other if place != here.path]
    if other:
        return f"`{name}` belongs to {_listed(other)}; here it is `{right}`"
    return f"did you mean `{right}`?"


def _nearby(wanted: str, above: Sequence[Entry]) -> str | None:
    """The option lies in a block of the same section, or outside of the block it was put in."""
    for outer in above[:-1]:
        right = next((own for own in outer.options if folded(own) == wanted), None)
        if right:
            return f"`{right}` belongs to `{outer.name}`, outside of `{above[-1].name}`"
    for block in above[-1].options.values():
        right = next((own for own in block.options if folded(own) == wanted), None)
        if right:
            return f"put `{right}` inside a `{block.name}`"
    return None


def _elsewhere(name: str, places: Sequence[str], above: Sequence[Entry]) -> str:
    owners = [place.rpartition(".")[0].removeprefix(f"{MODULE_SECTION}.") for place in places]
    right = places[0].rpartition(".")[2]
    return f"`{right}` is an option of {_listed(owners)}"


@functools.lru_cache(maxsize=4096)
def _section(name: str) -> str | None:
    wanted = folded(name)
    readable = [known for known, place in options.sections().items() if place == ALLOWED]
    known = nearest(name, options.sections())
    if known and folded(known) == wanted:
        return f"did you mean `{known}`?"
    module = next((known for known in options.modules() if folded(known) == wanted), None)
    if module:
        return f'write `<{MODULE_SECTION} name="{module}">`'
    places = _places().get(wanted)
    if places:
        return _elsewhere(name, places, ())
    return did_you_mean(name, readable) or did_you_mean(name, options.sections())


def _known_section(wanted: str) -> str | None:
    return next((known for known in options.sections() if folded(known) == wanted), None)


def _listed(places: Iterable[str]) -> str:
    """Places in a sentence, the first few."""
    known = list(dict.fromkeys(places))
    shown = [f"`{place}`" for place in known[:_MOST_PLACES]]
    if len(known) > _MOST_PLACES:
        return f"{', '.join(shown)} and others"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


@functools.cache
def _places() -> Mapping[str, list[str]]:
    """The paths of the options that agents read, by folded name; those nearest to a section first."""
    found: dict[str, list[str]] = {}
    for entry in _readable():
        found.setdefault(folded(entry.name), []).append(entry.path)
    for paths in found.values():
        paths.sort(key=lambda path: path.count("."))
    return found


def _readable() -> Iterator[Entry]:
    return (
        entry for entry in options.every() if entry.kind == options.OPTION and entry.agent_conf == ALLOWED
    )


@functools.cache
def _paths() -> Sequence[str]:
    return [entry.path for entry in options.every()]
