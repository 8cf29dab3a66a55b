"""YAML as commands read it, with the place of every value: plain values, and nothing that could mean two things.

Rules: no anchors, no tags, no key twice, every key text, one document; dates and other special values stand in quotes.
Size, depth and number of values are bounded before anything is built, and nothing recurses over input.
JSON is read too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mgmtctl.domain.errors import InvalidError
from mgmtctl.domain.findings import ERROR, Finding

MAX_BYTES = 1024 * 1024
MAX_LEVELS = 256
MAX_VALUES = 100_000
LONGEST_NUMBER = 1_000  # characters; a longer one takes long to read, and cannot be written as JSON
LONGEST_PATH = 1_000  # what lies deeper, or below longer keys, has no place of its own
_TAG = "tag:yaml.org,2002:"
QUOTES = "write it in quotes"

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PlacedDocument:
    """A plain value, and (line, column), both from 1, of every JSON path in it; an entry stands where its key does."""

    name: str
    value: Any
    places: dict[str, Place]

    def placed(self, finding: Finding) -> Finding:
        """The finding with its file, line and column; what it said of the path goes into the message."""
        from dataclasses import replace

        line, column = self.places.get(finding.path, (0, 0))
        message = f"{finding.path}: {finding.message}" if finding.path else finding.message
        return replace(finding, path=self.name, line=line, column=column, message=message)


@dataclass(slots=True)
class _Open:
    """A mapping or a list that has not ended: what it holds so far, and the key that waits for its value."""

    value: Any
    paths: tuple[str, ...]
    key: str | None = None
    inner: tuple[str, ...] = field(default=())


def read_yaml(data: bytes, name: str) -> PlacedDocument:
    """The one document in `data`. InvalidError, with the place where there is one."""
    import yaml

    if len(data) > MAX_BYTES:
        raise InvalidError(f"{name}: larger than {MAX_BYTES} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _refused(name, (line, 1), f"expected UTF-8, got byte {data[error.start]:#04x}") from None
    builder = _Builder(name)
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise InvalidError(f"{name} is refused", findings=[syntax_finding(error, name)]) from None
    except yaml.YAMLError as error:
        raise _refused(name, (1, 1), f"not YAML: {' '.join(str(error).split())}") from None
    return PlacedDocument(name, builder.value, builder.places)


def syntax_finding(error: Any, name: str) -> Finding:
    """The finding that a marked error of the YAML reader is; its `note`, where it has one, is the hint."""
    mark = error.problem_mark or error.context_mark
    place: Place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if error.context == "while scanning an alias":
        message, hint = "`*` without quotes begins an alias", 'write `"*:*:*"`, with the quotes'
    else:
        message, hint = error.problem or error.context, error.note
    return Finding("syntax", ERROR, f"not YAML: {message}", name, *place, hint)


class _Builder:
    """Makes plain values of the events of a YAML reader."""

    def __init__(self, name: str) -> None:
        self.value: Any = None
        self.places: dict[str, Place] = {}
        self._name = name
        self._open: list[_Open] = []
        self._documents = self._values = 0
        self._scalar = _scalar_reader()

    def take(self, event: Any) -> None:
        """One more event."""
        kind = type(event).__name__
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        if kind in ("SequenceEndEvent", "MappingEndEvent"):
            self._open.pop()
        elif kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise _refused(self._name, place, "expected one document, got another one")
        elif kind == "AliasEvent" or getattr(event, "anchor", None):
            raise _refused(self._name, place, "anchors are not used here", "write the value again")
        elif kind in ("ScalarEvent", "SequenceStartEvent", "MappingStartEvent"):
            self._value(event, kind, place)

    def _value(self, event: Any, kind: str, place: Place) -> None:
        self._bound(place)
        if event.tag is not None:
            raise _refused(self._name, place, f"tag `{event.tag}` is not used here", "leave it out")
        holder = self._open[-1] if self._open else None
        if holder is not None and isinstance(holder.value, dict) and holder.key is None:
            self._take_key(holder, event, kind, place)
            return
        value = self._plain(event, place) if kind == "ScalarEvent" else [] if kind[0] == "S" else {}
        paths = self._put(holder, value, place)
        if kind != "ScalarEvent":
            self._open.append(_Open(value, paths))

    def _bound(self, place: Place) -> None:
        self._values += 1
        if self._values > MAX_VALUES:
            raise _refused(self._name, place, f"holds too much: at most {MAX_VALUES} values")
        if len(self._open) > MAX_LEVELS:
            raise _refused(self._name, place, f"nested too deep: at most {MAX_LEVELS} levels")

    def _take_key(self, holder: _Open, event: Any, kind: str, place: Place) -> None:
        if kind != "ScalarEvent" or not isinstance(self._plain(event, place), str):
            said = f"key `{event.value[:40]}`" if kind == "ScalarEvent" else "a key"
            raise _refused(self._name, place, f"{said} is not text", QUOTES)
        if event.value in holder.value:
            raise _refused(self._name, place, f"key `{event.value[:40]}` is given twice")
        holder.key = event.value
        holder.inner = _below(holder.paths, event.value)
        for path in holder.inner:
            self.places[path] = place

    def _put(self, holder: _Open | None, value: Any, place: Place) -> tuple[str, ...]:
        """Put a value where it belongs; the paths by which it is known."""
        if holder is None:
            self.value, self.places[""] = value, place
            return ("",)
        if isinstance(holder.value, dict):
            holder.value[holder.key], holder.key = value, None
            return holder.inner
        paths = tuple(f"{path}[{len(holder.value)}]" for path in holder.paths)
        holder.value.append(value)
        for path in paths:
            self.places[path] = place
        return paths

    def _plain(self, event: Any, place: Place) -> Any:
        try:
            return self._scalar(event)
        except ValueError as error:
            raise _refused(self._name, place, f"`{event.value[:40]}`: {error}", QUOTES) from None


def _below(paths: tuple[str, ...], key: str) -> tuple[str, ...]:
    """The paths of an entry: a key that is no plain word is written in either of two ways."""
    from mgmtctl.domain.rules import join

    if not paths or len(paths[0]) + len(key) > LONGEST_PATH:
        return ()
    quoted = join(key, paths[0])
    dotted = f"{paths[-1]}.{key}" if paths[-1] else key
    return (quoted,) if quoted == dotted else (quoted, dotted)


def _scalar_reader() -> Callable[[Any], Any]:
    """What makes text, a number, a truth value or null of a scalar; ValueError for anything else."""
    import yaml

    resolver: Any = yaml.resolver.Resolver()
    construct: Any = yaml.constructor.SafeConstructor()
    makers = {
        f"{_TAG}str": lambda node: node.value,
        f"{_TAG}int": construct.construct_yaml_int,
        f"{_TAG}float": construct.construct_yaml_float,
        f"{_TAG}bool": construct.construct_yaml_bool,
        f"{_TAG}null": lambda node: None,
    }

    def read(event: Any) -> Any:
        if event.style:  # quoted, or a block of text
            return event.value
        tag = resolver.resolve(yaml.ScalarNode, event.value, (True, False))
        if tag not in makers:
            raise ValueError("expected text, a number, true, false or null")
        require_short(tag, event.value)
        node: Any = yaml.ScalarNode(tag, event.value)
        try:
            return makers[tag](node)
        except (ValueError, OverflowError, IndexError):
            raise ValueError("is no number that can be read") from None

    return read


def require_short(tag: str, text: str) -> None:
    """Refuse a number of too many characters, in whatever base, before it is read. ValueError."""
    if tag in (f"{_TAG}int", f"{_TAG}float") and len(text) > LONGEST_NUMBER:
        raise ValueError(f"is too long for a number: at most {LONGEST_NUMBER} characters")


def _refused(name: str, place: Place, message: str, suggestion: str | None = None) -> InvalidError:
    finding = Finding("syntax", ERROR, message, name, *place, suggestion)
    return InvalidError(f"{name} is refused", findings=[finding])
