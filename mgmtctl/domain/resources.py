"""Resources: what an action is asked on, written `<kind>:<attribute>:<value>` (S 2.4).

Rules: the kinds are a closed vocabulary; a value is exactly `*` or what that kind identifies by; a Resource
that exists is well formed. Malformed text is refused with the reason and what to write instead (D 2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from mgmtctl.domain.errors import InvalidError

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
DIGITS = frozenset("0123456789")
NAME_CHARACTERS = LETTERS | DIGITS | frozenset("._-")
FILE_CHARACTERS = NAME_CHARACTERS | frozenset("/")
MAX_ID_DIGITS = 18  # fits a 64-bit integer
MAX_NAME = 128
MAX_FILE_NAME = 255
MAX_SHOWN = 80  # characters of refused text that a message repeats


@dataclass(frozen=True, slots=True)
class Kind:
    """A resource kind: `value` names the form of its values (a key of the value checks below)."""

    name: str
    description: str
    value: str

    def record(self) -> dict[str, str]:
        """Plain form for the catalogue of resources."""
        return {"name": self.name, "description": self.description, "value": self.value}


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(
            "*:*",
            "actions that have no resource, such as agent:create and manager:read, and nothing else",
            "wildcard",
        ),
        Kind("agent:group", "agents by group name, expanded to the ids of the agents in it", "group name"),
        Kind("agent:id", "an agent by id", "agent id"),
        Kind("group:id", "an agent group", "group name"),
        Kind("node:id", "a cluster node", "node name"),
        Kind("decoder:file", "a decoder file", "file name"),
        Kind("list:file", "a list file", "file name"),
        Kind("rule:file", "a rule file", "file name"),
        Kind("policy:id", "a security policy", "number"),
        Kind("role:id", "a security role", "number"),
        Kind("rule:id", "a security rule", "number"),
        Kind("user:id", "a security user", "number"),
    )
}


class Resource(NamedTuple):
    """A well-formed resource expression: `kind` such as `agent:id`, and `value` or `*`."""

    kind: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"

    @classmethod
    def parse(cls, text: str) -> Resource:
        """The resource `text` writes, ids normalised (`agent:id:42` is 042); InvalidError with a hint."""
        kind, colon, value = text.rpartition(":")
        if not colon or kind not in KINDS:
            raise _malformed(text)
        return cls(kind, _value(text, kind, value))

    @classmethod
    def stored(cls, text: str) -> Resource:
        """The resource that `text` writes, unchecked: for what `parse` accepted before it was stored."""
        kind, _, value = text.rpartition(":")
        return cls(kind, value)


RESOURCELESS = Resource("*:*", "*")


def agent_names(agent_id: str, groups: Iterable[str]) -> tuple[Resource, ...]:
    """All names that one agent goes by in a question: its id, then its groups in order (D 2)."""
    return (Resource("agent:id", agent_id), *(Resource("agent:group", group) for group in groups))


def closest(word: str, words: Iterable[str]) -> str | None:
    """The one of `words` that somebody who wrote `word` may have meant, or None.

    Of names written `noun:verb` each part must be near: a long noun in common makes no verb like another.
    """
    by_lower = {known.lower(): known for known in words}
    noun, colon, verb = word.lower().partition(":")
    by_noun: dict[str, list[str]] = {}
    for known in by_lower:
        by_noun.setdefault(known.partition(":")[0], []).append(known)
    if not colon or len(by_noun) == len(by_lower):
        near = _nearest(word.lower(), by_lower)
        return by_lower[near] if near else None
    meant = _nearest(noun, by_noun)
    verbs = {known.partition(":")[2]: known for known in sorted(by_noun.get(meant or "", ()), key=len)}
    near = next((known for like in (str.__eq__, _slip, _cut) for known in verbs if like(verb, known)), None)
    return by_lower[verbs[near]] if near else None


def _nearest(word: str, words: Iterable[str]) -> str | None:
    import difflib

    return next(iter(difflib.get_close_matches(word, words, n=1, cutoff=0.7)), None)


def _slip(written: str, meant: str) -> bool:
    """Whether one letter more, less, changed or swapped makes one of the other."""
    start = next((i for i, (a, b) in enumerate(zip(written, meant, strict=False)) if a != b), None)
    if start is None:
        return abs(len(written) - len(meant)) <= 1
    one, other = written[start:], meant[start:]
    swapped = one[1::-1] + one[2:]
    return other in (one[1:], swapped) or other[1:] in (one, one[1:])


def _cut(written: str, meant: str) -> bool:
    """Whether it is the first word of several."""
    return meant.startswith(f"{written}_")


def shown(text: str) -> str:
    """Refused text as a message repeats it: in backticks, on one line, cut when long."""
    return f"`{one_line(text)}`"


def one_line(text: str) -> str:
    """Text with what cannot be printed escaped, cut when long."""
    cut = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut)


def _malformed(text: str) -> InvalidError:
    if text in ("*", "*:*"):
        return InvalidError(f"resource {shown(text)} is incomplete", fix="write `*:*:*`")
    if "&" in text:
        return InvalidError(
            f"resource {shown(text)} joins two with `&`, which no action asks for", fix="write each by itself"
        )
    parts = text.split(":", 2)
    if len(parts) < 3:
        return InvalidError(
            f"resource {shown(text)} is malformed; expected kind:attribute:value", fix=_meant(text)
        )
    kind = f"{parts[0]}:{parts[1]}"
    if kind in KINDS:
        return InvalidError(
            f"resource {shown(text)} has more than three parts", fix="write kind:attribute:value"
        )
    near = closest(kind, KINDS)
    return InvalidError(
        f"resource kind {shown(kind)} of {shown(text)} is unknown",
        fix=f"did you mean {shown(f'{near}:{parts[2]}')}?" if near else _meant(text),
    )


def _meant(text: str) -> str:
    noun, _, rest = text.partition(":")
    value = rest.rpartition(":")[2]
    kinds = [kind for kind in KINDS if kind.partition(":")[0] == noun.lower()]
    if not kinds:
        return f"kinds are {', '.join(KINDS)}"
    return "write " + " or ".join(shown(f"{kind}:{value or '*'}") for kind in kinds)


def _value(text: str, kind: str, value: str) -> str:
    if value == "*":
        return value
    form = KINDS[kind].value
    if "*" in value:
        raise InvalidError(
            f"resource {shown(text)}: `*` stands for the whole value only",
            fix=f"write `{kind}:*` or one {form}",
        )
    checked = _CHECKS[form](value)
    if checked is None:
        raise InvalidError(f"resource {shown(text)}: {shown(value)} is no {form}", fix=_FORMS[form])
    return checked


def _wildcard(value: str) -> str | None:
    return None


def _number(value: str) -> str | None:
    if not value or len(value) > MAX_ID_DIGITS or not DIGITS.issuperset(value):
        return None
    return str(int(value))


def _agent_id(value: str) -> str | None:
    number = _number(value)
    return None if number is None else number.zfill(3)


def _name(value: str) -> str | None:
    good = 0 < len(value) <= MAX_NAME and NAME_CHARACTERS.issuperset(value) and value not in (".", "..")
    return value if good else None


def _group_name(value: str) -> str | None:
    return None if value == "all" or value.startswith(".") else _name(value)


def _file_name(value: str) -> str | None:
    good = len(value) <= MAX_FILE_NAME and FILE_CHARACTERS.issuperset(value)
    return value if good and not {"", ".", ".."}.intersection(value.split("/")) else None


_CHECKS = {
    "wildcard": _wildcard,
    "number": _number,
    "agent id": _agent_id,
    "group name": _group_name,
    "node name": _name,
    "file name": _file_name,
}

_FORMS = {
    "wildcard": "write `*:*:*`",
    "number": "write digits, or `*` for all",
    "agent id": "write the digits of the id, such as 042, or `*` for all",
    "group name": f"write letters, digits, . _ - (at most {MAX_NAME}), or `*` for all",
    "node name": f"write letters, digits, . _ - (at most {MAX_NAME}), or `*` for all",
    "file name": f"write letters, digits, . _ - / (at most {MAX_FILE_NAME}), or `*` for all",
}
